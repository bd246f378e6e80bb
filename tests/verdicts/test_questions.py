"""Marks of questions, and of how many people a gap tells."""

import numpy as np
import pandas as pd
import pytest

from auditbook.settings import Protocol
from auditbook.verdicts.questions import (
    MARKS,
    STANDING_MARKS,
    count_affected,
    find_error_free,
    list_uncompared,
    mark_questions,
)
from auditbook.verdicts.standing import STANDINGS


def make_cell(metric, standing, **more):
    words = {"shown to fail": "fail", "shown to pass": "pass", "cannot be judged": "none"}
    cell = {"model": "m", "metric": metric, "attribute": "sex", "standing": standing}
    return cell | {"shown": words.get(standing, "open"), "p_pass": 1.0} | more


def make_contrast(rate, p_fail, p_pass, **more):
    row = {"model": "m", "metric": "EOD", "attribute": "sex", "rate": rate, "bin": np.nan}
    return row | {"group": "F", "other": "M", "p_fail": p_fail, "p_pass": p_pass} | more


GROUPS = pd.DataFrame({"model": "m", "attribute": "sex", "group": ["F", "M"], "n": [100, 100]})


def mark(cells, contrasts=()):
    columns = list(make_contrast("TPR", 1, 1))
    found = mark_questions(
        pd.DataFrame(cells), pd.DataFrame(list(contrasts), columns=columns), GROUPS, alpha=0.05
    )
    return dict(zip(found["question"], found["mark"], strict=True))


def test_every_standing_has_a_mark():
    assert set(STANDING_MARKS) == set(STANDINGS)
    assert set(STANDING_MARKS.values()) == set(MARKS)


@pytest.mark.parametrize("one", STANDINGS)
@pytest.mark.parametrize("other", STANDINGS)
def test_of_two_metrics_the_least_kind_answer_stands(one, other):
    found = mark([make_cell("DI", one), make_cell("SPD", other)])
    least = min(STANDING_MARKS[one], STANDING_MARKS[other], key=MARKS.index)
    assert found == {"selected": least}


def test_a_failing_tpr_does_not_make_false_alarms_fail():
    cell = make_cell("EOD", "shown to fail")
    found = mark([cell], [make_contrast("TPR", 1e-6, 1.0), make_contrast("FPR", 1.0, 1e-6)])
    assert found == {"found": "fails", "alarms": "passes"}


def test_false_alarms_fail_beside_a_failing_tpr_where_both_are_shown():
    cell = make_cell("EOD", "shown to fail")
    found = mark([cell], [make_contrast("TPR", 1e-6, 1.0), make_contrast("FPR", 1e-4, 1.0)])
    assert found == {"found": "fails", "alarms": "fails"}


def test_false_alarms_are_open_where_neither_is_shown():
    cell = make_cell("EOD", "open, fails so far")
    found = mark([cell], [make_contrast("TPR", 0.3, 1.0), make_contrast("FPR", 0.04, 0.9)])
    assert found == {"found": "open", "alarms": "open"}


def test_the_tpr_part_is_left_to_equal_opportunity():
    cells = [make_cell("EOPP", "shown to pass"), make_cell("EOD", "open, passes so far")]
    found = mark(cells, [make_contrast("TPR", 1.0, 0.02), make_contrast("FPR", 1.0, 0.2)])
    assert found == {"found": "passes", "alarms": "open"}


def test_a_part_without_a_contrast_cannot_be_judged_and_passes_only_for_those_compared():
    cell = make_cell("EOD", "open, passes so far")
    assert mark([cell], [make_contrast("FPR", 1.0, 1e-6)]) == {"found": "unjudged", "alarms": "passes"}
    more = pd.concat([GROUPS, GROUPS.iloc[:1].assign(group="X", n=3)])
    columns = list(make_contrast("TPR", 1, 1))
    rows = pd.DataFrame([make_contrast("FPR", 1.0, 1e-6)], columns=columns)
    found = mark_questions(pd.DataFrame([cell]), rows, more, alpha=0.05)
    assert dict(zip(found["question"], found["mark"], strict=True))["alarms"] == "partly"


def lay_pair(one, other, n_one, n_other, rate="TPR"):
    pair = {"model": "m", "metric": "EOPP", "attribute": "sex", "rate": rate, "group": "F", "other": "M"}
    contrast = pd.DataFrame([pair | {"estimate": one - other, "n": n_one, "n_other": n_other}])
    groups = pd.DataFrame({"model": "m", "attribute": "sex", "group": ["F", "M"], "tpr": [one, other]})
    groups = groups.assign(selection_rate=0.5, fpr=0.5, ppv=0.5, event_rate=[0.1, 0.4])
    return contrast, groups


def test_people_affected_do_not_depend_on_which_group_is_named_first():
    first, second = lay_pair(0.9, 0.6, 300, 40), lay_pair(0.6, 0.9, 40, 300)
    assert count_affected(*first) == pytest.approx(count_affected(*second))


def test_people_affected_are_those_who_change_when_both_groups_have_their_common_rate():
    common = (0.9 * 300 + 0.6 * 40) / 340
    assert count_affected(*lay_pair(0.9, 0.6, 300, 40)) == pytest.approx(40 * (common - 0.6))
    assert count_affected(*lay_pair(0.9, 0.6, 300, 40)) == pytest.approx(300 * (0.9 - common))


def test_where_nothing_is_wrong_a_tiny_group_does_not_come_first():
    rng = np.random.default_rng(5)
    tiny, large = [], []
    for _ in range(300):
        whole, few, many = rng.binomial(5000, 0.5), rng.binomial(12, 0.5), rng.binomial(4000, 0.5)
        tiny.append(count_affected(*lay_pair(whole / 5000, few / 12, 5000, 12))[0])
        large.append(count_affected(*lay_pair(whole / 5000, many / 4000, 5000, 4000))[0])
    assert np.mean(tiny) < np.mean(large) / 5


def test_without_error_the_same_two_groups_can_differ_the_other_way_round():
    contrast, groups = lay_pair(0.6, 0.3, 100, 100, rate="SR")
    assert find_error_free(contrast.assign(metric="SPD"), groups) == pytest.approx(-0.3)
    assert find_error_free(contrast.assign(metric="DI"), groups) == pytest.approx(0.25)
    assert find_error_free(*lay_pair(0.6, 0.3, 100, 100)) == 0


def lay_groups(**counts):
    blank = dict.fromkeys(
        ("n_effective", "events_effective", "non_events_effective", "selected_effective"), np.nan
    )
    rows = [
        {"model": "m", "attribute": "race", "group": name, "n": n, "events": events, "non_events": n - events}
        | {"tp": selected, "fp": 0}
        | blank
        for name, (n, events, selected) in counts.items()
    ]
    return pd.DataFrame(rows)


def test_a_group_is_too_small_for_the_rates_whose_denominator_it_lacks():
    cells = pd.DataFrame([make_cell(name, "open, fails so far") for name in ("EOPP", "EOD", "SPD")])
    cells = cells.assign(attribute="race")
    none = pd.DataFrame([], columns=list(make_contrast("TPR", 1, 1)))
    groups = lay_groups(A=(900, 100, 90), B=(60, 5, 3), C=(40, 20, 0), D=(0, 0, 0))
    found = list_uncompared(cells, groups, none, Protocol())
    assert found[["group", "question", "held", "size"]].to_numpy().tolist() == [
        ["B", "found", 5, 2000],
        ["D", "found", 0, np.inf],
        ["D", "alarms", 0, np.inf],
        ["D", "selected", 0, np.inf],
    ]
