"""How long does the whole grid of axis 1 take?

Twelve score columns, four attributes (5, 2, 2 and 4 groups), K = 500, 185,026 records, 441 sites. Run with

    OMP_NUM_THREADS=2 python benchmarks/verdicts.py

Each figure is the best of three. Processor time stands beside it, because on a busy machine the clock says
more of the other work than of this. The last figure is fairlearn's own bootstrap on one cell: a few resamples
are timed and the rest is extrapolated, which the line says.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter, process_time

import fairlearn.metrics as fairlearn
import numpy as np

from auditbook.evidence import prepare
from auditbook.evidence.counts import count_groups
from auditbook.evidence.resample import draw_counts, open_stream
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import judge, tabulate_groups
from auditbook.verdicts.flips import resample_values, summarise_resamples
from auditbook.verdicts.metrics import METRICS

N_RECORDS, N_MODELS, N_SITES = 185_026, 12, 441
SHARES = {
    "race": (0.004, 0.018, 0.125, 0.650, 0.203),
    "sex": (0.37, 0.63),
    "ethnicity": (0.27, 0.73),
    "age": (0.15, 0.30, 0.25, 0.30),
}
COUNT_METRICS = ("DI", "SPD", "EOPP", "EOD", "PP")
FAIRLEARN_RESAMPLES = 5


def make_records(rng: np.random.Generator) -> AuditRecords:
    """Make up an audit of the published size."""
    risk = rng.beta(0.7, 0.85, N_RECORDS)
    outcome = (rng.random(N_RECORDS) < risk).astype(np.int8)
    noise = rng.normal(0, 1, (N_MODELS, N_RECORDS))
    scores = tuple(
        Score(f"model {i}", "probability", 0.5, np.clip(risk + (0.05 + 0.01 * i) * noise[i], 0, 1))
        for i in range(N_MODELS)
    )
    attributes = tuple(
        Attribute(name, tuple("abcde"[: len(share)]), rng.choice(len(share), N_RECORDS, p=share))
        for name, share in SHARES.items()
    )
    volumes = rng.dirichlet(np.full(N_SITES, 0.5))
    return AuditRecords(outcome, attributes, scores, rng.choice(N_SITES, N_RECORDS, p=volumes))


def count_all(records: AuditRecords) -> dict[str, np.ndarray]:
    """Count every attribute's groups under every model."""
    decisions = np.stack([score.decisions for score in records.scores])
    return {
        attribute.name: count_groups(records.outcome, decisions, attribute.codes, len(attribute.groups))
        for attribute in records.attributes
    }


def judge_counts(tables: dict[str, np.ndarray], *, size: int, resamples: int) -> int:
    """Resample and summarise every cell that is a function of counts; return how many there are."""
    cells = 0
    for name, table in tables.items():
        streams = [open_stream(42, "benchmark", name, str(model)) for model in range(len(table))]
        draws = np.stack(
            [
                draw_counts(one, size=size, resamples=resamples, rng=rng)
                for one, rng in zip(table, streams, strict=True)
            ]
        )
        for metric in (METRICS[key] for key in COUNT_METRICS):
            required = ~np.isnan(metric.by_group(table))[:, None]
            found = summarise_resamples(metric, resample_values(metric, draws, required=required))
            cells += found.vfr.size
    return cells


@dataclass(frozen=True)
class Taken:
    """Seconds by the clock and of processor time."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:8.2f} s  ({self.processor:.2f} s of processor time)"


def time_once(work: Callable[[], object]) -> Taken:
    """Time one run."""
    clock, processor = perf_counter(), process_time()
    work()
    return Taken(perf_counter() - clock, process_time() - processor)


def time_best(work: Callable[[], object]) -> Taken:
    """Time the fastest of three runs."""
    return min((time_once(work) for _ in range(3)), key=lambda taken: taken.clock)


def bootstrap_with_fairlearn(records: AuditRecords) -> None:
    """Let fairlearn bootstrap one cell, EOPP by race, over all records."""
    fairlearn.MetricFrame(
        metrics=fairlearn.true_positive_rate,
        y_true=records.outcome,
        y_pred=records.scores[0].decisions.astype(int),
        sensitive_features=records.attributes[0].codes,
        n_boot=FAIRLEARN_RESAMPLES,
        ci_quantiles=[0.025, 0.975],
        random_state=1,
    ).difference_ci()


def main() -> None:
    """Time everything and print a line for each."""
    records, protocol = make_records(np.random.default_rng(42)), Protocol()
    without_sites = replace(records, site=None)
    tables = count_all(records)
    own = {"size": protocol.resample_size, "resamples": protocol.resamples}
    n_cells = judge_counts(tables, **own)
    n_all = N_MODELS * len(SHARES) * len(protocol.metrics)
    work = {
        "counting, four attributes": lambda: count_all(records),
        f"{n_cells} count-based cells, one flip rate (0.3 s)": lambda: judge_counts(tables, **own),
        f"all {n_all} cells, two flip rates (3 s)": lambda: judge(prepare(without_sites), protocol, axes=()),
        f"all {n_all} cells, all three flip rates (3 s)": lambda: judge(prepare(records), protocol, axes=()),
        "the same, with contrasts and what is shown (1 s more)": lambda: judge(
            prepare(records), protocol, axes=("shown",)
        ),
        "table of groups with AUC": lambda: tabulate_groups(records, protocol=protocol),
    }
    print(f"{N_RECORDS:,} records, {N_MODELS} models, K = {protocol.resamples}, {N_SITES} sites")
    print("in brackets: the time to reach")
    for what, run in work.items():
        print(f"{what:54s} {time_best(run)}", flush=True)
    taken = time_once(lambda: bootstrap_with_fairlearn(records))
    print(f"{f'fairlearn, one cell, {FAIRLEARN_RESAMPLES} resamples, measured':54s} {taken}")
    times = protocol.resamples / FAIRLEARN_RESAMPLES
    whole = Taken(taken.clock * times, taken.processor * times)
    print(f"{f'fairlearn, one cell, K = {protocol.resamples}, extrapolated':54s} {whole}")


if __name__ == "__main__":
    main()
