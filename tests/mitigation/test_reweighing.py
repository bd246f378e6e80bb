"""Weights of training records: values by hand, the data check at strength 1, clipping, and a real fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.mitigation.joint_cells import join_cells
from auditbook.mitigation.reweighing import weigh_cells, weigh_records, weighted_event_rates
from auditbook.records import Attribute
from auditbook.scoring.features import Features
from auditbook.scoring.panel import ModelConfig, read_panel
from auditbook.scoring.train import scores_key, takes_weights, train_scores

EXACT = 1e-12  # sums of a few thousand floats


def test_weights_of_two_cells_by_hand():
    # 100 records each, 40 and 20 events: overall 30 %; w = expected / found
    assert weigh_cells([[60, 40], [80, 20]], strength=1.0) == pytest.approx(
        np.array([[70 / 60, 30 / 40], [70 / 80, 30 / 20]])
    )


def test_strength_two_doubles_the_distance_from_one():
    one, two = (weigh_cells([[60, 40], [80, 20]], strength=strength) for strength in (1.0, 2.0))
    assert two - 1 == pytest.approx(2 * (one - 1))


def add_weights(outcome, codes, weights):
    """Add the records' weights up to a table of cells and outcomes."""
    return np.bincount(2 * codes + outcome, weights).reshape(-1, 2)


def test_strength_zero_leaves_every_record_its_weight():
    assert (weigh_cells([[60, 40], [0, 20]], strength=0.0) == 1).all()


def test_weights_are_clipped_to_the_published_range():
    found = weigh_cells([[1000, 1], [1000, 999]], strength=5.0)
    assert found.min() == 0.1
    assert found.max() == 10.0


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(20, 40), st.integers(20, 40)), min_size=2, max_size=6),
    st.randoms(use_true_random=False),
)
def test_weighted_event_rate_is_equal_in_all_cells_at_strength_one(counts, random):
    rows = [(cell, label) for cell, pair in enumerate(counts) for label in (0, 1) for _ in range(pair[label])]
    random.shuffle(rows)
    codes, outcome = np.array(rows).T
    weights = weigh_records(outcome, codes, len(counts), strength=1.0)
    rates = weighted_event_rates(add_weights(outcome, codes, weights), 1)
    assert np.ptp(rates) < EXACT
    assert rates[0] == pytest.approx(outcome.mean(), abs=EXACT)
    assert weights.sum() == pytest.approx(len(outcome))


def test_beyond_strength_one_the_order_of_the_weighted_event_rates_is_reversed():
    outcome, codes = np.repeat([0, 1, 0, 1], [60, 40, 80, 20]), np.repeat([0, 0, 1, 1], [60, 40, 80, 20])
    weights = [weigh_records(outcome, codes, 2, strength=strength) for strength in (0.0, 1.0, 2.0)]
    rates = [weighted_event_rates(add_weights(outcome, codes, each), 1) for each in weights]
    assert [np.sign(np.round(rate[0] - rate[1], 9)) for rate in rates] == [1, 0, -1]


def test_weights_of_a_small_table_equalise_and_then_reverse_what_the_model_is_told():
    counts = [[60, 40], [80, 20]]
    none, equal, turned = (
        weighted_event_rates(counts, weigh_cells(counts, strength=strength)) for strength in (0, 1, 2)
    )
    assert none == pytest.approx([0.4, 0.2])
    assert equal == pytest.approx([0.3, 0.3])
    assert turned[0] < turned[1]


def test_a_cell_without_events_gets_a_weight_for_what_it_has():
    found = weigh_cells([[50, 0], [25, 25]], strength=1.0)
    assert found[0] == pytest.approx([0.75, 1.0])
    assert np.isfinite(found).all()


def test_weights_follow_the_records_when_these_are_shuffled():
    rng = np.random.default_rng(3)
    outcome, codes, order = rng.integers(0, 2, 200), rng.integers(0, 4, 200), rng.permutation(200)
    straight = weigh_records(outcome, codes, 4, strength=2.0)
    assert (weigh_records(outcome[order], codes[order], 4, strength=2.0) == straight[order]).all()


@pytest.mark.parametrize(
    ("outcome", "strength", "message"),
    [([0, 2], 1.0, "must be 0 or 1"), ([0, 1, 1], 1.0, "3 outcomes for 2 cells"), ([0, 1], -1.0, "negative")],
)
def test_bad_input_is_named(outcome, strength, message):
    with pytest.raises(InputError, match=message):
        weigh_records(outcome, [0, 0], 1, strength=strength)


def test_cells_are_the_combinations_that_hold_records_whatever_the_order_of_groups():
    sex = Attribute("sex", ("M", "F"), np.array([0, 1, 1, 0]))
    age = Attribute("age", ("old", "young", "nobody"), np.array([0, 1, 1, 0]))
    again = Attribute("age", ("nobody", "young", "old"), np.array([2, 1, 1, 2]))
    found = join_cells([sex, age])
    assert found.names == ("F, young", "M, old")
    assert found.codes.tolist() == [1, 0, 0, 1]
    assert join_cells([sex, again]).codes.tolist() == found.codes.tolist()


def test_no_attribute_makes_no_cell():
    with pytest.raises(InputError, match="at least one attribute"):
        join_cells([])


def small_features(rng, n=300):
    train, audit = rng.normal(size=(2, n, 3))
    outcome = (train[:, 0] + rng.normal(size=n) > 0.3).astype(np.int8)
    return Features(train, audit, ("a", "b", "c"), ()), outcome


def test_weights_reach_a_model_inside_a_pipeline_and_belong_to_the_key_of_the_cache(tmp_path):
    features, outcome = small_features(np.random.default_rng(1))
    config, weights = read_panel()["logistic"], np.where(outcome == 1, 5.0, 0.5)
    options = {"seed": 1, "jobs": 1, "cache_dir": tmp_path}
    plain = train_scores(config, features, outcome, **options)
    heavy = train_scores(config, features, outcome, weights=weights, **options)
    again = train_scores(config, features, outcome, weights=weights, **options)
    assert heavy.values.mean() > plain.values.mean() + 0.1
    assert again.cached
    assert (again.values == heavy.values).all()
    assert scores_key(config, features, outcome, seed=1) != scores_key(
        config, features, outcome, seed=1, weights=weights
    )


def test_a_model_that_takes_no_weights_is_known():
    neighbours = ModelConfig("knn", "Nearest", "tree", "sklearn.neighbors.KNeighborsClassifier")
    assert not takes_weights(neighbours)
    assert takes_weights(read_panel()["xgboost"])
