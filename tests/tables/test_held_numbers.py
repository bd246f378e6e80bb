"""Text that holds one number, and text that only looks so."""

import pytest

from auditbook.tables import held_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("> 89", 90),
        (">=90", 90),
        (">89.5", 89.5),
        ("90+", 90),
        ("120 +", 120),
        ("über 90", 91),
        ("plus de 100", 101),
        ("85 and over", 85),
        ("<0.2", 0.2),
        ("< 0,5", 0.5),
        ("37 %", 0.37),
        ("< 0,7%", 0.007),
        ("> 90 %", 0.91),
        ("$9,870", 9870),
        ("12,345.60", 12345.6),
        ("1.234,5", 1234.5),
        ("-3 (corrected)", -3),
    ],
)
def test_the_number_that_a_text_holds_is_found(text, number):
    assert held_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "NEG", "declined", "E11", "v12", "5-9", "2024-03-01", "[0-10)", "+", "09-May-24", "1.2.3.4"]
)
def test_words_codes_and_ranges_hold_no_number(text):
    assert held_number(text) is None
