"""Columns of bytes: text where they hold text, else left out with a word, never a feature."""

import pyarrow as pa
import pytest

from auditbook.tables.plain import plain_table

TEXT = [b"Yes", None, "Ærø".encode()]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_text_that_is_kept_as_bytes_is_text(kind):
    found = plain_table(pa.table({"a": pa.array(TEXT, kind)}))
    assert found.frame["a"].tolist() == ["Yes", None, "Ærø"]
    assert found.notes == ()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([b"\xff\xd8\xff", None], pa.binary()),
        ([b"\x00\x01", b"ab"], pa.large_binary()),
        ([b"\x89PNG", b"\x89PNH"], pa.binary(4)),
    ],
)
def test_bytes_that_are_no_text_are_left_out_and_it_is_said(cells, kind):
    found = plain_table(pa.table({"age": [1, 2], "picture": pa.array(cells, kind)}))
    assert list(found.frame) == ["age"]
    assert found.notes == ("column 'picture' holds binary data, neither numbers nor text: it is left out",)
