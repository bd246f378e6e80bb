"""On which axes does each published verdict fall short, on any cohort?"""

import math
from typing import Any

import pandas as pd

from auditbook.book.say.metrics import write_rule
from auditbook.book.say.text import (
    agree,
    count,
    count_of,
    escape,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.results import Run, rows
from auditbook.settings import Protocol
from auditbook.verdicts import DEFINED, NEEDS, TIERS, UNDEFINED, name_need, recommend

NO_TIER = "no tier"

BOARD_COLUMNS = read_layout("book", "tiers.board")
TIER_COLUMNS = read_layout("book", "tiers.tier")
GRADED_COLUMNS = read_layout("book", "tiers.graded")


def list_tiers() -> pd.DataFrame:
    """List the tiers with what they ask for, for `TIER_COLUMNS`."""
    return pd.DataFrame(
        [{"tier": tier.name, "violations": tier.violations, "action": tier.action} for tier in TIERS.values()]
    )


def build_board(run: Run) -> pd.DataFrame:
    """Put every cell on the board, the fails on which the axes agree most first."""
    cells = run.verdicts.assign(place=pd.factorize(run.verdicts["model"])[0])
    cells["violations"] = [TIERS[tier].violations if tier else math.nan for tier in cells["tier"]]
    cells["need"] = [name_need(row.verdict, row.tier) for row in rows(cells)]
    cells["action"] = [recommend(tier) for tier in cells["tier"]]
    cells["cell"] = [f"{row.metric}, {row.attribute}" for row in rows(cells)]
    cells["passes"] = [write_rule(row.metric, row.threshold, short=True) for row in rows(cells)]
    cells["n_star_text"] = ["not reached" if math.isinf(n) else count(n) for n in cells["n_star"]]
    order = cells.assign(
        first=cells["need"].map(NEEDS.index),
        second=-cells["violations"].fillna(0),
        third=-cells["vfr"].where(cells["tier"] != "", 0).fillna(0),
    ).sort_values(["first", "second", "third"], kind="stable")
    return order.drop(columns=["first", "second", "third"]).reset_index(drop=True)


def count_tiers(board: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of each tier by model: columns model, tier, cells; ``no tier`` last."""
    tiers = board["tier"].where(board["tier"] != "", NO_TIER)
    tally = board.assign(tier=tiers).groupby(["model", "tier"]).size()
    found = [
        {"model": model, "tier": tier, "cells": int(tally.get((model, tier), 0))}
        for tier in [*TIERS, NO_TIER]
        for model in dict.fromkeys(board.sort_values("place", kind="stable")["model"])
    ]
    return pd.DataFrame(found, columns=["model", "tier", "cells"])


def describe_tiers(board: pd.DataFrame) -> str:
    """Say how many cells stand in each tier, and what each asks for."""
    if board.empty:
        return "This run judged no cell."
    tally = board["tier"].value_counts()
    lines = [
        f"- **{count_of(int(tally.get(tier, 0)), len(board), 'cell')}: {tier or NO_TIER}.** {recommend(tier)}"
        for tier in [*TIERS, ""]
        if tally.get(tier, 0)
    ]
    return "\n".join(lines)


def describe_needs(board: pd.DataFrame, *, limit: int = 5) -> str:
    """Name the cells by verdict and by how many axes fall short."""
    lines = []
    for need in NEEDS:
        cells = board[board["need"] == need]
        if len(cells):
            named = name_list((_name(row) for row in rows(cells)), limit=limit)
            lines.append(f"- **{need.capitalize()}** ({plural(len(cells), 'cell')}): {named}.")
    return "\n".join(lines) if lines else "This run judged no cell."


def _name(cell: Any) -> str:
    return f"{cell.metric} for {cell.attribute} in {cell.model}"


def describe_axes(board: pd.DataFrame, run: Run) -> str:
    """Say how many verdicts fall short on each axis, and which axis could not be judged."""
    graded = board[board["tier"] != ""]
    if graded.empty:
        return "No cell has a verdict, so no axis has anything to judge."
    protocol, total = run.protocol, len(graded)
    flips = int((~(graded["vfr"] <= protocol.vfr_stable)).sum())
    size = int((graded["n_star"] > protocol.field_size).sum())
    tried = int(graded["n_star"].notna().sum())
    sizes = f"{count_of(size, tried, 'verdict')} {agree(size, 'falls', 'fall')} short."
    if not tried:
        why = "no size that is tried is at most half of this audit"
        if run.info.get("weights"):
            why = "some of a weighted sample is no smaller audit of its kind"
        sizes = f"not judged, because {why}."
    lines = [
        f"- **Another sample** (flip rate above {number(protocol.vfr_stable, digits=2)}): "
        f"{count_of(flips, total, 'verdict')} {agree(flips, 'falls', 'fall')} short.",
        f"- **Size** (N*, the records at which the metric has settled, above {count(protocol.field_size)} or "
        f"not reached): {sizes}",
        "- **Other sites** (kappa, the agreement of folds of whole sites beyond chance, below "
        f"{number(protocol.kappa_stable, digits=2)}): {_tell_sites(graded, run)}",
    ]
    return "\n".join(lines)


def _tell_sites(graded: pd.DataFrame, run: Run) -> str:
    """Say what axis 3 found for the graded cells."""
    known = graded.merge(run.site_agreement[["model", "metric", "status", "reason"]], on=["model", "metric"])
    rated = ~(known["folds_rated"] < 2)
    judged = known[known["status"].isin([DEFINED, UNDEFINED]) & rated]
    if judged.empty and not rated.any():
        return "not judged, because fewer than two folds rate any attribute."
    if judged.empty:
        reasons = "; or ".join(escape(reason) for reason in dict.fromkeys(known["reason_y"]))
        return f"not judged, because {reasons}."
    low = int((judged["kappa"] < run.protocol.kappa_stable).sum())
    text = f"{count_of(low, len(judged), 'verdict')} {agree(low, 'falls', 'fall')} short."
    alike = int((judged["status"] == UNDEFINED).sum())
    if alike:
        text += (
            f" For {count(alike)} of the {count(len(judged))} kappa is undefined, because every fold says "
            "the same; these count as agreeing."
        )
    left = len(known) - len(judged)
    if left:
        text += f" {count(left)} could not be judged."
    return text


def describe_rows(board: pd.DataFrame, *, model: str) -> str:
    """Say which cells a table of one model's cells shows, and where the others are."""
    others = len(board) - int((board["model"] == model).sum())
    text = f"Every cell of **{escape(model)}** with its reasons"
    if not others:
        return f"{text}:"
    return f"{text}; the {plural(others, 'cell')} of other models stand in `verdicts.csv`:"


def describe_stable_fails(board: pd.DataFrame) -> str:
    """Remind that a good tier is no praise: name cells that fail and hold."""
    best = board[board["tier"] == "Practical-Stability"]
    fails = best[best["verdict"] == "fail"]
    if best.empty:
        return "No cell of this run reaches the best tier."
    verb = agree(len(fails), "is a fail", "are fails")
    text = f"{count_of(len(fails), len(best), 'cell')} in the best tier {verb}"
    return f"{text}: {name_list((_name(row) for row in rows(fails)), limit=5)}." if len(fails) else f"{text}."


def describe_bounds(protocol: Protocol) -> str:
    """Say which bounds the tiers of this run use."""
    return (
        f"Flip rate at most {share(protocol.vfr_stable, digits=0)}; N* at most {count(protocol.field_size)} "
        f"records, where CV is below {share(protocol.cv_stable, digits=0)}; kappa at least "
        f"{number(protocol.kappa_stable, digits=2)}."
    )
