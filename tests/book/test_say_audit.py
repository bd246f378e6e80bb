"""The audit report says what stands, what asks for a decision and what cannot be known, on every cohort."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say import audit as say
from auditbook.book.say.text import table_html
from auditbook.columns import empty_table, fill_table
from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.results import Run, read_run
from auditbook.settings import METRIC_NAMES, Protocol
from auditbook.verdicts import find_tipping_points, judge, tabulate_groups, tabulate_rates
from auditbook.verdicts.standing import name_standings
from runs_fixture import KINDS


def run_of(run, **columns):
    """Copy a run with some columns of its verdicts set."""
    copy = Run(run.folder, run.info)
    copy.__dict__["verdicts"] = run.verdicts.assign(**columns)
    return settle(copy)


def settle(run):
    """Name the standings of a copied run again, by the rule that an audit uses."""
    standing = name_standings(run.verdicts, protocol=run.protocol)
    run.__dict__["verdicts"] = run.verdicts.assign(standing=standing)
    return run


def shown_run(counts, *, values=None, metrics=METRIC_NAMES):
    """Judge a table of counts as an audit does, and put it where the report looks."""
    parts = [
        (place, y, d, n)
        for place, row in enumerate(counts.values())
        for (y, d), n in zip(((1, 1), (0, 1), (1, 0), (0, 0)), row, strict=True)
    ]
    codes, y, d = (np.repeat([part[k] for part in parts], [part[3] for part in parts]) for k in range(3))
    score = (
        Score("m", "decision", 0.5, d.astype(float))
        if values is None
        else Score("m", "probability", 0.5, values)
    )
    records = AuditRecords(y.astype(np.int8), (Attribute("g", tuple(counts), codes),), (score,))
    protocol = Protocol(metrics=metrics, resamples=40)
    prepared = prepare(records)
    found = judge(prepared, protocol)
    info = {"protocol": dict(vars(protocol), thresholds={})}
    run = Run(Path(), info)
    run.__dict__.update(found.tables)
    tipping = find_tipping_points(prepared, found.verdicts, found.contrasts, protocol)
    run.__dict__["tipping_points"] = tipping
    run.__dict__["label_change"] = empty_table("label_change")
    run.__dict__["groups"] = tabulate_groups(records, protocol=protocol)
    run.__dict__["rates"] = tabulate_rates(prepared, protocol)
    run.__dict__["models"] = pd.DataFrame({"model": ["m"], "n_audit": [len(codes)]})
    return run


def all_text(run):
    board = say.build_board(run)
    return [
        say.describe_standings(board),
        say.describe_decisions(run, board),
        say.describe_open(run, board),
        say.describe_unjudged(board),
        table_html(board, say.BOARD_COLUMNS),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_report_is_written_on_every_cohort(runs, kind):
    for text in all_text(runs[kind]):
        assert text
        assert "<script" not in text
        assert not re.search(r"\bnan\b|\binf\b", text)


def test_same_run_gives_the_same_text(runs):
    assert all_text(runs["nine_groups"]) == all_text(read_run(runs["nine_groups"].folder))


@pytest.mark.parametrize("kind", KINDS)
def test_board_holds_every_cell_once_in_the_order_of_standings(runs, kind):
    run = runs[kind]
    board = say.build_board(run)
    assert len(board) == len(run.verdicts)
    assert not board.duplicated(["model", "metric", "attribute"]).any()
    places = board["standing"].map(list(say.STANDINGS).index)
    assert places.is_monotonic_increasing


@pytest.mark.parametrize("kind", KINDS)
def test_board_does_not_depend_on_the_order_of_the_result_file(runs, kind):
    run = runs[kind]
    shuffled = run_of(run)
    shuffled.__dict__["verdicts"] = run.verdicts.sample(frac=1, random_state=3).reset_index(drop=True)
    keys = ["model", "metric", "attribute"]
    first, second = (say.build_board(one).set_index(keys)["standing"].sort_index() for one in (run, shuffled))
    assert first.equals(second)


def with_models(run, names):
    """Copy a run with its first model repeated under several names."""
    copy = Run(run.folder, run.info)
    for table in ("models", "verdicts"):
        rows = getattr(run, table)
        rows = rows[rows["model"] == run.models["model"].iloc[0]]
        copy.__dict__[table] = pd.concat([rows.assign(model=name) for name in names], ignore_index=True)
    return copy


def test_the_report_writes_out_the_first_of_many_models_and_all_of_a_few(runs):
    few = with_models(runs["two_groups"], ["a", "b", "c"])
    many = with_models(runs["two_groups"], ["z", "<b>", "c", "d"])
    boards = {run.models["model"].iloc[0]: say.build_board(run) for run in (few, many)}
    assert say.pick_board(few, boards["a"]).equals(boards["a"])
    assert say.describe_choice(few) == ""
    picked = say.pick_board(many, boards["z"])
    assert set(picked["model"]) == {"z"}
    assert len(picked) == len(boards["z"]) / 4
    assert "**z**" in say.describe_choice(many)
    assert "The other 3" in say.describe_choice(many)


def test_the_strongest_evidence_stands_first_and_the_nearest_to_a_failure_before_the_others(runs):
    for run in runs.values():
        board = say.build_board(run)
        for standing, part in board.groupby("standing", sort=False):
            assert part["p_fail"].dropna().is_monotonic_increasing, standing


def test_standings_add_up_to_the_cells(runs):
    board = say.build_board(runs["nine_groups"])
    assert say.count_standings(board)["cells"].sum() == len(board)


APART = {"F": (90, 60, 210, 640), "M": (240, 60, 60, 640), "few": (3, 2, 1, 5)}


def test_decision_is_put_in_words_with_both_groups_and_their_sizes():
    run = shown_run(APART)
    told = say.describe_decisions(run, say.build_board(run))
    first = next(line for line in told.splitlines() if line.startswith("- **EOPP"))
    assert first.startswith(
        "- **EOPP for g: shown to fail in m.** Of 100 records with the event, the model finds "
        "30 in F (n = 300) and 80 in M (n = 300). That difference is 0.500 (bounds 0."
    )
    assert first.endswith("and must be \u2264 0.10. Not compared: few&#58; 4 events, 10 needed.")


def test_what_is_open_says_between_whom_and_how_far():
    run = shown_run({"A": (30, 20, 20, 130), "B": (25, 25, 25, 125)})
    board = say.build_board(run)
    assert "nothing was shown to fail" in say.describe_decisions(run, board)
    told = say.describe_open(run, board)
    assert (
        "- **EOPP for g: open, passes so far in m.** Of 100 records with the event, the model finds" in told
    )
    assert "(bounds -0." in told


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        (
            1,
            "If these estimates are the truth, about 1 record would show it to pass, in four of five audits.",
        ),
        (40_000, "about 40,000 records would show it to pass, in four of five audits."),
        (40_001, "it would take far more records than can be had to show it to pass."),
        (33_000_000, "it would take far more records than can be had to show it to pass."),
        (np.inf, "No number of records would show it if these estimates are the truth."),
    ],
)
def test_a_size_that_no_audit_can_have_is_called_so(needed, said):
    run = shown_run({"A": (30, 20, 20, 130), "B": (25, 25, 25, 125)})
    run.__dict__["verdicts"] = run.verdicts.assign(n_to_show=float(needed))
    told = say.describe_open(run, say.build_board(run)).splitlines()
    assert all(said in line for line in told if "EOPP" in line or "SPD" in line)
    assert "000,000" not in " ".join(told)


def test_a_cell_of_which_nothing_is_known_says_nothing_of_a_size():
    run = shown_run({"A": (30, 20, 20, 130), "B": (25, 25, 25, 125)})
    run.__dict__["verdicts"] = run.verdicts.assign(n_to_show=np.nan)
    told = say.describe_open(run, say.build_board(run))
    assert "truth" not in told
    assert "  " not in told


def test_a_pair_of_crossings_is_told_apart_where_no_rate_is_compared():
    values = np.tile([0.9, 0.1, 0.2, 0.3], 200)
    run = shown_run(
        {"Black, F": (100, 100, 100, 100), "White, M": (90, 110, 120, 80)}, values=values, metrics=("TI",)
    )
    told = say.describe_open(run, say.build_board(run)) + say.describe_shown(run, say.build_board(run))
    assert re.search("The difference of (Black, F and White, M|White, M and Black, F) is", told)


def test_a_score_that_promises_too_little_is_said_so_of_the_bin_that_shows_it():
    values = np.r_[np.full(200, 0.25), np.full(200, 0.65)]
    counts = {"A": (50, 150, 0, 0), "B": (60, 140, 0, 0)}
    run = shown_run(counts, values=np.r_[values[:200], values[200:]], metrics=("CAL",))
    board = say.build_board(run)
    told = say.describe_decisions(run, board)
    assert "In B with scores 0.6 to 0.7 (n = 200) the event is 35 points rarer than the scores say." in told
    assert "Event rate less mean score is -0.350 (bounds -0.4" in told


def test_long_list_of_decisions_is_cut_and_counted():
    run = shown_run(APART)
    board = say.build_board(run)
    failing = (board["standing"] == "shown to fail").sum()
    said = say.describe_decisions(run, board, limit=1)
    assert f"- {failing - 1} more cells stand in the table below." in said


def test_a_tiny_rate_is_said_of_ten_thousand_and_none_at_all_of_a_hundred():
    tiny = shown_run({"F": (0, 0, 3000, 7000), "M": (10, 10, 2990, 6990)}, metrics=("SPD",))
    assert "Of 10,000 records, the model selects 0 in F (n = 10,000) and 20 in M" in say.describe_shown(
        tiny, say.build_board(tiny)
    )


def test_what_hangs_on_few_unrecorded_events_says_so_and_falls_with_them():
    counts = {"A": (640, 150, 160, 1500), "B": (592, 150, 208, 1500)}
    run = shown_run(counts, metrics=("EOPP",))
    told = say.describe_shown(run, say.build_board(run))
    found = re.search(
        r"If ([\d.]+)% of the events in (A|B) had gone unrecorded \((\d+) beside the 800 recorded, "
        r"(all|none) of them selected\), this would not be shown\.",
        told,
    )
    assert found
    share, group, missed, which = found.groups()
    assert float(share) == pytest.approx(100 * int(missed) / (800 + int(missed)), abs=0.1)
    tp, fp, fn, tn = counts[group]
    more = int(missed) + 1
    moved = (tp + more, fp - more, fn, tn) if which == "all" else (tp, fp, fn + more, tn - more)
    assert shown_run(counts | {group: moved}, metrics=("EOPP",)).verdicts["shown"].tolist() == ["open"]


def test_what_stands_whatever_went_unrecorded_in_a_small_part_says_nothing_of_it():
    run = shown_run(APART, metrics=("EOPP", "SPD"))
    board = say.build_board(run)
    assert "unrecorded" not in say.describe_decisions(run, board) + say.describe_open(run, board)


def test_another_outcome_that_answers_otherwise_is_named_and_one_that_agrees_is_not():
    run = shown_run(APART, metrics=("EOPP",))
    row = run.verdicts.iloc[0]
    assert row["shown"] == "fail"
    keys = {name: row[name] for name in ("model", "metric", "attribute")}
    told = [
        keys | {"outcome": name, "shown": shown}
        for name, shown in (("los", "fail"), ("<b>ill</b>", "open"), ("died", "fail"))
    ]
    run.__dict__["label_change"] = fill_table("label_change", told)
    text = say.describe_decisions(run, say.build_board(run))
    assert "Judged by &#60;b&#62;ill&#60;&#47;b&#62;, the same decisions leave it open." in text
    assert text.count("Judged by") == 1


def test_where_everything_is_judged_groups_that_were_left_out_are_not_passed_over():
    board = pd.DataFrame({"standing": ["shown to pass"] * 3, "left_out": ["", "", ""]})
    assert say.describe_unjudged(board) == "In every cell at least two groups could be compared."
    few = board.assign(left_out=["c: 2 events", "", ""])
    assert say.describe_unjudged(few).endswith(" 1 cell leaves out groups of whom there is too little.")
    more = board.assign(left_out=["c: 2 events", "d: 1 event", ""])
    assert say.describe_unjudged(more).endswith(" 2 cells leave out groups of whom there is too little.")


def test_a_cell_whose_lowest_or_highest_group_is_no_people_says_so():
    counts = {"A": (30, 20, 20, 130), "declined [to answer]": (25, 25, 25, 125)}
    told = {
        name: say.describe_open(run, say.build_board(run))
        for name, run in (
            ("people", shown_run({"A": counts["A"], "B": counts["declined [to answer]"]})),
            ("missing", shown_run(counts)),
        )
    }
    assert "nothing is known" not in told["people"]
    assert "says that nothing is known of g: a missing value with a name, not a people." in told["missing"]
    assert "declined [to" not in told["missing"]  # escaped
