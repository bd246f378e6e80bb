"""Which rows of a table, or of a part of one, does a cohort file keep, and what is each of them?

Every rule here looks at one row by itself, but for the group that a unit is given; so that a table and its
parts, one after another, follow the same rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.cohort import LeftOut, Unplaced
from auditbook.cohort.column_roles import (
    GroupColumn,
    OutcomeColumn,
    check_score,
    derive_groups,
    derive_outcome,
)
from auditbook.cohort.crossed import lacks_part
from auditbook.cohort.schema import AttributeTable, CohortFile
from auditbook.cohort.units import order_units, settle_groups
from auditbook.cohort.weights import WeightColumn, read_weights
from auditbook.tables import Faults, Mask, PlainTable, count_of, is_missing, matches


class Sieve:
    """Rows that stay, and the reasons for which others went."""

    def __init__(self, rows: int) -> None:
        self.keep: Mask = np.ones(rows, dtype=bool)
        self.left_out: list[LeftOut] = []

    def leave_out(self, rows: Mask, reason: str) -> None:
        """Take rows out and count those that were still in."""
        self.left_out.append(LeftOut(reason, int((self.keep & rows).sum())))
        self.keep = self.keep & ~rows


@dataclass(frozen=True)
class RuledRows:
    """The rows of a table after the rules of its cohort file."""

    frame: pd.DataFrame  # All rows, their cells recoded
    sieve: Sieve  # Which are kept, and why others are not
    outcome: OutcomeColumn | None
    with_outcome: Mask  # Rows that stay whatever group they lack
    groups: tuple[
        GroupColumn | None, ...
    ]  # By attribute; None for a cross, and where the column is not there
    weights: WeightColumn | None


def list_reasons(file: CohortFile) -> list[str]:
    """List the reasons for which rows can be left out, in the order of the rules."""
    plain = [item for item in file.attributes if not item.cross]
    crosses = [item for item in file.attributes if item.cross]
    lacking = [f"{item.name} missing" for item in (*plain, *crosses)]
    return [
        *(rule.reason for rule in file.data.drop),
        "weight missing",
        "weight 0",
        "outcome missing",
        *lacking,
    ]


def apply_rules(file: CohortFile, table: PlainTable, faults: Faults) -> RuledRows:
    """Leave rows out, and derive outcome and groups, of a table that `recode_table` made."""
    sieve = Sieve(len(table.frame))
    _apply_drop_rules(file, table.frame, sieve)
    weights = _weights(file, table.frame, sieve, faults)
    outcome = _outcome(file, table.frame, sieve, faults)
    with_outcome = sieve.keep
    groups = _groups(file, table, sieve, faults)
    return RuledRows(table.frame, sieve, outcome, with_outcome, tuple(groups), weights)


def _apply_drop_rules(file: CohortFile, frame: pd.DataFrame, sieve: Sieve) -> None:
    for rule in file.data.drop:
        if rule.column in frame:
            found = [matches(frame[rule.column], value) for value in rule.values]
            sieve.leave_out(np.any(found, axis=0) if found else np.zeros(len(frame), bool), rule.reason)


def _weights(file: CohortFile, frame: pd.DataFrame, sieve: Sieve, faults: Faults) -> WeightColumn | None:
    """Read the weights; rows without one, and those that stand for nobody, are left out."""
    name = file.weight.column
    if name is None or name not in frame:
        return None
    weights = read_weights(frame[name], name, keep=sieve.keep, faults=faults)
    if weights is not None:
        for rows, reason in ((weights.missing, "weight missing"), (weights.nobody, "weight 0")):
            if (rows & sieve.keep).any():
                sieve.leave_out(rows, reason)
    return weights


def _outcome(file: CohortFile, frame: pd.DataFrame, sieve: Sieve, faults: Faults) -> OutcomeColumn | None:
    """Derive the outcome and treat rows without one by the cohort's rule."""
    name = file.outcome.column
    if name not in frame:
        return None
    outcome = derive_outcome(file.outcome, frame[name], keep=sieve.keep, faults=faults)
    missing = is_missing(frame[name])
    count = int((missing & sieve.keep).sum())
    if count and file.missing.outcome == "error":
        faults.add(
            "[outcome] column",
            f"'{name}' is missing in {count:,} of {len(frame):,} rows; to leave these out and count "
            'them: [missing] outcome = "drop"',
        )
    elif count:
        sieve.leave_out(missing, "outcome missing")
    return outcome


def _groups(file: CohortFile, table: PlainTable, sieve: Sieve, faults: Faults) -> list[GroupColumn | None]:
    """Derive the groups of every attribute and treat rows without one by its rule."""
    found: list[GroupColumn | None] = []
    before = sieve.keep
    order = order_units(file, table.frame, keep=before, faults=faults)
    for item in file.attributes:
        if item.cross or item.column not in table.frame:
            found.append(None)
            continue
        declared, faults_before = table.categories.get(item.column, ()), len(faults.found)
        groups = derive_groups(item, table.frame[item.column], declared=declared, keep=before, faults=faults)
        if item.within_unit is not None and order is not None:
            settled = settle_groups(groups.names, item.within_unit, order, keep=before)
            groups = GroupColumn(settled.names, groups.declared, settled)
        found.append(groups)
        count = int((groups.missing & before).sum())
        if len(faults.found) > faults_before:
            continue
        if count and item.missing == "error":
            faults.add(
                f"[attributes.{item.name}] column",
                f"'{item.column}' is missing in {count:,} of {before.sum():,} records; say what becomes of "
                'them: [missing] attributes = "group" (they form a group) or "drop" (left out and counted)',
            )
        elif count and item.missing == "drop":
            sieve.leave_out(groups.missing, f"{item.name} missing")
    for item in (item for item in file.attributes if item.cross):
        _sift_cross(item, dict(zip(file.attribute_names, found, strict=True)), sieve, faults)
    return found


def _sift_cross(
    item: AttributeTable, groups: Mapping[str, GroupColumn | None], sieve: Sieve, faults: Faults
) -> None:
    """Treat the rows that lack a part of a cross, and that the part's own rule keeps, by the cross's rule."""
    parts = [column.missing for name in item.cross if (column := groups[name]) is not None]
    missing = lacks_part(parts) if parts else np.zeros(len(sieve.keep), bool)
    count = int((missing & sieve.keep).sum())
    if count and item.missing == "error":
        faults.add(
            f"[attributes.{item.name}] missing",
            f"{count_of(count, 'record')} {'lacks' if count == 1 else 'lack'} a group in "
            f"{' or '.join(item.cross)}; "
            'write missing = "group" (they form a group) or "drop" (left out and counted)',
        )
    elif count and item.missing == "drop":
        sieve.leave_out(missing, f"{item.name} missing")


def find_unplaced(
    file: CohortFile,
    frame: pd.DataFrame,
    groups: Sequence[GroupColumn | None],
    before: Mask,
    outcome: OutcomeColumn,
) -> tuple[Unplaced, ...]:
    """Find the records that would have been kept, had they not lacked one attribute that is dropped."""
    pairs = zip(file.attributes, groups, strict=True)
    lacking = {
        item.name: column.missing
        for item, column in pairs
        if column is not None and item.missing == "drop" and column.missing.any()
    }
    times = np.sum(list(lacking.values()), axis=0) if lacking else np.zeros(len(frame))
    columns = list(dict.fromkeys(score.column for score in file.scores))
    found = []
    for name, missing in lacking.items():
        rows = np.flatnonzero(missing & before & (times == 1))
        if len(rows):
            scores = frame[columns].iloc[rows].reset_index(drop=True)
            found.append(Unplaced(name, scores, outcome.cells[rows].astype(np.int8)))
    return tuple(found)


def check_kept(file: CohortFile, frame: pd.DataFrame, kept: NDArray[np.intp], faults: Faults) -> None:
    """Check scores, site and unit of the kept rows."""
    for score in file.scores:
        if score.column in frame:
            check_score(score, frame[score.column].iloc[kept], faults)
    roles = [("site", "column", file.site.column)]
    roles += [("unit", file.unit.key, name) for name in file.unit.names]
    for role, key, name in roles:
        if name is None or name not in frame:
            continue
        missing = int(is_missing(frame[name].iloc[kept]).sum())
        if missing:
            faults.add(
                f"[{role}] {key}",
                f"'{name}' is missing in {missing:,} of {len(kept):,} records; fill it in, or leave these "
                f'records out: [data] drop = [{{ column = "{name}", values = [""], reason = "no {role}" }}]',
            )
