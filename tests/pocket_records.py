"""Made-up audit records in pockets that are given, for the tests of the testing step."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from auditbook.pockets.data import PocketData
from auditbook.pockets.frozen import Assignment, FrozenMap
from auditbook.records import Attribute


@dataclass(frozen=True)
class GivenRule:
    """Reads the pocket of a record from a column."""

    n_pockets: int
    column: str = "pocket"

    def assign(self, table):
        codes = table[self.column].to_numpy(np.int32)
        return Assignment(codes, np.ones(len(codes)), np.ones(len(codes)))

    def arrays(self):
        return {"n_pockets": np.array([self.n_pockets])}


def given_map(n_pockets, *, name="forest", column="pocket"):
    letter = name[0].upper()
    return FrozenMap(
        name,
        GivenRule(n_pockets, column),
        tuple(f"{letter}{k + 1}" for k in range(n_pockets)),
        np.full(n_pockets, 10),
        np.full(n_pockets, 0.1),
    )


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
    """Draw an audit whose predictions are right; the table's columns are given pockets."""
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
        {
            name: np.clip(risk + shift, 0.001, 0.999)
            for shift, name in zip((0.0, 0.02, 0.04), models, strict=False)
        },
    )
