"""Which verdicts hang on a group whose name says that nothing is known, such as "declined"?"""

import pandas as pd

from auditbook.results import rows
from auditbook.tables import names_missing


def find_named_missing(verdicts: pd.DataFrame) -> pd.DataFrame:
    """List the cells whose lowest or highest group is a missing value with a name.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        Rows of ``verdicts.csv``.

    Returns
    -------
    pandas.DataFrame
        `model`, `metric`, `attribute` and `group`, a row for each such group of a cell.
    """
    found = [
        (row.model, row.metric, row.attribute, group)
        for row in rows(verdicts)
        for group in dict.fromkeys((row.lowest_group, row.highest_group))
        if isinstance(group, str) and names_missing(group)
    ]
    return pd.DataFrame(found, columns=["model", "metric", "attribute", "group"], dtype=object)
