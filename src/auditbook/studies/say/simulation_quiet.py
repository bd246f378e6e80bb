"""How often do whole audits flag something where nothing is wrong, and do all their intervals hold?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from auditbook.book.say.text import Column, count_of, interval, join_words, number, plural, share
from auditbook.evidence import wilson_interval
from auditbook.pocket_settings import PocketSettings
from auditbook.project import project_file
from auditbook.results import rows
from auditbook.studies.say.simulations import NOT_RUN, NOTHING, Simulations
from auditbook.studies.simulations.replicates import OWN
from auditbook.studies.simulations.scenarios import WORLDS
from auditbook.studies.simulations.scoring import count_independent

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
BY_SITE = ("binary dependent", "stays by hospital")
"""Worlds in which whole sites have one role and one weight."""
CONTINUOUS, INDEPENDENT, SITES = "continuous", "binary, independent units", "binary, whole sites"
QUESTIONS = {"gap": "gaps", "error": "mean errors"}
PRINTED = {"gap": "gap", "error": "local error"}
PRINTED_DESIGNS = {
    "binary": "binary, independent records",
    "binary dependent": "binary, 150 dependent units",
    "binary high risk": "binary, focal group at high risk",
}
SEVEN = "continuous, 7 specifications"
SHOWN = ("forest", "ridge", "combined")
TARGET = 0.05
"""Share of audits with a false flag that the levels of binary outcomes are chosen to stay below."""
WORLD_COLUMNS = (
    Column("title", "world"),
    Column("family", "kind"),
    Column("level", "level asked for", "share", 2),
    Column("run", "maps"),
)
QUIET_TABLE = (
    Column("title", "world"),
    Column("method", "grouping"),
    Column("replicates", "maps", "count"),
    Column("audits", "audits", "count"),
    Column("untested", "no pocket tested", "count"),
    Column("independent", "worth, in independent audits", "count"),
    Column("level", "level", "share", 2),
    Column("share", "any flag (95% interval)", "share", low="share_low", high="share_high"),
    Column("covered", "all intervals hold", "share"),
)
POOLED_COLUMNS = (
    Column("question", "audited"),
    Column("family", "worlds"),
    Column("method", "grouping"),
    Column("audits", "audits", "count"),
    Column("level", "level", "share", 2),
    Column("share", "any flag (95% interval)", "share", low="share_low", high="share_high"),
)
PRINTED_COLUMNS = (
    Column("question", "audited"),
    Column("design", "published design"),
    Column("method", "grouping"),
    Column("level", "level", "share", 2),
    Column("audits", "audits here", "count"),
    Column("share", "here (95% interval)", "share", low="share_low", high="share_high"),
    Column("printed_replicates", "published replicates"),
    Column("printed_low", "published, from", "share"),
    Column("printed_high", "to", "share"),
    Column("printed_least", "interval, from", "share"),
    Column("printed_most", "to", "share"),
)
COVERAGE_COLUMNS = (
    Column("question", "planted"),
    Column("family", "worlds"),
    Column("method", "grouping"),
    Column("audits", "audits with a pocket tested", "count"),
    Column("aim", "aimed at", "share", 2),
    Column("share", "all intervals hold (95% interval)", "share", low="share_low", high="share_high"),
)


def family_of(world: str) -> str:
    """Name the kind of a world, on which its level hangs."""
    if world in BY_SITE:
        return SITES
    known = {each.name: each.continuous for each in WORLDS}
    return CONTINUOUS if known[world] else INDEPENDENT


def level_of(world: str) -> float:
    """Return the level that one map, or both together, is tested at in a world."""
    family = family_of(world)
    return PocketSettings().level_of(continuous=family == CONTINUOUS, sites=family == SITES)


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
    chance = np.array([_chance_apart(row.independent, row.level) for row in rows(table)]).sum(axis=0)
    text = (
        f"Audits of {QUESTIONS[question]}: in {count_of(len(over), len(table), 'row')} the whole "
        f"interval lies above "
        f"the level, in {len(under)} below it. "
        f"Were every true share exactly at its level, chance alone would put about "
        f"{number(chance[0], digits=1)} above and {number(chance[1], digits=1)} below."
    )
    listed = [
        f"- {row.title}, {row.method}: {share(row.share)} "
        f"({interval(row.share_low, row.share_high, kind='share')}) at "
        f"the level {share(row.level, digits=2)}, from {plural(row.audits, 'audit')} of "
        f"{plural(row.replicates, 'map')}."
        for row in rows(over)
    ]
    return text + ("\n\nAbove it:\n\n" + "\n".join(listed) if listed else "")


def _chance_apart(audits: float, level: float) -> tuple[float, float]:
    """Find the chances that an interval lies above, and below, a level at which the true share is."""
    trials = max(round(audits), 1)
    flagged = np.arange(trials + 1)
    ends = wilson_interval(flagged, np.full(trials + 1, trials))
    likely = binom.pmf(flagged, trials, level)
    return float(likely[ends.low > level].sum()), float(likely[ends.high < level].sum())


def pool_quiet(found: Simulations, methods: Sequence[str] = OWN) -> pd.DataFrame:
    """Put the worlds of one kind together, for `POOLED_COLUMNS`."""
    table = found.quiet[found.quiet["method"].isin(methods)]
    table = table.assign(
        family=[family_of(name) for name in table["world"]], level=[level_of(name) for name in table["world"]]
    )
    keys = ["question", "family", "level", "method"]
    sums = table.groupby(keys, sort=False, as_index=False)[
        ["audits", "flagged", "independent", "replicates", "untested"]
    ].sum()
    share_of = sums["flagged"] / sums["audits"]
    ends = wilson_interval(share_of * sums["independent"], sums["independent"])
    return sums.assign(
        asked=sums["question"], question=sums["question"].map(QUESTIONS), share=share_of, share_low=ends.low
    ).assign(share_high=ends.high)


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
    pooled = pool_quiet(found, ("forest", "combined"))
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
                    part = pooled[(pooled["family"] == CONTINUOUS) & (pooled["asked"] == question)]
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
        "printed_least": float(wilson_interval(round(low * replicates), replicates).low),
        "printed_most": float(wilson_interval(round(high * replicates), replicates).high),
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


def measure_coverage(found: Simulations, methods: Sequence[str] = OWN) -> pd.DataFrame:
    """Count audits of planted errors in which every interval holds the true value, for `COVERAGE_COLUMNS`."""
    table = found.replicates
    table = table[(table["shift"] != "none") & (table["tested"] > 0) & table["method"].isin(methods)]
    table = table.assign(family=[family_of(name) for name in table["world"]])
    listed = []
    for (question, family, method), part in table.groupby(["question", "family", "method"], sort=False):
        sums = part.groupby(["world", "seed", "replicate"])["covered"].agg(["sum", "size"]).to_numpy(float)
        held, audits = sums.sum(axis=0)
        worth = count_independent(sums[:, 0], sums[:, 1])
        ends = wilson_interval(held / audits * worth, worth)
        level = level_of(part["world"].iloc[0])
        listed.append(
            {
                "question": QUESTIONS[str(question)],
                "family": family,
                "method": method,
                "audits": audits,
                "aim": 1 - level,
                "share": held / audits,
                "share_low": float(ends.low),
                "share_high": float(ends.high),
                "independent": worth,
            }
        )
    columns = [column.name for column in COVERAGE_COLUMNS] + ["share_low", "share_high", "independent"]
    return pd.DataFrame(listed, columns=columns)


def describe_coverage(table: pd.DataFrame) -> str:
    """Say where intervals hold less often than they should."""
    if table.empty:
        return NOTHING
    short = table[table["share_high"] < table["aim"]]
    chance = sum(_chance_apart(row.independent, row.aim)[1] for row in rows(table))
    text = (
        f"In {count_of(len(short), len(table), 'row')} all intervals hold less often than was aimed "
        f"at, with the "
        f"whole interval of the share below it; chance alone would make about "
        f"{number(chance, digits=1)} such rows."
    )
    listed = [
        f"- {row.question}, {row.family}, {row.method}: {share(row.share)} "
        f"({interval(row.share_low, row.share_high, kind='share')}) of {plural(row.audits, 'audit')} "
        f"instead of {share(row.aim, digits=2)}."
        for row in rows(short)
    ]
    return text + (" These are:\n\n" + "\n".join(listed) if listed else "")
