"""Trained scores are kept by what determines them, and never used for anything else."""

import os
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from auditbook.errors import RunError
from auditbook.scoring import train as training
from auditbook.scoring.features import Features
from auditbook.scoring.panel import ModelConfig, make_classifier, read_panel
from auditbook.scoring.train import Training, train_panel, train_scores

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


def small(config):
    """Give a model of the panel few trees, so that a test takes no time."""
    sizes = {"n_estimators": 3, "max_iter": 3, "iterations": 3}
    kept = {"max_iter": 1000} if config.name == "logistic" else {}
    fewer = {key: sizes[key] for key in config.parameters if key in sizes} | kept
    members = tuple(small(member) for member in config.members)
    return replace(config, parameters=dict(config.parameters) | fewer, members=members)


SMALL_PANEL = [small(config) for config in read_panel().values()]
STRANGE = (
    *(
        "age, in [years]",
        "<b>risk</b>",
        '{"json": "x"}',
        "caf\u00e9 / \u00fc\u00df",
        'it\'s "quoted"',
        "  ",
        "",
    ),
    *("a b", "a_b", "a-b", "A B", "f0", "Column_0", "x" * 300, "\U0001f642", "=1+1", "feature\twith\ntabs"),
)


@pytest.mark.parametrize("config", SMALL_PANEL, ids=lambda config: config.name)
def test_every_model_takes_features_of_strange_names_and_is_quiet(tmp_path, monkeypatch, capfd, config):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    features, outcome = draw_features(columns=len(STRANGE))
    named = replace(features, names=STRANGE, unit=rng.integers(0, 20, len(outcome)))
    scores = train(tmp_path / "scores", config=config, features=named, outcome=outcome).values
    assert scores.shape == (100,)
    assert scores.dtype == np.float64
    assert scores.std() > 0
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["scores"]
    plain = replace(named, names=tuple(f"x{number}" for number in range(len(STRANGE))))
    again = train(tmp_path / "plain", config=config, features=plain, outcome=outcome).values
    assert again.tobytes() == scores.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("config", SMALL_PANEL, ids=lambda config: config.name)
def test_cores_change_no_byte_of_any_model_of_the_panel(tmp_path, config):
    threads = config.jobs_key or "n_jobs" in config.parameters
    features, outcome = draw_features(n=20_000 if threads else 1_500, columns=8)
    one, two = (
        train_scores(config, features, outcome, seed=1, jobs=jobs, cache_dir=tmp_path / str(jobs))
        for jobs in (1, 2)
    )
    assert one.values.tobytes() == two.values.tobytes()


STACK = ModelConfig(
    name="stack",
    title="Stack",
    family="stack",
    estimator="sklearn.ensemble.StackingClassifier",
    members=(TREE, read_panel()["logistic"]),
    parameters={"stack_method": "predict_proba"},
)


def test_members_of_a_stack_are_fitted_on_other_units_than_they_are_asked_about(tmp_path, monkeypatch):
    features, outcome = draw_features()
    unit = np.arange(len(outcome)) % 7
    seen = []

    def watch(config, *, folds=None, **options):
        if folds is not None:
            seen.extend((set(unit[rest]), set(unit[fold])) for rest, fold in folds)
        return make_classifier(config, folds=folds, **options)

    monkeypatch.setattr(training, "make_classifier", watch)
    train(tmp_path, config=STACK, features=replace(features, unit=unit))
    assert len(seen) == 5
    assert all(not rest & fold for rest, fold in seen)


def test_units_determine_a_stack_and_no_other_model(tmp_path):
    features, _ = draw_features()
    unit = np.arange(len(features.train)) % 7
    for config, kept in ((STACK, False), (TREE, True)):
        train(tmp_path, config=config)
        assert train(tmp_path, config=config, features=replace(features, unit=unit)).cached is kept


OAK, ASH = replace(TREE, name="oak", title="Oak"), replace(TREE, name="ash", title="Ash")


def train_all(tmp_path, configs, *, jobs=2, said=None, **options):
    features, outcome = draw_features(n=600)
    told = {"progress": said.append} if said is not None else {}
    trainings = [Training(config, features) for config in configs]
    return train_panel(trainings, outcome, seed=1, jobs=jobs, cache_dir=tmp_path, **told, **options)


def test_models_trained_side_by_side_are_those_trained_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "FEW_RECORDS", 1)
    said = []
    configs = [BOOSTED, OAK, STACK, read_panel()["logistic"]]
    beside = train_all(tmp_path / "beside", configs, said=said)
    alone = train_all(tmp_path / "alone", configs, jobs=1)
    assert [one.values.tobytes() for one in beside] == [one.values.tobytes() for one in alone]
    assert said[0] == "training 4 models on 600 records, 2 side by side"
    assert [text.split("(")[-1] for text in said[1:]] == [f"{done} of 4)" for done in (1, 2, 3, 4)]
    again = train_all(tmp_path / "beside", configs)
    assert all(one.cached for one in again)


@pytest.mark.parametrize("few", [1, 5_000], ids=["side by side", "in turn"])
def test_a_model_that_fails_is_named_and_the_finished_ones_are_kept(tmp_path, monkeypatch, few):
    monkeypatch.setattr(training, "FEW_RECORDS", few)
    broken = replace(ASH, parameters={"max_depth": -1})
    with pytest.raises(RunError, match=r"^Ash could not be trained: .*max_depth"):
        train_all(tmp_path, [OAK, broken, BOOSTED])
    said = []
    train_all(tmp_path, [OAK, ASH, BOOSTED], said=said)
    assert said[0] == "Oak: scores kept from an earlier run"


def test_a_worker_that_is_stopped_is_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "FEW_RECORDS", 1)
    killer = replace(ASH, estimator="sklearn.tree.DecisionTreeClassifier", parameters={"max_depth": Killer()})
    with pytest.raises(RunError, match=r"stopped from outside; .*--jobs 1 .*not finished: .*Ash"):
        train_all(tmp_path, [OAK, killer])


class Killer(int):
    """A depth that ends the process that reads it from another one."""

    def __reduce__(self):
        return os._exit, (1,)


def test_few_records_are_trained_in_turn(tmp_path):
    said = []
    train_all(tmp_path, [OAK, ASH], said=said)
    assert said[0] == "Oak: training on 600 records"
    assert said[1].startswith("Oak: trained in ")
    assert said[1].endswith("(1 of 2)")


def test_warnings_of_a_library_are_told_and_not_shown(tmp_path):
    said = []
    slow = replace(read_panel()["logistic"], parameters={"max_iter": 1})
    train(tmp_path, config=slow, progress=said.append)
    assert any(text.startswith("Logistic regression warns: lbfgs failed to converge") for text in said)


def test_a_library_that_fails_names_the_model(tmp_path):
    with pytest.raises(RunError, match=r"^Tree could not be trained: .*max_depth"):
        train(tmp_path, config=replace(TREE, parameters={"max_depth": -1}))
    assert list(tmp_path.iterdir()) == []
