"""Which counts of pockets are withheld: of records, of groups within them, of events among their records?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from auditbook.privacy.complements import Array, Cells, Mask, withhold
from auditbook.privacy.groups import Group, hide_parts, is_small
from auditbook.privacy.rows import name_rows

OVERALL = "overall"
Pocket = tuple[str, str]
"""Map and pocket."""


@dataclass(frozen=True)
class HiddenPockets:
    """The pockets of which something is withheld."""

    records: frozenset[Pocket]
    outcomes: frozenset[Pocket]
    groups: frozenset[tuple[str, str, str, str]]  # Map, pocket, attribute, group


def hide_pockets(
    groups: pd.DataFrame, errors: pd.DataFrame, *, records: frozenset[Group], counted: bool, smallest: int
) -> HiddenPockets:
    """Withhold records of pockets, of groups within them, and then outcomes where they are `counted`."""
    whole: set[Pocket] = set()
    inside: set[tuple[str, str, str, str]] = set()
    for name, mine in groups.groupby("map", sort=False):
        cells, pockets = _hide_map(mine, records, smallest)
        inside |= set(name_rows(mine[cells], ("map", "pocket", "attribute", "group")))
        whole |= {(str(name), pocket) for pocket in pockets}
    outcomes = _hide_outcomes(errors, frozenset(whole), smallest) if counted else frozenset()
    return HiddenPockets(frozenset(whole), outcomes | whole, frozenset(inside))


def _hide_map(table: pd.DataFrame, hidden: frozenset[Group], smallest: int) -> tuple[Mask, list[str]]:
    """Withhold cells of pocket and group, and whole pockets, whose number each attribute sums to."""
    pockets = list(dict.fromkeys(table["pocket"]))
    n = table["n"].to_numpy(float)
    first = table["attribute"] == table["attribute"].iloc[0]
    size = table[first].groupby("pocket")["n"].sum().reindex(pockets).fillna(0).to_numpy(float)
    values = np.append(n, size)
    above = [key in hidden for key in name_rows(table, ("attribute", "group"))]
    small = is_small(values, smallest) | np.append(above, np.zeros(len(pockets), bool))
    cells = Cells(values, _relate(table, pockets), np.ones(len(values), bool))
    found = withhold(cells, small, smallest)
    return found[: len(n)], [name for name, gone in zip(pockets, found[len(n) :], strict=True) if gone]


def _relate(table: pd.DataFrame, pockets: Sequence[str]) -> Array:
    """Write down that pockets sum to their group and to all, and groups of an attribute to their pocket."""
    n, last = len(table), len(pockets)
    by_group = table.groupby(["attribute", "group"], sort=False).ngroup().to_numpy()
    rows = [np.append(by_group == k, np.zeros(last)) for k in range(by_group.max(initial=-1) + 1)]
    inside = table.groupby(["attribute", "pocket"], sort=False)
    for part in inside.indices.values():
        row = np.zeros(n + last)
        row[part], row[n + pockets.index(table["pocket"].iloc[part[0]])] = 1.0, -1.0
        rows.append(row)
    return np.array([*rows, np.append(np.zeros(n), np.ones(last))], float)


def _hide_outcomes(errors: pd.DataFrame, records: frozenset[Pocket], smallest: int) -> frozenset[Pocket]:
    """Withhold events of pockets: those of the records without a pocket stand nowhere."""
    mean = errors[(errors["quantity"] == "mu") & errors["mean_outcome"].notna()]
    found: set[Pocket] = set()
    for name, mine in mean.drop_duplicates(["map", "pocket"]).groupby("map", sort=False):
        within = mine[mine["pocket"] != OVERALL]
        n = within["n"].to_numpy(float)
        events = np.rint(n * within["mean_outcome"].to_numpy(float))
        above = np.array([(str(name), pocket) in records for pocket in within["pocket"]], bool)
        hidden = _hide_events(events, n, above, mine[mine["pocket"] == OVERALL], smallest)
        found |= {(str(name), pocket) for pocket in within["pocket"].to_numpy()[hidden]}
    return frozenset(found)


def _hide_events(events: Array, n: Array, above: Mask, overall: pd.DataFrame, smallest: int) -> Mask:
    """Withhold events that sum to those of all records, as far as these have no others."""
    whole = float(overall["n"].iloc[0]) if len(overall) else np.inf
    if n.sum() < whole:  # those without a pocket, or in one without a number, are nowhere told
        rest = np.rint(whole * float(overall["mean_outcome"].iloc[0])) - events.sum() if len(overall) else 0.0
        if rest >= smallest:
            return np.asarray(above | is_small(events, smallest) | is_small(n - events, smallest))
    return hide_parts(events, n, above, smallest)
