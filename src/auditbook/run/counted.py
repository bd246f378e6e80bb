"""How does an audit go of a cohort that is counted part by part, and is never in memory as a table?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import MISSING_GROUP, GroupSizes, tabulate_sites, tabulate_sizes
from auditbook.columns import empty_table
from auditbook.counting import CountedCohort, count_cohort
from auditbook.evidence import PreparedTally, Tally, prepare_tally
from auditbook.ranking import make_auc_tables
from auditbook.records import Attribute
from auditbook.run.plan import Plan
from auditbook.scoring import bin_tallied_scores, describe_given, summarise_tallied_models
from auditbook.settings import Protocol
from auditbook.tables import CHUNK_ROWS
from auditbook.verdicts import (
    bound_missing_attribute,
    check_flips,
    count_above_median,
    find_tipping_points,
    judge,
    tabulate_groups,
    tabulate_pooled_rates,
    tabulate_rates,
    vary_constants,
)

Ints = NDArray[np.int64]


def count_planned(plan: Plan) -> CountedCohort:
    """Count the cohort that the plan names.

    Raises
    ------
    InputError
        With every fault that was found in the rows that it names.
    """
    request = plan.request
    return count_cohort(
        plan.file, data=request.data, jobs=request.jobs, folder=plan.next, scheduler=request.scheduler
    )


def describe_counted(counted: CountedCohort) -> dict[str, Any]:
    """Say what a run read, left out and audited, and how scores were binned."""
    rows, models = counted.tally.rows, [model.model for model in counted.tally.models]
    return {
        "synthetic": False,
        "rows_read": counted.rows_read,
        "rows_kept": rows,
        "left_out": [{"reason": part.reason, "rows": part.rows} for part in counted.left_out],
        "missing_groups": count_missing_groups(counted.tally),
        "data_hash": counted.data_hash,
        "rows_audited": rows,
        "rows_train": 0,
        "models": models,
        "counted": {
            "chunk_rows": CHUNK_ROWS,
            "score_bins": count_bins(counted.tally),
            "notes": list(counted.notes),
        },
    }


def count_bins(tally: Tally) -> dict[str, int]:
    """Count the bins of each model whose scores order records in every attribute."""
    found = {}
    for place, model in enumerate(tally.models):
        bins = [one.fine[place] for one in tally.attributes]
        known = [fine.count.shape[-1] for fine in bins if fine is not None]
        if known and len(known) == len(bins):
            found[model.model] = max(known)
    return found


def count_missing_groups(tally: Tally) -> list[dict[str, Any]]:
    """Count the records of each attribute that form the group of those without an entry."""
    return [
        {"attribute": item.name, "rows": int(item.counts[0, :, item.groups.index(MISSING_GROUP)].sum())}
        for item in tally.attributes
        if MISSING_GROUP in item.groups
    ]


def make_counted_tables(counted: CountedCohort, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Compute every result table of an audit that follows from counts, by file name."""
    order = {item.name: item.groups for item in counted.attributes}
    prepared = prepare_tally(counted.tally, declared=order)
    given = {score.name: describe_given(score) for score in counted.file.scores}
    return {
        **tabulate_cohort(counted.tally, counted.attributes),
        "models": summarise_tallied_models(prepared.declared, given),
        **make_tallied_tables(prepared, protocol, unplaced=dict(counted.unplaced)),
    }


def make_tallied_tables(
    prepared: PreparedTally, protocol: Protocol, *, unplaced: Mapping[str, NDArray]
) -> dict[str, pd.DataFrame]:
    """Judge a tally, whether it was counted in one place or pooled; `unplaced` lack an attribute."""
    tally, found = prepared.declared, judge(prepared, protocol)
    varied = vary_constants(tally, found.tables, model=_choose_judged(tally), protocol=protocol)
    return {
        "score_bins": bin_tallied_scores(tally),
        "groups": tabulate_groups(tally, protocol=protocol),
        "scoring_rates": count_above_median(tally),
        "pooled_rates": tabulate_pooled_rates(prepared, protocol=protocol),
        "rates": tabulate_rates(prepared, protocol),
        **found.tables,
        "tipping_points": find_tipping_points(prepared, found.verdicts, found.contrasts, protocol),
        "missing_attribute": bound_missing_attribute(prepared, unplaced, protocol, unplaced=MISSING_GROUP),
        **make_auc_tables(prepared, found.folds, protocol=protocol),
        **check_flips(tally, protocol=protocol, seed=protocol.seed),
        **varied,
    }


def _choose_judged(tally: Tally) -> str:
    """Choose the model whose audit is judged again under other constants, as `vary_audit` does."""
    probable = (one.model for one in tally.models if one.kind == "probability")
    return next(probable, tally.models[0].model)


def tabulate_cohort(
    tally: Tally, attributes: Sequence[Attribute], untold: Ints | None = None
) -> dict[str, pd.DataFrame]:
    """Tell of groups and sites what `summarise_groups` and `summarise_sites` do.

    `untold`, shape (n_sites, 4), counts the records that are in no group of the first attribute.
    """
    sizes, held = [], {item.name: item for item in tally.attributes}
    for attribute in attributes:
        item = held[attribute.name]
        cells = {name: item.counts[0, :, place].sum(axis=0) for place, name in enumerate(item.groups)}
        table = pd.DataFrame([cells.get(name, [0] * 4) for name in attribute.groups]).to_numpy()
        records, none = table.sum(axis=1), table[:, 0] * 0
        sizes.append(GroupSizes(records, table[:, [0, 2]].sum(axis=1), none, records))
    return {
        "cohort_groups": tabulate_sizes(attributes, sizes, total=tally.rows),
        "cohort_sites": _tabulate_sites(tally, untold),
    }


def _tabulate_sites(tally: Tally, untold: Ints | None) -> pd.DataFrame:
    if not tally.sites:
        return empty_table("cohort_sites")
    cells = tally.attributes[0].counts[0].sum(axis=1)
    cells = cells if untold is None else cells + untold
    records = cells.sum(axis=1)
    return tabulate_sites(tally.sites, records, cells[:, [0, 2]].sum(axis=1), records)
