"""Does a comma in the numbers of a text file part decimals or thousands, and do its cells say so?"""

from collections.abc import Collection

import numpy as np
import pandas as pd
import pyarrow as pa

from auditbook.errors import InputError
from auditbook.tables.people_numbers import PeopleNumbers, may_be_numbers, read_people_numbers
from auditbook.tables.text_columns import read_text_column


def find_decimals(file: str, frame: pd.DataFrame, text_columns: Collection[str]) -> tuple[str, ...]:
    """Read decimal commas in a file whose cells they do not separate, where some column proves them.

    Where no cell tells "1,234" from 1.234 an InputError asks.
    """
    found = {
        name: numbers
        for name in frame.columns
        if name not in text_columns and (numbers := _read_commas(frame[name])) is not None
    }
    proved = {name: numbers.comma for name, numbers in found.items() if numbers.comma != "unknown"}
    unknown = [name for name in found if name not in proved]
    if not found or "thousands" in proved.values():
        return ()
    points = any(column.dtype == np.float64 and (column % 1 > 0).any() for _, column in frame.items())
    if points:
        return ()
    if not proved:
        raise InputError(_ask(file, unknown[0], frame[unknown[0]]))
    for name in found:
        cells = pa.chunked_array([pa.array(frame[name], pa.string(), from_pandas=True)])
        frame[name] = read_text_column(cells, decimal=",", thousands=".")
    example = next(name for name in proved)
    return (f"{file}: numbers with decimal commas, as in column {example!r}",)


def _read_commas(column: pd.Series) -> PeopleNumbers | None:
    """Read a column of nothing but plain numbers with commas; None where it is another."""
    if column.dtype != object or not may_be_numbers(column):
        return None
    numbers = read_people_numbers(column)
    plain = {"decimal commas", "thousands parted by points", "thousands parted by commas"}
    if numbers is None or numbers.comma == "none" or numbers.numbers < numbers.filled:
        return None
    return numbers if set(numbers.ways) <= plain else None


def _ask(file: str, name: str, column: pd.Series) -> str:
    """Ask what a comma means that may be either."""
    cell = next(cell for cell in column if isinstance(cell, str) and "," in cell)
    plain = cell.strip()
    return (
        f"{file}: column {name!r}: {plain!r} can be {plain.replace(',', '.')} or {plain.replace(',', '')}; "
        'say which: [data] format = { decimal = "," } or { thousands = "," }'
    )
