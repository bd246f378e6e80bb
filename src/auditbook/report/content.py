"""What does the report say: each sentence and number of it as data, with the rows that it rests on?

`build_report` fills these; the page, the print, report.json and the hand-ins only lay them out. All texts are
plain: no markup, not escaped.
"""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

Cell = str | float | int | None
"""A value of a result table; None where it is blank or withheld."""
MarkName = Literal["fails", "open", "partly", "passes", "unjudged"]
"""Shown to fail; open; passes for those compared; shown to pass; cannot be judged."""


@dataclass(frozen=True)
class Basis:
    """The rows of a result file that a statement rests on."""

    file: str  # Such as verdicts.csv
    where: dict[str, Cell]  # Values of the columns that pick the rows; empty: all of them


@dataclass(frozen=True)
class Statement:
    """A sentence or two that a reader sees."""

    text: str
    basis: tuple[Basis, ...] = ()


@dataclass(frozen=True)
class Use:
    """Who is asked to trust what: ``[use]`` of the cohort file; blank where it says nothing."""

    model: str = ""
    version: str = ""
    owner: str = ""
    users: str = ""
    intended_use: str = ""
    out_of_scope: str = ""
    period: str = ""
    selected_means: str = ""
    harm: str = ""
    primary_metric: str = ""
    why: str = ""


@dataclass(frozen=True)
class Head:
    """What was audited, and on whom."""

    title: str
    cohort: str
    use: Use
    outcome: str  # Column and event, in words
    continuous: bool
    synthetic: bool
    rows_read: int | None  # None where it is withheld
    records: int  # Audited
    sites: int  # 0: none is named
    left_out: Statement
    population: Statement  # The one audited population, named; and where pockets audit other records
    hash: str  # Of the results, short
    profile: str
    seed: int


@dataclass(frozen=True)
class Share:
    """Of so many people so many: a rate with its interval; None where it is withheld or undefined."""

    group: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None  # People that it is a share of
    of: int = 100  # People of whom it is told


@dataclass(frozen=True)
class Finding:
    """One thing that was shown to fail, as people."""

    model: str
    attribute: str
    metrics: tuple[str, ...]  # One, or several that say the same (EOPP within EOD)
    question: str  # A key of `QUESTIONS`
    shares: tuple[Share, ...]  # Of the two groups: the one concerned first
    gap: float | None
    gap_low: float | None
    gap_high: float | None
    threshold: float
    affected: float | None  # People among the audited records whom the gap touches
    error_free: float | None  # What a model without any error would have
    error_free_fails: bool  # Whether that fails too, and as far but for what is allowed
    statement: Statement  # Groups, people per 100, interval, n, what was shown
    action: str  # What to do
    short: str = ""  # The same in a few words, as the answer tells it
    also: tuple[tuple[str, str], ...] = ()  # Attributes and groups of which the same is shown


@dataclass(frozen=True)
class Mark:
    """What was shown of one question and attribute."""

    question: str  # A key of `QUESTIONS`
    attribute: str
    mark: MarkName
    statement: Statement


@dataclass(frozen=True)
class Calibrated:
    """What the scores of a group said, and what happened."""

    attribute: str
    group: str
    predicted: float | None  # Of 100
    happened: float | None
    low: float | None
    high: float | None
    n: int | None
    where: str = ""  # The scores that it is about; blank: all


@dataclass(frozen=True)
class PocketNote:
    """A flagged pocket, or a gap between groups within one."""

    model: str
    map: str
    pocket: str
    kind: Literal["error", "gap"]
    statement: Statement


@dataclass(frozen=True)
class ModelPage:
    """The first page of one model."""

    model: str
    source: str  # given or trained
    answer: Statement  # The answer in a sentence
    findings: tuple[Finding, ...]  # At most five, the most people first
    further: Statement | None  # How many more were shown to fail, and where they stand
    without_error: tuple[Statement, ...]
    unjudged: tuple[Statement, ...]  # Who cannot be judged, and how many more records it takes
    marks: tuple[Mark, ...]  # Questions x attributes, in the order of `QUESTIONS`
    calibration: tuple[Calibrated, ...]
    pockets: tuple[PocketNote, ...]
    pockets_said: Statement | None  # When nothing is flagged, or no pocket could be made: that, and why
    repair: tuple[Statement, ...]  # What a repair would cost, and whether it held on unseen patients
    late: Statement | None  # Features that forbid use at admission
    unknown: tuple[Statement, ...]  # What is not known
    accuracy: Statement


@dataclass(frozen=True)
class Sheet:
    """A table of the annex."""

    name: str  # Of the result file
    title: str
    table: pd.DataFrame  # Columns as in columns.toml
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of the annex."""

    key: str
    title: str
    statements: tuple[Statement, ...]
    sheets: tuple[Sheet, ...]


@dataclass(frozen=True)
class Report:
    """The report of one run."""

    head: Head
    pages: tuple[ModelPage, ...]  # One a model, the first that the cohort file names first; may be empty
    comparison: tuple[Statement, ...]  # Several models side by side, paired; empty with one
    comparison_sheet: Sheet | None
    annex: tuple[Section, ...]
    smallest_cell: int  # Fewer people than this are not shown


QUESTIONS = {
    "found": "Are those with the event found?",
    "alarms": "False alarms alike?",
    "selected": "Selected alike?",
    "meaning": "Does being selected mean the same?",
    "risk": "Is the risk what it says?",
    "order": "In the right order within each group?",
}
"""The rows of the matrix; a cohort whose file names what being selected means has words of its own."""
