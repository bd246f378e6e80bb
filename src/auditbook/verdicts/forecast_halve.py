"""How is a cohort halved, and which audits of whole sites can be drawn from a half?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from auditbook.evidence import subsample_counts

Counts = NDArray[np.int64]


def halve_records(counts: ArrayLike, *, halvings: int, rng: np.random.Generator) -> Counts:
    """Put half of the records, drawn at random, into a first half.

    Parameters
    ----------
    counts : int array, shape (n_sites, n_groups, 4)
        Records in the order tp, fp, fn, tn.
    halvings : int
        Number of halvings.
    rng : Generator
        Source of the draws.

    Returns
    -------
    int array, shape (halvings, n_sites, n_groups, 4)
        The first halves; the second are what is left. With an odd number of records the second is larger.

    Examples
    --------
    >>> halve_records([[[8, 2, 2, 8]]], halvings=2, rng=np.random.default_rng(1)).sum(axis=-1).tolist()
    [[[10]], [[10]]]
    """
    table = np.asarray(counts, dtype=np.int64)
    flat = table.reshape(-1, 4)
    first = subsample_counts(flat, size=int(flat.sum()) // 2, repeats=halvings, rng=rng)
    return first.reshape(halvings, *table.shape)


def halve_sites(sizes: ArrayLike, *, halvings: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Put whole sites, in random order, into a first half until it holds about half of the records.

    Parameters
    ----------
    sizes : int array, shape (n_sites,)
        Records at each site; two sites at least.
    halvings : int
        Number of halvings.
    rng : Generator
        Source of the draws.

    Returns
    -------
    bool array, shape (halvings, n_sites)
        True for the sites of the first half. Neither half is without a site, and which of the two is the
        first is decided by a coin.

    Examples
    --------
    >>> halve_sites([5, 5], halvings=3, rng=np.random.default_rng(1)).sum(axis=1).tolist()
    [1, 1, 1]
    """
    held = np.asarray(sizes)
    order = rng.permuted(np.tile(np.arange(len(held)), (halvings, 1)), axis=1)
    reached = np.cumsum(held[order], axis=1)
    last = np.argmin(np.abs(2 * reached[:, :-1] - held.sum()), axis=1)
    first = np.zeros((halvings, len(held)), dtype=bool)
    np.put_along_axis(first, order, np.arange(len(held)) <= last[:, None], axis=1)
    return first ^ (rng.random(halvings) < 0.5)[:, None]


@dataclass(frozen=True)
class SiteOrders:
    """Sites in random order, one order an audit; an audit of any size takes the first sites of its order.

    Attributes
    ----------
    place : int array, shape (repeats, n_drawn)
        Which site comes when; with replacement a site can come more than once.
    reached : float array, shape (repeats, n_drawn)
        Records of all sites up to and with this one.
    n_sites : int
        Sites of the cohort.
    """

    place: NDArray[np.intp]
    reached: NDArray[np.float64]
    n_sites: int

    def take(self, size: int) -> csr_matrix:
        """Take as many sites, in their order, as come nearest to a number of records; one at least.

        Parameters
        ----------
        size : int
            Records wanted.

        Returns
        -------
        sparse matrix, shape (repeats, n_sites)
            How often each audit has each site.
        """
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
    """Put the sites of a half in random order, many times.

    Parameters
    ----------
    sizes : array, shape (n_sites,)
        Records at each site.
    eligible : bool array, shape (n_sites,)
        The sites of the half.
    repeats : int
        Number of orders.
    most : int
        Records that the largest sample wants; sites that come far beyond that are not kept.
    replace : bool
        Whether a site can come again: True for resamples, False for audits.
    rng : Generator
        Source of the draws.

    Returns
    -------
    SiteOrders
        At most as many sites in each order as are eligible.

    Examples
    --------
    >>> eligible = np.array([True, True, False])
    >>> rng = np.random.default_rng(1)
    >>> order = order_sites([4, 4, 9], eligible, repeats=1, most=8, replace=False, rng=rng)
    >>> order.take(8).toarray().tolist()
    [[1.0, 1.0, 0.0]]
    """
    here = np.flatnonzero(eligible)
    if replace:
        place = here[rng.integers(len(here), size=(repeats, len(here)))]
    else:
        place = here[np.argsort(rng.random((repeats, len(here))), axis=1)]
    reached = np.cumsum(np.asarray(sizes, float)[place], axis=1)
    kept = 1 + int((reached < 2 * most).sum(axis=1).max())
    return SiteOrders(place[:, :kept].copy(), reached[:, :kept].copy(), len(eligible))
