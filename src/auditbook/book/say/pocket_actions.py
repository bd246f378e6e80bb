"""After the audit: lines for a board, what a repair did to other patients, and which records to look at."""

from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.pocket_errors import OVERALL, WORDS, lay_out, write_confidence
from auditbook.book.say.pockets import MAPS, describe_absence, describe_locality, title_pockets
from auditbook.book.say.text import (
    agree,
    count_of,
    escape,
    interval,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.pockets import (
    count_support,
    errs_as_a_whole,
    holds_nearly_all,
    is_true,
    list_review,
    pick_flagged,
    summarise_repairs,
)
from auditbook.results import Run, match_rows, rows

REPAIR_COLUMNS = read_layout("book", "pocket_actions.repair")
ASKED = {
    "under": "people there are passed over wherever a high score brings care. Until it is mended, have such "
    "records looked at by a person before a low score closes a case.",
    "over": "people there are alarmed or treated for a risk that they do not have, and take the places of "
    "others. Until it is mended, do not act on a high score there alone.",
}


def list_findings(errors: pd.DataFrame, pockets: pd.DataFrame, *, model: str) -> pd.DataFrame:
    """List the flagged mean errors of one model in both maps, the largest first."""
    found = pick_flagged(errors, model=model)
    found = found[found["pocket"] != OVERALL]
    laid = [lay_out(found[found["map"] == name], pockets) for name in dict.fromkeys(found["map"])]
    flagged = pd.concat(laid) if laid else lay_out(found, pockets)
    order = np.argsort(-flagged["estimate"].abs().to_numpy(float), kind="stable")
    return flagged.iloc[order].reset_index(drop=True)


def write_findings(findings: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Write a line for a board on every flagged pocket: who, how many, how wrong, how sure, for whom."""
    if findings.empty:
        return (
            "No pocket's mean error is flagged, so there is no line to write. Report instead what is ruled "
            "out and which pockets could not be tested; no flag is not a clean bill."
        )
    points = [f"- {_write_finding(row)}{_write_gaps(row, errors)}" for row in rows(findings)]
    return "\n".join(points)


def _write_finding(row: Any) -> str:
    """Write one finding in a sentence or two."""
    units = f", from {plural(row.units, 'unit')}" if row.units < row.n else ""
    text = (
        f"**{escape(row.label)}** ({MAPS[row.map]}, {plural(row.n, 'audited record')}{units}): "
        f"{escape(row.model)} is {WORDS[row.kind]} by {number(abs(row.estimate))} on average"
    )
    ends = sorted((abs(row.ci_low), abs(row.ci_high)))
    text += f" ({write_confidence(row.level)} simultaneous interval {interval(*ends)})"
    if not np.isnan(row.mean_prediction):
        text += f"; {number(row.mean_prediction)} was predicted and {number(row.mean_outcome)} happened"
    return f"{text}."


def _write_gaps(row: Any, errors: pd.DataFrame) -> str:
    """Say whose error differs within the same pocket."""
    found = match_rows(errors, model=row.model, map=row.map, pocket=row.pocket, quantity="delta")
    found = found[is_true(found["flagged"])]
    if found.empty:
        return ""
    parts = [f"{escape(gap.contrast)} {number(gap.estimate)}" for gap in rows(found)]
    return f" Within it the error also differs between groups: {', '.join(parts)}."


def write_requests(findings: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Say what each direction of an error asks of those who use the score."""
    points = []
    if len(findings) and errs_as_a_whole(errors, model=findings["model"].iloc[0]):
        points.append(
            "- **First of all**: the whole and every flagged pocket err to the same side. Recalibrate the "
            "whole model, and audit its pockets again on other patients; what stands above is then obsolete."
        )
    for kind, asked in ASKED.items():
        named = findings[findings["kind"] == kind]
        if len(named):
            points.append(f"- **{WORDS[kind].capitalize()}**, {name_list(named['pocket'])}: {asked}")
    if points:
        points.append(
            "- In any case: ask the owner of the model for a version that is recalibrated there, and audit "
            "that one on patients who had no part in this audit."
        )
    return "\n".join(points)


def _write_whole(errors: pd.DataFrame, *, model: str) -> str:
    """Warn a board that what the flagged pockets show is an error of the whole model, and say how large."""
    found = pick_flagged(errors, model=model)
    found = found[found["pocket"] == OVERALL]
    row = rows(found)[0]
    ends = sorted((abs(row.ci_low), abs(row.ci_high)))
    return (
        f"**None of this is a finding of its own.** In all {plural(row.n, 'audited record')} together "
        f"{escape(row.model)} is {WORDS[row.direction]} by {number(abs(row.estimate))} on average "
        f"({interval(*ends)}), and every flagged pocket errs to the same side: this is first of all one "
        "error of the whole model. Have it recalibrated, and audit its pockets again on other patients."
    )


def describe_review(errors: pd.DataFrame, pockets: pd.DataFrame) -> str:
    """Say how many of the audited records a review list would hold, by the flags of every audited model."""
    review = list_review(errors, pockets)
    models = list(dict.fromkeys(errors["model"]))
    if review.empty:
        whom = f" for any of the {len(models)} audited models" if len(models) > 1 else ""
        return f"A review list would be empty: no pocket is flagged{whom}."
    points = [
        f"- {MAPS[str(name)]}: {plural(found['n'].sum(skipna=False), 'audited record')} in "
        f"{plural(len(found), 'flagged pocket')}{_name_flagged(found, models)}."
        for name, found in review.groupby("map", sort=False)
    ]
    return "\n".join(points)


def _name_flagged(review: pd.DataFrame, models: list[str]) -> str:
    """Name the models whose errors or gaps are flagged, where several were audited."""
    flagged = {name for names in review["models"] for name in names}
    return f" ({name_list([name for name in models if name in flagged])})" if len(models) > 1 else ""


def lay_out_repairs(repairs: pd.DataFrame, pockets: pd.DataFrame, *, model: str) -> pd.DataFrame:
    """Take the corrections of one model that were made, for `REPAIR_COLUMNS` and the figure."""
    found = repairs[(repairs["model"] == model) & repairs["correction"].notna()].reset_index(drop=True)
    titles = {name: title_pockets(pockets, name) for name in dict.fromkeys(found["map"])}
    labels = [f"{titles[row.map].get(row.pocket, row.pocket)} (half {row.half})" for row in rows(found)]
    return found.assign(label=labels)


def describe_repairs(repairs: pd.DataFrame) -> str:
    """Say how often a correction brought the mean error of the other half nearer to zero."""
    if repairs.empty:
        return (
            "No pocket was flagged in one half of the audit units, so no correction was learned. Half of the "
            "units have less power than all: a pocket can be flagged in the audit and in neither half."
        )
    found = summarise_repairs(repairs)
    known = found.judged
    if known.empty:
        return (
            f"{plural(len(repairs), 'correction')} could be learned, and the other half of the units is too "
            f"small to judge {agree(len(repairs), 'it', 'any of them')}."
        )
    text = (
        "The correction brought the mean error nearer to zero in "
        f"{count_of(found.nearer, len(known), 'corrected half', 'corrected halves')}."
    )
    if len(found.left):
        text += (
            f" In {plural(len(found.left), 'half', 'halves')} an error is left whose interval excludes zero: "
            f"{name_list(dict.fromkeys(found.left['pocket']))}."
        )
    if len(found.worse):
        text += (
            f" In {plural(len(found.worse), 'half', 'halves')} the squared error grew: single predictions "
            "got worse there."
        )
    return text


def describe_reach(errors: pd.DataFrame, *, model: str) -> str:
    """Say for which share of the audited records something could be tested at all."""
    found = match_rows(errors, model=model, quantity="mu", map="forest")
    whole = found.loc[found["pocket"] == OVERALL, "n"]
    if whole.empty or not whole.iloc[0]:
        return "Nothing was audited, so there is nothing to act on."
    if holds_nearly_all(found.loc[found["pocket"] != OVERALL, "n"]):
        return (
            f"Of {plural(whole.iloc[0], 'audited record')}, all or nearly all that have a forest pocket lie "
            "in one: this audit says nothing of one kind of patients more than of another."
        )
    support = count_support(errors, model=model)
    return (
        f"Of {plural(whole.iloc[0], 'audited record')}, {share(support['reach'].iloc[0])} lie in forest "
        "pockets that could be tested. Of the others this audit says nothing."
    )


def describe_pockets(run: Run, *, limit: int = 4) -> str:
    """Say for the audit report what the pocket audit found, of every audited model."""
    errors, pockets = run.pocket_errors, run.pockets
    absent = describe_absence(run.info, pockets, errors)
    if absent:
        return absent
    models = [str(model) for model in dict.fromkeys(errors["model"])]
    lines = [describe_locality(pockets)]
    for model in models:
        named = [f"About **{escape(model)}**:"] if len(models) > 1 else []
        lines += [*named, *_describe_model(errors, pockets, model=model, limit=limit)]
    lines.append(describe_reach(errors, model=models[0]))
    return "\n\n".join(line for line in lines if line)


def _describe_model(errors: pd.DataFrame, pockets: pd.DataFrame, *, model: str, limit: int) -> list[str]:
    """Write the largest findings of one model, and whether they are one error of the whole."""
    findings = list_findings(errors, pockets, model=model)
    lines = [write_findings(findings.head(limit), errors)]
    if errs_as_a_whole(errors, model=model):
        lines.append(_write_whole(errors, model=model))
    more = len(findings) - limit
    if more > 0:
        lines.append(
            f"{plural(more, 'more pocket')} with a smaller error {agree(more, 'is', 'are')} flagged."
        )
    return lines
