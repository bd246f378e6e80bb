"""Training and audited records never share a unit, and the parts look alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from auditbook.errors import InputError
from auditbook.scoring.split import fold_units, split_units


def draw_units(seed, n=2000, units=60, rate=0.3):
    rng = np.random.default_rng(seed)
    unit = np.array([f"site {number:03d}" for number in rng.zipf(1.5, n) % units], dtype=object)
    return (rng.random(n) < rate).astype(np.int8), unit


@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.1, 0.2, 0.5]))
@settings(max_examples=25, deadline=None)
def test_parts_share_no_unit_and_hold_every_record_once(seed, share):
    outcome, unit = draw_units(seed)
    parts = split_units(outcome, unit, audit_share=share, seed=seed)
    assert not set(unit[parts.train]) & set(unit[parts.audit])
    assert sorted([*parts.train, *parts.audit]) == list(range(len(outcome)))
    assert len(set(unit[parts.audit])) == np.ceil(share * len(set(unit)))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_split_does_not_depend_on_row_order(seed):
    outcome, unit = draw_units(seed, n=400, units=100)
    order = np.random.default_rng(seed).permutation(len(unit))
    first = split_units(outcome, unit, audit_share=0.2, seed=1)
    second = split_units(outcome[order], unit[order], audit_share=0.2, seed=1)
    assert set(unit[first.audit]) == set(unit[order][second.audit])
    assert sorted(order[second.audit]) == first.audit.tolist()


def test_records_as_units_are_stratified_exactly():
    outcome = np.array([0] * 900 + [1] * 100)
    unit = np.array([f"{number:04d}" for number in range(1000)], dtype=object)
    parts = split_units(outcome, unit, audit_share=0.2, seed=42)
    assert (len(parts.train), outcome[parts.train].sum()) == (800, 80)
    assert (len(parts.audit), outcome[parts.audit].sum()) == (200, 20)


def test_records_as_units_are_split_as_scikit_learn_does():
    outcome, _ = draw_units(5, n=500)
    unit = np.array([f"{number:04d}" for number in range(500)], dtype=object)
    _, expected = train_test_split(np.arange(500), test_size=0.2, random_state=42, stratify=outcome)
    assert split_units(outcome, unit, audit_share=0.2, seed=42).audit.tolist() == sorted(expected)


def test_event_rates_of_patients_with_several_stays_agree():
    rng = np.random.default_rng(3)
    unit = np.array([f"p{number}" for number in rng.integers(0, 7000, 10_000)], dtype=object)
    outcome = (rng.random(10_000) < 0.11).astype(np.int8)
    parts = split_units(outcome, unit, audit_share=0.2, seed=42)
    assert outcome[parts.audit].mean() == pytest.approx(outcome[parts.train].mean(), abs=0.005)
    assert len(parts.audit) / 10_000 == pytest.approx(0.2, abs=0.01)


def test_another_seed_gives_another_split():
    outcome, unit = draw_units(1)
    first, second = (split_units(outcome, unit, audit_share=0.2, seed=seed) for seed in (1, 2))
    assert first.audit.tolist() != second.audit.tolist()


def test_two_large_units_become_one_part_each():
    parts = split_units([0, 1] * 20, ["a"] * 20 + ["b"] * 20, audit_share=0.2, seed=1)
    assert len(parts.train) == len(parts.audit) == 20


def test_one_unit_cannot_be_split():
    with pytest.raises(InputError, match=r"40 records of 1 unit\(s\); name a finer \[unit\]"):
        split_units([0, 1] * 20, ["a"] * 40, audit_share=0.2, seed=1)


def test_an_empty_cohort_cannot_be_split():
    with pytest.raises(InputError, match=r"0 records of 0 unit\(s\)"):
        split_units([], [], audit_share=0.2, seed=1)


@pytest.mark.parametrize(("event", "what"), [(0, "events"), (1, "non-events")])
def test_too_few_of_one_outcome_is_told(event, what):
    outcome = np.full(100, event)
    outcome[:4] = 1 - event
    with pytest.raises(InputError, match=f"too few {what} .*: 4 in the training part .10 needed. and 0 in"):
        split_units(outcome, [str(number) for number in range(100)], audit_share=0.2, seed=1)


def test_audit_part_without_an_event_is_refused():
    unit = np.repeat([f"u{number}" for number in range(10)], 20)
    outcome = np.where(unit == "u0", 1, 0)
    with pytest.raises(InputError, match="too few events"):
        split_units(outcome, unit, audit_share=0.2, seed=1)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5])
def test_share_outside_zero_to_one_is_refused(share):
    with pytest.raises(InputError, match="audit_share must lie between 0 and 1"):
        split_units([0, 1] * 50, [str(number) for number in range(100)], audit_share=share, seed=1)


@given(seed=st.integers(0, 10_000), units=st.integers(2, 40))
@settings(max_examples=25, deadline=None)
def test_folds_hold_every_record_once_and_never_split_a_unit(seed, units):
    rng = np.random.default_rng(seed)
    unit = np.concatenate([np.arange(units), rng.integers(0, units, 200)]).astype(str)
    folds = fold_units(unit, seed=seed)
    assert len(folds) == min(5, units)
    assert sorted(np.concatenate([fold for _, fold in folds])) == list(range(len(unit)))
    for rest, fold in folds:
        assert not set(unit[rest]) & set(unit[fold])


def test_folds_need_two_units():
    with pytest.raises(InputError, match="one unit only"):
        fold_units(["a", "a"], seed=1)
