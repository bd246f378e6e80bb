"""What every column of the result tables rests on is declared, and known."""

import pytest

from auditbook.columns import TABLES
from auditbook.privacy.masks import MASKS
from auditbook.privacy.protect import NOBODY, read_rules

NUMBERS = ("count", "share", "number")


def list_declared(name):
    return {word: columns.split() for word, columns in read_rules()[name].items()}


@pytest.mark.parametrize("name", TABLES)
def test_every_column_of_numbers_is_declared_to_rest_on_people_or_on_nobody(name):
    declared = {column for columns in list_declared(name).values() for column in columns}
    assert {column.name for column in TABLES[name].columns if column.kind in NUMBERS} == declared


@pytest.mark.parametrize("name", TABLES)
def test_what_rests_on_nobody_rests_on_nothing_else(name):
    declared = list_declared(name)
    nobody = set(declared.pop(NOBODY, []))
    assert not nobody & {column for columns in declared.values() for column in columns}


def test_every_word_has_a_rule_and_every_rule_is_used():
    words = {word for rules in read_rules().values() for word in rules}
    assert words - {NOBODY} == set(MASKS)


def test_no_table_is_forgotten():
    assert set(read_rules()) == set(TABLES)
