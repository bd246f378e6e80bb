"""Halves are halves, answers are compared both ways, and a stored halving is made again."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import open_stream
from auditbook.project import project_file
from auditbook.settings import Protocol
from auditbook.studies.boards.study import draw_audit
from auditbook.studies.boards.worlds import BoardWorld
from auditbook.studies.halves import (
    COHORTS,
    HALVES,
    compare_halves,
    halve,
    judge_half,
    run_replicate,
    select_records,
    summarise_halves,
)
from auditbook.studies.kept_rows import read_rows

FOLDER = project_file("data") / "simulations"
SITES = draw_audit(BoardWorld("gap", 4_000, sites=30, unequal=True, gap=0.4, event_rate=0.4), 0, seed=1)
STAYS = draw_audit(BoardWorld("equal", 3_000, stays=10), 0, seed=1)


@pytest.mark.parametrize(("records", "by"), [(SITES, "sites"), (STAYS, "patients"), (STAYS, "records")])
def test_a_half_holds_half_of_the_records_and_whole_sites_or_patients(records, by):
    first = halve(records, by, open_stream(1, by))
    assert first.mean() == pytest.approx(0.5, abs=0.2 if by == "sites" else 0.01)
    kept = {"sites": records.site, "patients": records.unit}.get(by)
    if kept is not None:
        assert not set(kept[first]) & set(kept[~first])


def test_both_halves_together_are_the_cohort():
    first = halve(SITES, "sites", open_stream(1, "both"))
    parts = [select_records(SITES, part) for part in (first, ~first)]
    assert sum(len(part.outcome) for part in parts) == len(SITES.outcome)
    for part, taken in zip(parts, (first, ~first), strict=True):
        assert np.array_equal(part.scores[0].decisions, SITES.scores[0].decisions[taken])
        assert np.array_equal(part.attributes[2].codes, SITES.attributes[2].codes[taken])
        assert np.array_equal(part.site, SITES.site[taken])


def test_a_half_says_the_same_as_itself():
    said = judge_half(SITES, Protocol(resamples=5))
    rows = list(compare_halves(said, said))
    assert sum(row["opposite"] + row["other_side"] for row in rows if row["rule"] != "shown") == 0
    assert {row["rule"] for row in rows} == {"shown", "verdict", "gap", "band", "flags"}
    assert said.loc[("shown", "EOPP race"), "said"] == "fail"


def test_answers_are_compared_both_ways_by_hand():
    names = pd.MultiIndex.from_product([["shown"], ["a", "b", "c"]], names=["rule", "cell"])
    one = pd.DataFrame({"said": ["fail", "open", "pass"], "side": ["fail", "fail", "pass"]}, index=names)
    two = pd.DataFrame({"said": ["pass", "fail", "open"], "side": ["pass", "fail", "fail"]}, index=names)
    told = {(row["rule"], row["said"]): row for row in compare_halves(one, two)}
    fails, passes = told["shown", "fail"], told["shown", "pass"]
    assert (fails["cells"], fails["opposite"], fails["other_side"]) == (2, 1, 1)
    assert (passes["cells"], passes["opposite"], passes["other_side"]) == (2, 1, 2)


def test_the_stored_summary_is_that_of_the_stored_halvings():
    rows = read_rows(HALVES)
    found, kept = summarise_halves(rows), pd.read_csv(FOLDER / "halves.csv")
    pd.testing.assert_frame_equal(found, kept, rtol=1e-5, check_dtype=False)
    about = json.loads((FOLDER / "halves.json").read_text(encoding="utf-8"))
    assert set(rows["cohort"]) == {cohort.name for cohort in COHORTS}
    assert (rows.groupby("cohort")["replicate"].nunique() == about["replicates"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1])
def test_a_stored_halving_of_a_real_cohort_is_made_again(shared_dir, place):
    rows, cohort = read_rows(HALVES), COHORTS[place]
    again = pd.DataFrame(run_replicate(replace(cohort, folder=shared_dir / "cohorts"), 1))
    kept = rows[(rows["cohort"] == cohort.name) & (rows["replicate"] == 1)].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, kept, check_dtype=False)
