"""Faults of a cohort file and of its data are told at once."""

import re

import pandas as pd
import pytest

from auditbook.cli import WRONG, main
from cohorts import write_pair

OUTCOME = '[outcome]\ncolumn = "y"\nevent = 1\n'
RACE = '[attributes.race]\ncolumn = "race"\n'
SEX = '[attributes.sex]\ncolumn = "sex"\n'
SCORE = '[scores.p]\ncolumn = "p"\nkind = "probability"\n'


def visits(rows=40, **columns):
    table = pd.DataFrame(
        {
            "y": [0, 1] * (rows // 2),
            "race": ["a", "b"] * (rows // 2),
            "sex": ["f", "f", "m", "m"] * (rows // 4),
            "p": [i / rows for i in range(rows)],
        }
    )
    return table.assign(**columns)


@pytest.fixture
def check(tmp_path, capsys):
    """Return a function that checks a cohort and gives back its faults and what was printed beside them."""

    def run(text, table, code=WRONG):
        path = write_pair(tmp_path, table, text)
        assert main(["check", str(path)]) == code
        said = capsys.readouterr()
        return re.findall(r"auditbook: cohort\.toml: (.*)", said.err), said.out

    return run


def test_faults_of_the_file_and_of_the_data_are_told_together(check):
    text = OUTCOME + RACE + 'referense = "a"\n' + SEX + SCORE + "[protocol]\nresamples = 0\n"
    faults, _ = check(text, visits(sex=["f", None] * 20, p=2.0))
    assert [re.match(r"\[[^]]*\] ?\w*", fault).group() for fault in faults] == [
        "[attributes.race] referense",
        "[protocol] resamples",
        "[attributes.sex] column",
        "[scores.p] column",
    ]


def test_a_part_with_a_fault_is_not_held_against_the_data(check):
    text = OUTCOME + RACE + SEX + '[attributes.age]\ncolumn = "p"\nbins = [3, 2]\n'
    faults, _ = check(text, visits())
    assert len(faults) == 1
    assert "[attributes.age] bins: [3, 2] are not" in faults[0]


def test_the_rest_is_told_where_the_outcome_has_a_fault(check):
    text = '[outcome]\ncolumn = "y"\n' + RACE + SCORE + '[features]\nexclude = ["q"]\n'
    faults, _ = check(text, visits(p=2.0, race=["a", None] * 20))
    assert [fault.split(":")[0] for fault in faults] == [
        "[outcome] event",
        "[features] exclude",
        "[attributes.race] column",
        "[scores.p] column",
    ]


def test_only_columns_are_looked_up_where_nobody_knows_what_is_missing(check):
    text = OUTCOME + RACE + '[attributes.age]\ncolumn = "agee"\n[missing]\nattributes = "eror"\n'
    faults, _ = check(text, visits(race=["a", None] * 20))
    assert [fault.split(":")[0] for fault in faults] == ["[missing] attributes", "[attributes.age] column"]


def test_a_cross_of_an_attribute_with_a_fault_adds_none(check):
    text = OUTCOME + RACE + "bins = 3\n" + SEX + '[attributes.both]\ncross = ["race", "sex"]\n'
    faults, _ = check(text, visits())
    assert len(faults) == 1


def test_no_data_are_asked_for_where_the_file_does_not_say_where_they_are(tmp_path, capsys):
    path = tmp_path / "cohort.toml"
    path.write_text(f'name = "c"\n[data]\npaht = "d.csv"\n{OUTCOME}{RACE}', encoding="utf-8")
    assert main(["check", str(path)]) == WRONG
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "[data] paht: unknown key (did you mean 'path'?)" in said[0]
    assert "[data]: needs one of path (a table), connection (a database) and synthetic" in said[1]


def test_missing_data_are_told_beside_faults_of_the_file(tmp_path, capsys):
    path = write_pair(tmp_path, visits(), OUTCOME + RACE + 'referense = "a"\n')
    (tmp_path / "data.csv").unlink()
    assert main(["check", str(path)]) == WRONG
    said = capsys.readouterr().err
    assert "referense" in said
    assert "data.csv does not exist" in said


def test_cautions_are_told_beside_faults(check):
    text = OUTCOME + RACE + SEX + SCORE + "threshhold = 0.5\n[panel]\nmodels = []\n"
    faults, out = check(text, visits(sex=["f", *["m"] * 39]))
    assert len(faults) == 1
    assert "warning: [attributes.sex]: too few records" in out
    assert "no fault found" not in out


def test_a_sound_cohort_has_no_fault_and_its_summary_comes_before_the_warnings(check):
    faults, out = check(OUTCOME + RACE + SCORE, visits(), code=0)
    assert faults == []
    assert out.index("no fault found") < out.index("warning:")


def test_an_unknown_model_is_told_beside_faults_of_the_data(check):
    text = OUTCOME + RACE + '[panel]\nmodels = ["xgbost"]\n'
    faults, _ = check(text, visits(race=["a", None] * 20))
    assert "xgbost" in faults[0]
    assert "'race' is missing in 20 of 40 records" in faults[1]
