"""One table gives one result, whatever the order of its rows and columns and the format of its file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from auditbook.cli import main
from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.scoring import score_cohort

TEXT = """\
name = "stays"
[data]
path = "{path}"
{form}
[outcome]
column = "died"
event = 1
[site]
column = "hospital"
[unit]
column = "person"
[attributes.race]
column = "race"
missing = "group"
[attributes.age]
column = "age"
bins = [0, 40, 65]
[scores.given]
column = "risk"
kind = "probability"
[scores.printed]
column = "printed"
kind = "probability"
threshold = 0.7
[scores.ranked]
column = "points"
kind = "rank"
percentile = 80
[features]
late = ["lab"]
exclude = ["free"]
[panel]
models = {models}
[pockets]
run = {pockets}
partition = "leiden"
trees = 20
draws = 99
"""
SEMICOLONS = 'format = { separator = ";", decimal = ",", encoding = "latin-1" }'


def make_stays(rows=500):
    """Draw stays with all that a format could bend: long and zero-led ids, blanks, many and few digits."""
    rng = np.random.default_rng(16)
    age = rng.integers(18, 95, rows)
    risk = 1 / (1 + np.exp(2.5 - 0.04 * age + rng.normal(0, 1, rows)))
    return pd.DataFrame(
        {
            "died": (rng.random(rows) < risk).astype(int),
            "race": rng.choice(["Ñandú", "B, 1", "c", None], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "age": age,
            "hospital": [f"{number:04d}" for number in rng.integers(0, 12, rows)],
            "person": [9_007_199_254_740_993_000 + number // 2 for number in range(rows)],
            "risk": keep_digits(risk),
            "printed": rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], rows),
            "points": rng.normal(0, 1, rows).round(2),
            "lab": np.where(rng.random(rows) < 0.2, np.nan, rng.integers(1, 99, rows)),
            "pulse": keep_digits(rng.normal(75, 12, rows) / 3),
            "code": rng.choice(["012", "12", "450"], rows),
            "free": rng.choice(["a", "b", "line\nbreak"], rows),
        }
    )


def keep_digits(values):
    """Keep the fifteen digits of a number that a workbook holds."""
    return np.array([float(f"{value:.15g}") for value in values])


def shuffle(table, seed=5):
    """Put rows and columns into another order."""
    rng = np.random.default_rng(seed)
    return table.iloc[rng.permutation(len(table))].reset_index(drop=True)[rng.permutation(table.columns)]


def to_arrow(table):
    """Make an Arrow table with the printed scores in single precision, as learning libraries return them."""
    made = pa.Table.from_pandas(table, preserve_index=False)
    place = made.column_names.index("printed")
    return made.set_column(place, "printed", made["printed"].cast(pa.float32()))


def with_text_ids(table):
    """Write long ids as text, where a format has no whole numbers of that length."""
    return table.assign(person=table["person"].astype(str))


def write_statistics(table, path):
    """Write a file of Stata, SPSS or SAS."""
    import pyreadstat

    kind = {".dta": "dta", ".sav": "sav", ".xpt": "xport"}[path.suffix]
    getattr(pyreadstat, f"write_{kind}")(with_text_ids(table), path)


def write_r(table, path):
    import rdata

    rdata.write_rds(path, with_text_ids(table))


def write_lines(table, path):
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    path.write_text("".join(f"{json.dumps(row, default=int)}\n" for row in rows), encoding="utf-8")


WRITERS = {
    "a.csv": lambda table, path: table.to_csv(path, index=False),
    "semicolons.csv": lambda table, path: table.to_csv(
        path, index=False, sep=";", decimal=",", encoding="latin-1"
    ),
    "a.tsv.gz": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "a.parquet": lambda table, path: pq.write_table(to_arrow(table), path),
    "a.feather": lambda table, path: feather.write_feather(to_arrow(table), path),
    "a.xlsx": lambda table, path: with_text_ids(table).to_excel(path, index=False),
    "a.ods": lambda table, path: with_text_ids(table).to_excel(path, index=False, engine="odf"),
    "a.dta": write_statistics,
    "a.sav": write_statistics,
    "a.xpt": write_statistics,
    "a.rds": write_r,
    "a.jsonl": write_lines,
}


def write(folder: Path, name: str, table: pd.DataFrame, *, models='["logistic"]', pockets="false") -> Path:
    """Write a table in one format, with its cohort file."""
    WRITERS[name](table, folder / name)
    form = SEMICOLONS if name == "semicolons.csv" else ""
    path = folder / f"{name.split('.')[0]}-{name.split('.')[1]}.toml"
    path.write_text(TEXT.format(path=name, form=form, models=models, pockets=pockets), encoding="utf-8")
    return path


def score(path: Path):
    """Load a cohort, train its model, and say what of it reaches results."""
    cohort = load_cohort(read_cohort_file(path), cache_dir=path.parent)
    scored = score_cohort(cohort, protocol=cohort.file.protocol, cache_dir=path.parent / path.stem, jobs=1)
    records = scored.records
    values = [records.outcome, records.site, records.unit, scored.audit, scored.train]
    values += [item.codes for item in records.attributes]
    values += [part for one in records.scores for part in (one.values, one.decisions)]
    return {
        "names": (cohort.feature_columns, scored.features, [item.groups for item in records.attributes]),
        "bytes": [np.asarray(value).tobytes() for value in values],
        "counts": (cohort.rows_read, cohort.left_out),
        "selected": {one.model: one.decisions.sum() for one in records.scores},
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What the plain csv file gives; only read."""
    return score(write(tmp_path_factory.mktemp("plain"), "a.csv", make_stays()))


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "a.csv"])
def test_every_format_gives_the_same_records_decisions_and_trained_scores(tmp_path, plain, name):
    assert score(write(tmp_path, name, make_stays())) == plain


@pytest.mark.parametrize("seed", [1, 2])
def test_every_order_gives_the_same_records_decisions_and_trained_scores(tmp_path, plain, seed):
    assert score(write(tmp_path, "a.csv", shuffle(make_stays(), seed))) == plain


def audit(path: Path) -> dict[str, bytes]:
    """Audit a cohort on the command line and read its results."""
    run = path.parent / f"run-{path.stem}"
    assert main(["audit", str(path), "--profile", "smoke", "--jobs", "1", "--run-dir", str(run)]) == 0
    return {file.name: file.read_bytes() for file in sorted((run / "results").iterdir())}


def assert_same_results(folder: Path, names: dict[str, pd.DataFrame], **how) -> None:
    """Hold that tables written in several ways give results of the same bytes."""
    found = {name: audit(write(folder, name, table, **how)) for name, table in names.items()}
    first, *others = found
    assert len(found[first]) > 20
    assert b"printed" in found[first]["groups.csv"]
    for name in others:
        differing = [file for file in found[first] if found[name].get(file) != found[first][file]]
        assert (name, differing, len(found[name])) == (name, [], len(found[first]))


@pytest.mark.slow
def test_every_format_gives_the_same_bytes_of_results(tmp_path):
    assert_same_results(tmp_path, {name: make_stays() for name in WRITERS})


@pytest.mark.slow
def test_every_order_gives_the_same_bytes_of_boosted_trees_and_pockets(tmp_path):
    tables = {"a.csv": make_stays(1_500), "a.parquet": shuffle(make_stays(1_500))}
    models = '["logistic", "xgboost", "lightgbm"]'
    assert_same_results(tmp_path, tables, models=models, pockets="true")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
def test_scores_at_the_threshold_are_selected_from_text_and_from_single_precision(tmp_path, name):
    table = make_stays()
    assert score(write(tmp_path, name, table, models="[]"))["selected"] == {
        "given": (table["risk"] >= 0.5).sum(),
        "printed": (table["printed"] >= 0.7).sum(),
        "ranked": (table["points"] >= np.percentile(table["points"], 80, method="higher")).sum(),
    }
