"""What is made once of a tally, so that an audit asks of it what it asks of records?"""

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.add_tallies import find_places, gather_parts, take_groups
from auditbook.evidence.area_limits import AreaInfluence
from auditbook.evidence.area_sums import find_areas
from auditbook.evidence.binned_areas import (
    BinCells,
    cut_bins,
    find_run_areas,
    influence_bins,
    join_cells,
    pool_groups,
)
from auditbook.evidence.binned_cells import bin_cells
from auditbook.evidence.clusters import Clusters
from auditbook.evidence.counts import Counts
from auditbook.evidence.group_areas import GroupAreas
from auditbook.evidence.group_clusters import PairedGroups
from auditbook.evidence.group_counts import GroupCounts
from auditbook.evidence.group_scores import GroupScores
from auditbook.evidence.kinds import Evidence, GroupEvidence, Kind
from auditbook.evidence.prepare import Prepared, PreparedGroups
from auditbook.evidence.resample import draw_site_times
from auditbook.evidence.score_cells import ScoreCells
from auditbook.evidence.score_sums import ScoreSums
from auditbook.evidence.survey import Design
from auditbook.evidence.tally import (
    BinnedScores,
    TalliedAttribute,
    TalliedModel,
    TalliedParts,
    Tally,
    find_widths,
)
from auditbook.evidence.tally_pairs import TalliedPairs, pair_parts
from auditbook.evidence.unit_moments import UnitMoments, list_alone
from auditbook.evidence.weighted_groups import WeightedGroups
from auditbook.records import Score

Array = NDArray[np.float64]
Places = NDArray[np.integer]


@dataclass(frozen=True)
class NamedGroups:
    """An attribute by its names alone."""

    name: str
    groups: tuple[str, ...]
    reference: str | None
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TalliedEvidence:
    """The groups of one attribute in the parts of a tally; answers as records would."""

    parts: TalliedParts
    models: tuple[str, ...]
    fine: Mapping[str, BinnedScores]  # By model that orders records
    probable: tuple[str, ...]  # Models that give probabilities

    def width(self, model: str) -> Array:
        """Find the widths of a model's fine bins."""
        return find_widths("probability" if model in self.probable else "rank", self.fine[model].edges)


@dataclass(frozen=True)
class TalliedCounts:
    """The counts of a tally."""

    tallied: TalliedEvidence

    def whole(self) -> Counts:
        """Count everything, shape (n_models, n_groups, 4)."""
        return np.asarray(self.tallied.parts.counts.sum(axis=1))

    def at_sites(self, site: Places, n_sites: int) -> Counts:
        """Count each site, shape (n_models, n_sites, n_groups, 4)."""
        return gather_parts(self.tallied.parts.counts, site, n_sites)


@dataclass(frozen=True)
class TalliedScores:
    """The score sums of a tally."""

    tallied: TalliedEvidence

    @cached_property
    def cells(self) -> dict[str, ScoreCells]:
        """What resamples draw from, by model that gives probabilities."""
        return {model: bin_cells(self.tallied.fine[model]) for model in self.tallied.probable}

    def whole(self, model: str) -> ScoreSums:
        """Add up everything of one model."""
        found = self.at_sites(model, np.zeros(self.tallied.parts.counts.shape[1], np.intp), 1)
        return ScoreSums(*(part[0] for part in found.parts()))

    def at_sites(self, model: str, site: Places, n_sites: int) -> ScoreSums:
        """Add up each site, leading shape (n_sites,)."""
        place, parts = self.tallied.models.index(model), self.tallied.parts
        names = ("records", "events", "score", "benefit", "benefit_log")
        joined = {
            name: gather_parts(getattr(parts, name)[place : place + 1], site, n_sites) for name in names
        }
        sums = replace(parts, **joined).sums()
        return ScoreSums(*(part[0] for part in sums.parts()))


@dataclass(frozen=True)
class TalliedAreas:
    """The areas of a tally."""

    tallied: TalliedEvidence

    @cached_property
    def cells(self) -> dict[str, BinCells]:
        """What resamples draw from, by model."""
        return {
            model: join_cells(fine, self.tallied.width(model), cut_bins(fine))
            for model, fine in self.tallied.fine.items()
        }

    @cached_property
    def runs(self) -> dict[str, BinCells]:
        """The same by runs of fine bins, which sites have."""
        return {
            model: find_run_areas(fine, self.tallied.width(model))
            for model, fine in self.tallied.fine.items()
        }

    def alike(self, model: str) -> BinCells:
        """Take all groups for one."""
        pooled = pool_groups(self.tallied.fine[model])
        return join_cells(pooled, self.tallied.width(model), cut_bins(pooled))

    def areas_at_sites(self, model: str, site: Places, n_sites: int) -> Array:
        """Find the areas at each site, shape (n_sites, n_groups)."""
        cells, at_site = self.cells_at_sites(model, site, n_sites)
        return find_areas(cells.sums(at_site))

    def cells_at_sites(self, model: str, site: Places, n_sites: int) -> tuple[BinCells, Counts]:
        """Count each site by group, label and run."""
        place = self.tallied.models.index(model)
        steps = self.tallied.parts.steps[place : place + 1]
        return self.runs[model], gather_parts(steps, site, n_sites)[0]


@dataclass(frozen=True)
class TalliedGroups:
    """One attribute's groups in a tally, and the three kinds of evidence on them."""

    declared: NamedGroups
    settled: NamedGroups  # Groups that hold records, the smallest first
    tallied: TalliedAttribute  # Of these
    counts: GroupCounts
    scores: GroupScores
    areas: GroupAreas
    bundled: Mapping[Kind, GroupEvidence]  # The same of bundles of units; empty where each record is its own
    weighted: WeightedGroups | None = None  # A tally has no weights

    @property
    def rows(self) -> int:
        """Records whose group is told: fewer than all where a hospital withholds some."""
        return int(self.tallied.counts[0].sum()) if len(self.tallied.counts) else 0

    @property
    def evidence(self) -> Mapping[Kind, GroupEvidence]:
        """The evidence by its kind, as metrics ask for it."""
        return {"counts": self.counts, "score sums": self.scores, "areas": self.areas}

    def count(self) -> NDArray[np.int64] | Array:
        """Count everything, shape (n_models, n_groups, 4)."""
        return self.counts.whole()

    def add_scores(self) -> ScoreSums:
        """Add up all scores."""
        return self.scores.whole()

    def by_unit(
        self, kind: Kind, bundle: Places, n_bundles: int, times: NDArray[np.int64] | None = None
    ) -> Evidence:
        """Measure bundles of units, or resamples that hold each so often."""
        return self.bundled[kind].by_site(bundle, n_bundles, times)


@dataclass(frozen=True)
class PreparedTally:
    """A tally as an audit asks of it; see `Prepared`, whose answers it gives."""

    tally: Tally
    groups: tuple[TalliedGroups, ...]
    site: NDArray[np.intp] | None  # shape (n_sites,): Number of each of the tally's sites by its size
    n_sites: int
    design: Design | None = None  # A tally has no weights

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return [one.model for one in self.tally.models]

    @property
    def declared(self) -> Tally:
        """The tally with its groups in the order that tables list them in."""
        pairs = zip(self.tally.attributes, self.groups, strict=True)
        listed = ((one, find_places(groups.declared.groups, one.groups)) for one, groups in pairs)
        return replace(self.tally, attributes=tuple(take_groups(*pair) for pair in listed))

    @property
    def rules(self) -> tuple[Score | TalliedModel, ...]:
        """The models, with what their scores are."""
        return self.tally.models

    @property
    def rows(self) -> int:
        """Audited records."""
        return self.tally.rows

    @property
    def has_units(self) -> bool:
        """Whether units hold several records."""
        return any(groups.tallied.units is not None for groups in self.groups)

    @property
    def sites_are_clusters(self) -> bool:
        """Whether there are sites."""
        return self.site is not None

    def cluster_units(self, groups: TalliedGroups) -> UnitMoments | None:
        """Give what is known of units; None where each record is its own."""
        units = groups.tallied.units
        if units is None:
            return None
        names = ("counts", "held", "largest", "benefits", "bins", "bin_held", "bin_largest")
        parts = {name: getattr(units, name).astype(float) for name in names}
        whole, bundles = groups.counts.whole().astype(float), pair_parts(self._read(groups, units.bundles))
        return UnitMoments(units.number, whole, groups.scores.whole(), bundles=bundles, **parts)

    def cluster_sites(self, groups: TalliedGroups) -> PairedGroups:
        """Pair groups with sites."""
        return pair_parts(self._read(groups, groups.tallied.sites))

    def part_records(self, groups: TalliedGroups) -> UnitMoments:
        """Take each record for its own cluster; counts only."""
        whole, none = groups.counts.whole().astype(float), np.zeros(0)
        products, held, largest = list_alone(whole)
        sums = groups.scores.whole()
        return UnitMoments(self.rows, whole, sums, products, held, largest, none, none, none, none, None)

    def _read(self, groups: TalliedGroups, parts: TalliedParts) -> TalliedPairs:
        fine = dict(_list_fine(self.tally, groups.tallied))
        return TalliedPairs(parts, self.models, _list_probable(self.tally), fine)

    def influence_areas(self, groups: TalliedGroups) -> dict[str, AreaInfluence]:
        """Find the area within each group and how far the records of each bin move it, by model."""
        kinds = {one.model: one.kind for one in self.tally.models}
        return {
            model: influence_bins(fine, find_widths(kinds[model], fine.edges))
            for model, fine in _list_fine(self.tally, groups.tallied)
        }

    def count_site_records(self, groups: TalliedGroups) -> tuple[Clusters, Array]:
        """Count the records of each pair of site and group, shape (n_pairs,)."""
        found = self.cluster_sites(groups)
        return found.pairs, np.asarray(found.counts[0], float).sum(axis=-1)

    def number_units(self) -> tuple[NDArray[np.intp], int] | None:
        """Give what resamples of units are drawn from: the number of each bundle, and how many there are."""
        units = self.groups[0].tallied.units if self.groups else None
        if units is None:
            return None
        counts = units.bundles.counts[0].sum(axis=1)
        return _rank_parts(counts), len(units.keys)

    def square_units(self, groups: TalliedGroups) -> Array | None:
        """Sum the squared numbers of records that units hold of each group; None without units."""
        units, n_groups = groups.tallied.units, len(groups.settled.groups)
        if units is None:
            return None
        products = units.counts[0].reshape(n_groups, 4, n_groups, 4).sum(axis=(1, 3))
        return np.diagonal(products).astype(float)

    def site_times(self, resamples: int, seed: int) -> NDArray[np.int64] | None:
        """Draw how often resamples take each site, shape (resamples, n_sites); None with fewer than two."""
        return draw_site_times(self.n_sites, resamples, seed)

    def without_sites(self) -> "PreparedTally":
        """Forget the sites."""
        return replace(self, site=None, n_sites=0)


Audited: typing.TypeAlias = Prepared | PreparedTally
AuditedGroups: typing.TypeAlias = PreparedGroups | TalliedGroups
"""What an audit asks: records, or a tally of them."""


def prepare_tally(tally: Tally, *, declared: Mapping[str, Sequence[str]] | None = None) -> PreparedTally:
    """Prepare a tally for all questions of an audit, as `prepare` does records.

    What is made of counts is what the records would give. TI, CAL and calibration are off by the rounding of
    scores, 2^-33 a record, their resamples by what records differ from the mean of their fine bin; areas by
    at most what `measure_bin_error` finds.

    Parameters
    ----------
    tally : Tally
        From `tally_records` or `add_tallies`.
    declared : mapping, optional
        By attribute, the groups in the order that tables list them in; by default by name.

    Examples
    --------
    >>> from auditbook.evidence.tally_records import tally_records
    >>> from auditbook.records import Attribute, AuditRecords, Score
    >>> scores = (Score("m", "decision", 0.5, np.array([1.0, 0, 1, 0])),)
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 0, 1, 1]))
    >>> records = AuditRecords(np.array([1, 0, 1, 0], np.int8), (sex,), scores)
    >>> prepare_tally(tally_records(records)).groups[0].counts.whole().tolist()
    [[[1, 0, 0, 1], [1, 0, 0, 1]]]
    """
    order = declared or {}
    groups = tuple(_prepare_groups(tally, one, order.get(one.name, one.groups)) for one in tally.attributes)
    if not tally.sites or not tally.attributes:
        return PreparedTally(tally, groups, None, 0)
    site = _rank_parts(tally.attributes[0].counts[0].sum(axis=1))
    return PreparedTally(tally, groups, site, len(tally.sites))


def _rank_parts(counts: Counts) -> NDArray[np.intp]:
    """Give parts numbers by size and events as `settle_sites` does; counts of shape (n_parts, 4)."""
    order = np.lexsort((counts[:, [0, 2]].sum(axis=1), counts.sum(axis=1)))
    rank = np.empty(len(counts), np.intp)
    rank[order] = np.arange(len(counts))
    return rank


def _prepare_groups(tally: Tally, attribute: TalliedAttribute, order: Sequence[str]) -> TalliedGroups:
    """Settle the groups of one attribute, and lay out what is known of them."""
    settled = _settle(attribute)
    units = settled.units if settled.units is not None and settled.units.number < tally.rows else None
    settled = replace(settled, units=units)
    whole = _list_evidence(tally, settled, settled.sites)
    bundled: dict[Kind, GroupEvidence] = {}
    if units is not None:
        found = _list_evidence(tally, settled, units.bundles)
        bundled = {"counts": found.counts, "score sums": found.scores, "areas": found.areas}
    listed = [*dict.fromkeys(name for name in (*order, *attribute.groups) if name in attribute.groups)]
    names = find_places(listed, attribute.groups)
    declared = _name(take_groups(attribute, names))
    return TalliedGroups(declared, _name(settled), settled, whole.counts, whole.scores, whole.areas, bundled)


def _name(attribute: TalliedAttribute) -> NamedGroups:
    return NamedGroups(attribute.name, attribute.groups, attribute.reference, attribute.parts)


def _settle(attribute: TalliedAttribute) -> TalliedAttribute:
    """Keep the groups that hold records in the order of `settle_groups`."""
    counts = attribute.counts[0].sum(axis=0)
    held, events = counts.sum(axis=-1), counts[:, [0, 2]].sum(axis=-1)
    order = sorted(np.flatnonzero(held).tolist(), key=lambda g: (held[g], events[g], attribute.groups[g]))
    return take_groups(attribute, np.array(order, np.intp))


@dataclass(frozen=True)
class _Kinds:
    """The three kinds of evidence."""

    counts: GroupCounts
    scores: GroupScores
    areas: GroupAreas


def _list_evidence(tally: Tally, attribute: TalliedAttribute, parts: TalliedParts) -> _Kinds:
    """List the three kinds of evidence on the groups in some parts."""
    models = tuple(one.model for one in tally.models)
    fine, probable = dict(_list_fine(tally, attribute)), _list_probable(tally)
    tallied, n_groups = TalliedEvidence(parts, models, fine, probable), len(attribute.groups)
    return _Kinds(
        GroupCounts(TalliedCounts(tallied), models, attribute.name),
        GroupScores(TalliedScores(tallied), models, probable, attribute.name, n_groups),
        GroupAreas(TalliedAreas(tallied), models, tuple(fine), attribute.name, n_groups),
    )


def _list_fine(tally: Tally, attribute: TalliedAttribute) -> list[tuple[str, BinnedScores]]:
    pairs = zip(tally.models, attribute.fine, strict=True)
    return [(one.model, fine) for one, fine in pairs if fine is not None]


def _list_probable(tally: Tally) -> tuple[str, ...]:
    return tuple(one.model for one in tally.models if one.kind == "probability")
