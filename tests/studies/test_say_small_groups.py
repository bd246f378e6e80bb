"""What is said of simulated audits with small groups follows from what is stored, on every cohort."""

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say.text import table_html
from auditbook.studies.say import sizes_to_show as needs
from auditbook.studies.say import small_group_lines as lines
from auditbook.studies.say import small_groups as say
from auditbook.studies.small_groups.curves import conditional_coverage, tabulate_reach
from auditbook.studies.small_groups.table import LINES, METRICS, read_measured
from runs_fixture import KINDS


@pytest.fixture(scope="module")
def measured():
    return read_measured()


def well_said(text):
    return bool(text) and not any(sign in text for sign in ("<", "nan", "inf ", "None"))


def test_ten_events_reach_as_far_as_the_chapter_says():
    found = tabulate_reach([10, 323])
    assert found["reach"].round(2).tolist() == [0.28, 0.05]
    assert found["records"].tolist() == [50, 1615]


@pytest.mark.parametrize(
    "describe",
    [
        say.describe_coverage,
        say.describe_range,
        say.describe_calibration,
        say.describe_kappa,
        say.describe_paradox,
        say.describe_spread,
        say.describe_areas,
        say.describe_units,
    ],
)
def test_every_sentence_on_the_simulation_is_whole(describe, measured):
    assert well_said(describe(measured))


@pytest.mark.parametrize("metric", METRICS[:-1])
def test_sentences_on_flips_are_said_of_every_metric_of_counts(metric, measured):
    assert well_said(say.describe_flips(measured, metric=metric))
    assert well_said(say.describe_stable(measured, metric=metric))


def test_the_number_of_audits_is_that_of_the_files(measured):
    told = say.describe_origin(measured, say.read_origin())
    audits = sum(
        table[(table["support"] == "every") & (table["figure"] == table["figure"].iloc[0])][
            "replicates"
        ].sum()
        for table in measured.values()
    )
    assert f"{audits:,} audits in all" in told


def test_an_interval_for_a_selection_rate_covers_less_where_selection_follows_the_event():
    assert conditional_coverage(0.2, tpr=0.4, fpr=0.4) == pytest.approx(0.95, abs=1e-4)
    rng, n = np.random.default_rng(1), 20_000
    events = rng.binomial(n, 0.2, size=4_000)
    rate = (rng.binomial(events, 0.7) + rng.binomial(n - events, 0.1)) / n
    se = np.sqrt((0.2 * 0.21 + 0.8 * 0.09) / n)
    drawn = (np.abs(rate - 0.22) < 1.96 * se).mean()
    assert conditional_coverage(0.2) == pytest.approx(drawn, abs=0.02)  # standard error 0.005


def test_the_stored_intervals_of_the_ratio_fall_as_short_as_worked_out(measured):
    rows = say.take(measured, "DI interval", smallest=5_000, **say.BASE)
    covered = rows["covered"].sum() / rows["intervals"].sum()
    # of two groups, the smaller weighs more; 2,800 audits, standard error 0.006
    assert covered == pytest.approx(conditional_coverage(0.2), abs=0.025)


def test_curves_hold_shares_with_bounds_and_truths_without():
    rows = pd.DataFrame(
        {
            "metric": ["DI", "DI"],
            "smallest": [60, 30],
            "right": [8, 0],
            "judged": [10, 0],
            "truth": [0.1, 0.2],
        }
        | {"rmse": 0.0, "bias": 0.0, "given": 10}
    )
    wrong = say.list_curves(rows, "metric", value="wrong")
    assert wrong["smallest"].tolist() == [30, 60]
    assert np.isnan(wrong["value"].iloc[0])
    assert wrong["value"].iloc[1] == pytest.approx(0.2)
    assert wrong["low"].iloc[1] < 0.2 < wrong["high"].iloc[1]
    truth = say.list_curves(rows, "metric", value="truth", dashed=True)
    assert truth["dashed"].all()
    assert truth["low"].isna().all()


def test_distances_are_named_by_their_side():
    rows = pd.DataFrame({"distance": [-0.05, 0.0, 0.1], "smallest": 30, "covered": 1, "intervals": 2})
    names = say.list_curves(rows, "distance", value="coverage", names="it {}")["curve"].tolist()
    assert names == ["it fails by 0.05", "it at the threshold", "it passes by 0.10"]


def test_sizes_beyond_the_largest_are_said_to_be_so():
    assert lines.write_size(np.inf, [30, 5_000]) == "above 5,000"
    assert lines.write_size(2_000, [30, 5_000]) == "2,000"
    assert lines.write_size(np.nan, [30, 5_000]) == "not simulated"


def test_every_table_is_laid_out(measured):
    near = {"distance": [-0.05, 0.05], **say.BASE}
    for table, columns in (
        (lines.tabulate_metrics(measured, **near), lines.METRIC_COLUMNS),
        (lines.tabulate_criteria(measured, lines.VERDICT_LINES, **near), lines.CRITERIA_COLUMNS),
        (lines.tabulate_others(measured), lines.OTHER_COLUMNS),
        (
            lines.tabulate_conditions(measured, lines.CHOSEN, lines.CONDITIONS),
            lines.condition_columns(lines.CONDITIONS),
        ),
        (lines.tabulate_support(measured), lines.SUPPORT_COLUMNS),
    ):
        assert len(table)
        assert "<table" in table_html(table, columns)
        assert "not simulated" not in table.to_string()
    assert well_said(lines.describe_events(measured))
    assert well_said(lines.describe_support(lines.tabulate_support(measured)))


def test_one_row_of_the_table_is_that_of_its_line(measured):
    table = lines.tabulate_metrics(measured, kinds=("verdict",), distance=[-0.05, 0.05], **say.BASE)
    rows = say.take(measured, "EOPP verdict", distance=[-0.05, 0.05], **say.BASE)
    good = rows.groupby("smallest").apply(
        lambda part: bool((part["right"] >= 0.9 * part["judged"]).all()), include_groups=False
    )
    first = next(size for size in good.index if good[good.index >= size].all())
    assert table["EOPP"].tolist() == [f"{first:,}"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_groups_and_verdicts_of_every_cohort_are_looked_up(kind, runs, measured):
    run = runs[kind]
    for model in run.models["model"]:
        groups = lines.list_groups(run.groups, measured, model=model)
        held = run.groups[(run.groups["model"] == model) & (run.groups["n"] > 0)]
        assert groups["group"].tolist() == held["group"].tolist()
        assert (groups["borne"] <= groups["asked"]).all()
        assert well_said(lines.describe_groups(groups))
        assert "<table" in table_html(groups, lines.GROUP_COLUMNS)
        cells = needs.list_needs(run, model=model)
        judged = run.verdicts[run.verdicts["model"] == model]
        assert cells["standing"].tolist() == judged["standing"].tolist()
        assert cells["n_to_show"].tolist() == pytest.approx(judged["n_to_show"].tolist(), nan_ok=True)
        finite = cells[np.isfinite(cells["n_to_show"])]
        grown = finite["n_to_show"] / finite["n"] * finite["smallest"]
        assert (np.abs(finite["smallest_needed"] - grown) <= 1).all()
        assert cells.loc[~np.isfinite(cells["n_to_show"]), "smallest_needed"].isna().all()
        assert well_said(needs.describe_needs(cells))
        shown = table_html(cells, needs.NEED_COLUMNS)
        assert "<table" in shown
        assert "nan" not in shown


def test_each_open_cell_is_counted_by_whether_its_records_can_be_had():
    sizes = [500.0, 4_000.0, 8_000.0, 33_000_000.0, 200_001.0, np.inf, np.nan]
    standing = ["shown to pass"] + 6 * ["open, passes so far"]
    cells = pd.DataFrame({"standing": standing, "n": 2_000, "n_to_show": sizes})
    assert needs.describe_needs(cells) == (
        "Of 7 cells, 1 is shown to fail or to pass. "
        "If today's estimates are the truth, more records would show 2, the median at 6,000 records. "
        "For 2 it would take far more records than can be had. For 1 no number of records would do. "
        "For 1 there is nothing to go by."
    )
    assert needs.describe_needs(cells[:1]) == "Of 1 cell, 1 is shown to fail or to pass."


def test_a_larger_group_bears_no_fewer_figures(measured):
    sizes = [30, 60, 125, 250, 500, 1_000, 2_000, 5_000, 50_000]
    groups = pd.DataFrame({"model": "m", "attribute": "a", "group": [str(n) for n in sizes], "n": sizes})
    table = lines.list_groups(groups.assign(events=groups["n"] // 5), measured, model="m")
    assert table["borne"].is_monotonic_increasing
    assert table["borne"].iloc[-1] > table["borne"].iloc[0]


def test_a_group_without_events_is_looked_up_at_the_lowest_rate(measured):
    groups = pd.DataFrame({"model": ["m"], "attribute": "a", "group": "g", "n": 100, "events": 0})
    assert lines.list_groups(groups, measured, model="m")["borne"].tolist() == [0]


def test_lines_are_named_with_their_metric():
    assert lines.name_line(LINES["DI stable"]) == "DI: verdict called stable"
    assert lines.name_line(LINES["kappa"]) == "Fleiss' kappa of the folds"
