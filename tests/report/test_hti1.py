"""Source attributes: all 31 for each model, filled, from [use] or open; numbers as in the result files."""

import re
from dataclasses import replace

import openpyxl
import pytest

from auditbook.report.handins import hti1
from auditbook.report.handins.hti1 import ABSENT, FILLED, FROM_USE
from auditbook.report.handins.model_facts import NOT_PROVIDED, list_models
from form_runs import USE

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
SIZES = {1: 4, 2: 4, 3: 2, 4: 4, 5: 2, 6: 4, 7: 5, 8: 4, 9: 2}
"""Attributes of each category."""
PARAGRAPHS = [
    f"({n})({letter})" for n, size in SIZES.items() for letter in ["i", "ii", "iii", "iv", "v"][:size]
]


def enter(reported, kind: str, *, model: int = 0) -> dict[str, hti1.Entry]:
    run, report = reported[kind]
    facts = list_models(run, report)[model]
    return {one.paragraph: one.entry for one in hti1.list_attributes(run, facts)}


def read_sheet(reported, kind: str, folder, name: str) -> list[tuple]:
    run, report = reported[kind]
    hti1.write(run, report, folder / "form.xlsx")
    return list(openpyxl.load_workbook(folder / "form.xlsx")[name].iter_rows(values_only=True))


@pytest.mark.parametrize("kind", KINDS)
def test_all_31_attributes_stand_there_in_order(reported, kind):
    assert list(enter(reported, kind)) == PARAGRAPHS
    assert len(PARAGRAPHS) == 31


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_provided_says_so_and_what_is_filled_does_not(reported, kind):
    for entry in enter(reported, kind).values():
        assert entry.text.startswith(NOT_PROVIDED) == (entry.state == ABSENT)
        assert not re.search(r"\bnan\b|None|\(\)", entry.text)


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_that_is_named_lies_in_the_run(reported, kind):
    run = reported[kind][0]
    for entry in enter(reported, kind).values():
        for table in entry.tables:
            assert table == "run.json" or (run.folder / "results" / table).is_file(), entry


def test_words_about_its_use_fill_their_attributes(reported):
    known, blank = enter(reported, "unequal"), enter(reported, "two_groups")
    wanted = {
        "(2)(i)": "intended_use",
        "(2)(iii)": "users",
        "(2)(iv)": "selected_means",
        "(3)(i)": "out_of_scope",
    }
    for paragraph, key in wanted.items():
        assert (known[paragraph].state, known[paragraph].text) == (FROM_USE, USE[key])
        assert blank[paragraph] == hti1.Entry()
    assert known["(1)(i)"].state == ABSENT
    assert known["(1)(i)"].text.endswith("Owner, who need not be the developer: Ward 4.")


def test_what_only_a_developer_knows_is_never_filled(reported):
    asked = ("(1)(i)", "(1)(ii)", "(4)(iv)", "(5)(i)", "(5)(ii)", "(6)(i)", "(6)(ii)", "(6)(iii)", "(6)(iv)")
    asked += ("(7)(iii)", "(7)(iv)", "(7)(v)", "(8)(i)", "(8)(iii)", "(9)(i)", "(9)(ii)")
    for kind in KINDS:
        entries = enter(reported, kind)
        assert {entries[paragraph].state for paragraph in asked} == {ABSENT}


def test_given_scores_leave_their_training_open_and_trained_ones_tell_it(reported):
    given, trained = enter(reported, "two_groups"), enter(reported, "nine_groups")
    for paragraph in ("(4)(i)", "(4)(ii)", "(4)(iii)", "(7)(i)", "(7)(ii)"):
        assert (given[paragraph].state, trained[paragraph].state) == (ABSENT, FILLED)
    assert given["(7)(iii)"].text.endswith(
        "from another source than the training data, what (8)(ii) says belongs here."
    )
    row = reported["nine_groups"][0].cohort_groups.iloc[-1]
    assert trained["(4)(iii)"].text.endswith(f"; {row.attribute}, {row.group}: {row.n_train:,}.")


def test_fairness_in_local_data_says_every_mark_and_open_stays_open(reported):
    for kind in ("inconclusive", "unequal"):
        page = reported[kind][1].pages[0]
        text = enter(reported, kind)["(8)(iv)"].text
        assert " ".join(page.answer.text.split()) in text
        for mark in page.marks:
            assert " ".join(mark.statement.text.split()) in text


def test_known_risks_hold_every_finding_and_limit(reported):
    page = reported["unequal"][1].pages[0]
    text = enter(reported, "unequal")["(3)(ii)"].text
    for statement in [*(finding.statement for finding in page.findings), *page.unknown, *page.unjudged]:
        assert " ".join(statement.text.split()) in text


@pytest.mark.parametrize("kind", ["nine_groups", "unequal", "nan"])
def test_the_sheet_of_numbers_holds_the_rates_of_the_result_file(reported, kind, tmp_path):
    run = reported[kind][0]
    lines = read_sheet(reported, kind, tmp_path, "Measures")
    told = {(line[0], line[2]): line[3:6] for line in lines if line[1] == "Selection rate"}
    known = run.rates[run.rates.rate == "SR"]
    for row in known.itertuples():
        place = (row.model, f"{row.attribute}: {' '.join(row.group.split())}")
        assert (place in told) == (row.value == row.value)
        if place in told:
            assert told[place] == pytest.approx((row.value, row.low, row.high), rel=1e-9)


def test_a_number_without_an_interval_has_blank_ends_and_an_undefined_one_is_not_there(reported, tmp_path):
    lines = read_sheet(reported, "nan", tmp_path, "Measures")
    assert [line[3:7] for line in lines if line[1] == "Accuracy"] == [(1, None, None, None)]
    assert not [line for line in lines if line[1].startswith("True positive")]


def test_the_first_sheet_says_that_removal_is_proposed_and_counts_the_states(reported, tmp_path):
    text = [line[0] for line in read_sheet(reported, "unequal", tmp_path, "Read me")]
    listed = read_sheet(reported, "unequal", tmp_path, "Source attributes")[1:]
    states = [line[4] for line in listed]
    assert "Proposed for removal" in text[1]
    assert text[2].startswith(f"62 attributes of 2 models: {states.count(FILLED)} filled by this audit")
    assert f"{states.count(FROM_USE)} from [use] of the cohort file" in text[2]


@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_is_a_formula_whatever_a_group_is_called(reported, kind, tmp_path):
    hti1.write(*reported[kind], tmp_path / "form.xlsx")
    for sheet in openpyxl.load_workbook(tmp_path / "form.xlsx"):
        assert "f" not in {cell.data_type for row in sheet.iter_rows() for cell in row}


def test_of_a_continuous_outcome_the_form_says_what_is_not_there(reported):
    entries = enter(reported, "continuous")
    assert entries["(1)(iii)"].text == "A number in the unit of the outcome."
    assert "the audit has no rates, areas or verdicts by group" in entries["(8)(iv)"].text


def test_a_run_without_a_model_says_so(reported, tmp_path):
    run, report = reported["two_groups"]
    hti1.write(run, replace(report, pages=()), tmp_path / "form.xlsx")
    text = openpyxl.load_workbook(tmp_path / "form.xlsx")["Read me"]["A3"].value
    assert text.startswith("no attributes of no models: 0 filled")


def test_the_same_run_gives_the_same_bytes(reported, tmp_path):
    for name in ("1.xlsx", "2.xlsx"):
        hti1.write(*reported["unequal"], tmp_path / name)
    assert (tmp_path / "1.xlsx").read_bytes() == (tmp_path / "2.xlsx").read_bytes()
