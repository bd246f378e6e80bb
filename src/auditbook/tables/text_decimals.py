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

    Where no cell tells whether "1,234" is 1.234, or whether 1.234 is a thousand, an InputError asks. A column
    that may hold lists of codes ("1,2") stays text.
    """
    found = {
        name: numbers
        for name in frame.columns
        if name not in text_columns and (numbers := _read_commas(frame[name])) is not None
    }
    proved = [name for name, numbers in found.items() if numbers.comma == "decimal" and numbers.certain]
    unknown = [name for name, numbers in found.items() if numbers.comma == "unknown"]
    points = [name for name in frame.columns if _has_fractions(frame[name])]
    if unknown and not proved and not points and all(found[name].comma != "thousands" for name in found):
        raise InputError(_ask(file, unknown[0], frame[unknown[0]]))
    if not proved:
        return ()
    for name in points:
        if name not in text_columns and _may_be_thousands(frame[name]):
            raise InputError(_ask_about_points(file, name, frame[name], proved[0]))
    for name in [*proved, *(() if points else unknown)]:
        cells = pa.chunked_array([pa.array(frame[name], pa.string(), from_pandas=True)])
        frame[name] = read_text_column(cells, decimal=",", thousands=".")
    return (f"{file}: numbers with decimal commas, as in column {proved[0]!r}",)


def _read_commas(column: pd.Series) -> PeopleNumbers | None:
    """Read a column of nothing but plain numbers, some with a comma; None where it is another."""
    if column.dtype != object or not may_be_numbers(column):
        return None
    numbers = read_people_numbers(column)
    plain = {"decimal commas", "thousands parted by points", "thousands parted by commas"}
    if numbers is None or numbers.comma == "none" or numbers.numbers < numbers.filled:
        return None
    torn = numbers.comma == "unknown" and any("." in cell for cell in column if isinstance(cell, str))
    return None if torn or not set(numbers.ways) <= plain else numbers


def _has_fractions(column: pd.Series) -> bool:
    """Tell whether a column was read as numbers with decimal points."""
    return column.dtype == np.float64 and bool((column % 1 > 0).any())


def _may_be_thousands(column: pd.Series) -> bool:
    """Tell whether every point in a column of numbers may part thousands, as in 12.345."""
    parted = column[(column % 1 != 0) & np.isfinite(column)].abs()
    whole = np.isclose(parted * 1000, (parted * 1000).round(), rtol=0, atol=1e-6)
    return bool((parted >= 1).all() and (parted < 1000).all() and whole.all())


def _ask(file: str, name: str, column: pd.Series) -> str:
    """Ask what a comma means that may be either."""
    cell = next(cell for cell in column if isinstance(cell, str) and "," in cell)
    plain = cell.strip()
    return (
        f"{file}: column {name!r}: {plain!r} can be {plain.replace(',', '.')} or {plain.replace(',', '')}; "
        'say which: [data] format = { decimal = "," } or { thousands = "," }'
    )


def _ask_about_points(file: str, name: str, column: pd.Series, proved: str) -> str:
    """Ask what a point means in a file that has decimal commas elsewhere."""
    value = float(column[(column % 1 != 0) & np.isfinite(column)].iloc[0])
    return (
        f"{file}: column {proved!r} has decimal commas, so that {value:.3f} in column {name!r} can be "
        f'{round(value * 1000)}; say which: [data] format = {{ decimal = ",", thousands = "." }}, or write '
        "the numbers of all columns in one way"
    )
