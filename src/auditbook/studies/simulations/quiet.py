"""How often do whole audits flag something where nothing is wrong, and do all their intervals hold?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import binom

from auditbook.evidence import Interval, wilson_interval
from auditbook.pocket_settings import PocketSettings
from auditbook.studies.simulations.replicates import OWN
from auditbook.studies.simulations.scenarios import WORLDS
from auditbook.studies.simulations.scoring import count_independent

BY_SITE = ("binary dependent", "stays by hospital")
"""Worlds in which whole sites have one role and one weight."""
CONTINUOUS, INDEPENDENT, SITES = "continuous", "binary, independent units", "binary, whole sites"
QUESTIONS = {"gap": "gaps", "error": "mean errors"}
COVERAGE = "question family method audits aim share share_low share_high independent".split()


def family_of(world: str) -> str:
    """Name the kind of a world, on which its level hangs."""
    if world in BY_SITE:
        return SITES
    known = {each.name: each.continuous for each in WORLDS}
    return CONTINUOUS if known[world] else INDEPENDENT


def level_of(world: str) -> float:
    """Return the level that one map, or both together, is tested at in a world."""
    family = family_of(world)
    return PocketSettings().level_of(continuous=family == CONTINUOUS, sites=family == SITES)


def chance_apart(audits: float, level: float) -> tuple[float, float]:
    """Find the chances that an interval lies above, and below, a level at which the true share is."""
    trials = max(round(audits), 1)
    flagged = np.arange(trials + 1)
    ends = wilson_interval(flagged, np.full(trials + 1, trials))
    likely = binom.pmf(flagged, trials, level)
    return float(likely[ends.low > level].sum()), float(likely[ends.high < level].sum())


def pool_quiet(quiet: pd.DataFrame, methods: Sequence[str] = OWN) -> pd.DataFrame:
    """Put the worlds of one kind together."""
    table = quiet[quiet["method"].isin(methods)]
    table = table.assign(
        family=[family_of(name) for name in table["world"]], level=[level_of(name) for name in table["world"]]
    )
    keys = ["question", "family", "level", "method"]
    sums = table.groupby(keys, sort=False, as_index=False)[
        ["audits", "flagged", "independent", "replicates", "untested"]
    ].sum()
    share_of = sums["flagged"] / sums["audits"]
    ends = wilson_interval(share_of * sums["independent"], sums["independent"])
    return sums.assign(
        asked=sums["question"], question=sums["question"].map(QUESTIONS), share=share_of, share_low=ends.low
    ).assign(share_high=ends.high)


def measure_coverage(replicates: pd.DataFrame, methods: Sequence[str] = OWN) -> pd.DataFrame:
    """Count audits of planted errors in which every interval holds the true value."""
    table = replicates
    table = table[(table["shift"] != "none") & (table["tested"] > 0) & table["method"].isin(methods)]
    table = table.assign(family=[family_of(name) for name in table["world"]])
    listed = []
    for (question, family, method), part in table.groupby(["question", "family", "method"], sort=False):
        sums = part.groupby(["world", "seed", "replicate"])["covered"].agg(["sum", "size"]).to_numpy(float)
        held, audits = sums.sum(axis=0)
        worth = count_independent(sums[:, 0], sums[:, 1])
        ends = wilson_interval(held / audits * worth, worth)
        level = level_of(part["world"].iloc[0])
        listed.append(
            {
                "question": QUESTIONS[str(question)],
                "family": family,
                "method": method,
                "audits": audits,
                "aim": 1 - level,
                "share": held / audits,
                "share_low": float(ends.low),
                "share_high": float(ends.high),
                "independent": worth,
            }
        )
    return pd.DataFrame(listed, columns=COVERAGE)


def bound_printed(share: ArrayLike, replicates: int) -> Interval:
    """Bound a printed share by Wilson's interval, at the number of replicates that it rests on."""
    return wilson_interval(np.round(np.asarray(share, float) * replicates), replicates)
