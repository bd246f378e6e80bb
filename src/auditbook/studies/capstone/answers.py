"""How near are a learner's answers to what was planted in the table, and what may she look at again?"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from auditbook.errors import InputError, nearest
from auditbook.studies.capstone.table import BEARING, make_table

NEAR = 3
"""By so many of 100 a gap may be off: bounds are wider than that."""


@dataclass(frozen=True)
class Question:
    """One question of the capstone."""

    key: str
    asks: str  # Written above its line in the file of answers
    blank: str  # What stands there before anybody answers, as TOML
    is_right: Callable[[Any], bool]
    hint: str  # Where to look again; never the answer


@dataclass(frozen=True)
class Answer:
    """What is said of one answer."""

    key: str
    right: bool
    words: str


@cache
def _count() -> tuple[int, int]:
    """Count the stays whose outcome is known, and the events among them."""
    outcome = make_table()["readmitted_30"]
    return int((outcome != "transferred").sum()), int((outcome == "yes").sum())


@cache
def _gap() -> float:
    """Find by how many of 100 events fewer are found in the group that is worst off than in the reference."""
    table = make_table()
    events = table[table["readmitted_30"] == "yes"]
    found = events["vendor_score"].str.replace(",", ".").astype(float) >= 0.3
    share = found.groupby(events["language"].str.strip().str.lower()).mean()
    return float(100 * (share["majority"] - share["minority"]))


def _text(answer: Any) -> str:
    return str(answer).strip().lower()


def _names(answer: Any) -> set[str]:
    return {_text(one) for one in answer} if isinstance(answer, list) else {_text(answer)}


def _is_number(answer: Any, wanted: float, within: float = 0) -> bool:
    """Tell whether an answer is a number, and near enough."""
    whole = isinstance(answer, (int, float)) and not isinstance(answer, bool)
    return whole and wanted - within <= answer <= wanted + within


QUESTIONS = (
    Question(
        "records",
        "How many stays can be audited?",
        "0",
        lambda answer: _is_number(answer, _count()[0]),
        "The outcome has more codes than two. What does the third say of whether somebody came back?",
    ),
    Question(
        "events",
        "How many of them have the event?",
        "0",
        lambda answer: _is_number(answer, _count()[1]),
        "Count one code of the outcome, among the stays that can be audited.",
    ),
    Question(
        "unit",
        "Which columns name one patient?",
        "[]",
        lambda answer: _names(answer) == {"hospital", "patient"},
        "Does one number stand at several hospitals, with another sex?",
    ),
    Question(
        "leaks",
        "Which columns know the outcome? (Neither the outcome itself nor another outcome.)",
        "[]",
        lambda answer: _names(answer) == {"days_until_return", "vendor_score_2"},
        "There are two: a column filled in for those who came back alone, and a score that has seen it.",
    ),
    Question(
        "found_less",
        "Whose events are found less often, and by how many of 100 than those of the largest group?",
        '{ attribute = "", group = "", per_100 = 0 }',
        lambda answer: (
            isinstance(answer, dict)
            and _text(answer.get("attribute")) == "language"
            and _text(answer.get("group")) == "minority"
            and _is_number(answer.get("per_100"), _gap(), NEAR)
        ),
        "Which rate is counted among those with the event? Take a gap that is shown; join spellings first.",
    ),
    Question(
        "base_rate",
        "In which attribute are people selected unlike each other as they would be by a score without error?",
        '""',
        lambda answer: _text(answer) == "region",
        "Hold the selection ratio beside that of a model without any error; are events found as often there?",
    ),
    Question(
        "not_judged",
        "Which group can these records not judge?",
        '""',
        lambda answer: _text(answer) == "self-pay",
        "What is the smallest group of each attribute, and how many events has it?",
    ),
    Question(
        "hospital",
        "Which hospital's records are not like those of the others?",
        '""',
        lambda answer: _text(answer) in {BEARING.lower(), f"hospital {BEARING}".lower()},
        "Its patients and their scores are like the others'. What is recorded of them?",
    ),
    Question(
        "pocket",
        "Which columns describe the patients for whom the score is far too low? (Two.)",
        "[]",
        lambda answer: _names(answer) == {"dialysis", "earlier_stays"},
        "What do the pockets that are flagged as too low have in common, in either map?",
    ),
    Question(
        "proxy",
        "Which column would have hidden the gap, were it the outcome?",
        '""',
        lambda answer: _text(answer) == "high_cost",
        "Something else is recorded of the year that follows. Who gets less of it at the same illness?",
    ),
)


def write_blank() -> str:
    """Write the file of answers before anybody has answered."""
    lines = [f"# {one.asks}\n{one.key} = {one.blank}\n" for one in QUESTIONS]
    return "# Your answers. Then: auditbook check-answers answers.toml\n\n" + "\n".join(lines)


def check_answers(path: Path) -> tuple[Answer, ...]:
    """Check a file of answers and say of each whether it is right, or where to look again.

    Parameters
    ----------
    path : Path
        ``answers.toml``, as `write_capstone` lays it out.

    Returns
    -------
    tuple of Answer
        In the order of the questions. What is said of a wrong answer is a hint and never the answer.

    Raises
    ------
    InputError
        If the file cannot be read, or has a key that no question has.
    """
    given = _read(path)
    unknown = [key for key in given if key not in {one.key for one in QUESTIONS}]
    if unknown:
        known = [one.key for one in QUESTIONS]
        raise InputError(
            *(f"{path.name}: no question is called '{key}'{nearest(key, known)}" for key in unknown)
        )
    return tuple(_check(one, given) for one in QUESTIONS)


def _read(path: Path) -> Mapping[str, Any]:
    """Read a file of answers."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        raise InputError(f"{path.name}: byte {fault.start} is not UTF-8; save the file as UTF-8") from fault
    except (ValueError, RecursionError) as fault:
        advice = "text needs quotes, lists need commas, no key stands twice"
        raise InputError(f"{path.name}: not valid TOML: {fault}; {advice}") from fault


def _check(question: Question, given: Mapping[str, Any]) -> Answer:
    """Check one answer; one that is blank is told the question again."""
    blank = tomllib.loads(f"blank = {question.blank}")["blank"]
    answer = given.get(question.key, blank)
    if answer == blank:
        return Answer(question.key, False, f"not answered: {question.asks}")
    if question.is_right(answer):
        return Answer(question.key, True, "right")
    return Answer(question.key, False, f"not yet: {question.hint}")


def tell_answers(answers: Sequence[Answer]) -> list[str]:
    """Write what is said of the answers, and how many are right."""
    right = sum(answer.right for answer in answers)
    lines = [f"{answer.key}: {answer.words}" for answer in answers]
    return [*lines, f"{right} of {len(answers)} right"]
