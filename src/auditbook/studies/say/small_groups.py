"""What do simulated audits say of figures that rest on a small group, in words and as curves?"""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from auditbook.book.say.text import count, join_words, number, read_layout, share
from auditbook.project import project_file
from auditbook.results import match_rows
from auditbook.results import rows as each
from auditbook.studies.small_groups.curves import bound_measure
from auditbook.studies.small_groups.measures import EVERY
from auditbook.studies.small_groups.table import COVERAGE, LINES, METRICS, select_rows
from auditbook.verdicts import find_metric

NEAR = 0.05
"""The distance from the threshold at which the main table is drawn up."""
BASE: Mapping[str, Any] = {"groups": 2, "event_rate": [0.2, 0.25]}
"""Two groups and 20 % events (calibration: 25 %), in which all distances were simulated."""
AUDIT_COLUMNS = read_layout("studies", "small_groups.audit")
EXAMPLE_COLUMNS = read_layout("studies", "small_groups.example")


def read_origin() -> dict[str, Any]:
    """Read how the stored simulation was made."""
    path = project_file("data", "simulations", "small_groups.json")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def describe_origin(measured: Mapping[str, pd.DataFrame], origin: Mapping[str, Any]) -> str:
    """Say how much was simulated."""
    designs = origin["designs"]
    first = [table[table["support"] == EVERY].groupby("figure").head(10**9) for table in measured.values()]
    audits = sum(
        int(table.loc[table["figure"] == table["figure"].iloc[0], "replicates"].sum()) for table in first
    )
    return (
        f"{count(sum(designs.values()))} populations were audited {count(origin['replicates'])} times each "
        f"({count(origin['slow_replicates'])} times for calibration, {count(origin['quick_replicates'])} for "
        f"areas), {count(audits)} audits in all: {count(designs['verdicts'])} for metrics and flip rates, "
        f"{count(designs['auc'])} for areas, {count(designs['sites'])} with sites, and "
        f"{count(designs['sizes'])} for subsamples."
    )


def list_curves(
    rows: pd.DataFrame, by: str, *, value: str, names: str = "{}", dashed: bool = False
) -> pd.DataFrame:
    """Lay measures out as curves over the size of the smallest group, for `draw_by_size`."""
    told = [names.format(_name_curve(value, by, "sites" in rows)) for value in rows[by]]
    table = bound_measure(rows, value).assign(curve=told, smallest=rows["smallest"], dashed=dashed)
    return table.sort_values("smallest", kind="stable").reset_index(drop=True)


def _name_curve(value: Any, by: str, is_plain: bool) -> Any:
    """Name a curve by its distance in words; a plain distance has no side."""
    if by != "distance":
        return value
    return f"{value:.2f} away" if is_plain else _say_distance(value)


def take(measured: Mapping[str, pd.DataFrame], line: str, **where: Any) -> pd.DataFrame:
    """Take a line's rows by the line's name; see `select_rows`."""
    return select_rows(measured, LINES[line], **where)


def take_metrics(measured: Mapping[str, pd.DataFrame], kind: str, **where: Any) -> pd.DataFrame:
    """Take the rows of one kind of figure for all metrics."""
    return pd.concat([take(measured, f"{metric} {kind}", **where) for metric in METRICS], ignore_index=True)


def describe_coverage(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say how often the metrics' intervals hold the true value in the largest groups."""
    rows = take_metrics(measured, "interval", distance=-NEAR, **BASE)
    last = rows[rows["smallest"] == rows["smallest"].max()]
    held = dict(zip(last["metric"], last["covered"] / last["intervals"], strict=True))
    told = join_words(f"{name} {share(value)}" for name, value in held.items())
    short = [name for name, value in held.items() if value < COVERAGE]
    text = (
        f"With {count(last['smallest'].iloc[0])} records in the smallest group and a true value that fails "
        f"by {number(NEAR, digits=2)}, the 95% interval holds it in: {told}."
    )
    return f"{text} Below {share(COVERAGE, digits=0)}: {join_words(short) if short else 'none'}."


def describe_range(measured: Mapping[str, pd.DataFrame], *, metric: str = "EOPP") -> str:
    """Say what becomes of a gap over groups that do not differ."""
    rows = take(measured, f"{metric} interval", distance=find_metric(metric).threshold, **BASE)
    covered, first, last = int(rows["covered"].sum()), rows.iloc[0], rows.iloc[-1]
    return (
        f"Where the groups do not differ, {metric} has the true value 0. On average the audits find "
        f"{number(first['mean'])} with {count(first['smallest'])} records in the smallest group and "
        f"{number(last['mean'])} with {count(last['smallest'])}; {count(covered)} of "
        f"{count(rows['intervals'].sum())} intervals reach down to 0."
    )


def describe_calibration(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say what CAL finds where calibration errors are known."""
    rows = take(measured, "CAL interval", distance=NEAR)
    first, last = rows.iloc[0], rows.iloc[-1]
    every = take(measured, "CAL interval")
    return (
        f"CAL, in populations whose scores are right in every bin, where "
        f"{number(find_metric('CAL').threshold, digits=2)} is allowed: on average "
        f"{number(first['mean'], digits=2)} with {count(first['smallest'])} records in the smallest group "
        f"and {number(last['mean'], digits=2)} with {count(last['smallest'])}, and even of these largest "
        f"audits {count(last['judged'] - last['right'])} of {count(last['judged'])} fail. Over all "
        f"populations {count(every['covered'].sum())} of {count(every['intervals'].sum())} intervals hold "
        "the true value."
    )


def describe_flips(measured: Mapping[str, pd.DataFrame], *, metric: str) -> str:
    """Say what the flip rate tells at the threshold, near it and far from it."""
    rows = take(measured, f"{metric} flips", distance=[0.0, -0.05, -0.1], **BASE)
    last = rows[rows["smallest"] == rows["smallest"].max()].sort_values("distance", ascending=False)
    told = "; ".join(
        f"{_say_distance(row.distance)}, truth {share(row.truth)} and mean estimate {share(row.mean)}"
        for row in each(last)
    )
    covered = rows["covered"].sum() / rows["intervals"].sum()
    return (
        f"{metric} with {count(last['smallest'].iloc[0])} records in the smallest group: {told}. Over all "
        f"sizes and these three distances, the printed interval of the flip rate holds the true one in "
        f"{share(covered)} of the audits."
    )


def _say_distance(distance: float) -> str:
    if not distance:
        return "at the threshold"
    return f"{'passes' if distance > 0 else 'fails'} by {number(abs(distance), digits=2)}"


def describe_stable(measured: Mapping[str, pd.DataFrame], *, metric: str) -> str:
    """Say how often a verdict that is called stable is wrong, and where most."""
    rows = take(measured, f"{metric} stable", **BASE)
    rows = rows[(rows["distance"] != 0) & (rows["judged"] > 0)]
    wrong = 1 - rows["right"] / rows["judged"]
    worst, least = each(rows.loc[[wrong.idxmax()]])[0], rows["smallest"].min()
    big = rows[rows["smallest"] == rows["smallest"].max()]
    return (
        f"{metric}: of the verdicts called stable, {share(1 - _share_right(rows))} are wrong over all sizes "
        f"and distances but the threshold itself. Worst is a smallest group of {count(worst.smallest)} "
        f"records where the population {_say_distance(worst.distance)}: {count(worst.judged - worst.right)} "
        f"of {count(worst.judged)} are wrong. With {count(big['smallest'].iloc[0])} records it is "
        f"{share(1 - big['right'].sum() / big['judged'].sum())}, with {count(least)} "
        f"{share(1 - _share_right(rows[rows['smallest'] == least]))}."
    )


def _share_right(rows: pd.DataFrame) -> float:
    return float(rows["right"].sum() / rows["judged"].sum())


def describe_kappa(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say what kappa tells of agreement, and how often its interval holds the truth."""
    rows = take(measured, "kappa", distance=NEAR, sides=2, scatter=0.05)
    parts = []
    for sites, part in rows.groupby("sites"):
        held = part["covered"].sum() / part["intervals"].sum()
        parts.append(f"{share(held)} with {count(float(str(sites)))} sites")
    twenty = rows[rows["sites"] == 20]
    first, last = twenty.iloc[0], twenty.iloc[-1]
    return (
        f"Two attributes fail and two pass by {number(NEAR, digits=2)}, and the sites hardly differ. The "
        f"true kappa of twenty folds is {number(first['truth'], digits=2)} with {count(first['smallest'])} "
        f"records in a site's small groups and {number(last['truth'], digits=2)} with "
        f"{count(last['smallest'])}. The interval holds it in {join_words(parts)}, over all sizes."
    )


def describe_paradox(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say what kappa does where all attributes pass."""
    rows = take(measured, "kappa", sides=1, sites=20, scatter=0.05)
    raw = measured["sites"]
    raw = match_rows(raw, figure="raw agreement", support=EVERY)
    raw = match_rows(raw, sides=1, sites=20, scatter=0.05)
    last, agreed = rows.iloc[-1], raw.iloc[-1]
    middle = rows[rows["given"] > 0].iloc[-1]
    return (
        f"Where all four attributes pass by 0.10, kappa says nothing at any size: its true value is at most "
        f"{number(rows['truth'].max(), digits=2)}. With {count(last['smallest'])} records raw agreement is "
        f"{number(agreed['mean'], digits=2)} on average, and kappa is undefined in "
        f"{count(last['replicates'] - last['given'])} of {count(last['replicates'])} audits "
        f"({number(middle['mean'], digits=2)} on average where it is defined, with "
        f"{count(middle['smallest'])} records)."
    )


def describe_spread(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say how near the coefficient of variation of subsamples comes to that of fresh audits."""
    parts = []
    for times in (10, 2):
        rows = take(measured, "CV", times=times, distance=NEAR)
        rows = rows[rows["smallest"] >= 250]
        held = rows["covered"].sum() / rows["intervals"].sum()
        parts.append(
            f"in an audit of {count(times)} times the subsamples' size it is "
            f"{share((rows['mean'] / rows['truth']).mean(), digits=0)} of the true one on average, and its "
            f"interval holds the true one in {share(held)}"
        )
    return (
        "The coefficient of variation, with 250 records or more in the smallest group of a subsample: "
        + "; ".join(parts)
        + "."
    )


def describe_areas(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say how often areas and their differences are covered with few events."""
    parts = []
    for name in ("AUC within", "AUC cross", "AUC difference"):
        rows = take(measured, name, sites=0)
        low = each(rows.loc[[(rows["covered"] / rows["intervals"]).idxmin()]])[0]
        parts.append(
            f"{LINES[name].title} {share(rows['covered'].sum() / rows['intervals'].sum())} (least "
            f"{share(low.covered / low.intervals)}, with {count(low.smallest)} records and "
            f"{share(low.event_rate, digits=0)} events)"
        )
    joint = take(measured, "AUC matrix", sites=0)
    single = measured["auc"]
    single = match_rows(single, figure="matrix one by one", support=EVERY)
    single = single[single["sites"] == 0]
    nine, all_nine = (part[part["groups"] == 9] for part in (single, joint))
    return (
        f"Over all populations without sites the intervals cover: {'; '.join(parts)}. All entries of the "
        f"matrix of nine groups lie in their single intervals in {share(_share_right(nine))} of the audits, "
        f"in their simultaneous ones in {share(_share_right(all_nine))}."
    )


def describe_units(measured: Mapping[str, pd.DataFrame]) -> str:
    """Say what intervals by records and by sites cover where sites matter."""
    table = measured["auc"]
    table = table[(table["support"] == EVERY) & (table["sites"] > 0)]
    parts = []
    for figure in ("within AUC", "overall AUC"):
        for unit, words in (("", "records"), (" by sites", "sites")):
            rows = table[table["figure"] == figure + unit]
            held = rows.groupby("sites")[["covered", "intervals"]].sum()
            told = join_words(
                f"{share(part.covered / part.intervals)} with {part.sites}"
                for part in each(held.reset_index())
            )
            parts.append(f"- {figure}, {words} as the units: {told} sites")
    return "\n".join(parts)
