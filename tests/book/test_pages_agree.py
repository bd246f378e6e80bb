"""No two pages say contrary things of the same cell: all hold to verdicts.csv."""

import re

import pandas as pd
import pytest

from auditbook.book.say import audit
from auditbook.verdicts import METRICS, STANDINGS, TIERS
from page_texts import list_tables, list_texts
from runs_fixture import KINDS

CELL = ["metric", "attribute"]
SAID = (
    "verdict",
    "shown",
    "standing",
    "n_to_show",
    "vfr",
    "estimate",
    "threshold",
    "n_star",
    "tier",
    "p_fail",
)
WORDS_OF_ACTION = re.compile(r"certif|decide\b|act on|change the model", re.IGNORECASE)


def told(table, model):
    part = table[table["model"] == model] if "model" in table else table
    return part.set_index(CELL).sort_index()


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_shows_the_cells_of_verdicts_csv_as_they_are(kind, runs):
    run = runs[kind]
    for model in run.models["model"]:
        truth = told(run.verdicts, model)
        for page, table in list_tables(run, model).items():
            shown = told(table, model)
            assert shown.index.isin(truth.index).all(), page
            for name in set(SAID) & set(shown):
                expected = truth.loc[shown.index, name]
                pd.testing.assert_series_equal(shown[name], expected, check_dtype=False, obj=f"{page} {name}")


@pytest.mark.parametrize("kind", KINDS)
def test_each_cell_is_told_in_the_one_list_of_the_report_that_its_standing_names(kind, runs):
    run = runs[kind]
    board = audit.build_board(run)
    for place in range(len(board)):
        cell = board.iloc[[place]]
        lists = {
            "fail": audit.describe_decisions(run, cell),
            "open": audit.describe_open(run, cell),
            "pass": audit.describe_shown(run, cell),
            "none": audit.describe_unjudged(cell),
        }
        named = {answer for answer, text in lists.items() if text.startswith("- **")}
        assert named == {cell["shown"].iloc[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_what_more_records_would_show_is_the_side_on_which_the_cell_stands(kind, runs):
    run = runs[kind]
    for cell in run.verdicts.itertuples():
        if cell.shown in ("fail", "pass"):
            assert cell.standing == f"shown to {cell.shown}"
            assert cell.n_to_show > 0
        beyond = not METRICS[cell.metric].passes(abs(cell.gap), threshold=cell.threshold)
        if cell.standing == "open, fails so far":
            assert beyond
        if cell.standing in ("open, passes so far", "passes for those compared", "shown to pass"):
            assert not beyond


def test_only_a_standing_asks_for_a_decision():
    assert any(WORDS_OF_ACTION.search(standing.action) for standing in STANDINGS.values())
    for tier in TIERS.values():
        assert not WORDS_OF_ACTION.search(tier.action.replace("act on it only if it is also shown", ""))


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_but_the_report_says_what_to_do(kind, runs):
    run = runs[kind]
    for page, text in list_texts(run, run.models["model"].iloc[0]).items():
        if page != "audit-report":
            plain = text.replace("act on it only if it is also shown", "")
            assert not WORDS_OF_ACTION.search(plain), page


@pytest.mark.parametrize("kind", KINDS)
def test_the_report_counts_the_standings_of_verdicts_csv(kind, runs):
    run = runs[kind]
    text = audit.describe_standings(audit.build_board(run))
    for standing, cells in run.verdicts["standing"].value_counts().items():
        total = f"{len(run.verdicts):,} cell{'s' * (len(run.verdicts) != 1)}"
        line = f"**{standing.capitalize()}: {cells:,} of {total}.**"
        assert line in text


def test_the_first_screen_of_the_report_needs_no_flip_rate_and_no_tier(root):
    page = (root / "notebooks" / "audit-report.md").read_text(encoding="utf-8")
    before, annex = page.split("## As published")
    assert "tiers.describe" not in before
    assert "flip rate" not in before
    assert "tiers.describe_tiers" in annex
    assert annex.count("\n## ") == 0
