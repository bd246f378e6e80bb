"""How is a finished score handed to a library that asks for a trained classifier?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class ScoreReader(ClassifierMixin, BaseEstimator):
    """A classifier for fairlearn that needs no training: its only feature is the score."""

    classes_ = np.array([0, 1])

    def fit(self, features: ArrayLike, outcome: ArrayLike) -> "ScoreReader":
        """Learn nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Say that there is nothing to learn."""
        return True

    def predict_proba(self, features: ArrayLike) -> NDArray[np.float64]:
        """Return non-event and event probability, shape (n, 2)."""
        score = np.asarray(features, dtype=np.float64)[:, 0]
        return np.column_stack([1 - score, score])
