"""Which ratio of selection rates the event rates alone lead to."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import relative_risk

from auditbook.evidence.intervals import rate_events
from auditbook.settings import Protocol
from auditbook.verdicts.base_rates import compare_base_rates, has_support, ratio_with_equal_errors

PROTOCOL = Protocol()


def groups_of(**counts):
    """Make rows of cohort_groups.csv from name=(n, events)."""
    rows = [
        {"attribute": "a", "group": name, "n": n, "events": events} for name, (n, events) in counts.items()
    ]
    table = pd.DataFrame(rows)
    table = table.assign(share=table["n"] / table["n"].sum(), n_audit=table["n"])
    return rate_events(table)


def test_ratio_by_hand_and_against_scipy():
    row = compare_base_rates(groups_of(A=(100, 20), B=(200, 80)), protocol=PROTOCOL).iloc[0]
    oracle = relative_risk(20, 100, 80, 200).confidence_interval(0.95)
    assert row["ratio"] == pytest.approx(0.5)
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx((oracle.low, oracle.high), rel=1e-6)
    assert row["smallest_n"] == 100


@given(st.permutations(["A", "B", "C"]))
def test_ratio_does_not_depend_on_the_order_or_names_of_groups(names):
    counts = dict(zip(names, [(100, 20), (200, 80), (300, 90)], strict=True))
    row = compare_base_rates(groups_of(**counts), protocol=PROTOCOL).iloc[0]
    assert row["ratio"] == pytest.approx(0.5)
    assert row["lowest_group"] == names[0]


def test_model_without_error_has_the_ratio_of_event_rates():
    assert ratio_with_equal_errors(0.2, 0.4, tpr=1, fpr=0) == pytest.approx(0.5)


def test_blind_model_has_ratio_one_and_one_that_selects_nobody_has_none():
    assert ratio_with_equal_errors(0.2, 0.4, tpr=0.3, fpr=0.3) == pytest.approx(1.0)
    assert np.isnan(ratio_with_equal_errors(0.2, 0.4, tpr=0, fpr=0))


@given(
    st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)).map(sorted),
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_equal_errors_keep_the_ratio_between_that_of_event_rates_and_one(rates, errors):
    (low, high), (fpr, tpr) = rates, errors
    ratio = ratio_with_equal_errors(low, high, tpr=tpr, fpr=fpr)
    assert np.isnan(ratio) or low / high - 1e-9 <= ratio <= 1 + 1e-9


def test_a_number_of_events_that_is_not_known_makes_no_ratio():
    groups = groups_of(A=(100, 20), B=(200, 80)).assign(events=np.nan, event_rate=np.nan)
    assert has_support(groups, PROTOCOL).all()
    assert np.isnan(compare_base_rates(groups, protocol=PROTOCOL)["ratio"].iloc[0])


@pytest.mark.parametrize(("n", "events"), [(29, 15), (100, 9), (100, 91)])
def test_too_few_records_events_or_non_events_are_no_support(n, events):
    assert not has_support(pd.DataFrame({"n": [n], "events": [events]}), PROTOCOL).any()
