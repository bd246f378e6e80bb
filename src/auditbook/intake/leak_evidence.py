"""What in a column gives the outcome away?"""

import pandas as pd

from auditbook.intake.events import Events
from auditbook.intake.leaks import _pure_presence, _pure_value
from auditbook.intake.single_areas import LEAK_AREA, single_area


def tell_leak(column: pd.Series, events: Events) -> str:
    """Say by what figure a column gives the outcome away; blank where it does not."""
    part = column.iloc[events.rows].reset_index(drop=True)
    area = single_area(part, events.happened)
    if area > LEAK_AREA:
        return f"AUC {area:.3f} on its own"
    return _pure_value(part, events.happened) or _pure_presence(part, events.happened)
