"""Words for codes: looked up, and never taken for granted."""

import json

import pandas as pd

from auditbook.labels import Labels, read_labels
from auditbook.results import read_run
from runs_fixture import make_run

SAID = {
    "labels": {
        "columns": {"race": "origin"},
        "values": {"race": {"B": "Black", "W": "White"}, "race_sex": {"W, M": "white men"}},
    },
    "crosses": {"race_sex": ["race", "sex"]},
}


def test_a_crossed_group_is_named_by_the_words_of_its_parts_or_by_its_own():
    labels = read_labels(SAID, {"race": ["B", "W"], "sex": ["F", "M"]})
    assert labels.value("race_sex", "B, F") == "Black, F"
    assert labels.value("race_sex", "W, F") == "White, F"
    assert labels.value("race_sex", "W, M") == "white men"
    assert labels.value("race_sex", "(missing)") == "(missing)"
    assert read_labels(SAID).value("race_sex", "B, F") == "B, F"


def test_words_for_groups_are_read_for_attributes_and_not_for_a_column_of_that_name():
    info = {"labels": {"values": {"sexe": {"1": "men"}}, "groups": {"sex": {"1": "men"}}}}
    assert read_labels(info, {}).value("sex", "1") == "men"
    assert read_labels(info).value("sex", "1") == "1"
    crossed = read_labels(info | {"crosses": {"both": ["sex", "age"]}}, {"sex": ["1"], "age": ["old"]})
    assert crossed.value("both", "1, old") == "men, old"


def test_a_run_without_words_shows_its_names_as_they_are():
    for info in ({}, {"labels": None}, {"labels": {"columns": {}, "values": {}}}):
        assert read_labels(info) == Labels()
        assert not read_labels(info)


def test_a_run_shows_its_pockets_in_the_words_of_the_cohort_file_and_keeps_the_codes(tmp_path):
    folder = make_run(tmp_path / "run", "two_groups")
    before = read_run(folder).pockets
    features = pd.DataFrame(
        {
            "map": before["map"].iloc[0],
            "pocket": before["pocket"].iloc[0],
            "rank": [1, 2],
            "column": ["ESPEC", "age_years"],
            "code": ["01", ""],
            "how": ["mostly", "high"],
            "measure": ["share", "at the median"],
            "inside": ["97 %", "71"],
            "outside": ["12 %", "48"],
            "in_name": [True, False],
            "in_description": [True, True],
        }
    )
    features.to_csv(folder / "results" / "pocket_features.csv", index=False)
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    info["labels"] = {"columns": {"ESPEC": "specialty"}, "values": {"ESPEC": {"01": "surgery"}}}
    (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
    after = read_run(folder).pockets
    assert after["name"].iloc[0] == "mostly specialty = surgery"
    assert after["description"].iloc[0] == (
        "specialty = surgery in 97 %, 12 % among others; age years 71 at the median, 48 among others"
    )
    assert after["name"].iloc[1:].tolist() == before["name"].iloc[1:].tolist()
    assert after.drop(columns=["name", "description"]).equals(before.drop(columns=["name", "description"]))
