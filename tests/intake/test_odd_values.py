"""Whatever a table holds, a caution is one line that can be printed, with no empty place in it."""

import re

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditbook.intake import warn_table
from auditbook.tables import plain_table
from warned_tables import BASIC, make_table, read_file

ODD = (
    *(
        "",
        " ",
        "NA",
        "?",
        "unknown",
        "> 89",
        "120 +",
        "<0.2",
        "$9,870",
        "1,2",
        "37 %",
        "1E+05",
        "09-May",
        "Oct-14",
    ),
    *(
        "White;Black",
        "['a', 'b']",
        "MÃ©xico",
        "\ufffd",
        "0000000",
        "999",
        "-9",
        "a\rb",
        "\x1b[31m",
        "=1+1",
        "0x1F",
    ),
    *(
        "nan",
        "None",
        "inf",
        "-inf",
        "1e400",
        "é",
        "e\u0301",
        "{",
        "%s",
        '"',
        "'",
        "\\",
        "\u202e",
        "٣",
        "origin",
    ),
)
CELLS = st.one_of(st.none(), st.sampled_from(ODD), st.integers(-3, 12).map(str), st.text(max_size=6))
NUMBERS = st.one_of(
    st.none(), st.integers(-9, 12), st.sampled_from([98, 99, 999, -99, 9999, 2**60, 1e300, 0.1])
)

TEXTS = (
    BASIC + '[attributes.origin]\ncolumn = "origin"\n',
    BASIC + '[attributes.origin]\ncolumn = "origin"\nbins = [0, 5, 10]\nlabels = ["low", "middle", "high"]\n',
    BASIC.replace('"died"\nevent = 1', '"origin"\nevent = "> 3"'),
    BASIC.replace('"died"\nevent = 1', '"origin"\nevent = "Y"') + '[missing]\nvalues = ["NA", "> 89", 9]\n',
    BASIC.replace('"died"\nevent = 1', '"origin"\ntype = "continuous"'),
    BASIC + '[unit]\ncolumn = "origin"\n[site]\ncolumn = "code"\n',
    BASIC + '[scores.m]\ncolumn = "code"\nkind = "rank"\npercentile = 90\n[time]\ncolumn = "origin"\n',
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(CELLS, min_size=1, max_size=9), st.lists(NUMBERS, min_size=1, max_size=9), st.sampled_from(TEXTS)
)
def test_a_caution_is_one_printable_line(tmp_path, cells, numbers, text):
    table = make_table(rows=60, origin=lambda i: cells[i % len(cells)])
    table["code"] = pd.Series([numbers[i % len(numbers)] for i in range(60)], dtype=object)
    for caution in warn_table(read_file(tmp_path, text), plain_table(table)):
        said = str(caution)
        assert said.isprintable()
        assert re.match(r"\[\w+(\.\w+)?\]", said)
        assert not re.search(r"\(\)|''|\[\]|: ;|; ;|  ", said.replace(" ''", "").replace("'  '", ""))
