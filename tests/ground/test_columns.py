"""The catalogue of result columns: what it declares, and what is made from it."""

import warnings
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from auditbook.columns import COLUMNS, TABLES, Kind, empty_table, fill_table, stack_tables

ALL = [(table.name, column) for table in TABLES.values() for column in table.columns]


def test_every_column_of_every_table_has_a_kind_a_title_and_a_meaning():
    assert {column.kind for _, column in ALL} == set(get_args(Kind))
    assert [key for key in ALL if not (key[1].title and key[1].meaning)] == []
    assert [table.name for table in TABLES.values() if not table.about] == []


def test_no_table_has_a_column_twice():
    for table in TABLES.values():
        names = [column.name for column in table.columns]
        assert len(names) == len(set(names)), table.name


def test_a_name_is_text_in_every_table_or_in_none():
    kinds = {column.name: {other.kind for _, other in ALL if other.name == column.name} for _, column in ALL}
    assert [name for name, found in kinds.items() if "text" in found and len(found) > 1] == []


def test_what_a_column_leaves_out_is_as_in_the_first_table_that_has_it():
    smallest, told = COLUMNS["smallest_n"], TABLES["sensitivity_cells"].find("smallest_n")
    assert told == smallest
    size = TABLES["audit_size"].find("n")
    assert (size.title, size.kind) == (COLUMNS["n"].title, COLUMNS["n"].kind)
    assert size.meaning != COLUMNS["n"].meaning


def test_a_table_like_another_has_its_columns():
    assert TABLES["auc_verdicts"].columns == TABLES["verdicts"].columns


def test_a_family_has_a_column_for_each_of_its_names():
    names = TABLES["baselines"].names(attribute=["sex", "age band"], metric=["DI"])
    assert [name for name in names if name.startswith(("di_", "kappa_"))] == [
        *("di_sex", "di_age band", "di_passes", "di_judged", "kappa_metrics", "kappa_DI")
    ]
    assert TABLES["baselines"].find("di_age band").name == "di_<attribute>"
    assert TABLES["baselines"].find("di_passes").kind == "count"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda names: names, ""),
        (lambda names: names[:-1], "has no column slope_bound"),
        (lambda names: [*names, "extra", "more"], "has an undeclared column extra, more"),
        (lambda names: names[::-1], "has its columns in another order"),
    ],
)
def test_a_difference_from_the_declared_columns_is_told(change, told):
    table = TABLES["calibration"]
    assert table.explain_difference(change(table.names())) == told


def test_a_family_may_have_any_number_of_columns_in_its_place():
    table = TABLES["robustness"]
    for attributes in ((), ("sex",), ("sex", "race")):
        assert table.explain_difference(table.names(attribute=attributes)) == ""
    names = table.names(attribute=["sex"])
    assert table.explain_difference([*names, "di_race"]) == "has its columns in another order"


def test_an_empty_table_has_the_kinds_of_its_columns():
    table = empty_table("pocket_levels")
    assert table.columns.tolist() == TABLES["pocket_levels"].names()
    assert [str(kind) for kind in table.dtypes] == ["object", "int64", "int64", "int64", "bool", "float64"]


def test_tables_are_filled_and_stacked_in_the_declared_columns():
    rows = [{"site": "b", "rank": 1, "n": 3}]
    table = fill_table("cohort_sites", rows)
    assert table.columns.tolist() == TABLES["cohort_sites"].names()
    assert stack_tables("cohort_sites", [table[table.columns[::-1]]] * 2)["n"].tolist() == [3, 3]
    pd.testing.assert_frame_equal(stack_tables("cohort_sites", []), empty_table("cohort_sites"))


def test_an_empty_part_and_a_blank_column_change_no_type():
    rows = {column.name: [None] for column in TABLES["tipping_points"].columns}
    number = next(column.name for column in TABLES["tipping_points"].columns if column.kind == "share")
    full = fill_table("tipping_points", rows | {number: [0.25]})
    blank = fill_table("tipping_points", rows)
    assert blank[number].dtype == object
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stacked = stack_tables("tipping_points", [full, fill_table("tipping_points", []), blank])
    assert stacked[number].dtype == np.float64
    assert len(stacked) == 2
    empty = stack_tables("tipping_points", [fill_table("tipping_points", [])])
    pd.testing.assert_frame_equal(empty, empty_table("tipping_points"))
