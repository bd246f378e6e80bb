"""How long before the event true positives were selected."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from auditbook.book.draw.lead_times import draw_leads
from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.report.lead_times import describe_leads
from auditbook.scoring import score_cohort, tabulate_lead_times
from auditbook.scoring.lead_times import bound_median
from auditbook.settings import Protocol
from cohorts import write_pair

TEXT = """
[outcome]
column = "y"
event = 1
time = "happened"
[unit]
column = "stay"
{}
[time]
column = "at"
[attributes.race]
column = "race"
[scores.risk]
column = "p"
kind = "probability"
"""

# A: stays 1 to 3 alerted 10, 6 and 2 hours before, 4 after it, 5 at no known time. B: 6 alerted, 7 missed
TABLE = pd.DataFrame(
    {
        "stay": list("112234456789"),
        "race": list("AAAAAAAABBBA"),
        "at": [0, 8, 1, 4, 8, 2, 12, 3, 5, 5, 5, 5],
        "p": [0.9, 0.95, 0.2, 0.6, 0.7, 0.1, 0.8, 0.8, 0.5, 0.4, 0.9, 0.1],
        "y": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0],
        "happened": [10, 10, 10, 10, 10, 10, 10, None, 9, 9, None, None],
    }
)


def tabulate(folder, table, rule="", text=TEXT):
    line = f'score_per_unit = "{rule}"' if rule else ""
    path = write_pair(folder, table, text.format(line))
    cohort = load_cohort(read_cohort_file(path), cache_dir=folder)
    scored = score_cohort(cohort, protocol=Protocol(), cache_dir=folder, jobs=1)
    return tabulate_lead_times(cohort, scored).set_index("group")


def test_the_first_alert_of_a_stay_counts_under_max(tmp_path):
    found = tabulate(tmp_path, TABLE.sample(frac=1, random_state=2), "max")
    row = found.loc["A"]
    assert row[["n", "ahead", "late", "unknown"]].tolist() == [5, 3, 1, 1]
    assert row[["quarter", "median", "three_quarters"]].tolist() == [4, 6, 8]
    assert found.loc["B", ["n", "ahead", "median"]].tolist() == [1, 1, 4]
    assert np.isnan(found.loc["B", "median_low"])  # one value bounds no median
    assert set(found["span"]) == {"units"}


@pytest.mark.parametrize(("rule", "n", "median"), [("first", 3, 6.0), ("last", 5, 2.0), ("", 6, 4.0)])
def test_the_record_that_stands_gives_the_lead_otherwise(tmp_path, rule, n, median):
    """First: 10, 2, one unknown. Last: 2, 6, 2, one late, one unknown. Each record: 10, 2, 6, 2 and these."""
    row = tabulate(tmp_path, TABLE, rule).loc["A"]
    assert (row["n"], row["median"]) == (n, median)


def test_leads_of_dates_are_hours(tmp_path):
    start = pd.Timestamp("2024-03-01")
    dated = TABLE.assign(
        at=start + pd.to_timedelta(TABLE["at"], unit="h"),
        happened=start + pd.to_timedelta(TABLE["happened"], unit="h"),
    )
    found = tabulate(tmp_path, dated, "max")
    assert set(found["span"]) == {"hours"}
    assert found.loc["A", "median"] == 6


def test_without_a_time_of_the_event_there_is_no_row(tmp_path):
    assert tabulate(tmp_path, TABLE, "max", TEXT.replace('time = "happened"\n', "")).empty


def test_the_interval_of_a_median_covers_as_often_as_it_says():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        low, high = bound_median(rng.exponential(size=60), np.arange(60))
        covered += low <= np.log(2) <= high
    assert covered >= stats.binom.ppf(0.001, 400, 0.93)


def test_values_of_one_unit_count_as_few():
    rng = np.random.default_rng(4)
    values = rng.normal(size=40)
    alone = bound_median(values, np.arange(40))
    assert bound_median(np.repeat(values, 5), np.repeat(np.arange(40), 5)) == pytest.approx(alone, abs=0.15)
    low, high = bound_median(np.repeat(values, 5), np.arange(200))
    assert high - low < 0.8 * (alone[1] - alone[0])
    assert np.isnan(bound_median(values, np.zeros(40, int))[0])


def test_what_is_said_of_leads_is_said_of_whom_it_holds(tmp_path):
    text = describe_leads(tabulate(tmp_path, TABLE, "max").reset_index())
    assert "by race, half were selected at least this long before it, in units of the two columns" in text
    assert "B 4.0 (no interval; 1 record) and A 6.0 (95% 2.0 to 10.0; 3 records)" in text
    assert (
        "1 true positive of risk was selected only after the event, and of 1 other the time is not known."
        in text
    )
    none = tabulate(tmp_path, TABLE.assign(happened=TABLE["happened"] - 50), "max").reset_index()
    told = describe_leads(none)
    assert "no group has a median that can be told" in told
    assert "5 true positives of risk were selected only after the event" in told
    assert describe_leads(none.iloc[:0]) == ""
    hidden = none.assign(late=np.nan, unknown=np.nan, ahead=np.nan)
    assert "is withheld" in describe_leads(hidden)
    assert "nan" not in describe_leads(hidden)


def test_the_figure_draws_every_group_with_its_number(tmp_path):
    found = tabulate(
        tmp_path, TABLE.assign(happened=TABLE["happened"].where(TABLE["race"] == "A")), "max"
    ).reset_index()
    ax = draw_leads(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A (n = 3)", "B (n = 0)"]
    assert any(line.get_markerfacecolor() == "none" for line in ax.lines)
    assert ax.get_xlim() == pytest.approx((0, 1.08 * 10))
    assert "No column of this cohort" in draw_leads(found.iloc[:0]).texts[0].get_text().replace("\n", " ")
    plt.close("all")
