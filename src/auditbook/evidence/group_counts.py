"""How many records of each group were selected, rightly and wrongly, here and in other audits?"""

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.counts import Counts, count_groups, count_sites, stratum_sizes
from auditbook.evidence.kinds import Subsamples
from auditbook.evidence.resample import draw_counts, open_stream
from auditbook.evidence.subsample import subsample_counts
from auditbook.records import Attribute, AuditRecords


class CountSource(typing.Protocol):
    """Where the counts of one attribute come from: records, or a tally."""

    def whole(self) -> Counts:
        """Count everything, shape (n_models, n_groups, 4)."""

    def at_sites(self, site: NDArray[np.integer], n_sites: int) -> Counts:
        """Count each site, shape (n_models, n_sites, n_groups, 4)."""


@dataclass(frozen=True)
class RecordCounts:
    """The counts of records."""

    records: AuditRecords
    attribute: Attribute  # From `settle_groups`

    @cached_property
    def _decisions(self) -> NDArray[np.bool_]:
        return np.stack([score.decisions for score in self.records.scores])

    def whole(self) -> Counts:
        """Count the audited records."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        return count_groups(self.records.outcome, self._decisions, codes, n_groups)

    def at_sites(self, site: NDArray[np.integer], n_sites: int) -> Counts:
        """Count the records of each site."""
        codes, n_groups, outcome = self.attribute.codes, len(self.attribute.groups), self.records.outcome
        return count_sites(outcome, self._decisions, codes, n_groups, site=site, n_sites=n_sites)


@dataclass(frozen=True)
class GroupCounts:
    """Counts of shape (..., n_groups, 4), in the order tp, fp, fn, tn."""

    source: CountSource
    models: Sequence[str]
    name: str  # Of the attribute

    @cached_property
    def _tables(self) -> Counts:
        return self.source.whole()

    @property
    def _models(self) -> Iterator[tuple[str, Counts]]:
        return zip(self.models, self._tables, strict=True)

    def whole(self) -> Counts:
        """Count the audited records."""
        return self._tables

    def drawn(self, size: int, *, resamples: int, seed: int) -> Counts:
        """Draw the counts of resamples."""
        name = self.name
        return np.stack(
            [
                draw_counts(
                    table,
                    size=size,
                    resamples=resamples,
                    rng=open_stream(seed, "counts", model, name, str(size)),
                )
                for model, table in self._models
            ]
        )

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Draw the counts of subsamples."""

        def draw(model: str, table: Counts, size: int) -> Counts:
            stream = open_stream(seed, "size counts", model, self.name, str(size))
            return subsample_counts(table, size=size, repeats=repeats, rng=stream)

        drawn = np.stack([np.stack([draw(*model, size) for size in sizes]) for model in self._models])
        return Subsamples(drawn, stratum_sizes(drawn))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> Counts:
        """Count each site, or resamples of whole sites."""
        at_site = self.source.at_sites(site, n_sites)
        if times is None:
            return at_site
        drawn = np.tensordot(times.astype(float), at_site.astype(float), axes=(1, 1))
        return np.rint(np.moveaxis(drawn, 0, 1)).astype(np.int64)
