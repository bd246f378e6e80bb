"""Which sites stand together in a fold, whatever the sites are called and however the rows came?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import Audited, Prepared, TalliedGroups, settle_groups, stratum_sizes
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
    table = _count_contents(records, site, len(names))
    fold, count = _deal_sites(table, n_folds, lambda twins: _spell_records(records, site, twins))
    return Folds(fold[site], dict(zip(names.tolist(), fold.tolist(), strict=True)), count)


def plan_prepared_folds(prepared: Audited, *, n_folds: int) -> Folds | None:
    """Plan the folds of what is audited; of a tally, `Folds.of_record` has the fold of each of its sites.

    Sites of a tally that are alike in all counts are told apart by what is counted of their scores.
    """
    if isinstance(prepared, Prepared):
        return plan_folds(prepared.records, n_folds=n_folds)
    if prepared.n_sites < 2:
        return None
    groups = sorted(prepared.groups, key=lambda one: one.settled.name)
    fold, count = _deal_sites(_list_contents(groups), n_folds, lambda twins: _spell_scores(groups, twins))
    return Folds(fold, dict(enumerate(fold.tolist())), count)


def _deal_sites(
    table: NDArray[np.int64], n_folds: int, spell: Callable[[NDArray[np.intp]], dict[int, bytes]]
) -> tuple[NDArray[np.intp], int]:
    """Give each site its fold, from what `_count_contents` counts of it."""
    sizes, count = table[:, 0], min(n_folds, len(table))
    fold, load = np.zeros(len(table), np.intp), np.zeros(count, np.int64)
    for place in _rank_sites(table, spell):
        fold[place] = load.argmin()
        load[fold[place]] += sizes[place]
    return fold, count


def name_folds(folds: Folds | None, sites: Sequence[str]) -> dict[str, int]:
    """Write the fold map down by the sites' names, for run.json; folds are counted from 1.

    >>> name_folds(Folds(np.array([0, 1]), {0: 0, 1: 1}, 2), ["north", "south"])
    {'north': 1, 'south': 2}
    """
    return {} if folds is None else {sites[place]: fold + 1 for place, fold in folds.of_site.items()}


def _rank_sites(table: NDArray[np.int64], spell: Callable[[NDArray[np.intp]], dict[int, bytes]]) -> list[int]:
    """Order the sites from large to small, equals by what they hold."""
    _, alike, times = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    detail = spell(np.flatnonzero(times[alike.ravel()] > 1))
    return sorted(
        range(len(table)), key=lambda place: (-table[place, 0], tuple(table[place]), detail.get(place, b""))
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


def _list_contents(groups: Sequence[TalliedGroups]) -> NDArray[np.int64]:
    """List what `_count_contents` counts, from a tally."""
    at_site = [stratum_sizes(one.tallied.counts[0])[..., ::-1] for one in groups]  # non-events first
    whole = at_site[0].sum(axis=1)
    columns = [whole.sum(axis=1), whole[:, 1]]
    columns += [part for each in at_site for part in each.reshape(len(whole), -1).T]
    return np.stack(columns, axis=1)


def _spell_scores(groups: Sequence[TalliedGroups], twins: NDArray[np.intp]) -> dict[int, bytes]:
    """Write what is counted of the decisions and scores of some sites as bytes."""
    found = {}
    for place in twins.tolist():
        parts = [
            part[model, place]
            for one in groups
            for model in np.argsort(one.counts.models)
            for part in vars(one.tallied.sites).values()
        ]
        found[place] = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    return found
