"""What do this project and other tools do when they are asked for the same thing of the same records?"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.evidence import (
    draw_counts,
    false_positive_rate,
    rank_levels,
    selection_rate,
    true_positive_rate,
)
from auditbook.evidence.counts import count_groups
from auditbook.pockets.forest import leaf_indicator
from auditbook.pockets.neighbours import link_mutual
from auditbook.project import project_file
from auditbook.ranking.matrix import order_matrix
from auditbook.ranking.summary import summarise_areas

Codes = NDArray[np.intp]
RATES = (selection_rate, true_positive_rate, false_positive_rate)
NEIGHBOURS, TREES, LEAF = 10, 100, 20


@dataclass(frozen=True)
class Board:
    """What all tools are given."""

    outcome: NDArray[np.int8]
    score: NDArray[np.float64]
    names: tuple[str, ...]  # Of the attributes
    codes: tuple[Codes, ...]

    @property
    def decision(self) -> NDArray[np.bool_]:
        """Who is selected."""
        return self.score >= 0.5

    @property
    def groups(self) -> tuple[int, ...]:
        """Groups of each attribute."""
        return tuple(int(codes.max()) + 1 for codes in self.codes)

    def repeat(self, rows: int) -> "Board":
        """Take as many rows, over and over again."""
        places = np.arange(rows) % len(self.outcome)
        codes = tuple(one[places] for one in self.codes)
        return replace(self, outcome=self.outcome[places], score=self.score[places], codes=codes)

    def regroup(self, groups: int) -> "Board":
        """Put the records into so many groups of about one size."""
        codes = np.arange(len(self.outcome)) % groups
        return replace(self, codes=(codes, *self.codes[1:]))


def draw_board(rows: int) -> Board:
    """Draw the twin, and fit one score to its records: what is timed does not depend on how good it is."""
    from sklearn.linear_model import LogisticRegression

    file = read_cohort_file(project_file("data", "cohorts", "texas-twin.toml"))
    with tempfile.TemporaryDirectory() as folder:
        cohort = load_cohort(replace(file, data=replace(file.data, rows=rows)), cache_dir=Path(folder))
    wide = pd.get_dummies(pd.DataFrame({item.name: item.codes for item in cohort.attributes}).astype(str))
    number = cohort.table.select_dtypes("number")
    charges = np.log1p(number["total_charges"].to_numpy(float))[:, None]
    features = np.hstack([wide.to_numpy(float), charges / charges.std()])
    score = LogisticRegression().fit(features, cohort.outcome).predict_proba(features)[:, 1]
    return Board(
        cohort.outcome,
        score,
        tuple(item.name for item in cohort.attributes),
        tuple(item.codes.astype(np.intp) for item in cohort.attributes),
    )


def count_board(board: Board, *, first: bool = False) -> list[NDArray[np.int64]]:
    """Count the groups of every attribute, or of the first."""
    pairs = list(zip(board.codes, board.groups, strict=True))[: 1 if first else None]
    return [count_groups(board.outcome, board.decision, codes, number) for codes, number in pairs]


def count_draws(
    counts: NDArray[np.int64], resamples: int, board: Board, *, keep_all: bool = False
) -> NDArray[np.float64]:
    """Bootstrap the gap in sensitivity from counts; `keep_all` gives that of the records themselves."""
    if keep_all:
        return np.ptp(true_positive_rate(counts)[None], axis=-1)
    rng = np.random.default_rng(1)
    drawn = draw_counts(counts, size=len(board.outcome), resamples=resamples, rng=rng)
    return np.ptp(true_positive_rate(drawn), axis=-1)


def record_draws(board: Board, resamples: int, *, within: bool) -> NDArray[np.float64]:
    """Bootstrap the gap by drawing records, with one look-up and one count a resample: numpy at its best.

    `within` draws within label and group, which is the law of the draws of counts.
    """
    rng, number = np.random.default_rng(1), board.groups[0]
    cell = (board.codes[0] * 2 + (1 - board.outcome)) * 2 + ~board.decision
    strata = [np.flatnonzero(cell // 2 == one) for one in range(2 * number)] if within else []
    n, found = len(cell), np.empty(resamples)
    for place in range(resamples):
        if within:
            rows = np.concatenate([one[rng.integers(0, len(one), len(one))] for one in strata if len(one)])
        else:
            rows = rng.integers(0, n, n)
        table = np.bincount(cell[rows], minlength=4 * number).reshape(number, 2, 2)
        hits = table[:, 0, 0] / table[:, 0].sum(axis=-1)
        found[place] = hits.max() - hits.min()
    return found


def fairlearn_draws(board: Board, resamples: int) -> float:
    """Let fairlearn bootstrap the gap; returned is that of the records themselves."""
    import fairlearn.metrics as fairlearn

    frame = fairlearn.MetricFrame(
        metrics=fairlearn.true_positive_rate,
        y_true=board.outcome,
        y_pred=board.decision.astype(int),
        sensitive_features=board.codes[0],
        n_boot=resamples,
        ci_quantiles=[0.025, 0.975],
        random_state=1,
    )
    frame.difference_ci()
    return float(frame.difference())


@dataclass(frozen=True)
class Rates:
    """Rates of all groups of all attributes."""

    by_group: NDArray[np.float64]  # shape (n_groups, 3): selection rate, TPR, FPR
    # shape (n_pairs, 3): each group beside the first of its attribute: ratio and difference of selection
    # rates, difference of TPR
    by_pair: NDArray[np.float64]


def our_ratios(board: Board) -> Rates:
    """Count once, and read all rates from the counts."""
    tables = [np.column_stack([rate(counts) for rate in RATES]) for counts in count_board(board)]
    pairs = [
        np.column_stack([one[1:, 0] / one[0, 0], one[1:, 0] - one[0, 0], one[1:, 1] - one[0, 1]])
        for one in tables
    ]
    return Rates(np.vstack(tables), np.vstack(pairs))


def aequitas_rates(board: Board) -> NDArray[np.float64]:
    """Let Aequitas audit all attributes; its rates of all groups, in our order."""
    from aequitas import Audit

    columns = {name: codes.astype(str) for name, codes in zip(board.names, board.codes, strict=True)}
    table = pd.DataFrame(
        {"score": board.decision.astype(int), "label_value": board.outcome.astype(int), **columns}
    )
    audit = Audit(table, label_column="label_value")
    audit.audit()
    found = audit.metrics_df.set_index(["attribute_name", "attribute_value"])
    order = [
        (name, str(code))
        for name, number in zip(board.names, board.groups, strict=True)
        for code in range(number)
    ]
    found = found.loc[order]
    selected = (found["pp"] / found["group_size"]).to_numpy(float)
    return np.column_stack([selected, found["tpr"].to_numpy(float), found["fpr"].to_numpy(float)])


def aif360_ratios(board: Board) -> NDArray[np.float64]:
    """Let AIF360 compare each group with the first of its attribute, which it does for two at a time."""
    from aif360.datasets import BinaryLabelDataset
    from aif360.metrics import ClassificationMetric

    found = []
    for codes, number in zip(board.codes, board.groups, strict=True):
        frame = pd.DataFrame({"group": codes.astype(float), "y": board.outcome.astype(float)})
        truth = BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["group"])
        said = truth.copy()
        said.labels = board.decision.astype(float)[:, None]
        for group in range(1, number):
            metric = ClassificationMetric(truth, said, [{"group": float(group)}], [{"group": 0.0}])
            found.append(
                [
                    metric.disparate_impact(),
                    metric.statistical_parity_difference(),
                    metric.equal_opportunity_difference(),
                ]
            )
    return np.array(found)


def our_areas(board: Board) -> NDArray[np.float64]:
    """Sort once; the areas of all pairs of groups, with their joint covariance."""
    levels, found = rank_levels(board.outcome, board.score), []
    for codes, number in zip(board.codes, board.groups, strict=True):
        matrix = order_matrix(levels, codes, number)
        summarise_areas(matrix)
        found.append(matrix.auc.ravel())
    return np.concatenate(found)


def sklearn_areas(board: Board) -> NDArray[np.float64]:
    """Call scikit-learn for every ordered pair of groups."""
    from sklearn.metrics import roc_auc_score

    found, event = [], board.outcome == 1
    for codes, number in zip(board.codes, board.groups, strict=True):
        for one in range(number):
            for other in range(number):
                rows = (event & (codes == one)) | (~event & (codes == other))
                found.append(roc_auc_score(board.outcome[rows], board.score[rows]))
    return np.array(found)


@dataclass(frozen=True)
class SameForest:
    """A forest of scikit-learn, and where it sends its records."""

    model: Any
    features: pd.DataFrame
    leaves: NDArray[np.int32]  # Numbered over all trees
    n_leaves: int


def grow_same_forest(n: int) -> SameForest:
    """Grow a forest on records with a curved risk."""
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(1)
    features = pd.DataFrame(rng.normal(size=(n, 12)), columns=[f"x{place}" for place in range(12)])
    risk = 1 / (1 + np.exp(3.2 - features["x0"] - 0.7 * features["x1"] ** 2))
    model = RandomForestRegressor(TREES, min_samples_leaf=LEAF, random_state=1, n_jobs=1)
    model.fit(features, rng.random(n) < risk)
    found, leaves, total = model.apply(features), [], 0
    for column in found.T:
        names, codes = np.unique(column, return_inverse=True)
        leaves.append(codes + total)
        total += len(names)
    return SameForest(model, features, np.column_stack(leaves).astype(np.int32), total)


@dataclass(frozen=True)
class Links:
    """Mutual neighbours, and the share of trees in which they meet."""

    pairs: NDArray[np.int32]
    share: NDArray[np.float64]


def link_records(forest: SameForest) -> Links:
    """Link mutual neighbours as the maps of pockets do."""
    leaves = np.ascontiguousarray(forest.leaves)
    pairs = link_mutual(leaves, forest.n_leaves, neighbours=NEIGHBOURS)
    members = leaf_indicator(leaves, forest.n_leaves)
    shared = members[pairs[:, 0]].multiply(members[pairs[:, 1]]).sum(axis=1)
    return Links(pairs, np.asarray(shared, float).ravel() / leaves.shape[1])


def forest_shares(forest: SameForest) -> NDArray[np.float32]:
    """Let fgclustering find the distances of all pairs: one minus the share of trees in which they meet."""
    from fgclustering import DistanceRandomForestProximity

    distance = DistanceRandomForestProximity()
    distance.calculate_forest_encoding(forest.model, forest.features)
    return np.asarray(distance.calculate_distance_matrix(None)[0])
