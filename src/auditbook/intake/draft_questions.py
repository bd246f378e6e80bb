"""Which five questions are asked at a terminal before a draft is written, and what does an answer change?"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from auditbook.errors import nearest, printable
from auditbook.intake.guess_roles import guess_roles
from auditbook.intake.guesses import Answers, Guess, Roles, TableFacts, tell_values

Ask = Callable[[str], str]
Say = Callable[[str], None]

NONE = "none"
_MODELS = ("xgboost", "logistic")


def ask_roles(table: TableFacts, *, ask: Ask | None = None, say: Say = print) -> Answers:
    """Ask for outcome, event, unit and site, attributes, scores; an empty answer keeps the guess.

    Parameters
    ----------
    table : TableFacts
        What the columns say.
    ask, say : callable
        How a question is put (by default at the terminal), and a line said.

    Returns
    -------
    Answers
        What a person said instead of a guess; guesses made after an answer rest on it.
    """
    say(f"{len(table.columns)} columns, {len(table.frame):,} records. Five questions; Enter keeps the guess.")
    answers = Answers()
    for question in (_ask_outcome, _ask_event, _ask_unit, _ask_attributes, _ask_scores):
        try:
            answers = question(table, guess_roles(table, answers), answers, ask or input, say)
        except EOFError:
            say("No more answers: the other guesses stand.")
            return answers
    return answers


def _tell(guess: Guess | None, say: Say) -> None:
    """Say what speaks for a guess, what against it, and what else may be meant."""
    for label, texts in (
        ("for it", guess.speaks_for if guess else ()),
        ("against it", guess.speaks_against if guess else ()),
        ("or", guess.others if guess else ()),
    ):
        if texts:
            say(printable(f"   {label}: {'; '.join(texts)}"))


def _put(ask: Ask, question: str, guess: str) -> str:
    return ask(printable(f"{question} [{guess or NONE}] ")).strip()


def _read_columns(table: TableFacts, answer: str, say: Say) -> tuple[str, ...] | None:
    """Read names of columns with commas between; None, with a word, where one is no column."""
    if answer.casefold() == NONE:
        return ()
    if answer in table.columns:
        return (answer,)
    names = [name.strip() for name in answer.split(",") if name.strip()]
    for name in names:
        if name not in table.columns:
            say(printable(f"   there is no column {name!r}{nearest(name, table.columns)}"))
            return None
    return tuple(names)


def _ask_columns(
    table: TableFacts, question: str, guess: Sequence[str], ask: Ask, say: Say, *, most: int | None = None
) -> tuple[str, ...] | None:
    """Ask for columns until the answer can be read; None where the guess is kept."""
    while True:
        answer = _put(ask, question, ", ".join(guess))
        if not answer:
            return None
        names = _read_columns(table, answer, say)
        if names is not None and (most is None or len(names) <= most):
            return names
        if names is not None:
            say(f"   one column, or {NONE}")


def _ask_outcome(table: TableFacts, roles: Roles, answers: Answers, ask: Ask, say: Say) -> Answers:
    found = roles.outcome.guess if roles.outcome else None
    _tell(found, say)
    names = _ask_columns(
        table, "1. Which column says what happened?", [found.column] if found else [], ask, say, most=1
    )
    return replace(answers, outcome=names[0]) if names else answers


def _ask_event(table: TableFacts, roles: Roles, answers: Answers, ask: Ask, say: Say) -> Answers:
    if roles.outcome is None:
        return answers
    facts = table.columns[roles.outcome.guess.column]
    say(printable(f"   values: {tell_values(facts)}"))
    answer = _put(ask, '2. Which value, or comparison such as "> 3", is an event?', str(roles.outcome.event))
    if not answer:
        return answers
    return replace(answers, event=int(answer) if facts.number and answer.lstrip("-").isdecimal() else answer)


def _ask_unit(table: TableFacts, roles: Roles, answers: Answers, ask: Ask, say: Say) -> Answers:
    unit = roles.unit if roles.unit and roles.unit.repeats else None
    _tell(unit.guess if unit else None, say)
    named = _ask_columns(
        table, "3a. What must stay together, such as the patient?", unit.columns if unit else (), ask, say
    )
    answers = answers if named is None else replace(answers, unit=named)
    _tell(roles.site, say)
    site = _ask_columns(
        table, "3b. Which column names the site?", [roles.site.column] if roles.site else [], ask, say, most=1
    )
    return answers if site is None else replace(answers, site=site[0] if site else "")


def _ask_attributes(table: TableFacts, roles: Roles, answers: Answers, ask: Ask, say: Say) -> Answers:
    guess = [item.guess.column for item in roles.attributes]
    names = _ask_columns(
        table, "4. Between the groups of which columns are verdicts wanted?", guess, ask, say
    )
    return replace(answers, attributes=names) if names else answers


def _ask_scores(table: TableFacts, roles: Roles, answers: Answers, ask: Ask, say: Say) -> Answers:
    """Ask for given scores; without any, models are trained."""
    for item in roles.scores:
        _tell(item.guess, say)
    guess = [item.guess.column for item in roles.scores]
    question = f"5. Which columns hold scores to audit? With {NONE}, {' and '.join(_MODELS)} are trained."
    names = _ask_columns(table, question, guess, ask, say)
    return answers if names is None else replace(answers, scores=names, models=() if names else _MODELS)
