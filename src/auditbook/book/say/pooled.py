"""Who stands at a crossing, and what do the other groups promise for a rate that rests on few records?"""

from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.book.say.text import agree, count, escape, join_words, name_list, plural, read_layout, share
from auditbook.results import Run, match_rows, rows

RATE_COLUMNS = read_layout("book", "pooled.rate")
ROUNDING = 1e-6
"""A counted rate farther than this from hits / trials is weighted."""
RATE_WORDS = MappingProxyType(
    {
        "SR": ("selection rate", "records"),
        "TPR": ("TPR", "records with the event"),
        "FPR": ("FPR", "records without the event"),
        "PPV": ("PPV", "selected records"),
        "ER": ("event rate", "records"),
    }
)


def pick_crossed(run: Run, wanted: str = "") -> str:
    """Settle the attribute of a chapter: the wanted one, else the first cross, else that of most groups."""
    sizes = run.pooled_rates.groupby("attribute", sort=False)["group"].nunique()
    crosses = [name for name in run.info.get("crosses", {}) if name in sizes]
    return wanted or (crosses[0] if crosses else str(sizes.idxmax()))


def describe_crosses(run: Run) -> str:
    """Say which attributes of the cohort are crosses, of what, and how many crossings each has."""
    crosses = run.info.get("crosses", {})
    if not crosses:
        return (
            "This cohort crosses no attributes, so what follows shows the rates of a plain attribute. "
            'A cross is asked for in the cohort file, with `cross = ["race", "sex"]`.'
        )
    return "\n".join(
        f"- **{escape(name)}** crosses {name_list(parts)}: "
        f"{plural(match_rows(run.cohort_groups, attribute=name)['group'].nunique(), 'group')}."
        for name, parts in crosses.items()
    )


def describe_beside(run: Run) -> str:
    """Say in the report where the rates of small crossings can be read beside the others; blank without."""
    crosses = run.info.get("crosses", {})
    if not crosses:
        return ""
    return (
        f"The counted rates of the groups of {name_list(crosses)} stand beside partially pooled ones in the "
        'chapter "Who stands at the crossing?". No verdict looks at the pooled ones.'
    )


def describe_cost(run: Run, model: str) -> str:
    """Say how many cells a model's board has because of crosses; blank without a cross."""
    crosses = list(run.info.get("crosses", {}))
    board = match_rows(run.verdicts, model=model)
    added = int(board["attribute"].isin(crosses).sum())
    if not added:
        return ""
    return (
        f"Of the {plural(len(board), 'cell')} on the board of {escape(model)}, {count(added)} "
        f"{agree(added, 'is', 'are')} about {name_list(crosses)}. "
        "The chance of a false finding is shared among all of them."
    )


def select_pooled(run: Run, *, model: str, attribute: str, rate: str) -> pd.DataFrame:
    """Select counted and pooled rates of one attribute, the groups in their order."""
    found = match_rows(run.pooled_rates, model=model, attribute=attribute, rate=rate)
    return found.reset_index(drop=True)


def describe_pooling(rates: pd.DataFrame) -> str:
    """Say which pooled rate lies farthest from the counted one, and why; or why there is none."""
    known = rates.dropna(subset=["pooled", "raw"])
    if known.empty:
        reasons = join_words(sorted({reason for reason in rates["reason"] if reason}))
        return f"No rate is pooled here: {reasons or 'there is no group'}."
    farthest = rows(known.loc[[(known["pooled"] - known["raw"]).abs().idxmax()]])[0]
    return f"{_write_move(farthest)} {_write_blank(rates)}".rstrip()


def _write_move(row: Any) -> str:
    """Tell how far the pooled rate of one group lies from the counted one."""
    name, of = RATE_WORDS[row.rate]
    if abs(row.raw - row.hits / row.trials) > ROUNDING:
        of = f"{of}, weighted,"
    return (
        f"The {name} moves farthest in {escape(row.group)}: {count(row.hits)} of {count(row.trials)} {of} "
        f"make {share(row.raw)}, and the pooled rate is {share(row.pooled)} "
        f"(95% interval {share(row.low)} to {share(row.high)}). "
        f"The other groups promise {share(row.expected)}, and that has a weight of "
        f"{share(row.shrinkage, digits=0)}."
    )


def _write_blank(rates: pd.DataFrame) -> str:
    blank = rates[rates["reason"] != ""]["group"]
    return f"Nothing was counted in {name_list(blank)}." if len(blank) else ""
