"""`auditbook watch` and `compare` as they are called: folders, codes, and the line for a scheduler."""

import json

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main

COHORT = """
name = "watched"
title = "Watched stays"
[data]
path = "stays.csv"
[outcome]
column = "died"
event = 1
harm = "a death nobody expected"
[attributes.race]
column = "race"
[scores.risk]
column = "risk"
kind = "decision"
[panel]
models = []
[protocol]
metrics = ["SPD", "EOPP"]
[time]
column = "day"
window = "1 month"
baseline = 1
"""


def write_stays(folder, *, months=3, gap=0.5, seed=1, through="2024-04-02"):
    rng = np.random.default_rng(seed)
    n = 700 * months
    race, died = rng.integers(0, 2, n), rng.random(n) < 0.3
    rate = np.where(died, 0.8 - gap * race, 0.1)
    month, day = np.arange(n) % months + 1, rng.integers(1, 29, n)
    table = pd.DataFrame(
        {
            "day": [f"2024-{m:02d}-{d:02d}" for m, d in zip(month, day, strict=True)],
            "race": np.array(["A", "Ñ | <b>"])[race],
            "died": died.astype(int),
            "risk": (rng.random(n) < rate).astype(int),
        }
    )
    last = pd.DataFrame({"day": [through], "race": ["A"], "died": [0], "risk": [0]})
    pd.concat([table, last]).to_csv(folder / "stays.csv", index=False)


@pytest.fixture
def cohort(tmp_path):
    write_stays(tmp_path)
    path = tmp_path / "cohort.toml"
    path.write_text(COHORT, encoding="utf-8")
    return path


def call(cohort, *more):
    return main(["watch", str(cohort), "--run-dir", str(cohort.parent / "run"), *more])


def read_line(capsys):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_an_alarm_ends_with_code_three_and_a_second_call_changes_no_byte(cohort, capsys):
    assert call(cohort, "--fail-on", "shown") == 3
    line = read_line(capsys)
    assert (line["status"], line["looks"], line["through"], line["alarm"]) == ("shown", 3, "2024-03-31", True)
    assert line["shown"][0]["other"] == "Ñ | <b>"
    files = {path: path.read_bytes() for path in (cohort.parent / "run").rglob("*") if path.is_file()}
    assert {"watch.md", "watch.svg", "watch.png"} <= {path.name for path in files}
    assert call(cohort, "--fail-on", "changed") == 0
    assert not read_line(capsys)["alarm"]
    assert {path: path.read_bytes() for path in files} == files


def test_never_is_quiet_whatever_is_shown(cohort, capsys):
    assert call(cohort) == 0
    assert read_line(capsys)["status"] == "shown"


def test_a_window_that_is_not_over_is_no_look_unless_one_says_that_it_is(cohort, capsys):
    write_stays(cohort.parent, months=1, through="2024-01-28")
    assert call(cohort) == 0
    assert read_line(capsys)["status"] == "waiting"
    assert call(cohort, "--through", "2024-01-31") == 0
    assert read_line(capsys)["looks"] == 1


def test_another_threshold_is_another_watch(cohort, capsys):
    call(cohort)
    cohort.write_text(COHORT.replace("[time]", "thresholds = { SPD = 0.2 }\n[time]"), encoding="utf-8")
    assert call(cohort) == 2
    assert "--restart" in capsys.readouterr().err
    assert call(cohort, "--restart") == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("models = []", 'models = ["logistic"]', "learns from the very records"),
        ('window = "1 month"\n', "", "names no windows"),
        ('window = "1 month"', 'window = "1 moon"', "is no length of time"),
        ('column = "day"', 'column = "risk"', "holds numbers and no dates"),
    ],
)
def test_what_cannot_be_watched_is_told_with_its_key(cohort, capsys, old, new, said):
    cohort.write_text(COHORT.replace(old, new), encoding="utf-8")
    assert call(cohort) == 2
    assert said in capsys.readouterr().err


def test_a_day_that_is_none_is_told(cohort, capsys):
    with pytest.raises(SystemExit) as left:
        call(cohort, "--through", "soon")
    assert left.value.code == 2
    assert "'soon' is no day" in capsys.readouterr().err


@pytest.mark.parametrize("day", ["2099-12-31", "9999-12-31"])
def test_a_day_to_come_ends_no_window(cohort, capsys, day):
    write_stays(cohort.parent, months=1, through=day)
    assert call(cohort) == 2
    assert f"the newest record is of {day}, which has not come" in capsys.readouterr().err
    assert not (cohort.parent / "run" / "results").exists()
    assert call(cohort, "--through", "2024-01-31") == 0
    assert read_line(capsys)["through"] == "2024-01-31"


def test_data_are_not_whole_up_to_a_day_to_come(cohort, capsys):
    assert call(cohort, "--through", "9999-12-31") == 2
    assert "--through 9999-12-31: that day has not come" in capsys.readouterr().err


def test_comparing_what_is_no_run_is_told(tmp_path, capsys):
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "holds no finished run" in capsys.readouterr().err
