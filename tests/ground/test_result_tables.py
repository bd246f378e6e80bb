"""The page about the result tables: every column of every table that an audit writes, and no other."""

import json
import re
import runpy

import pandas as pd
import pytest

from auditbook.columns import TABLES, empty_table
from auditbook.errors import InputError, RunError
from auditbook.results import Run, read_run, read_table, write_results
from auditbook.settings import METRIC_NAMES
from runs_fixture import KINDS

ATTRIBUTES = ["race", "sex", "age band"]


POOLED = {"hospital_contrasts", "pooled_contrasts", "withheld_bounds"}
"""Tables of pooled counts alone; `tests/run/test_pooled.py` holds them to their columns."""


def expand(name):
    """List the columns that a name on the page stands for: one an attribute or metric, or itself."""
    for place, names in (("<attribute>", ATTRIBUTES), ("<metric>", METRIC_NAMES)):
        if place in name:
            return [name.replace(place, one) for one in names]
    return [name]


def test_every_column_of_every_table_is_explained_in_its_order(audited_folder, root):
    page = (root / "book" / "result-tables.md").read_text(encoding="utf-8")
    told = {}
    for part in page.split("\n## ")[1:]:
        title, text = part.split("\n", 1)
        listed = re.findall(r"^\| `([\w<>]+)` \| \S", text, re.MULTILINE)
        told[title] = [column for name in listed for column in expand(name)]
    columns = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0].split(",")
        for path in (audited_folder / "results").glob("*.csv")
    }
    audited = {title: listed for title, listed in told.items() if title.endswith(".csv")}
    assert {f"{name}.csv" for name in POOLED} <= set(audited)
    assert columns == {title: listed for title, listed in audited.items() if title[:-4] not in POOLED}


def test_the_page_is_what_the_catalogue_says(root):
    page = (root / "book" / "result-tables.md").read_text(encoding="utf-8")
    write_page = runpy.run_path(str(root / "tools" / "write_result_tables.py"))["write_page"]
    assert page == write_page(page), "run: python tools/write_result_tables.py"


def test_an_audit_writes_every_table_in_its_declared_columns_and_kinds(audited_folder):
    run = read_run(audited_folder)
    assert {path.stem for path in (audited_folder / "results").glob("*.csv")} == set(TABLES) - POOLED
    for table in (table for name, table in TABLES.items() if name not in POOLED):
        found = getattr(run, table.name)
        assert table.explain_difference(list(found.columns)) == ""
        check_kinds(table, found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_small_runs_hold_their_declared_columns_and_kinds(runs, kind):
    for path in (runs[kind].folder / "results").glob("*.csv"):
        table = TABLES[path.stem]
        check_kinds(table, getattr(runs[kind], table.name))


def check_kinds(table, found):
    """Hold every cell of a table against the kind of its column."""
    for name in found.columns:
        kind, cells = table.find(name).kind, found[name].dropna()
        if kind == "text":
            assert all(isinstance(cell, str) for cell in found[name]), (table.name, name)
        elif kind == "truth":
            assert set(cells) <= {0, 1}, (table.name, name)
        elif kind == "count":
            assert ((cells >= 0) & (cells == cells.round())).all(), (table.name, name)
        elif kind == "share":
            assert cells.between(-1, 1).all(), (table.name, name)
    known = {"bin", "fold", "rank", "events", *(() if "status" in found else ("n",))}  # blank where not run
    known -= {"bin"} if table.name in ("contrasts", "rates") else set()  # blank for a whole group
    assert not found[[name for name in found.columns if name in known]].isna().any(axis=None), table.name


def test_a_table_in_other_columns_than_declared_is_not_written(tmp_path):
    with pytest.raises(RunError, match=r"cohort_sites\.csv has no column rank, site: columns\.toml"):
        write_results(
            {"cohort_sites": pd.DataFrame(columns=["n", "events", "event_rate", "n_audit"])}, tmp_path
        )
    assert not list(tmp_path.iterdir())


def test_a_table_that_no_run_has_is_told_with_the_nearest(tmp_path):
    with pytest.raises(AttributeError, match="a run has no table 'verdict' \\(did you mean 'verdicts'"):
        Run(tmp_path, {}).verdict  # noqa: B018


def test_a_run_of_another_version_is_refused_with_what_it_lacks(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "cohort_sites.csv").write_text("rank,site,n,events,n_audit\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"cohort_sites\.csv has no column event_rate: .* make it again with"
    ):
        Run(tmp_path, {}).cohort_sites  # noqa: B018
    with pytest.raises(InputError, match=r"verdicts\.csv is not there: .* make it again with"):
        Run(tmp_path, {}).verdicts  # noqa: B018


def test_a_table_without_rows_is_read_in_its_kinds(tmp_path):
    empty = {name: empty_table(name) for name in ("cohort_sites", "pocket_errors")}
    write_results(empty, tmp_path)
    for name, table in empty.items():
        pd.testing.assert_frame_equal(read_table(tmp_path / f"{name}.csv"), table)


def test_the_keys_of_run_json_that_the_page_names_are_there(audited_folder, root):
    page = (root / "book" / "result-tables.md").read_text(encoding="utf-8").split("\n## run.json")[1]
    info = json.loads((audited_folder / "run.json").read_text(encoding="utf-8"))
    named = re.findall(r"`(\w+)`", page)
    assert named
    assert set(named) <= set(info)
