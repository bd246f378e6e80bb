"""How well do the flags of a map tell where an error was planted, and do its intervals hold the truth?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets import (
    ABSTAIN,
    OVERALL,
    Contrast,
    Contributions,
    Family,
    FrozenMap,
    adjusted_p,
    bound_estimates,
    draw_families,
    find_levels,
    max_t_critical_value,
    standardise,
)
from auditbook.studies.simulations.worlds import FOCAL, Plant, Records, affected, plant_error

Array = NDArray[np.float64]
Signs = NDArray[np.int8]

QUANTITY = {"gap": "delta", "error": "mu"}
"""What is audited, by the question that a plant answers."""
COUNTS = ("records", "affected", "tp", "fp", "fn", "conflicts")


@dataclass(frozen=True)
class Verdict:
    """What testing one map says of one plant, at the full and at half the level."""

    tested: int  # Pockets that were tested
    pockets: int  # Pockets of the map
    # shape (2, n): Direction that each record's pocket is flagged in, at the full and at half the level
    flags: Signs
    overall: Signs  # shape (2,): Direction that the overall comparison is flagged in
    # shape (2,): Whether every interval holds the true value; True where nothing was tested
    covered: NDArray[np.bool_]


def judge_map(
    frozen: FrozenMap,
    audit: Records,
    plants: Sequence[Plant],
    *,
    contrasts: Sequence[Contrast],
    settings: PocketSettings,
    seed: int,
) -> dict[Plant, Verdict]:
    """Test one map for every plant, as a whole audit would, with draws that all plants share.

    The full and half the level come from the same draws: a quantity is flagged when its adjusted p-value is
    at most the level, which is the same as an interval without zero.
    """
    predictions = {plant.name: plant_error(audit, plant) for plant in plants}
    data = replace(audit.data, predictions=predictions)
    codes = frozen.assign(data.table).codes
    names = {plant.name: plant for plant in plants}
    drawn = draw_families(
        frozen.pockets,
        codes,
        data,
        contrasts=contrasts,
        settings=settings,
        seed=seed,
        keep=lambda family: family.kind == QUANTITY[names[family.model].question],
    )
    levels = find_levels(data, settings, 1.0)
    found = {}
    for each in drawn:
        level = levels.error if each.family.kind == "mu" else levels.gap
        judged = _Judged.blank(len(each.status))
        if each.sums is not None:
            tested = np.array([word == "tested" for word in each.status])
            truth = _true_values(each.family, predictions[each.family.model] - audit.risk)[tested]
            judged = _judge(each.sums, each.maxima, truth, tested, level)
        found[names[each.family.model]] = _spread(each.family, judged, codes)
    return found


@dataclass(frozen=True)
class _Judged:
    """Directions of all quantities of a family, shape (2, Q), and whether all intervals hold, shape (2,)."""

    tested: NDArray[np.bool_]
    directions: Signs
    covered: NDArray[np.bool_]

    @classmethod
    def blank(cls, count: int) -> "_Judged":
        """Nothing was tested."""
        return cls(np.zeros(count, bool), np.zeros((2, count), np.int8), np.ones(2, bool))


def _judge(
    sums: Contributions, maxima: Array, truth: Array, tested: NDArray[np.bool_], level: float
) -> _Judged:
    """Flag the tested quantities, and see whether their intervals hold the truth."""
    ratios = standardise(sums)
    chances = adjusted_p(ratios, maxima)
    directions = np.zeros((2, len(tested)), np.int8)
    covered = np.ones(2, bool)
    for place, alpha in enumerate((level, level / 2)):
        directions[place, tested] = np.where(chances <= alpha, np.sign(ratios), 0)
        low, high = bound_estimates(sums, max_t_critical_value(maxima, alpha))
        covered[place] = np.all((low <= truth) & (truth <= high))
    return _Judged(tested, directions, covered)


def _true_values(family: Family, planted: Array) -> Array:
    """Find what each quantity of a family would be without noise; nan for empty cells."""

    def mean(positions: NDArray[np.int64]) -> float:
        return float(planted[positions].mean()) if len(positions) else np.nan

    values = [[mean(cell.positions) for cell in item.cells] for item in family.quantities]
    return np.array([row[0] - sum(row[1:]) for row in values])


def _spread(family: Family, judged: _Judged, codes: NDArray[np.integer]) -> Verdict:
    """Give each record the direction of its pocket; the overall comparison stands first."""
    names = [item.pocket for item in family.quantities]
    if names[0] != OVERALL:
        raise ValueError("the overall comparison must stand first")
    of_pockets = np.column_stack([judged.directions[:, 1:], np.zeros(2, np.int8)])
    place = np.where(codes == ABSTAIN, len(names) - 1, codes)
    return Verdict(
        int(judged.tested[1:].sum()),
        len(names) - 1,
        of_pockets[:, place],
        judged.directions[:, 0],
        judged.covered,
    )


def count_hits(flags: Sequence[Signs], truth: Signs, scored: NDArray[np.bool_]) -> dict[str, int]:
    """Count records, the one scoring rule of all simulations.

    A flag in the right direction on an affected record is a hit; on an unaffected record it is a false flag;
    in the wrong direction it is a false flag and a miss. Affected records without a flag are misses. Where
    maps flag opposite directions, the conflict counts like a wrong direction.
    """
    raised, lowered = (np.any([each == sign for each in flags], axis=0) for sign in (1, -1))
    conflict = raised & lowered
    direction = raised.astype(np.int8) - lowered.astype(np.int8)
    hit = (direction == truth) & (truth != 0)
    wrong = (raised | lowered) & ~hit
    parts = (np.ones(len(truth), bool), truth != 0, hit, wrong, (truth != 0) & ~hit, conflict)
    return {name: int(np.count_nonzero(part & scored)) for name, part in zip(COUNTS, parts, strict=True)}


def describe_verdicts(
    verdicts: Sequence[Verdict], audit: Records, plant: Plant, *, half: bool
) -> dict[str, Any]:
    """Score one map, or several together, for one plant."""
    everyone = np.ones(len(audit.risk), bool)
    scored = audit.data.attributes[0].codes == FOCAL if plant.question == "gap" else everyone
    flags = [each.flags[int(half)] for each in verdicts]
    overall = any(each.overall[int(half)] != 0 for each in verdicts)
    return {
        **count_hits(flags, affected(audit, plant), scored),
        "pockets": sum(each.pockets for each in verdicts),
        "tested": sum(each.tested for each in verdicts),
        "flagged": int(overall or any(each.any() for each in flags)),
        "overall": int(overall),
        "covered": int(all(each.covered[int(half)] for each in verdicts)),
    }
