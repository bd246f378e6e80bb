"""The annex: what it takes to make the report again, and what each part holds."""

from dataclasses import replace

import pytest

from auditbook.report import build_report
from auditbook.results import read_run


def find(report, key):
    return next(section for section in report.annex if section.key == key)


@pytest.mark.parametrize("profile", ["quick", {"name": "quick", "resamples": 200}])
def test_provenance_names_profile_seed_and_hashes_but_no_time(runs, profile):
    run = replace(runs["two_groups"], info=runs["two_groups"].info | {"profile": profile})
    facts = find(build_report(run), "provenance").sheets[0].table.set_index("what")["value"]
    assert facts["profile"] == "quick"
    assert facts["seed"] == "42"
    assert facts["hash of the data"] == "0" * 64
    assert not any("time" in what or "date" in what for what in facts.index)


def test_every_part_of_the_annex_stands_once_and_holds_something(runs):
    report = build_report(runs["three_sites"])
    keys = [section.key for section in report.annex]
    wanted = "groups cells contrasts pockets models features left_out protocol published provenance"
    assert keys == wanted.split()
    assert all(section.sheets for section in report.annex)
    assert all(len(sheet.table) for section in report.annex for sheet in section.sheets)


def test_every_cell_and_contrast_of_the_run_is_in_the_annex(runs, run_folders):
    report, run = build_report(runs["nine_groups"]), read_run(run_folders["nine_groups"])
    cells = {sheet.name: sheet.table for sheet in find(report, "cells").sheets}
    assert len(cells["verdicts"]) == len(run.verdicts)
    assert len(find(report, "contrasts").sheets[0].table) == len(run.contrasts)
    assert len(find(report, "groups").sheets[0].table) == len(run.groups)


def test_an_accuracy_that_is_not_defined_is_left_out(runs):
    assert "AUROC" not in build_report(runs["decisions"]).pages[0].accuracy.text
    assert "of decisions right" in build_report(runs["decisions"]).pages[0].accuracy.text
