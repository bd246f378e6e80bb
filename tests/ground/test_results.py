"""Result files: what is written is what is read back."""

import math

import pandas as pd
import pytest

from auditbook.errors import InputError
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
]


def test_names_of_groups_come_back_as_they_were(tmp_path):
    table = pd.DataFrame({"group": NAMES, "n": range(len(NAMES))})
    write_table(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["group"].tolist() == NAMES


def test_no_cell_starts_like_a_formula(tmp_path):
    write_table(pd.DataFrame({"group": NAMES}), tmp_path / "t.csv")
    cells = (tmp_path / "t.csv").read_text(encoding="utf-8").replace('"', "").splitlines()
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


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
