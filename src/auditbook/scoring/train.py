"""What does a model trained here say of the audited records? Computed once, kept by what determines it."""

import hashlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.errors import RunError
from auditbook.scoring.features import Features
from auditbook.scoring.panel import ModelConfig, make_classifier
from auditbook.scoring.split import fold_units
from auditbook.workers import STOPPED, do_beside

CODE_VERSION = 2
"""Raise by one when the way from features to scores changes, so that no older score is used again."""
FEW_RECORDS = 5_000
"""With fewer training records than this (ours), processes of their own cost more time than they save."""


@dataclass(frozen=True)
class TrainedScores:
    """Scores of one model for the audited records."""

    values: NDArray[np.float64]  # shape (n_audit,): Probabilities of the event
    cached: bool  # True when they were read from the cache


def train_scores(
    config: ModelConfig,
    features: Features,
    train_outcome: ArrayLike,
    *,
    seed: int,
    jobs: int,
    cache_dir: Path,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
    weights: NDArray[np.float64] | None = None,
) -> TrainedScores:
    """Train one model and score the audited records, or read the scores that the same call gave before.

    Parameters
    ----------
    config, features
        The model, and the matrices of the training and the audited records.
    train_outcome : int array, shape (n_train,)
        Outcomes of the training records; those of audited records are never an argument.
    weights : float array, shape (n_train,), optional
        Weights of the training records (see `takes_weights`).
    jobs, cache_dir, force, progress
        As for `score_cohort`; the folder is made when needed.

    Returns
    -------
    TrainedScores
        Scores, and whether they were kept ones.

    Raises
    ------
    RunError
        If the library fails, or gives anything but probabilities.
    """
    outcome = np.asarray(train_outcome, dtype=np.int8)
    key = scores_key(config, features, outcome, seed=seed, weights=weights)
    path = _place_scores(cache_dir, config, key)
    kept = None if force else _read_scores(path, key, len(features.audit))
    if kept is not None:
        progress(f"{config.title}: scores kept from an earlier run")
        return TrainedScores(kept, cached=True)
    progress(f"{config.title}: training on {len(outcome):,} records")
    values = _train(config, features, outcome, seed=seed, jobs=jobs, progress=progress, weights=weights)
    _write_scores(path, key, values)
    return TrainedScores(values, cached=False)


@dataclass(frozen=True)
class Training:
    """One model to train, and what it sees."""

    config: ModelConfig
    features: Features


def train_panel(
    trainings: Sequence[Training],
    train_outcome: ArrayLike,
    *,
    seed: int,
    jobs: int,
    cache_dir: Path,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[TrainedScores, ...]:
    """Train models side by side, each on one core in a process of its own; keep each as it is finished.

    Few records, one core, or one model to train: one after the other, each on all cores.

    Parameters
    ----------
    trainings : sequence of Training
        The models, all of the same training records; scores come in their order.
    train_outcome : int array, shape (n_train,)
        Outcomes of the training records.
    seed, jobs, cache_dir, force, progress
        As for `train_scores`.

    Raises
    ------
    RunError
        If a library fails: names the model. If a process is stopped from outside. Models that were finished
        before are kept.
    """
    outcome = np.asarray(train_outcome, dtype=np.int8)
    task = _Task(outcome, seed, cache_dir)
    made = (
        {} if force else {place: kept for place, one in enumerate(trainings) if (kept := task.look_up(one))}
    )
    for place in made:
        progress(f"{trainings[place].config.title}: scores kept from an earlier run")
    due = sorted(
        set(range(len(trainings))) - set(made), key=lambda place: -len(trainings[place].config.members)
    )
    if jobs > 1 and len(due) > 1 and len(outcome) >= FEW_RECORDS:
        made |= _train_beside({place: trainings[place] for place in due}, task, jobs, progress)
    else:
        made |= _train_in_turn({place: trainings[place] for place in due}, task, jobs, progress)
    return tuple(made[place] for place in range(len(trainings)))


@dataclass(frozen=True)
class _Task:
    """What all trainings of a panel have in common; a worker is given it with one of them."""

    outcome: NDArray[np.int8]
    seed: int
    cache_dir: Path

    def look_up(self, one: Training) -> TrainedScores | None:
        """Read the scores of a model that was trained before; None when there are none."""
        key = scores_key(one.config, one.features, self.outcome, seed=self.seed)
        kept = _read_scores(_place_scores(self.cache_dir, one.config, key), key, len(one.features.audit))
        return None if kept is None else TrainedScores(kept, cached=True)

    def train(self, one: Training, jobs: int) -> "_Finished":
        """Train a model and keep its scores."""
        said: list[str] = []
        started = time.monotonic()
        scores = train_scores(
            one.config,
            one.features,
            self.outcome,
            seed=self.seed,
            jobs=jobs,
            cache_dir=self.cache_dir,
            force=True,
            progress=said.append,
        )
        return _Finished(scores, tuple(said[1:]), time.monotonic() - started)


@dataclass(frozen=True)
class _Finished:
    """Scores of a model, what its library warned of, and the seconds that it took."""

    scores: TrainedScores
    warned: tuple[str, ...]
    seconds: float

    def tell(self, config: ModelConfig, count: str, progress: Callable[[str], None]) -> None:
        """Say that a model is trained."""
        for text in self.warned:
            progress(text)
        progress(f"{config.title}: trained in {self.seconds:.1f} s ({count})")


def _train_in_turn(
    due: Mapping[int, Training], task: _Task, jobs: int, progress: Callable[[str], None]
) -> dict[int, TrainedScores]:
    """Train one model after the other in this process."""
    made = {}
    for count, (place, one) in enumerate(due.items(), start=1):
        progress(f"{one.config.title}: training on {len(task.outcome):,} records")
        finished = task.train(one, jobs)
        finished.tell(one.config, f"{count} of {len(due)}", progress)
        made[place] = finished.scores
    return made


def _train_beside(
    due: Mapping[int, Training], task: _Task, jobs: int, progress: Callable[[str], None]
) -> dict[int, TrainedScores]:
    """Train models in processes of their own, each on one core."""
    made: dict[int, TrainedScores] = {}
    places = list(due)
    progress(
        f"training {len(due)} models on {len(task.outcome):,} records, {min(jobs, len(due))} side by side"
    )
    calls = [(one, 1) for one in due.values()]
    try:
        with closing(do_beside(task.train, calls, jobs=jobs)) as trained:
            for turn, finished in trained:
                made[places[turn]] = finished.scores
                finished.tell(due[places[turn]].config, f"{len(made)} of {len(due)}", progress)
    except BrokenProcessPool as fault:
        unfinished = ", ".join(one.config.title for place, one in due.items() if place not in made)
        raise RunError(f"a model could not be trained: {STOPPED} (not finished: {unfinished})") from fault
    return made


def scores_key(
    config: ModelConfig,
    features: Features,
    train_outcome: NDArray[np.int8],
    *,
    seed: int,
    weights: NDArray[np.float64] | None = None,
) -> str:
    """Hash everything that determines a trained model's scores."""
    packages = sorted({*config.packages, "scikit-learn", "numpy", "scipy"})
    parts = {
        "code": CODE_VERSION,
        "model": config.describe(),
        "seed": seed,
        "versions": {name: metadata.version(name) for name in packages},
        "features": features.digest,
    }
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=repr).encode())
    weighed = () if weights is None else (weights,)
    folded = (features.train_unit,) if config.members else ()
    for array in (train_outcome, *weighed, *folded):
        digest.update(hashlib.sha256(np.ascontiguousarray(array).data).digest())
    return digest.hexdigest()


def _train(
    config: ModelConfig,
    features: Features,
    outcome: NDArray[np.int8],
    *,
    seed: int,
    jobs: int,
    progress: Callable[[str], None],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Train and score; what the library warns of is told, not shown.

    Sums that are taken in threads depend on their number, so a class that is not told its number of cores
    gets one, or as many as its parameters fix.
    """
    folds = fold_units(features.train_unit, seed=seed) if config.members else None
    classifier = make_classifier(config, seed=seed, jobs=jobs, folds=folds)
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(_bound_threads(config)):
        warnings.simplefilter("always")
        try:
            classifier.fit(features.train, outcome, **_weight_parameters(classifier, weights))
            values = np.asarray(classifier.predict_proba(features.audit)[:, 1], dtype=np.float64)
        except Exception as fault:
            raise RunError(f"{config.title} could not be trained: {fault}") from fault
    for text in dict.fromkeys(str(warning.message).strip().split("\n")[0] for warning in caught):
        progress(f"{config.title} warns: {text}")
    if not _are_probabilities(values, len(features.audit)):
        raise RunError(f"{config.title} gave scores that are not probabilities")
    return values


def _bound_threads(config: ModelConfig) -> dict[str, int]:
    """Bound the threads of a training by kind of library."""
    if config.jobs_key:
        return {"blas": 1}
    return {"blas": 1, "openmp": int(config.parameters.get("n_jobs", 1))}


def takes_weights(config: ModelConfig) -> bool:
    """Tell whether a model can be trained with weights: its class takes ``sample_weight``.

    Examples
    --------
    >>> from auditbook.scoring.panel import read_panel
    >>> takes_weights(read_panel()["logistic"])
    True
    """
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    classifier = make_classifier(config, seed=0, jobs=1)
    last = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    return bool(has_fit_parameter(last, "sample_weight"))


def _weight_parameters(classifier: Any, weights: NDArray[np.float64] | None) -> dict[str, Any]:
    """Name the weights as the classifier wants them; a pipeline hands them to its last step."""
    from sklearn.pipeline import Pipeline

    if weights is None:
        return {}
    step = f"{classifier.steps[-1][0]}__" if isinstance(classifier, Pipeline) else ""
    return {f"{step}sample_weight": weights}


def _are_probabilities(values: NDArray[np.float64], length: int) -> bool:
    return values.shape == (length,) and bool(((values >= 0) & (values <= 1)).all())


def _place_scores(cache_dir: Path, config: ModelConfig, key: str) -> Path:
    return cache_dir / f"{config.name}-{key[:32]}.parquet"


def _seal(key: str, values: NDArray[np.float64]) -> bytes:
    """Return what proves that a file holds these scores and they belong to this key."""
    return hashlib.sha256(key.encode() + np.ascontiguousarray(values).data).hexdigest().encode()


def _read_scores(path: Path, key: str, length: int) -> NDArray[np.float64] | None:
    """Read kept scores; None when there are none or the file is not intact."""
    try:
        table = pq.read_table(path)
        values = table.column("score").to_numpy().astype(np.float64)
        sealed = (table.schema.metadata or {}).get(b"seal")
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return None
    intact = _are_probabilities(values, length) and sealed == _seal(key, values)
    return values if intact else None


def _write_scores(path: Path, key: str, values: NDArray[np.float64]) -> None:
    """Write scores whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"score": values}).replace_schema_metadata({"seal": _seal(key, values)})
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-", suffix=".parquet")
    os.close(handle)
    try:
        pq.write_table(table, draft)
        os.replace(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)
