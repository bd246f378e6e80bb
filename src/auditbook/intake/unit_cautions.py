"""Which units stand at several sites, or change their group from record to record?"""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import MISSING_GROUP, Cohort
from auditbook.intake.caution import Caution
from auditbook.intake.cure_lines import write_list
from auditbook.records import Attribute

REUSED_SHARE = 0.2
"""Share of the units at several sites with several groups from which numbers seem reused (ours)."""

PLACE_SHARE, PLACE_RECORDS = 0.5, 10
"""Share of changing units, and records a unit, from which units are taken for places (ours)."""

_BAND = re.compile(r"\W*\d.*")

Codes = NDArray[np.integer]


def warn_units(cohort: Cohort) -> Iterator[Caution]:
    """Point out units that stand at several sites, and units that stand in several groups."""
    if not cohort.file.unit.names or cohort.file.unit_is_site:
        return
    unit = pd.factorize(cohort.unit, sort=True)[0]
    yield from _warn_several_sites(cohort, unit)
    for attribute in (item for item in cohort.attributes if not item.parts):
        table = next(item for item in cohort.file.attributes if item.name == attribute.name)
        if not table.bins and table.within_unit is None and not _is_band(attribute):
            yield from _warn_changes(cohort, attribute, unit)


def _is_band(attribute: Attribute) -> bool:
    """Tell whether the groups are bands of numbers, such as ages, that people outgrow."""
    named = [name for name in attribute.groups if name != MISSING_GROUP]
    return all(_BAND.fullmatch(name) for name in named)


def _warn_several_sites(cohort: Cohort, unit: Codes) -> Iterator[Caution]:
    """Count the units at several sites, and tell whether each site seems to give its numbers anew."""
    name = cohort.file.unit.column
    if cohort.site is None or name is None:
        return
    site = pd.factorize(cohort.site, sort=True)[0]
    several = _count_per_unit(unit, site) > 1
    if not several.any():
        return
    line = write_list("columns", [str(cohort.file.site.column), name])
    stand = "stands" if several.sum() == 1 else "stand"
    told = f"{several.sum():,} of {len(several):,} units {stand} at more than one site"
    told += _give_example(cohort, unit, several)
    attribute, share = _find_reuse(cohort, unit, several)
    if attribute is not None:
        yield Caution(
            "[unit] column",
            f"{told}, and {share:.0%} of them in more than one group of {attribute.name}: each site seems to "
            "number its patients anew",
            f"if so, a unit is a number at a site: {line} in place of column",
        )
    else:
        yield Caution(
            "[unit] column",
            f"{told}; where whole sites are drawn or compared, these are not independent",
            f"if each site numbers its patients anew: {line} in place of column",
        )


def _find_reuse(cohort: Cohort, unit: Codes, several: NDArray[np.bool_]) -> tuple[Attribute | None, float]:
    """Find the attribute that most units at several sites hold more than one group of."""
    shares = [
        (float((_count_per_unit(unit, item.codes) > 1)[several].mean()), item)
        for item in cohort.attributes
        if not item.parts and not _is_band(item)
    ]
    share, attribute = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    return (attribute, share) if share >= REUSED_SHARE else (None, share)


def _count_per_unit(unit: Codes, codes: Codes) -> NDArray[np.int64]:
    """Count the distinct codes of each unit."""
    pairs = np.unique(unit.astype(np.int64) * (int(codes.max()) + 1) + codes)
    return np.bincount(pairs // (int(codes.max()) + 1), minlength=int(unit.max()) + 1)


def _give_example(cohort: Cohort, unit: Codes, several: NDArray[np.bool_]) -> str:
    """Name the first of some units with its sites."""
    rows = unit == int(np.argmax(several))
    sites = sorted(set(np.asarray(cohort.site)[rows]))
    return f" (such as {cohort.unit[rows][0]!r}: {_list_some(sites)})"


def _list_some(names: list[str]) -> str:
    """List three names at the most."""
    return ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")


def _are_places(changing: NDArray[np.bool_], sizes: Codes) -> bool:
    """Tell whether units seem to be places or households: large, and most with people of several groups."""
    several = sizes > 1
    return bool(changing[several].mean() > PLACE_SHARE and sizes[several].mean() >= PLACE_RECORDS)


def _warn_changes(cohort: Cohort, attribute: Attribute, unit: Codes) -> Iterator[Caution]:
    """Count the units whose records name more than one group of an attribute."""
    changing = _count_per_unit(unit, attribute.codes) > 1
    sizes = np.bincount(unit)
    repeated = int((sizes > 1).sum())
    if not changing.any() or _are_places(changing, sizes):
        return
    first = unit == int(np.argmax(changing))
    groups = [attribute.groups[code] for code in np.unique(attribute.codes[first])]
    many = int(changing.sum())
    yield Caution(
        f"[attributes.{attribute.name}]",
        f"{many:,} of {repeated:,} units with several records stand{'s' * (many == 1)} in more than one "
        f"group (such as {cohort.unit[first][0]!r}: {_list_some(groups)})",
        'to give each unit one: within_unit = "most frequent", or "first" or "last" with [time] column',
    )
