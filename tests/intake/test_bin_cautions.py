"""Bins: what each holds, and a last one that takes in a second series of codes."""

import numpy as np
import pytest

from auditbook.cohort import AttributeTable
from auditbook.intake.bin_cautions import hold_bins
from warned_tables import make_table, warn, warn_once

TEXT = """\
[outcome]
column = "died"
event = 1
[attributes.income]
column = "band"
bins = [1, 4, 7]
labels = ["low", "middle", "high"]
"""


def bands(*extra):
    codes = [*range(1, 10), *extra]
    return make_table(band=lambda i: codes[i % len(codes)])


def test_each_bin_tells_its_smallest_and_largest_value():
    item = AttributeTable("age", "age", bins=(0, 18, 65), labels=("child", "adult", "old"))
    told = [held.text for held in hold_bins(item, np.array([3, 17, 40, np.nan, 40]))]
    assert told == ["child: 3 to 17", "adult: 40", "old: none"]


def test_a_closed_last_bin_ends():
    item = AttributeTable("age", "age", bins=(0, 18, 65), labels=("child", "adult"))
    assert [held.text for held in hold_bins(item, np.array([3.0, 64, 65]))] == ["child: 3", "adult: 64"]


def test_a_gap_in_the_codes_of_the_last_bin_is_pointed_out(tmp_path):
    assert warn_once(tmp_path, bands(13, 14), TEXT) == (
        "[attributes.income] bins: the last bin, 'high', is open-ended and holds the codes 7 to 14 of "
        "'band': "
        "9 is followed by 13; a second series of codes would be counted there; if there is one, close the "
        "bin: "
        "bins = [1, 4, 7, 13], and name its codes in missing_values, or recode them in the table"
    )


def test_twice_as_many_codes_as_in_another_bin_are_pointed_out(tmp_path):
    told = warn_once(tmp_path, bands(10, 11, 12), TEXT)
    assert "6 codes, where each other bin has 3 at the most" in told
    assert "bins = [1, 4, 7, 10]" in told


def test_bins_of_the_usual_codes_are_left_alone(tmp_path):
    assert warn(tmp_path, bands(10), TEXT) == []


def test_a_closed_bin_is_left_alone(tmp_path):
    text = TEXT.replace("[1, 4, 7]", "[1, 4, 7, 10]") + 'missing_values = [13, 14]\nmissing = "drop"\n'
    assert warn(tmp_path, bands(13, 14), text) == []


@pytest.mark.parametrize("labels", ['["under 30", "30 to 49", "50 and over"]', "[]"])
def test_bins_that_are_named_by_their_bounds_are_no_codes(tmp_path, labels):
    table = make_table(years=lambda i: 18 + i % 80)
    line = "" if labels == "[]" else f"labels = {labels}\n"
    outcome = '[outcome]\ncolumn = "died"\nevent = 1\n'
    text = f'{outcome}[attributes.age]\ncolumn = "years"\nbins = [18, 30, 50]\n{line}'
    assert warn(tmp_path, table, text) == []
