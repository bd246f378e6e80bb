"""Twenty-three tables that mislead: each ends in its right answer, whatever the room that gives it.

The scripts stand beside the repository, in `shared/intake`; each writes a table and its cohort files. What
`new` and `check` say is held on 28 records and on 600; what only an audit shows is marked slow.
"""

import csv
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.cohort import load_cohort, read_cohort_file

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(os.environ.get("AUDITBOOK_SHARED", ROOT.parent / "shared")) / "intake"

pytestmark = pytest.mark.skipif(
    not SCRIPTS.is_dir(), reason=f"no tables that mislead: {SCRIPTS} is not there (set AUDITBOOK_SHARED)"
)

sizes = pytest.mark.parametrize("rows", [28, 600])


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    text: str

    def line(self, *parts):
        """Return the one line that holds all parts."""
        found = [line for line in self.text.splitlines() if all(part in line for part in parts)]
        assert len(found) == 1, (parts, self.text)
        return found[0]


class Desk:
    """A folder with the table of one script, and the commands on it."""

    def __init__(self, folder, capsys):
        self.folder, self.capsys = folder, capsys

    def write(self, number, rows):
        (script,) = SCRIPTS.glob(f"{number}_*.py")
        subprocess.run([sys.executable, script, str(rows)], cwd=self.folder, check=True, capture_output=True)

    def call(self, *words):
        self.capsys.readouterr()
        code = main([str(word) for word in words])
        said = self.capsys.readouterr()
        return Said(code, said.out + said.err)

    def check(self, name):
        return self.call("check", self.folder / f"{name}.toml")

    def draft(self, table):
        target = self.folder / "draft.toml"
        target.unlink(missing_ok=True)
        said = self.call("new", self.folder / table, "--output", target)
        assert said.code == 0, said.text
        text = target.read_text(encoding="utf-8")
        return Said(0, said.text + text), tomllib.loads(text)

    def audit(self, name, profile="smoke"):
        run = self.folder / f"run-{name}"
        said = self.call(
            "audit", self.folder / f"{name}.toml", "--profile", profile, "--jobs", 1, "--run-dir", run
        )
        assert said.code == 0, said.text
        return said, run

    def change(self, name, old, new):
        path = self.folder / f"{name}.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def load(self, name):
        file = read_cohort_file(self.folder / f"{name}.toml")
        return load_cohort(file, cache_dir=self.folder / "cache")


@pytest.fixture
def desk(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


def held(cohort, attribute):
    (found,) = [item for item in cohort.attributes if item.name == attribute]
    return {name: int((found.codes == code).sum()) for code, name in enumerate(found.groups)}


@sizes
def test_01_na_means_missing_in_one_column_and_a_group_in_another(desk, rows):
    desk.write("01", rows)
    said, drafted = desk.draft("na.csv")
    assert "NA" not in drafted["missing"].get("values", [])
    assert drafted["missing"]["columns"]["creatinine"] == ["NA"]
    assert "missing_values" not in drafted["attributes"]["race"]
    assert f"({len(range(4, rows, 5))})" in said.line("against it", "'NA' (", "may be a group")
    told = desk.check("na").line("warning: [missing] values", "'NA'")
    assert "'race' (" in told
    assert "'creatinine' (" in told
    assert "Native American" in told
    assert 'columns = { creatinine = ["NA"] }' in told
    desk.change("na", 'values = ["NA"]', 'columns = { creatinine = ["NA"] }')
    assert held(desk.load("na"), "race")["Native American"] == len(range(4, rows, 5))
    assert "'NA'" not in desk.check("na").text


@sizes
def test_02_ages_above_89_are_90_and_not_missing(desk, rows):
    desk.write("02", rows)
    said, drafted = desk.draft("age89.csv")
    assert drafted["attributes"]["age"]["bins"]
    assert drafted["attributes"]["age"]["numbers"] == {"> 89": 90}
    said = desk.check("age89")
    assert said.code == 2
    assert 'numbers = { "> 89" = 90 }' in said.line("[attributes.age] bins")
    assert "missing" not in said.line("[attributes.age] bins")
    desk.change("age89", 'column = "age"', 'column = "age"\nnumbers = { "> 89" = 90 }')
    assert desk.check("age89").code == 0
    assert held(desk.load("age89"), "age")["80+"] >= len(range(0, rows, 6))
    assert len(desk.load("age89").table) == rows


@sizes
def test_03_a_second_series_of_age_codes_is_seen_in_the_top_bin_and_can_be_closed_out(desk, rows):
    desk.write("03", rows)
    said = desk.check("pudf")
    assert said.code == 0
    assert "60 years and over: 15 to 24" in said.line("bins of age")
    told = said.line("warning: [attributes.age] bins")
    assert "60 years and over" in told
    assert re.search(r"bins = \[0, 5, 10, 15, \d+\]", told)
    desk.change("pudf", "bins = [0, 5, 10, 15]", "bins = [0, 5, 10, 15, 22]")
    desk.change(
        "pudf", 'column = "pat_age"', 'column = "pat_age"\nmissing_values = [22, 23, 24]\nmissing = "group"'
    )
    said = desk.check("pudf")
    assert said.code == 0
    assert "[attributes.age] bins" not in said.text
    assert "60 years and over: 15 to 21" in said.line("bins of age")


@sizes
def test_04_stays_capped_at_120_are_events_and_not_missing(desk, rows):
    desk.write("04", rows)
    told = desk.check("sparcs").line("[outcome] column")
    assert '[outcome] numbers = { "120 +" = 120 }' in told
    assert "missing" not in told
    told = desk.check("sparcs-as-advised").line("warning: [missing] values")
    assert "'120 +'" in told
    assert '[outcome] numbers = { "120 +" = 120 }' in told
    desk.change(
        "sparcs", 'column = "Length of Stay"', 'column = "Length of Stay"\nnumbers = { "120 +" = 120 }'
    )
    cohort = desk.load("sparcs")
    assert len(cohort.table) == rows
    assert cohort.outcome.sum() >= len(range(4, rows, 9))


@sizes
def test_05_a_header_in_the_middle_is_said_with_its_line(desk, rows):
    desk.write("05", rows)
    text = desk.check("joined").text
    assert f"line {rows // 2 + 2}" in text
    assert "header" in text or "names of the columns" in text


@sizes
def test_06_a_laboratory_column_with_limits_is_numbers_and_the_leak_is_seen(desk, rows):
    desk.write("06", rows)
    text = desk.check("lab").text
    limits, words = len(range(1, rows, 10)), len([i for i in range(rows) if i % 14 == 5 and i % 10 != 1])
    told = next(line for line in text.splitlines() if "troponin" in line and "NEG" in line)
    numbers = {f"{rows - words - limits:,} of {rows:,}", f"{rows - words:,} of {rows:,}"}
    assert any(f"a number in {number}" in told for number in numbers)
    assert 'troponin = ["NEG"]' in told
    if rows == 600:
        assert any("troponin" in line and "in disguise" in line for line in text.splitlines())


@sizes
def test_07_numbers_written_for_people_are_read_and_the_leak_is_seen(desk, rows):
    desk.write("07", rows)
    said = desk.check("written")
    for name in ("total_charges", "paid", "creatinine"):
        assert f"column '{name}': text read as numbers" in said.text
    if rows == 600:
        assert any("total_charges" in line and "in disguise" in line for line in said.text.splitlines())
        assert desk.load("written").table["total_charges"].dtype.kind == "f"
    said = desk.check("percent")
    assert "a sign of per cent" in said.line("note: ", "'risk'")
    assert said.code == 0
    risk = desk.load("percent").table["risk"]
    assert 0 < risk.min() < risk.max() < 1


@sizes
def test_09_age_bands_that_became_dates_are_pointed_out(desk, rows):
    desk.write("09", rows)
    told = desk.check("bands").line("warning: [attributes.age] column")
    assert 'groups = { "09-May" = "5-9", "Oct-14" = "10-14" }' in told


@pytest.mark.parametrize("name", ["sep-comma", "sep-semicolon"])
def test_10_a_line_for_spreadsheets_is_read_past(desk, name):
    desk.write("10", 28)
    said = desk.check(name)
    assert said.code == 0
    assert len(desk.load(name).table) == 26
    assert "sep=" in said.line("note: ")
    assert desk.draft(f"{name}.csv")[1]["scores"]


def test_11_the_row_names_of_r_are_read_past(desk):
    desk.write("11", 28)
    said = desk.check("r")
    assert said.code == 0
    assert "its number in R" in said.line("note: r.csv")
    cohort = desk.load("r")
    assert sorted(cohort.table["visit"])[:2] == ["v0", "v1"]
    assert len(cohort.table) == 28
    assert desk.draft("r.csv")[1]["scores"]


@sizes
@pytest.mark.parametrize("name", ["decimal", "int64-blank"])
def test_12_nineteen_digits_stay_exact(desk, rows, name):
    desk.write("12", rows)
    said = desk.check(name)
    assert said.code == 0
    assert f"units: {rows // 2:,}" in said.text


@sizes
def test_13_scores_at_the_threshold_are_selected_whatever_the_file(desk, rows):
    desk.write("13", rows)
    with (desk.folder / "scores.csv").open(encoding="utf-8") as stream:
        expected = sum(float(row["risk"]) >= 0.7 for row in csv.DictReader(stream))
    for name in ("scores-csv", "scores-parquet"):
        assert int((desk.load(name).table["risk"] >= 0.7).sum()) == expected


@pytest.mark.slow
def test_13_the_same_scores_give_the_same_groups(desk):
    desk.write("13", 600)
    tables = [
        (desk.audit(name)[1] / "results" / "groups.csv").read_bytes()
        for name in ("scores-csv", "scores-parquet")
    ]
    assert tables[0] == tables[1]


@sizes
def test_15_survey_weights_are_recognised_and_no_features(desk, rows):
    desk.write("15", rows)
    drafted = desk.draft("nis.csv")[1]
    assert drafted["weight"]["column"] == "DISCWT"
    assert drafted["weight"]["strata"] == "NIS_STRATUM"
    told = next(line for line in desk.check("nis").text.splitlines() if "'DISCWT'" in line)
    assert "[weight]" in told
    assert "unweighted" in told or "each record for itself" in told


@sizes
def test_17_patients_of_several_races_are_counted_and_a_rule_is_offered(desk, rows):
    desk.write("17", rows)
    table = pd.read_csv(desk.folder / "changes.csv", dtype=str)
    several = sum(len(set(part)) > 1 for _, part in table.groupby("subject_id")["race"])
    told = next(line for line in desk.check("changes").text.splitlines() if "within_unit" in line)
    assert "[attributes.race]" in told
    assert f"{several:,} " in told


NAMED_MISSING = ("UNABLE TO OBTAIN", "PATIENT DECLINED TO ANSWER", "UNKNOWN")


@sizes
def test_18_declined_is_drafted_as_missing_and_pointed_out(desk, rows):
    desk.write("18", rows)
    drafted = desk.draft("declined.csv")[1]
    assert set(drafted["attributes"]["race"]["missing_values"]) == set(NAMED_MISSING)
    told = desk.check("declined").line("warning: [attributes.race] column", "nothing is known")
    assert all(f"'{name}' (" in told for name in NAMED_MISSING)
    assert "'OTHER'" not in told
    assert "missing_values = [" in told


@pytest.mark.slow
def test_18_a_verdict_whose_lowest_or_highest_group_is_declined_says_so(desk):
    desk.write("18", 800)
    run = desk.audit("declined", profile="quick")[1]
    page = next((run / "report").glob("*.html")).read_text(encoding="utf-8")
    assert "says that nothing is known" in page


@sizes
def test_19_stand_in_numbers_in_bins_are_pointed_out(desk, rows):
    desk.write("19", rows)
    said = desk.check("sentinel")
    told = said.line("warning: [attributes.age]", "999")
    assert f"999 ({len(range(2, rows, 7)):,})" in told
    assert "missing_values = [999]" in told
    told = said.line("warning: [attributes.deprivation]", "99 (")
    assert "'most deprived'" in told
    assert "missing_values = [99]" in told


@sizes
@pytest.mark.parametrize(
    ("name", "values", "cure"),
    [
        ("third-number", ("'0' (", "'9' ("), "[missing] columns = { died = [9] }"),
        ("third-letter", ("'N' (", "'U' ("), '[missing] columns = { readmitted = ["U"] }'),
    ],
)
def test_20_what_counts_as_no_event_is_listed_and_a_third_code_pointed_out(desk, rows, name, values, cure):
    desk.write("20", rows)
    said = desk.check(name)
    assert all(value in said.line("event: ", "no event: ") for value in values)
    told = said.line("warning: [outcome] event")
    assert all(value in told for value in values)
    assert cure in told


@sizes
def test_22_one_number_of_many_patients_looks_like_a_stand_in(desk, rows):
    desk.write("22", rows)
    told = desk.check("standin").line("warning: [unit]", "'0000000'")
    assert f"{len(range(0, rows, 4)):,} of {rows:,} records (25%)" in told
    assert 'drop = [{ column = "mrn", values = ["0000000"]' in told


@sizes
@pytest.mark.parametrize(
    ("column", "spellings"),
    [
        ("ccn", ("'010001'", "'10001'", "'10001.0'")),
        ("hospital", ("St. Mary's", "ST. MARY'S", "St. Mary's ")),
    ],
)
def test_23_spellings_of_one_site_are_pointed_out(desk, rows, column, spellings):
    desk.write("23", rows)
    lines = [line for line in desk.check(f"sites-{column}").text.splitlines() if "[site]" in line]
    assert all(any(spelling in line for line in lines) for spelling in spellings)


@sizes
def test_25_stays_below_zero_are_counted(desk, rows):
    desk.write("25", rows)
    told = desk.check("negative").line("warning: [outcome] column", "below zero")
    assert f"{len(range(3, rows, 9)):,} of {rows:,}" in told
    assert "no event" in told


def test_27_names_that_the_font_lacks_are_told_apart_in_figures(desk):
    from auditbook.book.draw.style import wrap_label

    desk.write("27", 28)
    assert desk.check("glyphs").code == 0
    assert wrap_label("\u5973\u6027") != wrap_label("\u7537\u6027")
    assert wrap_label("\u0939\u093f\u0928\u094d\u0926\u0942") != wrap_label("\u0645\u0633\u0644\u0645")


def test_28_names_with_a_leading_underscore_stay_in_every_key(desk):
    from matplotlib.figure import Figure

    from auditbook.book.draw.style import wrap_label

    desk.write("28", 28)
    assert desk.check("underscore").code == 0
    axes = Figure().subplots()
    axes.plot([0, 1], [0, 1], label=wrap_label("_Other"))
    assert len(axes.get_legend_handles_labels()[1]) == 1


def test_33_trailing_commas_lose_no_cell(desk):
    desk.write("33", 28)
    assert desk.check("trailing").code == 0
    cohort = desk.load("trailing")
    assert len(cohort.table) == 28
    assert sorted(cohort.table["visit"])[:2] == ["v0", "v1"]
