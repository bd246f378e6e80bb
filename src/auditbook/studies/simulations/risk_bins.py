"""Which groupings follow one number: the risk that a forest predicts, or the error that a model makes?"""

from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.pockets import Assignment, Encoding, Forest, FrozenMap, PocketData, fit_encoding
from auditbook.studies.simulations.maps import assign_bins, cut_evenly, name_map
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.worlds import FOCAL, Question

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RiskRule:
    """Sends a record to a bin of the risk that the forest predicts."""

    encoding: Encoding  # How a table is read
    forest: Forest  # Where records go
    means: Array  # shape (n_leaves,): Mean outcome of the graph records in each leaf
    edges: Array  # shape (C - 1,): Inner edges of the bins

    @property
    def n_pockets(self) -> int:
        """Number of bins."""
        return len(self.edges) + 1

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Assign every record."""
        leaves = self.forest.find_leaves(self.encoding.encode(table))
        return assign_bins(self.means[leaves].mean(axis=1), self.edges)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the rule consists of."""
        own = {"means": self.means, "edges": self.edges}
        return {**self.encoding.arrays(), **self.forest.arrays(), **own}


def bin_risk(
    graph: PocketData, encoding: Encoding, forest: Forest, leaves: NDArray[np.int32], *, pockets: int
) -> FrozenMap:
    """Bin the risk that the similarity forest predicts."""
    flat = leaves.ravel()
    counts = np.bincount(flat, minlength=forest.n_leaves)
    sums = np.bincount(flat, np.repeat(graph.outcome, leaves.shape[1]), minlength=forest.n_leaves)
    means = sums / np.maximum(counts, 1)
    edges = cut_evenly(means[leaves].mean(axis=1), pockets)
    return name_map("risk bins", RiskRule(encoding, forest, means, edges), graph.table, graph.outcome)


@dataclass(frozen=True)
class ErrorRule:
    """Sends a record to a bin of the error, or of the gap in errors, that boosted trees predict."""

    encoding: Encoding  # How a table is read
    # Boosted trees as text: of the error, or of the focal group's and of the reference's
    models: tuple[str, ...]
    edges: Array  # shape (C - 1,): Inner edges of the bins

    @property
    def n_pockets(self) -> int:
        """Number of bins."""
        return len(self.edges) + 1

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Assign every record."""
        return assign_bins(predict_errors(self.models, self.encoding.encode(table)), self.edges)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the rule consists of."""
        return {**self.encoding.arrays(), "models": np.array(self.models), "edges": self.edges}


def predict_errors(models: tuple[str, ...], features: Array) -> Array:
    """Predict the error, or the first model's less the second's."""
    total = np.zeros(len(features))
    for sign, text in zip((1, -1), models, strict=False):
        total += sign * np.asarray(lightgbm.Booster(model_str=text).predict(features, num_threads=1))
    return total


def bin_errors(
    discovery: PocketData,
    prediction: Array,
    question: Question,
    *,
    pockets: int,
    sizes: Sizes,
    seed: int,
    plain: bool = False,
) -> FrozenMap:
    """Learn where a model errs, or errs differently for the focal group, and bin that.

    Unlike all other groupings it sees the model's errors and, for gaps, the groups, and it is learned anew
    for each model.
    """
    encoding = fit_encoding(discovery.table)
    features = encoding.encode(discovery.table)
    errors = prediction - discovery.outcome
    focal = discovery.attributes[0].codes == FOCAL
    parts = (focal, ~focal) if question == "gap" else (np.ones(len(errors), bool),)
    models = tuple(_boost(features[part], errors[part], None if plain else sizes, seed) for part in parts)
    edges = cut_evenly(predict_errors(models, features), pockets)
    name = "targeted plain" if plain else "targeted"
    return name_map(name, ErrorRule(encoding, models, edges), discovery.table, discovery.outcome)


def _boost(features: Array, errors: Array, sizes: Sizes | None, seed: int) -> str:
    """Fit boosted trees to errors, on one thread; by the library's settings without sizes."""
    leaves, rate, rounds = (31, 0.1, 100) if sizes is None else (sizes.leaves, 0.05, sizes.rounds)
    settings = {
        "objective": "regression",
        "num_leaves": leaves,
        "learning_rate": rate,
        "min_data_in_leaf": 20,
        "feature_fraction": 1.0,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "seed": seed,
        "verbosity": -1,
    }
    fitted = lightgbm.train(settings, lightgbm.Dataset(features, errors), rounds)
    return str(fitted.model_to_string())
