"""What do B1, B3 and B4 come to in one setting, and how stable are their verdicts?"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from auditbook.evidence import prepare
from auditbook.mitigation.assessment import assess, summarise
from auditbook.mitigation.interventions import B1, B3, B4, IMPOSSIBLE, NOT_RUN, Intervention, shift
from auditbook.mitigation.protocols import AUDIT, SINGLE, VALIDATION
from auditbook.mitigation.stages import Stage
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts import judge, plan_folds

COMPARED = (B1, B3, B4)
Where = Mapping[str, Any]


def reuse_rows(
    tables: Mapping[str, pd.DataFrame], where: Where, *, protocol: Protocol
) -> Iterator[dict[str, Any]]:
    """Take what the table of baselines says of one setting."""
    baselines, setting = tables["baselines"], where["setting"]
    main = baselines[(baselines["protocol"] == setting) & (baselines["sweep"] == "")]
    chosen = main[main["part"] == (AUDIT if setting == SINGLE else VALIDATION)].set_index("baseline")
    for row in main[(main["part"] == AUDIT) & main["baseline"].isin(COMPARED)].to_dict(orient="records"):
        name = row["baseline"]
        found = {str(column): value for column, value in row.items()} | dict(where)
        if name in chosen.index and row["status"] not in (IMPOSSIBLE, NOT_RUN):
            part = tables["baseline_cells"].query("protocol == @setting and baseline == @name")
            seen = part[part["part"] == AUDIT]
            found |= {"stable": _count_stable(seen, protocol), **_find_lowest(seen)}
            found["passes_selected"] = chosen["di_passes"][name]
            before = part[part["part"] == chosen["part"][name]]
            found["lowest_di_selected"] = _find_lowest(before)["lowest_di"]
        yield found


def refuse_rows(where: Where, status: str, why: str) -> Iterator[dict[str, Any]]:
    """Say of every baseline of a setting why it is not there."""
    for name in COMPARED:
        yield {**where, "baseline": name, "status": status, "note": why}


def judge_stage(stage: Stage, where: Where, *, protocol: Protocol) -> Iterator[dict[str, Any]]:
    """Choose thresholds and judge B1, B3 and B4 with the audit's instrument."""
    settings = replace(stage.cohort.file.mitigation, headrooms=(stage.cohort.file.mitigation.headroom,))
    base = Intervention(B1, stage.cut(stage.values))
    records = stage.records(stage.cut(stage.values))[1]
    folds = plan_folds(records, n_folds=protocol.site_folds)
    reference = assess(records, protocol=protocol, folds=folds)
    parts = stage.parts
    sizes = {"n_train": len(parts.train), "n_selected": len(parts.validation)}
    for row in (base, *shift(stage, settings, protocol=protocol)):
        if row.scores is None:
            continue
        chosen, seen = stage.records(row.scores)
        found = reference
        if row is not base:
            found = assess(seen, protocol=protocol, folds=folds, unshifted=reference)
        numbers = summarise(found, reference, protocol=protocol)
        numbers |= {"stable": _count_stable(found.verdicts, protocol), **_find_lowest(found.parity)}
        numbers |= _look_where_chosen(chosen, protocol)
        yield {**where, **sizes, **numbers} | {
            "baseline": row.baseline,
            "status": row.status,
            "note": row.note,
        }


def _count_stable(verdicts: pd.DataFrame, protocol: Protocol) -> int:
    judged = verdicts[verdicts["verdict"] != "inconclusive"]
    return int((judged["vfr"] <= protocol.vfr_stable).sum())


def _find_lowest(cells: pd.DataFrame) -> dict[str, Any]:
    """Find the lowest disparate impact that has a verdict, with the middle 95 % of its resamples."""
    parity = cells[(cells["metric"] == "DI") & (cells["verdict"] != "inconclusive")]
    if parity.empty:
        return dict.fromkeys(("lowest_di", "lowest_di_low", "lowest_di_high"), np.nan) | {
            "lowest_attribute": ""
        }
    least = parity.loc[parity["estimate"].idxmin()]
    return {
        "lowest_di": least["estimate"],
        "lowest_di_low": least["ci_low"],
        "lowest_di_high": least["ci_high"],
        "lowest_attribute": least["attribute"],
    }


def _look_where_chosen(records: AuditRecords, protocol: Protocol) -> dict[str, Any]:
    """Count the disparate impacts that pass where thresholds were chosen; no flip rate is wanted."""
    parity = replace(protocol, metrics=("DI",), resamples=2)
    verdicts = judge(prepare(replace(records, site=None)), parity, axes=()).verdicts
    return {
        "passes_selected": int((verdicts["verdict"] == "pass").sum()),
        "lowest_di_selected": _find_lowest(verdicts)["lowest_di"],
    }
