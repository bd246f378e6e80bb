"""Features by name and by pattern."""

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort.feature_columns import match_columns
from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.errors import InputError
from cohorts import write_pair

TEXT = '[outcome]\ncolumn = "y"\nevent = 1\n[attributes.race]\ncolumn = "race"\n[features]\n'


def images(rows=40, **columns):
    table = pd.DataFrame({"y": [0, 1] * (rows // 2), "race": ["a", "b"] * (rows // 2), "age": range(rows)})
    return table.assign(**{f"emb_{i}": np.arange(rows) * i for i in range(3)}, **columns)


def load(folder, table, text):
    return load_cohort(read_cohort_file(write_pair(folder, table, TEXT + text)), cache_dir=folder)


def told(folder, table, text):
    with pytest.raises(InputError) as caught:
        load(folder, table, text)
    return "\n".join(caught.value.faults)


def test_a_pattern_names_many_columns(tmp_path):
    cohort = load(tmp_path, images(), 'include = ["emb_*", "age"]\nlate = ["emb_?"]\n')
    assert set(cohort.feature_columns) == {"emb_0", "emb_1", "emb_2", "age"}
    assert set(cohort.late_columns) == {"emb_0", "emb_1", "emb_2"}


def test_a_pattern_leaves_columns_out(tmp_path):
    cohort = load(tmp_path, images(), 'exclude = ["emb_*"]\n')
    assert set(cohort.feature_columns) == {"race", "age"}


def test_a_pattern_for_every_column_takes_neither_outcome_nor_dates_nor_other_roles(tmp_path):
    cohort = load(tmp_path, images(), 'include = ["*"]\n[unit]\ncolumn = "age"\n')
    assert set(cohort.feature_columns) == {"race", "emb_0", "emb_1", "emb_2"}


def test_a_column_of_exactly_this_name_wins_over_the_pattern(tmp_path):
    cohort = load(tmp_path, images(**{"emb_*": 1}), 'include = ["emb_*"]\n')
    assert cohort.feature_columns == ("emb_*",)


@pytest.mark.parametrize(
    ("name", "columns", "found"),
    [
        ("a[1]*", ["a[1]", "a1", "a[1]b"], ("a[1]", "a[1]b")),
        ("*.x", ["a.x", "abx", "a\nb.x"], ("a.x", "a\nb.x")),
        ("é?", ["éa", "ea", "é"], ("éa",)),
        ("A*", ["a1", "A1"], ("A1",)),
        ("age", ["ages"], ()),
    ],
)
def test_only_star_and_question_mark_are_signs(name, columns, found):
    assert match_columns(name, columns) == found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            'include = ["embed_*"]\n',
            "[features] include: the pattern 'embed_*' matches no column of data.csv",
        ),
        (
            'exclude = ["embed_*"]\n',
            "[features] exclude: the pattern 'embed_*' matches no column of data.csv",
        ),
        ('include = ["emb_9"]\n', "has no column 'emb_9' (did you mean 'emb_"),
        ('include = ["age"]\nlate = ["emb_*"]\n', "[features] late: 'emb_*' is not in include"),
        (
            'categories = ["emb_1"]\nexclude = ["emb_1"]\n',
            "[features] categories: 'emb_1' is also in exclude",
        ),
        ('categories = ["y"]\n', "[features] categories: 'y' is the outcome; it cannot be a feature too"),
    ],
)
def test_what_is_wrong_with_a_list_is_told(tmp_path, text, fault):
    assert fault in told(tmp_path, images(), text)
