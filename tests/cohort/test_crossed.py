"""Crossed attributes: which groups they have, who belongs to them, and what is told when they cannot be."""

import json

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort.load import Cohort, load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.intake import warn_cohort as list_cautions
from auditbook.intake.draft import draft_cohort
from auditbook.mitigation.stages import _cross
from auditbook.pockets.prepare import map_columns
from cohorts import write_pair

RACES = ("Black", "White", "Épirote", "Māori", "Other", "Ñandé", "Zulu", "<b>A</b>", "日本")
PLAIN = """
[outcome]
column = "y"
event = 1
[attributes.race]
column = "race"
[attributes.sex]
column = "sex"
groups = { f = "Female", m = "Male" }
categories = ["Male", "Female"]
"""
CROSS = '[attributes.race_sex]\ncross = ["race", "sex"]\n'


def warn_cohort(cohort: Cohort) -> list[str]:
    """Write the cautions about a cohort."""
    return [str(caution) for caution in list_cautions(cohort)]


def nine_by_two(rows=1800, *, races=RACES, rate=0.3, blank=0.0, seed=1):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "y": (rng.random(rows) < rate).astype(int),
            "race": np.resize(np.array(races, dtype=object), rows),
            "sex": rng.choice(["f", "m"], rows),
            "x": rng.normal(size=rows),
        }
    )
    table.loc[0, "y"], table.loc[1, "y"] = 1, 0
    for name in ("race", "sex"):
        table.loc[rng.random(rows) < blank, name] = None
    return table


def load(folder, table, text=PLAIN + CROSS, **options):
    return load_cohort(read_cohort_file(write_pair(folder, table, text)), cache_dir=folder, **options)


def crossed(cohort):
    return next(item for item in cohort.attributes if item.parts)


def faults(folder, text, table=None):
    with pytest.raises(InputError) as caught:
        load(folder, nine_by_two() if table is None else table, text)
    return caught.value.faults


def fault(folder, text, table=None):
    found = faults(folder, text, table)
    assert len(found) == 1, found
    return found[0]


def test_groups_stand_in_the_order_of_the_key_and_of_the_parts(tmp_path):
    both = crossed(load(tmp_path, nine_by_two()))
    races = load(tmp_path, nine_by_two()).attributes[0].groups
    assert both.groups == tuple(f"{race}, {sex}" for race in races for sex in ("Male", "Female"))
    assert both.parts[1] == (races[0], "Female")
    turned = crossed(load(tmp_path, nine_by_two(), PLAIN + CROSS.replace('"race", "sex"', '"sex", "race"')))
    assert turned.groups[:2] == (f"Male, {races[0]}", f"Male, {races[1]}")


def test_every_record_stands_in_the_crossing_of_its_groups(tmp_path):
    cohort = load(tmp_path, nine_by_two())
    both = crossed(cohort)
    sex = cohort.table["sex"].map({"f": "Female", "m": "Male"})
    assert [both.groups[code] for code in both.codes] == list(cohort.table["race"] + ", " + sex)


def test_a_cross_may_stand_before_its_parts_and_take_three(tmp_path):
    text = CROSS.replace('"sex"]', '"sex", "x"]') + PLAIN + '[attributes.x]\ncolumn = "x"\nbins = [-9, 0]\n'
    both = load(tmp_path, nine_by_two(), text).attributes[0]
    assert both.name == "race_sex"
    assert both.groups[0].count(", ") == 2


def test_only_crossings_that_occur_are_groups(tmp_path):
    table = nine_by_two(races=("a", "b"))
    table = table[(table["race"] == "a") | (table["sex"] == "f")]
    both = crossed(load(tmp_path, table))
    assert both.groups == ("a, Male", "a, Female", "b, Female")


def test_records_that_lack_a_part_form_one_group_where_the_parts_keep_them(tmp_path):
    table = nine_by_two(blank=0.1)
    cohort = load(tmp_path, table, PLAIN + CROSS + '[missing]\nattributes = "group"\n')
    both = crossed(cohort)
    lacking = int(table[["race", "sex"]].isna().any(axis=1).sum())
    assert both.groups[-1] == "(missing)"
    assert both.parts[-1] == ("(missing)", "(missing)")
    assert (both.codes == len(both.groups) - 1).sum() == lacking
    assert not any("(missing)" in name for name in both.groups[:-1])


def test_records_that_lack_a_part_are_left_out_and_counted_where_the_cross_says_so(tmp_path):
    table = nine_by_two(blank=0.1)
    text = PLAIN + CROSS + 'missing = "drop"\n[missing]\nattributes = "group"\n'
    cohort = load(tmp_path, table, text)
    lacking = int(table[["race", "sex"]].isna().any(axis=1).sum())
    assert {part.reason: part.rows for part in cohort.left_out}["race_sex missing"] == lacking
    assert len(cohort.table) == len(table) - lacking


def test_records_dropped_for_a_part_are_not_counted_again(tmp_path):
    table = nine_by_two(blank=0.1)
    text = PLAIN + CROSS + 'missing = "drop"\n[missing]\nattributes = "drop"\n'
    left_out = {part.reason: part.rows for part in load(tmp_path, table, text).left_out}
    assert "race_sex missing" not in left_out
    assert sum(left_out.values()) == table[["race", "sex"]].isna().any(axis=1).sum()


def test_a_cross_that_refuses_missing_parts_says_how_many(tmp_path):
    text = PLAIN + CROSS + 'missing = "error"\n[missing]\nattributes = "group"\n'
    table = nine_by_two()
    table.loc[:2, "race"] = None
    told = fault(tmp_path, text, table)
    assert "[attributes.race_sex] missing: 3 records lack a group in race or sex" in told


def test_a_drawn_cohort_keeps_the_parts(tmp_path):
    both = crossed(load(tmp_path, nine_by_two(), max_rows=300))
    assert len(both.codes) == 300
    assert len(both.parts) == len(both.groups) == 18


@pytest.mark.parametrize(
    ("cross", "told"),
    [
        ('["race", "sexe"]', "[attributes.both] cross: 'sexe' is no attribute (did you mean 'sex'?)"),
        ('["race", "both"]', "[attributes.both] cross: names the attribute itself"),
        ('["race", "other"]', "[attributes.both] cross: 'other' is a cross itself"),
        ('["race"]', "[attributes.both] cross: names one attribute; it takes two or more"),
        ("[]", "[attributes.both] cross: names no attribute; it takes two or more"),
        ('["race", "race"]', "[attributes.both] cross: names 'race' twice"),
        ('"race"', "[attributes.both] cross: must be a list of texts"),
    ],
)
def test_a_faulty_cross_gets_one_clear_message(tmp_path, cross, told):
    other = '[attributes.other]\ncross = ["sex", "race"]\n'
    assert told in fault(tmp_path, PLAIN + other + f"[attributes.both]\ncross = {cross}\n")


@pytest.mark.parametrize(
    "line", ['column = "race"', 'groups = { a = "b" }', 'categories = ["a"]', 'missing_values = ["?"]']
)
def test_keys_of_a_column_have_no_place_beside_a_cross(tmp_path, line):
    key = line.split(" ")[0]
    assert f"[attributes.race_sex] {key}: given together with cross" in fault(tmp_path, PLAIN + CROSS + line)


def test_an_attribute_without_column_and_cross_is_a_fault(tmp_path):
    assert "[attributes.age]: the key 'column' is missing" in fault(tmp_path, PLAIN + "[attributes.age]\n")


def test_two_crossings_of_one_name_are_a_fault(tmp_path):
    table = nine_by_two(races=("a", "a, b"))
    table["sex"] = np.where(table["race"] == "a", "b, c", "c")
    text = PLAIN.replace('groups = { f = "Female", m = "Male" }\ncategories = ["Male", "Female"]\n', "")
    told = fault(tmp_path, text + CROSS, table)
    assert "two groups would both be called 'a, b, c'" in told


def test_a_comma_in_a_name_does_no_harm_where_names_stay_apart(tmp_path):
    both = crossed(load(tmp_path, nine_by_two(races=("Ærø, nord", "b"))))
    assert "Ærø, nord, Female" in both.groups


def test_a_cross_that_leaves_one_group_is_a_fault(tmp_path):
    table = nine_by_two(races=("a", "b"))
    table.loc[::2, "race"] = None
    table.loc[1::2, "sex"] = None
    text = PLAIN.replace('categories = ["Male", "Female"]\n', "") + '[missing]\nattributes = "group"\n'
    table.loc[1, ["race", "sex"]] = ["a", None]
    found = faults(tmp_path, text + CROSS, table)
    assert any("the cross of race and sex holds no group with records" in told for told in found)


def test_too_many_crossings_are_a_fault(tmp_path):
    told = fault(tmp_path, PLAIN + CROSS + "[protocol]\nmax_groups = 10\n")
    assert "[attributes.race_sex]: the cross of race and sex makes 18 groups" in told
    assert "join groups of the attributes that it crosses" in told


def test_a_reference_may_be_a_crossing(tmp_path):
    text = PLAIN + CROSS + 'reference = "White, Male"\n'
    assert crossed(load(tmp_path, nine_by_two(), text)).reference == "White, Male"
    wrong = fault(tmp_path, text.replace("White, Male", "White, male"))
    assert "is none of the groups (did you mean 'White, Male'?)" in wrong


def test_a_faulty_part_is_told_once(tmp_path):
    told = fault(tmp_path, PLAIN.replace('column = "race"', 'column = "rase"') + CROSS)
    assert "no column 'rase'" in told


def test_the_check_says_how_many_crossings_there_are_and_how_many_are_too_small(tmp_path):
    cohort = load(tmp_path, nine_by_two(rate=0.003))
    assert "race_sex: 18 groups: " in cohort.summary()
    told = [text for text in warn_cohort(cohort) if text.startswith("[attributes.race_sex]")]
    assert len(told) == 1
    assert "of 18 groups 18 hold too few records" in told[0]
    assert told[0].count("needed") == 3


def test_a_crossing_is_no_feature_and_bars_its_parts_from_the_maps(tmp_path):
    cohort = load(tmp_path, nine_by_two(), PLAIN + CROSS + '[pockets]\nattributes = ["race_sex"]\n')
    assert set(cohort.feature_columns) == {"race", "sex", "x"}
    assert map_columns(cohort, cohort.file.pockets) == ("x",)
    assert cohort.file.describe()["crosses"] == {"race_sex": ["race", "sex"]}


def test_mitigation_crosses_no_cross_unless_it_is_told_to(tmp_path):
    cohort = load(tmp_path, nine_by_two(), CROSS + PLAIN)
    assert len(_cross(cohort).names) == 18


def test_a_draft_suggests_a_cross(tmp_path):
    path = tmp_path / "table.csv"
    nine_by_two().rename(columns={"y": "died"}).to_csv(path, index=False)
    text = draft_cohort(path)
    assert '# [attributes.race_sex]\n# cross = ["race", "sex"]' in text


def test_the_keys_are_declared(tmp_path):
    from auditbook.cohort.keys import make_schema

    attribute = make_schema()["$defs"]["AttributeTable"]
    assert "cross" in attribute["properties"]
    assert "column" not in json.dumps(attribute.get("required", []))
