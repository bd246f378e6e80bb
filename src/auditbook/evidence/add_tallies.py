"""What do the parts of a cohort hold together?"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.evidence.bundles import BUNDLES
from auditbook.evidence.tally import BinnedScores, Ints, TalliedAttribute, TalliedParts, TalliedUnits, Tally
from auditbook.evidence.tally_units import bundle_keys

Places = NDArray[np.intp]


def add_tallies(tallies: Iterable[Tally]) -> Tally:
    """Add up the counts and sums of parts of a cohort; groups and sites are joined by their names.

    Parameters
    ----------
    tallies : iterable of Tally
        From `tally_records`, one or more; read one after the other, so that they need not be kept.

    Returns
    -------
    Tally
        Equal to the last byte in whatever order they come.

    Raises
    ------
    InputError
        If there is none, or definitions differ: every difference is named.

    Examples
    --------
    >>> from auditbook.evidence.tally_records import tally_records
    >>> from auditbook.records import AuditRecords, Score
    >>> score = Score("m", "decision", 0.5, np.array([1.0, 0]))
    >>> tally = tally_records(AuditRecords(np.array([1, 0], np.int8), (), (score,)))
    >>> add_tallies([tally, tally]).rows
    4
    """
    parts = iter(tallies)
    total = next(parts, None)
    if total is None:
        raise InputError("there are no counts to add up")
    for part in parts:
        total = _add_two(total, part)
    return total


def _add_two(one: Tally, other: Tally) -> Tally:
    """Add two tallies up."""
    faults = list_differences(one, other)
    if faults:
        raise InputError(*faults)
    sites = tuple(sorted({*one.sites, *other.sites}))
    attributes = tuple(
        _add_attributes(first, second, (one.sites, other.sites, sites))
        for first, second in zip(one.attributes, other.attributes, strict=True)
    )
    return replace(one, rows=one.rows + other.rows, sites=sites, attributes=attributes)


def list_differences(one: Tally, other: Tally) -> list[str]:
    """Name every difference between the definitions of two tallies; empty where they add up."""
    faults = []
    if one.models != other.models:
        faults.append(f"models differ: {_name_models(one)}; {_name_models(other)}")
    first, second = ([part.name for part in tally.attributes] for tally in (one, other))
    if first != second:
        faults.append(f"attributes differ: {', '.join(first)}; {', '.join(second)}")
    if bool(one.sites) != bool(other.sites):
        faults.append("sites are named in one part and not in the other")
    if faults:
        return faults
    for attribute, twin in zip(one.attributes, other.attributes, strict=True):
        faults += _compare_attributes(one, attribute, twin)
    return faults


def _name_models(tally: Tally) -> str:
    return ", ".join(f"{one.model} ({one.kind}, threshold {one.threshold:g})" for one in tally.models)


def _compare_attributes(tally: Tally, one: TalliedAttribute, other: TalliedAttribute) -> list[str]:
    """Name the differences between the definitions of one attribute."""
    faults = []
    if one.reference != other.reference:
        faults.append(f"{one.name}: the reference is {one.reference} and {other.reference}")
    if (one.units is None) != (other.units is None):
        faults.append(f"{one.name}: units are named in one part and not in the other")
    for model, mine, yours in zip(tally.models, one.fine, other.fine, strict=True):
        if mine is not None and yours is not None and not np.array_equal(mine.edges, yours.edges):
            faults.append(f"{model.model}: the edges of the score bins differ")
    return faults


def _add_attributes(
    one: TalliedAttribute, other: TalliedAttribute, sites: tuple[tuple[str, ...], ...]
) -> TalliedAttribute:
    """Add two tallies of one attribute up."""
    groups = tuple(sorted({*one.groups, *other.groups}))
    places = [find_places(part.groups, groups) for part in (one, other)]
    where = [find_places(part or ("",), sites[2] or ("",)) for part in sites[:2]]
    count = (max(len(sites[2]), 1), len(groups))
    parts = _add_parts((one.sites, other.sites), where, places, count)
    fine = tuple(_add_fine((a, b), places, len(groups)) for a, b in zip(one.fine, other.fine, strict=True))
    units = None
    if one.units is not None and other.units is not None:
        units = _add_units((one.units, other.units), places, len(groups))
    patterns = None
    if one.patterns is not None and other.patterns is not None:
        patterns = _spread((one.patterns, other.patterns), places, len(groups), axis=0)
    named = dict(zip((*one.groups, *other.groups), (*one.parts, *other.parts), strict=False))
    crossed = tuple(named[group] for group in groups) if one.parts else ()
    return TalliedAttribute(one.name, groups, one.reference, crossed, parts, fine, units, patterns)


def find_places(names: Sequence[str], among: Sequence[str]) -> Places:
    """Find the position of each name among the sorted ones."""
    position = {name: place for place, name in enumerate(among)}
    return np.array([position[name] for name in names], np.intp)


def gather_parts(part: Ints, place: NDArray[np.integer], count: int) -> Ints:
    """Join parts, such as sites to folds, in one array of `TalliedParts`: each has a place among fewer."""
    return _spread([part], [place.astype(np.intp)], count, axis=1)


def take_groups(attribute: TalliedAttribute, order: Places) -> TalliedAttribute:
    """Take some groups of an attribute, in some order."""

    def take(value: object, axis: int) -> dict[str, Ints]:
        return {
            one.name: np.take(getattr(value, one.name), order, axis)
            for one in fields(value)  # type: ignore[arg-type]
        }

    def take_fine(fine: BinnedScores | None) -> BinnedScores | None:
        if fine is None:
            return None
        return replace(fine, count=fine.count[order], score=fine.score[order], square=fine.square[order])

    def take_products(product: Ints) -> Ints:
        wide = product.shape[-1] // len(attribute.groups)
        rows = (order[:, None] * wide + np.arange(wide)).ravel()
        return product[:, rows[:, None], rows]

    units = attribute.units
    if units is not None:
        names = ("held", "largest", "bins", "bin_held", "bin_largest")
        units = replace(
            units,
            counts=take_products(units.counts),
            benefits=take_products(units.benefits),
            bundles=TalliedParts(**take(units.bundles, 2)),
            **{name: np.take(getattr(units, name), order, 1) for name in names},
        )
    return replace(
        attribute,
        groups=tuple(attribute.groups[one] for one in order),
        parts=tuple(attribute.parts[one] for one in order) if attribute.parts else (),
        sites=TalliedParts(**take(attribute.sites, 2)),
        fine=tuple(take_fine(one) for one in attribute.fine),
        units=units,
        patterns=None if attribute.patterns is None else attribute.patterns[order],
    )


def _spread(arrays: Sequence[Ints], places: Sequence[Places], count: int, *, axis: int) -> Ints:
    """Add arrays up whose positions along one axis have places among more."""
    shape = list(arrays[0].shape)
    shape[axis] = count
    total = np.zeros(shape, np.int64)
    for array, place in zip(arrays, places, strict=True):
        rows, values = np.moveaxis(total, axis, 0), np.moveaxis(array, axis, 0)
        if len(np.unique(place)) == len(place):
            rows[place] += values
        else:
            np.add.at(rows, place, values)
    return total


def _add_parts(
    parts: Sequence[TalliedParts], where: Sequence[Places], places: Sequence[Places], count: tuple[int, int]
) -> TalliedParts:
    """Add parts up by their place, and groups by theirs."""
    found = {}
    for each in fields(TalliedParts):
        arrays = [
            _spread([getattr(part, each.name)], [place], count[1], axis=2)
            for part, place in zip(parts, places, strict=True)
        ]
        found[each.name] = _spread(arrays, where, count[0], axis=1)
    return TalliedParts(**found)


def _add_fine(
    pair: tuple[BinnedScores | None, BinnedScores | None], places: Sequence[Places], n_groups: int
) -> BinnedScores | None:
    """Add the distributions of one model's scores up."""
    one, other = pair
    if one is None or other is None:
        return None
    count, score, square = (
        _spread(list(pair), places, n_groups, axis=0)
        for pair in ((one.count, other.count), (one.score, other.score), (one.square, other.square))
    )
    return replace(one, count=count, score=score, square=square)


def _add_units(
    units: tuple[TalliedUnits, TalliedUnits], places: Sequence[Places], n_groups: int
) -> TalliedUnits:
    """Add up what varies between units; none has records in both."""
    keys, single, where = _join_bundles(units)
    return TalliedUnits(
        number=units[0].number + units[1].number,
        counts=_add_products([one.counts for one in units], places, n_groups),
        held=_spread([one.held for one in units], places, n_groups, axis=1),
        largest=_take_largest([one.largest for one in units], places, n_groups),
        benefits=_add_products([one.benefits for one in units], places, n_groups),
        bins=_spread([one.bins for one in units], places, n_groups, axis=1),
        bin_held=_spread([one.bin_held for one in units], places, n_groups, axis=1),
        bin_largest=_take_largest([one.bin_largest for one in units], places, n_groups),
        keys=keys,
        single=single,
        bundles=_add_parts([one.bundles for one in units], where, places, (len(keys), n_groups)),
    )


def _join_bundles(units: Sequence[TalliedUnits]) -> tuple[NDArray[np.uint64], bool, list[Places]]:
    """Join bundles by their keys: units by themselves while there are at most 1,000 of them."""
    keys = [one.keys for one in units]
    single = all(one.single for one in units) and len(np.union1d(*keys)) <= BUNDLES
    if not single:
        keys = [bundle_keys(one.keys) if one.single else one.keys for one in units]
    joined = np.union1d(*keys)
    return joined, single, [np.searchsorted(joined, part) for part in keys]


def _add_products(products: Sequence[Ints], places: Sequence[Places], n_groups: int) -> Ints:
    """Add products up, whose last two axes hold several numbers a group."""
    n_models, wide = products[0].shape[0], products[0].shape[-1] // max(len(places[0]), 1)
    total = np.zeros((n_models, n_groups * wide, n_groups * wide), np.int64)
    for product, place in zip(products, places, strict=True):
        rows = (place[:, None] * wide + np.arange(wide)).ravel()
        total[:, rows[:, None], rows] += product
    return total


def _take_largest(sizes: Sequence[Ints], places: Sequence[Places], n_groups: int) -> Ints:
    """Take the larger of two numbers by group."""
    total = np.zeros((sizes[0].shape[0], n_groups, sizes[0].shape[2]), np.int64)
    for size, place in zip(sizes, places, strict=True):
        total[:, place] = np.maximum(total[:, place], size)
    return total
