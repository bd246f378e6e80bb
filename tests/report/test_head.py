"""Whom a report is about."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from auditbook.report.head import count_records, describe_population


@pytest.mark.parametrize(
    ("audited", "kept", "told"), [([800.0, 800.0], 900, 800), ([np.nan], 8, 8), ([], 700, 700)]
)
def test_records_are_counted_where_the_number_of_audited_ones_is_withheld(audited, kept, told):
    tables = {"models": pd.DataFrame({"n_audit": pd.Series(audited, dtype=float)})}
    source = SimpleNamespace(table=tables.__getitem__, run=SimpleNamespace(info={"rows_kept": kept}))
    assert count_records(source) == told


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            "max",
            "each score is the largest of its unit, and it has the event where any record has. The largest",
        ),
        ("first", "the first in time stands for its unit, and it has the event where any record has."),
    ],
)
def test_the_report_says_which_record_stands_for_a_unit(rule, told):
    tables = {
        "models": pd.DataFrame({"n_audit": [4.0], "source": ["given"]}),
        "contrasts": pd.DataFrame({"scope": ["records"]}),
        "cohort_sites": pd.DataFrame({"n_audit": [2, 2]}),
    }
    info = {"unit": "stay_id", "per_unit": {"rule": rule}}
    source = SimpleNamespace(
        table=tables.__getitem__,
        exact=SimpleNamespace(table=tables.__getitem__),
        run=SimpleNamespace(info=info),
    )
    text = describe_population(source, 4).text
    assert f"One record is audited of each stay_id: {told}" in text
    del info["per_unit"]
    assert "One record is audited" not in describe_population(source, 4).text
