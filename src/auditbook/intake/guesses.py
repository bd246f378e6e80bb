"""What is a guess: the column, what speaks for it, what speaks against it, and what else may be meant?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pandas as pd

from auditbook.intake.column_facts import ColumnFacts
from auditbook.intake.lexicon import WHOLE, PublicLayout, fit_name
from auditbook.tables import matches

LAYOUT = 3
"""How well a name fits that the publisher's dictionary gives to the role."""


@dataclass(frozen=True)
class TableFacts:
    """A table, what its columns say, and the public layout that it has."""

    frame: pd.DataFrame
    columns: Mapping[str, ColumnFacts]
    layout: PublicLayout | None

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The columns by their names in lower case, the first of several."""
        return {name.strip().casefold(): name for name in reversed(self.frame.columns)}

    def published(self, role: str) -> list[str]:
        """List the columns that the layout gives to a role, in its order."""
        listed = self.layout.names(role) if self.layout is not None else ()
        return [self.names[name] for name in listed if name in self.names]

    def fit(self, name: str, role: str, barred: str = "") -> int:
        """Tell how well a column's name fits a role: by layout 3, as a whole 2, in part 1, not 0."""
        return LAYOUT if name in self.published(role) else fit_name(name, role, barred=barred)

    def rank(self, role: str, barred: str = "", *, taken: Iterable[str] = ()) -> list[str]:
        """List the columns that a role's words name, the best first; those taken are left out."""
        published, used = self.published(role), set(taken)
        fits = {name: fit_name(name, role, barred=barred) for name in self.columns}
        named = sorted(
            (name for name in fits if fits[name] and name not in published), key=lambda name: -fits[name]
        )
        return [name for name in [*published, *named] if name not in used]

    def count(self, name: str, values: Iterable[str | float]) -> int:
        """Count the cells of a column that are one of these values."""
        held = [matches(self.frame[name], value) for value in values]
        return int(np.any(held, axis=0).sum()) if held else 0

    def tell_name(self, name: str, role: str) -> str:
        """Say why a name fits a role."""
        if self.layout is not None and name in self.published(role):
            return f"{self.layout.title} has it under this name"
        return "its name says so" if fit_name(name, role) == WHOLE else "a word of its name says so"


@dataclass(frozen=True)
class Guess:
    """One column for one role."""

    column: str
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # columns that may be meant instead


@dataclass(frozen=True)
class OutcomeGuess:
    """What happened, and what of it is an event."""

    guess: Guess
    event: str | int  # a comparison such as "> 3", or a value
    events: int
    known: int  # the records in which the outcome is known
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def compares(self) -> bool:
        """True where the event is a comparison of numbers."""
        return isinstance(self.event, str) and self.event.startswith("> ")


@dataclass(frozen=True)
class UnitGuess:
    """What must not be split: one column, or several that name it together."""

    columns: tuple[str, ...]
    guess: Guess
    repeats: bool  # True where a unit has several records


@dataclass(frozen=True)
class AttributeGuess:
    """Groups between which verdicts are wanted."""

    name: str
    guess: Guess
    bins: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # what codes stand for
    unknown: tuple[str | float, ...] = ()  # values that mean missing
    lacking: int = 0  # records without a group
    values: str = ""  # what the column holds, in words
    hint: str = ""  # what to look at


@dataclass(frozen=True)
class ScoreGuess:
    """Predictions that the table holds."""

    guess: Guess
    kind: str  # probability, rank or decision
    low: bool = False  # True where a low score means that the event is probable
    no_score: tuple[str | float, ...] = ()  # values that mean that a record has none
    lacking: int = 0  # records without a score


@dataclass(frozen=True)
class DesignGuess:
    """How a survey was drawn."""

    weight: Guess | None = None
    strata: str | None = None
    cluster: str | None = None
    others: tuple[str, ...] = ()  # further weights, which are no features

    @property
    def columns(self) -> set[str]:
        """The columns that have a role in it."""
        named = (self.weight.column if self.weight else None, self.strata, self.cluster)
        return {name for name in named if name is not None}


@dataclass(frozen=True)
class FeatureGuess:
    """Columns that no model may see, or only at the end of the stay: each with its reason."""

    exclude: Mapping[str, str]
    late: Mapping[str, str]
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """Every role that was guessed; None or empty where nothing fits."""

    outcome: OutcomeGuess | None
    site: Guess | None
    unit: UnitGuess | None
    time: Guess | None
    design: DesignGuess
    attributes: tuple[AttributeGuess, ...]
    scores: tuple[ScoreGuess, ...]
    doubtful_scores: tuple[ScoreGuess, ...]
    models: tuple[str, ...]
    features: FeatureGuess
    missing: Mapping[str, tuple[str | float, ...]]  # values that mean missing in one column
    questionable: Mapping[str, tuple[str, ...]]  # values of a column that may mean missing, or something


@dataclass(frozen=True)
class Answers:
    """What a person said instead of a guess; None where the guess stands."""

    outcome: str | None = None
    event: str | int | None = None
    unit: tuple[str, ...] | None = None
    site: str | None = None  # blank: there is none
    attributes: tuple[str, ...] | None = None
    scores: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None


NO_ANSWERS = Answers()


def tell_values(facts: ColumnFacts, *, limit: int = 6) -> str:
    """List the most frequent values of a column with their counts."""
    shown = [f"'{value}' ({count:,})" for value, count in list(facts.values.items())[:limit]]
    more = f" and {facts.distinct - limit:,} more" if facts.distinct > limit else ""
    return ", ".join(shown) + more
