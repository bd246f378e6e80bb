"""Worked pocket audits: which one a chapter shows, and whether the stored ones are the code's."""

import io

import pytest

from auditbook.book import WORKED, choose_worked, is_stored, place_worked
from auditbook.progress import Progress
from auditbook.project import project_file
from auditbook.results import Run, read_run
from auditbook.run.chapters import read_chapter
from auditbook.run.contents import chapter_names
from auditbook.run.folder import fresh_folder, hash_results, write_json
from auditbook.run.ledger import LEDGER
from auditbook.run.plan import Request
from auditbook.run.pockets import run_pockets
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


@pytest.mark.parametrize(("text", "kept"), [("a\n1\n", True), ("a\n2\n", False)])
def test_a_shared_audit_is_only_replaced_by_another(text, kept, tmp_path, monkeypatch):
    def make(plan, progress, names):
        fresh_folder(plan.next / "results")
        (plan.next / "results" / "t.csv").write_text(text, encoding="utf-8")
        write_json(plan.next / LEDGER, {})
        hashes = {"audit": "key", "results": hash_results(plan.next / "results")}
        return {"steps": [], "hashes": hashes}

    folder = tmp_path / "run"
    fresh_folder(folder / "results")
    (folder / "results" / "t.csv").write_text("a\n1\n", encoding="utf-8")
    write_json(folder / "run.json", {"hashes": {"audit": "key", "results": hash_results(folder / "results")}})
    place = (folder / "results").stat().st_ino
    monkeypatch.setattr("auditbook.run.pockets.make_results", make)
    request = Request(project_file("data", "cohorts", "care-twin.toml"), run_dir=folder)
    with Progress(total=2, stream=io.StringIO()) as silent:
        run_pockets(request, silent, report=False, shared=True)
    assert ((folder / "results").stat().st_ino == place) == kept
    assert (folder / "results" / "t.csv").read_text(encoding="utf-8") == text
    assert not (folder / "next").exists()


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
