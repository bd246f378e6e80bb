"""Whatever bytes a file holds, it is a table or one message, never a traceback."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.tables import read_table_file
from tables.table_files import FORMATS, make_columns, write_any

PIECES = [
    *(b",", b";", b"\t", b"|", b'"', b"\n", b"\r", b"\r\n", b"\0", b"  ", b"#", b"sep=;", b"a", b"1", b"0,5"),
    *(
        b"1.5",
        b"00",
        b"-",
        b"e5",
        b"inf",
        b"NA",
        b"2024-01-31",
        b"\xe9",
        b"\xc3\xa9",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
    ),
]


def read_or_refuse(path):
    faults = ["read"]
    try:
        read_table_file(path)
    except InputError as error:
        faults = list(error.faults)
    assert len(faults) == 1
    assert len(faults[0]) < 900


@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=40),
    suffix=st.sampled_from([".csv", ".tsv", ".txt", ".jsonl"]),
)
def test_any_text_is_a_table_or_one_message(tmp_path_factory, pieces, suffix):
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(b"".join(pieces))
    read_or_refuse(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_damaged_file_of_any_format_is_a_table_or_one_message(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    write_any(make_columns(12), path)
    whole, chance = path.read_bytes(), random.Random(1)
    path.write_bytes(whole[: len(whole) // 2])
    read_or_refuse(path)
    for _ in range(6):
        damaged = bytearray(whole)
        for _ in range(5):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(bytes(damaged))
        read_or_refuse(path)
