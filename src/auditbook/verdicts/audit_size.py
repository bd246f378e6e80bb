"""How many records does an audit need before its metrics settle?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv

from auditbook.columns import TABLES, empty_table
from auditbook.evidence import Audited, AuditedGroups, Subsamples, rate, subsample_counts
from auditbook.settings import Protocol
from auditbook.verdicts.flips import resample_values, summarise_resamples
from auditbook.verdicts.metrics import TIE, Metric, find_metric
from auditbook.verdicts.support import lack_support

CELL = ["model", "metric", "attribute"]

Array = NDArray[np.float64]


def plan_sizes(whole: int, grid: Sequence[int]) -> list[int]:
    """Choose the sizes that are tried: those of the grid below the whole, and the whole."""
    return [size for size in grid if size < whole] + [whole]


def sweep_counts(
    counts: ArrayLike,
    metric: Metric | str,
    *,
    sizes: Sequence[int],
    repeats: int = 30,
    threshold: float | None = None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    r"""Follow one cell, given by its counts, through subsamples of several sizes.

    .. math:: \mathrm{CV} = \mathrm{SD} / |\mathrm{mean}|

    Parameters
    ----------
    counts : int array, shape (n_groups, 4)
        Records of each group in the order tp, fp, fn, tn.
    metric : Metric or str
        A metric that needs counts only.
    sizes : sequence of int
        Records a subsample; none above the counts' total.
    repeats : int
        R, subsamples a size.
    threshold : float or None
        Another threshold than the metric's own.
    rng : Generator
        Source of the draws.

    Returns
    -------
    DataFrame
        One row a size: n, mean, sd, cv, pass_share, cv_low, cv_high, undefined_share, above_half, with the
        meaning that `sweep_sizes` gives them.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> table = sweep_counts([[40, 10, 10, 40], [20, 20, 30, 30]], "EOPP", sizes=[50, 200],
    ...                      rng=np.random.default_rng(1))
    >>> table["cv"].round(2).tolist()[1]
    0.0
    """
    rule = find_metric(metric) if isinstance(metric, str) else metric
    table = np.asarray(counts)
    draws = np.stack([subsample_counts(table, size=size, repeats=repeats, rng=rng) for size in sizes])
    required = ~np.isnan(rule.by_group(table))
    found = _summarise(rule, resample_values(rule, draws, required=required), threshold)
    return pd.DataFrame({"n": sizes, **found, "above_half": 2 * np.asarray(sizes) > table.sum()})


def sweep_sizes(prepared: Audited, verdicts: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Follow every cell through simple random subsamples of the audit: ``audit_size.csv``.

    Each model, attribute and size has a stream of its own, so a cell's numbers depend neither on the other
    cells, nor on the other sizes, nor on the order of records and groups. The bounds of `cv` are those of its
    Monte Carlo error, from the chi-square distribution of `sd`. Of `verdicts` (from `judge_cells`) the order
    of the rows is read, and which cells have a verdict: an inconclusive one has its rows, and no numbers.
    With weights there is one row a cell, without numbers: some of a weighted sample is no smaller one.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    metrics = [find_metric(name) for name in protocol.metrics]
    grid = () if prepared.design is not None else protocol.audit_sizes
    frames = []
    for groups in prepared.groups:
        sizes = plan_sizes(groups.rows, grid)
        drawn = {
            kind: groups.evidence[kind].subsampled(sizes, repeats=protocol.size_repeats, seed=protocol.seed)
            for kind in {metric.evidence for metric in metrics}
        }
        models = np.repeat(prepared.models, len(sizes))
        tables = [_tabulate(metric, drawn[metric.evidence], groups, sizes, protocol) for metric in metrics]
        frames += [table.assign(model=models) for table in tables]
    return _arrange(frames, verdicts)


def _tabulate(
    metric: Metric, found: Subsamples, groups: AuditedGroups, sizes: list[int], protocol: Protocol
) -> pd.DataFrame:
    """Tabulate one metric and attribute under every model; the size in force ends the list."""
    required = ~np.isnan(metric.by_group(groups.evidence[metric.evidence].whole()))[:, None, None]
    values = resample_values(metric, found.drawn, required=required)
    numbers = _summarise(metric, values, protocol.thresholds.get(metric.name))
    tried = np.tile(sizes, len(values))
    columns = {
        "metric": metric.name,
        "attribute": groups.settled.name,
        "n": tried,
        **{name: part.ravel() for name, part in numbers.items()},
        "unsupported_share": _lack_support(metric, found, protocol).mean(axis=-1).ravel(),
        "above_half": 2 * tried > sizes[-1],
    }
    return pd.DataFrame(columns)


def _lack_support(metric: Metric, found: Subsamples, protocol: Protocol) -> NDArray[np.bool_]:
    """Tell in which subsamples a group has too little of what a metric needs."""
    counts = found.drawn if metric.evidence == "counts" else None
    selected = counts[..., :2].sum(axis=-1) if isinstance(counts, np.ndarray) else None
    return lack_support(metric, found.strata, protocol=protocol, selected=selected)


def _summarise(metric: Metric, values: Array, threshold: float | None) -> dict[str, Array]:
    """Describe the values of subsamples, shape (..., R), by columns of shape (...)."""
    found = summarise_resamples(metric, values, threshold=threshold)
    level = np.abs(found.mean)
    cv = rate(found.sd, np.where(level > TIE, level, 0.0))
    free = np.count_nonzero(~np.isnan(values), axis=-1) - 1
    spread = np.where((cv > 0) & (free > 0), cv, np.nan) * np.sqrt(np.maximum(free, 1))
    half = np.maximum(free, 1) / 2  # 2 * gammaincinv(half, tail) is the quantile of chi-squared
    low, high = (spread / np.sqrt(2 * gammaincinv(half, tail)) for tail in (0.975, 0.025))
    return {
        "mean": found.mean,
        "sd": found.sd,
        "cv": cv,
        "pass_share": found.pass_share,
        "cv_low": low,
        "cv_high": high,
        "undefined_share": found.undefined_share,
    }


def _arrange(found: list[pd.DataFrame], verdicts: pd.DataFrame) -> pd.DataFrame:
    """Order the rows as the verdicts are ordered, and blank the numbers of inconclusive cells."""
    if not found:
        return empty_table("audit_size")
    table = verdicts[[*CELL, "verdict"]].merge(pd.concat(found, ignore_index=True), on=CELL, how="left")
    names = TABLES["audit_size"].names()
    numbers = [name for name in names if name not in (*CELL, "n", "above_half")]
    table.loc[table["verdict"] == "inconclusive", numbers] = np.nan
    return table[names]


def find_n_star(sizes: pd.DataFrame, *, cv_stable: float) -> float:
    r"""Find the smallest size at which a cell has settled.

    .. math:: N^* = \min\{N : \mathrm{CV}(N) < \eta\}

    over the sizes up to half of the audit, at which no subsample left the metric undefined.

    Parameters
    ----------
    sizes : DataFrame
        One cell's rows of audit_size.csv.
    cv_stable : float
        The bound :math:`\eta`.

    Returns
    -------
    float
        Infinity when no such size qualifies.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> table = pd.DataFrame({"n": [1_000, 2_500, 4_000], "cv": [0.2, 0.04, 0.0],
    ...                       "undefined_share": 0.0, "above_half": [False, True, True]})
    >>> find_n_star(table, cv_stable=0.05)
    inf
    """
    settled = _has_settled(sizes, cv_stable)
    return float(sizes["n"][settled].min()) if settled.any() else float("inf")


def list_n_star(sizes: pd.DataFrame, *, cv_stable: float) -> dict[tuple[str, ...], float]:
    """Find the N* of every cell (model, metric, attribute) that has settled somewhere (see `find_n_star`).

    >>> table = pd.DataFrame({"model": "m", "metric": "DI", "attribute": "sex", "n": [1_000], "cv": 0.04,
    ...                       "undefined_share": 0.0, "above_half": False})
    >>> list_n_star(table, cv_stable=0.05)
    {('m', 'DI', 'sex'): 1000.0}
    """
    settled = sizes[_has_settled(sizes, cv_stable)]
    least = settled.groupby(CELL, sort=False)["n"].min().reset_index()
    return {tuple(cell): float(n) for *cell, n in least.itertuples(index=False)}


def _has_settled(sizes: pd.DataFrame, cv_stable: float) -> "pd.Series[bool]":
    """Tell at which sizes a cell has settled."""
    return (sizes["cv"] < cv_stable) & ~sizes["above_half"] & (sizes["undefined_share"] == 0)
