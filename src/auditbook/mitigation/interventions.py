"""What does each intervention decide, and if it cannot be made, why not?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort import MitigationTable
from auditbook.errors import InputError
from auditbook.evidence import settle_groups
from auditbook.mitigation.comparators import (
    LIBRARY,
    MOST_RECORDS,
    is_installed,
    optimise_thresholds,
    reduce_by_gradient,
)
from auditbook.mitigation.constraint import make_constraint
from auditbook.mitigation.flip_objective import make_objective
from auditbook.mitigation.refinement import refine_thresholds
from auditbook.mitigation.reweighing import weigh_records
from auditbook.mitigation.stages import Stage, Work
from auditbook.mitigation.strata import Strata, sort_strata
from auditbook.mitigation.thresholds import Anchors, choose_thresholds, find_anchors
from auditbook.records import Score
from auditbook.scoring import takes_weights
from auditbook.settings import Protocol

B1, B2, B3, B4 = "B1", "B2", "B3", "B4"
OPTIMISER, GRADIENT = "TO", "EG"
DONE, NEAREST, IMPOSSIBLE, NOT_RUN = "done", "nearest", "not possible", "not run"
"""Status of a row: made; none passes, so the nearest; cannot be made here; left out by the profile."""
STUCK = "starts from thresholds that fail, so no move is allowed"

Array = NDArray[np.float64]
Pair = tuple[Score, Score]


@dataclass(frozen=True)
class Intervention:
    """One row of the table before it is judged."""

    baseline: str  # B1 to B4, TO or EG
    scores: Pair | None  # Of the validation and of the audit part; None when there is nothing to judge
    # Whether it was made, and what a reader has to know
    status: str = DONE
    note: str = ""
    sweep: str = ""  # Blank in the main table, else the setting that is varied: ``lambda`` or ``headroom``
    # The settings; nan where they have no meaning
    strength: float = np.nan
    headroom: float = np.nan
    rescored: bool = False  # Whether the scores themselves are others than the model's
    thresholds: Array | None = None  # shape (n_cells,): A threshold a cell
    alphas: tuple[float, float, float] = (np.nan, np.nan, np.nan)  # The mixture that B3 kept
    moves: float = np.nan  # Moves that B4 kept
    search_vfr: float = np.nan  # Mean flip rate that B4 ended with, in its own resamples


def order_refits(settings: MitigationTable) -> list[tuple[bool, float]]:
    """List the models to train, the most telling first, so that a bound leaves out the least."""
    others = sorted(set(settings.strengths) - {settings.strength}, key=lambda one: (one != 1.0, one))
    first = [(True, float("nan")), (True, settings.strength), (False, settings.strength)]
    return first + [(separate, one) for separate in (False, True) for one in others]


def reweigh(
    stage: Stage, settings: MitigationTable, *, refits: int | None, work: Work
) -> Iterator[Intervention]:
    """Train the model again at each strength of reweighing (B2), the main one first."""
    allowed = order_refits(settings)[slice(refits)]
    why = _why_not_refit(stage)
    strengths = [settings.strength, *(one for one in settings.strengths if one != settings.strength)]
    for place, strength in enumerate(strengths if not why else strengths[:1]):
        row = Intervention(B2, None, IMPOSSIBLE, why, "lambda" if place else "", strength, rescored=True)
        if why:
            yield row
        elif (stage.parts.separate, strength) not in allowed:
            yield replace(row, status=NOT_RUN, note="left out by the profile: it would train one more model")
        else:
            weights = weigh_records(
                stage.train_outcome, stage.cells.codes[stage.parts.train], len(stage.cells), strength=strength
            )
            work.progress(f"mitigation: {stage.parts.protocol}, reweighing with lambda {strength:g}")
            values = stage.refit(weights, work)
            yield replace(row, scores=stage.cut(values), status=DONE, note=_describe_weights(weights))


def _why_not_refit(stage: Stage) -> str:
    """Say why the model cannot be trained with weights; blank when it can."""
    if stage.model.config is None:
        return "the scores are given: reweighing needs a model that is trained here"
    if not takes_weights(stage.model.config):
        return f"{stage.model.config.title} takes no weights"
    return ""


def _describe_weights(weights: Array) -> str:
    return f"weights from {weights.min():.2f} to {weights.max():.2f}"


def shift(stage: Stage, settings: MitigationTable, *, protocol: Protocol) -> Iterator[Intervention]:
    """Choose a threshold for every cell on the validation part: B3, and B4 from it, at each headroom."""
    base = stage.cut(stage.values)
    records = stage.records(base)[0]
    records = replace(
        records, attributes=tuple(settle_groups(item, records.outcome) for item in records.attributes)
    )
    codes, n_cells, start = stage.cell_codes()[0], len(stage.cells), base[0].threshold
    cells = replace(stage.cells, codes=codes)
    strata = sort_strata(records, cells)
    anchors = find_anchors(records.outcome, base[0].values, codes, n_cells, start=start)
    setting = _Setting(stage, base, strata, anchors, protocol)
    headrooms = [settings.headroom, *(one for one in settings.headrooms if one != settings.headroom)]
    for place, headroom in enumerate(headrooms):
        yield from _shift_once(setting, headroom, "headroom" if place else "")


@dataclass(frozen=True)
class _Setting:
    """What the searches at all headrooms have in common."""

    stage: Stage
    base: Pair
    strata: Strata
    anchors: Anchors
    protocol: Protocol


def _shift_once(setting: _Setting, headroom: float, sweep: str) -> Iterator[Intervention]:
    """Make B3 and B4 at one headroom."""
    stage, strata, start = setting.stage, setting.strata, setting.anchors.start
    constraint = make_constraint(strata, protocol=setting.protocol, headroom=headroom)
    kept = choose_thresholds(strata, setting.anchors, constraint)
    loose = [name for name, held in zip(strata.attributes, constraint.held, strict=True) if not held]
    note = f"{kept.passing} of 48 candidates reach {constraint.target:.2f} where it was chosen"
    row = Intervention(
        B3,
        _apply(stage, setting.base, kept.thresholds),
        DONE if kept.passes else NEAREST,
        note + (f"; not held to it for want of records: {', '.join(loose)}" if loose else ""),
        sweep,
        headroom=headroom,
        thresholds=kept.thresholds,
        alphas=(float(kept.alphas[0]), float(kept.alphas[1]), float(kept.alphas[2])),
    )
    yield row
    objective = make_objective(strata, kept.thresholds, protocol=setting.protocol, seed=stage.seed)
    found = refine_thresholds(
        strata, kept.thresholds, constraint=constraint, objective=objective, start=start
    )
    end = "" if found.finished else "; ended at its bound of moves"
    yield replace(
        row,
        baseline=B4,
        scores=_apply(stage, setting.base, found.thresholds),
        note=f"{found.moves} moves kept of {found.tried} tried{end}" if kept.passes else STUCK,
        thresholds=found.thresholds,
        alphas=(np.nan, np.nan, np.nan),
        moves=float(found.moves),
        search_vfr=found.objective,
    )


def _apply(stage: Stage, base: Pair, thresholds: Array) -> Pair:
    """Decide in both parts with the thresholds of the cells."""
    validation, audit = (
        replace(score, chosen=score.values >= thresholds[codes])
        for score, codes in zip(base, stage.cell_codes(), strict=True)
    )
    return validation, audit


def compare(stage: Stage) -> Iterator[Intervention]:
    """Decide as fairlearn's threshold optimiser and exponentiated gradient do."""
    gone = f"{LIBRARY} is not installed"
    base, codes = stage.cut(stage.values), stage.cell_codes()
    records = stage.records(base)[0]
    row = Intervention(OPTIMISER, None, IMPOSSIBLE, gone)
    if is_installed():
        try:
            fitted = optimise_thresholds(
                records.outcome, base[0].values, codes[0], len(stage.cells), seed=stage.seed
            )
            pair = tuple(
                replace(score, chosen=fitted.decide(score.values, place, threshold=score.threshold))
                for score, place in zip(base, codes, strict=True)
            )
            row = replace(
                row, scores=(pair[0], pair[1]), status=DONE, note="decides by lot near its thresholds"
            )
        except InputError as wrong:
            row = replace(row, note=str(wrong))
    yield row
    yield _reduce(stage) if is_installed() else replace(row, baseline=GRADIENT, scores=None, note=gone)


def _reduce(stage: Stage) -> Intervention:
    """Make the exponentiated gradient's decisions."""
    row = Intervention(GRADIENT, None, IMPOSSIBLE, rescored=True)
    if stage.features is None:
        return replace(row, note="the scores are given: it needs a model that is trained here")
    try:
        chosen = reduce_by_gradient(
            stage.features.train,
            stage.train_outcome,
            stage.cells.codes[stage.parts.train],
            len(stage.cells),
            scored=stage.features.audit,
            seed=stage.seed,
        )
    except InputError as wrong:
        return replace(row, note=str(wrong))
    name = stage.model.score.model
    pair = [
        Score(name, "decision", 0.5, chosen[np.searchsorted(stage.parts.scored, part)].astype(float))
        for part in (stage.parts.validation, stage.parts.audit)
    ]
    note = f"another model: logistic regression on at most {MOST_RECORDS:,} records; decides by lot"
    return replace(row, scores=(pair[0], pair[1]), status=DONE, note=note)
