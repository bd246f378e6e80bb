"""How is the report kept as data: the same report always as the same bytes?"""

import json
import os
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from auditbook.report.content import Report
from auditbook.report.source import to_cell

Plain = str | float | int | bool | list["Plain"] | dict[str, "Plain"] | None
"""What JSON can hold."""


def write_json(report: Report, path: Path) -> None:
    """Write ``report.json``: every statement with the rows that it rests on, and the tables of the annex.

    Blank and withheld numbers are null; the file holds no nan. The same report gives the same bytes.

    Parameters
    ----------
    report : Report
        The report, as `build_report` makes it.
    path : Path
        Where to write; the folder is made if it is not there, and the file is whole or not there.

    Examples
    --------
    >>> write_json(build_report(read_run(folder)), folder / "report" / "report.json")  # doctest: +SKIP
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    text = json.dumps(to_plain(report), indent=1, ensure_ascii=False, allow_nan=False)
    draft.write_text(text + "\n", encoding="utf-8", newline="\n")
    os.replace(draft, path)


def to_plain(value: object) -> Plain:
    """Turn a part of the report into what JSON can hold."""
    if isinstance(value, pd.DataFrame):
        return [{str(name): to_plain(cell) for name, cell in row.items()} for row in value.to_dict("records")]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(name): to_plain(cell) for name, cell in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_plain(cell) for cell in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return to_cell(value)
