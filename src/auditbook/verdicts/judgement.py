"""What does an audit say of every cell: verdict, three axes and tier, from one function?"""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from auditbook.columns import empty_table
from auditbook.evidence import Audited
from auditbook.settings import Protocol
from auditbook.verdicts.audit_size import sweep_sizes
from auditbook.verdicts.cell_verdicts import judge_cells
from auditbook.verdicts.shown import add_shown, show_cells
from auditbook.verdicts.site_agreement import count_ratings, rate_agreement
from auditbook.verdicts.site_folds import Folds, plan_prepared_folds
from auditbook.verdicts.site_verdicts import judge_sites
from auditbook.verdicts.standing import assign_standings
from auditbook.verdicts.tiers import assign_tiers

Axis = Literal["size", "sites", "shown"]


@dataclass(frozen=True)
class Judgement:
    """All that an audit says of its cells, as tables named like the files that hold them."""

    verdicts: pd.DataFrame
    contrasts: pd.DataFrame
    audit_size: pd.DataFrame  # Without a row when axis 2 was not asked for
    site_verdicts: pd.DataFrame  # Without a row when axis 3 was not asked for, or without folds
    site_agreement: pd.DataFrame  # Without a row when axis 3 was not asked for
    folds: Folds | None  # None with fewer than two sites

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by file name."""
        names = ("verdicts", "contrasts", "audit_size", "site_verdicts", "site_agreement")
        return {name: getattr(self, name) for name in names}


def judge(
    prepared: Audited,
    protocol: Protocol,
    *,
    axes: tuple[Axis, ...] = ("size", "sites", "shown"),
    folds: Folds | None = None,
) -> Judgement:
    """Give every cell (model, metric, attribute) its verdict, its three axes and its tier.

    A verdict is ``pass``, ``fail`` or ``inconclusive``. Inconclusive cells say why, keep their estimate where
    it is defined, and have no flip rate, no interval and no tier. Each cell draws from a stream of its own,
    named by its model and attribute, so its numbers depend neither on the other cells nor on the order of
    records and groups.

    Parameters
    ----------
    prepared : Prepared or PreparedTally
        What is audited, from `prepare` or `prepare_tally`.
    protocol : Protocol
        Metrics, thresholds, minimum support, resamples, sizes, bounds of the tiers, and the seed.
    axes : tuple of {"size", "sites", "shown"}
        What is asked beside verdicts and flip rates: the axes of size and sites, and what is shown. A tier
        needs both axes; without one, `n_star`, `kappa` and `tier` stay blank. Without the last, `standing`,
        `shown` and all that stands beside it stay blank, and ``contrasts`` has no row.
    folds : Folds, optional
        From `plan_folds`; by default, the folds of these records.

    Returns
    -------
    Judgement
        ``verdicts`` has one row a cell, by model, metric and attribute:

        - `lowest_group`, `highest_group`: the groups with the least and the largest value (of EOD: in the
          larger of its two gaps); ties go to the smaller group; blank for a whole-sample metric;
        - `reason`: why a cell is inconclusive, and what else a reader has to know, such as a group without a
          record;
        - `vfr`: over resamples of `resample_size` records; `vfr_own_size`: of as many as the audit has;
          `vfr_site`: of whole sites; each with the bounds of its Monte Carlo error (`_low`, `_high`);
        - `undefined_share`, `undefined_share_own_size`, `undefined_share_site`: share of those resamples in
          which the metric is undefined; they count neither as a pass nor as a fail;
        - `ci_low`, `ci_high`: middle 95 % of the resamples, blank where they would coincide. A range is never
          below zero and hardly ever zero, so this is no test of equality;
        - `agrees`: 1 when the dominant verdict of the resamples is the verdict, 0 when not;
        - `n_star`, `kappa`, `tier`, `tier_reasons`: see `assign_tiers`;
        - `shown` and what stands with it: see `show_cells`;
        - `standing`: what the cell asks of a board, see `name_standings`.

        ``contrasts`` holds what `shown` rests on. The other tables: see `sweep_sizes`, `judge_sites` and
        `rate_agreement`.

    Raises
    ------
    InputError
        If a resample is too small to keep every label and group, or a metric is not known.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> import numpy as np
    >>> from auditbook.evidence import prepare
    >>> from auditbook.records import Attribute, AuditRecords, Score
    >>> sex = Attribute("sex", ("F", "M"), np.repeat([0, 1], 100))
    >>> scores = (Score("m", "decision", 0.5, np.tile([1.0, 0.0], 100)),)
    >>> records = AuditRecords(np.tile(np.array([1, 1, 0, 0], np.int8), 50), (sex,), scores)
    >>> judge(prepare(records), Protocol(metrics=("SPD",))).verdicts["verdict"].tolist()
    ['pass']
    """
    verdicts, contrasts = judge_cells(prepared, protocol, beside="shown" in axes), empty_table("contrasts")
    if "shown" in axes:
        shown, contrasts = show_cells(prepared, protocol)
        verdicts = assign_standings(add_shown(verdicts, shown), protocol)
    sizes, by_fold, agreement = map(empty_table, ("audit_size", "site_verdicts", "site_agreement"))
    if "size" in axes:
        sizes = sweep_sizes(prepared, verdicts, protocol)
    if "sites" in axes:
        folds = folds or plan_prepared_folds(prepared, n_folds=protocol.site_folds)
        by_fold = judge_sites(prepared, verdicts, folds, protocol)
        agreement = rate_agreement(by_fold, verdicts)
        verdicts = count_ratings(by_fold, verdicts)
    if {"size", "sites"} <= set(axes):
        verdicts = assign_tiers(
            verdicts, sizes, agreement, protocol=protocol, weighted=prepared.design is not None
        )
    return Judgement(verdicts, contrasts, sizes, by_fold, agreement, folds)
