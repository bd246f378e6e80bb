"""Which columns are known, by the names that large surveys give them, to say how records were drawn?"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from auditbook.cohort.schema import CohortFile
from auditbook.tables import Faults

SurveyKey = Literal["column", "strata", "cluster"]

# Names as the publishers' codebooks give them; capitals do not matter.
_KNOWN: tuple[tuple[str, SurveyKey, str], ...] = (
    ("NHANES", "column", r"wt(mec|int)(\d+yr|prp\w*)|wtsaf\w+|wtdr(d1|2d)\w*|wtsog\w+|wtph\d\w*"),
    ("NHANES", "strata", r"sdmvstra"),
    ("NHANES", "cluster", r"sdmvpsu"),
    ("HCUP", "column", r"discwt(10|charge)?|trendwt|hospwt"),
    ("HCUP", "strata", r"(nis|nrd|neds|kid|nass)_stratum"),
    ("BRFSS", "column", r"_llcpwt\d?|_finalwt|_wt2rake|_cllcpwt"),
    ("BRFSS", "strata", r"_ststr"),
    ("BRFSS", "cluster", r"_psu"),
    (
        "CPS or ACS",
        "column",
        r"pwgtp\d{0,2}|wgtp\d{0,2}|perwt|hhwt|repwtp?\d*|pwsswgt|asecwt|wtfinl|hwtfinl|marsupwt",
    ),
    ("NHIS", "column", r"wt[fi]a(_\w+)?|sampweight"),
    ("NHIS", "strata", r"pstrat"),
    ("NHIS", "cluster", r"ppsu"),
    ("MEPS", "column", r"perwt\d\df|saqwt\d\df|diabw\d\df"),
    ("MEPS", "strata", r"varstr"),
    ("MEPS", "cluster", r"varpsu"),
    ("NHAMCS", "strata", r"cstratm"),
    ("NHAMCS", "cluster", r"cpsum"),
)


@dataclass(frozen=True)
class SurveyColumn:
    """A column that says how the records of a survey were drawn."""

    name: str
    key: SurveyKey  # Under which key of [weight] it belongs
    survey: str  # Who calls it so


def find_survey_columns(columns: Iterable[str]) -> tuple[SurveyColumn, ...]:
    """Find the columns whose names can hardly mean anything else, in their order.

    >>> [(each.key, each.survey) for each in find_survey_columns(["weight", "DISCWT", "sdmvpsu", "psu"])]
    [('column', 'HCUP'), ('cluster', 'NHANES')]
    """
    return tuple(
        SurveyColumn(name, key, survey)
        for name in columns
        for survey, key, pattern in _KNOWN
        if re.fullmatch(pattern, name.strip(), re.IGNORECASE)
    )


def fault_learned_weights(file: CohortFile, features: Iterable[str], faults: Faults) -> None:
    """Note known weights, strata and clusters that would be learned from."""
    found = find_survey_columns(features) if file.panel.models or file.pockets.run else ()
    if not found:
        return
    names = list(dict.fromkeys(each.name for each in found))
    listed = ", ".join(f"'{name}'" for name in names)
    tells = "tells" if len(names) == 1 else "tell"
    which = "that column" if len(names) == 1 else "those columns"
    told = f"{listed} of {found[0].survey} {tells} how records were drawn, and would be learned from"
    quoted = ", ".join(f'"{name}"' for name in names)
    out = f"leave {which} out: [features] exclude = [{quoted}]"
    if file.weight.column is None:
        keys = {each.key: each.name for each in reversed(found)}
        lines = ", ".join(f'{key} = "{name}"' for key, name in sorted(keys.items()))
        out = f"name what they are: [weight] {lines}; or, for an unweighted audit, {out}"
    faults.add("[weight]", f"{told}; {out}")
