"""What new records are told: who each is, in which pocket, and only what was found for people like it."""

import json

import numpy as np
import pandas as pd

from auditbook.cohort import describe_cells, find_new_groups, read_cohort_file, recode_new
from auditbook.pockets import Contrast
from auditbook.run.assign_tables import count_by_model, find_unknown, keep_identifiers, keep_own, list_groups

COHORT = """
name = "stays"
[data]
path = "stays.csv"
[outcome]
column = "y"
event = 1
[site]
column = "ward"
[unit]
columns = ["hospital", "person"]
[attributes.race]
column = "race_code"
groups = { "1" = "White", "2" = "Black" }
[attributes.age]
column = "years"
bins = [0, 65]
labels = ["young", "old"]
numbers = { "> 89" = 90 }
[attributes.race_age]
cross = ["race", "age"]
[missing]
attributes = "group"
values = ["?"]
"""


def describe(folder):
    (folder / "c.toml").write_text(COHORT, encoding="utf-8")
    return read_cohort_file(folder / "c.toml").describe()


def contrast(attribute, focal, reference):
    return Contrast(attribute, focal, reference, 0, 1).name


def test_new_records_are_grouped_as_the_cohort_was(tmp_path):
    table = pd.DataFrame(
        {"race_code": ["1", "2", "?", None, "7"], "years": ["> 89", "30", "64.9", "65", "unknown"]}
    )
    found = find_new_groups(describe(tmp_path)["groupings"], table)
    assert found["race"].tolist() == ["White", "Black", "(missing)", "(missing)", "7"]
    assert found["age"].tolist() == ["old", "young", "young", "old", "(missing)"]
    assert found["race_age"].tolist() == ["White, old", "Black, young", *["(missing)"] * 3]


def test_groups_of_absent_columns_are_unknown(tmp_path):
    found = find_new_groups(describe(tmp_path)["groupings"], pd.DataFrame({"years": [20.0, 90.0]}))
    assert list(found) == ["age"]
    assert found["age"].tolist() == ["young", "old"]


def test_cells_of_new_records_are_read_as_the_cohorts_were(tmp_path):
    more = COHORT + "columns = { glucose = [999], ward_kind = [] }\n[features]\n"
    (tmp_path / "c.toml").write_text(more + 'numbers.glucose = { "<2" = 1 }\n', encoding="utf-8")
    cells = json.loads(json.dumps(describe_cells(read_cohort_file(tmp_path / "c.toml"))))
    table = pd.DataFrame(
        {"glucose": ["<2", "999", "1,250.5"], "ward_kind": ["?", "01", "02"], "code": ["?", "01", "02"]}
    )
    new = recode_new(cells, table, texts={"ward_kind", "code"})
    np.testing.assert_array_equal(new["glucose"], [1.0, np.nan, 1250.5])
    assert new["ward_kind"].tolist() == ["?", "01", "02"]
    assert new["code"].tolist() == [None, "01", "02"]
    whole = recode_new(cells, pd.DataFrame({"glucose": [5, 999]}), texts=())
    np.testing.assert_array_equal(whole["glucose"], [5.0, np.nan])


def test_sites_units_and_nearly_distinct_columns_are_kept_exactly(tmp_path):
    number = np.arange(200)
    table = pd.DataFrame(
        {
            "person": [f"{one:05d}" for one in number // 2],
            "ward": "007",
            "visit": 9_007_199_254_740_993 + number,
            "reading": number / 7,
            "age": number % 90,
            "code": [f"c{one}" for one in number],
        }
    )
    named = describe(tmp_path)["identifiers"]
    assert named == ["ward", "hospital", "person"]
    kept = keep_identifiers(table, named, read={"reading", "age", "code"})
    assert list(kept) == ["ward", "person", "visit"]
    assert kept["ward"].tolist() == ["007"] * 200
    assert kept["person"].iloc[3] == "00001"
    assert kept["visit"].iloc[1] == "9007199254740994"


def findings(*rows):
    return pd.DataFrame(rows, columns=["record", "model", "contrast", "direction"])


def test_what_was_found_for_a_group_is_said_of_its_records_alone():
    of_groups = pd.DataFrame({"attribute": ["race"] * 3, "group": ["A", "B", "C"]})
    about = list_groups(of_groups)
    assert about[contrast("race", "B", "A")] == ("race", "B")
    told = contrast("race", "B", "A")
    found = findings(*((record, "m", text, "over") for record in (0, 1, 2) for text in ("", told)))
    groups = {"race": np.array(["A", "B", "(missing)"], dtype=object)}
    kept = keep_own(found, groups, about)
    assert kept[["record", "contrast"]].values.tolist() == [[0, ""], [1, ""], [1, told], [2, ""]]
    assert find_unknown(found, groups, about) == []


def test_where_groups_are_unknown_nothing_is_said_of_them_and_that_is_told():
    about = list_groups(pd.DataFrame({"attribute": ["sex", "sex"], "group": ["F", "M"]}))
    found = findings((0, "m", contrast("sex", "F", "M"), "over"), (0, "m", "", "over"))
    assert keep_own(found, {}, about)["contrast"].tolist() == [""]
    assert find_unknown(found, {}, about) == ["sex"]
    assert find_unknown(found[found["contrast"] == ""], {}, about) == []


def test_no_finding_is_no_row():
    none = findings()
    assert keep_own(none, {}, {}).empty
    assert count_by_model(none) == {}


def test_records_are_counted_once_a_model():
    found = findings((0, "m", "", "over"), (0, "m", "x", "over"), (1, "m", "", "over"), (1, "n", "", "under"))
    assert count_by_model(found) == {"m": 2, "n": 1}
