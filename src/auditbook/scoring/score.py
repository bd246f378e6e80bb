"""Which scores are audited, given or trained here, on which records, and how good are they?"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.cohort import Cohort, Direction, ScoreTable, name_lean
from auditbook.columns import fill_table
from auditbook.errors import InputError, naming
from auditbook.evidence import (
    N_BINS,
    Discrimination,
    TalliedModel,
    assign_bins,
    count_groups,
    estimate_auroc,
    event_rate,
    rate,
    selection_rate,
    settle_units,
)
from auditbook.evidence import accuracy as accuracy_of
from auditbook.records import Attribute, AuditRecords, Score, ScoreKind, take_survey
from auditbook.scoring.features import Features, build_features
from auditbook.scoring.panel import ModelConfig, choose_models, read_panel
from auditbook.scoring.split import Split, split_units
from auditbook.scoring.train import Training, train_panel
from auditbook.settings import Protocol


@dataclass(frozen=True)
class ModelInfo:
    """Where one model's scores come from."""

    # Name in tables; name for readers
    name: str
    title: str
    source: str  # "given", a column of the cohort, or "trained" here
    family: str = ""  # Family of a trained model; blank for a given one
    percentile: float | None = None  # Percentile of the audited scores that set the threshold, from 0 to 100
    n_train: int = 0  # Records that it was trained on; 0 for a given one, whose training is unknown here
    # Its scores were kept from an earlier run. Never part of a result table, which must not depend on it
    cached: bool = False
    features: str = ""  # "all" or "admission", without late ones; blank for a given model
    event_is: Direction = "high"  # Which of its scores, as they were given, speak for the event


@dataclass(frozen=True)
class ScoredCohort:
    """A cohort's audited records with the scores of every model."""

    records: AuditRecords  # The n_audit audited records
    audit: NDArray[np.int64]  # shape (n_audit,): Their positions in the cohort, increasing
    # shape (n_train,): Positions of the training records; empty when no model is trained here
    train: NDArray[np.int64]
    # In the order of `records.scores`: given ones, the panel, then its variants without late features
    models: tuple[ModelInfo, ...]
    features: tuple[str, ...] = ()  # What the models of the panel see; empty when none is trained
    # Feature columns that no model sees, each with its reason
    left_out: tuple[tuple[str, str], ...] = ()


def score_cohort(
    cohort: Cohort,
    *,
    protocol: Protocol,
    cache_dir: Path,
    jobs: int = 2,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
    panel: Mapping[str, ModelConfig] | None = None,
) -> ScoredCohort:
    """Collect given scores, train the models that the cohort file asks for, and score the audited records.

    When a model is trained, the units are split and only the audit part is audited, for given scores too.
    When none is, every record is audited.

    Parameters
    ----------
    cohort : Cohort
        The loaded cohort.
    protocol : Protocol
        Gives `audit_share` and the seed.
    cache_dir : Path
        Folder in which trained scores are kept; with `force` they are trained anew all the same.
    jobs : int
        Cores to use; the scores do not depend on it.
    progress : callable
        Is told what is being done.
    panel : mapping of str to ModelConfig, optional
        The models that can be trained; by default the project's.

    Raises
    ------
    InputError
        If a model is unknown or its name taken, a given score is missing or out of range, or the cohort is
        too small to be split.
    RunError
        If a library fails to train a model.
    """
    file = cohort.file
    if cohort.continuous:
        raise InputError(
            '[outcome] type = "continuous": group metrics need an event, such as event = "> 3"; errors in '
            "pockets can be audited without one: auditbook pockets audit"
        )
    configs = choose_models(file.panel.models, panel if panel is not None else read_panel())
    lean = tuple(make_lean(config) for config in configs if config.name in file.panel.lean)
    names = [config.name for config in (*configs, *lean)]
    _check_names([table.name for table in file.scores], names)
    split = _split(cohort, protocol, trains=bool(configs))
    given = [read_given(cohort.table, table, split.audit) for table in file.scores]
    infos = [describe_given(table) for table in file.scores]
    if not configs:
        return ScoredCohort(_records(cohort, split, given), split.audit, split.train, tuple(infos))
    trainings = _plan_trainings(cohort, split, protocol, configs, lean, progress)
    made = train_panel(
        trainings,
        cohort.outcome[split.train],
        seed=protocol.seed,
        jobs=jobs,
        cache_dir=cache_dir,
        force=force,
        progress=progress,
    )
    table, features = file.panel, trainings[0].features
    for training, one in zip(trainings, made, strict=True):
        name, title, family = training.config.name, training.config.title, training.config.family
        given.append(_cut(name, "probability", one.values, table.threshold, table.percentile))
        seen = "all" if training.features is features else "admission"
        info = ModelInfo(name, title, "trained", family, table.percentile, len(split.train), one.cached, seen)
        infos.append(info)
    left_out = tuple((column.column, column.reason) for column in features.left_out)
    records = _records(cohort, split, given)
    return ScoredCohort(records, split.audit, split.train, tuple(infos), features.names, left_out)


def describe_given(table: ScoreTable) -> ModelInfo:
    """Say of a given score what is known of it."""
    percentile = table.turned.percentile
    return ModelInfo(table.name, table.name, "given", percentile=percentile, event_is=table.event_is)


def _plan_trainings(
    cohort: Cohort,
    split: Split,
    protocol: Protocol,
    configs: tuple[ModelConfig, ...],
    lean: tuple[ModelConfig, ...],
    progress: Callable[[str], None],
) -> list[Training]:
    """Give every model what it sees: the panel first, on every feature, then the lean ones."""
    features = _features(cohort, split, protocol, progress)
    trainings = [Training(config, features) for config in configs]
    if lean:
        with naming("[panel] lean, without late features"):
            few = _features(cohort, split, protocol, lambda text: None, late=False)
        trainings += [Training(config, few) for config in lean]
    return trainings


def make_lean(config: ModelConfig) -> ModelConfig:
    """Give the variant of a model that is trained without the late features its names."""
    return replace(config, name=name_lean(config.name), title=f"{config.title}, no late features")


def _check_names(given: list[str], trained: list[str]) -> None:
    """Refuse a name that stands for two models."""
    names = given + trained
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            *(f"[scores.{name}]: another model is called '{name}' too; rename this one" for name in twice)
        )


def _split(cohort: Cohort, protocol: Protocol, *, trains: bool) -> Split:
    """Split the units when models are trained; else audit every record."""
    if trains:
        share, seed = protocol.audit_share, protocol.seed
        return split_units(cohort.outcome, cohort.unit, audit_share=share, seed=seed)
    return Split(np.arange(0), np.arange(len(cohort.outcome)))


def _features(
    cohort: Cohort, split: Split, protocol: Protocol, progress: Callable[[str], None], *, late: bool = True
) -> Features:
    columns = [name for name in cohort.feature_columns if late or name not in cohort.late_columns]
    progress(f"features: {len(columns)} columns")
    features = build_features(
        cohort.table,
        columns,
        train_outcome=cohort.outcome[split.train],
        unit=cohort.unit,
        split=split,
        seed=protocol.seed,
    )
    for column in features.left_out:
        progress(f"features: '{column.column}' left out: {column.reason}")
    return features


def _records(cohort: Cohort, split: Split, scores: list[Score]) -> AuditRecords:
    """Keep the audited records only."""
    site = None if cohort.site is None else pd.factorize(cohort.site[split.audit], sort=True)[0]
    return take_records(cohort, split.audit, *scores, site=site)


def take_records(
    cohort: Cohort, positions: NDArray[np.int64], *scores: Score, site: NDArray[np.intp] | None
) -> AuditRecords:
    """Take some of a cohort's records with their scores and sites."""
    attributes = tuple(replace(item, codes=item.codes[positions]) for item in cohort.attributes)
    unit = _number_units(cohort, positions)
    survey = None if cohort.survey is None else take_survey(cohort.survey, positions)
    return AuditRecords(cohort.outcome[positions].astype(np.int8), attributes, scores, site, unit, survey)


def _number_units(cohort: Cohort, positions: NDArray[np.int64]) -> NDArray[np.intp] | None:
    """Give the units of some records numbers; None where no column names any but the site."""
    named = cohort.file.unit.names
    if not named or named == (cohort.file.site.column,):
        return None
    return pd.factorize(cohort.unit[positions], sort=True)[0]


def read_given(table: pd.DataFrame, score: ScoreTable, audit: NDArray[np.int64]) -> Score:
    """Read a given score of the audited records, whose positions `audit` holds, and settle its threshold.

    Scores of which low ones speak for the event are turned round: what is returned is high for the event.
    Raises InputError if the column holds text or missing values, a probability lies outside 0 to 1, a rank is
    infinite, or a decision is neither 0 nor 1.

    Examples
    --------
    >>> table = pd.DataFrame({"risk": [0.2, 0.9]})
    >>> read_given(table, ScoreTable("apache", "risk", "probability"), np.array([0, 1])).decisions.tolist()
    [False, True]
    """
    where = f"[scores.{score.name}] column '{score.column}'"
    column = table[score.column].iloc[audit]
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"{where}: {missing} of {len(column)} audited records have no score; give every record one, "
            "or leave these records out with [data] drop"
        )
    try:
        values = column.astype(float).to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        sample = ", ".join(repr(str(value)) for value in column.drop_duplicates().head(3))
        raise InputError(f"{where} holds something else than numbers: {sample}") from None
    fault = _range_fault(values, score.kind)
    if fault:
        raise InputError(f"{where}: {fault}")
    turned = score.turned
    return _cut(score.name, score.kind, score.turn(values), turned.threshold, turned.percentile)


def _range_fault(values: NDArray[np.float64], kind: ScoreKind) -> str:
    """Say why scores cannot be what they are declared to be; blank when they can."""
    if not np.isfinite(values).all():
        return f"{np.count_nonzero(~np.isfinite(values))} scores are infinite"
    run = f"scores run from {values.min():.4g} to {values.max():.4g}" if len(values) else ""
    if kind == "probability" and not ((values >= 0) & (values <= 1)).all():
        return f'{run}: not probabilities, which lie between 0 and 1; rescale them, or set kind = "rank"'
    if kind == "decision" and not np.isin(values, (0, 1)).all():
        return f'{run}: not decisions, which are 0 or 1; set kind = "probability" or "rank" and a threshold'
    return ""


def _cut(
    model: str,
    kind: ScoreKind,
    values: NDArray[np.float64],
    threshold: float | None,
    percentile: float | None,
) -> Score:
    """Settle the threshold of a score."""
    if percentile is not None:
        threshold = percentile_threshold(values, percentile)
    return Score(model, kind, 0.5 if threshold is None else float(threshold), values)


def percentile_threshold(values: ArrayLike, percentile: float) -> float:
    """Find the score at or above which a record is selected, from a percentile of the audited scores.

    The threshold is the smallest score found that is not below the percentile (linear between neighbours),
    so it is always a score that some record has. Without ties about 100 - `percentile` per cent of the
    records are selected. Records tied at the threshold are all selected, so ties can only make it more;
    when all scores are equal, all are. Raises InputError without scores, or unless 0 < percentile < 100.

    Examples
    --------
    >>> percentile_threshold(range(1, 101), 97)
    98.0
    """
    scores = np.asarray(values, dtype=np.float64)
    if not 0 < percentile < 100:
        raise InputError(f"percentile = {percentile:g}: it must lie between 0 and 100")
    if not scores.size:
        raise InputError("a percentile needs scores, and no record is audited")
    return float(np.percentile(scores, percentile, method="higher"))


def summarise_models(scored: ScoredCohort) -> pd.DataFrame:
    """Say of each model where it comes from and how good it is on the audited records: ``models.csv``.

    The AUROC has the 95 % interval of `estimate_auroc`. nan where a number is undefined: AUROC of decisions
    or with one outcome only, Brier score of anything but probabilities, F1 without events and selections.
    """
    pairs, unit = zip(scored.models, scored.records.scores, strict=True), settle_units(scored.records)
    rows = [_summarise(info, score, scored.records.outcome, unit) for info, score in pairs]
    return fill_table("models", rows)


def _summarise(
    info: ModelInfo, score: Score, outcome: NDArray[np.int8], unit: NDArray[np.intp] | None
) -> dict[str, object]:
    """Make one row of ``models.csv``."""
    counts = count_groups(outcome, score.decisions, np.zeros(len(outcome), dtype=np.intp), 1)[0]
    values = score.values
    area = estimate_auroc(outcome, values, unit=unit) if score.kind != "decision" else None
    errors = (values - outcome) ** 2 if score.kind == "probability" else np.array([np.nan])
    return lay_out_model(info, score, counts, area, float(errors.mean()), float(values.mean()))


def lay_out_model(
    info: ModelInfo,
    score: Score | TalliedModel,
    counts: NDArray[np.int64],
    area: Discrimination | None,
    brier: float,
    mean_score: float,
) -> dict[str, object]:
    """Lay one row of ``models.csv`` out, of a model's counts tp, fp, fn and tn."""
    tp, fp, fn, _ = counts
    return {
        "model": info.name,
        "source": info.source,
        "family": info.family,
        "features": info.features,
        "kind": score.kind,
        "event_is": info.event_is,
        "threshold": score.threshold,
        "given_threshold": _turn_back(score) if info.event_is == "low" else np.nan,
        "percentile": np.nan if info.percentile is None else info.percentile,
        "n_train": info.n_train,
        "n_audit": int(counts.sum()),
        "events_audit": int(tp + fn),
        "event_rate": float(event_rate(counts)),
        "selection_rate": float(selection_rate(counts)),
        "auroc": area.auroc if area else np.nan,
        "auroc_low": area.low if area else np.nan,
        "auroc_high": area.high if area else np.nan,
        "accuracy": float(accuracy_of(counts)),
        "f1": float(rate(2 * tp, 2 * tp + fp + fn)),
        "brier": brier,
        "mean_score": mean_score,
    }


def _turn_back(score: Score | TalliedModel) -> float:
    """Find the threshold of a score as it was given, of which low ones speak for the event."""
    table = ScoreTable(score.model, "", score.kind, event_is="low")
    return float(table.turn(np.array(score.threshold)))


@dataclass(frozen=True)
class _Bins:
    """Bin of each record, shape (n,), counted from 0, and the bounds of the bins."""

    codes: NDArray[np.intp]
    edges: NDArray[np.float64]


def bin_scores(scored: ScoredCohort) -> pd.DataFrame:
    """Count records and events by score bin, for all records and each group: ``score_bins.csv``.

    Scores within 0 and 1 get ten equal-width bins (the last one closed). Ranks that leave 0 to 1 get ten
    bins of equal count over all audited records, fewer when ties make bounds coincide. Empty bins are listed,
    with mean score nan.
    """
    records = scored.records
    everyone = Attribute("all", ("all",), np.zeros(len(records.outcome), dtype=np.intp))
    rows = [
        row
        for score in records.scores
        for bins in [_find_bins(score)]
        for attribute in (everyone, *records.attributes)
        for row in _count_bins(score, bins, attribute, records.outcome)
    ]
    return fill_table("score_bins", rows)


def _find_bins(score: Score) -> _Bins:
    values = score.values
    if ((values >= 0) & (values <= 1)).all():
        return _Bins(assign_bins(values).astype(np.intp), np.arange(N_BINS + 1) / N_BINS)
    edges = np.unique(np.quantile(values, np.arange(N_BINS + 1) / N_BINS))
    edges = edges if len(edges) > 1 else np.repeat(edges, 2)
    codes = np.searchsorted(edges, values, side="right") - 1
    return _Bins(np.clip(codes, 0, len(edges) - 2), edges)


def _count_bins(
    score: Score, bins: _Bins, attribute: Attribute, outcome: NDArray[np.int8]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one model and attribute."""
    n_bins = len(bins.edges) - 1
    cell = attribute.codes.astype(np.intp) * n_bins + bins.codes
    shape = (len(attribute.groups), n_bins)
    weights = (None, outcome, score.values)
    n, events, total = (np.bincount(cell, weight, shape[0] * n_bins).reshape(shape) for weight in weights)
    means = rate(total, n)
    for group, name in enumerate(attribute.groups):
        for bin_, (low, high) in enumerate(zip(bins.edges[:-1], bins.edges[1:], strict=True)):
            here = group, bin_
            row = (bin_ + 1, low, high, int(n[here]), int(events[here]), means[here])
            yield score.model, attribute.name, name, *row
