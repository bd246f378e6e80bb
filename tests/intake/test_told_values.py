"""What `check` tells of bins and outcomes."""

import numpy as np
import pytest

from auditbook.cohort import load_cohort
from auditbook.intake import tell_values
from warned_tables import BASIC, TOP, make_table, read_file


def tell(folder, table, text=BASIC):
    table.to_csv(folder / "warned.csv", index=False)
    return tell_values(load_cohort(read_file(folder, text, TOP), cache_dir=folder))


def test_of_two_values_nothing_needs_to_be_told(tmp_path):
    assert tell(tmp_path, make_table()) == []


def test_several_values_are_listed_with_their_counts(tmp_path):
    table = make_table(end=lambda i: ["home", "died", "hospice", "home"][i % 4])
    text = BASIC.replace('"died"\nevent = 1', '"end"\nevent = "died"')
    assert tell(tmp_path, table, text) == ["  event: 'died' (50); no event: 'home' (100), 'hospice' (50)"]


def test_many_values_that_are_compared_are_told_by_their_ends(tmp_path):
    table = make_table(stay=lambda i: i % 40 + 1)
    text = BASIC.replace('"died"\nevent = 1', '"stay"\nevent = "> 3"')
    assert tell(tmp_path, table, text) == ["  event: 4 to 40 (185); no event: '1' (5), '2' (5), '3' (5)"]


def test_another_outcome_is_told_by_its_name(tmp_path):
    table = make_table(stay=lambda i: i % 3)
    text = BASIC + '[outcomes.long]\ncolumn = "stay"\nevent = ">= 2"\n'
    assert tell(tmp_path, table, text) == ["  event of long: '2' (66); no event: '0' (67), '1' (67)"]


@pytest.mark.parametrize(
    ("bins", "told"),
    [
        ("[18, 40, 65]", "18-39: 18 to 39; 40-64: 40 to 64; 65+: 65 to 94"),
        ("[18, 40, 65, 95]", "18-39: 18 to 39; 40-64: 40 to 64; 65-94: 65 to 94"),
    ],
)
def test_each_bin_is_told_with_its_smallest_and_largest_value(tmp_path, bins, told):
    table = make_table(years=18 + np.arange(200) % 77)
    labels = told.replace(": ", ";").split(";")[::2]
    text = (
        f'[attributes.age]\ncolumn = "years"\nbins = {bins}\nlabels = {[each.strip() for each in labels]}\n'
    )
    assert tell(tmp_path, table, BASIC + text) == [f"  bins of age: {told}"]


def test_no_bin_is_told_to_hold_what_says_that_nothing_is_known(tmp_path):
    table = make_table(years=lambda i: 999 if i % 10 == 0 else 18 + i % 77)
    text = (
        '[attributes.age]\ncolumn = "years"\nbins = [18, 40, 65]\nlabels = ["18-39", "40-64", "65+"]\n'
        'missing_values = [999]\nmissing = "group"\n'
    )
    told = ["  bins of age: 18-39: 18 to 39; 40-64: 40 to 64; 65+: 65 to 94"]
    assert tell(tmp_path, table, BASIC + text) == told
