r"""Which method finds a planted error best: one score for all, and differences within the same replicates.

The score of a record is that of `judged.count_hits`. Counts are summed over replicates
before they become

.. math:: F_1 = \frac{2\,tp}{2\,tp + fp + fn} ,

so that a replicate in which nothing is flagged counts by its misses.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import open_stream, wilson_interval
from auditbook.studies.simulations.replicates import METHODS, OWN
from auditbook.studies.simulations.scenarios import SCENARIOS, Scenario

Array = NDArray[np.float64]

ALTERNATIVES = ("k-means", "mahalanobis", "risk bins", "cem", "cem top 3", "targeted", "targeted plain")
RESAMPLES = 2_000
"""Draws of replicates behind an interval."""
WIN, LOSS, NEITHER = "win", "loss", "not distinguishable"
QUIET_COLUMNS = (
    "world question method replicates audits independent untested flagged share share_low share_high covered"
).split()
SCORE_COLUMNS = (
    "question number scenario world region shift method replicates f1 f1_low f1_high precision recall "
    "conflict_share tested_share flagged overall_flagged covered"
).split()


def f1_score(tp: Array, fp: Array, fn: Array) -> Array:
    r"""Find the harmonic mean of precision and recall, :math:`F_1 = 2 tp/(2 tp + fp + fn)`; nan for 0/0."""
    total = 2 * tp + fp + fn
    return np.where(total > 0, 2 * tp / np.where(total > 0, total, 1), np.nan)


def resample_scores(counts: NDArray[np.integer], weights: Array) -> Array:
    """Score every resample of replicates, the same replicates for all methods."""
    sums = np.tensordot(weights, counts.astype(np.float64), axes=1)
    return f1_score(sums[..., 0], sums[..., 1], sums[..., 2])


def draw_replicates(count: int, *names: str) -> Array:
    """Draw replicates with replacement, shape (resamples, count): how often each is taken."""
    rng = open_stream(0, "scores", *names)
    return rng.multinomial(count, np.full(count, 1 / count), RESAMPLES).astype(np.float64)


def score_methods(rows: pd.DataFrame, scenarios: Sequence[Scenario] = SCENARIOS) -> pd.DataFrame:
    """Score every method in every scenario, at both shifts."""
    found = []
    for scenario, shift, part in _each_part(rows, scenarios):
        methods, counts = _tabulate(part)
        scores = resample_scores(counts, np.ones((1, len(counts))))[0]
        drawn = resample_scores(counts, draw_replicates(len(counts), scenario.title, shift))
        low, high = _interval(drawn, len(counts))
        for place, method in enumerate(methods):
            own = {"method": method, "f1": scores[place], "f1_low": low[place], "f1_high": high[place]}
            found.append(_name(scenario, shift) | own | _describe(part[part["method"] == method]))
    return pd.DataFrame(found, columns=SCORE_COLUMNS)


def _name(scenario: Scenario, shift: str) -> dict[str, object]:
    return {
        "question": scenario.question,
        "number": scenario.number,
        "scenario": scenario.title,
        "world": scenario.world.name,
        "region": scenario.region,
        "shift": shift,
    }


def _each_part(rows: pd.DataFrame, scenarios: Sequence[Scenario]) -> list[tuple[Scenario, str, pd.DataFrame]]:
    """Part the rows by scenario and shift, each with the same methods in every replicate."""
    keyed = dict(list(rows.groupby(["world", "question", "region", "shift"], sort=False)))
    found = []
    for scenario in scenarios:
        for shift in ("smaller", "larger"):
            key = (scenario.world.name, scenario.question, scenario.region, shift)
            if key in keyed:
                found.append((scenario, shift, keyed[key]))
    return found


def _tabulate(part: pd.DataFrame) -> tuple[list[str], NDArray[np.int64]]:
    """Put the counts of a scenario into shape (replicates, methods, 3)."""
    methods = [method for method in METHODS if (part["method"] == method).any()]
    placed = part.assign(place=part["method"].map(methods.index))
    rows = placed.sort_values(["seed", "replicate", "place"])[["tp", "fp", "fn"]]
    return methods, rows.to_numpy(np.int64).reshape(-1, len(methods), 3)


def _interval(drawn: Array, replicates: int) -> Array:
    """Take the middle 95 % of draws, shape (2, methods); nan with one replicate."""
    if replicates < 2:
        return np.full((2, drawn.shape[1]), np.nan)
    return np.asarray(np.nanquantile(np.nan_to_num(drawn), [0.025, 0.975], axis=0))


def _describe(part: pd.DataFrame) -> dict[str, float]:
    """Describe one method in one scenario."""
    total = part[["tp", "fp", "fn", "records", "conflicts", "pockets", "tested"]].sum()
    evaluable = part.loc[part["tested"] > 0, "covered"]
    return {
        "replicates": len(part),
        "precision": _share(total["tp"], total["tp"] + total["fp"]),
        "recall": _share(total["tp"], total["tp"] + total["fn"]),
        "conflict_share": _share(total["conflicts"], total["records"]),
        "tested_share": _share(total["tested"], total["pockets"]),
        "flagged": float(part["flagged"].mean()),
        "overall_flagged": float(part["overall"].mean()),
        "covered": float(evaluable.mean()) if len(evaluable) else np.nan,
    }


def _share(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else np.nan


def compare_methods(
    rows: pd.DataFrame, *, own: Sequence[str] = OWN, scenarios: Sequence[Scenario] = SCENARIOS
) -> pd.DataFrame:
    """Compare our groupings with every alternative, in the same replicates."""
    found = []
    for scenario, shift, part in _each_part(rows, scenarios):
        methods, counts = _tabulate(part)
        scores = dict(zip(methods, resample_scores(counts, np.ones((1, len(counts))))[0], strict=True))
        drawn = resample_scores(counts, draw_replicates(len(counts), scenario.title, shift))
        best = max((name for name in ALTERNATIVES if name in scores), key=lambda name: scores[name])
        for one in own:
            for other in (*own, *ALTERNATIVES):
                if one != other and one in scores and other in scores:
                    gap = drawn[:, methods.index(one)] - drawn[:, methods.index(other)]
                    low, high = _interval(gap[:, None], len(counts))[:, 0]
                    found.append(
                        _name(scenario, shift)
                        | {
                            "method": one,
                            "other": other,
                            "strongest": other == best,
                            "replicates": len(counts),
                            "f1": scores[one],
                            "f1_other": scores[other],
                            "difference": scores[one] - scores[other],
                            "low": low,
                            "high": high,
                            "says": judge_difference(low, high),
                        }
                    )
    return pd.DataFrame(found)


def judge_difference(low: float, high: float) -> str:
    """Say what the interval of a difference means."""
    return WIN if low > 0 else LOSS if high < 0 else NEITHER


def count_false_flags(rows: pd.DataFrame) -> pd.DataFrame:
    """Count audits with any flag where nothing is wrong.

    Notes
    -----
    Audits of the same maps are no independent trials. Wilson's interval is taken at the number of independent
    audits that would give the variance seen between the means of the replicates, and at no more than there
    are.
    """
    quiet = rows[rows["shift"] == "none"]
    keys = ["world", "question", "method"]
    counted = quiet.groupby(keys, sort=False, as_index=False).agg(
        audits=("flagged", "size"),
        untested=("tested", lambda tested: int((tested == 0).sum())),
        flagged=("flagged", "sum"),
        covered=("covered", "mean"),
    )
    of_maps = quiet.groupby([*keys, "seed", "replicate"], sort=False)["flagged"].agg(["sum", "size"])
    summed = of_maps.groupby(level=keys, sort=False)
    counted["replicates"] = summed.size().to_numpy()
    counted["share"] = counted["flagged"] / counted["audits"]
    counted["independent"] = [
        count_independent(part["sum"].to_numpy(np.float64), part["size"].to_numpy(np.float64))
        for _, part in summed
    ]
    interval = wilson_interval(counted["share"] * counted["independent"], counted["independent"])
    return counted.assign(share_low=interval.low, share_high=interval.high)[QUIET_COLUMNS]


def count_independent(flagged: Array, audits: Array) -> float:
    """Count the independent audits that say as much about a share as audits of common maps do."""
    total = audits.sum()
    share = flagged.sum() / total
    if len(audits) < 2 or share in (0, 1):
        return float(total)
    spread = ((flagged - share * audits) ** 2).sum() / total**2
    return float(min(total, share * (1 - share) / spread)) if spread > 0 else float(total)


def count_verdicts(compared: pd.DataFrame) -> pd.DataFrame:
    """Count wins and losses of each of our groupings against the strongest alternative."""
    strongest = compared[compared["strongest"]]
    keys = ["question", "shift", "method"]
    outcomes = {says: strongest["says"] == says for says in (WIN, NEITHER, LOSS)}
    counted = strongest[keys].assign(**outcomes).groupby(keys, sort=False, as_index=False).sum()
    return counted.astype(dict.fromkeys(outcomes, int))


def subtract_independent(one: pd.Series, other: pd.Series) -> tuple[float, float, float]:
    r"""Subtract two independent scores; the difference and its 95 % interval, put together by squares.

    .. math:: d = a - b, \qquad d - \sqrt{(a - a_l)^2 + (b_u - b)^2}
              \quad\text{to}\quad d + \sqrt{(a_u - a)^2 + (b - b_l)^2}

    References
    ----------
    Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures.
    doi:10.1002/sim.3095
    """
    gap = float(one["f1"] - other["f1"])
    down = np.hypot(one["f1"] - one["f1_low"], other["f1_high"] - other["f1"])
    up = np.hypot(one["f1_high"] - one["f1"], other["f1"] - other["f1_low"])
    return gap, gap - float(down), gap + float(up)
