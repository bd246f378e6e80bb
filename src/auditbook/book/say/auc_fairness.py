"""Which metric made of areas can be trusted, said in words, on any cohort?"""

import math
from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.book.say.auc_matrix import select_matrix
from auditbook.book.say.text import (
    MISSING,
    Column,
    count,
    count_of,
    escape,
    interval,
    name_list,
    number,
    read_layout,
    share,
)
from auditbook.ranking import AUC_METRICS
from auditbook.results import Run, rows

QUANTITIES = MappingProxyType(
    {
        "auc_global": "overall",
        "auc_m": "within men",
        "auc_f": "within women",
        "xauc_mf": "events of men, non-events of women",
        "xauc_fm": "events of women, non-events of men",
        "xauc1_m": "xAUC1 of men",
        "xauc1_f": "xAUC1 of women",
        "auc_parity": "within-group parity",
        "xauc_parity": "cross-group parity",
        "xauc1_parity": "xAUC1 parity",
    }
)
"""What the published table lists, by the names of `TwoGroupAreas`."""
MOST_ATTRIBUTES = 6

SCENARIO_COLUMNS = read_layout("book", "auc_fairness.scenario")
METRIC_COLUMNS = read_layout("book", "auc_fairness.metric")
WHY_COLUMNS = read_layout("book", "auc_fairness.why")
VERDICT_COLUMNS = read_layout("book", "auc_fairness.verdict")
TIER_COLUMNS = read_layout("book", "auc_fairness.tier")
SPREAD_COLUMNS = read_layout("book", "auc_fairness.spread")


def title_scenarios(table: pd.DataFrame) -> pd.DataFrame:
    """Add titles and the written envelope to the rows of `tabulate_scenarios`, for `SCENARIO_COLUMNS`."""
    written = [interval(row.low, row.high, digits=2) for row in rows(table)]
    return table.assign(title=table["quantity"].map(QUANTITIES), envelope=written)


def describe_scenarios(table: pd.DataFrame) -> str:
    """Say how far published values are from exact ones, and whether rounding explains it."""
    areas = table[~table["quantity"].str.contains("parity")]
    off, parity = (
        float((part["published"] - part["exact"]).abs().max())
        for part in (areas, table[~table.index.isin(areas.index)])
    )
    known = table.dropna(subset="se")
    errors = float(((known["simulated"] - known["exact"]).abs() / known["se"]).max())
    return (
        f"Published areas differ from the exact ones by up to {number(off, digits=2)}, and published "
        f"differences of two areas by up to {number(parity, digits=2)}. "
        f"Of {count(len(table))} published values, {count(int(table['possible'].sum()))} lie within what the "
        "rounding of the printed parameters allows. "
        f"The simulation lies at most {number(errors, digits=1)} standard errors from the exact areas."
    )


def describe_spread(table: pd.DataFrame, *, area: float, threshold: float) -> str:
    """Say how large the gap of equal groups is by chance alone."""
    worst = rows(table.sort_values("value", kind="stable"))[-1]
    over = table[table["value"] > threshold]
    return (
        f"Every group's true area is {number(area, digits=2)}, so the true gap is zero. "
        f"With {worst.name} of {count(worst.x)} records the audits find {number(worst.value, digits=2)} on "
        f"average, and a smallest area of {number(worst.smallest, digits=2)}. In "
        f"{count_of(len(over), len(table), 'setting')} the mean alone is above the threshold "
        f"{number(threshold, digits=2)}."
    )


def list_metrics(fairness: pd.DataFrame, *, model: str, attribute: str) -> pd.DataFrame:
    """List one attribute's metrics by their advice, in the order in which to read them."""
    here = select_matrix(fairness, model=model, attribute=attribute)
    keep = []
    for metric, part in here.groupby("metric", sort=False):
        if metric in ("xauc1", "xauc0") and part["value"].notna().sum() > 1:
            ranked = part["value"].sort_values(kind="stable").dropna().index
            keep += sorted({ranked[0], ranked[-1]})
        elif metric in ("xauc1", "xauc0"):
            keep += list(part["value"].dropna().index)
        else:
            keep += list(part.index)
    here = here.loc[sorted(keep)].reset_index(drop=True)
    facts = [AUC_METRICS[metric] for metric in here["metric"]]
    return here.assign(
        title=[fact.title for fact in facts],
        why=[fact.why for fact in facts],
        whom=[_name_whom(row.group, row.other_group) for row in rows(here)],
        by_site=[
            "" if math.isnan(row.site_low + row.site_high) else interval(row.site_low, row.site_high)
            for row in rows(here)
        ],
    )


def _name_whom(group: str, other: str) -> str:
    """Name the groups that a value is about."""
    return f"{group}; {other}" if other else group


def list_advice() -> pd.DataFrame:
    """List every metric with the advice on it and the reason, for `WHY_COLUMNS`."""
    found = [(metric.title, metric.advice, metric.why) for metric in AUC_METRICS.values()]
    return pd.DataFrame(found, columns=["title", "advice", "why"])


def describe_metrics(metrics: pd.DataFrame) -> str:
    """Say what the recommended metric found, and what the one to be read with caution adds."""
    values = {row.metric: row for row in rows(metrics)}
    overall, within, cross = (values.get(name) for name in ("auc", "within_parity", "cross_parity"))
    if overall is None or math.isnan(overall.value):
        return "There is no area, so no metric can be made of it."
    parts = [f"Overall AUC (report beside): {_write(overall)}."]
    if within is None or math.isnan(within.value):
        parts.append("Within-group parity (recommended) needs two groups with events and non-events.")
    else:
        told = (
            "the intervals of the groups do not exclude equal areas"
            if within.ci_low == 0
            else ("equal areas are excluded")
        )
        parts.append(
            f"Within-group parity (recommended): {_write(within)}, between {escape(within.group)} and "
            f"{escape(within.other_group)}; {told}."
        )
    if cross is not None and not math.isnan(cross.value):
        parts.append(
            f"Cross-group parity (with caution): {_write(cross)}. The events of {escape(cross.group)} stand "
            f"higher against the non-events of {escape(cross.other_group)} than the other way round; event "
            "rates that differ can do that alone."
        )
    if within is not None and within.reason:
        parts.append(f"Little can be said of these: {escape(within.reason)}.")
    return " ".join(parts)


def _write(row: Any) -> str:
    """Write a value with its interval."""
    value, low, high = row.value, row.ci_low, row.ci_high
    return number(value) if math.isnan(low + high) else f"{number(value)} ({interval(low, high)})"


def list_verdicts(run: Run, *, model: str) -> pd.DataFrame:
    """List the verdicts on AUC parity of one model, with the interval of the parity."""
    parity = run.auc_fairness[run.auc_fairness["metric"] == "within_parity"]
    bounds = parity[["model", "attribute", "ci_low", "ci_high"]].rename(
        columns={"ci_low": "area_low", "ci_high": "area_high"}
    )
    here = run.auc_verdicts[run.auc_verdicts["model"] == model]
    table = here.merge(bounds, on=["model", "attribute"], how="left")
    told = [row.tier_reasons or row.reason for row in rows(table)]
    return table.assign(told=told).reset_index(drop=True)


def describe_verdicts(verdicts: pd.DataFrame) -> str:
    """Say which attributes pass AUC parity, and which verdicts flip."""
    if verdicts.empty:
        return "There is no attribute to judge."
    threshold = number(float(verdicts["threshold"].iloc[0]), digits=2)
    parts = [f"AUC parity passes when the gap of the areas within groups is at most {threshold}."]
    for verdict, verb in (("pass", "It passes for"), ("fail", "It fails for")):
        here = verdicts.loc[verdicts["verdict"] == verdict, "attribute"]
        if len(here):
            parts.append(f"{verb} {name_list(here)}.")
    gone = verdicts[verdicts["verdict"] == "inconclusive"]
    if len(gone):
        why = escape(gone["reason"].iloc[0])
        parts.append(f"It is inconclusive for {name_list(gone['attribute'])}: {why}.")
    judged = verdicts[verdicts["verdict"] != "inconclusive"].dropna(subset="vfr")
    if len(judged):
        worst = rows(judged.sort_values("vfr", kind="stable"))[-1]
        parts.append(f"The largest flip rate is {share(worst.vfr)}, for {escape(worst.attribute)}.")
    return " ".join(parts)


def describe_parity(run: Run, *, model: str) -> str:
    """Say in two sentences how equally one model orders the groups, for the audit report."""
    verdicts = list_verdicts(run, model=model)
    return (
        f"How well does {escape(model)} put patients with the event before those without, within each group? "
        f"The gap between the groups' areas is the one metric of its kind that is recommended. "
        f"{describe_verdicts(verdicts)}"
    )


def list_models(run: Run) -> pd.DataFrame:
    """List AUC parity of every model, one column an attribute, for `model_columns`."""
    attributes = _first_attributes(run)
    found = []
    for model, part in run.auc_verdicts.groupby("model", sort=False):
        cells = {row.attribute: row for row in rows(part)}
        row = {"model": model}
        row |= {f"attribute {place}": _write_cell(cells[name]) for place, name in enumerate(attributes)}
        found.append(row)
    return pd.DataFrame(found)


def model_columns(run: Run) -> tuple[Column, ...]:
    """List the columns of `list_models`."""
    parts = (Column(f"attribute {place}", name) for place, name in enumerate(_first_attributes(run)))
    return (Column("model", "model"), *parts)


def _first_attributes(run: Run) -> list[str]:
    """Name as many attributes as a table has room for."""
    return list(dict.fromkeys(run.auc_verdicts["attribute"]))[:MOST_ATTRIBUTES]


def _write_cell(cell: Any) -> str:
    """Write one verdict in a few characters."""
    value = number(cell.estimate)
    if cell.verdict == "inconclusive":
        return f"{value} ?" if value != MISSING else MISSING
    return f"{value} {cell.verdict}, {share(cell.vfr)}"
