"""What is learned from records is learned from a sample of them, drawn without reading the table at once."""

import numpy as np
import pytest

from auditbook.cohort import load_cohort
from auditbook.counting import draw_sample
from counted_cohorts import odd_table, write_cohort


def sample(file, **how):
    how = {"share": 0.3, "seed": 42, "rows": 100} | how
    return draw_sample(file, **how).source.table.frame


def test_a_share_of_the_rows_is_drawn_with_all_columns(tmp_path):
    file = write_cohort(tmp_path, frame=odd_table(3000))
    frame = sample(file)
    assert len(frame) == pytest.approx(900, abs=5 * np.sqrt(3000 * 0.3 * 0.7))
    assert list(frame.columns) == list(odd_table(10).columns)


def test_the_same_rows_are_drawn_whatever_the_parts_are(tmp_path):
    file = write_cohort(tmp_path)
    assert sample(file).equals(sample(file, rows=33))
    assert not sample(file).equals(sample(file, seed=7))


def test_units_are_drawn_whole(tmp_path):
    table = odd_table()
    file = write_cohort(tmp_path, frame=table, unit='[unit]\ncolumn = "patient"')
    frame = sample(file)
    drawn = set(frame["patient"])
    assert 0 < len(drawn) < table["patient"].nunique()
    assert len(frame) == table["patient"].isin(drawn).sum()


def test_all_rows_make_the_cohort_of_the_table(tmp_path):
    file = write_cohort(tmp_path)
    found = draw_sample(file, seed=42, rows=100)
    assert found.rows == len(found.source.table.frame) == 700
    drawn, whole = (
        load_cohort(file, source=found.source, cache_dir=tmp_path),
        load_cohort(file, cache_dir=tmp_path),
    )
    assert drawn.table.equals(whole.table)
    assert drawn.left_out == whole.left_out
