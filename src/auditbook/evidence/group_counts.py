"""How many records of each group were selected, rightly and wrongly, here and in other audits?"""

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


@dataclass(frozen=True)
class GroupCounts:
    """Counts of shape (..., n_groups, 4), in the order tp, fp, fn, tn."""

    records: AuditRecords
    attribute: Attribute  # From `settle_groups`

    @cached_property
    def _decisions(self) -> NDArray[np.bool_]:
        return np.stack([score.decisions for score in self.records.scores])

    @cached_property
    def _tables(self) -> Counts:
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        return count_groups(self.records.outcome, self._decisions, codes, n_groups)

    @property
    def _models(self) -> Iterator[tuple[str, Counts]]:
        return zip((score.model for score in self.records.scores), self._tables, strict=True)

    def whole(self) -> Counts:
        """Count the audited records."""
        return self._tables

    def drawn(self, size: int, *, resamples: int, seed: int) -> Counts:
        """Draw the counts of resamples."""
        name = self.attribute.name
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
            stream = open_stream(seed, "size counts", model, self.attribute.name, str(size))
            return subsample_counts(table, size=size, repeats=repeats, rng=stream)

        drawn = np.stack([np.stack([draw(*model, size) for size in sizes]) for model in self._models])
        return Subsamples(drawn, stratum_sizes(drawn))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> Counts:
        """Count each site, or resamples of whole sites."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        outcome = self.records.outcome
        at_site = count_sites(outcome, self._decisions, codes, n_groups, site=site, n_sites=n_sites)
        if times is None:
            return at_site
        drawn = np.tensordot(times.astype(float), at_site.astype(float), axes=(1, 1))
        return np.rint(np.moveaxis(drawn, 0, 1)).astype(np.int64)
