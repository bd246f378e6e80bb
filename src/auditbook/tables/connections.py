"""Which database does a connection name, and as whom is it asked?"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

if TYPE_CHECKING:
    from sqlalchemy import URL

SAMPLE = 'connection = "postgresql://warehouse/clinic"'
POSTGRESQL = ("PGUSER", "PGPASSWORD")
OTHERS = ("AUDITBOOK_DB_USER", "AUDITBOOK_DB_PASSWORD")
"""Variables of the environment that hold user and password."""
_IN_FILES = ("sqlite", "duckdb")
_SECRETS = {
    *("user", "username", "uid", "user id", "password", "passwd", "pwd", "pass", "token", "access_token"),
    *("secret", "private_key", "sslpassword", "authentication", "credentials"),
}
_INSIDE = re.compile(r"(?i)\b(user|user id|username|uid|password|passwd|pwd|token)\s*=")


@dataclass(frozen=True)
class Connection:
    """A database that is named without user and password, which only the environment knows."""

    written: str  # As the cohort file writes it
    folder: Path = field(default_factory=Path)  # From where the file of a database is seen

    @property
    def kind(self) -> str:
        """Which database: `postgresql`, `sqlite`, `duckdb`, ..."""
        return _read(self.written).get_backend_name()

    @property
    def file(self) -> Path | None:
        """The file that holds the database; None where a server does."""
        name = _read(self.written).database
        return self.folder / name if self.kind in _IN_FILES and name else None

    @property
    def variables(self) -> tuple[str, str]:
        """The variables of the environment that hold user and password."""
        return POSTGRESQL if self.kind == "postgresql" else OTHERS

    def make_url(self) -> "URL":
        """Make the address for SQLAlchemy, with user and password; it writes itself without the latter."""
        url = _read(self.written)
        user, password = (os.environ.get(name) or None for name in self.variables)
        if self.kind in _IN_FILES:
            return url
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        return url if user is None else url.set(username=user, password=password)

    def tell(self, fault: object) -> str:
        """Write the first line of what a database says; blank where it holds the user or the password."""
        lines = str(fault).strip().splitlines()
        held = [os.environ.get(name, "") for name in self.variables]
        return "" if not lines or any(word and word in str(fault) for word in held) else lines[0][:300]


def _read(written: str) -> "URL":
    from sqlalchemy import make_url

    return make_url(written)


def fault_connection(written: str) -> str:
    """Say what is wrong with a connection, never what it holds; blank where nothing is."""
    from sqlalchemy.exc import ArgumentError

    shape = f"write {SAMPLE}, sqlite:///FILE or duckdb:///FILE"
    try:
        url = _read(written)
    except (ArgumentError, ValueError):
        return f"is no address of a database; {shape}"
    if url.username is not None or url.password is not None or _holds_secret(url.query):
        variables = POSTGRESQL if url.get_backend_name() == "postgresql" else OTHERS
        return (
            "holds a user or a password, which would be passed on with this file; take them out, and set "
            f"{' and '.join(variables)} in the environment"
        )
    if url.get_backend_name() in _IN_FILES and (url.host or not url.database or ":memory:" in url.database):
        return "names no file that holds the database; write sqlite:///FILE or duckdb:///FILE"
    return ""


def _holds_secret(options: Mapping[str, str | tuple[str, ...]]) -> bool:
    """Tell whether an option of an address says who asks, or holds a text that does."""
    return any(
        name.lower() in _SECRETS or _INSIDE.search(unquote_plus(str(value)))
        for name, value in options.items()
    )
