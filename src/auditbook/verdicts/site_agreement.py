"""Do the folds of sites agree on a metric's verdicts?"""

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import fill_table
from auditbook.evidence import count_passes, fleiss_kappa, gwet_ac1, jackknife_kappa, name_band, raw_agreement
from auditbook.verdicts.site_verdicts import CELL

DEFINED, UNDEFINED, NOT_RATED, NO_SITE = "defined", "undefined", "not rated", "no site"
"""What can be said of a metric's kappa: a number; all ratings are equal; too little to rate; no folds."""


def rate_agreement(site_verdicts: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Say for every model and metric whether the folds agree: ``site_agreement.csv``.

    The items are the attributes, the raters are the folds. A fold that is inconclusive for an attribute is a
    missing rating.

    References
    ----------
    Fleiss, J. L. (1971). doi:10.1037/h0031619. Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    found = []
    by_cell = dict(tuple(site_verdicts.groupby(["model", "metric"], sort=False)))
    for model, metric in verdicts[["model", "metric"]].drop_duplicates().itertuples(index=False):
        rows = by_cell.get((model, metric))
        rated = _no_folds(verdicts) if rows is None else _rate_metric(rows)
        found.append({"model": model, "metric": metric} | rated)
    return fill_table("site_agreement", found)


def count_ratings(site_verdicts: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Count the folds that rate each cell: `folds_rated` of ``verdicts.csv``; nan where there are none."""
    if site_verdicts.empty:
        return verdicts
    cell = ["model", "metric", "attribute"]
    rated = site_verdicts[site_verdicts["verdict"] != "inconclusive"].groupby(cell).size()
    counted = [int(rated.get(key, 0)) for key in verdicts[cell].itertuples(index=False, name=None)]
    return verdicts.assign(folds_rated=counted)


def _no_folds(verdicts: pd.DataFrame) -> dict[str, Any]:
    counts = {"items": 0, "raters": 0, "ratings": 0}
    reason = "there is one site only" if (verdicts["site_count"] > 0).any() else "there is no site column"
    return counts | {"band": "", "status": NO_SITE, "reason": reason}


def _rate_metric(rows: pd.DataFrame) -> dict[str, Any]:
    """Measure the agreement of the folds on one model and metric."""
    ratings = spread_ratings(rows)
    ratings = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    counts = count_passes(ratings)
    known = ~np.isnan(ratings)
    kappa = fleiss_kappa(counts)
    status, reason = _explain(counts, kappa)
    bounds = jackknife_kappa(ratings)
    return {
        "items": len(ratings),
        "raters": int(known.any(axis=0).sum()),
        "ratings": int(known.sum()),
        "kappa": kappa,
        "kappa_low": bounds.low,
        "kappa_high": bounds.high,
        "band": name_band(kappa),
        "raw_agreement": raw_agreement(counts),
        "gwet_ac1": gwet_ac1(counts),
        "status": status,
        "reason": reason,
    }


def _explain(counts: NDArray[np.int64], kappa: float) -> tuple[str, str]:
    if not np.isnan(kappa):
        return DEFINED, ""
    if not len(counts):
        return NOT_RATED, "no attribute is supported in two folds"
    if np.count_nonzero(counts.sum(axis=0)) == 1:
        return UNDEFINED, f"every rating is a {'pass' if counts[:, 0].any() else 'fail'}"
    return NOT_RATED, "one attribute only is rated, and kappa compares attributes"


def spread_ratings(rows: pd.DataFrame) -> NDArray[np.float64]:
    """Lay the verdicts of one model and metric out as attributes by folds."""
    item, attributes = pd.factorize(rows["attribute"])
    fold, folds = pd.factorize(rows["fold"])
    verdict = rows["verdict"].to_numpy(dtype=object)
    ratings = np.full((len(attributes), len(folds)), np.nan)
    ratings[item, fold] = np.where(verdict == "pass", 1.0, np.where(verdict == "fail", 0.0, np.nan))
    return ratings


def share_folds(site_verdicts: pd.DataFrame) -> pd.DataFrame:
    """Find each cell's pass share over the folds that could be judged."""
    flags = site_verdicts[CELL].assign(
        folds=1,
        rated=(site_verdicts["verdict"] != "inconclusive").astype(int),
        passes=(site_verdicts["verdict"] == "pass").astype(int),
    )
    table = flags.groupby(CELL, sort=False).sum().reset_index()
    return table.assign(pass_share=table["passes"] / table["rated"].where(table["rated"] > 0))


def list_folds(site_verdicts: pd.DataFrame) -> pd.DataFrame:
    """List the folds with their sites and records."""
    return site_verdicts[["fold", "sites", "n"]].drop_duplicates().reset_index(drop=True)


def nearest_size(site_verdicts: pd.DataFrame, audit_size: pd.DataFrame) -> float:
    """Find the size of axis 2 nearest to a fold's, at most half of the audit and within a factor of two."""
    sizes = audit_size["n"][~audit_size["above_half"].astype(bool)].unique()
    mean = list_folds(site_verdicts)["n"].mean()
    near = min(sizes, key=lambda size: abs(math.log(size / mean)), default=math.nan)
    return float(near) if abs(math.log(near / mean)) <= math.log(2) else math.nan


def compare_folds(
    site_verdicts: pd.DataFrame, verdicts: pd.DataFrame, audit_size: pd.DataFrame, *, model: str
) -> pd.DataFrame:
    """List one model's cells by how many folds say the opposite of the whole, most first."""
    cell = ["metric", "attribute"]
    shares = share_folds(site_verdicts[site_verdicts["model"] == model])
    cells = verdicts.loc[verdicts["model"] == model, [*cell, "verdict"]]
    mixed = audit_size[
        (audit_size["model"] == model) & (audit_size["n"] == nearest_size(site_verdicts, audit_size))
    ]
    table = cells.merge(shares.drop(columns="model"), on=cell, how="inner").merge(
        mixed[[*cell, "pass_share"]].rename(columns={"pass_share": "mixed_pass"}), on=cell, how="left"
    )
    for name, passes in (("against", "pass_share"), ("mixed", "mixed_pass")):
        opposite = table[passes].where(table["verdict"] == "fail", 1 - table[passes])
        table[name] = opposite.where(table["verdict"] != "inconclusive")
    order = table.sort_values("against", ascending=False, kind="stable", na_position="last")
    return order.reset_index(drop=True)
