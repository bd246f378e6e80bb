"""What do the counts files of several hospitals hold together?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.evidence import Tally, add_tallies
from auditbook.pooling.bare_tally import drop_scores
from auditbook.pooling.definitions import list_disagreements
from auditbook.pooling.site_counts import SiteCounts, read_site_counts
from auditbook.pooling.suppress import Withheld


@dataclass(frozen=True)
class PooledCounts:
    """Counts of several hospitals, each a site, with what they do not tell."""

    tally: Tally
    definitions: Mapping[str, Any]
    about: Mapping[str, Any]  # What all hospitals say of the cohort alike
    withheld: tuple[Withheld, ...]  # With the name of the site
    notes: tuple[str, ...]  # What is not judged for want of counts, each a sentence


def read_pooled(paths: list[Path]) -> PooledCounts:
    """Read counts files and add them up.

    Raises
    ------
    InputError
        If a file cannot be read, stands twice, or does not agree with the first: each difference is named.
    """
    names = [path.name for path in paths]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{', '.join(twice)}: named twice; each hospital needs a file name of its own")
    return pool_counts({path.name: read_site_counts(path) for path in paths})


def pool_counts(files: Mapping[str, SiteCounts]) -> PooledCounts:
    """Add the counts of several files up, each hospital being a site.

    Parameters
    ----------
    files : mapping
        By the name of each file, what it says; one or more.

    Raises
    ------
    InputError
        If definitions differ, or a site stands in two files.
    """
    if not files:
        raise InputError("there are no counts files to pool")
    faults = list_disagreements({name: one.definitions for name, one in files.items()})
    faults += _find_shared_sites(files)
    if faults:
        raise InputError(*faults)
    named = [_name_site(name, one) for name, one in files.items()]
    tallies = [_number_bundles(one.tally, place) for place, one in enumerate(named)]
    tallies, notes = _make_alike(tallies, list(files))
    withheld = tuple(part for one in named for part in one.withheld)
    tally, untold = _drop_untold(add_tallies(tallies))
    about = share_about([one.about or {} for one in named])
    return PooledCounts(tally, named[0].definitions, about, withheld, (*notes, *untold))


def share_about(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keep what all hospitals say of the cohort alike; the seed is that of the first.

    Synthetic is a pool of which any part is, and the largest of the smallest cells to be told holds for all.

    >>> share_about([{"title": "A", "use": {"model": "M"}}, {"title": "B", "use": {"model": "M"}}])
    {'use': {'model': 'M'}}
    """
    shared = _share(told)
    shared |= {"seed": told[0]["seed"]} if "seed" in told[0] else {}
    shared |= {"synthetic": True} if any(one.get("synthetic") for one in told) else {}
    cells = [one["report"]["smallest_cell"] for one in told if "report" in one]
    return shared | ({"report": {**shared.get("report", {}), "smallest_cell": max(cells)}} if cells else {})


def _share(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keep the keys that have the same value in all mappings, in tables key by key."""
    found: dict[str, Any] = {}
    for key, value in told[0].items():
        values = [one.get(key) for one in told]
        if all(one == value for one in values):
            found[key] = value
        elif all(isinstance(one, Mapping) for one in values):
            found[key] = _share([one for one in values if isinstance(one, Mapping)])
    return found


def count_untold(pooled: PooledCounts, attribute: str) -> NDArray[np.int64]:
    """Count the records of groups that hospitals withhold, shape (n_models, n_sites, 4)."""
    found = np.zeros((len(pooled.tally.models), len(pooled.tally.sites), 4), np.int64)
    for one in pooled.withheld:
        if one.attribute == attribute:
            found[:, pooled.tally.sites.index(one.site)] += one.together
    return found


def _drop_untold(tally: Tally) -> tuple[Tally, list[str]]:
    """Leave out attributes of which no hospital tells two groups, and say so."""
    told = [int(one.counts[0].any(axis=(0, 2)).sum()) > 1 for one in tally.attributes]
    notes = [
        f"{one.name} is not judged: fewer than two of its groups are told by any hospital"
        for one, keep in zip(tally.attributes, told, strict=True)
        if not keep
    ]
    if not any(told):
        raise InputError(*notes)
    kept = tuple(one for one, keep in zip(tally.attributes, told, strict=True) if keep)
    return replace(tally, attributes=kept), notes


def _find_shared_sites(files: Mapping[str, SiteCounts]) -> list[str]:
    """Name the sites that stand in two files, whose records would count twice."""
    seen: dict[str, str] = {}
    faults = []
    for name, one in files.items():
        for site in one.tally.sites or (_find_stem(name),):
            if site in seen:
                faults.append(
                    f"site {site} stands in {seen[site]} and in {name}: its records would count twice"
                )
            seen[site] = name
    return faults


def _find_stem(name: str) -> str:
    return Path(name).stem


def _name_site(name: str, one: SiteCounts) -> SiteCounts:
    """Give a file that names no site its own name."""
    if one.tally.sites:
        return one
    site = _find_stem(name)
    withheld = tuple(replace(part, site=site) for part in one.withheld)
    return replace(one, tally=replace(one.tally, sites=(site,)), withheld=withheld)


def _number_bundles(tally: Tally, place: int) -> Tally:
    """Keep the bundles of different files apart."""
    first = np.uint64(place << 20)
    return replace(
        tally,
        attributes=tuple(
            one if one.units is None else replace(one, units=replace(one.units, keys=one.units.keys + first))
            for one in tally.attributes
        ),
    )


def _make_alike(tallies: list[Tally], names: list[str]) -> tuple[list[Tally], list[str]]:
    """Leave out what some files do not hold, and say so."""
    notes = []
    kinds = [tuple(model.kind for model in one.models) for one in tallies]
    if len(set(kinds)) > 1:
        few = [name for name, kind in zip(names, kinds, strict=True) if "probability" not in kind]
        notes.append(
            f"areas, calibration and the Theil index are not judged: {', '.join(few)} "
            f"{'holds' if len(few) == 1 else 'hold'} decisions only"
        )
        tallies = [drop_scores(one) for one in tallies]
    bare = [any(part.units is None for part in one.attributes) for one in tallies]
    if any(bare) and not all(bare):
        few = [name for name, lacks in zip(names, bare, strict=True) if lacks]
        notes.append(f"units such as patients are not known: {', '.join(few)} does not count them")
        tallies = [
            replace(one, attributes=tuple(replace(part, units=None) for part in one.attributes))
            for one in tallies
        ]
    return tallies, notes
