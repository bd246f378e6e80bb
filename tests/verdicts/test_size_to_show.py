"""The number of records that would show a cell is the number with which simulated audits do."""

import numpy as np
import pytest
from scipy.stats import norm

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import judge_reach, show_cells
from auditbook.verdicts.size_to_show import scale_to_show


def audit_of(rates, n, rng=None):
    """Audit a decision that is right for these shares of the events of each group; half are events."""
    codes = np.arange(n) % len(rates)
    event = (np.arange(n) // len(rates)) % 2
    share = np.array(rates)[codes]
    if rng is None:
        rank = np.arange(n) // (2 * len(rates)) / (n / (2 * len(rates)))
        chosen = rank < share
    else:
        chosen = rng.random(n) < share
    groups = tuple(f"g{place}" for place in range(len(rates)))
    score = Score("m", "decision", 0.5, np.where(event == 1, chosen, False).astype(float))
    return AuditRecords(event.astype(np.int8), (Attribute("g", groups, codes),), (score,))


def shown(records):
    cells, _ = show_cells(prepare(records), Protocol(metrics=("EOPP",)))
    return cells.iloc[0]


@pytest.mark.parametrize(
    ("rates", "side"),
    [((0.5, 0.72), "fail"), ((0.6, 0.64), "pass"), ((0.6, 0.6), "pass"), ((0.5, 0.6, 0.72), "fail")],
)
def test_so_many_records_show_it_in_about_four_of_five_audits(rates, side):
    today = shown(audit_of(rates, 600))
    n = int(today["n_to_show"])
    rng = np.random.default_rng(1)
    share = np.mean([shown(audit_of(rates, n, rng))["shown"] == side for _ in range(100)])
    assert 0.66 <= share <= 0.94  # 0.8, less or more three standard errors and what the formula leaves out


def test_equal_groups_have_two_edges_to_stay_within():
    z = np.array([-2.0])
    one, two = (
        scale_to_show(z, np.zeros(1, int), 1, alpha=0.05, cells=np.ones(1, int), opposite=opposite)[0]
        for opposite in (None, np.array([2.0]))
    )
    assert one == pytest.approx(((norm.isf(0.05) + norm.isf(0.2)) / 2) ** 2, rel=1e-9)
    assert two == pytest.approx(((norm.isf(0.05) + norm.isf(0.1)) / 2) ** 2, rel=1e-9)  # a tenth on each side


def test_no_size_shows_a_contrast_on_its_threshold_and_no_contrast_has_no_size():
    found = scale_to_show(np.array([0.0, 1e-9]), np.array([0, 1]), 3, alpha=0.05, cells=np.full(3, 3))
    assert np.isinf(found[:2]).all()
    assert np.isnan(found[2])


def test_a_pass_waits_for_those_who_are_left_out():
    records = audit_of((0.6, 0.6), 4000)
    codes = records.attributes[0].codes.copy()
    codes[np.flatnonzero(records.outcome == 1)[:5]] = 2
    few = AuditRecords(records.outcome, (Attribute("g", ("a", "b", "few"), codes),), records.scores)
    assert shown(records)["n_to_show"] < 4000
    assert shown(few)["n_to_show"] == 8000  # 5 events are held, 10 needed


@pytest.mark.parametrize(
    ("needed", "audited", "reach"),
    [
        (200_000, 2_000, "can be had"),
        (200_001, 2_000, "far more than can be had"),
        (10_000_000, 185_026, "can be had"),  # Not 100 times as many
        (10_000_001, 185_026, "far more than can be had"),
        (50_000_000, 5_000_000, "can be had"),  # Ten times what somebody has
        (50_000_001, 5_000_000, "far more than can be had"),
        (np.inf, 2_000, "no number"),
        (np.nan, 2_000, "not known"),
    ],
)
def test_what_no_audit_can_have_is_more_than_a_hundred_times_or_ten_million(needed, audited, reach):
    assert judge_reach(needed, audited) == reach
