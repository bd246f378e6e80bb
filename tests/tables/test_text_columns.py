"""A column of text is of one kind as a whole, and nothing of it is lost."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from auditbook.tables.text_columns import read_text_column


def read(*cells):
    column = read_text_column(pa.chunked_array([pa.array(cells, pa.string())]))
    return column.dtype.kind, column.astype(object).where(column.notna(), None).tolist()


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2", "+3"], "i", [1, -2, 3]),
        (["1", None, "3"], "f", [1.0, None, 3.0]),
        (["1.0", "2", "3.00"], "i", [1, 2, 3]),
        (["0.7", ".5", "1e-3"], "f", [0.7, 0.5, 0.001]),
        ([" 1", "2 ", "  "], "f", [1.0, 2.0, None]),
        (["00123", "7"], "O", ["00123", "7"]),
        (["0", "0.5"], "f", [0.0, 0.5]),
        (["9223372036854775807"], "i", [2**63 - 1]),
        (["9223372036854775808", "1"], "O", ["9223372036854775808", "1"]),
        (["9007199254740993", None], "O", ["9007199254740993", None]),
        (["9007199254740993", "0.5"], "O", ["9007199254740993", "0.5"]),
        (["9007199254740992", None], "f", [2.0**53, None]),
        (["1e300", "1.5e17", "0.5"], "f", [1e300, 1.5e17, 0.5]),
        (["0.12345678901234567", "0.12345678901234568"], "f", [0.12345678901234567, 0.12345678901234568]),
        (["0.12345678901234567800", "0.12345678901234567801"], "O", None),
        (["True", "FALSE", "true"], "b", [True, False, True]),
        (["True", None], "O", [True, None]),
        (["2024-01-31", "2024-02-29 13:05"], "M", None),
        (["2024-01-31", "2024-02-30"], "O", ["2024-01-31", "2024-02-30"]),
        (["31.01.2024"], "O", ["31.01.2024"]),
        (["inf", "1"], "f", [np.inf, 1.0]),
        (["inf", "Inf"], "O", ["inf", "Inf"]),
        (["NA", "1"], "O", ["NA", "1"]),
        (["0x1F", "1"], "O", ["0x1F", "1"]),
        (["1_000", "1"], "O", ["1_000", "1"]),
        ([None, None], "f", [None, None]),
        ([], "f", []),
        (["a", " a", None], "O", ["a", " a", None]),
    ],
)
def test_a_column_is_of_the_one_kind_that_all_its_cells_are_of(cells, kind, values):
    found = read(*cells)
    assert found[0] == kind
    if values is not None:
        assert found[1] == values


@pytest.mark.parametrize("at", [0, 99, 100, 150_000])
def test_the_kind_does_not_depend_on_where_the_one_other_cell_stands(at):
    cells = [str(number) for number in range(150_001)]
    cells[at] = "x"
    assert read(*cells)[1] == cells


def test_times_with_a_zone_are_as_the_clock_there_shows_them():
    column = pa.chunked_array([pa.array(["2024-01-31T23:30:00-05:00", "2024-01-31 10:00:00.1234567Z"])])
    assert read_text_column(column).tolist() == [
        pd.Timestamp("2024-01-31 23:30"),
        pd.Timestamp("2024-01-31 10:00:00.123456"),
    ]
