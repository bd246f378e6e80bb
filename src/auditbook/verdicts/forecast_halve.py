"""How is a cohort halved, and which audits of whole sites can be drawn from a half?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from auditbook.evidence import subsample_counts

Counts = NDArray[np.int64]


def halve_records(counts: ArrayLike, *, halvings: int, rng: np.random.Generator) -> Counts:
    """Put half of the records, drawn at random, into a first half."""
    table = np.asarray(counts, dtype=np.int64)
    flat = table.reshape(-1, 4)
    first = subsample_counts(flat, size=int(flat.sum()) // 2, repeats=halvings, rng=rng)
    return first.reshape(halvings, *table.shape)


def halve_sites(sizes: ArrayLike, *, halvings: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Put whole sites, in random order, into a first half until it holds about half of the records."""
    held = np.asarray(sizes)
    order = rng.permuted(np.tile(np.arange(len(held)), (halvings, 1)), axis=1)
    reached = np.cumsum(held[order], axis=1)
    last = np.argmin(np.abs(2 * reached[:, :-1] - held.sum()), axis=1)
    first = np.zeros((halvings, len(held)), dtype=bool)
    np.put_along_axis(first, order, np.arange(len(held)) <= last[:, None], axis=1)
    return first ^ (rng.random(halvings) < 0.5)[:, None]


@dataclass(frozen=True)
class SiteOrders:
    """Sites in random order, one order an audit; an audit of any size takes the first sites of its order."""

    # shape (repeats, n_drawn): Which site comes when; with replacement a site can come more than once
    place: NDArray[np.intp]
    reached: NDArray[np.float64]  # shape (repeats, n_drawn): Records of all sites up to and with this one
    n_sites: int  # Sites of the cohort

    def take(self, size: int) -> csr_matrix:
        """Take as many sites, in their order, as come nearest to a number of records; one at least."""
        last = np.argmin(np.abs(self.reached - size), axis=1)
        taken = np.arange(self.place.shape[1]) <= last[:, None]
        where = np.nonzero(taken)[0], self.place[taken]
        return csr_matrix((np.ones(len(where[0])), where), shape=(len(last), self.n_sites))


def order_sites(
    sizes: ArrayLike,
    eligible: NDArray[np.bool_],
    *,
    repeats: int,
    most: int,
    replace: bool,
    rng: np.random.Generator,
) -> SiteOrders:
    """Put the sites of a half in random order, many times."""
    here = np.flatnonzero(eligible)
    if replace:
        place = here[rng.integers(len(here), size=(repeats, len(here)))]
    else:
        place = here[np.argsort(rng.random((repeats, len(here))), axis=1)]
    reached = np.cumsum(np.asarray(sizes, float)[place], axis=1)
    kept = 1 + int((reached < 2 * most).sum(axis=1).max())
    return SiteOrders(place[:, :kept].copy(), reached[:, :kept].copy(), len(eligible))
