"""How many events of one group must have gone unrecorded for a conclusion to fall?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from auditbook.columns import fill_table, stack_tables
from auditbook.evidence import Audited, AuditedGroups, rate
from auditbook.settings import Protocol
from auditbook.verdicts.contrasts import Contrasts, contrast_quantity, name_scope, stack_contrasts
from auditbook.verdicts.metrics import TIE, Metric, find_metric
from auditbook.verdicts.quantities import RATE_CELLS, Grouped, Quantity, measure_rates
from auditbook.verdicts.shown import METRIC_QUANTITIES
from auditbook.verdicts.tipping_cases import Array, Cases, list_cases
from auditbook.verdicts.tipping_shown import ShownCells, find_shown
from auditbook.verdicts.unrecorded import AMONG

RESTING = {"EOPP": ("TPR",), "EOD": ("TPR", "FPR"), "PP": ("PPV",)}
"""Metrics of counts that rest on the label, with the rates that they compare."""
STILL = 1e-12
"""A rate that changes by less than this with each missed event is taken not to change."""
KEYS = ["model", "metric", "attribute"]


def find_tipping_points(
    prepared: Audited, verdicts: pd.DataFrame, contrasts: pd.DataFrame, protocol: Protocol
) -> pd.DataFrame:
    r"""Find which share of one group's events must have gone unrecorded for each conclusion to fall.

    With E recorded events, a share s means that :math:`E s/(1 - s)` recorded non-events were events
    (`record_missed`). The tipping point is

    .. math:: \min \{ s : V(s) \ne V(0) \} \quad\text{and}\quad \min \{ s : S(s) \ne S(0) \},

    V being the published verdict and S what is shown of the cell. The other groups and the other cells of the
    board stay as they are, and so does what a record is worth where units or sites hold several. A failure is
    held against the bounds at its level and not against its p-value, which is larger by the chance of the
    opposite order: the share is a little too large (recounts agree to about one record). Metrics of selection
    (DI, SPD) do not look at the outcome and have no row; TI, CAL and AUC need more than counts and have none
    either, nor have records with weights.

    Parameters
    ----------
    prepared : Prepared
        What was audited.
    verdicts, contrasts : DataFrame
        From `judge`, with what is shown.
    protocol : Protocol
        Metrics, thresholds, minimum support and the level of what is shown.

    Returns
    -------
    DataFrame
        ``tipping_points.csv``: a row a cell, group and `AMONG`. `verdict_share` and `shown_share` are near 0
        when the conclusion hangs by a hair, infinite when no share of this group does it, nan without such a
        conclusion.

    References
    ----------
    Yan, X., Lee, S. and Li, N. (2009). Missing data handling methods in medical device clinical trials.
    Journal of Biopharmaceutical Statistics 19, 1085-1098 (the tipping point of a conclusion).
    Fawkes, J. et al. (2024). arXiv:2410.09600 (labels in question).

    Examples
    --------
    >>> from auditbook.evidence import prepare
    >>> from auditbook.records import Attribute, AuditRecords, Score
    >>> from auditbook.verdicts import judge
    >>> sex = Attribute("sex", ("F", "M"), np.repeat([0, 1], 80))
    >>> y, d = (np.tile(np.repeat(part, 20), 2) for part in ([1, 0, 1, 0], [1.0, 1, 0, 0]))
    >>> prepared = prepare(AuditRecords(y.astype(np.int8), (sex,), (Score("m", "decision", 0.5, d),)))
    >>> protocol = Protocol(metrics=("EOPP",))
    >>> found = judge(prepared, protocol, axes=("shown",))
    >>> table = find_tipping_points(prepared, found.verdicts, found.contrasts, protocol)
    >>> table.query("group == 'F' and among == 'not selected'")["verdict_share"].round(3).tolist()
    [0.2]
    """
    told = verdicts.set_index(KEYS)[["verdict", "shown"]].join(_find_levels(contrasts, protocol.shown_alpha))
    metrics = [find_metric(name) for name in protocol.metrics if name in RESTING]
    parts = []
    for groups in prepared.groups if metrics and prepared.design is None else ():
        rates = measure_rates(Grouped(prepared, groups, protocol), ("TPR", "FPR", "PPV"))
        parts += [_Cells(prepared, groups, metric, protocol, rates, told).tabulate() for metric in metrics]
    return stack_tables("tipping_points", [part for part in parts if len(part)])


def _find_levels(contrasts: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Find the levels at which each contrast of a cell is held, `fail_level` and `pass_level`."""
    known = contrasts.dropna(subset="p_fail")
    cells = known.groupby(KEYS, sort=False).agg(
        count=("p_fail", "size"), least=("p_fail", "min"), most=("p_pass", "max"), rates=("rate", "nunique")
    )
    parts = [len(METRIC_QUANTITIES[metric]) for metric in cells.index.get_level_values("metric")]
    sides = {
        "fail_level": np.minimum(cells["count"] * cells["least"], 1),
        "pass_level": cells["most"].where(cells["rates"] == parts, 1.0),
    }
    levels = pd.DataFrame(sides)
    for name in levels:
        board = levels[name].groupby(level="model", sort=False)
        levels[name] = board.transform(lambda p: find_level(p.to_numpy(), alpha))
    return levels.assign(fail_level=levels["fail_level"] / cells["count"])


def find_level(p: Array, alpha: float) -> Array:
    r"""Find up to which p-value Holm would reject each hypothesis, the others being as they are.

    .. math:: \alpha / (m - k_i)

    with m hypotheses, and :math:`k_i` of the others that are rejected even when this one comes last.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand J Statist 6, 65-70.

    Examples
    --------
    >>> find_level(np.array([0.001, 0.2]), 0.05).tolist()
    [0.025, 0.05]
    """
    levels = np.empty(len(p))
    for place in range(len(p)):
        others = np.sort(np.delete(p, place))
        kept = others * np.arange(len(p), 1, -1) > alpha
        levels[place] = alpha / (len(p) - (int(np.argmax(kept)) if kept.any() else len(others)))
    return levels


@dataclass(frozen=True)
class _Cells:
    """One metric and attribute under every model."""

    prepared: Audited
    groups: AuditedGroups
    metric: Metric
    protocol: Protocol
    rates: dict[str, Quantity]
    concluded: pd.DataFrame  # By model, metric and attribute: verdict, shown and the two levels

    def tabulate(self) -> pd.DataFrame:
        """Lay out the cases of the cells in which something was concluded."""
        told, cases = self._read_concluded(), self._list_cases()
        verdict, shown = (told[name].to_numpy(object)[cases.model] for name in ("verdict", "shown"))
        at_verdict = np.where(np.isin(verdict, ["pass", "fail"]), self._tip_verdicts(cases), np.nan)
        at_shown = np.where(np.isin(shown, ["pass", "fail"]), self._tip_shown(cases, told), np.nan)
        events = cases.events
        columns = {
            "model": np.array(self.prepared.models, object)[cases.model],
            "metric": self.metric.name,
            "attribute": self.groups.settled.name,
            "group": np.array(self.groups.settled.groups, object)[cases.group],
            "among": np.array(AMONG, object)[cases.among],
            "events": events.astype(np.int64),
            "most": cases.most,
            "verdict": verdict,
            "verdict_share": at_verdict,
            "verdict_missed": _count_missed(events, at_verdict),
            "shown": shown,
            "shown_share": at_shown,
            "shown_missed": _count_missed(events, at_shown),
        }
        some = ~(np.isnan(at_verdict) & np.isnan(at_shown)) & ~np.isnan(cases.most)
        return fill_table("tipping_points", columns)[some]

    def _list_cases(self) -> Cases:
        """List the groups, each with its non-events kept to a number with which it is compared."""
        kept = max(self.protocol.min_non_events, 1) if "FPR" in RESTING[self.metric.name] else 0
        return list_cases(self.groups.counts.whole(), kept=kept)

    def _read_concluded(self) -> pd.DataFrame:
        """Read what was concluded under each model."""
        keys = [(model, self.metric.name, self.groups.settled.name) for model in self.prepared.models]
        return self.concluded.reindex(pd.MultiIndex.from_tuples(keys, names=KEYS))

    @property
    def threshold(self) -> float:
        """The largest gap that passes."""
        return float(self.protocol.thresholds.get(self.metric.name, self.metric.threshold))

    def _tip_verdicts(self, cases: Cases) -> Array:
        """Find where each published verdict turns."""
        counts, names = self.groups.counts.whole(), RESTING[self.metric.name]
        rates = np.stack([_read_rate(counts, name) for name in names], axis=-2)
        least, most = (side[cases.model, :, cases.group] for side in _find_others(rates))
        limit = self.threshold + TIE
        spans = [
            _span_passes(cases, name, most[:, part] - limit, least[:, part] + limit)
            for part, name in enumerate(names)
        ]
        starts, ends = zip(*spans, strict=True)
        start, end = np.max(starts, axis=0), np.min(ends, axis=0)
        start = np.where((most - least > limit).any(axis=1), np.inf, start)
        turns = np.where(start <= 0, end, np.where(start <= end, start, np.inf))
        share = _share_of(cases.events, turns)
        return np.where(share > cases.most, np.inf, share)

    def _tip_shown(self, cases: Cases, told: pd.DataFrame) -> Array:
        """Find where each cell is no longer shown to fail or to pass."""
        shown = told["shown"].to_numpy(object)
        level = told["fail_level"].where(shown == "fail", told["pass_level"]).fillna(0.5).to_numpy(float)
        fails, passes = shown == "fail", shown == "pass"
        z = np.where(fails | passes, -ndtri(np.clip(level, 1e-300, 0.5)), 0.0)
        cell = ShownCells(fails, passes, z, self.threshold)
        return find_shown(cell, self._contrast(), RESTING[self.metric.name], cases)

    def _contrast(self) -> Contrasts:
        """Set the groups beside each other, as for what is shown."""
        scope, threshold = name_scope(self.prepared), self.threshold
        quantities = [self.rates[name] for name in RESTING[self.metric.name]]
        return stack_contrasts(
            [
                contrast_quantity(one, self.metric, cell=0, part=part, threshold=threshold, scope=scope)
                for part, one in enumerate(quantities)
            ]
        )


def _count_missed(events: Array, share: Array) -> Array:
    """Count the unrecorded events behind a share; infinite where none does it, nan where all are missed."""
    part = np.where(np.isinf(share), 0, share)
    return np.where(np.isinf(share), np.inf, rate(events * part, 1 - part))


def _share_of(events: Array, missed: Array) -> Array:
    """Find the share of all events that so many missed ones are."""
    known = np.where(np.isfinite(missed), missed, 0)
    return np.where(np.isfinite(missed), rate(known, events + known), np.inf)


def _read_rate(counts: NDArray, name: str) -> Array:
    """Read a rate of counts of shape (..., 4)."""
    top, bottom = (counts[..., list(part)].sum(axis=-1) for part in RATE_CELLS[name])
    return rate(top, bottom)


def _span_passes(cases: Cases, name: str, low: Array, high: Array) -> tuple[Array, Array]:
    r"""Find between which numbers of missed events a rate lies from `low` to `high`.

    With m missed events a rate is :math:`(T + am)/(D + bm)`, which only rises or only falls; it equals r at
    :math:`m = (rD - T)/(a - rb)`. -inf where it lies there already, inf where it never does.
    """
    sides = [np.isin(np.arange(4), part).astype(float) for part in RATE_CELLS[name]]
    step = np.stack([cases.selected, -cases.selected, 1 - cases.selected, cases.selected - 1], axis=-1)
    (top, bottom), (a, b) = ([part @ side for side in sides] for part in (cases.counts, step))
    value, change = rate(top, bottom), a * bottom - top * b
    rises, still = change > 0, np.abs(change) <= STILL * bottom

    def reach(level: Array) -> Array:
        slope = a - level * b
        at = np.divide(level * bottom - top, slope, out=np.full(len(top), np.inf), where=slope != 0)
        return np.where((at > 0) & ~still, at, np.inf)

    begins = np.where(rises, value < low, value > high) | (still & (value < low))
    over = np.where(rises, value > high, value < low) & ~still
    start = np.where(begins, reach(np.where(rises, low, high)), -np.inf)
    return start, np.where(over, -np.inf, reach(np.where(rises, high, low)))


def _find_others(parts: Array) -> tuple[Array, Array]:
    """Find the smallest and the largest value of all groups but one, each of shape (..., n_groups)."""
    n_groups = parts.shape[-1]
    alone = np.eye(n_groups, dtype=bool)
    others = np.where(alone, np.nan, parts[..., None, :])
    return np.fmin.reduce(others, axis=-1), np.fmax.reduce(others, axis=-1)
