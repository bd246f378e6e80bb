"""How does a column become an outcome, a group, a name or a score, and what is wrong when it does not?"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.bins import name_bins
from auditbook.cohort.events import Event
from auditbook.cohort.number_advice import advise_numbers
from auditbook.cohort.schema import AttributeTable, OutcomeTable, ScoreTable
from auditbook.errors import nearest
from auditbook.records import Attribute
from auditbook.tables import (
    Faults,
    Mask,
    as_numbers,
    as_text,
    count_of,
    is_missing,
    list_values,
    matches,
    name_value,
    show,
)

MISSING_GROUP = "(missing)"


@dataclass(frozen=True)
class OutcomeColumn:
    """The outcome of every row."""

    # shape (n,): 1 for an event and 0 for none, or the number itself; nan where missing
    cells: NDArray[np.float64]

    @property
    def missing(self) -> Mask:
        """True where the outcome is missing, shape (n,)."""
        return np.isnan(self.cells)


def derive_outcome(
    table: OutcomeTable, column: pd.Series, *, keep: Mask, faults: Faults, where: str = "[outcome]"
) -> OutcomeColumn:
    """Turn the outcome column into events, or numbers when it is continuous."""
    missing = is_missing(column)
    values = np.full(len(column), np.nan)
    event = table.rule
    if event is None or event.compares_numbers:
        numbers = as_numbers(column)
        _fault_not_numbers(table, column, numbers.bad & ~missing & keep, faults, where)
        values = numbers.cells if event is None else _compare(numbers.cells, event)
    else:
        equal = matches(column, event.value)
        values = (equal if event.comparison == "==" else ~equal).astype(float)
    values = np.where(missing, np.nan, values)
    return OutcomeColumn(values)


def _compare(values: NDArray[np.float64], event: Event) -> NDArray[np.float64]:
    """Compare numbers with the event's bound; nan stays nan."""
    compare: Any = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}[
        event.comparison
    ]
    return np.where(np.isnan(values), np.nan, compare(values, float(event.value)).astype(float))


def _fault_not_numbers(table: OutcomeTable, column: pd.Series, bad: Mask, faults: Faults, where: str) -> None:
    if not bad.any():
        return
    found = list_values(column[bad], limit=5)
    advice = advise_numbers(column[bad], numbers=f"{where} numbers", missing="[missing] values")
    if table.rule is not None and (as_text(column) == table.text.strip()).any():
        advice = f"if the value itself is meant, write event = '== \"{table.text.strip()}\"'"
    need = f"the event '{table.text}'" if table.rule is not None else "a continuous outcome"
    faults.add(
        f"{where} column",
        f"'{table.column}' is not a number in {count_of(bad.sum(), 'row')} ({found}); "
        f"{need} needs numbers: {advice}",
    )


def check_events(
    table: OutcomeTable,
    column: pd.Series,
    outcome: OutcomeColumn,
    *,
    keep: Mask,
    faults: Faults,
    where: str = "[outcome]",
) -> None:
    """Note an event that matches no kept record, or every one."""
    values = outcome.cells
    keep = keep & ~outcome.missing
    events, total = int(values[keep].sum()), int(keep.sum())
    if total == 0 or 0 < events < total:
        return
    event = table.rule
    found = list_values(column[keep])
    if column.dtype != object and event is not None and event.compares_numbers:
        numbers = as_numbers(column).cells[keep]
        found = f"from {numbers.min():g} to {numbers.max():g}"
    if events == 0:
        advice = _near_value(table, column[keep])
        faults.add(
            f"{where} event",
            f"{show(table.text)} matches no record: '{table.column}' holds {found}; {advice}",
        )
    else:
        faults.add(
            f"{where} event",
            f"{show(table.text)} matches all {total:,} records, so there is nothing to compare with: "
            f"'{table.column}' holds {found}; choose another event",
        )


def _near_value(table: OutcomeTable, column: pd.Series) -> str:
    """Say which value of the column may have been meant."""
    wanted = str(table.rule.value) if table.rule is not None else ""
    values = {name for name in as_text(column) if name is not None}
    same = sorted(name for name in values if name.strip() == wanted.strip())
    if same:
        return f"the value in the table has blanks: write event = {show(same[0])}"
    return f"write event as one of these values{nearest(wanted, sorted(values))}"


@dataclass(frozen=True)
class Settled:
    """The groups of an attribute after one group was given to every unit."""

    names: NDArray[np.object_]  # shape (n,): Group of each row; None where its unit has none
    units: int  # Units whose records held more than one group
    records: int  # Records whose group is another than the table says, or that had none


@dataclass(frozen=True)
class GroupColumn:
    """The group of every row before the rule for missing ones is applied."""

    names: NDArray[np.object_]  # shape (n,): Group of each row; None where missing
    # Groups in their declared order, also those without rows; empty when nothing is declared
    declared: tuple[str, ...]
    settled: Settled | None = None  # How many units got one group for several

    @property
    def missing(self) -> Mask:
        """True where the group is missing, shape (n,)."""
        return np.asarray(pd.isna(self.names))


def derive_groups(
    table: AttributeTable, column: pd.Series, *, declared: Sequence[object], keep: Mask, faults: Faults
) -> GroupColumn:
    """Turn an attribute's column into groups: bins, or recoded values."""
    missing = is_missing(column, table.missing_values)
    if table.bins:
        names = name_bins(table, column, keep=keep & ~missing, faults=faults)
        names[missing] = None
        return GroupColumn(names, table.labels)
    names = recode_names(as_text(column), table.groups)
    names[missing] = None
    order = table.categories
    if order:
        _fault_undeclared(table, names[keep], faults)
    elif declared:
        unwanted = is_missing(pd.Series(list(declared), dtype=object), table.missing_values)
        listed = [name_value(value) for value, out in zip(declared, unwanted, strict=True) if not out]
        order = tuple(dict.fromkeys(table.groups.get(name, name) for name in listed))
    return GroupColumn(names, order)


def recode_names(names: NDArray[np.object_], groups: Mapping[str, str]) -> NDArray[np.object_]:
    """Give names their group; those that are not listed stay, and so does None."""
    codes, values = pd.factorize(names, use_na_sentinel=True)
    new = np.array([*(groups.get(value, value) for value in values), None], dtype=object)
    return np.asarray(new[codes])


def _fault_undeclared(table: AttributeTable, names: NDArray[np.object_], faults: Faults) -> None:
    unknown = pd.Series(
        [name for name in names if name is not None and name not in table.categories], dtype=object
    )
    if len(unknown):
        faults.add(
            f"[attributes.{table.name}] categories",
            f"'{table.column}' holds values that are not declared: {list_values(unknown)}; declared: "
            f"{', '.join(map(repr, table.categories))}; add them, recode them with groups, or, "
            "where they say that nothing is known, name them in missing_values",
        )


def build_attribute(
    table: AttributeTable, groups: GroupColumn, *, max_groups: int, faults: Faults
) -> Attribute:
    """Give numbers to the groups of the kept rows, and note what is wrong with these."""
    attribute, missing = number_groups(table, groups), bool(groups.missing.any())
    found = sorted(set(pd.unique(groups.names)) - {None})
    if missing and MISSING_GROUP in found:
        faults.add(
            f"[attributes.{table.name}]",
            f"a value is called '{MISSING_GROUP}', the name of the group without one; recode it",
        )
    check_groups(
        table,
        attribute.groups[: len(attribute.groups) - missing],
        what=f"'{table.column}'",
        found=found,
        missing=missing,
        max_groups=max_groups,
        faults=faults,
    )
    return attribute


def number_groups(table: AttributeTable, groups: GroupColumn) -> Attribute:
    """Give numbers to the groups of the kept rows: the declared ones, others by name, then who has none."""
    codes, found = pd.factorize(groups.names, use_na_sentinel=True)
    names = [*groups.declared, *sort_names(set(found) - set(groups.declared))]
    names += [MISSING_GROUP] if (codes < 0).any() else []
    place = {name: at for at, name in reversed(list(enumerate(names)))}
    of_code = np.array([*(place[name] for name in found), place.get(MISSING_GROUP, -1)], np.int32)
    return Attribute(table.name, tuple(names), of_code[codes], table.reference)


def check_groups(
    table: AttributeTable,
    order: Sequence[str],
    *,
    what: str,
    found: Sequence[str],
    missing: bool,
    max_groups: int,
    faults: Faults,
) -> None:
    """Note too few groups with records, too many groups, and a reference that is none of them."""
    where = f"[attributes.{table.name}]"
    source = "the attributes that it crosses" if table.cross else "column, groups and bins"
    advice = "give bins, recode with groups, or choose another column"
    if table.cross:
        advice = "join groups of the attributes that it crosses, with a recoding or wider bins"
    if len(found) + missing < 2:
        held = f"1 group with records {list(found)}" if found else "no group with records"
        faults.add(
            where, f"{what} holds {held}; at least two are needed: check {source}, or delete the attribute"
        )
    if len(order) > max_groups:
        some = ", ".join(map(repr, order[:5]))
        faults.add(
            where,
            f"{what} makes {len(order):,} groups ({some}, …), at most {max_groups} are allowed "
            f"([protocol] max_groups); {advice}",
        )
    if table.reference is not None and table.reference not in order:
        faults.add(
            f"{where} reference",
            f"{show(table.reference)} is none of the groups{nearest(table.reference, order)}; found: "
            f"{', '.join(map(repr, order[:12]))}{', …' if len(order) > 12 else ''}",
        )


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names as text, or as numbers when each is one."""
    listed = sorted(names)
    if all(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in listed):
        return sorted(listed, key=float)
    return listed


def check_score(table: ScoreTable, column: pd.Series, faults: Faults) -> None:
    """Check that a column of given scores is what its kind says."""
    where = f"[scores.{table.name}] column"
    numbers, missing = as_numbers(column), is_missing(column)
    if missing.any():
        faults.add(
            where,
            f"'{table.column}' is missing in {missing.sum():,} of {len(column):,} records, and a record "
            "without a score cannot be judged; fill the scores in, or leave these records out: [data] drop = "
            f'[{{ column = "{table.column}", values = [""], reason = "no score" }}]',
        )
    if numbers.bad.any():
        found = list_values(column[numbers.bad], limit=5)
        faults.add(
            where,
            f"'{table.column}' is not a number in {count_of(numbers.bad.sum(), 'record')} ({found}); write "
            "every score as a finite number with a decimal point, such as 0.25",
        )
    values = numbers.cells[~np.isnan(numbers.cells)]
    if len(values) == 0 or numbers.bad.any():
        return
    low, high = float(values.min()), float(values.max())
    if table.kind == "decision" and not np.isin(values, (0, 1)).all():
        faults.add(
            where,
            f"'{table.column}' holds {list_values(column)}; a decision is 0 or 1: give kind = "
            '"probability" or "rank" for scores',
        )
    if table.kind == "probability" and (low < 0 or high > 1):
        advice = 'if they only order the records, write kind = "rank" with a threshold or percentile'
        if low >= 0 and high <= 100:
            advice = f"if they are percentages, divide them by 100; {advice}"
        faults.add(
            where, f"column '{table.column}' runs from {low:g} to {high:g}: not probabilities; {advice}"
        )
