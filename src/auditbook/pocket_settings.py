"""Which constants does a pocket audit use? Every one has a name, a default and a source."""

from dataclasses import dataclass
from typing import Literal

PARTITIONS = ("sbm", "leiden", "tree_cut", "spectral")
STARTS = ("fast", "published")
UNITS = ("unit", "site", "record")

Partition = Literal["sbm", "leiden", "tree_cut", "spectral"]
UnitKind = Literal["unit", "site", "record"]


@dataclass(frozen=True)
class PocketSettings:
    """``[pockets]``: constants of the pocket audit; "published" means the pocket paper.

    Where a default is None it depends on the outcome or the units, and the property named beside it gives it.

    Attributes
    ----------
    run : bool
        False leaves the pocket audit out.
    unit : {"unit", "site", "record"}
        What is given one role and one bootstrap weight: the cohort's unit, the site, or each record. "site"
        also asks for the support rule and the stricter level of hospitals.
    development, discovery : float
        Shares of the units that models are fitted on and that maps are learned from; the rest is audited
        (published: 0.40 and 0.30).
    graph_share : float
        Share of the discovery units whose records form the graph; the others calibrate the assignment
        (published: 0.80).
    graph_records : int
        Records in the graph at the most, taken evenly over the canonical order (ours: 22,000).
    partition : {"sbm", "leiden", "tree_cut", "spectral"}
        What parts the forest's graph into pockets. Never replaced silently by another.
    start : {"fast", "published"}
        How the nested block model is fitted; both report the description length.
    fits : int
        Seeded fits of which the shortest description is kept (published: 3).
    trees, min_leaf : int
        The forest (published: 200 trees of at least 20 records a leaf; 500 in continuous simulations).
    candidates : float
        Share of the features tried at each split (ours: a third; published as a constant lost in print).
    neighbours : int
        Most similar records that each graph record may be linked to (published: 30).
    abstain : float
        Quantile of calibration records below which similarity or lead is too low (published: 0.01).
    late : bool
        True lets the maps use features that are known only at the end of the stay.
    exclude : tuple of str
        Further columns that the maps may not use.
    models : tuple of str
        Models of the panel that are trained on the development units and audited; empty takes the first two.
    isotonic : tuple of str
        Given scores that are mapped to the outcome's scale by an isotonic regression on development records;
        scores of kind "rank" always are.
    attributes : tuple of str
        Attributes whose groups are compared; empty takes all.
    choice_attributes : tuple of str
        Attributes among them whose comparisons choose how fine the forest map is; empty takes all of them.
    paired : tuple of str
        Pairs of models whose gaps are compared, each "one - other".
    level : float or None
        Chance of any false flag asked of one family of one map; see `level_of`.
    error_level : float or None
        The same for mean errors (mu) alone; None takes `level`.
    strict_level : float
        Stricter level for mean errors with dependent sites, reported beside (published: 0.0025 a map).
    draws : int
        Draws of the wild cluster bootstrap (published: 9,999).
    support_records, choice_records : int or None
        Records that a cell needs to be tested, and is projected to have when the level is chosen (published:
        100 and 150; 50 and 75 for a continuous outcome); see `support_of` and `choice_of`.
    support_events : int
        Expected events, and expected non-events, that a cell needs (published: 10).
    min_sites : int
        Distinct units that a cell needs where they hold several records (published: 15, of sites).
    min_effective_sites : float
        Effective units that it needs then (published: 10, of sites).
    largest_site : float
        Largest share of a cell that one unit may hold then (published: 0.20, of sites).
    tolerances : tuple of float
        Half widths within which an interval rules errors out, in units of the outcome; empty takes 0.05 for a
        binary outcome and a quarter and half of the outcome's standard deviation for a continuous one (ours).
    """

    run: bool = True
    unit: UnitKind = "unit"
    development: float = 0.4
    discovery: float = 0.3
    graph_share: float = 0.8
    graph_records: int = 22_000
    partition: Partition = "sbm"
    start: Literal["fast", "published"] = "fast"
    fits: int = 3
    trees: int = 200
    min_leaf: int = 20
    candidates: float = 1 / 3
    neighbours: int = 30
    abstain: float = 0.01
    late: bool = False
    exclude: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    isotonic: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    choice_attributes: tuple[str, ...] = ()
    paired: tuple[str, ...] = ()
    level: float | None = None
    error_level: float | None = None
    strict_level: float = 0.0025
    draws: int = 9_999
    support_records: int | None = None
    choice_records: int | None = None
    support_events: int = 10
    min_sites: int = 15
    min_effective_sites: float = 10.0
    largest_site: float = 0.20
    tolerances: tuple[float, ...] = ()

    def level_of(self, *, continuous: bool, sites: bool) -> float:
        """Return the level of one family (published: 0.05 continuous, 0.025 binary, 0.0125 sites)."""
        if self.level is not None:
            return self.level
        return 0.05 if continuous else 0.0125 if sites else 0.025

    def error_level_of(self, *, continuous: bool, sites: bool) -> float:
        """Return the level of a family of mean errors."""
        given = self.error_level
        return given if given is not None else self.level_of(continuous=continuous, sites=sites)

    def support_of(self, *, continuous: bool) -> int:
        """Return the records that a tested cell needs."""
        return self.support_records if self.support_records is not None else 50 if continuous else 100

    def choice_of(self, *, continuous: bool) -> int:
        """Return the records that a cell is projected to have when the level is chosen."""
        return self.choice_records if self.choice_records is not None else 75 if continuous else 150
