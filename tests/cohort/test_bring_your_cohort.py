"""The page for auditors: true to the schema, and its messages are the ones that are given."""

import io
import re

import pandas as pd
import pytest

from auditbook.cohort.keys import list_keys
from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.scoring.panel import read_panel
from cohorts import write_pair

OUTCOME = '[outcome]\ncolumn = "y"\nevent = 1\n'
RACE = '[attributes.race]\ncolumn = "race"\n'
LOS = '[outcome]\ncolumn = "los"\nevent = "> 3"\n'
SCORE = '[scores.p]\ncolumn = "p"\nkind = "probability"\n'


@pytest.fixture(scope="module")
def page(root) -> str:
    return (root / "book" / "bring-your-cohort.md").read_text(encoding="utf-8")


def rows_of(page, heading):
    """Return the cells of the first table under a heading."""
    part = page.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().replace("\\", "") for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_keys_is_the_schema(page):
    told = [tuple(row[:4]) for row in rows_of(page, "Every key")]
    keys = [(table, key) for table, listed in list_keys().items() for key in listed]
    assert told == [(table, key.name, key.kind, key.default) for table, key in keys]
    assert all(row[4] for row in rows_of(page, "Every key"))


def test_every_model_of_the_panel_is_listed(page):
    line = next(line for line in page.splitlines() if line.startswith("All that can be named under `models`"))
    assert set(re.findall(r"`(\w+)`", line)) - {"models"} == set(read_panel())


def test_every_choice_is_named_in_the_table_of_keys(page):
    meanings = {(row[0], row[1]): row[4] for row in rows_of(page, "Every key")}
    for table, keys in list_keys().items():
        for key in (key for key in keys if table != "protocol"):
            assert all(f"`{choice}`" in meanings[table, key.name] for choice in key.choices), key


def test_the_cohort_file_on_the_page_is_valid(page, tmp_path):
    text = re.search(r"```toml\n(.*?)```", page, re.DOTALL).group(1)
    (tmp_path / "visits.toml").write_text(text, encoding="utf-8")
    assert read_cohort_file(tmp_path / "visits.toml").name == "my-hospital-2024"


def test_the_cohort_file_for_a_number_is_valid_and_compares_two_models(page, tmp_path):
    text = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[1]
    (tmp_path / "days.toml").write_text(text, encoding="utf-8")
    file = read_cohort_file(tmp_path / "days.toml")
    assert file.outcome.event is None
    assert len(file.pockets.paired) == 1


def test_the_words_for_the_report_on_the_page_are_valid(page, tmp_path):
    whole = re.search(r"```toml\n(.*?)```", page, re.DOTALL).group(1)
    part = page.split("## Words for the report", 1)[1]
    words = re.search(r"```toml\n(.*?)```", part, re.DOTALL).group(1)
    (tmp_path / "visits.toml").write_text(whole + words, encoding="utf-8")
    assert read_cohort_file(tmp_path / "visits.toml").describe()["use"]["version"] == "2.1"


def test_the_cohort_file_for_a_hospitals_table_is_valid(page, tmp_path):
    part = page.split("## Tables as hospitals have them", 1)[1]
    (tmp_path / "stays.toml").write_text(re.search(r"```toml\n(.*?)```", part, re.DOTALL).group(1), "utf-8")
    rows = "died;hospital;patient;admitted;race;age;lab_creatinine;ward;survival_probability\n"
    rows += "1;a;1;2024-01-02;NA;> 89;<0.2;3;0,1\n0;b;1;2024-01-03;B;41;1.5;4;0,9\n".replace(",", ".")
    rows += "0;b;1;2024-01-04;U;12;1.5;4;0.7\n1;a;1;2024-01-05;NA;12;1.5;4;0.71\n"
    (tmp_path / "stays-2024-01.csv").write_text(rows, encoding="windows-1252")
    cohort = load_cohort(read_cohort_file(tmp_path / "stays.toml"), cache_dir=tmp_path)
    assert sorted(cohort.unit) == ["a | 1", "a | 1", "b | 1", "b | 1"]
    assert cohort.attributes[0].groups == ("B", "NA")
    assert sorted(cohort.table["age"]) == [12, 12, 41, 90]
    assert cohort.feature_columns == ("age", "lab_creatinine", "ward")
    assert set(cohort.table["ward"]) == {"3", "4"}


def table(rows=40, **columns):
    frame = pd.DataFrame({"y": [0, 1] * (rows // 2), "race": ["a", "b"] * (rows // 2), "x": range(rows)})
    return frame.assign(**columns)


MISTAKES = {
    "a key is misspelt": (table(), OUTCOME + RACE + 'referense = "a"\n'),
    "a column is misspelt": (table(), OUTCOME + RACE.replace('"race"', '"rase"')),
    "the outcome has a blank at the end": (
        table(y=["Yes ", "No"] * 20),
        OUTCOME.replace("1", '"Yes"') + RACE,
    ),
    "a word stands among the numbers": (table(los=["NA", *[1, 5] * 19, 2]), LOS + RACE),
    "a column of logits was given as probabilities": (table(p=[-4.2, 3.9] * 20), OUTCOME + RACE + SCORE),
    "percentages were given as probabilities": (table(p=[2, 90] * 20), OUTCOME + RACE + SCORE),
    "some records have no race": (table(race=[None, *["a", "b"] * 19, "a"]), OUTCOME + RACE),
    "an age is -9": (table(race=[-9, *[1, 40] * 19, 2]), OUTCOME + RACE + "bins = [0, 18]\n"),
    "a column of names was taken for an attribute": (
        table(600, visit=[f"v{i % 300}" for i in range(600)]),
        OUTCOME + '[attributes.visit]\ncolumn = "visit"\n',
    ),
}


def _two_sheets():
    written = io.BytesIO()
    with pd.ExcelWriter(written, engine="openpyxl") as book:
        for name in ("Stays", "Codes"):
            table().to_excel(book, sheet_name=name)
    return written.getvalue()


BYTES = {
    "the table was saved by a spreadsheet in an older encoding": "y,race\n1,é\n".encode("latin-1"),
    "text holds a comma and stands without quotes": b"y,race\n1,a,b\n0,b\n",
    "the file is a workbook under another name": b"PK\x03\x04",
    "two marks may separate the cells": b"y;race, all\n1;a, b\n",
    "a comma may be decimal or part thousands": b"y;x\n1;1,234\n0;5,678\n",
    "two exports were joined": b"y,race\n1,a\ny,race\n0,b\n",
    "several sheets of a workbook hold cells": _two_sheets(),
}


def test_every_message_on_the_page_is_one_that_is_given(page, tmp_path):
    promised = {what: message.strip("`") for what, message in rows_of(page, "Common mistakes")}
    assert set(promised) == {*MISTAKES, *BYTES}
    for what, message in promised.items():
        frame, text = MISTAKES.get(what, (table(), OUTCOME + RACE))
        path = write_pair(tmp_path, frame, text)
        data = tmp_path / ("data.xlsx" if "sheets" in what else "data.csv")
        if what in BYTES:
            data.write_bytes(BYTES[what])
        with pytest.raises(InputError) as caught:
            load_cohort(read_cohort_file(path), data=data, cache_dir=tmp_path)
        assert message in str(caught.value), what
