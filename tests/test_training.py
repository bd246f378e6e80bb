"""Trained scores are kept by what determines them, and never used for anything else."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from auditbook import training
from auditbook.errors import RunError
from auditbook.features import Features
from auditbook.panel import ModelConfig, read_panel
from auditbook.training import train_scores

TREE = ModelConfig(
    name="tree",
    title="Tree",
    family="tree",
    estimator="sklearn.tree.DecisionTreeClassifier",
    seed_key="random_state",
    parameters={"max_depth": 3, "max_features": 2},
)
BOOSTED = replace(read_panel()["xgboost"], parameters={"n_estimators": 4, "max_depth": 3, "subsample": 0.8})


def draw_features(seed=0, n=300, columns=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + 100, columns))
    outcome = (rng.random(n + 100) < 1 / (1 + np.exp(-2 * x[:, 0]))).astype(np.int8)
    names = tuple(f"a[{number}]<b>, \u00e9" for number in range(columns))
    return Features(x[:n], x[n:], names, ()), outcome[:n]


def train(tmp_path, *, config=TREE, features=None, outcome=None, seed=42, **options):
    made, truth = draw_features()
    features, outcome = features or made, truth if outcome is None else outcome
    return train_scores(config, features, outcome, seed=seed, jobs=1, cache_dir=tmp_path, **options)


def test_the_same_call_uses_the_scores_kept(tmp_path):
    said = []
    first = train(tmp_path)
    second = train(tmp_path, progress=said.append)
    assert (first.cached, second.cached) == (False, True)
    assert first.values.tobytes() == second.values.tobytes()
    assert said == ["Tree: scores kept from an earlier run"]


def test_force_trains_anew_to_the_same_scores(tmp_path):
    first, second = train(tmp_path), train(tmp_path, force=True)
    assert not second.cached
    assert first.values.tobytes() == second.values.tobytes()


def changed_inputs():
    features, outcome = draw_features()
    one_cell, one_audit_cell = features.train.copy(), features.audit.copy()
    one_cell[7, 2] += 1e-9
    one_audit_cell[7, 2] += 1e-9
    turned = outcome.copy()
    turned[0] = 1 - turned[0]
    return {
        "a training cell": {"features": replace(features, train=one_cell)},
        "an audited cell": {"features": replace(features, audit=one_audit_cell)},
        "an outcome": {"outcome": turned},
        "the seed": {"seed": 43},
        "a parameter": {"config": replace(TREE, parameters={"max_depth": 4, "max_features": 2})},
        "the scaling": {"config": replace(TREE, scale=True)},
        "the class": {"config": replace(TREE, estimator="sklearn.tree.ExtraTreeClassifier")},
    }


@pytest.mark.parametrize("what", changed_inputs())
def test_a_change_of_what_determines_scores_trains_anew(tmp_path, what):
    train(tmp_path)
    assert not train(tmp_path, **changed_inputs()[what]).cached
    assert train(tmp_path).cached


def test_another_version_of_a_library_or_of_the_code_trains_anew(tmp_path, monkeypatch):
    train(tmp_path)
    monkeypatch.setattr(training, "CODE_VERSION", training.CODE_VERSION + 1)
    assert not train(tmp_path).cached
    monkeypatch.undo()
    monkeypatch.setattr(training.metadata, "version", lambda name: "0.0")
    assert not train(tmp_path).cached


def test_a_new_title_keeps_the_scores(tmp_path):
    train(tmp_path)
    assert train(tmp_path, config=replace(TREE, title="Oak")).cached


def only_file(folder):
    (path,) = folder.iterdir()
    return path


def test_a_corrupted_file_is_made_again(tmp_path):
    first = train(tmp_path)
    path = only_file(tmp_path)
    whole = path.read_bytes()
    for broken in (b"", b"PAR1", whole[: len(whole) // 2], whole[:-1], whole[::-1]):
        path.write_bytes(broken)
        again = train(tmp_path)
        assert not again.cached
        assert again.values.tobytes() == first.values.tobytes()
        assert path.read_bytes() == whole


@pytest.mark.parametrize("offset", range(0, 100, 9))
def test_no_single_changed_byte_changes_a_score(tmp_path, offset):
    first = train(tmp_path)
    path = only_file(tmp_path)
    whole = bytearray(path.read_bytes())
    whole[len(whole) * offset // 100] ^= 1
    path.write_bytes(whole)
    assert train(tmp_path).values.tobytes() == first.values.tobytes()


def test_scores_of_another_model_put_in_its_place_are_not_used(tmp_path):
    train(tmp_path / "other", seed=1)
    first = train(tmp_path / "own")
    only_file(tmp_path / "own").write_bytes(only_file(tmp_path / "other").read_bytes())
    again = train(tmp_path / "own")
    assert not again.cached
    assert again.values.tobytes() == first.values.tobytes()


def test_scores_edited_by_hand_are_not_used(tmp_path):
    first = train(tmp_path)
    path = only_file(tmp_path)
    table = pq.read_table(path)
    values = np.r_[0.5, table.column("score").to_numpy()[1:]]
    pq.write_table(table.set_column(0, "score", [values]), path)
    assert train(tmp_path).values.tobytes() == first.values.tobytes()


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(training.pq, "write_table", interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("config", [TREE, BOOSTED, read_panel()["logistic"]], ids=lambda config: config.name)
def test_cores_do_not_change_a_byte(tmp_path, config):
    features, outcome = draw_features(n=2000)
    one, two = (
        train_scores(config, features, outcome, seed=1, jobs=jobs, cache_dir=tmp_path / str(jobs))
        for jobs in (1, 2)
    )
    assert one.values.tobytes() == two.values.tobytes()


LIGHT = ModelConfig(
    name="light",
    title="Light",
    family="boosted trees",
    estimator="lightgbm.LGBMClassifier",
    seed_key="random_state",
    jobs_key="n_jobs",
    parameters={"n_estimators": 3, "verbose": -1},
)
CAT = ModelConfig(
    name="cat",
    title="Cat",
    family="boosted trees",
    estimator="catboost.CatBoostClassifier",
    seed_key="random_seed",
    jobs_key="thread_count",
    parameters={"iterations": 3, "verbose": False, "allow_writing_files": False},
)


@pytest.mark.parametrize(
    "config", [TREE, BOOSTED, LIGHT, CAT, read_panel()["logistic"]], ids=lambda config: config.name
)
def test_every_library_takes_features_of_strange_names(tmp_path, config, capfd):
    scores = train(tmp_path, config=config).values
    assert scores.shape == (100,)
    assert scores.dtype == np.float64
    assert scores.std() > 0
    assert capfd.readouterr() == ("", "")


def test_warnings_of_a_library_are_told_and_not_shown(tmp_path):
    said = []
    slow = replace(read_panel()["logistic"], parameters={"max_iter": 1})
    train(tmp_path, config=slow, progress=said.append)
    assert any(text.startswith("Logistic regression warns: lbfgs failed to converge") for text in said)


def test_a_library_that_fails_names_the_model(tmp_path):
    with pytest.raises(RunError, match=r"^Tree could not be trained: .*max_depth"):
        train(tmp_path, config=replace(TREE, parameters={"max_depth": -1}))
    assert list(tmp_path.iterdir()) == []
