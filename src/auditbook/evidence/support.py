"""Is there enough of a group, and if not, what is missing, how much is there, and how much is needed?"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.settings import Protocol

COUNTED = ("events", "non_events", "records")
"""What a group holds whatever the model."""
SELECTED = "selected records"
"""What a group holds under one model."""


@dataclass(frozen=True)
class Shortfall:
    """Something of which there is too little."""

    what: str  # "records", "events", "non_events", or what else a verdict or a pocket needs
    held: float
    needed: float
    group: str = ""  # Blank for the whole sample
    # Of how many weighted records `held` says what they are worth; None where each stands for itself
    counted: float | None = field(default=None, repr=False)


def count_minima(protocol: Protocol) -> dict[str, int]:
    """List how much a group needs; of records at least one, and of selected records as many as of events."""
    needed = protocol.min_events, protocol.min_non_events, max(protocol.min_records, 1)
    return dict(zip(COUNTED, needed, strict=True)) | {SELECTED: protocol.min_events}


def list_shortfalls(
    held: Mapping[str, float],
    *,
    protocol: Protocol,
    needs: Collection[str] = COUNTED,
    group: str = "",
    counted: Mapping[str, float] | None = None,
) -> list[Shortfall]:
    """List what a group has too little of; of weighted records, what those `counted` are worth.

    Examples
    --------
    >>> list_shortfalls({"events": 4}, protocol=Protocol())
    [Shortfall(what='events', held=4, needed=10, group='')]
    """
    minima = count_minima(protocol)
    return [
        Shortfall(what, held[what], needed, group, None if counted is None else counted[what])
        for what, needed in minima.items()
        if what in held and what in needs and held[what] < needed
    ]


def find_short_groups(
    strata: NDArray[Any],
    *,
    protocol: Protocol,
    needs: Collection[str] = COUNTED,
    selected: NDArray[Any] | None = None,
) -> NDArray[np.bool_]:
    """Tell which groups have too little, shape (...): from events and non-events of shape (..., 2).

    Of the records `selected` the number is read, shape (...), where they are among the `needs`.
    """
    records = strata.sum(axis=-1)
    held = dict(zip(COUNTED, (strata[..., 0], strata[..., 1], records), strict=True))
    if SELECTED in needs:
        if selected is None:
            raise TypeError("selected records are needed, and not given")
        held[SELECTED] = selected
    short = records < 1
    for what, needed in count_minima(protocol).items():
        if what in needs:
            short = short | (held[what] < needed)
    return np.asarray(short)


def count_held(events: int, non_events: int, selected: int | None = None) -> dict[str, float]:
    """Count what a group holds; nothing is said of selected records that are not known."""
    held: dict[str, float] = {"events": events, "non_events": non_events, "records": events + non_events}
    return held if selected is None else held | {SELECTED: selected}


def write_shortfalls(shortfalls: Sequence[Shortfall]) -> str:
    """Say what a group has too little of; blank when it has enough.

    Examples
    --------
    >>> write_shortfalls(list_shortfalls(count_held(4, 96), protocol=Protocol()))
    '4 events, 10 needed'
    """
    if any(each.what == "records" and not each.held for each in shortfalls):
        return "no records"
    return " and ".join(
        f"{_count(each)}, {each.needed} needed"
        if each.counted is None
        else write_worth(each.what, each.counted, each.held, each.needed)
        for each in shortfalls
    )


def write_worth(what: str, counted: float, worth: float, needed: float) -> str:
    """Say how many weighted records there are, and how many equal ones they are worth, cut to a decimal.

    >>> write_worth("events", 14, 9.97, 10)
    '14 events worth 9.9, 10 needed'
    """
    noun = f"of the {what}" if what == "rarer outcome" else what.replace("_", "-")
    noun = noun[:-1] if counted == 1 and noun.endswith("s") else noun
    return f"{counted:g} {noun} worth {math.floor(10 * worth) / 10:g}, {needed} needed"


def name_shortfall(
    events: int, non_events: int, *, protocol: Protocol, needs: Collection[str] = COUNTED
) -> str:
    """Say what a group of so many events and non-events has too little of; blank when it has enough."""
    return write_shortfalls(list_shortfalls(count_held(events, non_events), protocol=protocol, needs=needs))


_HELD = re.compile(
    r"(?:(?<=: )|(?<= and )|(?<=\()|^)\d[\d.,e+]* (?P<noun>(?:of the rarer outcome|[a-z][a-z -]*?))"
    r"(?P<worth> worth [\d.]+)?(?P<place> in \d+ score bins?)?(?=, [\d.]+ needed)"
)
_LARGEST = re.compile(r"holds [\d.]+ %(?=, at most )")
_OF_SITES = ("site", "sites", "effective site", "effective sites")


def withhold_held(text: str, floor: float) -> str:
    """Take out of what `write_shortfalls` has written how much there is, where that is under a floor.

    With an infinite floor zeros go as well: what there is of a group is then told nowhere. Sites are no
    people.

    Examples
    --------
    >>> withhold_held("Z: 1 event, 10 needed and 12 records, 30 needed", 10)
    'Z: too few events, 10 needed and 12 records, 30 needed'
    """
    told = _HELD.sub(lambda found: _write_without(found, floor), text)
    return _LARGEST.sub("holds too much", told) if math.isinf(floor) else told


def _write_without(found: re.Match[str], floor: float) -> str:
    noun, held = found["noun"], float(found[0].split()[0].replace(",", ""))
    if noun in _OF_SITES or not (0 < held < floor or math.isinf(floor)):
        return found[0]
    many = noun if noun.endswith("s") or noun.startswith("of ") else f"{noun}s"
    return f"too few {many}"


def _count(shortfall: Shortfall) -> str:
    noun = shortfall.what.replace("_", "-")  # a plural
    return f"{shortfall.held:g} {noun[:-1] if shortfall.held == 1 else noun}"
