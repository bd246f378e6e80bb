"""Which engine turns a long table into counts: seconds, processor seconds, memory, and the same sums twice?

Every engine is asked for the same of a generated table: records by group, site, label and decision under
four models, and records, sums and sums of squares by group, label and 1,024 score bins. It runs in a process
of its own. Ours reads with pyarrow and counts with numpy, by the cohort file's own rules; others are asked in
their own language, which has to say the rules once more. Run with

    OMP_NUM_THREADS=1 python benchmarks/engines.py [--rows 10000000] [--folder DIR] [--kinds parquet csv]
        [--cores 2] [--repeats 2]

Polars is not among the dependencies of the package; it is left out where it is not installed.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir

from big_tables import GROUPS, write_cohort, write_table

MODELS = [f"score_{number}" for number in range(1, 5)]
AGE = "CASE WHEN age < 40 THEN 0 WHEN age < 65 THEN 1 WHEN age < 80 THEN 2 ELSE 3 END"
BIN = "least(1023, greatest(0, cast(floor((ln({0}) - ln(1 - {0})) * 51.2 + 512) AS INTEGER)))"


def count_with_duckdb(path: Path, cores: int) -> str:
    """Count in SQL; sums of doubles depend on the order in which threads add them."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {cores}")
    table = f"read_{'csv' if path.suffix == '.csv' else 'parquet'}('{path}')"
    groups = f"{', '.join(GROUPS)}, {AGE} AS band, died"
    decisions = ", ".join(f"{model} >= 0.2" for model in MODELS)
    answer = connection.execute(f"SELECT {groups}, hospital, {decisions}, count(*) FROM {table} GROUP BY ALL")
    told = str(len(answer.fetchall()))
    for model in MODELS:
        query = f"SELECT {groups}, {BIN.format(model)}, count(*), sum({model}), sum({model} * {model})"
        told += repr(sorted(connection.execute(f"{query} FROM {table} GROUP BY ALL").fetchall()))
    return told


def count_with_polars(path: Path, cores: int) -> str:
    """Count with a lazy query that is streamed."""
    os.environ["POLARS_MAX_THREADS"] = str(cores)
    import polars as pl

    table = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    band = pl.col("age").cut([39, 64, 79]).cast(pl.String).alias("band")
    keys = [*(pl.col(name) for name in GROUPS), band, pl.col("died")]
    decisions = [(pl.col(model) >= 0.2) for model in MODELS]
    told = str(
        table.group_by([*keys, pl.col("hospital"), *decisions]).len().collect(engine="streaming").height
    )
    for model in MODELS:
        score = pl.col(model)
        bins = ((score.log() - (1 - score).log()) * 51.2 + 512).floor().clip(0, 1023).cast(pl.Int32)
        sums = [pl.len(), score.sum().alias("sum"), (score * score).sum().alias("square")]
        answer = table.group_by([*keys, bins.alias("bin")]).agg(sums).collect(engine="streaming")
        told += repr(sorted(answer.rows()))
    return told


def count_with_package(path: Path, cores: int) -> str:
    """Count as an audit does."""
    from auditbook.cohort import read_cohort_file
    from auditbook.counting import count_cohort

    return repr(count_cohort(read_cohort_file(path.with_suffix(".toml")), jobs=cores).tally)


def read_with_duckdb(path: Path, cores: int) -> str:
    """Only read: batches of Arrow from DuckDB."""
    import duckdb

    table = f"read_{'csv' if path.suffix == '.csv' else 'parquet'}('{path}')"
    duckdb.execute(f"SET threads = {cores}")
    rows = sum(len(batch) for batch in duckdb.sql(f"SELECT * FROM {table}").to_arrow_reader(1 << 19))
    return str(rows)


def read_with_pyarrow(path: Path, cores: int) -> str:
    """Only read: batches of Arrow from pyarrow."""
    import pyarrow.dataset

    pyarrow.set_cpu_count(cores)
    data = pyarrow.dataset.dataset(path, format=path.suffix[1:])
    return str(sum(len(batch) for batch in data.to_batches(batch_size=1 << 19)))


ENGINES: dict[str, Callable[[Path, int], str]] = {
    "pyarrow and numpy, the rules of the cohort file": count_with_package,
    "DuckDB, SQL": count_with_duckdb,
    "Polars, streamed query": count_with_polars,
    "pyarrow, reading alone": read_with_pyarrow,
    "DuckDB, reading alone": read_with_duckdb,
}


def measure(engine: str, path: Path, cores: int) -> dict[str, object]:
    """Let an engine work in a process of its own."""
    command = [sys.executable, __file__, "--engine", engine, "--path", str(path), "--cores", str(cores)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(told.splitlines()[-1])


def work(engine: str, path: Path, cores: int) -> None:
    """Be that process."""
    started = time.monotonic()
    answer = ENGINES[engine](path, cores)
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(
        json.dumps(
            {
                "seconds": round(time.monotonic() - started, 1),
                "processor_seconds": round(sum(one.ru_utime + one.ru_stime for one in (own, children)), 1),
                "peak_mb": round((own.ru_maxrss + cores * children.ru_maxrss) / 1024),
                "answer": hashlib.sha256(answer.encode()).hexdigest()[:12],
            }
        )
    )


def main() -> None:
    """Print a table of the engines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "auditbook-scale")
    parser.add_argument("--kinds", nargs="+", default=["parquet", "csv"])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("--path", type=Path)
    asked = parser.parse_args()
    if asked.engine:
        work(asked.engine, asked.path, asked.cores)
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    for kind in asked.kinds:
        path = asked.folder / f"engines-{kind}-{asked.rows}.{kind}"
        if not path.exists():
            write_table(path, asked.rows)
        write_cohort(asked.folder, path)
        for engine in ENGINES:
            if engine.startswith("Polars") and importlib.util.find_spec("polars") is None:
                continue
            found = [measure(engine, path, asked.cores) for _ in range(asked.repeats)]
            answers = len({one["answer"] for one in found})
            print(f"{kind}  {asked.rows:,}  {engine}: {found[0]}; different answers: {answers}", flush=True)


if __name__ == "__main__":
    main()
