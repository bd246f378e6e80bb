"""Audits whose records come from a database: as from a file, and no password in anything that is left."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.run.keys import step_keys
from auditbook.run.plan import Request, load_planned, plan_run, read_connected
from auditbook.run.steps import MAKERS
from cohorts import write_cohort
from postgresql_server import PASSWORD, USER, run_server


@pytest.fixture(scope="module")
def server():
    with run_server() as running:
        yield running


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    """A cohort file and its table (csv), of 600 records."""
    return write_cohort(tmp_path_factory.mktemp("database"), rows=600, missing=0.02)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch):
    monkeypatch.setenv("PGUSER", USER)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def connect(cohort: Path, connection: str, query: str) -> Path:
    """Write the same cohort file with a connection in place of the path."""
    text = cohort.read_text(encoding="utf-8")
    target = cohort.with_name("connected.toml")
    source = f'connection = "{connection}"\nquery = "{query}"'
    target.write_text(text.replace('path = "strange.csv"', source), encoding="utf-8")
    return target


def send(server, cohort: Path, *, order: str) -> None:
    """Put the table of a cohort into the server, as people would: numbers, names, blanks."""
    import psycopg

    frame = pd.read_csv(
        cohort.with_name("strange.csv"),
        dtype={"patient": str, "visit": str},
        keep_default_na=False,
        float_precision="round_trip",
    )
    frame = frame.sort_values(order)
    types = {"age": "int", "p0": "float8", "pulse, at rest": "numeric"}
    columns = ", ".join(f'"{name}" {types.get(name, "text")}' for name in frame)
    server.write(f"drop table if exists stays; create table stays ({columns})")
    rows = [
        [None if cell == "" else cell for cell in row] for row in frame.astype(object).to_numpy().tolist()
    ]
    how = {"host": str(server.folder), "dbname": "postgres", "user": USER, "password": PASSWORD}
    with (
        psycopg.connect(**how) as opened,
        opened.cursor() as cursor,
        cursor.copy("copy stays from stdin") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def audit(cohort: Path, folder: Path) -> int:
    return main(["audit", str(cohort), "--profile", "smoke", "--jobs", "1", "--run-dir", str(folder)])


def read_tables(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((folder / "results").glob("*.csv"))}


def test_a_cohort_of_a_query_is_that_of_the_file_whatever_the_order_of_rows(server, cohort, tmp_path):
    connected = connect(cohort, server.connection, "select * from stays")
    plan = plan_run(Request(connected, run_dir=tmp_path / "run"))
    from_file = load_cohort(read_cohort_file(cohort), cache_dir=tmp_path)
    keys = []
    for order in ("p0", "visit"):
        send(server, cohort, order=order)
        source = read_connected(plan)
        pd.testing.assert_frame_equal(load_planned(plan, source).table, from_file.table, check_exact=True)
        keys.append(step_keys(plan, MAKERS, source.data_hash))
    assert keys[0] == keys[1]
    server.write("delete from stays where visit < '0000010'")
    assert step_keys(plan, MAKERS, read_connected(plan).data_hash)["cohort"] != keys[0]["cohort"]


@pytest.mark.slow
def test_an_audit_of_a_query_is_that_of_the_file_and_tells_no_password(server, cohort, tmp_path, capfd):
    send(server, cohort, order="p0")
    connected = connect(cohort, server.connection, "select * from stays")
    assert main(["check", str(connected)]) == 0
    assert audit(cohort, tmp_path / "file") == 0
    assert audit(connected, tmp_path / "base") == 0
    assert read_tables(tmp_path / "base") == read_tables(tmp_path / "file")
    capfd.readouterr()
    send(server, cohort, order="visit")  # other rows first, and nothing else
    assert audit(connected, tmp_path / "base") == 0
    assert "nothing has changed" in capfd.readouterr().err
    server.write("delete from stays where visit < '0000010'")
    assert audit(connected, tmp_path / "base") == 0
    told = "".join(capfd.readouterr())
    assert "nothing has changed" not in told
    held = [path for path in (tmp_path / "base").rglob("*") if path.is_file()]
    assert len(held) > 20
    for secret in (USER, PASSWORD):
        assert secret not in told
        assert not [path for path in held if secret.encode() in path.read_bytes()]


def test_no_output_of_a_failed_call_holds_user_or_password(server, cohort, tmp_path):
    connected = connect(cohort, server.connection.replace("/postgres?", "/clinic?"), "stays")
    call = [
        sys.executable,
        "-m",
        "auditbook.cli",
        "audit",
        str(connected),
        "--run-dir",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(call, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 2
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1
    assert USER not in said
    assert PASSWORD not in said
    assert not (tmp_path / "run").exists()


def test_what_is_wrong_with_the_rows_is_told_as_of_a_file(server, cohort, capsys):
    send(server, cohort, order="visit")
    connected = connect(cohort, server.connection, "select visit, patient, race from stays")
    assert main(["check", str(connected)]) == 2
    told = capsys.readouterr().err
    assert "[outcome] column: the query has no column 'outcome'" in told
    assert "[scores.given_0] column: the query has no column 'p0'" in told


def test_a_query_without_rows_is_told(server, cohort, capsys):
    send(server, cohort, order="visit")
    connected = connect(cohort, server.connection, "select * from stays where age > 500")
    assert main(["check", str(connected)]) == 2
    assert "[data] query: the query has no rows, only column names; ask for more" in capsys.readouterr().err


def test_duckdb_needs_no_server_and_is_read_only(cohort):
    with duckdb.connect(str(cohort.with_name("clinic.duckdb"))) as database:
        table = cohort.with_name("strange.csv")
        database.execute(f"create table stays as from read_csv('{table}', types={{'outcome': 'varchar'}})")
    before = cohort.with_name("clinic.duckdb").read_bytes()
    connected = connect(cohort, "duckdb:///clinic.duckdb", "stays")
    assert main(["check", str(connected)]) == 0
    assert cohort.with_name("clinic.duckdb").read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('query = "stays"', "", "[data] query: is missing; write a SELECT"),
        ("connection", "# connection", "[data] query: is only used with connection"),
        ('query = "stays"', 'query = "drop table stays"', "[data] query: begins with 'drop'"),
        (
            'query = "stays"',
            'query = "stays"\nformat = { decimal = "," }',
            "[data] format: is only used with path",
        ),
        ('query = "stays"', 'query = "stays"\npath = "a.csv"', "path and connection are given"),
        (
            "sqlite:///a.db",
            f"postgresql://{USER}:{PASSWORD}@h/d",
            "set PGUSER and PGPASSWORD in the environment",
        ),
        ('"sqlite:///a.db"', f'["postgresql://{USER}:{PASSWORD}@h/d"]', "[data] connection: must be text"),
        ('"sqlite:///a.db"', f'"host={USER} password={PASSWORD}"', "is no address of a database"),
    ],
)
def test_a_fault_of_the_file_is_told_without_a_secret(cohort, capsys, old, new, words):
    connected = connect(cohort, "sqlite:///a.db", "stays")
    connected.write_text(connected.read_text().replace(old, new, 1))
    assert main(["check", str(connected)]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert USER not in told
    assert PASSWORD not in told


def test_a_file_has_no_place_beside_a_connection(cohort, capsys):
    connected = connect(cohort, "sqlite:///a.db", "stays")
    assert main(["check", str(connected), "--data", str(cohort.with_name("strange.csv"))]) == 2
    assert "so there is no file to replace by --data" in capsys.readouterr().err
