"""Is every fault of weights one clear message, and what is left out counted?"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort import Cohort, load_cohort, read_cohort_file, summarise_columns
from auditbook.errors import InputError
from auditbook.intake import warn_cohort as list_cautions

TEXT = """
name = "survey"
[data]
path = "survey.csv"
[outcome]
column = "event"
event = 1
[weight]
column = "wt"
strata = "stratum"
cluster = "psu"
[attributes.sex]
column = "sex"
[scores.m]
column = "score"
kind = "probability"
"""


def warn_cohort(cohort: Cohort) -> list[str]:
    """Write the cautions about a cohort."""
    return [str(caution) for caution in list_cautions(cohort)]


def make_table(n: int = 200) -> pd.DataFrame:
    """Make the records of four strata with two clusters each."""
    rng = np.random.default_rng(1)
    place = np.arange(n)
    return pd.DataFrame(
        {
            "event": place % 3 == 0,
            "wt": rng.integers(50, 150, n) / 64,
            "stratum": place % 4 + 101,
            "psu": place // 4 % 2 + 1,
            "sex": np.where(place % 5 < 2, "F", "M"),
            "score": rng.random(n).round(3),
            "age": rng.integers(18, 80, n),
        }
    ).astype({"event": int})


def load(folder: Path, table: pd.DataFrame, text: str = TEXT) -> Cohort:
    """Write a cohort and load it."""
    table.to_csv(folder / "survey.csv", index=False)
    path = folder / "survey.toml"
    path.write_text(text, encoding="utf-8")
    return load_cohort(read_cohort_file(path), cache_dir=folder)


def test_weights_strata_and_clusters_are_read_and_are_no_features(tmp_path: Path) -> None:
    cohort = load(tmp_path, make_table())
    assert cohort.survey is not None
    assert cohort.survey.weight.tolist() == cohort.table["wt"].tolist()
    assert sorted(cohort.survey.weight) == sorted(make_table()["wt"])
    assert sorted(set(cohort.survey.stratum.tolist())) == [0, 1, 2, 3]
    assert cohort.feature_columns == ("age",) or set(cohort.feature_columns) == {"sex", "age"}
    roles = summarise_columns(cohort).set_index("column")["role"]
    assert roles[["wt", "stratum", "psu"]].tolist() == ["weight", "survey design", "survey design"]


def test_records_without_weight_or_of_weight_0_are_left_out_and_counted(tmp_path: Path) -> None:
    table = make_table()
    table.loc[[3, 4], "wt"] = np.nan
    table.loc[5, "wt"] = 0
    cohort = load(tmp_path, table)
    assert {part.reason: part.rows for part in cohort.left_out if part.rows} == {
        "weight missing": 2,
        "weight 0": 1,
    }
    assert len(cohort.survey.weight) == len(cohort.table) == 197


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([-1.0, -2.0], "[weight] column: 'wt' is below 0 in 2 rows"),
        (["inf", 1.0], "[weight] column: 'wt' is no finite number in 1 row ("),
        (["many", "few"], "[weight] column: 'wt' is no finite number in 2 rows ('many', 'few')"),
    ],
)
def test_faulty_weights_are_named_and_counted(tmp_path: Path, values: list[object], said: str) -> None:
    table = make_table().astype({"wt": object})
    table.loc[[7, 8], "wt"] = values
    with pytest.raises(InputError) as found:
        load(tmp_path, table)
    assert len(found.value.args) == 1
    assert said in str(found.value)


def test_weights_all_zero_or_all_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'wt' is 0 in all 200 records, so that they stand for nobody"):
        load(tmp_path, make_table().assign(wt=0))
    with pytest.raises(InputError, match="'wt' is missing in all 200 records"):
        load(tmp_path, make_table().assign(wt=np.nan))


def test_blank_stratum_is_refused_with_what_to_do(tmp_path: Path) -> None:
    table = make_table().astype({"stratum": object})
    table.loc[9, "stratum"] = ""
    with pytest.raises(InputError, match="'stratum' is missing in 1 of 200 records; fill it in, or leave"):
        load(tmp_path, table)


def test_design_without_weights_and_unknown_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\[weight\] column: is missing; name the column"):
        load(tmp_path, make_table(), TEXT.replace('column = "wt"\n', ""))
    with pytest.raises(InputError, match=r"\[weight\] cluster: survey.csv has no column 'pso'"):
        load(tmp_path, make_table(), TEXT.replace('"psu"', '"pso"'))
    with pytest.raises(InputError, match=r"\[weight\] column: 'event' is the outcome"):
        load(tmp_path, make_table(), TEXT.replace('"wt"', '"event"'))


def test_units_across_clusters_are_refused(tmp_path: Path) -> None:
    table = make_table().assign(patient=lambda t: np.arange(len(t)) // 2)
    text = TEXT.replace("[attributes.sex]", '[unit]\ncolumn = "patient"\n[attributes.sex]')
    with pytest.raises(InputError, match=r"\[weight\] cluster: some units lie in several clusters"):
        load(tmp_path, table, text)
    within = table.assign(patient=table["stratum"] * 1_000 + table["psu"] * 100 + np.arange(len(table)) // 20)
    assert load(tmp_path, within, text).survey is not None


def test_stratum_with_one_cluster_is_pointed_out(tmp_path: Path) -> None:
    table = make_table()
    table.loc[table["stratum"] == 102, "psu"] = 1
    said = [text for text in warn_cohort(load(tmp_path, table)) if "[weight]" in text]
    assert len(said) == 1
    assert "1 of 4 strata holds a single cluster" in said[0]
    assert not [text for text in warn_cohort(load(tmp_path, make_table())) if "[weight]" in text]


def test_profile_with_fewer_rows_keeps_each_weight_with_its_record(tmp_path: Path) -> None:
    table = make_table()
    table.to_csv(tmp_path / "survey.csv", index=False)
    (tmp_path / "survey.toml").write_text(TEXT, encoding="utf-8")
    cohort = load_cohort(read_cohort_file(tmp_path / "survey.toml"), max_rows=50, cache_dir=tmp_path)
    assert cohort.survey.weight.tolist() == cohort.table["wt"].tolist()
