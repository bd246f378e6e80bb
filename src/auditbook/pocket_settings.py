"""Which constants does a pocket audit use? Every one has a name, a default and a source."""

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from auditbook.key_types import Exactly, Flag, LeftOut, Text, WrittenAs

Partition = Literal["sbm", "leiden", "tree_cut", "spectral"]
Start = Literal["fast", "published"]
UnitKind = Literal["unit", "site", "record"]
Ratios = Literal["published", "corrected"]
MOST_CANDIDATES = 50
"""Columns tried at each split where the cohort file sets no share (ours): embeddings repeat each other."""
PARTITIONS: tuple[Partition, ...] = get_args(Partition)
Names = Annotated[tuple[str, ...], WrittenAs(tuple[Text, ...])]
PositiveNumbers = tuple[Annotated[float, Exactly(gt=0)], ...]


@dataclass(frozen=True)
class PocketSettings:
    """``[pockets]``: constants of the pocket audit; "published" means the pocket paper.

    Where a default is None it depends on the outcome or the units, and the method named after it gives it.
    """

    run: Flag = True
    """False leaves the pocket audit out."""
    unit: UnitKind = "unit"
    """What gets one role and one bootstrap weight: the cohort's `unit`, the `site` (with the support rule and
    level of hospitals), or each `record`.
    """
    development: Annotated[
        Annotated[float, Exactly(ge=0, le=0.9)] | None,
        LeftOut("0.4; 0 where no model is trained and no score mapped"),
    ] = None
    """Share of the units that models are fitted on, or scores mapped (published: 0.40)."""
    discovery: Annotated[
        Annotated[float, Exactly(ge=0.05, le=0.9)] | None, LeftOut("0.3; 0.5 where nothing is developed")
    ] = None
    """Share of the units that maps are learned from; the rest is audited (published: 0.30)."""
    graph_share: Annotated[float, Exactly(ge=0.5, le=0.95)] = 0.8
    """Share of the discovery units whose records form the graph; the others calibrate the assignment
    (published: 0.80).
    """
    graph_records: Annotated[int, Exactly(ge=100, le=200_000)] = 22_000
    """Records in the graph at the most, taken evenly over the canonical order; the profile may lower it
    (ours: 22,000).
    """
    partition: Partition = "sbm"
    """What parts the graph, never replaced silently: `sbm` (nested block model), `leiden`, `tree_cut` (of the
    block model's hierarchy), `spectral` (few records only).
    """
    start: Start = "fast"
    """How the block model is fitted: `fast` (from a fine Leiden partition) or `published`; both report the
    description length.
    """
    fits: Annotated[int, Exactly(ge=1, le=20)] = 3
    """Seeded fits, of which the shortest description is kept (published: 3)."""
    trees: Annotated[int, Exactly(ge=10, le=2_000)] = 200
    """Trees of the forest (published: 200; 500 in continuous simulations)."""
    min_leaf: Annotated[int, Exactly(ge=1, le=10_000)] = 20
    """Records a leaf at the least (published: 20)."""
    candidates: Annotated[
        Annotated[float, Exactly(ge=0.01, le=1)] | None, LeftOut("a third, at most 50 columns")
    ] = None
    """Share of the features tried at each split (ours; published as a constant that was lost in print)."""
    neighbours: Annotated[int, Exactly(ge=2, le=500)] = 30
    """Most similar records that each record of the graph may be linked to (published: 30)."""
    abstain: Annotated[float, Exactly(ge=0, le=0.5)] = 0.01
    """Quantile of similarity and of lead below which a map abstains (published: 0.01)."""
    late: Flag = False
    """True lets the maps use features that are known only at the end of the stay."""
    exclude: Names = ()
    """Further columns that the maps may not use; attributes that are compared are never used."""
    describe: Annotated[
        Names, LeftOut("the features of the maps, without long numbered series such as embeddings")
    ] = ()
    """Columns of which names and descriptions of pockets are made, those too that no map may use; no outcome
    and no score.
    """
    models: Annotated[Names, LeftOut("the first two of the panel")] = ()
    """Models of the panel that are fitted on the development units and audited."""
    isotonic: Annotated[Names, LeftOut("every score of kind rank")] = ()
    """Given scores that are mapped to the outcome's scale by isotonic regression on development records, as
    those of kind `rank` always are.
    """
    attributes: Annotated[Names, LeftOut("all attributes")] = ()
    """Attributes whose groups are compared with their reference, or with the largest group."""
    choice_attributes: Annotated[Names, LeftOut("those that are compared")] = ()
    """Attributes whose comparisons choose how fine the forest map is."""
    choice_for: Literal["gaps", "errors"] = "gaps"
    """What the forest map is made as fine as the data bear for: `gaps`, so that groups can be compared within
    pockets, or `errors`, so that mean errors can be tested, where fewer comparisons may have support.
    """
    paired: Names = ()
    """Pairs of models whose gaps are compared, each written `"one - other"`."""
    level: Annotated[
        Annotated[float, Exactly(ge=1e-6, le=0.5)] | None,
        LeftOut("0.025; 0.0125 with sites; 0.05 for a continuous outcome"),
    ] = None
    """Chance of any false flag asked of both maps together, for one family."""
    error_level: Annotated[Annotated[float, Exactly(ge=1e-6, le=0.5)] | None, LeftOut("the level")] = None
    """The same for mean errors alone."""
    strict_level: Annotated[float, Exactly(ge=1e-6, le=0.5)] = 0.0025
    """Stricter level of one map for mean errors with sites as units, told beside (published: 0.0025)."""
    draws: Annotated[int, Exactly(ge=99, le=999_999)] = 9_999
    """Draws of the wild cluster bootstrap; the profile may lower it (published: 9,999)."""
    ratios: Annotated[
        Ratios | None, LeftOut("published for an event with records as units; else corrected")
    ] = None
    """What is held against the draws: `published` (estimate over standard error), or `corrected` for skewness
    and for few units (ours: Hall's transformation, and Student's distribution on the effective units).
    """
    support_records: Annotated[
        Annotated[int, Exactly(ge=2, le=1_000_000)] | None, LeftOut("100; 50 for a continuous outcome")
    ] = None
    """Records that a cell needs to be tested (as published)."""
    choice_records: Annotated[
        Annotated[int, Exactly(ge=2, le=1_000_000)] | None, LeftOut("150; 75 for a continuous outcome")
    ] = None
    """Records that a cell is projected to have when the fineness of a map is chosen (as published)."""
    support_events: Annotated[int, Exactly(ge=0, le=1_000_000)] = 10
    """Expected events, and expected non-events, that a cell needs (published: 10)."""
    min_sites: Annotated[int, Exactly(ge=2, le=10_000)] = 15
    """Distinct sites, patients or other units that a cell needs where these hold several records (published:
    15, of sites).
    """
    min_effective_sites: Annotated[float, Exactly(ge=1, le=10_000)] = 10.0
    """Effective units that it needs then (published: 10, of sites)."""
    largest_site: Annotated[float, Exactly(ge=0.01, le=1)] = 0.20
    """Largest share of a cell that one unit may hold then (published: 0.20, of sites)."""
    tolerances: Annotated[
        tuple[float, ...],
        WrittenAs(PositiveNumbers),
        LeftOut("0.05; a quarter and half of the outcome's standard deviation when it is continuous"),
    ] = ()
    """Half widths within which an interval rules errors out, in the outcome's unit (ours)."""

    def candidates_of(self, *, columns: int) -> float:
        """Return the share of the features tried at each split."""
        if self.candidates is not None:
            return self.candidates
        return min(1 / 3, MOST_CANDIDATES / max(columns, 1))

    def development_of(self, *, fitted: bool) -> float:
        """Return the development share; none is needed where nothing is fitted on it."""
        if self.development is not None:
            return self.development
        return 0.4 if fitted else 0.0

    def discovery_of(self, *, fitted: bool) -> float:
        """Return the discovery share: by default as large as what is audited."""
        if self.discovery is not None:
            return self.discovery
        return 0.3 if self.development_of(fitted=fitted) else 0.5

    def level_of(self, *, continuous: bool, sites: bool) -> float:
        """Return the level of one family (published: 0.05 continuous, 0.025 binary, 0.0125 sites)."""
        if self.level is not None:
            return self.level
        return 0.05 if continuous else 0.0125 if sites else 0.025

    def error_level_of(self, *, continuous: bool, sites: bool) -> float:
        """Return the level of a family of mean errors."""
        given = self.error_level
        return given if given is not None else self.level_of(continuous=continuous, sites=sites)

    def ratios_of(self, *, continuous: bool, unit_kind: UnitKind) -> Ratios:
        """Return how ratios are judged: as published where that was seen to keep its level."""
        if self.ratios is not None:
            return self.ratios
        return "corrected" if continuous or unit_kind != "record" else "published"

    def support_of(self, *, continuous: bool) -> int:
        """Return the records that a tested cell needs."""
        return self.support_records if self.support_records is not None else 50 if continuous else 100

    def choice_of(self, *, continuous: bool) -> int:
        """Return the records that a cell is projected to have when the level is chosen."""
        return self.choice_records if self.choice_records is not None else 75 if continuous else 150
