"""Into which cells do several attributes divide the records, such as race x age x sex?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.records import Attribute


@dataclass(frozen=True)
class JointCells:
    """The combinations of groups that hold records, and each record's place among them.

    Attributes
    ----------
    attributes : tuple of str
        The attributes that are crossed.
    groups : tuple of tuple of str, length n_cells
        One group an attribute; sorted by name, so the order of records and groups is of no consequence.
    codes : int array, shape (n,)
        Position of each record's cell.
    """

    attributes: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    codes: NDArray[np.intp]

    @property
    def names(self) -> tuple[str, ...]:
        """Each cell's groups in one text."""
        return tuple(", ".join(cell) for cell in self.groups)

    def __len__(self) -> int:
        return len(self.groups)


def join_cells(attributes: Sequence[Attribute]) -> JointCells:
    """Cross attributes and keep the combinations that hold records.

    Parameters
    ----------
    attributes : sequence of Attribute
        Of the same n records; at least one.

    Returns
    -------
    JointCells
        At most n cells.

    Raises
    ------
    InputError
        If there is no attribute.

    Examples
    --------
    >>> sex = Attribute("sex", ("M", "F"), np.array([0, 1, 1]))
    >>> age = Attribute("age", ("old", "young"), np.array([0, 0, 0]))
    >>> join_cells([sex, age]).names, join_cells([sex, age]).codes.tolist()
    (('F, old', 'M, old'), [1, 0, 0])
    """
    if not attributes:
        raise InputError("cells need at least one attribute")
    ranked = []
    for attribute in attributes:
        order = sorted(range(len(attribute.groups)), key=lambda place: attribute.groups[place])
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        ranked.append(rank[attribute.codes])
    held, codes = np.unique(np.stack(ranked, axis=1), axis=0, return_inverse=True)
    names = [sorted(attribute.groups) for attribute in attributes]
    groups = tuple(tuple(names[place][code] for place, code in enumerate(cell)) for cell in held)
    return JointCells(tuple(attribute.name for attribute in attributes), groups, codes.reshape(-1))
