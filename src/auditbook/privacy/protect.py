"""What of a finished run may others see?"""

import copy
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import TABLES
from auditbook.errors import RunError
from auditbook.evidence import withhold_held
from auditbook.privacy.masks import MASKS
from auditbook.privacy.withheld import Withheld
from auditbook.results import Run

SMALLEST_CELL = 10
"""Fewer people than this are not told, where the cohort file says nothing else."""
NOBODY = "nobody"
WITHHELD = "withheld"
MISSING_GROUP = "(missing)"
TOLD = ("reason", "left_out", "support", "tier_reasons", "note")
"""Columns of words in which it may stand how much of something there is."""


def read_smallest(info: Mapping[str, Any]) -> int:
    """Read in what ``run.json`` says from how many people on a count is told; 0 where all are."""
    smallest = int((info.get("report") or {}).get("smallest_cell", SMALLEST_CELL))
    return smallest if smallest > 1 else 0


def protect_run(run: Run) -> Run:
    """Give a run whose tables and facts others may see: small cells are blank, and what gives them away.

    Words stay: what is shown, verdicts and names are those of the exact run, whose files are not touched.

    Parameters
    ----------
    run : Run
        A finished run, exact.

    Returns
    -------
    Run
        The same run; a count of fewer than ``[report] smallest_cell`` people of its cohort file is nan in
        each table, and so is every number from which it would follow. With the key at 0, the run as it is.
    """
    smallest = read_smallest(run.info)
    if not smallest:
        return run
    withheld = Withheld(run, smallest)
    info = _protect_info(run.info, withheld)
    return replace(run, info=info, guard=lambda name, table: protect_table(name, table, withheld))


@cache
def read_rules() -> Mapping[str, Mapping[str, str]]:
    """Read what the columns of each table rest on, as ``withheld.toml`` has it."""
    return tomllib.loads((files("auditbook.privacy") / "withheld.toml").read_text(encoding="utf-8"))


def protect_table(name: str, table: pd.DataFrame, withheld: Withheld) -> pd.DataFrame:
    """Blank what others may not see of one table."""
    if table.empty:
        return table
    shown = table.copy()
    if name not in read_rules():
        raise RunError(f"withheld.toml does not say which columns of {name}.csv count people")
    for word, columns in read_rules()[name].items():
        if word == NOBODY:
            continue
        hidden = MASKS[word](table, withheld)
        if hidden.any():
            for column in _find_columns(name, columns.split(), table):
                shown[column] = shown[column].where(~hidden, np.nan)
    return _protect_words(_protect_areas(shown, withheld), withheld)


def _find_columns(name: str, declared: list[str], table: pd.DataFrame) -> Iterator[str]:
    """Find the columns of a table that are declared by name or family."""
    for column in table.columns:
        found = TABLES[name].find(column)
        if found is not None and found.name in declared:
            yield column


def _protect_areas(table: pd.DataFrame, withheld: Withheld) -> pd.DataFrame:
    """Say of an area only that it is withheld: a single record would tell itself by having no interval."""
    if "event_group" not in table:
        return table
    hidden = MASKS["event_group"](table, withheld) | MASKS["nonevent_group"](table, withheld)
    for column in {"status", "reason"} & set(table.columns):
        table[column] = table[column].where(~hidden, WITHHELD)
    return table


def _protect_words(table: pd.DataFrame, withheld: Withheld) -> pd.DataFrame:
    """Take out of words how much of something there is, where that is little or part of what is withheld."""
    attributes = {attribute for attribute, _ in withheld.groups.outcomes}
    attributes |= {attribute for _, attribute, _ in withheld.selected}
    whole = np.array([name in attributes for name in table["attribute"]]) if "attribute" in table else True
    if {"model", "attribute", "metric"} <= set(table.columns):
        whole = whole | _rest_on_withheld_bins(table, withheld)
    floors = np.where(np.broadcast_to(whole, len(table)), math.inf, withheld.smallest)
    for column in TOLD:
        if column in table:
            words = zip(table[column], floors, strict=True)
            table[column] = [withhold_held(text, floor) for text, floor in words]
    return table


def _rest_on_withheld_bins(table: pd.DataFrame, withheld: Withheld) -> NDArray[np.bool_]:
    """Find the cells of calibration that tell of score bins where some are withheld."""
    binned = {(model, attribute) for model, attribute, *_ in withheld.bins}
    cells = zip(table["model"], table["attribute"], table["metric"], strict=True)
    return np.array(
        [metric == "CAL" and (model, attribute) in binned for model, attribute, metric in cells], bool
    )


def _protect_info(info: Mapping[str, Any], withheld: Withheld) -> dict[str, Any]:
    """Blank the small counts in what ``run.json`` says of the rows that were left out."""
    smallest = withheld.smallest
    told = copy.deepcopy(dict(info))
    gone = [entry["rows"] for entry in told.get("left_out", [])]
    few = [0 < rows < smallest for rows in gone]
    for entry, is_few in zip(told.get("left_out", []), few, strict=True):
        entry["rows"] = math.nan if is_few else entry["rows"]
    if any(few) and (few.count(True) == 1 or sum(rows for rows in gone if 0 < rows < smallest) < smallest):
        told["rows_read"] = math.nan
    if "per_unit" in told:  # the numbers of a rule are those of the rows that it left out, and finer
        told["per_unit"] = {"rule": told["per_unit"]["rule"]}
    for entry in told.get("missing_groups", []):
        hidden = (entry["attribute"], MISSING_GROUP) in withheld.groups.kept
        if hidden or 0 < entry["rows"] < smallest:
            entry["rows"] = math.nan
    return told
