"""Files of Stata, SPSS, SAS and R give the values that people see: labels, dates, blanks, short decimals."""

import warnings

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata

from auditbook.errors import InputError
from auditbook.tables import TableFormat, plain_table, read_table_file, statistics_packages

TABLE = pd.DataFrame(
    {"sex": [1.0, 2.0, 1.0, np.nan], "age": [45.0, 99.0, 3.0, 99.0], "name": ["é", "", "b", "c"]}
)
LABELS = {"sex": {1: "Male", 2: "Female", 3: "Other"}, "age": {99: "not stated"}}


@pytest.mark.parametrize(
    ("suffix", "write"), [(".dta", pyreadstat.write_dta), (".sav", pyreadstat.write_sav)]
)
def test_labels_stand_in_the_place_of_codes(tmp_path, suffix, write):
    write(TABLE, str(tmp_path / f"t{suffix}"), variable_value_labels=LABELS)
    table = read_table_file(tmp_path / f"t{suffix}")
    assert table.frame["sex"].tolist() == ["Male", "Female", "Male", None]
    assert table.frame["age"].tolist() == ["45", "not stated", "3", "not stated"]
    assert table.frame["name"].tolist() == ["é", None, "b", "c"]
    assert table.categories == {}
    assert table.notes == (
        f"t{suffix}: column 'age': 1 of its 3 values has a label, which stands in its "
        "place: 99 is 'not stated'",
    )


def test_labels_of_values_that_do_not_occur_leave_a_column_of_numbers(tmp_path):
    table = pd.DataFrame({"age": [45.0, np.nan]})
    pyreadstat.write_sav(table, str(tmp_path / "t.sav"), variable_value_labels={"age": {-9: "refused"}})
    read = read_table_file(tmp_path / "t.sav")
    np.testing.assert_array_equal(read.frame["age"], [45, np.nan])
    assert read.notes == ()


def test_values_that_a_file_declares_missing_are_blank(tmp_path):
    pyreadstat.write_sav(TABLE, str(tmp_path / "t.sav"), missing_ranges={"age": [99]})
    np.testing.assert_array_equal(read_table_file(tmp_path / "t.sav").frame["age"], [45, np.nan, 3, np.nan])


def test_short_floats_of_stata_are_the_decimals_that_they_stand_for(tmp_path):
    pd.DataFrame({"p": np.array([0.7, 0.1, np.nan], np.float32)}).to_stata(
        tmp_path / "t.dta", write_index=False
    )
    np.testing.assert_array_equal(read_table_file(tmp_path / "t.dta").frame["p"], [0.7, 0.1, np.nan])


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".sas7bdat", ".xpt", ".rds"])
def test_a_file_that_is_none_is_told(tmp_path, suffix):
    (tmp_path / f"t{suffix}").write_bytes(b"nothing of the kind" * 90)
    with pytest.raises(InputError, match=r"export it|write\.csv|not .* inside"):
        read_table_file(tmp_path / f"t{suffix}")


def test_factors_blanks_and_wide_numbers_of_r_come_over(tmp_path):
    table = pd.DataFrame(
        {
            "group": pd.Categorical(["b", "a", None], categories=["b", "z", "a"]),
            "count": pd.array([1, None, 3], dtype="Int32"),
            "flag": pd.array([True, None, False], dtype="boolean"),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rdata.write_rds(tmp_path / "t.rds", table)
    read = read_table_file(tmp_path / "t.rds")
    assert read.frame["group"].tolist() == ["b", "a", None]
    assert read.categories == {"group": ("b", "z", "a")}
    np.testing.assert_array_equal(read.frame["count"], [1, np.nan, 3])
    assert read.frame["flag"].tolist() == [True, None, False]


def test_an_r_file_without_a_data_frame_is_told(tmp_path):
    rdata.write_rds(tmp_path / "t.rds", {"a": 1})
    with pytest.raises(InputError, match="holds no data frame but R's dict; write one: saveRDS"):
        read_table_file(tmp_path / "t.rds")


def test_an_encoding_can_be_said(tmp_path):
    pyreadstat.write_sav(TABLE, str(tmp_path / "t.sav"))
    read = read_table_file(tmp_path / "t.sav", form=TableFormat(encoding="utf-8"))
    assert read.frame["name"].tolist()[0] == "é"


def test_dates_times_and_64_bit_numbers_of_r_are_what_r_shows():
    days, times, wide = (statistics_packages.R_CLASSES[name] for name in ("Date", "POSIXct", "integer64"))
    held = np.array([7_205_759_403_792_793_601, np.iinfo(np.int64).min]).view(np.float64)
    columns = {
        "day": days(np.array([19753.0, np.nan]), {}),
        "time": times(np.array([1.5, 0]), {}),
        "id": wide(held, {}),
    }
    rows = np.ma.array([0, -2], mask=[True, False])
    frame = rdata.conversion.dataframe_constructor(columns, {"row.names": rows})
    read = plain_table(frame.reset_index(drop=True)).frame
    assert read["day"].tolist() == [pd.Timestamp("2024-01-31"), pd.NaT]
    assert read["time"].tolist()[0] == pd.Timestamp("1970-01-01 00:00:01.5")
    assert read["id"].tolist() == ["7205759403792793601", None]
