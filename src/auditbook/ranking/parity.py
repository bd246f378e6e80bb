"""Which tables does an audit make of the areas under the ROC curve and of calibration?"""

from dataclasses import replace

import pandas as pd

from auditbook.evidence import Prepared
from auditbook.ranking.calibration import tabulate_calibration
from auditbook.ranking.compare import tabulate_auc_differences
from auditbook.ranking.tables import measure_areas, tabulate_auc_fairness, tabulate_auc_matrix
from auditbook.settings import Protocol
from auditbook.verdicts import Folds, judge

PARITY = "AUC"
"""Name of the metric, within-group AUC parity."""


def judge_auc_parity(prepared: Prepared, folds: Folds | None, *, protocol: Protocol) -> pd.DataFrame:
    """Give AUC parity its verdict, flip rates and tier, even where the protocol leaves it out."""
    return judge(prepared, replace(protocol, metrics=(PARITY,)), folds=folds).verdicts


def make_auc_tables(
    prepared: Prepared, folds: Folds | None, *, protocol: Protocol
) -> dict[str, pd.DataFrame]:
    """Make every table on areas and calibration, by file name; the arguments are those of `judge`."""
    records, seed = prepared.records, protocol.seed
    areas = measure_areas(records)
    return {
        "auc_matrix": tabulate_auc_matrix(records, protocol=protocol, seed=seed, areas=areas),
        "auc_fairness": tabulate_auc_fairness(records, protocol=protocol, seed=seed, areas=areas),
        "auc_differences": tabulate_auc_differences(records),
        "auc_verdicts": judge_auc_parity(prepared, folds, protocol=protocol),
        "calibration": tabulate_calibration(records, protocol=protocol),
    }
