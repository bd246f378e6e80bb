"""How often do the printed intervals of rates, differences, areas and calibration hold the truth?

Every replicate draws one audit of a world whose truth is known, and looks in which of the intervals that its
tables print the truth lies. With patients these are the intervals by patient, with sites those by sites:
none is printed of a group that stands in too few sites, or too unevenly.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.coverage.study

It goes on where it was stopped.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from auditbook.evidence import (
    LEAST_CLUSTERS,
    Interval,
    estimate_auroc,
    open_stream,
    prepare,
    settle_units,
    wilson_interval,
)
from auditbook.ranking import (
    assess_parity,
    auc_matrix,
    compare_models,
    explain_sites,
    fit_calibration,
    matrix_interval,
    matrix_site_interval,
    summarise_areas,
)
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.studies.coverage.worlds import GROUPS, WORLDS, CoverageWorld, draw_records, find_truth
from auditbook.studies.kept_rows import Row, Study, call_study
from auditbook.verdicts import show_cells, tabulate_rates

SEED, REPLICATES, FENCED_EVERY = 2_026, 400, 20
"""Of worlds with too few sites, in which nothing is printed, only every twentieth replicate is drawn."""
DRAWS = 1_000
"""Draws behind the interval of parity; an audit makes 4,000, which takes longer and moves little."""
COLUMNS = ("world", "replicate", "figure", "printed", "covered")
RATE, DIFFERENCE, BIN = "rate", "difference of rates", "event rate less mean score"
WITHIN, CROSS, PARITY, OVERALL = "area within a group", "area across groups", "AUC parity", "AUROC"
SLOPE, INTERCEPT, MODELS = "calibration slope", "calibration intercept", "difference of two models' areas"
FIGURES = (RATE, DIFFERENCE, WITHIN, CROSS, PARITY, OVERALL, MODELS, BIN, INTERCEPT, SLOPE)
DIFFERENCES = ("EOD",)
"""Metrics of two contrasts, so that each bound has half of 5 %, as an interval of 95 % has."""


def run_replicate(world: CoverageWorld, replicate: int, *, seed: int = SEED) -> list[Row]:
    """Draw one audit, and count the intervals that are printed and those that hold the truth."""
    records = draw_records(world, open_stream(seed, "coverage", world.name, str(replicate)))
    found = dict.fromkeys(FIGURES, (0, 0))
    for figure, printed, covered in _look(records, replicate):
        found[figure] = found[figure][0] + printed, found[figure][1] + covered
    head = {"world": world.name, "replicate": replicate}
    return [head | {"figure": name, "printed": n, "covered": k} for name, (n, k) in found.items()]


def _look(audit: AuditRecords, seed: int) -> Iterator[tuple[str, int, int]]:
    """Count, figure by figure, the intervals that are printed and those that hold the truth."""
    first = AuditRecords(audit.outcome, audit.attributes, audit.scores[:1], audit.site, audit.unit)
    yield from _look_at_rates(first)
    yield from _look_at_areas(audit, seed)
    yield from _look_at_calibration(first)


def _count(figure: str, interval: Interval, truth: ArrayLike) -> tuple[str, int, int]:
    """Count intervals, and those that hold the truth."""
    known = ~np.isnan(np.asarray(interval.low, float))
    inside = (interval.low <= np.asarray(truth)) & (np.asarray(truth) <= interval.high)
    return figure, int(known.sum()), int((known & inside).sum())


def _take(table: pd.DataFrame, by_site: bool) -> Interval:
    """Take the intervals of a table, by sites where there are sites."""
    low, high = ("site_low", "site_high") if by_site else ("low", "high")
    return Interval(table[low].to_numpy(float), table[high].to_numpy(float))


def _look_at_rates(records: AuditRecords) -> Iterator[tuple[str, int, int]]:
    truth, protocol = find_truth().rates, Protocol(metrics=DIFFERENCES)
    by_site, prepared = records.site is not None, prepare(records)
    table = tabulate_rates(prepared, protocol)
    whole = table[table["bin"].isna() & table["rate"].isin(list(truth))]
    expected = [truth[str(row.rate)][GROUPS.index(str(row.group))] for row in whole.itertuples()]
    yield _count(RATE, _take(whole, by_site), expected)
    bins = table[table["bin"].notna() & (table["n"] >= protocol.min_records)]
    yield _count(BIN, _take(bins, by_site), bins["mean_score"])
    contrasts = show_cells(prepared, protocol)[1]
    contrasts = contrasts[(contrasts["scope"] == "sites") | (not by_site)]
    gaps = [
        np.subtract(*(truth[str(row.rate)][GROUPS.index(str(name))] for name in (row.group, row.other)))
        for row in contrasts.itertuples()
    ]
    yield _count(DIFFERENCE, _take(contrasts, False), gaps)


def _look_at_areas(records: AuditRecords, seed: int) -> Iterator[tuple[str, int, int]]:
    """Look at areas, parity, AUROC and the difference of two models as the tables of areas find them."""
    truth, attribute, (one, other) = find_truth(), records.attributes[0], records.scores
    lacks = explain_sites(records.site, attribute)
    if any(lacks):
        return
    cluster = settle_units(records) if records.site is None else records.site
    by_site, asked = cluster is not None, (attribute.codes, len(GROUPS))
    matrix = auc_matrix(records.outcome, one.values, *asked, site=cluster)
    single = matrix_site_interval(matrix) if by_site else matrix_interval(matrix)
    within = np.eye(len(GROUPS), dtype=bool)
    for figure, mine in ((WITHIN, within), (CROSS, ~within)):
        yield _count(figure, Interval(single.low[mine], single.high[mine]), truth.areas[0][mine])
    rng = open_stream(seed, "coverage", "parity")
    parity = assess_parity(matrix, by_site=by_site, draws=DRAWS, rng=rng)
    gap = abs(np.subtract(*np.diagonal(truth.areas[0])))
    yield _count(PARITY, Interval(np.array(parity.low), np.array(parity.high)), gap)
    found = compare_models(records.outcome, other.values, one.values, *asked, site=cluster)
    yield _count(MODELS, Interval(found.low, found.high), truth.areas[1] - truth.areas[0])
    if records.site is None:
        area = estimate_auroc(records.outcome, one.values, unit=cluster)
        yield _count(OVERALL, Interval(np.array(area.low), np.array(area.high)), truth.overall[0])
        return
    summary = summarise_areas(matrix, by_site=True)
    every, place = summary.interval(), summary.overall
    yield _count(OVERALL, Interval(every.low[place], every.high[place]), truth.overall[0])


def _look_at_calibration(records: AuditRecords) -> Iterator[tuple[str, int, int]]:
    attribute, unit, score = records.attributes[0], settle_units(records), records.scores[0]
    lacks = explain_sites(records.site, attribute)
    for place, lack in enumerate(lacks):
        if lack:
            continue
        mine = attribute.codes == place
        clusters = {
            name: part[mine] for name, part in (("unit", unit), ("site", records.site)) if part is not None
        }
        found = fit_calibration(records.outcome[mine], score.values[mine], **clusters)
        for figure, fitted, truth in ((INTERCEPT, found.intercept, 0.0), (SLOPE, found.slope, 1.0)):
            ends = (fitted.low, fitted.high) if records.site is None else (fitted.site_low, fitted.site_high)
            yield _count(figure, Interval(*(np.array(end) for end in ends)), truth)


def summarise_coverage(rows: pd.DataFrame) -> pd.DataFrame:
    """Find the share of printed intervals that hold the truth, by world and figure.

    Several intervals of one audit hang together, so the Wilson interval counts audits with an interval.
    """
    held = rows.assign(audits=rows["printed"] > 0)
    keys = ["world", "figure"]
    found = held.groupby(keys, sort=False, as_index=False).agg(
        replicates=("replicate", "size"),
        audits=("audits", "sum"),
        printed=("printed", "sum"),
        covered=("covered", "sum"),
    )
    share = found["covered"] / found["printed"].where(found["printed"] > 0)
    bounds = wilson_interval(share.fillna(0) * found["audits"], found["audits"])
    return found.assign(coverage=share, low=bounds.low, high=bounds.high)


def _wants(world: CoverageWorld, replicate: int) -> bool:
    return not 0 < world.sites < LEAST_CLUSTERS or replicate % FENCED_EVERY == 0


STUDY = Study(
    name="coverage",
    worlds=WORLDS,
    run=run_replicate,
    columns=COLUMNS,
    summarise=summarise_coverage,
    wants=_wants,
    about={"fenced_every": FENCED_EVERY},
    seeds="of a replicate: the stream of the seed, 'coverage', the name of the world and the number",
)


if __name__ == "__main__":
    call_study(STUDY, replicates=REPLICATES, seed=SEED)
