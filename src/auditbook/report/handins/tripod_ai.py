"""Which items of the reporting guideline TRIPOD+AI has an audit done, and which are the authors' own?

The 27 items, 52 with their letters, were checked by number and topic against the publication's summary and
against two completed checklists that are public, not against the publication's own table; the wording here
is our own, and the official form is at tripod-statement.org. A Word document, as journals ask for the
checklist as a file beside the manuscript, with a column for the page.
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from auditbook.book.say.text import count, join_words, plural
from auditbook.report.content import Report
from auditbook.report.handins.model_facts import (
    ModelFacts,
    clean,
    keep_made,
    list_models,
    say_findings,
    say_limits,
    say_output,
    say_pockets,
    say_repair,
    say_training,
    texts,
)
from auditbook.report.handins.office_files import settle_bytes
from auditbook.report.source import Source
from auditbook.results import Run

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table, _Row

State = Literal["done by this audit", "partly", "yours"]
DONE: State = "done by this audit"
PARTLY: State = "partly"
YOURS: State = "yours"
REPAIRS = ("baselines", "robustness", "pocket_repairs")
"""Result tables of what was tried to make a model pass."""
COLUMNS = {
    "Item": 1.2,
    "Topic": 5.6,
    "This audit": 2.2,
    "What it says": 11.0,
    "Tables": 4.2,
    "Your page": 2.2,
}
"""Titles of the columns and their widths in cm."""


@dataclass(frozen=True)
class Answer:
    """What an audit says to an item: the sentence, and the result files that do it."""

    state: State = YOURS
    sentence: str = ""
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """An item of the checklist with its answer."""

    number: str
    part: str
    topic: str
    answer: Answer


@dataclass(frozen=True)
class Study:
    """What the answers draw on."""

    run: Run
    report: Report
    models: tuple[ModelFacts, ...]

    @property
    def trained(self) -> bool:
        """Whether this audit trained every model."""
        return bool(self.models) and all(facts.trained for facts in self.models)

    def each(self, say: Callable[[ModelFacts], Sequence[str]]) -> str:
        """Say something of every model; of several by name, those of which the same is said together."""
        said: dict[str, list[str]] = {}
        for facts in self.models:
            said.setdefault(" ".join(say(facts)), []).append(clean(facts.page.model))
        if len(said) == 1:
            return next(iter(said))
        return " ".join(f"{join_words(names)}: {text}" for text, names in said.items() if text)

    @property
    def tried(self) -> tuple[str, ...]:
        """Name the result files of repairs that were tried."""
        source = Source(self.run)
        return tuple(f"{name}.csv" for name in REPAIRS if len(source.table(name)))


def write(run: Run, report: Report, path: Path) -> None:
    """Write the checklist of a run as a Word document."""
    _lay_out(report, list_items(run, report)).save(str(path))
    settle_bytes(path)


def list_items(run: Run, report: Report) -> list[Item]:
    """List all items with what the audit says to each."""
    study = Study(run, report, tuple(list_models(run, report)))
    answers = (
        _answer_setting(study)
        | _answer_data(study)
        | _answer_analysis(study)
        | _answer_openness(study)
        | _answer_participants(study)
        | _answer_results(study)
    )
    listed = files("auditbook.report.handins").joinpath("tripod_items.toml").read_text(encoding="utf-8")
    items, part = [], ""
    for entry in tomllib.loads(listed)["item"]:
        part = entry.get("part", part)
        answer = answers.get(entry["number"], Answer())
        answer = replace(answer, tables=keep_made(run, *answer.tables))
        items.append(Item(entry["number"], part, entry["topic"], answer))
    return items


def _partly(sentence: str, *tables: str) -> Answer:
    """Answer in part where there is something to say; else the item is the authors'."""
    said = clean(sentence)
    return Answer(PARTLY, said, tables) if said else Answer()


def _done(sentence: str, *tables: str) -> Answer:
    """Answer in full where there is something to say."""
    said = clean(sentence)
    return Answer(DONE, said, tables) if said else Answer()


def _answer_setting(study: Study) -> dict[str, Answer]:
    """Answer what the cohort file says of use, source and setting."""
    head = study.report.head
    use, source = head.use, clean(study.run.info.get("source", ""))
    meant = [f"Intended use: {use.intended_use}." if use.intended_use else ""]
    meant.append(f"Users: {use.users}." if use.users else "")
    sites = f"The records come from {plural(head.sites, 'site')}." if head.sites else ""
    return {
        "3b": _partly(" ".join(meant)),
        "5a": _partly(f"Source, as the cohort file names it: {source}." if source else ""),
        "5b": _partly(f"Period: {use.period}." if use.period else ""),
        "6a": _partly(sites, "cohort_sites.csv"),
        "6b": _partly(head.left_out.text, "run.json"),
        "8a": _partly(f"Outcome: {head.outcome}."),
    }


def _answer_data(study: Study) -> dict[str, Answer]:
    """Answer what the audit knows of columns, sizes and missing values."""
    head, trained = study.report.head, study.trained
    listed = "Every column is listed with its use, its missing entries and what is odd about it."
    left_out = head.left_out.text
    needs = study.each(lambda facts: texts(facts.page.unjudged))
    known = {
        "7": _partly(listed, "cohort_columns.csv"),
        "9b": _partly(listed, "cohort_columns.csv"),
        "10": _partly(needs, "verdicts.csv", "audit_size.csv"),
        "11": _partly(f"{left_out} {listed}", "run.json", "cohort_columns.csv"),
        "20a": _done(left_out, "run.json", "cohort_groups.csv"),
        "20b": _partly("Groups of every attribute, with their numbers and events.", "cohort_groups.csv"),
    }
    if not trained:
        return known
    training = study.each(lambda facts: [say_training(facts)])
    split = "Records of the same cohort; the groups stand beside each other, trained on and audited."
    return known | {
        "9a": _partly(training, "models.csv"),
        "12c": _partly(training, "models.csv"),
        "16": _partly(split, "cohort_groups.csv"),
        "20c": _partly(split, "cohort_groups.csv"),
    }


def _answer_analysis(study: Study) -> dict[str, Answer]:
    """Answer how the models were evaluated."""
    head = study.report.head
    output = study.each(lambda facts: [say_output(facts)])
    used = f"All {count(head.records)} audited records serve the evaluation."
    scored = "Scored by this audit." if study.trained else "The scores are a column of the data."
    repair = "The audit tried repairs; what came of them stands at item 24." if study.tried else ""
    known = {
        "12a": (_done if study.trained else _partly)(used, "models.csv"),
        "12f": _partly(repair, *study.tried),
        "12g": (_done if study.trained else _partly)(scored, "models.csv"),
        "15": _done(output, "models.csv"),
    }
    if head.continuous:
        asked = "Mean errors, and their gaps between groups, in pockets of patients who are alike."
        return known | {
            "12e": _partly(asked, "pocket_errors.csv"),
            "14": _partly(asked, "pocket_errors.csv", "pocket_summary.csv"),
        }
    return known | _answer_measures(study)


def _answer_measures(study: Study) -> dict[str, Answer]:
    """Answer which measures were taken, of whom, and how sites were compared."""
    asked = join_words(clean(name) for name in Source(study.run).attributes)
    metrics = join_words(study.run.protocol.metrics)
    measured = f"Areas under the ROC curve, calibration, rates by group, and {metrics}, with intervals."
    fair = (
        f"Groups of {asked} were compared; what is shown is bounded for the whole board of a model at once."
    )
    sites = "Verdicts by folds of sites and their agreement." if study.report.head.sites > 1 else ""
    return {
        "12d": _done(sites, "site_verdicts.csv", "site_agreement.csv"),
        "12e": _done(
            measured, "models.csv", "rates.csv", "auc_matrix.csv", "calibration.csv", "verdicts.csv"
        ),
        "14": _done(fair, "verdicts.csv", "contrasts.csv"),
        "23b": _done(sites, "site_verdicts.csv", "site_agreement.csv"),
    }


def _answer_openness(study: Study) -> dict[str, Answer]:
    """Answer what can be made again."""
    version = study.run.info["versions"]["auditbook"]
    protocol = "The constants of the audit stand in its run.json."
    code = f"The audit was made by auditbook {version}; the code of the model is yours."
    return {"18c": _partly(protocol, "run.json"), "18f": _partly(code, "run.json")}


def _answer_participants(study: Study) -> dict[str, Answer]:
    """Answer how many people and events each analysis rests on."""
    head = study.report.head
    if head.continuous:
        return {"21": _done(f"{plural(head.records, 'record')} audited.", "pocket_errors.csv")}
    counted = study.each(
        lambda facts: [
            f"{plural(facts.row['n_audit'], 'record')} audited, {plural(facts.row['events_audit'], 'event')}."
        ]
    )
    return {"21": _done(counted, "models.csv", "groups.csv")}


def _answer_results(study: Study) -> dict[str, Answer]:
    """Answer what was found, what it means, and what is not known."""
    shown = ("models.csv", "rates.csv", "verdicts.csv")
    pockets = ("pocket_errors.csv",)
    performed = study.each(
        lambda facts: texts([facts.page.accuracy]) + say_findings(facts) + say_pockets(facts)
    )
    needed = study.each(lambda facts: texts(facts.page.unjudged))
    return {
        "23a": (_partly if study.report.head.continuous else _done)(
            performed, *(pockets if study.report.head.continuous else shown + pockets)
        ),
        "24": _partly(study.each(say_repair) if study.tried else "", *study.tried),
        "25": _partly(study.each(lambda facts: texts([facts.page.answer])), "verdicts.csv"),
        "26": _partly(study.each(say_limits), "verdicts.csv", "tipping_points.csv"),
        "27c": _partly(needed, "verdicts.csv"),
    }


def _lay_out(report: Report, items: Sequence[Item]) -> "Document":
    """Lay the checklist out: a title, what its columns mean, and one table whose head is on every page."""
    import docx
    from docx.enum.section import WD_ORIENT
    from docx.shared import Cm, Pt

    document = docx.Document()
    document.core_properties.title = f"TRIPOD+AI: {clean(report.head.title)}"
    document.core_properties.author, document.core_properties.comments = "auditbook", ""
    page = document.sections[0]
    page.orientation, page.page_width, page.page_height = WD_ORIENT.LANDSCAPE, Cm(29.7), Cm(21)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Cm(1.5)
    document.styles["Normal"].font.name, document.styles["Normal"].font.size = "Calibri", Pt(9)
    document.add_heading(f"TRIPOD+AI checklist: {clean(report.head.title)}", level=1)
    document.add_paragraph(_introduce(items))
    _fill_table(document, items)
    return document


def _introduce(items: Sequence[Item]) -> str:
    """Say how to read the checklist, and how far it is done."""
    states = [item.answer.state for item in items]
    return (
        f"Items of the reporting guideline TRIPOD+AI (doi:10.1136/bmj-2023-078378), in words of our own: "
        f"{states.count(DONE)} are done by this audit, {states.count(PARTLY)} partly, and "
        f"{states.count(YOURS)} are yours. Sentence and tables stand beside each; the tables lie in the "
        "folder results of the run, which stays in the house. What is open is neither passed nor failed. The "
        "last column is for the page of your manuscript."
    )


def _fill_table(document: "Document", items: Sequence[Item]) -> None:
    """Fill the table: a line for each part of a report, and a row an item."""
    from docx.oxml import OxmlElement

    table = document.add_table(rows=0, cols=len(COLUMNS), style="Table Grid")
    table.autofit = False
    head = _add_line(table, tuple(COLUMNS), bold=True)
    head._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    part = ""
    for item in items:
        if item.part != part:
            part = item.part
            line = _add_line(table, (part,), bold=True).cells
            line[0].merge(line[-1])
        answer = item.answer
        _add_line(table, (item.number, item.topic, answer.state, answer.sentence, "\n".join(answer.tables)))


def _add_line(table: "Table", texts_of: tuple[str, ...], *, bold: bool = False) -> "_Row":
    """Add a row with these texts, the rest blank, and the widths of the columns."""
    from docx.shared import Cm

    row = table.add_row()
    padded = texts_of + ("",) * (len(COLUMNS) - len(texts_of))
    for cell, width, text in zip(row.cells, COLUMNS.values(), padded, strict=True):
        cell.width = Cm(width)
        if text:
            cell.paragraphs[0].add_run(text).bold = bold
    return row
