"""What is said and drawn of the panel is true of many models, of one, and where nothing is judged."""

from dataclasses import replace

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

import runs_fixture
from auditbook.book.draw import panel as draw
from auditbook.book.say import panel as say
from auditbook.book.say.text import table_html
from auditbook.results import read_run
from auditbook.settings import Protocol
from auditbook.verdicts.model_agreement import compare_models, count_flips, judge_cases
from runs_fixture import KINDS, RECIPES, make_run

NAN = float("nan")
NAMES = ("xgboost", "logistic", *(f"model <{number}> $é$" for number in range(10)), "xgboost_lean")


@pytest.fixture(scope="module")
def runs(runs, tmp_path_factory):
    """The small finished runs, and one of many models."""
    folder = tmp_path_factory.mktemp("many")
    many = replace(RECIPES["three_sites"], models=dict.fromkeys(NAMES, "probability"), source="trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(runs_fixture.RECIPES, "many", many)
        run = read_run(make_run(folder / "many", "many"))
    path = run.folder / "results" / "models.csv"
    models = pd.read_csv(path)
    models.loc[models["model"] == "xgboost_lean", "features"] = "admission"
    models.to_csv(path, index=False)
    return runs | {"many": read_run(run.folder)}


def well_said(texts):
    return all(texts) and not any("<" in text or "nan" in text or "inf " in text for text in texts)


@pytest.mark.parametrize("kind", [*KINDS, "many"])
def test_every_sentence_and_table_is_said_of_every_cohort(runs, kind):
    run = runs[kind]
    verdicts = say.pick_cells(run)
    cells, flips = say.write_cells(compare_models(verdicts)), count_flips(verdicts, run.protocol)
    said = [say.describe_panel(run), say.describe_agreement(cells), say.describe_splits(cells)]
    said += [say.describe_equals(run), say.describe_flips(flips, cells, run.protocol), say.describe_lean(run)]
    for metric in dict.fromkeys(verdicts["metric"]):
        spread = say.spread_estimates(verdicts, metric=metric)
        said.append(say.describe_spread(spread, metric=metric))
        draw.draw_spread(spread, metric=metric).figure.canvas.draw()
    assert well_said(said)
    draw.draw_matrix(verdicts, cells).figure.canvas.draw()
    quality = say.list_quality(run)
    shown = {say.CELL_COLUMNS: cells, say.FLIP_COLUMNS: flips, say.QUALITY_COLUMNS: quality}
    shown |= {say.impact_columns(quality): quality, say.SPREAD_COLUMNS: spread}
    shown |= {say.LEAN_COLUMNS: say.list_lean(run), say.CHANGE_COLUMNS: say.list_changes(run)}
    for columns, table in shown.items():
        html = table_html(table, columns)
        assert "<table" in html
        assert "<script>alert" not in html


def test_variants_without_late_features_are_audited_and_not_counted(runs):
    run = runs["many"]
    assert len(say.pick_panel(run.models)) == 12
    assert "xgboost_lean" not in set(say.pick_cells(run)["model"])
    assert "12 models" in say.describe_panel(run)
    assert "1 variant without late features is audited" in say.describe_panel(run)
    assert say.list_lean(run)["features"].tolist() == ["every feature", "no late features"]
    assert "**xgboost**: AUROC" in say.describe_lean(run)
    assert "asks for it" in say.describe_lean(runs["nine_groups"])


def frame(**columns):
    base = {"metric": "SPD", "attribute": "sex", "threshold": 0.10, "vfr": 0.0, "smallest_n": 50}
    return pd.DataFrame(base | columns)


def test_a_cell_that_divides_the_models_comes_first():
    verdicts = pd.concat(
        [
            frame(model=list("abc"), verdict=["pass", "pass", "pass"], estimate=[0.01, 0.02, 0.03]),
            frame(
                model=list("abc"),
                verdict=["fail", "pass", "inconclusive"],
                estimate=[0.2, 0.05, 0.9],
                attribute="age",
                vfr=[0.3, 0.1, NAN],
            ),
            frame(model=list("abc"), verdict="inconclusive", estimate=0.5, attribute="race", vfr=NAN),
        ]
    )
    cells = say.write_cells(compare_models(verdicts))
    assert cells["attribute"].tolist() == ["age", "sex", "race"]
    assert cells["minority"].tolist()[:2] == [0.5, 0.0]
    assert np.isnan(cells["minority"].iloc[2])
    first = cells.iloc[0]
    assert (first["judged"], first["passes"], first["fails"]) == (2, 1, 1)
    assert (first["lowest"], first["highest"]) == (0.05, 0.2)
    assert (first["first_verdict"], first["mean_vfr"]) == ("fail", pytest.approx(0.2))
    told = say.describe_agreement(cells)
    assert "1 of 3 cells: every model that can be judged says the same" in told
    assert "1 of 3 cells: the choice of model decides the verdict.** SPD for age." in told
    assert "1 of 3 cells: fewer than two models" in told
    assert "1 pass and 1 fail, with estimates from 0.050 to 0.200" in say.describe_splits(cells)


def test_flips_are_counted_among_judged_cells_only():
    verdicts = frame(
        model=["a", "a", "a", "b", "b"],
        attribute=["sex", "age", "race", "sex", "age"],
        verdict=["pass", "fail", "inconclusive", "pass", "pass"],
        vfr=[0.0, 0.2, 0.4, 0.1, NAN],
    )
    flips = count_flips(verdicts, Protocol())
    assert flips["model"].tolist() == ["a", "b", "all models"]
    assert flips["judged"].tolist() == [2, 1, 3]
    assert flips["reversed"].tolist() == [1, 1, 2]
    assert flips["unstable"].tolist() == [1, 0, 1]
    assert flips["mean_vfr"].iloc[-1] == pytest.approx(0.1)


def test_models_are_compared_whatever_their_order():
    verdicts = frame(
        model=list("abcd"), verdict=["pass", "fail", "fail", "pass"], estimate=[0.1, 0.2, 0.3, 0.0]
    )
    shuffled = verdicts.iloc[::-1]
    pd.testing.assert_frame_equal(
        compare_models(verdicts).drop(columns="first_verdict"),
        compare_models(shuffled).drop(columns="first_verdict"),
    )


def test_the_small_table_has_four_equal_models_and_one_pass():
    cases = {
        "1": [[6, 0, 0, 4], [1, 0, 4, 5]],
        "2": [[6, 2, 0, 2], [3, 0, 2, 5]],
        "3": [[4, 0, 2, 4], [5, 2, 0, 3]],
        "4": [[5, 1, 1, 3], [4, 1, 1, 4]],
    }
    table = judge_cases(cases)
    assert table["accuracy"].tolist() == [0.8] * 4
    assert table["verdict"].tolist() == ["fail", "fail", "fail", "pass"]
    np.testing.assert_allclose(table["di"], [1 / 6, 3 / 8, 4 / 7, 5 / 6])
    three = judge_cases({"5": [[5, 0, 1, 4], [4, 1, 1, 4]]})
    assert (three["di"].item(), three["accuracy"].item()) == (1.0, 0.85)


def test_f1_lies_within_its_interval(runs):
    table = say.list_quality(runs["many"])
    assert (table["f1_low"] < table["f1"]).all()
    assert (table["f1"] < table["f1_high"]).all()
    assert (table["accuracy_low"] < table["accuracy"]).all()
    assert (table["accuracy"] < table["accuracy_high"]).all()


def test_only_models_within_one_point_count_as_equally_good(runs):
    run = runs["many"]
    assert "No two models" in say.describe_equals(runs["two_groups"])
    near = say.pick_panel(run.models)
    near = near[near["accuracy"] >= near["accuracy"].max() - 0.01]
    assert say.describe_equals(run).startswith(f"{len(near)} models lie within")


def test_matrix_has_a_letter_a_tile_and_the_passes_at_the_right():
    verdicts = frame(model=list("ab"), verdict=["pass", "fail"], estimate=[0.05, 0.2])
    ax = draw.draw_matrix(verdicts, say.write_cells(compare_models(verdicts)))
    assert [text.get_text() for text in ax.texts] == ["P", "F", "1 of 2 pass"]
    assert "n = 50" in ax.get_yticklabels()[0].get_text()


def test_an_estimate_that_is_missing_is_a_hollow_mark():
    spread = frame(model=list("ab"), verdict=["inconclusive", "pass"], estimate=[NAN, 0.05])
    spread = spread.assign(ci_low=[NAN, 0.01], ci_high=[NAN, 0.08])
    ax = draw.draw_spread(spread, metric="SPD")
    assert sum(line.get_markerfacecolor() == "none" for line in ax.lines) == 1


def test_nothing_to_draw_is_said():
    verdicts = frame(model=[], verdict=[], estimate=[], ci_low=[], ci_high=[])
    assert draw.draw_matrix(verdicts, say.write_cells(compare_models(verdicts))).texts
    assert draw.draw_spread(verdicts, metric="SPD").texts
