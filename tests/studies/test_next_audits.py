import pandas as pd
import pytest

from auditbook.project import project_file
from auditbook.studies.simulations.next_audits import SEED, NextWorld, band_chances, run_replicate

FOLDER = project_file("data") / "simulations"
ROWS = pd.read_csv(FOLDER / "next_audit_replicates.csv.gz")
BANDS = pd.read_csv(FOLDER / "next_audit_bands.csv")


@pytest.mark.parametrize("world", [NextWorld("spread", 2), NextWorld("normal", 5), NextWorld("equal", 5)])
def test_a_stored_replicate_can_be_made_again(world):
    mine = (ROWS["world"] == world.name) & (ROWS["groups"] == world.groups) & (ROWS["replicate"] == 7)
    again = run_replicate(world, replicate=7, seed=SEED)
    pd.testing.assert_frame_equal(again, ROWS[mine].reset_index(drop=True), check_dtype=False, rtol=1e-8)


def test_the_stored_bands_follow_from_the_replicates():
    pd.testing.assert_frame_equal(band_chances(ROWS), BANDS, rtol=1e-4)


def test_what_is_printed_comes_true_within_five_points_over_all_worlds_of_rates():
    """In bands of at least 100 cells; with two standard errors of the simulation."""
    told = BANDS[(BANDS["world"] == "all rates") & (BANDS["cells"] >= 100)]
    assert len(told) >= 10
    assert ((told["printed"] - told["realised"]).abs() <= 0.05 + 2 * told["error"]).all()
    assert ((told["printed"] - told["realised"]).abs() <= 0.05).mean() > 0.9
