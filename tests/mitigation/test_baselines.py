"""The table of baselines: both protocols, what could not be made, and whether the numbers are the audit's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort.load import read_cohort_file
from auditbook.cohort.schema import MitigationTable
from auditbook.columns import TABLES
from auditbook.errors import InputError
from auditbook.evidence import prepare
from auditbook.mitigation import comparators, interventions
from auditbook.mitigation.assessment import di_column
from auditbook.mitigation.baselines import make_baselines
from auditbook.mitigation.interventions import order_refits
from auditbook.scoring.panel import ModelConfig
from auditbook.settings import METRIC_NAMES
from auditbook.verdicts.judgement import judge
from cohorts import make_table, write_cohort, write_pair
from mitigation_runs import LOGISTIC, SMALL, SWEEP, TEXT, mitigate

KEY = ["protocol", "part", "baseline"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    path = write_cohort(folder, rows=3000, groups=2, sites=12, scores=0, panel=["logistic"], extra=SWEEP)
    return mitigate(path, folder, panel={"logistic": LOGISTIC})


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    return mitigate(write_cohort(folder, rows=2000, groups=2, sites=0, extra=SMALL), folder)


def pick(table, **where):
    keep = np.ones(len(table), bool)
    for name, value in where.items():
        keep &= (table[name] == value).to_numpy()
    return table[keep]


def main_rows(tables):
    return pick(tables["baselines"], sweep="").set_index(KEY)


def test_every_baseline_has_a_row_in_both_protocols_and_parts(trained):
    rows = main_rows(trained[2]).sort_index()
    assert rows.index.is_unique
    names = {"B1", "B2", "B3", "B4", "TO", "EG"}
    assert set(rows.loc[("single split", "audit")].index) == names
    for part in ("validation", "audit"):
        assert set(rows.loc[("70/15/15", part)].index) == names
    assert (rows["status"] == "done").all()


def test_the_parts_are_disjoint_whole_units_of_about_the_published_shares(trained):
    rows = main_rows(trained[2])
    first = rows.loc[("70/15/15", "audit", "B1")]
    assert first["n_train"] / 3000 == pytest.approx(0.70, abs=0.02)
    assert first["n_selected"] / 3000 == pytest.approx(0.15, abs=0.02)
    assert first["n_train"] + first["n_selected"] + first["n"] == 3000


def test_the_first_baseline_is_the_audit_itself(trained):
    _, scored, tables = trained
    verdicts = judge(prepare(scored.records), replace(read_protocol(trained), seed=42), axes=()).verdicts
    cells = pick(tables["baseline_cells"], protocol="single split", baseline="B1").reset_index(drop=True)
    for name in ("metric", "attribute", "verdict"):
        assert cells[name].tolist() == verdicts[name].tolist()
    for name in ("estimate", "vfr", "vfr_own_size"):
        pd.testing.assert_series_equal(cells[name], verdicts[name])
    row = main_rows(tables).loc[("single split", "audit", "B1")]
    judged = verdicts[verdicts["verdict"] != "inconclusive"]
    assert row["mean_vfr"] == pytest.approx(judged["vfr"].mean())
    assert row["flipped"] == (judged["vfr"] > 0).sum()
    assert row["accuracy_cost"] == row["changed"] == 0


def read_protocol(made):
    return made[0].file.protocol


def test_shifting_thresholds_leaves_auroc_and_the_metrics_of_scores_as_they_were(trained):
    rows, cells = main_rows(trained[2]), trained[2]["baseline_cells"]
    for protocol, part in (("single split", "audit"), ("70/15/15", "validation"), ("70/15/15", "audit")):
        first = rows.loc[(protocol, part, "B1")]
        scores = pick(cells, protocol=protocol, part=part)
        scores = scores[scores["metric"].isin(["TI", "CAL"])]
        for name in ("B3", "B4"):
            assert abs(rows.loc[(protocol, part, name), "auroc"] - first["auroc"]) < 1e-12
            pd.testing.assert_series_equal(
                pick(scores, baseline=name)["vfr"].reset_index(drop=True),
                pick(scores, baseline="B1")["vfr"].reset_index(drop=True),
            )


def test_shifted_thresholds_keep_every_disparate_impact_where_they_were_chosen(trained):
    rows = main_rows(trained[2])
    for place in (("single split", "audit"), ("70/15/15", "validation")):
        for name in ("B3", "B4"):
            assert rows.loc[(*place, name), "di_passes"] == 3
            assert rows.loc[(*place, name), ["di_race", "di_sex", "di_age band"]].min() >= 0.8 - 1e-9


def test_thresholds_are_the_same_on_the_part_they_were_chosen_on_and_on_the_unseen_part(trained):
    table = pick(trained[2]["baseline_thresholds"], protocol="70/15/15", baseline="B4")
    wide = table.pivot_table(index="cell", columns="part", values="threshold")
    both = wide.dropna()
    assert len(both) > 5
    assert (both["audit"] == both["validation"]).all()


def test_cost_and_changes_follow_from_the_counts(trained):
    rows = main_rows(trained[2])
    for (protocol, part, _), row in rows.iterrows():
        first = rows.loc[(protocol, part, "B1")]
        assert row["accuracy_cost"] == pytest.approx(100 * (first["accuracy"] - row["accuracy"]))
    cells = pick(trained[2]["baseline_thresholds"], protocol="single split", baseline="B3")
    row = rows.loc[("single split", "audit", "B3")]
    assert cells["changed"].sum() / row["n"] == pytest.approx(row["changed"])
    assert cells["selected"].sum() / row["n"] == pytest.approx(row["selection_rate"])


def test_the_sweeps_name_what_is_varied(trained):
    rows = trained[2]["baselines"]
    assert pick(rows, sweep="lambda", protocol="single split")["lambda"].tolist() == [1.0]
    assert pick(rows, sweep="headroom", part="audit", protocol="70/15/15", baseline="B4")[
        "headroom"
    ].tolist() == [0.05]
    assert pick(rows, sweep="headroom", part="validation").empty


def test_kappa_is_the_mean_over_the_metrics_that_have_one(trained):
    row = main_rows(trained[2]).loc[("single split", "audit", "B1")]
    assert row["kappa_metrics"] > 0
    assert -1 <= row["mean_kappa"] <= 1


def test_the_same_call_gives_the_same_tables_from_kept_scores(trained, tmp_path):
    cohort, scored, tables = trained
    said = []
    again = make_baselines(
        cohort,
        scored,
        protocol=cohort.file.protocol,
        cache_dir=tmp_path,
        refits=3,
        panel={"logistic": LOGISTIC},
        progress=said.append,
    )
    assert sum("training on" in text for text in said) == 3
    left_out = pick(again["baselines"], sweep="lambda")
    assert (left_out["status"] == "not run").all()
    assert left_out["note"].str.contains("profile").all()
    for name in ("baseline_cells", "baseline_thresholds"):
        pd.testing.assert_frame_equal(again[name], tables[name])
    kept = again["baselines"]["sweep"] != "lambda"
    pd.testing.assert_frame_equal(again["baselines"][kept], tables["baselines"][kept], check_dtype=False)


def test_a_bound_of_no_refit_leaves_out_the_separate_parts(trained, tmp_path):
    cohort, scored, _ = trained
    found = make_baselines(
        cohort,
        scored,
        protocol=cohort.file.protocol,
        cache_dir=tmp_path,
        refits=0,
        panel={"logistic": LOGISTIC},
    )["baselines"]
    assert (pick(found, baseline="B2", protocol="single split")["status"] == "not run").all()
    assert pick(found, protocol="70/15/15")["note"].str.contains("profile").all()


def test_refits_are_ordered_by_what_they_tell():
    order = order_refits(MitigationTable())
    assert np.isnan(order[0][1])
    assert order[1:4] == [(True, 2.0), (False, 2.0), (False, 1.0)]
    assert len(order) == 3 + 2 * 5


def test_given_scores_cannot_be_reweighed_and_the_table_says_so(given):
    rows = main_rows(given[2])
    for place in (("single split", "audit"), ("50/50", "validation"), ("50/50", "audit")):
        row = rows.loc[(*place, "B2")]
        assert row["status"] == "not possible"
        assert "scores are given" in row["note"]
        assert np.isnan(row["accuracy"])
        assert rows.loc[(*place, "B4"), "status"] == "done"
    assert rows.loc[("50/50", "audit", "B1"), "n_train"] == 0


def test_without_sites_there_is_no_kappa(given):
    assert given[2]["baselines"]["mean_kappa"].isna().all()


def test_a_rank_alone_is_not_mitigated_and_the_table_says_so(tmp_path):
    path = write_pair(
        tmp_path,
        make_table(rows=400),
        TEXT + '[scores.points]\ncolumn = "p0"\nkind = "rank"\npercentile = 90\n',
    )
    tables = mitigate(path, tmp_path)[2]
    assert (tables["baselines"]["status"] == "not possible").all()
    assert tables["baselines"]["note"].str.contains("points is a rank").all()


def test_several_ranks_are_named_together(tmp_path):
    ranks = "".join(
        f'[scores.{name}]\ncolumn = "p0"\nkind = "rank"\npercentile = 90\n' for name in ("points", "marks")
    )
    tables = mitigate(write_pair(tmp_path, make_table(rows=400), TEXT + ranks), tmp_path)[2]
    assert tables["baselines"]["note"].str.endswith("points, marks are ranks").all()
    assert tables["baseline_cells"].empty
    assert list(tables["baselines"].columns) == TABLES["baselines"].names(
        attribute=("sex",), metric=METRIC_NAMES
    )


def test_two_groups_and_a_percentile_are_enough(tmp_path):
    text = TEXT + '[scores.risk]\ncolumn = "p0"\nkind = "probability"\npercentile = 80\n' + SMALL
    rows = main_rows(mitigate(write_pair(tmp_path, make_table(rows=1500), text), tmp_path)[2])
    assert rows.loc[("50/50", "validation", "B1"), "selection_rate"] == pytest.approx(0.2, abs=0.01)
    assert rows.loc[("50/50", "validation", "B4"), "di_passes"] == 1


def test_a_cohort_of_one_unit_cannot_be_divided_and_the_table_says_why(tmp_path):
    table = make_table(rows=600).assign(patient="the only one")
    text = TEXT + '[unit]\ncolumn = "patient"\n[scores.risk]\ncolumn = "p0"\nkind = "probability"\n' + SMALL
    rows = main_rows(mitigate(write_pair(tmp_path, table, text), tmp_path)[2])
    assert rows.loc[("single split", "audit", "B4"), "status"] == "done"
    assert "cannot be divided" in rows.loc[("50/50", "audit", "B4"), "note"]


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_scores_make_every_table_and_claim_nothing(tmp_path, value):
    text = TEXT + '[scores.risk]\ncolumn = "flat"\nkind = "probability"\n' + SMALL
    tables = mitigate(write_pair(tmp_path, make_table(rows=500).assign(flat=value), text), tmp_path)[2]
    rows = main_rows(tables)
    assert (rows.drop(index=["B2", "EG"], level="baseline")["n"] > 0).all()


def test_no_event_at_all_makes_every_table(tmp_path):
    text = TEXT + '[scores.risk]\ncolumn = "p0"\nkind = "probability"\n' + SMALL
    table = make_table(rows=500)
    table.loc[5:, "outcome"] = "No"
    rows = main_rows(mitigate(write_pair(tmp_path, table, text), tmp_path)[2])
    assert rows.loc[("single split", "audit", "TO"), "status"] == "not possible"
    assert "fewer than 10 events" in rows.loc[("single split", "audit", "TO"), "note"]
    assert rows.loc[("single split", "audit", "B1"), "status"] == "done"


def test_an_attribute_with_the_name_of_a_column_has_one_of_its_own():
    columns = TABLES["baselines"].names(attribute=("passes", "judged", "sex"), metric=())
    assert len(set(columns)) == len(columns)
    assert di_column("passes") == "di_passes_"


def test_metrics_without_disparate_impact_are_still_held_to_it(tmp_path):
    text = SMALL.replace("[protocol]\n", '[protocol]\nmetrics = ["EOPP", "TI"]\n')
    text = TEXT + '[scores.risk]\ncolumn = "p0"\nkind = "probability"\n' + text
    tables = mitigate(write_pair(tmp_path, make_table(rows=800), text), tmp_path)[2]
    assert set(tables["baseline_cells"]["metric"]) == {"EOPP", "TI"}
    assert main_rows(tables).loc[("single split", "audit", "B3"), "di_sex"] >= 0.8


def test_a_model_that_takes_no_weights_is_said_to(tmp_path):
    neighbours = ModelConfig("knn", "Nearest", "tree", "sklearn.neighbors.KNeighborsClassifier")
    path = write_cohort(tmp_path, rows=900, scores=0, panel=["logistic"], extra=SMALL)
    panel = {"logistic": replace(neighbours, name="logistic")}
    rows = main_rows(mitigate(path, tmp_path, panel=panel)[2])
    assert "takes no weights" in rows.loc[("single split", "audit", "B2"), "note"]


def test_without_fairlearn_the_comparators_are_said_to_be_missing(given, monkeypatch, tmp_path):
    monkeypatch.setattr(interventions, "is_installed", lambda: False)
    cohort, scored, before = given
    found = make_baselines(cohort, scored, protocol=cohort.file.protocol, cache_dir=tmp_path)["baselines"]
    gone = found[found["baseline"].isin(["TO", "EG"])]
    assert (gone["note"] == "fairlearn is not installed").all()
    same = ~before["baselines"]["baseline"].isin(["TO", "EG"])
    pd.testing.assert_frame_equal(found[same], before["baselines"][same])


def test_the_threshold_optimiser_equalises_selection_and_keeps_the_ranks():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, 4000)
    risk = np.clip(rng.beta(2, 3, 4000) + 0.2 * codes, 0, 1)
    outcome = (rng.random(4000) < risk).astype(int)
    fitted = comparators.optimise_thresholds(outcome, risk, codes, 2, seed=1)
    chosen = fitted.decide(risk, codes, threshold=0.5)
    rates = [chosen[codes == group].mean() for group in (0, 1)]
    assert abs(rates[0] - rates[1]) < 0.03
    assert (chosen == fitted.decide(risk, codes, threshold=0.5)).all()


def test_a_cell_that_the_optimiser_does_not_know_keeps_the_common_threshold():
    outcome, scores = np.tile([0, 1], 50), np.tile([0.3, 0.7], 50)
    fitted = comparators.optimise_thresholds(outcome, scores, np.zeros(100, int), 2, seed=1)
    pool = replace(fitted, pool=np.array([0, 1]))
    assert pool.decide([0.4, 0.6], [1, 1], threshold=0.5).tolist() == [False, True]


def test_small_cells_are_put_together_and_too_few_events_are_refused():
    assert comparators.pool_cells([0, 1] * 30 + [1, 1], [0] * 40 + [1] * 20 + [2, 2], 3).tolist() == [0, 1, 0]
    assert comparators.pool_cells([0, 1] * 12, [0] * 12 + [1] * 12, 2).tolist() == [0, 0]
    with pytest.raises(InputError, match="fewer than 10 events"):
        comparators.pool_cells([0] * 50, [0] * 50, 1)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('attributes = ["raze"]', "'raze' is no attribute \\(did you mean 'race'\\?\\)"),
        ('attributes = ["sex", "sex"]', "names an attribute twice"),
        ("strength = -1", "strength: -1 is out of range"),
        ("headrooms = [0, 0.9]", "headrooms: 0.9 is out of range"),
        ("lambda = 2", "unknown key"),
    ],
)
def test_a_fault_in_the_settings_names_key_and_remedy(tmp_path, table, message):
    with pytest.raises(InputError, match=message):
        read_cohort_file(write_cohort(tmp_path, rows=50, extra=f"[mitigation]\n{table}\n"))


def test_the_cells_are_those_that_the_cohort_file_names(tmp_path):
    extra = SMALL.replace("[mitigation]\n", '[mitigation]\nattributes = ["age band"]\n')
    tables = mitigate(write_cohort(tmp_path, rows=1200, extra=extra), tmp_path)[2]
    assert set(tables["baseline_thresholds"]["cell"]) == {"0-17", "18-39", "40-64", "65+"}
