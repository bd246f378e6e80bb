"""Calibration fits from bins of scores, beside those of the records."""

import numpy as np
import pytest

from auditbook.evidence import tally_records
from auditbook.ranking.binned_calibration import tabulate_tallied_calibration
from auditbook.ranking.calibration import tabulate_calibration
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

KEYS, PROTOCOL = ["model", "attribute", "group"], Protocol()


def draw_records(n=4_000, *, level=-1.0, spread=1.0, sites=0, units=0, seed=3):
    rng = np.random.default_rng(seed)
    site = rng.integers(0, sites, n) if sites else None
    unit = np.arange(n) // -(-n // units) if units else None
    logit = level + spread * rng.normal(size=n)
    if site is not None:
        logit += rng.normal(0, 0.3, sites)[site]
    outcome = (rng.random(n) < 1 / (1 + np.exp(-1.2 * logit - 0.3))).astype(np.int8)
    scores = (
        Score("risk", "probability", 0.5, 1 / (1 + np.exp(-logit))),
        Score("rank", "rank", 0.0, np.round(logit, 2)),
    )
    attribute = Attribute("race", ("b", "a", "none"), rng.choice(2, n, p=[0.2, 0.8]))
    return AuditRecords(outcome, (attribute,), scores, site, unit)


def compare(records, protocol=PROTOCOL):
    exact = tabulate_calibration(records, protocol=protocol)
    found = tabulate_tallied_calibration(tally_records(records), protocol=protocol)
    both = exact.merge(found, on=KEYS, suffixes=("", "_bins"), validate="one_to_one")
    assert len(both) == len(exact) == len(found)
    for name in ("n", "events", "reason", "site_reason"):
        assert (both[name] == both[f"{name}_bins"]).all(), name
    assert both["sites"].equals(both["sites_bins"])
    return both


@pytest.mark.parametrize(("level", "spread"), [(-1.0, 1.0), (-5.0, 1.0), (0.0, 4.0), (3.0, 0.5)])
def test_fits_lie_within_their_bound_and_far_within_the_standard_error(level, spread):
    both = compare(draw_records(level=level, spread=spread))
    for name in ("intercept", "slope"):
        error = (both[f"{name}_high"] - both[f"{name}_low"]) / 4
        known = both[name].notna()
        away = (both[name] - both[f"{name}_bins"]).abs()
        assert known.sum() == 3
        assert (both[f"{name}_bins"].notna() == known).all()
        assert (away <= both[f"{name}_bound_bins"])[known].all()
        assert (away < 0.01 * error)[known].all()
        for end in ("low", "high"):
            apart = (both[f"{name}_{end}"] - both[f"{name}_{end}_bins"]).abs()
            assert (apart < 0.01 * error)[known].all()
        assert both[f"{name}_bound"].isna().all()


def test_bound_is_far_below_the_standard_error_where_no_score_lies_at_an_end():
    both = compare(draw_records())
    for name in ("intercept", "slope"):
        known = both[name].notna()
        width = both[f"{name}_high"] - both[f"{name}_low"]
        assert (both[f"{name}_bound_bins"] < 0.01 * width)[known].all()


@pytest.mark.parametrize(("sites", "units"), [(40, 0), (0, 600), (20, 600)])
def test_sites_and_units_are_those_of_the_records(sites, units):
    both = compare(draw_records(sites=sites, units=units))
    for name in ("intercept", "slope"):
        width = both[f"{name}_high"] - both[f"{name}_low"]
        for end in ("low", "high", "site_low", "site_high"):
            apart = (both[f"{name}_{end}"] - both[f"{name}_{end}_bins"]).abs()
            assert (both[f"{name}_{end}"].isna() == both[f"{name}_{end}_bins"].isna()).all()
            assert (apart < 0.05 * width)[apart.notna()].all()


def test_what_has_no_fit_says_why_as_records_do():
    outcome = np.array([0, 0, 1, 1, 0, 1, 0, 0, 1, 1], np.int8)
    attribute = Attribute("g", ("equal", "apart", "alone"), np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]))
    values = np.array([0.5, 0.5, 0.5, 0.5, 0.1, 0.9, 0.0, 0.2, 1.0, 0.4])
    records = AuditRecords(outcome, (attribute,), (Score("m", "probability", 0.5, values),))
    both = compare(records, Protocol(min_records=1, min_events=1, min_non_events=1))
    assert (
        both.set_index("group").loc["equal", "reason"].endswith("all scores are equal, so there is no slope")
    )
    assert "1 score of 0 or 1 moved inside" in both.set_index("group").loc["apart", "reason"]
    assert "no non-events" in both.set_index("group").loc["alone", "reason"]
