"""What does a pocket audit look at: features, outcomes, groups, units and predictions of some records."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.pocket_settings import UnitKind
from auditbook.records import Attribute


@dataclass(frozen=True)
class PocketData:
    """Records in their canonical order, with what a pocket audit needs of each."""

    table: pd.DataFrame  # n rows: The feature columns that maps may use, and no other; RangeIndex
    outcome: NDArray[np.float64]  # shape (n,): 0 or 1, or the value of a continuous outcome
    continuous: bool  # True when the outcome is a number and not an event
    unit: NDArray[np.int64]  # shape (n,): Numbered from 0 in the canonical order of the units
    unit_kind: UnitKind  # What a unit is; "site" asks for the support rule of hospitals
    attributes: tuple[Attribute, ...] = ()  # Groups of each record, codes of shape (n,)
    # shape (n,) each: What each model predicts, on the outcome's scale; none is missing
    predictions: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def take(self, positions: NDArray[np.integer]) -> "PocketData":
        """Return some of the records, in the order of `positions`; units keep their numbers."""
        return replace(
            self,
            table=self.table.iloc[positions].reset_index(drop=True),
            outcome=self.outcome[positions],
            unit=self.unit[positions],
            attributes=tuple(replace(item, codes=item.codes[positions]) for item in self.attributes),
            predictions={name: values[positions] for name, values in self.predictions.items()},
        )


@dataclass(frozen=True)
class Contrast:
    """A pair of groups to compare, declared before any audit outcome is read.

    Attributes
    ----------
    attribute, focal, reference : str
        Names.
    focal_code, reference_code : int
        Positions of the two among the attribute's groups.
    """

    attribute: str
    focal: str
    reference: str
    focal_code: int
    reference_code: int

    @property
    def name(self) -> str:
        """The contrast as tables write it."""
        return f"{self.attribute}: {self.focal} - {self.reference}"


def declare_contrasts(attributes: tuple[Attribute, ...]) -> tuple[Contrast, ...]:
    """Pair every group with its attribute's reference, or with the largest group where none is named.

    In the order of attributes and groups, which are of all records; a group without records is paired too.

    Examples
    --------
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 1, 1]))
    >>> [pair.name for pair in declare_contrasts((sex,))]
    ['sex: F - M']
    """
    found = []
    for item in attributes:
        counts = np.bincount(item.codes, minlength=len(item.groups))
        reference = (
            item.groups.index(item.reference) if item.reference is not None else int(np.argmax(counts))
        )
        found += [
            Contrast(item.name, group, item.groups[reference], code, reference)
            for code, group in enumerate(item.groups)
            if code != reference
        ]
    return tuple(found)
