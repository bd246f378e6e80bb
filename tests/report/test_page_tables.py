"""How a table of the annex is written on paper: numbers, blanks, intervals, wide and long ones."""

import pandas as pd
import pytest

from auditbook.book.say.text import MISSING
from auditbook.columns import COLUMNS
from auditbook.report.content import Sheet
from auditbook.report.page_tables import LETTERS, find_intervals, lay_sheet, share_rows, write_cell

NAN = float("nan")


def lay(table: pd.DataFrame, name: str = "contrasts", **options):
    return lay_sheet(Sheet(name, "Contrasts", table, "Pairs of groups."), **options)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "< 0.001"),
        (0.00099, "< 0.001"),
        (0.001, "0.001"),
        (0.04321, "0.043"),
        (1.0, "1.000"),
        (NAN, MISSING),
    ],
)
def test_a_p_value_below_a_thousandth_is_no_zero(value, told):
    assert write_cell(value, COLUMNS["p_fail"]) == told


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("n", 1234.0, "1,234"),
        ("n", NAN, MISSING),
        ("n", None, MISSING),
        ("n", "< 10", "< 10"),
        ("tpr", 0.12345, "12.3%"),
        ("threshold", 0.8, "0.800"),
        ("n_to_show", 1234.4, "1,234"),
        ("n_to_show", float("inf"), "no size will do"),
        ("group", "", MISSING),
        ("group", " a \n b ", "a b"),
    ],
)
def test_a_cell_is_written_as_the_catalogue_has_its_column_and_a_blank_is_never_zero(column, value, told):
    assert write_cell(value, COLUMNS[column]) == told


def test_the_ends_of_an_interval_stand_behind_its_value():
    table = pd.DataFrame(
        {
            "group": ["a", "b", "c"],
            "tpr": [0.5, NAN, 0.1],
            "tpr_low": [0.4, NAN, 0.05],
            "tpr_high": [0.6, NAN, NAN],
        }
    )
    (part,) = lay(table, "groups")
    assert [one.text for one in part.headings] == ["Group", "TPR"]
    assert [row[1] for row in part.rows] == ["50.0% (40.0 to 60.0)", MISSING, "10.0% (from 5.0%)"]


def test_low_and_high_belong_to_the_value_before_them_and_to_nothing_else():
    assert find_intervals(["bin", "n", "low", "high"]) == {}
    assert find_intervals(["estimate", "n", "ci_low", "ci_high"]) == {"estimate": ("ci_low", "ci_high")}


def test_what_every_row_says_is_said_once_and_what_no_row_says_not_at_all():
    table = pd.DataFrame({"model": ["m", "m"], "group": ["a", "b"], "n": [1, 2], "reason": ["", ""]})
    (part,) = lay(table)
    assert part.caption == "Contrasts. Pairs of groups. In every row: model m."
    assert [one.text for one in part.headings] == ["Group", "Records"]


def test_a_wide_table_is_split_behind_the_columns_that_name_its_rows():
    table = pd.DataFrame(
        {"group": ["a", "b"], **{f"a number {i:02d} of many": [0.5, 1.5] for i in range(30)}}
    )
    parts = lay(table)
    assert len(parts) > 1
    assert {part.headings[0].text for part in parts} == {"Group"}
    shown = [one.text for part in parts for one in part.headings[1:]]
    assert shown == [f"A number {i:02d} of many" for i in range(30)]
    assert all(
        sum(max(map(len, (*one, ""))) for one in zip(*part.rows, strict=True)) <= LETTERS for part in parts
    )
    assert [part.caption for part in parts][1] == f"Contrasts: part 2 of {len(parts)}"


def test_all_rows_of_a_long_table_are_on_the_page_and_those_beyond_the_most_are_not_printed():
    (part,) = lay(pd.DataFrame({"group": [f"g{i}" for i in range(40)], "n": range(40)}), most_rows=12)
    assert (len(part.rows), part.printed, part.folded, part.file) == (40, 12, True, "results/contrasts.csv")


@pytest.mark.parametrize(("cells", "shown"), [(60, 180), (200, 200)])
def test_of_very_many_contrasts_the_page_shows_those_that_decide_and_says_where_the_others_are(cells, shown):
    pairs = [(f"model {i}", "DI", "race", f"pair {k}", 0.1 * k) for i in range(cells) for k in (2, 1, 3)]
    table = pd.DataFrame(pairs, columns=["model", "metric", "attribute", "group", "p_fail"])
    part = lay(table)[0]
    assert (len(part.rows), part.elsewhere) == (shown, 3 * cells - shown)
    if part.elsewhere:
        assert "group pair 1" in part.caption.lower()


def test_long_tables_give_way_and_short_ones_stay_whole():
    tables = [(8, 1.0), (500, 1.0), (900, 2.0)]
    most = share_rows(tables, lines=200)
    assert most is not None
    assert 8 < most < 500
    assert sum(min(rows, most) * each for rows, each in tables) <= 200
    assert share_rows(tables, lines=5000) is None
    assert share_rows(tables, lines=-50) == 6
