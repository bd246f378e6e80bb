"""Which code made the rows of a folder, when, and at what cost?

Every run that makes rows keeps a log beside them: a first line that says which code and versions it is, and
a line for every replicate. Rows that no log knows are those of a run before there were logs; the file
``COMMIT`` in their folder may name its commit.
"""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

from auditbook.code import digest_reach
from auditbook.project import ROOT, versions
from auditbook.studies.simulations.replicates import run_replicate
from auditbook.studies.simulations.scenarios import find_world
from auditbook.workers import open_workers

COMMIT = "COMMIT"
"""File with the commit of rows that no log knows."""


@cache
def digest_code() -> str:
    """Hash the definitions that a replicate reaches, so that rows made by other code are told apart."""
    return digest_reach(run_replicate, find_world)


@cache
def read_commit() -> str:
    """Return the commit of the clone; blank where it is none or git is missing.

    "-changed" is added when the source is not that of the commit.
    """
    if shutil.which("git") is None:
        return ""
    found = _ask_git("rev-parse", "HEAD")
    return f"{found}-changed" if found and _ask_git("status", "--porcelain", "--", "src") else found


def _ask_git(*words: str) -> str:
    call = ["git", "-C", str(ROOT), *words]
    return subprocess.run(call, capture_output=True, text=True, check=False).stdout.strip()


@cache
def read_versions() -> dict[str, str]:
    """Return the versions of Python and of every library, with that of graph-tool where it is installed."""
    if find_spec("graph_tool") is None:
        return versions()
    with open_workers(1) as pool:
        return versions() | {"graph-tool": pool.submit(read_graph_tool).result()}


def read_graph_tool() -> str:
    """Return the version of graph-tool, which only says it when imported: in a process of its own."""
    import graph_tool

    return str(graph_tool.__version__).split()[0]


@cache
def describe_machine() -> str:
    """Name the processor and the number of cores."""
    name = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores"


class Log:
    """The log of one run, written line by line; runs on the same folder have logs of their own."""

    def __init__(self, rows: Path) -> None:
        now = datetime.now(UTC)
        self.path = rows / f"log-{now:%Y%m%dT%H%M%S.%f}-{uuid4().hex[:8]}.jsonl"
        made_by = {"commit": read_commit(), "code": digest_code(), "versions": read_versions()}
        self._write({"started": f"{now:%Y-%m-%dT%H:%MZ}", "machine": describe_machine(), **made_by})

    def count(self, file: str, *, seconds: float, cpu: float, memory: float) -> None:
        """Add a replicate."""
        cost = {"seconds": round(seconds, 1), "cpu": round(cpu, 1), "memory": round(memory)}
        self._write({"file": file, **cost})

    def _write(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")


def read_logs(rows: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Read the logs of a folder, the oldest first."""
    for path in sorted(rows.glob("log-*.jsonl")):
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
        if lines and "commit" in lines[0]:
            yield lines[0], lines[1:]


def other_makers(rows: Path) -> list[str]:
    """Name the commits of other code that made rows of a folder."""
    return sorted(
        {run["commit"] or "unknown" for run, made in read_logs(rows) if made and run["code"] != digest_code()}
    )


def describe_makers(rows: Path, files: Mapping[str, str]) -> dict[str, Any]:
    """Say which code made which part of the rows, and what they cost."""
    makers: dict[str, dict[str, Any]] = {}
    made: dict[str, str] = {}
    cost: dict[str, dict[str, Any]] = {}
    for run, finished in read_logs(rows):
        one = {name: run[name] for name in ("commit", "code", "versions")}
        key = json.dumps(one, sort_keys=True)
        makers.setdefault(key, one)
        for line in finished:
            if line["file"] in files:
                made[line["file"]] = key
                cost[line["file"]] = line | {"machine": run["machine"]}
    unknown = {"commit": _read_given(rows), "code": "", "versions": read_versions()}
    parts = [one | {"replicates": list(made.values()).count(key)} for key, one in makers.items()]
    parts.append(unknown | {"replicates": len(files) - len(made)})
    parts = sorted((one for one in parts if one["replicates"]), key=lambda one: -one["replicates"])
    return {**{name: parts[0][name] for name in unknown}, "made": parts, "cost": _sum_cost(cost, files)}


def _read_given(rows: Path) -> str:
    """Read the commit of rows that no log knows."""
    try:
        return (rows / COMMIT).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _sum_cost(cost: Mapping[str, Mapping[str, Any]], files: Mapping[str, str]) -> dict[str, Any]:
    """Average the cost of a replicate over those of each world."""
    found = {}
    for world in dict.fromkeys(files.values()):
        lines = [line for file, line in cost.items() if files[file] == world]
        if lines:
            found[world] = {
                "replicates": len(lines),
                "seconds": round(sum(line["seconds"] for line in lines) / len(lines), 1),
                "cpu": round(sum(line["cpu"] for line in lines) / len(lines), 1),
                "memory": max(line["memory"] for line in lines),
                "machine": ", or ".join(sorted({line["machine"] for line in lines})),
            }
    return found
