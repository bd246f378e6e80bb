"""Which counts of groups are withheld: of the cohort, of audited records, of decisions under each model?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.privacy.complements import Array, Cells, Mask, withhold

JOINT = ", "
"""What stands between the names of the parts of a crossed group."""
Group = tuple[str, str]
"""Attribute and group."""


@dataclass(frozen=True)
class Layout:
    """The groups of all attributes, and which sums of theirs stand in a run in any case."""

    keys: tuple[Group, ...]
    relations: Array  # shape (m, n_groups): A row an attribute, then those that tie crosses to their parts
    attributes: tuple[str, ...]

    def spread(self, values: Mapping[Group, float]) -> Array:
        """Lay values out in the order of the groups; what is not there, or blank, is 0."""
        return np.nan_to_num(np.array([values.get(key, 0.0) for key in self.keys], float))

    def pick(self, hidden: Mask) -> frozenset[Group]:
        """Name the groups of a mask."""
        return frozenset(key for key, is_hidden in zip(self.keys, hidden, strict=True) if is_hidden)


def lay_out(keys: Iterable[Group], crosses: Mapping[str, Sequence[str]]) -> Layout:
    """Order groups, and write down that each attribute sums to all records and each cross to its parts."""
    order = tuple(dict.fromkeys(keys))
    attributes = tuple(dict.fromkeys(attribute for attribute, _ in order))
    whole = [[float(attribute == name) for attribute, _ in order] for name in attributes]
    parts = [row for name, names in crosses.items() for row in _tie_cross(name, names, order)]
    return Layout(order, np.array([*whole, *parts], float).reshape(-1, len(order)), attributes)


def _tie_cross(name: str, parts: Sequence[str], order: Sequence[Group]) -> Iterable[list[float]]:
    """Write down that the crossings which share a part's group sum to that group."""
    place = {key: position for position, key in enumerate(order)}
    lists = [[group for attribute, group in order if attribute == part] for part in parts]
    for position, part in enumerate(parts):
        for group in lists[position]:
            crossed = [JOINT.join(names) for names in product(*lists) if names[position] == group]
            held = [place[name, one] for one in crossed if (name, one) in place]
            row = [0.0] * len(order)
            for one in held:
                row[one] = 1.0
            row[place[part, group]] = -1.0
            yield row


def is_small(values: Array, smallest: int) -> Mask:
    """Tell which counts are those of somebody, and of too few to be told."""
    return np.asarray((values > 0) & (values < smallest))


def settle(layout: Layout, values: Array, movable: Array, small: Mask, smallest: int) -> Mask:
    """Withhold one count of each group: small ones, and those from which they would follow.

    Of each attribute those who stand in none of its groups are one more; `movable` is what a count can give
    up or take where another one that is shown holds both together.
    """
    n = len(layout.attributes)
    sums = layout.relations[:n] @ values
    rest = sums.max(initial=0.0) - sums
    beside = np.vstack([np.eye(n), np.zeros((len(layout.relations) - n, n))])
    cells = Cells(
        np.append(movable, rest),
        np.hstack([layout.relations, beside]),
        np.append(np.ones(len(values), bool), np.zeros(n, bool)),
    )
    return withhold(cells, np.append(small, is_small(rest, smallest)), smallest)[: len(values)]


@dataclass(frozen=True)
class GroupCounts:
    """What groups hold, each of shape (n_groups,)."""

    kept: Array
    kept_events: Array
    audited: Array
    events: Array


@dataclass(frozen=True)
class HiddenGroups:
    """Whose counts are withheld; who has fewer records has fewer events too, and both are gone."""

    kept: frozenset[Group]
    kept_events: frozenset[Group]
    records: frozenset[Group]  # Audited
    outcomes: frozenset[Group]  # Events and non-events among them


def hide_groups(layout: Layout, counts: GroupCounts, smallest: int) -> HiddenGroups:
    """Withhold records and events of groups, in the cohort and in its audited part."""
    trained = counts.kept - counts.audited
    alike = not trained.any()
    kept = _hide_share(layout, counts.kept, counts.kept, np.zeros(len(trained), bool), smallest)
    records = _hide_share(layout, counts.audited, counts.kept, kept, smallest)
    before = records if alike else kept
    kept_events = _hide_share(layout, counts.kept_events, counts.kept, before, smallest)
    few = is_small(counts.kept_events - counts.events, smallest) | is_small(
        trained - counts.kept_events + counts.events, smallest
    )
    outcomes = _hide_share(
        layout, counts.events, counts.audited, records | (kept_events if alike else few), smallest
    )
    found = (before, outcomes if alike else kept_events, records, outcomes)
    return HiddenGroups(*map(layout.pick, found))


def _hide_share(layout: Layout, part: Array, whole: Array, above: Mask, smallest: int) -> Mask:
    """Withhold a part of a whole where it or the rest of the whole is small, or the whole is withheld."""
    left = whole - part
    small = above | is_small(part, smallest) | is_small(left, smallest)
    alone = above | (not left.any())
    return settle(layout, part, np.where(alone, part, np.minimum(part, left)), small, smallest)


def hide_parts(part: Array, whole: Array, above: Mask, smallest: int) -> Mask:
    """Withhold counts that sum to one known total, each a part of a whole that is shown or else `above`."""
    left = np.asarray(whole, float) - part
    alone = above | (not left.any())
    values = np.where(alone, part, np.minimum(part, left)).astype(float)
    small = above | is_small(np.asarray(part, float), smallest) | is_small(left, smallest)
    return withhold(Cells(values, np.ones((1, len(values))), np.ones(len(values), bool)), small, smallest)


def hide_decisions(
    layout: Layout, groups: pd.DataFrame, hidden: frozenset[Group], part: str, left: str, smallest: int
) -> frozenset[tuple[str, str, str]]:
    """Withhold under every model how those with one outcome were decided: `part`, and who is `left`."""
    above: NDArray[np.bool_] = np.array([key in hidden for key in layout.keys], bool)
    found = set()
    for model, mine in groups.groupby("model", sort=False):
        keys = list(zip(mine["attribute"], mine["group"], strict=True))
        ones, others = (layout.spread(dict(zip(keys, mine[name], strict=True))) for name in (part, left))
        small = _hide_share(layout, ones, ones + others, above, smallest)
        found |= {(str(model), *key) for key in layout.pick(small)}
    return frozenset(found)
