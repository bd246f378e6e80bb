"""One record for a unit that was scored several times, and the time between prediction and event."""

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.intake.prediction_cautions import warn_predictions
from cohorts import write_pair

HEAD = '[outcome]\ncolumn = "y"\nevent = 1\n{}[unit]\ncolumn = "stay"\n{}'
RACE = '[attributes.race]\ncolumn = "race"\n'
DATE = '[time]\ncolumn = "at"\n'
RISK = '[scores.risk]\ncolumn = "p"\nkind = "probability"\nthreshold = 0.5\n'
REST = RACE + RISK

# Stay 1: three predictions, the highest in the middle, the event noted with the last; 2: two of one moment;
# 3: one; 4: two, of which the first has no moment
STAYS = pd.DataFrame(
    {
        "stay": ["1", "1", "1", "2", "2", "3", "4", "4"],
        "at": pd.to_datetime(
            [
                "2024-01-01",
                "2024-01-02",
                "2024-01-03",
                "2024-01-05",
                "2024-01-05",
                "2024-01-01",
                None,
                "2024-01-09",
            ]
        ),
        "race": ["A", "A", "A", "B", "B", "B", "A", "A"],
        "ward": ["w1", "w2", "w3", "w1", "w2", "w1", "w4", "w5"],
        "p": [0.2, 0.9, 0.4, 0.3, 0.6, 0.7, 0.8, 0.1],
        "y": [0, 0, 1, 0, 0, 1, 0, 0],
        "happened": pd.to_datetime(
            [None, None, "2024-01-02 12:00", None, None, "2024-01-01 06:00", None, None]
        ),
    }
)


def load(folder, table, text):
    path = write_pair(folder, table, text)
    return load_cohort(read_cohort_file(path), cache_dir=folder)


def merge(folder, table, rule, *, time=DATE, event="", rest=REST):
    return load(folder, table, HEAD.format(event, f'score_per_unit = "{rule}"\n') + time + rest)


def told(folder, table, rule, **how):
    with pytest.raises(InputError) as caught:
        merge(folder, table, rule, **how)
    return "\n".join(caught.value.faults)


def column_of(cohort, name):
    """Return a column by unit, in the order of their names."""
    return pd.Series(cohort.table[name].to_numpy(), index=cohort.unit).sort_index().tolist()


@pytest.mark.parametrize(
    ("rule", "scores", "wards"),
    [
        ("max", [0.9, 0.6, 0.7, 0.8], ["w2", "w2", "w1", "w4"]),
        ("first", [0.2, 0.6, 0.7, 0.1], ["w1", "w2", "w1", "w5"]),
        ("last", [0.4, 0.6, 0.7, 0.1], ["w3", "w2", "w1", "w5"]),
    ],
)
def test_one_record_stands_for_a_unit_by_the_rule(tmp_path, rule, scores, wards):
    cohort = merge(tmp_path, STAYS.sample(frac=1, random_state=5), rule)
    assert column_of(cohort, "p") == scores
    assert column_of(cohort, "ward") == wards
    events = pd.Series(cohort.outcome, index=cohort.unit).sort_index()
    assert events.tolist() == [1, 0, 1, 0]  # stay 1 has the event although only its last record says so
    assert cohort.merged.several == 3
    assert cohort.merged.mixed == 1
    assert cohort.merged.largest == 3
    assert cohort.left_out[-1].rows == 4


def test_the_order_of_rows_changes_nothing_also_among_ties(tmp_path):
    table = pd.concat([STAYS, STAYS.assign(ward="w9")], ignore_index=True)
    ways = [merge(tmp_path, table.sample(frac=1, random_state=seed), "first") for seed in range(4)]
    assert all(way.table.equals(ways[0].table) for way in ways)


def test_each_score_has_its_own_maximum_and_low_ones_their_minimum(tmp_path):
    low = '[scores.survival]\ncolumn = "q"\nkind = "probability"\nthreshold = 0.5\nevent_is = "low"\n'
    table = STAYS.assign(q=[0.5, 0.6, 0.3, 0.9, 0.8, 0.1, 0.7, 0.2])
    cohort = merge(tmp_path, table, "max", rest=RACE + RISK + low)
    assert column_of(cohort, "p") == [0.9, 0.6, 0.7, 0.8]
    assert column_of(cohort, "q") == [0.3, 0.8, 0.1, 0.2]


def test_what_was_merged_is_told_in_words(tmp_path):
    text = merge(tmp_path, STAYS, "first").summary()
    assert "score_per_unit: 8 records of 4 units became 4: the first in time stands for its unit" in text
    assert "; 3 units had several (up to 3); 1 unit with the event in some of them only has it" in text
    untimed = STAYS.assign(at=STAYS["at"].where(STAYS["stay"] != "2"))
    assert (
        "1 unit had no moment to choose by: the highest score stands"
        in merge(tmp_path, untimed, "last").summary()
    )
    single = STAYS.drop_duplicates("stay").assign(y=[1, 0, 1, 0])
    told = merge(tmp_path, single, "max", time="").summary()
    assert "each of 4 units has one record, so that nothing was chosen among several" in told


def test_one_prediction_a_unit_changes_no_record(tmp_path):
    single = STAYS.drop_duplicates("stay").assign(y=[1, 0, 1, 0])
    plain = load(tmp_path, single, HEAD.format("", "") + DATE + REST)
    for rule in ("max", "first", "last"):
        cohort = merge(tmp_path, single, rule)
        assert cohort.table.equals(plain.table)
        assert np.array_equal(cohort.outcome, plain.outcome)
        assert cohort.merged.several == 0


def test_groups_that_differ_within_a_unit_are_refused_until_one_is_settled(tmp_path):
    table = STAYS.assign(race=["A", "B", "B", "B", "B", "B", "A", "A"])
    text = told(tmp_path, table, "max")
    assert "[attributes.race]: 1 unit holds more than one group (such as '1': 'A', 'B')" in text
    assert 'within_unit = "most frequent", or "first" or "last"' in text
    settled = merge(tmp_path, table, "max", rest=RACE + 'within_unit = "most frequent"\n' + RISK)
    assert len(settled.table) == 4


def test_a_unit_at_two_sites_keeps_the_site_of_its_record_or_is_refused(tmp_path):
    table = STAYS.assign(hospital=["h1", "h2", "h3", "h1", "h1", "h2", "h2", "h2"])
    site = '[site]\ncolumn = "hospital"\n'
    assert column_of(merge(tmp_path, table, "last", rest=site + REST), "hospital") == ["h3", "h1", "h2", "h2"]
    text = told(tmp_path, table, "max", rest=site + REST)
    assert "[site] column: 1 unit holds more than one site (such as '1': 'h1', 'h2', 'h3')" in text
    assert 'columns = ["hospital", "stay"]' in text


@pytest.mark.parametrize(
    ("rule", "time", "rest", "expected"),
    [
        ("first", "", REST, "needs to know when a record was made"),
        ("max", DATE, RACE, "models trained here see one record a unit"),
        ("median", DATE, REST, "score_per_unit"),
    ],
)
def test_a_rule_that_lacks_what_it_needs_is_refused(tmp_path, rule, time, rest, expected):
    assert expected in told(tmp_path, STAYS, rule, time=time, rest=rest)


def test_a_rule_without_a_unit_or_with_the_site_as_unit_is_refused(tmp_path):
    text = '[outcome]\ncolumn = "y"\nevent = 1\n[unit]\nscore_per_unit = "max"\n' + REST
    with pytest.raises(InputError, match="there is no unit"):
        load(tmp_path, STAYS, text)
    with pytest.raises(InputError, match="the unit is the site"):
        merge(tmp_path, STAYS, "max", rest='[site]\ncolumn = "stay"\n' + REST)


def test_a_unit_without_any_score_is_refused_as_a_record_is(tmp_path):
    table = STAYS.assign(p=STAYS["p"].where(STAYS["ward"] != "w3"))
    assert "'p' is missing in 1 of 8 records" in told(tmp_path, table, "max")


def test_when_every_unit_has_the_event_that_is_told(tmp_path):
    table = STAYS.assign(y=[0, 0, 1, 1, 0, 1, 0, 1])
    assert "every one of 4 units has a record with the event" in told(tmp_path, table, "max")


def test_leads_are_hours_from_the_prediction_to_the_first_event_of_its_unit(tmp_path):
    cohort = merge(tmp_path, STAYS, "max", event='time = "happened"\n')
    found = cohort.predictions
    assert found.dated
    assert found.timed
    assert found.count.tolist() == np.bincount(found.record).tolist()
    longest = pd.Series(found.find_longest(found.scores[0] >= 0.5), index=cohort.unit).sort_index()
    assert longest["1"] == 12  # the first alert is that of 2 January, not the largest lead of all
    assert longest["3"] == 6
    assert longest[["2", "4"]].isna().all()


def test_leads_without_a_rule_are_those_of_each_record(tmp_path):
    text = HEAD.format('time = "happened"\n', "") + DATE + REST
    cohort = load(tmp_path, STAYS, text)
    lead = pd.Series(cohort.predictions.lead, index=cohort.table["ward"] + cohort.unit)
    assert lead["w31"] == -12
    assert lead["w13"] == 6
    assert lead.notna().sum() == 2
    some = cohort.predictions.take(np.array([5, 0]))
    assert some.n_records == 2
    assert some.record.tolist() == [0, 1]


def test_numbers_are_times_too_and_dates_beside_numbers_are_refused(tmp_path):
    hours = STAYS.assign(at=range(8), happened=[None, None, 7.5, None, None, 6, None, None])
    cohort = merge(tmp_path, hours, "last", event='time = "happened"\n')
    assert sorted(cohort.predictions.lead[~np.isnan(cohort.predictions.lead)]) == [1, 5.5, 6.5, 7.5]
    assert not cohort.predictions.dated
    text = told(tmp_path, STAYS.assign(at=range(8)), "last", event='time = "happened"\n')
    assert "'happened' holds dates and 'at' numbers" in text


def test_times_of_one_clock_are_compared_whatever_offset_the_file_writes(tmp_path):
    written = STAYS.assign(
        at=STAYS["at"].dt.strftime("%Y-%m-%dT%H:%M:%S+01:00"),
        happened=STAYS["happened"].dt.strftime("%Y-%m-%dT%H:%M:%S+01:00"),
    )
    cohort = merge(tmp_path, written, "max", event='time = "happened"\n')
    lead = cohort.predictions.lead
    assert sorted(lead[~np.isnan(lead)]) == [-12, 6, 12, 36]


@pytest.mark.parametrize(
    ("event", "time", "expected"),
    [
        ('time = "happened"\n', "", "nothing says when a prediction was made"),
        ('time = "at"\n', DATE, "is also the time of the prediction"),
        ('time = "y"\n', DATE, "'y' is the outcome"),
        ('time = "when"\n', DATE, "no column 'when'"),
    ],
)
def test_a_time_of_the_event_that_cannot_be_used_is_told(tmp_path, event, time, expected):
    assert expected in told(tmp_path, STAYS, "max", event=event, time=time)


def cautions(cohort):
    return [str(item) for item in warn_predictions(cohort)]


def test_units_with_several_records_and_no_rule_are_pointed_out(tmp_path):
    plain = HEAD.format("", "") + DATE
    (text,) = cautions(load(tmp_path, STAYS, plain + REST))
    assert text.startswith("[unit]: 3 of 4 units have several records (up to 3), each audited")
    assert 'score_per_unit = "max"' in text
    (text,) = cautions(load(tmp_path, STAYS.iloc[[0, 1, 3, 5, 7]].assign(y=[0, 1, 0, 1, 0]), plain + REST))
    assert "1 of 4 units has several records (up to 2)" in text
    assert not cautions(load(tmp_path, STAYS.drop_duplicates("stay").assign(y=[1, 0, 1, 0]), plain + REST))
    assert not cautions(load(tmp_path, STAYS, plain + RACE))  # nothing is scored


def test_maxima_of_unequally_many_predictions_are_pointed_out(tmp_path):
    found = cautions(merge(tmp_path, STAYS, "max"))
    assert len(found) == 1
    assert "'A' of race 2.5 and 'B' 1.5" in found[0]
    longer = pd.concat([STAYS, STAYS[STAYS["stay"] == "1"].assign(ward="w7")])
    assert any(
        "those with the event 3.5 and those without the event 2.0" in text
        for text in cautions(merge(tmp_path, longer, "max"))
    )
    assert not cautions(merge(tmp_path, STAYS, "last"))


def test_predictions_after_the_event_and_events_without_a_time_are_counted(tmp_path):
    found = cautions(merge(tmp_path, STAYS, "last", event='time = "happened"\n'))
    assert len(found) == 1
    assert "1 prediction of 1 record with the event was made after it" in found[0]
    unknown = STAYS.assign(happened=STAYS["happened"].where(STAYS["stay"] != "3"))
    found = cautions(merge(tmp_path, unknown, "last", event='time = "happened"\n'))
    assert "of 1 of 2 records with the event no time before it is known" in found[1]


def test_the_largest_of_many_scores_fools_a_comparison_of_groups():
    """Scores of one distribution for all, no event in reach: those who stay longer are selected more."""
    rng = np.random.default_rng(7)
    short, long = rng.uniform(size=(4_000, 2)), rng.uniform(size=(4_000, 8))
    rates = [(part.max(axis=1) >= 0.9).mean() for part in (short, long)]
    expected = [1 - 0.9**2, 1 - 0.9**8]
    assert np.allclose(rates, expected, atol=5 * np.sqrt(0.25 / 4_000))
    assert rates[1] - rates[0] > 0.3
    assert abs((short[:, 0] >= 0.9).mean() - (long[:, 0] >= 0.9).mean()) < 5 * np.sqrt(0.18 / 4_000)
