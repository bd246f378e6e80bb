"""From which size of the smallest group on is a figure near its truth, and which groups fall short?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import Column, agree, count, escape, join_words, name_list, plural, read_layout
from auditbook.results import rows as each
from auditbook.studies.say.small_groups import NEAR
from auditbook.studies.small_groups.measures import SUPPORTED
from auditbook.studies.small_groups.table import (
    AUC_LINES,
    LINES,
    METRICS,
    VERDICT_LINES,
    Line,
    find_least,
    select_rows,
)

KINDS = ("interval", "flips", "verdict", "stable")
METRIC_COLUMNS = (Column("figure", "figure"), *(Column(metric, metric) for metric in METRICS))
CRITERIA_COLUMNS = read_layout("studies", "small_group_lines.criteria")
OTHER_COLUMNS = (Column("figure", "figure"), Column("population", "population"), *CRITERIA_COLUMNS[1:])
READ = tuple(line for line in VERDICT_LINES if line.name != "CAL flips")
"""Lines that a run is held against: nearly all audits fail CAL, so its flip rate is near 0 at any size."""
_SIDES: dict[str, Any] = {"distance": [-NEAR, NEAR]}
CONDITIONS: dict[str, dict[str, Any]] = {
    "two groups, 20% events": {**_SIDES, "groups": 2, "event_rate": 0.2},
    "five groups": {**_SIDES, "groups": 5, "event_rate": 0.2},
    "nine groups": {**_SIDES, "groups": 9, "event_rate": 0.2},
    "5% events": {**_SIDES, "groups": 2, "event_rate": 0.05},
    "40% events": {**_SIDES, "groups": 2, "event_rate": 0.4},
}
"""Populations beside which the smallest sizes are tabulated, by the name of the column."""
CHOSEN = tuple(LINES[f"{metric} {kind}"] for kind in ("verdict", "stable") for metric in METRICS[:-1])
"""Lines of that table; calibration was simulated in two groups and at one event rate only."""
GROUP_COLUMNS = read_layout("studies", "small_group_lines.group")
SUPPORT_COLUMNS = read_layout("studies", "small_group_lines.support")


def name_line(line: Line) -> str:
    """Name a line as tables do."""
    metric = line.where.get("metric")
    return f"{metric}: {line.title}" if metric else line.title


def write_size(size: float, measured_sizes: Sequence[float]) -> str:
    """Write a smallest size; beyond the largest simulated one there is none to give."""
    if math.isnan(size):
        return "not simulated"
    return f"above {count(max(measured_sizes))}" if math.isinf(size) else count(size)


def _list_sizes(measured: Mapping[str, pd.DataFrame], line: Line) -> list[float]:
    """Sizes at which a line was simulated."""
    return select_rows(measured, line)["smallest"].astype(float).tolist()


def tabulate_metrics(
    measured: Mapping[str, pd.DataFrame], *, kinds: Sequence[str] = KINDS, **where: Any
) -> pd.DataFrame:
    """Tabulate the smallest sizes by kind of figure and metric, for `METRIC_COLUMNS`."""
    found = []
    for kind in kinds:
        lines = [LINES[f"{metric} {kind}"] for metric in METRICS]
        row = {"figure": lines[0].title}
        for metric, line in zip(METRICS, lines, strict=True):
            least = find_least(measured, line, **where)["least"]
            row[metric] = write_size(least, _list_sizes(measured, line))
        found.append(row)
    return pd.DataFrame(found)


def tabulate_criteria(
    measured: Mapping[str, pd.DataFrame], lines: Sequence[Line], **where: Any
) -> pd.DataFrame:
    """Tabulate the smallest sizes by criterion, for `CRITERIA_COLUMNS`."""
    found = []
    for line in lines:
        least, sizes = find_least(measured, line, **where), _list_sizes(measured, line)
        asked = {"coverage": line.covers, "bias": line.bias is not None, "decision": True, "least": True}
        texts = {name: write_size(least[name], sizes) if wanted else "" for name, wanted in asked.items()}
        found.append({"figure": name_line(line)} | texts)
    return pd.DataFrame(found)


def tabulate_others(measured: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tabulate the smallest sizes of areas, kappa and CV, for `OTHER_COLUMNS`."""
    areas: dict[str, Any] = {"groups": 2, "event_rate": 0.2, "gap": 0.1, "sites": 0}
    asked = [
        (LINES[name], f"AUC {level:.2f}, lower by 0.10 in the small group", areas | {"level": level})
        for name in ("AUC within", "AUC cross", "AUC difference")
        for level in (0.6, 0.75, 0.9)
    ]
    sides = areas | {"level": 0.75, "gap": [0.0, 0.1]}
    asked.append((LINES["AUC verdict"], "AUC 0.75, the same or lower by 0.10 in the small group", sides))
    asked += [
        (LINES["AUC matrix"], f"{groups} groups, AUC 0.75", areas | {"level": 0.75, "groups": groups})
        for groups in (2, 9)
    ]
    kappa: dict[str, Any] = {"sides": 2, "scatter": 0.05}
    asked += [
        (LINES["kappa"], f"{sites} sites, {distance:.2f} from the threshold", where)
        for sites, distance in ((5, NEAR), (20, NEAR), (40, NEAR), (20, 0.1))
        for where in (kappa | {"sites": sites, "distance": distance},)
    ]
    asked += [
        (LINES["CV"], f"{metric}, audit of {times} times the size", where)
        for metric in ("DI", "EOPP")
        for times in (10, 2)
        for where in ({"metric": metric, "times": times, "distance": NEAR},)
    ]
    frames = [
        tabulate_criteria(measured, [line], **where).assign(population=population)
        for line, population, where in asked
    ]
    return pd.concat(frames, ignore_index=True)


def tabulate_conditions(
    measured: Mapping[str, pd.DataFrame], lines: Sequence[Line], conditions: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    """Tabulate the smallest sizes of some lines under several conditions."""
    found = []
    for line in lines:
        row = {"figure": name_line(line)}
        for name, where in conditions.items():
            row[name] = write_size(find_least(measured, line, **where)["least"], _list_sizes(measured, line))
        found.append(row)
    return pd.DataFrame(found)


def describe_events(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say how many events the smallest sizes of stable verdicts come to at each event rate."""
    parts = []
    for metric in METRICS[:-1]:
        line, told = LINES[f"{metric} stable"], []
        for rate in (0.05, 0.2, 0.4):
            least = find_least(measured, line, **_SIDES, groups=2, event_rate=rate)["least"]
            if math.isfinite(least):
                told.append(f"{count(rate * least)} ({count(least)} records with {rate:.0%})")
        parts.append(f"- {name_line(line)}: {join_words(told) or 'no simulated size will do'}")
    return "Expected events in the smallest group that will do, by event rate:\n\n" + "\n".join(parts)


def condition_columns(conditions: Mapping[str, Any]) -> tuple[Column, ...]:
    """Columns of `tabulate_conditions`."""
    return (Column("figure", "figure"), *(Column(name, name) for name in conditions))


def tabulate_support(measured: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Compare the minimum support with what the simulated audits ask for, for `SUPPORT_COLUMNS`."""
    found = []
    for line in (*READ, *AUC_LINES):
        where: dict[str, Any] = {"groups": 2, "event_rate": [0.2, 0.25]}
        areas: dict[str, Any] = {"level": 0.75, "gap": [0.0, 0.1], "sites": 0}
        areas |= {} if line.decides == "right" else {"gap": 0.1}
        where |= _SIDES if line.family == "verdicts" else areas
        every = select_rows(measured, line, **where)
        held = select_rows(measured, line, support=SUPPORTED, **where)
        let = held["replicates"].to_numpy() >= 0.5 * every["replicates"].to_numpy()
        allowed = float(pd.Series(let).groupby(every["smallest"].to_numpy()).all().idxmax())
        there, sizes = every[every["smallest"] == allowed], find_least(measured, line, **where)
        least = sizes["least"]
        row = {"figure": name_line(line), "allowed": allowed, "events": allowed * there["event_rate"].iloc[0]}
        row |= _measure_worst(there, line)
        row["honest"] = max(sizes["coverage"], sizes["bias"]) if line.covers else math.inf
        row |= {"least": write_size(least, _list_sizes(measured, line)), "told": _judge_rule(allowed, least)}
        found.append(row)
    return pd.DataFrame(found)


def _measure_worst(rows: pd.DataFrame, line: Line) -> dict[str, float]:
    """Measure a figure at one size on the worse side; nan for what the line does not ask for."""
    part, whole = ("right", "judged") if line.decides in ("right", "holds") else ("told", "replicates")
    shares = [_divide(row[part], row[whole]) for _, row in rows.iterrows()]
    covered = [_divide(row["covered"], row["intervals"]) for _, row in rows.iterrows()]
    return {
        "coverage": min(covered) if line.covers else np.nan,
        "bias": float(rows["bias"].loc[rows["bias"].abs().idxmax()]) if line.bias is not None else np.nan,
        "right": min(shares) if line.decides in ("right", "told", "holds") else np.nan,
    }


def _divide(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan


def _judge_rule(allowed: float, least: float) -> str:
    if least > allowed:
        return "too lax"
    return "too strict" if least < allowed else "right"


def describe_support(table: pd.DataFrame) -> str:
    """Say for how many figures the minimum support is too lax or too strict."""
    told = table["told"].value_counts()
    honest = table.loc[table["honest"] < table["allowed"], "figure"].tolist()
    lax, right, hard = (int(told.get(word, 0)) for word in ("too lax", "right", "too strict"))
    text = (
        f"By these criteria the rule is too lax for {plural(lax, 'figure')}, right for {count(right)} and "
        f"too strict for {count(hard)}"
    )
    rest = join_words(honest) if honest else "no figure"
    return f"{text}. Coverage and bias alone are met below what the rule allows for: {rest}."


@dataclass(frozen=True)
class Asked:
    """The figures that are looked up for every group of a run, and under which conditions."""

    line: Line  # Figure and criteria
    where: Mapping[str, Any]  # Fields of the designs that do not depend on the group


def _list_asked() -> tuple[Asked, ...]:
    """Every figure of a metric 0.05 from its threshold on either side, and those of areas."""
    near: dict[str, Any] = {"groups": 2, "distance": [-NEAR, NEAR]}
    asked = [Asked(line, near) for line in READ]
    areas: dict[str, Any] = {"groups": 2, "level": 0.75, "gap": 0.1, "sites": 0}
    return (*asked, *(Asked(line, areas) for line in AUC_LINES[:3]))


def list_groups(groups: pd.DataFrame, measured: Mapping[str, pd.DataFrame], *, model: str) -> pd.DataFrame:
    """Look every group of a run up in the table, for `GROUP_COLUMNS`.

    A group is compared with the populations of two groups whose event rate is nearest to its own on a
    logarithmic scale, 0.05 from the threshold on either side.
    """
    here = groups[(groups["model"] == model) & (groups["n"] > 0)]
    asked, found = _list_asked(), []
    for group in each(here):
        borne = [name_line(one.line) for one in asked if _bears(group.n, group.events, one, measured)]
        about = {"attribute": group.attribute, "group": group.group, "n": group.n, "events": group.events}
        found.append(about | {"borne": len(borne), "asked": len(asked), "figures": "; ".join(borne)})
    return pd.DataFrame(found, columns=["attribute", "group", "n", "events", "borne", "asked", "figures"])


def _bears(n: float, events: float, one: Asked, measured: Mapping[str, pd.DataFrame]) -> bool:
    """Tell whether a group is large enough for a figure."""
    known = sorted(set(select_rows(measured, one.line, **one.where)["event_rate"]))
    rate = events / n
    near = min(known, key=lambda value: abs(math.log(value / rate)) if rate else value)
    return bool(n >= find_least(measured, one.line, **one.where, event_rate=near)["least"])


def describe_groups(table: pd.DataFrame) -> str:
    """Say which groups of the run are large enough for how much."""
    if table.empty:
        return "No group of this run holds a record."
    none, small = table[table["borne"] == 0], table.sort_values(["borne", "n"]).iloc[0]
    best = table.sort_values(["borne", "n"]).iloc[-1]
    text = (
        f"Of {plural(len(table), 'group')} in this run, {count(len(none))} {agree(len(none), 'is', 'are')} "
        f"too small for every one of the {count(table['asked'].max())} figures"
    )
    text += f" ({name_list(none['group'])})." if len(none) else "."
    return (
        f"{text} The fewest figures are borne by {escape(small['group'])} ({count(small['n'])} records, "
        f"{plural(small['events'], 'event')}): {count(small['borne'])}. The most by {escape(best['group'])} "
        f"({count(best['n'])} records, {plural(best['events'], 'event')}): {count(best['borne'])}."
    )
