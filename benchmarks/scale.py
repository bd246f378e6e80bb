"""How long does an audit take, and how much memory, from a million records to a hundred million?

Writes a generated table of each size (four scores and attributes, four hundred sites), runs `auditbook audit`
on it in a process of its own, to the report, and prints DESIGN's table: seconds, and the most memory that the
audit's processes held together. Each table is deleted before the next is written. Run with

    OMP_NUM_THREADS=1 python benchmarks/scale.py [--rows 1000000 10000000 100000000] [--kind parquet]
        [--jobs 2] [--folder DIR] [--keep]
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

from big_tables import write_cohort, write_table

AIMS = {1_000_000: (45, 2), 10_000_000: (90, 4), 100_000_000: (600, 4)}
"""Seconds and gigabytes that an audit of so many records may take on two idle cores."""
LOOK = 0.2
"""Seconds between two looks at how much memory is held."""


def measure_audit(cohort: Path, run: Path, jobs: int) -> tuple[float, float, str]:
    """Run an audit; return its seconds, the most gigabytes of its processes, and what it said last."""
    command = [sys.executable, "-m", "auditbook.cli", "audit", str(cohort), "--run-dir", str(run)]
    started, most = time.monotonic(), 0.0
    log = run.with_suffix(".log")
    with log.open("w") as said:
        audit = subprocess.Popen([*command, "--jobs", str(jobs)], stdout=said, stderr=said)
        while audit.poll() is None:
            most = max(most, sum(map(read_memory, list_tree(audit.pid))))
            time.sleep(LOOK)
    last = log.read_text().strip().splitlines()
    if audit.returncode:
        raise SystemExit("\n".join(last[-20:]))
    return time.monotonic() - started, most / 2**20, last[-1] if last else ""


def list_tree(pid: int) -> Iterator[int]:
    """List a process and those that it started."""
    yield pid
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from list_tree(int(child))
    except OSError:  # It has ended meanwhile
        return


def read_memory(pid: int) -> float:
    """Read how many kilobytes a process holds that no other shares."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) for line in lines if line.startswith("Pss:"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(AIMS))
    parser.add_argument("--kind", choices=["parquet", "csv"], default="parquet")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "auditbook-scale")
    parser.add_argument("--keep", action="store_true", help="leave the tables")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    print("| records | seconds | aim | gigabytes | aim |\n|---|---|---|---|---|")
    for rows in asked.rows:
        path = asked.folder / f"scale-{rows}.{asked.kind}"
        if not path.exists():
            write_table(path, rows)
        cohort = write_cohort(asked.folder, path)
        seconds, held, _ = measure_audit(cohort, asked.folder / f"run-{asked.kind}-{rows}", asked.jobs)
        aims = AIMS.get(rows, ("none", "none"))
        print(f"| {rows:,} | {seconds:.0f} | {aims[0]} | {held:.1f} | {aims[1]} |", flush=True)
        if not asked.keep:
            path.unlink()


if __name__ == "__main__":
    main()
