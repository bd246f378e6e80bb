"""AUC parity as a metric: verdict, flip rates, the two further axes and the tier."""

from dataclasses import replace

import numpy as np
import pytest

from auditbook.evidence import prepare
from auditbook.evidence.areas import group_auc
from auditbook.evidence.auc_bootstrap import bootstrap_areas
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts.formulas import gap
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.metrics import METRICS

PROTOCOL = Protocol(metrics=("AUC",), resamples=2000, resample_size=1200, audit_sizes=(300, 600), seed=1)


def draw(n=1200, *, n_sites=25, kinds=("probability",), lift=(1.0, 1.6), seed=1):
    rng = np.random.default_rng(seed)
    codes, outcome = rng.integers(0, 2, n), (rng.random(n) < 0.4).astype(np.int8)
    logits = rng.normal(size=n) + outcome * np.array(lift)[codes]
    values = {
        "probability": 1 / (1 + np.exp(-logits)),
        "rank": logits * 100,
        "decision": (logits > 0).astype(float),
    }
    scores = tuple(Score(kind, kind, 0.5, values[kind]) for kind in kinds)
    site = rng.integers(0, n_sites, n) if n_sites else None
    return AuditRecords(outcome, (Attribute("sex", ("F", "M"), codes),), scores, site)


def test_estimate_is_the_gap_of_the_areas_and_the_threshold_is_ours():
    records = draw()
    row = judge(prepare(records), PROTOCOL, axes=()).verdicts.iloc[0]
    areas = group_auc(records.outcome, records.scores[0].values, records.attributes[0].codes, 2)
    assert row["estimate"] == pytest.approx(np.ptp(areas), abs=1e-12)
    assert (row["lowest_group"], row["highest_group"]) == ("F", "M")
    assert row["threshold"] == METRICS["AUC"].threshold == 0.05
    assert "ours" in METRICS["AUC"].source
    assert "AUC" not in Protocol().metrics


def test_flip_rate_agrees_with_a_bootstrap_of_records():
    records = draw(lift=(1.0, 1.25))
    row = judge(prepare(records), PROTOCOL, axes=()).verdicts.iloc[0]
    drawn = bootstrap_areas(
        records.outcome,
        records.scores[0].values,
        records.attributes[0].codes,
        2,
        resamples=1500,
        rng=np.random.default_rng(2),
    )
    passes = (gap(np.einsum("rgg->rg", drawn)[:, None]) <= 0.05).mean()
    # two Monte Carlo errors of either share, and the area inside stretches
    slack = 2 * 0.5 * np.sqrt(1 / 1500 + 1 / 2000) + 0.01
    assert row["vfr"] == pytest.approx(min(passes, 1 - passes), abs=slack)
    assert row["vfr"] == row["vfr_own_size"]


def test_flip_rate_by_site_agrees_with_drawing_whole_sites_of_records():
    records = draw(lift=(1.0, 1.25))
    row = judge(prepare(records), PROTOCOL, axes=()).verdicts.iloc[0]
    rng, site, passes = np.random.default_rng(3), records.site, 0
    rows = [np.flatnonzero(site == one) for one in range(25)]
    for _ in range(800):
        drawn = np.concatenate([rows[one] for one in rng.integers(0, 25, 25)])
        areas = group_auc(
            records.outcome[drawn], records.scores[0].values[drawn], records.attributes[0].codes[drawn], 2
        )
        passes += np.ptp(areas) <= 0.05
    share = passes / 800
    slack = 2 * 0.5 * np.sqrt(1 / 800 + 1 / 2000) + 0.01
    assert row["vfr_site"] == pytest.approx(min(share, 1 - share), abs=slack)


def test_a_rank_is_judged_like_a_probability_and_a_decision_is_not():
    table = judge(
        prepare(draw(kinds=("probability", "rank", "decision"))), PROTOCOL, axes=()
    ).verdicts.set_index("model")
    assert table.loc["rank", "estimate"] == table.loc["probability", "estimate"]
    assert table.loc["rank", "verdict"] == "fail"
    assert table.loc["decision", "verdict"] == "inconclusive"
    assert table.loc["decision", "reason"] == "no order: the score is a decision"
    assert np.isnan(table.loc["decision", "vfr"])


def test_a_group_short_of_events_makes_the_cell_inconclusive():
    records = draw()
    outcome = np.where((records.attributes[0].codes == 1) & (np.arange(1200) > 20), 0, records.outcome)
    row = judge(prepare(replace(records, outcome=outcome.astype(np.int8))), PROTOCOL, axes=()).verdicts.iloc[
        0
    ]
    assert row["verdict"] == "inconclusive"
    assert "M: " in row["reason"]
    assert "events, 10 needed" in row["reason"]


def test_size_sites_and_tier_work_as_for_any_other_metric():
    records = draw(3000, kinds=("probability", "rank", "decision"))
    judged = judge(prepare(records), replace(PROTOCOL, site_folds=5))
    tiers, sizes, by_fold, folds = judged.verdicts, judged.audit_size, judged.site_verdicts, judged.folds
    assert sizes["n"].tolist() == [300, 600, 3000] * 3
    whole = sizes[(sizes["model"] == "rank") & (sizes["n"] == 3000)].iloc[0]
    assert whole["mean"] == pytest.approx(tiers["estimate"][1], abs=1e-12)
    assert whole["cv"] == 0
    mine = folds.of_record == 2
    areas = group_auc(
        records.outcome[mine], records.scores[1].values[mine], records.attributes[0].codes[mine], 2
    )
    found = by_fold[(by_fold["model"] == "rank") & (by_fold["fold"] == 3)].iloc[0]
    assert found["estimate"] == pytest.approx(np.ptp(areas), abs=1e-12)
    assert by_fold[by_fold["model"] == "decision"]["verdict"].eq("inconclusive").all()
    assert tiers["tier"].tolist()[:2] != ["", ""]
    assert tiers["tier"][2] == ""


def test_everything_stands_beside_the_published_metrics_unchanged():
    records = draw()
    alone = judge(prepare(records), replace(PROTOCOL, metrics=("DI", "CAL"), resamples=50), axes=()).verdicts
    beside = judge(
        prepare(records), replace(PROTOCOL, metrics=("DI", "AUC", "CAL"), resamples=50), axes=()
    ).verdicts
    kept = beside[beside["metric"] != "AUC"].reset_index(drop=True)
    np.testing.assert_array_equal(alone["vfr"], kept["vfr"])
    assert beside["metric"].tolist() == ["DI", "AUC", "CAL"]
