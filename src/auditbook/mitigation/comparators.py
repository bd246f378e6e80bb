"""What do two well-kept mitigation methods of another library reach on the same records?

Fairlearn's threshold optimiser and its exponentiated gradient are compared with, where it is installed. Both
decide by lot in part: two patients with the same score and of the same cell can get different decisions. The
lots are drawn from the run's seed.
"""

import importlib
import importlib.util
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.errors import InputError
from auditbook.mitigation.reweighing import count_labels

LIBRARY = "fairlearn"
FEWEST = 10
"""Cells with fewer events or non-events are put together (ours): the optimiser needs both in a cell."""
MOST_ROUNDS = 10
"""Rounds of the exponentiated gradient, each of which trains a model (ours)."""
MOST_RECORDS = 10_000
"""Training records of the exponentiated gradient, at the most (ours)."""
MOST_SELECTED = 20_000
"""Records that the threshold optimiser is fitted on, at the most (ours)."""
ALLOWED_GAP = 0.01
"""Largest difference of a cell's selection rate from the overall one, in the gradient's training records."""

Flags = NDArray[np.bool_]


def is_installed() -> bool:
    """Tell whether fairlearn can be imported."""
    return importlib.util.find_spec(LIBRARY) is not None


def pool_cells(outcome: ArrayLike, codes: ArrayLike, n_cells: int) -> NDArray[np.intp]:
    """Put the cells that lack events or non-events together."""
    counts = count_labels(outcome, codes, n_cells)
    if (counts.sum(axis=0) < FEWEST).any():
        raise InputError(f"fewer than {FEWEST} events or non-events")
    large = (counts >= FEWEST).all(axis=1)
    pool = np.arange(n_cells)
    small = np.flatnonzero(~large)
    if len(small):
        together = (counts[small].sum(axis=0) >= FEWEST).all() or not large.any()
        pool[small] = small[0] if together else np.argmax(np.where(large, counts.sum(axis=1), -1))
    return pool


def optimise_thresholds(
    outcome: ArrayLike, values: ArrayLike, codes: ArrayLike, n_cells: int, *, seed: int
) -> "OptimisedThresholds":
    """Fit fairlearn's ThresholdOptimizer: equal selection rates in all cells, as accurate as can be.

    It is fitted on at most 20,000 records, drawn by the seed.

    References
    ----------
    Hardt, M., Price, E. and Srebro, N. (2016). Equality of opportunity in supervised learning.
    doi:10.48550/arXiv.1610.02413
    """
    from auditbook.mitigation.score_reader import ScoreReader

    outcome, values, codes = (
        np.asarray(part)[_draw(len(np.asarray(outcome)), MOST_SELECTED, seed)]
        for part in (outcome, values, codes)
    )
    pool = pool_cells(outcome, codes, n_cells)
    kind = importlib.import_module(f"{LIBRARY}.postprocessing").ThresholdOptimizer
    optimiser = kind(
        estimator=ScoreReader(),
        constraints="demographic_parity",
        objective="accuracy_score",
        prefit=True,
        predict_method="predict_proba",
    )
    groups = pool[np.asarray(codes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimiser.fit(_column(values), np.asarray(outcome), sensitive_features=groups)
    return OptimisedThresholds(optimiser, pool, frozenset(groups.tolist()), seed)


@dataclass(frozen=True)
class OptimisedThresholds:
    """A fitted threshold optimiser."""

    optimiser: Any  # Fairlearn's
    pool: NDArray[np.intp]  # shape (n_cells,): Pool of each cell
    known: frozenset[int]  # Pools that it was fitted on
    seed: int  # Seed of the lots

    def decide(self, values: ArrayLike, codes: ArrayLike, *, threshold: float) -> Flags:
        """Decide for records; those of a pool that it does not know keep the common threshold."""
        scores, groups = np.asarray(values, dtype=np.float64), self.pool[np.asarray(codes)]
        chosen = scores >= threshold
        here = np.isin(groups, list(self.known))
        if here.any():
            found = self.optimiser.predict(
                _column(scores[here]), sensitive_features=groups[here], random_state=self.seed
            )
            chosen[here] = np.asarray(found) == 1
        return chosen


def _draw(n: int, most: int, seed: int) -> NDArray[np.intp]:
    """Draw so many of n records at the most; positions, increasing."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])


def _column(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)[:, None]


def reduce_by_gradient(
    features: NDArray[np.float64],
    outcome: ArrayLike,
    codes: ArrayLike,
    n_cells: int,
    *,
    scored: NDArray[np.float64],
    seed: int,
) -> Flags:
    """Fit fairlearn's ExponentiatedGradient around a logistic regression and decide for other records.

    It trains up to ten models, so it has a small one and at most 10,000 training records, drawn by the seed.

    References
    ----------
    Agarwal, A. et al. (2018). A reductions approach to fair classification. doi:10.48550/arXiv.1803.02453
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    events, cells = np.asarray(outcome), np.asarray(codes)
    drawn = _draw(len(events), MOST_RECORDS, seed)
    features, events, cells = features[drawn], events[drawn], cells[drawn]
    pool = pool_cells(events, cells, n_cells)
    scaler = StandardScaler().fit(features)
    reductions = importlib.import_module(f"{LIBRARY}.reductions")
    gradient = reductions.ExponentiatedGradient(
        LogisticRegression(max_iter=1000, random_state=seed),
        reductions.DemographicParity(difference_bound=ALLOWED_GAP),
        max_iter=MOST_ROUNDS,
    )
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore")
        gradient.fit(scaler.transform(features), events, sensitive_features=pool[cells])
        found = gradient.predict(scaler.transform(scored), random_state=seed)
    return np.asarray(found) == 1
