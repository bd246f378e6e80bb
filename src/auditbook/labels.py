"""By which words are codes and names shown: what a cohort file says under ``[labels]``, looked up."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pandas as pd

JOINT = ", "
"""What stands between the parts of a crossed group, and between the conditions of a pocket's name."""
LONGEST = 40
"""Characters of a column's or a level's name (ours)."""


@dataclass(frozen=True)
class Labels:
    """Words for columns, attributes and models, and for the values of a column or groups of an attribute."""

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def name(self, column: str) -> str:
        """Say a column, attribute or model in words; its own name where there are none."""
        return self.columns.get(column, column)

    def value(self, column: str, value: str) -> str:
        """Say a value of a column, or a group of an attribute, in words; as it is where there are none."""
        return self.values.get(column, {}).get(value, value)

    def __bool__(self) -> bool:
        """Tell whether there are words for anything."""
        return bool(self.columns or self.values)


def read_labels(info: Mapping[str, Any], groups: Mapping[str, Sequence[str]] | None = None) -> Labels:
    """Read the words that ``run.json`` keeps.

    With the `groups` of each attribute these are named: by the words for them, by those for the values of
    the attribute's column, and in crossed attributes by the words of their parts.
    """
    said = info.get("labels") or {}
    held = said.get("values", {}) | ({} if groups is None else said.get("groups", {}))
    values = {name: dict(words) for name, words in held.items()}
    labels = Labels(dict(said.get("columns", {})), values)
    for name, parts in info.get("crosses", {}).items() if groups and values else ():
        values[name] = dict(_cross(labels, parts, groups or {})) | values.get(name, {})
    return labels


def _cross(
    labels: Labels, parts: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Name each crossing of groups by the words of its parts."""
    for names in product(*(groups.get(part, ()) for part in parts)):
        yield (
            JOINT.join(names),
            JOINT.join(labels.value(part, name) for part, name in zip(parts, names, strict=True)),
        )


def read_words(name: str) -> str:
    """Turn the name of a column or level into words: underscores to blanks, long names cut."""
    plain = "".join(c if c.isprintable() else " " for c in name).replace("_", " ")
    text = " ".join(plain.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def name_feature(column: str, level: str, labels: Labels = Labels()) -> str:
    """Name a column, or a level of it, in words.

    Examples
    --------
    >>> name_feature("admission_type", "2", Labels(values={"admission_type": {"2": "urgent"}}))
    'admission type = urgent'
    """
    words = read_words(labels.name(column))
    return f"{words} = {read_words(labels.value(column, level))}" if level else words


def write_condition(feature: str, how: str) -> str:
    """Say in a pocket's name how its members have a feature.

    Examples
    --------
    >>> write_condition("age", "high"), write_condition("lactate", "mostly not recorded")
    ('high age', 'lactate mostly not recorded')
    """
    return f"{feature} {how}" if how.endswith("recorded") else f"{how} {feature}"


def write_detail(feature: str, how: str, measure: str, inside: str, outside: str) -> str:
    """Say in a pocket's description how its members differ from others in a feature, with figures.

    Examples
    --------
    >>> write_detail("age", "high", "at the median", "71", "48")
    'age 71 at the median, 48 among others'
    """
    if measure != "share":
        return f"{feature} {inside} {measure}, {outside} among others"
    subject = f"{feature} not recorded" if how.endswith("recorded") else feature
    return f"{subject} in {inside}, {outside} among others"


def relabel_pockets(pockets: pd.DataFrame, features: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Put words into the names and descriptions of ``pockets.csv``; `features` is ``pocket_features.csv``."""
    said = {place: _say(part, labels) for place, part in features.groupby(["map", "pocket"], sort=False)}
    places = list(zip(pockets["map"], pockets["pocket"], strict=True))
    names = [
        said.get(place, ("", ""))[0] or name for place, name in zip(places, pockets["name"], strict=True)
    ]
    texts = [
        said.get(place, ("", ""))[1] or text
        for place, text in zip(places, pockets["description"], strict=True)
    ]
    return pockets.assign(name=names, description=texts)


def _say(part: pd.DataFrame, labels: Labels) -> tuple[str, str]:
    """Write name and description of one pocket; a blank name where no feature makes it."""
    found: list[Any] = list(part.sort_values("rank", kind="stable").itertuples(index=False))
    words = [name_feature(row.column, row.code, labels) for row in found]
    named = [write_condition(one, row.how) for one, row in zip(words, found, strict=True) if row.in_name]
    details = [
        write_detail(one, row.how, row.measure, row.inside, row.outside)
        for one, row in zip(words, found, strict=True)
        if row.in_description
    ]
    return JOINT.join(named), "; ".join(details)
