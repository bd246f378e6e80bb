"""A text file is read where its layout is certain, and said; else one message names line, find and cure."""

import numpy as np
import pandas as pd
import pytest

from auditbook.errors import InputError
from auditbook.tables import TableFormat, read_table_file

ROWS = [f"v{i},{'FM'[i % 2]},{i / 30:.2f},{i % 3 % 2}" for i in range(26)]
PLAIN = "\n".join(["visit,sex,risk,died", *ROWS]) + "\n"


def read(folder, content, name="t.csv", **form):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table_file(folder / name, form=TableFormat(**form))


def fault(folder, content, name="t.csv", **form):
    with pytest.raises(InputError) as caught:
        read(folder, content, name, **form)
    assert len(caught.value.faults) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (PLAIN.replace(",", ";"), ("t.csv: the cells are separated by ';'",)),
        (PLAIN.replace(",", "\t"), ("t.csv: the cells are separated by tabs",)),
        (PLAIN.replace(",", "|"), ("t.csv: the cells are separated by '|'",)),
        ("sep=,\n" + PLAIN, ("t.csv: line 1 ('sep=,') names the separator and is no record",)),
        (
            "SEP=;\r\n" + PLAIN.replace(",", ";"),
            ("t.csv: line 1 ('SEP=;') names the separator and is no record",),
        ),
        (PLAIN.encode("utf-8-sig"), ()),
        (PLAIN.encode("utf-16"), ("t.csv: read as UTF-16, which its first bytes say",)),
        (PLAIN.replace("\n", "\r\n"), ()),
        (PLAIN.replace("\n", "\r"), ()),
        ("\n\n" + PLAIN + "\n\n", ()),
        ("# made by x\n" + PLAIN, ("t.csv: line 1 begins with # and is no record",)),
        ("# made, by x\n# today\n" + PLAIN, ("t.csv: lines 1 to 2 begin with # and are no record",)),
        (
            PLAIN.replace("\n", ",\n").replace("died,", "died", 1),
            ("t.csv: each record ends in one blank cell more than the header; it is left out",),
        ),
        (PLAIN.replace("\n", ",\n"), ("t.csv: a column without name and without a filled cell left out",)),
        (
            "visit,sex,risk,died\n" + "".join(f'"{i}",{row}\n' for i, row in enumerate(ROWS, 1)),
            ("t.csv: the first cell of each record, its number in R, has no name and is left out",),
        ),
    ],
)
def test_layouts_that_are_certain_are_read_and_said(tmp_path, content, said):
    found = read(tmp_path, content)
    expected = read(tmp_path, PLAIN, "plain.csv")
    pd.testing.assert_frame_equal(found.frame, expected.frame)
    assert found.notes == said


def test_a_name_may_begin_with_a_hash(tmp_path):
    assert "#visit" in read(tmp_path, PLAIN.replace("visit", "#visit")).frame


def test_decimal_commas_are_read_where_a_cell_proves_them(tmp_path):
    table = "a;b;c\n1,234;0,5;x\n5,678;12,05;y\n"
    found = read(tmp_path, table)
    assert found.frame["a"].tolist() == [1.234, 5.678]
    assert found.frame["b"].tolist() == [0.5, 12.05]
    assert "t.csv: numbers with decimal commas, as in column 'b'" in found.notes
    told = fault(tmp_path, "a;c\n1,234;x\n5,678;y\n")
    assert (
        "column 'a': '1,234' can be 1.234 or 1234; say which: [data] format = { decimal = \",\" } or" in told
    )
    assert read(tmp_path, "a;c\n1,234;x\n", decimal=",").frame["a"].tolist() == [1.234]
    assert read(tmp_path, "a;c\n1,234;x\n", thousands=",").frame["a"].tolist() == [1234]
    assert read(tmp_path, "a;c\n1.234,5;x\n", decimal=",", thousands=".").frame["a"].tolist() == [1234.5]


def test_lists_of_codes_beside_decimal_commas_stay_text(tmp_path):
    table = "codes;lab\n1,2;0,5\n1,3;12,25\n2,3;1,1\n"
    found = read(tmp_path, table).frame
    assert found["codes"].tolist() == ["1,2", "1,3", "2,3"]
    assert found["lab"].tolist() == [0.5, 12.25, 1.1]


def test_points_beside_decimal_commas_are_asked_about_unless_they_are_decimal(tmp_path):
    told = fault(tmp_path, "cost;lab\n12.345;0,5\n1.250;1,1\n")
    assert "column 'lab' has decimal commas, so that 12.345 in column 'cost' can be 12345; say which" in told
    found = read(tmp_path, "cost;lab\n12.345;0,5\n900;1,1\n", decimal=",", thousands=".").frame
    assert (found["cost"].tolist(), found["lab"].tolist()) == ([12345, 900], [0.5, 1.1])
    found = read(tmp_path, "risk;lab;n\n0.345;0,5;1,234\n0.25;1,1;5,678\n").frame
    assert (found["risk"].tolist(), found["lab"].tolist()) == ([0.345, 0.25], [0.5, 1.1])
    assert found["n"].tolist() == ["1,234", "5,678"]


def test_what_can_be_read_in_two_ways_is_asked(tmp_path):
    rows = "age;weight, kg;died\n45;70,5;1\n50;80,5;0\n"
    told = fault(tmp_path, rows)
    assert "can be separated by ',' and ';'; say which, for example [data] format = { separator" in told
    assert read(tmp_path, rows, separator=";").frame["weight, kg"].tolist() == [70.5, 80.5]
    latin = PLAIN.replace("sex", "Größe").encode("latin-1")
    told = fault(tmp_path, latin)
    assert "t.csv: line 1: not UTF-8 (byte 0xf6); if 'visit,Größe,risk,d" in told
    assert 'write [data] format = { encoding = "windows-1252" }' in told
    assert "Größe" in read(tmp_path, latin, encoding="windows-1252").frame
    assert "'klingon' is no encoding" in fault(tmp_path, latin, encoding="klingon")


def test_a_title_above_the_names_is_told_with_its_line_and_can_be_skipped(tmp_path):
    told = fault(tmp_path, "Stays of 2024\n\n" + PLAIN)
    assert "line 1 ('Stays of 2024') holds 1 cell, most lines 4: if the columns are named on line 3" in told
    assert "skip_rows = 2" in told
    assert len(read(tmp_path, "Stays of 2024\n\n" + PLAIN, skip_rows=2).frame) == 26
    assert "most lines 4" in fault(tmp_path, "Stays of 2024\n\n" + PLAIN.replace(",", ";"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("   \n \n", "the file has no header line"),
        ("\n\n", "the file has no header line"),
        ("x" * 131_073 + ",b\n1,2\n", "a cell beyond 131,072 characters"),
        ('a,"b' + "x,y\n" * 40_000, "probably a double quote is opened and not closed"),
        (PLAIN.replace("v20", '"v20'), "a double quote is opened in or after line 22 and not closed"),
        (PLAIN.replace("v20,F", "v20,F,F"), "line 22 ('v20, F, F') holds 5 cells where the header has 4"),
        (PLAIN.replace("v20,F,", "v20,"), "line 22 ('v20, 0.67, 0') holds 3 cells where the header has 4"),
        (PLAIN + "v9,F\n", "the last line (28) holds 2 of 4 cells: the file was cut off"),
        (PLAIN.replace("v20", "v\0"), "line 22 holds binary data (a NUL), not text"),
        (
            PLAIN + PLAIN,
            "the names of the columns stand again on line 28, as when several exports are joined",
        ),
        (PLAIN * 4, "stand again on lines 28, 55, 82, as when several"),
        (
            "visit,sex,risk\n" + "".join(f"{row}\n" for row in ROWS),
            "every row has more cells than the header",
        ),
        ("a,a\n1,2\n", "column names that stand twice: 'a'"),
        (
            "# made, by x\na,b\n1,2\n",
            "line 1 ('# made, by x') begins with # and has as many cells as the line",
        ),
        (PLAIN.encode("utf-16")[:-1], "its UTF-16 text is cut off or damaged"),
        (PLAIN.replace("v20,F", "v20\r,F"), "line 22 ('v20') holds 1 cell where the header has 4"),
    ],
)
def test_a_file_that_is_no_table_is_told_once_with_line_and_cure(tmp_path, content, told):
    assert told in fault(tmp_path, content)


def test_a_cell_may_hold_line_breaks_and_be_long(tmp_path):
    found = read(tmp_path, 'a,b\n1,"x\r\ny"\n2,' + "z" * 200_000 + "\n")
    assert found.frame["b"].tolist() == ["x\r\ny", "z" * 200_000]


def test_only_the_empty_cell_is_missing(tmp_path):
    found = read(tmp_path, 'a,b\nNA,1\nnan,\n"",3\n').frame
    assert found["a"].tolist() == ["NA", "nan", None]
    np.testing.assert_array_equal(found["b"], [1, np.nan, 3])
