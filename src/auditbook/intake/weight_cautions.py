"""Which weights and strata are allowed and still deserve a second look?"""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from auditbook.cohort import Cohort, find_survey_columns
from auditbook.evidence import settle_design
from auditbook.intake.caution import Caution
from auditbook.intake.lexicon import split_name
from auditbook.intake.toml_text import quote
from auditbook.records import AuditRecords, Survey
from auditbook.tables import as_numbers

FEW_EFFECTIVE = 30
"""Records worth fewer equal ones than this are pointed out."""

_WEIGHT_NAME = re.compile(
    r"\b(survey|sampl(e|ing)|design|person|final|exam(ination)?|interview|household|replicate)"
    r" ?(weights?|wgts?|wts?)\b"
    r"|\b(samplewt|finalwt|finalwgt|pweight|svywt|sampwt)\b|\b(ponderation|poids de sondage|pondfinal)\b"
    r"|\b(gewichtungsfaktor|hochrechnungsfaktor|stichprobengewicht)\b"
    r"|\bfactor (de )?(expansion|elevacion)\b|\bponderacion\b|\bfator (de )?expansao\b|\bpeso amostral\b"
    r"|\b(peso campionario|coefficiente di riporto)\b"
)


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


def warn_survey(cohort: Cohort) -> Iterator[Caution]:
    """Point out columns that say how records were drawn, and that no key names."""
    if cohort.survey is not None:
        return
    known = find_survey_columns(cohort.table.columns)
    weights = [each for each in known if each.key == "column"]
    named = {each.name for each in known}
    doubtful = [name for name in cohort.table.columns if name not in named and _seems_weight(cohort, name)]
    if not weights and not doubtful:
        return
    keys = {"column": weights[0].name if weights else doubtful[0]}
    for each in known:
        keys.setdefault(each.key, each.name)
    values = as_numbers(cohort.table[keys["column"]]).cells
    who = f"a weight of {weights[0].survey}" if weights else "a sampling weight"
    lines = ", ".join(f"{key} = {quote(name)}" for key, name in keys.items())
    yield Caution(
        "[weight] column",
        f"'{keys['column']}' seems to be {who} (from {np.nanmin(values):g} to {np.nanmax(values):g}); "
        "without it every record counts once: shares and rates are unweighted, and those of the sample only",
        f"to weight them: [weight] {lines}",
    )


def _seems_weight(cohort: Cohort, name: str) -> bool:
    """Tell whether a column is called a sampling weight, and holds numbers that can be one."""
    if not _WEIGHT_NAME.search(" ".join(split_name(name))):
        return False
    cells = as_numbers(cohort.table[name]).cells
    there = cells[~np.isnan(cells)]
    return bool(len(there) and there.min() >= 0 and len(np.unique(there)) > 1)
