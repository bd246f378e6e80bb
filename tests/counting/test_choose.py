"""Which cohorts are counted part by part."""

import gzip

import pytest

from auditbook.cohort import read_cohort_file
from auditbook.counting import is_counted
from auditbook.errors import InputError
from auditbook.settings import PROFILES
from auditbook.tables import estimate_rows
from counted_cohorts import odd_table, write_cohort


def say(file, line):
    text = file.path.read_text().replace("[outcome]", f"{line}\n[outcome]", 1)
    file.path.write_text(text)
    return read_cohort_file(file.path)


def test_a_small_table_is_held_in_memory_and_a_large_one_is_counted(tmp_path, monkeypatch):
    file = write_cohort(tmp_path, kind="parquet")
    assert not is_counted(file)
    monkeypatch.setattr("auditbook.counting.choose.FROM_ROWS", 700)
    assert is_counted(file)
    assert not is_counted(file, profile=PROFILES["smoke"])  # it draws records
    assert not is_counted(say(file, 'read = "whole"'))


def test_the_cohort_file_can_ask_for_either(tmp_path):
    file = say(write_cohort(tmp_path), 'read = "in parts"')
    assert is_counted(file)
    with pytest.raises(InputError, match="profile smoke draws 4,000 records"):
        is_counted(file, profile=PROFILES["smoke"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_are_estimated_without_reading_a_file(tmp_path, kind):
    write_cohort(tmp_path, kind=kind, frame=odd_table(5000))
    assert estimate_rows(tmp_path / f"part0.{kind}") == pytest.approx(5000, rel=0.05)


def test_rows_of_a_packed_file_are_estimated_within_a_factor(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(odd_table(5000).to_csv(index=False).encode()))
    assert 2_000 < estimate_rows(path) < 12_000
