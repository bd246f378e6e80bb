"""The page about the result tables: every column of every table that an audit writes, and no other."""

import json
import re

import pytest

from auditbook.cli import main
from auditbook.settings import METRIC_NAMES
from cohorts import write_cohort

ATTRIBUTES = ["race", "sex", "age band"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of an audit with sites, a score and groups of records without an entry."""
    folder = tmp_path_factory.mktemp("tables")
    cohort = write_cohort(folder, rows=600, missing=0.1)
    assert main(["audit", str(cohort), "--run-dir", str(folder / "run")]) == 0
    return folder / "run"


def expand(name):
    """List the columns that a name on the page stands for: one an attribute or metric, or itself."""
    for place, names in (("<attribute>", ATTRIBUTES), ("<metric>", METRIC_NAMES)):
        if place in name:
            return [name.replace(place, one) for one in names]
    return [name]


def test_every_column_of_every_table_is_explained_in_its_order(results, root):
    page = (root / "book" / "result-tables.md").read_text(encoding="utf-8")
    told = {}
    for part in page.split("\n## ")[1:]:
        title, text = part.split("\n", 1)
        listed = re.findall(r"^\| `([\w<>]+)` \| \S", text, re.MULTILINE)
        told[title] = [column for name in listed for column in expand(name)]
    columns = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0].split(",")
        for path in (results / "results").glob("*.csv")
    }
    assert columns == {title: listed for title, listed in told.items() if title.endswith(".csv")}


def test_the_keys_of_run_json_that_the_page_names_are_there(results, root):
    page = (root / "book" / "result-tables.md").read_text(encoding="utf-8").split("\n## run.json")[1]
    info = json.loads((results / "run.json").read_text(encoding="utf-8"))
    named = re.findall(r"`(\w+)`", page)
    assert named
    assert set(named) <= set(info)
