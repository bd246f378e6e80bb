"""How many people does each record stand for, and how was it drawn; or what is wrong with that?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.schema import WeightTable
from auditbook.errors import InputError
from auditbook.evidence import settle_design
from auditbook.records import AuditRecords, Survey
from auditbook.tables import Faults, Mask, as_numbers, as_text, count_of, is_missing


@dataclass(frozen=True)
class WeightColumn:
    """The weights of all rows as they were read."""

    cells: NDArray[np.float64]  # shape (n,): nan where there is none
    missing: Mask
    nobody: Mask  # Weight 0: the record stands for nobody


def read_weights(column: pd.Series, name: str, *, keep: Mask, faults: Faults) -> WeightColumn | None:
    """Read a column of weights; None with a fault."""
    numbers, missing = as_numbers(column), is_missing(column)
    cells, used = numbers.cells, keep & ~missing
    before = len(faults.found)
    bad, negative = numbers.bad & used, (cells < 0) & used
    if bad.any():
        some = ", ".join(repr(value) for value in column[bad].unique()[:3].tolist())
        faults.add(
            "[weight] column", f"'{name}' is no finite number in {_rows(bad)} ({some}); a weight is one"
        )
    if negative.any():
        faults.add(
            "[weight] column",
            f"'{name}' is below 0 in {_rows(negative)}; it says how many people a record stands for",
        )
    if used.any() and not bad.any() and not (cells[used] > 0).any():
        faults.add(
            "[weight] column", f"'{name}' is 0 in all {used.sum():,} records, so that they stand for nobody"
        )
    elif keep.any() and not used.any():
        faults.add("[weight] column", f"'{name}' is missing in all {keep.sum():,} records")
    return None if len(faults.found) > before else WeightColumn(cells, missing, ~missing & (cells == 0))


def _rows(mask: Mask) -> str:
    return count_of(mask.sum(), "row")


def build_survey(
    table: WeightTable, frame: pd.DataFrame, cells: NDArray[np.float64], faults: Faults
) -> Survey | None:
    """Put the weights of the kept rows together with strata and clusters; None with a fault."""
    places = {}
    for key, name in (("strata", table.strata), ("cluster", table.cluster)):
        if name is None or name not in frame:
            continue
        missing = int(is_missing(frame[name]).sum())
        if missing:
            faults.add(
                f"[weight] {key}",
                f"'{name}' is missing in {missing:,} of {len(frame):,} records; fill it in, or leave these "
                f'records out: [data] drop = [{{ column = "{name}", values = [""], reason = "no {key}" }}]',
            )
            return None
        places[key] = pd.factorize(as_text(frame[name]), sort=True)[0]
    return Survey(cells, places.get("strata"), places.get("cluster"))


def check_survey(survey: Survey, unit: NDArray[np.intp] | None, faults: Faults) -> None:
    """Note units and clusters of which neither lie within the other."""
    try:
        settle_design(AuditRecords(np.zeros(len(survey.weight), np.int8), (), (), unit=unit, survey=survey))
    except InputError as fault:
        where, _, what = str(fault).partition(": ")
        faults.add(where, what)
