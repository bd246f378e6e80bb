"""Between which values does a rate lie where hospitals withhold counts of its group?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from auditbook.columns import fill_table
from auditbook.evidence import TalliedAttribute
from auditbook.pooling.forest import RATES
from auditbook.pooling.pool import PooledCounts
from auditbook.pooling.suppress import Withheld


def bound_withheld(pooled: PooledCounts) -> pd.DataFrame:
    """Bound the rates of groups that a hospital withholds, a row a model, group and rate.

    Nobody knows how the withheld groups of a hospital share what they hold together. The lowest value of a
    rate is that where all of their misses and none of their hits are this group's, the highest the reverse.
    Groups that no hospital tells are not listed: nothing is known of them.
    """
    rows = []
    for attribute in pooled.tally.attributes:
        parts = [one for one in pooled.withheld if one.attribute == attribute.name]
        for place, group in enumerate(attribute.groups):
            mine = [one for one in parts if _can_hold(one, group, pooled, attribute, place)]
            if mine:
                rows += list(_bound_group(pooled, attribute, place, mine))
    return fill_table("withheld_bounds", rows)


def _can_hold(
    one: Withheld, group: str, pooled: PooledCounts, attribute: TalliedAttribute, place: int
) -> bool:
    """Tell whether records of a group can be among those that a hospital withholds: it tells none of it."""
    site = pooled.tally.sites.index(one.site)
    return group in one.groups or not attribute.counts[:, site, place].any()


def _bound_group(
    pooled: PooledCounts, attribute: TalliedAttribute, place: int, parts: list[Withheld]
) -> Iterator[dict[str, object]]:
    unknown = np.sum([one.together for one in parts], axis=0)
    for number, model in enumerate(pooled.tally.models):
        known = attribute.counts[number, :, place].sum(axis=0)
        for rate, (counted, among) in RATES.items():
            missed = [cell for cell in among if cell not in counted]
            hits, misses = known[list(counted)].sum(), known[missed].sum()
            more, less = unknown[number, list(counted)].sum(), unknown[number, missed].sum()
            yield {
                "model": model.model,
                "attribute": attribute.name,
                "group": attribute.groups[place],
                "rate": rate,
                "estimate": _divide(hits, hits + misses),
                "low": _divide(hits, hits + misses + less) if hits + misses + less else _divide(more, more),
                "high": _divide(hits + more, hits + more + misses) if hits + more + misses else 0.0,
                "sites_withheld": ", ".join(one.site for one in parts),
            }


def _divide(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")
