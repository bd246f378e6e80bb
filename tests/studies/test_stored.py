"""Stored simulations: can they be made again, and do their tables follow from their counts?"""

import json

import pandas as pd
import pytest

from auditbook.studies.simulations.replicates import run_replicate
from auditbook.studies.simulations.scenarios import WORLDS, find_world
from auditbook.studies.simulations.scoring import compare_methods, count_false_flags, score_methods
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.stored import COMPARED, ORIGIN, QUIET, REPLICATES, SCORES, read_stored

CLOSE = 1e-4
"""Six digits are stored."""


@pytest.fixture(scope="module")
def folder(root):
    found = root / "data" / "simulations"
    if not (found / REPLICATES).exists():
        pytest.skip("no simulations of maps are stored yet (auditbook simulate --profile standard --keep)")
    return found


@pytest.fixture(scope="module")
def origin(folder):
    return json.loads((folder / ORIGIN).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def stored(folder):
    return read_stored(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "binary", "binary dependent", "stays by hospital"])
def test_a_stored_replicate_is_made_again_exactly(request, stored, origin, name):
    """One of each family: continuous, binary, dependent, real covariates; about 90 seconds of a core."""
    world = find_world(name)
    if not world.continuous:
        pytest.importorskip("graph_tool", reason="graph-tool, which fits block models, is not installed")
    data = request.getfixturevalue("shared_dir") / "cohorts" if world.real else None
    if data is not None and not (data / world.real).exists():
        pytest.skip(f"{name} needs the real table {world.real}, which is not part of the project")
    part = stored[stored["world"] == name]
    if part.empty:
        pytest.skip(f"no replicate of {name} is stored yet")
    seed, replicate = part[["seed", "replicate"]].iloc[-1]
    kept = part[(part["seed"] == seed) & (part["replicate"] == replicate)].reset_index(drop=True)
    sizes = Sizes(**origin["sizes"])
    again = run_replicate(world, replicate=int(replicate), seed=int(seed), sizes=sizes, folder=data)
    pd.testing.assert_frame_equal(again, kept)


def test_the_origin_says_which_code_made_how_many_replicates(stored, origin):
    counts = stored.drop_duplicates(["world", "seed", "replicate"])["world"].value_counts()
    assert origin["replicates"] == counts.to_dict()
    assert sum(part["replicates"] for part in origin["made"]) == counts.sum()
    assert {"graph-tool", "igraph", "numpy"} <= set(origin["versions"])
    assert all(part["commit"] for part in origin["made"])


def test_the_stored_tables_follow_from_the_stored_counts(folder, stored):
    for name, table in (
        (SCORES, score_methods(stored)),
        (COMPARED, compare_methods(stored)),
        (QUIET, count_false_flags(stored)),
    ):
        kept = pd.read_csv(folder / name, keep_default_na=True)
        text = table.select_dtypes("object").columns
        kept[text] = kept[text].fillna("")
        pd.testing.assert_frame_equal(kept, table.reset_index(drop=True), rtol=CLOSE, check_dtype=False)


def test_the_stored_worlds_are_those_that_are_declared(stored):
    declared = {
        (world.name, plant.question, plant.region, plant.shift) for world in WORLDS for plant in world.plants
    }
    keys = stored[["world", "question", "region", "shift"]].drop_duplicates()
    assert set(keys.itertuples(index=False, name=None)) <= declared


def test_the_published_figures_are_kept_as_printed(root, shared_dir):
    ours = (root / "data" / "reference" / "pocket_simulations_published.csv").read_bytes()
    assert ours == (shared_dir / "reference" / "pocket_simulations.csv").read_bytes()
