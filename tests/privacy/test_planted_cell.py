"""Seven people of whom three have the event stand in no page, PDF or form, nor does what they follow from."""

import html
import json
import re
import shutil

import docx
import numpy as np
import openpyxl
import pandas as pd
import pypdfium2
import pytest

from auditbook.book import open_run
from auditbook.cli import main
from auditbook.report.handins import FORMS, export_run
from auditbook.report.source import Source
from auditbook.report.together import describe_together
from auditbook.results import read_run
from cohorts import write_pair

DOCUMENTS = ("index.html", "report.json", "report.pdf", *FORMS)
RATES = ("selection_rate", "tpr", "fpr", "ppv", "event_rate")
COHORT = """
[outcome]
column = "long"
event = 1
harm = "a long stay"
[site]
column = "ward"
[attributes.origin]
column = "origin"
[scores.risk]
column = "risk"
kind = "probability"
threshold = 0.5
[features]
include = []
[panel]
models = []
"""
FEW = re.compile(
    r"\b(?:[1-79]|one|two|three|four|seven|23)\b (?:more |selected |of )*"
    r"(?:people|persons?|patients?|stays?|records?|(?:non-)?events?)\b"
)
"""How seven people, their three events, and the 7 events and 23 records that they lack would be told."""


def plant(folder):
    """Audit 1,237 and 1,058 people beside seven."""
    rng = np.random.default_rng(5)
    origin = np.repeat(["Aster", "Begonia", "Zinnia"], [1237, 1058, 7])
    risk = rng.beta(1.5, 1.9, len(origin))
    long = (rng.random(len(origin)) < np.where(origin == "Begonia", 0.8 * risk, risk)).astype(int)
    long[-7:], risk[-7:] = [1, 1, 1, 0, 0, 0, 0], [0.917, 0.861, 0.237, 0.641, 0.118, 0.093, 0.071]
    ward = [f"ward {k}" for k in rng.integers(0, 12, len(origin))]
    table = pd.DataFrame({"long": long, "ward": ward, "origin": origin, "risk": risk.round(4)})
    call = ["audit", str(write_pair(folder, table, COHORT)), "--profile", "smoke", "--jobs", "1"]
    assert main([*call, "--run-dir", str(folder / "run")]) == 0
    return folder / "run"


def read_text(path):
    """Read what a document says, a line a row of its tables."""
    if path.suffix == ".pdf":
        pages = pypdfium2.PdfDocument(path)
        return "\n".join(page.get_textpage().get_text_range() for page in pages)
    if path.suffix == ".xlsx":
        sheets = openpyxl.load_workbook(path)
        rows = [row for sheet in sheets for row in sheet.iter_rows(values_only=True)]
        return "\n".join(" | ".join("" if cell is None else str(cell) for cell in row) for row in rows)
    if path.suffix == ".docx":
        document = docx.Document(path)
        rows = [" | ".join(cell.text for cell in row.cells) for part in document.tables for row in part.rows]
        return "\n".join([*(part.text for part in document.paragraphs), *rows])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = html.unescape(
            re.sub(r"<style.*?</style>|<script.*?</script>|</?[a-z][^>]*>", " ", text, flags=re.S)
        )
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def texts(folder):
    """What each document of the run says."""
    paths = {path.name: path for path in (folder / "report").iterdir()}
    paths |= {form: export_run(folder, form) for form in FORMS}
    return {name: read_text(paths[name]) for name in DOCUMENTS}


def list_given_away(folder):
    """Write the numbers of the small group and of its complement as documents would."""
    groups = read_run(folder).groups.set_index("group")
    large = groups.loc["Begonia"]
    rates = [groups.loc[group, name] for group in ("Begonia", "Zinnia") for name in RATES]
    exact = [str(rate) for rate in rates if len(str(rate)) > 8]
    told = [f"{100 * large[name]:.1f}% (" for name in RATES]
    return [f"{large['n']:,.0f}", f"{large['n']:.0f}", *exact, *told]


def find_told(text, words):
    return [word for word in words if re.search(rf"(?<![\d.,]){re.escape(word)}(?!\d)", text)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_tells_what_the_seven_follow_from(name, folder, texts):
    assert not find_told(texts[name], list_given_away(folder))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_line_that_names_the_seven_tells_how_many_they_are_or_lack(name, texts):
    named = [line for line in texts[name].splitlines() if "Zinnia" in line]
    assert named or name not in ("index.html", "report.json", "report.pdf", "xlsx", "docx", "chai")
    assert not [line for line in named if FEW.search(line)]


def test_without_withholding_the_same_look_finds_them(folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(folder, run)
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps(info | {"report": {"smallest_cell": 0}}), encoding="utf-8")
    text = read_text(export_run(run, "xlsx", tmp_path))
    assert len(find_told(text, list_given_away(folder))) >= len(RATES)
    assert any(FEW.search(line) for line in text.splitlines() if "Zinnia" in line)


def test_an_area_of_the_seven_says_only_that_it_is_withheld(folder):
    areas = open_run(str(folder)).auc_matrix
    few = (areas["event_group"] == "Zinnia") | (areas["nonevent_group"] == "Zinnia")
    assert set(areas.loc[few, "status"]) == set(areas.loc[few, "reason"]) == {"withheld"}
    assert set(areas.loc[areas["auc"].notna(), "status"]) == {"two-sided"}


def test_what_the_withheld_groups_come_to_together_is_all_records_less_those_that_are_told(folder, texts):
    both = read_run(folder).groups.query("group != 'Aster'")[["n", "tp", "fp", "fn"]].sum()
    said = (
        f"risk, all others by origin (Begonia and Zinnia) together: {both['n']:,} records, "
        f"{(both['tp'] + both['fn']) / both['n']:.1%} with the event, "
        f"{(both['tp'] + both['fp']) / both['n']:.1%} selected, "
        f"{both['tp'] / (both['tp'] + both['fn']):.1%} of those with the event found."
    )
    assert [one.text for one in describe_together(Source(open_run(str(folder))))] == [said]
    assert said in " ".join(texts["index.html"].split())


def test_nothing_is_said_to_be_together_where_nothing_is_withheld(folder):
    assert describe_together(Source(read_run(folder))) == ()


def test_score_bins_that_are_told_of_in_words_give_no_withheld_one_away(tmp_path):
    rng = np.random.default_rng(3)
    risk = np.concatenate([rng.uniform(0.05, 0.75, 4000), np.full(31, 0.95)])
    payer = np.concatenate([rng.choice(["none", "private", "public"], 4000), ["none"] * 2, ["private"] * 14])
    payer = np.concatenate([payer, ["public"] * 15])
    table = pd.DataFrame({"long": (rng.random(4031) < risk).astype(int), "origin": payer, "risk": risk})
    table["ward"] = [f"ward {k}" for k in rng.integers(0, 12, 4031)]
    call = ["audit", str(write_pair(tmp_path, table, COHORT)), "--profile", "smoke", "--jobs", "1"]
    assert main([*call, "--run-dir", str(tmp_path / "run")]) == 0
    exact, shown = (run.verdicts for run in (read_run(tmp_path / "run"), open_run(str(tmp_path / "run"))))
    told = [str(part.loc[part["metric"] == "CAL", "left_out"].iloc[0]) for part in (exact, shown)]
    assert "14 records" in told[0]
    assert "too few records" in told[1]
    assert not re.search(r"\b(2|14|15) records", told[1])
