"""Words for missing: what they blank, and what they leave among the groups."""

import pytest

from warned_tables import BASIC, TOP, make_table, warn, warn_once

ORIGIN = BASIC + '[attributes.origin]\ncolumn = "origin"\n'
CODES = make_table(
    origin=lambda i: ["DE", "NA", "ZA", "MZ"][i % 4], potassium=lambda i: "NA" if i % 5 else "4.1"
)


def test_a_word_that_is_missing_everywhere_and_a_group_here_is_pointed_out(tmp_path):
    text = ORIGIN + 'groups = { "NA" = "Namibia" }\n[missing]\nvalues = ["NA"]\n'
    assert warn_once(tmp_path, CODES, text) == (
        "[missing] values: 'NA' means missing in every column, and stands in 'origin' (50), 'potassium' "
        "(160); but [attributes.origin] takes it for a group ('Namibia'), of which no record is left; "
        "delete it "
        'from values and say where it does: columns = { potassium = ["NA"] }'
    )


def test_a_word_that_looks_like_the_other_codes_is_pointed_out(tmp_path):
    told = warn_once(tmp_path, CODES, ORIGIN + '[missing]\nvalues = ["NA"]\n')
    assert "in 'origin' it looks like the other codes" in told
    assert told.endswith('columns = { potassium = ["NA"] }')


def test_a_word_that_stands_in_one_column_only_is_deleted(tmp_path):
    table = CODES.drop(columns="potassium")
    told = warn_once(tmp_path, table, ORIGIN + '[missing]\nvalues = ["NA"]\n')
    assert told.endswith("; delete 'NA' from values")


def test_words_by_column_need_no_caution(tmp_path):
    text = ORIGIN + 'groups = { "NA" = "Namibia" }\n[missing]\ncolumns = { potassium = ["NA"] }\n'
    assert warn(tmp_path, CODES, text) == []


def test_a_mark_among_whole_names_needs_no_caution(tmp_path):
    table = make_table(origin=lambda i: ["Germany", "NA", "Zambia"][i % 3])
    assert warn(tmp_path, table, ORIGIN + '[missing]\nvalues = ["NA"]\n') == []


def test_many_columns_are_counted_and_the_one_is_excepted(tmp_path):
    table = make_table(
        origin=CODES["origin"], **{f"lab {k}": lambda i: "NA" if i % 5 else "1" for k in range(9)}
    )
    told = warn_once(tmp_path, table, ORIGIN + '[missing]\nvalues = ["NA"]\n')
    assert "'lab 4' (160) and 4 more columns;" in told
    assert told.endswith("columns = { origin = [] }")


def test_codes_of_digits_are_words_for_missing(tmp_path):
    table = make_table(stay=lambda i: "99" if i % 10 == 0 else str(i % 7 + 1))
    text = BASIC + '[missing]\nvalues = ["99"]\n[features]\nexclude = ["stay"]\n'
    assert warn(tmp_path, table, text) == []


@pytest.mark.parametrize(
    "name",
    [
        *("Unknown", "NOT STATED", "Patient refused", "unable to determine", "Prefer not to say", "?", "N/A"),
        *("inconnu", "Non renseigné", "Refus de répondre", "keine Angabe", "Unbekannt", "nicht erhoben"),
        *("Desconocido", "no contesta", "Ignorado", "não informado", "Sem informação", "Sconosciuto"),
        *("non rilevato", "rifiuta", "#N/A", "Race not recorded", "DECLINED TO ANSWER", "sin datos"),
    ],
)
def test_a_group_that_says_nothing_is_known_is_pointed_out(tmp_path, name):
    table = make_table(origin=lambda i: [name, "north", "south"][i % 3])
    assert warn_once(tmp_path, table, ORIGIN) == (
        f"[attributes.origin] column: {name!r} (67) says that nothing is known, and is judged like a group "
        f'of people; missing_values = ["{name}"], with missing = "drop" (left out and counted) or "group" '
        f"(one "
        "group, called missing)"
    )


@pytest.mark.parametrize(
    "name", ["Other", "Other/Unknown", "Refugee", "Nordic", "Indeterminate", "Mixed", "None", "Nonbinary"]
)
def test_groups_of_people_are_left_alone(tmp_path, name):
    table = make_table(origin=lambda i: [name, "north", "south"][i % 3])
    assert [told for told in warn(tmp_path, table, ORIGIN) if "is known" in told] == []


def test_several_are_told_at_once_and_one_that_is_cured_no_more(tmp_path):
    table = make_table(origin=lambda i: ["UNKNOWN", "DECLINED", "north", "south"][i % 4])
    told = warn_once(tmp_path, table, ORIGIN)
    assert "'DECLINED' (50), 'UNKNOWN' (50) say that nothing is known, and are judged like groups" in told
    cured = 'missing_values = ["UNKNOWN", "DECLINED"]\nmissing = "group"\n'
    assert warn(tmp_path, table, ORIGIN + cured) == []
    assert warn(tmp_path, table, ORIGIN + '[missing]\nvalues = ["UNKNOWN", "DECLINED"]\n') == []


def test_a_group_that_is_renamed_is_judged_by_its_name(tmp_path):
    table = make_table(origin=lambda i: ["9", "north", "south"][i % 3])
    assert "'9' (67) says" in warn_once(tmp_path, table, ORIGIN + 'groups = { "9" = "not known" }\n')


def test_a_mark_that_may_be_a_group_is_asked_about_once(tmp_path):
    told = warn_once(tmp_path, CODES, ORIGIN + '[features]\nexclude = ["potassium"]\n')
    assert "'NA' (50) is a group, though it often means missing; if it does here:" in told
    assert told.endswith('if it is a group, give its name: groups = { "NA" = "…" }')
    assert (
        warn(tmp_path, CODES, ORIGIN + 'groups = { "NA" = "Namibia" }\n[features]\nexclude = ["potassium"]\n')
        == []
    )


def test_a_site_without_a_name_is_pointed_out(tmp_path):
    table = make_table(ward=lambda i: ["A", "B", "unbekannt"][i % 3])
    told = warn_once(tmp_path, table, BASIC + '[site]\ncolumn = "ward"\n')
    assert told.startswith(
        "[site] column: 'unbekannt' (66) says that the site is not known, and counts as a site;"
    )
    assert told.endswith('drop = [{ column = "ward", values = ["unbekannt"], reason = "no site" }]')
    dropped = TOP + 'drop = [{ column = "ward", values = ["unbekannt"], reason = "no site" }]\n'
    assert warn(tmp_path, table, BASIC + '[site]\ncolumn = "ward"\n', dropped) == []
