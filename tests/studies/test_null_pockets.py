"""The stored simulation of the testing step, and its worlds."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from auditbook.errors import InputError
from auditbook.project import project_file
from auditbook.studies.simulations.fixed_map import fix_map
from auditbook.studies.simulations.null_pockets import (
    COLUMNS,
    run_replicate,
    simulate_null,
    summarise_null,
    write_null,
)
from auditbook.studies.simulations.null_worlds import DESIGNS, average_risk, draw_null, find_intercept

FOLDER = project_file("data", "simulations")
NAMES = [f"{design.name} {design.sd:g}" for design in DESIGNS]


@pytest.fixture(scope="module")
def stored():
    return pd.read_csv(FOLDER / "pocket_null.csv")


@pytest.fixture(scope="module")
def about():
    return json.loads((FOLDER / "pocket_null.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("place", range(len(DESIGNS)), ids=NAMES)
def test_stored_replicates_can_be_made_again(place, stored, about):
    design = DESIGNS[place]
    for replicate in (3, about["replicates"] - 1):
        again = run_replicate(
            design, place=place, replicate=replicate, draws=about["draws"], seed=about["seed"]
        )
        kept = stored[
            (stored["design"] == design.name)
            & (stored["sd"] == design.sd)
            & (stored["replicate"] == replicate)
        ]
        pd.testing.assert_frame_equal(kept.reset_index(drop=True), again)


def test_the_stored_summary_is_that_of_the_stored_replicates(stored):
    published = pd.read_csv(project_file("data", "reference", "pocket_error_control_published.csv"))
    kept = pd.read_csv(FOLDER / "pocket_null_summary.csv")
    pd.testing.assert_frame_equal(summarise_null(stored, published), kept, rtol=1e-5)


def test_there_are_enough_replicates_in_a_small_file(stored):
    assert stored.groupby(["design", "sd", "prediction", "quantity", "level"]).size().min() >= 400
    assert (FOLDER / "pocket_null.csv").stat().st_size < 1e6


def test_the_risk_averaged_over_units_is_that_of_many_units():
    linear = np.array([-3.0, 0.5])
    drawn = expit(linear + np.random.default_rng(1).standard_normal((200_000, 1))).mean(axis=0)
    np.testing.assert_allclose(average_risk(linear, 1.0), drawn, atol=0.002)  # standard error 0.0005


@pytest.mark.parametrize("sd", [0.0, 0.5, 1.0])
def test_the_intercept_gives_8_percent_of_events(sd):
    feature = np.random.default_rng(2).standard_normal(200_000)
    assert average_risk(find_intercept(sd) + 0.6 * feature, sd).mean() == pytest.approx(0.08, abs=0.001)


def test_the_first_prediction_is_right_and_the_conditional_risk_too_low():
    design = DESIGNS[4]
    errors = []
    for seed in range(60):
        audit = draw_null(design, np.random.default_rng(seed))
        errors.append([np.mean(values - audit.outcome) for values in audit.predictions.values()])
    mean, se = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(60)
    assert abs(mean[0]) < 4 * se[0]
    assert mean[1] < -4 * se[1]


def test_worlds_have_the_sizes_that_they_claim():
    for design in DESIGNS:
        audit = draw_null(design, np.random.default_rng(3))
        assert 6000 <= len(audit.outcome) <= 9000
        assert set(audit.table["pocket"]) == set(range(5))
        assert len(np.unique(audit.unit)) <= (design.units or 9000)
        assert np.mean(audit.attributes[0].codes == 0) == pytest.approx(0.25, abs=0.03)


def test_a_simulation_goes_on_where_it_stopped(tmp_path):
    settings = dict(draws=99, seed=5, designs=DESIGNS[1:2])
    store = tmp_path / "parts" / "null.jsonl"
    whole = simulate_null(replicates=4, **settings)
    simulate_null(replicates=2, store=store, **settings)
    lines = store.read_text(encoding="utf-8").splitlines()
    store.write_text("\n".join([lines[0], lines[1][:40]]) + "\n", encoding="utf-8")  # cut off in the second
    again = simulate_null(replicates=4, store=store, **settings)
    pd.testing.assert_frame_equal(whole, again)
    assert list(whole.columns) == COLUMNS
    assert len(store.read_text(encoding="utf-8").splitlines()) == 5


def test_stored_replicates_of_other_settings_are_not_taken(tmp_path):
    store = tmp_path / "null.jsonl"
    simulate_null(replicates=1, draws=49, seed=5, designs=DESIGNS[1:2], store=store)
    rows = simulate_null(replicates=1, draws=99, seed=6, designs=DESIGNS[1:2], store=store)
    assert rows["seed"].unique().tolist() == [10_006]
    assert len(store.read_text(encoding="utf-8").splitlines()) == 2


def test_the_number_of_processes_changes_no_row():
    settings = dict(replicates=2, draws=49, seed=7, designs=DESIGNS[1:2])
    pd.testing.assert_frame_equal(simulate_null(**settings), simulate_null(jobs=2, **settings))


def test_files_are_written_the_same_twice(tmp_path):
    settings = dict(replicates=2, draws=49, seed=8)
    rows = simulate_null(designs=DESIGNS[1:2], **settings)
    for name in ("one", "two"):
        write_null(tmp_path / name, rows, **settings)
    for name in ("pocket_null.csv", "pocket_null_summary.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_given_pockets_must_be_there_and_in_range():
    with pytest.raises(InputError, match="no column 'pocket'"):
        fix_map(2).assign(pd.DataFrame({"x": [1]}))
    with pytest.raises(InputError, match="beyond the 2"):
        fix_map(2).assign(pd.DataFrame({"pocket": [2]}))


def test_false_flags_are_as_rare_as_asked_or_explained(stored):
    """What the module's description says of the stored replicates."""
    published = pd.read_csv(project_file("data", "reference", "pocket_error_control_published.csv"))
    table = summarise_null(stored, published)
    alone = table["design"].isin(["independent", "continuous"])
    mild = (table["design"] == "dependent") & (table["quantity"] == "mu") & (table["sd"] <= 0.5)
    mild &= (table["prediction"] == "marginal") & (table["level"] == 0.0125)
    quiet = table[alone | mild]
    assert (quiet["share_low"] <= quiet["level"]).all()  # within chance of the level
    assert (table[table["quantity"] == "delta"]["share"] < 0.05).all()
    strong = table[(table["sd"] == 1) & (table["prediction"] == "marginal") & (table["quantity"] == "mu")]
    assert (strong["share_low"] > strong["level"]).all()  # an excess, nearly all in one direction
    assert strong["over"].sum() > 0.9 * strong["flagged"].sum()
    assert (strong[strong["level"] == 0.0025]["share"] < 0.05).all()
    wrong = table[(table["sd"] >= 0.5) & (table["prediction"] == "conditional") & (table["quantity"] == "mu")]
    assert wrong["over"].sum() == 0  # the conditional risk is too low
    assert wrong["share"].max() > 0.3
