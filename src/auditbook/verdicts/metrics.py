"""What is each group metric, what does it need, and when does it pass?"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError, nearest
from auditbook.evidence import (
    Evidence,
    Kind,
    ScoreSums,
    false_positive_rate,
    positive_predictive_value,
    selection_rate,
    true_positive_rate,
)
from auditbook.verdicts.formulas import (
    benefit_theil,
    error_at_large,
    gap,
    largest,
    largest_bin_error,
    ratio,
    theil_by_group,
)

TIE = 1e-9
"""A value this near to the threshold counts as equal to it, so that 0.8 - 0.7 is not more than 0.1."""

Array = NDArray[np.float64]
Need = Literal["records", "events", "non_events", "selected records", "probability", "order"]


@dataclass(frozen=True)
class Metric:
    """A group metric and the rule that turns it into a verdict."""

    name: str  # Short name, as in tables
    title: str
    meaning: str  # One sentence: what it compares, and what its extremes say
    formula: str  # The same in LaTeX
    # From counts (..., n_groups, 4), from `ScoreSums` for a metric that needs a probability, or from the
    # groups' areas (..., n_groups) for one that needs an order, to group values of shape
    # (..., n_parts, n_groups); (..., 1, 1) for a metric of the whole sample
    by_group: Callable[[Evidence], Array]
    combine: Callable[[Array], Array]  # From those to the metric, shape (...): `gap`, `ratio` or `largest`
    threshold: float  # Value at which it just passes
    direction: Literal["at_least", "at_most"]  # On which side of the threshold it passes
    # What every group needs enough of: beside records the denominator of its rates. TPR needs events, FPR
    # non-events, PPV selected records. Calibration needs both outcomes, since a group that lacks one of them
    # gets its value from the lack and not from the model
    needs: tuple[Need, ...]
    quantity: str  # What is computed within a group
    undefined: str  # Why that can be undefined, "no record selected" for example
    source: str  # Where definition and threshold come from

    @property
    def evidence(self) -> Kind:
        """What the metric is computed from: counts, `ScoreSums` or the groups' areas."""
        if "probability" in self.needs:
            return "score sums"
        return "areas" if "order" in self.needs else "counts"

    def values(self, evidence: Evidence) -> Array:
        """Compute the metric."""
        return self.combine(self.by_group(evidence))

    def passes(self, values: ArrayLike, *, threshold: float | None = None) -> NDArray[np.bool_]:
        """Compare with the threshold; a value within 1e-9 of it is equal to it and passes."""
        limit = self.threshold if threshold is None else threshold
        numbers = np.asarray(values, float)
        return numbers >= limit - TIE if self.direction == "at_least" else numbers <= limit + TIE


Measure = Callable[[NDArray[np.int64] | NDArray[np.float64]], Array]


def _read_arrays(*measures: Measure) -> Callable[[Evidence], Array]:
    """Lay out what counts or areas say of every group: a part for each measure."""

    def by_group(evidence: Evidence) -> Array:
        if isinstance(evidence, ScoreSums):
            raise TypeError("this metric reads counts or areas, not score sums")
        parts = [measure(evidence) for measure in measures]
        return parts[0][..., None, :] if len(parts) == 1 else np.stack(parts, axis=-2)

    return by_group


def _read_sums(measure: Callable[[ScoreSums], Array]) -> Callable[[Evidence], Array]:
    """Lay out what score sums say of every group."""

    def by_group(evidence: Evidence) -> Array:
        if not isinstance(evidence, ScoreSums):
            raise TypeError("this metric reads score sums, not counts or areas")
        return measure(evidence)

    return by_group


_JOY = "Joy, Vo and Chua (2026), arXiv:2608.30846"
_SPEICHER = "Speicher et al. (2018), doi:10.1145/3219819.3220046; threshold ours"

_ALL = (
    Metric(
        "DI",
        "Disparate impact",
        "Smallest over largest selection rate: 1 when all are equal, 0 when one group is never selected.",
        r"\frac{\min_g \mathrm{SR}_g}{\max_g \mathrm{SR}_g}",
        by_group=_read_arrays(selection_rate),
        combine=ratio,
        threshold=0.80,
        direction="at_least",
        needs=("records",),
        quantity="selection rate",
        undefined="no records",
        source=_JOY,
    ),
    Metric(
        "SPD",
        "Statistical parity difference",
        "Gap between the largest and the smallest selection rate: 0 when all are equal.",
        r"\max_g \mathrm{SR}_g - \min_g \mathrm{SR}_g",
        by_group=_read_arrays(selection_rate),
        combine=gap,
        threshold=0.10,
        direction="at_most",
        needs=("records",),
        quantity="selection rate",
        undefined="no records",
        source=_JOY,
    ),
    Metric(
        "EOPP",
        "Equal opportunity",
        "Gap in the share of events that are selected: 0 when events are found equally often in all groups.",
        r"\max_g \mathrm{TPR}_g - \min_g \mathrm{TPR}_g",
        by_group=_read_arrays(true_positive_rate),
        combine=gap,
        threshold=0.10,
        direction="at_most",
        needs=("records", "events"),
        quantity="TPR",
        undefined="no events",
        source=_JOY,
    ),
    Metric(
        "EOD",
        "Equalised odds",
        "The larger of the gaps in TPR and in FPR: 0 when both errors are as common in all groups.",
        r"\max\left(\max_g \mathrm{TPR}_g - \min_g \mathrm{TPR}_g,\ "
        r"\max_g \mathrm{FPR}_g - \min_g \mathrm{FPR}_g\right)",
        by_group=_read_arrays(true_positive_rate, false_positive_rate),
        combine=gap,
        threshold=0.10,
        direction="at_most",
        needs=("records", "events", "non_events"),
        quantity="TPR or FPR",
        undefined="no events or no non-events",
        source=_JOY,
    ),
    Metric(
        "TI",
        "Theil index gap",
        "Gap in how unequally the benefit 1 - |y - s| is spread within groups: 0 when alike in all.",
        r"\max_g T_g - \min_g T_g,\quad "
        r"T_g = \frac{1}{n_g}\sum_{i \in g} \frac{b_i}{m_g}\ln\frac{b_i}{m_g},\quad "
        r"b_i = 1 - |y_i - s_i|,\quad m_g = \frac{1}{n_g}\sum_{i \in g} b_i",
        by_group=_read_sums(theil_by_group),
        combine=gap,
        threshold=0.10,
        direction="at_most",
        needs=("records", "probability"),
        quantity="Theil index",
        undefined="mean benefit is zero",
        source=f"published code of {_JOY}",
    ),
    Metric(
        "PP",
        "Predictive parity",
        "Gap in the share of selected records that are events: 0 when a selection means the same for all.",
        r"\max_g \mathrm{PPV}_g - \min_g \mathrm{PPV}_g",
        by_group=_read_arrays(positive_predictive_value),
        combine=gap,
        threshold=0.10,
        direction="at_most",
        needs=("records", "selected records"),
        quantity="PPV",
        undefined="no record selected",
        source=_JOY,
    ),
    Metric(
        "CAL",
        "Calibration",
        "Largest distance of event rate and mean score over groups and ten score bins: 0 when all agree.",
        r"\max_{g,k} \left|\bar{y}_{gk} - \bar{s}_{gk}\right|",
        by_group=_read_sums(largest_bin_error),
        combine=largest,
        threshold=0.05,
        direction="at_most",
        needs=("records", "events", "non_events", "probability"),
        quantity="calibration error",
        undefined="no records",
        source=f"published code of {_JOY}",
    ),
    Metric(
        "TI_benefit",
        "Theil index of the benefit",
        "How unequally the benefit d - y + 1 is spread over all records: 0 when everyone has the same.",
        r"\frac{1}{n}\sum_i \frac{b_i}{m}\ln\frac{b_i}{m},\quad b_i = d_i - y_i + 1",
        by_group=_read_arrays(lambda counts: benefit_theil(counts)[..., 0]),
        combine=largest,
        threshold=0.10,
        direction="at_most",
        needs=("records",),
        quantity="Theil index",
        undefined="mean benefit is zero",
        source=_SPEICHER,
    ),
    Metric(
        "CAL_large",
        "Calibration in the large",
        "Largest distance of mean score and event rate over groups: 0 when they agree in every group.",
        r"\max_g \left|\bar{s}_g - \bar{y}_g\right|",
        by_group=_read_sums(error_at_large),
        combine=largest,
        threshold=0.05,
        direction="at_most",
        needs=("records", "events", "non_events", "probability"),
        quantity="calibration error",
        undefined="no records",
        source="Van Calster et al. (2019), doi:10.1186/s12916-019-1466-7; threshold ours",
    ),
    Metric(
        "AUC",
        "Within-group AUC parity",
        "Gap in how well the score orders events above non-events of the same group: 0 when alike in all.",
        r"\max_g A_g - \min_g A_g,\quad A_g = P(s > s') + \tfrac{1}{2} P(s = s')",
        by_group=_read_arrays(np.asarray),
        combine=gap,
        threshold=0.05,
        direction="at_most",
        needs=("records", "events", "non_events", "order"),
        quantity="AUC",
        undefined="no events or no non-events",
        source="Matos et al. (2026); threshold ours",
    ),
)

METRICS = MappingProxyType({metric.name: metric for metric in _ALL})


def find_metric(name: str) -> Metric:
    """Look a metric up by its name; InputError names those there are, and the nearest.

    >>> find_metric("DI").threshold
    0.8
    """
    if name not in METRICS:
        raise InputError(f"no metric '{name}'{nearest(name, METRICS)}; there are {', '.join(METRICS)}")
    return METRICS[name]
