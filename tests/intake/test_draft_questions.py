"""The five questions at a terminal: a guess is kept by Enter, and an answer changes what rests on it."""

import numpy as np
import pandas as pd

from auditbook.intake.draft_questions import ask_roles
from auditbook.intake.guess_roles import describe_table, guess_roles
from auditbook.intake.guesses import NO_ANSWERS


def make_table(rows=400):
    rng = np.random.default_rng(4)
    died = rng.integers(0, 2, rows)
    return describe_table(
        pd.DataFrame(
            {
                "hospital": rng.choice(["A", "B"], rows),
                "patient_id": np.arange(rows) // 2,
                "sex": rng.choice(["F", "M"], rows),
                "ward, old": rng.choice(["x", "y"], rows),
                "age": rng.integers(18, 90, rows),
                "died": died,
                "status_code": np.where(died, 7, 3),
                "readmitted": rng.choice(["yes", "no"], rows),
                "risk": rng.random(rows),
            }
        )
    )


def answer(*given):
    said, asked, replies = [], [], iter(given)

    def ask(question):
        asked.append(question)
        try:
            return next(replies)
        except StopIteration:
            raise EOFError from None

    return ask_roles(make_table(), ask=ask, say=said.append), asked, said


def test_enter_keeps_every_guess():
    answers, asked, _ = answer("", "", "", "", "", "")
    assert answers == NO_ANSWERS
    assert [question[0] for question in asked] == ["1", "2", "3", "3", "4", "5"]
    assert "[died]" in asked[0]
    assert "[1]" in asked[1]


def test_another_outcome_brings_its_own_event_and_leaks():
    answers, asked, said = answer("readmitted", "", "", "", "", "")
    assert "[yes]" in asked[1]
    assert any("'yes' (" in line for line in said)
    roles = guess_roles(make_table(), answers)
    assert (roles.outcome.guess.column, roles.outcome.event) == ("readmitted", "yes")
    assert "status_code" not in roles.features.exclude
    assert "status_code" in guess_roles(make_table()).features.exclude


def test_a_name_that_is_no_column_is_asked_again():
    answers, asked, said = answer("dead", "died", "", "", "", "ward, old", "")
    assert answers.outcome == "died"
    assert sum("happened" in question for question in asked) == 2
    assert any("there is no column 'dead' (did you mean" in line for line in said)
    assert answers.attributes == ("ward, old",)


def test_none_takes_a_guess_away_and_several_columns_stand_with_commas():
    answers, _, _ = answer("", "1", "hospital, patient_id", "none", "sex", "none")
    assert (answers.event, answers.unit, answers.site) == (1, ("hospital", "patient_id"), "")
    assert (answers.scores, answers.models) == ((), ("xgboost", "logistic"))
    roles = guess_roles(make_table(), answers)
    assert (roles.site, roles.unit.columns) == (None, ("hospital", "patient_id"))
    assert [item.guess.column for item in roles.attributes] == ["sex"]


def test_the_end_of_input_keeps_the_other_guesses():
    answers, _, said = answer("readmitted")
    assert (answers.outcome, answers.event) == ("readmitted", None)
    assert said[-1] == "No more answers: the other guesses stand."


def test_one_column_is_asked_for_where_only_one_can_stand():
    answers, _, said = answer("died, risk", "died", "", "", "", "", "")
    assert answers.outcome == "died"
    assert "   one column, or none" in said
