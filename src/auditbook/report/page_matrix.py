"""How are the answers of a model laid out at a glance: its marks in a grid, its rates on a line?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from auditbook.book.say.text import MISSING, count, number
from auditbook.report.content import Calibrated, Mark, MarkName, Share

NARROW = 4
"""From more attributes on, the matrix lies across both columns of the page."""
MOST_ATTRIBUTES = 12
LEGEND: Mapping[MarkName, str] = {
    "fails": "shown to fail",
    "open": "open",
    "partly": "passes for those compared",
    "passes": "shown to pass",
    "unjudged": "cannot be judged",
}
"""What each mark says, the most urgent first."""
RANKS = {name: rank for rank, name in enumerate(LEGEND)}


@dataclass(frozen=True)
class Matrix:
    """Questions by attributes."""

    attributes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Mark | None, ...]], ...]  # The words of a question, a mark an attribute
    left: tuple[str, ...]  # Attributes that it has no room for

    @property
    def wide(self) -> bool:
        """Whether it lies across both columns."""
        return len(self.attributes) > NARROW

    @property
    def lines(self) -> float:
        """Lines of text that are as high as it is."""
        longest = max(map(len, self.attributes), default=0)
        return 4.0 + min(-(-longest // 8), 4) + 1.5 * len(self.rows) if self.attributes else 0


def lay_matrix(marks: Sequence[Mark], questions: Mapping[str, str]) -> Matrix:
    """Lay marks out, questions down and attributes across.

    Where there are too many attributes, those with the most urgent marks stay, in their order.
    """
    attributes = list(dict.fromkeys(mark.attribute for mark in marks))
    urgent = sorted(
        attributes, key=lambda name: sorted(_rank(mark) for mark in marks if mark.attribute == name)
    )
    kept = tuple(name for name in attributes if name in urgent[:MOST_ATTRIBUTES])
    cells = {(mark.question, mark.attribute): mark for mark in marks}
    asked = [key for key in questions if any(mark.question == key for mark in marks)]
    rows = tuple((questions[key], tuple(cells.get((key, name)) for name in kept)) for key in asked)
    return Matrix(kept, rows, tuple(name for name in attributes if name not in kept))


def _rank(mark: Mark) -> int:
    return RANKS[mark.mark]


@dataclass(frozen=True)
class Rate:
    """A rate as it is told and drawn; places are in parts of 200."""

    group: str
    told: str  # Such as 34 of 100
    people: str  # Of how many people; blank where that is not said
    said: str  # What its figure shows, for those who do not see it
    value: float | None
    low: float | None
    high: float | None
    promised: float | None = None  # Where the scores put it
    second: bool = False  # The group that the first is compared with


def draw_shares(shares: Iterable[Share]) -> tuple[Rate, ...]:
    """Make what is told and drawn of the rates of a finding; a withheld one is a dash and no point.

    Where a finding has no rate at all, nothing is drawn.
    """
    shares = list(shares)
    if all(share.value is None for share in shares):
        return ()
    return tuple(_draw_share(share, second=place > 0) for place, share in enumerate(shares))


def _draw_share(share: Share, *, second: bool) -> Rate:
    told = MISSING if share.value is None else f"{_people(share.value * share.of)} of {count(share.of)}"
    return Rate(
        group=share.group,
        told=told,
        people="" if share.n is None else f"n = {count(share.n)}",
        said=f"{share.group}: {told}{_ends(share.low, share.high, share.of)}",
        value=_place(share.value),
        low=_place(share.low),
        high=_place(share.high),
        second=second,
    )


def draw_calibrated(row: Calibrated) -> Rate:
    """Make what is told and drawn of a group's calibration."""
    told = _write_calibrated(row)
    return Rate(
        group=row.group,
        told=told,
        people="" if row.n is None else f"n = {count(row.n)}",
        said=f"{row.group}: of 100, {told}{_ends(row.low, row.high, 1)}",
        value=_place(row.happened, of=100),
        low=_place(row.low, of=100),
        high=_place(row.high, of=100),
        promised=_place(row.predicted, of=100),
    )


def _write_calibrated(row: Calibrated) -> str:
    """Write what was predicted and what happened, and what of both is withheld."""
    if row.predicted is None:
        return (
            "withheld" if row.happened is None else f"{_people(row.happened)} happened, prediction withheld"
        )
    happened = "outcome withheld" if row.happened is None else f"{_people(row.happened)} happened"
    return f"{_people(row.predicted)} predicted, {happened}"


def _people(amount: float) -> str:
    """Write people as whole ones, and as parts where there is less than one."""
    return number(amount, digits=0 if amount >= 1 or amount == 0 else 1)


def _ends(low: float | None, high: float | None, of: float) -> str:
    if low is None or high is None:
        return ""
    return f", interval {_people(low * of)} to {_people(high * of)}"


def _place(value: float | None, *, of: float = 1) -> float | None:
    return None if value is None else round(200 * min(max(value / of, 0.0), 1.0), 1)
