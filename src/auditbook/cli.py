"""What can be asked for on the command line, and what does a wrong call get?"""

import argparse
import io
import os
import resource
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auditbook.cli_course import add_course
from auditbook.cli_months import add_compare, add_watch
from auditbook.cli_pool import add_pooling
from auditbook.errors import InputError, RunError, nearest, printable
from auditbook.project import package_version
from auditbook.settings import PROFILES
from auditbook.surroundings import shut_out

if TYPE_CHECKING:
    from auditbook.run import Request

DONE, FAILED, WRONG = 0, 1, 2
NOT_LOADED = (
    "a library could not be loaded; is there enough memory? If so, make setup installs what is missing"
)
"""What to tell when an import fails, as it does where there is no room for it."""
LEAST_ROOM = 3
"""Gigabytes of address space without which libraries and their threads fail at one place or another."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the nearest allowed word."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print one message and leave with code 2."""
        if message.startswith("unrecognized arguments:"):
            wrong = message.split(":", 1)[1].split()[0]
            known = sorted(set(self._options()))
            message += " (another command has it)" if wrong in known else nearest(wrong, known)
        self.exit(WRONG, f"auditbook: {message}\n(auditbook --help lists the commands)\n")

    def _options(self) -> Iterator[str]:
        """List the options of this parser and of its commands."""
        for action in self._actions:
            yield from action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from command._options()


def build_parser() -> argparse.ArgumentParser:
    """Declare every command and option."""
    parser = Parser(
        prog="auditbook",
        description="Audit the fairness of a clinical prediction model; say how far to trust each verdict.",
        epilog="Exit codes: 0 done; 1 the run failed; 2 the cohort or the call is wrong.",
    )
    parser.add_argument("--version", action="version", version=f"auditbook {package_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    new = commands.add_parser("new", help="draft a cohort file from a table")
    new.add_argument(
        "data", type=Path, metavar="DATA", help="a table: csv, parquet, xlsx, dta, sav, rds, ..."
    )
    new.add_argument("--output", type=Path, metavar="FILE", help="file to write (default: beside the data)")
    new.add_argument(
        "--format",
        metavar="KEYS",
        help="how the file is written, as [data] format would say: '{ sheet = \"Stays\", skip_rows = 2 }'",
    )
    new.add_argument("--yes", action="store_true", help="ask nothing on a terminal: every guess stands")
    new.set_defaults(act=_new)

    check = commands.add_parser("check", help="read cohort file and data, and list all faults at once")
    _add_cohort(check)
    check.set_defaults(act=_check)

    audit = commands.add_parser("audit", help="make the results and their report, without chapters")
    _add_cohort(audit)
    _add_run(audit)
    _add_scheduler(audit)
    audit.set_defaults(act=_audit, only=None)

    run = commands.add_parser("run", help="audit, write the report, execute the chapters, build the book")
    _add_cohort(run)
    _add_run(run)
    _add_scheduler(run)
    run.add_argument("--only", metavar="CHAPTER", help="execute just this chapter")
    run.add_argument(
        "--edition",
        choices=("reader", "student", "instructor"),
        default="reader",
        help="whose book: a student's has no solutions (RUN/student/html, RUN/student/notebooks)",
    )
    run.set_defaults(act=_run)
    _add_pockets(commands)
    _add_export(commands)
    _add_fetch(commands)
    _add_simulate(commands)
    add_course(commands)
    add_compare(commands)
    add_watch(commands, add_cohort=_add_cohort, make=_request)
    add_pooling(commands, add_cohort=_add_cohort, make=_request)
    return parser


def _add_pockets(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Declare the commands about pockets."""
    pockets = commands.add_parser("pockets", help="audit in pockets only, or send new records to them")
    actions = pockets.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    audit = actions.add_parser("audit", help="learn and test pockets; takes continuous outcomes too")
    _add_cohort(audit)
    _add_run(audit, folder="runs/<name>-pockets")
    audit.set_defaults(act=_audit_pockets, only=None)
    assign = actions.add_parser("assign", help="send new records to the pockets of a run")
    assign.add_argument("run_dir", type=Path, metavar="RUN", help="the run's folder, such as runs/NAME")
    assign.add_argument(
        "data", type=Path, metavar="DATA", help="new records: csv, parquet, xlsx, dta, sav, rds, ..."
    )
    assign.add_argument(
        "--output", type=Path, metavar="FILE", help="file to write (default: beside the data)"
    )
    assign.set_defaults(act=_assign_pockets)


def _add_export(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Declare the command that fills the forms on which a run is handed in."""
    export = commands.add_parser("export", help="fill a form from a finished run, such as docx or xlsx")
    export.add_argument("run_dir", type=Path, metavar="RUN", help="the run's folder, such as runs/NAME")
    export.add_argument("form", metavar="FORMAT", help="xlsx, docx, chai, tripod-ai, mlbom or hti1")
    export.add_argument("--output", type=Path, metavar="FILE", help="file to write (default: in RUN/exports)")
    export.set_defaults(act=_export)


def _add_fetch(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Declare the command that fetches public tables."""
    fetch = commands.add_parser("fetch", help="fetch a public table with the cohort file that audits it")
    fetch.add_argument("name", metavar="NAME", nargs="?", help="the table; without a name all are listed")
    fetch.add_argument("--to", type=Path, metavar="DIR", help="folder to put it in (default: ./NAME)")
    fetch.add_argument(
        "--from",
        dest="given",
        type=Path,
        nargs="+",
        default=(),
        metavar="FILE",
        help="the publisher's files, fetched by hand",
    )
    fetch.add_argument(
        "--mirror", default="", metavar="URL", help="a folder of your own that holds the files"
    )
    fetch.set_defaults(act=_fetch)


def _add_simulate(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Declare the command that simulates pocket audits."""
    simulate = commands.add_parser("simulate", help="simulate pocket audits with planted errors")
    simulate.add_argument(
        "--profile", choices=(*PROFILES, "variants"), default="quick", help="sizes, worlds and replicates"
    )
    simulate.add_argument("--worlds", nargs="+", metavar="NAME", default=(), help="worlds, not the profile's")
    simulate.add_argument("--replicates", type=_replicates, metavar="N", help="replicates of each world")
    simulate.add_argument("--folder", type=Path, metavar="DIR", help="where finished replicates are kept")
    simulate.add_argument("--data", type=Path, metavar="DIR", help="folder of the real tables")
    simulate.add_argument("--seed", type=_seed, metavar="N", help="seed of the simulation")
    simulate.add_argument("--jobs", type=_jobs, default=os.cpu_count(), metavar="N", help="processes")
    simulate.add_argument(
        "--scheduler", default="", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:PORT"
    )
    simulate.add_argument("--keep", action="store_true", help="write the tables of data/simulations anew")
    simulate.set_defaults(act=_simulate)


def _add_cohort(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cohort", type=Path, metavar="COHORT", help="the cohort file (TOML)")
    parser.add_argument("--data", type=Path, metavar="FILE", help="data file, in place of the cohort file's")
    parser.add_argument("--seed", type=_seed, metavar="N", help="seed, in place of the protocol's")
    parser.add_argument(
        "--profile", choices=tuple(PROFILES), default="standard", help="amount of work, never its logic"
    )


def _add_run(parser: argparse.ArgumentParser, *, folder: str = "runs/<name>") -> None:
    parser.add_argument(
        "--jobs", type=_jobs, default=os.cpu_count(), metavar="N", help="cores (default: all)"
    )
    parser.add_argument("--run-dir", type=Path, metavar="DIR", help=f"the run's folder (default: {folder})")
    parser.add_argument(
        "--no-scores",
        action="store_true",
        help="remove the predictions for each record when all is done; another audit makes them again",
    )
    parser.add_argument("--force", action="store_true", help="redo steps whose inputs have not changed")


def _add_scheduler(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="count on the workers of a Dask scheduler, tcp://HOST:PORT",
    )


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 to {2**32 - 1}")
    return int(text)


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of cores")
    return int(text)


def _replicates(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of replicates, 1 or more")
    return int(text)


def _request(call: argparse.Namespace) -> "Request":
    from auditbook.run import Request

    return Request(
        cohort=call.cohort,
        data=call.data,
        profile=PROFILES[call.profile],
        seed=call.seed,
        jobs=getattr(call, "jobs", 1),
        run_dir=getattr(call, "run_dir", None),
        force=getattr(call, "force", False),
        keep_scores=not getattr(call, "no_scores", False),
        only=getattr(call, "only", None),
        scheduler=getattr(call, "scheduler", ""),
        edition=getattr(call, "edition", "reader"),
    )


def _new(call: argparse.Namespace) -> None:
    from auditbook.intake import ask_roles, draft_cohort

    target = (
        call.output
        if call.output is not None
        else call.data.with_name(call.data.name.split(".")[0] + ".toml")
    )
    if target.suffix.lower() != ".toml":
        raise InputError(f"{target} does not end in .toml, as a cohort file must; use --output FILE.toml")
    if os.path.lexists(target):
        raise InputError(f"{target} is there already; it is not overwritten: move it or use --output FILE")
    asked = not call.yes and sys.stdin.isatty() and sys.stdout.isatty()
    text = draft_cohort(
        call.data, target=target, form=call.format, ask=ask_roles if asked else None, tell=print
    )
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise InputError(f"{target} cannot be written: {fault.strerror}; use --output FILE") from fault
    command = f"auditbook check {shlex.quote(str(target))}"
    print(f"{target}: a first draft. Read it, correct what was guessed, then: {command}")


def _check(call: argparse.Namespace) -> None:
    from auditbook.intake import tell_shared_keys, tell_values, warn_cohort, warn_table
    from auditbook.run import check_request

    checked, cautions = check_request(_request(call)), []
    if checked.source is not None:
        for note in checked.source.table.notes:
            print(f"note: {printable(note)}")
        cautions += warn_table(checked.file, checked.source.table)
    if checked.cohort is not None:
        cautions += warn_cohort(checked.cohort)
    if checked.cohort is not None and not checked.faults:
        print(f"{call.cohort}: no fault found")
        print("\n".join([checked.cohort.summary(), *tell_values(checked.cohort)]))
    for caution in cautions:
        print(f"warning: {caution}")
    if shared := tell_shared_keys(cautions):
        print(f"note: {printable(shared)}")
    if checked.faults:
        raise InputError(*checked.faults)


def _audit(call: argparse.Namespace) -> None:
    from auditbook.progress import Progress
    from auditbook.run import run_audit

    with Progress(total=7) as progress:
        folder = run_audit(_request(call), progress)
    print(f"results: {folder / 'results'}")
    _tell_finding(folder)


def _tell_finding(folder: Path) -> None:
    """Print what a run has found, in five lines."""
    from auditbook.report import tell_finding

    print("\n".join(tell_finding(folder)))


def _run(call: argparse.Namespace) -> None:
    from auditbook.progress import Progress
    from auditbook.run import chapter_names, run_book

    begun = time.time()
    with Progress(total=8 + len(chapter_names())) as progress:
        folder = run_book(_request(call), progress)
    page = folder / ("" if call.edition == "reader" else call.edition) / "html" / "index.html"
    print(f"results: {folder / 'results'}")
    if call.only:
        print(f"chapter: {folder / 'notebooks' / call.only}.ipynb")
    # The pages are of an earlier run when one chapter alone was executed and others are still to come.
    if page.is_file() and (not call.only or page.stat().st_mtime >= begun):
        print(f"book: {page}")
    elif page.is_file():
        print(f"book: pages of an earlier run, not of these results: {page}")
    _tell_finding(folder)


def _audit_pockets(call: argparse.Namespace) -> None:
    from auditbook.progress import Progress
    from auditbook.run import run_pockets

    with Progress(total=3) as progress:
        folder = run_pockets(_request(call), progress)
    print(f"results: {folder / 'results'}")
    _tell_finding(folder)


def _assign_pockets(call: argparse.Namespace) -> None:
    from auditbook.run import assign_file

    stem = call.data.name.split(".")[0]
    output = call.output if call.output is not None else call.data.with_name(f"{stem}-pockets.csv")
    found = assign_file(call.run_dir, call.data, output)
    for note in found.notes:
        print(f"warning: {note}")
    print(
        f"{output}: records: {found.records:,}; without a forest pocket: {found.abstained:,}; "
        f"to review: {found.review:,}"
    )
    for model, count in found.by_model.items():
        print(f"  for what was found of {printable(model)}: {count:,}")


def _export(call: argparse.Namespace) -> None:
    from auditbook.report import export_run

    print(export_run(call.run_dir, call.form, call.output))


def _fetch(call: argparse.Namespace) -> None:
    from auditbook.fetch import fetch_table, list_sources, read_source

    if call.name is None:
        for source in list_sources():
            by_hand = "" if source.files else " (given to a person only: --from FILE)"
            print(f"{source.name}: {source.title}{by_hand}")
        return
    source = read_source(call.name)
    print(f"{source.title}\n  publisher: {source.publisher}\n  terms: {source.terms}\n  page: {source.page}")
    found = fetch_table(call.name, call.to or Path(call.name), given=call.given, mirror=call.mirror)
    for trap in source.traps:
        print(f"  known: {printable(trap)}")
    for line in found.told:
        print(f"  {printable(line)}")
    print(f"table: {found.table}\nnext: auditbook check {shlex.quote(str(found.cohort))}")


def _simulate(call: argparse.Namespace) -> None:
    from auditbook.progress import Progress
    from auditbook.studies import SEED, simulate

    with Progress(total=1) as progress:
        told = simulate(
            profile=call.profile,
            worlds=call.worlds,
            replicates=call.replicates,
            folder=call.folder,
            data=call.data,
            seed=SEED if call.seed is None else call.seed,
            jobs=call.jobs,
            scheduler=call.scheduler,
            keep=call.keep,
            say=progress.say,
        )
    print(told)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default the one that was typed.

    Returns 0 when it is done, 1 when the run failed, 2 when the cohort or the call is wrong; 3 when a watch
    was asked to end so, and has something to say.
    """
    shut_out()
    _print_anything()
    call = build_parser().parse_args(arguments)
    return _guard(call.act, call)


def _print_anything() -> None:
    """Let a terminal of another encoding show what it cannot print as its code, and not end the run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _describe(fault: OSError) -> str:
    """Say which file the system refused and why; of several files, the first."""
    if isinstance(fault, shutil.Error) and isinstance(fault.args[0], list):
        return f"{fault.args[0][0][2]}; the same command goes on from here"
    where = f"{fault.filename}: " if fault.filename else ""
    return f"{where}{fault.strerror or fault}; the same command goes on from here"


def _refuse_little_room() -> None:
    """Say before anything is done that the address space of a process is limited to too little."""
    room = resource.getrlimit(resource.RLIMIT_AS)[0]
    if room != resource.RLIM_INFINITY and room < LEAST_ROOM * 10**9:
        raise RunError(
            f"a process may use {room / 10**9:.1f} GB of address space here (ulimit -v), and auditbook needs "
            f"{LEAST_ROOM}; raise the limit (ulimit -v unlimited), or ask whoever runs the machine"
        )


def _guard(act: Callable[[argparse.Namespace], int | None], call: argparse.Namespace) -> int:
    """Turn a user's mistake and a failed run into a message and a code, without a traceback."""
    try:
        _refuse_little_room()
        return act(call) or DONE
    except InputError as wrong:
        for fault in wrong.faults:
            print(f"auditbook: {printable(fault)}", file=sys.stderr)
        return WRONG
    except RunError as failed:
        lines = [printable(line) for line in str(failed).splitlines()]
        print("auditbook: the run failed:", "\n".join(lines), file=sys.stderr)
        return FAILED
    except OSError as fault:
        print(f"auditbook: the run failed: {printable(_describe(fault))}", file=sys.stderr)
        return FAILED
    except MemoryError:
        print("auditbook: the run failed: not enough memory; --profile quick needs less", file=sys.stderr)
        return FAILED
    except (ImportError, SystemError) as fault:
        print(f"auditbook: the run failed: {NOT_LOADED} ({printable(str(fault))})", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("auditbook: interrupted; the same command goes on from here", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
