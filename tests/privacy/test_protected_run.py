"""A small cell that is marked is found in no table, no sentence and no form of a run that others see."""

import json
import re
import shutil

import numpy as np
import pytest

from auditbook.book import open_run
from auditbook.columns import TABLES
from auditbook.privacy import protect_run, read_smallest
from auditbook.report import build_report
from auditbook.report.handins import export_run
from auditbook.report.to_json import write_json
from auditbook.results import Run, read_run, write_results
from pocket_tables import make_pocket_tables
from runs_fixture import make_run

COUNTS = ("n", "events", "non_events", "tp", "fp", "fn", "tn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("small") / "run", "inconclusive")


@pytest.fixture(scope="module")
def few(folder):
    """The group with the fewest records, as (attribute, group, records)."""
    groups = read_run(folder).groups
    held = groups[(groups["n"] > 0) & (groups["n"] < 10)].sort_values("n").iloc[0]
    return held["attribute"], held["group"], int(held["n"])


def read_both(folder, name):
    """Read a table exact and as others see it, where this small run has it."""
    if not (folder / "results" / f"{name}.csv").is_file():
        pytest.skip(f"this run makes no {name}.csv")
    return [getattr(run, name) for run in (read_run(folder), open_run(str(folder)))]


def list_texts(content):
    """List the texts of a JSON file."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        return [text for item in content for text in list_texts(item)]
    return [content] if isinstance(content, str) else []


def test_no_table_shows_a_count_of_a_few(folder):
    shown = open_run(str(folder)).groups
    counts = shown[list(COUNTS)].to_numpy(float)
    assert not ((counts > 0) & (counts < 10)).any()


def test_what_a_small_group_holds_is_blank_and_who_it_is_stays(folder, few):
    attribute, group, _ = few
    shown = open_run(str(folder)).groups
    row = shown[(shown["attribute"] == attribute) & (shown["group"] == group)].iloc[0]
    assert row[list(COUNTS)].isna().all()
    assert np.isnan(row["selection_rate"])
    assert "too few records" in row["support"]


def test_another_group_is_withheld_so_that_the_small_one_does_not_follow(folder, few):
    shown = open_run(str(folder)).groups
    assert shown.loc[shown["attribute"] == few[0], "n"].isna().sum() >= 2


@pytest.mark.parametrize("name", TABLES)
def test_words_are_those_of_the_exact_run(folder, name):
    exact, shown = read_both(folder, name)
    assert exact.shape == shown.shape
    for column in ("model", "attribute", "group", "metric", "verdict", "shown", "standing", "tier"):
        if column in exact:
            assert exact[column].tolist() == shown[column].tolist()


@pytest.mark.parametrize("name", TABLES)
def test_what_is_not_blank_is_as_in_the_exact_run(folder, name):
    exact, shown = read_both(folder, name)
    for column in exact.select_dtypes("number"):
        kept = shown[column].notna()
        assert (shown.loc[kept, column] == exact.loc[kept, column]).all()


def test_the_report_names_the_small_group_and_not_how_many_it_holds(folder, few, tmp_path):
    write_json(build_report(open_run(str(folder))), tmp_path / "report.json")
    texts = list_texts(json.loads((tmp_path / "report.json").read_text(encoding="utf-8")))
    named = [text for text in texts if few[1] in text]
    assert named
    for text in named:
        assert not re.search(rf"\b{few[2]} (people|record)|n = {few[2]}\b", text), text


def test_the_workbook_does_not_hold_it_either(folder, few, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(export_run(folder, "xlsx", tmp_path))
    for row in book["groups"].iter_rows(values_only=True):
        if few[1] in row:
            assert few[2] not in [cell for cell in row if isinstance(cell, (int, float))]


def test_a_key_of_zero_withholds_nothing(folder):
    exact = read_run(folder)
    info = exact.info | {"report": {"smallest_cell": 0}}
    assert read_smallest(info) == 0
    assert protect_run(Run(folder, info)).groups.equals(exact.groups)


def test_a_small_group_is_withheld_where_pockets_are_all_that_was_audited(folder, tmp_path):
    tables = make_pocket_tables("continuous")
    groups = tables["pocket_groups"]
    few = groups["group"] == "F"
    groups.loc[few, "n"] = (~groups[few].duplicated("map")).astype(int) * 7
    (tmp_path / "results").mkdir()
    write_results(tables, tmp_path / "results")
    info = read_run(folder).info | {"outcome": {"column": "days", "event": "", "continuous": True}}
    info |= {"crosses": {}, "pockets": {"status": "done", "continuous": True, "records": {"audit": 4000}}}
    (tmp_path / "run.json").write_text(json.dumps(info), encoding="utf-8")
    run = open_run(str(tmp_path))
    n = run.pocket_groups["n"]
    assert n[few & (groups["n"] > 0)].isna().all()
    overall = run.pocket_errors[run.pocket_errors["pocket"] == "overall"]
    assert overall.loc[overall["contrast"] == "sex: F - M", "n_reference"].isna().all()
    assert build_report(run).pages


def test_run_json_tells_others_the_rule_for_several_scores_and_no_number_of_it(folder, tmp_path):
    made = tmp_path / "run"
    shutil.copytree(folder, made)
    info = json.loads((made / "run.json").read_text(encoding="utf-8"))
    info["per_unit"] = {"rule": "max", "records": 9, "units": 5, "several": 3}
    (made / "run.json").write_text(json.dumps(info), encoding="utf-8")
    assert open_run(str(made)).info["per_unit"] == {"rule": "max"}
