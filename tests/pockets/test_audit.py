"""From a cohort file to the tables of the pocket audit: what changes them, what must not, and thin data."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.columns import TABLES as COLUMNS
from auditbook.errors import InputError
from auditbook.pockets.audit import TABLES, make_pockets
from auditbook.pockets.findings import list_review
from auditbook.pockets.prepare import build_world, map_columns, unit_kind
from auditbook.pockets.repair import list_findings
from auditbook.pockets.saving import digest_map, load_map
from auditbook.run.assign import place_records

COHORT = """\
name = "stays"

[data]
path = "stays.csv"

[outcome]
column = "event"
event = 1

[site]
column = "ward"

[unit]
column = "person"

[attributes.group]
column = "group"
reference = "Ærø"

[attributes.sex]
column = "sex"

[scores.risk]
column = "risk"
kind = "probability"

[scores.points]
column = "points"
kind = "rank"
percentile = 90

[scores.chosen]
column = "chosen"
kind = "decision"

[features]
late = ["bill"]

[panel]
models = []

[pockets]
partition = "leiden"
trees = 40
draws = 199
"""


def make_stays(rows=4_000, seed=1):
    """Stays of people in wards; the risk score misses what a high reading adds, for group B more."""
    rng = np.random.default_rng(seed)
    age, reading = rng.integers(20, 95, rows), rng.normal(size=rows)
    group = rng.choice(["Ærø", "B <i>", "C"], rows, p=[0.5, 0.4, 0.1])
    truth = 1 / (1 + np.exp(2.2 - 0.03 * (age - 57) - 1.5 * (reading > 0.5)))
    risk = 1 / (1 + np.exp(1.8 - 0.03 * (age - 57)))
    return pd.DataFrame(
        {
            "event": (rng.random(rows) < truth).astype(int),
            "ward": rng.integers(0, 40, rows).astype(str),
            "person": [f"p{number}" for number in rng.integers(0, rows // 2, rows)],
            "group": group,
            "sex": rng.choice(["F", "M"], rows),
            "risk": risk.round(4),
            "points": (100 * risk).round(1),
            "chosen": (risk > 0.3).astype(int),
            "age": age,
            "reading": np.where(rng.random(rows) < 0.1, np.nan, reading.round(3)),
            "kind": rng.choice(["planned", "urgent", ""], rows),
            "bill": (1000 * truth).round(2),
        }
    )


def write_stays(folder, table=None, text=COHORT):
    """Write a cohort file and its data, and load it."""
    (make_stays() if table is None else table).to_csv(folder / "stays.csv", index=False)
    (folder / "stays.toml").write_text(text, encoding="utf-8")
    return load_cohort(read_cohort_file(folder / "stays.toml"), cache_dir=folder)


def audit_in(folder, table=None, text=COHORT, *, seed=42, jobs=1, **settings):
    """Write a cohort and audit its pockets."""
    cohort = write_stays(folder, table, text)
    chosen = replace(cohort.file.pockets, **settings)
    return make_pockets(cohort, settings=chosen, seed=seed, cache_dir=folder / "scores", jobs=jobs)


@pytest.fixture
def audit(tmp_path):
    """Audit the pockets of a cohort of one's own."""
    return partial(audit_in, tmp_path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The audit of the stays as they are, made once; only read."""
    return audit_in(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def undivided(tmp_path_factory):
    """The audit of the stays in one pocket, since no smaller one has enough records; only read."""
    return audit_in(tmp_path_factory.mktemp("undivided"), choice_records=1_000_000)


def same(one, two):
    """Tell whether two audits have the same maps and the same tables."""
    for name in TABLES:
        pd.testing.assert_frame_equal(one.tables[name], two.tables[name])
    return [digest_map(each) for each in one.maps] == [digest_map(each) for each in two.maps]


def test_an_error_where_readings_are_high_is_found_and_named(audit):
    found = audit(make_stays(8_000), attributes=("sex",), exclude=("group",))
    errors, pockets = found.tables["pocket_errors"], found.tables["pockets"]
    flagged = errors[
        (errors["model"] == "risk") & (errors["quantity"] == "mu") & (errors["direction"] == "under")
    ]
    names = pockets.set_index(["map", "pocket"])["name"]
    told = [names[row["map"], row["pocket"]] for _, row in flagged.iterrows() if row["pocket"] != "overall"]
    assert told, pockets[["map", "name", "n_audit"]].to_string()
    assert any("high reading" in name for name in told), told


def test_every_table_has_its_columns_and_the_run_says_what_was_done(plain):
    columns = {name: list(table.columns) for name, table in plain.tables.items()}
    assert columns == {name: COLUMNS[name].names() for name in TABLES}
    status = plain.status
    assert status["status"] == "done"
    assert status["models"] == ["risk", "points"]
    assert status["unit_kind"] == "unit"
    assert sum(status["records"].values()) == 4_000
    assert any("chosen is a decision" in note for note in status["notes"])
    assert any("points is mapped" in note for note in status["notes"])
    json.dumps(status)


RANK = """
[scores.points]
column = "points"
kind = "rank"
percentile = 90
"""


def test_with_given_scores_all_records_serve_discovery_and_audit(audit):
    assert RANK in COHORT
    status = audit(text=COHORT.replace(RANK, "")).status
    assert (status["trained"], status["mapped"], status["models"]) == ([], [], ["risk"])
    assert status["records"]["development"] == status["units"]["development"] == 0
    units = status["units"]
    assert abs(units["graph"] + units["calibration"] - units["audit"]) <= 1


def test_a_score_that_is_mapped_keeps_its_development_records(audit):
    status = audit().status
    assert (status["trained"], status["mapped"]) == ([], ["points"])
    total = sum(status["units"].values())
    assert status["units"]["development"] == round(0.4 * total)
    mapped = audit(text=COHORT.replace(RANK, "") + 'isotonic = ["risk"]\n').status
    assert (mapped["mapped"], mapped["units"]["development"]) == (["risk"], round(0.4 * total))


def test_a_development_share_that_is_asked_for_is_kept(audit):
    status = audit(text=COHORT.replace(RANK, "") + "development = 0.2\n").status
    total = sum(status["units"].values())
    assert (status["units"]["development"], status["trained"]) == (round(0.2 * total), [])


def test_no_development_records_where_a_score_must_be_mapped_is_an_error(audit):
    with pytest.raises(InputError, match=r"\[pockets\] development: is 0, and points must be fitted"):
        audit(text=COHORT + "development = 0\n")


def test_maps_use_no_compared_attribute_no_name_and_no_late_column(tmp_path):
    cohort = write_stays(tmp_path)
    settings = cohort.file.pockets
    assert map_columns(cohort, settings) == ("age", "kind", "reading")
    assert map_columns(cohort, replace(settings, late=True)) == ("age", "bill", "kind", "reading")
    assert map_columns(cohort, replace(settings, attributes=("group",))) == ("age", "kind", "reading", "sex")
    assert map_columns(cohort, replace(settings, exclude=("age",))) == ("kind", "reading")
    assert unit_kind(cohort, replace(settings, unit="site")) == "site"
    assert unit_kind(cohort, replace(settings, unit="record")) == "record"


def test_audit_outcomes_change_neither_maps_nor_what_is_tested(plain, audit, tmp_path):
    cohort = write_stays(tmp_path)
    table = cohort.table
    world = build_world(cohort, settings=cohort.file.pockets, seed=42, cache_dir=tmp_path, jobs=1)
    rows = world.order[world.roles.audit]
    permuted = table.copy()
    permuted.loc[rows, "event"] = np.random.default_rng(7).permutation(table.loc[rows, "event"])
    after = audit(permuted)
    assert [digest_map(one) for one in plain.maps] == [digest_map(one) for one in after.maps]
    keys = ["model", "map", "quantity", "contrast", "pocket", "status", "reason", "n", "units"]
    one, two = (found.tables["pocket_errors"] for found in (plain, after))
    pd.testing.assert_frame_equal(one[keys], two[keys])
    assert not one["estimate"].equals(two["estimate"])
    for name in ("pockets", "pocket_groups", "pocket_levels"):
        pd.testing.assert_frame_equal(plain.tables[name], after.tables[name])


def test_permuted_groups_leave_the_forest_its_hierarchy_and_its_profiles(audit):
    table = make_stays()
    permuted = table.assign(group=np.random.default_rng(3).permutation(table["group"]))
    # The choice of level counts groups, by definition; without contrasts it does not.
    one, two = (audit(each, choice_records=2) for each in (table, permuted))
    pd.testing.assert_frame_equal(
        one.tables["pocket_levels"][["level", "pockets"]], two.tables["pocket_levels"][["level", "pockets"]]
    )
    arrays = [found.maps[0].rule.arrays() for found in (one, two)]
    for name in (key for key in arrays[0] if key.startswith(("tree_", "column_", "level_"))):
        np.testing.assert_array_equal(arrays[0][name], arrays[1][name])


def test_shuffled_rows_change_nothing(plain, audit):
    assert same(plain, audit(make_stays().sample(frac=1, random_state=5)))


def test_renamed_units_change_nothing(audit):
    table = make_stays().assign(weight=np.random.default_rng(4).normal(80, 10, 4_000).round(4))
    people = table["person"].unique()
    names = dict(zip(people, (f"q{number % 977}-{number}" for number in range(len(people))), strict=True))
    wards = {name: f"ward {9999 - int(name)}" for name in table["ward"].unique()}
    renamed = table.assign(person=table["person"].map(names), ward=table["ward"].map(wards))
    assert same(audit(table), audit(renamed))


def test_the_number_of_cores_changes_nothing(plain, audit):
    assert same(plain, audit(jobs=2))


def test_another_seed_gives_another_audit(plain, audit):
    assert not plain.tables["pocket_errors"].equals(audit(seed=1).tables["pocket_errors"])


def test_the_block_model_gives_a_map_that_can_be_kept(audit, tmp_path):
    pytest.importorskip("graph_tool")
    from auditbook.pockets.saving import save_map

    found = audit(make_stays(1_500), partition="sbm", fits=1)
    assert found.status["partition"] == "sbm"
    for one in found.maps:
        save_map(one, tmp_path / "map.npz")
        assert digest_map(load_map(tmp_path / "map.npz")) == digest_map(one)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"run": False}, "run = false"), ({"exclude": ("age", "reading", "kind")}, "no feature column is left")],
)
def test_what_cannot_be_audited_gets_empty_tables_and_the_reason(audit, change, reason):
    found = audit(**change)
    assert reason in found.status["reason"]
    columns = {name: list(table.columns) for name, table in found.tables.items()}
    assert columns == {name: COLUMNS[name].names() for name in TABLES}
    assert all(table.empty for table in found.tables.values())


def test_decisions_alone_cannot_be_audited_in_pockets(audit):
    text = COHORT.replace('[scores.risk]\ncolumn = "risk"\nkind = "probability"\n', "")
    text = text.replace('[scores.points]\ncolumn = "points"\nkind = "rank"\npercentile = 90\n', "")
    assert "predicts no risk" in audit(text=text).status["reason"]


def test_thin_data_are_untested_everywhere_with_reasons_and_without_a_flag(audit):
    table = make_stays(2_000).assign(event=0)
    table.loc[:39, "event"] = 1
    table["ward"] = np.random.default_rng(2).choice(["north", "south", "Ünï"], len(table))
    table["risk"] = (0.02 + 0.0001 * table["age"]).round(4)
    found = audit(table, COHORT.replace('partition = "leiden"', 'partition = "leiden"\nunit = "site"'))
    errors = found.tables["pocket_errors"]
    assert len(errors)
    assert set(errors["status"]) == {"untested"}
    assert (errors["reason"] != "").all()
    assert errors["estimate"].isna().all()
    assert not errors["flagged"].any()
    assert (found.tables["pocket_summary"]["tested"] == 0).all()


def test_a_continuous_outcome_is_audited_on_its_own_and_new_records_are_sent_to_pockets(tmp_path, capsys):
    table = make_stays(3_000)
    table["days"] = (2 + 5 * table["risk"] + 3 * (table["reading"] > 0.5)).round(2)
    text = COHORT.replace('column = "event"\nevent = 1', 'column = "days"\ntype = "continuous"')
    text = text.replace('column = "risk"\nkind = "probability"', 'column = "risk"\nkind = "value"')
    text = text.replace('[scores.chosen]\ncolumn = "chosen"\nkind = "decision"\n', "")
    table = table.drop(columns=["event", "bill", "chosen"])
    (tmp_path / "stays.toml").write_text(text.replace('late = ["bill"]', ""), encoding="utf-8")
    table.to_csv(tmp_path / "stays.csv", index=False)
    run, new = tmp_path / "run", tmp_path / "new.csv"
    assert main(["pockets", "audit", str(tmp_path / "stays.toml"), "--run-dir", str(run), "--jobs", "1"]) == 0
    table[["kind", "reading", "age"]].head(50).to_csv(new, index=False)
    assert main(["pockets", "assign", str(run), str(new)]) == 0
    found = pd.read_csv(tmp_path / "new-pockets.csv", keep_default_na=False)
    assert found["row"].tolist() == list(range(1, 51))
    maps = [load_map(run / "results" / f"{name}_map.npz") for name in ("forest", "ridge")]
    for one in maps:
        codes = one.assign(table[["age", "reading", "kind"]].head(50)).codes
        names = np.array([*one.pockets, "abstained"])[codes]
        assert found[f"{one.name}_pocket"].tolist() == names.tolist()
    assert any("predicts too little" in cell for cell in found["forest_review"])
    assert not any(" for " in cell for cell in found["forest_review"] + found["ridge_review"])
    review = int((found[["forest_review", "ridge_review"]] != "").any(axis=1).sum())
    told = capsys.readouterr().out
    assert f"to review: {review}\n" in told
    assert "  for what was found of risk: " in told
    whole, ids = tmp_path / "whole.csv", ["ward", "person"]
    table[[*ids, "kind", "reading", "age", "group", "sex"]].head(50).to_csv(whole, index=False)
    assert main(["pockets", "assign", str(run), str(whole)]) == 0
    same = pd.read_csv(tmp_path / "whole-pockets.csv", keep_default_na=False, dtype=dict.fromkeys(ids, str))
    assert list(same.columns[:3]) == ["row", *ids]
    assert same[ids].equals(table[ids].head(50))
    assert same["forest_pocket"].equals(found["forest_pocket"])
    for cells in (same["forest_review"], same["ridge_review"]):
        for cell, group, sex in zip(cells, table["group"], table["sex"], strict=False):
            others = [one for one in ("Ærø", "B <i>", "C") if one != group] + ["F" if sex == "M" else "M"]
            assert not any(f": {one} - " in cell for one in others)
    capsys.readouterr()
    assert (f"warning: {review} of 50 records lie in a flagged pocket, too many" in told) == (review > 25)
    assert main(["pockets", "assign", str(run), str(new)]) == 2
    assert "not overwritten" in capsys.readouterr().err
    table.rename(columns={"age": "Age"})[["kind", "Age"]].to_csv(new, index=False)
    assert main(["pockets", "assign", str(run), str(new), "--output", str(tmp_path / "other.csv")]) == 2
    told = capsys.readouterr().err
    assert "new.csv: column 'reading' is missing" in told
    assert "new.csv: column 'age' is missing (did you mean 'Age'?)" in told
    wrong = table.assign(age="54 ans")[["kind", "reading", "age"]].head(50)
    wrong.to_csv(new, index=False)
    assert main(["pockets", "assign", str(run), str(new), "--output", str(tmp_path / "other.csv")]) == 2
    assert "column 'age': 50 of 50 filled cells are no number" in capsys.readouterr().err
    table.assign(kind=["other", *table["kind"][1:]])[["kind", "reading", "age"]].head(50).to_csv(
        new, index=False
    )
    assert main(["pockets", "assign", str(run), str(new), "--output", str(tmp_path / "no" / "x.csv")]) == 2
    assert not list(tmp_path.glob("other.csv"))
    assert main(["pockets", "assign", str(run), str(new), "--output", str(tmp_path / "third.csv")]) == 0
    assert "that the maps have not seen; they count as missing" in capsys.readouterr().out
    (run / "results" / "forest_map.npz").unlink()
    assert main(["pockets", "assign", str(run), str(new), "--output", str(tmp_path / "other.csv")]) == 2
    assert "not as the run left it" in capsys.readouterr().err


def test_a_handful_of_patients_with_hundreds_of_stays_is_not_tested(audit):
    table = make_stays().assign(person=[f"p{number % 25}" for number in range(4_000)])
    errors = audit(table).tables["pocket_errors"]
    assert set(errors["status"]) == {"untested"}
    assert errors["reason"].str.contains("units, 15 needed").all()


def test_a_record_gets_no_infinite_lead_where_there_is_one_pocket(undivided):
    for one in undivided.maps:
        placed = one.assign(make_stays().head(20))
        findings = list_findings([placed.codes], maps=[one], errors=undivided.tables["pocket_errors"])
        columns = place_records(one, placed, findings).select_dtypes("number")
        assert not np.isinf(columns.to_numpy()).any()
        assert columns[f"{one.name}_lead"].isna().all() == (one.name == "ridge")


def test_the_review_list_of_the_book_is_as_long_as_that_of_new_records(audit):
    """The same records, assigned again: every model's flags count, gaps too."""
    found = audit(make_stays(8_000), attributes=("sex",), exclude=("group",))
    errors, pockets = found.tables["pocket_errors"], found.tables["pockets"]
    for one in found.maps:
        own = errors["map"] == one.name
        review = list_review(errors[own], pockets)
        codes = np.repeat(np.arange(len(one.pockets)), pockets.loc[pockets["map"] == one.name, "n_audit"])
        listed = list_findings([codes], maps=[one], errors=errors)
        assert review["n"].sum() == listed["record"].nunique()


def test_one_pocket_for_all_is_called_so(undivided):
    pockets = undivided.tables["pockets"]
    assert pockets.loc[pockets["map"] == "forest", "name"].tolist() == ["all records"]
    assert undivided.status["whole_maps"] == ["forest", "ridge"]


def test_an_excluded_column_that_is_not_there_is_an_error(tmp_path, capsys):
    make_stays(400).to_csv(tmp_path / "stays.csv", index=False)
    (tmp_path / "stays.toml").write_text(COHORT + 'exclude = ["bil"]\n', encoding="utf-8")
    assert main(["check", str(tmp_path / "stays.toml")]) == 2
    assert (
        "[pockets] exclude: stays.csv has no column 'bil' (did you mean 'bill'?)" in capsys.readouterr().err
    )


def test_a_cohort_without_a_pocket_audit_leaves_nothing_behind(tmp_path, capsys):
    make_stays(400).to_csv(tmp_path / "stays.csv", index=False)
    (tmp_path / "stays.toml").write_text(COHORT + "run = false\n", encoding="utf-8")
    assert main(["pockets", "audit", str(tmp_path / "stays.toml"), "--run-dir", str(tmp_path / "run")]) == 2
    assert "run = false" in capsys.readouterr().err
    assert not list((tmp_path / "run").glob("next/results/*"))


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("risk - point", "'point' is unknown (did you mean 'points'?); allowed: risk, points"),
        ("risk - chosen", "'chosen' is unknown; allowed: risk, points"),
        ("risk - risk", "is no pair"),
        ("risk", "is no pair"),
    ],
)
def test_pairs_of_models_that_are_not_audited_are_refused_before_data_is_read(tmp_path, capsys, pair, told):
    (tmp_path / "stays.toml").write_text(COHORT + f'paired = ["{pair}"]\n', encoding="utf-8")
    assert main(["pockets", "audit", str(tmp_path / "stays.toml"), "--run-dir", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "[pockets] paired" in error
    assert told in error


def test_pairs_of_models_that_are_audited_are_read(tmp_path):
    (tmp_path / "stays.toml").write_text(COHORT + 'paired = ["risk - points"]\n', encoding="utf-8")
    assert read_cohort_file(tmp_path / "stays.toml").pockets.paired == ("risk - points",)
