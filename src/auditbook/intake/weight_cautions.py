"""Which weights and strata are allowed and still deserve a second look?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from auditbook.cohort import Cohort
from auditbook.evidence import settle_design
from auditbook.intake.caution import Caution
from auditbook.records import AuditRecords, Survey

FEW_EFFECTIVE = 30
"""Records worth fewer equal ones than this are pointed out."""


def warn_weights(cohort: Cohort) -> Iterator[Caution]:
    """Point out strata of which one cluster tells nothing of the spread, and weights that differ much."""
    survey = cohort.survey
    design = None if survey is None else settle_design(_bare_records(cohort, survey))
    if design is None:
        return
    if design.n_alone:
        what, n = "record" if design.drawn == "records" else design.drawn[:-1], design.n_strata
        holds = "holds" if design.n_alone == 1 else "hold"
        yield Caution(
            "[weight] strata",
            f"{design.n_alone:,} of {n:,} strata {holds} a single {what}, which tells "
            "nothing of the spread within; it counts by its distance from the grand mean, or join such "
            "strata with their neighbours",
        )
    if design.effective < FEW_EFFECTIVE:
        yield Caution(
            "[weight] column",
            f"the weights differ so much that {len(design.weight):,} records are worth "
            f"{design.effective:,.0f} equal ones; check that these are weights",
        )


def _bare_records(cohort: Cohort, survey: Survey) -> AuditRecords:
    """Give outcome, units and survey of the records, and nothing of what is audited."""
    unit = None if not cohort.file.unit.names else pd.factorize(cohort.unit, sort=True)[0]
    return AuditRecords(np.zeros(len(survey.weight), np.int8), (), (), unit=unit, survey=survey)
