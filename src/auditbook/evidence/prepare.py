"""What is made once of a cohort, so that every question about its groups is answered without its records?"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_limits import AreaInfluence, area_influence
from auditbook.evidence.check import check_records
from auditbook.evidence.clusters import Clusters, pair_clusters
from auditbook.evidence.group_areas import GroupAreas, RecordAreas
from auditbook.evidence.group_clusters import PairedGroups
from auditbook.evidence.group_counts import GroupCounts, RecordCounts
from auditbook.evidence.group_scores import GroupScores, RecordScores
from auditbook.evidence.kinds import Evidence, GroupEvidence, Kind, each_model
from auditbook.evidence.model_scores import ModelScores
from auditbook.evidence.placements import ScoreLevels
from auditbook.evidence.record_pairs import RecordPairs
from auditbook.evidence.resample import draw_site_times
from auditbook.evidence.score_sums import ScoreSums
from auditbook.evidence.survey import Design, settle_design
from auditbook.evidence.tally import TalliedModel
from auditbook.evidence.weighted_areas import weigh_areas
from auditbook.evidence.weighted_groups import WeightedGroups, weigh_attribute
from auditbook.records import Attribute, AuditRecords, Score


@dataclass(frozen=True)
class PreparedGroups:
    """One attribute's groups, and the three kinds of evidence on them."""

    declared: Attribute
    settled: Attribute  # From `settle_groups`
    counts: GroupCounts
    scores: GroupScores
    areas: GroupAreas
    weighted: WeightedGroups | None = None  # None where each record stands for itself

    @property
    def rows(self) -> int:
        """Audited records, every one of which has a group."""
        return len(self.settled.codes)

    @property
    def evidence(self) -> Mapping[Kind, GroupEvidence]:
        """The evidence by its kind, as metrics ask for it."""
        if self.weighted is not None:
            one = self.weighted
            return {"counts": one.counts, "score sums": one.scores, "areas": one.areas}
        return {"counts": self.counts, "score sums": self.scores, "areas": self.areas}

    def count(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Count the audited records, weighted where they have weights, shape (n_models, n_groups, 4)."""
        return self.counts.whole() if self.weighted is None else self.weighted.counts.whole()

    def by_unit(
        self, kind: Kind, bundle: NDArray[np.integer], n_bundles: int, times: NDArray[np.int64] | None = None
    ) -> Evidence:
        """Measure bundles of units, or resamples that hold each so often."""
        return self.evidence[kind].by_site(bundle, n_bundles, times)

    def add_scores(self) -> ScoreSums:
        """Add up the scores of the audited records, weighted where they have weights."""
        return self.scores.whole() if self.weighted is None else self.weighted.scores.whole()


@dataclass(frozen=True)
class Prepared:
    """The audited records of a cohort, in the orders that counts, score sums and areas are made from."""

    records: AuditRecords
    scores: ModelScores
    groups: tuple[PreparedGroups, ...]  # In the order of the attributes
    site: NDArray[np.integer] | None  # shape (n,): From `settle_sites`; None without a site column
    n_sites: int  # Sites that hold records; 0 without a site column
    # shape (n,): As `site`, of the units; None where each record is its own
    unit: NDArray[np.integer] | None = None
    n_units: int = 0  # Units that hold records; 0 where each record is its own
    design: Design | None = None  # How the records were drawn; None where each stands for itself

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return self.scores.models

    @property
    def rules(self) -> tuple[Score | TalliedModel, ...]:
        """The models, with what their scores are."""
        return self.records.scores

    @property
    def rows(self) -> int:
        """Audited records."""
        return len(self.records.outcome)

    @property
    def has_units(self) -> bool:
        """Whether units hold several records."""
        return self.unit is not None

    @property
    def sites_are_clusters(self) -> bool:
        """Whether no cluster that was drawn lies across sites; False without sites."""
        return self.site is not None and (self.design is None or self.design.holds(self.site))

    @property
    def _weight(self) -> NDArray[np.float64] | None:
        return None if self.design is None else self.design.weight

    def cluster_units(self, groups: PreparedGroups) -> PairedGroups | None:
        """Pair groups with units, or with what was drawn as one; None where each record is its own."""
        if self.design is not None:
            return self._pair(groups, self.design.cluster, self.design.stratum)
        return None if self.unit is None else self._pair(groups, self.unit)

    def cluster_sites(self, groups: PreparedGroups) -> PairedGroups:
        """Pair groups with sites."""
        return self._pair(groups, self._site)

    def part_records(self, groups: PreparedGroups) -> PairedGroups:
        """Pair groups with records, each its own cluster."""
        return self._pair(groups, np.arange(self.rows))

    def _pair(
        self, groups: PreparedGroups, cluster: NDArray[np.integer], stratum: NDArray[np.intp] | None = None
    ) -> PairedGroups:
        pairs = pair_clusters(cluster, groups.settled.codes, len(groups.settled.groups), stratum)
        return PairedGroups(pairs, RecordPairs(self.scores, cluster, stratum, self._weight))

    @property
    def _site(self) -> NDArray[np.integer]:
        if self.site is None:
            raise TypeError("there are no sites")
        return self.site

    def influence_areas(self, groups: PreparedGroups) -> dict[str, AreaInfluence]:
        """Find the area within each group and how far each record moves it, by model that orders records."""
        codes, n_groups, weight = groups.settled.codes, len(groups.settled.groups), self._weight

        def measure(levels: ScoreLevels) -> AreaInfluence:
            if weight is None:
                return area_influence(levels, codes, n_groups)
            return weigh_areas(levels, codes, n_groups, weight)

        ranked = self.scores.ranked
        return dict(zip(ranked, each_model(measure, list(ranked.values())), strict=True))

    def count_site_records(self, groups: PreparedGroups) -> tuple[Clusters, NDArray[np.float64]]:
        """Count the records of each pair of site and group, shape (n_pairs,)."""
        pairs = pair_clusters(self._site, groups.settled.codes, len(groups.settled.groups))
        return pairs, np.bincount(pairs.place).astype(float)

    def number_units(self) -> tuple[NDArray[np.integer], int] | None:
        """Give what resamples of units are drawn from: the unit of each record, and their number."""
        return None if self.unit is None else (self.unit, self.n_units)

    def square_units(self, groups: PreparedGroups) -> NDArray[np.float64] | None:
        """Sum the squared numbers of records that units hold of each group; None without units."""
        if self.unit is None:
            return None
        codes, n_groups = groups.settled.codes, len(groups.settled.groups)
        of_unit = np.bincount(self.unit * n_groups + codes, minlength=self.n_units * n_groups)
        return np.asarray((of_unit.reshape(self.n_units, n_groups).astype(float) ** 2).sum(axis=0))

    def site_times(self, resamples: int, seed: int) -> NDArray[np.int64] | None:
        """Draw how often resamples take each site, shape (resamples, n_sites); None with fewer than two."""
        return draw_site_times(self.n_sites, resamples, seed)

    def without_sites(self) -> "Prepared":
        """Forget the sites."""
        return replace(self, records=replace(self.records, site=None), site=None, n_sites=0)


def prepare(records: AuditRecords) -> Prepared:
    """Prepare the audited records of a cohort, once for all questions.

    Scores are ordered when something first asks for that, and then kept. Groups without a record are left
    out, the smallest group stands first, and sites are numbered by what they hold, so that no answer depends
    on names or on the order of the records.

    Raises
    ------
    InputError
        If the records cannot be audited (see `check_records`).

    Examples
    --------
    >>> from auditbook.records import Score
    >>> scores = (Score("m", "decision", 0.5, np.array([1.0, 0, 1, 0])),)
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 0, 1, 1]))
    >>> prepared = prepare(AuditRecords(np.array([1, 0, 1, 0], np.int8), (sex,), scores))
    >>> prepared.groups[0].counts.drawn(4, resamples=5, seed=1).shape
    (1, 5, 2, 4)
    """
    check_records(records)
    scores = ModelScores(records)
    site, n_sites = (None, 0) if records.site is None else settle_sites(records.site, records.outcome)
    unit = settle_units(records)
    n_units = 0 if unit is None else int(unit.max()) + 1
    design = settle_design(records)
    groups = tuple(_prepare_groups(scores, attribute, design) for attribute in records.attributes)
    return Prepared(records, scores, groups, site, n_sites, unit, n_units, design)


def _prepare_groups(scores: ModelScores, attribute: Attribute, design: Design | None) -> PreparedGroups:
    settled = settle_groups(attribute, scores.records.outcome)
    models, name, n_groups = scores.models, settled.name, len(settled.groups)
    counts = GroupCounts(RecordCounts(scores.records, settled), models, name)
    sums = GroupScores(RecordScores(scores, settled), models, scores.probable, name, n_groups)
    areas = GroupAreas(RecordAreas(scores, settled), models, scores.orderly, name, n_groups)
    weighted = None if design is None else weigh_attribute(scores, settled, design)
    return PreparedGroups(attribute, settled, counts, sums, areas, weighted)


def settle_sites(site: NDArray[np.integer], outcome: NDArray[np.int8]) -> tuple[NDArray[np.intp], int]:
    """Give each site that holds records a number by its size and events, whatever it is called.

    Returns the number of each record's site, shape (n,), and how many sites there are.

    >>> settle_sites(np.array([7, 7, 2]), np.array([0, 1, 1], np.int8))
    (array([1, 1, 0]), 2)
    """
    names, place = np.unique(site, return_inverse=True)
    order = np.lexsort((np.bincount(place, weights=outcome), np.bincount(place)))
    rank = np.empty(len(names), np.intp)
    rank[order] = np.arange(len(names))
    return rank[place], len(names)


def settle_units(records: AuditRecords) -> NDArray[np.intp] | None:
    """Give each unit a number as `settle_sites` does, shape (n,); None where each holds one record."""
    if records.unit is None:
        return None
    unit, n_units = settle_sites(records.unit, records.outcome)
    return None if n_units == len(unit) else unit


def settle_groups(attribute: Attribute, outcome: NDArray[np.int8]) -> Attribute:
    """Keep the groups that hold records, the smallest first.

    Everything random and every tie follows this order, so what the groups are called and in which order they
    were declared is of no consequence. Groups of one size stand by events, then by name.

    >>> sex = Attribute("sex", ("M", "X", "F"), np.array([0, 0, 2]))
    >>> settle_groups(sex, np.array([0, 1, 1], np.int8)).groups
    ('F', 'M')
    """
    count = len(attribute.groups)
    held = np.bincount(attribute.codes, minlength=count)
    events = np.bincount(attribute.codes, weights=outcome, minlength=count)
    kept = sorted(np.flatnonzero(held).tolist(), key=lambda g: (held[g], events[g], attribute.groups[g]))
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    names = tuple(attribute.groups[old] for old in kept)
    return Attribute(attribute.name, names, place[attribute.codes], attribute.reference)
