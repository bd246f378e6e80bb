"""How is the twin made, kept and found again? One table for each size, seed and recipe, always the same."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pandas as pd

from auditbook.code import digest_cells
from auditbook.cohort.twins.hospitals import assign_hospitals, hospital_names, make_hospitals
from auditbook.cohort.twins.people import draw_people
from auditbook.cohort.twins.recipe import (
    ADMISSION_SOURCES,
    ADMISSION_TYPES,
    DISCHARGE_STATUSES,
    ETHNICITIES,
    RACES,
    RECIPE,
    SEXES,
    Choice,
    Recipe,
)
from auditbook.cohort.twins.stays import draw_stays, make_codes
from auditbook.errors import InputError
from auditbook.project import project_file

SMALLEST_SIZE = 1_000
FULL_SIZE = 925_128
TABLES = ("pairwise_counts", "group_rates")
MAKING = "from auditbook.cohort.twins.twin import RECIPE, make_twin\nmake_twin(recipe=RECIPE)"
"""What the twin rests on: whatever this reaches, wherever it stands."""


def twin_table(*, rows: int = 100_000, seed: int = 42, cache_dir: Path) -> pd.DataFrame:
    """Return the synthetic twin of Texas-100X, made once and kept.

    References
    ----------
    Joy, Vo and Chua (2026), https://doi.org/10.48550/arXiv.2608.30846.
    """
    _check_size(rows, seed)
    path = cache_dir / f"texas-twin-{rows}-{seed}-{recipe_hash()}.parquet"
    kept = _read_kept(path)
    if kept is not None:
        return kept
    _keep(make_twin(rows=rows, seed=seed, recipe=RECIPE), path)
    return pd.read_parquet(path)


def make_twin(*, rows: int, seed: int, recipe: Recipe) -> pd.DataFrame:
    """Make the twin from a recipe without keeping it; `twin_table` describes the columns."""
    world = np.random.default_rng(recipe.world_seed)
    hospitals, codes = make_hospitals(recipe, world), make_codes(recipe, world)
    rng = np.random.default_rng(seed)
    people = draw_people(rows, recipe, rng)
    place = assign_hospitals(people, hospitals, rng)
    choices = (ADMISSION_TYPES, ADMISSION_SOURCES, DISCHARGE_STATUSES)
    stays = draw_stays(
        people, place, hospitals=hospitals, codes=codes, recipe=recipe, choices=choices, rng=rng
    )
    return pd.DataFrame(
        {
            "record_id": _numbered("R", rows, 6),
            "hospital": hospital_names()[place],
            "race": np.array(RACES, dtype=object)[people.race],
            "sex": np.array(SEXES, dtype=object)[people.sex],
            "ethnicity": np.array(ETHNICITIES, dtype=object)[people.ethnicity],
            "pat_age": people.age.astype(np.int64),
            "admission_type": _names(ADMISSION_TYPES)[stays.admission_type],
            "admission_source": _names(ADMISSION_SOURCES)[stays.admission_source],
            "diagnosis": _numbered("D", len(codes.family), 3)[stays.diagnosis],
            "procedure": _procedure_names(len(codes.procedure_family))[stays.procedure],
            "total_charges": stays.charges,
            "pat_status": _names(DISCHARGE_STATUSES)[stays.status],
            "length_of_stay": people.days.astype(np.int64),
        }
    )


def _numbered(letter: str, count: int, digits: int) -> np.ndarray:
    """Return identifiers such as D001 as an object array, shape (count,)."""
    return np.array([f"{letter}{number:0{digits}d}" for number in range(1, count + 1)], dtype=object)


def _names(choices: tuple[Choice, ...]) -> np.ndarray:
    """Return the names of the choices as an object array."""
    return np.array([choice.name for choice in choices], dtype=object)


def _procedure_names(count: int) -> np.ndarray:
    """Return "no procedure" and then P001, P002 and so on, as an object array."""
    return np.concatenate([np.array(["no procedure"], dtype=object), _numbered("P", count - 1, 3)])


def _check_size(rows: int, seed: int) -> None:
    """Refuse sizes and seeds that the twin is not made for, all faults at once."""
    faults = []
    if isinstance(rows, bool) or not isinstance(rows, int) or not SMALLEST_SIZE <= rows <= FULL_SIZE:
        faults.append(
            f"texas-twin: rows is {rows!r}; give a whole number from {SMALLEST_SIZE:,} to {FULL_SIZE:,}"
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        faults.append(f"texas-twin: seed is {seed!r}; give a whole number, 0 or more")
    if faults:
        raise InputError(*faults)


def recipe_hash() -> str:
    """Return 12 letters that change with the twin's code, its published counts or numpy's version."""
    digest = hashlib.sha256(np.__version__.encode())
    digest.update(recipe_fingerprint().encode())
    return digest.hexdigest()[:12]


def recipe_fingerprint() -> str:
    """Return 12 letters that change with the twin's code (docstrings aside) or its published counts."""
    digest = hashlib.sha256(digest_cells(MAKING).encode())
    for table in TABLES:
        digest.update(project_file("data", "reference", f"texas100x_{table}.csv").read_bytes())
    return digest.hexdigest()[:12]


def _read_kept(path: Path) -> pd.DataFrame | None:
    """Read a kept table; None when there is none or it cannot be read."""
    if not path.is_file():
        return None
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError):
        return None


def _keep(table: pd.DataFrame, path: Path) -> None:
    """Write a table under another name first, so that a half-written one is never found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.stem}-{os.getpid()}.part")
    try:
        table.to_parquet(draft, index=False)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
