"""The audit report says what stands, what asks for a decision and what cannot be known, on every cohort."""

import re

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say import audit as say
from auditbook.book.say.text import table_html
from auditbook.results import Run, read_run, rows
from auditbook.verdicts.standing import name_standings
from runs_fixture import KINDS


def run_of(run, **columns):
    """Copy a run with some columns of its verdicts set."""
    copy = Run(run.folder, run.info)
    copy.__dict__["verdicts"] = run.verdicts.assign(**columns)
    return settle(copy)


def settle(run):
    """Name the standings of a copied run again, by the rule that an audit uses."""
    cells = run.verdicts.assign(supported=[say._support_estimate(row, run) for row in rows(run.verdicts)])
    run.__dict__["verdicts"] = run.verdicts.assign(standing=name_standings(cells, protocol=run.protocol))
    return run


def all_text(run):
    board = say.build_board(run)
    missing = say.find_shortfalls(run)
    return [
        say.describe_question(run),
        say.describe_groups(run),
        say.describe_left_out(run.info),
        say.describe_accuracy(run.models),
        say.describe_standings(board),
        say.describe_decisions(run, board),
        say.describe_unjudged(board),
        say.describe_shortfalls(missing),
        say.describe_limits(run),
        table_html(board, say.BOARD_COLUMNS),
        table_html(run.models, say.MODEL_COLUMNS),
        table_html(missing, say.SHORTFALL_COLUMNS),
        table_html(say.list_provenance(run), say.FACT_COLUMNS),
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


@pytest.mark.parametrize(
    ("columns", "standing", "why"),
    [
        ({"verdict": "fail"}, "fails", ""),
        ({"verdict": "pass"}, "passes", ""),
        ({"verdict": "pass", "vfr_own_size": 0.3}, "passes, not settled", "30.0% of samples of this size"),
        ({"verdict": "fail", "vfr_site": 0.25}, "fails, not settled", "25.0% of samples of sites"),
        ({"verdict": "pass", "agrees": 0.0}, "passes, not settled", "most resamples say the opposite"),
        (
            {"verdict": "pass", "vfr_own_size": np.nan, "agrees": np.nan},
            "passes, not settled",
            "no flip rate",
        ),
        ({"verdict": "fail", "ci_low": np.nan}, "fails, not settled", "resamples that do not vary"),
        ({"verdict": "inconclusive", "reason": "A: 0 events"}, "cannot be judged", "A: 0 events"),
    ],
)
def test_standing_follows_verdict_and_flip_rates(runs, columns, standing, why):
    settled = {"reason": "", "vfr_own_size": 0.0, "vfr_site": np.nan, "agrees": 1.0}
    board = say.build_board(run_of(runs["two_groups"], **(settled | columns)))
    assert set(board["standing"]) == {standing}
    assert why in board["why"].iloc[0]


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


def board_of_calibration(runs, sizes):
    """One cell of CAL that fails by 0.7, with two score bins of the given sizes."""
    run = runs["two_groups"]
    cell = run.verdicts.query("metric == 'CAL'").head(1)
    settled = {"verdict": "fail", "reason": "", "vfr_own_size": 0.0, "vfr_site": np.nan, "agrees": 1.0}
    copy = Run(run.folder, run.info)
    copy.__dict__["verdicts"] = cell.assign(estimate=0.7, threshold=0.05, ci_low=0.6, **settled)
    name = {"model": cell["model"].iloc[0], "attribute": cell["attribute"].iloc[0], "group": "F"}
    bins = {"bin": [7, 0], "bin_low": [0.7, 0.0], "bin_high": [0.8, 0.1], "n": sizes}
    copy.__dict__["score_bins"] = pd.DataFrame({**name, **bins, "events": [0, 0], "mean_score": [0.7, 0.02]})
    return say.build_board(settle(copy))


@pytest.mark.parametrize("sizes", [(1, 500), (29, 29)])
def test_calibration_that_fails_on_thin_bins_alone_is_not_settled(runs, sizes):
    board = board_of_calibration(runs, sizes)
    assert board["standing"].tolist() == ["fails, not settled"]
    assert "score bins of fewer than 30 records" in board["why"].iloc[0]


def test_calibration_that_fails_on_a_full_bin_is_settled_and_ranked_by_it(runs):
    board = board_of_calibration(runs, (30, 500))
    assert board["standing"].tolist() == ["fails"]
    assert board["excess"].iloc[0] == pytest.approx(0.7 / 0.05 - 1)


def test_ratios_and_gaps_are_ranked_by_how_many_times_they_miss(runs):
    run = runs["two_groups"]
    cells = run.verdicts[run.verdicts["metric"].isin(["DI", "SPD"])].groupby("metric").head(1)
    values = cells["metric"].map({"DI": 0.08, "SPD": 0.45})
    copy = Run(run.folder, run.info)
    copy.__dict__["verdicts"] = cells.assign(
        estimate=values, verdict="fail", reason="", vfr_own_size=0.0, vfr_site=np.nan, agrees=1.0, ci_low=0.0
    )
    board = say.build_board(settle(copy)).set_index("metric")
    assert board.index.tolist() == ["DI", "SPD"]
    assert board["excess"].tolist() == pytest.approx([9.0, 3.5])


def test_low_flip_rate_at_the_protocol_size_settles_nothing_at_the_own_size(runs):
    flips = {"vfr": 0.0, "vfr_own_size": 0.4, "agrees": 1.0, "verdict": "pass", "reason": ""}
    board = say.build_board(run_of(runs["two_groups"], **flips))
    assert set(board["standing"]) == {"passes, not settled"}


def test_standings_add_up_to_the_cells(runs):
    board = say.build_board(runs["nine_groups"])
    assert say.count_standings(board)["cells"].sum() == len(board)


def test_synthetic_cohort_is_named_in_the_limits(runs):
    assert "**The cohort is synthetic.**" in say.describe_limits(runs["nine_groups"])
    assert "is synthetic" not in say.describe_limits(runs["two_groups"])


@pytest.mark.parametrize("kind", KINDS)
def test_limits_of_every_audit_are_always_stated(runs, kind):
    said = say.describe_limits(runs[kind])
    assert all(limit in said for limit in say.STANDING_LIMITS)


def test_limits_name_ranks_given_scores_and_missing_sites(runs):
    said = say.describe_limits(runs["inconclusive"])
    assert "points gives no probabilities" in said
    assert "came with the data" in said
    assert "No site is named" in said


def test_late_features_are_a_limit_of_trained_models_only(runs):
    assert "charges, known only at the end of a stay" in say.describe_limits(runs["nine_groups"])
    assert "end of a stay" not in say.describe_limits(runs["two_groups"])


def test_harm_and_left_out_rows_are_said(runs):
    run = runs["nine_groups"]
    assert "a long stay nobody planned for" in say.describe_question(run)
    assert "- **DI**, Disparate impact. Smallest over largest selection rate" in say.describe_question(run)
    assert "outcome missing: 1,234" in say.describe_left_out(run.info)
    assert "None was left out" in say.describe_left_out(runs["three_sites"].info)
    one = say.describe_left_out({"rows_read": 1, "rows_kept": 1})
    assert one == "1 row was read and 1 kept. None was left out."


def test_size_that_would_bring_support_scales_the_audit(runs):
    run = Run(runs["two_groups"].folder, runs["two_groups"].info)
    row = {"model": "m", "attribute": "race", "group": "A", "n": 100, "events": 4, "non_events": 96}
    rest = row | {"group": "B", "n": 900, "events": 90, "non_events": 810}
    run.__dict__["groups"] = pd.DataFrame([row, rest])
    table = say.find_shortfalls(run)
    assert table["lacks"].tolist() == ["6 events"]
    assert table["needed"].tolist() == [2500]  # 1,000 records x 10 events needed / 4 seen
    assert "about 2,500 records" in say.describe_shortfalls(table)


def test_group_never_seen_gets_no_size(runs):
    table = say.find_shortfalls(runs["inconclusive"])
    other = table[table["group"] == "Other"]
    assert other["needed"].isna().all()
    assert "\N{EN DASH}" in table_html(other, say.SHORTFALL_COLUMNS)
    assert "no size can be named" in say.describe_shortfalls(table)


def test_decision_is_put_in_words_with_both_groups_and_their_sizes(runs):
    run = runs["decisions"]
    said = say.describe_decisions(run, say.build_board(run))
    assert re.search(r"Of 100 records, the model selects \d+ in F \(n = 450\) and \d+ in M", said)


def test_flip_rate_just_over_the_bound_is_not_rounded_onto_it(runs):
    flips = {"verdict": "pass", "reason": "", "vfr_own_size": 0.105, "vfr_site": np.nan, "agrees": 1.0}
    board = say.build_board(run_of(runs["two_groups"], **flips))
    assert board["why"].iloc[0].startswith("10.5% of samples")


@pytest.mark.parametrize(("groups", "told"), [(1, "1 group lacks support."), (2, "2 groups lack support.")])
def test_one_group_and_several_agree_with_their_verb(groups, told):
    table = pd.DataFrame({"group": ["A", "B"][:groups], "needed": [2500.0, np.nan][:groups]})
    assert say.describe_shortfalls(table).startswith(told)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (
            (1, 500),
            "Among bins of at least 30 records the largest distance is 0.020; the value itself comes from ",
        ),
        ((1, 29), "No bin holds the 30 records that a group needs. Scores"),
        ((30, 500), "≤ 0.05. Scores"),
    ],
)
def test_calibration_that_rests_on_a_thin_bin_says_so(runs, sizes, said):
    run = Run(runs["two_groups"].folder, runs["two_groups"].info)
    columns = {"model": "m", "attribute": "sex", "group": "F", "bin": [7, 0], "bin_low": [0.7, 0.0]}
    columns |= {"bin_high": [0.8, 0.1], "n": sizes, "events": [0, 0], "mean_score": [0.7, 0.02]}
    run.__dict__["score_bins"] = pd.DataFrame(columns)
    cell = {"standing": "fails", "model": "m", "metric": "CAL", "attribute": "sex", "estimate": 0.7}
    cell |= {"passes": "≤ 0.05", "why": "", "lowest_group": "", "highest_group": ""}
    told = say.describe_decisions(run, pd.DataFrame([cell]))
    assert said in told
    assert told.endswith(f"Scores from 0.7 to 0.8 lie 70 points off the event rate in F (n = {sizes[0]}).")


def test_harm_that_ends_with_a_full_stop_gets_no_second_one(runs):
    run = Run(runs["two_groups"].folder, runs["two_groups"].info | {"harm": "Nobody came."})
    assert "The harm behind it: Nobody came. Each model" in say.describe_question(run)


def test_long_list_of_decisions_is_cut_and_counted(runs):
    run = runs["decisions"]
    board = say.build_board(run)
    said = say.describe_decisions(run, board, limit=1)
    assert "more cells ask for a decision; see the table below" in said


@pytest.mark.parametrize("profile", ["quick", {"name": "quick", "resamples": 200}])
def test_provenance_names_profile_seed_and_hashes_but_no_time(runs, profile):
    run = Run(runs["two_groups"].folder, runs["two_groups"].info | {"profile": profile, "steps": ["9 s"]})
    facts = say.list_provenance(run).set_index("what")["value"]
    assert facts["profile"] == "quick"
    assert facts["seed"] == "42"
    assert facts["hash of the data"] == "0" * 64
    assert not facts.astype(str).str.contains("9 s").any()


def test_one_site_is_a_limit_of_its_own(runs):
    said = say.describe_limits(run_of(runs["two_groups"], site_count=1.0))
    assert "All audited records come from one site" in said
    assert "poorly known" not in said


def test_the_reason_for_no_auroc_holds_for_decisions(runs):
    models = runs["two_groups"].models.assign(auroc=np.nan)
    assert "scores, not decisions, and both outcomes" in say.describe_accuracy(models)


@pytest.mark.parametrize("selected", [0.0, 1.0])
def test_a_model_that_tells_nobody_apart_is_named_among_the_limits(runs, selected):
    copy = Run(runs["two_groups"].folder, runs["two_groups"].info)
    copy.__dict__["models"] = runs["two_groups"].models.assign(selection_rate=selected)
    assert "risk score selects everybody or nobody" in say.describe_limits(copy)
    assert "everybody or nobody" not in say.describe_limits(runs["two_groups"])


def test_one_missing_event_is_one_event(runs):
    copy = Run(runs["two_groups"].folder, runs["two_groups"].info)
    groups = runs["two_groups"].groups.assign(n=100, events=9, non_events=91)
    copy.__dict__["groups"] = groups
    assert set(say.find_shortfalls(copy)["lacks"]) == {"1 event"}


@pytest.mark.parametrize(
    ("selected", "said"),
    [
        ({"F": 0.0, "M": 0.0}, "Of 100 records, the model selects 0 in every group."),
        ({"F": 0.0, "M": 0.002}, "Of 10,000 records, the model selects 0 in F"),
    ],
)
def test_no_difference_and_a_tiny_one_are_put_in_words(runs, selected, said):
    run = runs["decisions"]
    cell = next(say.build_board(run).query("metric == 'DI'").itertuples())
    attribute = run.groups["attribute"] == cell.attribute
    hits = run.groups["group"].map(selected).fillna(0.0) * 10_000
    copy = run_of(run)
    copy.__dict__["groups"] = run.groups[attribute].assign(
        tp=hits, fp=0, fn=5_000, tn=5_000 - hits, n=10_000, events=5_000
    )
    text = say._write_difference(cell, copy)
    assert said in text
