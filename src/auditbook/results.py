"""What did a run find: read its result files back, as every chapter does."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.errors import InputError
from auditbook.settings import Protocol

TEXT_COLUMNS = (
    "model attribute group metric reason support lowest_group highest_group dominant_verdict verdict tier "
    "tier_reasons site column role kind note source family protocol part baseline status cell sweep band "
    "check setting features label lowest_attribute "
    "map pocket name description quantity contrast direction partition half "
    "halving drawing prediction cohort event_group nonevent_group other_group advice other_model "
    "lacking lacking_group"
).split()
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write one result file: the same table always gives the same bytes.

    A text that a spreadsheet would take for a formula gets a leading apostrophe; `read_table` takes it off.

    Parameters
    ----------
    table : DataFrame
        Any result table.
    path : Path
        The CSV file.
    """
    guarded = table.copy()
    for name in guarded.columns:
        if guarded[name].dtype == object:
            guarded[name] = guarded[name].map(_guard_formula)
    guarded.to_csv(path, index=False, float_format="%.10g", lineterminator="\n", encoding="utf-8")


def _guard_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell


def _unguard_formula(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_STARTS) else cell


def read_table(path: Path) -> pd.DataFrame:
    """Read one result file; names stay text whatever they look like.

    Parameters
    ----------
    path : Path
        A CSV file that a run wrote.

    Returns
    -------
    DataFrame
        Text columns hold str (blank is the empty string); numbers are float or int, nan where blank.
    """
    text: Mapping[Hashable, type[str]] = dict.fromkeys(TEXT_COLUMNS, str)
    table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={})
    for name in table.columns:
        if name in text:
            table[name] = table[name].map(_unguard_formula)
        else:
            table[name] = _as_numbers(table[name])
    return table


def rows(table: pd.DataFrame) -> list[Any]:
    """List the rows of a result table as named tuples, whose fields carry the names of the columns.

    Examples
    --------
    >>> [row.n for row in rows(pd.DataFrame({"n": [3, 4]}))]
    [3, 4]
    """
    return list(table.itertuples(index=False))


def _as_numbers(column: pd.Series) -> pd.Series:
    """Turn a column that pandas read as text, because some cells are blank, into numbers or truth values."""
    if column.dtype != object:
        return column
    if len(column) and set(column) <= {"True", "False"}:
        return column == "True"
    if {"True", "False"} & set(column):
        return column.map({"True": 1.0, "False": 0.0})  # blank where the question does not arise
    return pd.to_numeric(column.map(lambda cell: cell or float("nan")))


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes
    ----------
    folder : Path
        The run's folder; its tables lie in ``results``.
    info : dict
        What ``run.json`` says: cohort, data, configuration, seed, profile, versions.
    """

    folder: Path
    info: dict[str, Any]

    @property
    def protocol(self) -> Protocol:
        """The constants that the run used."""
        known = {field.name for field in fields(Protocol)}
        values = {key: value for key, value in self.info["protocol"].items() if key in known}
        values |= {key: tuple(values[key]) for key in ("metrics", "audit_sizes") if key in values}
        values["thresholds"] = MappingProxyType(dict(values["thresholds"]))
        return Protocol(**values)

    def table(self, name: str) -> pd.DataFrame:
        """Read the result file ``name`` (without ``.csv``)."""
        return read_table(self.folder / "results" / f"{name}.csv")

    @cached_property
    def groups(self) -> pd.DataFrame:
        """One row a model, attribute and group: counts and rates."""
        return self.table("groups")

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """One row a cell (model, metric, attribute): estimate, verdict, flip rates."""
        return self.table("verdicts")

    @cached_property
    def audit_size(self) -> pd.DataFrame:
        """One row a cell and size: the metric over subsamples of that size."""
        return self.table("audit_size")

    @cached_property
    def site_verdicts(self) -> pd.DataFrame:
        """One row a cell and fold of sites; empty with fewer than two sites."""
        return self.table("site_verdicts")

    @cached_property
    def site_agreement(self) -> pd.DataFrame:
        """One row a model and metric: how far the folds agree."""
        return self.table("site_agreement")

    @cached_property
    def flip_truth(self) -> pd.DataFrame:
        """One row a way of halving and drawing, cell and size: predicted and realised flip rate."""
        return self.table("flip_truth")

    @cached_property
    def flip_truth_summary(self) -> pd.DataFrame:
        """One row a way of halving and drawing, prediction and bin: how far predictions hold."""
        return self.table("flip_truth_summary")

    @cached_property
    def cohort_groups(self) -> pd.DataFrame:
        """One row an attribute and group: size and event rate in the whole cohort."""
        return self.table("cohort_groups")

    @cached_property
    def cohort_sites(self) -> pd.DataFrame:
        """One row a site, largest first; empty without a site column."""
        return self.table("cohort_sites")

    @cached_property
    def cohort_columns(self) -> pd.DataFrame:
        """One row a column of the data: its role and what is missing."""
        return self.table("cohort_columns")

    @cached_property
    def models(self) -> pd.DataFrame:
        """One row a model: where its scores come from and how good they are."""
        return self.table("models")

    @cached_property
    def baselines(self) -> pd.DataFrame:
        """One row a protocol, part and baseline: what mitigation costs and whether it holds."""
        return self.table("baselines")

    @cached_property
    def baseline_cells(self) -> pd.DataFrame:
        """One row a protocol, part, baseline, metric and attribute: verdict and flip rate."""
        return self.table("baseline_cells")

    @cached_property
    def baseline_thresholds(self) -> pd.DataFrame:
        """One row a protocol, part, baseline and cell of people: its threshold and whom it selects."""
        return self.table("baseline_thresholds")

    @cached_property
    def robustness(self) -> pd.DataFrame:
        """One row a setting, model and baseline: other protocols, features, seeds and families."""
        return self.table("robustness")

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """One row a constant and value: cells that are stable, and in each tier."""
        return self.table("sensitivity")

    @cached_property
    def sensitivity_cells(self) -> pd.DataFrame:
        """One row a constant, value and cell: its verdict and flip rate."""
        return self.table("sensitivity_cells")

    @cached_property
    def auc_matrix(self) -> pd.DataFrame:
        """One row a model, attribute, group of the events and group of the non-events: the area."""
        return self.table("auc_matrix")

    @cached_property
    def auc_fairness(self) -> pd.DataFrame:
        """One row a model, attribute and AUC-based metric: value, interval and the advice on it."""
        return self.table("auc_fairness")

    @cached_property
    def auc_differences(self) -> pd.DataFrame:
        """One row a further model, attribute and pair of groups: its area less the first model's."""
        return self.table("auc_differences")

    @cached_property
    def auc_verdicts(self) -> pd.DataFrame:
        """One row a model and attribute: AUC parity with verdict, flip rates and tier."""
        return self.table("auc_verdicts")

    @cached_property
    def calibration(self) -> pd.DataFrame:
        """One row a model, attribute and group: calibration intercept and slope."""
        return self.table("calibration")

    @cached_property
    def pockets(self) -> pd.DataFrame:
        """One row a map and pocket: its name, size and mean outcome; empty when no pockets were learned."""
        return self.table("pockets")

    @cached_property
    def pocket_errors(self) -> pd.DataFrame:
        """One row a model, map, quantity, contrast and pocket: estimate, simultaneous interval, flag."""
        return self.table("pocket_errors")

    @cached_property
    def pocket_summary(self) -> pd.DataFrame:
        """One row a model, map, quantity, contrast and tolerance: what was flagged, and what ruled out."""
        return self.table("pocket_summary")

    @cached_property
    def pocket_groups(self) -> pd.DataFrame:
        """One row a map, pocket, attribute and group: how many of the group are there."""
        return self.table("pocket_groups")

    @cached_property
    def pocket_levels(self) -> pd.DataFrame:
        """One row a level of the hierarchy that the forest map was chosen from."""
        return self.table("pocket_levels")

    @cached_property
    def pocket_repairs(self) -> pd.DataFrame:
        """One row a model, map, flagged pocket and half: what recalibration does on the other half."""
        return self.table("pocket_repairs")

    @cached_property
    def score_bins(self) -> pd.DataFrame:
        """One row a model, attribute, group and score bin: records, events, mean score."""
        return self.table("score_bins")


def read_run(folder: Path) -> Run:
    """Open the run in a folder.

    Parameters
    ----------
    folder : Path
        A run's folder, such as ``runs/texas-twin``.

    Returns
    -------
    Run
        The run; tables are read when first asked for.

    Raises
    ------
    InputError
        If the folder holds no finished run.
    """
    path = folder / "run.json"
    if not path.is_file():
        raise InputError(
            f"{folder} holds no finished run (no run.json); make one with: auditbook audit COHORT"
        )
    return Run(folder, json.loads(path.read_text(encoding="utf-8")))
