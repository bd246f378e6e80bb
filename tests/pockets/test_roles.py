import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.pockets.roles import assign_roles, canonical_order, hash_records, mix


def draw_table(rng, n=200):
    return pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "sex": rng.choice(["F", "M"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "late": rng.random(n) < 0.5,
        }
    )


def roles_of(table, unit, seed=3):
    order = canonical_order(hash_records(table), unit)
    roles = assign_roles(np.asarray(unit)[order], development=0.4, discovery=0.3, graph_share=0.8, seed=seed)
    names = ("development", "graph", "calibration", "audit")
    return {name: table.iloc[order[getattr(roles, name)]].reset_index(drop=True) for name in names}


def test_records_that_hold_the_same_have_the_same_hash_however_they_are_stored():
    plain = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "c": [True, False, True]})
    other = pd.DataFrame(
        {"u": [1.0, 2.0, 3.0], "v": pd.Categorical(["x", None, "z"]), "w": pd.array([1, 0, 1], "Int64")}
    )
    assert np.array_equal(hash_records(plain), hash_records(other))


def test_every_cell_and_its_column_count_in_the_hash():
    table = draw_table(np.random.default_rng(1), 3)
    assert len(set(hash_records(pd.concat([table, table.assign(late=~table["late"])])))) == 6
    assert not np.array_equal(hash_records(table[["sex"]]), hash_records(table))
    swapped = pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"a": [2.0], "b": [1.0]})
    assert hash_records(swapped[0]) != hash_records(swapped[1])


def test_missing_cells_are_alike_and_zero_has_no_sign():
    found = hash_records(pd.DataFrame({"x": [np.nan, -0.0, 0.0, np.nan]}))
    assert found[0] == found[3]
    assert found[1] == found[2]
    assert found[0] != found[1]
    words = hash_records(pd.DataFrame({"x": pd.Series(["a", None, np.nan], dtype=object)}))
    assert words[1] == words[2] != words[0]


def test_mixing_is_one_to_one_on_a_million_neighbours():
    assert len(np.unique(mix(np.arange(1_000_000, dtype=np.uint64)))) == 1_000_000


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_shuffled_rows_and_renamed_units_change_no_role(seed):
    rng = np.random.default_rng(seed)
    table, unit = draw_table(rng), rng.integers(0, 40, 200)
    moved, names = rng.permutation(200), rng.permutation(40)
    one = roles_of(table, unit)
    two = roles_of(table.iloc[moved].reset_index(drop=True), [f"unit {names[u]}" for u in unit[moved]])
    for role, records in one.items():
        pd.testing.assert_frame_equal(records, two[role])


def test_records_of_a_unit_stand_together_also_where_units_hold_the_same():
    unit = np.array(["a", "b", "a", "b"])
    order = canonical_order(hash_records(pd.DataFrame({"x": [1, 1, 2, 2]})), unit)
    assert unit[order].tolist() in (["a", "a", "b", "b"], ["b", "b", "a", "a"])


def test_every_record_has_one_role_and_no_unit_has_two():
    unit = np.random.default_rng(2).integers(0, 50, 1000)
    roles = assign_roles(unit, development=0.4, discovery=0.3, graph_share=0.8, seed=1)
    parts = [roles.development, roles.graph, roles.calibration, roles.audit]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(1000))
    assert [len(np.unique(unit[part])) for part in parts] == [20, 12, 3, 15]
    assert sum(len(np.unique(unit[part])) for part in parts) == 50
    assert all((np.diff(part) > 0).all() for part in parts)
    assert np.array_equal(roles.discovery, np.sort(np.concatenate(parts[1:3])))


def test_a_development_share_of_zero_leaves_all_units_to_discovery_and_audit():
    unit = np.random.default_rng(2).integers(0, 50, 1000)
    roles = assign_roles(unit, development=0, discovery=0.5, graph_share=0.8, seed=1)
    parts = [roles.development, roles.graph, roles.calibration, roles.audit]
    assert [len(np.unique(unit[part])) for part in parts] == [0, 20, 5, 25]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(1000))


def test_another_seed_gives_other_roles():
    one, two = (
        assign_roles(np.arange(100), development=0.4, discovery=0.3, graph_share=0.8, seed=s) for s in (1, 2)
    )
    assert not np.array_equal(one.audit, two.audit)


def test_too_few_units_are_an_error_that_says_which_role_is_empty():
    with pytest.raises(InputError, match="2 units leave none for audit; name a finer unit"):
        assign_roles([0, 1], development=0.4, discovery=0.3, graph_share=0.8, seed=1)
    with pytest.raises(InputError, match="1 unit leaves none for"):
        assign_roles([0, 0], development=0.4, discovery=0.3, graph_share=0.8, seed=1)
    with pytest.raises(InputError, match="development and discovery and audit"):
        assign_roles([], development=0.4, discovery=0.3, graph_share=0.8, seed=1)
    with pytest.raises(InputError, match="one record is left for discovery"):
        assign_roles([0, 1, 2], development=0.4, discovery=0.3, graph_share=0.8, seed=1)


def test_one_discovery_unit_is_split_by_its_records():
    unit = np.repeat([0, 1, 2], 50)
    roles = assign_roles(unit, development=0.4, discovery=0.3, graph_share=0.8, seed=1)
    assert (len(roles.graph), len(roles.calibration)) == (40, 10)
    assert len(set(unit[roles.discovery])) == 1
    assert not set(unit[roles.discovery]) & (set(unit[roles.audit]) | set(unit[roles.development]))
