"""What was shown to fail, as people: whom, how many of a hundred, how surely, and what to do?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import count, join_words, number, plural
from auditbook.report.content import Basis, Finding, Share, Statement
from auditbook.report.source import Source, list_names, rest_on, start, to_count, to_number
from auditbook.results import match_rows, rows
from auditbook.tables import tell_named_missing
from auditbook.verdicts import METRICS, RATE_QUESTIONS, count_affected, find_error_free, name_bin

MOST = 5
"""Findings on the first page."""
FIRST = {"SPD": 0, "DI": 1, "EOPP": 0, "EOD": 1, "CAL": 0, "CAL_large": 1}
"""Of metrics that say the same, the one whose gap is told."""
SCALES = (100, 1_000, 10_000)
WORSE_LOW = ("SR", "TPR", "PPV", "AUC")
"""Rates of which the smaller one is taken to be the worse; being selected is taken to be what helps."""
TOLD = {
    "SR": ("people", "is selected", "are selected"),
    "TPR": ("people with the event", "is found", "are found"),
    "FPR": ("people without the event", "is selected all the same", "are selected all the same"),
    "PPV": ("selected people", "has the event", "have the event"),
}
"""Of whom a rate is a share, and what is true of one and of many of them."""
SHORT = {
    "SR": "fewer are selected in {first} than in {second}",
    "TPR": "fewer of those with the event are found in {first} than in {second}",
    "FPR": "more of those without the event are selected in {first} than in {second}",
    "PPV": "fewer of those selected have the event in {first} than in {second}",
    "TI": "errors of the score are spread more unequally in {first} than in {second}",
    "AUC": "the score orders people less well in {first} than in {second}",
}
"""The same in a few words."""
RISKS = ("CAL", "CAL_large")
NAMED = 6
"""Attributes that a finding names beside its own; more are counted."""
ACTIONS = {
    "TPR": "Until this is mended, let no low score close a case in {group}: a person looks. Ask the owner "
    "for a model or a threshold that finds them as often.",
    "FPR": "Until this is mended, have alarms in {group} checked by a person before anything follows from "
    "them. Ask the owner for a model or a threshold with as few false alarms there.",
    "SR": "Say in writing why people in {group} may be selected less often, or change the model or its "
    "threshold.",
    "PPV": "Tell users that being selected means less in {group}, and have it checked there before acting. "
    "Ask the owner to recalibrate.",
    "CAL": "Do not read the score as a risk there. Have the model recalibrated, and audit it on other "
    "patients.",
    "CAL_large": "Do not read the score as a risk there. Have the model recalibrated, and audit it on other "
    "patients.",
    "TI": "Ask the owner why errors are spread more unequally in {group}, and for a model that is mended.",
    "AUC": "In {group} the score tells apart less well who needs what: do not let it decide there alone. "
    "Ask the owner for a model that is mended.",
}


@dataclass(frozen=True)
class _Case:
    """What is shown of one rate and attribute, with the contrast that is told."""

    attribute: str
    rate: str
    cells: pd.DataFrame  # Of verdicts.csv or auc_verdicts.csv, the one whose gap is told first
    contrast: Any
    weight: float = 0.0  # People affected, by which findings are ordered also where it is not told
    affected: float = math.nan  # The same as it is told
    error_free: float = 0.0  # What this contrast would be without any error, as it is told
    fails_without_error: bool = False  # Whether `_is_explained`
    also: tuple[Any, ...] = ()  # Of a risk: the other contrasts of which the same is shown
    further: bool = (
        False  # Of a risk: whether other score bins that are off to the same side are told before it
    )


def list_findings(source: Source, model: str) -> list[Finding]:
    """List all that is shown to fail under a model, by people affected, the most first.

    Metrics that say the same of an attribute are one finding (SPD and DI; EOPP and EOD by its TPR). Of the
    contrasts that are shown the one that touches most people is told (`count_affected`). Scores that are off
    are off by every attribute of the same people: to one side, in the same score bin or the next to it, they
    are one finding, told of the group in which most people are touched and naming the others; to the other
    side, or elsewhere, another one. What is no share of people (TI, AUC parity) follows in the order of the
    tables, then further score bins that are off to a side that is told already. And last, again by people,
    stands what a model without any error would fail too and nearly as far (`_is_explained`), since it tells
    of the event and not of the model.
    """
    cases = [*_list_cases(source, model), *_list_risks(source, model), *_list_area_cases(source, model)]
    ranked = sorted(
        cases, key=lambda case: (case.fails_without_error, case.further, -np.nan_to_num(case.weight))
    )
    return [_write_case(source, model, case) for case in ranked]


def fails_without_error(cell: Any) -> bool:
    """Tell whether a model without any error would fail too; not where that is not known."""
    passes = METRICS[cell.metric].passes(cell.error_free, threshold=cell.threshold)
    return not math.isnan(cell.error_free) and not passes


def _list_cases(source: Source, model: str) -> list[_Case]:
    """Put what is shown to fail together by attribute and rate."""
    shown = _measure(source, model)
    shown = shown[~shown["rate"].isin(RISKS)]
    found = []
    for (attribute, rate), part in shown.groupby(["attribute", "rate"], sort=False):
        names = sorted(dict.fromkeys(part["metric"]), key=lambda name: FIRST.get(name, 0))
        told = match_rows(part, metric=names[0])
        best = rows(told.sort_values("weight", ascending=False, kind="stable", na_position="last"))[0]
        cells = source.of("verdicts", model=model, attribute=attribute).set_index("metric", drop=False)
        fails = _is_explained(best, cells.loc[names[0], "threshold"])
        numbers = (best.weight, best.affected, best.error_free, fails)
        found.append(_Case(str(attribute), str(rate), cells.loc[names], best, *numbers))
    return found


def _is_explained(contrast: Any, threshold: float) -> bool:
    """Tell whether a model without any error would fail too, and come as near to what is shown as is allowed.

    A small difference in events is no excuse for one that is shown to be larger by more than the threshold.
    """
    if math.isnan(contrast.free) or METRICS[contrast.metric].passes(contrast.free, threshold=threshold):
        return False
    if METRICS[contrast.metric].direction == "at_least":
        return not contrast.most < contrast.free * threshold
    return not contrast.least > contrast.free + threshold


def _list_risks(source: Source, model: str) -> list[_Case]:
    """Put shown distances of score and risk together, over all attributes."""
    shown = _measure(source, model)
    left = rows(shown[shown["rate"].isin(RISKS)].sort_values("weight", ascending=False, kind="stable"))
    found: list[_Case] = []
    while left:
        together = [row for row in left if _is_same_risk(left[0], row)]
        weight, said = left[0].weight, [(case.rate, case.contrast.side) for case in found]
        left = [row for row in left if row not in together]
        told = next((row for row in together if not math.isnan(row.affected)), together[0])
        cells = source.of("verdicts", model=model, attribute=told.attribute, metric=told.metric)
        found.append(
            _Case(
                told.attribute,
                told.rate,
                cells,
                told,
                weight,
                told.affected,
                told.error_free,
                also=tuple(row for row in together if row is not told),
                further=(told.rate, told.side) in said,
            )
        )
    return found


def _is_same_risk(one: Any, other: Any) -> bool:
    """Tell whether two distances are one error: to one side, and in the same score bin or the next."""
    far = abs(one.bin - other.bin) > 1  # Not so where there are no bins
    return bool(one.rate == other.rate and one.side == other.side and not far)


def _measure(source: Source, model: str) -> pd.DataFrame:
    """Measure people affected, and the same contrast without any error: as they are, and as they are told."""
    exact, told = (one.shown[one.shown["model"] == model] for one in (source.exact, source))
    whole, groups = (one.of("groups", model=model) for one in (source.exact, source))
    measured = told.assign(
        weight=count_affected(exact, whole),
        affected=np.nan if source.run.info.get("weights") else count_affected(told, groups),
        free=find_error_free(exact, whole),
        least=exact["low"],
        most=exact["high"],
        error_free=find_error_free(told, groups),
        side=np.sign(exact["estimate"].to_numpy(float)),
    )
    return measured[measured["rate"].isin(RATE_QUESTIONS)].reset_index(drop=True)


def _list_area_cases(source: Source, model: str) -> list[_Case]:
    """List what is shown to fail of AUC parity on its own board, which has no rows in contrasts.csv."""
    cells = match_rows(source.areas_judged, model=model, shown="fail")
    return [
        _Case(cell.attribute, "AUC", match_rows(cells, attribute=cell.attribute), None)
        for cell in rows(cells)
    ]


def _write_case(source: Source, model: str, case: _Case) -> Finding:
    """Put one case into a finding."""
    cell = rows(case.cells)[0]
    shares = _list_shares(source, model, case)
    low, high = (
        (cell.gap_low, cell.gap_high) if case.contrast is None else (case.contrast.low, case.contrast.high)
    )
    gap = cell.gap if case.contrast is None else case.contrast.estimate
    metrics = tuple(case.cells["metric"])
    text = _write_statement(case, cell, shares, (gap, low, high), least=source.smallest_cell)
    return Finding(
        model=model,
        attribute=case.attribute,
        metrics=metrics,
        question=RATE_QUESTIONS[case.rate],
        shares=shares,
        gap=to_number(gap),
        gap_low=to_number(low),
        gap_high=to_number(high),
        threshold=float(cell.threshold),
        affected=to_number(case.affected),
        error_free=to_number(case.error_free),
        error_free_fails=case.fails_without_error,
        statement=Statement(text, _rest_case(model, case)),
        action=ACTIONS[case.rate].format(group=shares[0].group),
        short=_write_short(case, shares),
        also=tuple(dict.fromkeys((str(row.attribute), str(row.group)) for row in case.also)),
    )


def _rest_case(model: str, case: _Case) -> tuple[Basis, ...]:
    """Name the rows that a finding rests on."""
    file = "verdicts.csv" if case.contrast is not None else "auc_verdicts.csv"
    found = [
        rest_on(file, model=model, metric=metric, attribute=case.attribute) for metric in case.cells["metric"]
    ]
    if case.contrast is None:
        return (*found, rest_on("auc_matrix.csv", model=model, attribute=case.attribute))
    one = case.contrast
    found += [_rest_contrast(model, row) for row in (one, *case.also)]
    if case.rate in TOLD:
        found += [
            rest_on("rates.csv", model=model, attribute=case.attribute, group=group, rate=case.rate)
            for group in (one.group, one.other)
        ]
    elif not math.isnan(one.bin):
        keys = {"model": model, "attribute": case.attribute, "group": one.group, "rate": "event rate"}
        found.append(rest_on("rates.csv", **keys, bin=int(one.bin) + 1))
    return tuple(found)


def _rest_contrast(model: str, row: Any) -> Basis:
    """Name the row of a contrast."""
    keys = {"model": model, "metric": row.metric, "attribute": row.attribute, "rate": row.rate}
    keys |= {"group": row.group, "other": row.other} | ({} if math.isnan(row.bin) else {"bin": int(row.bin)})
    return rest_on("contrasts.csv", **keys)


def _list_shares(source: Source, model: str, case: _Case) -> tuple[Share, ...]:
    """Give the values of the two groups, the one concerned first."""
    rates = source.of("rates", model=model, attribute=case.attribute)
    one = case.contrast
    if case.rate in TOLD:
        pair = _order_pair(case)
        known = match_rows(rates, rate=case.rate).set_index("group")
        found = [known.loc[name] for name in pair]
        scale = choose_scale([float(row["value"]) for row in found])
        return tuple(_make_share(name, row, scale) for name, row in zip(pair, found, strict=True))
    if case.rate == "CAL":
        row = rows(match_rows(rates, rate="event rate", group=one.group, bin=one.bin + 1))[0]
        scale = choose_scale([row.value, row.mean_score])
        happened = Share(
            one.group, to_number(row.value), to_number(row.low), to_number(row.high), to_count(row.n), scale
        )
        return happened, Share("predicted", to_number(row.mean_score), None, None, to_count(row.n), scale)
    if case.rate == "CAL_large":
        row = rows(match_rows(rates, rate="ER", group=one.group))[0]
        mean = rows(source.of("groups", model=model, attribute=case.attribute, group=one.group))[0].mean_score
        scale = choose_scale([row.value, mean])
        happened = Share(
            one.group, to_number(row.value), to_number(row.low), to_number(row.high), to_count(row.n), scale
        )
        return happened, Share("predicted", to_number(mean), None, None, to_count(row.n), scale)
    return _list_other(source, model, case)


def _order_pair(case: _Case) -> list[str]:
    """Name the two groups, the one concerned first.

    The larger value stands first in contrasts.csv, of a ratio the smaller: known also where it is withheld.
    """
    one = case.contrast
    smaller_first = METRICS[one.metric].direction == "at_least"
    pair = [one.group, one.other] if smaller_first else [one.other, one.group]
    return pair if case.rate in WORSE_LOW else pair[::-1]


def _list_other(source: Source, model: str, case: _Case) -> tuple[Share, ...]:
    """Name the two groups of what is no share of people; areas have values of their own."""
    if case.rate == "AUC":
        areas = source.of("auc_matrix", model=model, attribute=case.attribute)
        within = areas[areas["event_group"] == areas["nonevent_group"]].dropna(subset="auc")
        within = within[within["event_group"].isin(_name_area_pair(source, case, within["event_group"]))]
        ranked = rows(within.sort_values("auc", kind="stable"))
        return tuple(
            Share(
                row.event_group,
                to_number(row.auc),
                to_number(row.ci_low),
                to_number(row.ci_high),
                to_count(row.n_events + row.n_nonevents),
            )
            for row in (ranked[0], ranked[-1])
        )
    one = case.contrast
    return (
        Share(one.group, None, None, None, to_count(one.n)),
        Share(one.other, None, None, None, to_count(one.n_other)),
    )


def _name_area_pair(source: Source, case: _Case, groups: Iterable[str]) -> set[str]:
    """Name the two groups whose areas are shown to differ, which need not be the smallest and the largest."""
    if case.contrast is not None:
        return {case.contrast.group, case.contrast.other}
    told = str(rows(case.cells)[0].gap_groups)
    codes = {one: source.find_code(case.attribute, one) for one in groups}
    pairs = [
        {one, other}
        for one, other in permutations(codes, 2)
        if told in (f"{codes[one]}, {codes[other]}", f"{codes[one]} and {codes[other]}")
    ]
    return pairs[0] if pairs else set(codes)


def _make_share(group: str, row: Any, scale: int) -> Share:
    return Share(
        group,
        to_number(row["value"]),
        to_number(row["low"]),
        to_number(row["high"]),
        to_count(row["n"]),
        scale,
    )


def choose_scale(values: list[float]) -> int:
    """Choose of how many people to tell, so that two rates that differ are not rounded to the same.

    >>> choose_scale([0.45, 0.60]), choose_scale([0.004, 0.012])
    (100, 1000)
    """
    known = [value for value in values if not math.isnan(value)]
    gap = max(known) - min(known) if len(known) > 1 else 1.0
    for scale in SCALES[:-1]:
        if gap * scale >= 2 or not gap:
            return scale
    return SCALES[-1]


def write_people(share: Share) -> str:
    """Write a share as so many of a hundred, with interval and size."""
    text = write_rate(share)
    inside = []
    if share.low is not None and share.high is not None:
        ends = (number(share.of * end, digits=0) for end in (share.low, share.high))
        inside.append(f"95% interval {' to '.join(ends)}")
    if share.n is not None:
        inside.append(f"n = {count(share.n)}")
    return f"{text} ({'; '.join(inside)})" if inside else text


def _write_statement(
    case: _Case, cell: Any, shares: tuple[Share, ...], gap: tuple[float, float, float], *, least: int
) -> str:
    """Write who differs, by how many of a hundred, how surely, and what was shown."""
    parts = [
        _write_shares(case, shares, least=least),
        _write_gap(case, cell, gap),
        _write_affected(case),
        _write_also(case),
        _write_free(case, cell, shares),
        tell_named_missing((share.group for share in shares), case.attribute),
    ]
    return " ".join(part for part in parts if part)


def _write_affected(case: _Case) -> str:
    """Say how many of the audited people a gap comes to, as `count_affected` does; blank where not known."""
    if math.isnan(case.affected):
        return ""
    size = max(round(case.affected), 1)
    if case.rate in RISKS:
        more = "more" if case.contrast.side > 0 else "fewer"
        people = f"{count(size)} {more} {'person' if size == 1 else 'people'}"
        return f"Among those audited there, about {people} had the event than was predicted."
    people = plural(size, "person", "people")
    return f"At one rate for both, about {people} audited in each would have another result."


def _write_also(case: _Case) -> str:
    """Name the other groups of which the same is shown, and the scores where they are others too."""
    if not case.also:
        return ""
    groups: dict[str, list[str]] = {}
    for row in case.also:
        if (row.attribute, row.group) != (case.attribute, case.contrast.group):
            groups.setdefault(row.attribute, []).append(row.group)
    named = [f"{name} ({_list_groups(held)})" for name, held in groups.items()]
    bins = {row.bin for row in (case.contrast, *case.also)}
    where = f" with {_name_bins(bins)}" if len(bins) > 1 and case.rate == "CAL" else ""
    whom = f" for {list_names(named, limit=NAMED)}" if named else ""
    return f"The same is shown{where}{whom}."


def _list_groups(groups: list[str]) -> str:
    """List groups, whose names can hold "and" and commas; of a long list the tail is counted."""
    known = list(dict.fromkeys(groups))
    tail = [f"{count(len(known) - NAMED)} more"] if len(known) > NAMED else []
    return "; ".join([*known[:NAMED], *tail])


def _name_bins(bins: set[float]) -> str:
    """Name score bins that lie beside each other by their ends."""
    first, last = (name_bin(int(one)) for one in (min(bins), max(bins)))
    return f"{first.split(' to ')[0]} to {last.split(' to ')[1]}"


def _write_shares(case: _Case, shares: tuple[Share, ...], *, least: int) -> str:
    first, second = shares
    if case.rate in TOLD:
        return _write_rates(case, first, second, least=least)
    if case.rate in RISKS:
        return _write_risk(case, first, second, least=least)
    if case.rate == "AUC":
        if first.value is None or second.value is None:
            return f"{start(_write_compared(case, shares))}; by how much is withheld{_write_why(least)}."
        told = [write_rate(share) for share in shares]
        return (
            "Of a person with and one without the event, the first has the higher score in "
            f"{told[0]} of 100 such pairs in {first.group}, and in {told[1]} in {second.group}."
        )
    return f"{start(_write_compared(case, shares))}."


def _write_why(least: int) -> str:
    """Say why a number is withheld: it or another that follows from it is small."""
    return f", as it would give away a number below {least}" if least else ""


def _write_rates(case: _Case, first: Share, second: Share, *, least: int) -> str:
    """Write of how many people something is true in two groups, or only in which of fewer."""
    whom, one, many = TOLD[case.rate]
    known = [share for share in (first, second) if share.value is not None]
    if len(known) == 2:
        verb = one if write_rate(first) == "1" else many
        return (
            f"Of {count(first.of)} {whom}, {write_people(first)} {verb} in {first.group}, and "
            f"{write_people(second)} in {second.group}."
        )
    compared = start(_write_compared(case, (first, second)))
    if not known:
        return f"{compared}. How many in either is withheld{_write_why(least)}."
    held = known[0]
    gone = second if held is first else first
    verb = one if write_rate(held) == "1" else many
    return (
        f"{compared}: of {count(held.of)} {whom}, {write_people(held)} {verb} in {held.group}. How many in "
        f"{gone.group} is withheld{_write_why(least)}."
    )


def _write_risk(case: _Case, happened: Share, predicted: Share, *, least: int) -> str:
    """Write what was predicted of a group and what happened, and which of both is the larger."""
    side, where = _name_side(case), _name_where(case)
    if happened.value is None or predicted.value is None:
        return (
            f"The score is {side} than the risk in {where}. How many had the event there is withheld"
            f"{_write_why(least)}."
        )
    return (
        f"The score is {side} than the risk: of {count(happened.of)} people in {where}, the event was "
        f"predicted for {write_rate(predicted)} and happened to {write_people(happened)}."
    )


def _name_side(case: _Case) -> str:
    return "lower" if case.contrast.side > 0 else "higher"


def _name_where(case: _Case) -> str:
    """Name a group, and the scores that something is said of."""
    return case.contrast.group + (f" with {name_bin(int(case.contrast.bin))}" if case.rate == "CAL" else "")


def _write_compared(case: _Case, shares: tuple[Share, ...]) -> str:
    return SHORT[case.rate].format(first=shares[0].group, second=shares[1].group)


def _write_short(case: _Case, shares: tuple[Share, ...]) -> str:
    """Write a finding in a few words: what differs, by what, and two numbers where they may be told."""
    known = all(share.value is not None for share in shares)
    if case.rate in RISKS:
        side = f"its risks are too {'low' if case.contrast.side > 0 else 'high'}"
        if not known:
            return f"{side} in {_name_where(case)}"
        happened, predicted = shares
        said = "was" if write_rate(predicted) == "1" else "were"
        return (
            f"{side}: of {count(happened.of)} people in {_name_where(case)}, {write_rate(happened)} had the "
            f"event where {write_rate(predicted)} {said} predicted"
        )
    size = f"{' against '.join(write_rate(share) for share in shares)} of {count(shares[0].of)}"
    size = f" ({size}{' pairs' if case.rate == 'AUC' else ''})" if known else ""
    return f"by {case.attribute}, {_write_compared(case, shares)}{size}"


def write_rate(share: Share) -> str:
    """Write how many of a hundred."""
    return number(share.of * share.value, digits=0) if share.value is not None else "a withheld number"


def _write_gap(case: _Case, cell: Any, gap: tuple[float, float, float]) -> str:
    """Write the gap, its bounds, what is allowed, and by which metrics it is shown to fail."""
    metrics = join_words(case.cells["metric"])
    value, low, high = gap
    if math.isnan(value):
        return f"This is shown to fail ({metrics})."
    ratio = METRICS[cell.metric].direction == "at_least"
    in_people = not ratio and case.rate != "TI"
    scale, digits, unit = (100, 1, " per 100") if in_people else (1, 2 if ratio else 3, "")
    kind = "ratio" if ratio else "distance" if case.rate.startswith("CAL") else "difference"
    size = [abs(part) for part in (value, low, high)] if value < 0 else [value, low, high]
    size[1:] = sorted(size[1:]) if not any(math.isnan(part) for part in size[1:]) else size[1:]
    words = [number(scale * part, digits=digits) for part in size]
    limit = f"{'at least' if ratio else 'at most'} {number(scale * cell.threshold, digits=digits)}"
    if not math.isnan(low) and not math.isnan(high):
        bounds = f" (bounds {words[1]} to {words[2]})"
    else:
        bounds = f" (at most {words[2]})" if math.isnan(low) and not math.isnan(high) else ""
    return f"The {kind} of {words[0]}{unit}{bounds}, where {limit} is allowed, is shown to fail ({metrics})."


def _write_free(case: _Case, cell: Any, shares: tuple[Share, ...]) -> str:
    """Say what a model without any error would have of selection, where that is more than is allowed."""
    if case.rate != "SR":
        return ""
    if math.isnan(case.error_free):
        return "A model without any error would fail too." if case.fails_without_error else ""
    turned = case.error_free > 1 if cell.metric == "DI" else case.error_free < 0
    size = f"a ratio of {number(case.error_free, digits=2)}"
    if cell.metric != "DI":
        size = f"a difference of {number(100 * abs(case.error_free), digits=1)} per 100"
    if turned:
        return f"A model without any error would differ the other way round: {size}."
    if case.fails_without_error:
        why = f"since the event is less frequent in {shares[0].group}"
        return f"A model without any error would have {size}, and fail too, {why}."
    if METRICS[cell.metric].passes(case.error_free, threshold=cell.threshold):
        return f"Between these two a model without any error would have {size}, and pass."
    return f"Between these two a model without any error would have {size}: less than is shown here."


def describe_further(source: Source, model: str, findings: list[Finding]) -> Statement | None:
    """Say how many more findings there are, and what is shown to fail beside them; None where nothing is."""
    rest = findings[MOST:]
    named = [f"{join_words(one.metrics)} for {_name_attributes(one)}" for one in rest]
    told = {
        (metric, name)
        for one in findings
        for name in (one.attribute, *(other for other, _ in one.also))
        for metric in one.metrics
    }
    failing = match_rows(source.board, model=model, shown="fail")
    lost = [row for row in rows(failing) if (row.metric, row.attribute) not in told]
    named += [f"{row.metric} for {row.attribute}" for row in lost]
    if not named:
        return None
    basis = tuple(base for one in rest for base in one.statement.basis) + tuple(
        rest_on("verdicts.csv", model=model, metric=row.metric, attribute=row.attribute) for row in lost
    )
    verb = "is" if len(named) == 1 else "are"
    return Statement(
        f"Further {verb} shown to fail: {list_names(named)}. They stand in the annex under cells.", basis
    )


def _name_attributes(finding: Finding) -> str:
    names = dict.fromkeys((finding.attribute, *(name for name, _ in finding.also)))
    return list_names(names, limit=NAMED)


def list_error_free(source: Source, model: str) -> tuple[Statement, ...]:
    """Say where a model without any error would fail on these records, or that it would nowhere."""
    cells = source.exact.of("verdicts", model=model)
    cells = cells[cells["metric"].isin(["DI", "SPD"])].dropna(subset="error_free")
    if cells.empty:
        return ()
    failing = [row for row in rows(cells) if fails_without_error(row)]
    basis = tuple(
        rest_on("verdicts.csv", model=model, metric=row.metric, attribute=row.attribute)
        for row in (failing or rows(cells))
    )
    text = _write_failing(source, model, failing) if failing else _write_alike(source, cells)
    return (Statement(text, basis),)


def _write_alike(source: Source, cells: pd.DataFrame) -> str:
    """Say by which attributes a model without any error would select alike enough."""
    known = list(dict.fromkeys(cells["attribute"]))
    every = "every attribute" if set(source.attributes) <= set(known) else list_names(known)
    metrics = join_words(dict.fromkeys(cells["metric"]))
    return (
        f"On these records a model without any error would select alike enough by {every} ({metrics}), "
        "among the groups that hold enough."
    )


def _write_failing(source: Source, model: str, failing: list[Any]) -> str:
    """Name the attributes by which a model without any error would fail, with what it would have."""
    by_attribute: dict[str, list[str]] = {}
    for row in failing:
        cells = source.of("verdicts", model=model, metric=row.metric, attribute=row.attribute)
        value = float(cells["error_free"].iloc[0])
        told = f"a withheld {row.metric}" if math.isnan(value) else f"{row.metric} {number(value, digits=2)}"
        by_attribute.setdefault(row.attribute, []).append(told)
    named = [f"{join_words(sizes)} for {name}" for name, sizes in by_attribute.items()]
    return (
        "On these records a model without any error, which selects those with the event and nobody else, "
        f"would have {list_names(named, limit=8)}, and fail there: among them the event is not as frequent "
        "in all groups. That is not tested."
    )
