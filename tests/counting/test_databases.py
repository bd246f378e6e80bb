"""A query that is counted while its rows come has the counts of the table, to the last byte."""

from dataclasses import replace

import duckdb
import pytest

from auditbook.cohort import read_source
from auditbook.counting import choose, count_cohort, draw_sample, find_obstacles, hash_connected, is_counted
from auditbook.counting.choose import estimate_length
from auditbook.errors import InputError
from counted_cohorts import assert_equal, odd_table, write_cohort


def connect(file, folder, *, order=""):
    """Put the table of a cohort into a database, in an order of its own."""
    path = folder / "clinic.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as database:
        database.execute(f"create table stays as select * from '{file.find_data()[0]}' {order}")
    data = replace(file.data, path=None, paths=(), connection="duckdb:///clinic.duckdb", query="stays")
    return without_ranks(replace(file, data=data))


def without_ranks(file):
    return replace(file, scores=tuple(one for one in file.scores if one.kind != "rank"))


BY_UNIT = pytest.param('[unit]\ncolumn = "patient"', marks=pytest.mark.slow)


@pytest.mark.parametrize("unit", ["", BY_UNIT])
def test_rows_of_a_database_are_counted_as_those_of_the_file(tmp_path, unit):
    file = write_cohort(tmp_path, kind="parquet", unit=unit)
    here = count_cohort(without_ranks(file), rows=500)
    there = count_cohort(connect(file, tmp_path), rows=97)
    assert_equal(there.tally, here.tally)
    assert (there.rows_read, there.left_out) == (here.rows_read, here.left_out)


def test_the_hash_of_counted_rows_does_not_know_their_order(tmp_path):
    file = write_cohort(tmp_path, kind="parquet")
    found = [
        count_cohort(connect(file, tmp_path, order=order), rows=97) for order in ("", "order by patient")
    ]
    assert_equal(found[0].tally, found[1].tally)
    assert found[0].data_hash == found[1].data_hash


def test_a_column_that_the_query_lacks_is_told(tmp_path):
    file = connect(write_cohort(tmp_path, kind="parquet"), tmp_path)
    some = replace(file, data=replace(file.data, query="select 1 as a"))
    with pytest.raises(InputError, match="the query has no column"):
        count_cohort(some)


def test_scores_that_only_order_records_are_refused_in_words(tmp_path):
    file = write_cohort(tmp_path, kind="parquet")
    ranks = replace(file, scores=(replace(file.scores[0], kind="rank"),))
    assert not find_obstacles(ranks)
    connected = replace(ranks, data=replace(file.data, connection="duckdb:///a.duckdb", query="stays"))
    assert "rows of a database come in no order" in " ".join(find_obstacles(connected))


def test_a_database_counts_its_rows_and_the_longer_table_is_counted_in_parts(tmp_path, monkeypatch):
    file = connect(write_cohort(tmp_path, kind="parquet"), tmp_path)
    assert estimate_length(file) == 700
    assert not is_counted(file)
    monkeypatch.setattr(choose, "FROM_ROWS", 700)
    assert is_counted(file)
    (tmp_path / "clinic.duckdb").unlink()
    assert not is_counted(file)  # whoever reads it says that it is not there


def test_the_hash_of_streamed_rows_is_that_of_the_held_table(tmp_path):
    file = connect(write_cohort(tmp_path, kind="parquet"), tmp_path)
    assert hash_connected(file) == read_source(file, cache_dir=tmp_path).data_hash


@pytest.mark.parametrize("unit", ["", '[unit]\ncolumn = "patient"'])
def test_a_sample_of_a_database_does_not_know_the_order_of_its_rows(tmp_path, unit):
    file = write_cohort(tmp_path, kind="parquet", unit=unit)
    samples = [
        draw_sample(connect(file, tmp_path, order=order), share=0.3, seed=42)
        for order in ("", "order by risk")
    ]
    frames = [one.source.table.frame for one in samples]
    assert 100 < len(frames[0]) < 350
    assert frames[1].equals(frames[0].sort_values("risk", kind="stable", ignore_index=True))
    assert [one.rows for one in samples] == [700, 700]
    if unit:
        drawn = frames[0]["patient"].unique()
        assert len(frames[0]) == odd_table()["patient"].isin(drawn).sum()
