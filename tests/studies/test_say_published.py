"""Printed figures beside a run's own: each in its place, blank where there is nothing to compare."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from auditbook.book.say.text import MISSING, table_html
from auditbook.progress import Progress
from auditbook.project import DEFAULT_COHORT
from auditbook.results import Run, read_run
from auditbook.run.plan import Request
from auditbook.run.runner import run_audit
from auditbook.settings import PROFILES
from auditbook.studies.draw import published as draw
from auditbook.studies.say import printed, published_statements
from auditbook.studies.say import published as say


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    """A small run of the twin with two of the twelve models, and without pockets, which nobody printed."""
    folder = tmp_path_factory.mktemp("twin")
    text = DEFAULT_COHORT.read_text(encoding="utf-8")
    head, rest = text.split("[panel]")
    tail = rest.split("[", 1)[1].split("]", 1)[1]
    cohort = folder / "texas-twin.toml"
    after = tail[tail.index("\n[") :] if "\n[" in tail else ""
    after = after.replace("[pockets]\n", "[pockets]\nrun = false\n")
    cohort.write_text(f'{head}[panel]\nmodels = ["xgboost", "logistic"]\n{after}', encoding="utf-8")
    with Progress(total=6) as progress:
        made = run_audit(Request(cohort, profile=PROFILES["smoke"], run_dir=folder / "run"), progress)
    return read_run(made)


@pytest.fixture(scope="module")
def other(audited_folder):
    """The tables of another cohort."""
    return read_run(audited_folder)


@pytest.fixture(scope="module")
def renamed(twin):
    """The tables of the twin under another cohort's name."""
    return Run(twin.folder, twin.info | {"name": "elsewhere", "synthetic": False})


def tables(run):
    return [
        (say.compare_models(run), say.pair_columns(say.QUALITY, first="model")),
        (say.write_baselines(say.compare_baselines(run)), say.baseline_columns()),
        (say.compare_robustness(run), say.ROBUST_COLUMNS),
        (published_statements.compare_statements(run), published_statements.STATEMENT_COLUMNS),
    ]


@pytest.mark.slow
def test_every_printed_row_stands_in_its_table(twin):
    models, baselines, robustness, statements = (table for table, _ in tables(twin))
    assert models["row"].tolist() == list(printed.MODELS)
    assert len(baselines) == len(say.BASELINE_FIGURES)
    assert robustness["row"].tolist() == list(printed.SETTINGS.values())
    assert len(statements) == len(printed.read_statements())


@pytest.mark.slow
def test_figures_of_the_run_are_those_of_its_result_files(twin):
    models = say.compare_models(twin).set_index("row")
    ours = twin.models.set_index("model")
    assert models.loc["XGBoost (canonical)", "auroc_here"] == ours.loc["xgboost", "auroc"]
    assert models.loc["Logistic regression", "accuracy_here"] == ours.loc["logistic", "accuracy"]
    assert math.isnan(models.loc["LightGBM", "auroc_here"])
    cells = twin.verdicts.set_index(["model", "metric", "attribute"])
    assert models.loc["XGBoost (canonical)", "di_age_here"] == cells.loc[("xgboost", "DI", "age"), "estimate"]
    rows = twin.baselines[(twin.baselines["protocol"] == "single split") & (twin.baselines["sweep"] == "")]
    b4 = rows.set_index("baseline").loc["B4"]
    table = say.compare_baselines(twin).set_index("row")
    assert table.loc["mean flip rate", "B4_here"] == b4["mean_vfr"]
    assert table.loc["accuracy", "B4_printed"] == 0.8352


@pytest.mark.slow
def test_every_statement_that_the_run_can_answer_has_an_answer_or_a_reason(twin):
    statements = published_statements.compare_statements(twin)
    assert statements["ours"].notna().sum() >= 10
    blank = statements[statements["ours"].isna()]
    assert set(blank["figure"]) >= {"cells whose CV falls below 0.05 at the whole only of 28"}
    reversed_ = statements.set_index("figure").loc["cells reversed at least once of 336", "ours"]
    assert reversed_ == (twin.verdicts["vfr"] > 0).sum()


@pytest.mark.slow
def test_numbers_are_written_as_what_they_are(twin):
    shown = say.write_baselines(say.compare_baselines(twin)).set_index("row")
    assert shown.loc["cells that flip", "B1_printed"] == "12"
    assert shown.loc["accuracy cost, points", "B3_printed"] == "4.60"
    stated = published_statements.compare_statements(twin).set_index("figure")
    assert stated.loc["cells reversed at least once of 336", "printed"] == "146"
    assert stated.loc["kappa of TI", "printed"] == "1.000"


@pytest.mark.parametrize("kind", [pytest.param("renamed", marks=pytest.mark.slow), "other"])
def test_another_cohort_has_blank_columns_and_is_told_so(kind, request):
    other = request.getfixturevalue(kind)
    assert "another cohort" in printed.announce_cohort(other)
    for table, _ in tables(other):
        here = [name for name in table.columns if name.endswith("_here") or name == "ours"]
        assert here
        assert (table[here].isna() | (table[here] == MISSING)).all().all()
    assert "another cohort" in say.describe_baselines(other)
    assert say.describe_models(say.compare_models(other)).startswith("No model")


@pytest.mark.parametrize(
    "kind", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("twin", "renamed")), "other"]
)
def test_tables_sentences_and_figures_are_made_for_any_run(kind, request):
    run = request.getfixturevalue(kind)
    for table, columns in tables(run):
        assert "<table" in table_html(table, columns)
    for text in (
        printed.announce_cohort(run),
        say.describe_models(say.compare_models(run)),
        say.describe_baselines(run),
    ):
        assert text
        assert "nan" not in text
    for axes in (
        draw.draw_pairs(say.list_areas(say.compare_models(run)), label="AUROC", limits=(0.8, 1)),
        draw.draw_pairs(say.list_parity(run), label="DI", limits=(0, 1), guide=0.8),
    ):
        axes.figure.canvas.draw()
        plt.close(axes.figure)


def test_the_printed_mean_kappa_counts_the_undefined_one():
    checks = printed.check_printed()
    kappa = checks[checks["what"] == "mean kappa of B4"]
    assert kappa["recomputed"].round(3).tolist() == [0.350, 0.242]
    assert kappa["printed"].tolist() == [0.350, 0.350]


def test_printed_costs_follow_from_printed_accuracies():
    table = printed.read_published("baselines")
    cost = 100 * (table.loc["B1 real-only", "accuracy"] - table["accuracy"])
    assert np.allclose(cost, table["accuracy_cost_points"], atol=0.006)


def test_what_moved_between_b3_and_b4_adds_up():
    moved = (
        printed.check_printed()
        .set_index("what")
        .loc["change of the four moved cells, B3 to B4", "recomputed"]
    )
    assert moved == pytest.approx(-0.180 - 0.198 + 0.066 + 0.072, abs=1e-9)


def test_conclusions_follow_the_tables():
    figures = [say.TITLES["accuracy_cost_points"], say.TITLES["mean_vfr"]]
    better = pd.DataFrame({"B3_here": [4.0, 0.09], "B4_here": [5.0, 0.05]}, index=figures)
    text = say._conclude_order(better)
    assert "is lower (9.0% to 5.0%)" in text
    assert "cost is not lower (4.00 to 5.00 points)" in text
    unknown = better.assign(B4_here=math.nan)
    assert "not both made" in say._conclude_order(unknown)
