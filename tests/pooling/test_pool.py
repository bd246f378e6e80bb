"""Counts files: read back to the last digit, added up to the whole, refused where they do not agree."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from auditbook.errors import InputError
from auditbook.evidence import TalliedParts, tally_records
from auditbook.pooling import (
    SCHEMA,
    bare_tally,
    pool_counts,
    read_pooled,
    read_site_counts,
    write_site_counts,
)
from pooled_hospitals import DEFINITIONS, SITES, draw_records, hand_over, split_tallies


def assert_same(one, other) -> None:
    """Hold two tallies to the last digit, the numbers of bundles of units aside."""
    assert (one.rows, one.models, one.sites) == (other.rows, other.models, other.sites)
    for mine, yours in zip(one.attributes, other.attributes, strict=True):
        assert (mine.name, mine.groups, mine.reference) == (yours.name, yours.groups, yours.reference)
        for each in fields(TalliedParts):
            np.testing.assert_array_equal(getattr(mine.sites, each.name), getattr(yours.sites, each.name))
        np.testing.assert_array_equal(mine.patterns, yours.patterns)
        for bins, others in zip(mine.fine, yours.fine, strict=True):
            for name in ("edges", "count", "score", "square", "runs") if bins is not None else ():
                np.testing.assert_array_equal(getattr(bins, name), getattr(others, name))


@pytest.fixture(scope="module")
def records():
    return draw_records()


@pytest.fixture
def files(records, tmp_path) -> list[Path]:
    paths = []
    for name, tally in split_tallies(records).items():
        paths.append(tmp_path / f"{name}.json")
        write_site_counts(hand_over(tally), paths[-1])
    return paths


def test_pooled_files_hold_what_the_whole_table_holds(records, files):
    assert_same(read_pooled(files).tally, tally_records(records, sites=SITES))


def test_order_of_files_is_of_no_consequence(files):
    assert_same(read_pooled(files[::-1]).tally, read_pooled(files).tally)


def test_a_file_of_a_whole_cohort_keeps_its_sites(records, tmp_path):
    whole = bare_tally(tally_records(records, sites=SITES))
    write_site_counts(hand_over(whole), tmp_path / "region.json")
    assert_same(read_pooled([tmp_path / "region.json"]).tally, whole)


def test_units_add_up_and_none_stands_alone(tmp_path):
    records = draw_records(units=True)
    parts = split_tallies(records)
    pooled = pool_counts({f"{name}.json": hand_over(one) for name, one in parts.items()}).tally
    whole = tally_records(records, sites=SITES)
    for mine, yours in zip(pooled.attributes, whole.attributes, strict=True):
        for name in ("number", "counts", "held", "largest", "benefits", "bins", "bin_held", "bin_largest"):
            np.testing.assert_array_equal(getattr(mine.units, name), getattr(yours.units, name))
        assert mine.units.number / len(mine.units.keys) >= 10
        np.testing.assert_array_equal(mine.units.bundles.counts.sum(1), yours.units.bundles.counts.sum(1))


def test_the_same_counts_give_the_same_bytes(records, tmp_path):
    one = hand_over(split_tallies(records)["A"])
    write_site_counts(one, tmp_path / "1.json")
    write_site_counts(read_site_counts(tmp_path / "1.json"), tmp_path / "2.json")
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


def test_every_difference_is_named_with_file_key_and_both_values(records):
    parts = split_tallies(records)
    other = {"outcome": {"event": "= 2"}, "models": {"m": {"threshold": 0.4}, "new": {"threshold": 0.5}}}
    with pytest.raises(InputError) as wrong:
        pool_counts(
            {
                "A.json": hand_over(parts["A"]),
                "B.json": replace(hand_over(parts["B"]), definitions=other),
                "C.json": hand_over(parts["C"]),
            }
        )
    assert wrong.value.faults == (
        'outcome.event: "= 1" in A.json, "= 2" in B.json',
        "models.m.threshold: 0.5 in A.json, 0.4 in B.json",
        'models.new: nothing in A.json, {"threshold": 0.5} in B.json',
    )


def test_a_hospital_in_two_files_is_refused(records):
    whole = hand_over(tally_records(records, sites=SITES))
    part = hand_over(split_tallies(records)["B"])
    with pytest.raises(InputError, match=r"site B stands in all\.json and in B\.json"):
        pool_counts({"all.json": whole, "B.json": part})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told.update(schema="auditbook counts 9"), "its schema is 'auditbook counts 9'"),
        (lambda told: told.pop("schema"), "it has no schema"),
        (lambda told: told["definitions"].update(outcome={}), "definitions were changed"),
        (lambda told: told["tally"].pop("rows"), "not a whole counts file"),
        (lambda told: told["tally"]["attributes"][0]["groups"].pop(), "where"),
        (lambda told: told["tally"]["attributes"][0]["by_site"]["counts"]["steps"].append(10**6), "outside"),
    ],
)
def test_a_file_that_is_damaged_is_refused_by_name(files, change, message):
    told = json.loads(files[0].read_text())
    change(told)
    files[0].write_text(json.dumps(told))
    with pytest.raises(InputError, match=message) as wrong:
        read_site_counts(files[0])
    assert str(wrong.value).startswith("A.json: ")


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00"])
def test_another_file_is_no_counts_file(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=r"x\.json"):
        read_site_counts(tmp_path / "x.json")


def test_no_file_and_the_same_file_twice_are_refused(files):
    with pytest.raises(InputError, match="no counts files"):
        read_pooled([])
    with pytest.raises(InputError, match="named twice"):
        read_pooled([files[0], files[0]])


def test_the_file_says_its_schema_and_version(files):
    told = json.loads(files[0].read_text())
    assert told["schema"] == SCHEMA
    assert told["definitions"] == DEFINITIONS
    assert {"package", "cohort_digest", "definitions_digest", "minimum"} <= set(told)
