"""What is said and drawn of robustness: true on every cohort, strange ones included."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import robustness as draw
from auditbook.book.say import robustness as say
from auditbook.book.say.text import table_html
from auditbook.mitigation import flip_objective, interventions
from auditbook.results import read_table, write_table
from auditbook.verdicts import monte_carlo as repeats
from cohorts import make_table, write_cohort, write_pair
from mitigation_runs import CROSSED, LOGISTIC, SETTINGS, check_robustness, write_late

TEXT = """
outcome = { column = "outcome", event = "Yes" }
[features]
exclude = ["visit", "patient", "hospital"]
[attributes."<b>sex</b>"]
column = "sex"
"""
PROBABILITY = '[scores."<i>risk</i>"]\ncolumn = "p0"\nkind = "probability"\n'
RANK = '[scores."<b>points</b>"]\ncolumn = "p0"\nkind = "rank"\npercentile = 90\n'
KINDS = ("trained", "given", "rank", "tiny", "nine_groups")


def write(kind, folder):
    if kind == "trained":
        return write_late(folder, rows=1000, panel=["logistic"])
    if kind == "nine_groups":
        return write_cohort(folder, rows=900, groups=9, scores=2, extra=CROSSED)
    texts = {"given": PROBABILITY + SETTINGS, "rank": RANK, "tiny": PROBABILITY}
    table = make_table(rows=40 if kind == "tiny" else 500)
    return write_pair(folder, table, TEXT + texts[kind])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interventions, "is_installed", lambda: False)
        patch.setattr(flip_objective, "SEARCH_RESAMPLES", 20)
        patch.setattr(repeats, "REPEATS", 2)
        for kind in KINDS:
            folder = tmp_path_factory.mktemp(kind)
            options = {"refits": 0, "panel": {"logistic": LOGISTIC}} if kind == "trained" else {}
            cohort, _, _, tables = check_robustness(write(kind, folder), folder, **options)
            for name, table in tables.items():
                write_table(table, folder / f"{name}.csv")
            kept = {name: read_table(folder / f"{name}.csv") for name in tables}
            found[kind] = [item.name for item in cohort.attributes], kept
    return found


def say_all(names, tables):
    """Say everything that the chapter says, in its order."""
    sensitivity, cells = tables["sensitivity"], tables["sensitivity_cells"]
    said = []
    for check in ("protocol", "family"):
        found = say.select_check(tables["robustness"], check)
        said += [say.describe_settings(found, attributes=names), say.describe_story(found, attributes=names)]
        said += [say.describe_selection(found), say.describe_published(found, attributes=names)]
    sweeps = {name: say.select_sweep(sensitivity, name) for name in say.CONSTANTS}
    said.append(say.describe_model(sensitivity))
    said.append(say.describe_bound(sweeps["vfr_stable"]))
    said.append(say.describe_sizes(sweeps["resample_size"], cells, bound=0.1))
    said.append(say.describe_luck(sweeps["resamples"]))
    said.append(say.describe_support(sweeps["min_records"], cells, bound=0.1))
    said.append(say.describe_tier_bounds(sensitivity))
    said.append(say.describe_leverage(say.list_leverage(sensitivity)))
    return said


@pytest.mark.parametrize(("best", "told"), [((1, 1), "1 cell in the"), ((0, 1), "0 to 1 cells in the")])
def test_one_cell_in_the_best_tier_is_one_cell(best, told):
    settings = [name for name in say.TIER_BOUNDS for _ in best]
    sweep = {"setting": settings, "label": "0.1", "practical_stability": list(best) * len(say.TIER_BOUNDS)}
    table = pd.DataFrame(sweep | {"catastrophic_instability": 0})
    assert say.describe_tier_bounds(table).count(told) == len(say.TIER_BOUNDS)


@pytest.mark.parametrize("kind", KINDS)
def test_everything_is_said_in_whole_sentences_without_markup_from_the_cohort(made, kind):
    for text in say_all(*made[kind]):
        assert text.rstrip().endswith("."), text
        assert "nan" not in text
        assert "<" not in text
        assert "None" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_and_table_is_made(made, kind):
    names, tables = made[kind]
    sensitivity, cells = tables["sensitivity"], tables["sensitivity_cells"]
    sweeps = {name: say.select_sweep(sensitivity, name) for name in say.CONSTANTS}
    labels = {"labels": ("x", "y"), "nothing": "nothing"}
    drawn = [
        draw.draw_curves(say.sweep_stable(sweeps["vfr_stable"]), guide=2, **labels),
        draw.draw_curves(say.list_curves(cells), guide=0.1, log=True, **labels),
        draw.draw_curves(say.sweep_luck(sweeps["resamples"]), guide=0, log=True, **labels),
        draw.draw_parts(say.stack_standings(sweeps["min_records"])),
        draw.draw_parts(say.stack_tiers(sensitivity)),
    ]
    for check in ("protocol", "family"):
        found = say.select_check(tables["robustness"], check)
        drawn.append(draw.draw_lowest(say.list_lowest(found), threshold=0.8))
        assert "<table" in table_html(say.keep_made(found), say.setting_columns(names))
    for axes in drawn:
        axes.figure.canvas.draw()
        plt.close(axes.figure)
    for sweep in sweeps.values():
        assert "<table" in table_html(sweep, say.COUNT_COLUMNS)
    assert "<table" in table_html(sweeps["resamples"], say.LUCK_COLUMNS)
    assert "<table" in table_html(say.list_leverage(sensitivity), say.LEVERAGE_COLUMNS)


def setting(**columns):
    row = {"check": "protocol", "setting": "70/15/15", "model": "m", "baseline": "B4", "status": "done"}
    row |= {"di_passes": 4, "di_judged": 4, "passes_selected": 4, "stable": 20, "cells": 28, "auroc": 0.9}
    return row | {"accuracy_cost": 2.0, "note": ""} | columns


NAMES = ["a", "b", "c", "d"]


def test_agreement_and_disagreement_of_settings_are_told_apart():
    same = pd.DataFrame([setting(), setting(setting="single split", stable=24)])
    assert "in 2 of 2 settings, and in 1 of 1 setting on unseen records. So the settings agree." in (
        say.describe_story(same, attributes=NAMES)
    )
    other = pd.DataFrame([setting(di_passes=2), setting(setting="single split")])
    text = say.describe_story(other, attributes=NAMES)
    assert "in 1 of 2 settings, and in 0 of 1 setting on unseen records" in text
    assert "depends on the setting" in text


def test_attributes_that_cannot_be_judged_do_not_count_as_failing_and_are_named():
    found = pd.DataFrame([setting(di_passes=3, di_judged=3)])
    assert "Every attribute that can be judged passes under B4 in 1 of 1 setting" in say.describe_story(
        found, attributes=NAMES
    )
    assert "3 of 4 attributes (1 cannot be judged)" in say.describe_settings(found, attributes=NAMES)


def test_the_worth_of_late_features_is_said():
    rows = [setting(baseline="B1"), setting(baseline="B1", setting="admission-lean", auroc=0.7), setting()]
    text = say.describe_story(pd.DataFrame(rows), attributes=NAMES)
    assert "Without the late features AUROC goes from 0.900 to 0.700." in text


def test_passes_lost_on_the_unseen_part_are_counted_and_the_single_split_is_left_out():
    rows = [setting(di_passes=2), setting(baseline="B3"), setting(setting="single split", di_passes=0)]
    text = say.describe_selection(pd.DataFrame(rows))
    assert "passed 8 times where they were chosen and 6 times on the unseen part; 1 of 2 choices lost" in text


def curve_cells(rates):
    """One cell's flip rates by size."""
    rows = {"setting": "resample_size", "metric": "EOPP", "attribute": "race", "verdict": "fail"}
    return pd.DataFrame({"value": [1_000, 10_000, 20_000], "vfr": rates} | rows).assign(vfr_low=0, vfr_high=1)


def test_a_cell_that_more_records_unsettle_is_named():
    sweep = pd.DataFrame({"label": ["1,000", "10,000", "20,000"], "cells": 1, "stable": [1, 0, 0]})
    rising = say.describe_sizes(sweep, curve_cells([0.0, 0.4, 0.3]), bound=0.1)
    assert "1 cell is stable at one size and not at another: EOPP for race" in rising
    assert "More records do not always calm a verdict" in rising
    falling = say.describe_sizes(sweep, curve_cells([0.4, 0.05, 0.01]), bound=0.1)
    assert "More records" not in falling


def test_of_weighted_records_no_size_is_said_to_change_nothing():
    sweep = pd.DataFrame({"label": ["900"], "cells": 1, "stable": 1})
    own = curve_cells([0.1, 0.1, 0.1]).head(1)
    said = say.describe_sizes(sweep, own, bound=0.1, weighted=True)
    assert "no other size was tried" in said
    assert "too small" not in said
    assert "No cell changes" not in said


def test_curves_that_hardly_move_are_left_out_and_the_largest_move_comes_first():
    still = curve_cells([0.0, 0.0, 0.01]).assign(metric="TI")
    small = curve_cells([0.1, 0.05, 0.0]).assign(metric="PP")
    curves = say.list_curves(pd.concat([still, small, curve_cells([0.4, 0.2, 0.0])]))
    assert list(dict.fromkeys(curves["name"])) == ["EOPP for race", "PP for race"]


def test_a_bound_at_each_end_holds_none_but_the_firmest_or_all():
    assert say.count_within([0, 0.2, 0.5], [0, 0.5])["stable"].tolist() == [1, 3]


def test_a_value_that_cannot_be_computed_is_hollow_and_rows_carry_their_n():
    table = pd.DataFrame(
        {
            "title": ["single split: B1", "single split: B4"],
            "n": [120, 120],
            "value": [0.5, np.nan],
            "low": [0.4, np.nan],
            "high": [0.6, np.nan],
            "chosen": [0.5, np.nan],
            "baseline": ["B1", "B4"],
        }
    )
    ax = draw.draw_lowest(table, threshold=0.8)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "single split: B1 (n = 120)",
        "single split: B4 (n = 120)",
    ]
    assert sum(line.get_markerfacecolor() == "none" for line in ax.lines) == 1
    plt.close(ax.figure)


def test_every_part_has_a_look():
    assert set(say.STANDINGS.values()) <= set(draw.LOOKS)
    tally = pd.DataFrame({"label": "in force", "part": list(draw.LOOKS), "cells": range(len(draw.LOOKS))})
    ax = draw.draw_parts(tally)
    assert [text.get_text() for text in ax.texts] == [str(n) for n in range(1, len(draw.LOOKS))]
    plt.close(ax.figure)
