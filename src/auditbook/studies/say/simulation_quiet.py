"""How often do whole audits flag something where nothing is wrong, and do all their intervals hold?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import count_of, interval, join_words, number, plural, read_layout, share
from auditbook.project import project_file
from auditbook.results import match_rows, rows
from auditbook.studies.say.simulations import NOT_RUN, NOTHING, Simulations
from auditbook.studies.simulations.quiet import (
    BY_SITE,
    CONTINUOUS,
    QUESTIONS,
    bound_printed,
    chance_apart,
    family_of,
    level_of,
    pool_quiet,
)

TITLES = {
    "linear": "linear risk",
    "scales": "linear risk, raw scales",
    "categories": "raw scales, categories",
    "u-shaped": "U-shaped term, scales, categories",
    "missing": "the same, missing values",
    "u-shaped standardised": "U-shaped term, standardised",
    "binary": "binary, independent records",
    "binary high risk": "binary, focal group at high risk",
    "binary one tail": "binary, U-shaped feature",
    "binary dependent": "binary, 150 dependent units",
    "stays": "hospital stays, split by stay",
    "stays by hospital": "hospital stays, by hospital",
    "diabetes": "diabetes, split by patient",
}
TARGET = 0.05
"""Share of audits with a false flag that the levels of binary outcomes are chosen to stay below."""
PRINTED = {"gap": "gap", "error": "local error"}
PRINTED_DESIGNS = {
    "binary": "binary, independent records",
    "binary dependent": "binary, 150 dependent units",
    "binary high risk": "binary, focal group at high risk",
}
SEVEN = "continuous, 7 specifications"
SHOWN = ("forest", "ridge", "combined")
WORLD_COLUMNS = read_layout("studies", "simulation_quiet.world")
QUIET_TABLE = read_layout("studies", "simulation_quiet.quiet_table")
POOLED_COLUMNS = read_layout("studies", "simulation_quiet.pooled")
PRINTED_COLUMNS = read_layout("studies", "simulation_quiet.printed")
COVERAGE_COLUMNS = read_layout("studies", "simulation_quiet.coverage")


def list_worlds(found: Simulations) -> pd.DataFrame:
    """List all worlds with their level and the number of maps, for `WORLD_COLUMNS`."""
    made = found.origin.get("replicates", {})
    listed = [
        {
            "title": title,
            "family": family_of(name),
            "level": level_of(name),
            "run": f"{made[name]:,}" if name in made else NOT_RUN,
        }
        for name, title in TITLES.items()
    ]
    return pd.DataFrame(listed)


def lay_out_quiet(found: Simulations, question: str, methods: Sequence[str] = SHOWN) -> pd.DataFrame:
    """Take the audits in which nothing is wrong, with level and published shares of the combined audit."""
    table = found.quiet[(found.quiet["question"] == question) & found.quiet["method"].isin(methods)]
    printed = _read_printed(question)
    order = [*TITLES]
    known = [printed.get(_printed_design(name)) for name in table["world"]]
    table = table.assign(
        title=table["world"].map(TITLES),
        level=[level_of(name) for name in table["world"]],
        printed_low=[np.nan if row is None else row.combined_low for row in known],
        printed_high=[np.nan if row is None else row.combined_high for row in known],
        place=table["world"].map(order.index),
        order=table["method"].map(list(methods).index),
    )
    return table.sort_values(["place", "order"]).reset_index(drop=True)


def _printed_design(world: str) -> str:
    return SEVEN if family_of(world) == CONTINUOUS else PRINTED_DESIGNS.get(world, "")


def _read_printed(question: str) -> dict[str, Any]:
    """Read the published shares of a question, by design."""
    table = pd.read_csv(project_file("data", "reference", "pocket_error_control_published.csv"))
    return {row.design: row for row in rows(table[table["quantity"] == PRINTED[question]])}


def describe_quiet(table: pd.DataFrame, question: str) -> str:
    """Say where flags are more frequent than the level, and how many such rows chance alone would make."""
    if table.empty:
        return NOTHING
    over = table[table["share_low"] > table["level"]]
    under = table[table["share_high"] < table["level"]]
    chance = [
        sum(ends)
        for ends in zip(*(chance_apart(row.independent, row.level) for row in rows(table)), strict=True)
    ]
    text = (
        f"Audits of {QUESTIONS[question]}: in {count_of(len(over), len(table), 'row')} the whole interval "
        f"lies above the level, in {len(under)} below it. Were every true share exactly at its level, chance "
        f"alone would put about {number(chance[0], digits=1)} above and {number(chance[1], digits=1)} below."
    )
    listed = [
        f"- {row.title}, {row.method}: {share(row.share)} "
        f"({interval(row.share_low, row.share_high, kind='share')}) at "
        f"the level {share(row.level, digits=2)}, from {plural(row.audits, 'audit')} of "
        f"{plural(row.replicates, 'map')}."
        for row in rows(over)
    ]
    return text + ("\n\nAbove it:\n\n" + "\n".join(listed) if listed else "")


def describe_pooled(pooled: pd.DataFrame, method: str = "combined") -> str:
    """Say, for one grouping and each kind of worlds, whether the level is kept."""
    table = pooled[pooled["method"] == method]
    if table.empty:
        return NOTHING
    points = []
    for row in rows(table):
        if row.share_low > row.level:
            words = "the interval lies above the level"
        elif row.share_high < row.level:
            words = "the interval lies below the level"
        else:
            words = "the interval holds the level"
        if row.level < TARGET:
            place = "above" if row.share_high < TARGET else "below" if row.share_low > TARGET else "inside"
            words += f"; the published target of {share(TARGET, digits=0)} lies {place} the interval"
        points.append(
            f"- {row.question}, {row.family}: {share(row.share)} "
            f"({interval(row.share_low, row.share_high, kind='share')}) of {plural(row.audits, 'audit')}, "
            f"level {share(row.level, digits=2)}: {words}."
        )
    return f"The {method} audit, all worlds of a kind together:\n\n" + "\n".join(points)


def compare_printed(found: Simulations) -> pd.DataFrame:
    """Set the published shares beside ours, for `PRINTED_COLUMNS`; nan where a world was not run."""
    listed = []
    pooled = pool_quiet(found.quiet, ("forest", "combined"))
    for question in QUESTIONS:
        printed = _read_printed(question)
        own = lay_out_quiet(found, question, ("forest", "combined"))
        for world, design in (("", SEVEN), *PRINTED_DESIGNS.items()):
            if design not in printed:
                continue
            for method in ("forest", "combined"):
                if world:
                    part = own[own["world"] == world]
                else:
                    part = match_rows(pooled, family=CONTINUOUS, asked=question)
                listed.append(_beside(printed[design], part[part["method"] == method], question, method))
    return pd.DataFrame(listed)


def _beside(printed: Any, own: pd.DataFrame, question: str, method: str) -> dict[str, object]:
    """Make one row of published and own shares."""
    replicates = int(str(printed.replicates).split("-")[0])
    low, high = getattr(printed, f"{method}_low"), getattr(printed, f"{method}_high")
    here: dict[Any, Any] = {"audits": 0, "share": np.nan, "share_low": np.nan, "share_high": np.nan}
    if len(own):
        here = own.iloc[0][list(here)].to_dict()
    return {
        "question": QUESTIONS[question],
        "design": printed.design,
        "method": method,
        "level": printed.single_map_alpha,
        **here,
        "printed_replicates": printed.replicates,
        "printed_low": low,
        "printed_high": high,
        "printed_least": float(bound_printed(low, replicates).low),
        "printed_most": float(bound_printed(high, replicates).high),
    }


def describe_printed(table: pd.DataFrame) -> str:
    """Say where our interval and that of the published share lie apart."""
    run = table.dropna(subset=["share"]) if len(table) else table
    if run.empty:
        return NOTHING
    apart = run[(run["share_low"] > run["printed_most"]) | (run["share_high"] < run["printed_least"])]
    text = (
        f"In {count_of(len(run) - len(apart), len(run), 'row')} our interval and the published one overlap."
    )
    listed = [
        f"- {row.question}, {row.design}, {row.method}: here {share(row.share)} "
        f"({interval(row.share_low, row.share_high, kind='share')}), published "
        f"{interval(row.printed_low, row.printed_high, kind='share')} "
        f"({interval(row.printed_least, row.printed_most, kind='share')})."
        for row in rows(apart)
    ]
    return text + (" They do not in:\n\n" + "\n".join(listed) if listed else "")


def describe_sites(found: Simulations) -> str:
    """Say what becomes of audits by whole sites."""
    points = []
    for question, words in QUESTIONS.items():
        table = lay_out_quiet(found, question)
        for title, part in table[table["world"].isin(BY_SITE)].groupby("title", sort=False):
            shares = [
                f"{row.method} {share(row.share)} ({interval(row.share_low, row.share_high, kind='share')})"
                for row in rows(part)
            ]
            left = join_words(f"{row.untested:,} ({row.method})" for row in rows(part) if row.untested)
            tested = f"no pocket could be tested in {left}" if left else "a pocket was tested in each"
            points.append(
                f"- {words}, {title}: {join_words(shares)} of "
                f"{plural(part['audits'].max(), 'audit')}; {tested}."
            )
    return "\n".join(points) if points else NOTHING


def describe_coverage(table: pd.DataFrame) -> str:
    """Say where intervals hold less often than they should."""
    if table.empty:
        return NOTHING
    short = table[table["share_high"] < table["aim"]]
    chance = sum(chance_apart(row.independent, row.aim)[1] for row in rows(table))
    text = (
        f"In {count_of(len(short), len(table), 'row')} all intervals hold less often than was aimed at, with "
        f"the whole interval of the share below it; chance alone would make about {number(chance, digits=1)} "
        "such rows."
    )
    listed = [
        f"- {row.question}, {row.family}, {row.method}: {share(row.share)} "
        f"({interval(row.share_low, row.share_high, kind='share')}) of {plural(row.audits, 'audit')} "
        f"instead of {share(row.aim, digits=2)}."
        for row in rows(short)
    ]
    return text + (" These are:\n\n" + "\n".join(listed) if listed else "")
