"""Into which cells do several attributes divide the records, such as race x age x sex?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.records import Attribute


@dataclass(frozen=True)
class JointCells:
    """The combinations of groups that hold records, and each record's place among them."""

    attributes: tuple[str, ...]  # The attributes that are crossed
    # One group an attribute; sorted by name, so the order of records and groups is of no consequence
    groups: tuple[tuple[str, ...], ...]
    codes: NDArray[np.intp]  # shape (n,): Position of each record's cell

    @property
    def names(self) -> tuple[str, ...]:
        """Each cell's groups in one text."""
        return tuple(", ".join(cell) for cell in self.groups)

    def __len__(self) -> int:
        return len(self.groups)


def join_cells(attributes: Sequence[Attribute]) -> JointCells:
    """Cross attributes and keep the combinations that hold records."""
    if not attributes:
        raise InputError("cells need at least one attribute")
    ranked = []
    for attribute in attributes:
        order = sorted(range(len(attribute.groups)), key=lambda place: attribute.groups[place])
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        ranked.append(rank[attribute.codes])
    held, codes = find_rows(ranked, [len(attribute.groups) for attribute in attributes])
    names = [sorted(attribute.groups) for attribute in attributes]
    groups = tuple(tuple(names[place][code] for place, code in enumerate(cell)) for cell in held)
    return JointCells(tuple(attribute.name for attribute in attributes), groups, codes.reshape(-1))


def find_rows(
    columns: Sequence[NDArray[np.intp]], sizes: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the different rows of some columns of codes, in order, and each row's place among them."""
    rows, place = np.zeros((1, 0), dtype=np.intp), np.zeros(len(columns[0]), dtype=np.intp)
    for column, size in zip(columns, sizes, strict=True):
        held, place = np.unique(place * size + column, return_inverse=True)
        rows = np.column_stack([rows[held // size], held % size])
    return rows, place
