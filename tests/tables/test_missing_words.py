"""Words that say that nothing is known, in six languages."""

import pytest

from auditbook.tables.missing_words import is_mark, names_missing, tell_named_missing


@pytest.mark.parametrize(
    "text", ["NA", " n/a ", "?", "#N/A", "NULL", "nan", "NaN", "-", ".", "k.A.", "s/d", "<NA>", "\\N"]
)
def test_marks_for_an_empty_cell(text):
    assert is_mark(text)


@pytest.mark.parametrize("text", ["", "0", "None", "no", "Nan Hua", "Namibia", "--x"])
def test_other_cells_are_no_marks(text):
    assert not is_mark(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "(missing)",
            "UNKNOWN/NOT SPECIFIED",
            "race_unknown",
            "Unk",
            "Patient declined to answer",
            "Don't know",
        ),
        *("Non précisé", "ne sait pas", "KEINE ANGABE", "Weiß nicht", "No especificado", "No Informado"),
        *(
            "NÃO INFORMADO",
            "recusou",
            "non dichiarato",
            "Ignoto",
            "Black, Unknown",
            "chooses not to disclose",
        ),
    ],
)
def test_names_of_a_missing_value(text):
    assert names_missing(text)


@pytest.mark.parametrize(
    "text", ["", "White", "Other", "Unknown or other", "No", "Sin City", "Refugees", "Blanket", "Ignatius"]
)
def test_names_of_people(text):
    assert not names_missing(text)


def test_it_is_said_of_none_one_and_two():
    assert tell_named_missing(["White", "Black"], "race") == ""
    assert tell_named_missing(["UNKNOWN", "White", "UNKNOWN"], "race") == (
        "UNKNOWN says that nothing is known of race: a missing value with a name, not a people."
    )
    assert tell_named_missing(["(missing)", "declined"], "sex") == (
        "(missing) and declined say that nothing is known of sex: missing values with names, not peoples."
    )
