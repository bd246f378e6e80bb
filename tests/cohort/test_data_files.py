"""A table in one file or several, and how its file is written."""

import pandas as pd
import pytest

from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.errors import InputError

TEXT = '[outcome]\ncolumn = "y"\nevent = 1\n[attributes.race]\ncolumn = "race"\n'


def months(folder, suffix=".csv", **changes):
    """Write three months of visits, 8 each; `changes` replaces columns of the last one."""
    for month in (1, 2, 3):
        table = pd.DataFrame(
            {"y": [0, 1] * 4, "race": ["a", "b"] * 4, "x": [month] * 8, "id": range(8 * month, 8 * month + 8)}
        )
        table = table.assign(**changes) if month == 3 else table
        path = folder / f"2024-{month}{suffix}"
        table.to_parquet(path) if suffix == ".parquet" else table.to_csv(path, index=False)


def read(folder, path, more=""):
    target = folder / "c.toml"
    target.write_text(f'name = "c"\n[data]\npath = {path}\n{more}{TEXT}', encoding="utf-8")
    return read_cohort_file(target)


def load(folder, path, more=""):
    return load_cohort(read(folder, path, more), cache_dir=folder)


def told(folder, path, more=""):
    with pytest.raises(InputError) as caught:
        load(folder, path, more)
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_pattern_and_a_list_read_the_same_records(tmp_path, suffix):
    months(tmp_path, suffix)
    one = load(tmp_path, f'"2024-*{suffix}"')
    other = load(tmp_path, f'["2024-1{suffix}", "2024-2{suffix}", "2024-3{suffix}"]')
    assert len(one.table) == 24
    assert sorted(one.table["id"]) == list(range(8, 32))
    pd.testing.assert_frame_equal(one.table, other.table)
    assert one.data_hash == other.data_hash
    assert one.file.digest_data() == one.data_hash


def test_other_files_are_other_data(tmp_path):
    months(tmp_path)
    assert load(tmp_path, '"2024-?.csv"').data_hash != load(tmp_path, '["2024-1.csv"]').data_hash


def test_data_on_the_command_line_stand_in_for_all_files(tmp_path):
    months(tmp_path)
    cohort = load_cohort(read(tmp_path, '"2024-*.csv"'), data=tmp_path / "2024-2.csv", cache_dir=tmp_path)
    assert set(cohort.table["x"]) == {2}


def test_a_file_of_exactly_this_name_wins_over_the_pattern(tmp_path):
    months(tmp_path)
    (tmp_path / "2024-1.csv").rename(tmp_path / "2024-*.csv")
    assert len(load(tmp_path, '"2024-*.csv"').table) == 8
    (tmp_path / "a[1]").mkdir()
    (tmp_path / "2024-3.csv").rename(tmp_path / "a[1]" / "2024-3.csv")
    assert len(load(tmp_path, '"a[1]/2024-?.csv"').table) == 8


def test_columns_keep_their_cells_whatever_another_file_holds(tmp_path):
    months(tmp_path, ".parquet", x=[0.5] * 8, id=["007"] * 8)
    table = load(tmp_path, '"2024-*.parquet"').table
    assert sorted(set(table["x"])) == [0.5, 1.0, 2.0]
    assert {"8", "23", "007"} <= set(table["id"])
    months(tmp_path, ".parquet", x=[None] * 8, id=[2**53 + 1] * 8)
    table = load(tmp_path, '"2024-*.parquet"').table
    assert table["x"].isna().sum() == 8
    assert set(table["id"]) == {*range(8, 24), 2**53 + 1}
    months(tmp_path, ".parquet", id=[None] * 8)
    pd.DataFrame({"y": [1], "race": ["a"], "x": [1], "id": [2**53 + 1]}).to_parquet(
        tmp_path / "2024-2.parquet"
    )
    assert str(2**53 + 1) in set(load(tmp_path, '"2024-*.parquet"').table["id"])


@pytest.mark.parametrize(
    ("path", "more", "fault"),
    [
        ('"2025-*.csv"', "", "2025-*.csv matches no file; check the path, or name the file on the command"),
        ('["2024-1.csv", "2024-9.csv"]', "", "2024-9.csv does not exist; check the path"),
        ('["2024-1.csv", "2024-?.csv"]', "", "2024-1.csv is named twice, so that its records count twice"),
        ("[]", "", '[data] path: names no file; name one, or a pattern such as "2024-*.csv"'),
        ("3", "", "[data] path: must be text or list of texts, found 3"),
        ('["2024-1.csv", 2]', "", "[data] path: must be text or list of texts, found ['2024-1.csv', 2]"),
        (
            '"2024-1.csv"',
            "format = { seperator = ';' }\n",
            "format seperator: unknown key (did you mean 'sep",
        ),
        (
            '"2024-1.csv"',
            "format = { separator = ';;' }\n",
            "[data] format separator: ';;' is not one charact",
        ),
        ('"2024-1.csv"', "format = { decimal = ';' }\n", "[data] format decimal: ';' is not allowed"),
        ('"2024-1.csv"', "format = { skip_rows = -1 }\n", "[data] format skip_rows: -1 is too small"),
        ('"2024-1.csv"', "format = ';'\n", "[data] format: must be a table, found ';'"),
    ],
)
def test_what_is_wrong_with_path_and_format_is_told(tmp_path, path, more, fault):
    months(tmp_path)
    assert fault in told(tmp_path, path, more)


def test_files_of_other_columns_or_dates_are_refused_by_name(tmp_path):
    months(tmp_path, rase="a")
    fault = told(tmp_path, '"2024-*.csv"')
    assert (
        "c.toml: [data] path: 2024-3.csv has columns that 2024-1.csv has not: 'rase' (did you mean" in fault
    )
    months(tmp_path, ".parquet", x=pd.Timestamp("2024-01-01"))
    fault = told(tmp_path, '"2024-*.parquet"')
    assert "'x' holds dates in 2024-3.parquet and none in 2024-1.parquet; write it in one way" in fault


def test_the_way_a_file_is_written_is_handed_to_its_reader(tmp_path):
    (tmp_path / "d.csv").write_text("made by us\ny;race;x\n" + "1;é;0.5\n0;b;1.5\n" * 4, encoding="latin-1")
    more = "format = { separator = ';', encoding = 'latin-1', skip_rows = 1 }\n"
    table = load(tmp_path, '"d.csv"', more).table
    assert (set(table["x"]), set(table["race"])) == ({0.5, 1.5}, {"é", "b"})
