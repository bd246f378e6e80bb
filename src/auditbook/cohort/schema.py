"""What can a cohort file say: its tables as types, each key with its kind, its default and what it means.

Every key is declared here, in `settings.Protocol` or in `pocket_settings.PocketSettings`, and nowhere else:
`keys` reads from the fields what is accepted, what editors complete, and what the book's page tells.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort.data_files import find_files, hash_files
from auditbook.cohort.events import Event, parse_event
from auditbook.errors import RunError
from auditbook.key_types import NO_KEY, Cell, Exactly, Flag, LeftOut, Number, Text, Value, WrittenAs
from auditbook.pocket_settings import Names, PocketSettings
from auditbook.records import ScoreKind
from auditbook.settings import Protocol
from auditbook.tables import AS_FOUND, TableFormat, show

Synthetic = Literal["texas-twin", "care-twin", "icu-twin", "readmission-twin", "chest-xray-twin"]
MissingRule = Literal["error", "group", "drop"]
UnitRule = Literal["first", "last", "most frequent"]
PerUnit = Literal["max", "first", "last"]
Direction = Literal["high", "low"]
Reading = Literal["auto", "in parts", "whole"]
Paper = Literal["A4", "Letter"]
Cells = Annotated[tuple[Value, ...], WrittenAs(tuple[Cell, ...])]
Numbers = Annotated[Mapping[str, float], WrittenAs(Mapping[str, Number]), LeftOut("cells as they are")]
Strength = Annotated[float, Exactly(ge=0, le=100)]
Headroom = Annotated[float, Exactly(ge=0, le=0.5)]


@dataclass(frozen=True)
class DropRule:
    """An entry of ``drop``: records that leave the cohort and are counted."""

    column: Text
    """Column to look in."""
    values: Cells
    """Records that hold one of these leave the cohort; `""` matches a blank cell."""
    reason: Text
    """Why; the records are counted under it."""


@dataclass(frozen=True)
class DataTable:
    """``[data]``: where the table comes from."""

    path: Annotated[
        Path | None, WrittenAs(Text | Names), LeftOut("required, unless connection or synthetic is set")
    ] = None
    """The table, relative to this file; also a list of files, or a pattern such as `"2024-*.parquet"`, that
    have the same columns and whose records are put under each other.
    """
    paths: tuple[Path, ...] = field(default=(), metadata=NO_KEY)
    """Paths and patterns as they are written."""
    format: Annotated[TableFormat, LeftOut("found in the file")] = AS_FOUND
    """How the file is written, where it does not show it by itself; see `data.format`."""
    connection: Annotated[Text | None, LeftOut("a file is read")] = None
    """A database instead of a file: `"postgresql://warehouse/clinic"`, `"sqlite:///clinic.sqlite"` or
    `"duckdb:///clinic.duckdb"` (a path is relative to this file). User and password come from the
    environment: PGUSER and PGPASSWORD.
    """
    query: Annotated[Text | None, LeftOut("required with connection")] = None
    """What is read there: one SELECT, the name of a table, or a file (.sql) relative to this one."""
    source: Text = ""
    """Who publishes the data and on which terms; printed when the table is not there."""
    drop: Annotated[tuple[DropRule, ...], LeftOut("nothing is dropped")] = ()
    """Records that are not at issue, such as those who died; see `data.drop`."""
    synthetic: Annotated[Synthetic | None, LeftOut("a file is read")] = None
    """Generate the table instead of reading one: `texas-twin`, `care-twin`, `icu-twin`, `readmission-twin` or
    `chest-xray-twin`.
    """
    rows: Annotated[int, Exactly(ge=1)] = 100_000
    """Records to generate."""
    seed: Annotated[int, Exactly(ge=0)] = 42
    """Seed of the generator."""
    read: Reading = "auto"
    """`in parts`: records are counted part by part, in little memory; `whole`: the table is held in memory;
    `auto`: in parts from about 2,000,000 rows on, where nothing in this file needs all records at once.
    """


@dataclass(frozen=True)
class OutcomeTable:
    """``[outcome]``: the column to predict."""

    column: Text
    """What happened."""
    event: Annotated[Value | None, WrittenAs(Cell), LeftOut("required, unless the type is continuous")] = None
    """A comparison (`"> 3"`) or the value that counts as an event."""
    type: Literal["event", "continuous"] = "event"
    """`event` or `continuous`."""
    harm: Text = ""
    """What the event means to the person; printed in the report."""
    time: Annotated[Text | None, LeftOut("no lead times")] = None
    """When the event happened, a date or number as in `[time]`: tells how long before it people were
    selected. No feature.
    """
    numbers: Numbers = field(default_factory=lambda: MappingProxyType({}))
    """Values that stand for a number, read before anything else: `{ "120 +" = 120 }`."""

    @property
    def continuous(self) -> bool:
        """True when the outcome is a number and not an event."""
        return self.type == "continuous"

    @property
    def rule(self) -> Event | None:
        """What counts as an event; None for a continuous outcome."""
        return None if self.event is None or self.continuous else parse_event(self.event)

    @property
    def text(self) -> str:
        """The event as the file writes it, for the report; blank for a continuous outcome."""
        if self.event is None:
            return ""
        return self.event if isinstance(self.event, str) else show(self.event)


@dataclass(frozen=True)
class OtherOutcomeTable:
    """``[outcomes.<name>]``: another outcome of the same records, by which the scores are judged as well."""

    name: str = field(metadata=NO_KEY)
    column: Text
    """What else happened; never a feature."""
    event: Annotated[Value, WrittenAs(Cell)]
    """A comparison (`"> 3"`) or the value that counts as an event."""
    numbers: Numbers = field(default_factory=lambda: MappingProxyType({}))
    """Values of this column that stand for a number, as under `[outcome]`."""

    @property
    def as_outcome(self) -> OutcomeTable:
        """The same as an outcome by itself."""
        return OutcomeTable(self.column, self.event)


@dataclass(frozen=True)
class SiteTable:
    """``[site]``: where the care was given."""

    column: Annotated[Text | None, LeftOut("no site")] = None
    """Hospital, clinic or other place of care."""
    groups: Annotated[Mapping[str, str], WrittenAs(Mapping[str, Text]), LeftOut("as found")] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Names that are joined or changed, `{ "010001" = "10001" }`; also where the site is the unit, or
    a part of it."""
    required: Flag = False
    """Refuse a cohort without a site column."""


@dataclass(frozen=True)
class UnitTable:
    """``[unit]``: what must not be split between training and audit."""

    column: Annotated[Text | None, LeftOut("the site, else each record")] = None
    """What must not be split between training and audit, such as the patient."""
    columns: Annotated[Names, LeftOut("one column, or none")] = ()
    """Instead of a column: two or more that name the unit together, such as hospital and patient number."""
    score_per_unit: Annotated[PerUnit | None, LeftOut("each record is audited")] = None
    """Audit one record a unit that was scored several times: the `first` or `last` in `[time]`, or one with
    the largest score (`max`, each score by itself). It has the event where any of its records has.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that name the unit; none where the site or the record is the unit."""
        return self.columns or ((self.column,) if self.column else ())

    @property
    def key(self) -> str:
        """The key under which they stand."""
        return "columns" if self.columns else "column"


@dataclass(frozen=True)
class TimeTable:
    """``[time]``: when a record was made."""

    column: Annotated[Text | None, LeftOut("no time")] = None
    """Date, or number that grows with time, by which a unit's records are ordered. No feature."""
    window: Annotated[Text | None, LeftOut("no windows")] = None
    """Length of a window of `auditbook watch`: "90 days", "2 weeks", "1 month", "1 quarter", "1 year"."""
    start: Annotated[Text | None, LeftOut("that of the earliest record")] = None
    """First day of the first window, such as "2024-01-01"; windows of months begin on the first of one."""
    baseline: Annotated[int, Exactly(ge=1, le=1000)] = 3
    """Windows, the first ones, that later ones are held against (ours: 3)."""


@dataclass(frozen=True)
class WeightTable:
    """``[weight]``: how many people each record stands for, as in a survey."""

    column: Annotated[Text | None, LeftOut("each record stands for itself")] = None
    """Sampling weight. Records without one, and those of weight 0, are left out and counted. No feature."""
    strata: Annotated[Text | None, LeftOut("one stratum")] = None
    """Stratum that the record was drawn from."""
    cluster: Annotated[Text | None, LeftOut("the unit, else each record")] = None
    """What was drawn first, such as the primary sampling unit; its numbers may begin anew in each stratum."""

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are named, by key."""
        named = {"column": self.column, "strata": self.strata, "cluster": self.cluster}
        return {key: name for key, name in named.items() if name}


@dataclass(frozen=True)
class AttributeTable:
    """``[attributes.<name>]``: a protected attribute."""

    name: str = field(metadata=NO_KEY)
    column: Annotated[Text, LeftOut("required, unless cross is set")] = ""
    """Where the attribute stands."""
    cross: Annotated[Names, LeftOut("no cross")] = ()
    """Instead of a column: two or more attributes, each of whose crossings ("Black, Female") is a group."""
    reference: Annotated[Text | None, LeftOut("none")] = None
    """Group that contrasts are taken against."""
    groups: Annotated[Mapping[str, str], WrittenAs(Mapping[str, Text]), LeftOut("as found")] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Recoding, `{ "value in the table" = "name of the group" }`."""
    categories: Annotated[Names, LeftOut("as found")] = ()
    """All groups in their order, after recoding, also one without records; any other value is an error."""
    bins: Annotated[tuple[float, ...], WrittenAs(tuple[Number, ...]), LeftOut("no bins")] = ()
    """Rising lower bounds for a numeric column. The last bin is open-ended, unless there is one bound more
    than labels: then it ends below the last bound.
    """
    labels: Annotated[Names, LeftOut("made from the bins")] = ()
    """One name a bin."""
    numbers: Numbers = field(default_factory=lambda: MappingProxyType({}))
    """Values that stand for a number, read before the bins: `{ "> 89" = 90 }`."""
    within_unit: Annotated[UnitRule | None, LeftOut("each record keeps its own")] = None
    """Where the records of one unit disagree, all get the `first` or `last` group in `[time]`, or the
    `most frequent` one.
    """
    missing: Annotated[MissingRule, LeftOut("the rule of [missing]")] = "error"
    """Blank cells of this attribute: `error`, `group` or `drop`. Of a cross: records that lack a part; left
    out, those that the parts keep form one group.
    """
    missing_values: Annotated[Cells, LeftOut("none")] = ()
    """Values of this column that mean missing, beside blank cells."""

    @property
    def top(self) -> float:
        """Where the last bin ends; infinite where it is open-ended."""
        return self.bins[-1] if len(self.bins) > len(self.labels) else math.inf


@dataclass(frozen=True)
class MissingTable:
    """``[missing]``: what becomes of blank cells."""

    attributes: MissingRule = "error"
    """Blank cells in an attribute: `error`, `group` (a group of their own) or `drop` (left out and counted).
    """
    outcome: Literal["drop", "error"] = "drop"
    """Blank outcomes: `drop` (left out and counted) or `error`."""
    values: Annotated[Cells, LeftOut("none")] = ()
    """Values that mean missing in every column."""
    columns: Annotated[
        Mapping[str, tuple[Value, ...]],
        WrittenAs(Mapping[str, tuple[Cell, ...]]),
        LeftOut("values holds for all"),
    ] = field(default_factory=lambda: MappingProxyType({}))
    """Values that mean missing in one column, instead of `values`: `{ creatinine = ["NA"], race = [] }`."""


@dataclass(frozen=True)
class FeaturesTable:
    """``[features]``: columns that a model trained here may use."""

    include: Annotated[Names | None, LeftOut("every column without another role")] = None
    """Features of models trained here, by name or by a pattern such as `"emb_*"`; not together with
    `exclude`.
    """
    exclude: Names = ()
    """Columns that are no features, by name or pattern."""
    late: Names = ()
    """Features known only at the end of the stay, by name or pattern."""
    categories: Annotated[Names, LeftOut("as found")] = ()
    """Features, by name or pattern, whose numbers are codes: each value is a category of its own."""
    numbers: Annotated[
        Mapping[str, Mapping[str, float]],
        WrittenAs(Mapping[str, Mapping[str, Number]]),
        LeftOut("cells as they are"),
    ] = field(default_factory=lambda: MappingProxyType({}))
    """Values of a feature that stand for a number: `numbers.los = { "120 +" = 120 }`."""


@dataclass(frozen=True)
class ScoreTable:
    """``[scores.<name>]``: given predictions; exactly one of `threshold` and `percentile` is set."""

    name: str = field(metadata=NO_KEY)
    column: Text
    """Predictions to audit."""
    kind: ScoreKind
    """`probability` (0 to 1), `rank` (order only), `decision` (0 and 1) or `value` (a prediction of a
    continuous outcome).
    """
    threshold: Annotated[Number | None, LeftOut("0.5; a rank needs this or percentile")] = 0.5
    """A record is selected when its score is at least this."""
    percentile: Annotated[Number | None, LeftOut("none")] = None
    """Instead of a threshold: this percentile of the audited records' scores."""
    numbers: Numbers = field(default_factory=lambda: MappingProxyType({}))
    """Values that stand for a number: `{ "<0.01" = 0.005 }`."""
    event_is: Direction = "high"
    """Which scores speak for the event: `high`, or `low` as where survival is scored and the event is death:
    such a score is turned round, and a record is selected when its score is at most the threshold.
    """

    def turn(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn scores so that a higher one speaks for the event: 1 - p for a probability or a decision."""
        if self.event_is == "high":
            return values
        return 0.0 - values if self.kind in ("rank", "value") else 1 - values

    @property
    def direction(self) -> str:
        """Say how a score is turned round, for a terminal; blank where it is not."""
        if self.event_is == "high":
            return ""
        how = "minus the score" if self.kind == "rank" else "1 minus it"
        cut = f"percentile {self.percentile:g}" if self.percentile is not None else f"{self.threshold:g}"
        limit = "it is 0" if self.kind == "decision" else f"the score is at most {cut}"
        return f"low ones speak for the event; audited is {how}, and a record is selected when {limit}"

    @property
    def turned(self) -> "ScoreTable":
        """The same score after it was turned: the threshold, or the percentile, from the other side."""
        if self.event_is == "high":
            return self
        threshold = None if self.threshold is None else float(self.turn(np.array(self.threshold)))
        percentile = None if self.percentile is None else 100 - self.percentile
        return replace(self, threshold=threshold, percentile=percentile)


@dataclass(frozen=True)
class PanelTable:
    """``[panel]``: models to train here; exactly one of `threshold` and `percentile` is set."""

    models: Annotated[Names, LeftOut("xgboost and logistic; none when scores are given")] = ()
    """Models to train here; the first is the canonical one, which the report leads with."""
    lean: Names = ()
    """Models among them that are trained once more, without the late features; audited as `<name>_lean`."""
    threshold: Number | None = 0.5
    """As for scores, for every model trained here."""
    percentile: Annotated[Number | None, LeftOut("none")] = None
    """As for scores, for every model trained here."""


@dataclass(frozen=True)
class MitigationTable:
    """``[mitigation]``: how the baselines that mitigate are set."""

    attributes: Annotated[Names, LeftOut("the first three attributes that are no cross")] = ()
    """Attributes that are crossed into cells with a weight or a threshold each; all attributes are held to
    their disparate impact.
    """
    strength: Strength = 2.0
    """Strength (lambda) of reweighing in the main table (published: 2)."""
    strengths: tuple[Strength, ...] = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
    """Strengths of the sweep; the profile bounds how many models are trained."""
    headroom: Headroom = 0.0
    """What is asked of every disparate impact above its threshold (published: 0)."""
    headrooms: tuple[Headroom, ...] = (0.0, 0.02, 0.04, 0.06, 0.08, 0.10)
    """Headrooms of the sweep."""


@dataclass(frozen=True)
class UseTable:
    """``[use]``: who is asked to trust what; the head of the report and of its forms."""

    model: Text = ""
    """What the model is called where it is used; with several scores, what they have in common."""
    version: Text = ""
    """Version of the model that made the scores."""
    owner: Text = ""
    """Who answers for the model: a department or an office."""
    users: Text = ""
    """Who acts on its scores, such as `"discharge nurses"`."""
    intended_use: Text = ""
    """What it is used for."""
    out_of_scope: Text = ""
    """What it must not be used for, or for whom."""
    period: Text = ""
    """When the audited records are from, such as `"January to June 2024"`."""
    selected_means: Text = ""
    """What is done for, or to, a person who is selected."""
    primary_metric: Text = ""
    """The judged metric that its owner holds to matter most, such as `"EOPP"`."""
    why: Text = ""
    """Why it was chosen."""


@dataclass(frozen=True)
class LabelsTable:
    """``[labels]``: words for codes and names, shown in report and figures; results keep the codes."""

    columns: Annotated[Mapping[str, str], WrittenAs(Mapping[str, Text]), LeftOut("names as they are")] = (
        field(default_factory=lambda: MappingProxyType({}))
    )
    """Words for columns, attributes and models, such as `{ ESPEC = "specialty" }`."""
    values: Annotated[
        Mapping[str, Mapping[str, str]],
        WrittenAs(Mapping[str, Mapping[str, Text]]),
        LeftOut("values as they are"),
    ] = field(default_factory=lambda: MappingProxyType({}))
    """Words for the values of a column or groups of an attribute: `values.ESPEC = { "01" = "surgery" }`."""


@dataclass(frozen=True)
class ReportTable:
    """``[report]``: how the report is written."""

    smallest_cell: Annotated[int, Exactly(ge=0, le=1000)] = 10
    """Numbers about fewer people than this are withheld from everything that is written for others; 0: none
    are.
    """
    paper: Paper = "A4"
    """Paper of the print: `A4` or `Letter`."""
    sex: Annotated[Text | None, LeftOut("the attribute named sex, where there is one")] = None
    """Attribute that forms asking for sex are filled from."""
    race: Annotated[Text | None, LeftOut("the attribute named race, where there is one")] = None
    """Attribute that forms asking for race or ethnicity are filled from."""


@dataclass(frozen=True, kw_only=True)
class CohortFile:
    """A cohort file of auditbook; see the page "Bring your cohort"."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "title": "auditbook cohort file",
        "extra": "forbid",
        "use_attribute_docstrings": True,
    }

    path: Path = field(metadata=NO_KEY)
    name: Text
    """Letters, digits, hyphens; names the folder of the results."""
    title: Annotated[Text, LeftOut("the name")] = ""
    """Heading of the report."""
    data: DataTable
    outcome: OutcomeTable
    outcomes: Annotated[tuple[OtherOutcomeTable, ...], WrittenAs(Mapping[str, OtherOutcomeTable])] = ()
    site: SiteTable = field(default_factory=SiteTable)
    unit: UnitTable = field(default_factory=UnitTable)
    time: TimeTable = field(default_factory=TimeTable)
    weight: WeightTable = field(default_factory=WeightTable)
    attributes: Annotated[tuple[AttributeTable, ...], WrittenAs(Mapping[str, AttributeTable])]
    missing: MissingTable = field(default_factory=MissingTable)
    features: FeaturesTable = field(default_factory=FeaturesTable)
    scores: Annotated[tuple[ScoreTable, ...], WrittenAs(Mapping[str, ScoreTable])] = ()
    panel: PanelTable = field(default_factory=PanelTable)
    protocol: Protocol = field(default_factory=Protocol)
    mitigation: MitigationTable = field(default_factory=MitigationTable)
    pockets: PocketSettings = field(default_factory=PocketSettings)
    use: UseTable = field(default_factory=UseTable)
    labels: LabelsTable = field(default_factory=LabelsTable)
    report: ReportTable = field(default_factory=ReportTable)

    @property
    def attribute_names(self) -> list[str]:
        """The attributes by name, in their order."""
        return [item.name for item in self.attributes]

    @property
    def unit_is_site(self) -> bool:
        """True where the site is what must not be split."""
        return self.site.column is not None and self.unit.names in ((), (self.site.column,))

    def list_columns(self, attribute: str) -> set[str]:
        """List the columns in which an attribute stands: its own, or those of the attributes it crosses."""
        tables = {item.name: item for item in self.attributes}
        table = tables[attribute]
        return {tables[part].column for part in table.cross} or {table.column}

    def find_data(self, data: Path | None = None) -> tuple[Path, ...]:
        """Find the files to read: `data` when given, else the cohort file's; none of another source.

        Says where the data can be had when they are not there.
        """
        written = self.data.paths or ((self.data.path,) if self.data.path else ())
        source = f" The data: {self.data.source}" if self.data.source else ""
        where = f"{self.path.name}: [data] path"
        return find_files((data,) if data is not None else written, where=where, source=source)

    def digest_data(self, data: Path | None = None) -> str:
        """Hash the files that a cohort is read from (SHA-256, hexadecimal)."""
        if self.data.connection is not None and data is None:
            raise RunError("the rows of a database have no hash before they are read")
        files = self.find_data(data)
        return hash_files(files) if files else "synthetic"

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
            "unit": " + ".join(self.unit.names) or self.site.column,
            "identifiers": [name for name in dict.fromkeys([self.site.column, *self.unit.names]) if name],
            "attributes": [item.name for item in self.attributes],
            "crosses": {item.name: list(item.cross) for item in self.attributes if item.cross},
            "groupings": {item.name: self.describe_groups(item) for item in self.attributes},
            "turned": [item.name for item in self.scores if item.event_is == "low"],
            "use": {key: text for key, text in asdict(self.use).items() if text},
            "labels": {
                "columns": dict(self.labels.columns),
                "values": {name: dict(words) for name, words in self.labels.values.items()},
                "groups": {item.name: words for item in self.attributes if (words := self.word_groups(item))},
            },
            "report": asdict(self.report) | {part: self.find_attribute(part) for part in ("sex", "race")},
        }

    def describe_groups(self, item: AttributeTable) -> dict[str, Any]:
        """Say in plain values how the cells of an attribute's column become groups."""
        words = self.missing.columns.get(item.column, self.missing.values)
        return {
            "column": item.column,
            "cross": list(item.cross),
            "groups": dict(item.groups),
            "bins": list(item.bins),
            "labels": list(item.labels),
            "numbers": dict(item.numbers),
            "missing_values": [*item.missing_values, *words],
        }

    def word_groups(self, item: AttributeTable) -> dict[str, str]:
        """Find the words for the groups of an attribute: its own before those of its column's values.

        What is recoded is no group, and another value may have its name.
        """
        values = self.labels.values
        of_column = {
            value: text
            for value, text in values.get(item.column, {}).items()
            if item.groups.get(value, value) == value
        }
        return of_column | dict(values.get(item.name, {}))

    def find_attribute(self, part: Literal["sex", "race"]) -> str | None:
        """Find the attribute that a form means by sex or race: the one that is named, else of this name."""
        named = self.report.sex if part == "sex" else self.report.race
        return named or (part if part in self.attribute_names else None)
