"""Which grouping wins where, and does that bear out what was published?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from auditbook.book.say.text import count_of, join_words, number, plural, read_layout
from auditbook.results import match_rows, rows
from auditbook.studies.say.simulations import (
    NOT_RUN,
    NOTHING,
    TARGETED,
    Simulations,
    pick_differences,
    write_or_dash,
)
from auditbook.studies.simulations.replicates import OWN
from auditbook.studies.simulations.scenarios import SCENARIOS, Scenario
from auditbook.studies.simulations.scoring import ALTERNATIVES, LOSS, NEITHER, WIN

SETTINGS = (("gap", "larger"), ("error", "smaller"), ("error", "larger"))
SETTING_NAMES = {
    ("gap", "larger"): "gap",
    ("error", "smaller"): "local error, smaller shift",
    ("error", "larger"): "local error, larger shift",
}
AGAINST = "strongest"
COUNT_COLUMNS = read_layout("studies", "simulation_verdicts.count")
SITUATION_COLUMNS = read_layout("studies", "simulation_verdicts.situation")
REGRET_COLUMNS = read_layout("studies", "simulation_verdicts.regret")


def count_against(
    compared: pd.DataFrame, methods: Sequence[str] = OWN, *, without: Sequence[str] = ()
) -> pd.DataFrame:
    """Count wins and losses against the strongest alternative, and against each, for `COUNT_COLUMNS`."""
    kept = compared[compared["method"].isin(methods) & compared["other"].isin(ALTERNATIVES)]
    kept = kept[~kept["other"].isin(without)]
    listed = []
    for setting in SETTINGS:
        part = match_rows(kept, question=setting[0], shift=setting[1])
        for method in methods:
            own = part[part["method"] == method]
            if own.empty:
                continue
            best = own.loc[own.groupby("number")["f1_other"].idxmax()]
            listed.append(_count(best, setting, method, AGAINST))
            for other in ALTERNATIVES:
                if (own["other"] == other).any():
                    listed.append(_count(own[own["other"] == other], setting, method, other))
    return pd.DataFrame(listed, columns=["question", "shift", *(column.name for column in COUNT_COLUMNS)])


def _count(part: pd.DataFrame, setting: tuple[str, str], method: str, against: str) -> dict[str, object]:
    """Count the outcomes of some comparisons."""
    return {
        "question": setting[0],
        "shift": setting[1],
        "setting": SETTING_NAMES[setting],
        "method": method,
        "against": against,
        "replicates": _replicates(part),
        "win": int((part["says"] == WIN).sum()),
        "neither": int((part["says"] == NEITHER).sum()),
        "loss": int((part["says"] == LOSS).sum()),
    }


def describe_counts(counts: pd.DataFrame, *, against: str = AGAINST) -> str:
    """Write wins, draws and losses as points."""
    table = counts[counts["against"] == against]
    if table.empty:
        return NOTHING
    points = []
    for name, part in table.groupby("setting", sort=False):
        listed = [f"{row.method} {row.win} / {row.neither} / {row.loss}" for row in rows(part)]
        points.append(f"- {name}: {join_words(listed)}.")
    return "Wins / not distinguishable / losses:\n\n" + "\n".join(points)


def lay_out_grid(compared: pd.DataFrame, question: str, shift: str) -> pd.DataFrame:
    """Take differences from the strongest alternative, one row a scenario and our grouping."""
    kept = (compared["question"] == question) & (compared["shift"] == shift)
    return compared[kept & compared["strongest"].astype(bool)].reset_index(drop=True)


@dataclass(frozen=True)
class Situation:
    """What an auditor may know of where an error could lie."""

    name: str  # In words
    holds: Callable[[Scenario], bool]  # Tells whether a scenario is one


def _is_plain(scenario: Scenario) -> bool:
    return not scenario.world.real and scenario.world.name != "binary dependent"


SITUATIONS = (
    Situation(
        "it follows the risk, in a line", lambda each: each.region == "x1" and each.world.continuous is True
    ),
    Situation("both tails of a U-shape", lambda each: each.region == "tails"),
    Situation("one tail of a U-shape", lambda each: each.region == "tail"),
    Situation("opposite errors that cancel", lambda each: each.region == "masked"),
    Situation("a feature that predicts nothing", lambda each: each.region == "irrelevant"),
    Situation(
        "follows the risk, few events",
        lambda each: each.region == "x1" and not each.world.continuous and _is_plain(each),
    ),
    Situation(
        "whole sites as units", lambda each: each.world.name in ("binary dependent", "stays by hospital")
    ),
    Situation("real features, units independent", lambda each: each.world.name in ("stays", "diabetes")),
)


def lay_out_situations(found: Simulations) -> pd.DataFrame:
    """Average scores over the scenarios of each situation, for `SITUATION_COLUMNS`."""
    scores, listed = found.scores, []
    for each in SITUATIONS:
        keys = {(one.question, one.number) for one in SCENARIOS if each.holds(one)}
        inside = [key in keys for key in zip(scores["question"], scores["number"], strict=True)]
        part = scores[np.array(inside, bool)]
        means = part.groupby("method")["f1"].mean() if len(part) else pd.Series(dtype=float)
        blind = means[[name for name in (*OWN, *ALTERNATIVES) if name in means and name not in TARGETED]]
        others = blind.drop([name for name in OWN if name in blind])
        run = part.drop_duplicates(["question", "number"])
        listed.append(
            {
                "situation": each.name,
                "scenarios": f"{len(run)} of {len(keys)}",
                "replicates": _replicates(run),
                "first": f"{blind.idxmax()} ({number(blind.max(), digits=2)})" if len(blind) else NOT_RUN,
                "named": blind.idxmax() if len(blind) else "",
                "other": others.max() if len(others) else np.nan,
                **{name: float(means.get(name, np.nan)) for name in (*OWN, "targeted")},
            }
        )
    return pd.DataFrame(listed)


def _replicates(part: pd.DataFrame) -> str:
    if part.empty:
        return NOT_RUN
    low, high = part["replicates"].min(), part["replicates"].max()
    return f"{low}" if low == high else f"{low}-{high}"


def describe_situations(table: pd.DataFrame) -> str:
    """Advise, situation by situation, which grouping did best."""
    points = []
    for row in rows(table):
        if not row.named:
            points.append(f"- **{row.situation}**: {NOT_RUN}.")
            continue
        best = getattr(row, row.named, np.nan) if row.named in OWN else row.other
        apart = round(row.targeted, 2) - round(best, 2)
        ahead = "higher" if apart > 0 else "lower" if apart < 0 else "as high"
        told = f"targeted, learned from the model's errors, {write_or_dash(row.targeted)}, is {ahead}"
        own = f", combined {write_or_dash(row.combined)}" if row.named != "combined" else ""
        points.append(
            f"- **{row.situation}** (replicates: {row.replicates}): {row.named} "
            f"{write_or_dash(best)}{own}; {told}."
        )
    return "\n".join(points)


def measure_regret(found: Simulations, question: str = "") -> pd.DataFrame:
    """Find how each grouping does over all scenarios: on average, at worst, and behind the best."""
    scores = found.scores[found.scores["method"].isin((*OWN, *ALTERNATIVES))]
    scores = scores[scores["question"] == question] if question else scores
    best = scores.groupby(["question", "number", "shift"])["f1"].transform("max")
    scores = scores.assign(behind=best - scores["f1"])
    listed = []
    for method, part in scores.groupby("method", sort=False):
        worst = rows(part.sort_values("f1"))[0]
        listed.append(
            {
                "method": method,
                "scenarios": len(part),
                "mean": part["f1"].mean(),
                "lowest": part["f1"].min(),
                "where": f"{worst.scenario} ({SETTING_NAMES[worst.question, worst.shift]})",
                "behind": part["behind"].mean(),
                "worst": part["behind"].max(),
            }
        )
    table = pd.DataFrame(listed, columns=[column.name for column in REGRET_COLUMNS])
    return table.sort_values("behind", ignore_index=True)


def describe_regret(table: pd.DataFrame) -> str:
    """Say which grouping is the safest when nothing is known of the error."""
    shared = table[~table["method"].isin(TARGETED)] if len(table) else table
    full = shared[shared["scenarios"] == shared["scenarios"].max()] if len(shared) else shared
    if full.empty:
        return NOTHING
    mean, least = rows(full)[0], rows(full.sort_values("worst"))[0]
    farthest = "it" if least.method == mean.method else least.method
    text = (
        f"Among the groupings that do not see the model's errors, {mean.method} lies nearest to the best on "
        f"average ({number(mean.behind, digits=2)} behind), and {farthest} is never farther behind than "
        f"{number(least.worst, digits=2)}."
    )
    told = table[table["method"] == "targeted"]
    if len(told):
        row = rows(told)[0]
        text += (
            f" The targeted grouping is {number(row.behind, digits=2)} behind on average and "
            f"{number(row.worst, digits=2)} at worst."
        )
    return text


def describe_shift(scores: pd.DataFrame, method: str = "combined") -> str:
    """Say what a larger error does to the score of a grouping."""
    part = match_rows(scores, question="error", method=method)
    wide = part.pivot_table(index="number", columns="shift", values=["f1", "precision", "recall"])
    if wide.empty or ("f1", "smaller") not in wide or ("f1", "larger") not in wide:
        return NOTHING
    lower = wide["f1"]["larger"] < wide["f1"]["smaller"]
    moved = {
        name: (wide[name]["larger"] - wide[name]["smaller"]).median() for name in ("recall", "precision")
    }
    words = [
        f"{name} {'rises' if value > 0 else 'falls'} by {abs(value):.2f}" for name, value in moved.items()
    ]
    return (
        f"When the error is twice as large, the F1 of the {method} grouping is lower in "
        f"{count_of(int(lower.sum()), len(wide), 'scenario')}: at the median {join_words(words)}."
    )


def describe_masking(scores: pd.DataFrame) -> str:
    """Say what pockets find where the errors cancel over all records."""
    part = scores[(scores["region"] == "masked") & scores["method"].isin(OWN)]
    if part.empty:
        return NOTHING
    points = []
    for (question, shift, name), own in part.groupby(["question", "shift", "scenario"], sort=False):
        best = rows(own.sort_values("f1", ascending=False))[0]
        points.append(
            f"- {SETTING_NAMES[str(question), str(shift)]}, {name}: overall flagged in "
            f"{number(100 * own['overall_flagged'].max(), digits=0)}% of "
            f"{plural(own['replicates'].max(), 'replicate')} "
            f"at the most, best of ours {best.method} with F1 {number(best.f1, digits=2)}."
        )
    return "\n".join(points)


def describe_hard(found: Simulations, region: str) -> str:
    """Say who wins local errors in one kind of region, at both shifts."""
    points = []
    for shift in ("smaller", "larger"):
        table = pick_differences(found, "error", shift, "combined")
        for row in rows(table[table["region"] == region]):
            points.append(
                f"- {row.scenario}, {shift} shift ({plural(row.replicates, 'replicate')}): combined "
                f"{number(row.f1, digits=2)}, {row.other} {number(row.f1_other, digits=2)}: {row.says}."
            )
    return "\n".join(points) if points else NOTHING
