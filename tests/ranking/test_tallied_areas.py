"""Areas from counts and bins of scores, beside those of the records."""

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import add_tallies, prepare, prepare_tally, tally_records
from auditbook.ranking.compare import UNPAIRED, tabulate_auc_differences
from auditbook.ranking.measured import MeasuredAreas
from auditbook.ranking.parity import make_auc_tables
from auditbook.ranking.tables import measure_areas, tabulate_auc_fairness, tabulate_auc_matrix
from auditbook.ranking.tallied_areas import write_bin_note
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

KEYS = ["model", "attribute", "event_group", "nonevent_group"]
GROUPS = ("Noire", "été", "b", "vide")


def draw_records(n=6_000, *, level=-1.0, spread=1.0, sites=0, units=0, kinds=("probability",), seed=3):
    """Draw an audit of two attributes, of which one declares a group that holds no record."""
    rng = np.random.default_rng(seed)
    site = np.sort(rng.integers(0, sites, n)) if sites else None
    unit = np.arange(n) // -(-n // units) if units else None
    moved = 0.0 if site is None else rng.normal(0, 0.3, sites)[site]
    moved = moved + (0.0 if unit is None else rng.normal(0, 0.5, units)[unit])
    logit = level + spread * rng.normal(size=n) + moved
    outcome = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values = 1 / (1 + np.exp(-logit - 0.4 * rng.normal(size=n)))
    read = {
        "probability": values,
        "rank": np.rint(20 * values),
        "decision": (values > np.median(values)).astype(float),
    }
    scores = tuple(Score(kind, kind, 10.0 if kind == "rank" else 0.5, read[kind]) for kind in kinds)
    first = Attribute("race", GROUPS, rng.choice(3, n, p=[0.1, 0.3, 0.6]), "b")
    second = Attribute("sex", ("F", "M"), rng.integers(0, 2, n))
    return AuditRecords(outcome, (first, second), scores, site, unit)


def compare(records, tabulate=tabulate_auc_matrix):
    """Make one table from records and from their tally, cut in two where no unit is."""
    tables = [tabulate(source, protocol=Protocol(), seed=1) for source in (records, tally_records(records))]
    return tables[0], tables[1]


def line_up(exact, found):
    return exact.merge(found, on=KEYS, suffixes=("", "_bins"), validate="one_to_one")


@pytest.mark.parametrize(("level", "spread"), [(-1.0, 1.0), (-1.0, 0.4), (0.0, 6.0), (-5.5, 1.0), (4.0, 1.0)])
def test_areas_lie_within_their_bound_and_far_within_the_standard_error(level, spread):
    both = line_up(*compare(draw_records(level=level, spread=spread)))
    away = (both["auc"] - both["auc_bins"]).abs()
    known = both["auc"].notna()
    assert (both["auc_bins"].notna() == known).all()
    assert (away <= both["bin_bound_bins"] + 1e-12)[known].all()
    assert (away < 0.05 * both["se"])[known & (both["n_events"] > 20)].all()
    for name in ("se", "ci_low", "ci_high"):
        assert np.allclose(both[name], both[f"{name}_bins"], atol=0.05 * both["se"].min(), equal_nan=True)
    for name in ("n_events", "n_nonevents", "status", "reason"):
        assert (both[name] == both[f"{name}_bins"]).all()


@pytest.mark.parametrize("kind", ["rank", "decision"])
def test_scores_of_few_values_lose_nothing(kind):
    exact, found = compare(draw_records(kinds=(kind,), sites=20))
    both = line_up(exact, found)
    numbers = [name for name in exact if exact[name].dtype == float and not name.startswith(("bin", "joint"))]
    if kind == "rank":
        numbers = [name for name in numbers if "site" not in name]
    for name in numbers:
        assert np.allclose(both[name], both[f"{name}_bins"], atol=1e-12, equal_nan=True), name
    known = both["auc"].notna()
    assert (both.loc[known, "bin_bound_bins"] == 0).all()
    assert (found["bin_note"] == "").all()


def test_records_have_no_bound():
    exact, _ = compare(draw_records(500))
    assert exact[["bin_bound", "bin_spread"]].isna().all(axis=None)
    assert (exact["bin_note"] == "").all()


@pytest.mark.parametrize(("sites", "units"), [(40, 0), (0, 900), (30, 900), (1, 0)])
def test_sites_and_units_are_those_of_the_records(sites, units):
    both = line_up(*compare(draw_records(sites=sites, units=units)))
    assert np.allclose(both["se"], both["se_bins"], rtol=0.01, equal_nan=True)
    assert np.allclose(both["se_site"], both["se_site_bins"], rtol=0.05, equal_nan=True)
    assert np.allclose(both["sites"], both["sites_bins"], equal_nan=True)
    assert (both["site_reason"] == both["site_reason_bins"]).all()


def test_many_units_are_bundled():
    both = line_up(*compare(draw_records(12_000, units=4_000)))
    assert np.allclose(both["se"], both["se_bins"], rtol=0.15, equal_nan=True)


def test_metrics_move_within_their_bound():
    tables = compare(draw_records(level=-1, sites=20), tabulate_auc_fairness)
    names = ["model", "attribute", "metric", "group"]
    exact, found = (table.sort_values(names, ignore_index=True) for table in tables)
    assert exact[names].equals(found[names])
    known = exact["value"].notna()
    assert ((exact["value"] - found["value"]).abs() <= found["bin_bound"] + 1e-12)[known].all()
    assert exact["bin_bound"].isna().all()
    assert found.loc[known, "bin_bound"].between(0, 1).all()
    assert found.loc[~known, "bin_bound"].isna().all()
    width = exact["ci_high"] - exact["ci_low"]
    for name in ("value", "ci_low", "ci_high"):
        away = (exact[name] - found[name]).abs()
        assert (away <= 0.1 * width)[width.notna()].all(), name


def test_separate_groups_of_scores_stay_perfectly_separated():
    outcome = np.repeat([0, 1], 40).astype(np.int8)
    scores = (Score("m", "probability", 0.5, np.where(outcome, 0.8, 0.2)),)
    records = AuditRecords(outcome, (Attribute("sex", ("F", "M"), np.arange(80) % 2),), scores)
    exact, found = compare(records)
    pd.testing.assert_frame_equal(exact.iloc[:, :-3], found.iloc[:, :-3])


def test_a_row_says_where_bins_could_hide_much():
    _, found = compare(draw_records(40_000))
    loud = found["bin_bound"] > 0.1 * found["se"]
    assert (loud == (found["bin_note"] != "")).all()
    assert loud.any()
    note = found.loc[loud, "bin_note"].iloc[0]
    assert note.startswith("read from score bins: off by at most 0.00")
    assert "nan" not in note
    assert (found["bin_spread"] < 0.05 * found["se"])[loud].all()


def test_note_of_an_area_without_standard_error():
    assert write_bin_note(float("nan"), float("nan"), float("nan")) == ""
    assert write_bin_note(0.0, 0.0, 0.0) == ""
    assert write_bin_note(0.5, 0.3, float("nan")).startswith("read from score bins: off by at most 0.5,")


def test_parts_give_the_same_areas_in_any_order():
    records = draw_records(3_000, sites=20)
    halves = []
    for part in (np.arange(1_000), np.arange(1_000, 3_000)):
        attributes = tuple(
            Attribute(one.name, one.groups, one.codes[part], one.reference) for one in records.attributes
        )
        scores = tuple(Score(one.model, one.kind, one.threshold, one.values[part]) for one in records.scores)
        halves.append(
            tally_records(AuditRecords(records.outcome[part], attributes, scores, records.site[part]))
        )
    tables = [
        tabulate_auc_matrix(add_tallies(order), protocol=Protocol(), seed=1)
        for order in (halves, halves[::-1])
    ]
    pd.testing.assert_frame_equal(*tables)


def test_every_attribute_of_every_model_is_measured():
    found = measure_areas(tally_records(draw_records(800, kinds=("probability", "rank", "decision"))))
    assert all(isinstance(one, MeasuredAreas) for one in found)
    assert [(one.model, one.settled.name) for one in found[:3]] == [
        ("probability", "race"),
        ("probability", "sex"),
        ("rank", "race"),
    ]
    assert found[0].empty == ["vide"]


@pytest.mark.slow
def test_every_table_of_the_room_follows_from_a_tally():
    records = draw_records(1_500, kinds=("probability", "rank"), sites=20)
    protocol = Protocol(resamples=30)
    declared = {one.name: one.groups for one in records.attributes}
    exact = make_auc_tables(prepare(records), None, protocol=protocol)
    prepared = prepare_tally(tally_records(records), declared=declared)
    found = make_auc_tables(prepared, None, protocol=protocol)
    assert found.keys() == exact.keys()
    for name, table in exact.items():
        texts = [one for one in ("model", "metric", *KEYS, "group", "n_events", "verdict") if one in table]
        assert table[texts].equals(found[name][texts]), name


def test_models_of_a_tally_are_compared_without_an_interval():
    records = draw_records(3_000, kinds=("probability", "rank", "decision"))
    exact, found = tabulate_auc_differences(records), tabulate_auc_differences(tally_records(records))
    both = exact.merge(found, on=KEYS, suffixes=("", "_bins"), validate="one_to_one")
    assert len(both) == len(exact) == len(found)
    known = both["difference"].notna()
    assert np.allclose(both["difference"], both["difference_bins"], atol=2e-4, equal_nan=True)
    assert found[["se", "ci_low", "ci_high", "p_value"]].isna().all(axis=None)
    assert (both.loc[known, "reason_bins"] == UNPAIRED).all()
    assert (both.loc[~known, "reason_bins"] == both.loc[~known, "reason"]).all()
