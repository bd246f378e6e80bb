"""What is said of scores is true of probabilities, ranks and bare decisions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from auditbook.book.say import scores as say
from auditbook.book.say.text import table_html
from auditbook.evidence.intervals import rate_events
from auditbook.evidence.score_bins import add_baseline, compare_levels, share_bins, sweep_thresholds
from auditbook.results import rows
from runs_fixture import KINDS


def bins_of(counts):
    """Make score bins of [0, 1] from (n, events) of each, mean scores in the middle."""
    width = 1 / len(counts)
    table = pd.DataFrame(counts, columns=["n", "events"])
    table["bin"] = range(1, len(counts) + 1)
    table["bin_low"] = (table["bin"] - 1) * width
    table["bin_high"] = table["bin"] * width
    return table.assign(mean_score=table["bin_low"] + width / 2)


def all_sentences(run, row):
    bins = say.select_bins(run.score_bins, row.model)
    levels = compare_levels(run.groups, row.model, run.groups["attribute"].iloc[0], kind=row.kind)
    return [
        say.describe_sources(run.models, run.info),
        say.describe_kinds(run.models),
        say.describe_late(run.cohort_columns, run.models),
        say.describe_discrimination(run.models),
        say.describe_accuracy(add_baseline(run.models)),
        say.describe_shares(share_bins(bins)),
        say.describe_bins(rate_events(bins), row.kind),
        say.describe_levels(levels, row.kind),
        say.describe_threshold(row),
        say.list_models(run.models),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_can_be_said_of_every_model(runs, kind):
    for row in rows(runs[kind].models):
        for text in all_sentences(runs[kind], row):
            assert text
            assert "nan" not in text
            assert "<" not in text
            assert "  " not in text


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_can_be_written_for_every_model(runs, kind):
    run = runs[kind]
    for row in rows(run.models):
        bins = say.select_bins(run.score_bins, row.model)
        levels = compare_levels(run.groups, row.model, run.groups["attribute"].iloc[0], kind=row.kind)
        shown = [
            (run.models, say.MODEL_COLUMNS),
            (add_baseline(run.models), say.QUALITY_COLUMNS),
            (share_bins(bins), say.SHARE_COLUMNS),
            (rate_events(bins), say.BIN_COLUMNS),
            (levels, say.LEVEL_COLUMNS),
            (sweep_thresholds(bins), say.SWEEP_COLUMNS),
        ]
        for frame, columns in shown:
            assert table_html(frame, columns).count("<tr>") == len(frame) + 1


def test_rank_and_decision_say_what_cannot_be_judged(runs):
    assert "Calibration cannot be judged" in say.describe_kinds(runs["inconclusive"].models)
    assert "Neither calibration nor the AUROC" in say.describe_kinds(runs["decisions"].models)


def test_given_model_is_not_called_unseen(runs):
    assert "nobody can rule out" in say.describe_sources(runs["two_groups"].models, runs["two_groups"].info)
    text = say.describe_sources(runs["nine_groups"].models, runs["nine_groups"].info)
    assert "no hospital&#95;id has records in both parts" in text


def test_models_trained_on_late_columns_carry_a_warning(runs):
    run = runs["nine_groups"]
    assert "upper bound" in say.describe_late(run.cohort_columns, run.models)
    early = run.cohort_columns[run.cohort_columns["role"] != "late feature"]
    assert "marks no column as late" in say.describe_late(early, run.models)


def test_shares_of_each_outcome_add_up_to_one_and_hold_their_interval():
    shares = share_bins(bins_of([(10, 1), (10, 4), (20, 15)]))
    assert shares["event_share"].tolist() == pytest.approx([0.05, 0.2, 0.75])
    assert shares["other_share"].sum() == pytest.approx(1)
    assert (shares["event_share_low"] < shares["event_share"]).all()
    assert (shares["event_share"] < shares["event_share_high"]).all()


def test_cohort_without_events_has_no_shares_of_events():
    shares = share_bins(bins_of([(10, 0), (10, 0)]))
    assert shares["event_share"].isna().all()
    assert "nothing to tell apart" in say.describe_shares(shares)


def test_empty_bin_has_no_rate():
    rates = rate_events(bins_of([(10, 2), (0, 0)]))
    assert rates["event_rate"].iloc[0] == pytest.approx(0.2)
    assert rates.loc[1, ["event_rate", "event_rate_low", "event_rate_high"]].isna().all()


def test_calibrated_bins_are_found_within_their_intervals():
    text = say.describe_bins(rate_events(bins_of([(100, 25), (100, 75)])), "probability")
    assert "0 of 2 filled bins" in text
    assert "rises from each bin to the next" in text


def test_score_that_points_the_wrong_way_is_seen():
    text = say.describe_bins(rate_events(bins_of([(100, 90), (100, 10)])), "probability")
    assert "falls 1 time in 1" in text
    assert "2 of 2 filled bins" in text


def test_all_scores_in_one_bin_say_nothing_of_calibration():
    assert "one bin" in say.describe_bins(rate_events(bins_of([(100, 40), (0, 0)])), "rank")


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_sweep_agrees_with_counting_records(records):
    scores, outcome = np.array([score for score, _ in records]), np.array([event for _, event in records])
    where = np.minimum((scores * 10).astype(int), 9)
    counts = [(int((where == b).sum()), int(outcome[where == b].sum())) for b in range(10)]
    sweep = sweep_thresholds(bins_of(counts))
    for position, row in enumerate(rows(sweep)):
        tn, fp, fn, tp = confusion_matrix(outcome, where >= position, labels=[False, True]).ravel()
        assert row.selected == tp + fp
        for found, part, whole in ((row.tpr, tp, tp + fn), (row.fpr, fp, fp + tn), (row.ppv, tp, tp + fp)):
            assert np.isnan(found) if not whole else found == pytest.approx(part / whole)


def test_threshold_that_selects_nobody_or_everybody_is_named(runs):
    row = say.find_model(runs["nan"].models, "rule of thumb")
    assert "Nobody is selected" in say.describe_threshold(row)
    assert "Everybody is selected" in say.describe_threshold(row._replace(selection_rate=1.0))


def test_percentile_threshold_is_named(runs):
    row = say.find_model(runs["three_sites"].models, "deployed")
    assert "percentile 90 of the audited scores" in say.describe_threshold(row)


def test_auroc_below_one_half_and_around_it_are_told_apart(runs):
    models = runs["two_groups"].models
    guess = models.assign(auroc=0.51, auroc_low=0.45, auroc_high=0.57)
    upside_down = models.assign(auroc=0.3, auroc_low=0.2, auroc_high=0.4)
    assert "blind guessing" in say.describe_discrimination(guess)
    assert "points the other way" in say.describe_discrimination(upside_down)
    bare = models.assign(auroc=0.9, auroc_low=np.nan, auroc_high=np.nan)
    assert "no interval" in say.describe_discrimination(bare)


def test_blind_rule_is_the_better_of_nobody_and_everybody(runs):
    models = runs["two_groups"].models
    often = add_baseline(models.assign(event_rate=0.7))
    assert often["blind"].iloc[0] == pytest.approx(0.7)
    assert "Selecting everybody is right for 70.0%" in say.describe_accuracy(often)
    assert "Selecting nobody is right for 80.0%" in say.describe_accuracy(
        add_baseline(models.assign(event_rate=0.2))
    )


def test_accuracy_is_held_against_deciding_blindly(runs):
    models = add_baseline(runs["two_groups"].models)
    assert "points more" in say.describe_accuracy(models)
    assert "no better than that" in say.describe_accuracy(models.assign(accuracy=0.1))
    assert say.describe_accuracy(models.assign(accuracy=np.nan)) == "No accuracy can be given."


def test_group_whose_mean_score_is_too_high_is_named():
    groups = pd.DataFrame({"model": "m", "attribute": "a", "group": ["A", "B"], "n": [400, 400]})
    groups = groups.assign(events=[100, 100], mean_score=[0.25, 0.60])
    levels = compare_levels(groups, "m", "a", kind="probability")
    assert "above the interval of the event rate for B." in say.describe_levels(levels, "probability")
    ranks = compare_levels(groups, "m", "a", kind="rank")
    assert ranks[["mean_score", "excess"]].isna().all(axis=None)
    assert "not probabilities" in say.describe_levels(ranks, "rank")


def test_selecting_everybody_is_not_said_to_blind_every_metric(runs):
    row = next(runs["two_groups"].models.itertuples(index=False))._replace(selection_rate=1.0)
    said = say.describe_threshold(row)
    assert "the same selection and error rates" in said
    assert "no metric" not in said
