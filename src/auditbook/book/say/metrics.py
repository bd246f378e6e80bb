"""What do the group rates and the seven metrics say in words, on any cohort?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from auditbook.book.say.pooled import ROUNDING
from auditbook.book.say.text import (
    Column,
    agree,
    count,
    count_of,
    escape,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.errors import InputError, nearest
from auditbook.evidence import SELECTED
from auditbook.ranking import bound_gaps
from auditbook.results import rows
from auditbook.settings import Protocol
from auditbook.verdicts import METRICS, bound_rate, judge_counts


@dataclass(frozen=True)
class RateWords:
    """How one of the four group rates is named, and what its denominator counts, in the plural."""

    symbol: str
    title: str
    of: str


RATES = {
    rate.symbol: rate
    for rate in (
        RateWords("SR", "selection rate", "records"),
        RateWords("TPR", "true positive rate", "events"),
        RateWords("FPR", "false positive rate", "non-events"),
        RateWords("PPV", "positive predictive value", "selected records"),
    )
}


METRIC_COLUMNS = read_layout("book", "metrics.metric")
COUNT_COLUMNS = (
    Column("group", "group"),
    *(Column(name, name, "count") for name in ("tp", "fp", "fn", "tn", "n")),
    *(Column(name, name, "number", 2) for name in ("SR", "TPR", "FPR", "PPV")),
)
VALUE_COLUMNS = read_layout("book", "metrics.value")
RATE_COLUMNS = read_layout("book", "metrics.rate")
VERDICT_COLUMNS = read_layout("book", "metrics.verdict")
BIN_COLUMNS = read_layout("book", "metrics.bin")


def choose(name: str, known: Iterable[str], *, what: str) -> str:
    """Settle a chapter's parameter: blank means the first."""
    names = list(dict.fromkeys(known))
    if not names:
        raise InputError(f"this run has no {what}")
    if name and name not in names:
        raise InputError(f"this run has no {what} '{name}'{nearest(name, names)}; it has: {', '.join(names)}")
    return name or names[0]


def describe_choice(model: str, attribute: str) -> str:
    """Say which model and attribute a chapter shows."""
    return f"Shown here: the model **{escape(model)}** and the attribute **{escape(attribute)}**."


def write_rule(metric: str, threshold: float, *, short: bool = False) -> str:
    """Write when a metric passes."""
    direction = METRICS[metric].direction
    word = {"at_least": "≥", "at_most": "≤"}[direction] if short else direction.replace("_", " ")
    digits = max(2, len(f"{threshold:.6g}".partition(".")[2]))
    return f"{word} {number(threshold, digits=digits)}"


def tabulate_metrics(protocol: Protocol) -> pd.DataFrame:
    """Tabulate the metrics that an audit judges, as the package defines them."""
    found = []
    for metric in (METRICS[name] for name in protocol.metrics):
        row = {"metric": metric.name, "meaning": metric.meaning, "undefined": metric.undefined}
        row |= {"passes": write_rule(metric.name, protocol.thresholds.get(metric.name, metric.threshold))}
        row |= {"needs": _write_needs(metric.needs, protocol), "source": metric.source}
        found.append(row)
    return pd.DataFrame(found)


def _write_needs(needs: Sequence[str], protocol: Protocol) -> str:
    least = {
        "records": f"{protocol.min_records} records",
        "events": f"{protocol.min_events} events",
        "non_events": f"{protocol.min_non_events} non-events",
        SELECTED: f"{protocol.min_events} selected records",
        "probability": "scores that are probabilities",
        "order": "scores that order the records",
    }
    return join_words(least[need] for need in needs)


def describe_formulas(protocol: Protocol) -> str:
    """Write the formula of every metric that an audit judges."""
    chosen = [METRICS[name] for name in protocol.metrics]
    return "\n\n".join(f"**{metric.name}** ({metric.title}):\n\n$$ {metric.formula} $$" for metric in chosen)


def sort_metrics(names: Iterable[str]) -> list[str]:
    """List each metric once, in the order of `METRICS`."""
    return sorted(set(names), key=list(METRICS).index)


def tabulate_values(counts: ArrayLike) -> pd.DataFrame:
    """List every published metric that is made of counts with its rule, for `VALUE_COLUMNS`."""
    found = judge_counts(counts)
    return found.assign(passes=[write_rule(row.metric, row.threshold) for row in rows(found)])


def pick_rates(groups: pd.DataFrame, *, rate: str, bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Take one rate of every group with its interval, from rates.csv if given, and say what is lacking."""
    words, found = RATES[rate], bound_rate(groups, rate, bounds)
    lacks = zip(found["trials"], groups["support"], strict=True)
    return found.assign(note=[f"undefined: no {words.of}" if n == 0 else lack for n, lack in lacks])


def describe_rates(rates: pd.DataFrame, *, rate: str) -> str:
    """Say where a rate is lowest and highest, how far apart, and where it does not exist or is withheld."""
    words = RATES[rate]
    defined = rates[rates["value"].notna()]
    gone = rates[rates["trials"] == 0]
    withheld = rates[rates["value"].isna() & (rates["trials"] != 0)]
    sentences = [_write_ends(defined, words)] if len(defined) else []
    if len(gone) and not len(defined) and not len(withheld):
        sentences.append(f"The {words.title} is undefined in every group: there are no {words.of}.")
    if len(gone) and len(defined):
        sentences.append(
            f"It is undefined in {name_list(gone['group'])}, which {agree(len(gone), 'has', 'have')} no "
            f"{words.of}: an undefined rate is left out of the gap, and no gap is claimed for it."
        )
    if len(withheld):
        sentences.append(f"The {words.title} of {name_list(withheld['group'])} is withheld.")
    thin = defined[defined["note"] != ""]
    if len(thin):
        sentences.append(f"Short of support: {_write_thin(thin)}; a metric that needs it gets no verdict.")
    return " ".join(sentences)


def _write_ends(defined: pd.DataFrame, words: RateWords) -> str:
    if len(defined) == 1:
        alone = rows(defined)[0]
        return f"The {words.title} is {share(alone.value)} in {escape(alone.group)}."
    low, high = (choice(rows(defined), key=lambda row: row.value) for choice in (min, max))
    if low.value == high.value:
        return f"The {words.title} is {share(low.value)} in every group where it is defined."
    return (
        f"The {words.title} runs from {share(low.value)} in {escape(low.group)} "
        f"({_write_count(low, words)}) to {share(high.value)} in {escape(high.group)} "
        f"({_write_count(high, words)}): "
        f"a gap of {number(100 * (high.value - low.value), digits=1)} points. {_write_overlap(low, high)}"
    )


def _write_count(row: Any, words: RateWords) -> str:
    """Write what a rate was counted from, and whether it is weighted."""
    counted = count_of(row.hits, row.trials, words.of, words.of)
    return f"{counted}, weighted" if abs(row.value - row.hits / row.trials) > ROUNDING else counted


def _write_overlap(low: Any, high: Any) -> str:
    if low.high < high.low:
        return "The two intervals do not overlap."
    return "The two intervals overlap: this figure alone does not tell whether these two groups differ."


def _write_thin(thin: pd.DataFrame) -> str:
    return name_list((f"{row.group} ({row.note})" for row in rows(thin)), limit=4)


def pick_bins(bins: pd.DataFrame, *, kind: str, bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compare event rate and mean score in each group's score bins, empty bins left out."""
    return bound_gaps(bins[(bins["n"] > 0) & (kind == "probability")].reset_index(drop=True), bounds)


def describe_bins(gaps: pd.DataFrame, *, kind: str) -> str:
    """Say in which group and bin scores and events lie furthest apart, and on how many records that rests."""
    if kind != "probability" or gaps.empty:
        return f"{_write_kind(kind)} CAL and TI are therefore inconclusive for this model."
    worst = max(rows(gaps), key=lambda row: abs(row.value))
    side = "above" if worst.value > 0 else "below"
    sure = "excludes" if worst.low > 0 or worst.high < 0 else "includes"
    return (
        f"CAL is set by one bin: {escape(worst.group)}, scores {number(worst.bin_low, digits=1)} to "
        f"{number(worst.bin_high, digits=1)}, with {plural(worst.n, 'record')}. There the event rate lies "
        f"{number(100 * abs(worst.value), digits=1)} points {side} the mean score, and the interval of that "
        f"difference {sure} zero. {_write_small_bin(worst.n, gaps['n'])}"
    )


def _write_kind(kind: str) -> str:
    if kind == "rank":
        return "This model's scores are ranks: they order records and are no probabilities."
    if kind == "decision":
        return "This model gives decisions only, no probabilities."
    return "No group has a score in any bin."


def _write_small_bin(n: float, sizes: pd.Series) -> str:
    smaller = int((sizes < n).sum())
    found = "none is" if smaller == 0 else plural(smaller, "is", "are")
    return f"Of the {plural(len(sizes), 'bin')} with records, {found} smaller."


def pick_verdicts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Add to each cell the rule that it was judged by, for `VERDICT_COLUMNS`."""
    rules = [write_rule(row.metric, row.threshold) for row in rows(verdicts)]
    return verdicts.assign(passes=rules)


def describe_verdicts(verdicts: pd.DataFrame) -> str:
    """Count the verdicts and name what fails."""
    total = len(verdicts)
    tally = {word: int((verdicts["verdict"] == word).sum()) for word in ("pass", "fail", "inconclusive")}
    told = ", ".join(f"{word} {count(times)}" for word, times in tally.items())
    lines = [f"Verdicts in {plural(total, 'cell')}: {told}."]
    failing = verdicts[verdicts["verdict"] == "fail"]
    if len(failing):
        lines.append(f"Failing: {_list_cells(failing)}.")
    if tally["inconclusive"] == total:
        lines.append("Nothing can be judged here: that is a finding about the records, not about the model.")
    return " ".join(lines)


def _list_cells(cells: pd.DataFrame) -> str:
    parts = []
    for attribute, part in cells.groupby("attribute", sort=False):
        parts.append(f"{join_words(sort_metrics(part['metric']))} for {escape(attribute)}")
    return "; ".join(parts)


def describe_reasons(verdicts: pd.DataFrame) -> str:
    """List every reason for an inconclusive verdict, with the cells that it holds back."""
    held = verdicts[verdicts["verdict"] == "inconclusive"]
    if held.empty:
        return "Every group has the support that its metrics need, so every cell has a verdict."
    lines = [
        f"- {escape(reason)}: {_list_cells(part)}" for reason, part in held.groupby("reason", sort=False)
    ]
    return "\n".join(lines)
