"""A cohort that is counted part by part has the counts of its table, to the last byte."""

import numpy as np
import pytest

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.counting import count_cohort, find_obstacles
from auditbook.errors import InputError
from auditbook.evidence import tally_records
from auditbook.scoring import count_unplaced, score_cohort
from auditbook.settings import PROFILES
from auditbook.tables import hash_text
from counted_cohorts import assert_equal, odd_table, write_cohort


def count_table(file, tmp_path, edges):
    """Count the cohort as one table."""
    cohort = load_cohort(file, cache_dir=tmp_path)
    scored = score_cohort(cohort, protocol=file.protocol, cache_dir=tmp_path)
    sites = tuple(sorted(set(cohort.site)))
    key = None
    if scored.records.unit is not None:
        key = hash_text(np.array(sorted(set(cohort.unit)), dtype=object))
    tally = tally_records(scored.records, sites=sites, rank_edges=edges, unit_key=key)
    return cohort, scored, tally


@pytest.mark.parametrize(
    ("kind", "files", "unit", "rows"),
    [
        ("csv", 1, "", 97),
        ("csv", 3, "", 1000),
        ("parquet", 1, "", 50),
        ("parquet", 2, '[unit]\ncolumn = "patient"', 100),
        ("csv", 1, '[unit]\ncolumns = ["hospital", "patient"]', 97),
    ],
)
def test_counts_are_those_of_the_table(tmp_path, kind, files, unit, rows):
    file = write_cohort(tmp_path, kind=kind, files=files, unit=unit)
    counted = count_cohort(file, rows=rows, folder=tmp_path)
    cohort, scored, tally = count_table(file, tmp_path, counted.edges)
    assert_equal(counted.tally, tally)
    assert counted.left_out == cohort.left_out
    assert (counted.rows_read, counted.data_hash) == (cohort.rows_read, cohort.data_hash)
    settled = [(item.name, item.groups, item.reference, item.parts) for item in counted.attributes]
    assert settled == [(item.name, item.groups, item.reference, item.parts) for item in cohort.attributes]
    lacking = count_unplaced(cohort, scored)
    assert counted.unplaced.keys() == lacking.keys()
    assert all((counted.unplaced[name] == lacking[name]).all() for name in lacking)


def test_counts_are_the_same_bytes_whatever_the_parts_are(tmp_path):
    file = write_cohort(tmp_path)
    first, *others = (count_cohort(file, rows=rows).tally for rows in (700, 64, 31))
    for other in others:
        assert_equal(other, first)


@pytest.mark.slow
def test_two_processes_count_what_one_does(tmp_path):
    file = write_cohort(tmp_path, kind="parquet")
    assert_equal(count_cohort(file, rows=50, jobs=2).tally, count_cohort(file, rows=50).tally)


def test_groups_of_units_are_settled_where_the_whole_unit_is_seen(tmp_path):
    file = write_cohort(tmp_path, unit='[unit]\ncolumn = "patient"')
    text = file.path.read_text().replace('column = "sex"', 'column = "sex"\nwithin_unit = "most frequent"')
    file.path.write_text(text)
    file = read_cohort_file(file.path)
    counted = count_cohort(file, rows=80, folder=tmp_path)
    assert_equal(counted.tally, count_table(file, tmp_path, counted.edges)[2])
    assert list(tmp_path.glob("units-*")) == []


def test_a_fault_names_the_rows_in_which_it_was_found(tmp_path):
    frame = odd_table()
    frame.loc[140:160, "risk"] = 1.5
    file = write_cohort(tmp_path, frame=frame)
    told = (
        r"odd.toml: rows 101 to 200 of part0.csv: \[scores.risk\] column: column 'risk' runs from .* to 1.5"
    )
    with pytest.raises(InputError, match=told):
        count_cohort(file, rows=100)


def test_an_event_that_nobody_has_is_told(tmp_path):
    file = write_cohort(tmp_path, frame=odd_table().assign(days="2"))
    with pytest.raises(InputError, match=r"'> 3' matches no record: 'days' holds from 2 to 2"):
        count_cohort(file, rows=100)


def test_no_record_left_is_told_with_the_reasons(tmp_path):
    file = write_cohort(tmp_path, frame=odd_table().assign(ward="Hospice"))
    told = r"no record is left of the 700 in part0.csv \(700 rows: hospice; 0 rows: no ward\)"
    with pytest.raises(InputError, match=told):
        count_cohort(file, rows=100)


def test_too_many_groups_in_all_parts_together_are_told(tmp_path):
    frame = odd_table()
    frame["sex"] = [f"g{place:03d}" for place in range(len(frame))]
    file = write_cohort(tmp_path, frame=frame)
    with pytest.raises(InputError, match=r"'sex' makes .* groups .* at most 50 are allowed"):
        count_cohort(file, rows=40)


def test_a_column_that_is_not_there_is_told_before_anything_is_counted(tmp_path):
    file = write_cohort(tmp_path, frame=odd_table().drop(columns="flag"))
    with pytest.raises(InputError, match="has no column 'flag'"):
        count_cohort(file)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("threshold = 0.3", "percentile = 90", r"\[scores.risk\] percentile: a percentile needs all scores"),
        ("[pockets]", '[weight]\ncolumn = "grade"\n[pockets]', r"\[weight\] column: records with weights"),
        ("[pockets]", '[panel]\nmodels = ["logistic"]\n[pockets]', r"\[panel\] models: a model is trained"),
        (
            "[pockets]",
            '[outcomes.x]\ncolumn = "notes"\nevent = 1\n[pockets]',
            r"\[outcomes\]: other outcomes",
        ),
    ],
)
def test_what_needs_all_records_is_refused_with_the_cure(tmp_path, old, new, told):
    file = write_cohort(tmp_path)
    file.path.write_text(file.path.read_text().replace(old, new))
    with pytest.raises(InputError, match=rf'odd.toml: {told}.*write \[data\] read = "whole"'):
        count_cohort(read_cohort_file(file.path))


def test_a_profile_that_draws_records_is_an_obstacle(tmp_path):
    file = write_cohort(tmp_path)
    assert find_obstacles(file, PROFILES["standard"]) == ()
    (told,) = find_obstacles(file, PROFILES["smoke"])
    assert "profile smoke draws 4,000 records" in told
