"""Whom a report is about."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from auditbook.report.head import count_records


@pytest.mark.parametrize(
    ("audited", "kept", "told"), [([800.0, 800.0], 900, 800), ([np.nan], 8, 8), ([], 700, 700)]
)
def test_records_are_counted_where_the_number_of_audited_ones_is_withheld(audited, kept, told):
    tables = {"models": pd.DataFrame({"n_audit": pd.Series(audited, dtype=float)})}
    source = SimpleNamespace(table=tables.__getitem__, run=SimpleNamespace(info={"rows_kept": kept}))
    assert count_records(source) == told
