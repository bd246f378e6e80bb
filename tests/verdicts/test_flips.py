import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from auditbook.errors import InputError
from auditbook.verdicts.flips import flip_rate, resample_values, summarise_resamples
from auditbook.verdicts.metrics import METRICS

REFERENCE_DRAWS = 200_000
DRAWS = 20_000
ALLOWED = 0.005  # stated with the reference figures
PRINTED = 5e-5  # estimates are printed with four decimals at the least
GROUPS = {"race": 5, "sex": 2}


def monte_carlo(spread):
    """Three standard errors of a difference between this sample and the reference's."""
    return 3 * spread * np.sqrt(1 / DRAWS + 1 / REFERENCE_DRAWS)


@pytest.fixture(scope="module")
def published(shared_dir):
    counts = pd.read_csv(shared_dir / "reference" / "texas100x_group_confusion.csv")
    return counts, pd.read_csv(shared_dir / "reference" / "vfr_reference.csv")


@pytest.mark.parametrize("attribute", GROUPS)
@pytest.mark.parametrize("size", [10_000, 185_026])
def test_flip_rates_of_the_published_counts_are_met(published, attribute, size):
    counts, reference = published
    table = counts[counts["attribute"] == attribute][["tp", "fp", "fn", "tn"]].to_numpy()
    assert len(table) == GROUPS[attribute]
    mine = reference[(reference["attribute"] == attribute) & (reference["resample_size"] == size)]
    assert len(mine) == 5
    for row in mine.itertuples():
        found = flip_rate(table, row.metric, resamples=DRAWS, size=size, rng=np.random.default_rng(42))
        share_error = monte_carlo(np.sqrt(row.pass_share * (1 - row.pass_share)))
        assert found.estimate == pytest.approx(row.estimate, abs=PRINTED)
        assert found.pass_share == pytest.approx(row.pass_share, abs=ALLOWED + share_error)
        assert found.vfr == pytest.approx(row.vfr, abs=ALLOWED + share_error)
        assert found.mean == pytest.approx(row.resample_mean, abs=ALLOWED + monte_carlo(row.resample_sd))
        assert found.sd == pytest.approx(row.resample_sd, abs=ALLOWED + monte_carlo(row.resample_sd))
        assert found.dominant == row.dominant
        assert found.undefined_share == 0


def test_the_flip_rate_of_a_single_binomial_is_its_exact_probability():
    table = np.array([[50, 0, 50, 0], [40, 0, 60, 0]])
    found = flip_rate(table, "SPD", resamples=40_000, rng=np.random.default_rng(1))
    first, second = binom.pmf(np.arange(101), 100, 0.5), binom.pmf(np.arange(101), 100, 0.4)
    apart = np.abs(np.subtract.outer(np.arange(101), np.arange(101)))
    exact = np.outer(first, second)[apart <= 10].sum()
    assert found.pass_share == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 40_000))
    assert found.vfr == pytest.approx(min(found.pass_share, 1 - found.pass_share))


def test_counts_far_from_the_threshold_never_flip():
    found = flip_rate([[900, 0, 100, 0], [100, 0, 900, 0]], "SPD", rng=np.random.default_rng(1))
    assert (found.vfr, found.vfr_low, found.dominant, found.verdict) == (0, 0, "fail", "fail")
    assert 0 < found.vfr_high < 0.01


def test_an_even_division_is_no_majority_so_the_dominant_verdict_is_fail():
    stability = summarise_resamples(METRICS["SPD"], [0.05, 0.05, 0.2, 0.2])
    assert stability.dominant == "fail"
    assert stability.vfr == 0.5


def test_resamples_are_counted_only_where_the_metric_is_defined():
    stability = summarise_resamples(METRICS["SPD"], [0.05, np.nan, 0.2, np.nan, 0.3])
    assert stability.vfr == pytest.approx(1 / 3)
    assert stability.undefined_share == pytest.approx(0.4)
    assert stability.mean == pytest.approx(0.55 / 3)
    assert stability.sd == pytest.approx(np.std([0.05, 0.2, 0.3], ddof=1))
    assert stability.margin == pytest.approx(abs(0.55 / 3 - 0.1) / np.std([0.05, 0.2, 0.3], ddof=1))


def test_a_metric_that_is_never_defined_has_no_flip_rate():
    stability = summarise_resamples(METRICS["PP"], np.full((2, 5), np.nan))
    assert stability.dominant.tolist() == ["", ""]
    assert np.isnan(stability.vfr).all()
    assert (stability.undefined_share == 1).all()


def test_resamples_that_never_vary_have_no_interval_and_no_margin():
    stability = summarise_resamples(METRICS["SPD"], np.full(50, 0.03))
    assert stability.sd == 0
    assert np.isnan([stability.margin, stability.ci_low, stability.ci_high]).all()


def test_a_group_that_loses_its_rate_makes_the_resample_undefined_and_not_narrower():
    draws = np.array([[[5, 5, 0, 0], [5, 5, 0, 0], [0, 0, 1, 9]], [[5, 5, 0, 0], [5, 5, 0, 0], [1, 0, 0, 9]]])
    values = resample_values(METRICS["PP"], draws, required=np.ones((1, 3), bool))
    assert np.isnan(values[0])
    assert values[1] == 0.5
    loses = flip_rate(
        [[50, 50, 0, 0], [50, 50, 0, 0], [1, 0, 99, 0]], "PP", resamples=400, rng=np.random.default_rng(2)
    )
    assert 0.3 < loses.undefined_share < 0.45


def test_eleven_records_in_three_groups_survive_three_resamples():
    table = [[1, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, 1]]
    for name in ("DI", "SPD", "EOPP", "EOD", "PP", "TI_benefit"):
        found = flip_rate(table, name, resamples=3, rng=np.random.default_rng(3))
        assert len(found.values) == 3
        assert found.undefined_share == pytest.approx(np.isnan(found.values).mean())


def test_a_group_without_a_record_is_left_out():
    one, other = (
        flip_rate(table, "SPD", rng=np.random.default_rng(4))
        for table in ([[5, 5, 5, 5], [9, 1, 5, 5]], [[5, 5, 5, 5], [0, 0, 0, 0], [9, 1, 5, 5]])
    )
    np.testing.assert_array_equal(one.values, other.values)


def test_a_size_above_the_counts_own_is_brought_down_to_it():
    table = [[50, 0, 50, 0], [40, 0, 60, 0]]
    one, other = (flip_rate(table, "SPD", size=size, rng=np.random.default_rng(5)) for size in (None, 10_000))
    np.testing.assert_array_equal(one.values, other.values)


def test_another_threshold_moves_the_verdict():
    table = [[50, 0, 50, 0], [40, 0, 60, 0]]
    found = flip_rate(table, "SPD", threshold=0.5, rng=np.random.default_rng(5))
    assert (found.verdict, found.dominant, found.vfr, found.threshold) == ("pass", "pass", 0, 0.5)


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 20), min_size=12, max_size=12).filter(any), st.sampled_from(["DI", "EOD", "PP"])
)
def test_flip_rates_stay_within_their_bounds(cells, name):
    found = flip_rate(np.reshape(cells, (3, 4)), name, resamples=30, rng=np.random.default_rng(6))
    if found.undefined_share < 1:
        assert 0 <= found.vfr_low <= found.vfr <= found.vfr_high <= 0.5
    assert np.isnan(found.ci_low) or found.ci_low < found.ci_high


def test_when_groups_do_not_differ_the_interval_of_the_range_never_reaches_zero():
    table = [[25, 25, 25, 25]] * 3
    rng = np.random.default_rng(7)
    assert all(flip_rate(table, "SPD", resamples=200, rng=rng).ci_low > 0 for _ in range(50))


@pytest.mark.parametrize(
    ("counts", "metric", "message"),
    [
        ([[1, 2, 3]], "DI", "rows of four"),
        ([[1.5, 2, 3, 4]], "DI", "whole numbers"),
        ([[-1, 2, 3, 4]], "DI", "not negative"),
        ([[0, 0, 0, 0]], "DI", "counts hold no record"),
        ([[1, 2, 3, 4]], "CAL", "CAL needs score sums"),
        ([[1, 2, 3, 4]], "DII", "did you mean 'DI'"),
    ],
)
def test_bad_counts_are_refused(counts, metric, message):
    with pytest.raises(InputError, match=message):
        flip_rate(counts, metric, rng=np.random.default_rng(1))
