"""`auditbook new`: five questions on a terminal, none in pipes, and what was found in the file."""

import builtins
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import DONE, WRONG, main


@pytest.fixture
def visits(tmp_path):
    rng = np.random.default_rng(6)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 300),
            "died": rng.integers(0, 2, 300),
            "readmitted": rng.choice(["yes", "no"], 300),
        }
    )
    path = tmp_path / "visits.csv"
    table.to_csv(path, index=False, sep=";")
    return path


@pytest.fixture
def questions(monkeypatch):
    """Answer every question with Enter, the first with another outcome; tell what was asked."""
    asked = []

    def answer(question=""):
        asked.append(question)
        return "readmitted" if len(asked) == 1 else ""

    monkeypatch.setattr(builtins, "input", answer)
    return asked


def outcome_of(path):
    return tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))["outcome"]["column"]


def on_terminal(monkeypatch, stdin=True, stdout=True):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: stdin)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: stdout)


def test_on_a_terminal_each_question_is_asked_and_an_answer_is_drafted(
    visits, questions, monkeypatch, capsys
):
    on_terminal(monkeypatch)
    assert main(["new", str(visits)]) == DONE
    assert len(questions) == 6
    assert outcome_of(visits) == "readmitted"
    assert "Five questions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stdin", "stdout", "more"), [(True, False, []), (False, True, []), (True, True, ["--yes"])]
)
def test_in_pipes_and_with_yes_nothing_is_asked(visits, questions, monkeypatch, stdin, stdout, more):
    on_terminal(monkeypatch, stdin, stdout)
    assert main(["new", str(visits), *more]) == DONE
    assert questions == []
    assert outcome_of(visits) != "readmitted"


def test_what_was_found_in_the_file_is_told(visits, capsys):
    assert main(["new", str(visits)]) == DONE
    assert "separated by ';'" in capsys.readouterr().out


def test_a_file_that_is_windows_1252_for_certain_is_read_and_drafted_so(visits, capsys):
    text = visits.read_text().replace("sex", "Geschlecht").replace("F;", "männlich;").replace("M;", "weiß;")
    visits.write_bytes(text.encode("windows-1252"))
    assert main(["new", str(visits)]) == DONE
    drafted = tomllib.loads(visits.with_suffix(".toml").read_text(encoding="utf-8"))
    assert drafted["data"]["format"] == {"encoding": "windows-1252"}
    assert "visits.csv: not UTF-8, and read as windows-1252" in capsys.readouterr().out


def test_what_a_file_does_not_show_is_said_by_an_option_and_drafted(visits, capsys):
    visits.write_bytes(("Stays\n\n" + visits.read_text().replace("M;", "žena;")).encode("cp1250"))
    assert main(["new", str(visits), "--format", "encoding = 'cp1250'"]) == WRONG
    told = capsys.readouterr().err
    assert """--format '{ encoding = "cp1250", skip_rows = 2 }'""" in told
    assert main(["new", str(visits), "--format", '{ encoding = "cp1250", skip_rows = 2 }']) == DONE
    drafted = tomllib.loads(visits.with_suffix(".toml").read_text(encoding="utf-8"))
    assert drafted["data"]["format"] == {"encoding": "cp1250", "skip_rows": 2}


@pytest.mark.parametrize(
    ("given", "told"), [("skip", "--format: 'skip' is not read"), ("shet = 1", "did you mean 'sheet'?")]
)
def test_an_option_that_is_none_is_told(visits, capsys, given, told):
    assert main(["new", str(visits), "--format", given]) == WRONG
    assert told in capsys.readouterr().err
