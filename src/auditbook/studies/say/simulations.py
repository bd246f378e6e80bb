"""What do stored simulations of whole audits say: which were run, and who finds what was planted?"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import (
    MISSING,
    agree,
    count,
    count_of,
    interval,
    join_words,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.pockets import COMBINED
from auditbook.project import project_file
from auditbook.results import match_rows, rows
from auditbook.studies.simulations.replicates import COLUMNS as REPLICATE_COLUMNS
from auditbook.studies.simulations.replicates import OWN
from auditbook.studies.simulations.scenarios import ERRORS, GAPS, WORLDS, Scenario
from auditbook.studies.simulations.scoring import (
    ALTERNATIVES,
    LOSS,
    NEITHER,
    QUIET_COLUMNS,
    SCORE_COLUMNS,
    WIN,
)
from auditbook.studies.simulations.stored import COMPARED, ORIGIN, QUIET, REPLICATES, SCORES, read_stored

COMPARED_COLUMNS = (
    "question number scenario world region shift method other strongest replicates f1 f1_other difference "
    "low high says"
).split()
NOT_STORED = (
    "No simulations of whole audits are stored with this copy of the book, so that figures and tables below "
    "are empty. `auditbook simulate --profile standard --data DIR --keep` makes them; DIR is the folder with "
    "the real tables, without which the worlds with real covariates are left out."
)
NOTHING = "No replicates are stored."
NOT_RUN = "not run"
TARGETED = ("targeted", "targeted plain")
"""Alternatives that are learned from the assessed model's own errors."""
STRONGEST = "strongest alternative"
REGIONS = {
    "x1": "upper fifth of x1, the strongest linear feature",
    "tails": "both tails of x2, which is U-shaped",
    "tail": "upper tail of x2, which is U-shaped",
    "masked": "both tails of x1, with opposite errors",
    "irrelevant": "upper fifth of x12, which means nothing",
    "organ support": "stays with organ or respiratory support",
    "earlier stays": "two or more earlier stays",
}
SCENARIO_COLUMNS = read_layout("studies", "simulations.scenario")
SHOWN_COLUMNS = read_layout("studies", "simulations.shown")
DIFFERENCE_COLUMNS = read_layout("studies", "simulations.difference")


@dataclass(frozen=True)
class Simulations:
    """Stored simulations; tables without rows where there are none."""

    scores: pd.DataFrame
    compared: pd.DataFrame
    quiet: pd.DataFrame
    replicates: pd.DataFrame
    origin: dict[str, Any]  # How they were made; empty where there are none

    @property
    def stored(self) -> bool:
        """Whether there are any."""
        return bool(self.origin)


def open_simulations(folder: str = "") -> Simulations:
    """Open the stored simulations of whole audits."""
    place = Path(folder) if folder else project_file("data") / "simulations"
    files = (SCORES, COMPARED, QUIET, REPLICATES, ORIGIN)
    if not all((place / name).is_file() for name in files):
        columns = (SCORE_COLUMNS, COMPARED_COLUMNS, QUIET_COLUMNS, REPLICATE_COLUMNS)
        scores, compared, quiet, replicates = (pd.DataFrame(columns=names) for names in columns)
        return Simulations(scores, compared, quiet, replicates, {})
    scores, compared, quiet = (pd.read_csv(place / name) for name in (SCORES, COMPARED, QUIET))
    origin = json.loads((place / ORIGIN).read_text(encoding="utf-8"))
    return Simulations(scores, compared, quiet, read_stored(place), origin)


def announce(found: Simulations) -> str:
    """Say what the figures of a chapter rest on, or how to make them."""
    if not found.stored:
        return NOT_STORED
    made = found.origin["replicates"]
    missing = sorted({each.world.name for each in GAPS + ERRORS} - set(made))
    text = (
        f"{plural(sum(made.values()), 'replicate')} of {plural(len(made), 'world')} are stored, "
        f"{write_range(list(made.values()))} a world, made on {found.origin['date']}."
    )
    return text + (f" Not run: {join_words(missing)}." if missing else "")


def write_range(values: Sequence[float]) -> str:
    """Write the smallest and the largest of some counts, or the one that all are."""
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def list_scenarios(found: Simulations, question: str) -> pd.DataFrame:
    """List the scenarios of a question, those that were not run too, for `SCENARIO_COLUMNS`."""
    made = found.origin.get("replicates", {})
    listed = [
        {
            "number": each.number,
            "scenario": each.title,
            "planted": REGIONS[each.region],
            "difficulty": each.difficulty,
            "run": f"{made[each.world.name]:,}" if each.world.name in made else NOT_RUN,
        }
        for each in _scenarios(question)
    ]
    return pd.DataFrame(listed)


def _scenarios(question: str) -> tuple[Scenario, ...]:
    return GAPS if question == "gap" else ERRORS


def name_not_run(found: Simulations, question: str) -> str:
    """Name the scenarios without replicates; blank when all were run."""
    made = found.origin.get("replicates", {})
    left = [each.number for each in _scenarios(question) if each.world.name not in made]
    return f"Not run, and in no count: {name_numbers(left)}." if left else ""


def pick_scores(
    found: Simulations, question: str, shift: str, methods: Sequence[str], *, worlds: Sequence[str] = ()
) -> pd.DataFrame:
    """Take the scores of some groupings, and of the strongest alternative where it is asked for."""
    part = found.scores[(found.scores["question"] == question) & (found.scores["shift"] == shift)]
    if worlds:
        part = part[part["world"].isin(worlds)]
    best = name_strongest(found.compared, question, shift)
    chosen = [part[part["method"] == method] for method in methods if method != STRONGEST]
    if STRONGEST in methods:
        is_best = part["method"] == part["number"].map(best)
        chosen.append(part[is_best].assign(method=STRONGEST))
    order = {method: place for place, method in enumerate(methods)}
    table = pd.concat(chosen) if chosen else part.iloc[:0]
    table = table.assign(
        order=table["method"].map(order),
        named=table["number"].map(best),
        everything=table["number"].map(flag_everything(found.replicates, question, shift)),
    )
    return table.sort_values(["number", "order"]).reset_index(drop=True)


def name_strongest(compared: pd.DataFrame, question: str, shift: str) -> dict[int, str]:
    """Find the strongest alternative of each scenario, by its number."""
    part = match_rows(compared, question=question, shift=shift)
    part = part[part["strongest"].astype(bool)].drop_duplicates("number")
    return dict(zip(part["number"], part["other"], strict=True))


def flag_everything(replicates: pd.DataFrame, question: str, shift: str) -> dict[int, float]:
    r"""Find what flagging all records in one direction would score: a yardstick of no skill.

    With a share p of the scored records affected, all to one side, :math:`F_1 = 2p/(1 + p)`; where half of
    them are affected to the other side, :math:`p/(1 + p)`.
    """
    planted = match_rows(replicates, question=question, shift=shift)
    planted = planted[planted["method"] == OWN[0]]
    sums = planted.groupby(["world", "region"])[["affected", "records"]].sum()
    shares = (sums["affected"] / sums["records"]).to_dict()
    found = {}
    for each in _scenarios(question):
        if (each.world.name, each.region) in shares:
            p = float(shares[each.world.name, each.region])
            found[each.number] = (1 if each.region == "masked" else 2) * p / (1 + p)
    return found


def pick_differences(found: Simulations, question: str, shift: str, method: str) -> pd.DataFrame:
    """Take differences of one of our groupings from the strongest alternative, for `DIFFERENCE_COLUMNS`."""
    table = found.compared
    kept = (table["question"] == question) & (table["shift"] == shift) & (table["method"] == method)
    return table[kept & table["strongest"].astype(bool)].reset_index(drop=True)


def describe_differences(table: pd.DataFrame, method: str) -> str:
    """Say where one of our groupings beats the strongest alternative."""
    if table.empty:
        return NOTHING
    parts = []
    for says, words in ((WIN, "beats the strongest alternative"), (LOSS, "loses to it")):
        part = table[table["says"] == says]
        text = f"{words} in {count_of(len(part), len(table), 'scenario')}"
        if len(part):
            sizes = part["difference"].abs()
            text += f" (by {_span(sizes.min(), sizes.max())} in F1: {name_numbers(part['number'])})"
        parts.append(text)
    rest = int((table["says"] == NEITHER).sum())
    return f"{name_own(method)} {join_words(parts)}; in {rest} the two are not distinguishable."


def name_own(method: str) -> str:
    """Begin a sentence with one of our groupings."""
    kind = "audit" if method == COMBINED else "map" if method in OWN else "grouping"
    return f"The {method} {kind}"


def name_numbers(numbers: Iterable[int]) -> str:
    """Name scenarios by their numbers."""
    listed = [str(each) for each in numbers]
    return f"{agree(len(listed), 'number', 'numbers')} {join_words(listed)}"


def _span(low: float, high: float, digits: int = 2) -> str:
    """Write a range, once when both ends are alike."""
    ends = [number(value, digits=digits) for value in (low, high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def describe_leaders(found: Simulations, question: str, shift: str) -> str:
    """Say which grouping has the highest score, and in how many scenarios; the oracle does not compete."""
    table = pick_scores(found, question, shift, (*OWN, *ALTERNATIVES))
    if table.empty:
        return NOTHING
    first = table.loc[table.groupby("number")["f1"].idxmax()]
    listed = [f"{name} in {k}" for name, k in first["method"].value_counts().items()]
    own = table[table["method"] == COMBINED]
    below = own.loc[own["f1"] < own["everything"], "number"]
    text = f"The highest score, the oracle aside: {join_words(listed)} of {plural(len(first), 'scenario')}. "
    less = f"The combined audit scores less than flagging everyone would in {count(len(below))}"
    return text + less + (f" ({name_numbers(below)})." if len(below) else ".")


def describe_regions(found: Simulations, question: str, shift: str) -> str:
    """Say how our two maps do in each kind of region."""
    table = pick_scores(found, question, shift, OWN)
    points = []
    for region, part in table.groupby("region", sort=False):
        means = part.groupby("method", sort=False)["f1"].mean()
        listed = [
            f"{name} {number(means[name], digits=2)}" for name in ("forest", "leiden", "ridge", COMBINED)
        ]
        points.append(
            f"- {REGIONS[str(region)]} ({name_numbers(part['number'].unique())}): {join_words(listed)}."
        )
    return "Mean F1 by region:\n\n" + "\n".join(points) if points else NOTHING


def describe_oracle(found: Simulations, question: str, shift: str) -> str:
    """Say how far the best grouping stays behind one that is told the region."""
    table = pick_scores(found, question, shift, (*OWN, *ALTERNATIVES))
    told = pick_scores(found, question, shift, ("oracle",)).set_index("number")["f1"]
    if table.empty or told.empty:
        return NOTHING
    best = table.groupby("number")["f1"].max()
    behind = (told - best).dropna()
    low = told.idxmin()
    titles = table.drop_duplicates("number").set_index("number")["scenario"]
    return (
        f"Told the region, the same test scores {_span(told.min(), told.max())}, least in: {titles[low]}. "
        f"What it lacks to 1 are misses, and false flags, which fall on everyone outside at once. "
        f"The best grouping stays behind by {number(behind.median(), digits=2)} at the median."
    )


def describe_precision(found: Simulations, question: str, shift: str, method: str = "combined") -> str:
    """Say whether scores are lost by misses or by false flags."""
    table = pick_scores(found, question, shift, (method,)).dropna(subset=["precision"])
    if table.empty:
        return NOTHING
    missing = int((table["recall"] < table["precision"]).sum())
    times, words = missing, "misses more than it flags falsely"
    if 2 * missing < len(table):
        times, words = len(table) - missing, "flags no less falsely than it misses"
    lowest = rows(table.sort_values("precision"))[0]
    return (
        f"{name_own(method)}: of the records that it flags, {share(table['precision'].median(), digits=0)} "
        "are affected (median over scenarios), and of the affected ones it flags "
        f"{share(table['recall'].median(), digits=0)}. In {count_of(times, len(table), 'scenario')} it "
        f"{words}. Precision is lowest, {share(lowest.precision, digits=0)}, in: {lowest.scenario}."
    )


def describe_tested(found: Simulations, question: str, shift: str, *, least: float = 0.5) -> str:
    """Say where much of the map cannot be tested."""
    table = pick_scores(found, question, shift, (*OWN, *ALTERNATIVES))
    if table.empty:
        return NOTHING
    points = []
    for name, part in table.groupby("method", sort=False):
        none, few = part[part["tested_share"].isna()], part[part["tested_share"] < least]
        words = [f"no pocket at all in {count_of(len(none), len(part), 'scenario')}"] if len(none) else []
        words += [f"{row.scenario} {share(row.tested_share, digits=0)}" for row in rows(few)][:4]
        words += [f"{len(few) - 4} more"] if len(few) > 4 else []
        points += [f"- {name}: {'; '.join(words)}."] if words else []
    if not points:
        return (
            f"Every grouping could test at least {share(least, digits=0)} of its pockets in every scenario."
        )
    return f"Fewer than {share(least, digits=0)} of the pockets could be tested with:\n\n" + "\n".join(points)


def describe_pockets(replicates: pd.DataFrame) -> str:
    """Say how many pockets the maps have."""
    if replicates.empty:
        return NOTHING
    known = {world.name: world.continuous for world in WORLDS}
    table = replicates[(replicates["audit"] == 0) & replicates["method"].isin(("forest", "leiden", "cem"))]
    points = []
    for continuous, words in ((True, "continuous outcome"), (False, "binary outcome")):
        part = table[[known[name] == continuous for name in table["world"]]]
        maps = part.drop_duplicates(["world", "seed", "replicate", "method"])
        means = maps.groupby("method", sort=False)["pockets"].agg(["mean", "min", "max"])
        listed = [f"{row.Index} {row.mean:.1f} ({row.min} to {row.max})" for row in means.itertuples()]
        points += [f"- {words}: {join_words(listed)}."] if listed else []
    return "Pockets of a map, on average (fewest to most):\n\n" + "\n".join(points) if points else NOTHING


def describe_rows(table: pd.DataFrame) -> str:
    """Write scores as points, one a scenario."""
    if table.empty:
        return NOTHING
    points = []
    for name, part in table.groupby("scenario", sort=False):
        scores = [
            f"{row.named if row.method == STRONGEST else row.method} {number(row.f1, digits=2)}"
            f" ({interval(row.f1_low, row.f1_high, digits=2)})"
            for row in rows(part)
        ]
        points.append(f"- {name} ({plural(part['replicates'].max(), 'replicate')}): {join_words(scores)}.")
    return "\n".join(points)


def mean_of(table: pd.DataFrame, column: str) -> float:
    """Take a mean; nan without rows."""
    return float(table[column].mean()) if len(table) else float(np.nan)


def write_or_dash(value: float, digits: int = 2) -> str:
    """Write a number; a dash where it is not known."""
    return MISSING if np.isnan(value) else number(value, digits=digits)
