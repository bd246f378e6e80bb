"""What can be asked for on the command line by who learns to audit?"""

import argparse
from pathlib import Path


def add_course(commands: "argparse._SubParsersAction") -> None:
    """Declare the commands of the capstone."""
    capstone = commands.add_parser(
        "capstone", help="write the table that the course ends with, and a file of answers"
    )
    capstone.add_argument(
        "--to", type=Path, default=Path("capstone"), metavar="DIR", help="folder (default: ./capstone)"
    )
    capstone.set_defaults(act=_capstone)
    check = commands.add_parser(
        "check-answers", help="say which answers of the capstone are right, with hints"
    )
    check.add_argument("file", type=Path, metavar="FILE", help="answers.toml, filled in")
    check.set_defaults(act=_check_answers)


def _capstone(call: argparse.Namespace) -> None:
    from auditbook.studies import write_capstone

    table, answers = write_capstone(call.to)
    print(f"{table}: the table, as an export has it; no record is a person")
    print(f"{answers}: your answers; then: auditbook check-answers {answers}")


def _check_answers(call: argparse.Namespace) -> None:
    from auditbook.studies import check_answers, tell_answers

    print("\n".join(tell_answers(check_answers(call.file))))
