"""What do resamples of one half, and audits of both halves, count?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from auditbook.evidence import draw_counts, subsample_counts

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class HalfDraws:
    """Counts of one attribute's groups: halves, resamples of the first, audits of both.

    Attributes
    ----------
    first, second : int array, shape (halvings, n_groups, 4)
        The halves.
    resampled : int array, shape (halvings, K, n_groups, 4)
        Resamples of the first half within the strata label x group: what its flip rate comes from.
    free : int array, shape (halvings, M, n_groups, 4)
        Resamples of records of the first half without strata.
    by_site : int array, shape (halvings, M, n_groups, 4), or None
        Resamples of whole sites of the first half.
    audits : dict of str to pair of int arrays, shape (halvings, M, n_groups, 4)
        By way of drawing: audits drawn without replacement from the first and from the second half.
    size : int
        Records of a resample and, exactly or nearly, of an audit.
    """

    first: Counts
    second: Counts
    resampled: Counts
    free: Counts
    by_site: Counts | None
    audits: dict[str, tuple[Counts, Counts]]
    size: int

    @property
    def left(self) -> NDArray[np.float64]:
        """Share of the first half that an audit leaves, shape (halvings, 1)."""
        return np.maximum(1 - self.size / self.first.sum(axis=(1, 2))[:, None], 0.01)


def _lay_out(counts: Counts) -> Counts:
    """Store the draws of a group side by side; sums over a few groups are then twice as fast."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(counts, (-2, -1), (0, 1))), (0, 1), (-2, -1))


def resample_halves(halves: Counts, *, size: int, resamples: int, rng: np.random.Generator) -> Counts:
    """Resample every half within the strata label x group, as `draw_counts` does with a cohort.

    Parameters
    ----------
    halves : int array, shape (halvings, n_groups, 4)
        Records in the order tp, fp, fn, tn.
    size, resamples : int
        Records a resample, and resamples a half.
    rng : Generator
        Source of the draws.

    Returns
    -------
    int array, shape (halvings, resamples, n_groups, 4)
        The draws.

    Examples
    --------
    >>> halves = np.array([[[8, 2, 2, 8]]])
    >>> resample_halves(halves, size=10, resamples=3, rng=np.random.default_rng(1)).shape
    (1, 3, 1, 4)
    """
    drawn = [draw_counts(half, size=size, resamples=resamples, rng=rng) for half in halves]
    return _lay_out(np.stack(drawn))


def resample_freely(halves: Counts, *, size: int, resamples: int, rng: np.random.Generator) -> Counts:
    """Resample every half without strata: groups' sizes and event rates vary as in an audit of new records.

    Parameters
    ----------
    halves, size, resamples, rng
        As for `resample_halves`.

    Returns
    -------
    int array, shape (halvings, resamples, n_groups, 4)
        The draws.

    Examples
    --------
    >>> halves = np.array([[[8, 2, 2, 8]]])
    >>> resample_freely(halves, size=10, resamples=3, rng=np.random.default_rng(1)).sum(axis=-1).tolist()
    [[[10], [10], [10]]]
    """
    shares = halves.reshape(len(halves), 1, -1) / halves.sum(axis=(1, 2))[:, None, None]
    drawn = rng.multinomial(size, np.broadcast_to(shares, (len(halves), resamples, shares.shape[-1])))
    return _lay_out(drawn.reshape(len(halves), resamples, *halves.shape[1:]))


def audit_halves(halves: Counts, *, size: int, audits: int, rng: np.random.Generator) -> Counts:
    """Draw audits of so many records from every half, without replacement.

    Parameters
    ----------
    halves : int array, shape (halvings, n_groups, 4)
        Records in the order tp, fp, fn, tn.
    size, audits : int
        Records an audit, and audits a half.
    rng : Generator
        Source of the draws.

    Returns
    -------
    int array, shape (halvings, audits, n_groups, 4)
        The draws.

    Examples
    --------
    >>> halves = np.array([[[8, 2, 2, 8]]])
    >>> audit_halves(halves, size=20, audits=1, rng=np.random.default_rng(1)).tolist()
    [[[[8, 2, 2, 8]]]]
    """
    drawn = [subsample_counts(half, size=size, repeats=audits, rng=rng) for half in halves]
    return _lay_out(np.stack(drawn))


def count_taken(taken: Sequence[csr_matrix], at_site: ArrayLike) -> Counts:
    """Count the records of the whole sites that resamples or audits of every half take."""
    table = np.asarray(at_site)
    flat = table.reshape(*table.shape[:2], -1).astype(float)
    drawn = np.stack([np.asarray(times @ half) for times, half in zip(taken, flat, strict=True)])
    return _lay_out(np.rint(drawn).astype(np.int64).reshape(len(table), -1, *table.shape[2:]))
