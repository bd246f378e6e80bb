"""Does the chance that the next audit ends in the other verdict come true?

Each replicate is a truth, drawn from a family; one audit of it, judged and predicted by the product's own
functions; and fresh audits of other patients from the same truth. Of each cell with a verdict are kept: what
is printed in `next_audit`, and the share of the fresh audits, among those that end in a verdict, that end in
the other one. In every other replicate the thresholds are drawn too, so that truths lie near them and far.

A printed chance can come true over a family of truths: among the audits that print 30 %, whatever their
truth, 30 % are followed by another verdict. With one truth fixed it cannot: the printed chance varies from
audit to audit and the realised one does not, so the two agree neither in bands nor, on the threshold, on
average. So bands are made over families, and fixed worlds stand apart (`next_audit_fixed.csv`).

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.simulations.next_audits

It goes on where it was stopped.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import (
    Counts,
    Evidence,
    count_groups,
    group_auc,
    open_stream,
    order_scores,
    prepare,
    stratum_sizes,
    sum_scores,
)
from auditbook.project import project_file
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.studies.kept_rows import Study, call_study
from auditbook.studies.simulations.next_worlds import (
    FIXED,
    RATE_METRICS,
    RATE_WORLDS,
    SCORE_METRICS,
    WORLDS,
    FixedWorld,
    NextWorld,
    draw_counts_of,
    draw_patients,
    draw_score_truth,
    draw_scored,
    draw_thresholds,
    draw_truth,
    list_records,
)
from auditbook.verdicts import find_metric, lack_support, predict_next, resample_values

SEED, REPLICATES, SLOW_EVERY = 2_026, 400, 4
FRESH, FRESH_SLOW, FIXED_AUDITS = 300, 60, 200
COLUMNS = ["world", "groups", "replicate", "metric", "threshold", "records", "smallest_events", "verdict"]
COLUMNS += ["printed", "realised", "fresh"]
BANDS = 10
ROUNDING = 1e-6
"""So much below a band's edge counts as on it, as a stored number may have lost its last digits."""

Array = NDArray[np.float64]
Fresh = tuple[Array, Counts]
"""A metric in fresh audits, and their counts, shape (audits, n_groups, 4)."""


def run_replicate(world: NextWorld, replicate: int, *, seed: int = SEED) -> list[dict[str, object]]:
    """Draw a truth, judge one audit of it, and see how fresh audits end; a row a cell with a verdict."""
    rng = open_stream(seed, "next audits", world.name, str(world.groups), str(replicate))
    metrics = SCORE_METRICS if world.name == "scores" else RATE_METRICS
    records, fresh = _draw_audits(world, metrics, rng)
    thresholds = draw_thresholds(metrics, replicate, rng)
    protocol = Protocol(metrics=metrics, thresholds=thresholds, seed=int(rng.integers(2**31)))
    head = {"world": world.name, "groups": world.groups, "replicate": replicate}
    cells = predict_next(prepare(records), protocol)
    return [head | row for row in _compare(cells, fresh, protocol)]


def _draw_audits(
    world: NextWorld, metrics: tuple[str, ...], rng: np.random.Generator
) -> tuple[AuditRecords, dict[str, Fresh]]:
    """Draw a truth, one audit of it, and fresh ones."""
    if world.name == "scores":
        scored = draw_score_truth(world, rng)
        return draw_scored(scored, rng), _redraw(lambda: draw_scored(scored, rng), metrics)
    truth = draw_truth(world, rng)
    if world.name == "patients":
        return draw_patients(truth, rng), _redraw(lambda: draw_patients(truth, rng), metrics)
    records = list_records(draw_counts_of(truth, 1, rng)[0])
    counts = draw_counts_of(truth, FRESH, rng)
    return records, {metric: (_measure(metric, counts), counts) for metric in metrics}


def _redraw(draw: Callable[[], AuditRecords], metrics: tuple[str, ...]) -> dict[str, Fresh]:
    """Measure fresh audits of records, one after the other."""
    audits = [draw() for _ in range(FRESH_SLOW)]
    groups = len(audits[0].attributes[0].groups)
    counts = np.stack([_count(audit, groups) for audit in audits])
    if metrics == RATE_METRICS:
        return {metric: (_measure(metric, counts), counts) for metric in metrics}
    return {
        metric: (np.array([float(_measure(metric, _sum_up(metric, audit))) for audit in audits]), counts)
        for metric in metrics
    }


def _measure(metric: str, evidence: Evidence) -> Array:
    """Compute a metric; nan where a group has no value."""
    return resample_values(find_metric(metric), evidence, required=np.ones(1, bool))


def _count(audit: AuditRecords, groups: int) -> Counts:
    return count_groups(audit.outcome, audit.scores[0].decisions, audit.attributes[0].codes, groups)


def _sum_up(metric: str, audit: AuditRecords) -> Evidence:
    """Say what a metric of scores is computed from."""
    codes, groups = audit.attributes[0].codes, len(audit.attributes[0].groups)
    score = audit.scores[0].values
    if find_metric(metric).evidence == "areas":
        return group_auc(audit.outcome, score, codes, groups)
    return sum_scores(order_scores(audit.outcome, score), codes, groups)


def _compare(cells: pd.DataFrame, fresh: dict[str, Fresh], protocol: Protocol) -> Iterator[dict[str, object]]:
    """Compare what is printed of each cell with how fresh audits end."""
    for cell in cells[cells["verdict"] != "inconclusive"].itertuples():
        rule, (values, counts) = find_metric(str(cell.metric)), fresh[str(cell.metric)]
        strata, selected = stratum_sizes(counts), counts[..., :2].sum(axis=-1)
        ended = ~np.isnan(values) & ~lack_support(rule, strata, protocol=protocol, selected=selected)
        printed, threshold = float(str(cell.next_audit)), protocol.thresholds[rule.name]
        if not ended.any() or np.isnan(printed):
            continue
        passes = rule.passes(values[ended], threshold=threshold)
        yield {
            "metric": cell.metric,
            "threshold": threshold,
            "records": int(strata[0].sum()),
            "smallest_events": int(strata[..., 0].mean(axis=0).min()),
            "verdict": cell.verdict,
            "printed": printed,
            "realised": float((~passes if cell.verdict == "pass" else passes).mean()),
            "fresh": int(ended.sum()),
        }


def band_chances(rows: pd.DataFrame) -> pd.DataFrame:
    """Compare printed with realised in bands of ten points: over families, their parts, and by world.

    `error` is the standard error of realised less printed, with the cells of one replicate taken together.
    """
    rates = rows[rows["world"].isin(RATE_WORLDS)]
    scored = rows[rows["world"] == "scores"]
    every = [_name_part(rates, "rates"), _name_part(scored, "scores")]
    every += [_name_part(rows[rows["world"] == "patients"], "patients")]
    every += _split(rates, "metric", "rates") + _split(rates, "verdict", "rates")
    every += _split(rates, "world", "rates") + _split(scored, "metric", "scores")
    table = pd.concat([part for part in every if len(part)], ignore_index=True)
    table["band"] = np.minimum((table["printed"] * BANDS + ROUNDING).astype(int), BANDS - 1) / BANDS
    keys = ["family", "groups", "band"]
    found = [
        dict(zip(keys, key, strict=True)) | _sum_band(part) for key, part in table.groupby(keys, sort=False)
    ]
    return pd.DataFrame(found).sort_values(keys, ignore_index=True)


def _name_part(rows: pd.DataFrame, family: str) -> pd.DataFrame:
    return rows.assign(family=family)


def _split(rows: pd.DataFrame, column: str, family: str) -> list[pd.DataFrame]:
    """Take the cells of each metric, verdict or world as a family of their own."""
    return [_name_part(part, f"{family}: {name}") for name, part in rows.groupby(column)]


def _sum_band(part: pd.DataFrame) -> dict[str, float]:
    """Average the cells of one band."""
    printed, realised = part["printed"].mean(), part["realised"].mean()
    off = part["realised"] - part["printed"] - (realised - printed)
    by_replicate = off.groupby([part["world"], part["replicate"]]).sum()
    spread = float(np.sqrt((by_replicate**2).sum())) / len(part)
    error = spread if len(by_replicate) > 1 else np.nan
    return {"cells": len(part), "printed": printed, "realised": realised, "error": error}


def run_fixed(world: FixedWorld, *, audits: int, seed: int) -> dict[str, object]:
    """Judge many audits of one truth, and see how fresh ones end."""
    rng = open_stream(seed, "next audits", "fixed", world.name)
    rule, groups = find_metric(world.metric), len(world.truth.size)
    passes = rule.passes(_measure(world.metric, draw_counts_of(world.truth, 20_000, rng))).mean()
    protocol = Protocol(metrics=(world.metric,))
    found = [
        predict_next(prepare(list_records(counts)), Protocol(metrics=protocol.metrics, seed=turn)).iloc[0]
        for turn, counts in enumerate(draw_counts_of(world.truth, audits, rng))
    ]
    told = pd.DataFrame(found)
    told = told[told["next_audit"].notna()]
    printed = told["next_audit"].astype(float)
    return {
        "world": world.name,
        "groups": groups,
        "metric": world.metric,
        "value": world.value,
        "threshold": rule.threshold,
        "audits": len(told),
        "printed": printed.mean(),
        "printed_low": printed.quantile(0.1),
        "printed_high": printed.quantile(0.9),
        "realised": float(np.where(told["verdict"] == "pass", 1 - passes, passes).mean()),
        "error": printed.std() / np.sqrt(len(told)),
    }


def is_wanted(world: NextWorld, number: int) -> bool:
    """Tell whether a world gets this replicate: where records are drawn one by one, only every fourth."""
    return number % SLOW_EVERY == 0 or world.name not in ("patients", "scores")


NEXT = Study(
    name="next_audit",
    worlds=WORLDS,
    run=run_replicate,
    columns=COLUMNS,
    summarise=band_chances,
    seeds="of a replicate: the stream of the seed, the world, its number of groups and the number",
    about={"slow_every": SLOW_EVERY, "fresh": FRESH, "fresh_slow": FRESH_SLOW, "fixed_audits": FIXED_AUDITS},
    wants=is_wanted,
    summary="next_audit_bands",
)
FOLDER = project_file("data") / "simulations"
FIXED_FILE = "next_audit_fixed.csv"
LEAST_CELLS = 100
"""Cells that a band needs before anything is said of it."""


def write_fixed(folder: Path, *, audits: int = FIXED_AUDITS, seed: int = SEED) -> None:
    """Judge many audits of every fixed world, and write what is printed and realised."""
    fixed = pd.DataFrame([run_fixed(world, audits=audits, seed=seed) for world in FIXED])
    fixed.to_csv(folder / FIXED_FILE, index=False, lineterminator="\n", float_format="%.6g")


def read_bands() -> pd.DataFrame:
    """Read the stored bands, with how far realised lies from printed."""
    bands = pd.read_csv(FOLDER / NEXT.summary_file)
    return bands.assign(off=bands["realised"] - bands["printed"])


def read_fixed() -> pd.DataFrame:
    """Read what is printed and realised in fixed worlds, with how far these lie apart."""
    fixed = pd.read_csv(FOLDER / FIXED_FILE)
    return fixed.assign(off=fixed["realised"] - fixed["printed"])


def find_farthest(bands: pd.DataFrame, family: str) -> pd.DataFrame:
    """Find, for each number of groups, the full band in which printed and realised lie furthest apart."""
    full = bands[(bands["family"] == family) & (bands["cells"] >= LEAST_CELLS)]
    order = full.assign(size=full["off"].abs()).sort_values("size", ascending=False, kind="stable")
    worst = order.drop_duplicates("groups").sort_values("groups", ignore_index=True)
    return worst.assign(bands=worst["groups"].map(full["groups"].value_counts()))


if __name__ == "__main__":
    call_study(NEXT, replicates=REPLICATES, seed=SEED)
    write_fixed(FOLDER)
