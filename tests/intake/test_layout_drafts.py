"""Drafts of public layouts and of six languages: ten roles, leaks, and what `check` says of them."""

from functools import cache

import pytest

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.intake import warn_cohort
from auditbook.intake.guess_roles import describe_table
from intake.draft_score import read_draft, score_draft
from intake.languages import LANGUAGES
from intake.layouts import LAYOUTS

TABLES = {**LAYOUTS, **LANGUAGES}
DECIDED_BY_PEOPLE = ("too few records", "missing in ")


@cache
def make(name):
    return TABLES[name]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("layouts")


@pytest.fixture(scope="module")
def drafted(folder):
    """Draft each table once."""
    return cache(lambda name: read_draft(folder, make(name), name))


@pytest.mark.parametrize("name", TABLES)
def test_a_draft_is_right_in_at_least_eight_of_ten_roles(folder, drafted, name):
    layout = make(name)
    right = score_draft(drafted(name), layout.truth)
    assert len(right) == 10
    assert sum(right.values()) >= 8, right


@pytest.mark.parametrize("name", TABLES)
def test_every_planted_leak_is_excluded_with_its_reason(folder, drafted, name):
    raw, truth = drafted(name), make(name).truth
    assert truth.leaks <= {*raw["features"]["exclude"]}
    text = (folder / f"{name}.toml").read_text(encoding="utf-8")
    for leak in truth.leaks:
        assert f"#     {leak}: " in text


@pytest.mark.parametrize("name", TABLES)
def test_the_first_check_of_a_draft_leaves_only_what_people_decide(folder, drafted, name):
    drafted(name)
    cohort = load_cohort(read_cohort_file(folder / f"{name}.toml"), cache_dir=folder)
    told = [caution for caution in warn_cohort(cohort) if not caution.what.startswith(DECIDED_BY_PEOPLE)]
    assert [str(caution) for caution in told if caution.where.startswith(("[features]", "[data]"))] == []


@pytest.mark.parametrize("name", ["support2", "rhc", "mimic"])
def test_names_alone_give_eight_roles_where_the_layout_is_not_known(folder, name, monkeypatch):
    monkeypatch.setattr("auditbook.intake.guess_roles.find_layout", lambda columns: None)
    layout = make(name)
    right = score_draft(read_draft(folder, layout, f"{name}-unknown"), layout.truth)
    assert sum(right.values()) >= 8, right


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*LAYOUTS} - {"nhanes"}))
def test_names_alone_give_eight_roles_in_every_layout_with_speaking_names(folder, name, monkeypatch):
    monkeypatch.setattr("auditbook.intake.guess_roles.find_layout", lambda columns: None)
    layout = make(name)
    right = score_draft(read_draft(folder, layout, f"{name}-unknown"), layout.truth)
    assert sum(right.values()) >= 8, right


TITLES = {
    "eicu": "eICU-CRD",
    "mimic": "MIMIC-IV",
    "sih": "SIH/SUS",
    "nis": "HCUP NIS",
    "sparcs": "SPARCS",
    "nhanes": "NHANES",
    "omop": "OMOP CDM",
    "support2": "SUPPORT",
    "rhc": "RHC (Connors)",
    "de": None,
}


@pytest.mark.parametrize(("name", "title"), TITLES.items())
def test_a_public_layout_is_known_by_its_columns(name, title):
    layout = describe_table(make(name).table.head(30)).layout
    assert (layout.title if layout else None) == title


def test_concept_ids_become_the_groups_that_they_stand_for(folder, drafted):
    raw = drafted("omop")
    race, sex = raw["attributes"]["race"], raw["attributes"]["sex"]
    assert race["groups"]["8516"] == "Black or African American"
    assert race["missing_values"] == [0]
    assert sex["groups"] == {"8507": "Male", "8532": "Female"}


def test_open_ends_become_numbers_and_never_missing(folder, drafted):
    eicu, sparcs = (drafted(name) for name in ("eicu", "sparcs"))
    assert eicu["attributes"]["age"]["numbers"] == {"> 89": 90}
    assert "missing_values" not in eicu["attributes"]["age"]
    assert sparcs["outcome"]["numbers"] == {"120 +": 120}


def test_codes_of_the_publisher_for_nothing_known_are_missing_in_their_column_only(folder, drafted):
    raw = drafted("nhanes")
    assert raw["missing"]["columns"]["DIQ010"] == [9]
    assert "values" not in raw["missing"]


def test_records_without_a_given_score_are_left_out_once(folder, drafted):
    drops = drafted("eicu")["data"]["drop"]
    assert [(rule["column"], rule["values"]) for rule in drops] == [("predictedicumortality", [-1, ""])]


def test_numbers_of_providers_are_never_features(folder, drafted):
    raw = drafted("en")
    text = (folder / "en.toml").read_text(encoding="utf-8")
    assert raw["site"]["column"] == "FacilityCCN"
    assert "CMS certification numbers (CCN)" in text
    assert "#     AttendingNPI: numbers of providers (NPI)" in text
