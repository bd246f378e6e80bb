"""How long does it take from a table of 10,000 records with given scores to report.pdf?

Two scores, three attributes, 20 sites, standard profile, two cores; without pockets and with them, and once
more where one word of the cohort file has changed. Run with

    OMP_NUM_THREADS=1 python benchmarks/report.py

Processor time, of workers and of the browser too, stands beside the clock, because on a busy machine the
clock says more of the other work than of this.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

ROWS, SITES, PATIENTS, FEATURES = 10_000, 20, 7_000, 6
JOBS = 2
COHORT = """\
name = "ten-thousand"
[data]
path = "stays.csv"
[outcome]
column = "died"
event = 1
harm = "a death that nobody foresaw"
[site]
column = "hospital"
[unit]
column = "patient"
[attributes.race]
column = "race"
reference = "White"
[attributes.sex]
column = "sex"
[attributes.age]
column = "age"
bins = [18, 40, 65]
[scores.first]
column = "first"
kind = "probability"
[scores.second]
column = "second"
kind = "probability"
"""
WITHOUT_POCKETS = "[pockets]\nrun = false\n"
ANOTHER_WORD = '[use]\nowner = "Department of patient flow"\n'


def make_stays(rng: np.random.Generator) -> pd.DataFrame:
    """Make up stays with two scores, of which the first reads too low in one group."""
    race = rng.choice(["White", "Black", "Hispanic", "Asian"], ROWS, p=(0.60, 0.20, 0.14, 0.06))
    age, features = rng.integers(18, 95, ROWS), rng.normal(size=(ROWS, FEATURES))
    logit = -1 + 0.03 * (age - 50) + 0.6 * features[:, 0] - 0.4 * features[:, 1] + 0.3 * (race == "Black")
    seen = logit - 0.5 * (race == "Black") + rng.normal(0, 0.4, ROWS)
    dim = 0.7 * logit + rng.normal(0, 0.8, ROWS)
    columns = {
        "patient": rng.integers(0, PATIENTS, ROWS),
        "hospital": [f"H{site:02d}" for site in rng.integers(0, SITES, ROWS)],
        "race": race,
        "sex": rng.choice(["F", "M"], ROWS),
        "age": age,
        "died": (rng.random(ROWS) < 1 / (1 + np.exp(-logit))).astype(int),
        "first": (1 / (1 + np.exp(-seen))).round(4),
        "second": (1 / (1 + np.exp(-dim))).round(4),
        "ward": rng.choice(list("ABCDE"), ROWS),
    }
    return pd.DataFrame(columns | {f"x{place}": features[:, place] for place in range(FEATURES)})


def time_audit(folder: Path, words: str) -> tuple[float, float]:
    """Audit the stays as a user does; return seconds by the clock and of the processor."""
    (folder / "stays.toml").write_text(COHORT + words, encoding="utf-8")
    call = [sys.executable, "-m", "auditbook", "audit", str(folder / "stays.toml")]
    started, before = perf_counter(), os.times()
    subprocess.run([*call, "--jobs", str(JOBS), "--run-dir", str(folder / "run")], check=True)
    spent = os.times()
    processor = sum(
        getattr(spent, part) - getattr(before, part) for part in ("children_user", "children_system")
    )
    return perf_counter() - started, processor


def main() -> None:
    """Time the three audits and list their steps."""
    for title, words in (
        ("without pockets", (WITHOUT_POCKETS,)),
        ("with pockets", ("",)),
        ("with pockets, one word changed", ("", ANOTHER_WORD)),
    ):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            make_stays(np.random.default_rng(3)).to_csv(folder / "stays.csv", index=False)
            seconds, processor = [time_audit(folder, part) for part in words][-1]
            info = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
        steps = ", ".join(f"{step['step']} {step['seconds']:.1f}" for step in info["steps"])
        print(f"{title}: {seconds:.1f} s ({processor:.1f} s of processor time; {steps})")


if __name__ == "__main__":
    main()
