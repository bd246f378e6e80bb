"""Lines of JSON objects are a table; what is none is told with its line."""

import numpy as np
import pandas as pd
import pytest

from auditbook.errors import InputError
from auditbook.tables import json_lines, read_table_file


def read(folder, *lines):
    (folder / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return read_table_file(folder / "t.jsonl").frame


@pytest.mark.parametrize("batch", [1, 2, 50_000])
def test_kinds_do_not_depend_on_where_they_begin(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(json_lines, "_BATCH", batch)
    frame = read(
        tmp_path,
        '{"a": 1, "b": 1, "c": "x", "wide": 7205759403792793601, "day": "2024-01-31", "late": null}',
        '{"a": 2.5, "b": 2, "c": 7, "wide": 1, "day": "2024-02-01"}',
        "",
        '{"b": 3, "a": null, "wide": 0.5, "c": true, "late": true}',
    )
    np.testing.assert_array_equal(frame["a"], [1, 2.5, np.nan])
    assert frame["b"].tolist() == [1, 2, 3]
    assert frame["b"].dtype == np.int64
    assert frame["c"].tolist() == ["x", "7", "True"]
    assert frame["wide"].tolist() == ["7205759403792793601", "1", "0.5"]
    assert frame["day"].tolist() == [pd.Timestamp("2024-01-31"), pd.Timestamp("2024-02-01"), pd.NaT]
    assert frame["late"].tolist() == [None, None, True]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (['{"a": 1}', "{a: 2}"], "line 2 is not JSON"),
        (["", "[1, 2]"], r"line 2 holds \[1, 2\], not an object"),
        (['{"a": [1]}'], "column 'a' holds lists or tables"),
        (["{}"], "no line holds an object with a key"),
        ([" "], "no line holds an object with a key"),
        (["[" * 100_000], "line 1 is not JSON"),
        (
            ['{"a": 1}', '{"a": ' + "9" * 5000 + "}"],
            r"line 2 is not JSON \(lists in lists too deep, or a number",
        ),
        (['{"a": "\\ud83d\\ude00"}', '{"a": "b\\uD83d"}'], r"line 2 holds half a character \(\\ud83d\)"),
        (['{"\\udc00": 1}'], "line 1 holds half a character"),
        (['{"a": 1, "b": 2, "a": 3}'], "line 1 holds a key twice"),
    ],
)
def test_what_is_no_table_is_told_with_its_line(tmp_path, lines, told):
    with pytest.raises(InputError, match=told):
        read(tmp_path, *lines)
