"""Which records, features and predictions of a cohort does a pocket audit use?"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import (
    Cohort,
    compared_columns,
    fits_anything,
    join_series,
    map_columns,
    name_mapped,
    name_models,
)
from auditbook.errors import InputError, naming
from auditbook.pocket_settings import PocketSettings, UnitKind
from auditbook.pockets.data import Contrast, PocketData, declare_contrasts
from auditbook.pockets.roles import Roles, assign_roles, canonical_order, hash_records
from auditbook.scoring import (
    MIN_TRAIN_EVENTS,
    Split,
    Training,
    build_features,
    choose_models,
    read_panel,
    train_panel,
)
from auditbook.tables import as_numbers

HUGE = 1e100
"""Outcomes and predictions beyond this (ours) are refused."""


@dataclass(frozen=True)
class PocketWorld:
    """A cohort as a pocket audit sees it: records in canonical order, each with one role."""

    # All n records. Predictions of models trained here are nan on the development records, which they were
    # fitted on
    data: PocketData
    roles: Roles  # Positions of the records of each role
    contrasts: tuple[Contrast, ...]  # Pairs of groups that are compared
    order: NDArray[np.int64]  # shape (n,): Position in the cohort of each record
    notes: tuple[str, ...]  # What was left out or mapped, in words


def describing_columns(cohort: Cohort, settings: PocketSettings) -> tuple[str, ...]:
    """Name the columns of which names of pockets are made: those asked for, else what people can read.

    Where nothing but a long numbered series is there, it is all that can be named.
    """
    if settings.describe:
        return settings.describe
    columns = map_columns(cohort, settings)
    return tuple(one.title for one in join_series(columns) if len(one.names) == 1) or columns


def unit_kind(cohort: Cohort, settings: PocketSettings) -> UnitKind:
    """Tell what the units are: a unit that is the site counts as site, one of its own as record."""
    file = cohort.file
    if settings.unit == "record":
        return "record"
    if settings.unit == "site" or file.unit_is_site:
        return "site"
    return "unit" if file.unit.names else "record"


def build_world(
    cohort: Cohort,
    *,
    settings: PocketSettings,
    seed: int,
    cache_dir: Path,
    jobs: int,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> PocketWorld:
    """Put a cohort's records in order, give each unit its role, and predict.

    The order and the roles follow from the content of the records alone, outcome, groups and names of units
    left aside, so that neither renaming units nor shuffling rows changes anything.
    """
    columns = map_columns(cohort, settings)
    if not columns:
        raise InputError("no feature column is left to learn pockets from")
    kind = unit_kind(cohort, settings)
    order, unit = _order(cohort, settings, kind)
    fitted = fits_anything(cohort.file, settings)
    roles = assign_roles(
        unit,
        development=settings.development_of(fitted=fitted),
        discovery=settings.discovery_of(fitted=fitted),
        graph_share=settings.graph_share,
        seed=seed,
    )
    attributes = tuple(replace(item, codes=item.codes[order]) for item in cohort.attributes)
    data = PocketData(
        table=cohort.table[list(columns)].iloc[order].reset_index(drop=True),
        outcome=cohort.outcome[order].astype(np.float64),
        continuous=cohort.continuous,
        unit=unit,
        unit_kind=kind,
        attributes=attributes,
    )
    predictions, notes = _given(cohort, settings, order, roles)
    predictions |= _trained(
        cohort,
        settings,
        order,
        roles,
        unit,
        seed=seed,
        cache_dir=cache_dir,
        jobs=jobs,
        force=force,
        progress=progress,
    )
    _check_sizes(cohort, predictions)
    if not predictions:
        raise InputError("no prediction can be audited in pockets: " + "; ".join(notes))
    compared = tuple(item for item in attributes if item.name in (settings.attributes or (item.name,)))
    world = PocketData(**{**vars(data), "predictions": predictions})
    return PocketWorld(world, roles, declare_contrasts(compared), order, tuple(notes))


def _order(
    cohort: Cohort, settings: PocketSettings, kind: UnitKind
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the canonical order of the records, and the unit of each in that order, numbered from 0.

    Units that are alike in everything but outcomes and groups are told apart by their names, and records of
    one unit by their outcomes, which decide no role.
    """
    file = cohort.file
    aside = {file.outcome.column, file.site.column, *file.unit.names} | compared_columns(cohort, settings)
    used = {*cohort.feature_columns, *(score.column for score in file.scores)} - aside
    hashes = hash_records(cohort.table[sorted(used)])
    names = {"unit": cohort.unit, "site": cohort.site}.get(kind)
    unit = np.arange(len(hashes)) if names is None else pd.factorize(names)[0]
    named = np.unique(cohort.unit if names is None else names, return_inverse=True)[1]
    first = np.lexsort((cohort.outcome, hashes, named))
    order = first[canonical_order(hashes[first], unit[first])]
    return order, pd.factorize(unit[order])[0].astype(np.int64)


def _given(
    cohort: Cohort, settings: PocketSettings, order: NDArray[np.int64], roles: Roles
) -> tuple[dict[str, NDArray[np.float64]], list[str]]:
    """Read the given scores on the outcome's scale."""
    from sklearn.isotonic import IsotonicRegression

    found, notes = {}, []
    for score in cohort.file.scores:
        values = score.turn(as_numbers(cohort.table[score.column]).cells[order].astype(np.float64))
        if score.kind == "decision":
            notes.append(f"{score.name} is a decision of 0 or 1, which predicts no risk")
            continue
        if score.name in name_mapped(cohort.file, settings):
            part = roles.development
            fitted = IsotonicRegression(out_of_bounds="clip").fit(values[part], cohort.outcome[order][part])
            values = np.asarray(fitted.predict(values), dtype=np.float64)
            notes.append(
                f"{score.name} is mapped by isotonic regression on {len(part):,} development records"
            )
        found[score.name] = values
    return found, notes


def _trained(
    cohort: Cohort,
    settings: PocketSettings,
    order: NDArray[np.int64],
    roles: Roles,
    unit: NDArray[np.int64],
    *,
    seed: int,
    cache_dir: Path,
    jobs: int,
    force: bool,
    progress: Callable[[str], None],
) -> dict[str, NDArray[np.float64]]:
    """Train models of the panel on the development records; nan for these themselves."""
    names = name_models(cohort.file, settings)
    if not names:
        return {}
    rest = np.sort(np.concatenate([roles.graph, roles.calibration, roles.audit]))
    _check_events(cohort.outcome[order][roles.development])
    split, outcome = Split(roles.development, rest), cohort.outcome[order][roles.development]
    with naming("models for the pocket audit"):
        features = build_features(
            cohort.table.iloc[order].reset_index(drop=True),
            cohort.feature_columns,
            train_outcome=outcome,
            unit=unit.astype(str),
            split=split,
            seed=seed,
        )
        made = train_panel(
            [Training(config, features) for config in choose_models(names, read_panel())],
            outcome,
            seed=seed,
            jobs=jobs,
            cache_dir=cache_dir,
            force=force,
            progress=progress,
        )
    found = {}
    for name, scores in zip(names, made, strict=True):
        values = np.full(len(order), np.nan)
        values[rest] = scores.values
        found[name] = values
    return found


def _check_events(outcome: NDArray[np.number]) -> None:
    """Raise InputError when the development records hold too few events or non-events to train on."""
    events = int(np.count_nonzero(outcome))
    fewest = min(events, len(outcome) - events)
    if fewest < MIN_TRAIN_EVENTS:
        raise InputError(
            f"models need {MIN_TRAIN_EVENTS} events and as many non-events to train on, and the development "
            f"records hold {events:,} and {len(outcome) - events:,}; use a larger cohort, or give scores"
        )


def _check_sizes(cohort: Cohort, predictions: dict[str, NDArray[np.float64]]) -> None:
    """Raise InputError where a number is too large for its square to be summed."""
    named = {cohort.file.outcome.column: cohort.outcome, **predictions}
    huge = [name for name, values in named.items() if np.nanmax(np.abs(values), initial=0) > HUGE]
    if huge:
        raise InputError(f"{' and '.join(huge)} runs beyond {HUGE:g}, where errors cannot be averaged")
