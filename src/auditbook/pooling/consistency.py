"""Do the counts of a file agree with one another, as the counts of the same records do?"""

from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.evidence import TalliedAttribute, TalliedParts, Tally
from auditbook.pooling.suppress import Withheld

Ints = NDArray[np.int64]

MOST_RECORDS = 1 << 30
"""Records of a file, at most: sums of more scores would leave the range of whole numbers."""
_KINDS = ("probability", "decision")
_SIGNED = ("benefit_log",)


def check_consistency(tally: Tally, withheld: Sequence[Withheld]) -> None:
    """Refuse counts that cannot be of the same records, as those of a file that was changed by hand.

    Raises
    ------
    InputError
        For the first that is found: names that are no names, a count below zero, sums that differ.
    """
    for fault in _find(tally, withheld):
        raise InputError(fault)


def _find(tally: Tally, withheld: Sequence[Withheld]) -> Iterator[str]:
    if not 0 < tally.rows <= MOST_RECORDS:
        yield f"it tells of {tally.rows} records; 1 to {MOST_RECORDS:,} are read"
    yield from _find_in_names("models", [one.model for one in tally.models])
    yield from (f"model {one.model} is of kind {one.kind}" for one in tally.models if one.kind not in _KINDS)
    yield from _find_in_names("sites", tally.sites) if tally.sites else ()
    yield from _find_in_names("attributes", [one.name for one in tally.attributes])
    for attribute in tally.attributes:
        yield from _find_in_names(f"groups of {attribute.name}", attribute.groups) if attribute.groups else ()
        yield from _find_in_parts(attribute)
    yield from _find_in_totals(tally, withheld)


def _find_in_names(what: str, names: Sequence[object]) -> Iterator[str]:
    """Find names that are blank, stand twice, or cannot be written."""
    if not names:
        yield f"it has no {what}"
    for name in names:
        if not isinstance(name, str) or not name.strip() or not _is_writable(name):
            yield f"among its {what} stands {name!r:.60}, which is no name"
    if len(set(names)) < len(names):
        yield f"one of its {what} stands twice"


def _is_writable(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _find_in_parts(one: TalliedAttribute) -> Iterator[str]:
    """Find counts below zero, and score bins that do not hold the records that the counts hold."""
    arrays = {each.name: getattr(one.sites, each.name) for each in fields(TalliedParts)}
    if any((array < 0).any() for name, array in arrays.items() if name not in _SIGNED):
        yield f"a count of {one.name} is below 0"
    counts = one.counts
    labels = np.stack([counts[..., 1] + counts[..., 3], counts[..., 0] + counts[..., 2]], axis=-1)
    for model, fine in enumerate(one.fine):
        if fine is None:
            continue
        parts = one.sites
        records, events = parts.records[model], parts.events[model]
        alike = (
            np.array_equal(records.sum(axis=-1), labels[model].sum(axis=-1))
            and np.array_equal(events.sum(axis=-1), labels[model, ..., 1])
            and np.array_equal(parts.steps[model].sum(axis=-1), labels[model])
            and np.array_equal(fine.count.sum(axis=-1), labels[model].sum(axis=0))
        )
        if not alike or (fine.count < 0).any():
            yield f"the score bins of {one.name} do not hold the records that its counts hold"
        elif not (_is_sum(fine.score, fine.count) and _is_sum(parts.score[model], records)):
            yield f"the sums of scores of {one.name} are not those of so many scores from 0 to 1"


def _is_sum(score: Ints, count: Ints) -> bool:
    """Tell whether sums, in units of 2^-32, can be of so many scores from 0 to 1."""
    return bool(((score >= 0) & (score <= count << 32)).all())


def _find_in_totals(tally: Tally, withheld: Sequence[Withheld]) -> Iterator[str]:
    """Find attributes that do not hold all records, those of groups that are not told included."""
    totals = {one.name: one.counts.sum(axis=2) for one in tally.attributes}
    sites = tally.sites or ("",)
    for part in withheld:
        if part.attribute not in totals or part.site not in sites:
            yield "what it withholds is of no attribute and site that it has"
            return
        totals[part.attribute][:, sites.index(part.site)] += part.together
    first, *others = totals.values()
    if (first.sum(axis=(1, 2)) != tally.rows).any():
        yield f"its counts are not of the {tally.rows:,} records that it tells of"
    if any(not np.array_equal(first, other) for other in others):
        yield "its attributes do not hold the same records"
