"""Lines that write one key are told to be joined, so that no cure undoes another."""

import numpy as np

from auditbook.intake import Caution, tell_shared_keys, warn_table
from auditbook.tables import plain_table
from warned_tables import BASIC, make_table, read_file


def test_two_columns_with_codes_for_missing_share_the_key_that_cures_both(tmp_path):
    rng = np.random.default_rng(4)
    numbers = [rng.normal(7, 1, 200).round(1), rng.normal(40, 3, 200).round(1)]
    for cells in numbers:
        cells[::20] = 9999
    table = make_table(ureia=numbers[0], peso=numbers[1])
    said = warn_table(read_file(tmp_path, BASIC), plain_table(table))
    assert len(said) == 2
    assert tell_shared_keys(said).endswith(": [missing] columns (2 lines)")
    joined = "[missing]\ncolumns = { ureia = [9999], peso = [9999] }\n"
    assert warn_table(read_file(tmp_path, BASIC + joined), plain_table(table)) == []


def test_keys_of_features_are_counted_wherever_a_caution_stands_and_other_tables_apart():
    said = [
        Caution("[features]", "'a' leaks", 'if it is: exclude = ["a"]'),
        Caution("[panel] models", "they see 'b'", 'if not: exclude = ["b"] and late = []'),
        Caution("[attributes.race] column", "'?'", 'missing_values = ["?"]'),
        Caution("[attributes.sex] column", "'?'", 'missing_values = ["?"]'),
    ]
    assert tell_shared_keys(said).endswith(": [features] exclude (2 lines)")
    assert tell_shared_keys(said[1:]) == ""
