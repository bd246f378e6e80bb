"""How often did simulated watches raise a false alarm, and how soon did they find what was planted?"""

from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import count_of, interval, plural, share
from auditbook.results import rows

HEAD = "| world | question | of | called | naive | adjusted |\n|---|---|---|---|---|---|"


def tabulate_years(summary: pd.DataFrame) -> str:
    """Lay out, in Markdown, how many of the simulated watches called something, beside the naive tests."""
    lines = [
        f"| {row.world} | {row.question} | {row.replicates} | {row.alarms} | {row.naive_years} | "
        f"{row.naive_holm_years} |"
        for row in rows(summary)
    ]
    return "\n".join([HEAD, *lines])


def describe_quiet(summary: pd.DataFrame) -> str:
    """Say how often quiet years were called, by the watch and month by month."""
    quiet = summary[summary["delay_50"].isna() & summary["world"].str.startswith("quiet")]
    return " ".join(_write_quiet(name, part) for name, part in quiet.groupby("world", sort=False))


def _write_quiet(name: Any, part: pd.DataFrame) -> str:
    gap, change = (part[part["question"] == question].iloc[0] for question in ("gap", "change"))
    n, either = int(gap["replicates"]), int(gap["either"])
    bounds = interval(change["low"], change["high"], kind="share", digits=1)
    naive, adjusted = (count_of(change[key], n, "year") for key in ("naive_years", "naive_holm_years"))
    return (
        f"*{_begin(name)}*: of {plural(n, 'year')} the watch called something in {either}: a gap in "
        f"{gap['alarms']}, a change in {change['alarms']} (95% interval of the latter share {bounds}). "
        f"Comparing every month with the baseline by itself at 5% called something in {naive}, in "
        f"{change['naive_months']:.1f} months a year on average; with Holm's adjustment over the streams of "
        f"a month still in {adjusted}."
    )


def _begin(name: Any) -> str:
    """Let the name of a world begin a sentence."""
    return str(name)[:1].upper() + str(name)[1:]


def describe_found(summary: pd.DataFrame) -> str:
    """Say in how many watches what was planted was found, and how many months after it began."""
    planted = summary[~summary["world"].str.startswith("quiet")]
    return " ".join(_write_found(row) for row in rows(planted))


def _write_found(row: Any) -> str:
    what = "a gap beyond its threshold" if row.question == "gap" else "a change"
    called = count_of(row.alarms, row.replicates, "watch", "watches")
    found = f"*{_begin(row.world)}*: {what} was called in {called}"
    early = f", in {row.false_alarms} of them before it was there" if row.false_alarms else ""
    if not np.isfinite(row.delay_50):
        return f"{found}{early}."
    return (
        f"{found}{early}, half of them within {plural(round(row.delay_50), 'month')} of its beginning "
        f"and nine in ten within {plural(round(row.delay_90), 'month')}."
    )


def describe_share(summary: pd.DataFrame) -> str:
    """Say how many quiet years there are and in which share anything was called, over all worlds."""
    quiet = summary[summary["world"].str.startswith("quiet") & (summary["question"] == "gap")]
    n, either = int(quiet["replicates"].sum()), int(quiet["either"].sum())
    part = share(either / max(n, 1))
    return f"Over all {plural(n, 'quiet year')} the watch called anything in {either}, {part}."
