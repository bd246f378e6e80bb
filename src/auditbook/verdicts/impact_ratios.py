"""How does each category compare with the highest rate: the arithmetic of New York City's Local Law 144?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.columns import fill_table, stack_tables
from auditbook.evidence import TalliedAttribute, Tally, rate
from auditbook.records import Attribute, AuditRecords, Score

Part = Literal["compared", "small", "unknown", "empty", "withheld"]
SMALL_SHARE = 0.02
"""A category with less than this share of the data may be left out of the calculation: section 5-301 (d)."""


@dataclass(frozen=True)
class ImpactRatios:
    """The categories of one attribute, arrays of shape (n_groups,)."""

    share: NDArray[np.float64]  # Of all people; nan where their number is withheld
    rate: NDArray[np.float64]  # Of those in the category; nan where it holds nobody, or is withheld
    ratio: NDArray[np.float64]  # Over the highest rate of those compared; nan for all others
    part: tuple[Part, ...]  # What part each category has in the calculation


def compare_with_highest(
    n: ArrayLike, chosen: ArrayLike, *, unknown: ArrayLike, total: float
) -> ImpactRatios:
    r"""Divide the rate of each category by that of the category with the highest one.

    .. math:: r_g = \frac{k_g}{n_g}, \qquad \text{impact ratio}_g = \frac{r_g}{\max_{h \in C} r_h}

    C holds the categories that are known, hold at least 2 % of all people, and whose counts are given. 1 is
    the highest rate, 0 nobody chosen where others are; nan for a category outside C, and for all where
    nobody in C is chosen.

    Parameters
    ----------
    n : array, shape (n_groups,)
        People in each category; nan where that is withheld.
    chosen : array, shape (n_groups,)
        Those of them who are selected, or whose score is above the median; nan where that is withheld.
    unknown : bool array, shape (n_groups,)
        Which categories are of people whose category is not known.
    total : float
        All people, those of unknown category among them.

    References
    ----------
    Rules of the City of New York, title 6, sections 5-300 and 5-301.

    Examples
    --------
    >>> compare_with_highest([100, 50], [50, 20], unknown=[False, False], total=150).ratio.tolist()
    [1.0, 0.8]
    """
    people, picked, lacking = np.asarray(n, float), np.asarray(chosen, float), np.asarray(unknown, bool)
    share, rates = rate(people, total), rate(picked, people)
    part = tuple(
        _name_part(*each) for each in zip(lacking, people, np.isnan(people + picked), share, strict=True)
    )
    inside = np.array([name == "compared" for name in part], bool)
    highest = rates[inside].max(initial=0.0)
    return ImpactRatios(share, rates, np.where(inside, rate(rates, highest), np.nan), part)


def _name_part(lacking: bool, people: float, withheld: bool, share: float) -> Part:
    """Say what part a category has in the calculation."""
    if lacking:
        return "unknown"
    if withheld:
        return "withheld"
    if people == 0:
        return "empty"
    return "small" if share < SMALL_SHARE else "compared"


def count_above_median(records: AuditRecords | Tally) -> pd.DataFrame:
    """Count in every group whose score is above the median score of the model: ``scoring_rates.csv``.

    In a tally the median is the upper edge of the fine bin that it lies in, so that somewhat fewer than half
    lie above it: fewer by at most the records of that bin.
    """
    if isinstance(records, Tally):
        pairs = [(place, one) for place, one in enumerate(records.models) if one.kind != "decision"]
        found = [
            _count_tallied(one.model, place, part) for place, one in pairs for part in records.attributes
        ]
        return stack_tables("scoring_rates", found)
    scores = [score for score in records.scores if score.kind != "decision"]
    parts = [_count_above(score, attribute) for score in scores for attribute in records.attributes]
    return stack_tables("scoring_rates", parts)


def _count_above(score: Score, attribute: Attribute) -> pd.DataFrame:
    """Count one attribute's groups under one model."""
    median, n_groups = float(np.median(score.values)), len(attribute.groups)
    n = np.bincount(attribute.codes, minlength=n_groups)
    above = np.bincount(attribute.codes[score.values > median], minlength=n_groups)
    return _lay_out(score.model, attribute.name, attribute.groups, n, median, above)


def _count_tallied(model: str, place: int, attribute: TalliedAttribute) -> pd.DataFrame:
    """Count one attribute's groups under one model of a tally."""
    fine = attribute.fine[place]
    if fine is None:
        return fill_table("scoring_rates", None)
    by_bin = fine.count.sum(axis=1)
    reached = np.cumsum(by_bin.sum(axis=0))
    middle = int(np.searchsorted(2 * reached, reached[-1]))
    median = float(np.append(fine.edges, 1.0)[middle])
    above = by_bin[:, middle + 1 :].sum(axis=1)
    return _lay_out(model, attribute.name, attribute.groups, by_bin.sum(axis=1), median, above)


def _lay_out(
    model: str, attribute: str, groups: Sequence[str], n: NDArray, median: float, above: NDArray
) -> pd.DataFrame:
    columns = {
        "model": model,
        "attribute": attribute,
        "group": list(groups),
        "n": n,
        "median": median,
        "above": above,
    }
    return fill_table("scoring_rates", columns)
