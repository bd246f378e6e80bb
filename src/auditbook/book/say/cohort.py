"""Who is in the cohort: sentences and tables on its flow, groups, sites and columns."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import (
    agree,
    count,
    count_of,
    escape,
    interval,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
    share,
    shown,
)
from auditbook.book.say.weights import describe_weights, tell_unweighted
from auditbook.evidence import measure_site_spread
from auditbook.results import rows
from auditbook.settings import Protocol
from auditbook.verdicts import has_support

FLOW_COLUMNS = read_layout("book", "cohort.flow")
GROUP_COLUMNS = read_layout("book", "cohort.group")
SMALL_COLUMNS = read_layout("book", "cohort.small")
RATIO_COLUMNS = read_layout("book", "cohort.ratio")
SITE_COLUMNS = read_layout("book", "cohort.site")
COLUMN_COLUMNS = (
    *shown("column", "n_columns", "role", "kind", "missing", "missing_share", "distinct", "note"),
)


def announce_data(info: Mapping[str, Any]) -> str:
    """Say before anything else whether the records are real."""
    title = escape(info.get("title") or info.get("name", ""))
    if info.get("synthetic"):
        return (
            f"> **Synthetic cohort: {title}.** No record here is a person, and no rate here is a finding "
            "about people or hospitals. The records were generated to teach and to test the audit."
        )
    return (
        f"> **Cohort: {title}.** The records are those that its owner supplied; "
        "what they leave out, this book cannot see."
    )


def describe_question(info: Mapping[str, Any]) -> str:
    """Say what the event is, whom it harms, and what counts as a site and as a unit."""
    outcome = info.get("outcome") or {}
    column = escape(outcome.get("column", ""))
    event = escape(outcome.get("event") or "")
    parts = [f"The outcome is read from the column **{column}**."]
    if event:
        sign = "" if str(outcome["event"]).lstrip()[:1] in ("<", ">", "=", "!") else "= "
        parts.append(f"An event is a record with **{column} {sign}{event}**.")
    if info.get("harm"):
        parts.append(f"The harm behind the event: {escape(info['harm'].rstrip(' .'))}.")
    names = info.get("attributes") or []
    parts.append(f"The audit compares groups of {plural(len(names), 'attribute')}: {name_list(names)}.")
    parts.append(_describe_structure(info))
    return " ".join(parts)


def _describe_structure(info: Mapping[str, Any]) -> str:
    """Say what site and unit are."""
    site, unit = info.get("site"), info.get("unit")
    where = f"A site is a value of **{escape(site)}**." if site else "The cohort names no site."
    if info.get("weights"):
        return f"{where} {describe_weights(info)} {tell_unweighted(info)}"
    if unit:
        together = "are one unit and stay together when records are split"
        return f"{where} Records of the same **{escape(unit)}** {together}."
    return f"{where} Every record is its own unit, so records are taken to be independent of one another."


def tabulate_flow(info: Mapping[str, Any]) -> pd.DataFrame:
    """List the rows read, those left out by reason, and those kept."""
    read = info["rows_read"]
    rows = [{"step": "rows read", "rows": read, "kind": "read", "start": 0}]
    remaining = read
    for entry in info.get("left_out", []):
        remaining -= entry["rows"]
        step = f"left out: {entry['reason']}"
        rows.append({"step": step, "rows": entry["rows"], "kind": "left out", "start": remaining})
    rows.append({"step": "kept", "rows": info["rows_kept"], "kind": "kept", "start": 0})
    table = pd.DataFrame(rows)
    table["share"] = table["rows"] / read if read else np.nan
    return table


def describe_flow(info: Mapping[str, Any]) -> str:
    """Say how many rows were read, left out and kept, and what that asks of the reader."""
    read, kept, reasons = info["rows_read"], info["rows_kept"], info.get("left_out", [])
    gone = [entry for entry in reasons if entry["rows"] != 0]
    if math.isnan(read):
        named = name_list(entry["reason"] for entry in gone)
        return (
            f"{count(kept)} rows are kept as records. How many were left out ({named}) is withheld: too few. "
            "Everything that follows is true of the records kept, and of nobody else."
        )
    text = f"{count(read)} rows were read and {count(kept)} are kept as records"
    if not gone:
        return f"{text}; none was left out." if read == kept else f"{text}."
    largest = max(gone, key=lambda entry: np.nan_to_num(entry["rows"]))
    parts = [f"{text}, {share(kept / read)} of them.", f"The other {count(read - kept)} left for"]
    if len(gone) == 1:
        parts.append(f"one reason: {escape(largest['reason'])}.")
    else:
        parts.append(
            f"{len(gone)} reasons; most often: {escape(largest['reason'])} ({count(largest['rows'])})."
        )
    parts.append("Everything that follows is true of the records kept, and of nobody else.")
    return " ".join(parts)


def select_attribute(table: pd.DataFrame, attribute: str) -> pd.DataFrame:
    """Take the rows of one attribute, in the order of its groups."""
    return table[table["attribute"] == attribute].reset_index(drop=True)


def describe_attributes(groups: pd.DataFrame) -> str:
    """Say of every attribute what `describe_groups` says of one."""
    parts = [part.reset_index(drop=True) for _, part in groups.groupby("attribute", sort=False)]
    return "\n".join(f"- {describe_groups(part)}" for part in parts)


def describe_groups(groups: pd.DataFrame) -> str:
    """Say how large the groups of an attribute are and how far apart their event rates lie."""
    filled = groups[groups["n"] > 0]
    if filled.empty:
        return "No group of this attribute holds a record."
    parts = [f"**{escape(groups['attribute'].iloc[0])}** has {plural(len(groups), 'group')}."]
    parts += [_describe_sizes(filled), _describe_range(filled)]
    parts += [_describe_empty(groups), _describe_missing_group(groups)]
    return " ".join(part for part in parts if part)


def _describe_sizes(filled: pd.DataFrame) -> str:
    """Say which groups are the largest and the smallest."""
    largest, smallest = (choose(rows(filled), key=lambda row: row.n) for choose in (max, min))
    if largest.n == smallest.n:
        return f"Each holds {plural(largest.n, 'record')}."
    return (
        f"The largest is {escape(largest.group)} with {plural(largest.n, 'record')} "
        f"({share(largest.share)}), the smallest {escape(smallest.group)} "
        f"with {plural(smallest.n, 'record')} ({share(smallest.share)})."
    )


def _describe_range(filled: pd.DataFrame) -> str:
    """Say which groups have the lowest and highest event rate, and whether the intervals overlap."""
    if len(filled) < 2:
        return "With one group there is nothing to compare."
    low, high = (choose(rows(filled), key=lambda row: row.event_rate) for choose in (min, max))
    if low.event_rate == high.event_rate:
        return f"Every group has the same event rate, {share(low.event_rate)}."
    text = (
        f"The event rate runs from {share(low.event_rate)} ({escape(low.group)}) "
        f"to {share(high.event_rate)} ({escape(high.group)})"
    )
    if low.event_rate_high >= high.event_rate_low:
        return f"{text}; the intervals of these two overlap, so their order may be chance."
    return f"{text}; the intervals of these two do not overlap."


def _describe_empty(groups: pd.DataFrame) -> str:
    empty = groups.loc[groups["n"] == 0, "group"]
    if empty.empty:
        return ""
    verb = agree(len(empty), "is", "are")
    declared = f"{name_list(empty)} {verb} declared in the cohort file but {verb} empty"
    return f"{declared}: no rate, drawn as a hollow mark."


def _describe_missing_group(groups: pd.DataFrame) -> str:
    missing = groups[groups["group"] == "(missing)"]
    if missing.empty or not missing["n"].iloc[0]:
        return ""
    return (
        f"{plural(missing['n'].iloc[0], 'record')} have no value here and form a group of their own: "
        "not being recorded is not random, and it may itself mark who is served badly."
    )


def describe_base_rates(ratios: pd.DataFrame, *, threshold: float = 0.80) -> str:
    """Say for which attributes even a model without error would fail a ratio rule."""
    known = ratios[ratios["ratio"].notna()]
    if known.empty:
        return "No attribute has two groups with enough records and events, so no ratio can be given."
    below = known[known["ratio"] < threshold]
    attributes = count_of(len(below), len(known), "attribute")
    text = f"For {attributes} the ratio lies below {number(threshold, digits=2)}"
    if below.empty:
        parts = [f"{text}: a model without error would pass the ratio rule for each."]
    else:
        parts = [
            f"{text} ({name_list(below['attribute'])}): there, a model without a single error fails the "
            "ratio rule. A model passes only by making more errors in some groups, or more of them overall."
        ]
    unsure = known[(known["ratio_low"] < threshold) & (known["ratio_high"] >= threshold)]
    if len(unsure):
        parts.append(
            f"The interval includes {number(threshold, digits=2)} for {name_list(unsure['attribute'])}."
        )
    unknown = ratios.loc[ratios["ratio"].isna(), "attribute"]
    if len(unknown):
        parts.append(
            f"No ratio is given for {name_list(unknown)}: fewer than two groups have enough records."
        )
    return " ".join(parts + _name_left_out(known))


def _name_left_out(known: pd.DataFrame) -> list[str]:
    """Name the groups that were too small to enter a ratio."""
    partial = known[known["left_out"].str.len() > 0]
    listed = [f"{escape(row.attribute)}: {name_list(row.left_out)}" for row in rows(partial)]
    return [f"Left out of the ratio for lack of support ({'; '.join(listed)})."] if listed else []


def find_small_groups(groups: pd.DataFrame, *, limit: int = 8) -> pd.DataFrame:
    """List the groups whose event rate is known least well."""
    table = groups.assign(width=100 * (groups["event_rate_high"] - groups["event_rate_low"]))
    return table.sort_values("width", ascending=False, na_position="first", kind="stable").head(limit)


def _whose(blank: int) -> str:
    """Say of which groups something can be told, where numbers of others are withheld."""
    return " whose numbers can be told" if blank else ""


def describe_small_groups(groups: pd.DataFrame, *, protocol: Protocol) -> str:
    """Say how many groups are too small for a verdict and how wide the widest interval is."""
    told = groups.dropna(subset=["n", "events"])
    short, blank = ~has_support(told, protocol), len(groups) - len(told)
    widest = find_small_groups(told[told["n"] > 0], limit=1)
    needed = f"{protocol.min_records} records, {protocol.min_events} events"
    needed = f"{needed} or {protocol.min_non_events} non-events"
    if short.any():
        verb = "falls" if short.sum() == 1 else "fall"
        parts = [
            f"In the whole cohort {count_of(int(short.sum()), len(told), 'group')} {verb} short of "
            f"{needed}; a verdict that needs more than there is will be inconclusive."
        ]
    else:
        parts = [f"In the whole cohort no group{_whose(blank)} falls short of {needed}."]
    if blank:
        parts.append(
            f"Of {plural(blank, 'group')} numbers are withheld, to protect the few people behind them."
        )
    for row in rows(widest):
        ends = interval(row.event_rate_low, row.event_rate_high, kind="share")
        parts.append(
            f"The widest interval is that of {escape(row.group)} ({escape(row.attribute)}), "
            f"{plural(row.n, 'record')}: {ends}."
        )
    if (groups["n_audit"] < groups["n"]).any():
        parts.append("The audit sees only a part of these records, so its intervals are wider still.")
    return " ".join(parts)


def describe_sites(sites: pd.DataFrame) -> str:
    """Say how unevenly records are spread over sites, or that there is no site."""
    if sites.empty:
        return (
            "The cohort names no site. "
            "Whether a verdict would hold from one site to the next cannot be asked of these data."
        )
    if len(sites) == 1:
        return "All records come from one site, so nothing here says how the model does elsewhere."
    if sites["n"].isna().any():
        return (
            f"Records come from {plural(len(sites), 'site')}. Of {count(sites['n'].isna().sum())} numbers "
            "are withheld, to protect the few behind them; how uneven sites are is not told either."
        )
    spread = measure_site_spread(sites)
    half, effective = spread.holding_half, spread.effective
    return (
        f"Records come from {plural(len(sites), 'site')}. The largest holds {share(spread.largest_share)} of "
        f"them, and {plural(half, 'site')} {agree(half, 'holds', 'hold')} half. The median site has "
        f"{plural(spread.median, 'record')}. Weighed by volume, the cohort is as varied as "
        f"{number(effective, digits=0 if effective >= 10 else 1)} sites of equal size."
    )


def _without(blank: int) -> str:
    """Say that sites with withheld numbers are left out; nothing where there are none."""
    return f", without {plural(blank, 'site')} whose numbers are withheld," if blank else ""


def describe_site_rates(sites: pd.DataFrame) -> str:
    """Say how far site event rates spread beyond what their sizes would let chance do."""
    if len(sites) < 2:
        return "With fewer than two sites there is nothing to compare."
    told = sites.dropna(subset=["events", "n"])
    if len(told) < 2:
        return "Too few sites have numbers that can be told, so their event rates are not compared."
    sites, blank = told, len(sites) - len(told)
    overall = sites["events"].sum() / sites["n"].sum()
    outside = ((sites["event_rate_low"] > overall) | (sites["event_rate_high"] < overall)).sum()
    expected = 0.05 * len(sites)
    return (
        f"The overall event rate{_without(blank)} is {share(overall)}. "
        f"The interval of {count_of(outside, len(sites), 'site')} leaves it out; if sites of some size "
        f"differed by chance alone, about {number(expected, digits=0 if expected >= 10 else 1)} would."
    )


def describe_columns(columns: pd.DataFrame) -> str:
    """Say what the columns of the data are used for."""
    tally = columns.groupby("role", sort=False)["n_columns"].sum()
    listed = [_count_role(str(role), number_of) for role, number_of in tally.items()]
    told = plural(columns["n_columns"].sum(), "column")
    parts = [f"The data have {told} with a role: {join_words(listed)}."]
    for row in rows(columns[columns["n_columns"] > 1]):
        parts.append(f"{count(row.n_columns)} columns, {escape(row.column)}, are told in one line.")
    late = columns.loc[columns["role"] == "late feature", "column"]
    if len(late):
        parts.append(f"Known only late in the stay, so not at the moment of a prediction: {name_list(late)}.")
    return " ".join(parts)


def _count_role(role: str, n: int) -> str:
    """Write how many columns have a role; "excluded" is no noun and takes no plural."""
    return f"{count(n)} excluded" if role == "excluded" else plural(n, role)


def describe_missing(columns: pd.DataFrame) -> str:
    """Say which columns have missing values."""
    holed = columns[columns["missing"] > 0].sort_values("missing", ascending=False, kind="stable")
    if holed.empty:
        return "No column has a missing value; ask whether blanks were filled in before the data reached you."
    worst = rows(holed)[0]
    number_of, total = holed["n_columns"].sum(), columns["n_columns"].sum()
    verb = agree(number_of, "has", "have")
    parts = [
        f"{count_of(number_of, total, 'column')} {verb} missing values, most of all "
        f"{escape(worst.column)} ({share(worst.missing_share)}, {plural(worst.missing, 'record')})."
    ]
    judged = holed[holed["role"].isin(["attribute", "outcome"])]
    if len(judged):
        parts.append(
            f"Among attributes and outcome: {name_list(judged['column'])}. "
            "The cohort file's rule for them decides who is audited at all."
        )
    return " ".join(parts)
