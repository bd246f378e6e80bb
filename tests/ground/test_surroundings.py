"""What lies about a process: nothing of it is imported, and no setting of a user counts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from auditbook.surroundings import SOURCE, shut_out
from auditbook.workers import do_beside

PLANTED = ("random", "json", "numpy", "sitecustomize", "usercustomize", "pandas", "argparse", "csv", "joblib")
"""Names that a program imports sooner or later."""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A working folder with modules that leave a trace when somebody imports them."""
    for name in PLANTED:
        line = f"open({str(tmp_path / 'trace')!r}, 'a').write({name!r})\n"
        (tmp_path / f"{name}.py").write_text(line, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # left by a command that another test called
    return tmp_path


def trace(folder):
    place = folder / "trace"
    return place.read_text(encoding="utf-8") if place.is_file() else ""


def call(*command):
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_the_planted_modules_would_be_imported(planted):
    call(sys.executable, "-c", "import random")
    assert trace(planted) == "random"


COMMANDS = {
    "module": (sys.executable, "-m", "auditbook", "check", "absent.toml"),
    "script": (str(Path(sys.executable).with_name("auditbook")), "check", "absent.toml"),
}


@pytest.mark.parametrize("path", ["", os.pathsep, f".{os.pathsep}"])
@pytest.mark.parametrize("start", COMMANDS)
def test_a_command_imports_nothing_from_its_working_folder(start, path, planted, monkeypatch):
    (planted / "sitecustomize.py").unlink()  # Python itself imports it from PYTHONPATH, before any program
    (planted / "usercustomize.py").unlink()
    monkeypatch.setenv("PYTHONPATH", f"{SOURCE}{os.pathsep}{path}" if path else str(SOURCE))
    said = call(*COMMANDS[start])
    assert "absent.toml" in said.stderr
    assert said.returncode == 2
    assert trace(planted) == ""


def test_workers_import_nothing_from_the_working_folder(planted):
    assert dict(do_beside(pow, [(2, 3), (3, 2)], jobs=2)) == {0: 8, 1: 9}
    assert trace(planted) == ""


def test_what_pythonpath_says_is_left_out_but_for_the_package_itself(tmp_path, monkeypatch):
    foreign = str(tmp_path / "elsewhere")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((foreign, str(SOURCE))))
    monkeypatch.setattr(sys, "path", [foreign, str(SOURCE), *sys.path])
    for name in ("PYTHONSAFEPATH", "PYTHONUTF8", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "x")
    shut_out()
    assert os.environ["PYTHONPATH"] == str(SOURCE)
    assert foreign not in sys.path
    assert "PYTHONSTARTUP" not in os.environ


@pytest.mark.parametrize("coding", ["ascii", "latin-1"])
def test_a_terminal_of_another_encoding_ends_no_command(coding, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", coding)
    said = call(sys.executable, "-m", "auditbook", "check", str(tmp_path / "日本.toml"))
    assert said.returncode == 2
    assert r"\u65e5\u672c.toml" in said.stderr
