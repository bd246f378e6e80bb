"""Scores of which low ones speak for the event, such as a chance of survival where the event is death."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say import scores as say
from auditbook.cli import main
from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.intake import warn_cohort
from auditbook.report.handins.model_facts import say_output
from auditbook.run.tables import make_tables
from auditbook.scoring import count_unplaced, score_cohort
from auditbook.scoring.score import summarise_models
from cohorts import write_pair

FILE = """
[outcome]
column = "died"
event = 1
[attributes.race]
column = "race"
[missing]
attributes = "drop"
[features]
include = ["race"]
[protocol]
resamples = 20
audit_sizes = [300]
metrics = ["DI", "EOD", "CAL"]
[scores.death]
column = "{name}"
kind = "{kind}"
{cut}
"""
LOW = 'event_is = "low"\n'
KINDS = {
    "probability": ("threshold = 0.75", "threshold = 0.25"),
    "rank": ("threshold = 0.75", "threshold = -0.75"),
    "decision": ("", ""),
}


def patients(rows=800, kind="probability"):
    """Draw patients; survival is a multiple of 1/64, so that 1 less it is exact."""
    rng = np.random.default_rng(5)
    risk = rng.integers(0, 65, rows) / 64
    survival = np.where(risk >= 0.5, 0.0, 1.0) if kind == "decision" else 1 - risk
    turned = -survival if kind == "rank" else 1 - survival
    race = np.where(rng.random(rows) < 0.1, None, rng.choice(["A", "B", "C"], rows))
    died = (rng.random(rows) < risk).astype(int)
    return pd.DataFrame({"died": died, "race": race, "survival": survival, "risk": turned})


def read(folder, name, kind, cut, table=None):
    table = patients(kind=kind) if table is None else table
    path = write_pair(folder, table, FILE.format(name=name, kind=kind, cut=cut), suffix=".parquet")
    return load_cohort(read_cohort_file(path), cache_dir=folder)


def score(cohort, folder):
    return score_cohort(cohort, protocol=cohort.file.protocol, cache_dir=folder, jobs=1)


@pytest.fixture(params=KINDS)
def pair(request, tmp_path):
    """Return the same cohort scored by survival, and by the risk that it stands for."""
    low, high = KINDS[request.param]
    cohorts = (
        read(tmp_path, "survival", request.param, LOW + low),
        read(tmp_path, "risk", request.param, high),
    )
    return [(cohort, score(cohort, tmp_path)) for cohort in cohorts]


def test_a_score_turned_round_is_audited_as_the_risk_that_it_stands_for(pair):
    (low_cohort, low), (high_cohort, high) = pair
    low_order, high_order = (np.argsort(cohort.table["risk"]) for cohort, _ in pair)
    first, second = low.records.scores[0], high.records.scores[0]
    assert np.array_equal(first.values[low_order], second.values[high_order])
    assert np.array_equal(first.decisions[low_order], second.decisions[high_order])
    assert (
        count_unplaced(low_cohort, low)["race"].tolist() == count_unplaced(high_cohort, high)["race"].tolist()
    )
    one, other = (make_tables(*parts, parts[0].file.protocol) for parts in pair)
    for name in ("groups", "verdicts", "contrasts", "auc_matrix", "calibration", "score_bins"):
        assert len(one[name])
        pd.testing.assert_frame_equal(one[name], other[name])


def test_selected_is_who_scores_at_most_the_threshold(tmp_path):
    cohort = read(tmp_path, "survival", "probability", LOW + "threshold = 0.7")
    found = score(cohort, tmp_path).records.scores[0]
    assert np.array_equal(found.decisions, cohort.table["survival"].to_numpy() <= 0.7)
    table = patients().assign(survival=lambda t: t["survival"].round(1))
    for cut in (0.1, 0.3, 0.7, 0.9):
        cohort = read(tmp_path, "survival", "probability", f"{LOW}threshold = {cut}", table)
        decided = score(cohort, tmp_path).records.scores[0].decisions
        assert np.array_equal(decided, cohort.table["survival"].to_numpy() <= cut), cut


def test_a_percentile_counts_from_the_low_end_of_the_given_scores(tmp_path):
    table = patients(kind="rank").assign(survival=np.arange(800) / 800)
    cohort = read(tmp_path, "survival", "rank", LOW + "percentile = 10", table)
    scored = score(cohort, tmp_path)
    chosen = cohort.table["survival"][scored.records.scores[0].decisions]
    assert len(chosen) == pytest.approx(0.1 * len(cohort.table), abs=1)
    assert chosen.max() < cohort.table["survival"][~scored.records.scores[0].decisions].min()
    row = summarise_models(scored).iloc[0]
    assert (row["event_is"], row["given_threshold"]) == ("low", pytest.approx(chosen.max()))
    told = say.describe_threshold(SimpleNamespace(**row))
    assert "percentile 10 of the audited scores" in told
    assert "is at most 0.1" in told


def test_every_sentence_about_the_threshold_says_at_most(tmp_path):
    cohort = read(tmp_path, "survival", "probability", LOW + "threshold = 0.7")
    models = summarise_models(score(cohort, tmp_path))
    row = SimpleNamespace(**models.iloc[0])
    assert "selects a record when its score is at most 0.700 (at least 0.300 once turned round)" in (
        say.describe_threshold(row)
    )
    kinds = say.describe_kinds(models)
    assert "death: low scores speak for the event, so that 1 minus the score stands for each of" in kinds
    facts = SimpleNamespace(row=models.iloc[0].to_dict())
    assert say_output(facts).endswith(
        "low ones speak for the event: a record is selected when it is at most 0.7."
    )
    summary = cohort.summary()
    assert (
        "death: low ones speak for the event; audited is 1 minus it, and a record is selected when the "
        "score is at most 0.7" in summary
    )


def test_a_high_score_is_told_as_before(tmp_path):
    cohort = read(tmp_path, "risk", "probability", "threshold = 0.25")
    models = summarise_models(score(cohort, tmp_path))
    assert np.isnan(models["given_threshold"].iloc[0])
    assert "score is at least 0.250." in say.describe_threshold(SimpleNamespace(**models.iloc[0]))
    assert "turned" not in say.describe_kinds(models) + cohort.summary()


def test_check_offers_the_key_where_a_score_points_the_other_way(tmp_path):
    table = patients().assign(survival=lambda t: 1 - 0.9 * t["died"] - 0.001 * (np.arange(800) % 7))
    told = "\n".join(map(str, warn_cohort(read(tmp_path, "survival", "probability", "", table))))
    assert 'where a lower score speaks for the event, write event_is = "low"' in told
    table = table.assign(survival=1 - table["survival"])
    told = "\n".join(map(str, warn_cohort(read(tmp_path, "survival", "probability", LOW, table))))
    assert 'where a higher score speaks for the event, write event_is = "high"' in told


def test_check_says_that_nobody_is_at_or_below_a_threshold(tmp_path):
    table = patients().assign(survival=lambda t: 0.5 + t["survival"] / 2)
    told = "\n".join(
        map(str, warn_cohort(read(tmp_path, "survival", "probability", LOW + "threshold = 0.4", table)))
    )
    assert "no record is at or below 0.4 (scores run from 0.5 to 1)" in told


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('kind = "probability"\nevent_is = "lo"', "event_is: 'lo' is not allowed (did you mean 'low'?)"),
        ('kind = "value"\nevent_is = "low"', "event_is: has no meaning for a prediction of a number"),
    ],
)
def test_what_is_wrong_with_the_key_is_told(tmp_path, text, fault):
    head = FILE.split("[scores")[0] + '[scores.s]\ncolumn = "survival"\n'
    path = write_pair(tmp_path, patients(), head + text, suffix=".parquet")
    with pytest.raises(InputError) as caught:
        read_cohort_file(path)
    assert fault in str(caught.value)


@pytest.mark.slow
def test_a_whole_audit_says_in_its_report_that_scores_were_turned_round(tmp_path):
    text = FILE.format(name="survival", kind="probability", cut=LOW + "threshold = 0.75")
    path = write_pair(tmp_path, patients(2_000), text, suffix=".parquet")
    run = tmp_path / "run"
    call = ["audit", str(path), "--profile", "smoke", "--jobs", "1", "--run-dir", str(run)]
    assert main(call) == 0
    page = (run / "report" / "index.html").read_text(encoding="utf-8")
    assert "Low scores of death speak for the event and were turned round" in page
    models = pd.read_csv(run / "results" / "models.csv")
    assert models["event_is"].tolist() == ["low"]
