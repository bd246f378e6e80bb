"""A stored survey like NHANES, synthetic surveys, and slow oracles for weighted areas."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.records import Attribute, AuditRecords, Score, Survey, take_survey

FOLDER = Path(__file__).parent / "reference"
THRESHOLD = 0.4


def read_stored() -> pd.DataFrame:
    """Read 900 records of 15 strata with two clusters each; their weights differ a hundredfold."""
    return pd.read_csv(FOLDER / "survey_records.csv")


def stored_survey() -> AuditRecords:
    """Make audit records of the stored survey."""
    table = read_stored()
    score = Score("m", "probability", THRESHOLD, table["score"].to_numpy(float))
    attributes = []
    for name in ("race", "sex", "age"):
        codes, groups = pd.factorize(table[name], sort=True)
        attributes.append(Attribute(name, tuple(groups), codes))
    survey = Survey(table["weight"].to_numpy(float), table["stratum"].to_numpy(), table["psu"].to_numpy() - 1)
    return AuditRecords(table["event"].to_numpy(np.int8), tuple(attributes), (score,), survey=survey)


def take_rows(records: AuditRecords, rows: NDArray[np.integer]) -> AuditRecords:
    """Take some records, in some order."""
    return replace(
        records,
        outcome=records.outcome[rows],
        attributes=tuple(replace(one, codes=one.codes[rows]) for one in records.attributes),
        scores=tuple(replace(one, values=one.values[rows]) for one in records.scores),
        site=None if records.site is None else records.site[rows],
        unit=None if records.unit is None else records.unit[rows],
        survey=None if records.survey is None else take_survey(records.survey, rows),
    )


def weigh(records: AuditRecords, weight: NDArray[np.floating]) -> AuditRecords:
    """Give the records of a survey other weights."""
    if records.survey is None:
        raise ValueError("these records are no survey")
    return replace(records, survey=replace(records.survey, weight=weight))


def slow_area(outcome: NDArray, values: NDArray, weight: NDArray) -> float:
    """Find a weighted area pair by pair."""
    events, others = np.flatnonzero(outcome == 1), np.flatnonzero(outcome == 0)
    above = (values[events, None] > values[others]) + 0.5 * (values[events, None] == values[others])
    return float(
        (weight[events, None] * weight[others] * above).sum() / weight[events].sum() / weight[others].sum()
    )


def slow_error(of_record: NDArray, survey: Survey) -> float:
    """Find the standard error of a sum of linearised values over clusters drawn within strata."""
    total = 0.0
    for stratum in np.unique(survey.stratum):
        here = survey.stratum == stratum
        sums = np.array(
            [of_record[here & (survey.cluster == c)].sum() for c in np.unique(survey.cluster[here])]
        )
        m = len(sums)
        total += m / (m - 1) * ((sums - sums.mean()) ** 2).sum() if m > 1 else (sums**2).sum()
    return float(np.sqrt(total))
