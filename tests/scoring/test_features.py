"""What models see of a record depends on the training records alone, however pandas stores it."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import TargetEncoder

from auditbook.errors import InputError
from auditbook.scoring.features import MAX_ONE_HOT, build_features, column_kind
from auditbook.scoring.split import Split, split_units

N = 40
PARTS = Split(np.arange(30), np.arange(30, N))
OUTCOME = np.arange(N) % 2
UNIT = np.array([f"u{number}" for number in range(N)], dtype=object)


def build(columns, *, parts=PARTS, outcome=OUTCOME, unit=UNIT, seed=1):
    table = pd.DataFrame(columns)
    return build_features(
        table, list(table.columns), train_outcome=outcome[parts.train], unit=unit, split=parts, seed=seed
    )


def both(features):
    return np.vstack([features.train, features.audit])


# A column with a gap in the training part and one in the audit part, in every storage.
NUMBERS = [None if number in (3, 35) else number % 7 for number in range(N)]
TRUTHS = [None if number in (3, 35) else number % 3 == 0 for number in range(N)]
TEXTS = [None if number in (3, 35) else "abc"[number % 3] for number in range(N)]
DAYS = [None if number in (3, 35) else dt.date(2024, 1, 1 + number % 28) for number in range(N)]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(NUMBERS, dtype=float),
        pd.Series(NUMBERS, dtype="float32"),
        pd.Series(NUMBERS, dtype="Int64"),
        pd.Series(NUMBERS, dtype="Float64"),
        pd.Series(NUMBERS, dtype="int16[pyarrow]"),
        pd.Series(NUMBERS, dtype="double[pyarrow]"),
        pd.Series(NUMBERS, dtype=object),
        pd.Series([None if value is None else Decimal(value) for value in NUMBERS], dtype=object),
        pd.Series(
            [None if value is None else Decimal(value) for value in NUMBERS],
            dtype=pd.ArrowDtype(pa.decimal128(5, 2)),
        ),
        pd.Series([np.inf if value is None else value for value in NUMBERS]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_numbers_are_the_same_in_every_storage(column):
    features = build({"x": column})
    filled = np.array([3.0 if value is None else value for value in NUMBERS])
    assert features.names == ("x", "x is missing")
    np.testing.assert_array_equal(both(features)[:, 0], filled)
    np.testing.assert_array_equal(np.flatnonzero(both(features)[:, 1]), [3, 35])


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]", object])
def test_truth_values_are_the_same_in_every_storage(dtype):
    column = pd.Series(TRUTHS, dtype=dtype)
    assert column_kind(column) == "truth value"
    features = build({"x": column})
    assert features.names == ("x", "x is missing")
    np.testing.assert_array_equal(both(features)[:, 0], [bool(value) for value in TRUTHS])


def test_truth_values_without_gaps_need_no_indicator():
    assert build({"x": np.arange(N) % 3 == 0}).names == ("x",)


@pytest.mark.parametrize(
    "dtype",
    [
        object,
        "string",
        "string[pyarrow]",
        pd.ArrowDtype(pa.string()),
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
        "category",
        pd.CategoricalDtype(["c", "b", "a", "never seen"]),
    ],
    ids=str,
)
def test_texts_are_the_same_in_every_storage(dtype):
    column = pd.Series(TEXTS, dtype=dtype)
    assert column_kind(column) == "category"
    features = build({"x": column})
    assert features.names == ("x is missing", "x = a", "x = b", "x = c")
    np.testing.assert_array_equal(both(features).sum(axis=1), 1)
    np.testing.assert_array_equal(np.flatnonzero(both(features)[:, 0]), [3, 35])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(DAYS, dtype=object),
        pd.Series(pd.to_datetime(pd.Series(DAYS))),
        pd.Series(pd.to_datetime(pd.Series(DAYS)).astype("datetime64[s]")),
        pd.Series(pd.to_datetime(pd.Series(DAYS)).dt.tz_localize("UTC")),
        pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())),
        pd.Series(pd.to_datetime(pd.Series(DAYS)), dtype=pd.ArrowDtype(pa.timestamp("us"))),
    ],
    ids=lambda column: str(column.dtype),
)
def test_dates_become_days_in_every_storage(column):
    assert column_kind(column) == "date"
    days = both(build({"x": column}))[:, 0]
    assert days[0] == (dt.date(2024, 1, 1) - dt.date(1970, 1, 1)).days
    assert days[5] - days[0] == 5


def test_durations_become_days():
    column = pd.Series(pd.to_timedelta(np.arange(N) * 12, unit="h"))
    assert both(build({"x": column}))[:3, 0].tolist() == [0, 0.5, 1]
    arrow = column.astype(pd.ArrowDtype(pa.duration("us")))
    assert both(build({"x": arrow}))[:3, 0].tolist() == [0, 0.5, 1]


def test_medians_come_from_the_training_part():
    column = np.r_[np.nan, np.full(15, 2.0), np.full(14, 4.0), np.full(9, 1000.0), np.nan]
    features = build({"x": column})
    assert features.train[0, 0] == features.audit[-1, 0] == 2


def test_a_gap_in_the_audit_part_alone_gets_the_median():
    column = np.arange(N, dtype=float)
    column[-1] = np.nan
    features = build({"x": column})
    assert features.names == ("x",)
    assert features.audit[-1, 0] == 14.5


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (np.full(N, 3), "constant in the training part"),
        (["same"] * N, "constant in the training part"),
        (np.full(N, True), "constant in the training part"),
        (np.full(N, np.nan), "all missing in the training part"),
        ([None] * N, "all missing in the training part"),
        (pd.Series([None] * N, dtype="string[pyarrow]"), "all missing in the training part"),
        (pd.Series([pd.NaT] * N), "all missing in the training part"),
        ([None] * 30 + list(range(10)), "all missing in the training part"),
        ([f"note {number}" for number in range(N)], "text with 30 distinct values in 30 training records"),
    ],
)
def test_columns_without_information_are_left_out_and_reported(column, reason):
    features = build({"x": column, "y": np.arange(N)})
    assert features.names == ("y",)
    assert [(out.column, out.reason) for out in features.left_out] == [("x", reason)]


def test_a_constant_with_gaps_says_what_is_missing():
    column = np.where(np.arange(N) % 4 == 0, np.nan, 3.0)
    assert build({"x": column}).names == ("x is missing",)


def test_no_column_left_is_an_error_that_says_why():
    with pytest.raises(
        InputError, match=r"no column is left to train on \(x: constant in the training part\)"
    ):
        build({"x": np.zeros(N)})


def test_levels_first_seen_in_the_audit_part_are_zero_everywhere():
    features = build({"x": ["a", "b"] * 15 + ["new"] * 10})
    assert features.names == ("x = a", "x = b")
    assert not features.audit.any()


def test_many_levels_first_seen_in_the_audit_part_get_the_training_event_rate():
    parts = Split(np.arange(300), np.arange(300, 320))
    rng = np.random.default_rng(2)
    level = np.r_[rng.integers(0, 40, 300).astype(str), ["new"] * 20]
    outcome = (rng.random(320) < 0.25).astype(int)
    unit = np.arange(320).astype(str)
    features = build({"x": level}, parts=parts, outcome=outcome, unit=unit)
    assert features.names == ("event rate by x",)
    np.testing.assert_allclose(features.audit[:, 0], outcome[:300].mean())


def test_levels_in_the_audit_part_alone_do_not_change_the_encoding():
    parts = Split(np.arange(60), np.arange(60, 100))
    level = np.r_[np.tile(["a", "b"], 30), [f"new {number}" for number in range(40)]]
    outcome, unit = np.arange(100) % 2, np.arange(100).astype(str)
    assert len(set(level)) > MAX_ONE_HOT
    assert build({"x": level}, parts=parts, outcome=outcome, unit=unit).names == ("x = a", "x = b")


def noise(seed, *, n=3000, levels=1000):
    rng = np.random.default_rng(seed)
    unit = rng.integers(0, 800, n).astype(str).astype(object)
    return rng.integers(0, levels, n).astype(str), (rng.random(n) < 0.4).astype(int), unit


def test_random_categories_tell_nothing_of_the_training_outcomes():
    level, outcome, unit = noise(4)
    parts = split_units(outcome, unit, audit_share=0.2, seed=1)
    features = build({"x": level}, parts=parts, outcome=outcome, unit=unit)
    in_fold = TargetEncoder(target_type="binary").fit(level[parts.train, None], outcome[parts.train])
    naive = in_fold.transform(level[parts.train, None])[:, 0]
    assert roc_auc_score(outcome[parts.train], naive) > 0.8  # what fitting in fold would feign
    assert roc_auc_score(outcome[parts.train], features.train[:, 0]) < 0.55
    assert 0.4 < roc_auc_score(outcome[parts.audit], features.audit[:, 0]) < 0.6


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_a_units_own_outcomes_never_reach_its_encodings(seed):
    level, outcome, unit = noise(seed, n=600, levels=60)
    unit = np.array([f"u{int(name) % 30}" for name in unit], dtype=object)
    parts = Split(np.arange(500), np.arange(500, 600))
    turned = np.where(unit == "u3", 1 - outcome, outcome)
    first, second = (
        build({"x": level}, parts=parts, outcome=truth, unit=unit).train for truth in (outcome, turned)
    )
    own = unit[:500] == "u3"
    np.testing.assert_array_equal(first[own], second[own])
    assert (first[~own] != second[~own]).any()


def test_another_name_of_the_unit_is_left_out():
    site = np.repeat([f"site {number}" for number in range(8)], 5)
    name = np.array([f"Hospital {text[-1]}" for text in site])
    features = build({"name": name, "y": np.arange(N)}, unit=site)
    assert [(out.column, out.reason) for out in features.left_out] == [
        ("name", "names the unit, which is held out")
    ]


def test_a_category_of_records_that_are_their_own_units_stays():
    assert build({"x": ["a", "b"] * 20}).left_out == ()


STRANGE = [
    "a[b",
    "a]b",
    "a<b",
    "a,b",
    'a"b',
    "a'b",
    "a{b}",
    "é à ü",
    "a b",
    "a_b",
    "",
    "feature:1",
    "日本",
    "\n",
]


def test_strange_names_are_kept_for_readers():
    columns = {name: np.arange(N) * (position + 1) for position, name in enumerate(STRANGE)}
    assert build(columns).names == tuple(STRANGE)


def test_strange_levels_are_kept_for_readers():
    features = build({"x": ["<b>", "a,[b]"] * 20})
    assert features.names == ("x = <b>", "x = a,[b]")


def test_mixed_values_are_a_category():
    column = pd.Series([1, "a", 2.5, None] * 10, dtype=object)
    assert column_kind(column) == "category"
    assert build({"x": column}).names == ("x is missing", "x = 1", "x = 2.5", "x = a")


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_order_of_records_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "x": np.where(rng.random(200) < 0.1, np.nan, rng.integers(0, 9, 200)),
            "few": rng.choice(["a", "b", None], 200),
            "many": rng.integers(0, 50, 200).astype(str),
        }
    )
    outcome, unit = rng.integers(0, 2, 200), rng.integers(0, 40, 200).astype(str)
    order = np.r_[rng.permutation(150), np.arange(150, 200)]
    parts = Split(np.arange(150), np.arange(150, 200))
    first = build(table, parts=parts, outcome=outcome, unit=unit)
    second = build(
        table.iloc[order].reset_index(drop=True), parts=parts, outcome=outcome[order], unit=unit[order]
    )
    assert first.names == second.names
    # target encodings sum the same outcomes in another order
    np.testing.assert_allclose(first.train[order[:150]], second.train, atol=1e-12)
    np.testing.assert_allclose(first.audit, second.audit, atol=1e-12)


def test_numbers_beyond_single_precision_keep_their_order():
    features = build({"huge": [1e300 if number % 2 else -1e300 for number in range(N)], "age": np.arange(N)})
    values = both(features)
    assert np.isfinite(values.astype(np.float32)).all()
    assert (values[1::2, 0] > values[::2, 0]).all()
