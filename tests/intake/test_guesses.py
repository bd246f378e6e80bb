"""Single guesses: names, numbers of providers, units that restart, words for missing, ages with stand-ins."""

import numpy as np
import pandas as pd
import pytest

from auditbook.intake.guess_roles import describe_table, guess_roles
from auditbook.intake.known_ids import hold_ccns, hold_npis, is_npi
from auditbook.intake.lexicon import fit_name, split_name
from auditbook.intake.unknown_values import list_questionable, list_unknown


def make_stays(rows=600, **columns):
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 95, rows),
            "sex": rng.choice(["F", "M"], rows),
            "died": rng.integers(0, 2, rows),
        }
    )
    return table.assign(**columns)


def guess(**columns):
    return guess_roles(describe_table(make_stays(**columns)))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hospitaldischargestatus", ("hospital", "discharge", "status")),
        ("PatientenNummer", ("patienten", "nummer")),
        ("patientenalter", ("patienten", "alter")),
        ("Date d'entrée", ("date", "d", "entree")),
        ("creatinine", ("creatinine",)),
        ("_X__y", ("x", "y")),
        ("年齢", ("年齢",)),
    ],
)
def test_names_are_split_at_gaps_capitals_and_where_known_words_are_glued(name, words):
    assert split_name(name) == words


@pytest.mark.parametrize(
    ("name", "role", "barred", "fit"),
    [
        ("origine ethnique", "race", "groups", 2),
        ("séjour long", "long_stay", "outcome", 2),
        ("durée de séjour", "stay", "stay", 2),
        ("age_at_diagnosis", "age", "age", 0),
        ("predicted_mortality", "death", "outcome", 0),
        ("hospital_id", "site", "site", 2),
        ("hospital_beds", "site", "site", 0),
        ("patient_class", "person", "person", 0),
        ("storage", "age", "age", 0),
        ("study", "label", "outcome", 0),
    ],
)
def test_a_name_fits_a_role_by_whole_words_only(name, role, barred, fit):
    assert fit_name(name, role, barred=barred) == fit


def test_an_npi_has_ten_digits_and_a_check_digit():
    assert is_npi("1234567893")
    assert not any(map(is_npi, ("1234567890", "3234567893", "123456789", "x234567893", "")))
    numbers = [str(n) for n in range(1_234_567_000, 1_234_568_000)]
    assert not hold_npis(numbers)
    assert hold_npis([n for n in numbers if is_npi(n)])


def test_a_ccn_has_six_places():
    assert hold_ccns(["050441", "33T101"])
    assert not hold_ccns(["50441", "330101"])
    assert not hold_ccns([])


def test_patient_numbers_that_restart_at_each_hospital_are_named_with_the_hospital():
    rng = np.random.default_rng(8)
    site = rng.choice(["A", "B", "C"], 900)
    number = rng.integers(0, 100, 900)
    sexes = {(s, n): rng.choice(["F", "M"]) for s in "ABC" for n in range(100)}
    table = make_stays(rows=900, hospital=site, patient_id=number)
    table["sex"] = [sexes[key] for key in zip(site, number, strict=True)]
    assert guess_roles(describe_table(table)).unit.columns == ("hospital", "patient_id")
    table["sex"] = np.where(number % 2 == 0, "F", "M")
    assert guess_roles(describe_table(table)).unit.columns == ("patient_id",)


def test_a_patient_who_stands_once_is_no_unit_and_no_feature():
    roles = guess(patient_id=np.arange(600))
    assert not roles.unit.repeats
    assert "patient_id" in roles.features.exclude


@pytest.mark.parametrize(
    ("name", "values", "unknown", "open_"),
    [
        ("race", ["NA", "White", "Unknown"], {"Unknown"}, {"NA"}),
        ("insurance", ["NA", "private", "public"], {"NA"}, set()),
        ("creatinine", ["NA", "1.2", "0.8", "1.1"], {"NA"}, set()),
        ("complaint", ["None", "pain", "?"], {"?"}, {"None"}),
        ("etnia", ["sin dato", "A", "B"], {"sin dato"}, set()),
    ],
)
def test_words_for_missing_are_judged_by_column(name, values, unknown, open_):
    facts = describe_table(pd.DataFrame({name: values * 20})).columns[name]
    assert set(list_unknown(facts)) == unknown
    assert set(list_questionable(facts)) == open_


def test_a_few_ages_that_are_none_are_missing_and_not_the_oldest():
    ages = np.arange(600) % 70 + 20
    ages[:9] = 999
    age = next(item for item in guess(age=ages).attributes if item.name == "age")
    assert (age.unknown, age.lacking, age.bins) == ((999,), 9, (18, 40, 65))


def test_a_survival_score_is_turned_round_by_its_name_and_any_score_by_its_values():
    died = np.arange(600) % 2
    score = np.clip(0.5 + 0.3 * died + np.random.default_rng(3).normal(0, 0.2, 600), 0.001, 0.999)
    for name, values, low in (
        ("survival_prob", 1 - score, True),
        ("risk", score, False),
        ("model_prob", 1 - score, True),
    ):
        found = guess(died=died, **{name: values}).scores
        assert [(item.guess.column, item.low) for item in found] == [(name, low)]


def test_a_score_that_knows_the_outcome_is_not_drafted():
    died = np.arange(600) % 2
    roles = guess(died=died, risk_prob=died * 0.8 + np.random.default_rng(3).random(600) * 0.1)
    assert roles.scores == ()
    assert "risk_prob" in roles.features.exclude


def test_alive_is_not_the_event_of_a_column_that_tells_who_lives():
    table = make_stays().drop(columns="died").assign(alive=np.arange(600) % 5 > 0)
    table["alive"] = np.where(table["alive"], "yes", "no")
    outcome = guess_roles(describe_table(table)).outcome
    assert (outcome.guess.column, outcome.event, outcome.events) == ("alive", "no", 120)


def test_a_third_code_in_the_outcome_is_pointed_out():
    died = np.arange(600) % 2
    died[:11] = 9
    outcome = guess(died=died).outcome
    assert outcome.event == 1
    assert any("'9' (11)" in text for text in outcome.guess.speaks_against)


def test_the_second_series_of_age_codes_in_texas_joins_the_ages_that_it_stands_for():
    codes = [f"{code:02d}" for code in np.arange(600) % 27]
    table = pd.DataFrame({"THCIC_ID": np.arange(600) % 4, "RECORD_ID": np.arange(600), "PAT_AGE": codes})
    table["LENGTH_OF_STAY"] = np.arange(600) % 9 + 1
    age = guess_roles(describe_table(table)).attributes[0]
    assert (age.name, age.bins) == ("age", ())
    assert {code: age.words[code] for code in ("05", "06", "21", "22", "26")} == {
        "05": "0-17",
        "06": "18-44",
        "21": "75+",
        "22": "0-17",
        "26": "75+",
    }


def test_numbers_written_for_people_are_no_identifiers():
    assert "billed" not in guess(billed=[f"{20_000.5 + row:,.2f}" for row in range(600)]).features.exclude
    assert "billed" in guess(billed=[f"B-{20_000 + row}" for row in range(600)]).features.exclude


def test_numbers_under_an_id_that_stand_often_are_codes():
    roles = guess(admission_source_id=np.arange(600) % 7 + 1, visits=np.arange(600) % 7)
    assert roles.features.categories == ("admission_source_id",)


def test_a_table_without_any_column_of_use_has_no_guess():
    roles = guess_roles(describe_table(pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})))
    assert (roles.outcome, roles.site, roles.unit, roles.attributes, roles.scores) == (
        None,
        None,
        None,
        (),
        (),
    )
