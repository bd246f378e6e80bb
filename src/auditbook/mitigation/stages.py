"""What is needed of a cohort and its model before anything is mitigated: parts, scores, cells, features."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort import Cohort
from auditbook.mitigation.joint_cells import JointCells, join_cells
from auditbook.mitigation.protocols import SINGLE, Parts, divide_three
from auditbook.records import AuditRecords, Score
from auditbook.scoring import (
    Features,
    ModelConfig,
    ModelInfo,
    ScoredCohort,
    Split,
    build_features,
    percentile_threshold,
    read_given,
    take_records,
    train_scores,
)
from auditbook.settings import Protocol

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Work:
    """How the work is done; nothing here changes a result."""

    cache_dir: Path  # Folder in which trained scores are kept
    jobs: int = 2  # Cores to use
    force: bool = False  # Train anew even when scores were kept
    progress: Callable[[str], None] = lambda text: None  # Is told what is being done


@dataclass(frozen=True)
class Canonical:
    """The one model that is mitigated."""

    info: ModelInfo  # Where its scores come from
    score: Score  # Of the audited records
    config: ModelConfig | None  # How it is trained; None for given scores


@dataclass(frozen=True)
class Stage:
    """One protocol, ready for interventions."""

    parts: Parts  # Which records do what
    cohort: Cohort
    model: Canonical
    cells: JointCells  # Of all records of the cohort
    # Of the training records and of ``parts.scored``; None when no model is trained here
    features: Features | None
    values: Array  # shape (len(parts.scored),): The model's scores without intervention
    seed: int  # The run's seed

    def cut(self, values: Array) -> tuple[Score, Score]:
        """Turn scores of ``parts.scored`` into a Score of the validation and of the audit part.

        A threshold that is a percentile is that of the validation part.
        """
        parts, score = self.parts, self.model.score
        validation, audit = (
            values[np.searchsorted(parts.scored, part)] for part in (parts.validation, parts.audit)
        )
        percentile = self.model.info.percentile
        threshold = score.threshold if percentile is None else percentile_threshold(validation, percentile)
        name, kind = score.model, score.kind
        return Score(name, kind, threshold, validation), Score(name, kind, threshold, audit)

    def records(self, pair: tuple[Score, Score]) -> tuple[AuditRecords, AuditRecords]:
        """Take the records of the validation and of the audit part with their scores."""
        validation, audit = pair
        return self._take(self.parts.validation, validation), self._take(self.parts.audit, audit)

    def _take(self, positions: NDArray[np.int64], score: Score) -> AuditRecords:
        site = None if self.site is None else self.site[positions]
        records = take_records(self.cohort, positions, score, site=site)
        return replace(records, survey=None)  # thresholds are chosen on records as they are

    @cached_property
    def site(self) -> NDArray[np.intp] | None:
        """Position of each record's site among all sites of the cohort."""
        return None if self.cohort.site is None else np.unique(self.cohort.site, return_inverse=True)[1]

    def cell_codes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the cells of the validation and of the audit part."""
        return self.cells.codes[self.parts.validation], self.cells.codes[self.parts.audit]

    def refit(self, weights: Array | None, work: Work) -> Array:
        """Train the model again, with weights, and score ``parts.scored``."""
        if self.model.config is None or self.features is None:
            raise ValueError("a given score cannot be trained again")
        return train_anew(
            self.model.config, self.features, self.train_outcome, weights=weights, seed=self.seed, work=work
        )

    @property
    def train_outcome(self) -> NDArray[np.int8]:
        """Outcomes of the training records."""
        return self.cohort.outcome[self.parts.train].astype(np.int8)


def name_kinds(scored: ScoredCohort) -> str:
    """Say of what kind the scores are, models of one kind together."""
    known: dict[str, list[str]] = {}
    for score in scored.records.scores:
        known.setdefault(score.kind, []).append(score.model)
    return "; ".join(
        f"{names[0]} is a {kind}" if len(names) == 1 else f"{', '.join(names)} are {kind}s"
        for kind, names in known.items()
    )


def choose_canonical(cohort: Cohort, scored: ScoredCohort, panel: dict[str, ModelConfig]) -> Canonical | None:
    """Choose the model to mitigate: the first trained, else the first given probability, else none."""
    pairs = list(zip(scored.models, scored.records.scores, strict=True))
    for info, score in pairs:
        if info.source == "trained":
            return Canonical(info, score, panel[info.name])
    for info, score in pairs:
        if score.kind == "probability":
            return Canonical(info, score, None)
    return None


def open_single(cohort: Cohort, scored: ScoredCohort, model: Canonical, *, seed: int) -> Stage:
    """Open the single split: the audit's own records, on which thresholds are chosen as well."""
    parts = Parts(SINGLE, scored.train, scored.audit, scored.audit)
    features = (
        build_parts(cohort, Split(parts.train, parts.scored), seed) if model.config is not None else None
    )
    values = model.score.values.astype(np.float64)
    return Stage(parts, cohort, model, _cross(cohort), features, values, seed)


def open_separate(cohort: Cohort, model: Canonical, *, protocol: Protocol, work: Work) -> Stage:
    """Open the protocol with separate parts; a trained model is trained again on its training part."""
    seed = protocol.seed
    parts = divide_three(cohort, trains=model.config is not None, seed=seed)
    if model.config is None:
        table = next(item for item in cohort.file.scores if item.name == model.info.name)
        values = read_given(cohort.table, table, parts.scored).values.astype(np.float64)
        return Stage(parts, cohort, model, _cross(cohort), None, values, seed)
    features = build_parts(cohort, Split(parts.train, parts.scored), seed)
    outcome = cohort.outcome[parts.train].astype(np.int8)
    values = train_anew(model.config, features, outcome, seed=seed, work=work)
    return Stage(parts, cohort, model, _cross(cohort), features, values, seed)


def _cross(cohort: Cohort) -> JointCells:
    """Cross the attributes that the cohort file names, or the first three that are no cross already."""
    plain = [item.name for item in cohort.attributes if not item.parts]
    names = cohort.file.mitigation.attributes or plain[:3]
    return join_cells([item for name in names for item in cohort.attributes if item.name == name])


def build_parts(cohort: Cohort, split: Split, seed: int) -> Features:
    """Build the features of the training records and of those that are scored."""
    return build_features(
        cohort.table,
        cohort.feature_columns,
        train_outcome=cohort.outcome[split.train],
        unit=cohort.unit,
        split=split,
        seed=seed,
    )


def train_anew(
    config: ModelConfig,
    features: Features,
    outcome: NDArray[np.int8],
    *,
    weights: Array | None = None,
    seed: int,
    work: Work,
) -> Array:
    """Train a model and score the records that the features are of."""
    return train_scores(
        config,
        features,
        outcome,
        seed=seed,
        jobs=work.jobs,
        cache_dir=work.cache_dir,
        force=work.force,
        progress=work.progress,
        weights=weights,
    ).values
