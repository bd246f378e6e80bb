"""The capstone: every trap catches a naive reader, every answer is checked, and no hint gives one away."""

import io
import tomllib

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from auditbook.cohort import load_cohort, read_cohort_file, read_source
from auditbook.errors import InputError
from auditbook.intake import warn_cohort, warn_table
from auditbook.studies.capstone.answers import QUESTIONS, check_answers, tell_answers, write_blank
from auditbook.studies.capstone.command import write_capstone
from auditbook.studies.capstone.table import BEARING, SELF_PAY, draw_stays, in_pocket, make_table

RIGHT = {
    "unit": ["hospital", "patient"],
    "leaks": ["vendor_score_2", "days_until_return"],
    "found_less": {"attribute": "language", "group": "Minority", "per_100": 21},
    "base_rate": "region",
    "not_judged": "self-pay",
    "hospital": f"Hospital {BEARING}",
    "pocket": ["dialysis", "earlier_stays"],
    "proxy": "high_cost",
}
COHORT = """
name = "capstone"
title = "Capstone"
[data]
path = "network.csv"
[outcome]
column = "readmitted_30"
event = "yes"
[outcomes.cost]
column = "high_cost"
event = "yes"
[site]
column = "hospital"
[unit]
columns = ["hospital", "patient"]
[attributes.language]
column = "language"
groups = { "Majority" = "majority", "minority " = "minority" }
[attributes.region]
column = "region"
[attributes.payer]
column = "insurance"
[missing]
columns = { readmitted_30 = ["transferred"] }
[features]
exclude = ["admitted", "high_cost", "vendor_score_2", "days_until_return"]
[scores.vendor_score]
column = "vendor_score"
kind = "probability"
threshold = 0.3
[panel]
models = []
"""


@pytest.fixture(scope="module")
def stays():
    return draw_stays()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capstone")
    write_capstone(folder)
    return folder


@pytest.fixture(scope="module")
def naive(folder):
    """The table as it is read without a thought."""
    table = pd.read_csv(folder / "network.csv", sep=";", decimal=",")
    return table.assign(
        event=(table["readmitted_30"] == "yes").astype(int), selected=table["vendor_score"] >= 0.3
    )


def found_by(table, column, event):
    return table[table[event] == 1].groupby(column)["selected"].mean()


def answered(**changes):
    table = make_table()["readmitted_30"]
    counts = {"records": int((table != "transferred").sum()), "events": int((table == "yes").sum())}
    return {**counts, **RIGHT, **changes}


def write_answers(path, answers):
    def spell(value):
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{key} = {spell(one)}" for key, one in value.items()) + " }"
        return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')

    path.write_text("\n".join(f"{key} = {spell(value)}" for key, value in answers.items()), encoding="utf-8")
    return path


def test_a_naive_reader_counts_a_third_code_as_no_event(naive):
    assert set(naive["readmitted_30"]) == {"yes", "no", "transferred"}
    assert len(naive) - answered()["records"] > 300


def test_a_naive_reader_takes_patients_of_several_hospitals_for_one(naive):
    assert naive.groupby("patient")["hospital"].nunique().max() > 5
    assert naive["patient"].nunique() < 0.2 * len(naive.groupby(["hospital", "patient"]))


def test_a_naive_reader_cannot_add_up_ages(naive):
    assert naive["age"].dtype == object
    numbers = pd.to_numeric(naive["age"], errors="coerce")
    assert numbers.max() == 999
    assert numbers.isna().mean() > 0.02


def test_a_naive_reader_has_five_languages(naive):
    assert naive["language"].nunique() == 5
    assert set(naive["language"].str.strip().str.lower()) == {"majority", "minority", "other"}


def test_a_naive_reader_buys_the_second_score(naive):
    first, second = (
        roc_auc_score(naive["event"], naive[name]) for name in ("vendor_score", "vendor_score_2")
    )
    assert first < 0.93 < 0.98 < second
    assert naive.loc[naive["event"] == 1, "days_until_return"].notna().all()
    known = naive[naive["readmitted_30"] != "transferred"]
    assert known.loc[known["event"] == 0, "days_until_return"].isna().all()


def test_a_naive_reader_accuses_the_score_in_the_country(stays):
    selected = (stays["vendor_score"] >= 0.3).groupby(stays["region"]).mean()
    assert selected.min() / selected.max() < 0.8
    event = stays.groupby("region")["came_back"].mean()
    assert event.min() / event.max() < 0.8
    found = found_by(stays.assign(selected=stays["vendor_score"] >= 0.3), "region", "came_back")
    assert np.ptp(found) < 0.1
    for _, part in stays.groupby("region"):
        assert abs(part["vendor_score"].mean() - part["came_back"].mean()) < 0.02


def test_a_naive_reader_is_at_ease_with_the_label_of_cost(stays):
    table = stays.assign(selected=stays["vendor_score"] >= 0.3)
    by_return, by_cost = (found_by(table, "language", event) for event in ("recorded", "costly"))
    assert by_return["majority"] - by_return["minority"] > 0.15
    assert np.ptp(by_cost) < 0.1


def test_a_naive_reader_sees_a_calibrated_score_and_misses_the_pocket(stays):
    assert abs(stays["vendor_score"].mean() - stays["came_back"].mean()) < 0.02
    inside = stays[in_pocket(stays)]
    assert len(inside) > 1_000
    assert inside["came_back"].mean() - inside["vendor_score"].mean() > 0.15


def test_one_hospital_has_half_of_the_events_of_the_others(stays):
    rates = stays.groupby("hospital")["recorded"].mean()
    assert rates.idxmin() == BEARING
    assert rates[BEARING] < 0.6 * rates.drop(BEARING).min()
    true = stays.groupby("hospital")["came_back"].mean()
    assert true[BEARING] > 0.8 * true.drop(BEARING).mean()


def test_the_tiny_group_is_tiny(stays):
    assert (stays["insurance"] == "self-pay").sum() == SELF_PAY


def test_check_points_at_what_the_table_hides(folder, tmp_path):
    first = COHORT.replace('columns = ["hospital", "patient"]', 'column = "patient"').replace(
        '[missing]\ncolumns = { readmitted_30 = ["transferred"] }\n', ""
    )
    first = first.replace(', "days_until_return"]', "]").replace(
        'groups = { "Majority" = "majority", "minority " = "minority" }', ""
    )
    (folder / "first.toml").write_text(first, encoding="utf-8")
    file = read_cohort_file(folder / "first.toml")
    cohort = load_cohort(file, cache_dir=tmp_path)
    source = read_source(file, cache_dir=tmp_path)
    told = "\n".join(map(str, [*warn_table(file, source.table), *warn_cohort(cohort)]))
    for words in ("transferred", 'columns = ["hospital", "patient"]', "days_until_return", "self-pay"):
        assert words in told, words
    assert "'majority' (" in told
    assert "'Majority' (" in told


def test_every_answer_that_is_right_is_told_so(tmp_path):
    found = check_answers(write_answers(tmp_path / "answers.toml", answered()))
    assert [(answer.key, answer.words) for answer in found] == [(one.key, "right") for one in QUESTIONS]
    assert tell_answers(found)[-1] == "10 of 10 right"


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("records", 30_000),
        ("events", 366),
        ("unit", ["patient"]),
        ("leaks", ["vendor_score_2"]),
        ("leaks", "high_cost"),
        ("found_less", {"attribute": "language", "group": "minority", "per_100": 2}),
        ("found_less", {"attribute": "region", "group": "town", "per_100": 21}),
        ("found_less", 3),
        ("base_rate", "language"),
        ("not_judged", "minority"),
        ("hospital", "A"),
        ("pocket", ["dialysis"]),
        ("proxy", "days_until_return"),
        ("records", "many"),
        ("hospital", 7),
        ("records", True),
    ],
)
def test_a_wrong_answer_gets_a_hint_and_not_the_answer(tmp_path, key, wrong):
    found = {
        answer.key: answer
        for answer in check_answers(write_answers(tmp_path / "answers.toml", answered(**{key: wrong})))
    }
    assert [one for one, answer in found.items() if not answer.right] == [key]
    assert found[key].words.startswith("not yet: ")


def test_no_hint_and_no_question_gives_an_answer_away():
    secrets = [
        "minority",
        "region",
        "self-pay",
        f"hospital {BEARING}".lower(),
        "dialysis",
        "high_cost",
        "vendor_score_2",
    ]
    for one in QUESTIONS:
        told = f"{one.hint} {one.asks} {one.blank}".lower()
        assert not [secret for secret in secrets if secret in told], one.key


def test_a_blank_file_is_told_its_questions(tmp_path):
    (tmp_path / "answers.toml").write_text(write_blank(), encoding="utf-8")
    found = check_answers(tmp_path / "answers.toml")
    assert [answer.words for answer in found] == [f"not answered: {one.asks}" for one in QUESTIONS]
    assert tell_answers(found)[-1] == "0 of 10 right"
    assert set(tomllib.loads(write_blank())) == {one.key for one in QUESTIONS}
    (tmp_path / "none.toml").write_text("", encoding="utf-8")
    assert not any(answer.right for answer in check_answers(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hospitl = 'K'", "no question is called 'hospitl'"),
        ("a =", "not valid TOML"),
        ("records = 1" + "0" * 5_000, "not valid TOML"),
        ("unit = " + "[" * 10_000, "not valid TOML"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_file_of_answers_is_refused(tmp_path, text, told):
    if text is not None:
        (tmp_path / "answers.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        check_answers(tmp_path / "answers.toml")


def test_a_number_beyond_all_bounds_is_wrong_and_a_mark_at_the_beginning_is_no_fault(tmp_path):
    path = tmp_path / "answers.toml"
    huge = "1" + "0" * 400
    worst = f'found_less = {{ attribute = "language", group = "minority", per_100 = {huge} }}'
    path.write_text(f"\ufeffrecords = {huge}\nevents = inf\n{worst}\n", encoding="utf-8")
    assert not any(answer.right for answer in check_answers(path))


def test_nothing_is_overwritten_and_the_same_bytes_come_twice(folder, tmp_path):
    with pytest.raises(InputError, match=r"network\.csv and answers\.toml already"):
        write_capstone(folder)
    write_capstone(tmp_path / "again")
    for name in ("network.csv", "answers.toml"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
    assert make_table().equals(make_table())


def test_the_table_is_read_as_it_was_drawn(folder):
    table = pd.read_csv(
        io.BytesIO((folder / "network.csv").read_bytes()), sep=";", dtype=str, keep_default_na=False
    )
    assert table.equals(make_table().astype(str))


@pytest.mark.slow
def test_the_audit_of_the_model_solution_finds_every_planted_truth(folder, tmp_path, root):
    from auditbook.cli import main

    page = (root / "book" / "capstone-solution.md").read_text(encoding="utf-8")
    (folder / "solution.toml").write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    run = tmp_path / "run"
    call = [
        "audit",
        str(folder / "solution.toml"),
        "--profile",
        "quick",
        "--run-dir",
        str(run),
        "--jobs",
        "1",
    ]
    assert main(call) == 0
    tables = {path.stem: pd.read_csv(path) for path in (run / "results").glob("*.csv")}
    cells = tables["verdicts"].set_index(["metric", "attribute"])
    gap = cells.loc[("EOPP", "language")]
    assert (gap["shown"], gap["gap_groups"]) == ("fail", "majority, minority")
    assert gap["gap"] * 100 == pytest.approx(RIGHT["found_less"]["per_100"], abs=2)
    assert "55 minority" in page
    assert "76 majority" in page
    groups = tables["groups"].set_index(["attribute", "group"])["tpr"].mul(100).round()
    assert (groups["language", "minority"], groups["language", "majority"]) == (55, 76)
    region = cells.loc[("DI", "region")]
    assert (region["shown"], region["error_free"] < 0.8) == ("fail", True)
    assert cells.loc[("EOPP", "region"), "verdict"] == "pass"
    assert "self-pay" in cells.loc[("EOPP", "payer"), "left_out"]
    sites = tables["cohort_sites"].set_index("site")["event_rate"]
    assert sites.idxmin() == f"Hospital {BEARING}"
    assert sites.min() < 0.5 * sites.drop(sites.idxmin()).min()
    errors = tables["pocket_errors"].query("quantity == 'mu' and flagged == 1 and direction == 'under'")
    names = tables["pockets"].set_index(["map", "pocket"])["name"]
    worst = errors.loc[errors.groupby("map")["estimate"].idxmin()]
    for one in worst.itertuples():
        assert "dialysis = yes" in names[one.map, one.pocket]
    assert any("high earlier stays" in names[one.map, one.pocket] for one in worst.itertuples())
    labels = tables["label_change"].query("attribute == 'language' and metric == 'EOPP'").set_index("outcome")
    assert labels["verdict"].to_dict() == {"readmitted_30": "fail", "cost": "pass"}
