"""Which steps of a run are done, what were they made from, and which of them still hold?"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from auditbook.project import digest_files
from auditbook.run.folder import fresh_folder, read_json, remove, write_json

LEDGER = "steps.json"
Entries = dict[str, dict[str, Any]]


def note_done(
    folder: Path,
    name: str,
    *,
    key: str,
    files: Iterable[str],
    notes: Mapping[str, Any],
    place: str = "results",
) -> None:
    """Write down that a step is done: its key, the hash of each file that it left, and what it says."""
    entry = {"key": key, "files": {file: digest_files([folder / place / file]) for file in files}}
    write_json(folder / LEDGER, read_json(folder / LEDGER) | {name: entry | {"notes": dict(notes)}})


def list_held(folder: Path, keys: Mapping[str, str], *, place: str = "results") -> Entries:
    """List the steps with these keys whose files lie in a folder as they were left."""
    noted = read_json(folder / LEDGER)
    return {name: noted[name] for name, key in keys.items() if _holds(noted.get(name), key, folder / place)}


def _holds(entry: Any, key: str, place: Path) -> bool:
    if not isinstance(entry, dict) or entry.get("key") != key or not isinstance(entry.get("files"), dict):
        return False
    paths = {place / file: hashed for file, hashed in entry["files"].items()}
    intact = all(path.is_file() and digest_files([path]) == hashed for path, hashed in paths.items())
    return intact and isinstance(entry.get("notes"), dict)


def carry_over(last: Path, made: Path, keys: Mapping[str, str], *, force: bool = False) -> Entries:
    """Leave in `made` what still holds of an interrupted run there, or of the last run, and nothing else."""
    begun, before = ({}, {}) if force else (list_held(made, keys), list_held(last, keys))
    held = begun if len(begun) >= len(before) else before
    if held is before or not held:
        fresh_folder(made / "results")
    if held and held is before:
        shutil.copytree(last / "results", made / "results", dirs_exist_ok=True)
    wanted = {file for entry in held.values() for file in entry["files"]}
    for path in (made / "results").iterdir():
        if path.name not in wanted:
            remove(path)
    write_json(made / LEDGER, held)
    return held
