"""The checklist: every item once, what is done with sentence and table, what is not stays the authors'."""

import re
from dataclasses import replace

import docx
import pytest

from auditbook.columns import TABLES
from auditbook.report.handins import tripod_ai
from auditbook.report.handins.tripod_ai import DONE, PARTLY, YOURS
from form_runs import USE

LETTERS = {3: 3, 5: 2, 6: 3, 8: 3, 9: 3, 12: 7, 18: 6, 20: 3, 23: 2, 27: 3}
"""Items that have letters, and how many."""
KINDS = (
    "two_groups",
    "nine_groups",
    "three_sites",
    "inconclusive",
    "decisions",
    "nan",
    "unequal",
    "continuous",
)


def answer(reported, kind: str) -> dict[str, tripod_ai.Answer]:
    return {item.number: item.answer for item in tripod_ai.list_items(*reported[kind])}


NUMBERS = [f"{item}{letter}" for item in range(1, 28) for letter in "abcdefg"[: LETTERS.get(item, 0)] or [""]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_item_stands_there_once_in_order(reported, kind):
    assert list(answer(reported, kind)) == NUMBERS
    assert len(NUMBERS) == 52


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_done_has_a_sentence_and_what_is_yours_has_none(reported, kind):
    for one in answer(reported, kind).values():
        assert bool(one.sentence) == (one.state in (DONE, PARTLY))
        assert one.sentence == " ".join(one.sentence.split())
        assert not re.search(r"\bnan\b|None|\(\)", one.sentence)
        for table in one.tables:
            assert table == "run.json" or table.removesuffix(".csv") in TABLES


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_that_is_named_lies_in_the_run(reported, kind):
    run = reported[kind][0]
    for one in answer(reported, kind).values():
        for table in one.tables:
            assert table == "run.json" or (run.folder / "results" / table).is_file(), (one.sentence, table)


def test_counts_of_people_and_events_are_those_of_the_result_file(reported):
    row = reported["two_groups"][0].models.iloc[0]
    said = answer(reported, "two_groups")["21"]
    assert said.sentence == f"{row.n_audit:,} records audited, {row.events_audit:,} events."
    assert said.state == DONE


def test_of_several_models_the_same_is_said_once(reported):
    said = answer(reported, "nine_groups")["15"].sentence
    assert said == "A probability between 0 and 1; a record is selected when it is at least 0.5."
    assert answer(reported, "unequal")["15"].sentence.startswith("=risk: A probability")


def test_performance_says_what_the_report_says_of_each_model(reported):
    said = answer(reported, "unequal")["23a"].sentence
    for page in reported["unequal"][1].pages:
        assert page.accuracy.text in said
        for finding in page.findings:
            assert finding.statement.text in said


def test_words_about_its_use_are_passed_on_and_without_them_items_are_yours(reported):
    known, blank = answer(reported, "unequal"), answer(reported, "two_groups")
    assert known["3b"].sentence == f"Intended use: {USE['intended_use']}. Users: {USE['users']}."
    assert known["5a"].sentence == "Source, as the cohort file names it: the ward's own register."
    assert known["5b"].sentence == "Period: 2024."
    for number in ("3b", "5a", "5b"):
        assert (known[number].state, blank[number].state) == (PARTLY, YOURS)


def test_development_is_yours_for_given_scores_and_partly_told_for_trained_ones(reported):
    given, trained = answer(reported, "two_groups"), answer(reported, "nine_groups")
    for number in ("9a", "12c", "16", "20c"):
        assert (given[number].state, trained[number].state) == (YOURS, PARTLY)
    assert "Trained by this audit on " in trained["12c"].sentence


def test_differences_between_sites_are_yours_where_no_site_is_named(reported):
    assert answer(reported, "two_groups")["23b"].state == YOURS
    assert answer(reported, "three_sites")["23b"].state == DONE


def test_of_a_continuous_outcome_nothing_is_said_of_rates(reported):
    said = answer(reported, "continuous")
    assert {said[number].state for number in ("12e", "14", "23a")} == {PARTLY}
    assert said["23b"].state == YOURS
    assert said["15"].sentence == "A number in the unit of the outcome."


@pytest.mark.parametrize("kind", KINDS)
def test_the_document_opens_and_its_table_says_what_the_items_say(reported, kind, tmp_path):
    run, report = reported[kind]
    tripod_ai.write(run, report, tmp_path / "items.docx")
    table = docx.Document(str(tmp_path / "items.docx")).tables[0]
    lines = [[cell.text for cell in row.cells] for row in table.rows]
    assert lines[0] == list(tripod_ai.COLUMNS)
    items = tripod_ai.list_items(run, report)
    shown = [line for line in lines[1:] if len(set(line)) > 1]  # A merged line names a part of the report
    assert [line[0] for line in shown] == [item.number for item in items]
    assert [line[2] for line in shown] == [item.answer.state for item in items]
    assert [line[3] for line in shown] == [item.answer.sentence for item in items]
    assert [line[4].split() for line in shown] == [list(item.answer.tables) for item in items]


def test_a_run_without_a_model_has_a_checklist_too(reported, tmp_path):
    run, report = reported["two_groups"]
    items = tripod_ai.list_items(run, replace(report, pages=()))
    assert len(items) == 52
    assert {item.answer.state for item in items if item.number in ("15", "21", "23a", "25")} == {YOURS}


def test_the_same_run_gives_the_same_bytes(reported, tmp_path):
    for name in ("1.docx", "2.docx"):
        tripod_ai.write(*reported["unequal"], tmp_path / name)
    assert (tmp_path / "1.docx").read_bytes() == (tmp_path / "2.docx").read_bytes()
