"""What does a model trained here say of the audited records? Computed once, kept by what determines it."""

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.errors import RunError
from auditbook.features import Features
from auditbook.panel import ModelConfig, make_classifier

CODE_VERSION = 1
"""Raise by one when the way from features to scores changes, so that no older score is used again."""


@dataclass(frozen=True)
class TrainedScores:
    """Scores of one model for the audited records.

    Attributes
    ----------
    values : float64 array, shape (n_audit,)
        Probabilities of the event.
    cached : bool
        True when they were read from the cache.
    """

    values: NDArray[np.float64]
    cached: bool


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
    config : ModelConfig
        The model.
    features : Features
        Matrices of the training and the audited records.
    train_outcome : int array, shape (n_train,)
        Outcomes of the training records; those of audited records are never an argument.
    seed : int
        Seed of the training.
    jobs : int
        Cores to use; the scores do not depend on it.
    cache_dir : Path
        Folder of the kept scores; made when needed.
    force : bool
        True trains anew even when the scores are there.
    progress : callable
        Is told what is being done.
    weights : float array, shape (n_train,), optional
        Weights of the training records (see `takes_weights`).

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
    path = cache_dir / f"{config.name}-{key[:32]}.parquet"
    kept = None if force else _read_scores(path, key, len(features.audit))
    if kept is not None:
        progress(f"{config.title}: scores kept from an earlier run")
        return TrainedScores(kept, cached=True)
    progress(f"{config.title}: training on {len(outcome):,} records")
    values = _train(config, features, outcome, seed=seed, jobs=jobs, progress=progress, weights=weights)
    _write_scores(path, key, values)
    return TrainedScores(values, cached=False)


def scores_key(
    config: ModelConfig,
    features: Features,
    train_outcome: NDArray[np.int8],
    *,
    seed: int,
    weights: NDArray[np.float64] | None = None,
) -> str:
    """Hash everything that determines a trained model's scores.

    Parameters
    ----------
    config, features, train_outcome, seed, weights
        As for `train_scores`.

    Returns
    -------
    str
        SHA-256 in hexadecimal over the matrices, the training outcomes, the configuration, the seed, the
        versions of the libraries and `CODE_VERSION`.
    """
    packages = sorted({config.package, "scikit-learn", "numpy", "scipy"})
    parts = {
        "code": CODE_VERSION,
        "model": config.describe(),
        "seed": seed,
        "versions": {name: metadata.version(name) for name in packages},
        "shapes": [features.train.shape, features.audit.shape],
    }
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=repr).encode())
    weighed = () if weights is None else (weights,)
    for array in (features.train, features.audit, train_outcome, *weighed):
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
    """Train and score; what the library warns of is told, not shown."""
    classifier = make_classifier(config, seed=seed, jobs=jobs)
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1, user_api="blas"):
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


def takes_weights(config: ModelConfig) -> bool:
    """Tell whether a model can be trained with weights.

    Parameters
    ----------
    config : ModelConfig
        A model of the panel.

    Returns
    -------
    bool
        True when its class takes ``sample_weight``.

    Examples
    --------
    >>> from auditbook.panel import read_panel
    >>> takes_weights(read_panel()["logistic"])
    True
    """
    classifier = make_classifier(config, seed=0, jobs=1)
    last = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    return bool(has_fit_parameter(last, "sample_weight"))


def _weight_parameters(classifier: Any, weights: NDArray[np.float64] | None) -> dict[str, Any]:
    """Name the weights as the classifier wants them; a pipeline hands them to its last step."""
    if weights is None:
        return {}
    step = f"{classifier.steps[-1][0]}__" if isinstance(classifier, Pipeline) else ""
    return {f"{step}sample_weight": weights}


def _are_probabilities(values: NDArray[np.float64], length: int) -> bool:
    return values.shape == (length,) and bool(((values >= 0) & (values <= 1)).all())


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
