"""Which tables does an audit make, and what does it say of itself?"""

from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from auditbook.cohort import Cohort
from auditbook.plan import Plan
from auditbook.project import digest_files, versions
from auditbook.protocol import Protocol
from auditbook.roles import MISSING_GROUP
from auditbook.scores import ScoredCohort, bin_scores, summarise_models
from auditbook.summary import summarise_columns, summarise_groups, summarise_sites
from auditbook.verdicts import judge, tabulate_groups


def make_tables(cohort: Cohort, scored: ScoredCohort, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Compute every result table of an audit, by file name."""
    return {
        "cohort_groups": summarise_groups(cohort, train=scored.train, audit=scored.audit),
        "cohort_sites": summarise_sites(cohort, audit=scored.audit),
        "cohort_columns": summarise_columns(cohort),
        "models": summarise_models(scored),
        "score_bins": bin_scores(scored),
        "groups": tabulate_groups(scored.records, protocol=protocol),
        "verdicts": judge(scored.records, protocol=protocol, seed=protocol.seed),
    }


def describe_audit(plan: Plan, cohort: Cohort, scored: ScoredCohort) -> dict[str, Any]:
    """Say what a run read, used and left out: the content of run.json but for its steps and results.

    Parameters
    ----------
    plan : Plan
        What was asked.
    cohort : Cohort
        What was read.
    scored : ScoredCohort
        What was audited.

    Returns
    -------
    dict
        Values that JSON can hold.
    """
    protocol = asdict(replace(plan.protocol, thresholds={})) | {"thresholds": dict(plan.protocol.thresholds)}
    return {
        **plan.file.describe(),
        "synthetic": cohort.synthetic,
        "seed": plan.protocol.seed,
        "profile": asdict(plan.request.profile),
        "rows_read": cohort.rows_read,
        "rows_kept": len(cohort.outcome),
        "rows_audited": len(scored.audit),
        "rows_train": len(scored.train),
        "left_out": [{"reason": part.reason, "rows": part.rows} for part in cohort.left_out],
        "missing_groups": _count_missing_groups(cohort),
        "protocol": protocol,
        "models": [score.model for score in scored.records.scores],
        "partition": None,
        "versions": versions(),
        "hashes": {"cohort": digest_files([plan.request.cohort]), "data": cohort.data_hash},
    }


def _count_missing_groups(cohort: Cohort) -> list[dict[str, Any]]:
    """Count the kept records of each attribute that form the group of those without an entry."""
    return [
        {"attribute": item.name, "rows": int((item.codes == item.groups.index(MISSING_GROUP)).sum())}
        for item in cohort.attributes
        if MISSING_GROUP in item.groups
    ]
