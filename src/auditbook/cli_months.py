"""What can be asked about months: what differs between two audits, and what a watch says at each look?"""

import argparse
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditbook.errors import printable

if TYPE_CHECKING:
    from auditbook.run import Request

ALARM = 3
"""Code with which a watch ends that has something to say; 0 is quiet, 1 a failure, 2 a wrong call."""
FAIL_ON = {"never": (), "shown": ("gap",), "changed": ("change",), "any": ("gap", "change")}


def add_watch(
    commands: Any, *, add_cohort: Callable[..., None], make: Callable[[argparse.Namespace], "Request"]
) -> None:
    """Declare ``auditbook watch``."""
    watch = commands.add_parser(
        "watch",
        help="look at every window of time that is over, with an error that holds however often one looks",
        epilog=(
            f"Exit codes: 0 quiet; {ALARM} an alarm (see --fail-on); 1 the watch failed; 2 the cohort "
            "or the call is wrong. The last line is JSON, for a scheduler."
        ),
    )
    add_cohort(watch)
    watch.add_argument(
        "--fail-on",
        choices=tuple(FAIL_ON),
        default="never",
        help=f"end with code {ALARM} while a gap is shown to lie beyond its threshold (shown), while "
        "something has changed since the baseline (changed), or either (any)",
    )
    watch.add_argument(
        "--through",
        type=_day,
        metavar="DATE",
        help="last day up to which the data are whole, as 2024-06-30 (default: that of the newest record)",
    )
    watch.add_argument("--run-dir", type=Path, metavar="DIR", help="folder (default: runs/<name>-watch)")
    watch.add_argument("--restart", action="store_true", help="forget the looks that were taken")
    watch.set_defaults(act=lambda call: _watch(call, make(call)), jobs=1)


def _day(text: str) -> date:
    from auditbook.cohort import read_day

    day = read_day(text)
    if day is None:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no day; write it as year-month-day, such as 2024-06-30"
        )
    return day


def _watch(call: argparse.Namespace, request: "Request") -> int:
    """Watch, tell, and end with the code that was asked for."""
    from auditbook.months import summarise_watch, tell_watch
    from auditbook.progress import Progress
    from auditbook.run import WatchRequest, watch_cohort

    with Progress(total=3) as progress:
        found = watch_cohort(WatchRequest(request, call.through, call.restart), progress)
    alarm = any(found.watched.alarms(question) for question in FAIL_ON[call.fail_on])
    print("\n".join(tell_watch(found.watched)))
    print(f"page: {printable(str(found.folder / 'watch.md'))}")
    print(json.dumps(summarise_watch(found.watched, alarm=alarm), ensure_ascii=True, sort_keys=True))
    return ALARM if alarm else 0


def add_compare(commands: Any) -> None:
    """Declare ``auditbook compare``."""
    compare = commands.add_parser("compare", help="say what has changed from one finished audit to another")
    compare.add_argument(
        "first", type=Path, metavar="RUN", help="folder of the earlier audit, such as runs/NAME"
    )
    compare.add_argument("second", type=Path, metavar="RUN", help="folder of the later one")
    compare.add_argument(
        "--cohorts",
        type=Path,
        nargs=2,
        default=(),
        metavar="COHORT",
        help="both cohort files, where the audits are of the same records, to pair these",
    )
    compare.add_argument(
        "--output", type=Path, metavar="DIR", help="folder (default: compare in the second RUN)"
    )
    compare.set_defaults(act=_compare)


def _compare(call: argparse.Namespace) -> None:
    """Compare, and tell."""
    from auditbook.months import tell_comparison
    from auditbook.progress import Progress
    from auditbook.run import CompareRequest, compare_folders

    asked = CompareRequest(call.first, call.second, tuple(call.cohorts), call.output)
    with Progress(total=2) as progress:
        found = compare_folders(asked, progress)
    print("\n".join(tell_comparison(found.comparison)))
    print(f"page: {printable(str(found.folder / 'compare.md'))}")
