import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from auditbook.evidence.areas import group_auc

records = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 8), st.integers(0, 2)), min_size=1, max_size=40
)


@given(records)
def test_every_group_has_the_area_that_scikit_learn_gives(rows):
    outcome, score, group = np.array(rows).T
    areas = group_auc(outcome, score / 8, group, 3)
    for place, area in enumerate(areas):
        mine = group == place
        if len(set(outcome[mine])) == 2:
            assert area == pytest.approx(roc_auc_score(outcome[mine], score[mine]), abs=1e-12)
        else:
            assert np.isnan(area)


@given(records, st.randoms())
def test_neither_the_order_of_records_nor_a_rising_transform_changes_an_area(rows, random):
    outcome, score, group = np.array(rows).T
    shuffled = np.array(random.sample(rows, len(rows))).T
    np.testing.assert_array_equal(
        group_auc(outcome, score, group, 3), group_auc(shuffled[0], np.exp(shuffled[1]), shuffled[2], 3)
    )


def test_tied_scores_weigh_half():
    assert group_auc([0, 1, 0, 1], [0.3] * 4, [0] * 4, 1).tolist() == [0.5]


def test_perfect_separation_is_exactly_one_and_its_reverse_zero():
    assert group_auc([0, 0, 1, 0, 1], [0.1, 0.2, 0.9, 0.8, 0.3], [0, 0, 0, 1, 1], 2).tolist() == [1.0, 0.0]


def test_a_group_of_one_class_is_nan_and_the_others_stand():
    areas = group_auc([0, 0, 1, 0], [0.1, 0.2, 0.9, 0.8], [0, 0, 1, 1], 3)
    assert np.isnan(areas[[0, 2]]).all()
    assert areas[1] == 1.0


def test_no_record_gives_no_area():
    assert np.isnan(group_auc([], [], np.array([], int), 2)).all()
