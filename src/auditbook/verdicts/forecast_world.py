"""How well does a flip rate foretell audits of a made-up world whose truth is known?"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from auditbook.settings import Protocol
from auditbook.verdicts.forecast import AUDITS, RECORDS
from auditbook.verdicts.forecast_compare import Rule, measure_halvings
from auditbook.verdicts.forecast_draw import HalfDraws, audit_halves, resample_freely, resample_halves
from auditbook.verdicts.metrics import find_metric


def foretell_world(
    counts: ArrayLike, metric: str, *, half: int, size: int, rng: np.random.Generator, times: int = 200
) -> pd.DataFrame:
    """Predict flip rates in a made-up world whose audits can be drawn at will, and look at these."""
    table = np.asarray(counts)
    shares = table.ravel() / table.sum()
    first = rng.multinomial(half, shares, size=times).reshape(times, *table.shape)
    audits = rng.multinomial(size, shares, size=(times, AUDITS)).reshape(times, AUDITS, *table.shape)
    draws = HalfDraws(
        first=first,
        second=first,
        resampled=resample_halves(first, size=size, resamples=AUDITS, rng=rng),
        free=resample_freely(first, size=size, resamples=AUDITS, rng=rng),
        by_site=None,
        audits={RECORDS: (audit_halves(first, size=size, audits=AUDITS, rng=rng), audits)},
        size=size,
    )
    rule = Rule(find_metric(metric), Protocol(min_records=1, min_events=0, min_non_events=0))
    found = measure_halvings(rule, draws)[RECORDS]
    kept = ("predicted", "predicted_wide", "realised", "wrong_side")
    means = {name: float(found[name][found["judged"]].mean()) for name in kept}
    means["audit_mean"] = float(np.nanmean(rule.metric.values(audits)))
    means["resample_mean"] = float(np.nanmean(rule.metric.values(draws.resampled)))
    return pd.DataFrame([{"half": half, "n": size, "truth": float(rule.metric.values(table)), **means}])
