"""Whatever bytes a file holds, it is a table or one message, never a traceback."""

import gzip
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.tables import TableFormat, read_table_file
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


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.csv", b'\xef\xbb\xbf{"a": 1, "b": 2}\n{"a": 2, "b": 3}\n', "not .csv but JSON; name it .jsonl"),
        ("t.txt", b'[{"a": 1, "b": 2}]', "not .txt but a list in JSON"),
        ("t.tsv", b"\n <!DOCTYPE html>\n<table><tr><td>a</td></tr></table>", "not .tsv but a web page"),
        ("t.csv", b'<?xml version="1.0"?><a><b>1</b></a>', "not .csv but XML"),
        (
            "t.csv.gz",
            gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0),
            "compressed twice with gzip; unpack it once",
        ),
        ("t.csv.gz", gzip.compress(b"PAR1" + bytes(9), mtime=0), "and inside not .csv.gz but a parquet file"),
        ("t.csv.gz", gzip.compress(b'{"a": 1}', mtime=0), "not .csv.gz but JSON"),
    ],
    ids=["json-lines", "json", "web-page", "xml", "packed-twice", "packed-parquet", "packed-json"],
)
def test_what_is_no_text_of_cells_is_named(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_table_file(tmp_path / name)


def test_a_pipe_is_refused_before_anybody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    (tmp_path / "link.csv").symlink_to("t.csv")
    for name in ("t.csv", "link.csv"):
        with pytest.raises(InputError, match=f"{name} is a pipe or a device, not a file"):
            read_table_file(tmp_path / name)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (TableFormat(encoding="utf-16"), "its text is not utf-16; say what it is"),
        (TableFormat(encoding="punycode"), "its text is not punycode; say what it is"),
        (TableFormat(encoding="undefined"), "'undefined' is no encoding"),
        (TableFormat(encoding="a\0b"), "is no encoding; allowed are names such as"),
        (TableFormat(skip_rows=10**19), "the file has no header line"),
    ],
)
def test_a_format_that_the_file_does_not_have_is_told(tmp_path, form, told):
    (tmp_path / "t.csv").write_bytes(b"patient_id,age\n1,2\n")
    with pytest.raises(InputError, match=told):
        read_table_file(tmp_path / "t.csv", form=form)
