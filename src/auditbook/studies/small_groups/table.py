"""From which size of the smallest group on does a figure mean something?

The criteria are ours. A figure is held against the simulated audits of one population and size:

- *coverage*: not clearly below 93 %, that is, Wilson's 95 % interval for the share of the intervals that
  hold the truth reaches 93 %;
- *bias*: the mean of the estimates lies no further from the truth than the line allows;
- *decision*: the interval (or, for a verdict, the verdict itself) tells the right side of the threshold in as
  many audits as the line asks for. An area has no threshold, and its interval must be short instead; a flip
  rate must be near the true one in nearly every audit, not on average only.

The smallest size is the first simulated one from which on all sizes meet them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import wilson_interval
from auditbook.project import project_file
from auditbook.studies.small_groups.measures import EVERY

COVERAGE = 0.93
FAMILY_NAMES = ("verdicts", "auc", "sites", "sizes")


@dataclass(frozen=True)
class Line:
    """A figure, the populations in which it is looked at, and what is asked of it."""

    name: str  # Short name
    title: str  # What readers see
    family: str  # File that it is stored in
    figure: str  # Its rows there
    # Fields of the designs that count
    where: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    # Whether coverage is asked for. The interval of a flip rate is of Monte Carlo error alone, and claims
    # no more
    covers: bool = True
    bias: float | None = None  # Largest bias; as a share of the truth when `relative`
    relative: bool = False  # How `bias` is meant
    # What the decision is: the interval is on the right side of the threshold; what was decided is right;
    # the interval is short
    decides: str = "told"
    asks: float = 0.8  # Share of the audits, or greatest median width


def _of_metric(metric: str) -> tuple[Line, ...]:
    """Lines of one metric of the grid."""
    where = MappingProxyType({"metric": metric})
    about: dict[str, Any] = {"family": "verdicts", "where": where}
    judged: dict[str, Any] = about | {"covers": False, "decides": "right"}
    flips: dict[str, Any] = about | {"covers": False, "decides": "rmse"}
    return (
        Line(f"{metric} interval", "estimate and interval", figure="metric", bias=0.02, **about),
        Line(f"{metric} flips", "flip rate", figure="flip rate", bias=0.05, asks=0.1, **flips),
        Line(f"{metric} verdict", "dominant verdict", figure="dominant verdict", asks=0.9, **judged),
        Line(f"{metric} stable", "verdict called stable", figure="stable verdict", asks=0.95, **judged),
    )


METRICS = ("DI", "EOPP", "EOD", "PP", "CAL")
VERDICT_LINES = tuple(line for metric in METRICS for line in _of_metric(metric))
KAPPA_LINE = Line("kappa", "Fleiss' kappa of the folds", "sites", "kappa", bias=0.1)
SPREAD_LINE = Line(
    "CV", "coefficient of variation", "sizes", "CV", bias=0.1, relative=True, decides="right", asks=0.9
)
AUC_LINES = (
    Line("AUC within", "AUC within the group", "auc", "within AUC", bias=0.01, decides="width", asks=0.1),
    Line("AUC cross", "AUC across two groups", "auc", "cross AUC", bias=0.01, decides="width", asks=0.1),
    Line("AUC difference", "largest difference of AUCs", "auc", "AUC difference", bias=0.02),
    Line(
        "AUC verdict",
        "verdict on AUC parity",
        "auc",
        "AUC parity verdict",
        covers=False,
        decides="right",
        asks=0.9,
    ),
    Line(
        "AUC matrix",
        "whole matrix at once",
        "auc",
        "matrix at once",
        covers=False,
        decides="holds",
        asks=COVERAGE,
    ),
)
LINES = MappingProxyType({line.name: line for line in (*VERDICT_LINES, *AUC_LINES, KAPPA_LINE, SPREAD_LINE)})


def read_measured(folder: Path | None = None) -> dict[str, pd.DataFrame]:
    """Read the stored measures of all families."""
    here = project_file("data", "simulations") if folder is None else folder
    return {name: pd.read_csv(here / f"small_groups_{name}.csv") for name in FAMILY_NAMES}


def select_rows(
    measured: Mapping[str, pd.DataFrame], line: Line, *, support: str = EVERY, **where: Any
) -> pd.DataFrame:
    """Take a line's rows."""
    table = measured[line.family]
    kept = (table["figure"] == line.figure) & (table["support"] == support)
    for name, wanted in (*line.where.items(), *where.items()):
        kept &= table[name].isin(wanted if isinstance(wanted, list | tuple) else [wanted])
    return table[kept]


def check_rows(rows: pd.DataFrame, line: Line) -> pd.DataFrame:
    """Tell of every population and size which criteria the figure meets."""
    high = np.nan_to_num(wilson_interval(rows["covered"], rows["intervals"]).high) if line.covers else 1.0
    allowed = np.inf if line.bias is None else line.bias * (rows["truth"].abs() if line.relative else 1.0)
    near = True if line.bias is None else rows["bias"].abs() <= allowed
    if line.decides in ("width", "rmse"):
        decided: pd.Series[bool] = rows[line.decides] <= line.asks
    elif line.decides == "holds":
        decided = pd.Series(wilson_interval(rows["right"], rows["judged"]).high, rows.index) >= line.asks
    elif line.decides == "right":
        decided = rows["right"] >= line.asks * rows["judged"].where(rows["judged"] > 0)
    else:
        decided = rows["told"] >= line.asks * rows["replicates"]
    return rows.assign(meets_coverage=high >= COVERAGE, meets_bias=near, meets_decision=decided)


def find_least(measured: Mapping[str, pd.DataFrame], line: Line, **where: Any) -> dict[str, float]:
    """Find the smallest simulated size from which on a figure means something."""
    checked = check_rows(select_rows(measured, line, **where), line)
    sizes = checked["smallest"].to_numpy(float)
    met = {name: checked[f"meets_{name}"].to_numpy(bool) for name in ("coverage", "bias", "decision")}
    found = {name: _first_from(sizes, flags) for name, flags in met.items()}
    return found | {"least": _first_from(sizes, np.logical_and.reduce(list(met.values())))}


def _first_from(sizes: NDArray[np.float64], met: NDArray[np.bool_]) -> float:
    """Find the first size from which on everything is met."""
    if not len(sizes):
        return float("nan")
    missed = sizes[~met].max(initial=-np.inf)
    later = sizes[sizes > missed]
    return float(later.min()) if len(later) else float("inf")
