"""How often do rules that other tools offer accuse equal groups, and miss a group that is served worse?

The rules read the very boards of `study`, each as its tool's users read it, with the tool's own defaults:

- *estimate*: the published verdict, any of the 28 estimates beyond its threshold, whatever the support.
- *gap*: a difference above 0.1 between groups in fairlearn's ``MetricFrame``, of selection rate, TPR, FPR or
  precision. A rate without a denominator is 0 there.
- *band*: Aequitas' parity from 0.8 to 1.25 times the largest group, of the same four rates (its impact, TPR,
  FPR and precision parity). Its other six measures are left out. A ratio to zero is 10 there, and 0/0 no
  finding.
- *flags*: FairCareAI's fairness flags: the ratio of selection rates to the largest group outside 0.8 to 1.25,
  or TPR or FPR more than 0.1 from it. Groups under ten records are left out, and a rate without a
  denominator is 0 there.

A flag is false in a world of equal groups, and in a gap world for every attribute but the first. There the
gap is found when the rule flags what it has on TPR for race.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.boards.peers

It goes on where it was stopped.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import (
    Counts,
    Prepared,
    false_positive_rate,
    positive_predictive_value,
    prepare,
    selection_rate,
    true_positive_rate,
    wilson_interval,
)
from auditbook.settings import METRIC_NAMES
from auditbook.studies.boards.study import SEED, SEEDS, SIZED, WORLDS, draw_audit
from auditbook.studies.boards.worlds import NAMES, BoardWorld
from auditbook.studies.kept_rows import Row, Study, call_study
from auditbook.verdicts import METRICS

Flags = NDArray[np.bool_]

REPLICATES = 200
GAP, BAND, CAPPED, FEWEST = 0.1, (0.8, 1.25), 10.0, 10
RATES = (selection_rate, true_positive_rate, false_positive_rate, positive_predictive_value)
RATE_NAMES = ("selection rate", "TPR", "FPR", "PPV")
MEASURES = {
    "estimate": METRIC_NAMES,
    "gap": RATE_NAMES,
    "band": RATE_NAMES,
    "flags": ("demographic parity", "equalized odds"),
}
"""What each rule flags of an attribute."""
ON_TPR = {"estimate": "EOPP", "gap": "TPR", "band": "TPR", "flags": "equalized odds"}
COLUMNS = ("world", "replicate", "rule", "flags", "false_flags", "false_race", "found")


def flag_gaps(counts: Counts) -> Flags:
    """Flag the rates whose largest and smallest group differ by more than 0.1; counts (n_groups, 4)."""
    there = counts[counts.sum(axis=-1) > 0]
    return np.array([np.ptp(np.nan_to_num(rate(there))) > GAP for rate in RATES])


def flag_ratios(counts: Counts) -> Flags:
    """Flag the rates of which a group leaves the band around that of the largest group."""
    return np.array([_leaves_band(rate(counts), _largest(counts)) for rate in RATES])


def flag_disparities(counts: Counts) -> Flags:
    """Flag the ratio of selection rates, and the odds, of any group against the largest."""
    largest = _largest(counts)
    selected, tpr, fpr, _ = (np.nan_to_num(rate(counts)) for rate in RATES)
    others = (counts.sum(axis=-1) >= FEWEST) & (np.arange(len(counts)) != largest)
    odds = np.maximum(abs(tpr - tpr[largest]), abs(fpr - fpr[largest]))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = selected / selected[largest]
    outside = (ratio < BAND[0]) | (ratio > BAND[1])
    return np.array([bool(selected[largest] > 0 and outside[others].any()), (odds[others] > GAP).any()])


def _largest(counts: Counts) -> int:
    """Find the first of the largest groups."""
    return int(np.argmax(counts.sum(axis=-1)))


def _leaves_band(rate: NDArray[np.float64], reference: int) -> bool:
    """Tell whether any group's ratio to the reference lies outside the band."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = rate / rate[reference]
    ratio[np.isposinf(ratio)] = CAPPED
    return bool(((ratio < BAND[0]) | (ratio > BAND[1])).any())


def flag_board(prepared: Prepared) -> dict[str, Flags]:
    """Apply every rule to every attribute; shapes (n_attributes, n_measures)."""
    tables = [groups.counts.whole()[0] for groups in prepared.groups]
    rules = {"gap": flag_gaps, "band": flag_ratios, "flags": flag_disparities}
    found = {rule: np.stack([flag(table) for table in tables]) for rule, flag in rules.items()}
    return {"estimate": np.stack(list(_list_fails(prepared)))} | found


def _list_fails(prepared: Prepared) -> Iterator[Flags]:
    """List, of each attribute, the metrics whose estimate fails, whatever the support."""
    for groups in prepared.groups:
        values = {name: METRICS[name].values(groups.evidence[METRICS[name].evidence].whole())[0]
                  for name in METRIC_NAMES}  # fmt: skip
        defined = np.array([not np.isnan(value) for value in values.values()])
        yield defined & np.array([not METRICS[name].passes(value) for name, value in values.items()])


def run_replicate(world: BoardWorld, replicate: int, *, seed: int = SEED) -> list[Row]:
    """Draw the audit of a replicate, and count what each rule flags of it."""
    flagged = flag_board(prepare(draw_audit(world, replicate, seed=seed)))
    alike = np.array([world.kind == "equal" or name != NAMES[0] for name in NAMES])
    return [
        {
            "world": world.name,
            "replicate": replicate,
            "rule": rule,
            "flags": int(flags.sum()),
            "false_flags": int(flags[alike].sum()),
            "false_race": int(flags[0].any() and alike[0]),
            "found": int(flags[0, MEASURES[rule].index(ON_TPR[rule])] and not alike[0]),
        }
        for rule, flags in flagged.items()
    ]


def summarise_peers(rows: pd.DataFrame) -> pd.DataFrame:
    """Count the boards that each rule accuses of what is not so, and those whose gap it finds."""
    counted = rows.groupby(["world", "rule"], sort=False, as_index=False).agg(
        replicates=("replicate", "size"),
        flags=("flags", "mean"),
        false_flags=("false_flags", "mean"),
        accused=("false_flags", lambda part: int((part > 0).sum())),
        race_accused=("false_race", "sum"),
        found=("found", "sum"),
    )
    for name in ("accused", "found"):
        interval = wilson_interval(counted[name], counted["replicates"])
        counted[f"{name}_share"] = counted[name] / counted["replicates"]
        counted[f"{name}_low"], counted[f"{name}_high"] = interval.low, interval.high
    return counted


PEERS = Study(
    name="boards_peers",
    worlds=[world for world in dict.fromkeys((*WORLDS, *SIZED)) if world.kind != "edge"],
    run=run_replicate,
    columns=COLUMNS,
    summarise=summarise_peers,
    seeds=SEEDS,
)

if __name__ == "__main__":
    call_study(PEERS, replicates=REPLICATES, seed=SEED)
