"""Other protocols, features, seeds and families: what is made, what is not, and why."""

import numpy as np
import pandas as pd
import pytest

from auditbook.columns import TABLES
from auditbook.errors import RunError
from auditbook.mitigation import flip_objective, interventions, robustness
from auditbook.mitigation.robustness import make_robustness, order_trainings, other_seed
from auditbook.scoring.panel import ModelConfig
from auditbook.verdicts import monte_carlo as repeats
from auditbook.verdicts import sensitivity
from cohorts import make_table, write_cohort, write_pair
from mitigation_runs import CROSSED, LOGISTIC, SETTINGS, check_robustness, prepare, write_late

FOREST = ModelConfig(
    "random_forest",
    "Forest",
    "bagged trees",
    "sklearn.ensemble.RandomForestClassifier",
    seed_key="random_state",
    parameters={"n_estimators": 20, "min_samples_leaf": 20},
)
TREE = ModelConfig(
    "xgboost",
    "Tree",
    "tree",
    "sklearn.tree.DecisionTreeClassifier",
    seed_key="random_state",
    parameters={"max_depth": 4},
)
PANEL = {"logistic": LOGISTIC, "random_forest": FOREST, "xgboost": TREE}
KEY = ["check", "setting", "model", "baseline"]


@pytest.fixture(scope="module", autouse=True)
def _spare_work():
    """Leave out what other tests test: comparators, most of the search's resamples, constants."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interventions, "is_installed", lambda: False)
        patch.setattr(flip_objective, "SEARCH_RESAMPLES", 20)
        patch.setattr(robustness, "vary_constants", lambda *_, **__: {})
        yield


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    path = write_late(folder, rows=1200, panel=["xgboost", "logistic"])
    return check_robustness(path, folder, panel=PANEL)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    path = write_cohort(folder, rows=1200, groups=2, sites=0, scores=2, extra=CROSSED)
    return check_robustness(path, folder)


def rows(made):
    return made[3]["robustness"].set_index(KEY).sort_index()


def test_four_protocols_and_every_family_have_three_rows_each(trained):
    table = rows(trained)
    assert table.index.is_unique
    protocols = table.loc["protocol"].index.get_level_values("setting")
    assert set(protocols) == {"single split", "70/15/15", "admission-lean", "another seed"}
    families = table.loc["family"].reset_index()
    assert set(zip(families["setting"], families["model"], strict=True)) == {
        (setting, model) for setting in ("single split", "70/15/15") for model in PANEL
    }
    assert (table["status"].isin(["done", "nearest"])).all()
    assert list(trained[3]["robustness"].columns) == TABLES["robustness"].names(
        attribute=("race", "sex", "age band")
    )


def test_what_the_mitigation_knows_is_taken_from_there(trained):
    baselines = trained[2]["baselines"]
    main = baselines[(baselines["sweep"] == "") & (baselines["part"] == "audit")]
    main = main.set_index(["protocol", "baseline"])
    for check in ("protocol", "family"):
        for setting in ("single split", "70/15/15"):
            for baseline in ("B1", "B3", "B4"):
                row = rows(trained).loc[(check, setting, "xgboost", baseline)]
                known = main.loc[(setting, baseline)]
                for name in ("auroc", "accuracy", "accuracy_cost", "mean_vfr", "di_sex", "di_passes", "n"):
                    assert row[name] == known[name]
                assert row["stable"] == known["cells"] - known["unstable"]


def test_a_family_judged_anew_gives_what_the_mitigation_gives_of_it(trained, tmp_path):
    """The same model as the second of one cohort file and as the first of another."""
    path = write_late(tmp_path, rows=1200, panel=["logistic", "xgboost"])
    first = rows(check_robustness(path, tmp_path, panel=PANEL))
    for setting in ("single split", "70/15/15"):
        where = ("family", setting, "logistic")
        pd.testing.assert_frame_equal(first.loc[where], rows(trained).loc[where], check_dtype=False)


def test_the_admission_lean_model_sees_no_late_feature(tmp_path, monkeypatch):
    seen = []
    folder = tmp_path
    cohort, scored, tables, call = prepare(
        write_late(folder, rows=1200, panel=["xgboost"]), folder, panel=PANEL
    )
    honest = robustness.open_separate

    def watch(cohort, model, **options):
        seen.append(cohort.feature_columns)
        return honest(cohort, model, **options)

    monkeypatch.setattr(robustness, "open_separate", watch)
    make_robustness(cohort, scored, tables, **call)
    assert (
        set(cohort.feature_columns) - set(seen[0]) == set(cohort.late_columns) == {"pulse, at rest", "ward"}
    )
    assert all(columns == cohort.feature_columns for columns in seen[1:])


def test_changing_a_late_feature_changes_nothing_in_the_admission_lean_rows(trained, tmp_path):
    path = write_late(tmp_path, rows=1200, panel=["xgboost", "logistic"])
    data = pd.read_csv(tmp_path / "strange.csv", dtype=str)
    data["pulse, at rest"] = data["pulse, at rest"].to_numpy()[::-1]
    data.to_csv(tmp_path / "strange.csv", index=False)
    again = check_robustness(path, tmp_path, panel=PANEL)
    lean = ("protocol", "admission-lean")
    pd.testing.assert_frame_equal(rows(again).loc[lean], rows(trained).loc[lean])


def test_another_seed_is_another_split_and_the_published_one_for_the_published_first(trained):
    assert other_seed(42) == 123
    assert other_seed(2**32 - 1) == 80
    row = rows(trained).loc[("protocol", "another seed", "xgboost", "B1")]
    first = rows(trained).loc[("protocol", "70/15/15", "xgboost", "B1")]
    assert (row["seed"], first["seed"]) == (123, 42)
    assert row["auroc"] != first["auroc"]


def test_selection_is_reported_beside_the_unseen_part_and_is_the_same_in_the_single_split(trained):
    table = rows(trained).reset_index()
    single = table[table["setting"] == "single split"]
    assert (single["passes_selected"] == single["di_passes"]).all()
    assert np.allclose(single["lowest_di_selected"], single["lowest_di"])
    shifted = table[table["baseline"].isin(["B3", "B4"]) & (table["status"] == "done")]
    assert (shifted["passes_selected"] == 3).all()
    impacts = table[["di_race", "di_sex", "di_age band"]]
    assert (table["lowest_di"] >= impacts.min(axis=1) - 1e-12).all()
    judged = table["di_judged"] == 3
    assert np.allclose(table["lowest_di"][judged], impacts.min(axis=1)[judged])


def test_a_bound_leaves_out_the_least_telling_and_says_so(tmp_path):
    path = write_late(tmp_path, rows=1200, panel=["xgboost"])
    cohort, scored, tables, call = prepare(path, tmp_path, refits=2, panel=PANEL)
    assert order_trainings(cohort, scored, PANEL) == [
        ("admission-lean", "xgboost"),
        ("another seed", "xgboost"),
        ("single split", "random_forest"),
        ("70/15/15", "random_forest"),
    ]
    said = []
    found = make_robustness(cohort, scored, tables, **call, progress=said.append)["robustness"]
    trained = [text for text in said if "training on" in text]
    assert [text.split(":")[0] for text in trained] == ["Tree", "Logistic regression", "Logistic regression"]
    gone = found[found["status"] == "not run"]
    assert set(zip(gone["setting"], gone["model"], strict=True)) == {
        ("another seed", "xgboost"),
        ("single split", "random_forest"),
        ("70/15/15", "random_forest"),
    }
    assert gone["note"].str.contains("profile").all()
    assert gone["accuracy"].isna().all()


def test_kept_scores_give_the_same_tables(trained):
    cohort, scored, tables, found = trained
    said = []
    again = make_robustness(
        cohort,
        scored,
        tables,
        protocol=cohort.file.protocol,
        cache_dir=cohort.file.path.parent,
        panel=PANEL,
        progress=said.append,
    )
    assert not any("training on" in text for text in said)
    for name, table in found.items():
        pd.testing.assert_frame_equal(again[name], table)


def test_without_late_features_the_lean_protocol_is_said_to_be_impossible(tmp_path):
    path = write_cohort(tmp_path, rows=600, scores=0, panel=["logistic"], extra=CROSSED)
    row = rows(check_robustness(path, tmp_path, panel={"logistic": LOGISTIC})).loc[
        ("protocol", "admission-lean", "logistic", "B4")
    ]
    assert row["status"] == "not possible"
    assert "no feature" in row["note"]


def test_every_given_probability_is_a_family(given):
    table = rows(given)
    families = table.loc["family"].reset_index()
    assert set(zip(families["setting"], families["model"], strict=True)) == {
        (setting, model) for setting in ("single split", "50/50") for model in ("given_0", "given_1")
    }
    assert (table.loc["family"]["status"].isin(["done", "nearest"])).all()
    lean = table.loc[("protocol", "admission-lean", "given_0", "B1")]
    assert "the scores are given" in lean["note"]
    seeds = table.loc[("protocol", "another seed", "given_0", "B1")]
    assert (seeds["n_train"], seeds["status"]) == (0, "done")
    assert table["mean_kappa"].isna().all()


def test_a_rank_alone_is_not_mitigated_and_is_still_judged_under_other_constants(tmp_path, monkeypatch):
    monkeypatch.setattr(robustness, "vary_constants", sensitivity.vary_constants)
    monkeypatch.setattr(repeats, "REPEATS", 2)
    text = (
        'outcome = { column = "outcome", event = "Yes" }\n[attributes.sex]\ncolumn = "sex"\n'
        '[features]\nexclude = ["visit", "patient", "hospital"]\n[scores.points]\ncolumn = "p0"\n'
        'kind = "rank"\npercentile = 90\n[protocol]\nresamples = 20\n'
    )
    found = check_robustness(write_pair(tmp_path, make_table(rows=400), text), tmp_path)[3]
    assert (found["robustness"]["status"] == "not possible").all()
    assert found["robustness"]["note"].str.contains("points is a rank").all()
    assert (found["sensitivity"]["model"] == "points").all()


def test_a_cohort_that_cannot_be_divided_is_checked_where_it_can_be(tmp_path):
    table = make_table(rows=500).assign(patient="the only one")
    text = (
        'outcome = { column = "outcome", event = "Yes" }\n[attributes.sex]\ncolumn = "sex"\n'
        '[features]\nexclude = ["visit"]\n[unit]\ncolumn = "patient"\n[scores.risk]\ncolumn = "p0"\n'
        'kind = "probability"\n' + SETTINGS
    )
    table = rows(check_robustness(write_pair(tmp_path, table, text), tmp_path))
    assert table.loc[("protocol", "single split", "risk", "B4"), "status"] == "done"
    for setting in ("50/50", "another seed"):
        assert table.loc[("protocol", setting, "risk", "B4"), "status"] == "not possible"


def test_a_family_that_fails_to_train_is_told_and_the_others_stand(trained, monkeypatch):
    cohort, scored, tables, _ = trained

    def fail(config, *_, **__):
        raise RunError(f"{config.title} could not be trained: no memory")

    monkeypatch.setattr(robustness, "train_anew", fail)
    found = make_robustness(
        cohort, scored, tables, protocol=cohort.file.protocol, cache_dir=cohort.file.path.parent, panel=PANEL
    )["robustness"]
    forest = found[(found["model"] == "random_forest") & (found["setting"] == "single split")]
    assert (forest["status"] == "not possible").all()
    assert forest["note"].str.contains("no memory").all()
    assert (found.loc[found["model"] == "xgboost", "status"] != "not possible").all()


def test_a_tiny_cohort_makes_every_table(tmp_path, monkeypatch):
    monkeypatch.setattr(robustness, "vary_constants", sensitivity.vary_constants)
    monkeypatch.setattr(repeats, "REPEATS", 2)
    text = (
        'outcome = { column = "outcome", event = "Yes" }\n[attributes.sex]\ncolumn = "sex"\n'
        '[features]\nexclude = ["visit", "patient", "hospital"]\n[scores.risk]\ncolumn = "p0"\n'
        'kind = "probability"\n'
    )
    found = check_robustness(write_pair(tmp_path, make_table(rows=40), text), tmp_path)[3]
    assert len(found["robustness"]) > 0
    assert found["sensitivity"]["in_force"].sum() == 7
