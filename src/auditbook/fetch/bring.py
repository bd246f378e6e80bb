"""How does a public table become one that can be audited at once: fetched or handed in, and then read?"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from auditbook.errors import InputError
from auditbook.fetch.download import download_file
from auditbook.fetch.loaders import LOADERS, Loaded
from auditbook.fetch.sources import Source, read_source
from auditbook.project import project_file
from auditbook.tables import hash_file


@dataclass(frozen=True)
class Fetched:
    """What lies in the folder now."""

    source: Source
    cohort: Path  # The cohort file
    table: Path
    told: tuple[str, ...]  # What was put right, and what could not be checked


def fetch_table(name: str, folder: Path, *, given: Sequence[Path] = (), mirror: str = "") -> Fetched:
    """Bring a public table and its cohort file into a folder, and write beside them where they came from.

    Parameters
    ----------
    name : str
        One of `list_sources`.
    folder : Path
        Where to put them; made where it is not there.
    given : sequence of Path
        The publisher's files as a person fetched them; then nothing is fetched.
    mirror : str
        Address of a folder with the publisher's files by their names here, in place of the publisher.

    Returns
    -------
    Fetched
        The cohort file, its table, and what is to be told.

    Raises
    ------
    InputError
        If the name is unknown, a file handed in is not there or not the publisher's, or the publisher gives
        it to a person only.
    RunError
        If it cannot be fetched or is not the file that is expected.
    """
    source = read_source(name)
    if not source.files and not given and not mirror:
        raise InputError(
            f"{name}: its publisher gives it to a person only. Open {source.page}, {source.steps}: "
            f"auditbook fetch {name} --from FILE ..."
        )
    folder.mkdir(parents=True, exist_ok=True)
    files = _find(given) if given else _download(source, folder, mirror)
    told = _compare(source, files)
    table = folder / source.table
    loaded = _load(source, files, table)
    cohort = folder / source.cohort
    shutil.copyfile(project_file("data", "cohorts", source.cohort), cohort)
    _write_provenance(source, files, folder, by_hand=bool(given), told=loaded)
    return Fetched(source, cohort, table, (*loaded, *told))


def _find(given: Sequence[Path]) -> list[Path]:
    for path in given:
        if not path.is_file():
            raise InputError(f"{path} is not there, or no file; name the publisher's file with --from")
    return list(given)


def _download(source: Source, folder: Path, mirror: str) -> list[Path]:
    return [download_file(source, file, folder, mirror=mirror) for file in source.files]


def _compare(source: Source, files: Sequence[Path]) -> tuple[str, ...]:
    """Say of each file whether it is the one whose checksum is on record."""
    told = []
    known = {file.sha256 for file in source.files if file.sha256}
    for path in files:
        found = hash_file(path)
        if not known:
            told.append(f"{path.name}: no checksum is on record; this one has SHA-256 {found}")
        elif found not in known:
            told.append(
                f"{path.name}: SHA-256 {found}, not the one on record: another edition, or a damaged file"
            )
    return tuple(told)


def _load(source: Source, files: Sequence[Path], table: Path) -> tuple[str, ...]:
    """Read the publisher's files and write the table; one that is wanted as it is is copied."""
    load = LOADERS.get(source.name)
    if load is None:
        if files[0].resolve() != table.resolve():
            shutil.copyfile(files[0], table)
        return ()
    loaded: Loaded = load(files)
    unfinished = table.with_name(f".{table.name}.part")
    loaded.table.to_parquet(unfinished, index=False)
    unfinished.replace(table)
    return loaded.told


def _write_provenance(
    source: Source, files: Sequence[Path], folder: Path, *, by_hand: bool, told: Sequence[str]
) -> None:
    """Write what was fetched, from where and when, with checksums, and what was put right."""
    addresses = {file.name: file.address for file in source.files}
    said = {
        "source": source.name,
        "title": source.title,
        "publisher": source.publisher,
        "terms": source.terms,
        "page": source.page,
        "fetched": date.today().isoformat(),
        "handed_in": by_hand,
        "files": [
            {"name": path.name, "address": addresses.get(path.name, ""), "sha256": hash_file(path)}
            for path in files
        ],
        "put_right": list(told),
    }
    text = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
    (folder / f"{source.name}.fetched.json").write_text(text, encoding="utf-8")
