"""A run on names that tear tables, steer terminals or start formulas: what it leaves can be read."""

import csv
import zipfile

import numpy as np
import pandas as pd
import pytest
from lxml import etree

from auditbook.cli import main
from auditbook.results import FORMULA_STARTS, read_table

# a baseline that cannot be chosen on so few records has a table of blanks
pytestmark = pytest.mark.filterwarnings("ignore:The behavior of DataFrame concatenation:FutureWarning")
NAMES = ("a\rb", "nul\0x", "=1+1", "\u202etrick", "line\nbreak", "_x", "日本, 中文")
TEXT = """
name = "hostile"
title = "Title \\u202e \\u0000 =1"
[data]
path = "data.parquet"
[outcome]
column = "out\\rcome"
event = 1
harm = "-harm\\u0007"
[site]
column = "site"
[attributes."=race\\u000d"]
column = "@race\\u000d"
[attributes.sex]
column = "sex"
[scores."+model\\u000a\\u202e"]
column = "risk"
kind = "probability"
[panel]
models = []
[pockets]
partition = "leiden"
[use]
owner = "=owner\\u0000"
[labels]
values.sex = { f = "@f\\u200f" }
"""


def write_hostile(folder):
    rng = np.random.default_rng(3)
    risk = rng.uniform(size=1200).round(3)
    table = pd.DataFrame(
        {
            "out\rcome": (rng.uniform(size=len(risk)) < risk).astype(int),
            "@race\r": np.array(NAMES, dtype=object)[rng.integers(0, len(NAMES), len(risk))],
            "sex": rng.choice(["f", "m"], len(risk)),
            "site": rng.choice(["=s\r1", "s\0002", "-3"], len(risk)),
            "risk": risk,
            "-age\r": rng.integers(18, 90, len(risk)),
            "=ward\n": rng.choice(["+a\r", "b\0"], len(risk)),
        }
    )
    table.to_parquet(folder / "data.parquet", index=False)
    (folder / "hostile.toml").write_text(TEXT, encoding="utf-8")
    return folder / "hostile.toml"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    call = [str(write_hostile(folder)), "--run-dir", str(folder / "run"), "--profile", "smoke", "--jobs", "1"]
    assert main(["audit", *call]) == 0
    return folder / "run"


def can_be_seen(text):
    return all(sign.isprintable() or sign == "\n" for sign in text)


@pytest.mark.slow
def test_no_table_is_torn_and_no_cell_is_a_formula(run):
    for path in (run / "results").glob("*.csv"):
        text = path.read_bytes().decode("utf-8")
        cells = list(csv.reader(text.split("\n")[:-1]))
        assert can_be_seen(text), path.name
        assert {len(row) for row in cells} == {len(cells[0])}, path.name
        texts = [cell for row in cells for cell in row if not is_number(cell)]
        assert not [cell for cell in texts if cell.startswith(FORMULA_STARTS[:6])], path.name


def is_number(cell):
    try:
        return float(cell) is not None
    except ValueError:
        return False


@pytest.mark.slow
def test_the_names_come_back_and_the_report_shows_what_can_be_seen(run):
    groups = read_table(run / "results" / "groups.csv")
    assert set(groups["group"]) == {*NAMES, "f", "m"}
    for name in ("report/index.html", "report/report.json", "run.json"):
        text = (run / name).read_text(encoding="utf-8")
        assert can_be_seen(text), name
    assert r"a\u000db" in (run / "report" / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["xlsx", "docx", "chai", "tripod-ai", "mlbom", "hti1"])
def test_every_form_is_filled_and_whole(form, run, tmp_path, capsys):
    suffix = {"xlsx": ".xlsx", "docx": ".docx"}
    assert main(["export", str(run), form]) == 0, capsys.readouterr().err
    for path in (run / "exports").rglob(f"*{suffix.get(form, '')}"):
        if path.suffix in (".xlsx", ".docx"):
            with zipfile.ZipFile(path) as office:
                for part in office.namelist():
                    if part.endswith(".xml"):
                        root = etree.fromstring(office.read(part))
                        assert not list(root.iter("{*}f")), part
