"""What in a cohort is allowed and still deserves a second look before the audit?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import floor

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from auditbook.cohort import ID_SHARE, MISSING_GROUP, Cohort, CohortFile, name_lean
from auditbook.errors import nearest
from auditbook.evidence import list_shortfalls, settle_design, write_shortfalls
from auditbook.intake.caution import Caution
from auditbook.records import Attribute, AuditRecords, Survey
from auditbook.tables import as_numbers, as_text

LEAK_AREA = 0.98
"""AUC of a single feature from which it is taken for the outcome in disguise."""

LEAK_EVENTS = 10
"""Events and non-events from which a given score is held against the outcome."""

LEAK_CHANCE = 1e-9
"""Chance below which a value that is always, or never, an event is taken for a leak."""

MISSING_SHARE = 0.10
"""Share of records without a value from which an attribute's missing ones are pointed out."""

SITE_SHARE = 0.50
"""Share of the records from which one site is pointed out."""

FEW_EFFECTIVE = 30
"""Records worth fewer equal ones than this are pointed out."""

_CHECKED_ROWS = 50_000


def warn_cohort(cohort: Cohort) -> list[Caution]:
    """List what an auditor should look at before trusting an audit of this cohort."""
    cautions = [
        *_warn_outcome(cohort),
        *_warn_rules(cohort),
        *_warn_sites(cohort),
        *_warn_missing(cohort),
        *_warn_names(cohort),
        *_warn_support(cohort),
        *_warn_scores(cohort),
        *_warn_weights(cohort),
        *_warn_labels(cohort),
    ]
    if cohort.file.panel.models or cohort.file.pockets.run:  # whatever learns from the features
        cautions += [*_warn_identifiers(cohort), *_warn_leaks(cohort)]
    return cautions


def _warn_outcome(cohort: Cohort) -> Iterator[Caution]:
    """Point out an outcome that can be described and not audited."""
    if cohort.continuous:
        yield Caution(
            "[outcome] type",
            "group metrics need an event, so that audit and run refuse a continuous outcome; "
            'give event = "> 3" or the like',
        )


def _warn_weights(cohort: Cohort) -> Iterator[Caution]:
    """Point out strata of which one cluster tells nothing of the spread, and weights that differ much."""
    survey = cohort.survey
    design = None if survey is None else settle_design(_bare_records(cohort, survey))
    if design is None:
        return
    if design.n_alone:
        what, n = "record" if design.drawn == "records" else design.drawn[:-1], design.n_strata
        holds = "holds" if design.n_alone == 1 else "hold"
        yield Caution(
            "[weight] strata",
            f"{design.n_alone:,} of {n:,} strata {holds} a single {what}, which tells "
            "nothing of the spread within; it counts by its distance from the grand mean, or join such "
            "strata with their neighbours",
        )
    if design.effective < FEW_EFFECTIVE:
        yield Caution(
            "[weight] column",
            f"the weights differ so much that {len(design.weight):,} records are worth "
            f"{design.effective:,.0f} equal ones; check that these are weights",
        )


def _bare_records(cohort: Cohort, survey: Survey) -> AuditRecords:
    """Give outcome, units and survey of the records, and nothing of what is audited."""
    named = cohort.file.unit.column
    unit = None if named is None else pd.factorize(cohort.unit, sort=True)[0]
    return AuditRecords(np.zeros(len(survey.weight), np.int8), (), (), unit=unit, survey=survey)


def _warn_rules(cohort: Cohort) -> Iterator[Caution]:
    """Point out rules of the cohort file that match nothing."""
    dropped = {part.reason: part.rows for part in cohort.left_out}
    for rule in cohort.file.data.drop:
        if dropped.get(rule.reason) == 0:
            yield Caution(
                "[data] drop", f"no record was left out for '{rule.reason}'; check column and values"
            )
    for table in (item for item in cohort.file.attributes if item.groups):
        found = {name for name in as_text(cohort.table[table.column]) if name is not None}
        for name in table.groups:
            if name not in found:
                yield Caution(
                    f"[attributes.{table.name}] groups",
                    f"no record holds {name!r}"
                    f"{nearest(name, found - set(table.groups))}; the line does nothing",
                )


def _warn_labels(cohort: Cohort) -> Iterator[Caution]:
    """Point out words of the report for columns and values that are not there, or that are already taken."""
    file, groups = cohort.file, {item.name: item.groups for item in cohort.attributes}
    coded = [*cohort.table.columns, *groups]
    models = [item.name for item in file.scores] + [*file.panel.models, *map(name_lean, file.panel.lean)]
    for where, what, names, known in (
        ("columns", "column, attribute or model", file.labels.columns, [*coded, *models]),
        ("values", "column or attribute", file.labels.values, coded),
    ):
        for name in (name for name in names if name not in known):
            yield Caution(
                f"[labels] {where}", f"there is no {what} {name!r}{nearest(name, known)}; it does nothing"
            )
    held = {name: _list_held(cohort, name) for name in file.labels.values}
    for name, words in file.labels.values.items():
        named = [groups[table.name] for table in file.attributes if name in (table.name, table.column)]
        yield from _warn_unheld(name, words, held[name].union(*named))
    yield from dict.fromkeys(_list_taken(file, groups, held))


def _list_taken(
    file: CohortFile, groups: Mapping[str, Sequence[str]], held: Mapping[str, set[str]]
) -> Iterator[Caution]:
    """Look for taken words among the values of each column, and among the groups of each attribute."""
    values = file.labels.values
    for name, words in values.items():
        yield from _warn_taken(name, words, words, held[name])
    for table in file.attributes:
        known = file.word_groups(table)
        for name in (table.column, table.name):
            shown = {value: text for value, text in values.get(name, {}).items() if known.get(value) == text}
            yield from _warn_taken(name, shown, known, set(groups[table.name]))


def _list_held(cohort: Cohort, name: str) -> set[str]:
    """List the values of a column; none where there is no such column."""
    cells = cohort.table[name] if name in cohort.table else pd.Series(dtype=object)
    return {value for value in as_text(cells) if value is not None}


def _warn_unheld(name: str, words: Mapping[str, str], found: set[str]) -> Iterator[Caution]:
    """Point out words for values that no record holds."""
    for value in (value for value in words if found and value not in found):
        yield Caution(
            f"[labels] values.{name}",
            f"no record holds {value!r}{nearest(value, found - set(words))}; it does nothing",
        )


def _warn_taken(
    name: str, words: Mapping[str, str], known: Mapping[str, str], found: set[str]
) -> Iterator[Caution]:
    """Point out words that another value has as its own name; those of `known` are shown by other words."""
    for value, text in words.items():
        if text != value and text in found and text not in known:
            yield Caution(
                f"[labels] values.{name}",
                f"{value!r} is shown as {text!r}, which is another value's own name",
            )


def _warn_sites(cohort: Cohort) -> Iterator[Caution]:
    if cohort.site is None:
        return
    counts = pd.Series(cohort.site).value_counts()
    share = counts.iloc[0] / len(cohort.site)
    if len(counts) == 1:
        yield Caution(
            "[site]", "there is one site only, so that nothing can be said about agreement between sites"
        )
    elif share > SITE_SHARE:
        yield Caution(
            "[site]", f"'{counts.index[0]}' holds {share:.0%} of the records; results are mostly about it"
        )


def _warn_missing(cohort: Cohort) -> Iterator[Caution]:
    dropped = {part.reason: part.rows for part in cohort.left_out}
    for attribute in cohort.attributes:
        rows, out_of = dropped.get(f"{attribute.name} missing", 0), cohort.rows_read
        if MISSING_GROUP in attribute.groups:
            rows = int((attribute.codes == attribute.groups.index(MISSING_GROUP)).sum())
            out_of = len(attribute.codes)
        if rows > MISSING_SHARE * out_of:
            yield Caution(
                f"[attributes.{attribute.name}]",
                f"missing in {rows:,} of {out_of:,} records "
                f"({rows / out_of:.0%}); a verdict about the others may not hold for these",
            )


def _warn_names(cohort: Cohort) -> Iterator[Caution]:
    """Point out groups whose names differ in blanks or capitals only."""
    for attribute in (item for item in cohort.attributes if not item.parts):
        where = f"[attributes.{attribute.name}]"
        for name in attribute.groups:
            if name != name.strip():
                yield Caution(
                    where, f"the group {name!r} has blanks at an end; recode it if they are not meant"
                )
        for one, other in combinations(sorted(attribute.groups, key=lambda name: name != name.strip()), 2):
            if " ".join(one.split()).casefold() == " ".join(other.split()).casefold():
                yield Caution(
                    where,
                    f"the groups {one!r} and {other!r} differ in blanks or capitals only; to join "
                    f"them: groups = {{ '{other}' = '{one}' }}",
                )


def _warn_support(cohort: Cohort) -> Iterator[Caution]:
    """Point out groups that are too small for a verdict in the audited part."""
    if cohort.continuous:
        return
    share = cohort.file.protocol.audit_share if cohort.file.panel.models else 1.0
    for attribute in cohort.attributes:
        thin = [
            text for code in range(len(attribute.groups)) if (text := _thin(cohort, attribute, code, share))
        ]
        if thin and attribute.parts:
            yield _warn_cross(attribute, thin, share)
        elif thin:
            part = f" in the {share:.0%} that is audited" if share < 1 else ""
            blank = any(text.startswith(f"{MISSING_GROUP} (") for text in thin)
            drop = 'leave blank cells out with missing = "drop", ' if blank else ""
            yield Caution(
                f"[attributes.{attribute.name}]",
                f"too few records{part} for every verdict: "
                f"{', '.join(thin)}; join groups with a recoding, {drop}or accept 'inconclusive' for every "
                "metric that needs them",
            )


def _warn_cross(attribute: Attribute, thin: list[str], share: float) -> Caution:
    """Say how many groups of a cross are too small, and name some."""
    groups = len(attribute.groups)
    part = f" in the {share:.0%} that is audited" if share < 1 else ""
    named = ", ".join(thin[:3]) + (", …" if len(thin) > 3 else "")
    return Caution(
        f"[attributes.{attribute.name}]",
        f"of {groups} groups {len(thin)} hold{'s' * (len(thin) == 1)} too few "
        f"records{part} for every verdict: {named}; recode the attributes that it crosses, or accept that "
        "these are left out of some comparisons",
    )


def _thin(cohort: Cohort, attribute: Attribute, code: int, share: float) -> str:
    """Describe a group's support where it is short of what is needed; blank where it is not."""
    inside = attribute.codes == code
    records, events = int(inside.sum()), int(cohort.outcome[inside].sum())
    held = {"records": records * share, "events": events * share, "non_events": (records - events) * share}
    short = {each.what: each for each in list_shortfalls(held, protocol=cohort.file.protocol)}
    scarce = next((short[what] for what in held if what in short), None)
    if scarce is None:
        return ""
    cut = replace(scarce, held=floor(10 * scarce.held) / 10)  # never up to what is needed
    told = write_shortfalls([cut])
    return f"{attribute.groups[code]} ({'about ' if share < 1 and scarce.held else ''}{told})"


def _warn_scores(cohort: Cohort) -> Iterator[Caution]:
    """Point out given scores that tell nobody apart, or tell everybody apart."""
    for score in cohort.file.scores:
        values = as_numbers(cohort.table[score.column]).cells
        if values.min() == values.max():
            yield Caution(f"[scores.{score.name}]", f"every record has the same score, {values.min():g}")
            continue
        if cohort.continuous:
            continue
        yield from _warn_outcome_as_score(score.name, values, np.asarray(cohort.outcome, float))
        if score.threshold is not None and not 0 < (values >= score.threshold).sum() < len(values):
            who = "every record" if values.min() >= score.threshold else "no record"
            yield Caution(
                f"[scores.{score.name}] threshold",
                f"{who} reaches {score.threshold:g} (scores run from "
                f"{values.min():g} to {values.max():g}), so that most verdicts have nothing to judge",
            )


def _warn_outcome_as_score(
    name: str, values: NDArray[np.float64], outcome: NDArray[np.float64]
) -> Iterator[Caution]:
    """Point out a score that is the outcome or its negation, or ranks the records almost as these do."""
    if min(outcome.sum(), (1 - outcome).sum()) < LEAK_EVENTS:
        return
    step = -(-len(values) // _CHECKED_ROWS)
    area = _area_under(values[::step], outcome[::step])
    if area > LEAK_AREA:
        yield Caution(
            f"[scores.{name}]",
            f"AUC {area:.3f}: this may be the outcome in disguise, or made when it was "
            "known; if so, there is no prediction to audit",
        )
    elif area < 1 - LEAK_AREA:
        yield Caution(
            f"[scores.{name}]",
            f"AUC {area:.3f}: this may be the outcome turned round; a higher score must "
            "mean that the event is more probable",
        )


def _warn_identifiers(cohort: Cohort) -> Iterator[Caution]:
    for name in cohort.feature_columns:
        column = cohort.table[name]
        present = int(column.notna().sum())
        if column.dtype.kind != "f" and present > 100 and column.nunique() > ID_SHARE * present:
            kind = "text" if column.dtype == object else "whole numbers"
            yield Caution(
                "[features]",
                f"'{name}' is {kind} with hardly a value twice, like an identifier; "
                "unless it is not one, exclude it",
            )


def _warn_leaks(cohort: Cohort) -> Iterator[Caution]:
    """Point out features that give the outcome away on their own."""
    step = -(-len(cohort.table) // _CHECKED_ROWS)
    outcome = np.asarray(cohort.outcome, dtype=float)[::step]
    for name in cohort.feature_columns:
        column = cohort.table[name].iloc[::step]
        if cohort.continuous:
            strength = _rank_correlation(column, outcome)
            if strength > LEAK_AREA:
                yield _leak(name, f"rank correlation {strength:.2f}")
            continue
        area = _single_area(column, outcome)
        if area > LEAK_AREA:
            yield _leak(name, f"AUC {area:.3f} on its own")
        else:
            pure = _pure_value(column, outcome) or _pure_presence(column, outcome)
            if pure:
                yield _leak(name, pure)


def _leak(name: str, reason: str) -> Caution:
    return Caution("[features]", f"'{name}' may be the outcome in disguise ({reason}); if so, exclude it")


def _single_area(column: pd.Series, outcome: NDArray[np.float64]) -> float:
    """Return the AUC of one feature, whichever way it points; 0.5 where it cannot be had."""
    if column.dtype.kind in "biuf":
        score = as_numbers(column).cells
    elif column.nunique() <= 50:
        codes = pd.factorize(column, use_na_sentinel=False)[0]
        score = (np.bincount(codes, outcome) / np.bincount(codes))[codes]
    else:
        return 0.5
    area = _area_under(score, outcome) if (~np.isnan(score)).mean() >= 0.5 else np.nan
    return 0.5 if np.isnan(area) else max(area, 1 - area)


def _area_under(score: NDArray[np.float64], outcome: NDArray[np.float64]) -> float:
    """Return the AUC among the records that have a score; nan without a pair."""
    there = ~np.isnan(score)
    events = outcome[there] == 1
    pairs = int(events.sum()) * int((~events).sum())
    if pairs == 0:
        return np.nan
    ranks = rankdata(score[there])
    wins = ranks[events].sum() - events.sum() * (events.sum() + 1) / 2
    return float(wins / pairs)


def _rank_correlation(column: pd.Series, outcome: NDArray[np.float64]) -> float:
    score = as_numbers(column).cells
    there = ~np.isnan(score)
    if there.sum() < 100 or np.ptp(score[there]) == 0 or np.ptp(outcome[there]) == 0:
        return 0.0
    return float(abs(np.corrcoef(rankdata(score[there]), rankdata(outcome[there]))[0, 1]))


def _pure_presence(column: pd.Series, outcome: NDArray[np.float64]) -> str:
    """Say that a column is filled, or blank, for events only; blank when it is not."""
    filled = column.notna().to_numpy()
    for word, there in (("filled", filled), ("blank", ~filled)):
        count, hits = int(there.sum()), int(outcome[there].sum())
        is_common = count >= 100 and count >= 0.01 * len(outcome)
        if is_common and hits == count and outcome.mean() ** count < LEAK_CHANCE:
            return f"all {count:,} records where it is {word} are events"
    return ""


def _pure_value(column: pd.Series, outcome: NDArray[np.float64]) -> str:
    """Describe a common value whose records are all events, or none is; blank when there is none."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) > 50:
        return ""
    counts, events = np.bincount(codes), np.bincount(codes, outcome)
    rate = outcome.mean()
    for value, count, hits in zip(values, counts, events, strict=True):
        chance = rate**count if hits == count else (1 - rate) ** count if hits == 0 else 1.0
        if chance < LEAK_CHANCE and count >= 100 and count >= 0.01 * len(outcome):
            those = f"{count:,} records with the value {as_text(pd.Series([value]))[0]}"
            return f"all {those} are events" if hits == count else f"none of the {those} is an event"
    return ""
