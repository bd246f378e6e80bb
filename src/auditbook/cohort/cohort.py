"""What is a cohort once it is read: kept records with their outcome, site, unit and groups."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.schema import CohortFile, UnitRule
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
    data_hash: str  # SHA-256 of the data file's bytes, or of the generated table
    feature_columns: tuple[str, ...]  # Columns that a model trained here may use, late ones included
    late_columns: tuple[str, ...]  # The features among them that are known only at the end of the stay
    # By attribute, those left out for it; none of a continuous outcome, of weighted records, nor where
    # a profile draws records
    unplaced: tuple[Unplaced, ...] = ()
    survey: Survey | None = None  # How the records were drawn; None where each stands for itself
    other_outcomes: tuple[OtherOutcome, ...] = ()
    settled: tuple[SettledAttribute, ...] = ()  # Attributes of which every unit was given one group
    synthetic: bool = False  # True when the records are generated and nobody's

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
