"""What does each step and each chapter depend on: one hash of all that it reads."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache
from typing import Any

from auditbook.cluster import digest_source
from auditbook.code import digest_cells, digest_reach, list_words
from auditbook.cohort import CohortFile
from auditbook.columns import TABLES
from auditbook.privacy import read_smallest
from auditbook.project import digest_files, digest_text, project_file, runs_folder, versions
from auditbook.run.contents import chapter_code, chapter_source
from auditbook.run.folder import read_json, write_json
from auditbook.run.plan import Plan

OWN_SETTINGS = {"path", "title", "protocol", "mitigation", "pockets", "use", "labels", "report"}
"""Parts of a cohort file that no step reads but those that name them below; `path` is where it lies."""
STEPS = ("cohort", "scores", "verdicts", "baselines", "robustness", "pockets")
ORDER = ("counted", *STEPS)
"""Steps in the order in which run.json lists them; a cohort that is counted has the first and the last."""
PASSING = {
    "steps",
    "cells",
    "groupings",
    "identifiers",
    "hashes",
    "pockets",
    "partition",
    "title",
    "harm",
    "worked",
    "use",
    "labels",
    "report",
}
"""Parts of run.json that count for a chapter only when their name occurs in the code that it reaches."""
READERS = frozenset(
    {"auditbook.results", "auditbook.columns"}
    | {f"auditbook.privacy.{part}" for part in ("bins", "groups", "masks", "pockets", "protect", "withheld")}
)
"""Modules that name every table, for whoever reads one."""
SETTLING = ("cohort_groups", "groups", "models", "score_bins", "verdicts", "auc_verdicts", "contrasts")
"""Tables that say which cells are small: what a chapter sees of any table hangs on them."""
SETTLING_POCKETS = ("pocket_groups", "pocket_errors")
"""The same for the tables of pockets."""


def step_keys(
    plan: Plan, makers: Mapping[str, tuple[Callable[..., Any], ...]], data_hash: str
) -> dict[str, str]:
    """Hash for each step the data, settings, versions and code that it reads, and the steps it builds on.

    `makers` are the functions of the steps: the code that counts is what they reach. `data_hash` is that of
    the rows (see `hash_rows_read`).
    """
    protocol, profile = repr(plan.protocol), plan.request.profile
    panel = project_file("data", "panel.toml").read_text(encoding="utf-8")
    mitigation = (repr(plan.file.mitigation), repr(profile.refits))
    keys: dict[str, str] = {}
    code = digest_makers(makers)

    def add(name: str, *parts: str, after: tuple[str, ...] = ()) -> None:
        keys[name] = digest_text(name, *parts, *(keys[one] for one in after), code[name])

    rows = (repr(profile.max_rows), repr(profile.synthetic_rows), repr(plan.protocol.seed))
    data = (data_hash, digest_folder("reference"), json.dumps(versions()))
    add("cohort", _list_settings(plan.file), _list_columns(), *rows, *data)
    add("counted", _list_settings(plan.file), _list_columns(), protocol, *data)
    add("scores", protocol, panel, after=("cohort",))
    add("verdicts", protocol, after=("scores",))
    add("baselines", protocol, panel, *mitigation, after=("scores",))
    add("robustness", protocol, panel, *mitigation, after=("scores", "verdicts", "baselines"))
    pockets = profile.apply_to_pockets(plan.file.pockets)
    add("pockets", repr(pockets), repr(plan.protocol.seed), panel, after=("cohort",))
    return keys


def digest_makers(makers: Mapping[str, tuple[Callable[..., Any], ...]]) -> dict[str, str]:
    """Hash the code that each step reaches; kept from run to run while no byte of the package changes."""
    place, source = runs_folder() / ".cache" / "code.json", digest_source()
    kept = read_json(place)
    digests = kept.get("digests", {}) if kept.get("package") == source else {}
    entries = {name: " ".join(sorted(map(_name_entry, part))) for name, part in makers.items()}
    due = {name: part for name, part in makers.items() if entries[name] not in digests}
    if due:
        digests |= {entries[name]: digest_reach(*part) for name, part in due.items()}
        with suppress(OSError):  # A folder that cannot be written to costs a second in each run
            write_json(place, {"package": source, "digests": digests})
    return {name: digests[entry] for name, entry in entries.items()}


def _name_entry(entry: Callable[..., Any]) -> str:
    return f"{entry.__module__}.{entry.__qualname__}"


def _list_settings(file: CohortFile) -> str:
    """Write out what a cohort file says, but for what single steps read and for mere words."""
    data = replace(file.data, path=None, paths=(), connection=None, query=None, source="")
    plain = replace(file, outcome=replace(file.outcome, harm=""), data=data)
    kept = [field.name for field in fields(plain) if field.name not in OWN_SETTINGS]
    return repr([(name, getattr(plain, name)) for name in kept])


def _list_columns() -> str:
    """Write out the catalogue of result columns, but for what is said of them."""
    return repr([(table.name, [(one.name, one.kind) for one in table.columns]) for table in TABLES.values()])


@cache
def digest_folder(*parts: str) -> str:
    """Hash the files in a folder of ``data``, those below it included."""
    folder = project_file("data", *parts)
    return digest_files(sorted(path for path in folder.rglob("*") if path.is_file()))


def chapter_key(name: str, info: Mapping[str, Any], tables: Mapping[str, str]) -> str:
    """Hash what an executed chapter depends on: text, code, tables, what run.json says, stored figures.

    `tables` is the hash of each result file by name. A table, and the parts of run.json in `NAMED`, count
    when their name occurs in the code that the cells reach.
    """
    code = chapter_code(name)
    words = list_words(code, beside=READERS)
    seen = words | _list_settling(words, read_smallest(info))
    read = [f"{file} {tables[file]}" for file in sorted(tables) if file.partition(".")[0] in seen]
    told = {part: value for part, value in info.items() if part not in PASSING or part in words}
    told = {part: value for part, value in told.items() if part != "steps"}
    stored = [digest_folder(part) for part in ("reference", "simulations", "worked")]
    stored.append(digest_text(repr(TABLES), digest_files([project_file("data", "panel.toml")])))
    told["smallest_cell"] = read_smallest(info)
    parts = [json.dumps(told, sort_keys=True, default=repr), json.dumps(versions()), *stored]
    source = chapter_source(name).read_text(encoding="utf-8")
    return digest_text(source, digest_cells(code), *read, *parts)


def _list_settling(words: set[str], smallest: int) -> set[str]:
    """List the tables that say what of the tables a chapter reads is withheld."""
    if not smallest:
        return set()
    pockets = SETTLING_POCKETS if any(word in TABLES and word.startswith("pocket_") for word in words) else ()
    return {*SETTLING, *pockets}
