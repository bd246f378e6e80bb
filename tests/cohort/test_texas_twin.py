"""The synthetic twin: near the published figures, the same every time, never stale."""

import dataclasses
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.code import digest_cells
from auditbook.cohort.file import read_cohort_file
from auditbook.cohort.load import load_cohort
from auditbook.cohort.twins import FULL_SIZE, twin, twin_table
from auditbook.cohort.twins.hospitals import hospital_names, make_hospitals
from auditbook.cohort.twins.nearness import measure_table, read_measured, render_recipe, render_targets
from auditbook.cohort.twins.people import (
    AXES,
    age_weights,
    allot,
    draw_codes,
    joint_counts,
    read_reference,
    stay_shares,
    stay_weights,
)
from auditbook.cohort.twins.recipe import (
    ADMISSION_SOURCES,
    ADMISSION_TYPES,
    DIAGNOSES,
    DISCHARGE_STATUSES,
    PROCEDURES,
    RECIPE,
)
from auditbook.cohort.twins.twin import make_twin, recipe_fingerprint, recipe_hash
from auditbook.errors import InputError
from auditbook.project import DEFAULT_COHORT

TEXT = ["record_id", "hospital", "race", "sex", "ethnicity", "admission_type", "admission_source"]
TEXT += ["diagnosis", "procedure", "pat_status"]
NUMBERS = ["pat_age", "total_charges", "length_of_stay"]

# Rates are published with three digits and are brought to one total: less than 0.001 each.
RATE_TOLERANCE = 0.001
# Counts are rounded to whole records in every cell of the joint table.
SHARE_TOLERANCE = 2e-4
# The test set's pairs differ from the full cohort's, which hold.
PAIR_SHARE_TOLERANCE = 0.002
PAIR_RATE_TOLERANCE = 0.006
# The curve of volumes is fitted with four numbers.
VOLUME_TOLERANCE = 0.01


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def table(cache_dir):
    return twin_table(rows=100_000, seed=42, cache_dir=cache_dir)


def long_stays(table):
    return table["length_of_stay"] > 3


@pytest.mark.parametrize("rows", [1_000, 20_000])
def test_every_size_has_all_columns_and_nothing_missing(rows, tmp_path):
    found = twin_table(rows=rows, seed=3, cache_dir=tmp_path)
    assert len(found) == rows
    assert sorted(found.columns) == sorted(TEXT + NUMBERS)
    assert not found.isna().to_numpy().any()
    assert all(type(value) is str for name in TEXT for value in found[name].head(50))
    assert all(found[name].dtype == np.int64 for name in NUMBERS)
    assert found["record_id"].is_unique


def test_values_lie_in_their_ranges(table):
    assert table["pat_age"].between(0, 21).all()
    assert table["length_of_stay"].between(1, 180).all()
    assert (table["total_charges"] > 0).all()
    assert set(table["hospital"]) <= set(hospital_names())
    for name, groups in (("race", AXES["race"]), ("sex", AXES["sex"]), ("ethnicity", AXES["ethnicity"])):
        assert set(table[name]) == set(groups)
    for name, choices in (
        ("admission_type", ADMISSION_TYPES),
        ("admission_source", ADMISSION_SOURCES),
        ("pat_status", DISCHARGE_STATUSES),
    ):
        assert set(table[name]) == {choice.name for choice in choices}
    assert table["diagnosis"].nunique() == sum(family.codes for family in DIAGNOSES)
    assert table["procedure"].nunique() == sum(family.codes for family in PROCEDURES)
    assert "no procedure" in set(table["procedure"])


def test_groups_have_their_published_shares_and_rates_of_long_stays(table):
    figures = measure_table(table).set_index("quantity")
    groups = figures[figures["part"] == "groups"]
    gap = (groups["twin"] - groups["published"]).abs()
    share = groups.index.str.startswith("share")
    assert len(groups) == 26
    assert gap[share].max() < SHARE_TOLERANCE
    # A group of 376 records can miss a rate by a record or two.
    small = groups.index.str.contains("American Indian")
    assert gap[~share & ~small].max() < RATE_TOLERANCE
    assert gap[small].max() < 2 / 376


def test_pairs_of_groups_are_near_the_published_counts(table):
    figures = measure_table(table)
    pairs = figures.loc[figures["part"] == "pairs", "twin"].tolist()
    assert pairs[0] < PAIR_SHARE_TOLERANCE
    assert pairs[1] < PAIR_RATE_TOLERANCE


def test_pairs_counted_by_hand_agree_with_the_published_test_set(table):
    published = read_reference("pairwise_counts").set_index(["pair", "first", "second"])
    row = published.loc[("race x sex", "Black", "Female")]
    members = table[(table["race"] == "Black") & (table["sex"] == "Female")]
    assert len(members) / len(table) == pytest.approx(row["n"] / 185_026, abs=PAIR_SHARE_TOLERANCE)
    assert long_stays(members).mean() == pytest.approx(row["n_los_gt3"] / row["n"], abs=PAIR_RATE_TOLERANCE)


def test_joint_table_holds_the_full_cohorts_margins_exactly():
    counts = joint_counts()
    assert counts.min() > 0
    assert counts.sum() == pytest.approx(FULL_SIZE)
    assert counts[..., 1].sum() / counts.sum() == pytest.approx(0.45, abs=1e-5)
    rates = read_reference("group_rates")
    for axis, (name, groups) in enumerate(AXES.items()):
        margin = counts.sum(axis=tuple(other for other in range(5) if other != axis))
        published = rates[rates["attribute"] == name].set_index("group").loc[list(groups), "n_full"]
        np.testing.assert_allclose(margin, published, rtol=1e-5)


def test_hospitals_are_as_skewed_as_published(table):
    volume = table["hospital"].value_counts(normalize=True)
    for top, share in ((10, 0.135), (50, 0.465), (100, 0.705), (200, 0.933)):
        assert volume.iloc[:top].sum() == pytest.approx(share, abs=VOLUME_TOLERANCE)
    assert len(volume) == 441
    assert volume.idxmax() == "H001"


def test_hospitals_differ_in_long_stays_and_in_their_patients(table):
    large = table["hospital"].isin([f"H{number:03d}" for number in range(1, 51)])
    by_hospital = table[large].groupby("hospital")
    rates = by_hospital["length_of_stay"].apply(lambda days: (days > 3).mean())
    black = by_hospital["race"].apply(lambda race: (race == "Black").mean())
    assert 0.06 < rates.std() < 0.13  # fitted to a spread of 0.09 among the fifty largest
    assert black.quantile(0.9) > 2 * black.quantile(0.1)


def test_hospital_facts_stay_in_range():
    hospitals = make_hospitals(RECIPE, np.random.default_rng(0))
    assert hospitals.volume.sum() == pytest.approx(1.0)
    assert (np.diff(hospitals.volume) <= 0).all()
    assert ((hospitals.long_rate > 0) & (hospitals.long_rate < 1)).all()


def test_lengths_of_stay_follow_the_fitted_curve(table):
    shares = stay_shares(RECIPE).sum(axis=0)
    assert shares.sum() == pytest.approx(1.0)
    found = np.bincount(table["length_of_stay"], minlength=181)[1:] / len(table)
    # Two standard errors of a share of 100,000 records are at most 0.003.
    np.testing.assert_allclose(found, shares, atol=0.004)


def test_short_and_long_stays_do_not_overlap():
    weights = stay_weights(RECIPE).reshape(4, 2, -1)
    assert (weights[:, 0, 3:] == 0).all()
    assert (weights[:, 1, :3] == 0).all()


def test_age_codes_stay_within_their_band():
    weights = age_weights(RECIPE).reshape(4, 2, 22)
    for band, codes in enumerate(([0, 5], [5, 10], [10, 15], [15, 22])):
        outside = np.ones(22, bool)
        outside[slice(*codes)] = False
        assert (weights[band][:, outside] == 0).all()
        assert (weights[band][:, ~outside] > 0).all()


def test_only_women_of_childbearing_age_give_birth(table):
    first = 1 + DIAGNOSES[0].codes
    births = table["diagnosis"].isin(
        [f"D{number:03d}" for number in range(first, first + DIAGNOSES[1].codes)]
    )
    assert births.sum() > 5_000
    assert (table.loc[births, "sex"] == "Female").mean() > 0.999
    assert table.loc[births, "pat_age"].between(5, 14).all()


def test_race_changes_nothing_at_the_same_length_of_stay_and_age(table):
    same = table[(table["length_of_stay"] == 2) & table["pat_age"].between(10, 14) & (table["sex"] == "Male")]
    home = (same["pat_status"] == "Home").groupby(same["race"]).agg(["mean", "size"])
    gap = home.loc["Black", "mean"] - home.loc["White", "mean"]
    error = np.sqrt((home["mean"] * (1 - home["mean"]) / home["size"]).loc[["Black", "White"]].sum())
    assert abs(gap) < 4 * error


def test_same_seed_gives_the_same_table_and_another_seed_another():
    first, again, other = (make_twin(rows=1_000, seed=seed, recipe=RECIPE) for seed in (7, 7, 8))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_another_seed_keeps_the_world_and_the_margins():
    first, other = (make_twin(rows=5_000, seed=seed, recipe=RECIPE) for seed in (1, 2))
    for name in ("race", "sex", "ethnicity"):
        pd.testing.assert_series_equal(
            first[name].value_counts().sort_index(), other[name].value_counts().sort_index()
        )
    # Within a stratum hospitals are allotted, so their volumes agree to a few records.
    volumes = [
        found["hospital"].value_counts().reindex(hospital_names(), fill_value=0) for found in (first, other)
    ]
    assert (volumes[0] - volumes[1]).abs().max() <= 1


def test_kept_table_is_found_again_without_being_made(tmp_path, monkeypatch):
    made = twin_table(rows=1_000, seed=5, cache_dir=tmp_path)
    monkeypatch.setattr(twin, "make_twin", lambda **_: pytest.fail("made again"))
    pd.testing.assert_frame_equal(twin_table(rows=1_000, seed=5, cache_dir=tmp_path), made)


def test_kept_table_equals_the_made_one(tmp_path):
    kept = twin_table(rows=1_000, seed=5, cache_dir=tmp_path)
    pd.testing.assert_frame_equal(kept, make_twin(rows=1_000, seed=5, recipe=RECIPE))


def test_a_changed_recipe_size_or_seed_never_finds_an_old_table(tmp_path, monkeypatch):
    twin_table(rows=1_000, seed=5, cache_dir=tmp_path)
    twin_table(rows=1_001, seed=5, cache_dir=tmp_path)
    twin_table(rows=1_000, seed=6, cache_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    monkeypatch.setattr(twin, "recipe_fingerprint", lambda: "another recipe")
    monkeypatch.setattr(twin, "RECIPE", dataclasses.replace(RECIPE, daily_cost=50.0))
    dear = twin_table(rows=1_000, seed=5, cache_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4
    assert dear["total_charges"].median() > 50_000


def test_recipe_hash_ignores_docstrings_but_not_code(tmp_path):
    def hash_with(old, new):
        source = tmp_path / str(len(list(tmp_path.iterdir())))
        folder = source / "auditbook" / "cohort" / "twins"
        shutil.copytree(Path(twin.__file__).parent, folder)
        code = (folder / "stays.py").read_text(encoding="utf-8")
        assert old in code
        (folder / "stays.py").write_text(code.replace(old, new), encoding="utf-8")
        return digest_cells(twin.MAKING, source=source)

    plain = hash_with("KINDS = 3", "KINDS = 3")
    assert plain == hash_with("KINDS = 3", '"""Say more."""\nKINDS = 3  # why')
    assert plain != hash_with("KINDS = 3", "KINDS = 4")
    assert re.fullmatch(r"[0-9a-f]{12}", recipe_hash())


def test_a_damaged_kept_table_is_made_anew(tmp_path):
    made = twin_table(rows=1_000, seed=5, cache_dir=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:1000])
    pd.testing.assert_frame_equal(twin_table(rows=1_000, seed=5, cache_dir=tmp_path), made)


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        twin_table(rows=1_000, seed=5, cache_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_cache_folder_is_made(tmp_path):
    assert len(twin_table(rows=1_000, seed=5, cache_dir=tmp_path / "new" / "folder")) == 1_000


@pytest.mark.parametrize(
    ("rows", "seed", "says"),
    [
        (999, 1, "rows is 999; give a whole number from 1,000 to 925,128"),
        (FULL_SIZE + 1, 1, "rows is 925129"),
        (1000.0, 1, "rows is 1000.0"),
        (True, 1, "rows is True"),
        ("1000", 1, "rows is '1000'"),
        (1_000, -1, "seed is -1; give a whole number, 0 or more"),
        (1_000, 1.5, "seed is 1.5"),
    ],
)
def test_bad_size_or_seed_is_refused_with_a_plain_message(rows, seed, says, tmp_path):
    with pytest.raises(InputError) as caught:
        twin_table(rows=rows, seed=seed, cache_dir=tmp_path)
    assert says in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_all_faults_of_a_call_are_listed_at_once(tmp_path):
    with pytest.raises(InputError) as caught:
        twin_table(rows=1, seed=-1, cache_dir=tmp_path)
    assert len(caught.value.faults) == 2


@given(
    weights=st.lists(st.floats(0, 1e6), min_size=1, max_size=30).filter(lambda found: sum(found) > 1e-3),
    rows=st.integers(0, 5_000),
)
@settings(max_examples=100, deadline=None)
def test_allotted_records_add_up_and_running_totals_are_within_half_a_record(weights, rows):
    expected = np.array(weights)
    counts = allot(expected, rows)
    assert counts.sum() == rows
    assert (counts >= 0).all()
    running = np.cumsum(expected) * (rows / expected.sum())
    assert np.abs(np.cumsum(counts) - running).max() <= 0.5 + 1e-6


def test_drawn_codes_have_the_probabilities_of_their_row():
    weights = np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 2.0]])
    rows = np.repeat([0, 1], 20_000)
    drawn = draw_codes(weights, rows, np.random.default_rng(0))
    found = np.array([np.bincount(drawn[rows == row], minlength=3) / 20_000 for row in (0, 1)])
    np.testing.assert_allclose(found, [[0.25, 0, 0.75], [0, 0.5, 0.5]], atol=0.015)  # four standard errors


def test_the_cohort_file_loads_with_its_attributes_and_roles(cache_dir):
    file = read_cohort_file(DEFAULT_COHORT)
    file = dataclasses.replace(file, data=dataclasses.replace(file.data, rows=2_000))
    cohort = load_cohort(file, cache_dir=cache_dir)
    attributes = {attribute.name: attribute for attribute in cohort.attributes}
    assert list(attributes) == ["race", "sex", "ethnicity", "age"]
    assert attributes["race"].reference == "White"
    assert attributes["age"].groups == ("0-14 years", "15-34 years", "35-59 years", "60 years and over")
    ages = cohort.table["pat_age"].to_numpy()
    np.testing.assert_array_equal(attributes["age"].codes, np.searchsorted([5, 10, 15], ages, side="right"))
    assert cohort.outcome.mean() == pytest.approx(0.45, abs=0.002)
    assert "total_charges" in cohort.late_columns
    assert "pat_status" in cohort.late_columns
    assert "synthetic" in file.title.lower()


def page(root):
    return (root / "book" / "texas-twin.md").read_text(encoding="utf-8")


def test_the_pages_tables_are_those_of_the_stored_figures_and_the_recipe(root):
    text, measured = page(root), read_measured()
    assert render_recipe(RECIPE) in text
    for part in measured["part"].unique():
        assert render_targets(measured, (part,)) in text


def test_stored_figures_were_measured_on_this_recipe():
    assert set(read_measured()["recipe"]) == {recipe_fingerprint()}, "run benchmarks/measure_twin.py"


def test_stored_figures_that_need_no_model_are_found_again(table):
    stored = read_measured().set_index("quantity")
    found = measure_table(table).set_index("quantity")
    np.testing.assert_allclose(stored.loc[found.index, "twin_default"], found["twin"], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(stored.loc[found.index, "published"], found["published"], rtol=1e-5)


def test_stored_models_are_as_near_as_the_page_says():
    stored = read_measured().set_index("quantity")
    gap = (stored["twin_default"] - stored["published"]).abs()
    assert gap["AUROC, XGBoost"] < 0.005
    assert gap["accuracy, XGBoost"] < 0.005
    assert gap["AUROC, logistic"] < 0.01
    # Sampling errors (SD) of a ratio at 20,000 audited records: 0.012 for sex and ethnicity, 0.008 for age.
    assert gap["DI sex, XGBoost"] < 0.03
    assert gap["DI ethnicity, XGBoost"] < 0.035
    assert gap["DI age, XGBoost"] < 0.03
    assert gap["DI race, XGBoost"] < 2 * stored.loc["sampling error (SD) of DI race, XGBoost", "twin_default"]


def test_the_page_calls_the_twin_synthetic_and_names_the_source(root):
    text = page(root)
    assert "**synthetic**" in text
    assert "arXiv.2608.30846" in text


def test_every_parameter_of_the_recipe_says_where_it_comes_from():
    rows = render_recipe(RECIPE).splitlines()[2:]
    assert len(rows) == len(dataclasses.fields(RECIPE))
    assert all(row.split(" | ")[1] in ("fitted", "planted", "assumed") for row in rows)


def test_fitted_curves_are_near_the_figures_they_were_fitted_to(shared_dir):
    days = pd.read_csv(Path(shared_dir) / "reference" / "texas100x_los_histogram.csv")
    published = days["n_approx"].to_numpy(float) / days["n_approx"].sum()
    shares = stay_shares(RECIPE).sum(axis=0)
    fitted = np.append(shares[:29], shares[29:].sum())
    assert np.abs(fitted - published).sum() / 2 < 0.03
    ages = pd.read_csv(Path(shared_dir) / "reference" / "texas100x_age_code_by_los.csv")
    by_band = joint_counts().sum(axis=(0, 1, 2)).reshape(-1, 1)
    weights = age_weights(RECIPE)
    fitted_ages = (by_band * weights / weights.sum(axis=1, keepdims=True)).reshape(4, 2, 22).sum(axis=0)
    total = ages["n_total"].to_numpy(float)
    np.testing.assert_allclose(fitted_ages.sum(axis=0) / FULL_SIZE, total / total.sum(), atol=0.01)
    rate = fitted_ages[1] / fitted_ages.sum(axis=0)
    np.testing.assert_allclose(rate, ages["rate_los_gt3"], atol=0.05)
    volumes = pd.read_csv(Path(shared_dir) / "reference" / "texas100x_hospital_volumes.csv")["n"].to_numpy(
        float
    )
    fitted_volumes = make_hospitals(RECIPE, np.random.default_rng(0)).volume[:370] * FULL_SIZE
    assert np.sqrt(np.mean(np.log(fitted_volumes / volumes) ** 2)) < 0.08
