"""How does a column become an outcome, a group, a name or a score, and what is wrong when it does not?"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort_types import AttributeTable, Event, OutcomeTable, ScoreTable, Value
from auditbook.cohort_schema import Faults, show
from auditbook.errors import nearest
from auditbook.records import Attribute

MISSING_GROUP = "(missing)"

Mask = NDArray[np.bool_]

_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


@dataclass(frozen=True)
class Numbers:
    """A column as numbers.

    Attributes
    ----------
    cells : float array, shape (n,)
        The numbers; nan where the cell is missing or is no number.
    bad : bool array, shape (n,)
        True where a cell is there but is no finite number.
    """

    cells: NDArray[np.float64]
    bad: Mask


def as_text(column: pd.Series) -> NDArray[np.object_]:
    """Write each cell as text, the same for every type of column that can hold it.

    Parameters
    ----------
    column : Series, length n
        A plain column.

    Returns
    -------
    object array of str or None, shape (n,)
        Text as it stands; whole numbers without a decimal point (``1.0`` is ``"1"``); None where missing.

    Examples
    --------
    >>> as_text(pd.Series([1.0, float("nan"), 2.5])).tolist()
    ['1', None, '2.5']
    """
    codes, values = pd.factorize(column, use_na_sentinel=True)
    names = np.array([*(_name(value) for value in values), None], dtype=object)
    return np.asarray(names[codes])


def _name(value: object) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def as_numbers(column: pd.Series) -> Numbers:
    """Read each cell as a number; text that is one counts, words such as nan do not.

    Parameters
    ----------
    column : Series, length n
        A plain column.

    Returns
    -------
    Numbers
        Cells, and where a cell is no finite number. Truth values are 1 and 0.
    """
    missing = is_missing(column)
    if column.dtype == object:
        present: Any = column.where(pd.Series(~missing, index=column.index), None)
        values = pd.to_numeric(present, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    elif column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=float)
    else:
        values = np.full(len(column), np.nan)
    bad = ~np.isfinite(values) & ~missing
    return Numbers(np.where(bad, np.nan, values), bad)


def is_missing(column: pd.Series, values: Iterable[Value] = ()) -> Mask:
    """Tell which cells are missing: null, blank, or one of the values that mean so.

    Parameters
    ----------
    column : Series, length n
        A plain column.
    values : iterable of str, int, float or bool
        Values that mean "missing", matched as `matches` does.

    Returns
    -------
    bool array, shape (n,)
        True where the cell is null, holds nothing but blanks, or equals one of `values`.
    """
    missing = column.isna().to_numpy(dtype=bool)
    if column.dtype == object:
        codes, found = pd.factorize(column, use_na_sentinel=True)
        blank = np.array(
            [isinstance(value, str) and not value.strip() for value in found] + [True], dtype=bool
        )
        missing = blank[codes]
    for value in values:
        missing = missing | matches(column, value)
    return np.asarray(missing)


def matches(column: pd.Series, value: Value) -> Mask:
    """Tell which cells equal a value of the cohort file.

    Text equals the same text, blanks and capitals included. A number equals every cell that is this
    number, also as text (``1`` matches 1, 1.0, "1" and true). ``true`` equals true, "true", "True",
    "TRUE" and 1; ``false`` likewise with 0. Blank text equals a missing cell.

    Parameters
    ----------
    column : Series, length n
        A plain column.
    value : str, int, float or bool
        As the cohort file gives it.

    Returns
    -------
    bool array, shape (n,)
        True where the cell equals the value.

    Examples
    --------
    >>> matches(pd.Series(["1", "01", "one", None]), 1).tolist()
    [True, True, False, False]
    """
    if isinstance(value, str):
        return is_missing(column) if not value.strip() else np.asarray(as_text(column) == value)
    equal = as_numbers(column).cells == float(value)
    if isinstance(value, bool):
        equal = equal | np.isin(as_text(column).astype(str), _TRUE if value else _FALSE)
    return np.asarray(equal)


def list_values(column: pd.Series, *, limit: int = 8) -> str:
    """List the most frequent values of a column, blanks made visible.

    Parameters
    ----------
    column : Series
        A plain column.
    limit : int
        Values listed at the most.

    Returns
    -------
    str
        Such as ``'No' (60), 'Yes ' (40)``.
    """
    text = pd.Series(as_text(column)).dropna()
    counts = text.value_counts()
    counts = counts.iloc[np.lexsort((counts.index.to_numpy(dtype=str), -counts.to_numpy()))]
    quoted = column.dtype == object
    shown = [f"{repr(name) if quoted else name} ({count:,})" for name, count in counts.iloc[:limit].items()]
    more = f" and {len(counts) - limit:,} more" if len(counts) > limit else ""
    return ", ".join(shown) + more if shown else "nothing but missing cells"


@dataclass(frozen=True)
class OutcomeColumn:
    """The outcome of every row.

    Attributes
    ----------
    cells : float array, shape (n,)
        1 for an event and 0 for none, or the number itself; nan where missing.
    """

    cells: NDArray[np.float64]

    @property
    def missing(self) -> Mask:
        """True where the outcome is missing, shape (n,)."""
        return np.isnan(self.cells)


def derive_outcome(table: OutcomeTable, column: pd.Series, *, keep: Mask, faults: Faults) -> OutcomeColumn:
    """Turn the outcome column into events, or numbers when it is continuous.

    Parameters
    ----------
    table : OutcomeTable
        What the cohort file says of the outcome.
    column : Series, length n
        The column.
    keep : bool array, shape (n,)
        Rows that are not left out for another reason; only these can be at fault.
    faults : Faults
        Receives what is wrong.

    Returns
    -------
    OutcomeColumn
        Of all n rows.
    """
    missing = is_missing(column)
    values = np.full(len(column), np.nan)
    event = table.event
    if event is None or event.comparison in (">", ">=", "<", "<="):
        numbers = as_numbers(column)
        _fault_not_numbers(table, column, numbers.bad & ~missing & keep, faults)
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


def _fault_not_numbers(table: OutcomeTable, column: pd.Series, bad: Mask, faults: Faults) -> None:
    if not bad.any():
        return
    found = list_values(column[bad], limit=5)
    advice = "if these mean missing, name them in [missing] values"
    if table.event is not None and (as_text(column) == table.text.strip()).any():
        advice = f"if the value itself is meant, write event = '== \"{table.text.strip()}\"'"
    need = f"the event '{table.text}'" if table.event is not None else "a continuous outcome"
    faults.add(
        "[outcome] column",
        f"'{table.column}' is not a number in {bad.sum():,} rows ({found}); {need} needs numbers: {advice}",
    )


def check_events(
    table: OutcomeTable, column: pd.Series, outcome: OutcomeColumn, *, keep: Mask, faults: Faults
) -> None:
    """Note an event that matches no kept record, or every one.

    Parameters
    ----------
    table : OutcomeTable
        What the cohort file says of the outcome.
    column : Series, length n
        The column.
    outcome : OutcomeColumn
        What `derive_outcome` made of it.
    keep : bool array, shape (n,)
        The rows that stay.
    faults : Faults
        Receives what is wrong.
    """
    values = outcome.cells
    keep = keep & ~outcome.missing
    events, total = int(values[keep].sum()), int(keep.sum())
    if total == 0 or 0 < events < total:
        return
    event = table.event
    found = list_values(column[keep])
    if column.dtype != object and event is not None and event.comparison not in ("==", "!="):
        numbers = as_numbers(column).cells[keep]
        found = f"from {numbers.min():g} to {numbers.max():g}"
    if events == 0:
        advice = _near_value(table, column[keep])
        faults.add(
            "[outcome] event",
            f"{show(table.text)} matches no record: '{table.column}' holds {found}; {advice}",
        )
    else:
        faults.add(
            "[outcome] event",
            f"{show(table.text)} matches all {total:,} records, so there is nothing to compare with: "
            f"'{table.column}' holds {found}; choose another event",
        )


def _near_value(table: OutcomeTable, column: pd.Series) -> str:
    """Say which value of the column may have been meant."""
    wanted = str(table.event.value) if table.event is not None else ""
    values = {name for name in as_text(column) if name is not None}
    same = sorted(name for name in values if name.strip() == wanted.strip())
    if same:
        return f"the value in the table has blanks: write event = {show(same[0])}"
    return f"write event as one of these values{nearest(wanted, sorted(values))}"


@dataclass(frozen=True)
class GroupColumn:
    """The group of every row before the rule for missing ones is applied.

    Attributes
    ----------
    names : object array of str or None, shape (n,)
        Group of each row; None where missing.
    declared : tuple of str
        Groups in their declared order, also those without rows; empty when nothing is declared.
    """

    names: NDArray[np.object_]
    declared: tuple[str, ...]

    @property
    def missing(self) -> Mask:
        """True where the group is missing, shape (n,)."""
        return np.array([name is None for name in self.names], dtype=bool)


def derive_groups(
    table: AttributeTable,
    column: pd.Series,
    *,
    declared: Sequence[object],
    keep: Mask,
    faults: Faults,
) -> GroupColumn:
    """Turn an attribute's column into groups: bins, or recoded values.

    Parameters
    ----------
    table : AttributeTable
        What the cohort file says of the attribute.
    column : Series, length n
        The column.
    declared : sequence
        Values that the column itself declares (a categorical column), in order.
    keep : bool array, shape (n,)
        Rows that are not left out for another reason; only these can be at fault.
    faults : Faults
        Receives what is wrong.

    Returns
    -------
    GroupColumn
        Of all n rows.
    """
    missing = is_missing(column, table.missing_values)
    if table.bins:
        names = _bin(table, column, keep & ~missing, faults)
        names[missing] = None
        return GroupColumn(names, table.labels)
    names = _recode(as_text(column), table)
    names[missing] = None
    order = table.categories
    if order:
        _fault_undeclared(table, names[keep], faults)
    elif declared:
        unwanted = is_missing(pd.Series(list(declared), dtype=object), table.missing_values)
        listed = [_name(value) for value, out in zip(declared, unwanted, strict=True) if not out]
        order = tuple(dict.fromkeys(table.groups.get(name, name) for name in listed))
    return GroupColumn(names, order)


def _recode(names: NDArray[np.object_], table: AttributeTable) -> NDArray[np.object_]:
    codes, values = pd.factorize(names, use_na_sentinel=True)
    new = np.array([*(table.groups.get(value, value) for value in values), None], dtype=object)
    return np.asarray(new[codes])


def _bin(table: AttributeTable, column: pd.Series, keep: Mask, faults: Faults) -> NDArray[np.object_]:
    """Name the bin of each row; rows that no bin holds are faults."""
    where = f"[attributes.{table.name}] bins"
    numbers = as_numbers(column)
    bad, low = numbers.bad & keep, (numbers.cells < table.bins[0]) & keep
    if bad.any():
        faults.add(
            where,
            f"'{table.column}' is not a number in {bad.sum():,} rows ({list_values(column[bad], limit=5)}); "
            "if these mean missing, name them in missing_values",
        )
    if low.any():
        faults.add(
            where,
            f"{low.sum():,} rows of '{table.column}' lie below the first bin, {table.bins[0]:g} (lowest: "
            f"{numbers.cells[low].min():g}); lower the first bin, or name the values in missing_values",
        )
    position = np.searchsorted(np.asarray(table.bins, float), numbers.cells, side="right") - 1
    inside = ~np.isnan(numbers.cells) & (position >= 0)
    labels = np.array([*table.labels, None], dtype=object)
    return np.asarray(labels[np.where(inside, np.minimum(position, len(labels) - 2), -1)])


def _fault_undeclared(table: AttributeTable, names: NDArray[np.object_], faults: Faults) -> None:
    unknown = pd.Series(
        [name for name in names if name is not None and name not in table.categories], dtype=object
    )
    if len(unknown):
        faults.add(
            f"[attributes.{table.name}] categories",
            f"'{table.column}' holds values that are not declared: {list_values(unknown)}; declared: "
            f"{', '.join(map(repr, table.categories))}; add them, recode them with groups, or name them in "
            "missing_values",
        )


def build_attribute(
    table: AttributeTable, groups: GroupColumn, *, max_groups: int, faults: Faults
) -> Attribute:
    """Give numbers to the groups of the kept rows.

    Parameters
    ----------
    table : AttributeTable
        What the cohort file says of the attribute.
    groups : GroupColumn
        Of the kept rows, n of them; those still missing form a group of their own.
    max_groups : int
        More groups than this are a fault.
    faults : Faults
        Receives what is wrong: fewer than two groups, too many, an unknown reference.

    Returns
    -------
    Attribute
        Groups in declared order, else by name (by number when all are numbers); "(missing)" last.
    """
    where = f"[attributes.{table.name}]"
    missing = groups.missing
    found = {name for name in groups.names[~missing]}
    if missing.any() and MISSING_GROUP in found:
        faults.add(
            where, f"a value is called '{MISSING_GROUP}', the name of the group without one; recode it"
        )
    order = list(groups.declared) + sort_names(found - set(groups.declared))
    if len(found) + bool(missing.any()) < 2:
        faults.add(
            where,
            f"'{table.column}' holds {len(found)} group with records {sorted(found)}; at least two are "
            "needed: check column, groups and bins, or delete the attribute",
        )
    if len(order) > max_groups:
        some = ", ".join(map(repr, order[:5]))
        faults.add(
            where,
            f"'{table.column}' makes {len(order):,} groups ({some}, …), at most {max_groups} are allowed "
            "([protocol] max_groups); give bins, recode with groups, or choose another column",
        )
    if table.reference is not None and table.reference not in order:
        faults.add(
            f"{where} reference",
            f"{show(table.reference)} is none of the groups{nearest(table.reference, order)}; found: "
            f"{', '.join(map(repr, order[:12]))}{', …' if len(order) > 12 else ''}",
        )
    names = tuple(order) + ((MISSING_GROUP,) if missing.any() else ())
    codes = pd.Categorical(
        np.where(missing, MISSING_GROUP, groups.names), categories=list(dict.fromkeys(names))
    ).codes
    return Attribute(table.name, names, np.asarray(codes, dtype=np.int32), table.reference)


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names as text, or as numbers when each is one.

    Examples
    --------
    >>> sort_names(["10", "9"]), sort_names(["b", "10", "9"])
    (['9', '10'], ['10', '9', 'b'])
    """
    listed = sorted(names)
    if all(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in listed):
        return sorted(listed, key=float)
    return listed


def check_score(table: ScoreTable, column: pd.Series, faults: Faults) -> None:
    """Check that a column of given scores is what its kind says.

    Parameters
    ----------
    table : ScoreTable
        What the cohort file says of the score.
    column : Series, length n
        The column of the kept rows.
    faults : Faults
        Receives what is wrong: no numbers, missing ones, probabilities outside [0, 1], decisions not 0 or 1.
    """
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
        faults.add(where, f"'{table.column}' is not a number in {numbers.bad.sum():,} records ({found})")
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
