"""The panel file is read whole, or refused with every fault named."""

import pickle
from dataclasses import replace

import pytest
from sklearn.pipeline import Pipeline

from auditbook.errors import InputError
from auditbook.scoring.panel import ModelConfig, choose_models, make_classifier, read_panel

GOOD = '[a]\ntitle = "A"\nfamily = "linear"\nclass = "sklearn.linear_model.LogisticRegression"\n'


def read_text(tmp_path, text):
    path = tmp_path / "panel.toml"
    path.write_text(text, encoding="utf-8")
    return read_panel(path)


def test_canonical_xgboost_has_the_published_configuration():
    config = read_panel()["xgboost"]
    published = {"n_estimators": 1000, "max_depth": 10, "learning_rate": 0.05}
    published |= {"subsample": 0.8, "colsample_bytree": 0.8, "tree_method": "hist"}
    assert config.parameters == published | {"n_jobs": 2}
    assert not config.scale


def test_every_model_of_the_panel_can_be_made():
    for name, config in read_panel().items():
        classifier = make_classifier(config, seed=7, jobs=1)
        assert hasattr(type(classifier), "predict_proba"), name
        assert isinstance(classifier, Pipeline) == config.scale


PUBLISHED = {
    *("logistic", "decision_tree", "random_forest", "gradient_boosting", "adaboost", "xgboost"),
    *("lightgbm", "catboost", "hist_gradient_boosting", "bagging", "extra_trees", "stacking"),
}


def test_the_panel_has_the_twelve_published_models():
    assert set(read_panel()) == PUBLISHED


def test_a_stack_is_made_of_models_of_the_panel_with_their_configuration():
    panel = read_panel()
    stack = panel["stacking"]
    assert [member.name for member in stack.members] == ["logistic", "decision_tree", "lightgbm"]
    assert all(member == panel[member.name] for member in stack.members)
    assert stack.packages == {"scikit-learn", "lightgbm"}
    made = dict(make_classifier(stack, seed=7, jobs=1).estimators)
    assert made["decision_tree"].random_state == made["lightgbm"].random_state == 7
    assert isinstance(made["logistic"], Pipeline)
    changed = replace(stack, members=(replace(stack.members[0], scale=False), *stack.members[1:]))
    assert changed.describe() != stack.describe()


def test_a_configuration_can_be_sent_to_another_process():
    for config in read_panel().values():
        assert pickle.loads(pickle.dumps(config)) == config


def test_seed_and_jobs_reach_the_class_that_takes_them():
    classifier = make_classifier(read_panel()["lightgbm"], seed=7, jobs=1)
    assert (classifier.random_state, classifier.n_jobs) == (7, 1)
    logistic = make_classifier(read_panel()["logistic"], seed=7, jobs=1)[-1]
    assert logistic.random_state == 7


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_xgboost_has_the_same_threads_on_any_number_of_cores(jobs):
    """On 70,000 records of the default cohort, one thread and two grew other trees."""
    assert make_classifier(read_panel()["xgboost"], seed=7, jobs=jobs).n_jobs == 2


def test_what_determines_scores_leaves_out_titles_and_cores():
    described = read_panel()["xgboost"].describe()
    assert not {"title", "family", "jobs_key"} & set(described)


def test_a_model_is_added_by_one_table(tmp_path):
    added = GOOD.replace("linear_model.LogisticRegression", "tree.DecisionTreeClassifier")
    config = read_text(tmp_path, added + "[a.parameters]\nmax_depth = 2\n")["a"]
    assert make_classifier(config, seed=1, jobs=1).max_depth == 2
    assert config.packages == {"scikit-learn"}


def test_parameters_cannot_be_changed_after_reading():
    with pytest.raises(TypeError):
        read_panel()["xgboost"].parameters["max_depth"] = 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1", "'a' stands outside a table"),
        ("[a", "cannot be read as TOML"),
        (GOOD + "titel = 'x'\n", r"unknown key 'titel' \(did you mean 'title'\?\)"),
        (GOOD.replace('"linear"', '"magic"'), "family must be one of linear, tree"),
        (GOOD.replace("sklearn.", "os."), "class must be the dotted name of a class of sklearn"),
        (GOOD.replace("sklearn.linear_model.LogisticRegression", "sklearn"), "class must be the dotted name"),
        (GOOD.replace('title = "A"\n', ""), r"\[a\] has no title"),
        (GOOD.replace("[a]", '["../a"]'), "small letters, digits and underscores"),
        (GOOD + "scale = 1\n", "scale must be true or false, found 1"),
        (GOOD + 'members = ["a"]\n', "members must be a list of two or more names"),
        (GOOD + 'members = ["b", "b"]\n', "members must be a list of two or more names, each once"),
        (GOOD + 'members = ["a", "c"]\n' + GOOD.replace("[a]", "[ab]"), r"\[a\] members: 'c' is no model"),
    ],
)
def test_a_faulty_panel_file_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_text(tmp_path, text)


def test_all_faults_are_told_at_once(tmp_path):
    with pytest.raises(InputError) as raised:
        read_text(tmp_path, GOOD + "scale = 1\nsede_key = 'x'\n[b]\n")
    assert len(raised.value.faults) == 5


def test_an_absent_panel_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"gone\.toml cannot be read"):
        read_panel(tmp_path / "gone.toml")


def test_an_unknown_model_gets_the_nearest_name():
    with pytest.raises(InputError, match=r"unknown model 'xgbost' \(did you mean 'xgboost'\?\)"):
        choose_models(["xgbost"], read_panel())


def test_a_model_listed_twice_is_refused():
    with pytest.raises(InputError, match="'logistic' is listed more than once"):
        choose_models(["logistic", "logistic"], read_panel())


def test_models_come_in_the_order_asked_for():
    assert [config.name for config in choose_models(["xgboost", "logistic"], read_panel())] == [
        "xgboost",
        "logistic",
    ]


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        ("sklearn.tree.NoSuchTree", {}),
        ("sklearn.nowhere.Tree", {}),
        ("sklearn.tree.DecisionTreeClassifier", {"depth": 3}),
    ],
)
def test_a_class_or_parameter_that_is_not_there_is_refused(estimator, parameters):
    config = ModelConfig("a", "A", "tree", estimator, parameters=parameters)
    with pytest.raises(InputError, match=r"\[a\] cannot be made"):
        make_classifier(config, seed=1, jobs=1)
