"""What lies in a run's folder: whole files, noted steps, and one finished run at a time."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auditbook.errors import InputError
from auditbook.project import digest_files

LOCK = ".lock"
INTERNAL = "INTERNAL.txt"
NOTICE = """\
INTERNAL: not to be passed on.

The tables in this folder are exact. They hold numbers of very few people, who may be recognised by them:
of groups, sites, score bins and pockets. What is written for others is made from them with such numbers
withheld, and those that would give them away: the report, the chapters and html, and what `auditbook
export` writes. From how many people on a number is told stands in the cohort file, [report] smallest_cell.
"""
MADE = ("results", "report", "notebooks", "html", "student", "instructor", "scores", "next", "run.json")
"""Names in a run's folder that a run replaces."""


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, path)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file; empty when it is not there, damaged, or something else than a table of keys."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def read_hashes(folder: Path) -> dict[str, Any]:
    """Read from a run's ``run.json`` what it was made from; empty when nothing is known."""
    hashes = read_json(folder / "run.json").get("hashes")
    return hashes if isinstance(hashes, dict) else {}


def read_keys(folder: Path) -> dict[str, Any]:
    """Read which inputs the executed chapters in a folder were made from; empty when nothing is known."""
    return read_json(folder / "keys.json")


def note_key(folder: Path, name: str, key: str) -> None:
    """Write down what an executed chapter was made from; the order in which chapters end leaves no trace."""
    write_json(folder / "keys.json", dict(sorted((read_keys(folder) | {name: key}).items())))


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder that holds what a run would replace and no run has made."""
    taken = [name for name in MADE if os.path.lexists(folder / name)]
    if taken and not (folder / LOCK).exists() and "audit" not in read_hashes(folder):
        raise InputError(
            f"{folder} holds {', '.join(taken)}, which no run has made and a run would replace; name another "
            "folder with --run-dir"
        )


def hash_results(folder: Path) -> str:
    """Hash the result tables and maps in a folder; blank when there is no folder."""
    kinds = ("*.csv", "*.npz")
    return (
        digest_files(sorted(path for kind in kinds for path in folder.glob(kind))) if folder.is_dir() else ""
    )


def fresh_folder(folder: Path) -> None:
    """Make an empty folder, whatever was there."""
    remove(folder)
    folder.mkdir(parents=True)


def remove(path: Path) -> None:
    """Remove a folder with all it holds, a file or a link; nothing when nothing is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def note_step(info: dict[str, Any], name: str, status: str, seconds: float) -> None:
    """Write down how a step went, in the place of what was noted of it before."""
    others = [step for step in info["steps"] if step["step"] != name]
    info["steps"] = [*others, {"step": name, "status": status, "seconds": round(seconds, 2)}]


@contextmanager
def private_files() -> Iterator[None]:
    """Let nobody else on this machine read what is written: results hold exact numbers of people."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def hide_from_others(folder: Path) -> None:
    """Shut others out of a run's folder that an earlier version left open to them."""
    if (folder / LOCK).exists() and folder.stat().st_uid == os.geteuid():
        folder.chmod(0o700)


def mark_internal(results: Path) -> None:
    """Say beside result tables, which are exact, that they hold small numbers of people."""
    if results.is_dir():
        (results / INTERNAL).write_text(NOTICE, encoding="utf-8")


def is_published(folder: Path, info: dict[str, Any]) -> bool:
    """Tell whether a folder holds the results that `info` speaks of, whole, from the same data and code."""
    held = read_hashes(folder)
    same = all(held.get(name) == info["hashes"][name] for name in ("audit", "results"))
    return same and hash_results(folder / "results") == held["results"]


def publish(made: Path, folder: Path, info: dict[str, Any], parts: tuple[str, ...]) -> None:
    """Put a finished run in the place of the last one; ``run.json`` goes last."""
    for part in parts:
        last, old = folder / part, folder / f".old-{part}"
        remove(old)
        if os.path.lexists(last):
            last.rename(old)
        (made / part).rename(last)
        remove(old)
    mark_internal(folder / "results")
    write_json(folder / "run.json", info)
    shutil.rmtree(made)
