"""What is a pocket called? The features in which its discovery members differ most from all other records.

No outcome is an argument, so that a name cannot be steered by what the audit finds. Column names and levels
are text of the cohort: they are shortened here, and whoever shows them escapes them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import floor
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.labels import JOINT, name_feature, write_condition, write_detail
from auditbook.pockets.encoding import Column, Encoding, fit_encoding
from auditbook.pockets.frozen import FrozenMap

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST = 0.2
"""Standardised differences below this are not named (ours; 0.2 is a customary "small")."""
CONSIDERED = 12
"""Features of the largest differences from which a name may be made (ours)."""
NAMED = 3
"""Conditions in a name, at the most."""
DESCRIBED = 5
"""Features in a description, at the most (ours)."""
GAIN = 0.01
"""A further condition must raise the F1 of the name's rule by this much (ours)."""
RECORDED = 0.5
"""Sizes of a number are compared where at least this share of the members has one (ours)."""
SAME = 0.98
"""Of two columns whose missing values agree in this share of the records, one is named (ours)."""
CUTS = np.linspace(0.05, 0.95, 19)
"""Quantiles among which a rule's threshold on a number is looked for (ours)."""
NEARLY = 0.9
"""An only pocket with at least this share of the records is called all of them (ours)."""
ALL, ALIKE, EMPTY = "all records", "much like the others", "without members"

What = Literal["value", "level", "missing"]


@dataclass(frozen=True)
class Feature:
    """One way in which members may differ from others."""

    position: int  # Column of the matrix
    what: What  # A number's size; whether a level, or 1, stands there; whether nothing does
    column: str
    code: float = np.nan  # The level that is meant; nan otherwise
    level: str = ""  # Its name; blank for 1 in a column of 0 and 1
    dated: bool = False  # True when numbers are days since 1970


@dataclass(frozen=True)
class Condition:
    """A feature as members of one pocket have it, with a rule for single records."""

    feature: Feature  # What is compared
    difference: float  # Standardised; positive where members have more of it
    how: str  # How members have it: "high", "mostly", "often not recorded"
    measure: str  # Of what the figures are: "at the median", "on average" or "share"
    inside: str  # Figure among members
    outside: str  # Figure among all others
    cut: float  # Threshold on a number; nan otherwise

    def holds(self, matrix: Array) -> Mask:
        """Tell for which records the condition holds, shape (n,)."""
        values = matrix[:, self.feature.position]
        if self.feature.what == "value":
            return values >= self.cut if self.difference > 0 else values <= self.cut
        found = np.isnan(values) if self.feature.what == "missing" else values == self.feature.code
        return np.asarray(found if self.difference > 0 else ~found)

    @property
    def name(self) -> str:
        """The feature in words."""
        return name_feature(self.feature.column, self.feature.level)

    @property
    def detail(self) -> str:
        """The condition with figures, for the description."""
        return write_detail(self.name, self.how, self.measure, self.inside, self.outside)

    def lay_out(self, rank: int, *, in_name: bool, in_description: bool) -> dict[str, str | int | bool]:
        """Lay the condition out as columns of ``pocket_features.csv``."""
        return {
            "rank": rank,
            "column": self.feature.column,
            "code": self.feature.level,
            "how": self.how,
            "measure": self.measure,
            "inside": self.inside,
            "outside": self.outside,
            "in_name": in_name,
            "in_description": in_description,
        }


def name_pockets(
    frozen: FrozenMap,
    table: pd.DataFrame,
    codes: NDArray[np.integer],
    *,
    calibration: pd.DataFrame | None = None,
    columns: Sequence[str] | None = None,
) -> FrozenMap:
    """Name the pockets of a map in words, and check how well a simple rule made of the words fits.

    The standardised difference of a feature between members and all other records is that of the mean ranks
    of a number, and of the shares that have a level or no value. The title joins up to three of the largest
    so that the rule "all of them hold" fits the members best (F1); the description lists the largest with
    figures. Of the columns of `table`, and of `calibration`, only `columns` are named where they are given.

    References
    ----------
    Austin, P. C. (2009). Balance diagnostics for comparing the distribution of baseline covariates between
    treatment groups. doi:10.1002/sim.3697
    """
    encoding = fit_encoding(table if columns is None else table[list(columns)])
    matrix = encoding.encode(table)
    measured, measured_codes = matrix, codes
    if calibration is not None:
        measured, measured_codes = encoding.encode(calibration), frozen.assign(calibration).codes
    features = list(list_features(encoding, matrix))
    differences = measure_differences(features, matrix, codes, len(frozen.pockets))
    named, described, told, fidelity = [], [], [], []
    for pocket in range(len(frozen.pockets)):
        members = codes == pocket
        found = _find_conditions(features, differences[:, pocket], matrix, members)
        alone = len(frozen.pockets) == 1 and members.mean() >= NEARLY
        rule = [] if alone else choose_rule(found, matrix, members)
        named.append(ALL if alone else _write_title(rule, members))
        described.append("; ".join(condition.detail for condition in found[:DESCRIBED]))
        told += [{"pocket": frozen.pockets[pocket], **row} for row in _lay_out(found, rule)]
        fidelity.append(measure_fit(rule, measured, measured_codes == pocket))
    return replace(
        frozen,
        titles=tuple(named),
        descriptions=tuple(described),
        fidelity=np.array(fidelity, dtype=np.float64).reshape(-1, 2),
        features=tuple(told),
    )


def _lay_out(found: list[Condition], rule: list[Condition]) -> Iterator[dict[str, str | int | bool]]:
    """Lay out the conditions that make the name or the description of a pocket."""
    chosen = [any(condition is one for one in rule) for condition in found]
    for rank, (condition, named) in enumerate(zip(found, chosen, strict=True), start=1):
        if named or rank <= DESCRIBED:
            yield condition.lay_out(rank, in_name=named, in_description=rank <= DESCRIBED)


def list_features(encoding: Encoding, matrix: Array) -> Iterator[Feature]:
    """List what members can be compared in: sizes of numbers, levels of categories, and missing values."""
    for position, column in enumerate(encoding.columns):
        values = matrix[:, position]
        missing = np.isnan(values)
        yield from _list_values(position, column, np.unique(values[~missing]))
        if missing.any():
            yield Feature(position, "missing", column.name)


def _list_values(position: int, column: Column, present: Array) -> Iterator[Feature]:
    """List the levels of a category or of a column of 0 and 1, or the size of a number."""
    if column.kind == "category":
        for code, level in enumerate(column.levels):
            yield Feature(position, "level", column.name, float(code), level)
    elif len(present) > 1 and set(present.tolist()) == {0.0, 1.0}:
        yield Feature(position, "level", column.name, 1.0)
    elif len(present) > 1:
        yield Feature(position, "value", column.name, dated=column.kind == "date")


def measure_differences(
    features: list[Feature], matrix: Array, codes: NDArray[np.integer], n_pockets: int
) -> Array:
    r"""Measure how members differ from all other records.

    .. math:: d = \frac{m_1 - m_0}{\sqrt{(v_1 + v_0) / 2}}

    for the mean and variance of members (1) and others (0): of a number's ranks, or of an indicator whose
    shares are drawn in by half a record, so that d is always finite.
    """
    from scipy.stats import rankdata

    if not features:
        return np.zeros((0, n_pockets))
    member = (codes[:, None] == np.arange(n_pockets)).astype(np.float64)
    rows = []
    for feature in features:
        values = matrix[:, feature.position]
        if feature.what == "value":
            present = ~np.isnan(values)
            found = _compare_ranks(rankdata(values[present]) / present.sum(), member[present])
            seen = member[present].sum(axis=0) >= RECORDED * member.sum(axis=0)
            rows.append(np.where(seen, found, 0.0))
        else:
            has = np.isnan(values) if feature.what == "missing" else values == feature.code
            rows.append(_compare_shares(has.astype(np.float64), member))
    return np.array(rows)


def _compare_ranks(ranks: Array, member: Array) -> Array:
    """Compare mean ranks, shape (n_pockets,)."""
    sizes = np.vstack([member.sum(axis=0), (1 - member).sum(axis=0)])
    first = np.vstack([ranks @ member, ranks @ (1 - member)])
    second = np.vstack([ranks**2 @ member, ranks**2 @ (1 - member)])
    enough = (sizes > 0).all(axis=0)
    held = np.maximum(sizes, 1)
    mean = first / held
    spread = np.sqrt(np.maximum(second / held - mean**2, 0).mean(axis=0))
    varies = enough & (spread > 1e-9)
    return np.where(varies, (mean[0] - mean[1]) / np.where(varies, spread, 1), 0.0)


def _compare_shares(has: Array, member: Array) -> Array:
    """Compare shares, drawn in by half a record, shape (n_pockets,)."""
    sizes = np.vstack([member.sum(axis=0), (1 - member).sum(axis=0)])
    share = (np.vstack([has @ member, has @ (1 - member)]) + 0.5) / (sizes + 1)
    spread = np.sqrt((share * (1 - share)).mean(axis=0))
    return np.where((sizes > 0).all(axis=0), (share[0] - share[1]) / spread, 0.0)


def _find_conditions(
    features: list[Feature], difference: Array, matrix: Array, members: Mask
) -> list[Condition]:
    """Take the features of the largest differences, one a column, and say how members have them."""
    found: list[Condition] = []
    for place in np.lexsort((difference < 0, -np.abs(difference).round(6))):  # "mostly" before "hardly any"
        if abs(difference[place]) < LEAST or len(found) == CONSIDERED:
            break
        feature = features[place]
        if not any(_repeats(feature, other.feature, matrix) for other in found):
            found.append(_describe(feature, float(difference[place]), matrix[:, feature.position], members))
    return found


def _repeats(feature: Feature, other: Feature, matrix: Array) -> bool:
    """Tell whether a feature is of the same column as another, or missing where that one is."""
    if feature.position == other.position:
        return True
    if feature.what != "missing" or other.what != "missing":
        return False
    missing = np.isnan(matrix[:, [feature.position, other.position]])
    return bool(np.mean(missing[:, 0] == missing[:, 1]) >= SAME)


def _describe(feature: Feature, difference: float, values: Array, members: Mask) -> Condition:
    """Put one difference into words, and find the threshold of its rule."""
    if feature.what == "value":
        sides = [values[side & ~np.isnan(values)] for side in (members, ~members)]
        size = ("late" if feature.dated else "high", "early" if feature.dated else "low")[difference < 0]
        middle, figures = "at the median", [_write_value(np.median(part), feature.dated) for part in sides]
        if figures[0] == figures[1]:
            middle, figures = "on average", [_write_value(np.mean(part), feature.dated) for part in sides]
        cut = _find_cut(*sides, upward=difference > 0)
        return Condition(feature, difference, size, middle, figures[0], figures[1], cut)
    has = np.isnan(values) if feature.what == "missing" else values == feature.code
    shares = [float(has[side].mean()) for side in (members, ~members)]
    how = _name_share(feature, shares[0], more=difference > 0)
    inside, outside = (f"{share:.0%}".replace("%", " %") for share in shares)
    return Condition(feature, difference, how, "share", inside, outside, np.nan)


def _name_share(feature: Feature, share: float, *, more: bool) -> str:
    """Say how often members have a level or no value."""
    if feature.what == "missing":
        if more:
            return f"{'mostly' if share >= 0.5 else 'often'} not recorded"
        return f"{'mostly' if share < 0.5 else 'more often'} recorded"
    if more:
        return "mostly" if share >= 0.5 else "often"
    return "hardly any" if share <= 0.1 else "seldom"


def _write_value(number: np.floating, dated: bool) -> str:
    """Write a number with three digits, or a day as a date where the calendar has it."""
    value = float(number)
    if dated and abs(value) < 700_000:
        return (date(1970, 1, 1) + timedelta(days=floor(value))).isoformat()
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e12 else f"{value:.3g}"


def _find_cut(inside: Array, outside: Array, *, upward: bool) -> float:
    """Find the threshold that parts members from others best: the largest difference of the shares."""
    cuts = np.unique(np.quantile(np.concatenate([inside, outside]), CUTS))
    shares = [
        np.searchsorted(np.sort(part), cuts, side="left" if upward else "right") / len(part)
        for part in (inside, outside)
    ]
    parted = shares[1] - shares[0] if upward else shares[0] - shares[1]
    return float(cuts[np.argmax(parted)])


def choose_rule(found: list[Condition], matrix: Array, members: Mask) -> list[Condition]:
    """Choose up to three conditions that together fit the members best."""
    held = [condition.holds(matrix) for condition in found]
    chosen: list[int] = []
    covered, best = np.ones(len(matrix), bool), -np.inf
    while len(chosen) < NAMED:
        scores = [
            -1.0 if place in chosen else _f1(covered & mask, members) for place, mask in enumerate(held)
        ]
        if not scores or max(scores) < best + (GAIN if chosen else 0):
            break
        place = int(np.argmax(scores))
        best, covered = scores[place], covered & held[place]
        chosen.append(place)
    return [found[place] for place in sorted(chosen)]


def _f1(covered: Mask, members: Mask) -> float:
    """Return the F1 of a rule: 1 when it covers the members and no other record."""
    total = int(covered.sum() + members.sum())
    return float(2 * (covered & members).sum() / total) if total else 0.0


def measure_fit(rule: list[Condition], matrix: Array, members: Mask) -> tuple[float, float]:
    """Measure how well a rule fits the members of a pocket."""
    covered = np.ones(len(matrix), bool)
    for condition in rule:
        covered &= condition.holds(matrix)
    both = int((covered & members).sum())
    parts = [both / size if size else np.nan for size in (int(members.sum()), int(covered.sum()))]
    return parts[0], parts[1]


def _write_title(rule: list[Condition], members: Mask) -> str:
    """Join the words of a rule."""
    if rule:
        return JOINT.join(write_condition(condition.name, condition.how) for condition in rule)
    return ALL if members.all() else ALIKE if members.any() else EMPTY
