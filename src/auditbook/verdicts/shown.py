"""What has an audit shown of each cell, with errors bounded over the whole board?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import empty_table, fill_table
from auditbook.evidence import FIXED, MEAN, N_BINS, Audited, Shortfall, write_shortfalls, write_worth
from auditbook.records import ScoreKind
from auditbook.settings import Protocol
from auditbook.verdicts.contrasts import (
    SCOPES,
    Contrasts,
    Tests,
    bound_contrasts,
    contrast_quantity,
    find_opposite,
    name_scope,
    stack_contrasts,
    test_contrasts,
)
from auditbook.verdicts.metrics import Metric, find_metric
from auditbook.verdicts.quantities import (
    RARER,
    RATE_CELLS,
    Grouped,
    Quantity,
    measure_areas,
    measure_benefit,
    measure_calibration,
    measure_rates,
    measure_theil,
)
from auditbook.verdicts.size_to_show import scale_to_show

Array = NDArray[np.float64]

METRIC_QUANTITIES = {
    "DI": ("SR",),
    "SPD": ("SR",),
    "EOPP": ("TPR",),
    "EOD": ("TPR", "FPR"),
    "PP": ("PPV",),
    "TI": ("TI",),
    "CAL": ("CAL",),
    "CAL_large": ("CAL_large",),
    "TI_benefit": ("TI_benefit",),
    "AUC": ("AUC",),
}
"""The quantities whose contrasts a metric looks at."""


@dataclass(frozen=True)
class Cell:
    """A metric and an attribute under every model, with what they are judged by."""

    metric: Metric
    attribute: str
    groups: tuple[str, ...]
    threshold: float
    quantities: tuple[Quantity, ...]


def show_cells(prepared: Audited, protocol: Protocol) -> tuple[pd.DataFrame, pd.DataFrame]:
    r"""Tell of every cell what the audit has shown, and list the contrasts that this rests on.

    A cell is *shown to fail* when some contrast lies beyond the threshold: :math:`p = \min(1, m \min_j p_j)`
    over its m contrasts (Holm). It is *shown to pass* when all lie within it: :math:`p = \max_j p_j`
    (intersection-union). Over the cells of one model each of the two is adjusted again (Holm), so that the
    chance of any false "shown" on a board is at most alpha a side.

    Returns
    -------
    cells : DataFrame
        One row a model, metric and attribute: `shown` ("fail", "pass", "open" or "none": cannot be judged),
        `shown_alone` (without the other cells), `p_fail` and `p_pass` (adjusted for the board), `gap`,
        `gap_low`, `gap_high`, `gap_groups` (the contrast that decides: it speaks most for a failure, and
        stands most in the way of a pass), `scope`, `left_out`,
        `n_to_show` (records with which the conclusion that the estimates point to would be shown in four of
        five audits, were they the truth; infinite at the threshold).
    contrasts : DataFrame
        ``contrasts.csv``.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand J Statist 6, 65-70.
    Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. doi:10.2307/1267823
    """
    found = find_contrasts(prepared, protocol)
    if found is None:
        return empty_table("verdicts"), empty_table("contrasts")
    return found.tabulate_cells(), found.tabulate_contrasts()


def find_contrasts(prepared: Audited, protocol: Protocol) -> "CellContrasts | None":
    """Find and test the contrasts of all cells; None where no cell is asked for."""
    cells = _list_cells(prepared, protocol)
    if not cells:
        return None
    scope = name_scope(prepared)
    contrasts = stack_contrasts(
        [
            contrast_quantity(
                quantity, cell.metric, cell=place, part=part, threshold=cell.threshold, scope=scope
            )
            for place, cell in enumerate(cells)
            for part, quantity in enumerate(cell.quantities)
        ]
    )
    return CellContrasts(prepared, protocol, cells, contrasts, test_contrasts(contrasts))


def add_shown(verdicts: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Fill the columns of verdicts.csv that tell what is shown."""
    keys = ["model", "metric", "attribute"]
    return verdicts.drop(columns=[name for name in shown if name not in keys]).merge(
        shown, on=keys, how="left", validate="one_to_one"
    )[list(verdicts)]


def _list_cells(prepared: Audited, protocol: Protocol) -> list[Cell]:
    """List metrics and attributes, in the order of verdicts.csv, with the quantities they compare."""
    metrics = [find_metric(name) for name in protocol.metrics]
    asked = {name for metric in metrics for name in METRIC_QUANTITIES[metric.name]}
    by_attribute = [
        (groups, _measure(Grouped(prepared, groups, protocol), asked)) for groups in prepared.groups
    ]
    return [
        Cell(
            metric,
            groups.settled.name,
            groups.settled.groups,
            float(protocol.thresholds.get(metric.name, metric.threshold)),
            tuple(quantities[name] for name in METRIC_QUANTITIES[metric.name]),
        )
        for metric in metrics
        for groups, quantities in by_attribute
    ]


def _measure(grouped: Grouped, asked: set[str]) -> dict[str, Quantity]:
    """Measure what is asked of the groups of one attribute."""
    found = measure_rates(grouped, tuple(name for name in RATE_CELLS if name in asked))
    if "TI" in asked:
        found["TI"] = measure_theil(grouped)
    if "AUC" in asked:
        found["AUC"] = measure_areas(grouped)
    if "TI_benefit" in asked:
        found["TI_benefit"] = measure_benefit(grouped)
    if "CAL" in asked:
        found["CAL"] = measure_calibration(grouped, in_bins=True)
    if "CAL_large" in asked:
        found["CAL_large"] = measure_calibration(grouped, in_bins=False)
    return found


def adjust_holm(p: Array) -> Array:
    r"""Adjust p-values for being several (Holm); nan stays and does not count.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) p_{(j)})

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand J Statist 6, 65-70.

    Examples
    --------
    >>> adjust_holm(np.array([0.01, 0.04, np.nan])).tolist()
    [0.02, 0.04, nan]
    """
    order = np.argsort(p)  # nan last
    count = int(np.count_nonzero(~np.isnan(p)))
    raised = np.minimum(p[order[:count]] * np.arange(count, 0, -1), 1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order[:count]] = np.maximum.accumulate(raised)
    return adjusted


@dataclass(frozen=True)
class CellContrasts:
    """The contrasts of all cells, tested."""

    prepared: Audited
    protocol: Protocol
    cells: Sequence[Cell]
    contrasts: Contrasts
    tests: Tests

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return self.prepared.models

    @property
    def row(self) -> NDArray[np.intp]:
        """Row of each contrast's cell: by model, then as `cells`."""
        return self.contrasts.model * len(self.cells) + self.contrasts.cell

    @property
    def defined(self) -> NDArray[np.bool_]:
        """Whether a contrast has a value."""
        return ~np.isnan(self.tests.p_fail)

    def tabulate_cells(self) -> pd.DataFrame:
        """Put what is shown of every cell into rows."""
        n_rows, row = len(self.models) * len(self.cells), self.row[self.defined]
        count = np.bincount(row, minlength=n_rows)
        least, most = np.full(n_rows, np.inf), np.full(n_rows, -np.inf)
        np.minimum.at(least, row, self.tests.p_fail[self.defined])
        np.maximum.at(most, row, self.tests.p_pass[self.defined])
        judged = count > 0
        fail = np.where(judged, np.minimum(count * np.where(judged, least, 1), 1), np.nan)
        passed = np.where(judged, np.where(self.is_complete(n_rows), most, 1.0), np.nan)
        board = (len(self.models), len(self.cells))
        p_fail, p_pass = (
            np.concatenate([adjust_holm(part) for part in side.reshape(board)]) for side in (fail, passed)
        )
        alpha, left_out = self.protocol.shown_alpha, self.list_left_out()
        whole = np.array([not names for names in left_out])
        shown = name_shown(p_fail, p_pass, whole, alpha)
        return pd.DataFrame(
            {
                "model": np.repeat(self.models, len(self.cells)),
                "metric": [cell.metric.name for cell in self.cells] * len(self.models),
                "attribute": [cell.attribute for cell in self.cells] * len(self.models),
                "shown": shown,
                "shown_alone": name_shown(fail, passed, whole, alpha),
                "p_fail": p_fail,
                "p_pass": p_pass,
                **self._describe_gaps(n_rows),
                "left_out": ["; ".join(names) for names in left_out],
                "n_to_show": self._size_to_show(row, count, n_rows),
            }
        )

    def is_complete(self, n_rows: int) -> NDArray[np.bool_]:
        """Tell in which cells every quantity has a contrast: without one, nothing is known of it."""
        parts = np.array([len(cell.quantities) for cell in self.cells] * len(self.models))
        pairs = np.unique(np.stack([self.row, self.contrasts.part])[:, self.defined], axis=1)
        return np.bincount(pairs[0], minlength=n_rows) == parts

    def _size_to_show(self, row: NDArray[np.intp], count: NDArray[np.intp], n_rows: int) -> Array:
        """Find how many records would show each cell, with everybody in it who is to be compared."""
        board = (count > 0).reshape(len(self.models), -1).sum(axis=1)
        z = self.tests.z[self.defined]
        cells = np.repeat(board, len(self.cells))
        opposite = find_opposite(self.contrasts, self.tests)[self.defined]
        alpha = self.protocol.shown_alpha
        scale = scale_to_show(z, row, n_rows, alpha=alpha, cells=cells, opposite=opposite)
        most = np.full(n_rows, -np.inf)
        np.maximum.at(most, row, z)
        scale = np.where(self.is_complete(n_rows) | (most > 0), scale, np.inf)
        lacking = np.array(
            [_grow_for_support(cell, place) for place in range(len(self.models)) for cell in self.cells]
        )
        scale = np.where(most > 0, scale, np.maximum(scale, lacking))
        held = {groups.settled.name: groups.rows for groups in self.prepared.groups}
        rows = np.array([held[cell.attribute] for cell in self.cells] * len(self.models), float)
        return np.ceil(np.round(scale * rows, 3))

    def _describe_gaps(self, n_rows: int) -> dict[str, NDArray]:
        """Describe the contrast that decides each cell."""
        places = np.flatnonzero(self.defined)
        row = self.row[places]
        order = np.lexsort((-self.tests.z[places], -self.tests.p_pass[places], row))
        first = order[np.unique(row[order], return_index=True)[1]]
        chosen, where = places[first], row[first]
        estimate, low, high = (part[chosen] for part in self._signed)
        text = np.full(n_rows, "", object)
        text[where] = [self._name_gap(place) for place in chosen]
        scope = np.full(n_rows, "", object)
        weakest = np.full(n_rows, len(SCOPES))
        np.minimum.at(weakest, row, self.contrasts.scope[places])
        scope[where] = [SCOPES[place] for place in weakest[where]]
        gaps = {}
        for name, part in (("gap", estimate), ("gap_low", low), ("gap_high", high)):
            gaps[name] = np.full(n_rows, np.nan)
            gaps[name][where] = np.where(np.isfinite(part), part, np.nan)
        return {**gaps, "gap_groups": text, "scope": scope}

    @property
    def _signed(self) -> tuple[Array, Array, Array]:
        """Estimate and bounds at the shared level; where something is expected, value less expectation."""
        count = np.bincount(self.row[self.defined], minlength=len(self.models) * len(self.cells))
        alpha = self.protocol.shown_alpha / np.maximum(count[self.row], 1)
        return _turn_sign(self.contrasts, bound_contrasts(self.contrasts, alpha))

    def _name_gap(self, place: int) -> str:
        """Name the two groups, or the group and its score bin."""
        groups = self.cells[self.contrasts.cell[place]].groups
        group, other, score_bin = (
            int(part[place])
            for part in (self.contrasts.group, self.contrasts.other, self.contrasts.score_bin)
        )
        if other >= 0:
            pair = groups[group], groups[other]
            return (" and " if any("," in name for name in pair) else ", ").join(pair)
        return groups[group] if score_bin < 0 else f"{groups[group]}, {name_bin(score_bin)}"

    def list_left_out(self) -> list[list[str]]:
        """List who cannot be compared, with why, for every row."""
        kinds = [score.kind for score in self.prepared.rules]
        return [
            [
                text
                for quantity in cell.quantities
                if has_scores(cell.metric, kind)
                for text in _name_left_out(quantity, cell.groups, place)
            ]
            for place, kind in enumerate(kinds)
            for cell in self.cells
        ]

    def _name_columns(self) -> dict[str, object]:
        """Name every contrast: its model, cell, rate, bin and groups."""
        contrasts = self.contrasts
        cells = [self.cells[place] for place in contrasts.cell]
        return {
            "model": np.array(self.models, object)[contrasts.model],
            "metric": [cell.metric.name for cell in cells],
            "attribute": [cell.attribute for cell in cells],
            "rate": [c.quantities[part].name for c, part in zip(cells, contrasts.part, strict=True)],
            "bin": np.where(contrasts.score_bin >= 0, contrasts.score_bin, np.nan),
            "group": [c.groups[g] for c, g in zip(cells, contrasts.group, strict=True)],
            "other": [c.groups[g] if g >= 0 else "" for c, g in zip(cells, contrasts.other, strict=True)],
        }

    def list_contrasts(self) -> pd.DataFrame:
        """List the contrasts by name, in the order in which they are held, with what they rest on."""
        held = self.contrasts.held, self.contrasts.held_other
        values = {"estimate": self._signed[0], "n": held[0], "n_other": held[1]}
        return pd.DataFrame(self._name_columns() | values)

    def tabulate_contrasts(self) -> pd.DataFrame:
        """Lay out ``contrasts.csv``."""
        contrasts = self.contrasts
        alone = np.full(len(contrasts), self.protocol.shown_alpha)
        estimate, low, high = self._signed
        _, low_alone, high_alone = _turn_sign(contrasts, bound_contrasts(contrasts, alone))
        sides = contrasts.first, contrasts.second
        effective = [np.where(np.isin(side.kind, (FIXED, MEAN)), np.nan, side.effective) for side in sides]
        mean = np.where(contrasts.first.kind == FIXED, effective[1], effective[0])
        columns = {
            **self._name_columns(),
            "estimate": estimate,
            "low": low,
            "high": high,
            "low_alone": low_alone,
            "high_alone": high_alone,
            "p_fail": self.tests.p_fail,
            "p_pass": self.tests.p_pass,
            "n": contrasts.held,
            "n_other": contrasts.held_other,
            "n_effective": mean,
            "n_effective_other": np.where(contrasts.other >= 0, effective[1], np.nan),
            "clusters": contrasts.clusters,
            "scope": np.array(SCOPES, object)[contrasts.scope],
        }
        table = fill_table("contrasts", columns)
        finite = table[["low", "high", "low_alone", "high_alone"]]
        table[finite.columns] = finite.where(np.isfinite(finite))
        order = np.lexsort((contrasts.part, contrasts.cell, contrasts.model))
        return table.iloc[order].reset_index(drop=True)


def _turn_sign(contrasts: Contrasts, bounds: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """Let a value that lies below what is expected of it have a negative difference."""
    low, high = bounds
    below = contrasts.first.kind == FIXED
    estimate = np.where(below, -contrasts.estimate, contrasts.estimate)
    return estimate, np.where(below, -high, low), np.where(below, -low, high)


def name_shown(p_fail: Array, p_pass: Array, whole: NDArray[np.bool_], alpha: float) -> NDArray[np.object_]:
    """Name what is shown: "fail", "pass" (of a cell whose groups were all compared), "open" or "none"."""
    named = np.full(len(p_fail), "open", object)
    named[(p_pass <= alpha) & whole] = "pass"
    named[p_fail <= alpha] = "fail"
    named[np.isnan(p_fail)] = "none"
    return named


def pick_deciding(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Pick from contrasts.csv the contrast that decides each cell: `gap` in verdicts.csv."""
    keys = ["model", "metric", "attribute"]
    ranked = contrasts.sort_values(["p_pass", "p_fail"], ascending=[False, True], kind="stable")
    return ranked.drop_duplicates(keys).reset_index(drop=True)


def name_bin(score_bin: int) -> str:
    """Name a score bin by its ends.

    >>> name_bin(3)
    'scores 0.3 to 0.4'
    """
    return f"scores {score_bin / N_BINS:g} to {(score_bin + 1) / N_BINS:g}"


def _grow_for_support(cell: Cell, model: int) -> float:
    """Find by how much an audit must grow to compare every group of a cell; infinite if one is empty."""
    needed = [0.0]
    for quantity in cell.quantities:
        held = quantity.supported[model]
        few = ~quantity.judged[model] & (held < quantity.needed)
        if quantity.score_bin is not None:
            few &= held > 0
        needed += (quantity.needed / np.where(held[few] > 0, held[few], np.nan)).tolist()
    return float(np.nan_to_num(np.max(needed), nan=np.inf))


def has_scores(metric: Metric, kind: ScoreKind) -> bool:
    """Whether a model's scores are of the kind that a metric needs."""
    if metric.evidence == "score sums":
        return kind == "probability"
    return metric.evidence != "areas" or kind != "decision"


def _name_left_out(quantity: Quantity, groups: Sequence[str], model: int) -> list[str]:
    """Name the groups that cannot be compared under one model, with what they lack."""
    lacking = ~quantity.judged[model]
    if quantity.score_bin is not None:
        return _name_thin_bins(quantity, groups, model)
    found = []
    for place in np.flatnonzero(lacking):
        held, what, needed = float(quantity.supported[model, place]), quantity.what, quantity.needed
        if held >= needed:
            told = f"{quantity.name} is undefined"
        elif quantity.worth is not None:
            told = write_worth(what, float(quantity.held[model, place]), held, needed)
        elif what == RARER:
            told = f"{held:g} of the {what}, {needed} needed"
        else:
            told = write_shortfalls([Shortfall(what, held, needed)])
        found.append((groups[quantity.group[place]], told))
    return [f"{group}: {told}" for group, told in sorted(found)]


def _name_thin_bins(quantity: Quantity, groups: Sequence[str], model: int) -> list[str]:
    """Name the groups with score bins too thin to be compared; an empty bin lacks nothing."""
    thin = ~quantity.judged[model] & (quantity.held[model] > 0)
    found = []
    for group, name in enumerate(groups):
        mine = thin & (quantity.group == group)
        if mine.any():
            n, bins = int(quantity.held[model][mine].sum()), int(mine.sum())
            records, in_bins = f"{n} record{'s' * (n != 1)}", f"{bins} score bin{'s' * (bins != 1)}"
            found.append(f"{name}: {records} in {in_bins}, {quantity.needed} needed in each")
    return found
