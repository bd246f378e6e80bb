"""Does the check of flip rates find what is known to be so, in worlds whose truth can be drawn at will?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.columns import TABLES
from auditbook.evidence import tally_records
from auditbook.records import Attribute, Score
from auditbook.settings import Protocol
from auditbook.verdicts.forecast import LEAST_SITES, check_flips, plan_truth_sizes
from auditbook.verdicts.forecast_compare import Rule, measure_halvings
from auditbook.verdicts.forecast_draw import HalfDraws, audit_halves, resample_freely, resample_halves
from auditbook.verdicts.forecast_halve import halve_records
from auditbook.verdicts.metrics import find_metric
from small_audits import random_audit, slow_metric

PROTOCOL = Protocol(resamples=60, halvings=6, metrics=("DI", "EOPP"))
WORLDS = 200  # cohorts drawn from a known world; a mean over them is known to about 0.01
NEAR = 0.02  # tolerance of such a mean, with 200 audits in each
KEYS = ["halving", "drawing", "metric", "attribute", "n"]


@pytest.fixture(scope="module")
def audit():
    return random_audit(np.random.default_rng(1), 4000, "abc", models=2, n_sites=30)


@pytest.fixture(scope="module")
def found(audit):
    return check_flips(audit, protocol=PROTOCOL, seed=1)


def world(tpr, *, events=(0.5, 0.5), fpr=(0.2, 0.2), share=(0.5, 0.5)):
    """Write down the shares of tp, fp, fn, tn in each of two groups, shape (2, 4)."""
    t, e, f, w = (np.array(part) for part in (tpr, events, fpr, share))
    return w[:, None] * np.stack([e * t, (1 - e) * f, e * (1 - t), (1 - e) * (1 - f)], axis=1)


def draw(shares, size, rng, times=WORLDS):
    """Draw new cohorts, or audits of new records, of a world, shape (times, ..., 2, 4)."""
    many = (times,) if isinstance(times, int) else times
    return rng.multinomial(size, shares.ravel(), size=many).reshape(*many, *shares.shape)


def compare(first, second, audits_second, metric, size, rng, *, audits_first=None):
    """Compare predictions of the first halves with given audits."""
    draws = HalfDraws(
        first=first,
        second=second,
        resampled=resample_halves(first, size=size, resamples=200, rng=rng),
        free=resample_freely(first, size=size, resamples=200, rng=rng),
        by_site=None,
        audits={
            "records": (
                audit_halves(first, size=size, audits=200, rng=rng) if audits_first is None else audits_first,
                audits_second,
            )
        },
        size=size,
    )
    found = measure_halvings(Rule(find_metric(metric), Protocol()), draws)["records"]
    return {name: float(np.mean(part[found["judged"]])) for name, part in found.items()}


def foretell(shares, metric, *, half, size, seed=1):
    """Predict from samples of a world how often audits of new records end otherwise: the truth by force."""
    rng = np.random.default_rng(seed)
    first = draw(shares, half, rng)
    audits = draw(shares, size, rng, (WORLDS, 200))
    return compare(first, first, audits, metric, size, rng)


def test_far_from_the_threshold_nothing_flips_and_nothing_is_foretold():
    found = foretell(world((0.9, 0.5)), "EOPP", half=4000, size=1000)
    assert found["predicted"] < 0.005
    assert found["realised"] < 0.005


def test_with_a_large_half_and_fixed_strata_the_flip_rate_is_right_on_average():
    """TPR does not depend on how many events there are, and the half is forty times the audit."""
    found = foretell(world((0.80, 0.65)), "EOPP", half=40_000, size=1000)
    assert 0.05 < found["realised"] < 0.25
    assert found["predicted"] == pytest.approx(found["realised"], abs=NEAR)


def test_a_small_half_near_the_threshold_foretells_too_few_flips():
    found = foretell(world((0.80, 0.68)), "EOPP", half=2000, size=1000)
    assert found["error"] > 3 * NEAR
    assert found["wrong_side"] > 0.05


def test_stretching_makes_up_for_a_small_half_over_worlds_at_all_distances():
    """At one distance nothing can: near the threshold both foretell too few, far from it too many."""
    gaps = np.arange(0.02, 0.21, 0.02)
    table = pd.DataFrame([foretell(world((0.80, 0.80 - gap)), "EOPP", half=2000, size=1000) for gap in gaps])
    means = table.mean()
    assert means["realised"] - means["predicted"] > NEAR
    assert means["predicted_wide"] == pytest.approx(means["realised"], abs=NEAR)


def test_strata_hide_the_variation_of_event_rates_from_a_metric_of_selection():
    shares = world((0.95, 0.95), events=(0.5, 0.36), fpr=(0.05, 0.05))
    found = foretell(shares, "SPD", half=40_000, size=1000)
    assert found["from_spread"] > NEAR
    assert found["resample_sd"] < 0.7 * found["audit_sd"]
    assert found["predicted_wide"] == pytest.approx(found["realised"], abs=NEAR)


def test_a_range_over_equal_groups_is_pushed_up_by_audits_and_twice_by_resamples_of_a_small_half():
    shares = np.tile([0.4, 0.1, 0.1, 0.4], (5, 1)) / 5
    rng = np.random.default_rng(1)
    first = draw(shares, 1000, rng)
    found = compare(first, first, draw(shares, 1000, rng, (WORLDS, 200)), "EOPP", 1000, rng)
    truth_of_audits = found["bias_audit"] + float(find_metric("EOPP").values(first).mean())
    resampled = found["bias_resample"] + float(find_metric("EOPP").values(first).mean())
    assert truth_of_audits > 0.06  # the true gap is zero
    assert resampled > 1.3 * truth_of_audits


def test_halves_of_a_cohort_show_on_average_what_independent_samples_show():
    """Halves mirror each other; over cohorts, at the threshold and off it, that makes up for itself."""
    rng = np.random.default_rng(2)
    errors = []
    for tpr in ((0.80, 0.70), (0.80, 0.66)):
        shares = world(tpr)
        cohorts = draw(shares, 4000, rng)
        first = np.concatenate([halve_records(one[None], halvings=1, rng=rng)[:, 0] for one in cohorts])
        second = cohorts - first
        audits = audit_halves(second, size=1000, audits=200, rng=rng)
        halved = compare(first, second, audits, "EOPP", 1000, rng)
        apart = foretell(shares, "EOPP", half=2000, size=1000, seed=3)
        errors.append(halved["realised"] - apart["realised"])
        assert halved["predicted"] == pytest.approx(apart["predicted"], abs=NEAR)
    assert np.abs(errors).max() < 2.5 * NEAR


def site_audit(rng, *, sites=40, each=150, spread=0.25):
    """Make a cohort in which sites differ much in how often they select an event of one group."""
    site = np.repeat(np.arange(sites), each)
    group = rng.integers(0, 2, len(site))
    outcome = (rng.random(len(site)) < 0.5).astype(np.int8)
    level = 0.8 - 0.17 * group + spread * rng.standard_normal(sites)[site] * group
    chosen = rng.random(len(site)) < np.where(outcome == 1, np.clip(level, 0.02, 0.98), 0.2)
    scores = (Score("m", "decision", 0.5, chosen.astype(float)),)
    base = random_audit(rng, len(site), "ab")
    return replace(
        base, outcome=outcome, attributes=(Attribute("g", ("a", "b"), group),), scores=scores, site=site
    )


def test_where_sites_differ_records_foretell_too_few_flips_and_sites_come_nearer():
    tables = [
        check_flips(
            site_audit(np.random.default_rng(seed)),
            protocol=replace(PROTOCOL, metrics=("EOPP",), halvings=12),
            seed=1,
        )["flip_truth"]
        for seed in range(6)
    ]
    table = pd.concat(tables)
    other = table[(table["halving"] == "sites") & (table["drawing"] == "sites")]
    error = other["realised"].mean() - other["predicted"].mean()
    error_site = other["realised"].mean() - other["predicted_site"].mean()
    assert error > 2 * NEAR
    assert abs(error_site) < error
    assert (other["site_sd"] > 1.5 * other["resample_sd"]).all()
    same = table[(table["halving"] == "records") & (table["drawing"] == "records")]
    assert other["halves_sd"].mean() > 1.5 * same["halves_sd"].mean()


def test_without_site_effects_both_ways_of_halving_agree():
    tables = [
        check_flips(
            site_audit(np.random.default_rng(seed), spread=0.0),
            protocol=replace(PROTOCOL, metrics=("EOPP",), halvings=12),
            seed=1,
        )["flip_truth"]
        for seed in range(6)
    ]
    means = pd.concat(tables).groupby(["halving", "drawing"])[["predicted", "realised"]].mean()
    assert (means.max() - means.min()).max() < 4 * NEAR


def slow_check(audit, metric, size, rng, *, halvings, draws):
    """Write one cell out record by record: halve, resample within strata, audit, compare verdicts."""
    codes, scores = audit.attributes[0].codes, audit.scores[0].values
    rule, everyone = find_metric(metric), np.arange(len(audit.outcome))
    predicted, realised = [], []

    def passes(rows):
        value = slow_metric(metric, audit.outcome[rows], scores[rows], codes[rows], 3, 0.55)
        return bool(rule.passes(value))

    for _ in range(halvings):
        first = rng.permutation(everyone)[: len(everyone) // 2]
        second = np.setdiff1d(everyone, first)
        stratum = 2 * codes[first] + audit.outcome[first]
        votes = []
        for _ in range(draws):
            parts = [first[stratum == one] for one in np.unique(stratum)]
            rows = [rng.choice(part, round(len(part) * size / len(first))) for part in parts]
            votes.append(passes(np.concatenate(rows)))
        share = float(np.mean(votes))
        audits = [passes(rng.choice(second, size, replace=False)) for _ in range(draws)]
        predicted.append(min(share, 1 - share))
        realised.append(np.mean(np.array(audits) != (share > 0.5)))
    return np.array(predicted), np.array(realised)


@pytest.mark.slow
def test_counts_and_a_slow_check_by_records_agree():
    audit = random_audit(np.random.default_rng(8), 2400, "abc")
    audit = replace(audit, scores=(replace(audit.scores[0], threshold=0.55),))
    protocol = Protocol(resamples=200, halvings=60, metrics=("SPD", "EOPP"))
    table = check_flips(audit, protocol=protocol, seed=3)["flip_truth"].set_index("metric")
    for metric in ("SPD", "EOPP"):
        slow = slow_check(audit, metric, 500, np.random.default_rng(4), halvings=20, draws=28)
        for name, values in zip(("predicted", "realised"), slow, strict=True):
            error = values.std(ddof=1) / np.sqrt(
                len(values)
            )  # of the slow mean; the other is three times as sure
            assert error < 0.06
            assert table.loc[metric, name] == pytest.approx(values.mean(), abs=4 * error)


def test_the_tables_have_their_columns_and_every_way_of_halving_and_drawing(found):
    table, summary = found["flip_truth"], found["flip_truth_summary"]
    assert table.columns.tolist() == TABLES["flip_truth"].names()
    assert summary.columns.tolist() == TABLES["flip_truth_summary"].names()
    assert len(table) == 2 * 2 * 2 * 2  # halvings, drawings, metrics, sizes 500 and 1,000
    assert not table.duplicated(KEYS).any()
    assert (table["model"] == "m0").all()
    assert set(summary["prediction"]) == {"vfr", "vfr_wide", "vfr_site", "vfr_site_wide"}


def test_the_error_is_the_sum_of_its_parts(found):
    table = found["flip_truth"]
    parts = table[["from_range", "from_spread", "from_halves"]].sum(axis=1)
    np.testing.assert_allclose(parts, table["error"], atol=1e-12)
    np.testing.assert_allclose(table["realised"] - table["predicted"], table["error"], atol=1e-12)
    assert (table["abs_error"] >= table["error"].abs() - 1e-12).all()


def test_bins_hold_all_predictions_and_their_mean(found):
    summary = found["flip_truth_summary"]
    for _, part in summary.groupby(["halving", "drawing", "prediction"]):
        whole, bins = part[part["bin"] == 0].iloc[0], part[part["bin"] > 0]
        assert bins["predictions"].sum() == whole["predictions"]
        for name in ("predicted", "realised", "error", "brier", "realised_mixed"):
            mean = np.average(bins[name], weights=bins["predictions"])
            assert mean == pytest.approx(whole[name])
        assert (bins["predicted"] <= bins["bin_high"] + 1e-12).all()
        assert (bins["predicted"] >= bins["bin_low"] - 1e-12).all()
        assert whole["error_low"] <= whole["error"] <= whole["error_high"]


def test_two_audits_disagree_by_two_p_times_one_minus_p(found):
    table = found["flip_truth"]
    assert (table["pair_predicted"] >= table["predicted"] - 1e-12).all()
    assert (table["pair_predicted"] <= 2 * table["predicted"] + 1e-12).all()


def test_order_of_records_names_of_sites_and_other_models_do_not_matter(audit, found):
    order = np.random.default_rng(5).permutation(len(audit.outcome))
    part = audit.attributes[0]
    turned = replace(
        audit,
        outcome=audit.outcome[order],
        attributes=(Attribute(part.name, part.groups[::-1], (2 - part.codes)[order]),),
        scores=(replace(audit.scores[0], values=audit.scores[0].values[order]),),
        site=(1000 - 7 * audit.site)[order],
    )
    sizes = np.bincount(audit.site)
    assert len(np.unique(sizes)) > 1
    again = check_flips(turned, protocol=PROTOCOL, seed=1)["flip_truth"]
    rows = again["halving"] == "records"
    alone = found["flip_truth"]["halving"] == "records"
    means = [table[mask]["predicted"].mean() for table, mask in ((again, rows), (found["flip_truth"], alone))]
    assert means[0] == pytest.approx(means[1], abs=0.03)
    plain = check_flips(replace(audit, site=None, scores=audit.scores[:1]), protocol=PROTOCOL, seed=1)
    bare = replace(turned, site=None)
    pd.testing.assert_frame_equal(
        plain["flip_truth"], check_flips(bare, protocol=PROTOCOL, seed=1)["flip_truth"]
    )


def test_the_same_seed_gives_the_same_tables(audit, found):
    again = check_flips(audit, protocol=PROTOCOL, seed=1)
    for name in found:
        pd.testing.assert_frame_equal(again[name], found[name])


def test_without_sites_or_with_a_few_only_records_are_halved(audit):
    few = replace(audit, site=audit.site % (LEAST_SITES - 1))
    for records in (few, replace(audit, site=None)):
        found = check_flips(records, protocol=PROTOCOL, seed=1)
        assert set(found["flip_truth"]["halving"]) == {"records"}
        assert found["flip_truth"]["predicted_site"].isna().all()
        assert set(found["flip_truth_summary"]["prediction"]) == {"vfr", "vfr_wide"}


def test_a_small_cohort_and_a_protocol_without_counted_metrics_leave_empty_tables(audit):
    small = random_audit(np.random.default_rng(1), 1900, "ab")
    for records, protocol in ((small, PROTOCOL), (audit, replace(PROTOCOL, metrics=("TI", "CAL")))):
        found = check_flips(records, protocol=protocol, seed=1)
        assert found["flip_truth"].columns.tolist() == TABLES["flip_truth"].names()
        assert not len(found["flip_truth"])
        assert not len(found["flip_truth_summary"])


def test_cells_without_support_are_counted_and_have_no_rates(audit):
    rare = Attribute("rare", ("x", "y"), (np.arange(4000) < 60).astype(int))
    table = check_flips(replace(audit, attributes=(rare,)), protocol=PROTOCOL, seed=1)["flip_truth"]
    assert (table["halvings_left_out"] == PROTOCOL.halvings).all()
    assert (table["halvings"] == 0).all()
    assert table["predicted"].isna().all()
    assert (table["no_verdict_share"] > 0.5).all()


def test_one_group_and_nobody_selected_are_told_without_a_warning(audit):
    one = Attribute("one", ("x", "y"), np.zeros(4000, int))
    none = (Score("none", "decision", 0.5, np.zeros(4000)),)
    for records in (replace(audit, attributes=(one,)), replace(audit, scores=none)):
        table = check_flips(records, protocol=PROTOCOL, seed=1)["flip_truth"]
        assert (table[table["metric"] == "DI"]["halvings"] == 0).all()
    assert not len(check_flips(replace(audit, attributes=()), protocol=PROTOCOL, seed=1)["flip_truth"])


def test_a_giant_site_leaves_no_half_too_small_for_an_audit(audit):
    site = np.where(np.arange(4000) < 3800, 0, np.arange(4000))
    table = check_flips(replace(audit, site=site), protocol=PROTOCOL, seed=1)["flip_truth"]
    assert set(table["halving"]) == {"records"}


def test_sizes_are_at_most_a_quarter_of_the_cohort():
    assert plan_truth_sizes(1999) == []
    assert plan_truth_sizes(2000) == [500]
    assert plan_truth_sizes(10**6) == [500, 1000, 2500, 5000, 10_000]


@pytest.mark.parametrize("sites", [None, 12, 3])
def test_a_tally_foretells_what_its_records_do(audit, sites):
    site = None if sites is None else np.arange(4000) ** 2 % sites
    records = replace(audit, site=site)
    protocol = replace(PROTOCOL, metrics=("DI",))
    exact, counted = (
        check_flips(source, protocol=protocol, seed=1) for source in (records, tally_records(records))
    )
    for name, table in exact.items():
        pd.testing.assert_frame_equal(table, counted[name])
