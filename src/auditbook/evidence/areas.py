"""How well does a score order the records of each group?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def group_auc(outcome: ArrayLike, values: ArrayLike, codes: ArrayLike, n_groups: int) -> NDArray[np.float64]:
    r"""Find the area under the ROC curve within each group.

    .. math:: A_g = P(s > s') + P(s = s')/2

    for an event with score s and a non-event with score s', both of group g. Ranks and whole numbers only, so
    the order of the records cannot matter.

    Parameters
    ----------
    outcome : array of 0 and 1, shape (n,)
        1 where the event happened.
    values : float array, shape (n,)
        The scores; any order-preserving change of them gives the same areas.
    codes : int array, shape (n,)
        Position of each record's group.
    n_groups : int
        Number of groups.

    Returns
    -------
    float array, shape (n_groups,)
        1 when every event lies above every non-event, 0.5 when all scores are equal, 0 when all lie below;
        nan for a group without events or without non-events.

    References
    ----------
    Hanley, J. A. and McNeil, B. J. (1982). doi:10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> group_auc([0, 1, 0, 1], [0.2, 0.9, 0.4, 0.4], [0, 0, 1, 1], 2).tolist()
    [1.0, 0.5]
    """
    scores, groups = np.asarray(values, float), np.asarray(codes)
    order = np.argsort(scores, kind="stable")
    small = np.uint16 if n_groups <= 65_536 else np.int64  # few bytes sort fast
    order = order[np.argsort(groups[order].astype(small), kind="stable")]
    groups, scores, events = groups[order], scores[order], np.asarray(outcome)[order].astype(np.int64)
    area = np.full(n_groups, np.nan)
    if not groups.size:
        return area
    is_new = (np.diff(groups, prepend=-1) != 0) | (np.diff(scores, prepend=-np.inf) != 0)
    start = np.flatnonzero(is_new)
    tied_events = np.add.reduceat(events, start)
    tied_others = np.diff(start, append=groups.size) - tied_events
    group = groups[start]
    n_events = np.bincount(group, tied_events, n_groups)
    n_others = np.bincount(group, tied_others, n_groups)
    others_before = np.cumsum(n_others) - n_others
    below = np.cumsum(tied_others) - tied_others - others_before[group].astype(np.int64)
    twice = np.bincount(group, tied_events * (2 * below + tied_others), n_groups)
    pairs = n_events * n_others
    return np.divide(twice, 2 * pairs, out=area, where=pairs > 0)
