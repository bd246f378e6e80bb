"""Verdicts that hang on a missing value with a name."""

import pandas as pd

from auditbook.verdicts import find_named_missing


def table(*pairs):
    lowest, highest = zip(*pairs, strict=True)
    keys = {"model": "m", "attribute": "race", "metric": [f"M{k}" for k in range(len(pairs))]}
    return pd.DataFrame({**keys, "lowest_group": lowest, "highest_group": highest})


def test_the_cells_are_found_with_the_group():
    found = find_named_missing(table(("White", "declined"), ("White", "Black"), ("(missing)", "Black")))
    assert found.to_dict("list") == {
        "model": ["m", "m"],
        "metric": ["M0", "M2"],
        "attribute": ["race", "race"],
        "group": ["declined", "(missing)"],
    }


def test_cells_without_groups_are_none():
    assert find_named_missing(table(("", ""), (None, float("nan")))).empty
    assert find_named_missing(table(("", "")).iloc[:0]).empty
