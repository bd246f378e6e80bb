"""Which records shape a pocket audit and which test it, whatever the order of rows and the names of units?

A record is known by what its columns hold. Units are put in the order of their contents, so that neither the
order of the rows nor the names of the units decide which role a unit is given.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.scoring import column_kind, read_days, read_floats
from auditbook.tables import Hashes, as_text, hash_numbers, hash_text, mix


@dataclass(frozen=True)
class Roles:
    """Positions, in the canonical order, of the records of each role; no unit has two roles."""

    # Increasing; together they hold every record once. Graph and calibration are the discovery part; they
    # share its units where these are too few to be split
    development: NDArray[np.int64]
    graph: NDArray[np.int64]
    calibration: NDArray[np.int64]
    audit: NDArray[np.int64]

    @property
    def discovery(self) -> NDArray[np.int64]:
        """Positions of graph and calibration records, increasing."""
        return np.sort(np.concatenate([self.graph, self.calibration]))


def hash_records(table: pd.DataFrame) -> Hashes:
    """Hash what the columns of each record hold.

    Numbers count by their value, not by how they are stored; names of columns play no part, their order does.
    """
    found = np.zeros(len(table), dtype=np.uint64)
    for position in range(table.shape[1]):
        found = mix(found ^ _hash_column(table.iloc[:, position]))
    return found


def _hash_column(column: pd.Series) -> Hashes:
    """Hash each cell of one column by its value."""
    kind = column_kind(column)
    if kind == "category":
        return hash_text(as_text(column))
    return hash_numbers(read_days(column) if kind == "date" else read_floats(column))


def canonical_order(hashes: Hashes, unit: ArrayLike) -> NDArray[np.int64]:
    """Order records by the contents of their units, and within a unit by their own."""
    codes, _ = pd.factorize(np.asarray(unit))
    content = np.zeros(codes.max(initial=-1) + 1, dtype=np.uint64)
    np.add.at(content, codes, mix(hashes))  # a sum does not depend on the order
    content = mix(content)
    return np.lexsort((hashes, codes, content[codes])).astype(np.int64)


def assign_roles(
    unit: ArrayLike, *, development: float, discovery: float, graph_share: float, seed: int
) -> Roles:
    """Give every unit one role at random; a development share of 0 leaves that role empty."""
    codes, names = pd.factorize(np.asarray(unit))
    n_units = len(names)
    n_development, n_discovery = round(development * n_units), round(discovery * n_units)
    n_audit = n_units - n_development - n_discovery
    _check_counts(_needed(development, n_development, n_discovery, n_audit), n_units)
    rng = np.random.default_rng(seed)
    role = np.empty(n_units, dtype=np.int64)
    n_graph = round(graph_share * n_discovery)
    counts = (n_development, n_graph, n_discovery - n_graph, n_audit)
    role[rng.permutation(n_units)] = np.repeat(np.arange(4), counts)
    place = role[codes]
    if min(counts[1:3]) < 1:
        place = _split_records(place, graph_share, rng)
    return Roles(*(np.flatnonzero(place == part) for part in range(4)))


def _split_records(
    place: NDArray[np.int64], graph_share: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Split the records, not the units, of a discovery part that has too few units to be split."""
    discovery = np.flatnonzero((place == 1) | (place == 2))
    if len(discovery) < 2:
        raise InputError("[pockets]: one record is left for discovery; use a larger cohort")
    n_graph = min(max(round(graph_share * len(discovery)), 1), len(discovery) - 1)
    split = place.copy()
    split[discovery] = 2
    split[rng.permutation(discovery)[:n_graph]] = 1
    return split


def _needed(share: float, development: int, discovery: int, audit: int) -> dict[str, int]:
    """Count the units of the roles that must have one."""
    wanted = {"development": development} if share else {}
    return wanted | {"discovery": discovery, "audit": audit}


def _check_counts(counts: dict[str, int], n_units: int) -> None:
    """Raise InputError when a role has no unit."""
    empty = [name for name, count in counts.items() if count < 1]
    if empty:
        raise InputError(
            f"[pockets]: {n_units} {'unit leaves' if n_units == 1 else 'units leave'} none for "
            f"{' and '.join(empty)}; name a finer unit "
            '([pockets] unit = "record" takes each record as one), or change development or discovery'
        )
