"""The answer in a line: every combination of what can be shown, singular and plural."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.report import build_report
from auditbook.report.findings import list_findings
from auditbook.report.source import Source
from auditbook.results import read_run
from report_checks import check_texts

WORDS = {"shown to fail": "fail", "shown to pass": "pass", "cannot be judged": "none"}


@pytest.fixture
def run(run_folders):
    """A run on two sexes and one given model, whose tables a test may change."""
    return read_run(run_folders["two_groups"])


def stand(run, name, standing, *, metrics=None):
    """Let cells stand elsewhere, with the numbers that go with it."""
    table = getattr(run, name).astype({"p_fail": float, "p_pass": float})
    here = table["metric"].isin(metrics or list(table["metric"]))
    table.loc[here, "standing"] = standing
    table.loc[here, "shown"] = WORDS.get(standing, "open")
    table.loc[here, "p_pass"] = 1e-9 if standing in ("shown to pass", "passes for those compared") else 1.0
    table.loc[here, "p_fail"] = 1e-9 if standing == "shown to fail" else 1.0
    run.__dict__[name] = table


def stand_all(run, standing):
    for name in ("verdicts", "auc_verdicts"):
        stand(run, name, standing)
    sure = standing == "shown to pass"
    run.__dict__["contrasts"] = run.contrasts.assign(p_fail=1.0, p_pass=1e-9 if sure else 1.0)
    if sure:
        run.__dict__["pocket_errors"] = run.pocket_errors.assign(flagged=0.0)


def tell(run):
    report = build_report(run)
    check_texts(report)
    return report.pages[0]


def test_all_that_could_be_asked_passes(run):
    stand_all(run, "shown to pass")
    page = tell(run)
    assert page.answer.text == (
        "Yes, as far as this audit can tell: all that it could ask is shown to pass. "
        "Next: audit again when the model or its patients change."
    )
    assert not page.findings
    assert {mark.mark for mark in page.marks} == {"passes"}


@pytest.mark.parametrize(("most", "said"), [(1, "1 test of pockets shows"), (2, "2 tests of pockets show")])
def test_a_flagged_pocket_keeps_from_saying_yes_where_all_that_was_asked_by_group_passes(run, most, said):
    flagged = run.pocket_errors
    stand_all(run, "shown to pass")
    here = flagged.index[(flagged["flagged"] == 1) & (flagged["pocket"] != "overall")][:most]
    run.pocket_errors.loc[here, "flagged"] = 1.0
    assert tell(run).answer.text == (
        f"Not everywhere: what was asked by group is shown to pass, but {said} that the score errs. "
        "Next: have people look at the flagged pockets, and audit again on other patients."
    )


def test_all_is_open(run):
    stand_all(run, "open, fails so far")
    page = tell(run)
    assert page.answer.text.startswith("Not cleared: nothing is shown to differ")
    assert "6 of 6 questions stay open (too few records to tell)." in page.answer.text
    assert "Next: audit more records" in page.answer.text


def test_one_question_is_open(run):
    stand_all(run, "shown to pass")
    stand(run, "verdicts", "open, passes so far", metrics=["PP"])
    page = tell(run)
    assert "1 of 6 questions stays open (too few records to tell)." in page.answer.text
    assert [mark.question for mark in page.marks if mark.mark == "open"] == ["meaning"]


def test_nothing_can_be_judged(run):
    stand_all(run, "cannot be judged")
    page = tell(run)
    assert page.answer.text.startswith("This audit cannot say: no two groups could be compared.")
    assert page.answer.text.endswith("Next: gather the records that are missing, and audit again.")


def test_one_question_that_could_not_be_judged_keeps_from_clearing(run):
    stand_all(run, "shown to pass")
    stand(run, "verdicts", "cannot be judged", metrics=["PP"])
    page = tell(run)
    assert page.answer.text.startswith("Not cleared: what could be judged is shown to pass, but not judged:")
    assert "what being selected means by sex" in page.answer.text


def test_all_passes_for_those_compared(run):
    stand_all(run, "shown to pass")
    stand(run, "verdicts", "passes for those compared", metrics=["CAL"])
    assert tell(run).answer.text.startswith("Yes for those who could be compared")


def fail(run, metric, rate):
    """Let one metric be shown to fail by one rate."""
    stand(run, "verdicts", "shown to fail", metrics=[metric])
    table = run.contrasts.astype({"p_fail": float, "p_pass": float})
    here = (table["metric"] == metric) & (table["rate"] == rate)
    table.loc[here, ["p_fail", "p_pass"]] = [1e-9, 1.0]
    run.__dict__["contrasts"] = table


def test_one_difference_is_shown(run):
    stand_all(run, "shown to pass")
    fail(run, "EOPP", "TPR")
    page = tell(run)
    assert page.answer.text.startswith(
        "Not as it is. Shown: by sex, fewer of those with the event are found in "
    )
    assert "justify the difference in writing" in page.answer.text
    assert [one.metrics for one in page.findings] == [("EOPP",)]
    assert page.further is None


def test_equal_opportunity_and_equalised_odds_are_one_finding(run):
    stand_all(run, "shown to pass")
    fail(run, "EOPP", "TPR")
    fail(run, "EOD", "TPR")
    page = tell(run)
    assert [one.metrics for one in page.findings] == [("EOPP", "EOD")]
    assert {mark.question for mark in page.marks if mark.mark == "fails"} == {"found"}


def test_impact_and_parity_are_one_finding(run):
    stand_all(run, "shown to pass")
    fail(run, "DI", "SR")
    fail(run, "SPD", "SR")
    assert [one.metrics for one in tell(run).findings] == [("SPD", "DI")]


def test_what_a_model_without_error_fails_too_is_no_reason_against_this_one(run):
    stand_all(run, "shown to pass")
    fail(run, "SPD", "SR")
    pair = run.contrasts[(run.contrasts["metric"] == "SPD")].iloc[0]
    rates = {pair["group"]: 0.6, pair["other"]: 0.2}
    run.__dict__["groups"] = run.groups.assign(event_rate=run.groups["group"].map(rates))
    page = tell(run)
    assert page.answer.text.startswith("Only with a written reason. Shown: by sex, fewer are selected in ")
    assert "of 100), as in a model without any error. Next: justify the difference" in page.answer.text
    assert "and fail too" in page.findings[0].statement.text


def test_a_small_difference_in_events_is_no_excuse_for_a_large_one_in_selection(run):
    stand_all(run, "shown to pass")
    fail(run, "SPD", "SR")
    pair = run.contrasts[(run.contrasts["metric"] == "SPD")].iloc[0]
    rates = {pair["group"]: 0.32, pair["other"]: 0.2}
    run.__dict__["groups"] = run.groups.assign(event_rate=run.groups["group"].map(rates))
    bounds = {"estimate": 0.6, "low": 0.55, "high": 0.65}
    run.__dict__["contrasts"] = run.contrasts.assign(**bounds)
    page = tell(run)
    assert page.answer.text.startswith("Not as it is.")
    assert "a difference of 12.0 per 100: less than is shown here" in page.findings[0].statement.text


def test_what_a_model_without_error_would_turn_round_is_a_reason_against_this_one(run):
    stand_all(run, "shown to pass")
    fail(run, "SPD", "SR")
    pair = run.contrasts[(run.contrasts["metric"] == "SPD")].iloc[0]
    rates = {pair["group"]: 0.2, pair["other"]: 0.6}
    run.__dict__["groups"] = run.groups.assign(event_rate=run.groups["group"].map(rates))
    page = tell(run)
    assert page.answer.text.startswith("Not as it is. Shown: by sex, fewer are selected in ")
    assert "differ the other way round" in page.findings[0].statement.text


def test_whoever_selects_nobody_is_not_cleared(run):
    stand_all(run, "shown to pass")
    run.__dict__["models"] = run.models.assign(selection_rate=0.0)
    assert tell(run).answer.text.startswith("This audit cannot say: the model selects nobody.")


def number_run(run, *, flagged):
    """Turn the outcome into a number, with so many flagged tests and no decision judged."""
    info = run.info | {"outcome": {"column": "days", "event": "", "continuous": True}}
    found = replace(run, info=info)
    for name in ("verdicts", "auc_verdicts", "models", "groups", "contrasts", "rates", "baselines"):
        table = run.__getattr__(name) if name != "baselines" else pd.DataFrame()
        if len(table.columns):
            found.__dict__[name] = table.iloc[:0]
    errors = run.pocket_errors.copy()
    tested = np.flatnonzero(errors["status"] == "tested")
    errors["flagged"] = 0.0
    errors.loc[errors.index[tested[:flagged]], "flagged"] = 1.0
    errors.loc[errors.index[tested[:flagged]], "direction"] = "over"
    found.__dict__["pocket_errors"] = errors
    return found


@pytest.mark.parametrize(
    ("flagged", "words"),
    [
        (0, r"^The outcome is a number.* Not cleared: in \d+ tests"),
        (1, r"1 of \d+ tests .* shows that"),
        (3, r"3 of \d+ tests .* show that"),
    ],
)
def test_of_a_number_only_errors_in_the_mean_and_gaps_are_told(run, flagged, words):
    report = build_report(number_run(run, flagged=flagged))
    check_texts(report)
    page = report.pages[0]
    assert re.search(words, page.answer.text)
    assert not page.marks
    assert not page.findings
    assert not page.calibration
    assert report.head.continuous
    assert report.head.outcome == "days, a number"


def test_withheld_numbers_are_told_as_fewer_than_are_shown(run):
    stand_all(run, "shown to pass")
    fail(run, "EOPP", "TPR")
    blank = ["n", "events", "non_events", "tp", "fp", "fn", "tn", "tpr", "event_rate", "mean_score"]
    groups = run.groups.copy()
    groups[blank] = groups[blank].astype(float)
    groups.loc[0, blank] = np.nan
    run.__dict__["groups"] = groups
    rates = run.rates.copy()
    rates[["n", "value"]] = rates[["n", "value"]].astype(float)
    rates.loc[rates["group"] == groups["group"][0], ["n", "value", "low", "high"]] = np.nan
    run.__dict__["rates"] = rates
    page = tell(run)
    assert page.findings[0].affected is None
    assert any(share.value is None and share.n is None for share in page.findings[0].shares)
    said = page.findings[0].statement.text
    assert re.search(r"\. How many in .+ is withheld, as it would give away a number below 10\. ", said)
    assert "a number that is withheld" not in said


def test_a_model_without_error_is_only_said_to_pass_by_attributes_of_which_that_is_known(run):
    stand_all(run, "shown to pass")
    known = tell(run).without_error[0].text
    assert "by every attribute (DI and SPD)" in known
    more = run.verdicts.assign(attribute="age", error_free=np.nan)
    run.__dict__["verdicts"] = pd.concat([run.verdicts, more], ignore_index=True)
    (said,) = build_report(run).pages[0].without_error
    assert said.text == known.replace("every attribute", "sex")


def test_where_a_model_without_error_fails_is_said_of_these_records_only(run):
    stand_all(run, "shown to pass")
    run.__dict__["verdicts"] = run.verdicts.assign(error_free=0.6)
    (said,) = tell(run).without_error
    assert said.text.startswith("On these records")
    assert "and fail there: among them" in said.text
    assert "too" not in said.text


def test_of_areas_the_two_groups_are_told_that_are_shown_to_differ(run_folders):
    run = read_run(run_folders["nine_groups"])
    attribute = run.auc_verdicts["attribute"].iloc[0]
    areas = run.auc_matrix
    within = areas[(areas["attribute"] == attribute) & (areas["event_group"] == areas["nonevent_group"])]
    ranked = list(within.dropna(subset="auc").sort_values("auc")["event_group"].drop_duplicates())
    assert len(ranked) > 3
    told = f"{ranked[-2]}, {ranked[1]}"
    run.__dict__["auc_verdicts"] = run.auc_verdicts.assign(shown="fail", gap_groups=told)
    found = list_findings(Source(run), run.auc_verdicts["model"].iloc[0])
    (area,) = [one for one in found if one.metrics == ("AUC",) and one.attribute == attribute]
    assert {share.group for share in area.shares} == {ranked[1], ranked[-2]}


def test_a_flagged_gap_of_a_number_is_told_in_words(run):
    found = number_run(run, flagged=0)
    errors = found.pocket_errors
    here = (errors["quantity"] == "delta") & (errors["status"] == "tested") & (errors["pocket"] == "overall")
    place = errors.index[here][0]
    errors.loc[place, ["flagged", "direction", "estimate"]] = [1.0, "under", -0.4]
    attribute, pair = errors.loc[place, "contrast"].split(": ")
    one, other = pair.split(" - ")
    report = build_report(found)
    check_texts(report)
    page = next(page for page in report.pages if page.model == errors.loc[place, "model"])
    assert f"It is too low for {one} compared with {other} ({attribute}) by 0.400." in page.answer.text
    assert page.pockets_said is not None
    assert f"too low for {one} compared with {other} ({attribute}) by 0.400" in page.pockets_said.text
