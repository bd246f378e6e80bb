from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.errors import InputError
from auditbook.pockets.centres import cluster_places, fit_design, fit_ridge_map, weigh_features
from auditbook.pockets.encoding import fit_encoding
from auditbook.pockets.forest import grow_forest
from auditbook.pockets.frozen import ABSTAIN, Assignment, FrozenMap
from auditbook.pockets.profiles import count_profiles, freeze_profiles, mean_similarity
from auditbook.pockets.saving import digest_map, load_map, save_map
from planted_pockets import planted_data

ROUNDING = 1e-12
"""Sums in another order."""


def learn_rules(n=500, abstain=0.05):
    data, truth = planted_data(n)
    encoding = fit_encoding(data.table)
    encoded = encoding.encode(data.table)
    forest = grow_forest(encoded, data.outcome, trees=20, min_leaf=20, candidates=0.5, seed=1)
    leaves = forest.find_leaves(encoded)
    rule = freeze_profiles(
        encoding, forest, leaves=leaves[100:], labels=truth[100:], calibration=leaves[:100], abstain=abstain
    )
    ridge = fit_ridge_map(encoding, encoded, data.outcome, continuous=True, count=4, fewest=20, seed=1)
    return data, truth, leaves, rule, ridge


@pytest.fixture(scope="module")
def learned():
    return learn_rules()


def freeze(name, rule):
    names = tuple(f"{name[0].upper()}{i + 1}" for i in range(rule.n_pockets))
    sizes = np.arange(rule.n_pockets)
    return FrozenMap(name, rule, names, sizes, sizes / 10, provenance={"seed": 1, "length": None})


def same(one, two):
    parts = ("codes", "affinity", "lead")
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in parts)


def test_affinity_is_the_mean_of_the_similarities_to_the_members(learned):
    _, truth, leaves, rule, _ = learned
    similarity = (leaves[:100, None] == leaves[100:]).mean(axis=2)
    direct = np.column_stack([similarity[:, truth[100:] == c].mean(axis=1) for c in range(4)])
    found = mean_similarity(leaves[:100], rule.counts, rule.sizes)
    np.testing.assert_allclose(found, direct, atol=ROUNDING)
    assert np.array_equal(rule.assign_leaves(leaves[:100]).affinity, found.max(axis=1))


def test_profiles_count_every_member_once_in_each_tree(learned):
    _, truth, leaves, rule, _ = learned
    counts = count_profiles(leaves, truth, n_leaves=rule.forest.n_leaves)
    assert np.array_equal(counts.sum(axis=0), np.bincount(truth) * 20)


def test_a_record_abstains_below_the_quantiles_of_the_calibration_records(learned):
    _, _, leaves, rule, _ = learned
    found = rule.assign_leaves(leaves[:100])
    assert rule.least_affinity == np.quantile(found.affinity, 0.05)
    assert rule.least_lead == np.quantile(found.lead, 0.05)
    below = (found.affinity < rule.least_affinity) | (found.lead < rule.least_lead)
    assert np.array_equal(found.codes == ABSTAIN, below)
    assert 5 <= below.sum() <= 10
    never = replace(rule, least_affinity=0.0, least_lead=0.0)
    assert (never.assign_leaves(leaves[:100]).codes >= 0).all()


def test_one_pocket_leads_over_nothing(learned):
    data, _, leaves, rule, _ = learned
    one = freeze_profiles(
        rule.encoding, rule.forest, leaves=leaves, labels=np.zeros(500, dtype=int), calibration=leaves,
        abstain=0.01,
    )  # fmt: skip
    found = one.assign(data.table)
    assert np.array_equal(found.lead, found.affinity)
    assert set(found.codes.tolist()) <= {-1, 0}


@pytest.mark.parametrize("which", ["forest", "ridge"])
def test_assignment_does_not_depend_on_the_company_of_a_record(learned, which):
    data, _, _, forest, ridge = learned
    rule = forest if which == "forest" else ridge
    whole = rule.assign(data.table)
    moved = np.random.default_rng(1).permutation(500)[:60]
    part = rule.assign(data.table.iloc[moved])
    assert same(part, Assignment(whole.codes[moved], whole.affinity[moved], whole.lead[moved]))
    assert len(rule.assign(data.table.iloc[:0]).codes) == 0


@pytest.mark.parametrize("which", ["forest", "ridge"])
def test_a_saved_map_assigns_as_before_and_keeps_its_words(learned, tmp_path, which):
    data, _, _, forest, ridge = learned
    frozen = replace(
        freeze(which, forest if which == "forest" else ridge),
        titles=("<b>é</b>", "2", "3", "4"), descriptions=("a", "b", "c", "d"), fidelity=np.ones((4, 2)),
    )  # fmt: skip
    save_map(frozen, tmp_path / "a.npz")
    save_map(frozen, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    loaded = load_map(tmp_path / "a.npz")
    assert same(loaded.assign(data.table), frozen.assign(data.table))
    assert digest_map(loaded) == digest_map(frozen)
    for name in ("name", "pockets", "titles", "descriptions", "provenance"):
        assert getattr(loaded, name) == getattr(frozen, name)
    assert np.array_equal(loaded.fidelity, frozen.fidelity)


def test_the_digest_tells_rules_apart_and_takes_no_words(learned):
    _, _, _, rule, _ = learned
    frozen = freeze("forest", rule)
    other = replace(frozen, rule=replace(rule, least_lead=rule.least_lead + 1e-9))
    assert len(digest_map(frozen)) == 64
    assert digest_map(frozen) != digest_map(other)
    assert digest_map(frozen) == digest_map(replace(frozen, titles=("x",) * 4))


def test_a_damaged_or_foreign_file_is_one_plain_error(learned, tmp_path):
    path = tmp_path / "map.npz"
    with pytest.raises(InputError, match="no such file"):
        load_map(path)
    save_map(freeze("forest", learned[3]), path)
    whole = path.read_bytes()
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 0xFF
    for content in (b"", b"hello", whole[: len(whole) // 2], bytes(broken)):
        path.write_bytes(content)
        with pytest.raises(InputError, match="damaged, or no map that auditbook saved"):
            load_map(path)
    np.savez(path, words=np.array('{"format": "other"}'))
    with pytest.raises(InputError, match="damaged"):
        load_map(path)
    np.savez(path, words=np.array({"x": 1}, dtype=object))  # would need pickle
    with pytest.raises(InputError, match="damaged"):
        load_map(path)


def test_a_rule_of_another_type_is_not_saved(tmp_path):
    class Other:
        n_pockets = 1

        def arrays(self):
            return {}

    with pytest.raises(TypeError, match="Other cannot be saved"):
        save_map(freeze("other", Other()), tmp_path / "x.npz")


def test_the_ridge_weighs_features_by_what_they_say_of_the_outcome():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 3))
    event = (rng.random(2000) < 1 / (1 + np.exp(-1.5 * x[:, 0] + 0.5 * x[:, 1]))).astype(float)
    weights = weigh_features(x, event, continuous=False, seed=1)
    # four standard errors of a coefficient, about 0.07
    np.testing.assert_allclose(weights, [1.5, 0.5, 0.0], atol=0.28)
    assert weigh_features(x, np.ones(2000), continuous=False, seed=1).tolist() == [0, 0, 0]
    assert weigh_features(x, (np.arange(2000) < 3) * 1.0, continuous=False, seed=1).tolist() == [0, 0, 0]


def test_a_design_imputes_medians_and_marks_common_levels():
    encoded = np.array([[1.0, 0], [3.0, 1], [np.nan, 1], [8.0, np.nan], [3.0, 2]])
    design = fit_design(encoded, np.array([False, True]), fewest=2)
    assert design.source.tolist() == [0, 1]
    assert design.median[0] == 3.0
    built = design.build(encoded)
    np.testing.assert_allclose(built.mean(axis=0), 0, atol=ROUNDING)
    np.testing.assert_allclose(built.std(axis=0), 1)
    assert np.unique(built[:, 1]).shape == (2,)
    assert not np.isnan(design.build(np.full((1, 2), np.nan))).any()


def test_an_outcome_without_structure_gives_one_centre(learned):
    data, _, _, _, ridge = learned
    encoded = ridge.encoding.encode(data.table)
    flat = fit_ridge_map(ridge.encoding, encoded, np.ones(500), continuous=True, count=4, fewest=20, seed=1)
    assert flat.n_pockets == 1
    assert (flat.assign(data.table).codes == 0).all()
    assert np.isinf(flat.assign(data.table).lead).all()
    assert cluster_places(np.zeros((5, 0)), count=3, seed=1).shape == (1, 0)


def test_a_missing_column_is_an_input_error_of_both_maps(learned):
    for rule in learned[3:]:
        with pytest.raises(InputError, match="column 'one' is missing"):
            rule.assign(pd.DataFrame({"two": ["low"], "noise": [0.0], "gap": [0.0]}))
