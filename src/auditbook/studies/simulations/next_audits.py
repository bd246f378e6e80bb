"""Does the chance that the next audit ends in the other verdict come true?

Each replicate is a truth, drawn from a broad distribution; one audit of it, judged by `judge`; and fresh
audits of other patients from the same truth. Of each cell with a verdict are kept: what is printed in
`next_audit`, and the share of the fresh audits, among those that end in a verdict, that end in the other one.

What the stored replicates show: over all worlds of rates, in every band of ten points with 100 cells or more,
realised lies within 5 points of printed, with two groups and with five (most within 3). In a single world of
two groups it can be further off, where the truths of that world are not as broadly spread as the prior has
them: two groups say little of how far groups differ. Of patients with several stays, and of areas, too few
replicates are stored to tell bands apart; CAL and TI were so far from their thresholds that nothing but the
lowest band is tried.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.simulations.next_audits

It goes on where it was stopped.
"""

import argparse
import gzip
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from auditbook.code import digest_reach
from auditbook.evidence import (
    Counts,
    count_groups,
    group_auc,
    open_stream,
    order_scores,
    prepare,
    stratum_sizes,
    sum_scores,
)
from auditbook.project import project_file, runs_folder
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import find_metric, judge, lack_support, resample_values

SEED, REPLICATES, SLOW_EVERY = 2_026, 300, 6
FRESH, FRESH_SLOW = 300, 60
RATE_METRICS, SCORE_METRICS = ("DI", "SPD", "EOPP", "EOD", "PP"), ("TI", "CAL", "AUC")
COLUMNS = ["world", "groups", "replicate", "metric", "records", "smallest_events", "verdict"]
COLUMNS += ["printed", "realised", "fresh"]
BANDS = 10
ROUNDING = 1e-6
"""So much below a band's edge counts as on it, as a stored number may have lost its last digits."""
LIBRARIES = ("numpy", "pandas", "scipy")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NextWorld:
    """How the truths of one world are drawn."""

    # "spread" (every group differs), "normal" (on the logit scale), "one" (one group differs), "accurate"
    # (few errors, event rates differ), "equal", "patients" (spread; one to ten stays each), "scores"
    name: str
    groups: int


WORLDS = tuple(
    NextWorld(name, groups)
    for groups in (2, 5)
    for name in ("spread", "normal", "one", "accurate", "equal", "patients", "scores")
)


@dataclass(frozen=True)
class Truth:
    """The sizes and true rates of some groups, each of shape (n_groups,)."""

    size: NDArray[np.int64]
    event: Array
    tpr: Array
    fpr: Array


def draw_truth(world: NextWorld, rng: np.random.Generator) -> Truth:
    """Draw sizes (2,000 to 50,000 in all, the smallest with 10 to 1,000 events) and rates."""
    groups = world.groups
    total, rate = np.exp(rng.uniform(np.log(2_000), np.log(50_000))), rng.uniform(0.01, 0.45)
    small = min(np.exp(rng.uniform(np.log(10), np.log(1_000))) / rate, total / groups)
    rest = np.maximum(rng.dirichlet(np.full(groups - 1, 2.0)) * (total - small), small)
    centre = Truth(
        np.concatenate([[small], rest]).astype(np.int64),
        np.full(groups, rate),
        np.full(groups, rng.uniform(0.4, 0.9)),
        np.full(groups, rng.uniform(0.02, 0.3)),
    )
    return _differ(world, centre, rng)


def _differ(world: NextWorld, truth: Truth, rng: np.random.Generator) -> Truth:
    """Let the groups' rates differ as they do in a world."""
    groups = world.groups
    if world.name in ("spread", "patients"):
        reach = rng.uniform(0, 0.2)
        event = truth.event * np.exp(rng.uniform(0, 0.5) * rng.uniform(-1, 1, groups))
        tpr = truth.tpr + reach * rng.uniform(-1, 1, groups)
        return _bound(truth.size, event, tpr, truth.fpr + 0.6 * reach * rng.uniform(-1, 1, groups))
    if world.name == "normal":
        width = rng.uniform(0, 0.6)
        scale = (0.6 * width, width, width)
        rates = (truth.event, truth.tpr, truth.fpr)
        drawn = [expit(logit(r) + w * rng.standard_normal(groups)) for r, w in zip(rates, scale, strict=True)]
        return _bound(truth.size, *drawn)
    if world.name == "one":
        away = np.arange(groups) == rng.integers(groups)
        event = truth.event * np.exp(away * rng.uniform(-0.5, 0.5))
        tpr = truth.tpr + away * rng.uniform(-0.25, 0.25)
        return _bound(truth.size, event, tpr, truth.fpr * np.exp(away * rng.uniform(-0.7, 0.7)))
    if world.name == "accurate":
        event = truth.event * np.exp(rng.uniform(0, 1) * rng.uniform(-0.3, 0.3, groups))
        tpr, fpr = (np.full(groups, rng.uniform(*ends)) for ends in ((0.9, 0.98), (0.005, 0.03)))
        return _bound(truth.size, event, tpr, fpr)
    return truth


def _bound(size: NDArray[np.int64], event: Array, tpr: Array, fpr: Array) -> Truth:
    """Keep rates between 0.5 and 98 %."""
    return Truth(size, *(np.clip(rate, 0.005, 0.98) for rate in (event, tpr, fpr)))


def draw_counts_of(truth: Truth, times: int, rng: np.random.Generator) -> Counts:
    """Draw the counts of audits of independent records, shape (times, n_groups, 4)."""
    total = int(truth.size.sum())
    held = rng.multinomial(total, truth.size / total, size=times)
    events = rng.binomial(held, truth.event)
    found, false = rng.binomial(events, truth.tpr), rng.binomial(held - events, truth.fpr)
    return np.stack([found, false, events - found, held - events - false], axis=-1)


def list_records(counts: Counts) -> AuditRecords:
    """Write the records of an audit down from its counts, shape (n_groups, 4)."""
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    column = cell % 4
    outcome, chosen = ((column == 0) | (column == 2)), column < 2
    return _one_attribute(outcome.astype(np.int8), cell // 4, len(counts), "decision", chosen.astype(float))


def _one_attribute(
    outcome: NDArray[np.int8],
    codes: NDArray[np.integer],
    groups: int,
    kind: str,
    values: Array,
    unit: NDArray[np.integer] | None = None,
) -> AuditRecords:
    names = tuple(f"group {place + 1}" for place in range(groups))
    score = Score("model", "decision" if kind == "decision" else "probability", 0.5, values)
    return AuditRecords(outcome, (Attribute("group", names, codes),), (score,), unit=unit)


def draw_patients(truth: Truth, rng: np.random.Generator) -> AuditRecords:
    """Draw an audit of patients with one to ten stays, whose chances differ between patients."""
    patients = max(int(truth.size.sum() / 5.5), len(truth.size))
    group = rng.choice(len(truth.size), patients, p=truth.size / truth.size.sum())
    own = [rng.beta(3 * rate[group], 3 * (1 - rate[group])) for rate in (truth.event, truth.tpr, truth.fpr)]
    unit = np.repeat(np.arange(patients), rng.integers(1, 11, patients))
    event = rng.random(len(unit)) < own[0][unit]
    chosen = rng.random(len(unit)) < np.where(event, own[1][unit], own[2][unit])
    codes, values = group[unit], chosen.astype(float)
    return _one_attribute(event.astype(np.int8), codes, len(truth.size), "decision", values, unit)


@dataclass(frozen=True)
class ScoreTruth:
    """How scores and outcomes of some groups come about, each of shape (n_groups,)."""

    size: NDArray[np.int64]
    middle: Array  # Of the logit of the risk
    width: Array  # Its standard deviation
    shift: Array  # Logit of the risk less that of the score
    slope: float  # Slope of the logit of the risk in that of the score


def draw_score_truth(world: NextWorld, rng: np.random.Generator) -> ScoreTruth:
    """Draw how scores are spread in each group, and how far from calibrated they are."""
    sizes = draw_truth(NextWorld("equal", world.groups), rng).size
    size = np.maximum((sizes * min(1, 15_000 / sizes.sum())).astype(np.int64), 60)
    groups, reach = world.groups, rng.uniform(0, 0.5)
    middle = logit(rng.uniform(0.03, 0.45)) + rng.normal(0, 0.3, groups)
    width = rng.uniform(0.7, 1.8) * np.exp(reach * rng.normal(0, 0.5, groups))
    shift = rng.normal(0, 0.2) + reach * rng.normal(0, 0.7, groups)
    return ScoreTruth(size, middle, width, shift, rng.uniform(0.8, 1.2))


def draw_scored(truth: ScoreTruth, rng: np.random.Generator) -> AuditRecords:
    """Draw an audit of scores."""
    total = int(truth.size.sum())
    codes = rng.choice(len(truth.size), total, p=truth.size / total)
    linear = truth.middle[codes] + truth.width[codes] * rng.standard_normal(total)
    outcome = (rng.random(total) < expit(truth.slope * linear + truth.shift[codes])).astype(np.int8)
    return _one_attribute(outcome, codes, len(truth.size), "probability", expit(linear))


def _measure(records: AuditRecords, metric: str) -> tuple[float, NDArray[np.int64]]:
    """Compute a metric, and the counts of each group."""
    codes, groups = records.attributes[0].codes, len(records.attributes[0].groups)
    score, rule = records.scores[0], find_metric(metric)
    counts = count_groups(records.outcome, score.decisions, codes, groups)
    if rule.evidence == "counts":
        evidence = counts
    elif rule.evidence == "areas":
        evidence = group_auc(records.outcome, score.values, codes, groups)  # type: ignore[assignment]
    else:
        evidence = sum_scores(order_scores(records.outcome, score.values), codes, groups)  # type: ignore[assignment]
    value = resample_values(rule, evidence, required=np.ones((1, groups), bool))
    return float(value), counts


def _redraw(
    draw: Callable[[np.random.Generator], AuditRecords], metrics: tuple[str, ...], rng: np.random.Generator
) -> dict[str, tuple[Array, NDArray[np.int64]]]:
    """Measure fresh audits, one after the other."""
    found: dict[str, list[tuple[float, NDArray[np.int64]]]] = {metric: [] for metric in metrics}
    for _ in range(FRESH_SLOW):
        records = draw(rng)
        for metric in metrics:
            found[metric].append(_measure(records, metric))
    return {
        metric: (np.array([value for value, _ in pairs]), np.stack([counts for _, counts in pairs]))
        for metric, pairs in found.items()
    }


def run_replicate(world: NextWorld, *, replicate: int, seed: int) -> pd.DataFrame:
    """Draw a truth, judge one audit of it, and see how fresh audits end; a row a cell with a verdict."""
    rng = open_stream(seed, "next audits", world.name, str(world.groups), str(replicate))
    metrics = SCORE_METRICS if world.name == "scores" else RATE_METRICS
    if world.name == "scores":
        scored = draw_score_truth(world, rng)
        records = draw_scored(scored, rng)
        fresh = _redraw(lambda stream: draw_scored(scored, stream), metrics, rng)
    elif world.name == "patients":
        truth = draw_truth(world, rng)
        records = draw_patients(truth, rng)
        fresh = _redraw(lambda stream: draw_patients(truth, stream), metrics, rng)
    else:
        truth = draw_truth(world, rng)
        records = list_records(draw_counts_of(truth, 1, rng)[0])
        counts = draw_counts_of(truth, FRESH, rng)
        required = np.ones((1, world.groups), bool)
        fresh = {
            metric: (resample_values(find_metric(metric), counts, required=required), counts)
            for metric in metrics
        }
    protocol = Protocol(metrics=metrics, seed=int(rng.integers(2**31)))
    cells = judge(prepare(records), protocol, axes=("shown",)).verdicts
    rows = list(_compare(cells, fresh, protocol))
    head = {"world": world.name, "groups": world.groups, "replicate": replicate}
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


def _compare(
    cells: pd.DataFrame, fresh: dict[str, tuple[Array, NDArray[np.int64]]], protocol: Protocol
) -> Iterator[dict[str, object]]:
    """Compare what is printed of each cell with how fresh audits end."""
    for cell in cells[cells["verdict"] != "inconclusive"].itertuples():
        rule, (values, counts) = find_metric(str(cell.metric)), fresh[str(cell.metric)]
        strata, selected = stratum_sizes(counts), counts[..., :2].sum(axis=-1)
        ended = ~np.isnan(values) & ~lack_support(rule, strata, protocol=protocol, selected=selected)
        printed = float(str(cell.next_audit))
        if not ended.any() or np.isnan(printed):
            continue
        passes = rule.passes(values[ended])
        yield {
            "metric": cell.metric,
            "records": int(strata[0].sum()),
            "smallest_events": int(strata[..., 0].mean(axis=0).min()),
            "verdict": cell.verdict,
            "printed": printed,
            "realised": float((~passes if cell.verdict == "pass" else passes).mean()),
            "fresh": int(ended.sum()),
        }


def band_chances(rows: pd.DataFrame) -> pd.DataFrame:
    """Compare printed with realised in bands of ten points, by world, and over all worlds of rates."""
    rates = rows[~rows["metric"].isin(SCORE_METRICS) & (rows["world"] != "patients")]
    every = [rows, rates.assign(world="all rates"), *_by_metric(rows)]
    table = pd.concat(every, ignore_index=True)
    table["band"] = np.minimum((table["printed"] * BANDS + ROUNDING).astype(int), BANDS - 1) / BANDS
    found = table.groupby(["world", "groups", "band"], sort=False, as_index=False).agg(
        cells=("printed", "size"),
        printed=("printed", "mean"),
        realised=("realised", "mean"),
        spread=("realised", "std"),
    )
    found["error"] = found["spread"] / np.sqrt(found["cells"])
    return found.drop(columns="spread").sort_values(["world", "groups", "band"], ignore_index=True)


def _by_metric(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Take the cells of each metric of scores as a world of their own."""
    scored = rows[rows["world"] == "scores"]
    return [part.assign(world=f"scores: {name}") for name, part in scored.groupby("metric")]


@cache
def digest_code() -> str:
    """Hash the definitions that a replicate reaches, so that rows made by other code are told apart."""
    module = import_module("auditbook.studies.simulations.next_audits")  # also where this file is run itself
    return digest_reach(module.run_replicate)


def is_wanted(world: NextWorld, number: int) -> bool:
    """Tell whether a world gets this replicate: where records are drawn one by one, only every sixth."""
    return number % SLOW_EVERY == 0 or world.name not in ("patients", "scores")


def simulate_next(*, replicates: int, seed: int, store: Path | None = None) -> pd.DataFrame:
    """Run all replicates of all worlds, going on where an earlier call stopped."""
    done = _read_store(store, seed)
    found = []
    for number in range(replicates):
        for world in WORLDS:
            key = (world.name, world.groups, number)
            if not is_wanted(world, number):
                continue
            if key not in done:
                done[key] = _list_columns(run_replicate(world, replicate=number, seed=seed))
                _add_to_store(store, seed, key, done[key])
            found.append(pd.DataFrame(done[key], columns=COLUMNS))
    rows = pd.concat([part for part in found if len(part)], ignore_index=True)
    order = {(world.name, world.groups): place for place, world in enumerate(WORLDS)}
    place = [order[key] for key in zip(rows["world"], rows["groups"], strict=True)]
    return rows.assign(place=place).sort_values(["place", "replicate"], kind="stable")[COLUMNS]


Key = tuple[str, int, int]


def _list_columns(rows: pd.DataFrame) -> dict[str, list[object]]:
    return {name: rows[name].tolist() for name in COLUMNS}


def _read_store(store: Path | None, seed: int) -> dict[Key, dict[str, list[object]]]:
    """Read the replicates that this code has made; a line that was cut off counts as not done."""
    done: dict[Key, dict[str, list[object]]] = {}
    if store is None or not store.exists():
        return done
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        if (found["seed"], found["code"]) == (seed, digest_code()):
            world, groups, number = found["key"]
            done[world, groups, number] = found["rows"]
    return done


def _add_to_store(store: Path | None, seed: int, key: Key, rows: dict[str, list[object]]) -> None:
    if store is None:
        return
    store.parent.mkdir(parents=True, exist_ok=True)
    line = {"seed": seed, "code": digest_code(), "key": key, "rows": rows}
    with store.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def write_next(folder: Path, rows: pd.DataFrame, *, replicates: int, seed: int) -> None:
    """Write replicates, bands and provenance."""
    folder.mkdir(parents=True, exist_ok=True)
    text = rows.to_csv(index=False, lineterminator="\n", float_format="%.10g")
    (folder / "next_audit_replicates.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    bands = band_chances(rows)
    bands.to_csv(folder / "next_audit_bands.csv", index=False, lineterminator="\n", float_format="%.6g")
    about = {
        "made_by": "python -m auditbook.studies.simulations.next_audits",
        "date": datetime.now(UTC).date().isoformat(),
        "replicates": replicates,
        "slow_every": SLOW_EVERY,
        "fresh": FRESH,
        "fresh_slow": FRESH_SLOW,
        "seed": seed,
        "seeds": "of a replicate: the stream of the seed, the world, its number of groups and the number",
        "code": digest_code(),
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in LIBRARIES},
    }
    (folder / "next_audit.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Simulate whether the next audit ends as it was predicted.")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    settings = {"replicates": given.replicates, "seed": given.seed}
    rows = simulate_next(**settings, store=runs_folder() / "simulations" / "next_audit.jsonl")
    write_next(project_file("data") / "simulations", rows, **settings)


if __name__ == "__main__":
    main()
