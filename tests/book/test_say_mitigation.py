"""What is said and drawn of mitigation: true on every cohort, strange ones included."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import mitigation as draw
from auditbook.book.say import mitigation as say
from auditbook.book.say.text import table_html
from auditbook.evidence.counts import accuracy, count_groups
from auditbook.results import read_table, write_table
from cohorts import make_table, write_cohort, write_pair
from mitigation_runs import LOGISTIC, SMALL, SWEEP, TEXT, mitigate

RANK = TEXT + '[scores."<b>points</b>"]\ncolumn = "p0"\nkind = "rank"\npercentile = 90\n'
ALONE = TEXT + '[unit]\ncolumn = "patient"\n[scores.risk]\ncolumn = "p0"\nkind = "probability"\n' + SMALL
KINDS = ("trained", "two_groups", "rank", "undivided", "nine_groups")


def make(kind, folder):
    folder.mkdir()
    if kind == "trained":
        path = write_cohort(folder, rows=2000, groups=2, sites=12, scores=0, panel=["logistic"], extra=SWEEP)
        return mitigate(path, folder, refits=4, panel={"logistic": LOGISTIC})
    if kind == "nine_groups":
        return mitigate(write_cohort(folder, rows=1500, groups=9, extra=SMALL), folder)
    table = make_table(rows=900).assign(patient="one") if kind == "undivided" else make_table(rows=900)
    text = {"rank": RANK, "undivided": ALONE, "two_groups": ALONE.replace('[unit]\ncolumn = "patient"\n', "")}
    return mitigate(write_pair(folder, table, text[kind]), folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mitigation")
    found = {}
    for kind in KINDS:
        cohort, _, tables = make(kind, folder / kind)
        for name, table in tables.items():
            write_table(table, folder / kind / f"{name}.csv")
        kept = {name: read_table(folder / kind / f"{name}.csv") for name in tables}
        found[kind] = [item.name for item in cohort.attributes], kept
    return found


def say_all(names, tables):
    """Say everything that the chapter says, in its order."""
    rows, cells = tables["baselines"], tables["baseline_cells"]
    protocol = say.protocol_with_parts(rows)
    thresholds = say.list_thresholds(tables["baseline_thresholds"], protocol=protocol)
    tried = say.protocol_with_strengths(rows)
    strengths = say.list_strengths(rows, tried)
    return [
        say.describe_work(rows),
        say.describe_costs(say.select_rows(rows, protocol), attributes=names),
        say.describe_holding(rows, attributes=names),
        say.describe_single(rows, attributes=names),
        say.describe_headrooms(say.list_headrooms(rows, protocol), attributes=names),
        say.describe_moves(say.list_moves(cells, protocol=protocol)),
        say.describe_strengths(strengths, attributes=names, left_out=say.count_left_out(rows, tried)),
        say.describe_thresholds(thresholds, harm="<i>harm</i>"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_is_said_in_whole_sentences_without_markup_from_the_cohort(made, kind):
    for text in say_all(*made[kind]):
        assert text.rstrip().endswith("."), text
        assert "nan" not in text.replace("Hispanic", "")
        assert "<" not in text
        assert "None" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_and_table_is_made(made, kind):
    names, tables = made[kind]
    rows, cells = tables["baselines"], tables["baseline_cells"]
    protocol = say.protocol_with_parts(rows)
    parity = say.list_parity(rows, cells, protocol=protocol, attributes=names)
    moves = say.list_moves(cells, protocol=protocol)
    thresholds = say.list_thresholds(tables["baseline_thresholds"], protocol=protocol, limit=16)
    strengths = say.list_strengths(rows, "single split")
    impact = say.sweep_strengths(strengths, attributes=names)
    curves = say.sweep_headrooms(say.list_headrooms(rows, protocol))
    for axes in (
        draw.draw_parity(parity, threshold=0.8),
        draw.draw_holding(parity, threshold=0.8),
        draw.draw_moves(moves, stable=0.1),
        draw.draw_thresholds(thresholds),
        draw.draw_curves(impact, guide=0.8, labels=("x", "y"), nothing="nothing"),
        draw.draw_curves(curves, guide=0, labels=("x", "y"), nothing="nothing"),
    ):
        axes.figure.canvas.draw()
        plt.close(axes.figure)
    shown = say.select_rows(rows, "single split")
    assert "<table" in table_html(shown, say.PRICE_COLUMNS)
    assert "<table" in table_html(shown, say.trust_columns(names))
    assert "<table" in table_html(moves, say.MOVE_COLUMNS)
    assert "<table" in table_html(thresholds, say.CELL_COLUMNS)


def test_a_rank_is_said_to_be_out_of_reach_and_its_name_does_nothing(made):
    text = say.describe_work(made["rank"][1]["baselines"])
    assert text.startswith("Nothing could be mitigated here")
    assert "&#60;b&#62;points" in text


def test_what_was_not_made_is_named_with_its_reason(made):
    text = say.describe_work(made["two_groups"][1]["baselines"])
    assert "Not made in single split: B2, because the scores are given" in text
    assert "cannot be divided" in say.describe_work(made["undivided"][1]["baselines"])


def test_holding_compares_the_two_parts():
    def row(part, passes, value):
        where = {"protocol": "50/50", "part": part, "baseline": "B4", "sweep": "", "status": "done"}
        return where | {"di_passes": passes, "di_judged": 1, "di_sex": value, "accuracy_cost": 1.0}

    lost = pd.DataFrame([row("validation", 1, 0.82), row("audit", 0, 0.71)])
    kept = pd.DataFrame([row("validation", 1, 0.82), row("audit", 1, 0.83)])
    assert "it did not hold. Smaller on the unseen part: sex 0.820 to 0.710." in say.describe_holding(
        lost, attributes=["sex"]
    )
    assert "it held." in say.describe_holding(kept, attributes=["sex"])


def test_moves_show_both_the_cell_that_gained_and_the_cell_that_paid():
    cells = pd.DataFrame(
        [
            ("B3", "DI", "age", 0.40, "pass"),
            ("B4", "DI", "age", 0.20, "pass"),
            ("B3", "DI", "race", 0.40, "pass"),
            ("B4", "DI", "race", 0.48, "fail"),
            ("B3", "SPD", "sex", 0.0, "pass"),
            ("B4", "SPD", "sex", 0.0, "pass"),
        ],
        columns=["baseline", "metric", "attribute", "vfr", "verdict"],
    ).assign(protocol="50/50", part="audit", smallest_n=40, vfr_low=0.0, vfr_high=0.5)
    moves = say.list_moves(cells, protocol="50/50")
    assert moves["attribute"].tolist() == ["race", "age"]
    text = say.describe_moves(moves)
    assert "fell in 1 cell and rose in 1 cell" in text
    assert "The largest fall: DI for age, 40.0% to 20.0%" in text
    assert "from pass to fail for DI for race" in text


def test_strengths_are_read_where_most_were_trained():
    def row(protocol, status):
        return {"protocol": protocol, "baseline": "B2", "part": "audit", "status": status}

    one = pd.DataFrame([row("single split", "not run"), row("70/15/15", "done")])
    both = pd.DataFrame([row("single split", "done"), row("70/15/15", "done")])
    assert say.protocol_with_strengths(one) == "70/15/15"
    assert say.protocol_with_strengths(both) == "single split"


def test_strengths_not_tried_are_not_spoken_of():
    tried = pd.DataFrame(
        {
            "baseline": ["B1", "B2"],
            "lambda": [0.0, 2.0],
            "di_passes": [0, 0],
            "di_judged": [1, 1],
            "accuracy_cost": [0.0, 1.5],
            "auroc": [0.8, 0.79],
        }
    )
    text = say.describe_strengths(tried, attributes=["sex"], left_out=3)
    assert "says nothing of strengths not tried" in text
    assert "left out 3 strengths" in text
    passed = say.describe_strengths(tried.assign(di_passes=1), attributes=["sex"], left_out=0)
    assert "Every attribute passes at lambda 2.0" in passed


def test_the_small_example_buys_parity_first_with_a_wrong_and_then_with_a_right_decision():
    outcome, scores = [1, 1, 0, 0, 0], np.array([0.7, 0.4, 0.45, 0.2, 0.1])
    right = [float(accuracy(count_groups(outcome, scores >= t, [0] * 5, 1)[0])) for t in (0.5, 0.45, 0.4)]
    assert right == [0.8, 0.6, 0.8]
    assert say.describe_pair([[3, 1, 0, 1], [1, 0, 1, 3]]) == "selected 80% and 20%; DI 0.25; accuracy 80%"


def test_a_choice_that_passed_nowhere_has_nothing_to_hold():
    where = {"protocol": "50/50", "baseline": "B4", "sweep": "", "status": "nearest", "di_judged": 1}
    found = pd.DataFrame(
        [where | {"part": part, "di_passes": 0, "di_sex": 0.5} for part in ("validation", "audit")]
    )
    said = say.describe_holding(found, attributes=["sex"])
    assert "there was nothing to hold" in said
    assert "it held" not in said


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (0.0, "costs nothing and"),
        (1.5, "costs 1.50 points and"),
        (-1.5, "costs nothing; it gains 1.50 points and"),
    ],
)
def test_headroom_that_is_free_gains_no_points(cost, said):
    found = pd.DataFrame({"headroom": [0.0, 0.1], "accuracy_cost": [2.0, 2.0 + cost], "mean_vfr": 0.1})
    found = found.assign(unstable=1, cells=4, di_passes=1, di_judged=1)
    assert f"The headroom {said} leaves the mean flip rate" in say.describe_headrooms(
        found, attributes=["sex"]
    )
