"""What was shown of each question and attribute?"""

import math
from typing import Any

import pandas as pd

from auditbook.book.say.text import join_words, plural
from auditbook.report.content import QUESTIONS, Mark, MarkName, Statement
from auditbook.report.source import Source, list_names, rest_on, start
from auditbook.results import match_rows, rows
from auditbook.verdicts import judge_reach

WORDS: dict[str, str] = {
    "fails": "shown to fail",
    "open": "open",
    "unjudged": "cannot be judged",
    "partly": "passes for those compared",
    "passes": "shown to pass",
}
TOPICS = {
    "found": "who is found",
    "alarms": "false alarms",
    "selected": "who is selected",
    "meaning": "what being selected means",
    "risk": "wrong risks",
    "order": "the order within groups",
}
"""The questions in a sentence."""
NEEDED = {"risk": ("rank", "decision"), "order": ("decision",)}
LACKED = {"risk": "no probability", "order": "orders nobody"}
"""Why a score of such a kind answers no such question."""


def build_marks(source: Source, model: str) -> tuple[Mark, ...]:
    """Mark every question and attribute, in the order of `QUESTIONS`."""
    known = {(row.question, row.attribute): row for row in rows(match_rows(source.marks, model=model))}
    return tuple(
        _build_mark(source, model, question, attribute, known.get((question, attribute)))
        for question in QUESTIONS
        for attribute in source.attributes
    )


def _build_mark(source: Source, model: str, question: str, attribute: str, found: Any) -> Mark:
    """Build one mark; a question that no metric asks cannot be judged, and says so."""
    if found is None:
        text = f"No metric of this audit asks about {TOPICS[question]} by {attribute}."
        return Mark(question, attribute, "unjudged", Statement(text, (rest_on("run.json"),)))
    mark: MarkName = found.mark
    cells = match_rows(source.board, model=model, attribute=attribute)
    cells = cells[cells["metric"].isin(found.metrics)]
    basis = tuple(
        rest_on(_file_of(source, row.metric), model=model, metric=row.metric, attribute=attribute)
        for row in rows(cells)
    )
    text = f"{start(TOPICS[question])} by {attribute} ({join_words(found.metrics)}): {WORDS[mark]}."
    return Mark(question, attribute, mark, Statement(text + _write_why(source, question, mark, cells), basis))


def _file_of(source: Source, metric: str) -> str:
    own = metric == "AUC" and len(source.areas_judged)
    return "auc_verdicts.csv" if own else "verdicts.csv"


def _write_why(source: Source, question: str, mark: MarkName, cells: pd.DataFrame) -> str:
    """Say who is left out, why nothing can be judged, and of an open question which size would settle it."""
    first = rows(cells)[0]
    kinds = source.of("models", model=first.model)["kind"]
    kind = str(kinds.iloc[0]) if len(kinds) else "probability"
    if mark == "unjudged" and kind in NEEDED.get(question, ()):
        return f" The score is a {kind} and {LACKED[question]}."
    lacking = match_rows(source.find_uncompared(first.model), attribute=first.attribute, question=question)
    left = f" Too few to be compared: {list_names(lacking['group'])}." if len(lacking) else ""
    if question == "risk" and (cells.loc[cells["metric"] == "CAL", "left_out"] != "").any():
        left = " Score bins of fewer records than a group needs are not compared."
    if mark == "unjudged":
        return left or f" {'Too few people could be compared' if question == 'order' else 'Undefined here'}."
    return f"{left}{_write_settling(source, cells)}" if mark == "open" else left


def _write_settling(source: Source, cells: pd.DataFrame) -> str:
    """Say how many records would settle an open question, if today's estimates are the truth."""
    size = find_settling(cells)
    match judge_reach(size, source.count_audited(str(cells["model"].iloc[0]))):
        case "can be had":
            return (
                f" About {plural(round_up(size), 'record')} would settle it, if today's estimates are "
                "the truth."
            )
        case "far more than can be had":
            return " It would take far more records than can be had to settle it."
    return ""


def find_settling(cells: pd.DataFrame) -> float:
    """Find the records that would settle all that is open of a question; nan where none is known."""
    return float(cells.loc[cells["shown"] == "open", "n_to_show"].max())


def round_up(size: float) -> int:
    """Round a size up to two digits, so that it never reads as enough before it is.

    >>> round_up(1234), round_up(1200), round_up(7)
    (1300, 1200, 7)
    """
    step = 10 ** max(len(str(math.ceil(size))) - 2, 0)
    return math.ceil(math.ceil(size) / step) * step
