"""How does the report say words for codes, and still point at rows by their codes?"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import pandas as pd

from auditbook.labels import Labels
from auditbook.report.content import Basis, Cell, Report

NAMES = ("model", "other_model", "attribute", "column")
GROUPS = ("group", "other", "other_group", "lowest_group", "highest_group", "event_group", "nonevent_group")


@dataclass(frozen=True)
class Wording:
    """The words of a cohort file for its codes."""

    labels: Labels
    contrasts: Mapping[str, str]  # Of pairs of groups in pockets, as tables name them

    def show(self, table: pd.DataFrame) -> pd.DataFrame:
        """Put words in the place of codes."""
        said: dict[str, pd.Series | list[str]] = {
            name: table[name].map(self.labels.name) for name in NAMES if name in table
        }
        if "attribute" in table:
            said |= {
                name: [
                    self.labels.value(attribute, group)
                    for attribute, group in zip(table["attribute"], table[name], strict=True)
                ]
                for name in GROUPS
                if name in table
            }
        if "contrast" in table:
            said["contrast"] = table["contrast"].map(lambda name: self.contrasts.get(name, name))
        return table.assign(**said) if said else table

    def restore(self, report: Report) -> Report:
        """Let every statement point at its rows by the codes of the result files."""
        restored: Report = self._walk(report)
        return restored

    def _walk(self, value: Any) -> Any:
        """Rebuild a part of the report with its bases restored."""
        if isinstance(value, Basis):
            return Basis(value.file, self.find_codes(value.where))
        if isinstance(value, tuple):
            return tuple(self._walk(part) for part in value)
        if is_dataclass(value) and not isinstance(value, type):
            parts = {one.name: self._walk(getattr(value, one.name)) for one in fields(value)}
            return replace(value, **parts)
        return value

    def find_codes(self, where: Mapping[str, Cell]) -> dict[str, Cell]:
        """Find the codes that some words stand for."""
        names = {word: code for code, word in self.labels.columns.items()}
        found = {name: _look_up(cell, names if name in NAMES else {}) for name, cell in where.items()}
        said = self.labels.values.get(str(found.get("attribute", "")), {})
        groups = {word: code for code, word in said.items()}
        codes = {name: groups for name in GROUPS}
        codes["contrast"] = {word: code for code, word in self.contrasts.items()}
        return {name: _look_up(cell, codes.get(name, {})) for name, cell in found.items()}


def _look_up(cell: Cell, codes: Mapping[str, str]) -> Cell:
    return codes.get(cell, cell) if isinstance(cell, str) else cell


def word_contrasts(labels: Labels, groups: Mapping[str, list[str]]) -> dict[str, str]:
    """Word every pair of groups that pockets can compare, by the name that tables give it."""
    return {
        f"{name}: {one} - {other}": (
            f"{labels.name(name)}: {labels.value(name, one)} - {labels.value(name, other)}"
        )
        for name, held in groups.items()
        for one in held
        for other in held
        if one != other
    }
