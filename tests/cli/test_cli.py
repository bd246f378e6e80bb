"""The command line: what a right call leaves behind, and what a wrong one says."""

import contextlib
import errno
import io
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tomllib

import nbformat
import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.errors import RunError
from auditbook.results import read_table
from auditbook.run import chapters
from auditbook.run.folder import hash_results, note_key
from auditbook.run.plan import locked

COHORT = """\
name = "small"
title = "A small cohort"

[data]
path = "small.csv"

[outcome]
column = "outcome"
event = 1

[attributes.group]
column = "group"

[scores.risk]
column = "risk"
kind = "probability"

[panel]
models = []

[pockets]
partition = "leiden"
"""


WITHOUT_POCKETS = COHORT.replace('partition = "leiden"', "run = false")
"""The same with less to do: one step of its audit, and its report, are not those of the first."""


def small_table(rows=400, groups=3):
    rng = np.random.default_rng(5)
    risk = rng.uniform(size=rows).round(3)
    return pd.DataFrame(
        {
            "outcome": (rng.uniform(size=rows) < risk).astype(int),
            "group": [f"g{k % groups}" for k in range(rows)],
            "risk": risk,
            "age": rng.integers(18, 90, rows),
        }
    )


def print_quickly(report, target, *, paper="A4"):
    """Stand in for the browser, which takes seconds."""
    target.write_bytes(b"%PDF-1.7 of a test")


@pytest.fixture(autouse=True)
def _without_browser(request, monkeypatch):
    """Print no PDF but in the tests that look at one."""
    if "printed" not in request.fixturenames:
        monkeypatch.setattr("auditbook.report.writing.make_pdf", print_quickly)


@pytest.fixture
def printed():
    """Ask for a PDF that a browser prints."""


@pytest.fixture
def write(tmp_path):
    """Write a cohort file and its data; return the last arguments of a call that does little work."""

    def _write(table=None, text=COHORT):
        (small_table() if table is None else table).to_csv(tmp_path / "small.csv", index=False)
        (tmp_path / "small.toml").write_text(text, encoding="utf-8")
        return [str(tmp_path / "small.toml"), "--run-dir", str(tmp_path / "run"), "--profile", "smoke"]

    return _write


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The folder of the small cohort's audit, made once; only read."""
    folder = tmp_path_factory.mktemp("finished")
    small_table().to_csv(folder / "small.csv", index=False)
    (folder / "small.toml").write_text(COHORT, encoding="utf-8")
    call = ["audit", str(folder / "small.toml"), "--run-dir", str(folder / "run"), "--profile", "smoke"]
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as quickly, contextlib.redirect_stdout(said):
        quickly.setattr("auditbook.report.writing.make_pdf", print_quickly)
        assert main(call) == 0
    (folder / "said.txt").write_text(said.getvalue(), encoding="utf-8")
    return folder / "run"


@pytest.fixture
def audited(write, finished, tmp_path):
    """Write the small cohort with its audit as the last call left it; return a call's last arguments."""
    shutil.copytree(finished, tmp_path / "run", symlinks=True)
    return write()


def test_an_audit_writes_its_tables_and_says_where(finished):
    assert str(finished / "results") in (finished.parent / "said.txt").read_text(encoding="utf-8")
    names = {path.stem for path in (finished / "results").iterdir()}
    assert names >= {"groups", "verdicts", "models", "score_bins", "cohort_groups"}
    info = json.loads((finished / "run.json").read_text(encoding="utf-8"))
    assert info["rows_read"] == 400
    assert [step["step"] for step in info["steps"]] == [
        "cohort",
        "scores",
        "verdicts",
        "baselines",
        "robustness",
        "pockets",
        "report",
    ]


def test_an_audit_leaves_its_report_and_tells_the_finding_in_five_lines(
    printed, audited, finished, tmp_path, capsys
):
    place = tmp_path / "run" / "report"
    shutil.rmtree(place)
    assert main(["audit", *audited]) == 0
    first = (finished.parent / "said.txt").read_text(encoding="utf-8")
    for text, folder in ((first, finished), (capsys.readouterr().out, tmp_path / "run")):
        said = text.splitlines()
        starts = ["results", "audited", "shown to fail", "open", "cannot be judged", "report"]
        assert [line.split(":")[0] for line in said] == starts
        assert said[1] == "audited: risk, on 400 records"
        assert said[-1] == f"report: {folder / 'report' / 'index.html'}"
    assert sorted(path.name for path in place.iterdir()) == ["index.html", "report.json", "report.pdf"]
    assert (place / "report.pdf").read_bytes().startswith(b"%PDF")
    assert "A small cohort" in (place / "index.html").read_text(encoding="utf-8")


def step_status(folder, name):
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return next(step["status"] for step in info["steps"] if step["step"] == name)


def test_a_changed_word_redoes_the_report_and_no_step_of_the_audit(audited, write, tmp_path, capsys):
    page = tmp_path / "run" / "report" / "index.html"
    before = page.stat().st_ino, page.read_bytes()
    assert main(["audit", *audited]) == 0
    assert "report: nothing has changed, report kept" in capsys.readouterr().err
    assert step_status(tmp_path / "run", "report") == "kept"
    assert page.read_bytes() == before[1]
    write(text=COHORT + '[use]\nowner = "Patient flow, third floor"\n')
    assert main(["audit", *audited]) == 0
    said = capsys.readouterr()
    assert "audit: nothing has changed, results kept" in said.err
    assert step_status(tmp_path / "run", "report") == "done"
    assert "Patient flow, third floor" in page.read_text(encoding="utf-8")
    assert len(said.out.splitlines()) == 6


@pytest.mark.parametrize("name", ["index.html", "report.json", "report.pdf"])
def test_a_report_that_somebody_edited_or_lost_is_made_again(name, audited, tmp_path):
    path = tmp_path / "run" / "report" / name
    before = path.read_bytes()
    path.write_bytes(b"edited") if name == "index.html" else path.unlink()
    assert main(["audit", *audited]) == 0
    assert path.read_bytes() == before
    assert step_status(tmp_path / "run", "report") == "done"


def test_without_a_printer_there_is_a_report_and_a_word_about_the_pdf(
    audited, write, tmp_path, capsys, monkeypatch
):
    def refuse(*_, **__):
        raise RunError("no report.pdf: there is nothing to print with")

    monkeypatch.setattr("auditbook.report.writing.make_pdf", refuse)
    call = write(text=COHORT + '[use]\nowner = "Patient flow"\n')
    assert main(["audit", *call]) == 0
    said = capsys.readouterr()
    assert "no report.pdf: there is nothing to print with" in said.err
    assert "Patient flow" in (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
    assert not (tmp_path / "run" / "report" / "report.pdf").exists()
    monkeypatch.setattr("auditbook.report.writing.make_pdf", print_quickly)
    assert main(["audit", *call]) == 0
    assert (tmp_path / "run" / "report" / "report.pdf").is_file()
    assert "audit: nothing has changed, results kept" in capsys.readouterr().err


def test_a_report_that_fails_leaves_the_last_run_in_place(audited, write, tmp_path, capsys, monkeypatch):
    before = (tmp_path / "run" / "run.json").read_bytes()
    results = hash_results(tmp_path / "run" / "results")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "report.json")

    monkeypatch.setattr("auditbook.report.writing.write_json", full)
    assert main(["audit", *write(text=WITHOUT_POCKETS)]) == 1
    assert "report.json: No space left on device" in capsys.readouterr().err
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    assert hash_results(tmp_path / "run" / "results") == results
    assert (tmp_path / "run" / "report" / "report.pdf").is_file()


def test_a_run_is_handed_in_as_a_workbook_once(audited, write, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["export", str(run), "xlsx"]) == 0
    made = run / "exports" / "tables.xlsx"
    assert capsys.readouterr().out.strip() == str(made)
    made.write_bytes(b"signed by somebody")
    assert main(["export", str(run), "xlsx"]) == 2
    assert f"{made} is there already; it is not overwritten" in capsys.readouterr().err
    results = hash_results(run / "results")
    assert main(["audit", *write(text=WITHOUT_POCKETS)]) == 0
    assert hash_results(run / "results") != results
    assert made.read_bytes() == b"signed by somebody"
    assert main(["export", str(run), "xlsx", "--output", str(tmp_path / "mine.xlsx")]) == 0
    assert (tmp_path / "mine.xlsx").read_bytes()[:2] == b"PK"


@pytest.mark.parametrize(
    ("run", "call", "told"),
    [
        ("run", ["xlxs"], "no form 'xlxs' (did you mean 'xlsx'?); there are: xlsx, docx"),
        ("nowhere", ["xlsx"], "holds no finished run"),
        ("run", ["xlsx", "--output", "nowhere/x.xlsx"], "there is no folder"),
    ],
)
def test_a_form_that_cannot_be_filled_is_the_callers_mistake(run, call, told, audited, tmp_path, capsys):
    assert main(["export", str(tmp_path / run), *call]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("rule", ["group", "drop"])
def test_records_without_a_group_are_the_same_in_every_table_and_counted_in_run_json(rule, write, tmp_path):
    table = small_table().assign(group=lambda t: t["group"].where(t.index >= 31))
    assert main(["audit", *write(table, WITHOUT_POCKETS + f'[missing]\nattributes = "{rule}"\n')]) == 0
    info = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    grouped = [{"attribute": "group", "rows": 31}] if rule == "group" else []
    dropped = [{"reason": "group missing", "rows": 31}] if rule == "drop" else []
    assert (info["missing_groups"], info["left_out"]) == (grouped, dropped)
    sizes = {"g0": 123, "g1": 123, "g2": 123} | ({"(missing)": 31} if rule == "group" else {})
    for name, column in (("groups", "n"), ("cohort_groups", "n_audit")):
        found = read_table(tmp_path / "run" / "results" / f"{name}.csv")
        assert dict(zip(found["group"], found[column], strict=True)) == sizes
    bins = read_table(tmp_path / "run" / "results" / "score_bins.csv")
    assert bins[bins["attribute"] == "group"].groupby("group")["n"].sum().to_dict() == sizes


@pytest.mark.slow
def test_a_failing_chapter_ends_the_run_with_1_and_leaves_the_last_one_in_place(
    audited, tmp_path, capsys, monkeypatch
):
    before = (tmp_path / "run" / "run.json").read_bytes()
    broken = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell('run_dir = ""', metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell("1 / 0"),
        ],
        metadata={"kernelspec": {"name": "any", "display_name": "Any", "language": "python"}},
    )
    monkeypatch.setattr(chapters, "read_chapter", lambda name: broken)
    assert main(["run", *audited, "--only", "metrics", "--seed", "9"]) == 1
    said = capsys.readouterr().err
    assert "the run failed: chapter 'metrics', cell 2 (1 / 0): ZeroDivisionError: division by zero" in said
    assert "Traceback" not in said
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    assert not (tmp_path / "run" / "html").exists()
    assert main(["run", *audited, "--only", "metrics", "--seed", "9"]) == 1
    assert "audit: nothing has changed, results kept" in capsys.readouterr().err


def test_one_chapter_alone_does_not_pass_older_pages_off_as_its_own(audited, tmp_path, capsys, monkeypatch):
    short = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell('run_dir = ""', metadata={"tags": ["parameters"]})],
        metadata={"kernelspec": {"name": "any", "display_name": "Any", "language": "python"}},
    )
    monkeypatch.setattr(chapters, "read_chapter", lambda name: short)
    page = tmp_path / "run" / "html" / "index.html"
    page.parent.mkdir()
    page.write_text("pages of an earlier run", encoding="utf-8")
    os.utime(page, (0, 0))
    assert main(["run", *audited, "--only", "metrics"]) == 0
    said = capsys.readouterr().out
    assert "metrics.ipynb" in said
    assert "book: pages of an earlier run, not of these results" in said


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(write, tmp_path):
    call = write()
    found = {}
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(["audit", *call, "--run-dir", str(tmp_path / folder), "--seed", seed]) == 0
        found[folder] = (tmp_path / folder / "results" / "verdicts.csv").read_bytes()
    assert found["a"] == found["b"]
    assert found["a"] != found["c"]


def test_an_unchanged_audit_is_kept_and_a_changed_one_is_not(audited, tmp_path, capsys):
    assert main(["audit", *audited]) == 0
    assert "nothing has changed" in capsys.readouterr().err
    changed = small_table()
    changed.loc[0, "outcome"] = 1 - changed.loc[0, "outcome"]
    changed.to_csv(tmp_path / "small.csv", index=False)
    assert main(["audit", *audited]) == 0
    assert "nothing has changed" not in capsys.readouterr().err


def test_results_that_somebody_edited_are_made_again(audited, tmp_path):
    path = tmp_path / "run" / "results" / "verdicts.csv"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"pass", b"fail"))
    assert main(["audit", *audited]) == 0
    assert path.read_bytes() == before


def with_scores_in_percent():
    return small_table().assign(risk=lambda table: table["risk"] * 100)


def with_300_groups():
    return small_table(rows=600, groups=300)


BAD_DATA = {
    "one group": (small_table(groups=1), ["group", "1 group", "at least two"]),
    "scores of 0-100": (with_scores_in_percent(), ["risk", "not probabilities"]),
    "300 groups": (with_300_groups(), ["group", "300 groups", "50"]),
    "an empty table": (small_table().iloc[:0], ["small.csv", "no rows"]),
    "no events": (small_table().assign(outcome=0), ["outcome", "0"]),
}


@pytest.mark.parametrize(("table", "words"), BAD_DATA.values(), ids=BAD_DATA.keys())
def test_bad_data_get_one_clear_message_and_leave_nothing(table, words, write, tmp_path, capsys):
    assert main(["audit", *write(table)]) == 2
    said = capsys.readouterr().err
    for word in words:
        assert word in said
    assert "Traceback" not in said
    assert not (tmp_path / "run" / "results").exists()
    assert not (tmp_path / "run" / "run.json").exists()


BAD_FILES = {
    "a wrong column": (COHORT.replace('"outcome"', '"outcom"'), ["outcom", "did you mean 'outcome'?"]),
    "an event that matches nothing": (COHORT.replace("event = 1", 'event = "Yes"'), ["Yes", "0", "1"]),
    "missing data": (COHORT.replace("small.csv", "elsewhere.csv"), ["elsewhere.csv"]),
    "an unknown key": (COHORT.replace("event =", "evnt ="), ["evnt", "did you mean 'event'?"]),
    "an unknown model": (
        COHORT.replace("models = []", 'models = ["xgbost"]'),
        ["xgbost", "did you mean 'xgboost'?"],
    ),
    "a continuous outcome": (
        COHORT.replace("event = 1", 'type = "continuous"').replace('kind = "probability"', 'kind = "value"'),
        ["continuous", "event =", "auditbook pockets audit"],
    ),
    "probabilities of a number": (COHORT.replace("event = 1", 'type = "continuous"'), ["kind", '"value"']),
    "values of an event": (COHORT.replace('kind = "probability"', 'kind = "value"'), ["kind", '"rank"']),
    "pockets of nobody": (
        COHORT + 'attributes = ["grup"]\n',
        ["[pockets] attributes", "did you mean 'group'?"],
    ),
    "no share for the audit": (COHORT + "development = 0.8\n", ["[pockets] discovery"]),
    "no TOML": ("name = ", ["small.toml"]),
}


@pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_cohort_file_gets_one_clear_message_and_leaves_nothing(text, words, write, tmp_path, capsys):
    assert main(["audit", *write(text=text)]) == 2
    said = capsys.readouterr().err
    for word in words:
        assert word in said
    assert "Traceback" not in said
    assert not (tmp_path / "run" / "results").exists()


def test_a_failed_audit_leaves_the_last_good_one_in_place(audited, write, tmp_path, capsys):
    before = {path.name: path.read_bytes() for path in (tmp_path / "run" / "results").iterdir()}
    write(small_table().assign(outcome=0))
    assert main(["audit", *audited]) == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "run" / "results").iterdir()} == before


def test_a_cohort_file_that_is_not_there_is_named(tmp_path, capsys):
    assert main(["check", str(tmp_path / "nowhere.toml")]) == 2
    assert "nowhere.toml" in capsys.readouterr().err


def test_check_finds_no_fault_and_writes_nothing(write, tmp_path, capsys):
    call = write()
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(["check", call[0]]) == 0
    assert "no fault found" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_draft_is_a_cohort_file_that_can_be_checked(tmp_path, capsys):
    small_table().to_csv(tmp_path / "stays.csv", index=False)
    assert main(["new", str(tmp_path / "stays.csv")]) == 0
    assert "path" in tomllib.loads((tmp_path / "stays.toml").read_text(encoding="utf-8"))["data"]
    assert main(["new", str(tmp_path / "stays.csv")]) == 2
    assert "not overwritten" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (["run", "x.toml", "--sed", "3"], "--seed"),
        (["new", "x.csv", "--force"], "unrecognized arguments: --force (another command has it)"),
        (["audit", "x.toml", "--seed", "-1"], "-1"),
        (["audit", "x.toml", "--jobs", "0"], "0"),
        (["simulate", "--replicates", "0"], "'0' is not a number of replicates"),
        (["audit", "x.toml", "--profile", "huge"], "huge"),
        (["adit", "x.toml"], "adit"),
        ([], "COMMAND"),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_why(call, word, capsys):
    with pytest.raises(SystemExit) as left:
        main(call)
    assert left.value.code == 2
    assert word in capsys.readouterr().err


def test_an_unknown_chapter_is_refused_before_anything_is_done(write, tmp_path, capsys):
    assert main(["run", *write(), "--only", "metricz"]) == 2
    assert "did you mean 'metrics'?" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_second_run_in_the_same_folder_is_kept_out(write, tmp_path, capsys):
    call = write()
    with locked(tmp_path / "run"):
        assert main(["audit", *call]) == 1
    assert "another run is at work" in capsys.readouterr().err


def test_a_run_that_others_share_is_waited_for(tmp_path):
    folder, told, held = tmp_path / "run", [], threading.Event()

    def hold():
        with locked(folder):
            held.set()
            while not told:
                time.sleep(0.01)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    with locked(folder, wait=told.append):  # whoever held it took the empty folder away
        assert folder.is_dir()
        assert told == [f"another run is at work in {folder}: waiting for it"]
        with pytest.raises(RunError, match="another run is at work"), locked(folder):
            pass
    holder.join()


def test_what_a_run_writes_can_be_read_by_nobody_else(audited, write, finished, tmp_path):
    (tmp_path / "run").chmod(0o755)  # as earlier versions left it
    assert main(["audit", *write(text=WITHOUT_POCKETS)]) == 0
    for run in (finished, tmp_path / "run"):
        left = [path for path in run.rglob("*") if not path.name.startswith(".lock")]
        assert {oct(path.stat().st_mode & 0o077) for path in [run, *left]} == {"0o0"}


def test_predictions_are_removed_where_nobody_wants_to_keep_them(write, tmp_path, capsys):
    call = write(text=WITHOUT_POCKETS.replace("models = []", 'models = ["logistic"]'))
    assert main(["audit", *call]) == 0
    assert any((tmp_path / "run" / "scores").iterdir())
    results = hash_results(tmp_path / "run" / "results")
    assert main(["audit", *call, "--no-scores"]) == 0
    assert not (tmp_path / "run" / "scores").exists()
    assert (
        "scores: removed; an audit with other settings will train the models again" in capsys.readouterr().err
    )
    assert main(["audit", *call, "--no-scores"]) == 0
    assert "nothing has changed, results kept" in capsys.readouterr().err
    assert main(["audit", *call, "--force", "--no-scores"]) == 0
    assert hash_results(tmp_path / "run" / "results") == results


def test_too_little_room_is_told_before_anything_is_done(write, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda _: (2 * 10**9, 2 * 10**9))
    assert main(["audit", *write()]) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        "auditbook: the run failed: a process may use 2.0 GB of address space here (ulimit -v)"
    )
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (ImportError("libx.so: failed to map segment"), "a library could not be loaded"),
        (SystemError("initialization of x failed"), "a library could not be loaded"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_memory_that_runs_out_is_told_in_one_line(fault, told, write, capsys, monkeypatch):
    def fail(*_, **__):
        raise fault

    monkeypatch.setattr("auditbook.run.run_audit", fail)
    assert main(["audit", *write()]) == 1
    assert told in (said := capsys.readouterr().err)
    assert said.count("\n") == 1


def test_the_command_is_installed():
    said = subprocess.run(
        [sys.executable, "-m", "auditbook.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("auditbook ")


@pytest.mark.parametrize("name", ["results", "report", "notebooks", "html", "run.json"])
def test_a_folder_with_files_that_no_run_made_is_refused(name, write, tmp_path, capsys):
    call = write()
    (tmp_path / "run" / name).mkdir(parents=True)
    (tmp_path / "run" / name / "precious.txt").write_text("kept")
    assert main(["audit", *call]) == 2
    assert f"holds {name}, which no run has made" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "run").rglob("*")] == [name, "precious.txt"]


@pytest.mark.parametrize(
    "content", ["{{{", "[]", "null", '"x"', '{"hashes": null}', '{"hashes": []}', "\xff"]
)
def test_a_damaged_run_json_costs_time_and_nothing_else(content, audited, tmp_path):
    before = hash_results(tmp_path / "run" / "results")
    (tmp_path / "run" / "run.json").write_text(content, encoding="latin-1")
    assert main(["audit", *audited]) == 0
    assert hash_results(tmp_path / "run" / "results") == before
    assert json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["rows_read"] == 400


def test_a_link_in_place_of_a_runs_folder_is_replaced_and_not_followed(audited, write, tmp_path):
    run, kept = tmp_path / "run", tmp_path / "kept"
    (run / "results").rename(kept)
    (run / "results").symlink_to(kept)
    before = hash_results(kept)
    assert main(["audit", *write(text=WITHOUT_POCKETS)]) == 0
    assert not (run / "results").is_symlink()
    assert hash_results(run / "results") != before
    assert hash_results(kept) == before


@pytest.mark.parametrize("place", ["file", "file/below", "x" * 300])
def test_a_run_folder_that_cannot_be_made_is_the_callers_mistake(place, write, tmp_path, capsys):
    (tmp_path / "file").write_text("a file")
    assert main(["audit", write()[0], "--run-dir", str(tmp_path / place)]) == 2
    said = capsys.readouterr().err
    assert "cannot hold a run" in said
    assert "--run-dir" in said


def test_a_full_disk_ends_the_run_with_1_and_leaves_the_last_one_in_place(
    audited, tmp_path, capsys, monkeypatch
):
    before = (tmp_path / "run" / "run.json").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "groups.csv")

    monkeypatch.setattr("auditbook.results.write_table", full)
    assert main(["audit", *audited, "--seed", "9"]) == 1
    said = capsys.readouterr().err
    assert "the run failed: groups.csv: No space left on device" in said
    assert "Traceback" not in said
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    assert (tmp_path / "run" / "results" / "groups.csv").is_file()


def test_a_title_does_not_steer_the_terminal(write, capsys):
    text = WITHOUT_POCKETS.replace("A small cohort", "\\u001b[31mred \\u202edne")
    assert main(["audit", *write(text=text)]) == 0
    assert r"\x1b[31mred \u202edne" in capsys.readouterr().err


def test_faults_found_while_scoring_and_judging_name_the_cohort_file(write, capsys):
    few = COHORT.replace("models = []", 'models = ["logistic"]') + "[protocol]\naudit_share = 0.99\n"
    small = COHORT + "[protocol]\nresample_size = 1\n"
    for text, told in ((few, "too few"), (small, "raise resample_size")):
        assert main(["audit", *write(text=text)]) == 2
        said = [line for line in capsys.readouterr().err.splitlines() if "auditbook:" in line]
        assert all(line.startswith("auditbook: small.toml: ") for line in said)
        assert told in said[0]


def test_a_disk_that_fills_while_results_are_copied_is_told_once(audited, capsys, monkeypatch):

    def full(*_, **__):
        raise shutil.Error([("a.csv", "b.csv", "[Errno 28] No space left on device: 'a.csv'")] * 7)

    monkeypatch.setattr("auditbook.run.runner.shutil.copytree", full)
    capsys.readouterr()
    assert main(["audit", *audited]) == 1
    said = capsys.readouterr().err
    assert said.count("No space left on device") == 1
    assert "the same command goes on from here" in said


@pytest.mark.parametrize(
    ("data", "output", "told"),
    [
        (".csv", None, "does not end in .toml"),
        ("a.csv", "a.txt", "does not end in .toml"),
        ("a.csv", "y" * 300 + ".toml", "cannot be written: File name too long"),
        ("x" * 300 + ".csv", None, "cannot be read: File name too long"),
    ],
)
def test_a_draft_that_could_not_be_checked_is_not_written(data, output, told, tmp_path, capsys):
    if len(data) < 99:
        small_table().to_csv(tmp_path / data, index=False)
    call = ["new", str(tmp_path / data)] + ([] if output is None else ["--output", str(tmp_path / output)])
    assert main(call) == 2
    assert told in capsys.readouterr().err
    assert [path.suffix for path in tmp_path.iterdir() if path.name != data] == []


def test_the_keys_of_chapters_stand_in_order_whichever_was_done_first(tmp_path):
    for name in ("scores", "cohort", "metrics"):
        note_key(tmp_path, name, "k")
    assert list(json.loads((tmp_path / "keys.json").read_text(encoding="utf-8"))) == [
        "cohort",
        "metrics",
        "scores",
    ]
