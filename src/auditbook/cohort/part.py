"""What are the records of a part of a table, by the rules that hold for the whole of it?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.attributes import build_attributes, number_attributes
from auditbook.cohort.cohort import LeftOut, Unplaced
from auditbook.cohort.column_roles import GroupColumn, check_events, recode_names
from auditbook.cohort.named_columns import list_named
from auditbook.cohort.recode import recode_table
from auditbook.cohort.rules import RuledRows, apply_rules, check_kept, find_unplaced
from auditbook.cohort.schema import CohortFile
from auditbook.cohort.units import join_sites, name_units
from auditbook.records import Attribute
from auditbook.tables import Faults, PlainTable, as_text

Names = tuple[str | None, ...]
_PASSED = ("[features]", "[pockets]", "[time]", "[missing]")
"""Tables of a cohort file that name columns which nobody counts."""


@dataclass(frozen=True)
class CohortPart:
    """The kept records of a part of a table; a part need not hold every group."""

    rows: int  # Read, before anything was left out
    left_out: tuple[LeftOut, ...]
    outcome: NDArray[np.int8]  # shape (n,): 1 where the event happened, else 0
    attributes: tuple[Attribute, ...]
    site: NDArray[np.object_] | None  # shape (n,); None without a site column
    unit: NDArray[np.object_] | None  # shape (n,); None where no column but the site names units
    scores: pd.DataFrame  # The columns of the given scores
    held: frozenset[Names]  # Which groups of all attributes with a column stand together; None: without one
    declared: tuple[tuple[str, ...], ...]  # Groups that each of these attributes declares
    unplaced: tuple[Unplaced, ...]
    one_sided: tuple[str, ...]  # What is wrong where every record has the event, or none has


def name_needed(file: CohortFile) -> tuple[str, ...]:
    """List the columns that are counted, or decide which rows are kept."""
    needed = [name for where, name in list_named(file) if not where.startswith(_PASSED)]
    others = {item.column for item in file.outcomes} - {file.outcome.column}
    if any(item.within_unit in ("first", "last") for item in file.attributes) and file.time.column:
        needed.append(file.time.column)
    return tuple(name for name in dict.fromkeys(needed) if name not in others)


def read_part(file: CohortFile, table: PlainTable, *, where: str) -> CohortPart:
    """Apply the rules of a cohort file to some rows of its table, those that `where` names.

    Raises InputError with every fault of these rows.
    """
    faults = Faults(f"{file.path.name}: {where}")
    rows = apply_rules(file, recode_table(file, table, faults), faults)
    kept = np.flatnonzero(rows.sieve.keep)
    check_kept(file, rows.frame, kept, faults)
    faults.raise_any()
    return _assemble(file, rows, kept, where)


def _assemble(file: CohortFile, rows: RuledRows, kept: NDArray[np.intp], where: str) -> CohortPart:
    """Put the kept rows together."""
    frame, outcome = rows.frame, rows.outcome
    cells = np.full(len(frame), np.nan) if outcome is None else outcome.cells
    part = frame.iloc[kept]
    site = recode_names(as_text(part[file.site.column]), file.site.groups) if file.site.column else None
    named = file.unit.names if file.unit.names not in ((), (file.site.column,)) else ()
    unit = name_units(join_sites(file, part.reset_index(drop=True)), named) if named else None
    columns = [column for column in rows.groups if column is not None]
    unplaced = () if outcome is None else find_unplaced(file, frame, rows.groups, rows.with_outcome, outcome)
    return CohortPart(
        rows=len(frame),
        left_out=tuple(rows.sieve.left_out),
        outcome=cells[kept].astype(np.int8),
        attributes=number_attributes(file, rows.groups, kept) if len(kept) else (),
        site=site,
        unit=unit,
        scores=part[list(dict.fromkeys(score.column for score in file.scores))].reset_index(drop=True),
        held=_list_held([column.names[kept] for column in columns]),
        declared=tuple(column.declared for column in columns),
        unplaced=unplaced,
        one_sided=_tell_one_sided(file, rows, where),
    )


def _list_held(names: Sequence[NDArray[np.object_]]) -> frozenset[Names]:
    """List which groups of all attributes stand together in some record."""
    if not names or not len(names[0]):
        return frozenset()
    coded = [pd.factorize(column, use_na_sentinel=True) for column in names]
    place = np.zeros(len(names[0]), np.int64)
    for codes, found in coded:
        place = place * (len(found) + 1) + codes + 1
    first = np.unique(place, return_index=True)[1]
    return frozenset(tuple(column[at] for column in names) for at in first.tolist())


def _tell_one_sided(file: CohortFile, rows: RuledRows, where: str) -> tuple[str, ...]:
    """Say what is wrong with the event if all records were like these."""
    if rows.outcome is None:
        return ()
    faults = Faults(f"{file.path.name}: {where}")
    column = rows.frame[file.outcome.column]
    check_events(file.outcome, column, rows.outcome, keep=rows.sieve.keep, faults=faults)
    return tuple(faults.found)


def settle_attributes(
    file: CohortFile, held: frozenset[Names], declared: Sequence[tuple[str, ...]], faults: Faults
) -> tuple[Attribute, ...]:
    """Put the groups of all parts into the order that one table would have them in, and check them.

    The codes are those of one record for each of `held`.
    """
    listed = sorted(held, key=lambda names: tuple((name is not None, name or "") for name in names))
    columns = iter(zip(zip(*listed, strict=True), declared, strict=True))
    groups: list[GroupColumn | None] = []
    for item in file.attributes:
        if item.cross:
            groups.append(None)
            continue
        names, known = next(columns)
        groups.append(GroupColumn(np.array(names, dtype=object), known))
    return build_attributes(file, groups, np.arange(len(listed)), faults)
