"""A PostgreSQL server of the test's own, in a temporary folder, reached by a Unix socket only."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

USER, PASSWORD = "planted_user_7f3", "Planted-Secret-91c"
_PLACES = (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/bin"))


@dataclass(frozen=True)
class Server:
    """A running server."""

    folder: Path

    @property
    def connection(self) -> str:
        return f"postgresql:///postgres?host={self.folder}"

    def write(self, statements: str) -> None:
        """Write as the server's owner, which no audit does."""
        import psycopg

        how = {"host": str(self.folder), "dbname": "postgres", "user": USER, "password": PASSWORD}
        with psycopg.connect(**how, autocommit=True) as opened:
            opened.execute(statements)


@contextmanager
def run_server() -> Iterator[Server]:
    """Start a server that asks for a password; skip where PostgreSQL is not installed."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'psycopg[binary]'")
    place = next((place for place in _PLACES if (place / "initdb").exists()), None)
    if place is None:
        pytest.skip("PostgreSQL's server is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    asks = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL, **_another_user(folder)}
    (folder / "pw").write_text(PASSWORD + "\n")
    (folder / "pw").chmod(0o644)
    make = ["--auth=scram-sha-256", f"--pwfile={folder / 'pw'}", "--no-sync", "-E", "UTF8", "--locale=C"]
    data = ["-D", str(folder / "data")]
    try:
        subprocess.run([place / "initdb", *data, "-U", USER, *make], **asks)
        (folder / "pw").unlink()
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        control = [place / "pg_ctl", *data, "-w", "-t", "300"]
        subprocess.run([*control, "-l", str(folder / "log"), "-o", options, "start"], **asks)
        try:
            yield Server(folder)
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **asks)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _another_user(folder: Path) -> dict[str, object]:
    """Start as the user that Debian makes for it where this is root, which PostgreSQL refuses."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            owner = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no other user to run it as")
