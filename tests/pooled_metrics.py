"""An oracle: overall values and weighted means of group values, from the records themselves."""

import numpy as np
import pandas as pd

from auditbook.evidence.counts import rate
from auditbook.ranking.collapsibility import PERFORMANCE, collapse, pool_samples


def tabulate_collapsibility(samples):
    """Compare the overall value of each metric with the weighted mean of the groups' values."""
    whole, rows = pool_samples(samples), []
    for metric in PERFORMANCE.values():
        values = np.array([metric.value(sample) for sample in samples])
        known = ~np.isnan(values)
        overall = metric.value(whole)
        if metric.weight is None:
            held = np.array([len(sample.outcome) for sample in samples])
            mean = float(rate(np.sum(values[known] * held[known]), np.sum(held[known])))
        else:
            mean = collapse(metric, samples)
        low, high = (part(values, initial=np.nan) for part in (np.fmin.reduce, np.fmax.reduce))
        rows.append(
            (
                metric.name,
                metric.title,
                metric.weight is not None,
                metric.weighed_by,
                low,
                high,
                overall,
                mean,
                overall - mean,
            )
        )
    names = "metric title collapsible weighed_by lowest highest overall mean difference".split()
    return pd.DataFrame(rows, columns=names)
