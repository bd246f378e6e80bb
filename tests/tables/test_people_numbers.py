"""Numbers as people write them are read where that is unmistakable, and asked about where not."""

import numpy as np
import pandas as pd
import pytest

from auditbook.tables import read_people_numbers, read_table_file


def read(*cells):
    return read_people_numbers(pd.Series(cells, dtype=object))


@pytest.mark.parametrize(
    ("cells", "numbers", "certain"),
    [
        (["12,345.60", "900.00"], [12345.6, 900], True),
        (["12.345,60", "900,00"], [12345.6, 900], True),
        (["$9,870", "$12,870.5"], [9870, 12870.5], True),
        (["1,2", "3,1"], [1.2, 3.1], True),
        (["1,2", "1,3"], [1.2, 1.3], False),
        (["1,234", "5,678"], [1234, 5678], False),
        (["1,234", "5.5"], [1234, 5.5], True),
        (["1,234,567", "5,678"], [1234567, 5678], True),
        (["1.234.567", "5.678"], [1234567, 5678], True),
        (["1.234.567", "5.6"], [1234567, 56], False),
        (["$9,870", "$870"], [9870, 870], True),
        (["9.870 €", "12 €"], [9870, 12], True),
        (["37 %", "4%", "0"], [0.37, 0.04, 0], True),
        (["0,7 %", "112,5 %"], [0.007, 1.125], True),
        (["37 %", "4"], [0.37, 4], False),
        (["1 234", "12 345,5", "0,5"], [1234, 12345.5, 0.5], True),
        (["1 234", "900"], [1234, 900], True),
        (["1'234.50", "12"], [1234.5, 12], True),
        (["(1,234.50)", "-3.5", "\u22122.25"], [-1234.5, -3.5, -2.25], True),
        (["€ 5", "5 EUR", "R$ 3,50"], [5, 5, 3.5], True),
        (["1,2", "3.5"], [12, 35], False),
        (["0,5", "1.5"], [5, 1.5], False),
        (["1e-3", "2.5e3"], [0.001, 2500], True),
        ([".5", "5."], [0.5, 5], True),
    ],
)
def test_numbers_are_read_by_what_the_cells_prove(cells, numbers, certain):
    found = read(*cells)
    assert found.certain == certain
    if certain:
        assert found.cells.tolist() == numbers
        assert found.whole


@pytest.mark.parametrize(
    "cells",
    [
        ["White", "Black"],
        ["E11.9", "I10"],
        ["1-2", "3-4"],
        ["2024-01-01"],
        ["1,2,3", "2,3"],
        ["12 34"],
        ["00123", "00456"],
        ["7205759403792793601"],
        [None],
        [""],
    ],
)
def test_words_codes_bands_lists_and_dates_are_no_numbers(cells):
    assert read(*cells) is None
    assert read_people_numbers(pd.Series([1.5, 2.5])) is None


def test_other_cells_are_counted_and_the_numbers_in_them_held():
    found = read("0.5", "0.7", "<0.2", "NEG", "<0.2", "> 89", "1.5", "2.5", "3.5", None, "  ")
    assert (found.filled, found.numbers, found.whole) == (9, 5, False)
    assert found.others == (("<0.2", 2), ("> 89", 1), ("NEG", 1))
    np.testing.assert_array_equal(found.held[:6], [0.5, 0.7, 0.2, np.nan, 0.2, 90])
    assert np.isnan(found.cells[[2, 3, 4, 5, 9, 10]]).all()


def test_the_ways_of_writing_are_named():
    assert read("$1,234.50", "$3").ways == ("thousands parted by commas", "a sign of currency")
    assert read("37 %", "4 %").ways == ("a sign of per cent",)
    assert read("$1,234.50", "37 %").ways == (
        "thousands parted by commas",
        "a sign of currency",
        "a sign of per cent in some cells",
    )
    assert read("1.234,5").ways == ("thousands parted by points", "decimal commas")
    assert read("1 234").ways == ("thousands parted by blanks or apostrophes",)
    assert read("1", "2").ways == ()


def test_a_file_whose_cells_are_unmistakable_is_read_as_numbers_and_says_so(tmp_path):
    table = pd.DataFrame(
        {
            "charge": ["12,345.60", "900.00", None],
            "paid": ["$9,870", "$12,000,000", "$3"],
            "list": ["1,2", "1,3", "2,3"],
            "group": ["$1,000", "$2,000", "$1,000"],
            "lab": ["<0.2", "0.5", "0.7"],
        }
    )
    for name, write in (("t.csv", table.to_csv), ("t.parquet", table.to_parquet)):
        write(tmp_path / name, index=False)
        read = read_table_file(tmp_path / name, text_columns=["group"])
        assert read.frame["charge"].tolist()[:2] == [12345.6, 900]
        assert read.frame["paid"].tolist() == [9870, 12_000_000, 3]
        for kept in ("list", "group", "lab"):
            assert read.frame[kept].tolist() == table[kept].tolist()
        assert read.notes == (
            "column 'charge': text read as numbers (thousands parted by commas): '12,345.60' is 12345.6",
            "column 'paid': text read as numbers (thousands parted by commas and a sign of currency): "
            "'$9,870' is 9870",
        )
