"""Which pocket does a new record belong to, and should somebody look at it?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import find_new_groups, recode_new
from auditbook.errors import InputError, nearest, printable
from auditbook.pockets import (
    ABSTAINED,
    Assignment,
    Encoding,
    FrozenMap,
    list_findings,
    load_encoding,
    load_map,
)
from auditbook.results import Run, read_run, write_table
from auditbook.run.assign_tables import count_by_model, find_unknown, keep_identifiers, keep_own, list_groups
from auditbook.run.folder import hash_results, private_files, read_hashes
from auditbook.tables import is_missing, read_table_file

MAPS = ("forest", "ridge")
WORDS = {"over": "predicts too much", "under": "predicts too little"}

MOST = 0.5
"""Share of records to review above which a list of them helps nobody."""


@dataclass(frozen=True)
class Assigned:
    """What became of a file of new records."""

    records: int
    abstained: int  # Those that the forest map sends to no pocket
    review: int  # Those in a pocket with a finding on either map
    by_model: Mapping[str, int]  # Those of them by the model that the finding is about
    # What of the file could not be read, column by column; and whether most records are to be reviewed
    notes: tuple[str, ...]


def assign_file(folder: Path, data: Path, output: Path) -> Assigned:
    """Send the records of a new file to the pockets of a run's frozen maps: ``auditbook pockets assign``.

    Of the new records (any table that can be read) only the feature columns that the maps were learned from
    are read, in the cohort's way (words for missing, values that stand for a number): no outcome, no
    prediction, no group. A blank cell, and a level that no graph record has, count
    as missing. The output is a CSV file with a row for each record, in the order of `data`: for each map
    its pocket, the pocket's name, why to review the record (blank: no finding), its affinity and lead; at
    the end for what the two maps flag it in opposite directions (blank: nothing).

    Raises
    ------
    InputError
        If the run has no intact maps, a column is missing or holds nothing that can be read, or the output
        cannot be written.
    """
    run = _open_maps(folder)
    if output.exists():
        raise InputError(f"{output} is there already; it is not overwritten: move it or use --output FILE")
    if not output.parent.is_dir() or output.suffix.lower() != ".csv":
        raise InputError(f"{output} cannot be written: name a file ending in .csv in a folder that is there")
    maps = [load_map(folder / "results" / f"{name}_map.npz") for name in MAPS]
    readings = [load_encoding(one.rule.arrays()) for one in maps]
    texts = {column.name for one in readings for column in one.columns if column.kind == "category"}
    texts |= _list_names(run)
    read = read_table_file(data, text_columns=texts).frame
    table = recode_new(run.info.get("cells", {}), read, texts=texts)
    notes = list(dict.fromkeys(note for one in readings for note in check_cells(table, one, data.name)))
    placed = [one.assign(table) for one in maps]
    findings = list_findings([one.codes for one in placed], maps=maps, errors=run.pocket_errors)
    groups, about = find_new_groups(run.info.get("groupings", {}), table), list_groups(run.pocket_groups)
    notes += _tell_unknown(find_unknown(findings, groups, about), data.name)
    findings = keep_own(findings, groups, about)
    found = pd.concat([place_records(*one, findings) for one in zip(maps, placed, strict=True)], axis=1)
    found["conflict"] = name_conflicts(findings, len(table))
    used = {column.name for one in readings for column in one.columns}
    kept = keep_identifiers(read, run.info.get("identifiers", []), used)
    with private_files():
        write_table(_add_identifiers(found, kept), output)
    review = (found["forest_review"] != "") | (found["ridge_review"] != "")
    abstained = int((found["forest_pocket"] == ABSTAINED).sum())
    if review.mean() > MOST:
        notes.append(
            f"{review.sum():,} of {len(table):,} records lie in a flagged pocket, too many to look at one by "
            "one: read the overall errors of the models first, in pocket_errors.csv or the audit report"
        )
    return Assigned(len(table), abstained, int(review.sum()), count_by_model(findings), tuple(notes))


def _list_names(run: Run) -> set[str]:
    """Name the columns of a new table that hold names: who a record is, and groups without bins."""
    groupings = run.info.get("groupings", {}).values()
    return {*run.info.get("identifiers", []), *(one["column"] for one in groupings if not one["bins"])}


def _tell_unknown(attributes: list[str], file: str) -> list[str]:
    """Say that findings about groups are not written where the new table does not tell the groups."""
    return [
        f"{file} does not tell the groups of {name}, so that what was found for one of them is not written; "
        "add the column that the cohort takes them from"
        for name in map(printable, attributes)
    ]


def _add_identifiers(found: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """Put the number of the row and the identifiers first; none of these takes the name of another column."""
    taken = {"row", *found.columns}
    named = kept.rename(columns={name: f"{name} (data)" for name in kept if name in taken})
    row = pd.DataFrame({"row": np.arange(1, len(found) + 1)})
    return pd.concat([row, named, found], axis=1)


def _open_maps(folder: Path) -> Run:
    """Open a run whose pocket audit is whole and as it was made."""
    if not (folder / "run.json").is_file():
        raise InputError(f"{folder} holds no finished run; make one with: auditbook pockets audit COHORT")
    run = read_run(folder)
    status = run.info.get("pockets", {})
    if status.get("status") != "done":
        reason = status.get("reason", "it was made without them")
        raise InputError(f"{folder} holds no pocket maps: {reason}")
    if read_hashes(folder).get("results") != hash_results(folder / "results"):
        raise InputError(
            f"{folder / 'results'} is not as the run left it: a file was changed, replaced or removed; make "
            "the run again"
        )
    return run


def check_cells(table: pd.DataFrame, encoding: Encoding, file: str) -> list[str]:
    """Find cells that hold something that a map cannot read, and refuse columns that hold nothing else."""
    names = [str(name) for name in table.columns]
    absent = [column.name for column in encoding.columns if column.name not in names]
    if absent:
        advice = "add it, named as in the cohort's data; cells that are not known may be blank"
        raise InputError(
            *(
                printable(f"{file}: column {name!r} is missing{nearest(name, names)}; {advice}")
                for name in absent
            )
        )
    matrix = encoding.encode(table)
    notes, faults, filled = [], [], 0
    for position, column in enumerate(encoding.columns):
        present = ~is_missing(table[column.name])
        unread = int((present & np.isnan(matrix[:, position])).sum())
        filled += int(present.sum())
        if not unread:
            continue
        what = "hold a value that the maps have not seen" if column.kind == "category" else "are no number"
        told = printable(
            f"{file}: column '{column.name}': {unread:,} of {present.sum():,} filled cells {what}"
        )
        if unread < present.sum():
            notes.append(f"{told}; they count as missing")
        else:
            some = ", ".join(map(repr, column.levels[:5]))
            known = f"; known are {some}" if some else ""
            faults.append(printable(f"{told}{known}; write the column as in the cohort's data"))
    if len(table) and encoding.columns and not filled:
        faults.append(f"{file}: every column that the maps use is blank")
    if faults:
        raise InputError(*faults)
    return notes


def place_records(frozen: FrozenMap, found: Assignment, findings: pd.DataFrame) -> pd.DataFrame:
    """Describe records on one map: pocket, its name, how near, and what was flagged there."""
    words = [*frozen.pockets, ABSTAINED]
    titles = [*(frozen.titles or [""] * len(frozen.pockets)), ""]
    here = findings[findings["map"] == frozen.name]
    review = _join(here, here["direction"].map(WORDS), len(found.codes))
    return pd.DataFrame(
        {
            f"{frozen.name}_pocket": np.array(words, dtype=object)[found.codes],
            f"{frozen.name}_name": np.array(titles, dtype=object)[found.codes],
            f"{frozen.name}_review": review,
            f"{frozen.name}_affinity": found.affinity,
            f"{frozen.name}_lead": np.where(np.isfinite(found.lead), found.lead, np.nan),  # no other pocket
        }
    )


def name_conflicts(findings: pd.DataFrame, n: int) -> NDArray[np.object_]:
    """Say for which model, and pair of groups, the maps flag each record in opposite directions."""
    torn = findings[findings["conflict"]].drop_duplicates(["record", "model", "contrast"])
    return _join(torn, pd.Series("conflict", torn.index), n)


def _join(findings: pd.DataFrame, words: pd.Series, n: int) -> NDArray[np.object_]:
    """Write the findings of each record as one text; several are parted by semicolons."""
    whom = findings["contrast"].where(findings["contrast"] == "", " for " + findings["contrast"])
    said = findings["model"] + " " + words + whom
    texts = said.groupby(findings["record"].astype(int), sort=False).agg("; ".join)
    return texts.reindex(range(n), fill_value="").to_numpy(dtype=object)
