"""What cures cells that are no numbers: never the word missing for a value that holds one."""

import pandas as pd

from auditbook.cohort.number_advice import advise_numbers


def advise(*cells):
    return advise_numbers(pd.Series(cells), numbers="[outcome] numbers", missing="[missing] values")


def test_a_value_that_holds_a_number_is_given_it_and_is_not_called_missing():
    told = 'give the number that it stands for: [outcome] numbers = { "120 +" = 120 }'
    assert advise("120 +", "120 +") == told


def test_words_without_a_number_may_mean_missing():
    assert advise("NEG", "?") == "if these mean missing, name them in [missing] values"


def test_both_kinds_get_a_line_each():
    assert advise("> 89", "unknown", "<1").endswith(
        'each stands for: [outcome] numbers = { "<1" = 1, "> 89" = 90 }; '
        "if 'unknown' means missing, name it in [missing] values"
    )
    assert "if 'a' and 'b' mean missing, name them in" in advise("5 +", "a", "b")
    assert "if 'a', 'b', 'c' and others mean missing" in advise("5 +", "a", "b", "c", "d")


def test_a_long_line_is_cut_and_quotes_in_values_are_escaped():
    assert advise(*(f"{n} +" for n in range(10, 30))).endswith('"14 +" = 14, … }')
    assert r'{ "5\" +" = 5 }' in advise('5" +')
