"""Whatever the types of a file, the plain table holds the same values, exactly."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from auditbook.tables import as_text, plain_table


def plain(array):
    return plain_table(pa.table({"x": array})).frame["x"]


def test_short_floats_are_the_decimals_that_they_stand_for():
    tenths = [round(number / 10, 1) for number in range(-20, 21)]
    for kind in (pa.float32(), pa.float64()):
        assert plain(pa.array(tenths, kind)).tolist() == tenths
    assert plain(pa.array(np.array(tenths, np.float16))).tolist() == tenths
    odd = plain(pa.array([0.7, None, float("inf"), 1e-40], pa.float32())).tolist()
    assert (odd[0], odd[2], odd[3]) == (0.7, np.inf, 1e-40)
    assert np.isnan(odd[1])


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.decimal128(38, 0), pa.decimal256(60, 4)])
def test_wide_whole_numbers_stay_apart_in_every_type(kind):
    numbers = [7_205_759_403_792_793_600 + 700 * place for place in range(50)]
    whole = [Decimal(number) for number in numbers] if pa.types.is_decimal(kind) else numbers
    for cells in (whole, [*whole[:-1], None]):
        names = as_text(plain(pa.array(cells, kind))).tolist()
        assert names == [
            None if cell is None else str(number) for cell, number in zip(cells, numbers, strict=True)
        ]


def test_decimals_are_numbers_unless_floats_would_mix_them_up():
    assert plain(pa.array([Decimal("12.50"), None, Decimal("0.10")], pa.decimal128(9, 2))).tolist()[::2] == [
        12.5,
        0.1,
    ]
    assert plain(pa.array([Decimal("12.00"), Decimal("3.00")], pa.decimal128(9, 2))).dtype == np.int64
    close = [Decimal("0.12345678901234567800"), Decimal("0.12345678901234567801")]
    assert plain(pa.array(close, pa.decimal128(38, 20))).tolist() == [
        "0.123456789012345678",
        "0.12345678901234567801",
    ]


def test_unsigned_numbers_beyond_int64_are_text():
    assert plain(pa.array([2**64 - 1, 1], pa.uint64())).tolist() == [str(2**64 - 1), "1"]


def test_whole_numbers_are_int64_only_where_none_is_missing():
    assert plain(pa.array([1.0, 2.0])).dtype == np.int64
    assert plain(pa.array([1.0, None])).dtype == np.float64
    assert plain(pa.array([1, None], pa.int8())).dtype == np.float64


def test_a_time_zone_is_the_clock_of_its_place_even_where_no_such_place_is_known():
    noon = pd.Timestamp("2024-07-01 12:00")
    known = pa.array([noon], pa.timestamp("us")).cast(pa.timestamp("us", "America/New_York"))
    assert plain(known).tolist() == [pd.Timestamp("2024-07-01 08:00")]
    assert plain(pa.array([noon], pa.timestamp("ns")).cast(pa.timestamp("ns", "Mars/Olympus"))).tolist() == [
        noon
    ]


def test_durations_too_long_to_name_are_told_in_their_unit():
    assert plain(pa.array([2**62, None], pa.duration("s"))).tolist() == [f"{2**62} s", None]
    assert plain(pa.array([90], pa.duration("s"))).tolist() == ["0:01:30"]
