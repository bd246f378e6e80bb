"""Which records are alike along straight lines: the nearest of some centres, of features weighed by a ridge.

Numbers are imputed by their median and standardised; each level of a category that enough graph records have
is a column of its own. A column counts by the size of its coefficient.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.pockets.encoding import Encoding, load_encoding
from auditbook.pockets.forest import BLOCK, each_block
from auditbook.pockets.frozen import Assignment

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

PENALTIES = tuple(float(value) for value in np.logspace(-2, 5, 15))
"""Penalties that are tried (ours), for features of variance 1."""
FOLDS = 5
"""Folds in which the penalty of a logistic ridge is chosen."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """How encoded columns become the columns of a linear model."""

    source: NDArray[np.int64]  # shape (q,): Encoded column that each comes from
    level: Array  # shape (q,): Code of the level that it marks; nan for a number
    median: Array  # shape (q,): What missing numbers count as, and what is subtracted and divided by
    mean: Array  # shape (q,): What missing numbers count as, and what is subtracted
    scale: Array  # shape (q,): What is divided by

    def build(self, encoded: Array) -> Array:
        """Standardise records, shape (n, p), into shape (n, q)."""
        values = encoded[:, self.source]
        marks = ~np.isnan(self.level)
        values[:, marks] = values[:, marks] == self.level[marks]
        values = np.where(np.isnan(values), self.median, values)
        return np.asarray((values - self.mean) / self.scale)


@dataclass(frozen=True)
class CentreRule:
    """Assignment to the nearest centre; nobody abstains."""

    encoding: Encoding  # How a table is read
    design: Design  # How it is standardised
    transform: Array  # shape (q, r): What standardised records are multiplied by
    centres: Array  # shape (C, r): Centres of the pockets

    @property
    def n_pockets(self) -> int:
        """Number of pockets."""
        return len(self.centres)

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Assign records from their features alone."""
        parts = [
            nearest_centre(self.place(self.encoding.encode(table.iloc[part])), self.centres)
            for part in each_block(max(len(table), 1), BLOCK)
        ]
        return Assignment(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.affinity for part in parts]),
            np.concatenate([part.lead for part in parts]),
        )

    def place(self, encoded: Array) -> Array:
        """Find the coordinates, shape (n, r), of encoded records."""
        with threadpool_limits(1):
            return np.asarray(self.design.build(encoded) @ self.transform)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the rule consists of."""
        parts = ("source", "level", "median", "mean", "scale")
        design = {f"design_{name}": getattr(self.design, name) for name in parts}
        return {**self.encoding.arrays(), **design, "transform": self.transform, "centres": self.centres}


def nearest_centre(places: Array, centres: Array) -> Assignment:
    """Find the nearest centre of each record."""
    square = np.zeros((len(places), len(centres)))
    for axis in range(places.shape[1]):
        square += (places[:, axis, None] - centres[:, axis]) ** 2
    distance = np.sqrt(square)
    codes = distance.argmin(axis=1)
    best = np.take_along_axis(distance, codes[:, None], axis=1)[:, 0]
    second = np.full(len(places), np.inf)
    if len(centres) > 1:
        second = np.partition(distance, 1, axis=1)[:, 1]
    return Assignment(codes.astype(np.int32), -best, second - best)


def fit_design(encoded: Array, is_category: NDArray[np.bool_], *, fewest: int) -> Design:
    """Fix the columns of a linear model on the graph records; columns without spread are left out.

    Parameters
    ----------
    encoded : float64 array, shape (n, p)
        Graph records.
    is_category : bool array, shape (p,)
        Columns that hold codes of levels; a level gets a column if at least `fewest` records have it.

    Examples
    --------
    >>> encoded = np.array([[1.0, 0], [3.0, 1], [np.nan, 1]])
    >>> design = fit_design(encoded, np.array([False, True]), fewest=1)
    >>> design.build(encoded).round(2).tolist()
    [[-1.22, 1.41, -1.41], [1.22, -0.71, 0.71], [0.0, -0.71, 0.71]]
    """
    columns: list[tuple[int, float]] = []
    for position in range(encoded.shape[1]):
        if not is_category[position]:
            columns.append((position, np.nan))
            continue
        values = encoded[:, position]
        levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        columns += [(position, level) for level in levels[counts >= fewest]]
    source = np.array([position for position, _ in columns], dtype=np.int64)
    level = np.array([value for _, value in columns], dtype=np.float64)
    numbers = np.where(np.isnan(level), 1, np.nan)
    median = np.nan_to_num(np.array([np.nanmedian(encoded[:, place]) for place in source]) * numbers)
    ones = np.ones(len(source))
    raw = Design(source, level, median, 0 * ones, ones).build(encoded)
    mean, scale = raw.mean(axis=0), raw.std(axis=0)
    kept = scale > 1e-9 * np.maximum(np.abs(mean), 1e-300)
    return Design(*(part[kept] for part in (source, level, median, mean, scale)))


def weigh_features(design: Array, outcome: Array, *, continuous: bool, seed: int) -> Array:
    r"""Find the size of each coefficient of a cross-validated ridge regression of the outcome.

    .. math:: \hat\beta = \arg\min_\beta \sum_i (y_i - \beta_0 - x_i'\beta)^2 + \lambda \lVert\beta\rVert^2

    or the logistic loss in place of the square; :math:`\lambda` is chosen by cross-validation.

    Parameters
    ----------
    design : float64 array, shape (n, q)
        Standardised graph records.
    outcome : float64 array, shape (n,)
        0 or 1, or numbers.
    continuous : bool
        False takes a logistic regression with a ridge.
    seed : int
        Seed of the folds.

    Returns
    -------
    float64 array, shape (q,)
        Zero where the outcome does not vary.

    References
    ----------
    Hoerl, A. E. and Kennard, R. W. (1970). Ridge regression. doi:10.1080/00401706.1970.10488634

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=(200, 2))
    >>> weigh_features(x, 3 * x[:, 0], continuous=True, seed=1).round(1).tolist()
    [3.0, 0.0]
    """
    from sklearn.linear_model import RidgeCV

    n_least = np.unique(outcome, return_counts=True)[1].min() if len(outcome) else 0
    if design.shape[1] == 0 or np.ptp(outcome) == 0 or (not continuous and n_least < FOLDS):
        return np.zeros(design.shape[1])
    if continuous:
        return np.abs(RidgeCV(PENALTIES).fit(design, outcome).coef_)
    fold = _deal_folds(outcome, np.random.default_rng(seed))
    losses = [
        sum(_held_out_loss(design, outcome, fold == part, penalty) for part in range(FOLDS))
        for penalty in PENALTIES
    ]
    best = PENALTIES[int(np.argmin(losses))]
    return np.abs(_fit_logistic(design, outcome, best).coef_[0])


def _deal_folds(outcome: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Deal records into folds, events and non-events apart."""
    fold = np.empty(len(outcome), dtype=np.int64)
    for value in (0, 1):
        held = np.flatnonzero(outcome == value)
        fold[held] = rng.permutation(len(held)) % FOLDS
    return fold


def _held_out_loss(design: Array, outcome: Array, held: NDArray[np.bool_], penalty: float) -> float:
    from sklearn.metrics import log_loss

    fitted = _fit_logistic(design[~held], outcome[~held], penalty)
    return float(log_loss(outcome[held], fitted.predict_proba(design[held]), labels=[0.0, 1.0]))


def _fit_logistic(design: Array, outcome: Array, penalty: float) -> "LogisticRegression":
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the size of a coefficient is enough
        return LogisticRegression(C=1 / penalty, max_iter=200).fit(design, outcome)


def fit_ridge_map(
    encoding: Encoding,
    encoded: Array,
    outcome: Array,
    *,
    continuous: bool,
    count: int,
    fewest: int,
    seed: int,
) -> CentreRule:
    r"""Learn the ridge map: K-means of features weighed by a ridge regression of the outcome.

    .. math:: z_{ij} = |\hat\beta_j| \, \frac{x_{ij} - \bar x_j}{\mathrm{SD}_j}

    with the coefficients of `weigh_features`; a record belongs to the nearest of the centres of the z.

    Parameters
    ----------
    encoding : Encoding
        How a table is read.
    encoded, outcome : float64 arrays, shapes (n, p) and (n,)
        The graph records.
    continuous : bool
        False takes a logistic regression with a ridge.
    count : int
        Pockets; fewer when fewer records differ.
    fewest : int
        Graph records that have a level of a category for it to get a column.
    seed : int
        Of the folds and of the starts.

    Returns
    -------
    CentreRule
        The map, frozen. Nobody abstains; one pocket where the outcome does not vary.

    References
    ----------
    Hoerl, A. E. and Kennard, R. W. (1970). Ridge regression. doi:10.1080/00401706.1970.10488634

    Examples
    --------
    >>> from auditbook.pockets.encoding import fit_encoding
    >>> table = pd.DataFrame({"age": [20.0, 30.0, 80.0, 90.0]})
    >>> encoding, outcome = fit_encoding(table), np.array([1.0, 2.0, 8.0, 9.0])
    >>> encoded = encoding.encode(table)
    >>> ridge = fit_ridge_map(encoding, encoded, outcome, continuous=True, count=2, fewest=1, seed=1)
    >>> ridge.assign(table).codes.tolist()
    [0, 0, 1, 1]
    """
    is_category = np.array([column.kind == "category" for column in encoding.columns], dtype=bool)
    design = fit_design(encoded, is_category, fewest=fewest)
    with threadpool_limits(1):  # sums in one order, whatever the number of processors
        weights = weigh_features(design.build(encoded), outcome, continuous=continuous, seed=seed)
        places = design.build(encoded) @ np.diag(weights)
        centres = cluster_places(places, count=count, seed=seed)
    return CentreRule(encoding, design, np.diag(weights), centres)


def cluster_places(places: Array, *, count: int, seed: int) -> Array:
    """Find K-means centres of coordinates (n, r), those of the most records first, from ten starts.

    There are fewer than `count` when fewer records differ.

    Examples
    --------
    >>> cluster_places(np.array([[0.0], [9.0], [9.0]]), count=5, seed=1).tolist()
    [[9.0], [0.0]]
    """
    from sklearn.cluster import KMeans

    distinct = len(np.unique(places.round(9), axis=0)) if places.shape[1] else 1
    if min(count, distinct) < 2:
        return places.mean(axis=0, keepdims=True)
    fitted = KMeans(min(count, distinct), n_init=10, random_state=seed).fit(places)
    sizes = np.bincount(fitted.labels_, minlength=len(fitted.cluster_centers_))
    order = np.lexsort((*fitted.cluster_centers_.T[::-1], -sizes))
    return np.asarray(fitted.cluster_centers_[order])


def load_centres(arrays: Mapping[str, NDArray[Any]]) -> CentreRule:
    """Rebuild a rule from its arrays."""
    parts = ("source", "level", "median", "mean", "scale")
    encoding, design = load_encoding(arrays), Design(*(arrays[f"design_{name}"] for name in parts))
    transform, centres = arrays["transform"], arrays["centres"]
    shapes = {len(getattr(design, name)) for name in parts}
    sources = design.source
    inside = ((sources >= 0) & (sources < len(encoding.columns))).all()
    if shapes != {len(transform)} or centres.shape[1] != transform.shape[1] or not inside:
        raise ValueError("centres do not fit the columns")
    return CentreRule(encoding, design, transform, centres)
