"""Which columns may a model trained here use, and which columns does a pattern mean?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from auditbook.cohort.schema import CohortFile
from auditbook.tables import Faults

LISTS = ("include", "exclude", "late", "categories")
"""Keys of ``[features]`` that list columns."""


@dataclass(frozen=True)
class FeatureColumns:
    """The features, in the order of their names."""

    names: tuple[str, ...]
    late: tuple[str, ...]  # Those among them that are known only at the end of the stay


def is_pattern(name: str) -> bool:
    """Tell whether a name can mean several columns."""
    return "*" in name or "?" in name


def match_columns(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Find the columns that a name or a pattern means; a column of exactly this name wins.

    Examples
    --------
    >>> match_columns("emb_*", ["age", "emb_0", "emb_1"])
    ('emb_0', 'emb_1')
    >>> match_columns("emb_*", ["emb_*", "emb_0"])
    ('emb_*',)
    """
    if name in columns:
        return (name,)
    if not is_pattern(name):
        return ()
    pattern = re.escape(name).replace(r"\*", ".*").replace(r"\?", ".")
    return tuple(column for column in columns if re.fullmatch(pattern, column, re.DOTALL))


def expand_key(file: CohortFile, key: str, columns: Sequence[str]) -> set[str]:
    """List the columns that one key of ``[features]`` means."""
    return {column for name in getattr(file.features, key) or () for column in match_columns(name, columns)}


def find_features(file: CohortFile, frame: pd.DataFrame, faults: Faults) -> FeatureColumns:
    """Name the features: those that are included, else every column without another role that is no date."""
    columns, taken = list(frame.columns), _list_taken(file)
    for key, told in _find_faults(file, columns, taken):
        faults.add(f"[features] {key}", told)
    asked = None if file.features.include is None else expand_key(file, "include", columns)
    out = set(taken) | expand_key(file, "exclude", columns)
    late = expand_key(file, "late", columns)
    free = [name for name in sorted(columns) if name not in out and frame[name].dtype.kind != "M"]
    names = tuple(name for name in free if asked is None or name in asked)
    if file.panel.models and not names:
        faults.add("[features]", "no column is left to train on; shorten exclude, or set [panel] models = []")
    return FeatureColumns(names, tuple(name for name in names if name in late))


def _list_taken(file: CohortFile) -> dict[str, str]:
    """Name the columns that cannot be features, each with what it is."""
    taken = {item.column: "another outcome" for item in file.outcomes}
    taken[file.outcome.column] = "the outcome"
    taken |= {item.column: "a given score" for item in file.scores}
    taken |= {name: "a weight, stratum or cluster" for name in file.weight.columns.values()}
    taken |= {name: "part of the unit" for name in file.unit.names if name != file.site.column}
    if file.unit.column:
        taken[file.unit.column] = "the unit"
    if file.time.column:
        taken[file.time.column] = "the time of a record"
    if file.outcome.time:
        taken[file.outcome.time] = "the time of the event"
    if file.site.column and file.unit_is_site:
        taken[file.site.column] = "the site, which is held out"
    return taken


def _find_faults(
    file: CohortFile, columns: Sequence[str], taken: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Find columns that are named as features and cannot be any; a pattern leaves such columns out."""
    asked = None if file.features.include is None else expand_key(file, "include", columns)
    for key in ("include", "late", "categories"):
        for name in getattr(file.features, key) or ():
            if name in taken and (name != file.outcome.column or key == "categories"):
                yield key, f"'{name}' is {taken[name]}; it cannot be a feature too"
            elif key != "include" and asked is not None and not asked & set(match_columns(name, columns)):
                yield key, f"'{name}' is not in include; add it there, or delete it here"
