"""Limits, who is too small, late features and rows left out: said only where they hold, of this run first."""

from dataclasses import replace

import pandas as pd
import pytest

from auditbook.report import build_report
from auditbook.report.unknown import STANDING
from auditbook.results import read_run
from runs_fixture import KINDS


def limits(run, place=0):
    return [said.text for said in build_report(run).pages[place].unknown]


@pytest.mark.parametrize("kind", KINDS)
def test_limits_of_every_audit_are_always_stated_and_come_last(runs, kind):
    assert tuple(limits(runs[kind])[-len(STANDING) :]) == STANDING


def test_a_synthetic_cohort_is_named_first(runs):
    assert limits(runs["nine_groups"])[0].startswith("The cohort is synthetic")
    assert "synthetic" not in " ".join(limits(runs["two_groups"]))


def test_ranks_given_scores_and_missing_sites_are_limits(runs):
    said = " ".join(limits(runs["inconclusive"]))
    assert "The scores came with the data" in said
    assert "The score is a rank and no probability" in said
    assert "No site is named" in said
    assert "No site is named" not in " ".join(limits(runs["nine_groups"]))


def test_a_few_sites_and_one_site_are_limits_of_their_own(runs, run_folders):
    assert "With 3 sites nothing can be said of sites like these" in " ".join(limits(runs["three_sites"]))
    run = read_run(run_folders["three_sites"])
    run.__dict__["cohort_sites"] = run.cohort_sites.iloc[:1]
    assert "All records come from one site" in " ".join(limits(run))


@pytest.mark.parametrize(("selected", "who"), [(0.0, "nobody"), (1.0, "everybody")])
def test_a_model_that_tells_nobody_apart_is_named(run_folders, selected, who):
    run = read_run(run_folders["two_groups"])
    run.__dict__["models"] = run.models.assign(selection_rate=selected)
    assert f"The model selects {who}:" in " ".join(limits(run))


def test_late_features_forbid_admission_only_where_the_model_sees_them(runs):
    late = build_report(runs["nine_groups"]).pages[0].late
    assert late.text == "Not for use at admission: the model sees charges, known only at the end of a stay."
    given = build_report(runs["two_groups"]).pages[0].late
    assert "ask before using it at admission" in given.text


def test_rows_left_out_are_counted_by_reason(runs):
    assert "outcome missing: 1,234" in build_report(runs["nine_groups"]).head.left_out.text
    assert build_report(runs["three_sites"]).head.left_out.text.endswith("none was left out.")


def test_one_missing_event_is_one_event(run_folders):
    run = read_run(run_folders["two_groups"])
    groups = run.groups.copy()
    groups.loc[0, ["events", "tp", "fn"]] = [9, 5, 4]
    run.__dict__["groups"] = groups
    (said,) = (one.text for one in build_report(run).pages[0].unjudged)
    assert "It lacks 1 event;" in said
    assert "9 with the event" in said


def test_a_group_never_seen_gets_no_size(runs):
    said = [one.text for one in build_report(runs["inconclusive"]).pages[0].unjudged]
    (other,) = (text for text in said if text.startswith("Other (race; nobody)"))
    assert "no size can be named" in other
    assert all("an audit of about" in text for text in said if text != other)


def test_it_is_said_which_crossings_of_groups_are_looked_at(runs):
    run = runs["two_groups"]
    assert "Of people who share two groups nobody is looked at" in " ".join(limits(run))
    crossed = replace(run, info=run.info | {"crosses": {"race_sex": ["race", "sex"]}})
    assert "only those of race_sex are looked at" in " ".join(limits(crossed))


def test_it_is_said_that_being_selected_is_taken_to_help(run_folders):
    run = read_run(run_folders["two_groups"])
    assert any(text.startswith("Being selected is taken to help") for text in limits(run))
    run.info["use"] = {"selected_means": "is refused a bed."}
    assert any(text.startswith("Being selected (is refused a bed) is taken to help") for text in limits(run))


def test_of_a_weighted_audit_no_people_are_counted_by_weighted_rates(run_folders):
    run = read_run(run_folders["two_groups"])
    assert "Rates are weighted" not in " ".join(limits(run))
    run.info["weights"] = {"records": 10}
    assert "Rates are weighted and speak of the population" in " ".join(limits(run))
    assert all(one.affected is None for one in build_report(run).pages[0].findings)


def test_who_is_compared_by_anything_is_not_called_unjudged_at_all(run_folders):
    run = read_run(run_folders["inconclusive"])
    nobody = [text for text in (one.text for one in build_report(run).pages[0].unjudged) if "at all" in text]
    assert nobody
    group = nobody[0].split(" (")[0]
    row = run.contrasts.dropna(subset="p_fail").iloc[[0]]
    known = run.groups[run.groups["group"] == group].iloc[0]
    more = row.assign(metric="CAL", rate="CAL", attribute=known["attribute"], group=group, other="")
    run.__dict__["contrasts"] = pd.concat([run.contrasts, more], ignore_index=True)
    said = [one.text for one in build_report(run).pages[0].unjudged if group in one.text]
    assert said
    assert all("at all" not in text for text in said)


def test_a_lowest_or_highest_group_without_a_known_value_is_a_limit(run_folders):
    run = read_run(run_folders["two_groups"])
    assert "nothing is known" not in " ".join(limits(run))
    verdicts = run.verdicts.copy()
    attribute = verdicts["attribute"].iloc[0]
    here = (verdicts["attribute"] == attribute) & (verdicts["model"] == verdicts["model"].iloc[0])
    first = verdicts.index[here][:2]
    verdicts.loc[first, "lowest_group"] = "DECLINED"
    run.__dict__["verdicts"] = verdicts
    (said,) = (one for one in build_report(run).pages[0].unknown if "nothing is known" in one.text)
    assert said.text == (
        f"DECLINED says that nothing is known of {attribute}: a missing value with a name, not a people. The "
        f"lowest or highest value is theirs in 2 of {here.sum()} cells of {attribute}."
    )
    assert [basis.where["metric"] for basis in said.basis] == verdicts.loc[first, "metric"].tolist()
