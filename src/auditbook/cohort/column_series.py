"""Which columns are told in one line: long series as of embeddings, whose names differ by a number alone."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

LONG = 50
"""Columns from which a numbered series is told in one line (ours); code lists of claims are shorter."""


@dataclass(frozen=True)
class Series:
    """Columns that are told together: one alone, or a long numbered series."""

    names: tuple[str, ...]  # In the order of their numbers

    @property
    def title(self) -> str:
        """The column's name, or those of the first and the last."""
        first, last = self.names[0], self.names[-1]
        return first if len(self.names) == 1 else f"{first} … {last}"


def join_series(names: Sequence[str], alike: Sequence[Hashable] = ()) -> tuple[Series, ...]:
    """Join the columns of long numbered series, each at the place of its first column.

    With `alike`, one value a column, only columns of the same value are joined.

    Examples
    --------
    >>> names = ["age", *(f"emb_{number}" for number in range(512)), "dx_1", "dx_2"]
    >>> [series.title for series in join_series(names)]
    ['age', 'emb_0 … emb_511', 'dx_1', 'dx_2']
    """
    held: dict[Hashable, list[str]] = {}
    for name, kind in zip(names, alike or [None] * len(names), strict=True):
        held.setdefault((_find_stem(name), kind), []).append(name)
    place = {name: at for at, name in enumerate(names)}
    series = [
        Series(tuple(sorted(part, key=_find_number)))
        for members in held.values()
        for part in ([members] if len(members) >= LONG else [[name] for name in members])
    ]
    return tuple(sorted(series, key=lambda one: min(place[name] for name in one.names)))


def _split_name(name: str) -> re.Match[str] | None:
    """Split a name around its last number; None where it has none."""
    return re.fullmatch(r"(.*?)([0-9]+)(\D*)", name, re.DOTALL)


def _find_stem(name: str) -> tuple[str, str]:
    """Return what stands around the last number; a name without one is its own stem."""
    found = _split_name(name)
    return (found.group(1), found.group(3)) if found else (name, "")


def _find_number(name: str) -> tuple[int, str, str]:
    """Return what puts the names of a series in order: the number, of any length."""
    found = _split_name(name)
    digits = found.group(2).lstrip("0") if found else ""
    return len(digits), digits, name
