"""Every number and claim of a report, against the result files."""

from dataclasses import replace

import numpy as np
import pytest

from auditbook.privacy import protect_run
from auditbook.report import build_report, write_json
from auditbook.results import read_run
from report_checks import check_report, check_texts, list_statements
from runs_fixture import KINDS, RECIPES, draw_sample, write_run


def worsen(sample, *, attribute, position, by):
    """Give one group lower scores than its outcomes ask for."""
    here = sample.codes[attribute] == position
    scores = {name: np.where(here, np.clip(score - by, 0, 1), score) for name, score in sample.scores.items()}
    return replace(sample, scores=scores)


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """A run on four races and ages in which two groups are found less often, and the risk is wrong there."""
    recipe = replace(
        RECIPES["two_groups"],
        rows=9000,
        attributes={"race": ("Asian", "Black", "Other", "White"), "sex": ("F", "M")},
        shares={"race": (0.1, 0.25, 0.002, 0.648), "sex": (0.5, 0.5)},
        models={"risk": "probability", "refit": "probability"},
    )
    sample = draw_sample(recipe, np.random.default_rng(3))
    sample = worsen(sample, attribute="race", position=1, by=0.25)
    sample = worsen(sample, attribute="sex", position=0, by=0.12)
    return write_run(tmp_path_factory.mktemp("failing"), recipe, sample)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_says_what_the_result_files_say(kind, runs, run_folders, tmp_path):
    report = build_report(runs[kind])
    write_json(report, tmp_path / "report.json")
    check_report(report, run_folders[kind], tmp_path / "report.json")


def test_a_report_of_what_is_shown_to_fail_says_what_the_result_files_say(failing, tmp_path):
    report = build_report(read_run(failing))
    write_json(report, tmp_path / "report.json")
    check_report(report, failing, tmp_path / "report.json")
    assert {one.question for page in report.pages for one in page.findings} >= {"found", "selected", "risk"}
    assert report.pages[0].findings[0].shares[0].group == "Black"


def list_risks(folder):
    return [one for one in build_report(read_run(folder)).pages[0].findings if one.metrics == ("CAL",)]


def test_one_error_by_two_attributes_is_one_finding_that_names_both(failing):
    first = list_risks(failing)[0]
    assert {first.attribute, *(name for name, _ in first.also)} == {"race", "sex"}
    assert "The same is shown" in first.statement.text
    for attribute, group in first.also:
        if group != first.shares[0].group:
            assert f"{attribute} (" in first.statement.text
            assert group in first.statement.text


def test_errors_to_two_sides_are_two_findings(tmp_path):
    recipe = replace(RECIPES["two_groups"], rows=9000, attributes={"race": ("A", "B")})
    recipe = replace(recipe, shares={"race": (0.5, 0.5)}, models={"risk": "probability"})
    sample = draw_sample(recipe, np.random.default_rng(3))
    sample = worsen(sample, attribute="race", position=0, by=0.2)
    sample = worsen(sample, attribute="race", position=1, by=-0.2)
    first, second = list_risks(write_run(tmp_path / "run", recipe, sample))[:2]
    assert sorted(one.gap > 0 for one in (first, second)) == [False, True]
    assert {one.shares[0].group for one in (first, second)} == {"A", "B"}
    assert not {group for _, group in first.also} & {second.shares[0].group}


def test_the_same_run_gives_the_same_bytes(failing, tmp_path):
    for name in ("one", "other"):
        write_json(build_report(read_run(failing)), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_words_of_the_cohort_file_stand_for_codes_and_bases_keep_the_codes(failing):
    run = read_run(failing)
    words = {"columns": {"race": "origin", "risk": "risk tool"}, "values": {"race": {"Black": "group <b>"}}}
    plain, worded = (build_report(replace(run, info=run.info | {"labels": said})) for said in ({}, words))
    said, told = (report.pages[0] for report in (plain, worded))
    assert told.model == "risk tool"
    assert [one.attribute for one in told.findings] == [
        "origin" if one.attribute == "race" else one.attribute for one in said.findings
    ]
    assert told.findings[0].shares[0].group == "group <b>"
    assert "group <b>" in told.answer.text
    assert "Black" not in told.answer.text + told.findings[0].statement.text
    assert [one.basis for one in list_statements(plain)] == [one.basis for one in list_statements(worded)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_withheld_changes_numbers_and_no_conclusion(kind, runs, tmp_path):
    exact, told = build_report(runs[kind]), build_report(protect_run(runs[kind]))
    check_texts(told)
    write_json(told, tmp_path / "report.json")
    for page, shown in zip(exact.pages, told.pages, strict=True):
        assert [mark.mark for mark in page.marks] == [mark.mark for mark in shown.marks]
        assert list(map(name_finding, page.findings)) == list(map(name_finding, shown.findings))
        assert len(page.unjudged) == len(shown.unjudged)
        assert page.answer.text.split(". ")[0] == shown.answer.text.split(". ")[0]


def test_what_is_withheld_changes_no_finding(failing):
    exact, told = (build_report(run) for run in (read_run(failing), protect_run(read_run(failing))))
    for page, shown in zip(exact.pages, told.pages, strict=True):
        assert list(map(name_finding, page.findings)) == list(map(name_finding, shown.findings))


def name_finding(finding):
    """Name a finding by what it is about and whom."""
    groups = tuple(share.group for share in finding.shares)
    return finding.metrics, finding.attribute, groups, finding.error_free_fails


def test_a_finding_about_a_group_of_which_nothing_is_known_says_so(failing, monkeypatch):
    said = build_report(read_run(failing)).pages[0].findings[0]
    monkeypatch.setattr("auditbook.tables.missing_words.names_missing", lambda name: name == "Black")
    again = build_report(read_run(failing)).pages[0].findings[0]
    told = f"Black says that nothing is known of {said.attribute}: a missing value with a name, not a people."
    assert again.statement.text == f"{said.statement.text} {told}"
