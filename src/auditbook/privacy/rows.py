"""By what are the rows of a table told apart?"""

from collections.abc import Iterable
from typing import Any

import pandas as pd


def name_rows(table: pd.DataFrame, columns: Iterable[str]) -> list[tuple[Any, ...]]:
    """List what the rows of a table are told apart by."""
    return list(zip(*(table[name] for name in columns), strict=True))
