"""The workbook holds what the result tables hold, and nothing in it runs."""

import math
import zipfile
from dataclasses import replace

import openpyxl
import pandas as pd
import pytest

from auditbook.columns import TABLES
from auditbook.privacy import protect_run
from auditbook.report import build_report
from auditbook.report.handins import sheets, xlsx
from auditbook.report.handins.sheets import Field, find_field, plain


@pytest.fixture(scope="module", params=["nine_groups", "decisions", "nan"])
def filled(request, runs, tmp_path_factory):
    """A run, its report, and its workbook."""
    run = runs[request.param]
    report, path = build_report(run), tmp_path_factory.mktemp(request.param) / "tables.xlsx"
    xlsx.write(run, report, path)
    return run, report, path


@pytest.fixture(scope="module")
def opened(filled):
    """The workbook as its own library reads it; only read."""
    return openpyxl.load_workbook(filled[2])


def read_rows(sheet, skip):
    return [list(row) for row in sheet.iter_rows(min_row=1 + skip, values_only=True)]


def expect(cell, kind):
    """What a cell of a result table is in a workbook."""
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, float) and math.isnan(cell):
        return None
    if isinstance(cell, float) and math.isinf(cell):
        return "inf"
    # A workbook keeps sixteen digits, a result file ten
    return bool(cell) if kind == "truth" else pytest.approx(cell, rel=1e-14)


def test_every_result_table_has_a_sheet_with_its_values(filled, opened):
    run = filled[0]
    made = [file.stem for file in (run.folder / "results").glob("*.csv")]
    assert set(made) <= set(opened.sheetnames)
    for name in made:
        table, fields = getattr(run, name), TABLES[name]
        kinds = [fields.find(column).kind for column in table.columns]
        wanted = [
            [expect(cell, kind) for cell, kind in zip(row, kinds, strict=True)]
            for row in table.itertuples(index=False)
        ]
        assert read_rows(opened[name], 2) == wanted
        assert read_rows(opened[name], 0)[1] == list(table.columns)


def test_headers_are_frozen_and_can_be_filtered(opened):
    sheet = opened["verdicts"]
    assert sheet.freeze_panes == "A3"
    assert sheet.auto_filter.ref.startswith("A2:")
    assert sheet["A1"].value == "model"
    assert sheet["A2"].value == "model"
    assert sheet["A1"].font.bold
    assert all(9 <= sheet.column_dimensions[letter].width <= 48 for letter in "ABCDEF")


def test_no_cell_is_a_formula_or_an_error(opened):
    kinds = {cell.data_type for sheet in opened for row in sheet.iter_rows() for cell in row}
    assert kinds <= {"s", "n", "b", "inlineStr"}


def test_sheet_names_are_valid_and_the_first_sheet_lists_them(opened):
    assert all(len(name) <= 31 and not set(name) & set("[]:*?/\\") for name in opened.sheetnames)
    listed = [row[0] for row in read_rows(opened["read me"], 0)]
    assert listed[listed.index("sheet") + 1 :] == opened.sheetnames[1:]


def test_the_same_run_gives_the_same_bytes(filled):
    run, report, path = filled
    before = path.read_bytes()
    xlsx.write(run, report, path)
    assert path.read_bytes() == before


def test_no_hour_no_path_and_no_name_of_a_program_s_user_is_in_the_file(filled):
    run, _, path = filled
    with zipfile.ZipFile(path) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        texts = b"".join(parts.read(name) for name in parts.namelist())
    assert str(run.folder).encode() not in texts
    assert b"openpyxl" not in texts
    assert b"dcterms" not in texts.replace(b"xmlns:dcterms", b"").replace(b"purl.org/dc/terms", b"")


def test_the_properties_name_the_audit_and_its_owner(filled):
    run, report, path = filled
    owned = replace(report, head=replace(report.head, use=replace(report.head.use, owner="Ward 3")))
    xlsx.write(run, owned, path)
    properties = openpyxl.load_workbook(path).properties
    assert properties.creator == "Ward 3"
    assert properties.title == f"Tables of the audit: {report.head.title}"
    xlsx.write(run, report, path)


def test_every_column_is_explained(filled, opened):
    run = filled[0]
    listed = read_rows(opened["columns"], 1)
    told = {(row[0], row[1]) for row in listed}
    wanted = {
        (file.stem, column.name)
        for file in (run.folder / "results").glob("*.csv")
        for column in TABLES[file.stem].columns
    }
    assert told == wanted
    assert all(row[4] for row in listed)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'quoted", "#N/A", "=cmd|' /C calc'!A0"]
)
def test_text_that_looks_like_a_formula_stays_text(tmp_path, text):
    book = openpyxl.Workbook(write_only=True)
    sheets.add_table(book, "t", [Field("", "group")], pd.DataFrame({"group": [text]}))
    book.save(tmp_path / "t.xlsx")
    cell = openpyxl.load_workbook(tmp_path / "t.xlsx")["t"]["A2"]
    assert (cell.value, cell.data_type) == (text, "s")
    assert cell.quotePrefix == (text != "#N/A")


def test_letters_of_every_alphabet_stay_and_control_signs_are_shown_as_lost(tmp_path):
    book = openpyxl.Workbook(write_only=True)
    words = ["Größe & <b>Ångström</b>", "日本", "a\x07b"]
    sheets.add_table(book, "t", [Field("", "group")], pd.DataFrame({"group": words}))
    book.save(tmp_path / "t.xlsx")
    found = read_rows(openpyxl.load_workbook(tmp_path / "t.xlsx")["t"], 1)
    assert [row[0] for row in found] == [*words[:2], "a\ufffdb"]


@pytest.mark.parametrize(
    ("kind", "digits", "wanted"),
    [
        ("share", None, "0.0%"),
        ("share", 0, "0%"),
        ("number", None, "#,##0.000"),
        ("count", None, "#,##0"),
        ("number", 4, "#,##0.0000"),
        ("text", None, "General"),
    ],
)
def test_numbers_are_shown_with_the_digits_of_the_catalogue(kind, digits, wanted):
    assert Field("n", "n", kind, digits).format == wanted


def test_a_column_of_a_family_is_headed_by_its_own_name():
    column = TABLES["baselines"].find("di_race")
    assert find_field("di_race", column).title == "di race"


def test_marks_of_markdown_are_taken_off():
    assert plain("see `n` in the [notation](notation.md)\nhere") == "see n in the notation here"


def test_what_is_withheld_from_others_is_blank_and_never_a_zero(runs, tmp_path):
    exact = runs["nine_groups"]
    run = protect_run(exact)
    assert run.groups["tp"].isna().any()
    xlsx.write(run, build_report(run), tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    place = list(run.groups.columns).index("tp")
    shown = [row[place] for row in read_rows(book["groups"], 2)]
    assert shown == [None if math.isnan(tp) else tp for tp in run.groups["tp"]]
    withheld = [row for row in read_rows(book["impact ratios"], 1) if row[-1].startswith("a number is")]
    assert withheld
    assert all(row[7] is None and row[9] is None for row in withheld)


def test_rows_beyond_the_room_of_a_sheet_are_left_out_and_that_is_said(filled, monkeypatch, tmp_path):
    run, report, _ = filled
    monkeypatch.setattr(sheets, "MOST_ROWS", 3)
    monkeypatch.setattr(xlsx, "MOST_ROWS", 3)
    xlsx.write(run, report, tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert len(read_rows(book["verdicts"], 2)) == 3
    told = {row[0]: row[2] for row in read_rows(book["read me"], 0)}
    assert told["verdicts"].endswith("room for the first 3 rows; results/verdicts.csv holds all.")
