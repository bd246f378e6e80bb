"""What can a cohort file say: its tables as types."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from auditbook.cohort.read_table import check_file, hash_file, is_there
from auditbook.errors import InputError, printable
from auditbook.pocket_settings import PocketSettings
from auditbook.records import ScoreKind
from auditbook.settings import Protocol

Value = str | int | float | bool


@dataclass(frozen=True)
class DropRule:
    """Records to leave out: those whose `column` holds one of `matching`; counted under `reason`."""

    column: str
    matching: tuple[Value, ...]
    reason: str


@dataclass(frozen=True)
class DataTable:
    """``[data]``: where the table comes from."""

    path: Path | None = None  # The table's file; None when the cohort is synthetic
    source: str = ""  # Who publishes the data and on which terms, in words
    drop: tuple[DropRule, ...] = ()  # Records to leave out, in the order in which they are counted
    synthetic: str | None = None  # Name of the generator used instead of a file
    rows: int = 100_000  # Records to generate and the generator's seed
    seed: int = 42  # Records to generate and the generator's seed


@dataclass(frozen=True)
class Event:
    """What counts as an event: ``column <comparison> value``."""

    comparison: str
    value: Value


@dataclass(frozen=True)
class OutcomeTable:
    """``[outcome]``: the column to predict."""

    column: str  # Name of the column
    event: Event | None  # What counts as an event; None for a continuous outcome
    text: str = ""  # The event as the file writes it, for the report; blank for a continuous outcome
    harm: str = ""  # What the event means to the person, in words

    @property
    def continuous(self) -> bool:
        """True when the outcome is a number and not an event."""
        return self.event is None


@dataclass(frozen=True)
class SiteTable:
    """``[site]``: the column that names the site, and whether a cohort without one is refused."""

    column: str | None = None
    required: bool = False


@dataclass(frozen=True)
class UnitTable:
    """``[unit]``: the column that names what must not be split between parts, such as the patient."""

    column: str | None = None


@dataclass(frozen=True)
class AttributeTable:
    """``[attributes.<name>]``: a protected attribute."""

    name: str  # Name in the report; column of the table
    column: str  # Name in the report; column of the table
    reference: str | None = None  # Group that contrasts are taken against
    # Recoding: value in the table to name of the group
    groups: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    # The groups in their order, when declared; one without records stays listed
    categories: tuple[str, ...] = ()
    # Lower bounds, rising; a bin holds its lower bound, and the last is open-ended
    bins: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()  # One a bin
    missing: str = "error"  # What happens to a record without a value
    missing_values: tuple[Value, ...] = ()  # Values of this column that mean "missing", beside blank cells


@dataclass(frozen=True)
class MissingTable:
    """``[missing]``: rules for blank cells, and marks (``values``) that mean "missing" in every column."""

    attributes: str = "error"
    outcome: str = "drop"
    marks: tuple[Value, ...] = ()


@dataclass(frozen=True)
class FeaturesTable:
    """``[features]``: columns that a model trained here may use; `include` None means every free column."""

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoreTable:
    """``[scores.<name>]``: given predictions; exactly one of `threshold` and `percentile` is set."""

    name: str
    column: str
    kind: ScoreKind
    threshold: float | None = 0.5
    percentile: float | None = None


@dataclass(frozen=True)
class PanelTable:
    """``[panel]``: models to train here; exactly one of `threshold` and `percentile` is set."""

    models: tuple[str, ...] = ()  # Models that see every feature; the first is the canonical one
    lean: tuple[str, ...] = ()  # Those of them that are trained once more, without the late features
    threshold: float | None = 0.5  # Where the scores of all of them are cut
    percentile: float | None = None  # Where the scores of all of them are cut


@dataclass(frozen=True)
class MitigationTable:
    """``[mitigation]``: how the baselines that mitigate are set.

    Attributes
    ----------
    attributes : tuple of str
        Attributes that are crossed into cells; empty takes the first three of the file. Every attribute is
        held to its disparate impact whether it is crossed or not.
    strength : float
        Strength of reweighing in the main table (published: lambda = 2).
    strengths : tuple of float
        Strengths of the sweep.
    headroom : float
        What is asked of every disparate impact above its threshold (published: 0).
    headrooms : tuple of float
        Headrooms of the sweep.
    """

    attributes: tuple[str, ...] = ()
    strength: float = 2.0
    strengths: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
    headroom: float = 0.0
    headrooms: tuple[float, ...] = (0.0, 0.02, 0.04, 0.06, 0.08, 0.10)


@dataclass(frozen=True)
class CohortFile:
    """A validated cohort file."""

    path: Path  # The file itself
    name: str  # Letters, digits and hyphens: names the folder of a run
    title: str  # Heading of the report
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    data: DataTable
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    outcome: OutcomeTable
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    site: SiteTable
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    unit: UnitTable
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    attributes: tuple[AttributeTable, ...]
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    missing: MissingTable
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    features: FeaturesTable
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    scores: tuple[ScoreTable, ...]
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    panel: PanelTable
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    protocol: Protocol
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    mitigation: MitigationTable = field(default_factory=MitigationTable)
    # The tables of the file; `attributes` and `scores` hold one entry a sub-table, in the file's order
    pockets: PocketSettings = field(default_factory=PocketSettings)

    def data_path(self, data: Path | None = None) -> Path | None:
        """Return the file to read: `data` when given, else the cohort file's; None when synthetic."""
        return data if data is not None else self.data.path

    def digest(self, data: Path | None = None) -> str:
        """Hash everything that a cohort depends on: this file and its data (SHA-256, hexadecimal)."""
        path = self.data_path(data)
        if path is None:
            content = "synthetic"
        else:
            self.find_data(path)
            content = hash_file(path)
        return hashlib.sha256(f"{hash_file(self.path)} {content}".encode()).hexdigest()

    def find_data(self, path: Path) -> None:
        """Check that the data file is there; say where the data can be had when it is not."""
        if not is_there(path):
            source = f" The data: {self.data.source}" if self.data.source else ""
            raise InputError(
                printable(
                    f"{self.path.name}: [data] path: {path} does not exist; check the path, or name the "
                    f"file on the command line: --data PATH.{source}"
                )
            )
        check_file(path)

    def describe(self) -> dict[str, Any]:
        """Say in plain values what run.json keeps of this file."""
        return {
            "name": self.name,
            "title": self.title,
            "harm": self.outcome.harm,
            "event": self.outcome.text,
            "source": self.data.source,
            "outcome": {
                "column": self.outcome.column,
                "event": self.outcome.text,
                "continuous": self.outcome.continuous,
            },
            "site": self.site.column,
            "unit": self.unit.column or self.site.column,
            "attributes": [item.name for item in self.attributes],
        }
