"""Which public tables are known, who publishes them, under which terms, and at which address?"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from auditbook.errors import InputError, nearest


@dataclass(frozen=True)
class RemoteFile:
    """A file at its publisher's."""

    name: str  # What it is called here
    address: str
    sha256: str = ""  # Blank where the publisher makes it anew for every request, or none was on record


@dataclass(frozen=True)
class Source:
    """A public table, and what anybody who uses it has to know."""

    name: str
    title: str
    publisher: str
    terms: str
    page: str  # Where a person reads about it
    cohort: str  # The cohort file in data/cohorts that audits it
    table: str  # The file that the cohort file names
    files: tuple[RemoteFile, ...] = ()  # None where the publisher gives them to a person only
    steps: str = ""  # What a person does there
    traps: tuple[str, ...] = ()  # What is put right when it is read
    extra: Mapping[str, Any] = field(default_factory=dict)


@cache
def _read_all() -> dict[str, Source]:
    text = (Path(__file__).parent / "sources.toml").read_text(encoding="utf-8")
    found = {}
    for name, values in tomllib.loads(text).items():
        files = tuple(RemoteFile(**one) for one in values.pop("files", ()))
        traps = tuple(values.pop("traps", ()))
        found[name] = Source(name=name, files=files, traps=traps, **values)
    return found


def list_sources() -> tuple[Source, ...]:
    """List the public tables that can be fetched, in alphabetical order.

    Returns
    -------
    tuple of Source
        Each with its publisher, terms, files and checksums.

    Examples
    --------
    >>> [source.name for source in list_sources()][:2]
    ['diabetes-130', 'nhanes']
    """
    return tuple(_read_all()[name] for name in sorted(_read_all()))


def read_source(name: str) -> Source:
    """Find a public table by its name.

    Parameters
    ----------
    name : str
        One of `list_sources`.

    Returns
    -------
    Source
        What is known of it.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    known = _read_all()
    if name not in known:
        raise InputError(
            f"{name!r} is no table that can be fetched{nearest(name, known)}; "
            f"known: {', '.join(sorted(known))}"
        )
    return known[name]
