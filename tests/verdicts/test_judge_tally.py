"""Does an audit from counts say what the audit of the records says?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import add_tallies, prepare, prepare_tally, tally_records
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import (
    bound_missing_attribute,
    count_above_median,
    find_tipping_points,
    judge,
    tabulate_pooled_rates,
    tabulate_rates,
)

COUNTED = ("DI", "SPD", "EOPP", "EOD", "PP", "TI_benefit")
SUMMED = ("TI", "CAL", "CAL_large")
ROUNDING = 1e-9
"""Scores are rounded to 2^-33 in sums, and those of units to 2^-15 a unit in products."""


def make_records(n, *, n_groups, n_sites=0, n_units=0, rare=False, seed=1) -> AuditRecords:
    """Draw probabilities with a threshold of 0.3, ranks with one of 2, and decisions."""
    rng = np.random.default_rng(seed)
    unit = rng.integers(0, n_units, n) if n_units else None
    moved = 0 if unit is None else rng.normal(0, 0.8, n_units)[unit]
    risk = 1 / (1 + np.exp(-rng.normal(-4 if rare else -1, 1.1, n) - moved))
    outcome = (rng.random(n) < risk).astype(np.int8)
    scores = (
        Score("p", "probability", 0.3, risk),
        Score("r", "rank", 2.0, rng.integers(0, 9, n) + 2.0 * outcome),
        Score("d", "decision", 0.5, (rng.random(n) < 0.3).astype(float)),
    )
    first, second = rng.integers(0, n_groups, n), rng.integers(0, 2, n)
    names = tuple(f"g{k}" for k in range(n_groups))
    crossed = tuple((one, other) for one in names for other in "yx")
    attributes = (
        Attribute("a", names, first, "g1"),
        Attribute("b", ("y", "x", "nobody"), second),
        Attribute("a x b", tuple(" and ".join(pair) for pair in crossed), 2 * first + second, None, crossed),
    )
    return AuditRecords(outcome, attributes, scores, rng.integers(0, n_sites, n) if n_sites else None, unit)


def make_tables(prepared, protocol) -> dict[str, pd.DataFrame]:
    found = judge(prepared, protocol)
    return {
        **found.tables,
        "rates": tabulate_rates(prepared, protocol),
        "pooled_rates": tabulate_pooled_rates(prepared, protocol=protocol),
        "tipping_points": find_tipping_points(prepared, found.verdicts, found.contrasts, protocol),
        "missing_attribute": bound_missing_attribute(
            prepared, {"b": np.full((len(prepared.models), 4), 40)}, protocol, unplaced="g2"
        ),
    }


def declare(records: AuditRecords) -> dict[str, tuple[str, ...]]:
    return {one.name: one.groups for one in records.attributes}


def pick(table: pd.DataFrame, metrics: tuple[str, ...]) -> pd.DataFrame:
    return table[table["metric"].isin(metrics)] if "metric" in table else table


CASES = {
    "two groups, no site": {"n": 900, "n_groups": 2},
    "nine groups, three sites, rare events": {"n": 1_500, "n_groups": 9, "n_sites": 3, "rare": True},
    "units of several records in thirty sites": {"n": 1_200, "n_groups": 3, "n_sites": 30, "n_units": 500},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_table_of_counts_is_that_of_the_records(case):
    protocol = Protocol(metrics=COUNTED, resamples=20, resample_size=600, size_repeats=5)
    compare_tables(make_records(**case), protocol)


def test_tables_of_two_metrics_are_those_of_the_records_by_unit_and_site():
    records = make_records(700, n_groups=2, n_sites=30, n_units=300)
    short = replace(records, attributes=records.attributes[:2], scores=records.scores[:1])
    compare_tables(short, Protocol(metrics=("DI", "EOD"), resamples=5, resample_size=400, size_repeats=2))


def compare_tables(records: AuditRecords, protocol: Protocol) -> None:
    one = make_tables(prepare(records), protocol)
    two = make_tables(prepare_tally(tally_records(records), declared=declare(records)), protocol)
    for name, table in one.items():
        other, loose = two[name], name in ("rates", "pooled_rates")
        if name == "rates":  # event rates by bin rest on scores
            table, other = (part[part["rate"] != "event rate"] for part in (table, other))
        tolerance = 1e-10 if loose else 1e-12
        pd.testing.assert_frame_equal(table, other, rtol=tolerance, atol=1e-12, obj=name)


@pytest.mark.parametrize("n_units", [0, 400])
def test_what_rests_on_scores_differs_by_rounding(n_units):
    records = make_records(1_200, n_groups=2, n_units=n_units)
    protocol = Protocol(metrics=(*SUMMED, "AUC"), resamples=20, resample_size=600)
    one, two = (
        judge(made, protocol, axes=("shown",))
        for made in (prepare(records), prepare_tally(tally_records(records), declared=declare(records)))
    )
    a, b = pick(one.verdicts, SUMMED), pick(two.verdicts, SUMMED)
    assert a["verdict"].tolist() == b["verdict"].tolist()
    assert a["vfr"].fillna(-1).tolist() == b["vfr"].fillna(-1).tolist()
    np.testing.assert_allclose(a["estimate"], b["estimate"], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(a["resample_sd"], b["resample_sd"], rtol=0.01)
    a, b = pick(one.contrasts, SUMMED), pick(two.contrasts, SUMMED)
    np.testing.assert_allclose(a["estimate"], b["estimate"], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(a["low"], b["low"], rtol=0, atol=1e-4 if n_units else ROUNDING)


def test_parts_counted_apart_give_the_same_tables_in_any_order():
    records = make_records(1_500, n_groups=2, n_sites=4)
    protocol = Protocol(metrics=("DI", "CAL", "AUC"), resamples=10, resample_size=500, size_repeats=3)
    edges = {"r": np.arange(1.0, 11)}
    names = ("s0", "s1", "s2", "s3")

    def count(rows):
        part = replace(
            records,
            outcome=records.outcome[rows],
            attributes=tuple(replace(one, codes=one.codes[rows]) for one in records.attributes),
            scores=tuple(replace(one, values=one.values[rows]) for one in records.scores),
            site=records.site[rows],
        )
        return tally_records(part, sites=names, rank_edges=edges)

    parts = [count(np.flatnonzero(np.arange(1_500) % 3 == k)) for k in range(3)]
    whole = count(np.arange(1_500))
    tables = [
        judge(prepare_tally(tally), protocol).tables
        for tally in (whole, add_tallies(parts), add_tallies(parts[::-1]))
    ]
    for other in tables[1:]:
        for name, table in tables[0].items():
            assert table.to_csv() == other[name].to_csv(), name


def test_scores_above_the_median_are_counted_but_for_those_in_its_bin():
    records = make_records(900, n_groups=2)
    one, two = count_above_median(records), count_above_median(tally_records(records))
    both = one.merge(two, on=["model", "attribute", "group"], suffixes=("", "_tally"))
    assert both["n"].tolist() == both["n_tally"].tolist()
    ranks = both[both["model"] == "r"]
    assert ranks["above"].tolist() == ranks["above_tally"].tolist()
    whole = both[both["model"] == "p"].groupby("attribute")[["above", "above_tally"]].sum()
    assert ((whole["above"] - whole["above_tally"]).between(0, 15)).all()


def test_sites_alike_in_all_counts_are_told_apart_by_their_scores():
    rng = np.random.default_rng(3)
    outcome = np.tile(np.array([0, 1], np.int8), 60)
    site = np.repeat(np.arange(6), 20)
    values = rng.random(120) * 0.4
    records = AuditRecords(
        outcome,
        (Attribute("a", ("x", "y"), np.arange(120) // 2 % 2),),
        (Score("m", "probability", 0.5, values),),
        site,
    )
    protocol = Protocol(metrics=("DI",), site_folds=2)
    turned = replace(records, site=5 - site)
    found = []
    for one in (records, turned):
        folds = judge(prepare_tally(tally_records(one)), protocol, axes=("sites",)).folds
        found.append([folds.of_site[int(place)] for place in one.site[::20]])
    assert found[0] == found[1]
    assert sorted(found[0]) == [0, 0, 0, 1, 1, 1]
