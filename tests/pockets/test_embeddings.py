"""Tables with long series of embedding columns: pockets are named in readable words, and told briefly."""

import json

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.pocket_settings import MOST_CANDIDATES, PocketSettings
from auditbook.pockets.audit import make_pockets
from auditbook.pockets.prepare import describing_columns

COHORT = """\
name = "images"
[data]
path = "images.csv"
[outcome]
column = "effusion"
event = 1
[attributes.sex]
column = "sex"
[scores.risk]
column = "risk"
kind = "probability"
[features]
exclude = ["view"]
[panel]
models = []
[pockets]
partition = "leiden"
trees = 20
draws = 199
choice_records = 50
describe = ["view"]
"""


def draw_images(rows, columns, seed=1):
    """Images of two kinds, one of them from the bedside, where the score is too high."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, rows)
    place = np.column_stack([3.0 * kind, rng.normal(size=(rows, 2))])
    noise = rng.normal(0, 0.4, (rows, columns))
    values = np.maximum(place @ rng.normal(size=(3, columns)) + noise, 0).round(3)
    risk = np.where(kind == 1, 0.3, 0.1)
    table = pd.DataFrame(values, columns=[f"emb_{number}" for number in range(columns)])
    return table.assign(
        effusion=(rng.random(rows) < risk).astype(int),
        sex=rng.choice(["F", "M"], rows),
        view=np.where(rng.random(rows) < np.where(kind == 1, 0.95, 0.1), "AP", "PA"),
        age=rng.integers(20, 90, rows),
        risk=(risk + 0.15 * (kind == 1)).round(3),
    )


def load_images(folder, table, text=COHORT):
    table.to_csv(folder / "images.csv", index=False)
    (folder / "images.toml").write_text(text, encoding="utf-8")
    return load_cohort(read_cohort_file(folder / "images.toml"), cache_dir=folder)


def audit_images(folder, table, text=COHORT):
    cohort = load_images(folder, table, text)
    return make_pockets(cohort, settings=cohort.file.pockets, seed=42, cache_dir=folder / "scores", jobs=1)


@pytest.mark.parametrize(("rows", "columns"), [(1_600, 60), pytest.param(8_000, 512, marks=pytest.mark.slow)])
def test_pockets_of_embeddings_are_named_by_what_people_can_read(tmp_path, rows, columns):
    found = audit_images(tmp_path, draw_images(rows, columns))
    pockets = found.tables["pockets"]
    assert {"mostly view = AP", "mostly view = PA"} <= set(pockets["name"])
    assert not any("emb" in text for text in (*pockets["name"], *pockets["description"]))
    told = json.dumps(found.status)
    assert found.status["n_columns"] == columns + 1
    assert sorted(found.status["columns"]) == ["age", f"emb_0 … emb_{columns - 1}"]
    assert "emb_1 " not in told
    errors = found.tables["pocket_errors"]
    too_high = errors[(errors["direction"] == "over") & (errors["pocket"] != "overall")]
    names = pockets.set_index(["map", "pocket"])["name"]
    assert {names[key] for key in zip(too_high["map"], too_high["pocket"], strict=True)} == {
        "mostly view = AP"
    }


def test_left_out_the_describing_columns_are_the_readable_features(tmp_path):
    table = draw_images(300, 60)
    cohort = load_images(tmp_path, table, COHORT.replace('describe = ["view"]\n', ""))
    assert describing_columns(cohort, cohort.file.pockets) == ("age",)
    alone = load_images(tmp_path, table.drop(columns="age"), COHORT.replace('describe = ["view"]\n', ""))
    assert len(describing_columns(alone, alone.file.pockets)) == 60


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ('"effusion"', '"effusion" is an outcome, and a pocket is named before any is read'),
        ('"risk"', '"risk" is a given score'),
        ('"veiw"', "has no column 'veiw'"),
    ],
)
def test_what_cannot_describe_a_pocket_is_refused(tmp_path, named, says):
    text = COHORT.replace('describe = ["view"]', f"describe = [{named}]")
    with pytest.raises(InputError, match=r"\[pockets\] describe") as caught:
        load_images(tmp_path, draw_images(200, 50), text)
    assert says in str(caught.value).replace("'effusion'", '"effusion"').replace("'risk'", '"risk"')


def test_a_split_tries_a_third_of_few_columns_and_at_most_fifty_of_many():
    left_out = PocketSettings()
    assert left_out.candidates_of(columns=30) == pytest.approx(1 / 3)
    assert left_out.candidates_of(columns=512) * 512 == pytest.approx(MOST_CANDIDATES)
    assert PocketSettings(candidates=0.5).candidates_of(columns=512) == 0.5
    assert left_out.candidates_of(columns=0) == pytest.approx(1 / 3)


def test_a_map_made_for_errors_may_be_finer_than_groups_can_be_compared_in(tmp_path):
    text = COHORT.replace("choice_records = 50", 'choice_records = 250\nchoice_for = "errors"')
    found = audit_images(tmp_path, draw_images(1_600, 60), text)
    levels = found.tables["pocket_levels"]
    assert levels.loc[levels["chosen"], "supported"].tolist() == [2]
    assert (found.tables["pockets"]["map"] == "forest").sum() >= 2
