"""How do whole numbers and their zeros lie in a file that is text?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError

Ints = NDArray[np.int64]
MOST_CELLS = 200_000_000
"""No array of counts has more cells than this; whatever claims to is no counts file."""


def write_ints(array: Ints) -> dict[str, list[int]]:
    """List the numbers that are not zero, each with its distance from the one before.

    >>> write_ints(np.array([[0, 5], [0, 7]]))
    {'shape': [2, 2], 'steps': [1, 2], 'values': [5, 7]}
    """
    places = np.flatnonzero(array)
    return {
        "shape": list(array.shape),
        "steps": np.diff(places, prepend=0).tolist(),
        "values": array.ravel()[places].tolist(),
    }


def read_ints(told: Mapping[str, Any], shape: tuple[int, ...]) -> Ints:
    """Read what `write_ints` wrote; a shape other than the one expected is refused."""
    if tuple(told["shape"]) != shape or int(np.prod(shape)) > MOST_CELLS:
        raise InputError(f"an array of shape {told['shape']} stands where {list(shape)} is expected")
    places = np.cumsum(np.array(told["steps"], np.int64))
    array = np.zeros(int(np.prod(shape)), np.int64)
    if len(places) and not 0 <= places.min() <= places.max() < len(array):
        raise InputError("a count stands outside of its array")
    array[places] = np.array(told["values"], np.int64)
    return array.reshape(shape)
