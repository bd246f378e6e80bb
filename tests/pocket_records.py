"""Made-up audit records in pockets that are given, for the tests of the testing step."""

from dataclasses import replace

import numpy as np
import pandas as pd

from auditbook.pockets.data import PocketData
from auditbook.records import Attribute


def draw_records(
    rng,
    n,
    *,
    pockets=3,
    units=None,
    kind="record",
    continuous=False,
    rate=0.3,
    groups=("F", "M"),
    models=("a",),
):
    """Draw an audit whose predictions are right, but for a shift a model.

    The table's columns "pocket" and "other" hold given pockets.
    """
    risk = np.clip(rng.beta(4 * rate, 4 * (1 - rate), n), 0.01, 0.99)
    outcome = rng.normal(risk, 0.5) if continuous else (rng.random(n) < risk).astype(float)
    unit = np.arange(n) if units is None else np.sort(rng.integers(0, units, n))
    codes = rng.integers(0, len(groups), n)
    return PocketData(
        pd.DataFrame({"pocket": rng.integers(0, pockets, n), "other": rng.integers(0, pockets, n)}),
        outcome,
        continuous,
        unit,
        kind,
        (Attribute("sex", tuple(groups), codes, groups[-1]),),
        {name: np.clip(risk + 0.02 * place, 0.001, 0.999) for place, name in enumerate(models)},
    )


def shift_records(audit, chosen, amount, *, model="a"):
    """Add a number to the predictions of some records."""
    moved = np.where(chosen, audit.predictions[model] + amount, audit.predictions[model])
    return replace(audit, predictions={**audit.predictions, model: moved})
