"""How is work sent to a Dask cluster: is there a scheduler, and do its workers have the same code?"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from auditbook.code import PACKAGE, SOURCE
from auditbook.errors import InputError, RunError
from auditbook.project import digest_files, digest_text, package_version

_SHAPE = "the address that the scheduler prints, such as tcp://node:8786"
_PATIENCE = 60
"""Seconds to wait for the first worker."""


@contextmanager
def open_cluster(scheduler: str) -> Iterator[Any]:
    """Open a client of the Dask scheduler at an address.

    Raises
    ------
    InputError
        If Dask is not installed, or the address is none.
    RunError
        If no scheduler answers.
    """
    if find_spec("distributed") is None:
        raise InputError("--scheduler needs Dask: pip install distributed, here and where workers run")
    distributed: Any = import_module("distributed")
    _reach(distributed, scheduler)
    with distributed.Client(scheduler, set_as_default=False) as client:
        yield client


def _reach(distributed: Any, scheduler: str) -> None:
    """Refuse an address at which no scheduler answers, which a client would be slow to give up."""

    async def greet() -> None:
        settings = distributed.Security().get_connection_args("client")
        (await distributed.comm.connect(scheduler, **settings)).abort()

    try:
        with ThreadPoolExecutor(1) as pool:  # a notebook's own thread has a loop already
            pool.submit(lambda: asyncio.run(greet())).result()
    except ValueError as fault:
        raise InputError(f"--scheduler: {scheduler!r} is no address ({fault}); write {_SHAPE}") from fault
    except (OSError, MemoryError) as fault:  # the latter: a web page's first bytes, read as a length
        raise RunError(
            f"no Dask scheduler answers at {scheduler} ({fault}); start one, or name {_SHAPE}"
        ) from fault


def check_workers(client: Any, *, patience: float = _PATIENCE) -> None:
    """Refuse workers that do not have this package, or have it otherwise.

    Raises
    ------
    RunError
        If there is no worker, or one has no auditbook, another version, or other code; each is named.
    """
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise RunError(
            f"the Dask scheduler has had no worker for {patience:.0f} s; start some: dask worker {_SHAPE}"
        ) from None
    here = package_version()
    found = client.run(metadata.version, PACKAGE, on_error="return")
    lacking = sorted(worker for worker, version in found.items() if not isinstance(version, str))
    others = sorted(
        f"{worker} ({found[worker]})" for worker in set(found) - set(lacking) if found[worker] != here
    )
    _refuse(lacking, "have no auditbook")
    _refuse(others, f"have another version of auditbook than this {here}")
    code = client.run(digest_source, on_error="return")
    _refuse(
        sorted(worker for worker, one in code.items() if one != digest_source()),
        "have other code of auditbook",
    )


def _refuse(workers: list[str], what: str) -> None:
    """Name the workers of which something is wrong."""
    if workers:
        more = f" and {len(workers) - 3} more" if len(workers) > 3 else ""
        raise RunError(
            f"workers of the Dask cluster {what}: {', '.join(workers[:3])}{more}; install the same commit "
            "there, with the versions of requirements.lock, and start them again"
        )


@cache
def digest_source() -> str:
    """Hash every module of the package (SHA-256, hexadecimal), so that other code is told apart."""
    paths = sorted((SOURCE / PACKAGE).rglob("*.py"))
    return digest_text(*(path.relative_to(SOURCE).as_posix() for path in paths), digest_files(paths))
