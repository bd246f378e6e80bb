"""What is a cohort once it is read: kept records with their outcome, site, unit and groups."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.predictions import Predictions
from auditbook.cohort.schema import CohortFile, PerUnit, UnitRule
from auditbook.errors import printable
from auditbook.records import Attribute, Survey
from auditbook.tables import count_of


@dataclass(frozen=True)
class LeftOut:
    """Rows that were read and are not used, and why."""

    reason: str
    rows: int


@dataclass(frozen=True)
class Unplaced:
    """Records that were left out because they lack one attribute, and for no other reason."""

    attribute: str
    scores: pd.DataFrame  # The columns of the given scores
    outcome: NDArray[np.int8]  # shape (n,): 1 where the event happened, else 0


@dataclass(frozen=True)
class OtherOutcome:
    """Another outcome of the kept records."""

    name: str
    cells: NDArray[np.float64]  # shape (n,): 1 for an event, 0 for none; nan where missing


@dataclass(frozen=True)
class SettledAttribute:
    """An attribute of which all records of a unit were given one group."""

    attribute: str
    rule: UnitRule
    units: int  # Units whose records held more than one group
    records: int  # Records whose group is another than the table says, or that had none

    @property
    def text(self) -> str:
        """Say what was done, for a terminal and for the report."""
        which = "most frequent group" if self.rule == "most frequent" else f"{self.rule} group in time"
        units = f"{count_of(self.units, 'unit')} held more than one group"
        records = f"{count_of(self.records, 'record')} changed"
        return f"{units}; the {which} of a unit stands for all of its records ({records})"


STANDS = {
    "max": "each score is the largest of its unit",
    "first": "the first in time stands for its unit",
    "last": "the last in time stands for its unit",
}
"""What stands for a unit by each rule, in words."""


@dataclass(frozen=True)
class MergedUnits:
    """What became of units that were scored several times."""

    rule: PerUnit
    records: int  # Before
    units: int  # Records after
    several: int  # Units with several records
    largest: int  # Records of the unit with most
    mixed: int  # Units of which some records have the event and others do not; they have it
    untimed: int  # Units with several records of which none has a moment, where the rule asks for one

    @property
    def text(self) -> str:
        """Say what was done, for a terminal and for the report."""
        records, units = count_of(self.records, "record"), count_of(self.units, "unit")
        told = f"{records} of {units} became {self.units:,}: {STANDS[self.rule]}"
        if not self.several:
            return f"each of {units} has one record, so that nothing was chosen among several"
        told += f"; {count_of(self.several, 'unit')} had several (up to {self.largest:,})"
        if self.mixed:
            has = "has" if self.mixed == 1 else "have"
            told += f"; {count_of(self.mixed, 'unit')} with the event in some of them only {has} it"
        if self.untimed:
            told += f"; {count_of(self.untimed, 'unit')} had no moment to choose by: the highest score stands"
        return told


@dataclass(frozen=True)
class Cohort:
    """The kept records of a cohort."""

    file: CohortFile  # The cohort file that was followed
    # Every column of the kept rows in plain form (see `tables.PlainTable`); site, unit and attributes
    # without bins are text. Columns in the order of their names, rows in that of `order_cohort`; RangeIndex
    table: pd.DataFrame
    # shape (n,): 1 where the event happened, else 0; float64 values when the outcome is continuous
    outcome: NDArray[np.int8] | NDArray[np.float64]
    site: NDArray[np.object_] | None  # shape (n,): Site of each record; None without a site column
    # shape (n,): What must not be split between parts: the unit's column, else the site, else the
    # record's number
    unit: NDArray[np.object_]
    attributes: tuple[Attribute, ...]  # The protected attributes, codes of shape (n,)
    rows_read: int  # Rows of the data, before anything was left out
    # Rows left out, by reason; a row counts under the first reason that applies
    left_out: tuple[LeftOut, ...]
    data_hash: str  # SHA-256 of the data file's bytes, of a query's rows, or of the generated table
    feature_columns: tuple[str, ...]  # Columns that a model trained here may use, late ones included
    late_columns: tuple[str, ...]  # The features among them that are known only at the end of the stay
    # By attribute, those left out for it; none of a continuous outcome, of weighted records, nor where
    # a profile draws records
    unplaced: tuple[Unplaced, ...] = ()
    survey: Survey | None = None  # How the records were drawn; None where each stands for itself
    other_outcomes: tuple[OtherOutcome, ...] = ()
    settled: tuple[SettledAttribute, ...] = ()  # Attributes of which every unit was given one group
    synthetic: bool = False  # True when the records are generated and nobody's
    merged: MergedUnits | None = None  # What became of units that were scored several times; None: no rule
    # Every prediction behind the records; None where each record is one and no event's time is named
    predictions: Predictions | None = None

    @property
    def continuous(self) -> bool:
        """True when the outcome is a number and not an event."""
        return self.file.outcome.continuous

    def summary(self) -> str:
        """Describe the cohort in a few lines for a terminal."""
        lines = [f"{self.file.title}: {self.rows_read:,} rows read, {len(self.table):,} kept"]
        lines += [f"  left out: {count_of(part.rows, 'row')}, {part.reason}" for part in self.left_out]
        if not self.continuous:
            events = int(self.outcome.sum())
            lines.append(
                f"  events: {events:,} ({events / len(self.outcome):.1%}), "
                f"{self.file.outcome.column} {self.file.outcome.text}"
            )
        if self.site is not None:
            lines.append(f"  sites: {len(set(self.site)):,}")
        lines.append(f"  units: {len(set(self.unit)):,}")
        lines += [f"  score_per_unit: {self.merged.text}"] if self.merged is not None else []
        if self.survey is not None:
            lines.append(f"  weights: they add up to {self.survey.weight.sum():,.0f}")
        for attribute in self.attributes:
            counts = np.bincount(attribute.codes, minlength=len(attribute.groups))
            mark = "; " if attribute.parts else ", "  # A comma stands within the names of a cross
            groups = mark.join(
                f"{name} {count:,}" for name, count in zip(attribute.groups, counts, strict=True)
            )
            number = f"{len(attribute.groups)} groups: " if attribute.parts else ""
            lines.append(f"  {attribute.name}: {number}{groups}")
        lines += [f"  {part.attribute}: {part.text}" for part in self.settled]
        lines += [f"  {item.name}: {item.direction}" for item in self.file.scores if item.direction]
        lines.append(f"  features: {len(self.feature_columns)}, of which {len(self.late_columns)} late")
        return "\n".join(printable(line) for line in lines)
