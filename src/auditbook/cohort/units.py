"""Which records belong together, and which group has a person whose records disagree?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.column_roles import Settled, recode_names, sort_names
from auditbook.cohort.schema import CohortFile, UnitRule
from auditbook.cohort.times import rank_times
from auditbook.tables import Faults, Mask, as_text, is_missing

JOINT = " | "
"""What stands between the parts of a unit's name."""

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class UnitOrder:
    """Whose each row is, and when it was made."""

    unit: Codes  # shape (n,): Position among the sorted names of the units; -1 where it has none
    time: Codes | None  # shape (n,): Rank of its moment; -1 where it has none


def order_units(file: CohortFile, frame: pd.DataFrame, *, keep: Mask, faults: Faults) -> UnitOrder | None:
    """Tell whose each row is and when it was made; None where no attribute asks, or a column is lacking."""
    rules = {item.within_unit for item in file.attributes} - {None}
    moment = file.time.column if rules & {"first", "last"} else None
    needed = {*file.unit.names, *([moment] if moment else [])}
    if not rules or not file.unit.names or not needed <= set(frame):
        return None
    time = None if moment is None else rank_times(frame[moment], keep=keep, faults=faults)
    units = name_units(join_sites(file, frame), file.unit.names)
    return UnitOrder(pd.factorize(units, sort=True)[0], time)


def join_sites(file: CohortFile, frame: pd.DataFrame) -> pd.DataFrame:
    """Give each site the name that the cohort file joins it under: one site is one part of a unit."""
    name = file.site.column
    if name is None or name not in frame or not file.site.groups:
        return frame
    return frame.assign(**{name: recode_names(as_text(frame[name]), file.site.groups)})


def name_units(frame: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.object_]:
    r"""Name the unit of each row; None where a part is missing. Two units never have one name.

    Examples
    --------
    >>> visits = pd.DataFrame({"hospital": ["a", "a|"], "patient": [1, 2]})
    >>> name_units(visits, ["hospital", "patient"]).tolist()
    ['a | 1', 'a\\| | 2']
    """
    parts = [as_text(frame[name]) for name in columns]
    if len(parts) == 1:
        return parts[0]
    missing = np.any([is_missing(frame[name]) for name in columns], axis=0)
    joined = pd.Series(_escape(parts[0]))
    for part in parts[1:]:
        joined = joined + JOINT + pd.Series(_escape(part))
    names = joined.to_numpy(dtype=object)
    names[missing] = None
    return names


def _escape(part: NDArray[np.object_]) -> NDArray[np.object_]:
    """Mark what could be taken for the sign between two parts."""
    codes, values = pd.factorize(part, use_na_sentinel=True)
    written = [value.replace("\\", "\\\\").replace("|", "\\|") for value in values]
    return np.asarray(np.array([*written, ""], dtype=object)[codes])


def settle_groups(names: NDArray[np.object_], rule: UnitRule, order: UnitOrder, *, keep: Mask) -> Settled:
    """Give all records of a unit one group: the first or last in time, or the most frequent one.

    Of several that are equally early, late or frequent it is the first by name. Records without a group get
    that of their unit, and those without a time count only where no other record of the unit has one.
    """
    unit, groups = order.unit, sort_names({name for name in names[keep] if name is not None})
    group = np.asarray(pd.Categorical(names, categories=groups).codes, np.intp)
    held = np.flatnonzero(keep & (group >= 0) & (unit >= 0))
    cells = unit[held] * len(groups) + group[held]
    pairs, counts = np.unique(cells, return_counts=True)
    of_unit, of_group = np.divmod(pairs, max(len(groups), 1))
    place = -counts.astype(float)
    if rule != "most frequent" and order.time is not None:
        place = _place_in_time(cells, pairs, order.time[held], last=rule == "last")
    best = np.lexsort((of_group, place, of_unit))
    units, first, number = np.unique(of_unit[best], return_index=True, return_counts=True)
    chosen = np.full(max(int(unit.max(initial=-1)), 0) + 1, -1, np.intp)
    chosen[units] = of_group[best][first]
    new = np.where(keep & (unit >= 0), chosen[np.maximum(unit, 0)], group)
    settled = np.array([*groups, None], dtype=object)[new]
    settled[~keep] = names[~keep]
    return Settled(settled, int((number > 1).sum()), int(((new != group) & keep).sum()))


def _place_in_time(cells: Codes, pairs: Codes, time: Codes, *, last: bool) -> NDArray[np.float64]:
    """Tell when each pair of unit and group first, or last, occurs; the smallest is chosen."""
    when = np.where(time < 0, np.inf, -time if last else time)
    place = np.full(len(pairs), np.inf)
    np.minimum.at(place, np.searchsorted(pairs, cells), when)
    return place
