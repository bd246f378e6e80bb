"""Is a verdict settled, and what is a board told to do about it?"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import Prepared
from auditbook.settings import Protocol
from auditbook.verdicts.formulas import largest_bin_error


@dataclass(frozen=True)
class Standing:
    """What a cell asks of a board."""

    name: str  # As in verdicts.csv
    action: str


_ALL = (
    Standing("fails", "Decide: change the model or its use, or justify the difference in writing."),
    Standing(
        "fails, not settled",
        "Treat as failing; audit again with more records before anybody calls it settled.",
    ),
    Standing("passes, not settled", "Do not certify; audit again with more records."),
    Standing("cannot be judged", "Claim nothing; see what is missing."),
    Standing("passes", "Nothing to decide now; audit again when the model or its patients change."),
)
STANDINGS = MappingProxyType({standing.name: standing for standing in _ALL})
"""The standings by name, the most urgent first."""

DOUBTS = ("no flip rate", "own size", "sites", "opposite", "thin bins", "no variation")
"""What keeps a verdict from being settled."""


def find_doubts(cells: pd.DataFrame, *, protocol: Protocol) -> dict[str, NDArray[np.bool_]]:
    """Tell what keeps each verdict from being settled, by the names of `DOUBTS`.

    An inconclusive cell has no doubt. A verdict is settled when its flip rate is within the protocol's bound,
    both at the cohort's own size and, where sites are known, over whole sites, and when most resamples say
    the same as the whole sample. It is not settled when resamples cannot show a doubt that is there: when
    they hardly vary, or when CAL fails only on score bins with fewer records than a group needs. For that,
    `cells` has a column `supported` beside those of verdicts.csv: the estimate; of CAL, that among score bins
    with as many records as a group needs (nan without such a bin).

    >>> cell = {"metric": ["DI"], "verdict": ["pass"], "vfr_own_size": [0.3], "vfr_site": [0.0],
    ...         "agrees": [1.0], "ci_low": [0.8], "threshold": [0.8], "supported": [0.9]}
    >>> [name for name, found in find_doubts(pd.DataFrame(cell), protocol=Protocol()).items() if found[0]]
    ['own size']
    """
    own, site, agrees, low, threshold, supported = (
        cells[name].to_numpy(float)
        for name in ("vfr_own_size", "vfr_site", "agrees", "ci_low", "threshold", "supported")
    )
    fails_calibration = ((cells["metric"] == "CAL") & (cells["verdict"] == "fail")).to_numpy()
    thin = fails_calibration & ~(supported > threshold)
    found = (
        np.isnan(own),
        own > protocol.vfr_stable,
        site > protocol.vfr_stable,
        agrees == 0,
        thin,
        ~thin & np.isnan(low) & ~np.isnan(own),
    )
    judged = (cells["verdict"] != "inconclusive").to_numpy()
    return {name: part & judged for name, part in zip(DOUBTS, found, strict=True)}


def name_standings(cells: pd.DataFrame, *, protocol: Protocol) -> NDArray[np.object_]:
    """Name the standing of each cell, a key of `STANDINGS`, shape (n_cells,).

    ``fails`` and ``passes`` are settled verdicts (see `find_doubts`); others have ``, not settled`` behind
    them; a cell without a verdict ``cannot be judged``.
    """
    doubtful = np.logical_or.reduce(list(find_doubts(cells, protocol=protocol).values()))
    words = {"fail": "fails", "pass": "passes"}
    return np.array(
        [
            words[verdict] + ", not settled" * doubt if verdict in words else "cannot be judged"
            for verdict, doubt in zip(cells["verdict"], doubtful.tolist(), strict=True)
        ],
        dtype=object,
    )


def assign_standings(prepared: Prepared, verdicts: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Fill the column `standing` of ``verdicts.csv``."""
    supported = verdicts["estimate"].to_numpy(float, copy=True)
    for groups in prepared.groups:
        mine = (verdicts["metric"] == "CAL") & (verdicts["attribute"] == groups.settled.name)
        if mine.any():
            error = largest_bin_error(groups.scores.whole(), least=protocol.min_records)
            by_model = np.fmax.reduce(error[:, 0], axis=-1)
            values = dict(zip(prepared.scores.models, by_model.tolist(), strict=True))
            supported[mine] = verdicts.loc[mine, "model"].map(values)
    standing = name_standings(verdicts.assign(supported=supported), protocol=protocol)
    return verdicts.assign(standing=standing)
