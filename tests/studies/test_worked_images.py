"""The worked audit of two image classifiers holds the printed pattern; none of its records is a person."""

import io

import pytest

from auditbook.pockets import OVERALL, is_true
from auditbook.progress import Progress
from auditbook.project import project_file
from auditbook.results import match_rows, read_run
from auditbook.run.worked import remake_worked
from auditbook.studies.say.pocket_images import SEX, list_shared_flags, measure_untested, measure_view

CLASSIFIERS = ("classifier_a", "classifier_b")


@pytest.fixture(scope="module")
def stored():
    return read_run(project_file("data", "worked", "chest-xray-twin"))


def hold_pattern(run):
    """Assert what the twin is built to: printed figures, widened by two standard errors of a pocket."""
    errors = run.pocket_errors
    whole = match_rows(errors, quantity="mu", pocket=OVERALL, map="forest")
    assert set(whole["model"]) == set(CLASSIFIERS)
    assert not is_true(whole["flagged"]).any()
    assert whole["estimate"].abs().max() < 0.01
    low = list_shared_flags(errors, "under")
    low = low[(low["n"] / whole["n"].iloc[0]).between(0.02, 0.04)]
    assert len(low)
    assert low["low"].min() == pytest.approx(-0.255, abs=0.06)  # printed: 23 to 28 points in 3 % of images
    high = list_shared_flags(errors, "over")
    views = [
        measure_view(run.pocket_features, *place) for place in zip(high["map"], high["pocket"], strict=True)
    ]
    assert max(views) > 0.9  # printed: 95 %
    assert high["high"].min() < 0.11  # printed: 5 to 8 points
    gaps = match_rows(errors, quantity="delta", contrast=SEX)
    assert not is_true(gaps["flagged"]).any()
    for name in ("forest", "ridge"):
        shares = measure_untested(errors, model="classifier_a", name=name)
        assert all(0.15 < share < 0.75 for share in shares)  # printed, forest map: 53 and 41 %


def test_the_stored_audit_of_the_images_holds_the_printed_pattern(stored):
    hold_pattern(stored)


def test_pockets_of_the_images_are_named_by_view_and_age_alone(stored):
    assert set(stored.pocket_features["column"]) <= {"view", "age"}
    assert not stored.pockets["name"].str.contains("emb").any()
    assert stored.info["pockets"]["n_columns"] == 128
    assert stored.info["pockets"]["columns"] == ["emb_000 … emb_127"]


@pytest.mark.slow
def test_the_audit_of_the_images_made_again_holds_the_printed_pattern(tmp_path):
    with Progress(total=2, stream=io.StringIO()) as silent:
        hold_pattern(remake_worked("chest-xray-twin", tmp_path / "run", silent, jobs=2))
