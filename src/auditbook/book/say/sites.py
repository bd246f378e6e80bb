"""Would the next hospital reach the same verdict, said in words, on any cohort?"""

import pandas as pd

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
    shown,
)
from auditbook.book.say.verdicts import FEW_SITES
from auditbook.results import Run, rows
from auditbook.settings import Protocol
from auditbook.verdicts import DEFINED, NOT_RATED, UNDEFINED, list_folds

ALIKE = 0.75
"""Raw agreement from which folds count as mostly of one mind, in the sentence on kappa's paradox."""

AGREEMENT_COLUMNS = read_layout("book", "sites.agreement")
CELL_COLUMNS = read_layout("book", "sites.cell")
FOLD_COLUMNS = (*shown("fold", "sites", "n"),)
CASE_COLUMNS = read_layout("book", "sites.case")


def describe_folds(run: Run) -> str:
    """Say how the sites were divided, or why they could not be."""
    folds = list_folds(run.site_verdicts)
    if folds.empty:
        reasons = run.site_agreement["reason"]
        why = escape(reasons.iloc[0]) if len(reasons) else "no cell was judged"
        return (
            f"Sites cannot be compared, because {why}. What follows shows empty tables and figures; the "
            "examples before it do not need the cohort."
        )
    sites, wanted = int(folds["sites"].sum()), run.protocol.site_folds
    low, high = (count(size) for size in (folds["n"].min(), folds["n"].max()))
    text = f"{plural(sites, 'site')} stand in {plural(len(folds), 'fold')} of {low} to {high} records."
    if len(folds) < wanted:
        text += f" The protocol asks for {count(wanted)} folds; there are no more sites."
    if sites == len(folds):
        return f"{text} Each fold is one site." + _hint(len(folds))
    few, many = int(folds["sites"].min()), int(folds["sites"].max())
    span = f"{count(few)} to {count(many)} sites" if few < many else plural(few, "site")
    return f"{text} A fold holds {span}." + _hint(len(folds))


def _hint(folds: int) -> str:
    return " So few folds make any agreement a hint at best." if folds < FEW_SITES else ""


def list_agreement(site_agreement: pd.DataFrame, *, model: str) -> pd.DataFrame:
    """List one model's metrics with what is known of their agreement, for `AGREEMENT_COLUMNS`."""
    here = site_agreement[site_agreement["model"] == model].reset_index(drop=True)
    told = [f"{row.status}: {row.reason}" if row.reason else row.status for row in rows(here)]
    return here.assign(told=told)


def describe_agreement(agreement: pd.DataFrame, protocol: Protocol) -> str:
    """Say on which metrics the folds agree, and where kappa cannot tell."""
    if not agreement["ratings"].gt(0).any():
        return "No fold could be judged on any metric, so nothing is known of their agreement."
    known = agreement[agreement["status"] == DEFINED]
    good = known[known["kappa"] >= protocol.kappa_stable]
    parts = []
    if len(known):
        parts.append(
            f"Kappa is defined for {count_of(len(known), len(agreement), 'metric')} and at least "
            f"{number(protocol.kappa_stable, digits=2)} for {count(len(good))}"
            + (f" ({name_list(good['metric'])})." if len(good) else ".")
        )
    for status, words in ((UNDEFINED, "every fold says the same of every attribute"), (NOT_RATED, "")):
        some = agreement[agreement["status"] == status]
        if len(some):
            why = words or "; or ".join(escape(reason) for reason in dict.fromkeys(some["reason"]))
            parts.append(f"Kappa is {status} for {name_list(some['metric'], limit=9)}: {why}.")
    return " ".join(parts)


def describe_paradox(agreement: pd.DataFrame, protocol: Protocol) -> str:
    """Name the metrics whose folds mostly agree although kappa is low."""
    known = agreement[agreement["status"] == DEFINED]
    fooled = known[(known["kappa"] < protocol.kappa_stable) & (known["raw_agreement"] >= ALIKE)]
    if fooled.empty:
        return (
            f"No metric of this run has a kappa below {number(protocol.kappa_stable, digits=2)} beside a raw "
            f"agreement of {share(ALIKE, digits=0)} or more."
        )
    told = "; ".join(
        f"{escape(row.metric)}: raw agreement {share(row.raw_agreement, digits=0)}, "
        f"kappa {number(row.kappa)}, AC1 {number(row.gwet_ac1)}"
        for row in rows(fooled)
    )
    return f"Here kappa is low while pairs of folds mostly agree. {told}."


def describe_kappa_noise(agreement: pd.DataFrame, protocol: Protocol) -> str:
    """Say how many kappas could as well lie on the other side of the bound."""
    known = agreement.dropna(subset="kappa_low")
    if known.empty:
        return "No kappa of this model has an interval."
    bound = protocol.kappa_stable
    torn = known[(known["kappa_low"] < bound) & (known["kappa_high"] >= bound)]
    held = count_of(len(torn), len(known), "metric")
    text = f"The interval holds the bound {number(bound, digits=2)} in {held}"
    return f"{text} ({name_list(torn['metric'])})." if len(torn) else f"{text}."


def describe_cells(cells: pd.DataFrame, near: float) -> str:
    """Say how often folds contradict the verdict of the whole, and whether their size explains it."""
    known = cells.dropna(subset="against")
    if known.empty:
        return "No cell has both a verdict of the whole and a fold that could be judged."
    split, most = known[known["against"] > 0], known[known["against"] > 0.5]
    text = (
        f"In {count_of(len(split), len(known), 'cell')} at least one fold contradicts the whole; "
        f"in {count(len(most))} most of them do"
    )
    text += (
        f" ({name_list(f'{row.metric} for {row.attribute}' for row in rows(most))})." if len(most) else "."
    )
    both = known.dropna(subset="mixed")
    if both.empty:
        return f"{text} No random audit of a like size was drawn to compare with."
    return (
        f"{text} On average {share(both['against'].mean())} of the folds contradict the whole, and of random "
        f"audits of {count(near)} records from all sites {share(both['mixed'].mean())}. What the folds have "
        "beyond that is owed to the sites, and to the difference in size; the rest any small audit has."
    )


def describe_missing(site_verdicts: pd.DataFrame, *, model: str, limit: int = 4) -> str:
    """Say how many ratings are missing, and for want of which group."""
    here = site_verdicts[site_verdicts["model"] == model]
    gone = here[here["verdict"] == "inconclusive"]
    if here.empty:
        return "There is no fold, so no rating is missing."
    if gone.empty:
        return "Every fold could be judged on every cell."
    lines = [
        f"- **{escape(attribute)}**: {count(len(part))} missing; in fold {count(part['fold'].iloc[0])}, for "
        f"example, {escape(part['reason'].iloc[0])}."
        for attribute, part in gone.groupby("attribute", sort=False)
    ]
    more = [] if len(lines) <= limit else [f"- and {plural(len(lines) - limit, 'more attribute')}."]
    start = f"{count_of(len(gone), len(here), 'rating')} {agree(len(gone), 'is', 'are')} missing:\n\n"
    return start + "\n".join(lines[:limit] + more)
