"""Text in columns of numbers: counted, with the lines that make numbers or missing cells of it."""

import pytest

from warned_tables import BASIC, make_table, warn, warn_once


def lab(i):
    return "<0.01" if i % 10 == 1 else "hemolyzed" if i % 20 == 5 else f"{i / 7:.2f}"


def test_a_feature_of_numbers_with_some_text_is_pointed_out(tmp_path):
    assert warn_once(tmp_path, make_table(lactate=lab)) == (
        "[features]: 'lactate' is a number in 170 of 200 cells; the others: '<0.01' (20), 'hemolyzed' (10); "
        'as text, a model takes it for names; [features] numbers.lactate = { "<0.01" = 0.01 }; if this means '
        'missing: [missing] columns = { lactate = ["hemolyzed"] }'
    )


def test_the_lines_cure_it(tmp_path):
    numbers = '[features]\nnumbers.lactate = { "<0.01" = 0.005 }\n'
    words = '[missing]\ncolumns = { lactate = ["hemolyzed"] }\n'
    assert warn(tmp_path, make_table(lactate=lab), BASIC + numbers + words) == []


def test_ages_without_bins_are_pointed_out_with_theirs(tmp_path):
    table = make_table(alter=lambda i: "ab 90" if i % 9 == 0 else str(18 + i % 70))
    told = warn_once(tmp_path, table, BASIC + '[attributes.age]\ncolumn = "alter"\n')
    assert 'every number is a group; bins = [ … ]; numbers = { "ab 90" = 90 }' in told


def test_a_column_name_with_blanks_is_quoted(tmp_path):
    told = warn_once(tmp_path, make_table(**{"Créatinine µmol": lab}))
    assert '[features] numbers."Créatinine µmol" = ' in told
    assert '{ "Créatinine µmol" = ["hemolyzed"] }' in told


def test_numbers_written_for_people_are_counted_with_the_way_of_writing(tmp_path):
    told = warn_once(tmp_path, make_table(paid=lambda i: "waived" if i % 10 == 0 else f"${i * 1000:,}"))
    assert (
        "'paid' is a number in 180 of 200 cells (thousands parted by commas and a sign of currency); the"
        in told
    )
    assert told.endswith('if this means missing: [missing] columns = { paid = ["waived"] }')


def test_commas_that_may_part_thousands_or_decimals_are_asked_about(tmp_path):
    told = warn_once(tmp_path, make_table(flow=lambda i: f"{i % 90 + 1},{i % 7 + 1}00"))
    assert told.startswith("[features]: 'flow' may be numbers written for people, such as '")
    assert told.endswith('; say which: [data] format = { thousands = "," } or { decimal = "," }')


def test_codes_are_no_numbers(tmp_path):
    table = make_table(
        diagnosis=lambda i: f"V{i % 30}" if i % 9 == 0 else str(250 + i % 80),
        ward=lambda i: ["3", "4", "ICU", "5"][i % 4],
        note=lambda i: f"seen on day {i}",
    )
    assert warn(tmp_path, table, BASIC + '[features]\nexclude = ["note"]\n') == []


def test_a_column_that_nothing_uses_is_left_alone(tmp_path):
    assert warn(tmp_path, make_table(lactate=lab), BASIC + '[features]\nexclude = ["lactate"]\n') == []


@pytest.mark.parametrize(
    ("word", "line"),
    [("120 +", '[outcome] numbers = { "120 +" = 120 }'), ("> 30", '[outcome] numbers = { "> 30" = 31 }')],
)
def test_a_word_for_missing_that_holds_a_number_is_pointed_out(tmp_path, word, line):
    table = make_table(stay=lambda i: word if i % 10 == 0 else str(i % 7 + 1))
    text = BASIC.replace('"died"\nevent = 1', '"stay"\nevent = "> 3"') + f'[missing]\nvalues = ["{word}"]\n'
    told = warn_once(tmp_path, table.drop(columns="died"), text)
    assert f"{word!r} means missing, and stands in 'stay' (20); it holds a number" in told
    assert told.endswith(f"delete it there and give the number: {line}")


def test_such_a_word_of_one_column_is_pointed_out_where_it_stands(tmp_path):
    table = make_table(years=lambda i: "> 89" if i % 10 == 0 else str(18 + i % 60))
    text = BASIC + '[attributes.age]\ncolumn = "years"\nbins = [18, 65]\nmissing = "drop"\n'
    told = warn_once(tmp_path, table, text + 'missing_values = ["> 89"]\n')
    assert told.startswith(
        "[attributes.age] missing_values: '> 89' means missing, and stands in 'years' (20);"
    )
    assert told.endswith('give the number: [attributes.age] numbers = { "> 89" = 90 }')
    told = warn_once(tmp_path, table, text + '[missing]\ncolumns = { years = ["> 89"] }\n')
    assert told.startswith("[missing] columns: '> 89' means missing")
    told = warn_once(tmp_path, table, BASIC + '[missing]\ncolumns = { years = ["> 89"] }\n')
    assert told.endswith('give the number: [features] numbers.years = { "> 89" = 90 }')


def test_a_sign_of_per_cent_in_some_cells_is_asked_about(tmp_path):
    told = warn_once(tmp_path, make_table(share=lambda i: f"{i % 90 + 1}" + " %" * (i % 2)))
    assert "'share' has a sign of per cent in some cells and not in others" in told
