"""Do parts of a cohort, counted apart, add up to the whole?"""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from auditbook.errors import InputError
from auditbook.evidence import (
    Tally,
    add_tallies,
    assign_bins,
    count_sites,
    list_edges,
    order_scores,
    tally_records,
)
from auditbook.evidence.score_sums import sum_site_scores
from auditbook.evidence.tally import UNIT, find_tens, list_runs, list_tenths
from auditbook.evidence.tally_records import find_bins
from auditbook.records import Attribute, AuditRecords, Score, Survey


def make_records(n=3_000, *, n_groups=3, n_sites=5, n_units=1_500, seed=1) -> AuditRecords:
    rng = np.random.default_rng(seed)
    unit = rng.integers(0, n_units, n) if n_units else None
    risk = 1 / (1 + np.exp(-rng.normal(-1, 1.3, n)))
    outcome = (rng.random(n) < risk).astype(np.int8)
    scores = (
        Score("p", "probability", 0.3, np.round(risk, 5)),
        Score("r", "rank", 2.0, rng.integers(0, 9, n) + 2.0 * outcome),
        Score("d", "decision", 0.5, (rng.random(n) < 0.3).astype(float)),
    )
    groups = tuple(f"g{k}" for k in range(n_groups))
    attributes = (
        Attribute("a", groups, rng.integers(0, n_groups, n), "g1"),
        Attribute("b", ("y", "x"), rng.integers(0, 2, n)),
    )
    site = rng.integers(0, n_sites, n) if n_sites else None
    return AuditRecords(outcome, attributes, scores, site, unit)


def take(records: AuditRecords, rows) -> AuditRecords:
    return AuditRecords(
        records.outcome[rows],
        tuple(replace(one, codes=one.codes[rows]) for one in records.attributes),
        tuple(replace(one, values=one.values[rows]) for one in records.scores),
        None if records.site is None else records.site[rows],
        None if records.unit is None else records.unit[rows],
    )


def list_arrays(value, name="") -> dict:
    if is_dataclass(value):
        return {
            k: v
            for f in fields(value)
            for k, v in list_arrays(getattr(value, f.name), f"{name}.{f.name}").items()
        }
    if isinstance(value, tuple):
        return {
            k: v for place, one in enumerate(value) for k, v in list_arrays(one, f"{name}[{place}]").items()
        }
    return {name: value}


def assert_same(one: Tally, other: Tally) -> None:
    first, second = list_arrays(one), list_arrays(other)
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == second[name].dtype, name
            np.testing.assert_array_equal(value, second[name], err_msg=name)
        else:
            assert value == second[name], name


@pytest.mark.parametrize("n_units", [0, 700, 1_500])
def test_parts_add_up_to_the_whole_in_any_order(n_units):
    records = make_records(n_units=n_units)
    edges = {"r": np.arange(3.0, 11)}
    part = records.unit % 4 if n_units else np.arange(3_000) % 4
    keys = np.arange(n_units, dtype=np.uint64)
    names = [f"s{k}" for k in range(5)]

    def tally(rows):
        return tally_records(take(records, rows), sites=names, rank_edges=edges, unit_key=keys)

    parts = [tally(np.flatnonzero(part == k)) for k in range(4)]
    whole = tally(np.random.default_rng(2).permutation(3_000))
    assert whole.attributes[0].units is None or whole.attributes[0].units.single == (n_units == 700)
    assert_same(add_tallies(parts), whole)
    assert_same(add_tallies([parts[k] for k in (2, 0, 3, 1)]), whole)


def test_counts_and_sums_are_those_of_the_records():
    records = make_records()
    found = tally_records(records).attributes[0]
    held = records.attributes[0]
    decisions = np.stack([score.decisions for score in records.scores])
    counts = count_sites(records.outcome, decisions, held.codes, 3, site=records.site, n_sites=5)
    assert found.counts.tolist() == counts.tolist()
    ordered = order_scores(records.outcome, records.scores[0].values)
    sums = sum_site_scores(ordered, held.codes, 3, site=records.site, n_sites=5)
    rounding = 3_000 * UNIT / 2  # each record is rounded once
    for mine, theirs in zip(found.tens.parts(), sums.parts(), strict=True):
        np.testing.assert_allclose(mine[0], theirs, rtol=0, atol=rounding)
    assert found.tens.records[0].tolist() == sums.records.tolist()
    assert found.tens.events[0].tolist() == sums.events.tolist()


def test_fine_bins_hold_every_record_once_and_lie_within_the_bins_of_calibration():
    records, edges = make_records(), list_edges()
    fine = tally_records(records).attributes[1].fine
    assert fine[2] is None
    assert fine[0].count.sum() == fine[1].count.sum() == 3_000
    values = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1), [0, 1, 1e-300]])
    bins = find_bins(values, edges)
    assert bins.tolist() == np.searchsorted(edges, values, side="right").tolist()
    assert find_tens(edges)[bins].tolist() == assign_bins(values).tolist()
    tens = [set(find_tens(edges)[list_runs() == run].tolist()) for run in range(64)]
    assert all(len(one) == 1 for one in tens)
    assert np.isin(list_tenths(), edges).all()


def test_products_of_units_are_those_of_a_slow_loop():
    records = make_records(400, n_units=90)
    units = tally_records(records).attributes[0].units
    slow, largest = np.zeros((12, 12), int), np.zeros((3, 4), int)
    held = np.zeros((3, 4), int)
    for unit in range(90):
        z = np.zeros((3, 4), int)
        for row in np.flatnonzero(records.unit == unit):
            chosen, event = records.scores[0].decisions[row], records.outcome[row]
            z[records.attributes[0].codes[row], 3 - event - 2 * chosen] += 1
        slow += np.outer(z.ravel(), z.ravel())
        trials = np.stack(
            [z.sum(axis=1), z[:, [0, 2]].sum(axis=1), z[:, [1, 3]].sum(axis=1), z[:, :2].sum(axis=1)]
        )
        largest, held = np.maximum(largest, trials.T), held + (trials.T > 0)
    assert units.counts[0].tolist() == slow.tolist()
    assert units.largest[0].tolist() == largest.tolist()
    assert units.held[0].tolist() == held.tolist()
    assert units.number == len(np.unique(records.unit))


def test_differences_between_definitions_are_all_named():
    records = make_records()
    other = replace(records, site=None, attributes=records.attributes[:1])
    changed = replace(other, scores=(replace(records.scores[0], threshold=0.4), *records.scores[1:]))
    with pytest.raises(InputError) as fault:
        add_tallies([tally_records(records), tally_records(changed)])
    assert "models differ: p (probability, threshold 0.3)" in str(fault.value)
    assert "attributes differ: a, b; a" in str(fault.value)
    assert "sites are named in one part and not in the other" in str(fault.value)


def test_weights_and_continuous_outcomes_are_refused():
    records = make_records()
    with pytest.raises(InputError, match="weights are not counted in parts"):
        tally_records(replace(records, survey=Survey(np.ones(3_000))))
    with pytest.raises(InputError, match="p: scores that predict a number"):
        tally_records(replace(records, scores=(replace(records.scores[0], kind="value"),)))
