"""What stands behind the first page: every group, cell, contrast and pocket, and how it was made?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from auditbook.book.say.text import agree, count, number, plural, share
from auditbook.columns import TABLES
from auditbook.report.content import Section, Sheet, Statement
from auditbook.report.head import describe_left_out
from auditbook.report.hospitals import list_hospitals
from auditbook.report.lead_times import describe_leads
from auditbook.report.source import Source, list_names, rest_on
from auditbook.report.together import describe_together
from auditbook.results import rows
from auditbook.verdicts import METRICS

CELL_COLUMNS = (
    "model metric attribute estimate threshold standing gap gap_low gap_high gap_groups p_fail "
    "p_pass n_to_show "
    "error_free scope left_out"
).split()
PUBLISHED_COLUMNS = (
    "model metric attribute estimate threshold verdict vfr vfr_own_size vfr_site n_star kappa "
    "tier tier_reasons"
).split()
TOUCHED = (
    "People of a difference between two groups: so many of each as would have another result if both had the "
    "rate of the two together; findings stand in the order of these numbers."
)
GROUP_COLUMNS = "model attribute group n events non_events tp fp fn tn support".split()
RATES = {"SR": "selection_rate", "TPR": "tpr", "FPR": "fpr", "PPV": "ppv", "ER": "event_rate"}


def build_annex(source: Source) -> tuple[Section, ...]:
    """Build the parts of the annex; what this kind of run does not make is left out."""
    parts = [
        _list_groups(source),
        _list_hospitals(source),
        _list_tables(source, "cells", "Every cell", {"verdicts": CELL_COLUMNS, "auc_verdicts": CELL_COLUMNS}),
        _list_tables(source, "contrasts", "Contrasts of groups", {"contrasts": None}),
        _list_tables(
            source,
            "pockets",
            "Pockets",
            {"pockets": None, "pocket_errors": None, "pocket_summary": None, "pocket_repairs": None},
        ),
        _list_tables(source, "models", "Models", {"models": None, "auc_differences": None}),
        _list_lead_times(source),
        _list_features(source),
        _list_left_out(source),
        _list_protocol(source),
        _list_published(source),
        _list_provenance(source),
    ]
    kept = [replace(part, sheets=tuple(one for one in part.sheets if len(one.table))) for part in parts]
    return tuple(part for part in kept if part.statements or part.sheets)


TITLES = {
    "verdicts": "What was shown of every cell",
    "auc_verdicts": "AUC parity, on a board of its own",
    "contrasts": "Every pair of groups, and every group beside its scores",
    "pockets": "The pockets of both maps",
    "pocket_errors": "Mean errors and gaps in every pocket",
    "pocket_summary": "What the pockets of a map come to",
    "pocket_repairs": "Corrections, learned on one half and looked at on the other",
    "hospital_contrasts": "Each group beside the reference, in every hospital",
    "pooled_contrasts": "Each group beside the reference, over hospitals and in the next",
    "withheld_bounds": "Between which values rates lie where hospitals withhold groups",
    "models": "The models, over all audited records",
    "lead_times": "Times before the event, by group",
    "auc_differences": "Areas less those of the first model, paired",
    "audit_size": "The metric at smaller sizes",
    "site_agreement": "Agreement of sites",
}


def _make_sheet(source: Source, name: str, columns: Sequence[str] | None = None) -> Sheet:
    """Take a result table, or some columns of it."""
    table = source.table(name)
    kept = table if columns is None else table[list(columns)]
    about = " ".join(TABLES[name].about.split()).replace("`", "").replace("**", "")
    return Sheet(name, TITLES.get(name, name), kept.reset_index(drop=True), about)


def _list_tables(source: Source, key: str, title: str, tables: Mapping[str, Sequence[str] | None]) -> Section:
    """Make a part of result tables; empty ones are left out."""
    sheets = tuple(_make_sheet(source, name, columns) for name, columns in tables.items())
    return Section(key, title, (), tuple(sheet for sheet in sheets if len(sheet.table)))


def _list_groups(source: Source) -> Section:
    """List every group with counts, rates, their intervals and calibration."""
    table = source.table("groups")
    if table.empty:
        return Section("groups", "Every group", (), (_make_sheet(source, "cohort_groups"),))
    table = table[GROUP_COLUMNS]
    keys = ["model", "attribute", "group"]
    for rate, name in RATES.items():
        part = source.of("rates", rate=rate)
        part = part[part["bin"].isna()][[*keys, "value", "low", "high"]]
        table = table.merge(
            part.set_axis([*keys, name, f"{name}_low", f"{name}_high"], axis=1), on=keys, how="left"
        )
    table = table.merge(source.table("groups")[[*keys, "mean_score", "auc"]], on=keys, how="left")
    fits = source.table("calibration")
    names = ["intercept", "intercept_low", "intercept_high", "slope", "slope_low", "slope_high"]
    table = table.merge(fits[[*keys, *names]], on=keys, how="left")
    caption = (
        "Counts, rates with 95% intervals, mean score, AUC, and calibration intercept and slope of "
        "every group under "
        "every model."
    )
    sheet = Sheet("groups", "Every group under every model", table, caption)
    return Section("groups", "Every group", describe_together(source), (sheet,))


def _list_hospitals(source: Source) -> Section:
    """List what only counts of several hospitals tell; nothing of another audit."""
    sheets = tuple(
        _make_sheet(source, name) for name in ("pooled_contrasts", "hospital_contrasts", "withheld_bounds")
    )
    return Section("hospitals", "The hospitals, and the next one", list_hospitals(source), sheets)


def _list_lead_times(source: Source) -> Section:
    """Tell how long before the event people were selected who had it; nothing where no column says when."""
    table = source.table("lead_times")
    statement = Statement(describe_leads(table), (rest_on("lead_times.csv"),))
    return Section(
        "lead_times",
        "Time between prediction and event",
        (statement,) if len(table) else (),
        (_make_sheet(source, "lead_times"),),
    )


def _list_features(source: Source) -> Section:
    """List the columns that models and pockets use, and say whether attributes are among them.

    Where all scores were given, the columns of features made nothing but the pockets, if they were looked at.
    """
    table = source.table("cohort_columns")
    used = table[table["role"].isin(["feature", "late feature"])]
    attributes = table[table["role"] == "attribute"]["column"]
    given = source.of("models", source="given")
    trained, parts = len(given) < max(len(source.table("models")), 1), []
    if len(given) and not trained:
        parts.append("The scores were given: what they were made from is not known here.")
    elif len(given):
        parts.append(
            f"The scores of {list_names(given['model'])} were given: what they were made from is not "
            "known here."
        )
    if trained or len(source.table("pockets")):
        number = int(used["n_columns"].sum())
        what = plural(number, "column").capitalize()
        whom = "" if trained else " of the pockets"
        parts.append(
            f"{what} {agree(number, 'is', 'are')} used as {agree(number, 'a feature', 'features')}{whom}."
        )
        mixed = sorted(set(attributes) & set(used["column"]))
        if mixed:
            parts.append(f"Attributes are among the features: {list_names(mixed)}.")
        elif len(attributes):
            only = agree(len(attributes), "only tells", "only tell")
            parts.append(f"No attribute is among them: {list_names(attributes)} {only} groups apart.")
    statement = Statement(" ".join(parts), (rest_on("cohort_columns.csv"), rest_on("models.csv")))
    return Section(
        "features", "Columns and features", (statement,) if len(table) else (), (_make_columns(source),)
    )


def _make_columns(source: Source) -> Sheet:
    return _make_sheet(source, "cohort_columns")


def _list_left_out(source: Source) -> Section:
    """Say which rows were left out, and how many of each group were audited."""
    sheet = _make_sheet(source, "cohort_groups")
    return Section("left_out", "Left out, and who was audited", (describe_left_out(source),), (sheet,))


def _list_protocol(source: Source) -> Section:
    """List the metrics with their thresholds, and the constants of the audit."""
    protocol = source.run.protocol
    judged = source.table("verdicts")
    statements = [
        Statement(f"{name}, {METRICS[name].title}: {METRICS[name].meaning}", (rest_on("run.json"),))
        for name in protocol.metrics
        if len(judged)
    ]
    if len(judged):
        statements.append(Statement(TOUCHED, (rest_on("contrasts.csv"), rest_on("groups.csv"))))
    facts = [
        (
            "chance of any false finding on a model's board, on either side, at most",
            share(protocol.shown_alpha, digits=0),
        ),
        ("records needed in a group", count(protocol.min_records)),
        ("events needed in a group", count(protocol.min_events)),
        ("non-events needed in a group", count(protocol.min_non_events)),
        ("resamples a cell", count(protocol.resamples)),
        ("records a resample, at most", count(protocol.resample_size)),
        ("a published verdict is stable up to a flip rate of", share(protocol.vfr_stable, digits=0)),
    ]
    facts += [
        (f"threshold of {row.metric}", number(row.threshold, digits=2))
        for row in rows(judged.drop_duplicates("metric"))
    ]
    table = pd.DataFrame(facts, columns=["what", "value"])
    return Section(
        "protocol",
        "Protocol",
        tuple(statements),
        (Sheet("run.json", "Constants", table, "What this audit was made with."),),
    )


def _list_published(source: Source) -> Section:
    """List flip rates, axes and tiers as published, from which nothing on the first page follows."""
    if source.table("verdicts").empty:
        return Section("published", "As published", (), ())
    text = (
        "Kept so that the audit can be compared with published ones. Nothing on the first page "
        "follows from it: "
        "agreement of resamples, sizes and sites is no evidence that a verdict is right."
    )
    statement = Statement(text, (rest_on("verdicts.csv"),))
    sheet = _make_sheet(source, "verdicts", PUBLISHED_COLUMNS)
    return Section(
        "published",
        "As published: flip rates, axes and tiers",
        (statement,),
        (Sheet("verdicts", "Published verdicts and tiers", sheet.table, sheet.caption),),
    )


def _list_provenance(source: Source) -> Section:
    """List what it takes to make this report again; no date is among it."""
    info = source.run.info
    profile = info.get("profile", "")
    facts = [
        ("cohort", info["name"]),
        ("profile", profile["name"] if isinstance(profile, Mapping) else profile),
        ("seed", info["seed"]),
    ]
    facts += [(f"hash of the {what}", value) for what, value in sorted((info.get("hashes") or {}).items())]
    facts += [(f"version of {what}", value) for what, value in (info.get("versions") or {}).items()]
    table = pd.DataFrame([(what, str(value)) for what, value in facts], columns=["what", "value"])
    text = "The same cohort, seed and versions give the same numbers, so that this report carries no date."
    return Section(
        "provenance",
        "How to make this report again",
        (Statement(text, (rest_on("run.json"),)),),
        (Sheet("run.json", "Provenance", table, "What this report was made from."),),
    )
