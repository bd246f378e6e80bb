"""How often would another audit of the same cohort have ended in the other verdict?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.evidence import Evidence, draw_counts, flip_interval, percentile_interval
from auditbook.verdicts.metrics import TIE, Metric, find_metric

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stability:
    r"""What the resamples of many cells say of their verdicts; every array has shape (...)."""

    pass_share: Array  # Share of the defined resamples that pass; nan when none is defined
    vfr: Array  # Verdict flip rate :math:`\min(p, 1 - p)`, in [0, 0.5]
    vfr_low: Array  # Its 95 % Wilson bounds: Monte Carlo error alone
    vfr_high: Array
    mean: Array  # Of the metric over the defined resamples
    sd: Array
    margin: Array  # :math:`|\text{mean} - \text{threshold}|/\text{sd}`; nan when the resamples do not vary
    ci_low: Array  # Middle 95 % of the resampled values; nan where both ends would coincide
    ci_high: Array
    # Share of the resamples in which the metric is undefined, or a group lost its rate
    undefined_share: Array

    @property
    def dominant(self) -> NDArray[np.str_]:
        """``pass`` with a strict majority of the defined resamples, else ``fail``; blank without any."""
        return np.where(np.isnan(self.pass_share), "", np.where(self.pass_share > 0.5, "pass", "fail"))


def resample_values(metric: Metric, draws: Evidence, *, required: NDArray[np.bool_]) -> Array:
    """Compute a metric in each resample; it is undefined where a required group has lost its value.

    Parameters
    ----------
    metric : Metric
        What to compute.
    draws : int array of shape (..., n_groups, 4), ScoreSums, or float array of shape (..., n_groups)
        Counts, score sums or areas of the resamples.
    required : bool array, broadcasts to (..., n_parts, n_groups)
        Groups that have a value in the whole sample.

    Returns
    -------
    float array, shape (...)
        nan where undefined; never the metric of the groups that are left.

    Examples
    --------
    >>> draws = np.array([[[1, 1, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1]]])
    >>> resample_values(find_metric("PP"), draws, required=np.ones((1, 3), bool)).tolist()
    [nan]
    """
    parts = metric.by_group(draws)
    undefined = np.isnan(parts)
    if not undefined.any():
        return metric.combine(parts)
    lost = (undefined & required).any(axis=(-2, -1))
    return np.where(lost, np.nan, metric.combine(parts))


def summarise_resamples(metric: Metric, values: ArrayLike, *, threshold: float | None = None) -> Stability:
    """Turn a metric's resampled values, shape (..., n_resamples), into flip rates and their companions.

    nan values are undefined; `threshold` replaces the metric's own.

    >>> float(summarise_resamples(find_metric("SPD"), [0.05, 0.2, 0.3, 0.4]).vfr)
    0.25
    """
    drawn = np.asarray(values, float)
    limit = metric.threshold if threshold is None else threshold
    defined = ~np.isnan(drawn)
    count = np.count_nonzero(defined, axis=-1)
    passes = np.count_nonzero(metric.passes(drawn, threshold=limit) & defined, axis=-1)
    trials = np.where(count > 0, count, np.nan)
    flips, middle = flip_interval(passes, count), percentile_interval(drawn)
    mean = np.where(defined, drawn, 0).sum(axis=-1) / trials
    squares = np.where(defined, drawn - mean[..., None], 0) ** 2
    vary = np.fmax.reduce(drawn, axis=-1) - np.fmin.reduce(drawn, axis=-1) > TIE
    sd = np.where(vary, np.sqrt(squares.sum(axis=-1) / np.where(count > 1, count - 1, np.nan)), 0.0)
    wide = middle.high - middle.low > TIE
    return Stability(
        pass_share=passes / trials,
        vfr=np.minimum(passes, count - passes) / trials,
        vfr_low=flips.low,
        vfr_high=flips.high,
        mean=mean,
        sd=np.where(count > 1, sd, np.nan),
        margin=np.abs(mean - limit) / np.where(vary, sd, np.nan),
        ci_low=np.where(wide, middle.low, np.nan),
        ci_high=np.where(wide, middle.high, np.nan),
        undefined_share=1 - count / drawn.shape[-1],
    )


@dataclass(frozen=True)
class FlipRate:
    """The verdict flip rate of one cell and the resamples behind it; what `Stability` has means the same."""

    values: Array  # shape (n_resamples,): The metric in each resample; nan where undefined
    estimate: float  # The metric on the counts as they are
    threshold: float  # Where it passes
    verdict: str  # ``pass`` or ``fail`` of the counts as they are; blank when undefined
    dominant: str  # ``pass`` or ``fail`` of most resamples
    pass_share: float
    vfr: float
    vfr_low: float
    vfr_high: float
    mean: float
    sd: float
    margin: float
    ci_low: float
    ci_high: float
    undefined_share: float


def flip_rate(
    counts: ArrayLike,
    metric: Metric | str,
    *,
    resamples: int = 500,
    size: int | None = None,
    threshold: float | None = None,
    rng: np.random.Generator,
) -> FlipRate:
    r"""Find the verdict flip rate of one cell from its counts alone.

    .. math:: \mathrm{VFR} = \min(\text{passes}, K - \text{passes})/K

    over K resamples within the strata label x group. No minimum support is asked for here; `judge` does.

    Parameters
    ----------
    counts : int array, shape (n_groups, 4)
        Records of each group in the order tp, fp, fn, tn; a group without a record is left out.
    metric : Metric or str
        A metric that needs counts only.
    resamples : int
        K.
    size : int or None
        Records a resample, at most the counts' own total, which is also what None means.
    threshold : float or None
        Another threshold than the metric's own.
    rng : Generator
        Source of the draws.

    Returns
    -------
    FlipRate
        0 when all resamples agree, 0.5 when they are divided evenly, nan when none is defined.

    Raises
    ------
    InputError
        If the metric needs scores, or the counts are not a table of whole numbers.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> found = flip_rate([[40, 10, 10, 40], [35, 15, 15, 35]], "EOPP", rng=np.random.default_rng(1))
    >>> round(found.estimate, 2), found.verdict, found.vfr > 0.3
    (0.1, 'pass', True)
    """
    rule = find_metric(metric) if isinstance(metric, str) else metric
    if rule.evidence != "counts":
        raise InputError(f"{rule.name} needs {rule.evidence}; flip_rate takes counts only")
    table = _check_table(counts)
    whole = int(table.sum())
    draws = draw_counts(table, size=min(size or whole, whole), resamples=resamples, rng=rng)
    values = resample_values(rule, draws, required=~np.isnan(rule.by_group(table)))
    stability = summarise_resamples(rule, values, threshold=threshold)
    estimate = float(rule.values(table))
    passed = "pass" if rule.passes(estimate, threshold=threshold) else "fail"
    return FlipRate(
        values=values,
        estimate=estimate,
        threshold=rule.threshold if threshold is None else threshold,
        verdict="" if np.isnan(estimate) else passed,
        dominant=str(stability.dominant),
        **{name: float(part) for name, part in vars(stability).items()},
    )


def _check_table(counts: ArrayLike) -> NDArray[np.int64]:
    """Refuse what is no table of counts; leave out the groups without a record."""
    table = np.asarray(counts)
    if (
        table.ndim != 2
        or table.shape[1] != 4
        or not np.issubdtype(table.dtype, np.integer)
        or (table < 0).any()
    ):
        raise InputError("counts must be whole numbers, not negative, in rows of four: tp, fp, fn, tn")
    if not table.any():
        raise InputError("counts hold no record")
    return table[table.sum(axis=1) > 0].astype(np.int64)
