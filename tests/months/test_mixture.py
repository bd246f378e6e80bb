"""Evidence that may be asked as often as one likes: by hand, at its extremes, and by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import halfnorm, norm

from auditbook.months.mixture import as_p, boundary, log_either, log_mixture, mean_evidence


def test_evidence_is_the_likelihood_ratio_of_a_half_normal_mixture():
    information, scale, z = 50.0, 0.3, 2.2
    estimate, error = z / np.sqrt(information), 1 / np.sqrt(information)

    def density(effect):
        ratio = norm.pdf(estimate, effect, error) / norm.pdf(estimate, 0, error)
        return halfnorm.pdf(effect, scale=scale) * ratio

    mixed = quad(density, 0, 10)[0]
    assert np.exp(log_mixture(z, scale**2 * information)) == pytest.approx(mixed, rel=1e-8)


def test_without_information_nothing_is_said():
    assert log_mixture([-3.0, 0.0, 5.0], [0.0, 0.0, 0.0]).tolist() == [0.0, 0.0, 0.0]


def test_either_direction_is_the_mean_of_both():
    one, other = np.exp(log_mixture(2.0, 4.0)), np.exp(log_mixture(-2.0, 4.0))
    assert np.exp(log_either(2.0, -2.0, 4.0)) == pytest.approx((one + other) / 2)


@given(st.floats(0.01, 1e4), st.floats(0.1, 20))
def test_the_boundary_is_where_the_evidence_reaches_the_limit(spread, limit):
    z = boundary(limit, spread)
    reached = log_mixture(z, spread)
    assert reached == pytest.approx(limit, abs=1e-6) or z == pytest.approx(60)


def test_what_is_not_judged_counts_as_one():
    found = mean_evidence(np.log([8.0, 2.0]), np.array([0, 2]), np.array([2.0, 3.0, 1.0, 0.0]))
    assert np.exp(found[:3]).tolist() == pytest.approx([4.5, 1.0, 2.0])
    assert np.isnan(found[3])


def test_huge_evidence_overflows_nowhere():
    assert mean_evidence(np.array([2000.0]), np.array([0]), np.array([4.0])) == pytest.approx(
        2000 - np.log(4)
    )


def test_a_p_value_is_one_over_the_evidence_and_at_most_one():
    assert as_p([-3.0, np.log(20)]).tolist() == pytest.approx([1.0, 0.05])


def test_at_five_hundred_looks_a_true_null_is_called_in_at_most_five_percent():
    rng, looks, worlds = np.random.default_rng(7), 500, 2_000
    walk = np.cumsum(rng.normal(size=(worlds, looks)), axis=1)
    information = np.arange(1, looks + 1.0)
    evidence = log_mixture(walk / np.sqrt(information), 2 * information)
    called = (evidence.max(axis=1) >= np.log(20)).mean()
    naive = (walk / np.sqrt(information) > norm.ppf(0.95)).any(axis=1).mean()
    assert called <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / worlds)
    assert naive > 0.25
