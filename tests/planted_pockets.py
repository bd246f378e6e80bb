"""Discovery records with a planted structure, and ways to disturb them."""

from dataclasses import replace

import numpy as np
import pandas as pd

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.data import PocketData, declare_contrasts
from auditbook.pockets.discovery import discover_maps
from auditbook.records import Attribute

CORNERS = np.array([[0.0, 3.0], [6.0, 9.0]])
"""Mean outcome by the signs of the two features that matter."""


def planted_data(n=900, *, seed=1, continuous=True, features=True):
    """Four well separated regions of the outcome, two features that matter and three that do not."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, (n, 2))
    table = pd.DataFrame(
        {
            "one": (2 * side[:, 0] - 1) * rng.uniform(0.5, 1.5, n),
            "two": np.where(side[:, 1] == 1, "high", "low"),
            "noise": rng.normal(size=n),
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "one value": 1,
        }
    )
    mean = CORNERS[side[:, 0], side[:, 1]]
    outcome = mean + 0.3 * rng.normal(size=n)
    if not continuous:
        outcome = (rng.random(n) < (0.05 + mean / 10)).astype(float)
    group = Attribute("group", ("a", "b"), rng.integers(0, 2, n))
    table = table if features else table[["one value"]]
    data = PocketData(table, outcome, continuous, np.arange(n), "record", (group,), {"m": outcome.copy()})
    return data, 2 * side[:, 0] + side[:, 1]


def settings_for(partition, **changes):
    return replace(PocketSettings(partition=partition, trees=40, fits=1), **changes)


def discover(data, settings, *, n_audit=900, jobs=1, seed=5):
    n = len(data.outcome)
    graph = np.arange(n) % 5 != 0
    return discover_maps(
        data,
        graph=np.flatnonzero(graph),
        calibration=np.flatnonzero(~graph),
        n_audit=n_audit,
        contrasts=declare_contrasts(data.attributes),
        settings=settings,
        seed=seed,
        jobs=jobs,
    )


def purity(codes, truth):
    """Share of records that belong to the region that is commonest in their pocket."""
    table = np.zeros((codes.max() + 1, truth.max() + 1))
    np.add.at(table, (codes, truth), 1)
    return table.max(axis=1).sum() / len(codes)
