"""Are the hand examples right by which the book teaches what an audit has shown?"""

import numpy as np
import pytest
from scipy.stats import beta, binom, norm
from statsmodels.stats.multitest import multipletests

from auditbook.evidence import prepare, share_limits
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import show_cells
from auditbook.verdicts.flips import flip_rate, summarise_resamples
from auditbook.verdicts.metrics import METRICS

SMALL = np.array([1600, 316, 84, 33, 10]), np.array([2000, 400, 120, 50, 12])
ALIKE = np.array([1600, 1585, 1590, 1605, 1595]), np.full(5, 2000)


def conclude(found, events):
    """Ask the audit's own function of events that were found and missed."""
    groups = len(found)
    codes = np.repeat(np.arange(groups), events)
    decisions = np.repeat(np.tile([1.0, 0.0], groups), np.stack([found, events - found], axis=1).ravel())
    group = Attribute("group", tuple("ABCDE")[:groups], codes)
    records = AuditRecords(np.ones(len(codes), np.int8), (group,), (Score("m", "decision", 0.5, decisions),))
    return show_cells(prepare(records), Protocol(metrics=("EOPP",)))


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
    rate = np.random.default_rng(7).binomial(50, 0.7, size=(4_000, 5)) / 50
    lower, upper = share_limits(rate, 50, z=norm.isf(0.05 / 10))
    pairs = rate[:, :, None] - rate[:, None, :]
    low = pairs - np.hypot((rate - lower)[:, :, None], (upper - rate)[:, None, :])
    assert (low > 0.10).any(axis=(1, 2)).mean() < 0.02


def test_the_pair_bounded_by_hand_is_what_the_audit_bounds():
    row = conclude(np.array([45, 30]), np.array([50, 50]))[1].iloc[0]
    lower, upper = beta.ppf(0.05, 45.5, 5.5), beta.ppf(0.95, 30.5, 20.5)
    assert row["low_alone"] == pytest.approx(0.3 - np.hypot(0.9 - lower, upper - 0.6), abs=1e-9)
    assert (round(row["low_alone"], 2), round(row["high_alone"], 2)) == (0.16, 0.43)


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
    cells = [conclude(*table)[0].iloc[0] for table in (SMALL, large, ALIKE)]
    assert [cell["shown"] for cell in cells] == ["open", "fail", "pass"]
    assert [cell["gap_groups"] for cell in cells] == ["A, D", "A, D", "D, B"]  # not E, D, the largest gap
    rng = np.random.default_rng(1)
    for (found, events), verdict in ((SMALL, "fail"), (large, "fail"), (ALIKE, "pass")):
        flips = flip_rate(np.stack([found, events, events - found, events], axis=1), "EOPP", rng=rng)
        assert (flips.verdict, flips.dominant, flips.vfr <= 0.10) == (verdict, verdict, True)
        ratio = found / events / (found / events)[0]
        assert ((ratio >= 0.8) & (ratio <= 1.25)).all()
