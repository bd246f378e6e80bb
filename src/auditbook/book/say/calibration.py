"""Calibration by group: sentences and tables on curves, intercepts, slopes, and CAL beside them."""

from typing import Any

import pandas as pd

from auditbook.book.say.text import (
    count,
    count_of,
    escape,
    interval,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
)
from auditbook.ranking import AGREE, CAL_ALONE, FITS_ALONE, NO_CAL, NO_FITS, NULL, WHOLE, rescale_score
from auditbook.results import rows

SPARSE = 30
"""A score bin with fewer records than this is drawn hollow and called sparse."""
SIMULATED_COLUMNS = read_layout("book", "calibration.simulated")
BY_RECORDS_COLUMNS = read_layout("book", "calibration.by_records")
BY_SITES_COLUMNS = read_layout("book", "calibration.by_sites")
BIN_COLUMNS = read_layout("book", "calibration.bin")
MODEL_COLUMNS = read_layout("book", "calibration.model")
CAL_COLUMNS = read_layout("book", "calibration.cal")
READING_COLUMNS = read_layout("book", "calibration.reading")


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


def describe_curves(curves: pd.DataFrame) -> str:
    """Say in how many bins of each group score and event rate are apart, and how many bins are sparse."""
    if curves.empty:
        return (
            "These scores are no probabilities, so there is no number that a bin's event rate should equal."
        )
    off = curves["missed"]
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
    points += _name_fenced(groups)
    gone = groups[groups["slope"].isna()]
    if len(gone):
        points.append(f"- No slope for {name_list(gone['group'])}: see the notes in the table.")
    return "\n".join(points)


def _name_fenced(groups: pd.DataFrame) -> list[str]:
    """Say which groups have no interval by sites, and why."""
    fenced = groups[groups["site_reason"] != ""]
    if fenced.empty:
        return []
    named = (f"{row.group} ({row.site_reason})" for row in rows(fenced))
    return [f"- No interval with whole sites as the units for {name_list(named, limit=4)}."]


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
    shrunk = number(100 * float(rescale_score(0.9, worst.slope)), digits=0)
    return (
        f"{text}. Read so: at a slope of {number(worst.slope, digits=2)} and no shift, a score of 90% stands "
        f"for {shrunk}%."
    )


def write_cal(table: pd.DataFrame) -> pd.DataFrame:
    """Write out how many groups are off, for `CAL_COLUMNS`."""
    return table.assign(off_text=[_write_off(row) for row in rows(table)])


def _write_off(row: Any) -> str:
    return f"{row.off} of {row.fits}"


def _write_bin(row: Any) -> str:
    return f"{number(row.worst_low, digits=1)}\N{EN DASH}{number(row.worst_high, digits=1)}"


def describe_cal(table: pd.DataFrame) -> str:
    """Say where CAL and the fits disagree and what lies behind it."""
    if table.empty:
        return "CAL is not among this run's metrics."
    known = table[~table["reading"].isin([NO_FITS, NO_CAL])]
    points = []
    for row in rows(known[known["reading"] == CAL_ALONE]):
        points.append(
            f"- {escape(row.attribute)}: CAL fails at {number(row.estimate)} on one bin, "
            f"{escape(row.worst_group)}, {_write_bin(row)}, with {plural(row.worst_n, 'record')}; no group's "
            "intercept or slope is shown to be off."
        )
    for row in rows(known[known["reading"] == FITS_ALONE]):
        points.append(
            f"- {escape(row.attribute)}: CAL passes at {number(row.estimate)}, yet {_write_off(row)} groups "
            "have an intercept or slope that is off: many small distances that no single bin shows."
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
    agree = int((known["reading"] == AGREE).sum())
    text = f"CAL and the fits agree for {count_of(agree, len(known), 'attribute')}"
    rest = len(table) - len(known)
    return f"{text}; for {count(rest)} more one of the two says nothing." if rest else f"{text}."
