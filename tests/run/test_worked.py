"""Worked pocket audits: which one a chapter shows, and whether the stored ones are the code's."""

import io

import pytest

from auditbook.book import WORKED, choose_worked, is_stored, place_worked
from auditbook.progress import Progress
from auditbook.project import project_file
from auditbook.results import Run, read_run
from auditbook.run.chapters import read_chapter
from auditbook.run.contents import chapter_names
from auditbook.run.folder import hash_results
from auditbook.run.worked import SYNTHETIC, digest_worked, remake_worked

STORED = [name for name in SYNTHETIC if (project_file("data", "worked") / name / "run.json").is_file()]


def run_of(name="small", seed=42):
    info = {"name": name, "seed": seed, "profile": {"name": "quick"}, "pockets": {"status": "done"}}
    return Run(None, info)


def test_a_run_on_a_chapters_own_cohort_is_what_the_chapter_shows():
    assert choose_worked("pockets-care", run_of("care-twin")) == ""
    assert choose_worked("pockets-care", run_of()) in WORKED["pockets-care"]


def test_an_audit_with_another_seed_is_made_anew_and_kept_apart():
    assert not is_stored("care-twin", run_of(seed=7))
    assert place_worked("care-twin", run_of(seed=7)).name == "care-twin-quick-7"


def test_the_chapters_that_open_a_worked_audit_name_themselves():
    opened = {}
    for name in chapter_names():
        text = "\n".join(cell.source for cell in read_chapter(name).cells if cell.cell_type == "code")
        if "open_worked(" in text:
            opened[name] = f'open_worked("{name}", ' in text
    assert opened == dict.fromkeys(WORKED, True)


@pytest.mark.parametrize("cohort", STORED)
def test_the_stored_audits_are_whole_and_made_by_the_code_as_it_is(cohort):
    folder = project_file("data", "worked", cohort)
    info = read_run(folder).info
    assert info["hashes"]["results"] == hash_results(folder / "results")
    assert info["provenance"]["code"] == digest_worked(), (
        "make them anew: .venv/bin/python tools/store_worked.py"
    )


@pytest.mark.slow
@pytest.mark.parametrize("cohort", STORED[:1])
def test_a_stored_audit_made_again_is_the_same(cohort, tmp_path):
    with Progress(total=2, stream=io.StringIO()) as silent:
        made = remake_worked(cohort, tmp_path / "run", silent, jobs=2)
    for path in project_file("data", "worked", cohort, "results").glob("*.csv"):
        assert (made.folder / "results" / path.name).read_bytes() == path.read_bytes(), path.name
