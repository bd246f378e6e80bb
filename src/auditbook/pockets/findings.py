"""What do the tables of a pocket audit show: what is flagged, in which pattern, and what could be tested?

Everything here reads rows of ``pocket_errors.csv`` and ``pocket_groups.csv``; words come later.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from auditbook.pockets.families import OVERALL

ALONE = 1.96
"""Standard errors on either side of an estimate in a 95% interval for it alone."""
FLAGS = ("over", "under")
FOREST = "forest"
NEARLY_ALL = 0.9
"""One pocket that holds this share of the records that have a pocket (ours) tells nobody apart."""


@dataclass(frozen=True)
class Pattern:
    """Where the errors of one family are: nowhere shown, everywhere, of both signs, or in some pockets."""

    form: Literal["untested", "quiet", "both signs", "everywhere", "local"]
    tested: pd.DataFrame  # Pockets that were tested
    flagged: pd.DataFrame  # Those of them that are flagged
    smallest: float  # Flagged error that is nearest to zero; nan without one
    as_large: pd.DataFrame  # Pockets not flagged of which an error as large as that is not ruled out


def is_true(column: pd.Series) -> pd.Series:
    """Read a column of truth values in which cells may be blank; blank is false."""
    return column.map(lambda cell: str(cell) in ("True", "true", "1", "1.0")).astype(bool)


def holds_nearly_all(counts: pd.Series) -> bool:
    """Tell whether the largest pocket of a map holds all or nearly all records: no local audit.

    Parameters
    ----------
    counts : Series of int
        Audited records of each pocket of one map.

    Examples
    --------
    >>> holds_nearly_all(pd.Series([977, 23])), holds_nearly_all(pd.Series([600, 400]))
    (True, False)
    """
    return len(counts) == 1 or bool(counts.sum() and counts.max() >= NEARLY_ALL * counts.sum())


def list_review(errors: pd.DataFrame, pockets: pd.DataFrame) -> pd.DataFrame:
    """List the pockets whose records `assign` puts on the review list, those of every audited model.

    A row a map and pocket with a flagged mean error or gap, with its audited records `n` and the `models`.
    """
    kept = is_true(errors["flagged"]) & (errors["pocket"] != OVERALL) & (errors["quantity"] != "paired")
    names = {
        key: tuple(dict.fromkeys(part)) for key, part in errors[kept].groupby(["map", "pocket"])["model"]
    }
    listed = [
        {"map": row["map"], "pocket": row["pocket"], "n": row["n_audit"], "models": names[key]}
        for row in pockets.to_dict("records")
        if (key := (row["map"], row["pocket"])) in names
    ]
    return pd.DataFrame(listed, columns=["map", "pocket", "n", "models"])


def name_kinds(errors: pd.DataFrame) -> list[str]:
    """Name what was found in each row: untested, flagged as over or under, or none."""
    found = np.where(is_true(errors["flagged"]), errors["direction"], "none")
    return np.where(errors["status"] == "tested", found, "untested").tolist()


def pick_flagged(errors: pd.DataFrame, *, model: str) -> pd.DataFrame:
    """Take the flagged mean errors of one model, of all records and of the pockets of every map."""
    return errors[(errors["model"] == model) & (errors["quantity"] == "mu") & is_true(errors["flagged"])]


def errs_as_a_whole(errors: pd.DataFrame, *, model: str) -> bool:
    """Tell whether all records together are flagged, and every flagged pocket errs to the same side."""
    flagged = pick_flagged(errors, model=model)
    whole = flagged["pocket"] == OVERALL
    return bool(whole.any() and not whole.all() and len(set(flagged["direction"])) == 1)


def find_pattern(errors: pd.DataFrame) -> Pattern:
    """Find the pattern of one family's errors, rows with their `kind` (see `name_kinds`)."""
    tested = errors[(errors["pocket"] != OVERALL) & (errors["kind"] != "untested")]
    chosen = tested["kind"].isin(FLAGS)
    flagged, rest = tested[chosen], tested[~chosen]
    if tested.empty or flagged.empty:
        return Pattern("untested" if tested.empty else "quiet", tested, flagged, np.nan, rest.head(0))
    smallest = float(flagged["estimate"].iloc[flagged["estimate"].abs().argmin()])
    as_large = rest[~((rest["ci_low"] > smallest) | (rest["ci_high"] < smallest))]
    everywhere = len(flagged) == len(tested) > 1
    form = "both signs" if len(set(flagged["kind"])) == 2 else "everywhere" if everywhere else "local"
    return Pattern(form, tested, flagged, smallest, as_large)  # type: ignore[arg-type]


def count_support(errors: pd.DataFrame, *, model: str, name: str = FOREST) -> pd.DataFrame:
    """Count for each question how many pockets of a map were tested, and what the others lacked.

    Of the rows of ``pocket_errors.csv``. Gives a row for the mean errors and one a contrast, as `what` says:
    pockets, tested; pockets that lack records, events or units (one can lack several); and the share of the
    audited records, of the focal group's for a contrast, that lie in tested pockets (nan without records).

    Examples
    --------
    >>> count_support(pd.DataFrame(columns=["model", "map", "quantity", "contrast"]), model="m").empty
    True
    """
    here = errors[(errors["model"] == model) & (errors["map"] == name) & (errors["quantity"] != "paired")]
    found = []
    for contrast, part in here.groupby("contrast", sort=False):
        whole, inside = part[part["pocket"] == OVERALL], part[part["pocket"] != OVERALL]
        tested, counted = inside["status"] == "tested", "n_focal" if contrast else "n"
        row = {"what": contrast or "mean error", "pockets": len(inside), "tested": int(tested.sum())}
        row |= {kind: int(is_true(inside[f"lacks_{kind}"]).sum()) for kind in ("records", "events", "units")}
        total = whole[counted].sum()
        found.append(row | {"reach": inside.loc[tested, counted].sum() / total if total else np.nan})
    return pd.DataFrame(found, columns=["what", "pockets", "tested", "records", "events", "units", "reach"])


def bound_alone(errors: pd.DataFrame) -> pd.DataFrame:
    r"""Set beside simultaneous intervals those that each tested quantity would have alone.

    .. math:: \hat\theta_c \pm 1.96\, \mathrm{SE}_c

    Parameters
    ----------
    errors : DataFrame
        Tested rows of ``pocket_errors.csv``.

    Returns
    -------
    DataFrame
        The rows with `alone_low`, `alone_high`, `flagged_alone`, and `widening`, how many times as wide the
        simultaneous interval is (nan where there were too few draws for one).

    Examples
    --------
    >>> one = bound_alone(pd.DataFrame({"estimate": [0.3], "se": [0.1], "ci_low": [0.006],
    ...                                 "ci_high": [0.594]}))
    >>> bool(one["flagged_alone"][0]), round(one["widening"][0], 3)
    (True, 1.5)
    """
    half = ALONE * errors["se"]
    return errors.assign(
        alone_low=errors["estimate"] - half,
        alone_high=errors["estimate"] + half,
        flagged_alone=errors["estimate"].abs() > half,
        widening=((errors["ci_high"] - errors["ci_low"]) / (2 * half)).replace(np.inf, np.nan),
    )


def share_in_flagged(
    errors: pd.DataFrame, groups: pd.DataFrame, *, model: str, attribute: str, direction: str
) -> pd.Series:
    """Sum the share of each group in forest pockets whose mean error is flagged to one side; 0 in none."""
    flagged = pick_flagged(errors[errors["map"] == FOREST], model=model)
    names = flagged.loc[flagged["direction"] == direction, "pocket"]
    here = groups[(groups["map"] == FOREST) & (groups["attribute"] == attribute)]
    return here["share"].where(here["pocket"].isin(names), 0.0).groupby(here["group"], sort=False).sum()
