"""What does a cell ask of a board, given what the audit has shown of it?"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.settings import Protocol
from auditbook.verdicts.metrics import find_metric


@dataclass(frozen=True)
class Standing:
    """What a cell asks of a board."""

    name: str  # As in verdicts.csv
    action: str


_ALL = (
    Standing("shown to fail", "Decide: change the model or its use, or justify the difference in writing."),
    Standing(
        "open, fails so far",
        "Nothing is shown. Accuse nobody, certify nothing; audit more records if those named can be had.",
    ),
    Standing(
        "open, passes so far",
        "Nothing is shown. Do not certify; audit more records if those named can be had.",
    ),
    Standing(
        "passes for those compared", "Certify nothing for those who could not be compared; see who they are."
    ),
    Standing("cannot be judged", "Claim nothing; see what is missing."),
    Standing("shown to pass", "Nothing to decide now; audit again when the model or its patients change."),
)
STANDINGS = MappingProxyType({standing.name: standing for standing in _ALL})
"""The standings by name, the most urgent first."""


def name_standings(cells: pd.DataFrame, *, protocol: Protocol) -> NDArray[np.object_]:
    """Name the standing of each cell, a key of `STANDINGS`, shape (n_cells,).

    It follows from the columns of verdicts.csv that say what is shown: ``shown to fail``, ``shown to pass``
    and ``cannot be judged`` are `shown` itself. An open cell ``passes for those compared`` when only those
    left out keep it from being shown to pass; else it ``fails so far`` or ``passes so far``, by the side of
    the threshold on which its deciding contrast lies.

    >>> cell = {"metric": ["SPD"], "threshold": [0.1], "shown": ["open"], "p_pass": [0.01], "gap": [0.02],
    ...         "left_out": ["X: 3 records, 30 needed"]}
    >>> name_standings(pd.DataFrame(cell), protocol=Protocol()).tolist()
    ['passes for those compared']
    """
    words = {"fail": "shown to fail", "pass": "shown to pass", "none": "cannot be judged"}
    compared = (cells["p_pass"] <= protocol.shown_alpha).to_numpy()
    passes = [
        bool(find_metric(metric).passes(abs(gap), threshold=threshold))
        for metric, gap, threshold in zip(cells["metric"], cells["gap"], cells["threshold"], strict=True)
    ]
    so_far = np.where(passes, "open, passes so far", "open, fails so far")
    opened = np.where(compared, "passes for those compared", so_far)
    return np.array(
        [words.get(shown, name) for shown, name in zip(cells["shown"], opened.tolist(), strict=True)],
        dtype=object,
    )


def assign_standings(verdicts: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Fill the column `standing` of ``verdicts.csv``."""
    return verdicts.assign(standing=name_standings(verdicts, protocol=protocol))
