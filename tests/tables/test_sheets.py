"""The one table of a workbook is read by its types; which of several is asked, what was lost is said."""

import datetime

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook

from auditbook.errors import InputError
from auditbook.tables import TableFormat, read_table_file

NAMES = ["id", "age", "admitted"]
DAY = datetime.datetime(2024, 1, 31)


def write(path, sheets):
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def fault(path, **form):
    with pytest.raises(InputError) as caught:
        read_table_file(path, form=TableFormat(**form))
    assert len(caught.value.faults) == 1
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".xlsx", ".xlsm"])
def test_cells_keep_their_kinds(tmp_path, suffix):
    rows = [NAMES, ["00123", 1.5, DAY], ["7", None, None], [12, True, "unknown"], [None, 3, DAY]]
    frame = read_table_file(write(tmp_path / f"t{suffix}", {"Stays": rows})).frame
    assert frame["id"].tolist() == ["00123", "7", "12", None]
    assert frame["age"].tolist() == ["1.5", None, "True", "3"]
    assert frame["admitted"].tolist() == ["2024-01-31", None, "unknown", "2024-01-31"]


def test_blank_rows_and_columns_are_left_out(tmp_path):
    rows = [[], ["a", "b", None], [1, 2.5, None], [], [3, None, None]]
    table = read_table_file(write(tmp_path / "t.xlsx", {"S": rows, "Notes": []}))
    assert table.frame["a"].tolist() == [1, 3]
    np.testing.assert_array_equal(table.frame["b"], [2.5, np.nan])
    assert table.notes == ("t.xlsx: read is sheet 'S'; the others are blank",)


def test_one_of_several_sheets_is_asked_for(tmp_path):
    path = write(tmp_path / "t.xlsx", {"Stays": [["a"], [1], [2]], "Codes": [["b"], [1]]})
    told = fault(path)
    assert "several sheets hold cells: 'Stays' (3 rows), 'Codes' (2 rows); say which holds the table" in told
    assert '[data] format = { sheet = "Stays" }' in told
    assert read_table_file(path, form=TableFormat(sheet="Codes")).frame["b"].tolist() == [1]
    assert "there is no sheet 'Stay' (did you mean 'Stays'?); there are 'Stays', 'Codes'" in fault(
        path, sheet="Stay"
    )


def test_a_title_is_told_with_its_row_and_can_be_skipped(tmp_path):
    path = write(tmp_path / "t.xlsx", {"S": [["Stays of 2024"], [], NAMES, ["x", 1, DAY], ["y", 2, DAY]]})
    assert "sheet 'S': row 1 ('Stays of 2024') holds one cell, others up to 3" in fault(path)
    assert "named in row 3, write [data] format = { skip_rows = 2 }" in fault(path)
    assert read_table_file(path, form=TableFormat(skip_rows=2)).frame["id"].tolist() == ["x", "y"]
    assert "has no cells" in fault(path, skip_rows=9)


def test_numbers_longer_than_a_spreadsheet_keeps_are_said(tmp_path):
    path = write(tmp_path / "t.xlsx", {"S": [["id"], [7_205_759_403_792_793_601], [1]]})
    assert "column 'id' holds numbers of more than 15 digits" in read_table_file(path).notes[0]


def test_a_workbook_that_is_none_or_blank_is_told(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 and no more")
    assert "not a workbook that can be read" in fault(tmp_path / "t.xlsx")
    (tmp_path / "t.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    assert "an Excel workbook of before 2007, or one with a password" in fault(tmp_path / "t.xlsx")
    assert "no sheet holds a cell" in fault(write(tmp_path / "t.xlsx", {"S": []}))
    assert "column names that stand twice: 'a'" in fault(
        write(tmp_path / "t.xlsx", {"S": [["a", "a"], [1, 2]]})
    )


def test_a_sheet_of_names_alone_has_no_rows(tmp_path):
    frame = read_table_file(write(tmp_path / "t.xlsx", {"S": [NAMES]})).frame
    assert (list(frame), len(frame)) == (NAMES, 0)
    assert isinstance(frame.index, pd.RangeIndex)
