"""Given and trained scores become one set of audited records."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score

from auditbook.cohort.file import ScoreTable
from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.columns import TABLES
from auditbook.errors import InputError
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.scoring import score as scores
from auditbook.scoring.panel import ModelConfig, read_panel
from auditbook.scoring.score import (
    ModelInfo,
    ScoredCohort,
    bin_scores,
    percentile_threshold,
    read_given,
    score_cohort,
    summarise_models,
)

TREE = ModelConfig(
    "tree",
    "Tree",
    "tree",
    "sklearn.tree.DecisionTreeClassifier",
    parameters={"max_depth": 3, "random_state": 1},
)
PANEL = {"tree": TREE, "logistic": read_panel()["logistic"]}

HEAD = """
name = "small"
[data]
path = "small.csv"
[outcome]
column = "los"
event = "> 3"
[attributes.sex]
column = "sex"
"""
SITE = '[site]\ncolumn = "hospital"\n'
TRAINED = '[panel]\nmodels = ["tree", "logistic"]\n'
GIVEN = '[scores.apache]\ncolumn = "apache"\nkind = "probability"\n'


def draw_table(seed=1, n=600):
    rng = np.random.default_rng(seed)
    age, hospital = rng.integers(20, 90, n), rng.integers(0, 25, n)
    los = np.round(1 + rng.gamma(1 + age / 40, 1.2), 1)
    return pd.DataFrame(
        {
            "los": los,
            "age, [years] <b>": age,
            "sex": rng.choice(["F", "M"], n),
            "hospital": [f"{number:03d}" for number in hospital],
            "hospital name": [f"Saint {number}" for number in hospital],
            "ward": rng.integers(0, 60, n).astype(str),
            "diagnosis": rng.choice(["heart", "lung", None], n),
            "apache": np.round(np.clip(age / 100 + rng.normal(0, 0.1, n), 0, 1), 3),
        }
    )


def load(tmp_path, text, table=None):
    table = draw_table() if table is None else table
    table.to_csv(tmp_path / "small.csv", index=False)
    (tmp_path / "small.toml").write_text(HEAD + text, encoding="utf-8")
    return load_cohort(read_cohort_file(tmp_path / "small.toml"), cache_dir=tmp_path)


def score(tmp_path, cohort, **options):
    options = {"protocol": cohort.file.protocol, "cache_dir": tmp_path / "scores", "panel": PANEL} | options
    return score_cohort(cohort, **options)


def score_bytes(scored):
    return [one.values.tobytes() for one in scored.records.scores]


def test_given_scores_alone_are_audited_on_every_record(tmp_path):
    cohort = load(tmp_path, GIVEN)
    scored = score(tmp_path, cohort)
    assert len(scored.train) == 0
    assert scored.audit.tolist() == list(range(600))
    assert [(info.name, info.source) for info in scored.models] == [("apache", "given")]
    np.testing.assert_array_equal(scored.records.scores[0].values, cohort.table["apache"])
    np.testing.assert_array_equal(np.sort(cohort.table["apache"]), np.sort(draw_table()["apache"]))
    assert not (tmp_path / "scores").exists()


def test_with_trained_models_given_scores_are_audited_on_the_audit_part(tmp_path):
    cohort = load(tmp_path, SITE + GIVEN + TRAINED)
    scored = score(tmp_path, cohort)
    assert [info.name for info in scored.models] == ["apache", "tree", "logistic"]
    assert [info.n_train for info in scored.models] == [0, len(scored.train), len(scored.train)]
    assert not set(cohort.site[scored.train]) & set(cohort.site[scored.audit])
    np.testing.assert_array_equal(
        scored.records.scores[0].values, cohort.table["apache"].to_numpy()[scored.audit]
    )
    np.testing.assert_array_equal(scored.records.outcome, cohort.outcome[scored.audit])
    np.testing.assert_array_equal(
        scored.records.attributes[0].codes, cohort.attributes[0].codes[scored.audit]
    )


LEAN = (
    '[panel]\nmodels = ["tree", "logistic"]\nlean = ["tree"]\n'
    '[features]\nlate = ["diagnosis", "ward"]\nexclude = ["apache"]\n'
)


def test_a_lean_model_is_audited_last_and_sees_no_late_feature(tmp_path):
    cohort = load(tmp_path, SITE + LEAN)
    scored = score(tmp_path, cohort)
    assert [(info.name, info.features) for info in scored.models] == [
        ("tree", "all"),
        ("logistic", "all"),
        ("tree_lean", "admission"),
    ]
    assert scored.models[-1].title == "Tree, no late features"
    assert any(name.startswith("diagnosis") for name in scored.features)
    without = LEAN.replace('lean = ["tree"]\n', "").replace('["apache"]', '["apache", "diagnosis", "ward"]')
    without = without.replace('late = ["diagnosis", "ward"]\n', "")
    other = score(tmp_path, load(tmp_path, SITE + without))
    assert scored.records.scores[-1].values.tobytes() == other.records.scores[0].values.tobytes()
    assert scored.records.scores[0].values.tobytes() != other.records.scores[0].values.tobytes()
    assert summarise_models(scored)["features"].tolist() == ["all", "all", "admission"]


def test_late_columns_do_not_reach_a_lean_model(tmp_path):
    table = draw_table()
    first = score(tmp_path, load(tmp_path, SITE + LEAN, table))
    table["diagnosis"] = table["diagnosis"].iloc[::-1].to_numpy()
    second = score(tmp_path, load(tmp_path, SITE + LEAN, table))
    before, after = score_bytes(first), score_bytes(second)
    assert before[0] != after[0]
    assert before[2] == after[2]


def test_given_scores_have_no_features(tmp_path):
    scored = score(tmp_path, load(tmp_path, GIVEN))
    assert summarise_models(scored)["features"].tolist() == [""]


def test_a_cohort_of_late_features_only_leaves_nothing_for_a_lean_model(tmp_path):
    text = '[panel]\nmodels = ["tree"]\nlean = ["tree"]\n[features]\nlate = ["ward"]\ninclude = ["ward"]\n'
    with pytest.raises(InputError, match=r"without late features.*no column is left to train on"):
        score(tmp_path, load(tmp_path, SITE + text))


def test_sites_are_numbered_among_the_sorted_names_of_audited_sites(tmp_path):
    cohort = load(tmp_path, SITE + TRAINED)
    scored = score(tmp_path, cohort)
    names = sorted(set(cohort.site[scored.audit]))
    assert [names[code] for code in scored.records.site] == cohort.site[scored.audit].tolist()


def test_no_column_that_names_the_held_out_site_is_seen(tmp_path):
    scored = score(tmp_path, load(tmp_path, SITE + TRAINED))
    assert not [name for name in scored.features if "hospital" in name]
    assert ("hospital name", "names the unit, which is held out") in scored.left_out


def test_the_site_is_seen_when_the_record_is_the_unit(tmp_path):
    scored = score(tmp_path, load(tmp_path, TRAINED))
    assert "event rate by hospital name" in scored.features


def test_given_scores_and_the_outcome_are_no_features(tmp_path):
    scored = score(tmp_path, load(tmp_path, GIVEN + TRAINED))
    assert not [name for name in scored.features if "apache" in name or "los" in name]
    assert "age, [years] <b>" in scored.features


def test_outcomes_of_audited_records_cannot_reach_a_score(tmp_path, monkeypatch):
    cohort = load(tmp_path, SITE + TRAINED)
    parts = scores._split(cohort, cohort.file.protocol, trains=True)
    monkeypatch.setattr(scores, "_split", lambda *_, **__: parts)
    turned = cohort.outcome.copy()
    turned[parts.audit] = 1 - turned[parts.audit]
    first = score(tmp_path, cohort, cache_dir=tmp_path / "a")
    second = score(tmp_path, replace(cohort, outcome=turned), cache_dir=tmp_path / "b")
    assert score_bytes(first) == score_bytes(second)
    turned[parts.train] = 1 - turned[parts.train]
    third = score(tmp_path, replace(cohort, outcome=turned), cache_dir=tmp_path / "b")
    assert score_bytes(first) != score_bytes(third)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path):
    cohort = load(tmp_path, SITE + TRAINED)
    first, second = (score(tmp_path, cohort, cache_dir=tmp_path / part) for part in "ab")
    assert score_bytes(first) == score_bytes(second)
    assert first.audit.tolist() == second.audit.tolist()
    other = score(tmp_path, cohort, protocol=replace(cohort.file.protocol, seed=7))
    assert first.audit.tolist() != other.audit.tolist()


def test_kept_scores_give_the_same_tables(tmp_path):
    cohort = load(tmp_path, SITE + GIVEN + TRAINED)
    first, second = score(tmp_path, cohort), score(tmp_path, cohort)
    assert [info.cached for info in second.models] == [False, True, True]
    pd.testing.assert_frame_equal(summarise_models(first), summarise_models(second))
    pd.testing.assert_frame_equal(bin_scores(first), bin_scores(second))


def test_changed_data_are_never_scored_from_the_cache(tmp_path):
    score(tmp_path, load(tmp_path, SITE + TRAINED))
    table = draw_table()
    table.loc[0, "age, [years] <b>"] += 1
    assert not any(info.cached for info in score(tmp_path, load(tmp_path, SITE + TRAINED, table)).models)


def test_progress_tells_what_is_left_out_and_trained(tmp_path):
    said = []
    score(tmp_path, load(tmp_path, SITE + TRAINED), progress=said.append)
    assert "features: 'hospital name' left out: names the unit, which is held out" in said
    assert any(text.startswith("Tree: training on") for text in said)


def test_an_unknown_model_names_the_nearest(tmp_path):
    cohort = load(tmp_path, '[panel]\nmodels = ["logistc"]\n')
    with pytest.raises(InputError, match=r"unknown model 'logistc' \(did you mean 'logistic'\?\)"):
        score(tmp_path, cohort)


def test_a_name_for_two_models_is_refused(tmp_path):
    cohort = load(tmp_path, GIVEN + TRAINED)
    file = replace(cohort.file, scores=(replace(cohort.file.scores[0], name="tree"),))
    with pytest.raises(InputError, match=r"\[scores.tree\]: another model is called 'tree' too"):
        score(tmp_path, replace(cohort, file=file))


def test_a_continuous_outcome_is_refused(tmp_path):
    cohort = load(tmp_path, GIVEN)
    file = replace(cohort.file, outcome=replace(cohort.file.outcome, event=None, type="continuous"))
    with pytest.raises(InputError, match="group metrics need an event"):
        score(tmp_path, replace(cohort, file=file))


def test_panel_percentile_sets_the_threshold_on_audited_scores(tmp_path):
    scored = score(tmp_path, load(tmp_path, TRAINED + "percentile = 90\n"))
    for one, info in zip(scored.records.scores, scored.models, strict=True):
        assert one.threshold == percentile_threshold(one.values, 90)
        assert info.percentile == 90


def given_score(values, kind="probability", **options):
    table = pd.DataFrame({"s": values})
    return read_given(table, ScoreTable("x", "s", kind, **options), np.arange(len(table)))


@pytest.mark.parametrize("dtype", ["float32", "Float64", "double[pyarrow]", object])
def test_given_scores_may_be_stored_in_any_way(dtype):
    found = given_score(pd.Series([0.25, 0.5], dtype=dtype))
    assert found.values.tolist() == [0.25, 0.5]
    assert found.decisions.tolist() == [False, True]


@pytest.mark.parametrize("dtype", [bool, int, "boolean", object, "bool[pyarrow]"])
def test_decisions_may_be_truth_values_or_numbers(dtype):
    assert given_score(pd.Series([True, False], dtype=dtype), "decision").decisions.tolist() == [True, False]


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([-4.2, 3.9], "probability", r"scores run from -4.2 to 3.9: not probabilities"),
        ([0.0, 87.0], "probability", r"scores run from 0 to 87: not probabilities"),
        ([0.2, 1.0], "decision", r"scores run from 0.2 to 1: not decisions"),
        ([1, 2], "decision", r"scores run from 1 to 2: not decisions"),
        ([0.2, None], "probability", r"1 of 2 audited records have no score"),
        ([0.2, np.nan], "rank", r"1 of 2 audited records have no score"),
        ([0.2, np.inf], "rank", r"1 scores are infinite"),
        (["low", "high"], "rank", r"holds something else than numbers: 'low', 'high'"),
    ],
)
def test_given_scores_that_cannot_be_what_they_say_are_refused(values, kind, message):
    with pytest.raises(InputError, match=r"^\[scores.x\] column 's'.*" + message):
        given_score(values, kind)


def test_scores_of_records_that_are_not_audited_are_not_asked_for():
    table = pd.DataFrame({"s": [0.2, None, 0.8]})
    found = read_given(table, ScoreTable("x", "s", "probability"), np.array([0, 2]))
    assert found.values.tolist() == [0.2, 0.8]


def test_percentile_selects_its_share_without_ties():
    values = np.random.default_rng(1).permutation(1000) / 7
    assert (values >= percentile_threshold(values, 97)).sum() == 30


def test_records_tied_at_the_threshold_are_all_selected():
    values = np.r_[np.zeros(90), np.full(10, 5.0)]
    assert (values >= percentile_threshold(values, 97)).sum() == 10
    assert (values >= percentile_threshold(values, 50)).sum() == 100


def test_equal_scores_are_all_selected():
    assert percentile_threshold([3.0] * 20, 97) == 3


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=80), st.integers(1, 999))
@settings(max_examples=60, deadline=None)
def test_threshold_is_a_score_and_selects_what_the_linear_percentile_selects(values, tenths):
    percentile = tenths / 10
    threshold = percentile_threshold(values, percentile)
    assert threshold in values
    linear = np.percentile(values, percentile)
    # rounding may put the interpolated value a hair above the score it stands on
    assert (np.array(values) >= threshold).sum() == (np.array(values) >= linear - 1e-9).sum()


@pytest.mark.parametrize("percentile", [0, 100, -3, 250])
def test_percentiles_out_of_range_are_refused(percentile):
    with pytest.raises(InputError, match="it must lie between 0 and 100"):
        percentile_threshold([1, 2], percentile)


def make_scored(outcome, values, kind="probability", threshold=0.5, codes=None, groups=("a", "b")):
    outcome = np.asarray(outcome, dtype=np.int8)
    codes = np.zeros(len(outcome), int) if codes is None else np.asarray(codes)
    one = Score("m", kind, threshold, np.asarray(values, dtype=float))
    records = AuditRecords(outcome, (Attribute("sex", groups, codes),), (one,))
    return ScoredCohort(records, np.arange(len(outcome)), np.arange(0), (ModelInfo("m", "M", "given"),))


def test_models_are_summarised_as_by_hand():
    row = summarise_models(make_scored([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])).iloc[0]
    assert list(row.index) == TABLES["models"].names()
    assert (row.n_train, row.n_audit, row.events_audit) == (0, 4, 2)
    assert (row.selection_rate, row.accuracy, row.f1, row.auroc) == (0.5, 0.5, 0.5, 0.75)
    assert row.brier == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4)
    assert np.isnan(row.percentile)


def test_models_are_summarised_as_scikit_learn_does():
    rng = np.random.default_rng(3)
    outcome, values = rng.integers(0, 2, 500), rng.random(500)
    row = summarise_models(make_scored(outcome, values, threshold=0.3)).iloc[0]
    decisions = values >= 0.3
    assert row.accuracy == pytest.approx(accuracy_score(outcome, decisions))
    assert row.f1 == pytest.approx(f1_score(outcome, decisions))
    assert row.brier == pytest.approx(brier_score_loss(outcome, values))


def test_what_a_kind_of_score_does_not_allow_is_nan():
    rank = summarise_models(make_scored([0, 1, 0, 1], [3, 8, 5, 4], "rank", 5)).iloc[0]
    assert np.isnan(rank.brier)
    assert rank.auroc == 0.75
    decision = summarise_models(make_scored([0, 1, 0, 1], [0, 1, 1, 1], "decision")).iloc[0]
    assert np.isnan([decision.auroc, decision.auroc_low, decision.brier]).all()
    assert decision.accuracy == 0.75


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
def test_equal_scores_are_summarised_and_binned(value):
    scored = make_scored([0, 1] * 10, np.full(20, value))
    row = summarise_models(scored).iloc[0]
    assert row.auroc == 0.5
    assert np.isnan(row.auroc_low)
    assert bin_scores(scored).query("attribute == 'all' and n > 0")["n"].tolist() == [20]


def test_f1_without_events_and_selections_is_nan():
    assert np.isnan(summarise_models(make_scored([0, 0], [0.1, 0.2])).iloc[0].f1)


def test_probabilities_get_ten_equal_bins_for_all_and_for_each_group():
    table = bin_scores(make_scored([0, 1, 1], [0.05, 0.3, 1.0], codes=[0, 0, 1], groups=("a", "b", "empty")))
    assert list(table.columns) == TABLES["score_bins"].names()
    assert table.groupby(["attribute", "group"], sort=False).size().to_dict() == {
        ("all", "all"): 10,
        ("sex", "a"): 10,
        ("sex", "b"): 10,
        ("sex", "empty"): 10,
    }
    everyone = table[table["attribute"] == "all"].set_index("bin")
    assert everyone["n"].to_dict() == {1: 1, 2: 0, 3: 0, 4: 1, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0, 10: 1}
    assert everyone.loc[4, ["bin_low", "bin_high", "events", "mean_score"]].tolist() == [0.3, 0.4, 1, 0.3]
    assert np.isnan(everyone.loc[2, "mean_score"])


def test_ranks_beyond_one_get_bins_of_equal_count():
    values = np.random.default_rng(5).gamma(2, 30, 1000)
    table = bin_scores(make_scored(np.arange(1000) % 2, values, "rank", 100))
    everyone = table[table["attribute"] == "all"]
    assert everyone["n"].tolist() == [100] * 10
    assert everyone["bin_low"].iloc[0] == values.min()
    assert everyone["bin_high"].iloc[-1] == values.max()


def test_tied_ranks_get_fewer_bins_and_lose_no_record():
    table = bin_scores(make_scored([0, 1] * 50, np.r_[np.full(80, 2.0), np.full(20, 7.0)], "rank", 5))
    everyone = table[table["attribute"] == "all"]
    assert everyone["n"].sum() == 100
    equal = bin_scores(make_scored([0, 1], [4, 4], "rank", 5)).query("attribute == 'all'")
    assert equal[["bin_low", "bin_high", "n"]].to_numpy().tolist() == [[4, 4, 2]]


@given(seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_bins_add_up_to_the_records_of_each_group(seed):
    rng = np.random.default_rng(seed)
    codes, outcome = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    for values, kind in ((rng.random(200), "probability"), (rng.integers(0, 9, 200), "rank")):
        table = bin_scores(make_scored(outcome, values, kind, codes=codes))
        sums = table[table["attribute"] == "sex"].groupby("group")[["n", "events"]].sum()
        assert sums["n"].tolist() == np.bincount(codes, minlength=2).tolist()
        assert sums["events"].tolist() == np.bincount(codes, outcome, 2).tolist()
