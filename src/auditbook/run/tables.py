"""Which tables does an audit make, and what does it say of itself?"""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import (
    MISSING_GROUP,
    Cohort,
    describe_cells,
    summarise_columns,
    summarise_groups,
    summarise_sites,
)
from auditbook.evidence import prepare, settle_design
from auditbook.project import versions
from auditbook.ranking import make_auc_tables
from auditbook.records import AuditRecords
from auditbook.run.plan import Plan
from auditbook.scoring import ScoredCohort, bin_scores, count_unplaced, summarise_models, tabulate_lead_times
from auditbook.settings import Protocol
from auditbook.verdicts import (
    bound_missing_attribute,
    check_flips,
    compare_labels,
    count_above_median,
    find_tipping_points,
    judge,
    name_folds,
    plan_folds,
    tabulate_groups,
    tabulate_pooled_rates,
    tabulate_rates,
)


def make_tables(cohort: Cohort, scored: ScoredCohort, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Compute every result table of an audit, by file name."""
    records, prepared = scored.records, prepare(scored.records)
    found = judge(prepared, protocol)
    return {
        "cohort_groups": summarise_groups(cohort, train=scored.train, audit=scored.audit),
        "cohort_sites": summarise_sites(cohort, audit=scored.audit),
        "cohort_columns": summarise_columns(cohort),
        "models": summarise_models(scored),
        "score_bins": bin_scores(scored),
        "scoring_rates": count_above_median(records),
        "groups": tabulate_groups(records, protocol=protocol),
        "pooled_rates": tabulate_pooled_rates(prepared, protocol=protocol),
        "rates": tabulate_rates(prepared, protocol),
        **found.tables,
        "tipping_points": find_tipping_points(prepared, found.verdicts, found.contrasts, protocol),
        "missing_attribute": bound_missing_attribute(
            prepared, count_unplaced(cohort, scored), protocol, unplaced=MISSING_GROUP
        ),
        **compare_labels(
            records, found.verdicts, _find_others(cohort, scored), protocol, name=cohort.file.outcome.column
        ),
        **make_auc_tables(prepared, found.folds, protocol=protocol),
        **check_flips(records, protocol=protocol, seed=protocol.seed),
        "lead_times": tabulate_lead_times(cohort, scored),
    }


def _find_others(cohort: Cohort, scored: ScoredCohort) -> dict[str, NDArray[np.float64]]:
    """Read the other outcomes of the audited records."""
    return {item.name: item.cells[scored.audit] for item in cohort.other_outcomes}


def describe_scores(plan: Plan, cohort: Cohort, scored: ScoredCohort) -> dict[str, Any]:
    """Say what was audited: which models, on how many records, in which folds."""
    return {
        "rows_audited": len(scored.audit),
        "rows_train": len(scored.train),
        "models": [score.model for score in scored.records.scores],
        "folds": _map_folds(cohort, scored, plan.protocol),
        **_describe_weights(scored.records),
    }


def _describe_weights(records: AuditRecords) -> dict[str, Any]:
    """Say how the audited records were drawn; nothing where each stands for itself."""
    design = settle_design(records)
    if design is None or records.survey is None:
        return {}
    found = {
        "records": len(design.weight),
        "sum": float(records.survey.weight.sum()),
        "effective": design.effective,
        "drawn": design.drawn,
        "clusters": design.n_clusters,
        "strata": design.n_strata,
        "alone": design.n_alone,
    }
    return {"weights": found}


def describe_cohort(plan: Plan, cohort: Cohort) -> dict[str, Any]:
    """Say what a run read and left out, whatever was done with it."""
    return {
        "synthetic": cohort.synthetic,
        "rows_read": cohort.rows_read,
        "rows_kept": len(cohort.outcome),
        "left_out": [{"reason": part.reason, "rows": part.rows} for part in cohort.left_out],
        "missing_groups": _count_missing_groups(cohort),
        **({} if cohort.merged is None else {"per_unit": asdict(cohort.merged)}),
        "data_hash": cohort.data_hash,
    }


def describe_plan(plan: Plan) -> dict[str, Any]:
    """Say what was asked: the cohort file, and under which constants and versions."""
    protocol = asdict(replace(plan.protocol, thresholds={})) | {"thresholds": dict(plan.protocol.thresholds)}
    return {
        **plan.file.describe(),
        "cells": describe_cells(plan.file),
        "seed": plan.protocol.seed,
        "profile": asdict(plan.request.profile),
        "protocol": protocol,
        "versions": versions(),
    }


def _count_missing_groups(cohort: Cohort) -> list[dict[str, Any]]:
    """Count the kept records of each attribute that form the group of those without an entry."""
    return [
        {"attribute": item.name, "rows": int((item.codes == item.groups.index(MISSING_GROUP)).sum())}
        for item in cohort.attributes
        if MISSING_GROUP in item.groups
    ]


def _map_folds(cohort: Cohort, scored: ScoredCohort, protocol: Protocol) -> dict[str, int]:
    """Write down which site stood in which fold; empty without folds."""
    sites = [] if cohort.site is None else np.unique(cohort.site[scored.audit]).tolist()
    return name_folds(plan_folds(scored.records, n_folds=protocol.site_folds), sites)
