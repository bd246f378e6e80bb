"""What is counted of whole units, such as patients, so that no unit need be kept?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from auditbook.errors import InputError
from auditbook.evidence.bundles import BUNDLES
from auditbook.evidence.clusters import Clusters, pair_clusters
from auditbook.evidence.counts import FN, FP, TN, TP
from auditbook.evidence.score_sums import N_BINS, assign_bins
from auditbook.evidence.tally import UNIT_SUM, Ints, TalliedParts, TalliedUnits
from auditbook.records import Attribute, AuditRecords, Score

Array = NDArray[np.float64]

TRIALS = ((TP, FP, FN, TN), (TP, FN), (FP, TN), (TP, FP))
"""Counts that are records, events, non-events and selected records."""


@dataclass(frozen=True)
class UnitNumbers:
    """The units of some records, and the bundles that they are in."""

    unit: NDArray[np.intp]  # shape (n,): Unit of each record
    number: int  # Units
    of_record: NDArray[np.intp]  # shape (n,): Bundle of each record
    keys: NDArray[np.uint64]  # shape (n_bundles,), rising
    single: bool  # Whether each bundle is one unit


def name_bundles(unit: NDArray[np.integer], unit_key: NDArray[np.uint64] | None) -> UnitNumbers:
    """Put units into at most 1,000 bundles by their keys."""
    held, place = np.unique(unit, return_inverse=True)
    keys = held.astype(np.uint64) if unit_key is None else np.asarray(unit_key, np.uint64)[held]
    single = len(held) <= BUNDLES
    named, bundle = np.unique(keys if single else bundle_keys(keys), return_inverse=True)
    return UnitNumbers(place, len(held), bundle[place], named, single)


def bundle_keys(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Give each unit its bundle, 0 to 999, by a mixed key.

    References
    ----------
    Steele, G. L., Lea, D. and Flood, C. H. (2014). Fast splittable pseudorandom number generators.
    doi:10.1145/2660193.2660195
    """
    mixed = keys + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed ^ (mixed >> np.uint64(31))) % np.uint64(BUNDLES)


def tally_units(
    records: AuditRecords, attribute: Attribute, units: UnitNumbers, bundles: TalliedParts
) -> TalliedUnits:
    """Add up the products of what each unit holds of every group."""
    pairs = pair_clusters(units.unit, attribute.codes, len(attribute.groups))
    found = [_multiply_model(records, score, pairs) for score in records.scores]
    names = ("counts", "held", "largest", "benefits", "bins", "bin_held", "bin_largest")
    parts = {name: np.stack(each) for name, each in zip(names, zip(*found, strict=True), strict=True)}
    return TalliedUnits(units.number, keys=units.keys, single=units.single, bundles=bundles, **parts)


def _multiply_model(records: AuditRecords, score: Score, pairs: Clusters) -> tuple[Ints, ...]:
    """Multiply one model's counts and sums: the fields of `TalliedUnits` in their order."""
    outcome, count = np.asarray(records.outcome).astype(np.intp), len(pairs.group)
    cell = 4 * pairs.place + 3 - outcome - 2 * score.decisions
    counts = np.bincount(cell, minlength=4 * count).reshape(count, 4)
    trials = np.stack([counts[:, list(cells)].sum(axis=1) for cells in TRIALS], axis=1)
    held, largest = _describe(trials, pairs)
    n_groups = pairs.n_groups
    benefits = np.zeros((3 * n_groups, 3 * n_groups), np.int64)
    bins = np.zeros((n_groups, N_BINS + 1, 3, 3), np.int64)
    bin_held, bin_largest = np.zeros((2, n_groups, N_BINS + 1), np.int64)
    if score.kind == "probability":
        benefits, sums = _multiply_sums(score, outcome, pairs)
        bins, (bin_held, bin_largest) = sums.multiply(), sums.describe()
    return _multiply(counts, pairs), held, largest, benefits, bins, bin_held, bin_largest


def _describe(sizes: Ints, pairs: Clusters) -> tuple[Ints, Ints]:
    """Count the units of each group with something, and find the most in one, shape (n_groups, any)."""
    held, largest = np.zeros((2, pairs.n_groups, sizes.shape[1]), np.int64)
    np.add.at(held, pairs.group, (sizes > 0).astype(np.int64))
    np.maximum.at(largest, pairs.group, sizes)
    return held, largest


def _multiply(values: Ints, pairs: Clusters) -> Ints:
    """Sum z z^T over units, z of length k n_groups from values of shape (n_pairs, k)."""
    wide = values.shape[1]
    rows, columns = np.repeat(pairs.cluster, wide), pairs.group[:, None] * wide + np.arange(wide)
    shape = (int(pairs.cluster[-1]) + 1, pairs.n_groups * wide)
    table = csr_array((values.ravel(), (rows, columns.ravel())), shape=shape)
    _check_size((values.astype(float) ** 2).sum())
    return np.asarray((table.T @ table).todense())


def _check_size(most: float) -> None:
    """Refuse products too large for whole numbers."""
    if most >= 2.0**62:
        raise InputError("the units hold too many records each to be counted: name them as sites")


def _multiply_sums(score: Score, outcome: NDArray[np.intp], pairs: Clusters) -> tuple[Ints, "_BinSums"]:
    """Multiply sums of b and of b ln b; give records, events and score by bin."""
    values, count = np.asarray(score.values, float), len(pairs.group)
    benefit = np.where(outcome == 1, values, 1 - values)
    logs = np.log(benefit, out=np.zeros_like(benefit), where=benefit > 0) * benefit
    of_pair = [np.bincount(pairs.place, part, count) for part in (None, benefit / UNIT_SUM, logs / UNIT_SUM)]
    benefits = _multiply(np.stack([np.rint(part).astype(np.int64) for part in of_pair], axis=1), pairs)
    return benefits, _add_bins(pairs, values, outcome)


def _add_bins(pairs: Clusters, values: Array, outcome: NDArray[np.intp]) -> "_BinSums":
    """Add up records, events and score of each pair by bin, and of the whole pair as by an eleventh bin."""
    key = pairs.place * N_BINS + assign_bins(values)
    held, where = np.unique(key, return_inverse=True)
    whole, wide = np.arange(len(pairs.group)), N_BINS + 1
    cell = np.concatenate([pairs.group[held // N_BINS] * wide + held % N_BINS, pairs.group * wide + N_BINS])
    parts = [
        np.concatenate(
            [
                np.rint(np.bincount(one, part, size))
                for one, size in ((where, len(held)), (pairs.place, len(whole)))
            ]
        )
        for part in (np.ones(len(values)), outcome, values / UNIT_SUM)
    ]
    return _BinSums(cell, np.stack(parts, axis=1), pairs.n_groups)


@dataclass(frozen=True)
class _BinSums:
    """What units hold by group and bin of CAL, where they hold something."""

    cell: NDArray[np.intp]  # shape (n,): Group times 11, plus the bin; the eleventh is the whole group
    sums: Array  # shape (n, 3): Records, events and score, whole numbers
    n_groups: int

    def multiply(self) -> Ints:
        """Sum the products over units, shape (n_groups, 11, 3, 3)."""
        wide = N_BINS + 1
        found = np.zeros((self.n_groups * wide, 3, 3), np.int64)
        _check_size((self.sums**2).sum())
        exact = self.sums.astype(np.int64)
        order = np.argsort(self.cell, kind="stable")
        held, first = np.unique(self.cell[order], return_index=True)
        for row in range(3):
            for column in range(row + 1):
                products = (exact[:, row] * exact[:, column])[order]
                found[held, row, column] = found[held, column, row] = np.add.reduceat(products, first)
        return found.reshape(self.n_groups, wide, 3, 3)

    def describe(self) -> tuple[Ints, Ints]:
        """Count the units with records by group and bin, and find the most in one, shape (n_groups, 11)."""
        cells = self.n_groups * (N_BINS + 1)
        largest = np.zeros(cells, np.int64)
        np.maximum.at(largest, self.cell, self.sums[:, 0].astype(np.int64))
        shape = (self.n_groups, N_BINS + 1)
        return np.bincount(self.cell, minlength=cells).reshape(shape), largest.reshape(shape)
