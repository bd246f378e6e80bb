"""In each halving: what was predicted of one half, what came of it in the other, and what lies between?"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import rate, stratum_sizes
from auditbook.settings import Protocol
from auditbook.verdicts.forecast_draw import HalfDraws
from auditbook.verdicts.metrics import Metric
from auditbook.verdicts.support import lack_support

LEAST_VERDICTS = 0.5
"""Where fewer of a half's audits end in a verdict, the size is too small for the cell and is left out."""

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Sample:
    """One metric in many samples of many halves."""

    values: Array  # shape (halvings, draws): The metric; nan where undefined
    passes: Flags  # Whether it passes
    counted: Flags  # Samples that have a say
    supported: Flags  # Samples in which every group has what a verdict needs

    @property
    def strict(self) -> "Sample":
        """The same, where only samples that end in a verdict have a say."""
        return replace(self, counted=self.counted & self.supported)

    @property
    def mean(self) -> Array:
        """Mean over the samples that count, shape (halvings, 1); nan without any."""
        total = np.where(self.counted, self.values, 0).sum(axis=1, keepdims=True)
        return rate(total, self.counted.sum(axis=1, keepdims=True))

    @property
    def sd(self) -> Array:
        """Standard deviation likewise, shape (halvings,)."""
        squares = np.where(self.counted, (self.values - self.mean) ** 2, 0).sum(axis=1)
        return np.sqrt(rate(squares, self.counted.sum(axis=1) - 1))

    @property
    def pass_share(self) -> Array:
        """Share of the samples that count that pass, shape (halvings,)."""
        return self.share(self.passes)

    def share(self, flags: Flags) -> Array:
        """Share of the samples that count in which something holds, shape (halvings,)."""
        return rate((flags & self.counted).sum(axis=1), self.counted.sum(axis=1))


@dataclass(frozen=True)
class Rule:
    """A metric, its threshold and the support it asks for."""

    metric: Metric  # One that needs counts only
    protocol: Protocol  # Threshold and minimum support

    def passes(self, values: Array) -> Flags:
        """Compare with the threshold of the protocol."""
        return self.metric.passes(values, threshold=self.protocol.thresholds.get(self.metric.name))

    def sample(self, counts: NDArray[np.int64]) -> Sample:
        """Compute the metric in samples, shape (..., n_groups, 4).

        A sample counts when the metric is defined and no group of the attribute has lost its rate.
        """
        parts = self.metric.by_group(counts)
        values = self.metric.combine(parts)
        defined = ~(np.isnan(parts).any(axis=(-2, -1)) | np.isnan(values))
        strata, selected = stratum_sizes(counts), counts[..., :2].sum(axis=-1)
        short = lack_support(self.metric, strata, protocol=self.protocol, selected=selected)
        return Sample(values, self.passes(values), defined, ~short & (counts.shape[-2] > 1))


def measure_halvings(rule: Rule, draws: HalfDraws) -> dict[str, dict[str, Any]]:
    r"""Compare, in each halving, the flip rate of the first half with audits of the second.

    Four flip rates are taken, each the share of samples whose verdict is not the dominant one of the first
    half's resamples:

    - :math:`r_0`, of the resamples themselves: the predicted flip rate;
    - :math:`r_1`, of the resamples after they were moved so that their mean is that of audits of the first
      half: what a resample pushes up or down is taken out;
    - :math:`r_2`, of audits of the first half. These share records, so that they differ less among
      themselves than audits of new records would; their distances from their mean are stretched by
      :math:`1/\sqrt{1 - n/N}`, with N the records of the half;
    - :math:`r_3`, of audits of the second half: the realised one.

    The error :math:`r_3 - r_0` is the sum of three steps: range, spread and halves. Audits that end without
    a verdict, because a group lacks support or its rate, take no part.

    Parameters
    ----------
    rule : Rule
        What is judged.
    draws : HalfDraws
        Counts of halves, resamples and audits.

    Returns
    -------
    dict of str to dict of str to array of shape (halvings,)
        By way of drawing. nan in a halving without a prediction (the first half lacks support) or where
        fewer than half of a half's audits end in a verdict; `judged` tells which have both.

    References
    ----------
    Cochran, W. G. (1977). Sampling Techniques, third edition, chapter 2.
    """
    resampled, half = rule.sample(draws.resampled), rule.sample(draws.first).strict
    by_site = rule.sample(draws.free if draws.by_site is None else draws.by_site)
    if draws.by_site is None:
        by_site = replace(by_site, counted=np.zeros_like(by_site.counted))
    common = {
        "predicted": np.minimum(resampled.pass_share, 1 - resampled.pass_share),
        "predicted_site": _flips(by_site),
        "predicted_wide": _flips(_widen(rule, rule.sample(draws.free), draws)),
        "predicted_site_wide": _flips(_widen(rule, by_site, draws)),
        **_describe_halves(rule, draws, resampled, by_site),
    }
    found = {}
    for drawing, pair in draws.audits.items():
        first, second = (rule.sample(counts) for counts in pair)
        measures = common | _compare(rule, draws, resampled, first.strict, second)
        measures["records"] = pair[1].sum(axis=(2, 3)).mean(axis=1)
        ended = np.stack([sample.strict.counted.mean(axis=1) for sample in (first, second)])
        judged = half.counted & (ended.min(axis=0) >= LEAST_VERDICTS) & ~np.isnan(measures["predicted"])
        blank = {name: np.where(judged, part, np.nan) for name, part in measures.items()}
        share = 1 - ended[1]
        found[drawing] = {"judged": judged, "no_verdict_share": share, **blank}
    return found


def _compare(
    rule: Rule, draws: HalfDraws, resampled: Sample, first: Sample, whole_second: Sample
) -> dict[str, Array]:
    """Compare resamples of the first half with audits of both."""
    second = whole_second.strict
    dominant = (resampled.pass_share > 0.5)[:, None]
    moved = resampled.values + first.mean - resampled.mean
    stretched = first.mean + (first.values - first.mean) / np.sqrt(draws.left)
    steps = [
        resampled.share(resampled.passes != dominant),
        resampled.share(rule.passes(moved) != dominant),
        first.share(rule.passes(stretched) != dominant),
        second.share(second.passes != dominant),
    ]
    return {
        "realised": steps[3],
        "realised_mixed": _mix(dominant[:, 0], second.pass_share),
        "realised_any": whole_second.share(second.passes != dominant),
        "error": steps[3] - steps[0],
        "from_range": steps[1] - steps[0],
        "from_spread": steps[2] - steps[1],
        "from_halves": steps[3] - steps[2],
        "wrong_side": (steps[3] > 0.5).astype(float),
        **_describe_pairs(resampled, first, second),
        "bias_audit": second.mean[:, 0] - rule.metric.values(draws.second),
        "audit_sd": second.sd / np.sqrt(draws.left[:, 0]),
    }


def _mix(dominant: Flags, share: Array) -> Array:
    """Share of the audits of the second halves of all other halvings that differ, shape (halvings,)."""
    known = ~np.isnan(share)
    total, held = np.where(known, share, 0).sum(), known.sum()
    others = rate(total - np.where(known, share, 0), held - known)
    return np.where(dominant, 1 - others, others)


def _flips(sample: Sample) -> Array:
    """Flip rate in the samples of each half, shape (halvings,)."""
    return np.minimum(sample.pass_share, 1 - sample.pass_share)


def _widen(rule: Rule, sample: Sample, draws: HalfDraws) -> Sample:
    """Stretch resamples about their mean by sqrt(1 + n/N), because the half is itself a sample of N."""
    wide = sample.mean + (sample.values - sample.mean) * np.sqrt(2 - draws.left)
    return replace(sample, values=wide, passes=rule.passes(wide))


def _describe_pairs(resampled: Sample, first: Sample, second: Sample) -> dict[str, Array]:
    """How often two audits disagree: as predicted, both in the second half, one in each half."""
    share, one, other = resampled.pass_share, first.pass_share, second.pass_share
    held = second.counted.sum(axis=1)
    return {
        "own": np.minimum(other, 1 - other),
        "pair_predicted": 2 * share * (1 - share),
        "pair_realised": 2 * other * (1 - other) * rate(held, held - 1),
        "pair_across": one * (1 - other) + other * (1 - one),
    }


def _describe_halves(rule: Rule, draws: HalfDraws, resampled: Sample, by_site: Sample) -> dict[str, Array]:
    """Where resamples lie beside their half, how far halves lie apart, and how much resamples differ."""
    here, there = rule.metric.values(draws.first), rule.metric.values(draws.second)
    whole = rule.metric.values(draws.first[0] + draws.second[0])
    return {
        "against_whole": ((resampled.pass_share > 0.5) != rule.passes(whole)).astype(float),
        "bias_half": here - whole,
        "bias_resample": resampled.mean[:, 0] - here,
        "halves_gap": here - there,
        "resample_sd": resampled.sd,
        "site_sd": by_site.sd,
    }
