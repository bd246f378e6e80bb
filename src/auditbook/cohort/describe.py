"""Who is in the cohort: its groups, its sites and its columns, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.cohort import Cohort
from auditbook.cohort.column_series import Series, join_series
from auditbook.columns import empty_table
from auditbook.evidence import wilson_interval
from auditbook.records import Attribute
from auditbook.tables import as_text, is_missing

Positions = NDArray[np.integer]

ID_SHARE = 0.95
"""Distinct values a record from which a column is taken for an identifier."""


@dataclass(frozen=True)
class GroupSizes:
    """How many records the groups of an attribute hold, each shape (n_groups,)."""

    records: NDArray[np.integer]
    events: NDArray[np.number]  # nan when the outcome is a number and not an event
    train: NDArray[np.integer]
    audit: NDArray[np.integer]


def summarise_groups(cohort: Cohort, *, train: Positions, audit: Positions) -> pd.DataFrame:
    """Count records and events of every group: ``groups.csv``, a row an attribute and group.

    Declared groups without records are listed too. Event rates have Wilson's 95 % interval; events are nan
    when the outcome is continuous, rates are nan without records. `train` and `audit` are positions; either
    may be empty.
    """
    sizes = []
    for item in cohort.attributes:
        events = _events(cohort, item.codes, len(item.groups))
        parts = (_count(item.codes[part], item.groups) for part in (train, audit))
        sizes.append(GroupSizes(_count(item.codes, item.groups), events, *parts))
    return tabulate_sizes(cohort.attributes, sizes, total=len(cohort.table))


def tabulate_sizes(
    attributes: Sequence[Attribute], sizes: Sequence[GroupSizes], *, total: int
) -> pd.DataFrame:
    """Make the rows of `summarise_groups` from what the groups of each attribute hold, of `total` records."""
    parts = []
    for attribute, size in zip(attributes, sizes, strict=True):
        interval = wilson_interval(size.events, size.records)
        parts.append(
            pd.DataFrame(
                {
                    "attribute": attribute.name,
                    "group": list(attribute.groups),
                    "n": size.records,
                    "share": size.records / max(total, 1),
                    "events": size.events,
                    "event_rate": _rate(size.events, size.records),
                    "event_rate_low": interval.low,
                    "event_rate_high": interval.high,
                    "n_train": size.train,
                    "n_audit": size.audit,
                    "reference": [group == attribute.reference for group in attribute.groups],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _count(codes: Positions, groups: tuple[str, ...]) -> NDArray[np.intp]:
    return np.bincount(codes, minlength=len(groups))


def _events(cohort: Cohort, codes: Positions, number: int) -> NDArray[np.float64] | NDArray[np.intp]:
    """Count events by code; nan when the outcome is a number and not an event."""
    if cohort.continuous:
        return np.full(number, np.nan)
    return np.bincount(codes[cohort.outcome == 1], minlength=number)


def _rate(events: NDArray[np.number], counts: NDArray[np.integer]) -> NDArray[np.float64]:
    return np.where(counts > 0, events / np.maximum(counts, 1), np.nan)


def summarise_sites(cohort: Cohort, *, audit: Positions) -> pd.DataFrame:
    """Count records and events of every site, the largest first; of equal ones in order of name."""
    if cohort.site is None:
        return empty_table("cohort_sites")
    codes, names = pd.factorize(cohort.site, sort=True)
    counts = np.bincount(codes)
    events = _events(cohort, codes, len(names))
    return tabulate_sites(names.tolist(), counts, events, np.bincount(codes[audit], minlength=len(names)))


def tabulate_sites(
    names: Sequence[str], counts: NDArray[np.integer], events: NDArray[np.number], audit: NDArray[np.integer]
) -> pd.DataFrame:
    """Make the rows of `summarise_sites` from what each site holds, shape (n_sites,), by sorted names."""
    order = np.argsort(-counts, kind="stable")
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(names) + 1),
            "site": np.array(names, dtype=object)[order],
            "n": counts[order],
            "events": events[order],
            "event_rate": _rate(events, counts)[order],
            "n_audit": audit[order],
        }
    )


def summarise_columns(cohort: Cohort) -> pd.DataFrame:
    """List the columns of the data: what each is used for, what it holds, and what is missing.

    A long numbered series of columns alike in role, kind and whether values are missing is one row.
    """
    rows = {str(name): _summarise_column(cohort, str(name)) for name in cohort.table.columns}
    alike = [(row["role"], row["kind"], row["missing"] > 0) for row in rows.values()]
    return pd.DataFrame([_summarise_series(one, rows) for one in join_series(list(rows), alike)])


def _summarise_column(cohort: Cohort, name: str) -> dict[str, Any]:
    """Say of one column what it is used for and what it holds."""
    column = cohort.table[name]
    missing, distinct = int(is_missing(column).sum()), int(column.nunique())
    return {
        "column": name,
        "n_columns": 1,
        "role": _role(cohort, name),
        "kind": _kind(column, missing),
        "missing": missing,
        "missing_share": missing / max(len(column), 1),
        "distinct": distinct,
        "note": _note(cohort, name, distinct, missing),
    }


def _summarise_series(series: Series, rows: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Say of a series what holds of its columns: of numbers the largest, of notes each once."""
    parts = [rows[name] for name in series.names]
    if len(parts) == 1:
        return parts[0]
    notes = dict.fromkeys(note for part in parts for note in part["note"].split("; ") if note)
    told = "; ".join(["of each number the largest", *(f"some: {note}" for note in notes)])
    largest = {key: max(part[key] for part in parts) for key in ("missing", "missing_share", "distinct")}
    return parts[0] | largest | {"column": series.title, "n_columns": len(parts), "note": told}


def _role(cohort: Cohort, name: str) -> str:
    """Return the first of a column's roles."""
    file = cohort.file
    roles = {
        "outcome": name == file.outcome.column,
        "site": name == file.site.column,
        "unit": name in file.unit.names,
        "weight": name == file.weight.column,
        "survey design": name in file.weight.columns.values(),
        "attribute": any(item.column == name for item in file.attributes),
        "score": any(item.column == name for item in file.scores),
        "late feature": name in cohort.late_columns,
        "feature": name in cohort.feature_columns,
    }
    return next((role for role, holds in roles.items() if holds), "excluded")


def _kind(column: pd.Series, missing: int) -> str:
    if missing == len(column):
        return "empty"
    kinds = {"b": "truth value", "i": "number", "u": "number", "f": "number", "M": "date"}
    if column.dtype == object and set(as_text(column)) <= {"True", "False", None}:
        return "truth value"
    return kinds.get(column.dtype.kind, "category")


def _note(cohort: Cohort, name: str, distinct: int, missing: int) -> str:
    """Say in a few words what is odd about a column."""
    column, present = cohort.table[name], len(cohort.table) - missing
    notes = []
    trained = bool(cohort.file.panel.models)
    if trained and name in cohort.feature_columns and _role(cohort, name) in ("site", "attribute"):
        notes.append("also a feature")
    if column.dtype.kind == "M":
        notes.append("dates are not used as features")
    if distinct == 1:
        notes.append("one value only")
    if column.dtype.kind != "f" and present > 100 and distinct > ID_SHARE * present:
        notes.append("nearly every value is distinct")
    return "; ".join(notes)
