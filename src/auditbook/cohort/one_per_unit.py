"""Which one record stands for a unit that was scored several times?"""

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.cohort import Cohort, LeftOut, MergedUnits
from auditbook.cohort.order import take_cohort
from auditbook.cohort.per_unit_keys import KEY
from auditbook.cohort.predictions import list_predictions
from auditbook.cohort.schema import PerUnit, ScoreTable
from auditbook.cohort.times import rank_times
from auditbook.tables import Faults, as_numbers, count_of, hash_cells, mix

Rows = NDArray[np.intp]
Cells = NDArray[np.float64]


def merge_units(cohort: Cohort, rule: PerUnit) -> Cohort:
    """Audit one record a unit; its event is that of any of its records.

    Raises
    ------
    InputError
        If the records of a unit differ in what only one of them can keep: groups, weights, or an outcome
        that is a number; with `max` also sites.
    """
    faults = Faults(cohort.file.path.name)
    unit = pd.factorize(cohort.unit, sort=True)[0]
    time = _rank(cohort, faults)
    _check_same(cohort, unit, faults)
    predictions = list_predictions(cohort.file, cohort.table, unit, faults)
    faults.raise_any()
    stands = choose_rows(unit, _turn(cohort, cohort.file.scores[:1]), time, rule=rule, table=cohort.table)
    merged = _tell(cohort, unit, time, rule)
    joined = replace(
        cohort,
        table=_join_scores(cohort, unit) if rule == "max" else cohort.table,
        outcome=cohort.outcome if cohort.continuous else _join(cohort.outcome, unit, np.fmax).astype(np.int8),
        other_outcomes=tuple(
            replace(item, cells=_join(item.cells, unit, np.fmax)) for item in cohort.other_outcomes
        ),
        left_out=(
            *cohort.left_out,
            LeftOut(
                f"the unit has another record that stands for it ({rule})", merged.records - merged.units
            ),
        ),
        unplaced=(),
        merged=merged,
    )
    one = replace(take_cohort(joined, stands), predictions=predictions)
    _check_events(one, faults)
    faults.raise_any()
    return one


def choose_rows(unit: Rows, height: Cells, time: Rows | None, *, rule: PerUnit, table: pd.DataFrame) -> Rows:
    """Choose the row that stands for each unit, in the order of the units, whatever the order of rows.

    The first or last in time, or the one with the largest score; of several alike the one with the highest
    score, or the earliest; of those that are alike in this too, one by what it holds.
    """
    time = np.zeros(len(unit), np.intp) if time is None else time
    when = np.where(time < 0, np.inf, -time if rule == "last" else time)
    keys = (unit, -height, when) if rule == "max" else (unit, when, -height)
    tied = _find_tied(keys)
    content = np.zeros(len(unit), np.uint64)
    for name in sorted(table.columns) if tied.any() else ():
        content[tied] = mix(content[tied] ^ hash_cells(table[name][tied].reset_index(drop=True)))
    sequence = np.lexsort((content, *keys[::-1]))
    return sequence[np.unique(unit[sequence], return_index=True)[1]]


def _find_tied(keys: tuple[NDArray[np.generic], ...]) -> NDArray[np.bool_]:
    """Tell which rows are alike in all keys with another one."""
    sequence = np.lexsort(keys[::-1])
    alike = np.all([key[sequence][1:] == key[sequence][:-1] for key in keys], axis=0)
    tied = np.zeros(len(sequence), bool)
    tied[sequence[1:]] |= alike
    tied[sequence[:-1]] |= alike
    return tied


def _rank(cohort: Cohort, faults: Faults) -> Rows | None:
    """Rank the moments of the records, -1 where there is none; None without a column of times."""
    name = cohort.file.time.column
    if name is None:
        return None
    return rank_times(cohort.table[name], keep=np.ones(len(cohort.table), bool), faults=faults)


def _turn(cohort: Cohort, scores: tuple[ScoreTable, ...]) -> Cells:
    """Read the first of some given scores so that high ones speak for the event; zeros without any."""
    for score in scores:
        return score.turn(as_numbers(cohort.table[score.column]).cells)
    return np.zeros(len(cohort.table))


def _join(cells: NDArray[np.number], unit: Rows, ufunc: np.ufunc) -> Cells:
    """Give every record what `np.fmax` or `np.fmin` finds among all of its unit; nan where all are."""
    found = np.full(int(unit.max(initial=-1)) + 1, np.nan)
    ufunc.at(found, unit, cells.astype(float))
    return found[unit]


def _join_scores(cohort: Cohort, unit: Rows) -> pd.DataFrame:
    """Give every record the score of its unit that speaks most for the event, each score by itself."""
    found = {
        score.column: _join(
            as_numbers(cohort.table[score.column]).cells,
            unit,
            np.fmax if score.event_is == "high" else np.fmin,
        )
        for score in cohort.file.scores
    }
    return cohort.table.assign(**found)


def _tell(cohort: Cohort, unit: Rows, time: Rows | None, rule: PerUnit) -> MergedUnits:
    """Count what becomes of the units."""
    sizes = np.bincount(unit)
    timed = np.bincount(unit, np.ones(len(unit)) if time is None else time >= 0) > 0
    return MergedUnits(
        rule,
        records=len(unit),
        units=len(sizes),
        several=int((sizes > 1).sum()),
        largest=int(sizes.max()),
        mixed=0 if cohort.continuous else int(_differ(cohort.outcome, unit).sum()),
        untimed=int(((sizes > 1) & ~timed).sum()) if rule != "max" else 0,
    )


def _differ(cells: NDArray[np.generic], unit: Rows) -> NDArray[np.bool_]:
    """Tell of which units the records do not hold one and the same, shape (n_units,)."""
    codes = pd.factorize(cells, use_na_sentinel=False)[0]
    number = int(codes.max(initial=0)) + 1
    return np.bincount(np.unique(unit * number + codes) // number) > 1


def _check_same(cohort: Cohort, unit: Rows, faults: Faults) -> None:
    """Note what differs between the records of one unit and must not, where one stands for all."""
    for where, what, cells, advice in _list_fixed(cohort):
        differing = _differ(cells, unit)
        count = int(differing.sum())
        if not count:
            continue
        rows = unit == int(np.argmax(differing))
        held = sorted({str(cell) for cell in cells[rows]})
        some = ", ".join(map(repr, held[:3])) + (", …" if len(held) > 3 else "")
        holds = "holds" if count == 1 else "hold"
        faults.add(
            where,
            f"{count_of(count, 'unit')} {holds} more than one {what} (such as {cohort.unit[rows][0]!r}: "
            f"{some}), and one record is to stand for a unit ({KEY}); {advice}",
        )


def _list_fixed(cohort: Cohort) -> Iterator[tuple[str, str, NDArray[np.generic], str]]:
    """List what must be the same in all records of a unit: where, what, its cells, and the cure."""
    file, same = cohort.file, "give all records of a unit the same"
    settle = 'say which one stands for the unit: within_unit = "most frequent"'
    settle += ', or "first" or "last"' if file.time.column else ""
    for item in (item for item in cohort.attributes if not item.parts):
        yield f"[attributes.{item.name}]", "group", np.array(item.groups, object)[item.codes], settle
    for key, name in file.weight.columns.items():
        yield f"[weight] {key}", repr(name), cohort.table[name].to_numpy(object), same
    if cohort.continuous:
        yield "[outcome] column", repr(file.outcome.column), cohort.outcome, same
    if cohort.site is not None and file.unit.score_per_unit == "max":
        names = [file.site.column, *(name for name in file.unit.names if name != file.site.column)]
        advice = f"name the unit by both: columns = {json.dumps(names, ensure_ascii=False)}"
        yield "[site] column", "site", cohort.site, advice


def _check_events(cohort: Cohort, faults: Faults) -> None:
    """Note that every unit has the event."""
    if not cohort.continuous and cohort.outcome.all():
        told = f"every one of {count_of(len(cohort.outcome), 'unit')} has a record with the event"
        faults.add(KEY, f"{told}, so that there is nothing to compare with; choose another event or unit")
