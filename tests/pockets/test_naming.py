"""Names of pockets: in words, from features of discovery records alone, with a check of how well they fit."""

import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from auditbook.labels import LONGEST, Labels, read_words, relabel_pockets
from auditbook.pockets.audit import tabulate_features
from auditbook.pockets.encoding import fit_encoding
from auditbook.pockets.frozen import Assignment, FrozenMap
from auditbook.pockets.naming import list_features, measure_differences, name_pockets


class Listed:
    """A rule that reads pockets from the column "pocket"."""

    def __init__(self, n_pockets):
        self.n_pockets = n_pockets

    def assign(self, table):
        codes = table["pocket"].to_numpy(np.int32)
        return Assignment(codes, np.ones(len(codes)), np.ones(len(codes)))

    def arrays(self):
        return {}


def make_map(n_pockets):
    names = tuple(f"F{place + 1}" for place in range(n_pockets))
    return FrozenMap("forest", Listed(n_pockets), names, np.ones(n_pockets, int), np.zeros(n_pockets))


def name(table, codes, n_pockets=None, **options):
    """Name pockets by features alone: the column "pocket" serves the rule, not the names."""
    codes = np.asarray(codes)
    count = n_pockets or codes.max() + 1
    return name_pockets(make_map(count), table, codes, **options)


def stays(n=3_000, seed=1):
    """Three kinds of stay: old; ventilated with a blood gas; from the ward."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "age_years": rng.normal(55, 8, n) + 25 * (codes == 0),
            "ventilated": (rng.random(n) < np.where(codes == 1, 0.9, 0.05)).astype(int),
            "arterial_ph": np.where(rng.random(n) < 0.1 + 0.8 * (codes == 1), rng.normal(7, 0.1, n), np.nan),
            "admit_source": np.where(rng.random(n) < np.where(codes == 2, 0.95, 0.1), "Ward", "Home"),
            "noise": rng.normal(size=n),
            "same": 1,
        }
    )  # fmt: skip
    return table, codes


def test_names_are_the_largest_differences_in_words():
    table, codes = stays()
    named = name(table, codes)
    assert named.titles[0].startswith("high age years")
    assert "mostly ventilated" in named.titles[1]
    assert named.titles[2].startswith("mostly admit source = Ward")
    assert all("noise" not in title and "same" not in title for title in named.titles)


def test_descriptions_hold_figures_of_members_and_others():
    table, codes = stays()
    described = name(table, codes).descriptions
    inside = table.loc[codes == 0, "age_years"].median()
    outside = table.loc[codes != 0, "age_years"].median()
    assert f"age years {inside:.3g} at the median, {outside:.3g} among others" in described[0]
    share = [table.loc[side, "ventilated"].mean() for side in (codes == 1, codes != 1)]
    assert f"ventilated in {100 * share[0]:.0f} %, {100 * share[1]:.0f} % among others" in described[1]


def test_numbers_that_few_members_have_are_not_compared():
    values = np.where(np.arange(200) % 10 < 9, np.nan, 500.0)
    table = pd.DataFrame({"rare": np.r_[values, np.arange(200.0)], "age": np.arange(400.0)})
    named = name(table, np.repeat([0, 1], 200))
    assert named.titles[0] == "low age"
    assert "rare not recorded in 90 %, 0 % among others" in named.descriptions[0]


def test_columns_that_are_missing_together_are_named_once():
    rng = np.random.default_rng(4)
    codes = np.repeat([0, 1], 500)
    gone = rng.random(1_000) < np.where(codes == 0, 0.95, 0.2)
    table = pd.DataFrame(
        {key: np.where(gone, np.nan, rng.normal(size=1_000)) for key in ("ph", "po2", "pco2")}
    )
    assert name(table, codes).descriptions[0].count("not recorded") == 1


def test_equal_medians_give_way_to_means():
    few, many = [0] * 60 + [1] * 40, [0] * 55 + [5] * 45
    named = name(pd.DataFrame({"tests": few + many}), np.repeat([0, 1], 100))
    assert named.descriptions == (
        "tests 0.4 on average, 2.25 among others",
        "tests 2.25 on average, 0.4 among others",
    )


def test_missing_values_make_a_name():
    rng = np.random.default_rng(1)
    codes = np.repeat([0, 1], 500)
    lactate = np.where(rng.random(1_000) < np.where(codes == 0, 0.9, 0.2), np.nan, rng.normal(size=1_000))
    named = name(pd.DataFrame({"d1_lactate_max": lactate}), codes)
    assert named.titles == ("d1 lactate max mostly not recorded", "d1 lactate max mostly recorded")
    assert "d1 lactate max not recorded in" in named.descriptions[0]


def test_fidelity_is_that_of_the_rule_on_calibration_records():
    """By hand: the rule is "x = 1"; 3 of the 4 calibration members have it, and 1 of the 4 others."""
    table = pd.DataFrame({"x": [1] * 50 + [0] * 50})
    calibration = pd.DataFrame({"x": [1, 1, 1, 0, 0, 0, 0, 1], "pocket": [0, 0, 0, 0, 1, 1, -1, 1]})
    named = name(table, np.repeat([0, 1], 50), calibration=calibration)
    assert named.titles == ("mostly x", "hardly any x")
    np.testing.assert_allclose(named.fidelity, [[3 / 4, 3 / 4], [2 / 3, 2 / 4]])


def test_fidelity_without_records_is_nan():
    table = pd.DataFrame({"x": [1] * 50 + [0] * 50})
    calibration = pd.DataFrame({"x": [0, 0], "pocket": [1, 1]})
    named = name(table, np.repeat([0, 1], 50), calibration=calibration)
    assert np.isnan(named.fidelity[0]).all()
    assert named.fidelity[1].tolist() == [1.0, 1.0]


def test_conditions_join_when_they_fit_together_better():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"old": rng.integers(0, 2, 2_000), "ill": rng.integers(0, 2, 2_000)})
    codes = (table["old"] & table["ill"]).to_numpy()
    named = name(table, codes)
    assert named.titles[1] in ("mostly old, mostly ill", "mostly ill, mostly old")
    assert named.fidelity[1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("column", "high", "low"),
    [
        (pd.Series(range(100)) * 1_000.0, "high", "low"),
        (pd.Series(pd.date_range("2024-01-01", periods=100)), "late", "early"),
    ],
)
def test_numbers_and_dates_have_their_own_words(column, high, low):
    named = name(pd.DataFrame({"x": column}), np.repeat([0, 1], 50))
    assert named.titles == (f"{low} x", f"{high} x")
    assert named.fidelity.min() > 0.9


def test_dates_are_written_as_dates():
    named = name(pd.DataFrame({"seen": pd.date_range("2024-01-01", periods=100)}), np.repeat([0, 1], 50))
    assert named.descriptions[0] == "seen 2024-01-25 at the median, 2024-03-15 among others"


def test_a_map_of_one_pocket_is_all_records():
    named = name(pd.DataFrame({"x": [1.0, 2.0, 3.0]}), [0, 0, 0])
    assert (named.titles, named.descriptions) == (("all records",), ("",))
    assert named.fidelity.tolist() == [[1.0, 1.0]]


def test_a_pocket_like_the_others_or_without_members_says_so():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=4_000)})
    named = name(table, rng.integers(0, 2, 4_000), n_pockets=3)
    assert named.titles == ("much like the others", "much like the others", "without members")
    assert np.isnan(named.fidelity[2, 0])


@pytest.mark.parametrize("table", [pd.DataFrame(index=range(4)), pd.DataFrame({"x": [1, 1, 1, 1]})])
def test_nothing_to_compare_is_no_fault(table):
    assert name(table, [0, 0, 1, 1]).titles == ("much like the others",) * 2


def test_records_of_no_pocket_count_among_the_others():
    table = pd.DataFrame({"x": np.r_[np.zeros(50), np.ones(50)] + np.arange(100) / 1_000})
    assert name(table, np.repeat([0, -1], 50), n_pockets=1).titles == ("low x",)


def test_long_names_are_cut_and_markup_stays_data():
    column, level = "<b>x</b>_" + "very_long_" * 20, "<script>alert(1)</script>\n=1+1" + "y" * 90
    table = pd.DataFrame({column: [level] * 50 + ["other"] * 50})
    title = name(table, np.repeat([0, 1], 50)).titles[0]
    assert title.startswith("mostly <b>x</b> very long")
    assert "\n" not in title
    assert len(title) <= 2 * LONGEST + 20


def test_given_words_replace_column_names():
    table = pd.DataFrame({"d1_bun_max": np.arange(100.0)})
    named = name(table, np.repeat([0, 1], 50))
    shown = relabel(named, Labels({"d1_bun_max": "blood_urea"}))
    assert shown["name"].tolist() == ["low blood urea", "high blood urea"]
    assert shown["description"].tolist() == [
        "blood urea 24.5 at the median, 74.5 among others",
        "blood urea 74.5 at the median, 24.5 among others",
    ]


def relabel(named, labels):
    pockets = pd.DataFrame(
        {"map": named.name, "pocket": named.pockets, "name": named.titles, "description": named.descriptions}
    )
    return relabel_pockets(pockets, tabulate_features(named), labels)


def test_given_words_replace_levels_and_leave_the_rest_as_it_was():
    table = pd.DataFrame(
        {"ESPEC": ["01"] * 50 + ["03"] * 50, "age": np.r_[np.arange(50.0), np.arange(10, 60)]}
    )
    table.loc[:39, "lactate"] = 1.0
    named = name(table, np.repeat([0, 1], 50))
    shown = relabel(named, Labels({"ESPEC": "specialty"}, {"ESPEC": {"01": "surgery", "x": "y"}}))
    for before, after in ((named.titles, shown["name"]), (named.descriptions, shown["description"])):
        told = [text.replace("ESPEC = 01", "specialty = surgery") for text in before]
        assert after.tolist() == [text.replace("ESPEC", "specialty") for text in told]
        assert "surgery" in after[0]


def test_without_words_the_features_give_the_name_and_description_that_the_map_has():
    table, codes = stays(400)
    named = name(table, codes)
    shown = relabel(named, Labels())
    assert tuple(shown["name"]) == named.titles
    assert tuple(shown["description"]) == named.descriptions
    assert all(named.titles)


def test_a_pocket_that_is_like_the_others_keeps_its_name_under_any_words():
    shown = relabel(name(pd.DataFrame({"x": [1, 1, 1, 1]}), [0, 0, 1, 1]), Labels({"x": "y"}))
    assert shown["name"].tolist() == ["much like the others"] * 2


@pytest.mark.parametrize(
    ("given_name", "words"),
    [
        ("d1_lactate_max", "d1 lactate max"),
        ("  a__b\t", "a b"),
        ("x" * 60, "x" * (LONGEST - 1) + "…"),
        ("", ""),
        ("a\x00b", "a b"),
    ],
)
def test_names_become_words(given_name, words):
    assert read_words(given_name) == words


def test_differences_agree_with_their_definition():
    table, codes = stays(400)
    encoding = fit_encoding(table)
    matrix = encoding.encode(table)
    features = list(list_features(encoding, matrix))
    found = measure_differences(features, matrix, codes, 3)
    for place, feature in enumerate(features):
        values = matrix[:, feature.position]
        if feature.what == "value":
            keep = ~np.isnan(values)
            number, half = rankdata(values[keep]), 0.0
        else:
            keep = np.ones(len(values), bool)
            number = np.isnan(values) if feature.what == "missing" else values == feature.code
            half = 0.5
        for pocket in range(3):
            sides = [number[codes[keep] == pocket], number[codes[keep] != pocket]]
            means = [(side.sum() + half) / (len(side) + 2 * half) for side in sides]
            if half:
                spread = np.sqrt(np.mean([mean * (1 - mean) for mean in means]))
            else:
                spread = np.sqrt(np.mean([side.var() for side in sides]))
            if feature.what == "value" and 2 * len(sides[0]) < (codes == pocket).sum():
                means = [0.0, 0.0]  # most members have no such number
            assert found[place, pocket] == pytest.approx((means[0] - means[1]) / spread, rel=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_order_of_records_and_a_change_of_scale_change_no_name(seed):
    rng = np.random.default_rng(seed)
    table, codes = stays(300, seed)
    named = name(table, codes)
    order = rng.permutation(300)
    shuffled = name(table.iloc[order].reset_index(drop=True), codes[order])
    assert shuffled.titles == named.titles
    np.testing.assert_array_equal(shuffled.fidelity, named.fidelity)
    scaled = name(table.assign(age_years=np.exp(table["age_years"] / 20)), codes)
    assert scaled.titles == named.titles


def test_no_outcome_can_steer_a_name():
    """The only outcome in reach is the map's mean outcome of its members, and it changes nothing."""
    assert set(inspect.signature(name_pockets).parameters) == {
        "frozen", "table", "codes", "calibration", "columns",
    }  # fmt: skip
    table, codes = stays(500)
    plain = make_map(3)
    other = replace(plain, mean_outcome=np.array([0.9, 0.1, 0.5]))
    assert name_pockets(plain, table, codes).titles == name_pockets(other, table, codes).titles


def test_everything_else_of_the_map_stays():
    table, codes = stays(500)
    plain = make_map(3)
    named = name_pockets(plain, table, codes)
    assert named.rule is plain.rule
    assert named.pockets == plain.pockets
    assert named.fidelity.shape == (3, 2)


def test_names_are_made_of_the_columns_that_people_can_read():
    table, codes = stays()
    wide = table.assign(**{f"emb_{number}": codes + 0.01 * number for number in range(60)})
    assert any("emb" in title for title in name(wide, codes).titles)
    told = name(wide, codes, columns=("age_years", "ventilated"))
    assert told.titles[0].startswith("high age years")
    assert not any("emb" in text for text in (*told.titles, *told.descriptions))
