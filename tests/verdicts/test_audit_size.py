"""Axis 2: when a metric settles, what is never counted, and what does not move the numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.columns import TABLES
from auditbook.evidence import prepare
from auditbook.records import Attribute, Score
from auditbook.results import read_table, write_table
from auditbook.settings import Protocol
from auditbook.verdicts.audit_size import find_n_star, list_n_star, plan_sizes, sweep_counts
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.tiers import assign_tiers
from small_audits import random_audit

PROTOCOL = Protocol(resamples=20, resample_size=200, audit_sizes=(200, 500, 1000), size_repeats=10, seed=1)
MONTE_CARLO = 0.35  # 30 subsamples leave the standard deviation this uncertain, relatively, in 99 of 100


@pytest.fixture(scope="module")
def audit():
    records = random_audit(np.random.default_rng(1), 1500, "abc", models=2)
    sex = Attribute("sex", ("F", "M"), np.random.default_rng(2).integers(0, 2, 1500))
    return replace(records, attributes=(*records.attributes, sex))


def sweep(records, protocol=PROTOCOL):
    return judge(prepare(records), replace(protocol, seed=1), axes=("size",)).audit_size


def cell(**columns):
    base = {"n": [1_000, 2_500, 5_000, 8_000], "cv": [0.2, 0.1, 0.04, 0.0], "undefined_share": 0.0}
    return pd.DataFrame(base | {"above_half": [False, False, True, True]} | columns)


def test_the_whole_is_the_last_size_and_none_is_larger():
    assert plan_sizes(14_194, (1_000, 10_000, 25_000)) == [1_000, 10_000, 14_194]
    assert plan_sizes(1_000, (1_000, 2_500)) == [1_000]
    assert plan_sizes(260, (1_000,)) == [260]


def test_n_star_is_the_smallest_size_that_has_settled():
    assert find_n_star(cell(cv=[0.2, 0.04, 0.04, 0.0]), cv_stable=0.05) == 2_500


def test_n_star_reached_only_above_half_of_the_audit_is_infinite():
    assert find_n_star(cell(), cv_stable=0.05) == np.inf


def test_a_size_at_which_the_metric_was_once_undefined_does_not_count():
    sizes = cell(cv=[0.2, 0.04, 0.04, 0.0], undefined_share=[0, 0.1, 0, 0])
    assert find_n_star(sizes, cv_stable=0.05) == np.inf


def test_the_bound_itself_is_not_below_the_bound():
    assert find_n_star(cell(cv=[0.2, 0.05, 0.05, 0.0]), cv_stable=0.05) == np.inf


def test_spread_of_one_rate_is_that_of_sampling_without_replacement():
    """SPD of a group that is always selected and one selected half the time, 4,000 records each."""
    counts = np.array([[2000, 2000, 0, 0], [1000, 1000, 1000, 1000]])
    table = sweep_counts(counts, "SPD", sizes=[800], repeats=4000, rng=np.random.default_rng(1))
    expected = np.sqrt(0.25 / 400 * (1 - 0.1))
    assert table["sd"].item() == pytest.approx(expected, rel=0.05)
    assert table["mean"].item() == pytest.approx(0.5, abs=0.003)


def test_nothing_varies_at_the_whole_and_the_mean_is_the_estimate():
    counts = np.array([[30, 10, 20, 40], [50, 20, 10, 20]])
    table = sweep_counts(counts, "EOPP", sizes=[100, 200], rng=np.random.default_rng(1))
    last = table.iloc[-1]
    assert last["sd"] == 0
    assert last["cv"] == 0
    assert np.isnan(last["cv_low"])
    assert last["mean"] == pytest.approx(50 / 60 - 30 / 50)
    assert table["above_half"].tolist() == [False, True]


def test_a_metric_that_is_always_zero_has_no_coefficient_of_variation():
    counts = np.array([[0, 0, 100, 100], [0, 0, 50, 50]])
    table = sweep_counts(counts, "SPD", sizes=[100], rng=np.random.default_rng(1))
    assert np.isnan(table["cv"].item())
    assert find_n_star(table, cv_stable=0.05) == np.inf


def test_undefined_subsamples_are_counted_and_are_no_passes():
    counts = np.array([[300, 300, 300, 300], [1, 0, 0, 0]])
    table = sweep_counts(counts, "SPD", sizes=[600], repeats=400, rng=np.random.default_rng(1))
    assert table["undefined_share"].item() == pytest.approx(0.5, abs=0.1)
    assert table["pass_share"].item() == 0


def test_interval_of_the_spread_holds_the_long_run_value():
    counts = np.array([[300, 200, 300, 1200], [280, 180, 320, 1220]])
    rng = np.random.default_rng(4)
    long = sweep_counts(counts, "SPD", sizes=[400], repeats=5000, rng=rng)["cv"].item()
    short = [sweep_counts(counts, "SPD", sizes=[400], rng=rng).iloc[0] for _ in range(100)]
    held = sum(row.cv_low <= long <= row.cv_high for row in short)
    assert held >= 80  # 95 of 100 for a normal law; gaps are skewed
    assert all(abs(row.sd / row["mean"] - row.cv) < 1e-12 for row in short)


def test_fairer_models_need_larger_audits():
    wide = np.array([[4000, 1000, 1000, 4000], [2000, 1000, 3000, 4000]])
    narrow = np.array([[4000, 1000, 1000, 4000], [3950, 1000, 1050, 4000]])
    rng, sizes = np.random.default_rng(1), [500, 1000, 2000, 4000, 8000]
    big, small = (sweep_counts(table, "EOPP", sizes=sizes, rng=rng) for table in (wide, narrow))
    assert find_n_star(big, cv_stable=0.05) <= 4000
    assert find_n_star(small, cv_stable=0.05) == np.inf
    assert small["pass_share"].min() > 0.9


def test_every_cell_has_a_row_for_every_size_in_the_order_of_the_verdicts(audit):
    table = sweep(audit)
    assert table.columns.tolist() == TABLES["audit_size"].names()
    assert len(table) == 2 * 7 * 2 * 4
    verdicts = judge(prepare(audit), PROTOCOL, axes=()).verdicts
    assert (
        table.iloc[::4][["model", "metric", "attribute"]].to_numpy() == verdicts.iloc[:, :3].to_numpy()
    ).all()
    whole = table[table["n"] == 1500].reset_index(drop=True)
    np.testing.assert_allclose(whole["mean"], verdicts["estimate"], atol=1e-9)
    assert (whole["cv"] == 0).all()
    assert ((whole["pass_share"] == 1) == (verdicts["verdict"] == "pass")).all()


def test_cells_do_not_depend_on_other_cells_or_sizes_or_on_any_order(audit):
    table = sweep(audit)
    order = np.random.default_rng(3).permutation(1500)
    turned = replace(
        audit,
        outcome=audit.outcome[order],
        attributes=tuple(
            Attribute(part.name, part.groups[::-1], (len(part.groups) - 1 - part.codes)[order])
            for part in audit.attributes[::-1]
        ),
        scores=tuple(replace(score, values=vars(score)["values"][order]) for score in audit.scores[::-1]),
    )
    keys = ["model", "metric", "attribute", "n"]
    again = sweep(turned, replace(PROTOCOL, audit_sizes=(500,)))
    both = table.merge(again, on=keys, suffixes=("", "_again"))
    assert len(both) == 2 * 7 * 2 * 2
    for name in ("mean", "sd", "pass_share"):
        np.testing.assert_allclose(both[name], both[f"{name}_again"], rtol=1e-9, atol=1e-12)


def test_support_that_a_small_audit_would_lack_is_counted(audit):
    table = sweep(audit, replace(PROTOCOL, metrics=("DI", "EOPP", "CAL"), min_records=40))
    at = table[table["attribute"] == "sex"].set_index(["model", "metric", "n"])["unsupported_share"]
    assert at["m0", "DI", 200] == 0
    rare = Attribute("rare", ("x", "y"), (np.arange(1500) < 60).astype(int))
    table = sweep(replace(audit, attributes=(rare,)), replace(PROTOCOL, metrics=("DI", "CAL"), min_events=5))
    at = table.set_index(["model", "metric", "n"])["unsupported_share"]
    assert at["m0", "DI", 200] == at["m0", "CAL", 200] == 1
    assert at["m0", "DI", 1500] == 0


def test_inconclusive_cells_have_rows_without_numbers(audit):
    ranks = tuple(replace(score, kind="rank") for score in audit.scores)
    table = sweep(replace(audit, scores=ranks))
    blank = table[table["metric"].isin(["TI", "CAL"])]
    assert len(blank) == 2 * 2 * 2 * 4
    assert blank.drop(columns=["model", "metric", "attribute", "n", "above_half"]).isna().all(axis=None)


def test_without_attributes_the_table_is_empty_and_has_its_columns(audit):
    table = sweep(replace(audit, attributes=()))
    assert table.columns.tolist() == TABLES["audit_size"].names()
    assert not len(table)


def test_nobody_selected_is_told_without_a_warning(audit):
    none = (Score("none", "decision", 0.5, np.zeros(1500)),)
    table = sweep(replace(audit, scores=none), replace(PROTOCOL, metrics=("DI", "SPD", "PP")))
    assert table[table["metric"] == "DI"]["cv"].isna().all()
    assert (table[table["metric"] == "SPD"]["pass_share"] == 1).all()


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 5), st.integers(0, 100))
def test_scaling_all_counts_leaves_what_a_subsample_of_a_small_share_sees(times, seed):
    counts = np.array([[300, 100, 200, 400], [250, 100, 250, 400]])
    one, many = (
        sweep_counts(counts * k, "EOPP", sizes=[100], repeats=400, rng=np.random.default_rng(seed))
        for k in (1, times)
    )
    assert many["mean"].item() == pytest.approx(one["mean"].item(), rel=0.2)
    assert many["sd"].item() == pytest.approx(one["sd"].item(), rel=MONTE_CARLO)


def test_infinite_n_star_is_written_as_inf_and_read_back(tmp_path):
    verdicts = pd.DataFrame({"metric": ["DI", "PP", "TI"], "n_star": [2_500.0, np.inf, np.nan]})
    write_table(verdicts, tmp_path / "verdicts.csv")
    assert (tmp_path / "verdicts.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "DI,2500",
        "PP,inf",
        "TI,",
    ]
    assert read_table(tmp_path / "verdicts.csv")["n_star"].tolist()[:2] == [2_500.0, np.inf]


def test_list_of_n_star_agrees_with_each_cell(audit):
    table = sweep(audit)
    found = list_n_star(table, cv_stable=0.2)
    assert found
    for key, part in table.groupby(["model", "metric", "attribute"]):
        assert found.get(key, np.inf) == find_n_star(part, cv_stable=0.2)


def test_n_star_of_the_audit_reaches_the_verdicts(audit):
    protocol = replace(PROTOCOL, metrics=("DI",), cv_stable=0.3)
    judged = judge(prepare(audit), protocol, axes=("size",))
    folds = pd.DataFrame(
        {"model": ["m0", "m1"], "metric": "DI", "kappa": 0.5, "band": "moderate", "reason": ""}
    )
    graded = assign_tiers(
        judged.verdicts, judged.audit_size, folds.assign(status="defined"), protocol=protocol
    )
    assert (graded["n_star"] == 200).all()
