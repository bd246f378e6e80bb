"""How many records would each cell need, and do its subsamples agree already?"""

import numpy as np
import pandas as pd

from auditbook.evidence import wilson_interval
from auditbook.settings import Protocol

CLEAR = 0.95
"""A cell is of one mind at a size when at least this share of its subsamples says the same."""

CELL = ["metric", "attribute"]


def bound_pass_shares(audit_size: pd.DataFrame, *, repeats: int) -> pd.DataFrame:
    """Add Wilson's 95 % interval of the pass share over the subsamples that define the metric, if any do.

    `repeats` is the number of subsamples of each size.

    >>> table = pd.DataFrame({"undefined_share": [0.0], "pass_share": [1.0]})
    >>> bound_pass_shares(table, repeats=30)["pass_low"].round(3).tolist()
    [0.886]
    """
    tried = (repeats * (1 - audit_size["undefined_share"])).fillna(0).round()
    passes = (tried * audit_size["pass_share"]).fillna(0).round()
    interval = wilson_interval(passes, tried)
    return audit_size.assign(pass_low=interval.low, pass_high=interval.high)


def list_needs(
    audit_size: pd.DataFrame, verdicts: pd.DataFrame, protocol: Protocol, *, model: str
) -> pd.DataFrame:
    """List what each cell of a model needs, those that need most first."""
    cells = verdicts.loc[verdicts["model"] == model, [*CELL, "verdict", "n_star"]]
    counted = audit_size[(audit_size["model"] == model) & ~audit_size["above_half"].astype(bool)]
    last = counted.sort_values("n", kind="stable").groupby(CELL, sort=False).tail(1)
    names = [*CELL, "n", "cv", "cv_low", "cv_high", "pass_share", "unsupported_share"]
    table = cells.merge(last[names], on=CELL, how="left")
    size = project_size(table["cv"], table["n"], whole=audit_size["n"].max(), cv_stable=protocol.cv_stable)
    table["projected"] = [float(f"{n:.2g}") for n in size]
    table["settled"] = table["cv"] < protocol.cv_stable
    table["one_mind"] = table["pass_share"].clip(lower=1 - table["pass_share"]) >= CLEAR
    order = table["projected"].where(table["n_star"].notna(), -1.0)
    return table.iloc[np.argsort(-order.fillna(np.inf), kind="stable")].reset_index(drop=True)


def project_size(cv: pd.Series, n: pd.Series, *, whole: float, cv_stable: float) -> pd.Series:
    r"""Project at which size a metric would settle.

    Without replacement

    .. math:: \mathrm{CV}^2 \approx c^2 \left(\frac1n - \frac1N\right), \qquad \hat n = \frac{c^2}{\eta^2},

    for an audit that is small beside all the records there could be.

    Parameters
    ----------
    cv, n : float Series
        Coefficient of variation at some size, and that size.
    whole : float
        Records N of the audit that the subsamples were drawn from.
    cv_stable : float
        The bound :math:`\eta`.

    Returns
    -------
    float Series
        Records; nan without a coefficient of variation.

    Examples
    --------
    >>> round(project_size(pd.Series([0.1]), pd.Series([1000]), whole=1e9, cv_stable=0.05).item())
    4000
    """
    return cv**2 / (1 / n - 1 / whole) / cv_stable**2
