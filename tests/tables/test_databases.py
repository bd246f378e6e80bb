"""Rows of a real PostgreSQL server, of SQLite and of DuckDB as the table that a file would give."""

import datetime as dt
import sqlite3
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.errors import InputError, RunError
from auditbook.tables import read_database, read_table_file, stream_database
from auditbook.tables.connections import Connection, fault_connection
from auditbook.tables.queries import fault_query, read_query
from auditbook.tables.row_hashes import RowHash
from postgresql_server import PASSWORD, USER, run_server

HERE = Path()
MAKE = """
create table stays (id bigint, age int, died boolean, weight numeric, lab numeric(30, 12), risk float8,
    sex text, admitted date, seen timestamp, note text);
insert into stays values
    (9223372036854775807, 64, true, 71.50, 1234567890123.000000000001, 0.1, 'f', '2024-02-29',
     '2024-03-01 10:30', 'é; -- ''x'''),
    (9223372036854775806, null, null, null, 1234567890123.000000000002, null, null, null, null, ''),
    (1, 7, false, 0.10, null, 1e-7, 'm', '1969-12-31', '1999-12-31 23:59:59.123456', 'None');
"""


@pytest.fixture(scope="module")
def server():
    with run_server() as running:
        running.write(MAKE)
        running.write("create table many as select i, i % 7 as g from generate_series(1, 120000) i")
        yield running


@pytest.fixture(autouse=True)
def _credentials(monkeypatch):
    monkeypatch.setenv("PGUSER", USER)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def read(connection, query, folder=HERE):
    return read_database(Connection(connection, folder), read_query(query, folder))


def told(connection, query, folder=HERE, kind=InputError):
    with pytest.raises(kind) as caught:
        read(connection, query, folder)
    text = str(caught.value)
    assert USER not in text
    assert PASSWORD not in text
    assert "\n" not in text
    return text


def stays(tmp_path) -> pd.DataFrame:
    """The same rows from a parquet file."""
    table = pa.table(
        {
            "id": pa.array([2**63 - 1, 2**63 - 2, 1], pa.int64()),
            "age": pa.array([64, None, 7], pa.int32()),
            "died": [True, None, False],
            "weight": [Decimal("71.50"), None, Decimal("0.10")],
            "lab": [Decimal("1234567890123.000000000001"), Decimal("1234567890123.000000000002"), None],
            "risk": [0.1, None, 1e-7],
            "sex": ["f", None, "m"],
            "admitted": [dt.date(2024, 2, 29), None, dt.date(1969, 12, 31)],
            "seen": [dt.datetime(2024, 3, 1, 10, 30), None, dt.datetime(1999, 12, 31, 23, 59, 59, 123456)],
            "note": ["é; -- 'x'", "", "None"],
        }
    )
    pq.write_table(table, tmp_path / "stays.parquet")
    return read_table_file(tmp_path / "stays.parquet").frame


def test_postgresql_gives_the_table_that_a_file_gives(server, tmp_path):
    held = read(server.connection, "stays")
    pd.testing.assert_frame_equal(held.table.frame, stays(tmp_path), check_exact=True)
    assert held.table.frame["id"].tolist() == [2**63 - 1, 2**63 - 2, 1]
    assert held.table.frame["lab"].tolist()[:2] == [
        "1234567890123.000000000001",
        "1234567890123.000000000002",
    ]


def test_duckdb_gives_the_table_that_a_file_gives(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute(MAKE.replace("numeric,", "decimal(10, 2),").replace("float8", "double"))
    held = read("duckdb:///a.duckdb", "stays", tmp_path)
    pd.testing.assert_frame_equal(held.table.frame, stays(tmp_path), check_exact=True)


def test_sqlite_keeps_ids_and_blanks_and_reads_dates(tmp_path):
    with sqlite3.connect(tmp_path / "a.sqlite") as database:
        database.execute("create table t (id integer, d date, x real, mixed)")
        rows = [(2**63 - 1, "2024-02-29", 0.1, 1), (5, None, None, "b"), (6, "1969-12-31", 2, None)]
        database.executemany("insert into t values (?, ?, ?, ?)", rows)
    frame = read("sqlite:///a.sqlite", "t", tmp_path).table.frame
    assert frame["id"].tolist() == [2**63 - 1, 5, 6]
    assert frame["d"].tolist() == [pd.Timestamp("2024-02-29"), pd.NaT, pd.Timestamp("1969-12-31")]
    np.testing.assert_array_equal(frame["x"], [0.1, np.nan, 2.0])
    assert frame["mixed"].tolist() == ["1", "b", None]


def test_rows_are_streamed_in_batches_by_a_transaction_that_cannot_write(server):
    asked = Connection(server.connection, HERE), read_query("many", HERE)
    assert [batch.num_rows for batch in stream_database(*asked, rows=50_000)] == [50_000, 50_000, 20_000]
    some = list(stream_database(*asked, columns=["g"], rows=100_000))
    assert [batch.column_names for batch in some] == [["g"], ["g"]]
    state = read(server.connection, "select current_setting('transaction_read_only') as state")
    assert state.table.frame["state"].tolist() == ["on"]


def test_the_hash_is_of_the_rows_in_any_order(server):
    hashes = {
        read(server.connection, f"select {names} from many where i <= 9000 order by {order}").data_hash
        for names, order in (("i, g", "i"), ("g, i", "i desc"), ("i, g", "g, i"))
    }
    assert len(hashes) == 1
    other = read(
        server.connection, "select i, case when i = 5 then 0 else g end as g from many where i <= 9000"
    ).data_hash
    assert other not in hashes


_LETTERS = st.characters(exclude_characters="\0")  # a server's text holds none; see the changelog on SQLite's


@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.text(_LETTERS), st.none() | st.floats()),
        min_size=1,
        max_size=9,
    )
)
@settings(max_examples=20, deadline=None)
def test_a_hash_does_not_know_orders_and_batches(rows):
    def digest(parts):
        found = RowHash()
        for part in parts:
            columns = [pa.array(column) for column in zip(*part, strict=True)]
            found.add(pa.Table.from_arrays(columns, names=["a", "b", "c"]))
        return found.digest()

    assert digest([rows]) == digest([[row] for row in reversed(rows)])
    assert digest([rows]) != digest([[*rows, rows[0]]])


def test_a_wide_number_is_not_its_neighbour():
    found = []
    for number in (2**60, 2**60 + 1, 1, -1):
        one = RowHash()
        one.add(pa.table({"a": [number]}))
        found.append(one.digest())
    assert len(set(found)) == 4


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("nothing", 'relation "nothing" does not exist; correct the table'),
        ("select agee from stays", '"agee" does not exist .*"stays.age".*correct the column'),
        ("select 1 / 0 as a", "division by zero"),
        ("select age, age from stays", "stand twice: 'age'"),
        ("select array[1] as a", "column 'a' holds lists"),
        ("select 1 as a fro stays", "syntax error"),
        ("select nextval('s') as a", "does not exist"),
    ],
)
def test_a_query_that_goes_wrong_is_one_message(server, query, words):
    assert pd.Series([told(server.connection, query)]).str.contains(words).all()


def test_a_query_that_is_stopped_says_what_its_limit_is(server, monkeypatch):
    monkeypatch.setenv("PGOPTIONS", "-c statement_timeout=50")
    text = told(server.connection, "select pg_sleep(20)", kind=RunError)
    assert "ended the query after 0 rows: canceling statement due to statement timeout" in text
    assert "statement_timeout=0" in text


def test_a_connection_that_is_lost_midway_is_one_message(server):
    asked = Connection(server.connection, HERE), read_query("select i from many", HERE)
    batches = stream_database(*asked, rows=1000)
    next(batches)
    which = "query like '%FETCH%' and pid <> pg_backend_pid()"
    server.write(f"select pg_terminate_backend(pid) from pg_stat_activity where {which}")
    with pytest.raises(RunError, match=r"was lost after 1,000 rows.*run the same command again") as caught:
        list(batches)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PGPASSWORD", "wrong", "lets nobody in with this user and password; check PGUSER and PGPASSWORD"),
        ("PGUSER", "nobody-here", "lets nobody in with this user and password; check PGUSER"),
        ("PGPASSWORD", None, "asks for a password; set PGUSER and PGPASSWORD in the environment"),
    ],
)
def test_who_is_not_let_in_is_told_where_the_password_goes(server, monkeypatch, name, value, words):
    monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    text = told(server.connection, "stays")
    assert words in text
    assert "nobody-here" not in text


def test_a_database_that_is_not_there_is_named(server):
    text = told(server.connection.replace("/postgres?", "/clinic?"), "stays")
    assert 'database "clinic" does not exist' in text


@pytest.mark.parametrize("address", ["postgresql://127.0.0.1:1/a", "postgresql:///a?host=/tmp/nowhere-here"])
def test_a_server_that_is_not_there_is_one_message(address):
    pytest.importorskip("psycopg")
    assert "cannot be reached" in told(address, "stays")


def test_a_database_without_a_driver_says_what_is_missing():
    assert "nothing that is installed reaches 'foo'" in told("foo://here/a", "stays")
    assert "nothing that is installed reaches 'mysql'" in told("mysql://here/a", "stays")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_that_is_no_database_is_one_message(tmp_path, kind):
    (tmp_path / "a.db").write_text("this is text and no database " * 40)
    assert "[data] connection" in told(f"{kind}:///a.db", "stays", tmp_path)
    assert "b.db does not exist" in told(f"{kind}:///b.db", "stays", tmp_path)
    assert not (tmp_path / "b.db").exists()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_missing_table_of_a_file_is_named(tmp_path, kind):
    (sqlite3 if kind == "sqlite" else duckdb).connect(str(tmp_path / "a.db")).execute(
        "create table t as select 1 as a"
    ).close()
    assert "nothing" in told(f"{kind}:///a.db", "nothing", tmp_path)
    assert read(f"{kind}:///a.db", "select * from t", tmp_path).table.frame["a"].tolist() == [1]


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://{USER}@h/d",
        f"postgresql://{USER}:{PASSWORD}@h/d",
        f"postgresql://h/d?user={USER}",
        f"mysql://h/d?passwd={PASSWORD}",
        f"mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BUID%3D{USER}%3BPWD%3D{PASSWORD}",
        f"host=h user={USER} password={PASSWORD}",
    ],
)
def test_a_user_or_password_in_the_file_is_refused_and_not_shown(address):
    text = fault_connection(address)
    assert text
    assert USER not in text
    assert PASSWORD not in text


def test_an_address_without_them_is_taken():
    for address in ("postgresql://warehouse:5433/clinic", "sqlite:///a/b.sqlite", "duckdb:///b.duckdb"):
        assert fault_connection(address) == ""
    assert "names no file" in fault_connection("sqlite://")
    assert "is no address" in fault_connection("postgresql://h:port/d")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select 1; drop table a", "holds 2 statements"),
        ("delete from a", "begins with 'delete'"),
        ("with a as (delete from b returning *) select * from a", "holds delete"),
        ("select * into b from a", "holds into"),
        ("-- nothing\n/* at all */", "asks nothing"),
        ("", "asks nothing"),
    ],
)
def test_what_is_not_one_select_is_refused(text, words):
    assert words in fault_query(text)


def test_words_in_texts_names_and_comments_are_no_commands():
    text = "select 'drop; table' as \"update\" -- delete\nfrom a /* into; */ where b = $q$create;$q$; -- end"
    assert fault_query(text) == ""
    assert read_query(text, HERE).text == text.removesuffix("; -- end")
    assert read_query("a.stays", HERE).text == "SELECT * FROM a.stays"


def test_a_query_may_stand_in_a_file(tmp_path):
    (tmp_path / "stays.sql").write_text("\ufeffselect 1 as a\n;\n", encoding="utf-8")
    assert read_query("stays.sql", tmp_path).text == "select 1 as a"
    with pytest.raises(InputError, match=r"other\.sql does not exist"):
        read_query("other.sql", tmp_path)
