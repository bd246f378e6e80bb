"""What would a group's counts be, had some of its events been recorded as non-events?"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import FN, FP, TN, TP, rate

Array = NDArray[np.float64]
Among = Literal["any", "not selected", "selected"]

AMONG: tuple[Among, ...] = ("any", "not selected", "selected")
"""Which of a group's recorded non-events the missed events are: of all alike, or of one part only."""


def record_missed(counts: ArrayLike, share: ArrayLike, selected: ArrayLike) -> Array:
    r"""Count a group anew, had a share of its events gone unrecorded and were they recorded now.

    Of E recorded events and a share s of all that happened, :math:`m = E s / (1 - s)` recorded non-events
    were events. A part :math:`\phi` of these was selected, so that the counts become

    .. math:: \mathrm{tp} + \phi m,\quad \mathrm{fp} - \phi m,\quad
              \mathrm{fn} + (1 - \phi) m,\quad \mathrm{tn} - (1 - \phi) m .

    Parameters
    ----------
    counts : array, shape (..., 4)
        tp, fp, fn, tn as recorded.
    share : float array, shape (...)
        s: 0 when every event was recorded; at most `most_missed`.
    selected : float array, shape (...)
        The part :math:`\phi`, from `part_selected`. 0 and 1 are the extremes: a rate lies between what they
        give.

    Returns
    -------
    float array, shape (..., 4)
        Expected counts, not rounded.

    References
    ----------
    Fawkes, J., Fishman, N., Andrews, M. and Lipton, Z. C. (2024). The fragility of fairness: causal
    sensitivity analysis for fair machine learning. arXiv:2410.09600

    Examples
    --------
    >>> record_missed([6, 2, 2, 8], 0.2, 0).tolist()
    [6.0, 2.0, 4.0, 6.0]
    """
    tp, fp, fn, tn = np.moveaxis(np.asarray(counts, float), -1, 0)
    part = np.asarray(share, float)
    missed = (tp + fn) * part / (1 - part)
    found = missed * np.asarray(selected, float)
    return np.stack([tp + found, fp - found, fn + missed - found, tn - missed + found], axis=-1)


def part_selected(counts: ArrayLike, among: Among) -> Array:
    """Find the part of a group's missed events that was selected, by where they hide.

    >>> float(part_selected([6, 2, 2, 8], "any"))
    0.2
    """
    table = np.asarray(counts, float)
    if among == "any":
        return np.nan_to_num(rate(table[..., FP], table[..., FP] + table[..., TN]))
    return np.full(table.shape[:-1], float(among == "selected"))


def most_missed(counts: ArrayLike, among: Among, *, kept: int = 0) -> Array:
    r"""Find the largest share of a group's events that can have gone unrecorded, :math:`h/(E + h)`.

    It is reached when every one of the h non-events among which they hide is an event, but for `kept` of the
    group's non-events. nan for a group without an event: where nothing was recorded, no share can be told.

    >>> float(most_missed([6, 2, 2, 8], "not selected"))
    0.5
    """
    table = np.asarray(counts, float)
    both = table[..., FP] + table[..., TN]
    hidden = {"any": both, "not selected": table[..., TN], "selected": table[..., FP]}[among]
    hidden = np.minimum(hidden, np.maximum(both - kept, 0))
    events = table[..., TP] + table[..., FN]
    return np.where(events > 0, rate(hidden, events + hidden), np.nan)
