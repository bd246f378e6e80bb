"""What of a cohort file can be used although other parts have faults, so that data are checked as well?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from auditbook.cohort.file import parse_toml, validate
from auditbook.cohort.schema import CohortFile, OutcomeTable, PanelTable

Raw = dict[str, Any]
Part = tuple[str, ...]

_BY_NAME = ("attributes", "scores", "outcomes")
_WHOLE = ("site", "unit", "time", "weight")
_BY_KEY = ("features", "panel", "protocol", "mitigation", "pockets", "use", "labels", "report")
"""Tables of which one key can be left out without changing what the others mean."""
_READING = ("path", "format", "connection", "query", "synthetic", "rows", "seed", "source")
_NO_FAULTS: dict[str, Raw] = {
    "outcome": {"column": "an outcome", "event": 1},
    "data": {"path": "data.csv"},
    "missing": {},
}


@dataclass(frozen=True)
class SoundPart:
    """A cohort file without those of its parts that have faults."""

    file: CohortFile
    faults: tuple[str, ...]  # Of the whole file; empty when all of it can be used
    readable: bool = True  # Whether it says where the data are
    judges_cells: bool = True  # Whether it says which rows stay and which cells are missing


def read_sound_part(path: Path) -> SoundPart:
    """Read a cohort file and tell all its faults; raises InputError only where it is no TOML."""
    raw = parse_toml(path)
    whole = validate(raw, path)
    told = tuple(whole.faults.found)
    if not told:
        return SoundPart(whole.file, ())
    rest = raw
    for part in _list_parts(raw):
        rest = _without_fault(rest, part, path)
    sound = validate(rest, path).file
    if _is_faulty(rest, "outcome", path):
        sound = replace(sound, outcome=OutcomeTable(""))
    if len(sound.scores) < len(whole.file.scores) and not whole.file.panel.models:
        sound = replace(sound, panel=PanelTable())
    return SoundPart(
        sound,
        told,
        readable=not _is_faulty(rest | {"data": _keep_reading(rest.get("data"))}, "data", path),
        judges_cells=not any(_is_faulty(rest, name, path) for name in ("data", "missing")),
    )


def _list_parts(raw: Raw) -> Iterator[Part]:
    """List what can be left out by itself, the smallest parts first."""
    tables = {name: table for name, table in raw.items() if isinstance(table, dict)}
    yield from ((name, key) for name in _BY_KEY for key in tables.get(name, {}))
    yield from ((name, key) for name in _BY_NAME for key in tables.get(name, {}))
    yield from ((name,) for name in (*_BY_KEY, *_BY_NAME, *_WHOLE) if name in raw)


def _without_fault(raw: Raw, part: Part, path: Path) -> Raw:
    """Leave a part out where faults go with it; a key only where no other comes instead."""
    name = part[0]
    if len(part) == 1:
        rest = {other: table for other, table in raw.items() if other != name}
    else:
        rest = raw | {name: {key: value for key, value in raw[name].items() if key != part[1]}}
    before, after = _list_faults(raw, path), _list_faults(rest, path)
    is_key = len(part) == 2 and name in _BY_KEY
    return rest if before - after and not (is_key and after - before) else raw


def _is_faulty(raw: Raw, name: str, path: Path) -> bool:
    """Tell whether a table has faults, seen beside one that has none."""
    return bool(_list_faults(raw, path) - _list_faults(raw | {name: _NO_FAULTS[name]}, path))


def _list_faults(raw: Raw, path: Path) -> set[str]:
    return set(validate(raw, path).faults.found)


def _keep_reading(data: object) -> object:
    """Keep the keys that say where the data are and how they are written."""
    return {key: data[key] for key in _READING if key in data} if isinstance(data, dict) else data
