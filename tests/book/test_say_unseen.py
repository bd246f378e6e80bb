"""What was not seen is put in words that hold on every cohort."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say import unseen as say
from auditbook.columns import TABLES, empty_table
from auditbook.results import Run
from runs_fixture import KINDS


def all_text(run):
    model = run.models["model"].iloc[0]
    return [
        say.describe_tipping(run, model=model),
        say.describe_missing(run),
        say.describe_range(run, model=model),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_cohort_has_its_sentences(runs, kind):
    for text in all_text(runs[kind]):
        assert "<script" not in text
        assert not re.search(r"\bnan\b|\binf\b", text)


def run_with(**tables):
    run = Run(Path(), {})
    run.__dict__.update({"tipping_points": empty_table("tipping_points")} | tables)
    return run


def missing(**columns):
    row = dict.fromkeys([column.name for column in TABLES["missing_attribute"].columns], 0.0)
    row |= {"model": "m", "attribute": "race", "metric": "EOPP", "low": 0.05, "high": 0.2, "estimate": 0.08}
    return row | {"missing": 33, "can_turn": True, "shown": "pass", "shown_dealt": "open"} | columns


def test_a_verdict_that_can_turn_is_counted_and_the_widest_is_named():
    table = pd.DataFrame(
        [missing(), missing(metric="SPD", low=0.07, high=0.09, can_turn=False, shown="open")]
    )
    run = run_with(missing_attribute=table)
    assert say.describe_missing(run) == (
        "- **race**: 33 records lack it. To whichever group they belong, 1 of 2 cells keeps the side of the "
        "threshold on which the known groups lie. Of 1 cell in which something is shown of the known groups, "
        "0 stay shown."
    )
    assert say.describe_range(run, model="m") == (
        "Widest is EOPP for race: 0.080 among those whose group is known, and anything from 0.050 to 0.200 "
        "if it were known of all."
    )


def test_what_falls_first_is_named():
    names = [column.name for column in TABLES["tipping_points"].columns]
    row = dict.fromkeys(names, 0.0) | {"model": "m", "metric": "PP", "attribute": "sex", "group": "F"}
    row |= {"among": "selected", "events": 420, "shown": "pass", "shown_share": 0.014}
    run = run_with(tipping_points=pd.DataFrame([row, row | {"metric": "EOPP", "shown_share": np.inf}]))
    assert say.describe_tipping(run, model="m") == (
        "What is shown of PP for sex is taken away first: by 1.4% of the events in F that went unrecorded, "
        "all of them selected. Recorded were 420."
    )
    assert "nothing" in say.describe_tipping(run_with(), model="m")


def test_what_another_outcome_shows_is_listed_cell_by_cell():
    names = [column.name for column in TABLES["label_change"].columns]
    base = dict.fromkeys(names, 0.0) | {
        "model": "m",
        "metric": "PP",
        "attribute": "sex",
        "n": 900,
        "events": 80,
    }
    table = pd.DataFrame(
        [
            base | {"outcome": "cost", "shown": "fail"},
            base | {"outcome": "ill", "shown": "open", "events": 120},
            base | {"outcome": "died", "shown": "fail", "events": 1},
        ]
    )
    assert say.describe_labels(run_with(label_change=table), model="m") == (
        "- **ill** in place of cost: 120 events among 900 records. What is shown is another in 1 of 1 cell "
        "(PP for sex, fail to open).\n"
        "- **died** in place of cost: 1 event among 900 records. What is shown is another in 0 of 1 cell."
    )
