"""What can be asked about counts that hospitals hand over instead of records?"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditbook.errors import printable

if TYPE_CHECKING:
    from auditbook.run import Request

MINIMUM = 10
"""No count of fewer people is told where the hospitals agreed on nothing else."""


def add_pooling(
    commands: Any, *, add_cohort: Callable[..., None], make: Callable[[argparse.Namespace], "Request"]
) -> None:
    """Declare ``auditbook counts`` and ``auditbook pool``."""
    counts = commands.add_parser("counts", help="write one hospital's counts, without a record, for pool")
    add_cohort(counts)
    counts.add_argument(
        "--output", type=Path, metavar="FILE", help="file to write (default: NAME-counts.json)"
    )
    counts.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="count on the workers of a Dask scheduler, tcp://HOST:PORT",
    )
    least = counts.add_mutually_exclusive_group()
    least.add_argument(
        "--minimum",
        type=_minimum,
        metavar="N",
        help=f"tell no count of fewer people, nor any from which one would follow (default: {MINIMUM})",
    )
    least.add_argument(
        "--no-suppression",
        action="store_true",
        help="tell every count, score bins too, where the hospitals agreed on that",
    )
    counts.set_defaults(act=lambda call: _counts(call, make(call)), jobs=1)
    pool = commands.add_parser("pool", help="audit several hospitals together from their counts files")
    pool.add_argument("files", type=Path, nargs="+", metavar="COUNTS", help="files that counts has written")
    pool.add_argument("--run-dir", type=Path, metavar="DIR", help="folder (default: runs/pooled)")
    pool.set_defaults(act=_pool)


def _minimum(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a number of people from 2 to 1000; --no-suppression tells every count"
        )
    return int(text)


def _counts(call: argparse.Namespace, request: "Request") -> None:
    from auditbook.progress import Progress
    from auditbook.run import write_counts

    with Progress(total=1) as progress:
        minimum = 0 if call.no_suppression else call.minimum or MINIMUM
        found = write_counts(request, call.output, minimum, progress)
    print(f"{found.path}: records: {found.records:,}")
    if found.withheld:
        named = printable(", ".join(found.withheld))
        print(f"withheld: groups of {named}, for small counts or to hide them")
    for note in found.notes:
        print(f"warning: {printable(note)}")


def _pool(call: argparse.Namespace) -> None:
    from auditbook.progress import Progress
    from auditbook.report import tell_finding
    from auditbook.run import pool_files

    with Progress(total=2) as progress:
        folder = pool_files(call.files, call.run_dir, progress)
    print(f"results: {folder / 'results'}\nhospitals: {folder / 'hospitals'}")
    print("\n".join(tell_finding(folder)))
