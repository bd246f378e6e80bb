"""Counts that were changed by hand, and cannot be of the same records, are refused by name."""

from dataclasses import replace

import pytest

from auditbook.errors import InputError
from auditbook.evidence import tally_records
from auditbook.pooling import bare_tally
from auditbook.pooling.consistency import check_consistency
from pooled_hospitals import SITES, draw_records


@pytest.fixture(scope="module")
def tally():
    return bare_tally(tally_records(draw_records(), sites=SITES))


def change_parts(tally, **changes):
    first, *others = tally.attributes
    parts = {name: change(getattr(first.sites, name).copy()) for name, change in changes.items()}
    return replace(tally, attributes=(replace(first, sites=replace(first.sites, **parts)), *others))


def shift(place, by):
    def change(array):
        array[place] += by
        return array

    return change


def test_counts_as_they_were_written_are_kept(tally):
    check_consistency(tally, ())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda tally: change_parts(tally, counts=shift((0, 0, 0, 0), -10_000)), "is below 0"),
        (lambda tally: change_parts(tally, counts=shift((0, 0, 0, 0), 1)), "do not hold"),
        (lambda tally: change_parts(tally, score=shift((0, 0, 0, 5), 1 << 50)), "sums of scores"),
        (lambda tally: replace(tally, rows=tally.rows + 1), "are not of the"),
        (lambda tally: replace(tally, rows=0), "tells of 0 records"),
        (lambda tally: replace(tally, sites=("A", "A", *tally.sites[2:])), "sites stands twice"),
        (lambda tally: replace(tally, sites=(3, *tally.sites[1:])), "which is no name"),
        (lambda tally: replace(tally, models=()), "it has no models"),
        (lambda tally: replace(tally, attributes=tally.attributes[:1] * 2), "attributes stands twice"),
    ],
)
def test_counts_that_cannot_be_of_the_same_records_are_refused(tally, change, told):
    changed = change(tally)
    with pytest.raises(InputError, match=told):
        check_consistency(changed, ())
