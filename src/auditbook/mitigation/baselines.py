"""What does each baseline cost, how many verdicts does it make pass, and does that hold on unseen records?"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import Cohort
from auditbook.columns import fill_table, stack_tables
from auditbook.errors import InputError
from auditbook.evidence import count_groups, event_rate, selection_rate, true_positive_rate
from auditbook.mitigation.assessment import Assessment, assess, summarise
from auditbook.mitigation.interventions import (
    B1,
    B2,
    B3,
    B4,
    GRADIENT,
    IMPOSSIBLE,
    OPTIMISER,
    Intervention,
    compare,
    reweigh,
    shift,
)
from auditbook.mitigation.protocols import AUDIT, GIVEN, SINGLE, TRAINED, VALIDATION
from auditbook.mitigation.stages import Stage, Work, choose_canonical, name_kinds, open_separate, open_single
from auditbook.scoring import ModelConfig, ScoredCohort, read_panel
from auditbook.settings import Protocol
from auditbook.verdicts import Folds, plan_folds


@dataclass
class Tables:
    """Rows of the three tables, filled as the baselines are judged."""

    baselines: list[dict[str, Any]] = field(default_factory=list)
    cells: list[pd.DataFrame] = field(default_factory=list)
    thresholds: list[pd.DataFrame] = field(default_factory=list)

    def frames(self, attributes: tuple[str, ...], metrics: tuple[str, ...]) -> dict[str, pd.DataFrame]:
        """Return the tables by file name."""
        return {
            "baselines": fill_table("baselines", self.baselines, attribute=attributes, metric=metrics),
            "baseline_cells": stack_tables("baseline_cells", self.cells),
            "baseline_thresholds": stack_tables("baseline_thresholds", self.thresholds),
        }


def make_baselines(
    cohort: Cohort,
    scored: ScoredCohort,
    *,
    protocol: Protocol,
    cache_dir: Path,
    refits: int | None = None,
    jobs: int = 2,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
    panel: Mapping[str, ModelConfig] | None = None,
) -> dict[str, pd.DataFrame]:
    """Mitigate one model in every way and both protocols, and judge each with the audit's instrument.

    Parameters
    ----------
    cohort : Cohort
        Its file's table ``[mitigation]`` gives the settings.
    scored : ScoredCohort
        Its audited records; the first trained model, else the first probability, is mitigated.
    protocol : Protocol
        The audit's constants.
    refits : int or None
        Models trained at the most.
    cache_dir, jobs, force, progress, panel
        As for `score_cohort`.

    Returns
    -------
    dict of str to DataFrame
        By file name:

        - ``baselines``: one row a protocol, part and baseline (and setting of a sweep); `status` and `note`
          say what could not be made and why;
        - ``baseline_cells``: verdict and flip rate of every cell of the main rows;
        - ``baseline_thresholds``: threshold and selection of every joint cell under B1, B3 and B4.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    work, tables = Work(cache_dir, jobs, force, progress), Tables()
    names = tuple(item.name for item in cohort.attributes)
    models = dict(panel if panel is not None else read_panel())
    model = choose_canonical(cohort, scored, models)
    if model is None:
        why = f"thresholds and weights need a probability, and {name_kinds(scored)}"
        tables.baselines += list(_refuse(SINGLE, why))
        return tables.frames(names, protocol.metrics)
    progress(f"mitigation: {model.info.title}, {SINGLE}")
    single = open_single(cohort, scored, model, seed=protocol.seed)
    _judge_stage(single, tables, protocol, refits, work)
    label = GIVEN if model.config is None else TRAINED
    progress(f"mitigation: {model.info.title}, {label}")
    if model.config is not None and refits == 0:
        tables.baselines += list(_refuse(label, "left out by the profile: it would train more models"))
        return tables.frames(names, protocol.metrics)
    try:
        separate = open_separate(cohort, model, protocol=protocol, work=work)
    except InputError as wrong:
        tables.baselines += list(_refuse(label, f"the cohort cannot be divided: {wrong.faults[0]}"))
    else:
        _judge_stage(separate, tables, protocol, refits, work)
    return tables.frames(names, protocol.metrics)


def _refuse(label: str, why: str) -> Iterator[dict[str, Any]]:
    """Say of every baseline of a protocol why it is not there."""
    for name in (B1, B2, B3, B4, OPTIMISER, GRADIENT):
        row = {"protocol": label, "part": AUDIT, "baseline": name, "sweep": "", "model": ""}
        yield row | {"status": IMPOSSIBLE, "note": why}


@dataclass(frozen=True)
class _Judge:
    """Judges every intervention of one protocol: on the same records and folds, each decision once."""

    stage: Stage
    protocol: Protocol
    folds: Mapping[str, Folds | None]
    known: dict[tuple[str, bytes], Assessment] = field(default_factory=dict)

    def assess(self, row: Intervention, part: str, unshifted: Assessment | None) -> Assessment:
        """Judge one intervention on one part."""
        if row.scores is None:
            raise ValueError("nothing to judge")
        records = self.stage.records(row.scores)[0 if part == VALIDATION else 1]
        score = records.scores[0]
        key = (part, _digest(score.values, score.decisions))
        if key not in self.known:
            self.known[key] = assess(
                records, protocol=self.protocol, folds=self.folds[part], unshifted=unshifted
            )
        return self.known[key]


def _digest(*arrays: NDArray[Any]) -> bytes:
    """Hash some arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()


def _judge_stage(stage: Stage, tables: Tables, protocol: Protocol, refits: int | None, work: Work) -> None:
    """Make every intervention of one protocol and judge it; settings of a sweep on the audit part only."""
    settings = stage.cohort.file.mitigation
    base = Intervention(B1, stage.cut(stage.values), thresholds=_common(stage))
    parts = (VALIDATION, AUDIT) if stage.parts.separate else (AUDIT,)
    records = dict(zip((VALIDATION, AUDIT), stage.records(stage.cut(stage.values)), strict=True))
    folds = {part: plan_folds(records[part], n_folds=protocol.site_folds) for part in parts}
    judge = _Judge(stage, protocol, folds)
    reference = {part: judge.assess(base, part, None) for part in parts}
    rows = [base, *reweigh(stage, settings, refits=refits, work=work)]
    rows += [*shift(stage, settings, protocol=protocol), *compare(stage)]
    for part in parts:
        for row in rows:
            if row.sweep and part != AUDIT:
                continue
            unshifted = None if row.rescored or row is base else reference[part]
            found = None if row.scores is None else judge.assess(row, part, unshifted)
            _add_row(tables, stage, part, row, found, reference[part], protocol)


def _common(stage: Stage) -> NDArray[np.float64]:
    return np.full(len(stage.cells), stage.cut(stage.values)[0].threshold)


def _add_row(
    tables: Tables,
    stage: Stage,
    part: str,
    row: Intervention,
    found: Assessment | None,
    reference: Assessment,
    protocol: Protocol,
) -> None:
    """Write one baseline on one part into the tables."""
    where = {"protocol": stage.parts.protocol, "part": part, "baseline": row.baseline}
    numbers = {} if found is None else summarise(found, reference, protocol=protocol)
    alphas = dict(zip(("alpha_sr", "alpha_tpr", "alpha_ppv"), row.alphas, strict=True))
    tables.baselines.append(
        {
            **where,
            "model": stage.model.score.model,
            "sweep": row.sweep,
            "lambda": row.strength,
            "headroom": row.headroom,
            "status": row.status,
            "note": row.note,
            "n_train": len(stage.parts.train),
            "n_selected": len(stage.parts.validation),
            **numbers,
            **alphas,
            "moves": row.moves,
            "search_vfr": row.search_vfr,
        }
    )
    if found is None or row.sweep:
        return
    tables.cells.append(found.verdicts.assign(**where))
    if row.thresholds is not None:
        tables.thresholds.append(_list_thresholds(stage, part, row, found, reference).assign(**where))


def _list_thresholds(
    stage: Stage, part: str, row: Intervention, found: Assessment, reference: Assessment
) -> pd.DataFrame:
    """List the joint cells with their thresholds and whom these select."""
    codes = stage.cell_codes()[0 if part == VALIDATION else 1]
    chosen, before = (item.records.scores[0].decisions for item in (found, reference))
    counts = count_groups(found.records.outcome, chosen, codes, len(stage.cells))
    n = counts.sum(axis=-1)
    return pd.DataFrame(
        {
            "cell": stage.cells.names,
            "n": n,
            "events": counts[:, 0] + counts[:, 2],
            "threshold": row.thresholds,
            "event_rate": event_rate(counts),
            "selection_rate": selection_rate(counts),
            "tpr": true_positive_rate(counts),
            "selected": counts[:, :2].sum(axis=-1),
            "changed": np.bincount(codes, chosen != before, len(stage.cells)).astype(int),
        }
    )[n > 0]
