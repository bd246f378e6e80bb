"""Would other features, another protocol, seed or family of models have told another story?"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditbook.cohort import Cohort
from auditbook.columns import fill_table
from auditbook.errors import InputError, RunError
from auditbook.mitigation.interventions import IMPOSSIBLE, NOT_RUN
from auditbook.mitigation.protocols import GIVEN, SINGLE, TRAINED
from auditbook.mitigation.stages import (
    Canonical,
    Work,
    build_parts,
    choose_canonical,
    name_kinds,
    open_separate,
    open_single,
    train_anew,
)
from auditbook.mitigation.trials import judge_stage, refuse_rows, reuse_rows
from auditbook.records import Score
from auditbook.scoring import ModelConfig, ModelInfo, ScoredCohort, Split, percentile_threshold, read_panel
from auditbook.settings import Protocol
from auditbook.verdicts import vary_constants

PROTOCOL, FAMILY = "protocol", "family"
LEAN, OTHER_SEED = "admission-lean", "another seed"
"""Settings beside the two protocols of the baselines: without late features, and with another seed."""
FAMILIES = ("xgboost", "lightgbm", "random_forest", "logistic")
"""Models of the panel that stand for a family each (published)."""
SEED_STEP = 81
"""The other seed is the run's plus this: 123, as published, for the published 42."""
FREE = "linear"
"""Family that is trained whatever the bound."""
ALL, ADMISSION = "all", "admission"
Varied = Mapping[str, list[dict[str, Any]]]
LEFT_OUT = "left out by the profile: it would train one more model"


def other_seed(seed: int) -> int:
    """Choose the second seed."""
    return (seed + SEED_STEP) % 2**32


def make_robustness(
    cohort: Cohort,
    scored: ScoredCohort,
    tables: Mapping[str, pd.DataFrame],
    *,
    protocol: Protocol,
    cache_dir: Path,
    refits: int | None = None,
    jobs: int = 2,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
    panel: Mapping[str, ModelConfig] | None = None,
    varied: Varied | None = None,
    constants: Mapping[str, pd.DataFrame] | None = None,
) -> dict[str, pd.DataFrame]:
    """Mitigate again under other protocols and families, and judge again under other constants.

    Parameters
    ----------
    cohort, scored, protocol, cache_dir, jobs, force, progress, panel
        As for `make_baselines`.
    tables : mapping of str to DataFrame
        ``verdicts``, ``audit_size`` and ``site_agreement`` of the audit, ``baselines`` and ``baseline_cells``
        of its mitigation: what is known from there is not made again.
    refits : int or None
        Models trained at the most, the most telling first (see `order_trainings`). The model in separate
        parts, which the mitigation has trained, is one of them; linear ones cost next to nothing and are not
        counted. None trains all.
    varied : mapping of str to list of dict, optional
        What `vary_models` made beside other work, by check; made here where it is missing.
    constants : mapping of str to DataFrame, optional
        What `vary_audit` made beside other work; made here where it is missing.

    Returns
    -------
    dict of str to DataFrame
        By file name:

        - ``robustness``: B1, B3 and B4 in every setting, on the records that report (the unseen part, where
          there is one). `passes_selected` counts the disparate impacts that pass where thresholds were
          chosen; `status` and `note` say what could not be made and why;
        - ``sensitivity`` and ``sensitivity_cells``: see `vary_constants`.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    models = dict(panel if panel is not None else read_panel())
    work = Work(cache_dir, jobs, force, progress)
    model = choose_canonical(cohort, scored, models)
    check = _Check(cohort, scored, protocol, work, models, refits)
    if model is None:
        rows = list(_refuse_all(scored))
    else:
        ready = varied or {}
        rows = []
        for name, vary in VARIATIONS.items():
            rows += _reuse(check, tables, name, model)
            rows += ready[name] if name in ready else vary(check, model)
    if constants is None:
        constants = vary_audit(cohort, scored, tables, protocol=protocol, progress=progress, panel=models)
    names = [item.name for item in cohort.attributes]
    return {"robustness": fill_table("robustness", rows, attribute=names), **constants}


def vary_audit(
    cohort: Cohort,
    scored: ScoredCohort,
    tables: Mapping[str, pd.DataFrame],
    *,
    protocol: Protocol,
    progress: Callable[[str], None] = lambda text: None,
    panel: Mapping[str, ModelConfig] | None = None,
) -> dict[str, pd.DataFrame]:
    """Judge the canonical model, else the first, again under other constants: see `vary_constants`."""
    progress("robustness: constants of the audit, one at a time")
    model = choose_canonical(cohort, scored, dict(panel if panel is not None else read_panel()))
    judged = model.info.name if model is not None else scored.records.scores[0].model
    return vary_constants(scored.records, tables, model=judged, protocol=protocol)


def vary_models(
    name: str,
    cohort: Cohort,
    scored: ScoredCohort,
    *,
    protocol: Protocol,
    cache_dir: Path,
    refits: int | None = None,
    jobs: int = 2,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Varied:
    """Make the rows of one check (``protocol`` or ``family``) that need other models or parts."""
    models = dict(read_panel())
    model = choose_canonical(cohort, scored, models)
    work = Work(cache_dir, jobs, force, progress)
    check = _Check(cohort, scored, protocol, work, models, refits)
    return {} if model is None else {name: list(VARIATIONS[name](check, model))}


@dataclass(frozen=True)
class _Check:
    """What every setting has in common."""

    cohort: Cohort
    scored: ScoredCohort
    protocol: Protocol
    work: Work
    panel: Mapping[str, ModelConfig]
    refits: int | None

    def allows(self, setting: str, model: str) -> bool:
        """Whether the profile trains this model for this setting."""
        order = order_trainings(self.cohort, self.scored, self.panel)
        bound = None if self.refits is None else max(self.refits - 1, 0)
        return self.panel[model].family == FREE or (setting, model) in order[:bound]


def order_trainings(
    cohort: Cohort, scored: ScoredCohort, panel: Mapping[str, ModelConfig]
) -> list[tuple[str, str]]:
    """List the models to train, the most telling first, so that a bound leaves out the least."""
    trained = [info.name for info in scored.models if info.source == "trained"]
    if not trained:
        return []
    others = [name for name in FAMILIES if name in panel and name != trained[0]]
    order = [(LEAN, trained[0])] if cohort.late_columns else []
    order += [(OTHER_SEED, trained[0]), *((SINGLE, name) for name in others if name not in trained)]
    order += [(TRAINED, name) for name in others]
    return [(setting, name) for setting, name in order if panel[name].family != FREE]


def _vary_protocols(check: _Check, model: Canonical) -> Iterator[dict[str, Any]]:
    """Check the protocols beside those of the baselines with the model that is mitigated."""
    name, seed = model.info.name, check.protocol.seed
    lean: dict[str, Any] = {"check": PROTOCOL, "setting": LEAN, "model": name, "seed": seed}
    lean["features"] = ADMISSION
    early = tuple(
        column for column in check.cohort.feature_columns if column not in check.cohort.late_columns
    )
    if model.config is None:
        why = "the scores are given: a feature can be left out of a model that is trained here only"
        yield from refuse_rows(lean, IMPOSSIBLE, why)
    elif not check.cohort.late_columns or not early:
        many = "every feature" if not early else "no feature"
        yield from refuse_rows(lean, IMPOSSIBLE, f"the cohort file says of {many} that it is known late only")
    else:
        cohort = replace(check.cohort, feature_columns=early)
        yield from _try_separate(check, lean, cohort, model, check.protocol)
    other = replace(check.protocol, seed=other_seed(seed))
    where = lean | {"setting": OTHER_SEED, "seed": other.seed, "features": _name_features(model)}
    yield from _try_separate(check, where, check.cohort, model, other)


def _vary_families(check: _Check, model: Canonical) -> Iterator[dict[str, Any]]:
    """Check the other families of models in both protocols."""
    for one in _list_families(check, model):
        where: dict[str, Any] = {"check": FAMILY, "model": one.info.name, "seed": check.protocol.seed}
        where |= {"features": _name_features(one)}
        yield from _try_single(check, where | {"setting": SINGLE}, one)
        separate = GIVEN if one.config is None else TRAINED
        yield from _try_separate(check, where | {"setting": separate}, check.cohort, one, check.protocol)


def _name_features(model: Canonical) -> str:
    return "" if model.config is None else ALL


def _list_families(check: _Check, model: Canonical) -> Iterator[Canonical]:
    """List the other families; one that the audit did not train has no scores yet."""
    pairs = list(zip(check.scored.models, check.scored.records.scores, strict=True))
    trained = {info.name: Canonical(info, score, None) for info, score in pairs if info.source == "trained"}
    for name in FAMILIES if model.config is not None else ():
        if name in check.panel and name != model.info.name:
            one = trained.get(name) or _announce(check, check.panel[name])
            yield replace(one, config=check.panel[name])
    for info, score in pairs:
        if info.source == "given" and score.kind == "probability" and info.name != model.info.name:
            yield Canonical(info, score, None)


def _announce(check: _Check, config: ModelConfig) -> Canonical:
    """Announce a family without scores."""
    percentile, n_train = check.cohort.file.panel.percentile, len(check.scored.train)
    info = ModelInfo(config.name, config.title, "trained", config.family, percentile, n_train)
    return Canonical(info, Score(config.name, "probability", np.nan, np.empty(0)), config)


def _reuse(
    check: _Check, tables: Mapping[str, pd.DataFrame], kind: str, model: Canonical
) -> Iterator[dict[str, Any]]:
    """Take what is known of the model that is mitigated, in both protocols of the baselines."""
    for setting in (SINGLE, GIVEN if model.config is None else TRAINED):
        where: dict[str, Any] = {"check": kind, "setting": setting, "model": model.info.name}
        where |= {"seed": check.protocol.seed, "features": _name_features(model)}
        yield from reuse_rows(tables, where, protocol=check.protocol)


def _refuse_all(scored: ScoredCohort) -> Iterator[dict[str, Any]]:
    """Say of every protocol that no model can be mitigated."""
    kinds = name_kinds(scored)
    for setting in (SINGLE, GIVEN, LEAN, OTHER_SEED):
        where = {"check": PROTOCOL, "setting": setting, "model": "", "features": ""}
        yield from refuse_rows(where, IMPOSSIBLE, f"thresholds need a probability, and {kinds}")


def _try_separate(
    check: _Check, where: dict[str, Any], cohort: Cohort, model: Canonical, protocol: Protocol
) -> Iterator[dict[str, Any]]:
    """Check one setting in separate parts, or say why not."""
    if model.config is not None and not check.allows(where["setting"], model.info.name):
        yield from refuse_rows(where, NOT_RUN, LEFT_OUT)
        return
    check.work.progress(f"robustness: {where['setting']}, {model.info.title}")
    try:
        if model.config is not None and not len(model.score.values):
            model = replace(model, score=_cut(check, model.info.name, np.zeros(1)))
        stage = open_separate(cohort, model, protocol=protocol, work=check.work)
    except (InputError, RunError) as wrong:
        yield from refuse_rows(where, IMPOSSIBLE, _explain(wrong))
    else:
        yield from judge_stage(stage, where, protocol=protocol)


def _try_single(check: _Check, where: dict[str, Any], model: Canonical) -> Iterator[dict[str, Any]]:
    """Check one family on the audit's own records, or say why not."""
    name, trained = model.info.name, len(model.score.values) > 0
    if not trained and not check.allows(SINGLE, name):
        yield from refuse_rows(where, NOT_RUN, LEFT_OUT)
        return
    check.work.progress(f"robustness: {SINGLE}, {model.info.title}")
    try:
        score = model.score if trained else _cut(check, name, _train_single(check, name))
    except (InputError, RunError) as wrong:
        yield from refuse_rows(where, IMPOSSIBLE, _explain(wrong))
    else:
        ready = Canonical(model.info, score, None)
        stage = open_single(check.cohort, check.scored, ready, seed=check.protocol.seed)
        yield from judge_stage(stage, where, protocol=check.protocol)


def _explain(wrong: InputError | RunError) -> str:
    return wrong.faults[0] if isinstance(wrong, InputError) else str(wrong)


def _train_single(check: _Check, name: str) -> np.ndarray:
    """Train a family on the audit's training records."""
    split, seed = Split(check.scored.train, check.scored.audit), check.protocol.seed
    outcome = check.cohort.outcome[split.train].astype(np.int8)
    features = build_parts(check.cohort, split, seed)
    return train_anew(check.panel[name], features, outcome, seed=seed, work=check.work)


def _cut(check: _Check, name: str, values: np.ndarray) -> Score:
    """Settle the threshold of a model that the audit did not train."""
    panel = check.cohort.file.panel
    threshold = 0.5 if panel.threshold is None else panel.threshold
    if panel.percentile is not None:
        threshold = percentile_threshold(values, panel.percentile)
    return Score(name, "probability", threshold, values)


VARIATIONS = {PROTOCOL: _vary_protocols, FAMILY: _vary_families}
