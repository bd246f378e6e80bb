"""Result files: what is written is what is read back."""

import csv
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.plain_text import restore_hidden, show_all, show_hidden
from auditbook.results import read_run, read_table, write_table

NAMES = [
    "=1+1",
    "+x",
    "-y",
    "@z",
    "'quoted",
    "NA",
    "nan",
    "",
    "00123",
    "é, ü",
    '"',
    "<b>",
    "line\nbreak",
    "1e5",
    "True",
    "a\rb",
    "nul\0",
    "tab\there",
    "\u202etrick",
    "\\u000d",
    "\uff1d1+1",
    "\ufeffmark",
    "\u0646\u200c\u0647",
    "\ufffe",
    "\ud800",
]


def test_names_of_groups_come_back_as_they_were(tmp_path):
    table = pd.DataFrame({"group": NAMES, "n": range(len(NAMES))})
    write_table(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["group"].tolist() == NAMES


def test_no_cell_starts_like_a_formula(tmp_path):
    write_table(pd.DataFrame({"group": NAMES}), tmp_path / "t.csv")
    cells = (tmp_path / "t.csv").read_text(encoding="utf-8").replace('"', "").splitlines()
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\uff1d"))]


def test_a_file_has_a_line_for_each_row_and_nothing_that_cannot_be_seen(tmp_path):
    write_table(pd.DataFrame({"group": NAMES, "model": "m\r\n"}), tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_bytes().decode("utf-8")
    lines = text.split("\n")
    assert len(lines) == len(NAMES) + 2
    assert [len(row) for row in csv.reader(lines[:-1])] == [2] * (len(NAMES) + 1)
    assert all(sign.isprintable() or sign in "\n\u200c" for sign in text)
    assert r"a\u000db" in text


def test_what_reports_and_chapters_show_of_a_name_can_be_seen(tmp_path):
    write_table(pd.DataFrame({"group": NAMES}), tmp_path / "t.csv")
    shown = read_table(tmp_path / "t.csv", to_show=True)["group"]
    assert shown.map(restore_hidden).tolist() == NAMES
    assert all(name.replace("\u200c", "").isprintable() for name in shown)


@given(st.text())
def test_any_text_can_be_shown_and_restored(text):
    assert restore_hidden(show_hidden(text)) == text
    assert show_all([{text: (text, 1)}]) == [{show_hidden(text): [show_hidden(text), 1]}]


def test_missing_numbers_are_blank_and_come_back_as_nan(tmp_path):
    table = pd.DataFrame({"metric": ["DI", "PP"], "vfr": [0.25, math.nan], "agrees": [True, False]})
    write_table(table, tmp_path / "t.csv")
    back = read_table(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[2] == "PP,,False"
    assert math.isnan(back["vfr"][1])
    assert back["agrees"].tolist() == [True, False]


def test_a_folder_without_a_run_is_an_error_that_says_how_to_make_one(tmp_path):
    with pytest.raises(InputError, match="auditbook audit COHORT"):
        read_run(tmp_path)
