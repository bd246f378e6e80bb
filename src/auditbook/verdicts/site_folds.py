"""Which sites stand together in a fold, whatever the sites are called and however the rows came?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import settle_groups
from auditbook.records import Attribute, AuditRecords


@dataclass(frozen=True)
class Folds:
    """Folds of whole sites."""

    of_record: NDArray[np.intp]  # shape (n,): Fold of each audited record, from 0
    of_site: dict[int, int]  # Fold of each site, by its position in `AuditRecords.site`
    count: int  # Number of folds; every fold holds a site


def plan_folds(records: AuditRecords, *, n_folds: int) -> Folds | None:
    """Divide the sites among folds of about the same number of records; None with fewer than two sites.

    Sites are taken from the largest to the smallest, and each joins the fold that holds the fewest records so
    far (the first of them in a tie): scikit-learn's ``GroupKFold``. With fewer sites than folds each site is
    a fold. Sites of equal size are taken in an order that follows from their records alone: numbers of
    events, of each attribute's groups among events and non-events, and last the sorted records themselves,
    scores included. So the folds depend neither on the order of the rows nor on the names of the sites.
    Models matter only for sites that are alike in everything else.

    >>> records = AuditRecords(np.zeros(9, np.int8), (), (), site=np.array([0, 0, 0, 0, 4, 4, 4, 7, 7]))
    >>> plan_folds(records, n_folds=2).of_site
    {0: 0, 4: 1, 7: 1}
    """
    if records.site is None:
        return None
    names, site = np.unique(records.site, return_inverse=True)
    if len(names) < 2:
        return None
    count = min(n_folds, len(names))
    sizes = np.bincount(site)
    fold, load = np.zeros(len(names), np.intp), np.zeros(count, np.int64)
    for place in _rank_sites(records, site, sizes):
        fold[place] = load.argmin()
        load[fold[place]] += sizes[place]
    return Folds(fold[site], dict(zip(names.tolist(), fold.tolist(), strict=True)), count)


def name_folds(folds: Folds | None, sites: Sequence[str]) -> dict[str, int]:
    """Write the fold map down by the sites' names, for run.json; folds are counted from 1.

    >>> name_folds(Folds(np.array([0, 1]), {0: 0, 1: 1}, 2), ["north", "south"])
    {'north': 1, 'south': 2}
    """
    return {} if folds is None else {sites[place]: fold + 1 for place, fold in folds.of_site.items()}


def _rank_sites(records: AuditRecords, site: NDArray[np.intp], sizes: NDArray[np.intp]) -> list[int]:
    """Order the sites from large to small, equals by what they hold."""
    table = _count_contents(records, site, len(sizes))
    _, alike, times = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    twins = np.flatnonzero(times[alike.ravel()] > 1)
    detail = _spell_records(records, site, twins)
    return sorted(
        range(len(sizes)), key=lambda place: (-sizes[place], tuple(table[place]), detail.get(place, b""))
    )


def _count_contents(records: AuditRecords, site: NDArray[np.intp], n_sites: int) -> NDArray[np.int64]:
    """Count each site's records, events, and groups among events and non-events, shape (n_sites, any)."""
    columns = [
        np.bincount(site, minlength=n_sites),
        np.bincount(site[records.outcome == 1], minlength=n_sites),
    ]
    for attribute in _sorted_attributes(records):
        settled = settle_groups(attribute, records.outcome)
        slots = 2 * len(settled.groups)
        cell = site * slots + 2 * settled.codes + records.outcome
        columns += list(np.bincount(cell, minlength=n_sites * slots).reshape(n_sites, slots).T)
    return np.stack(columns, axis=1)


def _sorted_attributes(records: AuditRecords) -> list[Attribute]:
    return sorted(records.attributes, key=lambda attribute: attribute.name)


def _spell_records(
    records: AuditRecords, site: NDArray[np.intp], twins: NDArray[np.intp]
) -> dict[int, bytes]:
    """Write the sorted records of some sites as bytes."""
    here = np.flatnonzero(np.isin(site, twins))
    columns: list[NDArray[Any]] = [records.outcome]
    columns += [settle_groups(part, records.outcome).codes for part in _sorted_attributes(records)]
    columns += [score.values for score in sorted(records.scores, key=lambda score: score.model)]
    rows = np.stack([np.asarray(column, float)[here] for column in columns], axis=1)
    return {
        int(place): np.ascontiguousarray(part[np.lexsort(part.T)]).tobytes()
        for place in twins
        for part in (rows[site[here] == place],)
    }
