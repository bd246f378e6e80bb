"""What counts as no event: listed, third codes pointed out, numbers below zero counted."""

import pytest

from auditbook.cohort import OutcomeTable
from auditbook.intake.outcome_values import split_values
from warned_tables import BASIC, make_table, warn, warn_once


def outcome(column, event):
    return BASIC.replace('"died"\nevent = 1', f'"{column}"\nevent = {event}')


def table_of(name, cell):
    return make_table(**{name: cell}).drop(columns="died")


def test_values_are_split_into_events_and_others():
    table = make_table(end=lambda i: ["home", "died", "hospice", None][i % 4])
    values = split_values(OutcomeTable("end", "died"), table["end"])
    assert (dict(values.events), dict(values.others)) == ({"died": 50}, {"home": 50, "hospice": 50})
    values = split_values(OutcomeTable("end", "!= home"), table["end"])
    assert (dict(values.events), dict(values.others)) == ({"died": 50, "hospice": 50}, {"home": 50})
    assert split_values(OutcomeTable("end", type="continuous"), table["end"]) is None


@pytest.mark.parametrize(
    ("codes", "event", "odd", "line"),
    [
        ((0, 1, 9), "1", "9", "{ late = [9] }"),
        ((0, 1, -1), "1", "-1", "{ late = [-1] }"),
        ((0, 1, 99), "1", "99", "{ late = [99] }"),
        (("lebt", "tot", "verlegt"), '"tot"', "verlegt", '{ late = ["verlegt"] }'),
        (("vivo", "óbito", "NI"), '"óbito"', "NI", '{ late = ["NI"] }'),
        ((1, 2, 7), "1", "7", "{ late = [7] }"),
        (("Y", "N", "U"), '"Y"', "U", '{ late = ["U"] }'),
        (("oui", "non", "X"), '"oui"', "X", '{ late = ["X"] }'),
        (("ja", "nein", "keine Angabe"), '"ja"', "keine Angabe", '{ late = ["keine Angabe"] }'),
        (("sim", "não", "ignorado"), '"sim"', "ignorado", '{ late = ["ignorado"] }'),
        (("dead", "alive", "?"), '"dead"', "?", '{ late = ["?"] }'),
        (("relapse", "free", "unknown"), '"relapse"', "unknown", '{ late = ["unknown"] }'),
    ],
)
def test_a_third_code_is_pointed_out_with_its_count_and_line(tmp_path, codes, event, odd, line):
    table = table_of("late", lambda i: codes[2] if i % 5 == 4 else codes[i % 2])
    told = warn_once(tmp_path, table, outcome("late", event))
    assert f'count as no event; {odd!r} looks like a code for "not known", in 40 records; ' in told
    assert told.startswith("[outcome] event: of 'late', ")
    assert told.endswith(f"[missing] columns = {line}")


@pytest.mark.parametrize(("codes", "event"), [((1, 2, 3, 4, 5), 5), ((1, 2, 3), 1), ((0, 1, 2, 3, 5), 2)])
def test_grades_of_which_one_is_the_event_are_left_alone(tmp_path, codes, event):
    table = table_of("grade", lambda i: codes[i % len(codes)])
    assert warn(tmp_path, table, outcome("grade", event)) == []


def test_two_odd_codes_are_told_at_once(tmp_path):
    codes = ("Y", "N", "U", "?")
    told = warn_once(tmp_path, table_of("late", lambda i: codes[i % 4]), outcome("late", '"Y"'))
    assert "'?' and 'U' look like codes for \"not known\", in 100 records" in told


@pytest.mark.parametrize("event", ['"<30"', '">30"', '"NO"', '["NO"]'])
def test_three_proper_values_are_left_alone(tmp_path, event):
    if event.startswith("["):
        event = "'!= \"NO\"'"
    table = table_of("readmitted", lambda i: ["<30", ">30", "NO"][i % 3])
    event = f"'== {event}'" if event.startswith('"<') or event.startswith('">') else event
    assert warn(tmp_path, table, outcome("readmitted", event)) == []


def test_two_values_are_left_alone_whatever_they_are(tmp_path):
    assert (
        warn(tmp_path, table_of("known", lambda i: ["known", "unknown"][i % 2]), outcome("known", '"known"'))
        == []
    )


def test_a_third_code_of_another_outcome_is_pointed_out(tmp_path):
    table = make_table(back=lambda i: "U" if i % 5 == 4 else "YN"[i % 2])
    told = warn_once(tmp_path, table, BASIC + '[outcomes.back]\ncolumn = "back"\nevent = "Y"\n')
    assert told.startswith("[outcomes.back] event: of 'back', ")


@pytest.mark.parametrize("name", ["los", "Liegedauer", "length_of_stay", "jours", "hosp stay", "x"])
def test_stays_below_zero_are_counted(tmp_path, name):
    table = table_of(name, lambda i: -0.5 if i % 20 == 0 else i % 9 + 0.25)
    assert warn_once(tmp_path, table, outcome(name, '"> 3"')) == (
        f"[outcome] column: '{name}' is below zero in 10 of 200 records (lowest: -0.5), and these count as "
        f"no event; "
        "correct them in the table, or leave the cells blank, so that they are counted as missing"
    )


def test_the_other_side_of_a_comparison_counts_as_events(tmp_path):
    table = table_of("days", lambda i: -2 if i % 20 == 0 else i % 9)
    assert "(lowest: -2), and these count as events;" in warn_once(tmp_path, table, outcome("days", '"< 3"'))


def test_amounts_below_zero_among_features_are_counted(tmp_path):
    table = make_table(
        totalCharges=lambda i: -10 if i % 50 == 0 else 100 + i, base_excess=lambda i: i % 7 - 3
    )
    told = warn_once(tmp_path, table)
    assert told.startswith(
        "[features]: 'totalCharges' is below zero in 4 of 200 records (lowest: -10); correct"
    )


def test_a_column_that_is_negative_as_often_as_not_is_left_alone(tmp_path):
    assert warn(tmp_path, table_of("change", lambda i: i % 21 - 10), outcome("change", '"> 3"')) == []
