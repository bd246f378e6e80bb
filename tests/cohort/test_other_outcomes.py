"""Other outcomes of a cohort are read, checked and kept away from the models."""

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.run.tables import make_tables
from auditbook.scoring import score_cohort
from auditbook.settings import Protocol

FILE = """name = "c"
[data]
path = "c.csv"
[outcome]
column = "cost"
event = "> 50"
[attributes.sex]
column = "sex"
[outcomes.ill]
column = "conditions"
event = ">= 2"
[scores.m]
column = "s"
kind = "rank"
percentile = 80
[panel]
models = []
"""


def write(tmp_path, text=FILE, n=400):
    rng = np.random.default_rng(1)
    conditions = rng.integers(0, 5, n).astype(float)
    conditions[:7] = np.nan
    frame = pd.DataFrame(
        {
            "cost": rng.random(n) * 100,
            "conditions": conditions,
            "sex": rng.choice(["F", "M"], n),
            "s": rng.random(n),
        }
    )
    frame.to_csv(tmp_path / "c.csv", index=False)
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    return frame


def load(tmp_path, **how):
    return load_cohort(read_cohort_file(tmp_path / "c.toml"), cache_dir=tmp_path, **how)


def test_another_outcome_is_read_and_is_no_feature(tmp_path):
    frame = write(tmp_path)
    cohort = load(tmp_path)
    other, conditions = cohort.other_outcomes[0], cohort.table["conditions"]
    assert other.name == "ill"
    assert (np.isnan(other.cells) == conditions.isna()).all()
    assert np.isnan(other.cells).sum() == frame["conditions"].isna().sum() == 7
    there = conditions.notna()
    assert (other.cells[there] == (conditions[there] >= 2)).all()
    assert "conditions" not in cohort.feature_columns
    assert len(load(tmp_path, max_rows=100).other_outcomes[0].cells) == 100


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"conditions"', '"condition"', "has no column 'condition'"),
        ('">= 2"', '">= 20"', "[outcomes.ill] event"),
        ('">= 2"', '">= two"', "not a number"),
        ('column = "conditions"\nevent = ">= 2"', 'column = "cost"\nevent = "> 50"', "is the outcome itself"),
        ('event = ">= 2"\n', "", "[outcomes.ill]"),
        ("[outcomes.ill]", "[outcomes.cost]", "has the name of the outcome"),
        ('"conditions"', '"s"', "it cannot be both"),
        ('event = "> 50"', 'type = "continuous"', "beside an event only"),
    ],
)
def test_a_mistake_gets_a_clear_message(tmp_path, old, new, told):
    write(tmp_path, FILE.replace(old, new))
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert told in str(caught.value)


def test_costs_and_illness_of_the_public_release_disagree_about_black_patients(tmp_path, shared_dir, root):
    path = shared_dir / "cohorts" / "obermeyer_holdout.parquet"
    if not path.is_file():
        pytest.skip("the public release is not there")
    text = (root / "data" / "cohorts" / "obermeyer.toml").read_text(encoding="utf-8")
    text = text.replace('column = "gagne_sum_t"', 'column = "cost_t"').replace(
        'event = ">= 3"', 'event = "> 10000"'
    )
    text += '\n[outcomes.conditions]\ncolumn = "gagne_sum_t"\nevent = ">= 3"\n'
    (tmp_path / "o.toml").write_text(text, encoding="utf-8")
    cohort = load_cohort(read_cohort_file(tmp_path / "o.toml"), data=path, cache_dir=tmp_path)
    protocol = Protocol(resamples=2, halvings=2, metrics=("EOPP", "PP"))
    tables = make_tables(cohort, score_cohort(cohort, protocol=protocol, cache_dir=tmp_path), protocol)
    agreement = tables["label_agreement"].set_index("group")
    # At the same illness less is spent on Black patients: fewer of their ill are costly
    assert agreement.loc["Black", "share_of_other"] < agreement.loc["White", "share_of_other"]
    change = (
        tables["label_change"].query("model == 'deployed' and outcome == 'conditions'").set_index("metric")
    )
    frame, deployed = cohort.table, cohort.table["risk_score_t"]
    chosen = deployed >= np.percentile(deployed, 97, method="higher")
    ill = frame["gagne_sum_t"] >= 3
    tpr = chosen[ill].groupby(cohort.attributes[0].codes[ill.to_numpy()]).mean()
    assert change.loc["EOPP", "estimate"] == pytest.approx(tpr.max() - tpr.min())
