"""What is counted of a part of a cohort, and what do parts come to together?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import CohortFile, CohortPart, LeftOut, read_part
from auditbook.errors import naming
from auditbook.evidence import Tally, add_tallies, tally_records
from auditbook.records import AuditRecords, Score
from auditbook.scoring import count_lacking, read_given
from auditbook.tables import PlainTable, hash_text

Edges = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class CountedPart:
    """The counts of some rows of a cohort's table; adds up over parts."""

    rows: int  # Read
    left_out: tuple[LeftOut, ...]
    tally: Tally | None  # None where no row is kept
    held: frozenset[tuple[str | None, ...]]  # Groups that stand together, as `CohortPart` has them
    declared: tuple[tuple[str, ...], ...]
    # By attribute, and model, tp, fp, fn and tn of the records that were left out for lack of it alone
    unplaced: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    one_sided: tuple[str, ...] = ()  # What is wrong where all records have one outcome


def count_part(file: CohortFile, table: PlainTable, *, where: str, edges: Edges | None = None) -> CountedPart:
    """Count the records of a part of a cohort's table.

    Parameters
    ----------
    file : CohortFile
        Of a cohort that `find_obstacles` finds none for.
    table : PlainTable
        Some rows of its table, all those of a unit among them; of its columns at least `name_needed`.
    where : str
        Which rows, for messages: "rows 1 to 1,000 of stays.csv".
    edges : mapping, optional
        By model whose scores only order records, the edges of its bins.

    Raises
    ------
    InputError
        With every fault of these rows.
    """
    part = read_part(file, table, where=where)
    tally, unplaced = None, {}
    if len(part.outcome):
        with naming(f"{file.path.name}: {where}"):
            every = np.arange(len(part.outcome))
            scores = tuple(read_given(part.scores, score, every) for score in file.scores)
            tally = _tally(part, scores, edges)
            unplaced = count_lacking(part.unplaced, file.scores, scores)
    return CountedPart(part.rows, part.left_out, tally, part.held, part.declared, unplaced, part.one_sided)


def _tally(part: CohortPart, scores: tuple[Score, ...], edges: Edges | None) -> Tally:
    """Turn the kept records into counts and sums."""
    site, sites = (None, ()) if part.site is None else _number(part.site)
    unit, units = (None, ()) if part.unit is None else _number(part.unit)
    records = AuditRecords(part.outcome, part.attributes, scores, site, unit)
    key = None if unit is None else hash_text(np.array(units, dtype=object))
    return tally_records(records, sites=sites, rank_edges=edges, unit_key=key)


def _number(names: NDArray[np.object_]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    codes, found = pd.factorize(names, sort=True)
    return codes, tuple(found)


def add_parts(parts: Iterable[CountedPart]) -> CountedPart:
    """Add up the counts of parts; in whatever order they come, the same."""
    each = iter(parts)
    total = next(each, CountedPart(0, (), None, frozenset(), ()))
    for part in each:
        total = _add_two(total, part)
    return total


def _add_two(one: CountedPart, other: CountedPart) -> CountedPart:
    tallies = [part.tally for part in (one, other) if part.tally is not None]
    unplaced = dict(one.unplaced)
    for name, counts in other.unplaced.items():
        unplaced[name] = unplaced[name] + counts if name in unplaced else counts
    return CountedPart(
        one.rows + other.rows,
        _add_left_out(one.left_out, other.left_out),
        add_tallies(tallies) if tallies else None,
        one.held | other.held,
        one.declared or other.declared,
        unplaced,
        one.one_sided and other.one_sided,
    )


def _add_left_out(one: Sequence[LeftOut], other: Sequence[LeftOut]) -> tuple[LeftOut, ...]:
    """Add up the rows by reason; the second of two alike is the second in every part."""
    found: dict[tuple[str, int], int] = {}
    for parts in (one, other):
        for key, rows in zip(number_reasons([part.reason for part in parts]), parts, strict=True):
            found[key] = found.get(key, 0) + rows.rows
    return tuple(LeftOut(reason, rows) for (reason, _), rows in found.items())


def number_reasons(reasons: Sequence[str]) -> list[tuple[str, int]]:
    """Give a number to each reason, 0 to the first of the same words."""
    return [(reason, reasons[:place].count(reason)) for place, reason in enumerate(reasons)]
