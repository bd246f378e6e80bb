"""Do models of one panel get the same verdicts, and how many of these would resampling reverse?"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from auditbook.settings import Protocol
from auditbook.verdicts.metrics import find_metric

CELL = ["metric", "attribute"]
COMPARED_COLUMNS = (
    "metric attribute threshold judged passes fails lowest highest first_verdict mean_vfr minority"
).split()


def judge_cases(cases: Mapping[str, Sequence[Sequence[int]]]) -> pd.DataFrame:
    """Judge made-up models of two groups by disparate impact."""
    metric, found = find_metric("DI"), []
    for label, groups in cases.items():
        counts = np.asarray(groups)
        value = float(metric.values(counts))
        chosen, sizes = counts[:, :2].sum(axis=1), counts.sum(axis=1)
        found.append(
            {
                "model": label,
                "accuracy": counts[:, [0, 3]].sum() / counts.sum(),
                "selected": " and ".join(f"{k} of {n}" for k, n in zip(chosen, sizes, strict=True)),
                "di": value,
                "verdict": "pass" if metric.passes(value) else "fail",
            }
        )
    return pd.DataFrame(found)


def compare_models(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compare the models cell by cell, the most evenly divided cell first.

    One row a cell with the columns `COMPARED_COLUMNS`; `first_verdict` is that of the first row's model.
    `minority` is the share of the judged models in the smaller camp: 0 when all agree, 0.5 when they are
    divided evenly, nan when none is judged.

    >>> cell = {"metric": "DI", "attribute": "sex", "threshold": 0.8, "estimate": 0.9, "vfr": 0.1}
    >>> said = [{"model": "a", "verdict": "pass"}, {"model": "b", "verdict": "fail"}]
    >>> compare_models(pd.DataFrame([cell | one for one in said]))["minority"].tolist()
    [0.5]
    """
    first = verdicts["model"].iloc[0] if len(verdicts) else ""
    found = [_compare_cell(part, first) for _, part in verdicts.groupby(CELL, sort=False)]
    table = pd.DataFrame(found, columns=COMPARED_COLUMNS)
    return table.sort_values("minority", ascending=False, kind="stable").reset_index(drop=True)


def _compare_cell(part: pd.DataFrame, first: str) -> dict[str, Any]:
    """Compare the models in one cell."""
    judged = part[part["verdict"] != "inconclusive"]
    passes, start = int((judged["verdict"] == "pass").sum()), part.iloc[0]
    fails = len(judged) - passes
    said = part.loc[part["model"] == first, "verdict"]
    return {
        "metric": start["metric"],
        "attribute": start["attribute"],
        "threshold": start["threshold"],
        "judged": len(judged),
        "passes": passes,
        "fails": fails,
        "lowest": judged["estimate"].min(),
        "highest": judged["estimate"].max(),
        "first_verdict": said.iloc[0] if len(said) else "",
        "mean_vfr": judged["vfr"].mean(),
        "minority": min(passes, fails) / len(judged) if len(judged) else math.nan,
    }


def count_flips(verdicts: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Count for each model, and for all together, the verdicts that resampling reverses."""
    judged = verdicts[(verdicts["verdict"] != "inconclusive") & verdicts["vfr"].notna()]
    names = list(dict.fromkeys(verdicts["model"]))
    parts = [(name, judged[judged["model"] == name]) for name in names] + [("all models", judged)]
    found = [
        {
            "model": name,
            "judged": len(part),
            "passes": int((part["verdict"] == "pass").sum()),
            "reversed": int((part["vfr"] > 0).sum()),
            "unstable": int((part["vfr"] > protocol.vfr_stable).sum()),
            "mean_vfr": part["vfr"].mean(),
        }
        for name, part in parts
    ]
    return pd.DataFrame(found)
