"""What is said of a small table: its cohort file is written, the table is plain, and cautions are text."""

import numpy as np
import pandas as pd

from auditbook.cohort import read_cohort_file
from auditbook.intake import warn_table
from auditbook.tables import plain_table

TOP = """\
name = "warned"
[data]
path = "warned.csv"
"""

BASIC = """\
[outcome]
column = "died"
event = 1
[attributes.sex]
column = "sex"
"""


def make_table(rows=200, **columns):
    """Make a table without anything to point out, and some columns beside or instead."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"died": rng.integers(0, 2, rows), "sex": [["F", "M"][i % 2] for i in range(rows)]})
    for name, values in columns.items():
        table[name] = values if not callable(values) else [values(i) for i in range(rows)]
    return table


def read_file(folder, text=BASIC, top=TOP):
    """Write a cohort file and read it."""
    path = folder / "warned.toml"
    path.write_text(top + text, encoding="utf-8")
    return read_cohort_file(path)


def warn(folder, table, text=BASIC, top=TOP):
    """List the cautions about a table, as text."""
    return [str(each) for each in warn_table(read_file(folder, text, top), plain_table(table))]


def warn_once(folder, table, text=BASIC, top=TOP):
    """Return the only caution about a table."""
    said = warn(folder, table, text, top)
    assert len(said) == 1, said
    return said[0]
