"""Do two models order the same records differently well?"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

from auditbook.columns import fill_table, stack_tables
from auditbook.errors import InputError
from auditbook.evidence import (
    ScoreLevels,
    TalliedAttribute,
    Tally,
    bin_groups,
    check_records,
    count_equal_clusters,
    join_df,
    rank_levels,
    rate,
    sum_powers,
)
from auditbook.ranking.matrix import student_quantile
from auditbook.ranking.tallied_areas import bin_matrix
from auditbook.ranking.units import WHOLE, explain_sites, find_site_units, find_units, list_attributes
from auditbook.records import Attribute, AuditRecords

Array = NDArray[np.float64]
Ints = NDArray[np.integer]


@dataclass(frozen=True)
class AreaDifference:
    """How much larger the areas of one model are than those of another; all of shape (n_groups, n_groups)."""

    difference: Array  # [g, h]; nan without events of g or non-events of h
    se: Array  # nan where fewer than two records (or sites) of either kind take part
    # Interval of each difference by itself, within -1 and 1; nan where the difference does not vary
    low: Array
    high: Array
    # Against no difference; 1 where both models place every record alike, nan where nothing can be said
    p_value: Array


def compare_models(
    outcome: ArrayLike,
    one: ArrayLike,
    other: ArrayLike,
    codes: ArrayLike,
    n_groups: int,
    *,
    site: ArrayLike | None = None,
    level: float = 0.95,
) -> AreaDifference:
    """Compare the AUC matrices of two models that scored the same records.

    Parameters
    ----------
    outcome : array of 0 and 1, shape (n,)
        1 where the event happened.
    one, other : float array, shape (n,)
        The scores of either model, in the same order of records; they need not share a scale.
    codes : int array, shape (n,)
        Position of each record's group.
    n_groups : int
        Number of groups; with one group for all, this is DeLong's test.
    site : int array, shape (n,), optional
        Position of each record's site (or patient), to take these as the independent units. Degrees of
        freedom are those of the units that hold the events and the non-events compared (`join_df`).
    level : float
        Coverage of the intervals.

    Returns
    -------
    AreaDifference
        One less other. The variance is that of the differences of each record's placements, so what both
        models find hard cancels. Memory grows with the records, not with the groups.

    Raises
    ------
    InputError
        If lengths differ, a score is missing, or an outcome is neither 0 nor 1.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). doi:10.2307/2531595

    Examples
    --------
    >>> found = compare_models([0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6], [1, 4, 3, 2, 5, 6], [0] * 6, 1)
    >>> found.difference.tolist(), float(found.p_value[0, 0])
    ([[0.0]], 1.0)
    """
    groups = np.asarray(codes).astype(np.intp)
    ranked = [_Ranked.of(rank_levels(outcome, values)) for values in (one, other)]
    if groups.shape != ranked[0].level.shape:
        raise InputError(f"{groups.size} groups for {ranked[0].level.size} records")
    label = np.asarray(outcome).astype(np.int8)
    where = None if site is None else np.asarray(site).astype(np.intp)
    sides = [_Side.of(ranked, label, groups, n_groups, mine=mine, site=where) for mine in (1, 0)]
    difference = sides[0].mean
    parts = sides[0].square, sides[1].square.T
    total = parts[0] + parts[1]
    if where is None:
        held = (np.maximum(sides[0].held - 1, 0)[:, None], np.maximum(sides[1].held - 1, 0))
        df = rate(total**2, rate(parts[0] ** 2, held[0]) + rate(parts[1] ** 2, held[1]))
        return _conclude(difference, np.sqrt(total), np.where(np.isnan(df), np.inf, df), level)
    moved = sides[0].by_site, np.swapaxes(sides[1].by_site, 1, 2)
    at = [side.at_site > 0 for side in sides]
    sites = (at[0][:, :, None] | at[1][:, None, :]).sum(axis=0)
    factor = rate(sites, np.where(sites > 1, sites - 1, 0))
    square = factor * np.square(moved[0] + moved[1]).sum(axis=0)
    effect = np.fmax(rate(np.nan_to_num(square), np.nan_to_num(total)), 1.0)
    powers = sum_powers(sides[0].at_site)[:, :, None], sum_powers(sides[1].at_site)[:, None]
    counts = count_equal_clusters(powers[0], effect), count_equal_clusters(powers[1], effect)
    df = join_df((np.square(moved[0]).sum(axis=0), np.square(moved[1]).sum(axis=0)), counts)
    return _conclude(difference, np.sqrt(square), df, level)


@dataclass(frozen=True)
class _Ranked:
    """Each record's level, in the records' own order, and the number of levels."""

    level: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, levels: ScoreLevels) -> "_Ranked":
        """Undo the order."""
        level = np.empty(len(levels.order), np.int64)
        level[levels.order] = levels.level
        return cls(level, levels.count)

    def place(self, among: NDArray[np.intp], of: NDArray[np.intp]) -> Array:
        """Share of some records below others, ties half."""
        at = np.bincount(self.level[among], minlength=self.count)
        return ((np.cumsum(at) - 0.5 * at) / max(len(among), 1))[self.level[of]]


@dataclass(frozen=True)
class _Side:
    """What the records of one label say: mean difference of placements, and its squared error.

    `mean` and `square` have shape (n_groups, n_groups), [own group, group placed among]; `held` (n_groups,);
    `by_site` (n_sites, n_groups, n_groups); `at_site` (n_sites, n_groups).
    """

    mean: Array
    square: Array
    held: Array
    by_site: Array
    at_site: Array

    @classmethod
    def of(
        cls, ranked: list[_Ranked], label: Ints, groups: Ints, n_groups: int, *, mine: int, site: Ints | None
    ) -> "_Side":
        """Place the records of one label among each group's records of the other."""
        rows = np.flatnonzero(label == mine)
        group, held = groups[rows], np.bincount(groups[rows], minlength=n_groups).astype(float)
        n_sites = 0 if site is None else int(site.max(initial=-1)) + 1
        cell = None if site is None else site[rows] * n_groups + group
        size = n_sites * n_groups
        at_site = np.zeros((n_sites, n_groups)) if cell is None else np.bincount(cell, minlength=size)
        found = cls(
            mean=np.full((n_groups, n_groups), np.nan),
            square=np.full((n_groups, n_groups), np.nan),
            held=held,
            by_site=np.full((n_sites, n_groups, n_groups), np.nan),
            at_site=at_site.reshape(n_sites, n_groups).astype(float),
        )
        sign = 1 if mine else -1
        for opposite in range(n_groups):
            among = np.flatnonzero((label != mine) & (groups == opposite))
            if not len(among):
                continue
            away = sign * (ranked[0].place(among, rows) - ranked[1].place(among, rows))
            mean = rate(np.bincount(group, away, n_groups), held)
            left = away - mean[group]
            square = np.bincount(group, left * left, n_groups)
            found.mean[:, opposite] = mean
            found.square[:, opposite] = rate(square, np.where(held > 1, held * (held - 1), 0))
            if cell is not None:
                moved = np.bincount(cell, left, size).reshape(n_sites, n_groups)
                found.by_site[:, :, opposite] = moved / np.where(held > 0, held, np.nan)
        return found


def _conclude(difference: Array, se: Array, df: Array, level: float) -> AreaDifference:
    """Give intervals and p-values."""
    flat = se < 1e-12
    known = np.where(flat, np.nan, se)
    width = student_quantile(level, df) * known
    size = np.abs(difference) / known
    p_value = np.where(
        df < np.inf, 2 * stdtr(np.maximum(np.where(df < np.inf, df, 1), 1), -size), 2 * ndtr(-size)
    )
    same = flat & (np.abs(difference) < 1e-12)
    return AreaDifference(
        difference=np.where(same, 0.0, difference),
        se=np.where(flat, 0.0, se),
        low=np.maximum(difference - width, -1),
        high=np.minimum(difference + width, 1),
        p_value=np.where(same, 1.0, p_value),
    )


def tabulate_auc_differences(source: AuditRecords | Tally, *, level: float = 0.95) -> pd.DataFrame:
    """Compare every model's AUC matrix with the first model's: ``auc_differences.csv``.

    A tally holds no two scores of one record: there the differences have no standard error.
    """
    if isinstance(source, Tally):
        return stack_tables("auc_differences", list(_compare_tallied(source)))
    records = source
    check_records(records)
    site, attributes = find_site_units(records), list_attributes(records)
    frames = [
        _tabulate(records, place, attribute, site, level)
        for place in range(1, len(records.scores))
        for attribute in attributes
    ]
    return stack_tables("auc_differences", frames)


def _tabulate(
    records: AuditRecords, place: int, attribute: Attribute, site: Ints | None, level: float
) -> pd.DataFrame:
    """Tabulate one attribute's differences between one model and the first."""
    first, score, count = records.scores[0], records.scores[place], len(attribute.groups)
    asked = (records.outcome, score.values, first.values, attribute.codes, count)
    found = compare_models(*asked, site=find_units(records, count), level=level)
    by_site = None if site is None else compare_models(*asked, site=site, level=level)
    blank, lacks = np.full(count**2, np.nan), explain_sites(site, attribute)
    lacking = [_join_lacks(attribute.groups, lacks, *divmod(row, count)) for row in range(count**2)]
    known = np.array([not lack for lack in lacking], bool)
    columns = {
        "model": score.model,
        "other_model": first.model,
        "attribute": attribute.name,
        "event_group": np.repeat(np.array(attribute.groups, dtype=object), count),
        "nonevent_group": np.tile(np.array(attribute.groups, dtype=object), count),
        "difference": found.difference.ravel(),
        "se": found.se.ravel(),
        "ci_low": found.low.ravel(),
        "ci_high": found.high.ravel(),
        "p_value": found.p_value.ravel(),
        "se_site": blank if by_site is None else np.where(known, by_site.se.ravel(), blank),
        "site_low": blank if by_site is None else np.where(known, by_site.low.ravel(), blank),
        "site_high": blank if by_site is None else np.where(known, by_site.high.ravel(), blank),
        "site_p_value": blank if by_site is None else np.where(known, by_site.p_value.ravel(), blank),
        "reason": [_explain(*row) for row in zip(found.difference.ravel(), found.se.ravel(), strict=True)],
        "site_reason": lacking,
    }
    return fill_table("auc_differences", columns)


UNPAIRED = "a tally holds no two scores of one record, so there is no interval"


def _compare_tallied(tally: Tally) -> Iterator[pd.DataFrame]:
    """Compare the models of a tally by areas from bins of scores."""
    for place in range(1, len(tally.models)):
        for number, attribute in enumerate(tally.attributes):
            for together in (True, False) if number == 0 else (False,):
                yield _subtract_tallied(tally, place, attribute, together)


def _subtract_tallied(tally: Tally, place: int, attribute: TalliedAttribute, together: bool) -> pd.DataFrame:
    """Tabulate one attribute's differences, or that of all records together."""
    every = range(len(attribute.groups))
    found = [bin_groups(tally, one, attribute, every) for one in (place, 0)]
    one, other = (bin_matrix(part.together() if together else part).auc for part in found)
    difference, groups = (one - other).ravel(), (WHOLE,) if together else attribute.groups
    blank = np.full(len(difference), np.nan)
    numbers = "se ci_low ci_high p_value se_site site_low site_high site_p_value".split()
    columns = {
        "model": tally.models[place].model,
        "other_model": tally.models[0].model,
        "attribute": WHOLE if together else attribute.name,
        "event_group": np.repeat(np.array(groups, dtype=object), len(groups)),
        "nonevent_group": np.tile(np.array(groups, dtype=object), len(groups)),
        "difference": difference,
        **dict.fromkeys(numbers, blank),
        "reason": [_explain(each, np.nan) if np.isnan(each) else UNPAIRED for each in difference],
        "site_reason": "",
    }
    return fill_table("auc_differences", columns)


def _join_lacks(groups: tuple[str, ...], lacks: list[str], first: int, second: int) -> str:
    """Say which of two groups have too few sites."""
    return "; ".join(f"{groups[one]}: {lacks[one]}" for one in dict.fromkeys((first, second)) if lacks[one])


def _explain(difference: float, se: float) -> str:
    """Say why there is no interval; blank where there is one."""
    if np.isnan(difference):
        return "one group has no events, or the other no non-events"
    if np.isnan(se):
        return "one record does not vary, so there is no interval"
    if se == 0:
        return "both models place every record alike" if difference == 0 else "the difference does not vary"
    return ""
