"""A map whose pockets are given: what does the testing step do when nothing had to be learned?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.pockets import ABSTAIN, Assignment, FrozenMap


@dataclass(frozen=True)
class ColumnRule:
    """Reads the pocket of a record from a column."""

    n_pockets: int  # Number of pockets
    column: str = "pocket"  # Column that holds the pocket's number, from 0; -1 abstains

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Read the codes; every record is as close as any other."""
        if self.column not in table:
            raise InputError(f"the table has no column {self.column!r}, which holds the given pockets")
        codes = table[self.column].to_numpy(np.int32)
        if len(codes) and not (codes.min() >= ABSTAIN and codes.max() < self.n_pockets):
            raise InputError(
                f"column {self.column!r} holds a pocket beyond the {self.n_pockets} that are given"
            )
        taken = np.where(codes == ABSTAIN, 0.0, 1.0)
        return Assignment(codes, taken, taken)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the number of pockets, all that the rule consists of."""
        return {"n_pockets": np.array([self.n_pockets])}


def fix_map(n_pockets: int, *, name: str = "forest", column: str = "pocket") -> FrozenMap:
    """Make a map of given pockets."""
    letter = name[:1].upper()
    return FrozenMap(
        name,
        ColumnRule(n_pockets, column),
        tuple(f"{letter}{place + 1}" for place in range(n_pockets)),
        np.zeros(n_pockets, np.int64),
        np.full(n_pockets, np.nan),
    )
