"""Units of several columns, and attributes that change within a unit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.cohort.units import name_units
from auditbook.errors import InputError
from cohorts import write_pair

OUTCOME = '[outcome]\ncolumn = "y"\nevent = 1\n'
RACE = '[attributes.race]\ncolumn = "race"\n'
PATIENT = '[unit]\ncolumn = "patient"\n'
DATE = '[time]\ncolumn = "date"\n'

# Patient 1 is B first, then A twice; 2 is always B; 3 has no group first, then A; 4 is A and B on one day
VISITS = pd.DataFrame(
    {
        "patient": [1, 1, 1, 2, 2, 3, 3, 4, 4],
        "date": pd.to_datetime([f"2024-01-0{day}" for day in (1, 2, 3, 1, 2, 1, 2, 5, 5)]),
        "race": ["B", "A", "A", "B", "B", None, "A", "B", "A"],
        "y": [0, 1, 0, 1, 0, 1, 0, 1, 0],
        "x": range(9),
    }
)


def load(folder, table, text, suffix=".parquet"):
    path = write_pair(folder, table, text, suffix=suffix)
    return load_cohort(read_cohort_file(path), cache_dir=folder)


def told(folder, table, text):
    with pytest.raises(InputError) as caught:
        load(folder, table, text)
    return "\n".join(caught.value.faults)


def race_of(cohort):
    """Return the group of each patient, by number; every patient has one."""
    names = [cohort.attributes[0].groups[code] for code in cohort.attributes[0].codes]
    found = pd.DataFrame({"unit": cohort.unit, "race": names}).groupby("unit")["race"]
    assert found.nunique().eq(1).all()
    return "".join(found.first())


@pytest.mark.parametrize("rule", ["first", "last", "most frequent"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_unit_gets_one_group_by_the_rule(tmp_path, rule, suffix):
    rows = VISITS.sample(frac=1, random_state=3)
    cohort = load(tmp_path, rows, OUTCOME + PATIENT + DATE + RACE + f'within_unit = "{rule}"\n', suffix)
    assert race_of(cohort) == {"first": "BBAA", "last": "ABAA", "most frequent": "ABAA"}[rule]
    changed = {"first": 4, "last": 3, "most frequent": 3}[rule]
    assert (cohort.settled[0].units, cohort.settled[0].records) == (2, changed)


def test_check_says_how_many_units_and_records_a_rule_changed(tmp_path):
    cohort = load(tmp_path, VISITS, OUTCOME + PATIENT + DATE + RACE + 'within_unit = "most frequent"\n')
    assert "race: 2 units held more than one group; the most frequent group of a unit" in cohort.summary()
    assert "(3 records changed)" in cohort.summary()
    one = VISITS[VISITS["patient"] != 4]
    cohort = load(tmp_path, one, OUTCOME + PATIENT + DATE + RACE + 'within_unit = "last"\n')
    assert "1 unit held more than one group; the last group in time of a unit stands" in cohort.summary()


def test_records_without_a_date_count_only_where_no_other_has_one(tmp_path):
    table = VISITS.assign(date=VISITS["date"].where(VISITS.index != 0))
    cohort = load(tmp_path, table, OUTCOME + PATIENT + DATE + RACE + 'within_unit = "first"\n')
    assert race_of(cohort) == "ABAA"
    table = VISITS.assign(date=VISITS["date"].where(VISITS["patient"] != 2))
    cohort = load(tmp_path, table, OUTCOME + PATIENT + DATE + RACE + 'within_unit = "first"\n')
    assert race_of(cohort) == "BBAA"


def test_a_patient_without_any_group_stays_without(tmp_path):
    table = VISITS.assign(race=list("BBBAAAABA")).assign(race=lambda t: t["race"].where(t["patient"] != 2))
    rule = 'within_unit = "most frequent"\nmissing = "drop"\n'
    cohort = load(tmp_path, table, OUTCOME + PATIENT + RACE + rule)
    assert set(cohort.unit) == {"1", "3", "4"}
    assert [(part.reason, part.rows) for part in cohort.left_out] == [("race missing", 2)]


def test_time_can_be_a_number_and_is_no_feature(tmp_path):
    table = VISITS.assign(date=[1.5, 2, 3, 1, 2, 1, 2, 5, 5])
    cohort = load(tmp_path, table, OUTCOME + PATIENT + DATE + RACE + 'within_unit = "first"\n')
    assert race_of(cohort) == "BBAA"
    assert "date" not in cohort.feature_columns


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            OUTCOME + RACE + 'within_unit = "last"\n',
            "within_unit: there is no [unit]; name the column of the",
        ),
        (OUTCOME + PATIENT + RACE + 'within_unit = "last"\n', '"last" needs to know when a record was made'),
        (
            OUTCOME + PATIENT + RACE + 'within_unit = "latest"\n',
            "'latest' is not allowed (did you mean 'last'",
        ),
        (
            OUTCOME + PATIENT + '[time]\ncolumn = "dated"\n' + RACE,
            "has no column 'dated' (did you mean 'date'",
        ),
        (OUTCOME + PATIENT + '[time]\ncolumn = "y"\n' + RACE, "'y' is the outcome; a column cannot be both"),
        (
            OUTCOME + '[unit]\ncolumn = "x"\ncolumns = ["x", "patient"]\n' + RACE,
            "[unit]: has both column and",
        ),
        (OUTCOME + '[unit]\ncolumns = ["x"]\n' + RACE, "[unit] columns: ['x'] are not several columns; name"),
        (OUTCOME + '[unit]\ncolumns = ["x", "x"]\n' + RACE, "name two or more that differ"),
        (
            OUTCOME + '[unit]\ncolumns = ["x", "pationt"]\n' + RACE,
            "[unit] columns: data.parquet has no column",
        ),
        (OUTCOME + '[unit]\ncolumns = ["x", "y"]\n' + RACE, "[unit] columns: 'y' is the outcome"),
        (
            OUTCOME + '[unit]\ncolumns = ["x", "race"]\n',
            "[unit] columns: 'race' is missing in 1 of 9 records",
        ),
    ],
)
def test_what_is_wrong_with_units_and_time_is_told(tmp_path, text, fault):
    text = text if "attributes" in text else text + '[attributes.patient]\ncolumn = "patient"\n'
    assert fault in told(tmp_path, VISITS, text)


def test_a_time_that_nobody_can_order_is_a_fault_told_once(tmp_path):
    table = VISITS.assign(date=["01/02/2024", *["2024-01-02"] * 8], sex=list("ababababa"))
    sex = '[attributes.sex]\ncolumn = "sex"\nwithin_unit = "last"\n'
    found = told(tmp_path, table, OUTCOME + PATIENT + DATE + RACE + 'within_unit = "first"\n' + sex)
    assert found.count("is neither a date such as 2024-01-31 nor a number in 1 row ('01/02/2024' (1))") == 1


def test_several_columns_make_one_unit(tmp_path):
    table = pd.DataFrame(
        {"h": ["a", "a", "b", "b"] * 5, "n": [1, 2, 1, 2] * 5, "y": [0, 1] * 10, "race": list("cd") * 10}
    )
    cohort = load(tmp_path, table, OUTCOME + '[unit]\ncolumns = ["h", "n"]\n[site]\ncolumn = "h"\n' + RACE)
    assert sorted(set(cohort.unit)) == ["a | 1", "a | 2", "b | 1", "b | 2"]
    assert cohort.feature_columns == ("h", "race")
    assert cohort.file.describe()["unit"] == "h + n"


@pytest.mark.parametrize("rest", ["", '[time]\ncolumn = "x"\n'])
def test_a_site_that_is_joined_is_one_part_of_a_unit(tmp_path, rest):
    table = pd.DataFrame(
        {
            "h": ["01", "1", "2", "2"] * 5,
            "n": [1, 1, 1, 2] * 5,
            "x": range(20),
            "y": [0, 1] * 10,
            "race": list("cdcd") * 5,
        }
    )
    unit = '[unit]\ncolumns = ["h", "n"]\n' + rest
    text = OUTCOME + unit + '[site]\ncolumn = "h"\ngroups = { "01" = "1" }\n' + RACE
    cohort = load(tmp_path, table, text + f'within_unit = "{"last" if rest else "most frequent"}"\n')
    assert sorted(set(cohort.unit)) == ["1 | 1", "2 | 1", "2 | 2"]
    assert (cohort.settled[0].units, cohort.settled[0].records) == (1, 5)


def test_a_site_that_is_joined_is_one_cluster_of_a_survey(tmp_path):
    table = pd.DataFrame(
        {"h": ["01", "1", "2", "3"] * 5, "w": [1.5] * 20, "y": [0, 1] * 10, "race": list("cd") * 10}
    )
    weight = '[weight]\ncolumn = "w"\ncluster = "h"\n[site]\ncolumn = "h"\ngroups = { "01" = "1" }\n'
    assert len(set(load(tmp_path, table, OUTCOME + weight + RACE).survey.cluster)) == 3


PARTS = st.lists(st.text(alphabet="a| \\é", min_size=1, max_size=4), min_size=2, max_size=2)


@given(rows=st.lists(PARTS, min_size=2, max_size=20))
def test_two_units_never_have_one_name(rows):
    frame = pd.DataFrame(rows, columns=["one", "other"])
    names = name_units(frame, ["one", "other"])
    there = np.array([name is not None for name in names])
    pairs = frame[there].drop_duplicates()
    assert len(set(names[there])) == len(pairs)
