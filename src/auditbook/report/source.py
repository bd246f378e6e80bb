"""Which rows of a run does the report of a model read, and which numbers may it tell?"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from auditbook.book.say.text import count, join_words, plural
from auditbook.columns import empty_table
from auditbook.labels import read_labels
from auditbook.report.content import Basis, Cell
from auditbook.report.labelled import Wording, word_contrasts
from auditbook.results import Run, match_rows
from auditbook.verdicts import list_uncompared, mark_questions, pick_shown

BOARD_COLUMNS = ("model", "metric", "attribute", "shown", "standing", "n_to_show", "left_out")
"""What is read of every cell; of the cells that are told the other columns too."""
SMALLEST_CELL = 10
"""Fewer people than this are not shown, unless the cohort file names another number."""


def to_cell(value: object) -> Cell:
    """Turn a value of a table into what report.json can hold; None for a blank number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value if isinstance(value, (str, float, int)) else None


def to_number(value: float) -> float | None:
    """Turn a number of a table into what report.json can hold; None where it is blank or endless."""
    return float(value) if math.isfinite(value) else None


def to_count(value: float) -> int | None:
    """Turn a count of a table into what report.json can hold; None where it is blank."""
    return round(value) if math.isfinite(value) else None


def list_names(names: object, *, limit: int = 6) -> str:
    """List names in a sentence as they stand, the tail of a long list counted instead of named."""
    items = [" ".join(str(name).split()) for name in names]  # type: ignore[attr-defined]
    tail = [f"{len(items) - limit} more"] if len(items) > limit else []
    return join_words(items[:limit] + tail)


def start(text: str) -> str:
    """Begin a sentence with a capital."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Source:
    """A run as the report reads it."""

    run: Run

    def table(self, name: str) -> pd.DataFrame:
        """Read a result table; empty where this kind of run does not make it."""
        if name not in self._told:
            told = self._read(name)
            self._told[name] = self.wording.show(told) if self.wording else told
        return self._told[name]

    @cached_property
    def _told(self) -> dict[str, pd.DataFrame]:
        """The tables that were asked for, in the words of the cohort file."""
        return {}

    def _read(self, name: str) -> pd.DataFrame:
        return getattr(self.run, name) if self.run.holds(name) else empty_table(name)

    @cached_property
    def wording(self) -> Wording | None:
        """The words of the cohort file for its codes; None where it has none."""
        known = pd.concat([self._read("cohort_groups"), self._read("pocket_groups")])
        parts = known.drop_duplicates(["attribute", "group"]).groupby("attribute", sort=False)["group"]
        groups = {str(name): list(part) for name, part in parts}
        labels = read_labels(self.run.info, groups)
        return Wording(labels, word_contrasts(labels, groups)) if labels else None

    def of(self, name: str, **values: object) -> pd.DataFrame:
        """Read the rows of a result table whose columns have these values."""
        return match_rows(self.table(name), **values).reset_index(drop=True)

    @property
    def smallest_cell(self) -> int:
        """Fewer people than this are not shown."""
        return int((self.run.info.get("report") or {}).get("smallest_cell", SMALLEST_CELL))

    @property
    def continuous(self) -> bool:
        """Whether the outcome is a number and no event."""
        return bool((self.run.info.get("outcome") or {}).get("continuous"))

    @property
    def event(self) -> str:
        """The event in the words of the cohort file; blank of a continuous outcome."""
        outcome = self.run.info.get("outcome") or {}
        event = str(outcome.get("event") or "")
        if self.continuous or not event:
            return ""
        sign = "" if event.lstrip()[:1] in ("<", ">", "=", "!") else "= "
        return f"{outcome.get('column', '')} {sign}{event}".strip()

    @property
    def attributes(self) -> list[str]:
        """The attributes that are judged, or compared in pockets."""
        judged = list(dict.fromkeys(self.table("verdicts")["attribute"]))
        return judged or list(dict.fromkeys(self.table("cohort_groups")["attribute"]))

    @property
    def models(self) -> list[str]:
        """The audited models, in the order of the cohort file; of a pocket audit alone those it tested."""
        judged = list(dict.fromkeys(self.table("models")["model"]))
        return judged or list(dict.fromkeys(self.table("pocket_errors")["model"]))

    @cached_property
    def areas_judged(self) -> pd.DataFrame:
        """The verdicts on AUC parity that stand on a board of their own."""
        known = self.table("verdicts")
        return self.table("auc_verdicts") if "AUC" not in set(known["metric"]) else known.iloc[:0]

    @cached_property
    def board(self) -> pd.DataFrame:
        """Every judged cell, AUC parity with them."""
        parts = [part for part in (self.table("verdicts"), self.areas_judged) if len(part)]
        board = pd.concat(parts, ignore_index=True) if parts else empty_table("verdicts")
        return board[list(BOARD_COLUMNS)]

    @cached_property
    def exact(self) -> "Source":
        """The same run with nothing withheld: for what is decided, never for what is told."""
        return Source(Run(self.run.folder, self.run.info)) if getattr(self.run, "guard", None) else self

    def find_uncompared(self, model: str) -> pd.DataFrame:
        """List the groups that are too small to be compared, with the question that this holds back."""
        return match_rows(self._uncompared, model=model).reset_index(drop=True)

    @cached_property
    def _uncompared(self) -> pd.DataFrame:
        """List those that are too small, with counts that may be told."""
        cells, contrasts = self.exact.table("verdicts"), self.exact.table("contrasts")
        protocol, keys = self.run.protocol, ["model", "attribute", "group", "question"]
        found = list_uncompared(cells, self.exact.table("groups"), contrasts, protocol)
        told = list_uncompared(cells, self.table("groups"), contrasts, protocol)
        return found[keys].merge(told, on=keys, how="left")

    def count_asked(self, model: str, attribute: str) -> int:
        """Count the questions by rates that are asked of an attribute."""
        known = match_rows(self.marks, model=model, attribute=attribute)
        return int(known["question"].isin(["found", "alarms", "selected", "meaning"]).sum())

    def is_compared(self, model: str, attribute: str, group: str) -> bool:
        """Tell whether a group is compared by anything, such as its calibration where its rates are not."""
        known = self.exact.of("contrasts", model=model, attribute=attribute).dropna(subset="p_fail")
        return bool(((known["group"] == group) | (known["other"] == group)).any())

    def count_audited(self, model: str) -> float:
        """Count the records that a model is audited on."""
        return float(self.exact.of("models", model=model)["n_audit"].max())

    @cached_property
    def marks(self) -> pd.DataFrame:
        """What was shown of every question, by model and attribute."""
        alpha, exact = self.run.protocol.shown_alpha, self.exact
        contrasts, groups = exact.table("contrasts"), exact.table("groups")
        parts = [
            mark_questions(cells, contrasts, groups, alpha=alpha)
            for cells in (exact.table("verdicts"), exact.areas_judged)
        ]
        return pd.concat(parts, ignore_index=True)

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The contrasts that are shown to lie beyond their threshold."""
        exact, keys = self.exact, ["model", "metric", "attribute", "rate", "bin", "group", "other"]
        alpha = self.run.protocol.shown_alpha
        found = pick_shown(exact.table("verdicts"), exact.table("contrasts"), alpha=alpha)
        return found[keys].merge(self.table("contrasts"), on=keys, how="left", validate="one_to_one")

    def find_code(self, attribute: str, group: str) -> str:
        """Find the name that result tables give a group which the cohort file has words for."""
        told: dict[str, Cell] = {"attribute": attribute, "group": group}
        return str((self.wording.find_codes(told) if self.wording else told)["group"])

    def people(self, n: float, word: str = "person", words: str = "people") -> str:
        """Write a count of people, or that it is withheld: it may be small, or give a small one away."""
        if math.isnan(n):
            return f"a withheld number of {words}"
        return plural(n, word, words)

    def write_n(self, n: float) -> str:
        """Write a number of records in brackets, or that it is withheld."""
        return "n withheld" if math.isnan(n) else f"n = {count(n)}"


def rest_on(file: str, **where: object) -> Basis:
    """Name the rows that a statement rests on."""
    return Basis(file, {name: to_cell(value) for name, value in where.items()})
