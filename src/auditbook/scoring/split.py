"""Which records train the models and which are audited?

No unit has records in both parts. The split is made over units: it depends on their names, their sizes,
their event counts and the seed, and not on the order of the rows. Renaming units gives another split of the
same quality.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError

MIN_TRAIN_EVENTS = 10
"""Fewest events, and fewest non-events, that a model is trained on (ours)."""
MAX_FOLDS = 5
"""Folds in which encoders are fitted out of fold."""


@dataclass(frozen=True)
class Split:
    """Positions of the training and the audited records.

    Attributes
    ----------
    train, audit : int64 arrays, shapes (n_train,) and (n_audit,)
        Positions in the cohort, increasing; together they hold every record once.
    """

    train: NDArray[np.int64]
    audit: NDArray[np.int64]


def split_units(outcome: ArrayLike, unit: ArrayLike, *, audit_share: float, seed: int) -> Split:
    r"""Split records into a training and an audit part by whole units, stratified by outcome.

    Units are sorted by name, put into strata by size (four classes) and event rate (none, low, high, all),
    and :math:`\lceil` `audit_share` x units :math:`\rceil` of them are drawn, in proportion, for the audit.
    When each record is its own unit the strata are the two outcomes, and the split is exactly stratified.

    Parameters
    ----------
    outcome : int array, shape (n,)
        1 where the event happened, else 0.
    unit : array of str, shape (n,)
        Name of each record's unit; no unit is in both parts.
    audit_share : float
        Share of the units that is audited, between 0 and 1; drawn with `seed`.

    Raises
    ------
    InputError
        If there are fewer than two units, the training part would hold fewer than 10 events or non-events,
        or the audit part none of either.

    Examples
    --------
    >>> parts = split_units([0, 1] * 50, [str(i) for i in range(100)], audit_share=0.2, seed=42)
    >>> len(parts.train), len(parts.audit)
    (80, 20)
    """
    from sklearn.model_selection import train_test_split

    outcome = np.asarray(outcome)
    codes, _ = pd.factorize(np.asarray(unit, dtype=object), sort=True)
    sizes = np.bincount(codes)
    if not 0 < audit_share < 1:
        raise InputError(f"[protocol] audit_share must lie between 0 and 1, found {audit_share:g}")
    if len(sizes) < 2:
        raise InputError(
            f"models cannot be trained and audited on separate units: {len(outcome)} records of {len(sizes)} "
            "unit(s); name a finer [unit], or give scores"
        )
    strata = _unit_strata(sizes, np.bincount(codes, weights=outcome) / sizes, audit_share)
    _, audited = train_test_split(
        np.arange(len(sizes)), test_size=audit_share, random_state=seed, stratify=strata
    )
    is_audited = np.isin(codes, audited)
    split = Split(np.flatnonzero(~is_audited), np.flatnonzero(is_audited))
    _check_support(outcome, split)
    return split


def _unit_strata(sizes: NDArray, rates: NDArray, audit_share: float) -> NDArray[np.int64] | None:
    """Class of each unit by size and event rate; small classes together; None when there is only one."""
    size_class = np.searchsorted(np.unique(np.quantile(sizes, [0.25, 0.5, 0.75])), sizes)
    mixed = (rates > 0) & (rates < 1)
    middle = np.median(rates[mixed]) if mixed.any() else 0.5
    rate_class = np.select([rates == 0, rates == 1, rates <= middle], [0, 3, 1], 2)
    strata = 4 * size_class + rate_class
    fewest = max(2, math.ceil(1 / min(audit_share, 1 - audit_share)))
    counts = np.bincount(strata, minlength=16)
    strata[counts[strata] < fewest] = 16
    rest = np.count_nonzero(strata == 16)
    if 0 < rest < fewest:
        strata[strata == 16] = np.argmax(counts)
    return strata if len(np.unique(strata)) > 1 else None


def _check_support(outcome: NDArray, split: Split) -> None:
    """Raise InputError when a part holds too few events or non-events to be of use."""
    faults = []
    for what, label in (("events", 1), ("non-events", 0)):
        train, audit = (np.count_nonzero(outcome[part] == label) for part in (split.train, split.audit))
        if train < MIN_TRAIN_EVENTS or audit < 1:
            faults.append(
                f"too few {what} to train and audit on separate units: {train} in the training part "
                f"({MIN_TRAIN_EVENTS} needed) and {audit} in the audit part (1 needed); use a larger cohort, "
                "change [protocol] audit_share, name a finer [unit], or give scores"
            )
    if faults:
        raise InputError(*faults)


def fold_units(unit: ArrayLike, *, seed: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Deal units into (at most five) folds for fitting out of fold."""
    from sklearn.model_selection import GroupKFold

    codes, names = pd.factorize(np.asarray(unit, dtype=object), sort=True)
    if len(names) < 2:
        raise InputError(
            "the training part holds one unit only, so nothing can be fitted out of fold; name a finer [unit]"
        )
    folds = GroupKFold(min(MAX_FOLDS, len(names)), shuffle=True, random_state=seed)
    return [(rest, fold) for rest, fold in folds.split(codes, groups=codes)]
