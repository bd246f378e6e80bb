"""The same table in every format is the same plain table."""

import pandas as pd
import pytest

from auditbook.tables import read_table_file
from tables.table_files import FORMATS, make_columns, write_any


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_kind_of_column_comes_back_the_same_from_every_format(tmp_path, suffix):
    table = make_columns()
    write_any(table, tmp_path / f"t{suffix}")
    write_any(table, tmp_path / "plain.parquet")
    expected = read_table_file(tmp_path / "plain.parquet").frame
    found = read_table_file(tmp_path / f"t{suffix}").frame
    if suffix == ".rds":  # its writer knows no dates
        expected = expected.assign(day=expected["day"].dt.strftime("%Y-%m-%d"))
    pd.testing.assert_frame_equal(found, expected)
