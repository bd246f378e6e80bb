"""What did earlier looks say, so that a look that was taken is never taken again?"""

import json
import os
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from auditbook.errors import InputError
from auditbook.months.changes import CHANGE_COLUMNS
from auditbook.months.gaps import CELL_COLUMNS, GAP_COLUMNS
from auditbook.results import read_table, write_table

LOOK_COLUMNS = ("look", "window_start", "window_end", "records", "late", "total", "status")
FILES = {"gaps": GAP_COLUMNS, "cells": CELL_COLUMNS, "changes": CHANGE_COLUMNS, "looks": LOOK_COLUMNS}
"""The looks are written last: what the others say of a look that is not there was cut off, and counts not."""
TEXT = {
    "model",
    "metric",
    "attribute",
    "rate",
    "group",
    "other",
    "shown",
    "left_out",
    "window_start",
    "window_end",
}
ABOUT = "ledger.json"


def _blank(name: str) -> pd.DataFrame:
    return pd.DataFrame(columns=list(FILES[name]))


@dataclass(frozen=True)
class Ledger:
    """All looks that were taken."""

    definition: str = ""  # Digest of what is watched; blank before the first look
    start: date | None = None  # First day of the first window
    looks: pd.DataFrame = field(default_factory=lambda: _blank("looks"))
    gaps: pd.DataFrame = field(default_factory=lambda: _blank("gaps"))
    cells: pd.DataFrame = field(default_factory=lambda: _blank("cells"))
    changes: pd.DataFrame = field(default_factory=lambda: _blank("changes"))

    def add(self, **rows: pd.DataFrame) -> "Ledger":
        """Write rows of one more look behind the others."""
        joined: dict[str, Any] = {
            name: pd.concat([old, new], ignore_index=True)
            if len(old) and len(new)
            else (new if len(new) else old)
            for name, new in rows.items()
            for old in [getattr(self, name)]
        }
        return replace(self, **joined)


def read_ledger(folder: Path, *, definition: str) -> Ledger:
    """Read the looks that were taken of what is watched; none where there is no ledger.

    Parameters
    ----------
    folder : Path
        Of the watch.
    definition : str
        Digest of what is watched now.

    Raises
    ------
    InputError
        If the ledger is of something else, or damaged.
    """
    path = folder / ABOUT
    if not path.is_file():
        return Ledger(definition)
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        tables = {name: _read(folder / f"{name}.csv", columns) for name, columns in FILES.items()}
        kept = {name: _keep_whole(table, tables["looks"]) for name, table in tables.items()}
        ledger = Ledger(about["definition"], date.fromisoformat(about["start"]), **kept)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as fault:
        raise InputError(
            f"{path} cannot be read as the ledger of a watch; begin anew with --restart, which forgets the "
            "looks that were taken, or name another folder with --run-dir"
        ) from fault
    if ledger.definition != definition:
        raise InputError(
            f"{folder} holds looks at something else: outcome, attributes, scores, thresholds, metrics, "
            "[time] or minimum support have changed in the cohort file since, so that the error rate of the "
            "looks would no longer hold; begin anew with --restart, or name another folder with --run-dir"
        )
    return ledger


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    table = read_table(path)
    if list(table.columns) != list(columns):
        raise ValueError(path)
    texts = [name for name in columns if name in TEXT]
    return table.astype(dict.fromkeys(texts, str)) if len(table) else table


def _keep_whole(table: pd.DataFrame, looks: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of looks that were written to their end; without one in between a ledger is damaged."""
    if looks["look"].tolist() != list(range(len(looks))):
        raise ValueError("looks")
    return table[table["look"].astype(int) < len(looks)]


def write_ledger(ledger: Ledger, folder: Path) -> None:
    """Write the looks that were taken: whole tables, and last what they are of."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        draft = folder / f".{name}.tmp"
        write_table(getattr(ledger, name), draft)
        os.replace(draft, folder / f"{name}.csv")
    about = {
        "definition": ledger.definition,
        "start": "" if ledger.start is None else ledger.start.isoformat(),
    }
    draft = folder / f".{ABOUT}.tmp"
    draft.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    os.replace(draft, folder / ABOUT)
