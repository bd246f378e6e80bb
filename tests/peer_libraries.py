"""What the libraries say of a board: the rules of `auditbook.studies.boards.peers`, as they are read."""

import warnings
from importlib import import_module

import numpy as np
import pandas as pd
from fairlearn import metrics as fairlearn
from sklearn.metrics import precision_score

from auditbook.studies.boards.study import draw_audit
from auditbook.studies.boards.worlds import BoardWorld

AEQUITAS = ("Impact Parity", "TPR Parity", "FPR Parity", "Precision Parity")
WORLDS = (
    BoardWorld("equal", 200, (9, 9, 9, 9)),  # groups without an event, and groups of whom nobody is selected
    BoardWorld("equal", 300, (3, 4, 5, 6), smallest=1),
    BoardWorld("equal", 2_000),
    BoardWorld("equal", 5_000, (2, 2, 2, 2)),
    BoardWorld("gap", 2_000, gap=0.15),
    BoardWorld("gap", 5_000, gap=0.25),
)
SEED = 31


def list_boards(count):
    """Draw the boards on which rules are compared, a world after the other.

    Left out are boards with two largest groups: which of them is the reference is chance in the libraries.
    """
    found, number = [], 0
    while len(found) < count:
        world, replicate = WORLDS[number % len(WORLDS)], number // len(WORLDS)
        records = draw_audit(world, replicate, seed=SEED)
        sizes = [np.sort(np.bincount(one.codes, minlength=2)) for one in records.attributes]
        if all(size[-1] > size[-2] for size in sizes):
            found.append(records)
        number += 1
    return found


def write_table(records):
    """Write decisions, outcome and groups of a board as a table."""
    columns = {"decision": records.scores[0].decisions.astype(int), "outcome": records.outcome.astype(int)}
    for attribute in records.attributes:
        columns[attribute.name] = np.array(attribute.groups, dtype=object)[attribute.codes]
    return pd.DataFrame(columns)


def flag_with_fairlearn(records):
    """Flag the rates whose difference between groups is above 0.1 in a MetricFrame."""
    table = write_table(records)
    rates = {
        "selection rate": fairlearn.selection_rate,
        "TPR": fairlearn.true_positive_rate,
        "FPR": fairlearn.false_positive_rate,
        "PPV": lambda y, d: precision_score(y, d, zero_division=0.0),
    }
    found = []
    for attribute in records.attributes:
        frame = fairlearn.MetricFrame(
            metrics=rates,
            y_true=table["outcome"],
            y_pred=table["decision"],
            sensitive_features=table[attribute.name],
        )
        found.append(list(frame.difference(method="between_groups") > 0.1))
    return np.array(found)


def flag_with_aequitas(records):
    """Flag the parities that Aequitas finds broken, with its defaults: largest group, 0.8 to 1.25."""
    table = write_table(records).rename(columns={"decision": "score", "outcome": "label_value"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        audit = import_module("aequitas").Audit(table, label_column="label_value")
        audit.audit()
        judged = import_module("aequitas.fairness").Fairness().get_group_value_fairness(audit.disparity_df)
    broken = judged.set_index("attribute_name")[list(AEQUITAS)].eq(False)
    return np.array([broken.loc[[one.name]].any().to_numpy() for one in records.attributes])


def flag_with_faircare(records):
    """Flag what FairCareAI flags as "fairness", with its defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = import_module("faircareai")
        table = (
            write_table(records).rename(columns={"decision": "probability"}).astype({"probability": float})
        )
        audit = library.FairCareAudit(table, "probability", "outcome", threshold=0.5)
        for attribute in records.attributes:
            audit.add_sensitive_attribute(name=attribute.name, column=attribute.name)
        audit.config = library.FairnessConfig(
            model_name="model",
            primary_fairness_metric=library.FairnessMetric.EQUALIZED_ODDS,
            fairness_justification="all are read",
        )
        flags = audit.run(bootstrap_ci=False, n_jobs=1, progress=False).flags
    told = {(flag["attribute"], flag["metric"]) for flag in flags if flag["category"] == "fairness"}
    kinds = ("demographic_parity", "equalized_odds")
    return np.array([[(one.name, kind) in told for kind in kinds] for one in records.attributes])
