"""Which tables does an audit make of the areas under the ROC curve and of calibration?"""

from dataclasses import replace

import pandas as pd

from auditbook.ranking.calibration import tabulate_calibration
from auditbook.ranking.compare import tabulate_auc_differences
from auditbook.ranking.tables import measure_areas, tabulate_auc_fairness, tabulate_auc_matrix
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts import Folds, assign_tiers, judge, judge_sites, rate_agreement, sweep_sizes

PARITY = "AUC"
"""Name of the metric, within-group AUC parity."""


def judge_auc_parity(
    records: AuditRecords, folds: Folds | None, *, protocol: Protocol, seed: int
) -> pd.DataFrame:
    """Give AUC parity its verdict, flip rates and tier, even where the protocol leaves it out."""
    alone = replace(protocol, metrics=(PARITY,))
    verdicts = judge(records, protocol=alone, seed=seed)
    sizes = sweep_sizes(records, verdicts, protocol=alone, seed=seed)
    agreement = rate_agreement(judge_sites(records, verdicts, folds, protocol=alone), verdicts)
    return assign_tiers(verdicts, sizes, agreement, protocol=alone)


def make_auc_tables(
    records: AuditRecords, folds: Folds | None, *, protocol: Protocol, seed: int
) -> dict[str, pd.DataFrame]:
    """Make every table on areas and calibration, by file name.

    Parameters
    ----------
    records, folds, protocol, seed
        As for `judge_auc_parity`.

    Returns
    -------
    dict of str to DataFrame
        auc_matrix, auc_fairness, auc_differences, auc_verdicts and calibration.
    """
    areas = measure_areas(records)
    return {
        "auc_matrix": tabulate_auc_matrix(records, protocol=protocol, seed=seed, areas=areas),
        "auc_fairness": tabulate_auc_fairness(records, protocol=protocol, seed=seed, areas=areas),
        "auc_differences": tabulate_auc_differences(records),
        "auc_verdicts": judge_auc_parity(records, folds, protocol=protocol, seed=seed),
        "calibration": tabulate_calibration(records, protocol=protocol),
    }
