"""The finding in five lines: one model, several, nothing, and nothing that steers a terminal."""

import json

import pandas as pd
import pytest

from auditbook.columns import TABLES
from auditbook.report import tell_finding
from auditbook.results import write_results


def finding(question, attribute, group):
    return {"question": question, "attribute": attribute, "shares": [{"group": group}, {"group": "other"}]}


def mark(question, attribute, name):
    return {"question": question, "attribute": attribute, "mark": name}


def lacking(group, attribute="race", text="…"):
    where = {"model": "m", "attribute": attribute, "group": group}
    return {"text": text, "basis": [{"file": "groups.csv", "where": where}]}


def page(model="apache", *, findings=(), marks=(), unjudged=(), pockets=()):
    return {
        "model": model,
        "findings": list(findings),
        "marks": list(marks),
        "unjudged": list(unjudged),
        "pockets": [{"kind": kind} for kind in pockets],
    }


def tell(folder, *pages, records=12_345, sites=20, model="", version="", labels=None, crosses=None):
    head = {"records": records, "sites": sites, "use": {"model": model, "version": version}}
    (folder / "report").mkdir(exist_ok=True)
    text = json.dumps({"head": head, "pages": list(pages)})
    (folder / "report" / "report.json").write_text(text, encoding="utf-8")
    (folder / "run.json").write_text(
        json.dumps({"labels": labels or {}, "crosses": crosses or {}}), encoding="utf-8"
    )
    return tell_finding(folder)


def test_one_model_is_told_in_five_lines(tmp_path):
    told = tell(
        tmp_path,
        page(
            findings=[finding("found", "race", "Black"), finding("alarms", "sex", "F")],
            marks=[
                mark("found", "race", "fails"),
                mark("alarms", "sex", "fails"),
                mark("risk", "age", "fails"),
                mark("selected", "race", "open"),
                mark("selected", "sex", "open"),
                mark("order", "race", "open"),
                mark("order", "sex", "passes"),
                mark("order", "age", "unjudged"),
            ],
            unjudged=[lacking("Asian"), lacking("0-17", "age")],
            pockets=["error", "gap", "gap"],
        ),
        model="Stay model",
        version="2.1",
    )
    assert told == (
        "audited: Stay model 2.1 (apache), on 12,345 records of 20 sites",
        "shown to fail: who is found by race (Black), false alarms by sex (F), wrong risks by age, 2 more",
        "open: who is selected by race and sex, the order within groups by race",
        "cannot be judged: Asian (race), 0-17 (age), the order within groups by age",
        f"report: {tmp_path / 'report' / 'index.html'}",
    )


def test_nothing_is_said_as_nothing_and_one_as_one(tmp_path):
    told = tell(tmp_path, page(marks=[mark("found", "race", "passes")]), records=1, sites=1)
    assert told[:4] == (
        "audited: apache, on 1 record of 1 site",
        "shown to fail: nothing",
        "open: nothing",
        "cannot be judged: nothing",
    )
    assert tell(tmp_path, page(pockets=["error"]), sites=0)[:2] == (
        "audited: apache, on 12,345 records",
        "shown to fail: 1 flagged pocket",
    )
    assert tell(tmp_path)[:2] == (
        "audited: no model, on 12,345 records of 20 sites",
        "shown to fail: no model could be looked at",
    )


def test_groups_that_cannot_be_judged_are_named_in_the_words_of_the_cohort_file(tmp_path):
    labels = {"columns": {"race": "origin"}, "values": {"race": {"A": "Asian"}}}
    told = tell(tmp_path, page(unjudged=[lacking("A"), lacking("B")]), labels=labels)
    assert told[3] == "cannot be judged: Asian (origin), B (origin)"


def test_groups_of_crossed_attributes_are_named_in_the_words_of_their_parts(tmp_path):
    groups = {"race": ["A"], "sex": ["F"], "both": ["A, F"]}
    listed = pd.DataFrame(
        [(name, group) for name, held in groups.items() for group in held], columns=["attribute", "group"]
    )
    (tmp_path / "results").mkdir()
    write_results(
        {"cohort_groups": listed.reindex(columns=TABLES["cohort_groups"].names())}, tmp_path / "results"
    )
    labels = {
        "columns": {"both": "origin and sex"},
        "values": {"race": {"A": "Asian"}, "sex": {"F": "women"}},
    }
    told = tell(
        tmp_path, page(unjudged=[lacking("A, F", "both")]), labels=labels, crosses={"both": ["race", "sex"]}
    )
    assert told[3] == "cannot be judged: Asian, women (origin and sex)"


def test_of_who_cannot_be_judged_in_part_the_questions_are_told(tmp_path):
    part = lacking(
        "B", text="Of B (race; 40 people) cannot be judged: who is found and what being selected means. It …"
    )
    whole = lacking("A", text="A (race; nobody) cannot be judged at all. It lacks 30 records.")
    assert tell(tmp_path, page(unjudged=[part, whole]))[3] == (
        "cannot be judged: B (race: who is found and what being selected means), A (race)"
    )


def test_without_a_judged_decision_it_is_not_said_that_nothing_is_open(tmp_path):
    assert tell(tmp_path, page())[2] == "open: whatever is not flagged; no decision is judged"


def test_several_models_are_told_by_name_and_the_rest_is_counted(tmp_path):
    failing = [finding("found", "race", "B")]
    pages = [page(f"m{place}", findings=failing if place < 4 else ()) for place in range(6)]
    told = tell(tmp_path, *pages)
    assert told[0] == "audited: m0, m1, m2, 3 more, on 12,345 records of 20 sites"
    assert told[1] == (
        "shown to fail: m0: who is found by race (B); m1: who is found by race (B); "
        "m2: who is found by race (B); 1 more model in the report; 2 other models: nothing"
    )
    assert told[2] == "open: nothing"


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\nb", "\u202edne"])
def test_no_name_steers_the_terminal(name, tmp_path):
    for line in tell(tmp_path, page(name, findings=[finding("found", name, name)], unjudged=[lacking(name)])):
        assert line.isprintable()
