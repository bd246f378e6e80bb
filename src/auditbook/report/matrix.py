"""What was shown of each question and attribute?"""

from typing import Any

import pandas as pd

from auditbook.book.say.text import join_words
from auditbook.report.content import QUESTIONS, Mark, MarkName, Statement
from auditbook.report.source import Source, list_names, rest_on
from auditbook.results import match_rows, rows

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
    "risk": "the risk that is told",
    "order": "the order within groups",
}
"""The questions in a sentence."""


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
    text = f"{join_words(found.metrics)} for {attribute}: {WORDS[mark]}.{_write_why(mark, cells)}"
    return Mark(question, attribute, mark, Statement(text, basis))


def _file_of(source: Source, metric: str) -> str:
    own = metric == "AUC" and len(source.areas_judged)
    return "auc_verdicts.csv" if own else "verdicts.csv"


def _write_why(mark: MarkName, cells: pd.DataFrame) -> str:
    """Say who is left out, where that is why nothing more is said."""
    left = [text for text in dict.fromkeys(cells["left_out"]) if text]
    if mark == "unjudged":
        why = left or [text for text in dict.fromkeys(cells["reason"]) if text]
        return f" {list_names(why)}." if why else ""
    return f" Not compared: {list_names(left)}." if left else ""
