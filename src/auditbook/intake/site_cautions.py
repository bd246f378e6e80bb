"""Which sites deserve a second look?"""

from collections.abc import Iterator

import pandas as pd

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution

SITE_SHARE = 0.50
"""Share of the records from which one site is pointed out."""


def warn_sites(cohort: Cohort) -> Iterator[Caution]:
    """Point out a single site, and one that holds most records."""
    if cohort.site is None:
        return
    counts = pd.Series(cohort.site).value_counts()
    share = counts.iloc[0] / len(cohort.site)
    if len(counts) == 1:
        yield Caution(
            "[site]", "there is one site only, so that nothing can be said about agreement between sites"
        )
    elif share > SITE_SHARE:
        yield Caution(
            "[site]", f"'{counts.index[0]}' holds {share:.0%} of the records; results are mostly about it"
        )
