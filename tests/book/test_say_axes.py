"""What is said of audit size, sites and tiers is true of every cohort."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from auditbook.book.say import audit_size, sites, tiers
from auditbook.book.say.text import table_html
from auditbook.evidence.agreement import tabulate_agreement
from auditbook.settings import Protocol
from auditbook.verdicts.site_agreement import compare_folds, list_folds, nearest_size
from auditbook.verdicts.size_needs import list_needs
from auditbook.verdicts.tiers import grade_cases
from runs_fixture import KINDS

PROTOCOL = Protocol()
NAN = float("nan")


def well_said(texts):
    return all(texts) and not any("<" in text or "nan" in text or "inf " in text for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_on_size_is_said_of_every_cohort(runs, kind):
    run = runs[kind]
    for model in run.models["model"]:
        needs = list_needs(run.audit_size, run.verdicts, run.protocol, model=model)
        said = [audit_size.describe_sizes(run.audit_size, run.protocol)]
        said += [audit_size.describe_needs(needs, run.protocol), audit_size.describe_minds(needs)]
        said += [audit_size.describe_luck(needs, run.audit_size, run.protocol, model=model)]
        assert "<table" in table_html(audit_size.write_needs(needs), audit_size.NEED_COLUMNS)
        for attribute in audit_size.order_attributes(run.verdicts, model=model):
            sweep = audit_size.select_sweep(run.audit_size, run.protocol, model=model, attribute=attribute)
            said.append(audit_size.describe_support(sweep))
            assert "<table" in table_html(sweep, audit_size.SWEEP_COLUMNS)
        assert well_said(said)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_on_sites_is_said_of_every_cohort(runs, kind):
    run = runs[kind]
    near = nearest_size(run.site_verdicts, run.audit_size)
    for model in run.models["model"]:
        agreement = sites.list_agreement(run.site_agreement, model=model)
        cells = compare_folds(run.site_verdicts, run.verdicts, run.audit_size, model=model)
        said = [sites.describe_folds(run), sites.describe_cells(cells, near)]
        said += [sites.describe_missing(run.site_verdicts, model=model)]
        judged = (sites.describe_agreement, sites.describe_paradox, sites.describe_kappa_noise)
        said += [describe(agreement, run.protocol) for describe in judged]
        assert well_said(said)
        assert "<table" in table_html(agreement, sites.AGREEMENT_COLUMNS)
        assert "<table" in table_html(cells, sites.CELL_COLUMNS)
        assert "<table" in table_html(list_folds(run.site_verdicts), sites.FOLD_COLUMNS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_on_tiers_is_said_of_every_cohort(runs, kind):
    run = runs[kind]
    board = tiers.build_board(run)
    said = [tiers.describe_tiers(board), tiers.describe_needs(board), tiers.describe_axes(board, run)]
    said += [tiers.describe_stable_fails(board), tiers.describe_bounds(run.protocol)]
    said += [tiers.describe_rows(board, model=run.models["model"].iloc[0])]
    assert well_said(said)
    assert "<table" in table_html(board, tiers.BOARD_COLUMNS)
    assert len(board) == len(run.verdicts)
    assert tiers.count_tiers(board)["cells"].sum() == len(board)
    needs = board["need"].map(tiers.NEEDS.index)
    assert needs.is_monotonic_increasing


def test_n_star_is_written_as_a_number_or_in_words():
    assert audit_size.write_n_star(100_000.0) == "100,000"
    assert audit_size.write_n_star(math.inf) == "not reached"
    assert audit_size.write_n_star(NAN) == "\N{EN DASH}"


def size_rows(**columns):
    base = {"model": "m", "metric": "DI", "attribute": "sex", "n": [1_000, 2_500], "cv": [0.1, 0.04]}
    base |= {"cv_low": [0.08, 0.03], "cv_high": [0.13, 0.055], "pass_share": [1.0, 1.0]}
    base |= {"undefined_share": 0.0, "unsupported_share": [0.7, 0.0], "above_half": False}
    return pd.DataFrame(base | columns)


def needs_of(rows, *, n_star, verdict="pass"):
    verdicts = pd.DataFrame({"model": ["m"], "metric": "DI", "attribute": "sex", "verdict": verdict})
    return list_needs(rows, verdicts.assign(n_star=n_star), PROTOCOL, model="m")


def test_an_n_star_whose_interval_crosses_the_bound_is_named():
    needs = needs_of(size_rows(), n_star=2_500.0)
    assert "DI for sex" in audit_size.describe_luck(needs, size_rows(), PROTOCOL, model="m")
    sure = size_rows(cv_high=[0.13, 0.049])
    assert "would say the same" in audit_size.describe_luck(needs, sure, PROTOCOL, model="m")


def test_a_sure_verdict_on_an_unsettled_metric_and_the_reverse_are_told_apart():
    unsettled = needs_of(size_rows(cv=[0.9, 0.6]), n_star=math.inf)
    assert "the metric has not settled all the same: DI for sex" in audit_size.describe_minds(unsettled)
    torn = needs_of(size_rows(pass_share=[0.5, 0.5]), n_star=2_500.0)
    assert "subsamples disagree on the verdict in: DI for sex" in audit_size.describe_minds(torn)


def test_sizes_at_which_audits_end_inconclusive_are_named():
    sweep = audit_size.select_sweep(size_rows(), PROTOCOL, model="m", attribute="sex")
    assert "more than half of the audits of 1,000 records" in audit_size.describe_support(sweep)
    assert sweep["pass_low"].between(0.85, 1).all()


def test_attributes_with_a_verdict_come_first():
    verdicts = pd.DataFrame({"model": "m", "attribute": ["a", "b"], "verdict": ["inconclusive", "fail"]})
    assert audit_size.order_attributes(verdicts, model="m") == ["b", "a"]


def test_the_paradox_is_named_where_folds_agree_and_kappa_is_low():
    table = tabulate_agreement({"all": [[18, 2]] * 4}).assign(metric="PP", status="defined")
    said = sites.describe_paradox(table, PROTOCOL)
    assert "PP: raw agreement 81%, kappa -0.053, AC1 0.769" in said


def fold_rows(signs, n=700):
    words = {"p": "pass", "f": "fail", "i": "inconclusive"}
    rows = {"model": "m", "metric": "DI", "attribute": "sex", "fold": range(1, len(signs) + 1), "n": n}
    return pd.DataFrame(rows | {"sites": 3, "verdict": [words[sign] for sign in signs], "reason": ""})


def test_folds_against_the_whole_stand_beside_random_audits_of_their_size():
    verdicts = pd.DataFrame({"model": ["m"], "metric": "DI", "attribute": "sex", "verdict": "fail"})
    rows = size_rows(pass_share=[0.25, 0.1])
    cells = compare_folds(fold_rows("ppfi"), verdicts, rows, model="m")
    assert cells["against"].item() == pytest.approx(2 / 3)
    assert cells["mixed"].item() == 0.25
    assert "audits of 1,000 records" in sites.describe_cells(cells, 1_000.0)


def test_no_size_near_that_of_the_folds_is_said():
    assert math.isnan(nearest_size(fold_rows("pf", n=400), size_rows()))
    assert nearest_size(fold_rows("pf", n=600), size_rows()) == 1_000
    assert math.isnan(nearest_size(fold_rows("pf").iloc[:0], size_rows()))


def board_rows(**columns):
    base = {"model": "m", "metric": "DI", "attribute": "sex", "estimate": 0.7, "threshold": 0.8, "vfr": 0.0}
    base |= {"verdict": "fail", "n_star": 1_000.0, "kappa": 0.5, "tier": "Practical-Stability"}
    length = len(next(iter(columns.values())))
    return pd.DataFrame([base] * length).assign(**columns)


class Board:
    """A run that holds verdicts only."""

    def __init__(self, verdicts):
        self.verdicts = verdicts


def test_trusted_fails_come_first_and_trusted_passes_last():
    caution = ["Caution-Required"] * 2
    rows = board_rows(
        verdict=["pass", "inconclusive", "pass", "fail", "fail", "pass"],
        tier=["Practical-Stability", "", "High-Variance", "Catastrophic-Instability", *caution],
    )
    board = tiers.build_board(Board(rows))
    assert board["need"].tolist() == list(tiers.NEEDS)
    assert board["verdict"].tolist() == ["fail", "fail", "pass", "inconclusive", "pass", "pass"]


def test_a_fail_in_the_best_tier_is_named():
    board = tiers.build_board(Board(board_rows(verdict=["fail", "pass"])))
    assert tiers.describe_stable_fails(board) == "1 of 2 cells in the best tier is a fail: DI for sex in m."


def test_made_up_cells_are_graded_by_the_rule_of_the_audit():
    cases = {
        "good": {"vfr": 0.1, "n_star": 50_000, "kappa": 0.4},
        "alike": {"vfr": 0.1, "n_star": 50_000, "kappa": NAN},
        "bad": {"vfr": 0.11, "n_star": math.inf, "kappa": 0.39},
    }
    found = grade_cases(cases, PROTOCOL)["tier"].tolist()
    assert found == ["Practical-Stability", "Practical-Stability", "Catastrophic-Instability"]


def test_without_sites_the_board_says_that_they_were_not_judged(runs):
    run = runs["two_groups"]
    said = tiers.describe_axes(tiers.build_board(run), run)
    assert "not judged, because there is no site column." in said


def test_of_a_survey_it_is_said_why_no_size_was_judged(runs):
    run = runs["two_groups"]
    board = tiers.build_board(run).assign(n_star=NAN)
    weighted = replace(run, info=run.info | {"weights": {"records": 9}})
    assert "no size that is tried" in tiers.describe_axes(board, run)
    said = tiers.describe_axes(board, weighted)
    assert "not judged, because some of a weighted sample is no smaller audit of its kind." in said


def test_metrics_without_a_verdict_are_not_said_to_have_support():
    sweep = audit_size.select_sweep(size_rows(), PROTOCOL, model="m", attribute="sex")
    sure = sweep.assign(unsupported_share=0.0)
    silent = sure.assign(metric="PP", unsupported_share=NAN)
    said = audit_size.describe_support(pd.concat([sure, silent]))
    assert said.endswith("in all groups of sex for DI. Even with all records there is no verdict on PP.")
    assert audit_size.describe_support(sure).endswith("in all groups of sex.")
