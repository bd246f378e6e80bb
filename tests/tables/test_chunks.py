"""A table that is read chunk by chunk holds the cells of the table that is read whole."""

import gzip
from itertools import chain

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from auditbook.errors import InputError
from auditbook.tables import (
    AS_FOUND,
    as_numbers,
    as_text,
    is_missing,
    join_tables,
    open_chunks,
    read_table_file,
)

TEXTS = {"site"}


def odd_frame():
    """A table of the cells that are read in one way as a whole and in another one by one."""
    return pd.DataFrame(
        {
            "site": ["007", "7", "Zürich", "", "7.0", "Genève, Sud"] * 4,
            "late_word": ["1.0", "2", "03", "4", "5"] * 4 + ["6", "7", "8", "n/a"],
            "truth": ["true", "false", "", "TRUE"] * 6,
            "money": ["$1,234", "$987", "$12,345", ""] * 6,
            "code": ["01", "2", "3", "10"] * 6,
            "day": ["2024-01-31", "2024-02-01", ""] * 8,
            "risk": [f"{value:.17f}" for value in np.linspace(0.001, 0.999, 24)],
            "blank": [""] * 24,
            "age": ["40", "41", "", "90"] * 6,
        }
    )


def say(column):
    """Say what each cell means, whatever type holds it."""
    numbers = as_numbers(column)
    return as_text(column).tolist(), is_missing(column).tolist(), numbers.cells.tolist(), numbers.bad.tolist()


def assert_same(files, *, rows, form=AS_FOUND, columns=None):
    whole = join_tables(files, [read_table_file(path, text_columns=TEXTS, form=form) for path in files])
    asked = list(whole.frame.columns) if columns is None else columns
    opened = open_chunks(files, columns=asked, text_columns=TEXTS, form=form, rows=rows)
    tables = [table for chunk in opened.each_chunk() for table in chunk.each_table()]
    assert max(len(table.frame) for table in tables) <= rows
    for name in asked:
        told = [say(table.frame[name]) for table in tables]
        joined = tuple(list(chain(*parts)) for parts in zip(*told, strict=True))
        assert str(joined) == str(say(whole.frame[name])), name
    assert opened.names == tuple(whole.frame.columns)
    assert opened.categories == whole.categories


def read_chunks(path):
    opened = open_chunks([path], columns=["site", "age"], text_columns=TEXTS, form=AS_FOUND, rows=4)
    return [table for chunk in opened.each_chunk() for table in chunk.each_table()]


def write(folder, name, frame):
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pandas(frame.replace("", None)), path, row_group_size=7)
    elif name.endswith(".feather"):
        pyarrow.feather.write_feather(frame.replace("", None), path, chunksize=7)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        path.write_text(frame.to_csv(index=False, sep="\t" if ".tsv" in name else ","), encoding="utf-8")
    return path


@pytest.mark.parametrize("rows", [1, 5, 24, 100])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.feather", "a.jsonl"])
def test_every_cell_means_what_it_means_in_the_whole_table(tmp_path, name, rows):
    frame = odd_frame()
    if name == "a.jsonl":
        path = tmp_path / name
        frame.to_json(path, orient="records", lines=True)
    else:
        path = write(tmp_path, name, frame)
    assert_same([path], rows=rows)


def test_a_column_is_of_one_kind_in_all_files(tmp_path):
    frame = odd_frame()
    first = write(tmp_path, "a.csv", frame.iloc[:20])
    second = write(tmp_path, "b.csv", frame.iloc[20:])
    assert_same([first, second], rows=6)
    plain = frame.drop(columns="day")
    assert_same([write(tmp_path, "a.parquet", plain[:20]), write(tmp_path, "b.csv", plain[20:])], rows=6)


def test_typed_columns_of_parquet_mean_the_same_in_each_part(tmp_path):
    frame = pd.DataFrame(
        {
            "long": pd.array([2**62 + 1, None, 3, 4], dtype="Int64"),
            "short": np.array([0.1, 0.25, 1, 2], np.float32),
            "group": pd.Categorical(["b", "a", "b", None], categories=["c", "b", "a"]),
            "yes": pd.array([True, None, False, True], dtype="boolean"),
            "when": pd.to_datetime(["2024-01-01 00:00", None, "2024-01-02 03:04", "2024-01-03 00:00"]),
        }
    )
    path = tmp_path / "typed.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=2)
    for rows in (1, 3, 10):
        assert_same([path], rows=rows)


def test_decimal_commas_that_one_column_proves_hold_for_all_parts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("site;risk;dose\n" + "".join(f"x;7,{k % 5};1,{100 + k}\n" for k in range(9)))
    assert_same([path], rows=2)


def test_columns_that_nobody_needs_are_not_read(tmp_path):
    path = write(tmp_path, "a.csv", odd_frame())
    opened = open_chunks([path], columns=["age", "site"], text_columns=TEXTS, form=AS_FOUND, rows=9)
    tables = [table for chunk in opened.each_chunk() for table in chunk.each_table()]
    assert [list(table.frame.columns) for table in tables] == [["site", "age"]] * 3


def test_a_column_of_many_different_cells_is_read_by_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr("auditbook.tables.column_looks.FEW", 3)
    path = write(tmp_path, "a.csv", odd_frame()[["site", "risk", "age"]])
    assert_same([path], rows=5)


def test_many_different_numbers_for_people_are_refused_with_the_cure(tmp_path, monkeypatch):
    monkeypatch.setattr("auditbook.tables.column_looks.FEW", 2)
    path = write(tmp_path, "b.csv", odd_frame()[["site", "money"]].iloc[:3])
    told = "column 'money' holds more than 2 different numbers .* format"
    with pytest.raises(InputError, match=told):
        open_chunks([path], columns=["money"], form=AS_FOUND)


def test_a_header_that_stands_again_and_a_row_too_short_are_told_as_for_the_whole(tmp_path):
    frame = odd_frame()[["site", "age"]]
    again = tmp_path / "a.csv"
    again.write_text(frame.to_csv(index=False) + "site,age\n", encoding="utf-8")
    short = tmp_path / "b.csv"
    short.write_text(frame.to_csv(index=False) + "x\ny,3\n", encoding="utf-8")
    for path in (again, short):
        with pytest.raises(InputError) as whole:
            read_table_file(path, text_columns=TEXTS)
        with pytest.raises(InputError) as parts:
            read_chunks(path)
        assert str(parts.value) == str(whole.value)


def test_the_number_that_r_writes_before_each_row_is_no_column(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text('"site","age"\n' + "".join(f'"{k + 1}","x{k}",{40 + k}\n' for k in range(9)))
    assert_same([path], rows=4)
