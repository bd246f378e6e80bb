"""Cells that the cohort file reads in its own way: numbers, words that mean missing, codes."""

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.intake import warn_table
from auditbook.tables import read_table_file
from cohorts import write_pair

OUTCOME = '[outcome]\ncolumn = "y"\nevent = 1\n'
RACE = '[attributes.race]\ncolumn = "race"\n'
AGE = '[attributes.age]\ncolumn = "age"\nbins = [0, 65, 90]\n'
OLDEST = "numbers = { '> 89' = 90 }\n"


def visits(rows=40, **columns):
    table = pd.DataFrame({"y": [0, 1] * (rows // 2), "race": ["a", "b"] * (rows // 2), "x": range(rows)})
    return table.assign(**columns)


def load(folder, table, text, suffix=".csv"):
    path = write_pair(folder, table, text, suffix=suffix)
    return load_cohort(read_cohort_file(path), cache_dir=folder)


def told(folder, table, text):
    with pytest.raises(InputError) as caught:
        load(folder, table, text)
    return "\n".join(caught.value.faults)


def counts(cohort, name):
    found = next(item for item in cohort.attributes if item.name == name)
    return dict(
        zip(found.groups, np.bincount(found.codes, minlength=len(found.groups)).tolist(), strict=True)
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_word_that_stands_for_a_number_keeps_the_oldest(tmp_path, suffix):
    ages = ["> 89", *["30", "70"] * 19, "> 89"]
    cohort = load(tmp_path, visits(age=ages), OUTCOME + AGE + OLDEST, suffix)
    assert counts(cohort, "age") == {"0-64": 19, "65-89": 19, "90+": 2}
    assert cohort.table["age"].value_counts().to_dict() == {30.0: 19, 70.0: 19, 90.0: 2}
    assert cohort.table["age"].dtype == float


def test_a_number_can_stand_for_another_number_before_the_bins(tmp_path):
    codes = [22, *[1, 15] * 19, 23]
    text = '[attributes.age]\ncolumn = "age"\nbins = [0, 10, 20]\nlabels = ["young", "old"]\n'
    cohort = load(tmp_path, visits(age=codes), OUTCOME + text + 'numbers = { 22 = 3, "23" = 12 }\n')
    assert counts(cohort, "age") == {"young": 20, "old": 20}


def test_a_closed_top_bin_refuses_what_lies_beyond_it(tmp_path):
    text = '[attributes.age]\ncolumn = "age"\nbins = [0, 10, 22]\nlabels = ["young", "old"]\n'
    fault = told(tmp_path, visits(age=[22, *[1, 15] * 19, 26]), OUTCOME + text)
    assert "2 rows of 'age' lie at or above the end of the last bin, 22 (highest: 26)" in fault
    assert "numbers" in fault


def test_labels_fit_open_or_closed_bins_and_nothing_else(tmp_path):
    text = '[attributes.age]\ncolumn = "age"\nbins = [0, 10, 22]\nlabels = ["young"]\n'
    fault = told(tmp_path, visits(age=1), OUTCOME + text)
    assert "1 label for 3 bounds; two bins or more" in fault
    assert "one fewer ends it below the last bound" in fault


def test_numbers_of_the_outcome_are_read_before_it_is_compared(tmp_path):
    text = '[outcome]\ncolumn = "los"\nevent = "> 100"\nnumbers = { "120 +" = 120 }\n' + RACE
    cohort = load(tmp_path, visits(los=["120 +", *["3", "5"] * 19, "101"]), text)
    assert cohort.outcome.sum() == 2
    other = '[outcomes.long]\ncolumn = "los"\nevent = "> 100"\nnumbers = { "120 +" = 120 }\n'
    cohort = load(tmp_path, visits(los=["120 +", *["3", "5"] * 19, "101"]), OUTCOME + other + RACE)
    assert cohort.other_outcomes[0].cells.sum() == 2


def test_numbers_of_scores_and_features_are_numbers_where_they_are_used(tmp_path):
    text = '[scores.p]\ncolumn = "p"\nkind = "probability"\nnumbers = { "<0.01" = 0.005 }\n'
    text += '[panel]\nmodels = []\n[features]\nnumbers.lab = { "<0.2" = 0.1 }\n'
    table = visits(p=["<0.01", *["0.4", "0.6"] * 19, "1"], lab=["<0.2", *["0.4", "0.6"] * 19, ""])
    cohort = load(tmp_path, table, OUTCOME + RACE + text)
    assert sorted(cohort.table["p"])[0] == 0.005
    assert sorted(cohort.table["lab"])[0] == 0.1
    assert cohort.table["lab"].isna().sum() == 1


def test_a_value_has_one_number_in_a_column(tmp_path):
    text = AGE + OLDEST + '[attributes.old]\ncolumn = "age"\nbins = [0, 80]\nnumbers = { "> 89" = 95 }\n'
    fault = told(tmp_path, visits(age=["> 89", "3"] * 20), OUTCOME + text)
    assert "[attributes.old] numbers: '> 89' of 'age' is 95 here and 90 elsewhere" in fault
    assert "write one number" in fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (OUTCOME + RACE + OLDEST, "[attributes.race] numbers: given without bins; add bins"),
        (
            OUTCOME + 'numbers = { "9" = 9 }\n' + RACE,
            "[outcome] numbers: the event is a value and no compari",
        ),
        (OUTCOME + AGE + "numbers = { '> 89' = '90' }\n", "numbers: must be a table of numbers"),
        (OUTCOME + RACE + "[features]\nnumbers.lob = { '<1' = 0 }\n", "has no column 'lob'"),
        (OUTCOME + RACE + "[features]\nnumbers = { lab = 3 }\n", "must be a table of tables of numbers"),
        (OUTCOME + RACE + '[missing]\ncolumns = { rase = ["NA"] }\n', "has no column 'rase' (did you mean"),
        (OUTCOME + RACE + '[missing]\ncolumns = { race = "NA" }\n', "must be a table of lists of texts, num"),
    ],
)
def test_what_is_wrong_with_such_keys_is_told_with_the_cure(tmp_path, text, fault):
    assert fault in told(tmp_path, visits(age=3), text)


def test_a_word_means_missing_in_one_column_and_a_group_in_another(tmp_path):
    rows = ["NA", *["A", "B"] * 19, "NA"]
    text = OUTCOME + RACE + '[missing]\nvalues = ["NA"]\ncolumns = { race = [], lab = ["none", "NA"] }\n'
    cohort = load(tmp_path, visits(race=rows, lab=["none", *["A", "B"] * 19, "NA"], other=rows), text)
    assert counts(cohort, "race") == {"A": 19, "B": 19, "NA": 2}
    assert cohort.table["lab"].isna().sum() == 2
    assert cohort.table["other"].isna().sum() == 2


def test_numbers_are_numbers_once_the_words_for_missing_are_gone(tmp_path):
    table = visits(lab=["NEG", *["1.5", "12"] * 19, "NEG"], paid=["NEG", *["$1,500", "$12.50"] * 19, "NEG"])
    columns = '[missing]\ncolumns = { lab = ["NEG"], paid = ["NEG"], code = ["NEG"], race = ["NEG"] }\n'
    table = table.assign(code=["NEG", *["01", "12"] * 19, "NEG"], race=["NEG", *["1.50", "2.50"] * 19, "NEG"])
    cohort = load(tmp_path, table, OUTCOME + RACE + 'missing = "drop"\n' + columns)
    assert set(cohort.table["lab"].dropna()) == {1.5, 12}
    assert set(cohort.table["paid"].dropna()) == {1500, 12.5}
    assert set(cohort.table["code"].dropna()) == {"01", "12"}
    assert counts(cohort, "race") == {"1.50": 19, "2.50": 19}


def test_codes_of_digits_are_categories(tmp_path):
    text = OUTCOME + RACE + '[features]\ncategories = ["dx_*", "ward"]\n'
    table = visits(dx_1=[1, 2] * 20, dx_2=[250.0, 250.83] * 20, ward=[1.0, np.nan] * 20)
    for suffix in (".csv", ".parquet"):
        cohort = load(tmp_path, table, text, suffix)
        assert set(cohort.table["dx_1"]) == {"1", "2"}
        assert set(cohort.table["dx_2"]) == {"250", "250.83"} or suffix == ".csv"
        assert set(cohort.table["ward"].dropna()) <= {"1", "1.0"}


def test_a_value_that_no_record_holds_is_pointed_out_with_the_nearest(tmp_path):
    path = write_pair(tmp_path, visits(age=[">89", *["30", "70"] * 19, "30"]), OUTCOME + AGE + OLDEST)
    file = read_cohort_file(path)
    told = list(map(str, warn_table(file, read_table_file(tmp_path / "data.csv"))))
    assert "[attributes.age] numbers: no record holds '> 89' (did you mean '>89'?); it does nothing" in told
