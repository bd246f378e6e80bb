"""Which source attributes of a predictive decision support intervention can an audit fill (HTI-1)?

The 31 attributes of 45 CFR 170.315(b)(11)(iv)(B) were checked by paragraph and topic against the disclosure
of a certified developer and the fields of an open health record; the wording here is our own. The proposed
rule HTI-5 (90 FR 60970, 29 December 2025) would remove them; no final rule was found in the public sources
that could be searched, and each form says so. A workbook: a developer of certified health IT enters each
attribute into a field of the product and shows it to users, so one row an attribute, which people read and
programs import.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from auditbook.book.say.text import plural
from auditbook.report.content import Report
from auditbook.report.handins.estimates import Estimate
from auditbook.report.handins.model_facts import (
    NOT_PROVIDED,
    ModelFacts,
    clean,
    keep_made,
    list_models,
    say_blank,
    say_count,
    say_findings,
    say_limits,
    say_marks,
    say_output,
    say_pockets,
    say_provenance,
    say_repair,
    say_tested,
    say_training,
    texts,
)
from auditbook.report.handins.office_files import settle_bytes
from auditbook.report.handins.sheets import Value, add_text, head_cell, long_cell, value_cell
from auditbook.report.source import Source
from auditbook.results import Run, rows

if TYPE_CHECKING:
    from openpyxl import Workbook

State = Literal["filled by this audit", "from [use]", "not provided by this audit"]
FILLED: State = "filled by this audit"
FROM_USE: State = "from [use]"
ABSENT: State = "not provided by this audit"
REMOVAL = (
    "Source attributes of 45 CFR 170.315(b)(11)(iv)(B), adopted by the rule HTI-1. Proposed for removal: "
    "the proposed rule HTI-5 (90 FR 60970, 29 December 2025) would take them out of the certification "
    "criterion. Whether that has become final could not be established when this form was written: check "
    "before you hand it in."
)
ATTRIBUTE_COLUMNS = {
    "Model": 18,
    "Paragraph": 11,
    "Category": 22,
    "Attribute": 38,
    "State": 20,
    "Text": 80,
    "Tables": 24,
}
MEASURE_COLUMNS = {
    "Model": 18,
    "Measure": 34,
    "Of whom": 40,
    "Value": 12,
    "From": 12,
    "To": 12,
    "Level": 10,
    "Table": 18,
}
"""Titles of the columns of each sheet, and their widths in signs."""


@dataclass(frozen=True)
class Entry:
    """What a form says of one attribute: the text, and the result files that it rests on."""

    state: State = ABSENT
    text: str = NOT_PROVIDED
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceAttribute:
    """A source attribute of one model, as the form has it."""

    model: str
    paragraph: str  # Such as (7)(ii)
    category: str
    topic: str
    entry: Entry


def write(run: Run, report: Report, path: Path) -> None:
    """Write the source attributes of all audited models of a run as a workbook."""
    models = list_models(run, report)
    attributes = [attribute for facts in models for attribute in list_attributes(run, facts)]
    _lay_out(_introduce(run, report, attributes), models, attributes).save(path)
    settle_bytes(path)


def list_attributes(run: Run, facts: ModelFacts) -> list[SourceAttribute]:
    """List all attributes of one model with what the audit says of each."""
    entries = _enter_use(facts) | _enter_facts(facts) | _enter_training(run, facts) | _enter_measures(facts)
    listed = files("auditbook.report.handins").joinpath("hti1_attributes.toml").read_text(encoding="utf-8")
    found = []
    for category in tomllib.loads(listed)["category"]:
        for letter, topic in zip(("i", "ii", "iii", "iv", "v"), category["attributes"], strict=False):
            paragraph = f"{category['number']}({letter})"
            entry = entries.get(paragraph, Entry())
            entry = replace(entry, tables=keep_made(run, *entry.tables))
            found.append(SourceAttribute(facts.page.model, paragraph, category["title"], topic, entry))
    return found


def _fill(said: list[str], *tables: str) -> Entry:
    """Fill an attribute with what there is to say; without anything it stays not provided."""
    text = " ".join(filter(None, said))
    return Entry(FILLED, text, tables) if text else Entry()


def _pass_on(text: str) -> Entry:
    """Pass on what the cohort file says under [use]."""
    return Entry(FROM_USE, clean(text)) if clean(text) else Entry()


def _leave_open(*said: str) -> Entry:
    """Leave an attribute to the developer, with what may help to fill it."""
    return Entry(ABSENT, " ".join(filter(None, (NOT_PROVIDED, *said))))


def _enter_use(facts: ModelFacts) -> dict[str, Entry]:
    """Enter what the cohort file says of the model's use."""
    use, owner = facts.use, clean(facts.use.owner)
    return {
        "(1)(i)": _leave_open(f"Owner, who need not be the developer: {owner}." if owner else ""),
        "(2)(i)": _pass_on(use.intended_use),
        "(2)(ii)": _leave_open(say_tested(facts)),
        "(2)(iii)": _pass_on(use.users),
        "(2)(iv)": _pass_on(use.selected_means),
        "(3)(i)": _pass_on(use.out_of_scope),
    }


def _enter_facts(facts: ModelFacts) -> dict[str, Entry]:
    """Enter output, limits and what a repair would do."""
    kinds = {"probability": "Prediction.", "rank": "Prediction.", "decision": "Classification."}
    kind = kinds[facts.row["kind"]] if facts.row else "Prediction."
    tried = say_repair(facts)
    limits = [*say_findings(facts), *say_limits(facts), *say_pockets(facts)]
    return {
        "(1)(iii)": _fill([say_output(facts)], "models.csv"),
        "(1)(iv)": _fill([kind], "models.csv"),
        "(3)(ii)": _fill(limits, "verdicts.csv", "pocket_errors.csv"),
        "(5)(ii)": _leave_open(*(["What this audit says of repairs:", *tried] if tried else [])),
    }


def _enter_training(run: Run, facts: ModelFacts) -> dict[str, Entry]:
    """Enter what is known of training, where this audit trained the model."""
    if not facts.trained:
        return {}
    left_out = texts([facts.report.head.left_out])
    return {
        "(4)(i)": _fill([say_training(facts), *left_out], "run.json"),
        "(4)(ii)": _fill([_say_features(facts, run)], "cohort_columns.csv"),
        "(4)(iii)": _fill([_say_trained_groups(run)], "cohort_groups.csv"),
    }


def _say_features(facts: ModelFacts, run: Run) -> str:
    """Say which columns the model may see, and of attributes and sites what is noted of them."""
    late = [] if facts.row.get("features") == "admission" else ["late feature"]
    roles = ["feature", *late, "attribute", "site"]
    listed = [
        clean(f"{row.column} ({'; '.join(filter(None, (row.role, row.note)))})")
        for role in roles
        for row in rows(Source(run).of("cohort_columns", role=role))
    ]
    return f"Columns, what each is used for, and whether it is also a feature: {', '.join(listed)}."


def _say_trained_groups(run: Run) -> str:
    """Say how many records of every group the model was trained on."""
    held = [
        f"{clean(row.attribute)}, {clean(row.group)}: {say_count(row.n_train)}"
        for row in rows(Source(run).table("cohort_groups"))
    ]
    return f"Records trained on, by group: {'; '.join(held)}."


def _enter_measures(facts: ModelFacts) -> dict[str, Entry]:
    """Enter validity and fairness: as local data, and as test data where this audit held them out itself."""
    blank, page = say_blank(facts), facts.page
    see = "Numbers and intervals: sheet Measures."
    valid = _fill([*texts([page.accuracy]), see, blank], "models.csv", "calibration.csv")
    fair = _fill(
        [*texts([page.answer]), *say_marks(facts), see, blank], "verdicts.csv", "rates.csv", "auc_matrix.csv"
    )
    held_out = "Held out from the source of the training data."
    entries = {"(8)(ii)": valid, "(8)(iv)": fair}
    if facts.trained:
        return entries | {
            "(7)(i)": _fill([held_out, valid.text], *valid.tables),
            "(7)(ii)": _fill([held_out, fair.text], *fair.tables),
        }
    asked = {
        "(7)(i)": ("(8)(ii)", "the source of the training data, and were not trained on"),
        "(7)(ii)": ("(8)(iv)", "the source of the training data, and were not trained on"),
        "(7)(iii)": ("(8)(ii)", "another source than the training data"),
        "(7)(iv)": ("(8)(iv)", "another source than the training data"),
    }
    return entries | {
        paragraph: _leave_open(f"If the audited records are from {where}, what {other} says belongs here.")
        for paragraph, (other, where) in asked.items()
    }


def _lay_out(
    introduction: list[str], models: list[ModelFacts], attributes: list[SourceAttribute]
) -> "Workbook":
    """Lay the workbook out: how to read it, the attributes, the numbers that they refer to."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    book.properties.title, book.properties.creator = introduction[0], "auditbook"
    front = add_text(book, "Read me", [100])
    for line in introduction:
        front.append([long_cell(front, line)])
    listed = [
        (
            one.model,
            one.paragraph,
            one.category,
            one.topic,
            one.entry.state,
            one.entry.text,
            ", ".join(one.entry.tables),
        )
        for one in attributes
    ]
    _fill_sheet(book, "Source attributes", ATTRIBUTE_COLUMNS, listed)
    _fill_sheet(book, "Measures", MEASURE_COLUMNS, [_lay_measure(*one) for one in _list_measures(models)])
    return book


def _list_measures(models: list[ModelFacts]) -> list[tuple[str, Estimate]]:
    return [(facts.page.model, estimate) for facts in models for estimate in facts.estimates.all]


def _lay_measure(model: str, one: Estimate) -> tuple[Value, ...]:
    """Lay out one number: its level only where it has an interval."""
    level = None if one.low is None and one.high is None else one.level
    return model, one.measure, clean(one.of_whom), one.value, one.low, one.high, level, one.file


def _introduce(run: Run, report: Report, attributes: list[SourceAttribute]) -> list[str]:
    """Say what the workbook is, how far it is filled, and what may become of the rule."""
    states = [one.entry.state for one in attributes]
    return [
        f"Source attributes: {clean(report.head.title)}",
        REMOVAL,
        f"{plural(len(states), 'attribute')} of {plural(len(report.pages), 'model')}: {states.count(FILLED)} "
        f"filled by this audit, {states.count(FROM_USE)} from [use] of the cohort file, "
        f"{states.count(ABSENT)} not provided by this audit and for the developer to fill.",
        "Words are ours, not those of the regulation. What is open is neither passed nor failed. A blank "
        "cell is not 0. Whether the audited records are local data of the deployment is for you to say.",
        f"Tables lie in the folder results of the run. {say_provenance(run, report)}",
    ]


def _fill_sheet(
    book: "Workbook", name: str, columns: dict[str, int], lines: Iterable[tuple[Value, ...]]
) -> None:
    """Fill a sheet: a head that stays in sight, and a row a line."""
    sheet = add_text(book, name, list(columns.values()))
    sheet.freeze_panes = "A2"
    sheet.append([head_cell(sheet, title) for title in columns])
    for line in lines:
        sheet.append(
            [
                long_cell(sheet, value) if isinstance(value, str) else value_cell(sheet, value)
                for value in line
            ]
        )
