"""Calibration by group: sentences and tables on curves, intercepts, slopes, and CAL beside them."""

from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import (
    Column,
    count,
    count_of,
    escape,
    interval,
    join_words,
    name_list,
    number,
    plural,
)
from auditbook.ranking import GROUPS, WHOLE, SimulatedRecords, auc_matrix, bound_bins, fit_calibration
from auditbook.results import Run, rows

SPARSE = 30
"""A score bin with fewer records than this is drawn hollow and called sparse."""
FEW_SITES = 20
"""With fewer sites than this an interval by sites is called unsure."""
NULL = {"intercept": 0.0, "slope": 1.0}
"""Value of a calibrated score."""
SIMULATED_COLUMNS = (
    Column("group", "group"),
    Column("n", "records", "count"),
    Column("event_rate", "event rate", "share"),
    Column("intercept", "intercept (95% interval)", "number", 2, low="intercept_low", high="intercept_high"),
    Column("slope", "slope (95% interval)", "number", 2, low="slope_low", high="slope_high"),
    Column("auc", "AUC within", "number", 3),
    Column("across", "its events, the others' non-events", "number", 3),
)
BY_RECORDS_COLUMNS = (
    Column("group", "group"),
    Column("n", "records", "count"),
    Column("events", "events", "count"),
    Column("intercept", "intercept (95% interval)", "number", 2, low="intercept_low", high="intercept_high"),
    Column("slope", "slope (95% interval)", "number", 2, low="slope_low", high="slope_high"),
    Column("reason", "note"),
)
BY_SITES_COLUMNS = (
    Column("group", "group"),
    Column("sites", "sites", "count"),
    Column(
        "intercept", "intercept (by sites)", "number", 2, low="intercept_site_low", high="intercept_site_high"
    ),
    Column("slope", "slope (by sites)", "number", 2, low="slope_site_low", high="slope_site_high"),
)
BIN_COLUMNS = (
    Column("group", "group"),
    Column("bin_low", "score from", "number", 1),
    Column("bin_high", "to", "number", 1),
    Column("n", "records", "count"),
    Column("events", "events", "count"),
    Column("mean_score", "mean score", "number", 3),
    Column(
        "event_rate", "event rate (95% interval)", "number", 3, low="event_rate_low", high="event_rate_high"
    ),
)
MODEL_COLUMNS = (
    Column("model", "model"),
    Column("n_train", "trained on", "count"),
    Column(
        "intercept", "intercept (95% interval)", "number", 2, low="intercept_lower", high="intercept_upper"
    ),
    Column("slope", "slope (95% interval)", "number", 2, low="slope_lower", high="slope_upper"),
    Column("scores", "its scores are"),
)
CAL_COLUMNS = (
    Column("attribute", "attribute"),
    Column("estimate", "CAL", "number", 3),
    Column("verdict", "verdict"),
    Column("worst_group", "set by"),
    Column("worst_low", "bin from", "number", 1),
    Column("worst_n", "records in it", "count"),
    Column("off", "groups off"),
    Column("reading", "together"),
)
READING_COLUMNS = (
    Column("model", "model"),
    Column("agree", "attributes: agree", "count"),
    Column("cal_alone", "CAL alone fails", "count"),
    Column("fits_alone", "fits alone are off", "count"),
    Column("silent", "one of them is silent", "count"),
)


def tabulate_simulated(records: SimulatedRecords) -> pd.DataFrame:
    """Fit calibration of two simulated groups and find the areas within and across."""
    area = auc_matrix(records.outcome, records.values, records.codes, len(GROUPS)).auc
    found = []
    for place, group in enumerate(GROUPS):
        mine = records.codes == place
        row: dict[str, Any] = {"group": group, "n": int(mine.sum())}
        row |= {"event_rate": float(records.outcome[mine].mean())}
        fitted = fit_calibration(records.outcome[mine], records.values[mine])
        for name in NULL:
            one = getattr(fitted, name)
            row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
        found.append(row | {"auc": area[place, place], "across": area[place, 1 - place]})
    return pd.DataFrame(found)


def bin_simulated(records: SimulatedRecords) -> pd.DataFrame:
    """Count two simulated groups by ten score bins, as score_bins.csv does, with intervals."""
    table = pd.DataFrame(
        {
            "group": [GROUPS[code] for code in records.codes],
            "bin": np.minimum((records.values * 10).astype(int), 9),
            "outcome": records.outcome,
            "score": records.values,
        }
    )
    found = table.groupby(["group", "bin"], sort=False)
    bins = found.agg(n=("outcome", "size"), events=("outcome", "sum"), mean_score=("score", "mean"))
    return bound_bins(bins.reset_index().sort_values(["group", "bin"], key=_place, ignore_index=True))


def _place(column: pd.Series) -> pd.Series:
    """Order groups as they are declared, and bins as they are numbered."""
    return column.map(GROUPS.index) if column.name == "group" else column


def describe_simulated(table: pd.DataFrame) -> str:
    """Say that both groups are calibrated and how far the areas across them are apart."""
    one, other = rows(table)
    return (
        f"The areas within are {number(abs(one.auc - other.auc), digits=2)} apart. "
        f"An event of {escape(one.group)} beats a non-event of {escape(other.group)} in "
        f"{number(one.across, digits=2)} of pairs, an event of {escape(other.group)} a non-event of "
        f"{escape(one.group)} in {number(other.across, digits=2)}: cross-group parity is off by "
        f"{number(abs(one.across - other.across), digits=2)}."
    )


def pick_fits(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """Take intercepts and slopes of all records and of each group of an attribute."""
    found = run.calibration[run.calibration["model"] == model]
    found = found[found["attribute"].isin([WHOLE, attribute])].reset_index(drop=True)
    return found.assign(group=found["group"].where(found["attribute"] != WHOLE, "all records"))


def pick_curves(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """Take the score bins of an attribute's groups with event rates and intervals, empty bins left out."""
    kind = run.models.set_index("model").loc[model, "kind"]
    bins = run.score_bins[(run.score_bins["model"] == model) & (run.score_bins["attribute"] == attribute)]
    return bound_bins(bins[(bins["n"] > 0) & (kind == "probability")].reset_index(drop=True))


def describe_curves(curves: pd.DataFrame) -> str:
    """Say in how many bins of each group score and event rate are apart, and how many bins are sparse."""
    if curves.empty:
        return (
            "These scores are no probabilities, so there is no number that a bin's event rate should equal."
        )
    off = _miss(curves)
    sparse = int((curves["n"] < SPARSE).sum())
    text = (
        f"In {count_of(off.sum(), len(curves), 'filled bin')} the mean score lies outside the interval of "
        "the event rate; about one in twenty would by chance. "
        + ("None" if not sparse else count(sparse))
        + f" of these bins {'holds' if sparse < 2 else 'hold'} fewer than {SPARSE} records."
    )
    low = curves.loc[off & (curves["mean_score"] < curves["event_rate"])]
    high = curves.loc[off & (curves["mean_score"] > curves["event_rate"])]
    if low["n"].sum() and high["n"].sum() and low["mean_score"].mean() < high["mean_score"].mean():
        text += (
            " Where they part, low scores are mostly too low and high scores too high: the score overstates."
        )
    return text


def _miss(curves: pd.DataFrame) -> pd.Series:
    """Tell where the mean score lies outside the interval of the event rate."""
    return (curves["mean_score"] < curves["event_rate_low"]) | (
        curves["mean_score"] > curves["event_rate_high"]
    )


def describe_fits(fits: pd.DataFrame) -> str:
    """Say which groups' intercepts and slopes differ from a calibrated score's, by records and by sites."""
    groups = fits[fits["attribute"] != WHOLE]
    if groups["intercept"].isna().all() and groups["slope"].isna().all():
        return f"No group has an intercept or a slope: {name_list(dict.fromkeys(groups['reason']), limit=4)}."
    by_sites = groups["slope_site_low"].notna().any() or groups["intercept_site_low"].notna().any()
    points = [f"- {_describe_ends(groups, name)}" for name in NULL]
    if by_sites:
        points += [f"- {_describe_ends(groups, name, sites=True)}" for name in NULL]
        points.append("- Read the second pair when the question is about other sites than these.")
        points += _warn_of_few_sites(groups)
    gone = groups[groups["slope"].isna()]
    if len(gone):
        points.append(f"- No slope for {name_list(gone['group'])}: see the notes in the table.")
    return "\n".join(points)


def _warn_of_few_sites(groups: pd.DataFrame) -> list[str]:
    """Say where intervals by sites rest on too few sites to be trusted."""
    few = groups[groups["sites"].notna() & (groups["sites"] < FEW_SITES)]
    if few.empty:
        return []
    least = plural(few["sites"].min(), "site")
    return [
        f"- {name_list(few['group'])}: fewer than {FEW_SITES} sites (the least is {least}), so the interval "
        "by sites is itself unsure, and mostly too narrow."
    ]


def _describe_ends(groups: pd.DataFrame, name: str, *, sites: bool = False) -> str:
    """Name the groups whose interval lies below or above the value of a calibrated score."""
    words = {"slope": ("too extreme", "too timid"), "intercept": ("too high", "too low")}[name]
    units = "_site" if sites else ""
    low, high = groups[f"{name}{units}_low"], groups[f"{name}{units}_high"]
    start = name.capitalize() + (" with whole sites as the units" if sites else "")
    below, above = groups.loc[high < NULL[name], "group"], groups.loc[low > NULL[name], "group"]
    parts = [
        f"scores are {word} in {name_list(which)}"
        for word, which in zip(words, (below, above), strict=True)
        if len(which)
    ]
    known = int(low.notna().sum())
    if not known:
        return f"{start}: no group has an interval."
    found = join_words(parts) if parts else f"every interval holds {number(NULL[name], digits=0)}"
    return f"{start}, {plural(known, 'group')} with an interval: {found}."


def compare_models(run: Run) -> pd.DataFrame:
    """Set intercept and slope over all records side by side for every model, for `MODEL_COLUMNS`."""
    found = run.calibration[run.calibration["attribute"] == WHOLE].set_index("model")
    found = found.join(run.models.set_index("model")[["n_train", "kind"]]).reset_index()
    found["by_sites"] = found["slope_site_low"].notna()
    for name in NULL:
        for end, side in (("lower", "low"), ("upper", "high")):
            by_site, by_record = found[f"{name}_site_{side}"], found[f"{name}_{side}"]
            found[f"{name}_{end}"] = by_site.fillna(by_record)
    found["scores"] = [_judge_scores(row) for row in rows(found)]
    return found


def _judge_scores(row: Any) -> str:
    """Say in words what a slope and an intercept over all records make of a model's scores."""
    if row.kind != "probability":
        return "no probabilities"
    if np.isnan(row.slope):
        return "without a slope"
    if row.slope_upper < NULL["slope"]:
        return "too extreme"
    if row.slope_lower > NULL["slope"]:
        return "too timid"
    if row.intercept_upper < NULL["intercept"]:
        return "too high"
    if row.intercept_lower > NULL["intercept"]:
        return "too low"
    return "not shown to be off"


def describe_models(table: pd.DataFrame) -> str:
    """Name the models whose scores are too extreme, with the size of their training part."""
    known = table[table["slope"].notna()]
    if known.empty:
        return "No model of this run has a calibration slope."
    units = "sites" if known["by_sites"].any() else "records"
    over = known[known["scores"] == "too extreme"]
    if over.empty:
        return f"No model's slope is shown to lie below 1 (95% intervals by {units})."
    worst = min(rows(over), key=lambda row: row.slope)
    text = (
        f"Overconfident: {name_list(over['model'])}, {count_of(len(over), len(known), 'model')} with a slope "
        f"whose 95% interval (by {units}) lies below 1. The lowest is that of {escape(worst.model)}, "
        f"{number(worst.slope, digits=2)} ({interval(worst.slope_lower, worst.slope_upper, digits=2)})"
    )
    if worst.n_train > 0:
        text += f", trained on {plural(worst.n_train, 'record')}"
    shrunk = number(100 / (1 + 9**-worst.slope), digits=0)
    return (
        f"{text}. Read so: at a slope of {number(worst.slope, digits=2)} and no shift, a score of 90% stands "
        f"for {shrunk}%."
    )


def compare_cal(run: Run, model: str) -> pd.DataFrame:
    """Set CAL's verdict beside intercepts and slopes of the same groups, for `CAL_COLUMNS`."""
    judged = run.verdicts[(run.verdicts["model"] == model) & (run.verdicts["metric"] == "CAL")]
    found = []
    for row in rows(judged):
        curves = pick_curves(run, model, row.attribute)
        fits = pick_fits(run, model, row.attribute)
        fits = fits[(fits["attribute"] != WHOLE) & fits["intercept_low"].notna()]
        off = fits.loc[_is_off(fits, "intercept") | _is_off(fits, "slope"), "group"]
        line = {"attribute": row.attribute, "estimate": row.estimate, "verdict": row.verdict}
        line |= {"reason": row.reason, **_find_worst(curves), "off": f"{len(off)} of {len(fits)}"}
        found.append(line | {"reading": _read_together(row.verdict, len(off), len(fits))})
    names = "attribute estimate verdict reason worst_group worst_low worst_bin worst_n off reading".split()
    return pd.DataFrame(found, columns=names)


def _is_off(fits: pd.DataFrame, name: str) -> pd.Series:
    return (fits[f"{name}_low"] > NULL[name]) | (fits[f"{name}_high"] < NULL[name])


def _find_worst(curves: pd.DataFrame) -> dict[str, Any]:
    """Find the bin in which event rate and mean score lie furthest apart."""
    if curves.empty:
        return {"worst_group": "", "worst_low": np.nan, "worst_bin": "", "worst_n": np.nan}
    worst = max(rows(curves), key=lambda row: abs(row.event_rate - row.mean_score))
    ends = f"{number(worst.bin_low, digits=1)}\N{EN DASH}{number(worst.bin_high, digits=1)}"
    found = {"worst_group": worst.group, "worst_low": worst.bin_low}
    return found | {"worst_bin": ends, "worst_n": worst.n}


def _read_together(verdict: str, off: int, known: int) -> str:
    """Say whether CAL and the fits agree."""
    if not known:
        return "no fits"
    if verdict == "inconclusive":
        return "CAL cannot say"
    if (verdict == "fail") == (off > 0):
        return "agree"
    return "CAL alone fails" if verdict == "fail" else "fits alone are off"


def count_readings(run: Run) -> pd.DataFrame:
    """Count, for every model, the attributes for which CAL and the fits agree, for `READING_COLUMNS`."""
    found = []
    for model in run.models["model"]:
        told = compare_cal(run, model)["reading"]
        named = {"agree": "agree", "cal_alone": "CAL alone fails", "fits_alone": "fits alone are off"}
        counts = {name: int((told == words).sum()) for name, words in named.items()}
        found.append({"model": model, **counts, "silent": len(told) - sum(counts.values())})
    return pd.DataFrame(found)


def describe_cal(table: pd.DataFrame) -> str:
    """Say where CAL and the fits disagree and what lies behind it."""
    if table.empty:
        return "CAL is not among this run's metrics."
    known = table[~table["reading"].isin(["no fits", "CAL cannot say"])]
    points = []
    for row in rows(known[known["reading"] == "CAL alone fails"]):
        points.append(
            f"- {escape(row.attribute)}: CAL fails at {number(row.estimate)} on one bin, "
            f"{escape(row.worst_group)}, {row.worst_bin}, with {plural(row.worst_n, 'record')}; no group's "
            "intercept or slope is shown to be off."
        )
    for row in rows(known[known["reading"] == "fits alone are off"]):
        points.append(
            f"- {escape(row.attribute)}: CAL passes at {number(row.estimate)}, yet {row.off} groups have an "
            "intercept or slope that is off: many small distances that no single bin shows."
        )
    thin = known[(known["verdict"] == "fail") & (known["worst_n"] < SPARSE)]
    if len(thin):
        points.append(
            f"- The bin that sets CAL holds fewer than {SPARSE} records for {name_list(thin['attribute'])}."
        )
    lines = [_count_agreement(table, known)]
    return "\n".join([*lines, "", *points]) if points else lines[0]


def _count_agreement(table: pd.DataFrame, known: pd.DataFrame) -> str:
    """Count the attributes for which both can be read and agree."""
    if known.empty:
        return "For no attribute do CAL and the fits both say something."
    agree = int((known["reading"] == "agree").sum())
    text = f"CAL and the fits agree for {count_of(agree, len(known), 'attribute')}"
    rest = len(table) - len(known)
    return f"{text}; for {count(rest)} more one of the two says nothing." if rest else f"{text}."
