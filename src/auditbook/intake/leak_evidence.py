"""What in a column gives the outcome away?"""

import pandas as pd

from auditbook.intake.events import Events
from auditbook.intake.leaks import find_leak


def tell_leak(column: pd.Series, events: Events) -> str:
    """Say by what figure a column gives the outcome away; blank where it does not."""
    leak = find_leak(column.iloc[events.rows].reset_index(drop=True), events.happened)
    return "" if leak is None else leak.figure
