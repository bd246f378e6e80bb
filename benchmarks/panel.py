"""How long does it take to train the twelve models of the panel?

The synthetic twin: 30,000 records (quick profile, 24,000 to train) and 100,000 (standard, 80,000 to train).
Run with

    python benchmarks/panel.py

Every model is trained anew: one after the other on two cores, then side by side on two cores. The scores of
both are compared bit by bit.
"""

import tempfile
import time
from pathlib import Path

from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.project import project_file
from auditbook.scoring.features import build_features
from auditbook.scoring.panel import read_panel
from auditbook.scoring.split import split_units
from auditbook.scoring.train import Training, train_panel, train_scores

SEED = 42
TO_REACH = {30_000: 45, 100_000: 180}


def prepare(rows: int, folder: Path) -> tuple[list[Training], object]:
    """Build the features of a twin of some size; return the trainings and the training outcomes."""
    text = project_file("data", "cohorts", "texas-twin.toml").read_text(encoding="utf-8")
    (folder / "twin.toml").write_text(text.replace("rows = 100000", f"rows = {rows}"), encoding="utf-8")
    cohort = load_cohort(read_cohort_file(folder / "twin.toml"), cache_dir=folder)
    split = split_units(cohort.outcome, cohort.unit, audit_share=0.2, seed=SEED)
    outcome = cohort.outcome[split.train]
    parts = {"train_outcome": outcome, "unit": cohort.unit, "split": split, "seed": SEED}
    features = build_features(cohort.table, cohort.feature_columns, **parts)
    return [Training(config, features) for config in read_panel().values()], outcome


def main() -> None:
    """Time both ways and print a line for each model."""
    for rows, limit in TO_REACH.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            trainings, outcome = prepare(rows, folder)
            options = {"seed": SEED, "jobs": 2, "cache_dir": folder / "scores", "force": True}
            started, alone = time.perf_counter(), []
            for one in trainings:
                begun = time.perf_counter()
                alone.append(train_scores(one.config, one.features, outcome, **options))
                print(f"{one.config.title:30s} {time.perf_counter() - begun:6.1f} s", flush=True)
            turn = time.perf_counter() - started
            started = time.perf_counter()
            beside = train_panel(trainings, outcome, **options)
            side = time.perf_counter() - started
            same = [a.values.tobytes() == b.values.tobytes() for a, b in zip(alone, beside, strict=True)]
            print(f"{rows:,} records ({limit} s to reach): in turn {turn:.1f} s, side by side {side:.1f} s")
            print(f"same scores: {sum(same)} of {len(same)} models", flush=True)


if __name__ == "__main__":
    main()
