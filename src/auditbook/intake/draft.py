"""What would a cohort file for this table look like? A first draft, every guess marked."""

import os
import re
import shlex
import unicodedata
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from auditbook.cohort import read_format, tell_option
from auditbook.errors import InputError, printable
from auditbook.intake.guess_roles import describe_table, guess_roles
from auditbook.intake.guesses import NO_ANSWERS, Answers, TableFacts
from auditbook.intake.toml_text import comment, quote, write_pairs
from auditbook.intake.write_draft import write_roles
from auditbook.intake.write_scores import write_drops
from auditbook.project import ROOT
from auditbook.tables import AS_FOUND, EncodingError, PlainTable, TableFormat, find_western, read_table_file


def draft_cohort(
    path: Path,
    *,
    target: Path | None = None,
    form: str | None = None,
    ask: Callable[[TableFacts], Answers] | None = None,
    tell: Callable[[str], None] | None = None,
) -> str:
    """Draft a cohort file from a table's columns, as TOML text.

    Every guess is marked with ``guess:``, with what speaks for it; ``decide:`` marks what only a person can
    say. What could not be guessed has a blank value, so that `auditbook check` asks for it. The data's path
    is written relative to `target`, where the draft will stand; by default that is beside the data.

    Parameters
    ----------
    path : Path
        The table.
    target : Path or None
        Where the draft will stand.
    form : str or None
        How the file is written, as after ``format =`` in a cohort file; written into the draft.
    ask : callable or None
        Asks a person about the table; what she answers stands instead of a guess.
    tell : callable or None
        Hears what was found by itself in reading the file, a sentence each.

    Raises
    ------
    InputError
        If the table cannot be read.
    """
    read, used, guessed = _read_table(path, AS_FOUND if form is None else read_format(form))
    if tell is not None:
        for note in read.notes:
            tell(printable(note))
    table = describe_table(read.frame)
    roles = guess_roles(table, ask(table) if ask is not None else NO_ANSWERS)
    stem = path.name.split(".")[0]
    slug = _make_slug(stem)
    layout = [comment(f"The columns are those of {table.layout.title}.")] if table.layout else []
    lines = [
        *_name_schema((target or path).resolve().parent),
        comment(f"A draft from {len(table.frame):,} rows and {len(table.columns)} columns of {path.name}."),
        *layout,
        "# Lines marked 'guess:' are guesses from names and values: confirm or correct each.",
        "# Lines marked 'decide:' are yours alone: event, harm, threshold, intended use. Then:",
        comment(f"    auditbook check {shlex.quote(printable(target.name if target else slug + '.toml'))}"),
        "# All keys are explained on the page 'Bring your cohort' of the book.",
        "",
        f"name = {quote(slug)}    # names the folder of the results: letters, digits, hyphens",
        f"title = {quote(stem if stem.strip() else slug)}    # heading of the report",
        "",
        "[data]",
        f"path = {quote(_relative(path, target))}",
        *_write_format(used, guessed),
        '# source = "who publishes the data, and on which terms"',
        *write_drops(table, roles),
        "",
        *write_roles(table, roles),
    ]
    return "\n".join(lines) + "\n"


def _read_table(path: Path, form: TableFormat) -> tuple[PlainTable, TableFormat, bool]:
    """Read a table, in Windows-1252 where that is certain; return also how, and whether by a guess."""
    try:
        return read_table_file(path, form=form), form, False
    except InputError as fault:
        if not isinstance(fault, EncodingError) or form.encoding or (found := find_western(path)) is None:
            raise tell_option(fault, form) from None
    form = replace(form, encoding=found)
    try:
        read = read_table_file(path, form=form)
    except InputError as fault:
        raise tell_option(fault, form) from None
    note = f"{path.name}: not UTF-8, and read as {found}: every letter with an accent makes a word in it"
    return replace(read, notes=(note, *read.notes)), form, True


def _write_format(form: TableFormat, guessed: bool) -> list[str]:
    """Write how the file is written, as far as it had to be said."""
    said = {key: value for key, value in asdict(form).items() if value != getattr(AS_FOUND, key)}
    mark = "    # guess: its letters with accents make words in this encoding" if guessed else ""
    return [f"format = {write_pairs(said)}{mark}"] if said else []


def _make_slug(stem: str) -> str:
    """Make the name of a cohort: letters, digits and hyphens."""
    letters = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "-", letters).strip("-")[:64].strip("-") or "my-cohort"


def _relative(path: Path, target: Path | None) -> str:
    """Return the data's path as seen from the cohort file."""
    if target is None or path.resolve().parent == target.resolve().parent:
        return path.name
    return Path(os.path.relpath(path.resolve(), target.resolve().parent)).as_posix()


def _name_schema(folder: Path) -> list[str]:
    """Name the JSON schema from which an editor completes the keys of a cohort file in a folder."""
    schema = ROOT / "data" / "cohort-schema.json"
    return [f"#:schema {Path(os.path.relpath(schema, folder)).as_posix()}"] if schema.is_file() else []
