"""Which tables does an audit make of the areas under the ROC curve and of calibration?"""

from dataclasses import replace

import pandas as pd

from auditbook.evidence import Audited, PreparedTally
from auditbook.ranking.binned_calibration import tabulate_tallied_calibration
from auditbook.ranking.calibration import tabulate_calibration
from auditbook.ranking.compare import tabulate_auc_differences
from auditbook.ranking.tables import measure_areas, tabulate_auc_fairness, tabulate_auc_matrix
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts import Folds, judge

PARITY = "AUC"
"""Name of the metric, within-group AUC parity."""


def judge_auc_parity(prepared: Audited, folds: Folds | None, *, protocol: Protocol) -> pd.DataFrame:
    """Give AUC parity its verdict, flip rates and tier, even where the protocol leaves it out."""
    return judge(prepared, replace(protocol, metrics=(PARITY,)), folds=folds).verdicts


def make_auc_tables(prepared: Audited, folds: Folds | None, *, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Make every table on areas and calibration, by file name; the arguments are those of `judge`.

    Of a tally areas and fits are those of bins of scores, with what these can hide; models are compared
    without an interval.
    """
    source = prepared.declared if isinstance(prepared, PreparedTally) else prepared.records
    areas, seed = measure_areas(source), protocol.seed
    return {
        "auc_matrix": tabulate_auc_matrix(source, protocol=protocol, seed=seed, areas=areas),
        "auc_fairness": tabulate_auc_fairness(source, protocol=protocol, seed=seed, areas=areas),
        "auc_differences": tabulate_auc_differences(source),
        "auc_verdicts": judge_auc_parity(prepared, folds, protocol=protocol),
        "calibration": tabulate_calibration(source, protocol=protocol)
        if isinstance(source, AuditRecords)
        else tabulate_tallied_calibration(source, protocol=protocol),
    }
