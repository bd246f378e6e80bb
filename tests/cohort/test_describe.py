"""The tables about a cohort: groups, sites, columns; and what deserves a second look."""

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort.describe import summarise_columns, summarise_groups, summarise_sites
from auditbook.cohort.load import Cohort, load_cohort, read_cohort_file
from auditbook.intake import warn_cohort as list_cautions
from cohorts import write_cohort, write_pair

BASIC = '[outcome]\ncolumn = "y"\nevent = 1\n[attributes.race]\ncolumn = "race"\n'
NONE = np.array([], dtype=int)


def warn_cohort(cohort: Cohort) -> list[str]:
    """Write the cautions about a cohort."""
    return [str(caution) for caution in list_cautions(cohort)]


def load(folder, table, text=BASIC, *, suffix=".csv"):
    return load_cohort(read_cohort_file(write_pair(folder, table, text, suffix=suffix)), cache_dir=folder)


def small_table():
    return pd.DataFrame(
        {
            "y": [1, 0, 0, 1, 1, 0, 1, 1],
            "race": ["a", "a", "a", "a", "b", "b", "b", "b"],
            "h": ["x", "x", "x", "y", "y", "z", "z", "z"],
            "x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, None, 7.5],
        }
    )


def place(cohort, numbers):
    """Find where records stand by their number in `small_table`."""
    number = np.where(cohort.table["x"].isna(), 6, cohort.table["x"] - 0.5).astype(int)
    return np.flatnonzero(np.isin(number, numbers))


def test_groups_are_counted_by_hand(tmp_path):
    cohort = load(tmp_path, small_table(), BASIC + 'categories = ["b", "a", "c"]\nreference = "a"\n')
    table = summarise_groups(cohort, train=place(cohort, [0, 4]), audit=place(cohort, [1, 2, 5]))
    assert table["group"].tolist() == ["b", "a", "c"]
    assert table["n"].tolist() == [4, 4, 0]
    assert table["share"].tolist() == [0.5, 0.5, 0]
    assert table["events"].tolist() == [3, 2, 0]
    np.testing.assert_array_equal(table["event_rate"], [0.75, 0.5, np.nan])
    assert table["n_train"].tolist() == [1, 1, 0]
    assert table["n_audit"].tolist() == [1, 2, 0]
    assert table["reference"].tolist() == [False, True, False]
    # Wilson, 3 of 4: centre (0.75 + z^2/8) / (1 + z^2/4), by hand
    z = 1.959963984540054
    centre, half = (
        (0.75 + z**2 / 8) / (1 + z**2 / 4),
        z * np.sqrt(0.75 * 0.25 / 4 + z**2 / 64) / (1 + z**2 / 4),
    )
    assert table["event_rate_low"][0] == pytest.approx(centre - half)
    assert table["event_rate_high"][0] == pytest.approx(centre + half)


def test_a_continuous_outcome_has_no_events_in_the_tables(tmp_path):
    text = BASIC.replace("event = 1", 'type = "continuous"') + '[site]\ncolumn = "h"\n'
    cohort = load(tmp_path, small_table(), text)
    assert summarise_groups(cohort, train=NONE, audit=NONE)["events"].isna().all()
    assert summarise_sites(cohort, audit=NONE)["event_rate"].isna().all()


def test_sites_are_listed_largest_first_and_ties_by_name(tmp_path):
    cohort = load(tmp_path, small_table(), BASIC + '[site]\ncolumn = "h"\n')
    table = summarise_sites(cohort, audit=place(cohort, [0, 7]))
    assert table["site"].tolist() == ["x", "z", "y"]
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["n"].tolist() == [3, 3, 2]
    assert table["events"].tolist() == [1, 2, 2]
    assert table["n_audit"].tolist() == [1, 1, 0]


def test_without_sites_the_table_has_its_columns_and_no_row(tmp_path):
    table = summarise_sites(load(tmp_path, small_table()), audit=NONE)
    assert list(table.columns) == ["rank", "site", "n", "events", "event_rate", "n_audit"]
    assert len(table) == 0


def test_every_column_has_one_role_a_kind_and_what_is_missing(tmp_path):
    table = small_table().assign(
        p=0.5,
        late=[1, 2] * 4,
        out=[str(i) for i in range(8)],
        day=pd.Timestamp("2024-01-01"),
        flag=[True, None] * 4,
        empty=None,
    )
    text = BASIC + '[site]\ncolumn = "h"\n[features]\nexclude = ["out"]\nlate = ["late"]\n'
    text += '[scores.p]\ncolumn = "p"\nkind = "rank"\nthreshold = 1\n[panel]\nmodels = ["logistic"]\n'
    frame = summarise_columns(load(tmp_path, table, text, suffix=".parquet")).set_index("column")
    assert frame["role"].to_dict() == {
        "y": "outcome",
        "race": "attribute",
        "h": "site",
        "x": "feature",
        "p": "score",
        "late": "late feature",
        "out": "excluded",
        "day": "excluded",
        "flag": "feature",
        "empty": "feature",
    }
    assert frame["kind"].to_dict() == {
        "y": "number",
        "race": "category",
        "h": "category",
        "x": "number",
        "p": "number",
        "late": "number",
        "out": "category",
        "day": "date",
        "flag": "truth value",
        "empty": "empty",
    }
    assert frame.loc["x", ["missing", "missing_share", "distinct"]].tolist() == [1, 0.125, 7]
    assert frame.loc["race", "note"] == "also a feature"
    assert "dates are not used" in frame.loc["day", "note"]
    assert frame.loc["p", "note"] == "one value only"


@pytest.mark.parametrize(("groups", "sites", "missing"), [(2, 0, 0.0), (10, 3, 0.2)])
def test_the_tables_of_strange_cohorts_add_up(tmp_path, groups, sites, missing):
    path = write_cohort(tmp_path, rows=1500, groups=groups, sites=sites, missing=missing, panel=["logistic"])
    cohort = load_cohort(read_cohort_file(path), cache_dir=tmp_path)
    train, audit = np.arange(0, 1000), np.arange(1000, len(cohort.table))
    table = summarise_groups(cohort, train=train, audit=audit)
    sums = table.groupby("attribute")[["n", "events", "n_train", "n_audit", "share"]].sum()
    expected = [len(cohort.table), cohort.outcome.sum(), 1000, len(audit), 1]
    np.testing.assert_allclose(sums, np.tile(expected, (3, 1)))
    if sites:
        assert summarise_sites(cohort, audit=audit)["n"].sum() == len(cohort.table)
    assert summarise_columns(cohort)["column"].tolist() == cohort.table.columns.tolist()


# Cautions


def large_table(n=2000):
    rng = np.random.default_rng(4)
    los = rng.geometric(0.3, n)
    return pd.DataFrame(
        {
            "y": (los > 3).astype(int),
            "race": rng.choice(["a", "b"], n),
            "x": rng.normal(size=n),
            "ward": rng.choice(["A", "B"], n),
            "h": rng.choice(["p", "q", "r"], n),
        }
    ).assign(
        los_days=los + rng.normal(0, 0.01, n), los_gt7=(los > 7).astype(int), code=np.where(los > 3, "L", "S")
    )


def only(cautions, word):
    return [text for text in cautions if word in text]


def test_an_ordinary_cohort_raises_no_caution(tmp_path):
    table = large_table().drop(columns=["los_days", "los_gt7", "code"])
    text = BASIC + '[unit]\ncolumn = "h"\n[features]\nexclude = ["race"]\n'
    assert warn_cohort(load(tmp_path, table, text)) == []


def test_the_outcome_in_disguise_is_pointed_out(tmp_path):
    found = only(warn_cohort(load(tmp_path, large_table())), "in disguise")
    assert len(found) == 1
    assert found[0].startswith(
        "[features]: 3 columns may be the outcome in disguise (told from AUC 0.98, or a value"
    )
    assert "'code' (AUC 1.000 on its own), 'los_days' (AUC 1.000 on its own: every event has" in found[0]
    assert "'los_gt7' (all 171 records with the value 1 are events)" in found[0]
    assert found[0].endswith('if they are: exclude = ["code", "los_days", "los_gt7"]')
    text = BASIC.replace('column = "y"\nevent = 1', 'column = "x"\ntype = "continuous"')
    table = large_table().assign(twin=lambda t: t["x"] * 3)
    assert "'twin'" in only(warn_cohort(load(tmp_path, table, text)), "in disguise")[0]


@pytest.mark.parametrize(("kept", "word"), [(1, "filled"), (0, "blank")])
def test_a_number_that_is_filled_or_blank_just_where_the_event_is_gives_it_away(tmp_path, kept, word):
    table = large_table().drop(columns=["los_days", "los_gt7", "code"])
    table["late_lab"] = np.random.default_rng(5).normal(size=len(table))
    table.loc[table["y"] != kept, "late_lab"] = np.nan
    (found,) = only(warn_cohort(load(tmp_path, table)), "in disguise")
    assert (
        f"1 column may be the outcome in disguise (told from AUC 0.98, or a value or blank that decides it): "
        f"'late_lab' (all {table['y'].sum():,} records where it is {word} are events)" in found
    )
    assert found.endswith('if it is: exclude = ["late_lab"]')


def test_given_scores_do_not_silence_the_leak_of_a_feature_from_which_pockets_are_built(tmp_path):
    text = BASIC.split("[panel]")[0] + '[scores.s]\ncolumn = "s"\nkind = "probability"\nthreshold = 0.5\n'
    table = large_table().assign(s=0.5, discharge_status=lambda t: np.where(t["y"] == 1, "died", "home"))
    found = only(warn_cohort(load(tmp_path, table, text)), "in disguise")
    assert any("'discharge_status'" in caution for caution in found)
    quiet = warn_cohort(load(tmp_path, table, text + "[pockets]\nrun = false\n"))
    assert not only(quiet, "in disguise")


def test_identifiers_among_the_features_are_pointed_out(tmp_path):
    table = large_table().assign(
        visit=lambda t: [f"v{i}" for i in range(len(t))], row=lambda t: np.arange(len(t))
    )
    found = only(warn_cohort(load(tmp_path, table)), "identifier")
    assert len(found) == 1
    assert (
        "2 columns with hardly a value twice are like an identifier: 'row' (whole numbers), 'visit' (text)"
        in (found[0])
    )
    assert found[0].endswith('if so: exclude = ["row", "visit"]')


def test_thin_groups_missing_values_and_one_large_site_are_pointed_out(tmp_path):
    table = large_table()
    table.loc[:3, "race"] = "c"
    table.loc[100:500, "race"] = None
    table["h"] = np.where(np.arange(2000) < 1500, "big", "small")
    text = BASIC + 'missing = "group"\n[site]\ncolumn = "h"\n'
    cautions = warn_cohort(load(tmp_path, table, text))
    assert "c (about 0.8 records, 30 needed)" in only(cautions, "too few records")[0]
    assert "blank cells" not in only(cautions, "too few records")[0]
    assert "missing in 401 of 2,000 records (20%)" in only(cautions, "missing in")[0]
    assert "'big' holds 75% of the records" in only(cautions, "holds")[0]
    cautions = warn_cohort(load(tmp_path, table, text.replace('"group"', '"drop"')))
    assert "missing in 401 of 2,000 records (20%)" in only(cautions, "missing in")[0]


def test_too_few_blank_cells_to_be_a_group_may_be_left_out(tmp_path):
    table = large_table()
    table.loc[:3, "race"] = None
    cautions = warn_cohort(load(tmp_path, table, BASIC + 'missing = "group"\n'))
    assert 'leave blank cells out with missing = "drop"' in only(cautions, "too few records")[0]


def test_names_that_differ_in_blanks_or_capitals_are_pointed_out(tmp_path):
    table = large_table().assign(race=["White", "white ", "Black", "Black"] * 500)
    cautions = warn_cohort(load(tmp_path, table))
    assert "the group 'white ' has blanks at an end" in only(cautions, "at an end")[0]
    told = only(cautions, "differ")[0]
    assert "the groups 'White' (500) and 'white ' (500) differ in capitals and blanks only" in told
    assert 'groups = { "white " = "White" }' in told


@pytest.mark.parametrize(
    ("rows", "given", "told"),
    [
        (1, True, "c (1 record, 30 needed)"),
        (29, True, "c (29 records, 30 needed)"),
        (148, False, "c (about 29.6 records, 30 needed)"),
    ],
)
def test_what_a_small_group_holds_is_never_written_as_what_it_needs(tmp_path, rows, given, told):
    table = large_table().assign(p=np.linspace(0, 1, 2000))
    table.loc[: rows - 1, "race"] = "c"
    text = BASIC + ('[scores.p]\ncolumn = "p"\nkind = "probability"\n' if given else "")
    assert told in only(warn_cohort(load(tmp_path, table, text)), "too few records")[0]


def test_rules_that_match_nothing_are_pointed_out(tmp_path):
    text = 'data.drop = [{ column = "ward", values = ["Z"], reason = "ward Z" }]\n' + BASIC
    cautions = warn_cohort(load(tmp_path, large_table(), text + 'groups = { "A " = "x" }\n'))
    assert "no record was left out for 'ward Z'" in only(cautions, "left out")[0]
    assert "no record holds 'A ' (did you mean 'a'?)" in only(cautions, "no record holds")[0]


def test_scores_that_select_nobody_or_are_all_equal_are_pointed_out(tmp_path):
    rng = np.random.default_rng(0)
    table = large_table().assign(p=0.25, q=rng.random(2000) * 0.4)
    text = (
        BASIC
        + '[scores.p]\ncolumn = "p"\nkind = "probability"\n[scores.q]\ncolumn = "q"\nkind = "probability"\n'
    )
    cautions = only(warn_cohort(load(tmp_path, table, text)), "[scores")
    assert "every record has the same score, 0.25" in cautions[0]
    assert "no record reaches 0.5 (scores run from" in cautions[1]


@pytest.mark.parametrize(
    ("kind", "score", "told"),
    [
        ("decision", lambda y: y, "AUC 1.000: this may be the outcome in disguise"),
        ("probability", lambda y: y * 0.5 + 0.25, "AUC 1.000: this may be the outcome in disguise"),
        ("rank", lambda y: 10 * y + np.arange(len(y)) % 11, "AUC 0.99"),
        ("decision", lambda y: 1 - y, "AUC 0.000: this may be the outcome turned round"),
        ("rank", lambda y: -10 * y - np.arange(len(y)) % 11, "this may be the outcome turned round"),
    ],
)
def test_a_given_score_that_is_the_outcome_or_its_negation_is_pointed_out(tmp_path, kind, score, told):
    threshold = "" if kind == "decision" else "threshold = 0.5\n"
    text = BASIC.split("[panel]")[0] + f'[scores.s]\ncolumn = "s"\nkind = "{kind}"\n{threshold}'
    table = large_table().assign(s=lambda t: score(t["y"]))
    (found,) = only(warn_cohort(load(tmp_path, table, text)), "[scores.s]:")
    assert told in found


def test_a_score_that_errs_or_has_few_events_to_rank_is_not_taken_for_the_outcome(tmp_path):
    text = BASIC.split("[panel]")[0] + '[scores.s]\ncolumn = "s"\nkind = "decision"\n'
    wrong = np.arange(2000) % 20 == 0
    table = large_table().assign(s=lambda t: np.where(wrong, 1 - t["y"], t["y"]))
    assert not only(warn_cohort(load(tmp_path, table, text)), "[scores.s]")
    table = table.assign(y=(np.arange(2000) < 9).astype(int), s=lambda t: t["y"])
    assert not only(warn_cohort(load(tmp_path, table, text)), "[scores.s]")


def test_words_by_the_column_of_an_attribute_stand_for_its_groups(tmp_path):
    text = BASIC.replace("[attributes.race]", "[attributes.origin]")
    for groups, said, told in (
        ("", '{ a = "Asian", b = "Black" }', []),
        ('{ b = "B" }', '{ B = "Black" }', []),
        ('{ b = "Black" }', '{ b = "Black" }', []),
        (
            '{ b = "B" }',
            '{ a = "B" }',
            ["[labels] values.race: 'a' is shown as 'B', which is another value's own name"],
        ),
        ("", '{ a = "b" }', ["[labels] values.race: 'a' is shown as 'b', which is another value's own name"]),
    ):
        recoded = text.replace('column = "race"', f'column = "race"\ngroups = {groups}') if groups else text
        cohort = load(tmp_path, large_table(), recoded + f"[labels]\nvalues.race = {said}\n")
        assert only(warn_cohort(cohort), "[labels]") == told


def test_words_for_what_is_not_there_are_pointed_out(tmp_path):
    text = (
        BASIC
        + '[scores.p]\ncolumn = "p"\nkind = "probability"\n'
        + '[labels]\ncolumns = { wrad = "unit", race = "origin", p = "risk" }\n'
        + 'values.rase = { a = "A" }\nvalues.race = { a = "Asian", "b " = "Black" }\n'
        + 'values.ward = { A = "B" }\n'
    )
    table = large_table().assign(p=np.linspace(0, 1, 2000))
    assert only(warn_cohort(load(tmp_path, table, text)), "[labels]") == [
        "[labels] columns: there is no column, attribute or model 'wrad' (did you mean 'ward'?); it does "
        "nothing",
        "[labels] values: there is no column or attribute 'rase' (did you mean 'race'?); it does nothing",
        "[labels] values.race: no record holds 'b ' (did you mean 'b'?); it does nothing",
        "[labels] values.ward: 'A' is shown as 'B', which is another value's own name",
    ]


def test_a_long_numbered_series_of_columns_is_one_row(tmp_path):
    table = small_table()
    wide = pd.DataFrame({f"emb_{number}": np.arange(8.0) + number for number in range(60)})
    wide["emb_59"] = 1.0
    cohort = load(tmp_path, pd.concat([table, wide], axis=1))
    rows = summarise_columns(cohort).set_index("column")
    assert rows["n_columns"].sum() == len(table.columns) + 60
    assert len(rows) == len(table.columns) + 1
    row = rows.loc["emb_0 … emb_59"]
    assert (row["n_columns"], row["role"], row["missing"], row["distinct"]) == (60, "feature", 0, 8)
    assert row["note"] == "of each number the largest; some: one value only"


def test_a_column_of_a_series_with_missing_values_has_its_own_row(tmp_path):
    wide = pd.DataFrame({f"emb_{number}": np.arange(8.0) for number in range(60)})
    wide.loc[0, "emb_7"] = np.nan
    rows = summarise_columns(load(tmp_path, pd.concat([small_table(), wide], axis=1))).set_index("column")
    assert (rows.loc["emb_7", "n_columns"], rows.loc["emb_7", "missing"]) == (1, 1)
    assert rows.loc["emb_0 … emb_59", "n_columns"] == 59
