"""The draft of a cohort file: guesses that are marked, and text that is always valid TOML."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.intake.draft import draft_cohort
from cohorts import make_table, write_table


def draft(folder, table, suffix=".csv", name="my visits"):
    write_table(table, folder / f"{name}{suffix}")
    target = folder / "draft.toml"
    target.write_text(draft_cohort(folder / f"{name}{suffix}", target=target), encoding="utf-8")
    return target


def faults_of(path):
    try:
        read_cohort_file(path)
    except InputError as wrong:
        return wrong.faults
    return ()


def hospital_table(rows=400):
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "encounter": [f"e{i:05d}" for i in range(rows)],
            "hospital_id": rng.choice(["01", "02", "03"], rows),
            "patient_id": [f"{i // 2:05d}" for i in range(rows)],
            "Race": rng.choice(["White", "Black"], rows),
            "gender": rng.choice(["F", "M"], rows),
            "age": rng.integers(0, 95, rows),
            "insurance_type": rng.choice(["a", "b", "NA"], rows),
            "total_charges": rng.lognormal(9, 1, rows).round(),
            "risk_score": rng.random(rows),
            "died": rng.integers(0, 2, rows),
        }
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_a_draft_of_a_plain_hospital_table_runs_as_it_is(tmp_path, suffix):
    file = read_cohort_file(draft(tmp_path, hospital_table(), suffix))
    assert (file.outcome.column, file.outcome.rule.value) == ("died", 1)
    assert (file.site.column, file.unit.column) == ("hospital_id", "patient_id")
    assert {item.name: item.column for item in file.attributes} == {
        "race": "Race",
        "gender": "gender",
        "age": "age",
        "payer": "insurance_type",
    }
    assert file.attributes[2].bins == (0, 18, 40, 65)
    assert [item.column for item in file.scores] == ["risk_score"]
    assert file.panel.models == ()
    assert file.features.exclude == ("encounter",)
    assert file.features.late == ("total_charges",)
    assert file.attributes[3].missing_values == ("NA",)
    again = read_cohort_file(draft(tmp_path, hospital_table().assign(insurance_type="a"), suffix))
    cohort = load_cohort(again, cache_dir=tmp_path)
    assert len(cohort.table) == 400


def test_the_design_of_a_survey_is_drafted_by_its_usual_names(tmp_path):
    rng = np.random.default_rng(4)
    drawn = {"SDMVSTRA": rng.integers(134, 149, 400), "SDMVPSU": rng.integers(1, 3, 400)}
    table = hospital_table().assign(WTMEC2YR=rng.lognormal(9, 1, 400), **drawn)
    file = read_cohort_file(draft(tmp_path, table.drop(columns="patient_id")))
    weight = file.weight
    assert (weight.column, weight.strata, weight.cluster) == ("WTMEC2YR", "SDMVSTRA", "SDMVPSU")


@pytest.mark.parametrize("name", ["weight", "weight_kg", "body weight", "stratum", "psu"])
def test_the_weight_of_a_patient_is_no_sampling_weight(tmp_path, name):
    path = draft(tmp_path, hospital_table().assign(**{name: np.arange(400) / 4 + 40}))
    assert read_cohort_file(path).weight.column is None
    assert "# [weight]" in path.read_text(encoding="utf-8")


def test_no_bin_of_ages_is_drafted_below_the_youngest(tmp_path):
    adults = hospital_table().assign(age=np.arange(400) % 70 + 18)
    ages = next(each for each in read_cohort_file(draft(tmp_path, adults)).attributes if each.name == "age")
    assert ages.bins == (18, 40, 65)


def test_every_guess_is_marked_as_one(tmp_path):
    text = draft(tmp_path, hospital_table()).read_text(encoding="utf-8")
    table = ""
    for line in text.splitlines():
        table = line if line.startswith("[") else table
        if line.startswith(("column = ", "event = ", "bins = ", "exclude = ", "late = ")):
            assert "# guess" in line or "[scores" in table, line


def test_what_cannot_be_guessed_is_asked_for(tmp_path):
    path = draft(tmp_path, pd.DataFrame({"a": [1.5, 2.5, 9.0], "b": ["x", "y", "x"]}))
    with pytest.raises(InputError) as caught:
        read_cohort_file(path)
    told = "\n".join(caught.value.faults)
    for where in ("[outcome] column", "[outcome] event", "[attributes.group] column"):
        assert f"draft.toml: {where}" in told
    filled = path.read_text(encoding="utf-8")
    filled = filled.replace('column = ""', 'column = "a"', 1).replace('event = ""', 'event = "> 2"')
    path.write_text(filled.replace('column = ""', 'column = "b"', 1), encoding="utf-8")
    cohort = load_cohort(read_cohort_file(path), cache_dir=tmp_path)
    assert cohort.outcome.tolist() == (cohort.table["a"] > 2).tolist()
    assert cohort.outcome.sum() == 2


def test_a_score_with_blank_cells_is_drafted_and_they_are_counted(tmp_path):
    table = hospital_table()
    table.loc[:4, "risk_score"] = None
    path = draft(tmp_path, table)
    assert [item.column for item in read_cohort_file(path).scores] == ["risk_score"]
    assert "# 5 records have no such score" in path.read_text(encoding="utf-8")


def test_dates_written_as_text_are_no_features(tmp_path):
    days = {"in": "2024-03-31", "out": "31.3.2024 08:15", "born": "3/31/24", "ward": "3-1", "code": "1.2-24"}
    raw = tomllib.loads(draft(tmp_path, hospital_table().assign(**days)).read_text(encoding="utf-8"))
    assert raw["features"]["exclude"] == ["encounter", "in", "out", "born"]


def test_a_value_that_looks_like_a_comparison_is_drafted_as_a_value(tmp_path):
    table = hospital_table().drop(columns="died").assign(readmitted=["<30", ">30", "NO", "NO"] * 100)
    file = read_cohort_file(draft(tmp_path, table))
    assert (file.outcome.rule.comparison, file.outcome.rule.value) == ("==", "<30")


def test_a_draft_for_another_folder_names_the_data_from_there(tmp_path):
    write_table(hospital_table(), tmp_path / "visits.csv")
    (tmp_path / "cohorts").mkdir()
    target = tmp_path / "cohorts" / "visits.toml"
    target.write_text(draft_cohort(tmp_path / "visits.csv", target=target), encoding="utf-8")
    assert tomllib.loads(target.read_text(encoding="utf-8"))["data"]["path"] == "../visits.csv"
    assert read_cohort_file(target).data.path.is_file()


def test_a_strange_table_is_drafted_with_its_names_intact(tmp_path):
    path = draft(tmp_path, make_table(rows=300, missing=0.1), name="d'été, 2024 <b>")
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    assert raw["name"] == "d-ete-2024-b"
    assert raw["title"] == "d'été, 2024 <b>"
    assert raw["outcome"] == {"column": "outcome", "event": "Yes"}
    assert raw["attributes"]["race"] == {"column": "race", "missing": "group"}


def test_a_file_that_cannot_be_read_is_no_draft(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        draft_cohort(tmp_path / "none.csv")


_PARTS = [*"aZé0 _-.,;'\"#[]{}=\\/\t\n\x1b\x7f<>|&日🙂", "race", "died", "score", "site"]
_NAMES = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=6).map("".join).filter(str.strip)


@given(
    names=st.lists(_NAMES, min_size=2, max_size=5, unique=True),
    values=st.lists(_NAMES, min_size=2, max_size=3),
)
@example(names=["a", "aa", "score", "aaa", " score"], values=["a", "a"])
@settings(max_examples=60, deadline=None)
def test_every_draft_is_valid_toml_with_the_columns_as_they_are(tmp_path_factory, names, values):
    folder = tmp_path_factory.mktemp("draft")
    rows = [values[i % len(values)] for i in range(8)]
    table = pd.DataFrame({name: rows if i % 2 else np.arange(8) / 8 for i, name in enumerate(names)})
    raw = tomllib.loads(draft(folder, table, ".parquet", name="t").read_text(encoding="utf-8"))
    used = [raw["outcome"]["column"], *(item["column"] for item in raw["attributes"].values())]
    used += [item["column"] for item in raw.get("scores", {}).values()]
    used += raw["features"]["exclude"] + raw["features"]["late"]
    assert set(used) <= {*names, ""}


_CELLS = (
    "Yes",
    "No",
    "0",
    "1",
    "-1",
    "999",
    "> 89",
    "NA",
    "?",
    '"x"',
    "\x1b[31m",
    "a\nb",
    "1e308",
    "nan",
    "> 3",
    "\\",
)


@given(
    names=st.lists(_NAMES, min_size=1, max_size=3, unique=True),
    cells=st.lists(
        st.lists(st.sampled_from(_CELLS) | st.none(), min_size=4, max_size=12), min_size=3, max_size=3
    ),
    events=st.lists(st.sampled_from(("Yes", "No", "unknown", "> 3", None)), min_size=12, max_size=12),
    ages=st.lists(
        st.sampled_from(("30", "45", "> 89", "999", "-9", "old", "\t", "1e308")), min_size=12, max_size=12
    ),
)
@settings(max_examples=15, deadline=None)
def test_every_draft_is_read_or_asks_only_for_what_is_blank(tmp_path_factory, names, cells, events, ages):
    folder = tmp_path_factory.mktemp("hostile")
    columns = {name: (given * 12)[:12] for name, given in zip(names, cells, strict=False)}
    table = pd.DataFrame({**columns, 'died "q"': events, "Age\\": ages}, dtype=object)
    faults = faults_of(draft(folder, table, ".parquet", name="t"))
    assert [fault for fault in faults if "blank" not in fault] == []


def test_name_with_accents_and_blanks_gives_a_plain_name_and_a_command_that_runs(tmp_path):
    write_table(hospital_table(), tmp_path / "séjours 2024.csv")
    text = draft_cohort(tmp_path / "séjours 2024.csv", target=tmp_path / "séjours 2024.toml")
    assert tomllib.loads(text)["name"] == "sejours-2024"
    assert "auditbook check 'séjours 2024.toml'" in text


@pytest.mark.parametrize(
    ("names", "yes"),
    [
        (("Hôpital", "Sexe", "Âge", "Décès", "Risque prédit"), "oui"),
        (("Hôpital", "Sexe", "Âge", "Réadmission", "Probabilité prédite"), "oui"),
        (("Krankenhaus", "Geschlecht", "Alter", "Verstorben", "Risiko"), "ja"),
        (("Centro", "Sexo", "Edad", "Reingreso", "Riesgo"), "sí"),
        (("Ospedale", "Sesso", "Età", "Morte", "Rischio"), "sì"),
    ],
)
def test_roles_are_guessed_in_other_languages_and_with_accents(tmp_path, names, yes):
    site, sex, age, outcome, score = names
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            site: rng.choice(["A", "B", "C"], 400),
            sex: rng.choice(["f", "m"], 400),
            age: rng.integers(18, 95, 400),
            outcome: rng.choice([yes, "-"], 400),
            score: rng.random(400),
        }
    )
    path = tmp_path / "séjours.csv"
    table.to_csv(path, index=False)
    drafted = tomllib.loads(draft_cohort(path))
    assert drafted["site"]["column"] == site
    assert drafted["outcome"]["column"] == outcome
    assert drafted["outcome"]["event"] == yes
    assert {each["column"] for each in drafted["attributes"].values()} == {sex, age}
    assert score in str(drafted["scores"])
    assert score.lower().translate(str.maketrans("é ", "e_")) in drafted["scores"]
