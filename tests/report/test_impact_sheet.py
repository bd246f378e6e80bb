"""Impact ratios of a run, by hand: the unknown counted, the small apart, headings by name only."""

import pandas as pd
import pytest

from auditbook.columns import fill_table
from auditbook.report.handins.impact_sheet import FIELDS, explain_impact, name_headings, tabulate_impact
from auditbook.results import Run, write_results

COUNTS = {
    # model, attribute, group: people, selected with and without the event
    ("m", "sex", "F"): (500, 60, 40),
    ("m", "sex", "M"): (485, 120, 74),
    ("m", "sex", "X"): (5, 3, 2),
    ("m", "sex", "(missing)"): (10, 1, 1),
    ("m", "race", "B"): (400, 30, 10),
    ("m", "race", "Ünïted & <W>"): (600, 120, 60),
}
ABOVE = {"F": 200, "M": 291, "X": 4, "(missing)": 5, "B": 100, "Ünïted & <W>": 400}


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path)


def make_run(folder, *, above=True, crosses=None, attributes=("sex", "race")):
    """Write the tables that impact ratios are made of, as an audit writes them."""
    keys = pd.DataFrame(list(COUNTS), columns=["model", "attribute", "group"])
    n, tp, fp = (list(column) for column in zip(*COUNTS.values(), strict=True))
    groups = fill_table("groups", keys.assign(n=n, tp=tp, fp=fp, support=""))
    tables = {"groups": groups}
    if above:
        counted = keys.assign(n=n, median=0.4, above=[ABOVE[group] for group in keys["group"]])
        tables["scoring_rates"] = fill_table("scoring_rates", counted)
    (folder / "results").mkdir()
    write_results(tables, folder / "results")
    return Run(folder, {"attributes": list(attributes), "crosses": crosses or {}})


def pick(run, rate, attribute):
    table = tabulate_impact(run, 1000).set_axis([*"mrahcpk", "value", "share", "ratio", "part"], axis=1)
    return table[(table["r"] == rate) & (table["a"] == attribute)].set_index("c")


def test_selection_rates_are_those_of_the_counts_and_ratios_are_over_the_highest(run):
    sex = pick(run, "selection", "sex")
    assert sex.loc["F", ["p", "k"]].tolist() == [500, 100]
    assert sex.loc["F", "value"] == pytest.approx(0.2)
    assert sex.loc["M", "value"] == pytest.approx(0.4)
    assert sex.loc["F", "ratio"] == pytest.approx(0.5)
    assert sex.loc["M", "ratio"] == 1
    race = pick(run, "selection", "race")
    assert race.loc["B", "ratio"] == pytest.approx(0.1 / 0.3)


def test_small_and_unknown_categories_are_listed_below_with_number_and_rate(run):
    sex = pick(run, "selection", "sex")
    assert sex.index.tolist() == ["F", "M", "X", "(missing)"]
    assert sex.loc["X", ["p", "k", "value", "share"]].tolist() == [5, 5, 1.0, 0.005]
    assert sex.loc["(missing)", ["p", "k", "value"]].tolist() == [10, 2, 0.2]
    assert sex.loc[["X", "(missing)"], "ratio"].isna().all()
    assert sex["part"].tolist()[2:] == [
        "under 2% of the data: listed, not compared",
        "category unknown: counted, not compared",
    ]


def test_scoring_rates_are_those_above_the_median(run):
    sex = pick(run, "scoring", "sex")
    assert sex.loc["F", "value"] == pytest.approx(0.4)
    assert sex.loc["F", "ratio"] == pytest.approx(0.4 / 0.6)


def test_a_run_without_scores_above_the_median_says_that_it_has_none(tmp_path):
    run = make_run(tmp_path, above=False)
    assert set(tabulate_impact(run, 1000)["rate"]) == {"selection"}
    assert any(text.startswith("Scoring rate: not provided by this audit") for text in explain_impact(run, 1))


def test_the_unknown_are_counted_in_a_sentence(run):
    assert "Of unknown sex are 10 of 1,000 audited records, listed and not compared." in explain_impact(
        run, 1000
    )


def test_withheld_numbers_of_the_unknown_are_said_to_be_withheld(run):
    groups = run.groups
    groups["n"] = groups["n"].astype(float).mask(groups["group"] == "(missing)")
    told = explain_impact(run, 1000)
    assert "How many are of unknown sex is withheld; they are not compared." in told
    assert pick(run, "selection", "sex").loc["(missing)", ["p", "value", "share", "ratio"]].isna().all()


def test_a_heading_of_the_rules_goes_by_the_name_and_says_so(run):
    assert name_headings(run) == {"sex": "sex", "race": "race/ethnicity"}
    told = " ".join(explain_impact(run, 1000))
    assert "goes by an attribute's name alone (sex: sex; race: race/ethnicity)" in told
    assert "Nothing stands under the heading sex and race/ethnicity." in told


def test_a_cross_of_sex_and_race_is_the_intersection_and_another_cross_is_not(tmp_path):
    run = make_run(tmp_path, crosses={"race_sex": ["race", "sex"], "age_sex": ["age", "sex"]})
    assert name_headings(run)["race_sex"] == "sex and race/ethnicity"
    assert "age_sex" not in name_headings(run)
    assert "Nothing stands under" not in " ".join(explain_impact(run, 1000))


@pytest.mark.parametrize("name", ["Sex", "GENDER", "Race/Ethnicity", "race_ethnicity", "Ethnicity"])
def test_names_are_known_however_they_are_written(tmp_path, name):
    assert name_headings(make_run(tmp_path, attributes=[name])).keys() == {name}


def test_names_in_another_language_are_not_guessed(tmp_path):
    run = make_run(tmp_path, attributes=["Geschlecht", "sexo", "race of the physician"])
    assert name_headings(run) == {}
    told = " ".join(explain_impact(run, 1000))
    assert "No attribute is called by a heading of the rules." in told


def test_names_of_categories_stay_as_they_are(run):
    assert "Ünïted & <W>" in tabulate_impact(run, 1000)["category"].tolist()


def test_a_table_has_the_columns_that_are_declared(run):
    assert tabulate_impact(run, 1000).columns.tolist() == [column.title for column in FIELDS]
