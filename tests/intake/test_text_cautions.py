"""Text that a spreadsheet, an export or an encoding has changed."""

import pandas as pd
import pytest

from auditbook.intake.text_cautions import mend_text, undo_date
from warned_tables import BASIC, make_table, warn, warn_once

BANDS = BASIC + '[attributes.age]\ncolumn = "band"\n'


@pytest.mark.parametrize(
    ("text", "band"),
    [
        ("09-May", "5-9"),
        ("9-mai", "5-9"),
        ("09. Mai", "5-9"),
        ("Oct-14", "10-14"),
        ("14-ott", "10-14"),
        ("out-14", "10-14"),
        ("12-déc", "12-12"),
        ("04-Feb", "2-4"),
        ("2024-05-09 00:00:00", "5-9"),
    ],
)
def test_a_band_that_became_a_date_is_found_again(text, band):
    assert undo_date(text) == band


@pytest.mark.parametrize("text", ["5-9", "May", "ward-9", "2024", "80+", "May-lee", "9-Maple"])
def test_other_text_is_no_date(text):
    assert undo_date(text) == ""


def test_bands_beside_dates_are_pointed_out_with_the_line(tmp_path):
    table = make_table(band=lambda i: ["0-4", "09-mai", "okt-14", "15-19", "85 and over"][i % 5])
    assert warn_once(tmp_path, table, BANDS) == (
        "[attributes.age] column: 'band' holds '09-mai' (40), 'okt-14' (40), which look like ranges (5-9, "
        "10-14) "
        'that a spreadsheet turned into dates; groups = { "09-mai" = "5-9", "okt-14" = "10-14" }'
    )


def test_one_band_among_features_is_pointed_out(tmp_path):
    told = warn_once(tmp_path, make_table(dose=lambda i: ["1-2 mg", "03-Apr", "5+"][i % 3]))
    assert told.startswith("[features]: 'dose' holds '03-Apr' (67), which looks like a range (3-4) that a")
    assert told.endswith("; write them in the table as they were")


def test_months_that_are_months_are_left_alone(tmp_path):
    table = make_table(band=lambda i: ["Jan-24", "Feb-24", "Mar-24"][i % 3])
    assert warn(tmp_path, table, BANDS) == []


def test_a_header_in_the_middle_of_a_table_is_pointed_out(tmp_path):
    table = make_table(race=lambda i: "WB"[i % 2], pulse=lambda i: 60 + i % 40).astype(str)
    header = pd.DataFrame([dict(zip(table, table, strict=True))])
    joined = pd.concat([table.iloc[:100], header, table.iloc[100:], header], ignore_index=True)
    told = next(text for text in warn(tmp_path, joined) if text.startswith("[data] path"))
    assert "the header stands again among the records, 2 times (lines 102, 203 of the table" in told
    assert told.endswith("delete those lines")
    once = joined.iloc[:-1]
    told = next(text for text in warn(tmp_path, once) if text.startswith("[data] path"))
    assert "once (line 102 of the table" in told
    assert "it is read as a record, and columns of numbers as text ('died', 'sex', 'race')" in told


def test_a_value_that_is_called_like_its_column_is_no_header(tmp_path):
    table = make_table(smoker=lambda i: "smoker" if i % 2 else "never", ward=lambda i: "AB"[i % 2])
    assert warn(tmp_path, table) == []


ORIGIN = BASIC + '[attributes.origin]\ncolumn = "origin"\n'


@pytest.mark.parametrize("both", ["White;Black", "White | Black", "Black, White", "['White', 'Black']"])
def test_groups_that_are_lists_are_pointed_out(tmp_path, both):
    table = make_table(origin=lambda i: both if i % 20 == 0 else ["White", "Black"][i % 2])
    assert warn_once(tmp_path, table, ORIGIN) == (
        f"[attributes.origin] column: 10 of 200 cells of 'origin' hold several values, such as {both!r} "
        f"(10); each "
        f'combination is a value of its own; to join them: groups = {{ "{both}" = "More than one" }}'
    )


def test_lists_of_codes_among_features_are_pointed_out(tmp_path):
    table = make_table(codes=lambda i: f"['I{i % 40}', 'E11']", sets=lambda i: ["a", "b", "a;b"][i % 3])
    told = warn(tmp_path, table)
    assert [text.partition(" cells of ")[2].partition(" hold")[0] for text in told] == ["'codes'", "'sets'"]
    assert all(text.endswith("give each part a column of its own, or exclude it") for text in told)


@pytest.mark.parametrize(
    "names", [("[0-10)", "[10-20)"), ("(0, 10]", "[10, 20]"), ("Smith, J.", "Lee, K."), ("A/B", "A")]
)
def test_intervals_and_names_with_commas_are_no_lists(tmp_path, names):
    assert warn(tmp_path, make_table(origin=lambda i: names[i % 2]), ORIGIN) == []


@pytest.mark.parametrize("text", ["1E+05", "1.23457E+11", "1E10", "7,2e+12"])
def test_ids_in_scientific_notation_are_pointed_out(tmp_path, text):
    table = make_table(person=lambda i: text if i == 7 else f"{1000 + i}")
    told = warn_once(tmp_path, table, BASIC + '[unit]\ncolumn = "person"\n')
    assert told.startswith(f"[unit] column: 'person' holds {text!r} (1): a number in scientific notation")
    assert told.endswith("; export the table again with this column as text")


def test_codes_with_letters_are_not_in_scientific_notation(tmp_path):
    table = make_table(person=lambda i: f"E{i}1-{i}", ward=lambda i: ["2EAST", "3E", "4F2"][i % 3])
    text = BASIC + '[unit]\ncolumn = "person"\n[site]\ncolumn = "ward"\n'
    assert warn(tmp_path, table, text) == []


def test_text_in_another_encoding_is_pointed_out_with_what_it_was(tmp_path):
    table = make_table(origin=lambda i: ["MÃ©xico", "España", "Perú"][i % 3])
    assert warn_once(tmp_path, table, ORIGIN) == (
        "[attributes.origin] column: 'origin' holds text that was read in another encoding than it was "
        "written in: "
        "'MÃ©xico' ('México' before), in 67 cells; export the table again as UTF-8, or: groups = "
        '{ "MÃ©xico" = "México" }'
    )


def test_lost_characters_and_column_names_are_pointed_out(tmp_path):
    lost = warn_once(tmp_path, make_table(origin=lambda i: ["M\ufffdxico", "Perú"][i % 2]), ORIGIN)
    assert lost.endswith("'M\ufffdxico', in 100 cells; export the table again as UTF-8")
    named = warn_once(tmp_path, make_table(**{"Ã¢ge": lambda i: i % 7}))
    assert "the name of column 'Ã¢ge' was read in another encoding" in named


@pytest.mark.parametrize("text", ["Ærø", "naïve", "Łódź", "東京", "Ελλάδα", "50 °C", "São Tomé", "plain"])
def test_proper_text_is_left_alone(text):
    assert mend_text(text) is None
