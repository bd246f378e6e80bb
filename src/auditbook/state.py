"""What lies in a run's folder: whole files, noted steps, and one finished run at a time."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from auditbook.project import digest_files


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file whole or not at all.

    Parameters
    ----------
    path : Path
        The file; its folder is made where it is missing.
    content : dict
        Values that JSON can hold.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, path)


def read_keys(folder: Path) -> dict[str, str]:
    """Read which inputs the executed chapters in a folder were made from; empty when nothing is known."""
    try:
        keys: dict[str, str] = json.loads((folder / "keys.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return keys


def hash_results(folder: Path) -> str:
    """Hash the result tables in a folder; blank when there is no folder."""
    return digest_files(sorted(folder.glob("*.csv"))) if folder.is_dir() else ""


def fresh_folder(folder: Path) -> None:
    """Make an empty folder, whatever was there."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)


def note_step(info: dict[str, Any], name: str, status: str, seconds: float) -> None:
    """Write down how a step went, in the place of what was noted of it before.

    Parameters
    ----------
    info : dict
        Content of run.json with the list ``steps``; changed in place.
    name : str
        The step.
    status : {"done", "kept"}
        Done now, or kept from before because nothing it depends on has changed.
    seconds : float
        How long it took.
    """
    others = [step for step in info["steps"] if step["step"] != name]
    info["steps"] = [*others, {"step": name, "status": status, "seconds": round(seconds, 2)}]


def publish(made: Path, folder: Path, info: dict[str, Any], parts: tuple[str, ...]) -> None:
    """Put a finished run in the place of the last one; ``run.json`` goes last.

    Parameters
    ----------
    made : Path
        Where the run was made; removed.
    folder : Path
        The run's folder.
    info : dict
        Content of run.json.
    parts : tuple of str
        Folders to replace; others stay as they are.
    """
    for part in parts:
        last, old = folder / part, folder / f".old-{part}"
        if old.exists():
            shutil.rmtree(old)
        if last.exists():
            last.rename(old)
        (made / part).rename(last)
        if old.exists():
            shutil.rmtree(old)
    write_json(folder / "run.json", info)
    shutil.rmtree(made)
