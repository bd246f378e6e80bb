"""What are the counts and rates of every group?"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import check_records, count_groups, group_auc, name_shortfall, rate, stratum_sizes
from auditbook.evidence import counts as rates
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

GROUP_COLUMNS = (
    "model attribute group n events non_events tp fp fn tn selection_rate tpr fpr ppv accuracy auc "
    "mean_score event_rate support"
).split()


def tabulate_groups(records: AuditRecords, *, protocol: Protocol) -> pd.DataFrame:
    """Tabulate counts and rates of every group under every model."""
    check_records(records)
    frames = [frame for score in records.scores for frame in _tabulate_model(records, score, protocol)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=GROUP_COLUMNS)


def _tabulate_model(records: AuditRecords, score: Score, protocol: Protocol) -> list[pd.DataFrame]:
    """Tabulate every attribute under one model; records are put in the order of their scores once for all."""
    order = np.argsort(score.values)
    ranked = replace(score, values=np.take(score.values, order))
    outcome = records.outcome[order]
    return [
        _tabulate(outcome, ranked, replace(attribute, codes=attribute.codes[order]), protocol)
        for attribute in records.attributes
    ]


def _tabulate(
    outcome: NDArray[np.int8], score: Score, attribute: Attribute, protocol: Protocol
) -> pd.DataFrame:
    """Tabulate one attribute's groups under one model, whose scores must rise."""
    n_groups = len(attribute.groups)
    table = count_groups(outcome, score.decisions, attribute.codes, n_groups)
    strata = stratum_sizes(table)
    n = table.sum(axis=-1)
    columns: dict[str, Any] = {
        "model": score.model,
        "attribute": attribute.name,
        "group": list(attribute.groups),
        "n": n,
        "events": strata[:, 0],
        "non_events": strata[:, 1],
        **{name: table[:, place] for place, name in enumerate(("tp", "fp", "fn", "tn"))},
        "selection_rate": rates.selection_rate(table),
        "tpr": rates.true_positive_rate(table),
        "fpr": rates.false_positive_rate(table),
        "ppv": rates.positive_predictive_value(table),
        "accuracy": rates.accuracy(table),
        "auc": group_auc(outcome, score.values, attribute.codes, n_groups),
        "mean_score": rate(np.bincount(attribute.codes, score.values, n_groups), n),
        "event_rate": rates.event_rate(table),
        "support": [name_shortfall(e, o, protocol=protocol) for e, o in strata.tolist()],
    }
    return pd.DataFrame(columns, columns=GROUP_COLUMNS)
