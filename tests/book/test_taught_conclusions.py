"""Are the hand examples right by which the book teaches what an audit has shown?"""

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep

from auditbook.evidence.intervals import wilson_interval
from auditbook.verdicts.flips import flip_rate, summarise_resamples
from auditbook.verdicts.metrics import METRICS

SMALL = np.array([1600, 316, 84, 33, 10]), np.array([2000, 400, 120, 50, 12])
ALIKE = np.array([1600, 1585, 1590, 1605, 1595]), np.full(5, 2000)


def bound_pairs(found, events, level):
    """Bound all differences of found shares, each side at `level`: Wilson's limits joined by squares."""
    rate, limit = found / events, wilson_interval(found, events, level=2 * level - 1)
    below, above = rate - limit.low, limit.high - rate
    pairs = rate[..., :, None] - rate[..., None, :]
    low = pairs - np.hypot(below[..., :, None], above[..., None, :])
    return low, pairs + np.hypot(above[..., :, None], below[..., None, :])


def conclude(found, events, *, threshold=0.10, alpha=0.05):
    groups = len(found)
    low, _ = bound_pairs(found, events, 1 - alpha / (groups * (groups - 1) / 2))
    _, high = bound_pairs(found, events, 1 - alpha)
    if low.max() > threshold:
        return "fail"
    return "pass" if high[~np.eye(groups, dtype=bool)].max() <= threshold else "open"


def test_five_equal_groups_fail_in_three_audits_of_four_and_agree_in_more_than_six_of_ten():
    k = np.arange(51)
    below, at, top = (binom.cdf(k + step, 50, 0.7) for step in (-1, 0, 5))
    exact = 1 - ((top - below) ** 5 - (top - at) ** 5).sum()
    assert exact == pytest.approx(0.749, abs=0.001)
    rng, rule = np.random.default_rng(7), METRICS["EOPP"]
    audits = rng.binomial(50, 0.7, size=(2_000, 5)) / 50
    fails = ~rule.passes(np.ptp(audits, axis=-1))
    assert fails.mean() == pytest.approx(exact, abs=0.04)  # four standard errors of 2,000 audits
    resamples = rng.binomial(50, audits[:, None], size=(2_000, 400, 5)) / 50
    found = summarise_resamples(rule, np.ptp(resamples, axis=-1))
    stable = (found.dominant == "fail") & (found.vfr <= 0.10)
    assert stable.mean() == pytest.approx(0.62, abs=0.05)
    assert np.ptp(audits, axis=-1).mean() + 0.03 < found.mean.mean()


def test_equal_groups_are_shown_to_fail_in_far_fewer_than_one_audit_in_twenty():
    audits = np.random.default_rng(7).binomial(50, 0.7, size=(4_000, 5))
    low, _ = bound_pairs(audits, 50, 1 - 0.05 / 10)
    assert (low > 0.10).any(axis=(1, 2)).mean() < 0.02


def test_the_pair_bounded_by_hand_is_newcombes_interval():
    low, high = bound_pairs(np.array([45, 30]), np.array([50, 50]), 0.95)
    outside = confint_proportions_2indep(45, 50, 30, 50, method="newcomb", compare="diff", alpha=0.10)
    assert (low[0, 1], high[0, 1]) == pytest.approx(outside, abs=1e-9)
    assert round(low[0, 1], 2) == 0.16


@pytest.mark.parametrize(
    ("p_values", "shown"),
    [
        ([0.004, 0.014, 0.030, 0.200], [True, True, False, False]),
        ([0.001, 0.008, 0.012, 0.018, 0.040, 0.300], [True, True, True, False, False, False]),
    ],
)
def test_holm_by_hand_shows_what_statsmodels_rejects(p_values, shown):
    assert multipletests(p_values, alpha=0.05, method="holm")[0].tolist() == shown


def test_one_table_read_by_all_rules_gets_the_answers_that_the_chapter_tells():
    large = 40 * SMALL[0], 40 * SMALL[1]
    assert [conclude(*table) for table in (SMALL, large, ALIKE)] == ["open", "fail", "pass"]
    rng = np.random.default_rng(1)
    for (found, events), verdict in ((SMALL, "fail"), (large, "fail"), (ALIKE, "pass")):
        flips = flip_rate(np.stack([found, events, events - found, events], axis=1), "EOPP", rng=rng)
        assert (flips.verdict, flips.dominant, flips.vfr <= 0.10) == (verdict, verdict, True)
        ratio = found / events / (found / events)[0]
        assert ((ratio >= 0.8) & (ratio <= 1.25)).all()
