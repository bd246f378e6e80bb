"""Can these records be audited at all?"""

import numpy as np

from auditbook.errors import InputError
from auditbook.evidence.counts import check_binary
from auditbook.evidence.score_sums import check_probabilities
from auditbook.records import AuditRecords, Score


def check_records(records: AuditRecords) -> None:
    """Refuse records that cannot be audited, naming every fault.

    Raises
    ------
    InputError
        If there is no record or no model, lengths differ, an outcome is neither 0 nor 1, a group's position
        is out of bounds, or a score is not what its kind says.

    Examples
    --------
    >>> scores = (Score("m", "rank", 1.0, np.array([0.5, 3.0])),)
    >>> check_records(AuditRecords(np.array([0, 1], np.int8), (), scores))
    """
    n, faults = len(records.outcome), []
    if not n:
        raise InputError("there is no record to audit")
    if not records.scores:
        raise InputError("there is no model to audit")
    check_binary(np.asarray(records.outcome), what="outcomes")
    for attribute in records.attributes:
        codes = np.asarray(attribute.codes)
        if len(codes) != n:
            faults.append(f"{attribute.name}: {len(codes)} groups for {n} records")
        elif codes.min() < 0 or codes.max() >= len(attribute.groups):
            faults.append(
                f"{attribute.name}: a record's group is none of the {len(attribute.groups)} declared"
            )
    faults += [f"{score.model}: {fault}" for score in records.scores if (fault := _find_fault(score, n))]
    for what, places in (("sites", records.site), ("units", records.unit)):
        if places is not None and len(places) != n:
            faults.append(f"{len(places)} {what} for {n} records")
    faults += _find_survey_faults(records)
    if faults:
        raise InputError(*faults)


def _find_survey_faults(records: AuditRecords) -> list[str]:
    """Say what is wrong with weights, strata and clusters."""
    survey, n = records.survey, len(records.outcome)
    if survey is None:
        return []
    found = [
        f"{len(places)} {what} for {n} records"
        for what, places in (
            ("weights", survey.weight),
            ("strata", survey.stratum),
            ("clusters", survey.cluster),
        )
        if places is not None and len(places) != n
    ]
    if not (np.isfinite(survey.weight).all() and (np.asarray(survey.weight) > 0).all()):
        found.append("weights must be finite and above 0")
    return found


def _find_fault(score: Score, n: int) -> str:
    """Say what is wrong with a model's scores; blank when nothing is."""
    values = np.asarray(score.values)
    if len(values) != n:
        return f"{len(values)} scores for {n} records"
    if not np.isfinite(values).all():
        return f"{int((~np.isfinite(values)).sum())} scores are missing or infinite"
    try:
        if score.kind == "probability":
            check_probabilities(values)
        if score.kind == "decision":
            check_binary(values, what="decisions")
    except InputError as fault:
        return str(fault)
    return ""
