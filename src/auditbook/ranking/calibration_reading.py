"""What do calibration fits, curves and CAL say of a model together?"""

from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from auditbook.evidence import rate_events
from auditbook.ranking.calibration import fit_calibration, rate_bins
from auditbook.ranking.matrix import auc_matrix
from auditbook.ranking.scenarios import GROUPS, SimulatedRecords
from auditbook.ranking.units import WHOLE
from auditbook.results import Run, rows

NULL = MappingProxyType({"intercept": 0.0, "slope": 1.0})
"""Value of a calibrated score."""
AGREE, CAL_ALONE, FITS_ALONE = "agree", "CAL alone fails", "fits alone are off"
NO_FITS, NO_CAL = "no fits", "CAL cannot say"
"""What CAL's verdict and the fits of the same groups come to together."""


def rescale_score(score: ArrayLike, slope: float) -> NDArray[np.float64]:
    r"""Find the risk that a score stands for at some calibration slope and no shift.

    .. math:: P(y = 1) = \mathrm{logit}^{-1}(b\,\mathrm{logit}\,s)

    Parameters
    ----------
    score : float array
        Scores s in (0, 1).
    slope : float
        Calibration slope b.

    Returns
    -------
    float array
        The score itself at slope 1; nearer to one half at a smaller slope, one half at slope 0.

    References
    ----------
    Van Calster, B. et al. (2019). Calibration: the Achilles heel of predictive analytics.
    doi:10.1186/s12916-019-1466-7

    Examples
    --------
    >>> float(rescale_score(0.9, 0.5).round(2))
    0.75
    """
    return np.asarray(expit(slope * logit(np.asarray(score, float))))


def fit_simulated(records: SimulatedRecords) -> pd.DataFrame:
    """Fit calibration of two simulated groups and find the areas within and across."""
    area = auc_matrix(records.outcome, records.values, records.codes, len(GROUPS)).auc
    found = []
    for place, group in enumerate(GROUPS):
        mine = records.codes == place
        row: dict[str, Any] = {"group": group, "n": int(mine.sum())}
        row |= {"event_rate": float(records.outcome[mine].mean())}
        fitted = fit_calibration(records.outcome[mine], records.values[mine])
        for name in NULL:
            one = getattr(fitted, name)
            row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
        found.append(row | {"auc": area[place, place], "across": area[place, 1 - place]})
    return pd.DataFrame(found)


def bin_simulated(records: SimulatedRecords) -> pd.DataFrame:
    """Count two simulated groups by ten score bins, as score_bins.csv does, with intervals."""
    table = pd.DataFrame(
        {
            "group": [GROUPS[code] for code in records.codes],
            "bin": np.minimum((records.values * 10).astype(int), 9),
            "outcome": records.outcome,
            "score": records.values,
        }
    )
    found = table.groupby(["group", "bin"], sort=False)
    bins = found.agg(n=("outcome", "size"), events=("outcome", "sum"), mean_score=("score", "mean"))
    return rate_events(bins.reset_index().sort_values(["group", "bin"], key=_place, ignore_index=True))


def _place(column: pd.Series) -> pd.Series:
    """Order groups as they are declared, and bins as they are numbered."""
    return column.map(GROUPS.index) if column.name == "group" else column


def pick_fits(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """Take intercepts and slopes of all records and of each group of an attribute."""
    found = run.calibration[run.calibration["model"] == model]
    found = found[found["attribute"].isin([WHOLE, attribute])].reset_index(drop=True)
    return found.assign(group=found["group"].where(found["attribute"] != WHOLE, "all records"))


def pick_curves(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """Take the filled score bins of a group with event rates; `missed` where the mean score lies outside."""
    kind = run.models.set_index("model").loc[model, "kind"]
    bins = run.score_bins[(run.score_bins["model"] == model) & (run.score_bins["attribute"] == attribute)]
    filled = bins[(bins["n"] > 0) & (kind == "probability")].reset_index(drop=True)
    found = rate_bins(filled, run.rates)
    low, high = found["event_rate_low"], found["event_rate_high"]
    return found.assign(missed=(found["mean_score"] < low) | (found["mean_score"] > high))


def compare_models(run: Run) -> pd.DataFrame:
    """Set intercept and slope over all records side by side for every model."""
    found = run.calibration[run.calibration["attribute"] == WHOLE].set_index("model")
    found = found.join(run.models.set_index("model")[["n_train", "kind"]]).reset_index()
    found["by_sites"] = found["slope_site_low"].notna()
    for name in NULL:
        for end, side in (("lower", "low"), ("upper", "high")):
            by_site, by_record = found[f"{name}_site_{side}"], found[f"{name}_{side}"]
            found[f"{name}_{end}"] = by_site.fillna(by_record)
    found["scores"] = [judge_scores(row) for row in rows(found)]
    return found


def judge_scores(row: Any) -> str:
    """Say in words what a slope and an intercept over all records make of a model's scores."""
    if row.kind != "probability":
        return "no probabilities"
    if np.isnan(row.slope):
        return "without a slope"
    if row.slope_upper < NULL["slope"]:
        return "too extreme"
    if row.slope_lower > NULL["slope"]:
        return "too timid"
    if row.intercept_upper < NULL["intercept"]:
        return "too high"
    if row.intercept_lower > NULL["intercept"]:
        return "too low"
    return "not shown to be off"


def compare_cal(run: Run, model: str) -> pd.DataFrame:
    """Set CAL's verdict beside intercepts and slopes of the same groups.

    `off` of the `fits` groups have an intercept or a slope whose interval by records excludes that of a
    calibrated score; `worst_group`, `worst_low`, `worst_high` and `worst_n` are the bin that sets CAL.
    """
    judged = run.verdicts[(run.verdicts["model"] == model) & (run.verdicts["metric"] == "CAL")]
    found = []
    for row in rows(judged):
        fits = pick_fits(run, model, row.attribute)
        fits = fits[(fits["attribute"] != WHOLE) & fits["intercept_low"].notna()]
        off = int((_is_off(fits, "intercept") | _is_off(fits, "slope")).sum())
        line = {"attribute": row.attribute, "estimate": row.estimate, "verdict": row.verdict}
        line |= {"reason": row.reason, **_find_worst(pick_curves(run, model, row.attribute))}
        found.append(
            line | {"off": off, "fits": len(fits), "reading": read_together(row.verdict, off, len(fits))}
        )
    names = "attribute estimate verdict reason worst_group worst_low worst_high worst_n off fits reading"
    return pd.DataFrame(found, columns=names.split())


def _is_off(fits: pd.DataFrame, name: str) -> pd.Series:
    return (fits[f"{name}_low"] > NULL[name]) | (fits[f"{name}_high"] < NULL[name])


def _find_worst(curves: pd.DataFrame) -> dict[str, Any]:
    """Find the bin in which event rate and mean score lie furthest apart."""
    if curves.empty:
        return {"worst_group": "", "worst_low": np.nan, "worst_high": np.nan, "worst_n": np.nan}
    worst = max(rows(curves), key=lambda row: abs(row.event_rate - row.mean_score))
    ends = {"worst_low": worst.bin_low, "worst_high": worst.bin_high}
    return {"worst_group": worst.group, **ends, "worst_n": worst.n}


def read_together(verdict: str, off: int, known: int) -> str:
    """Say whether CAL and the fits agree."""
    if not known:
        return NO_FITS
    if verdict == "inconclusive":
        return NO_CAL
    if (verdict == "fail") == (off > 0):
        return AGREE
    return CAL_ALONE if verdict == "fail" else FITS_ALONE


def count_readings(run: Run) -> pd.DataFrame:
    """Count, for every model, the attributes for which CAL and the fits agree, or one of them is silent."""
    found = []
    for model in run.models["model"]:
        told = compare_cal(run, model)["reading"]
        named = {"agree": AGREE, "cal_alone": CAL_ALONE, "fits_alone": FITS_ALONE}
        counts = {name: int((told == words).sum()) for name, words in named.items()}
        found.append({"model": model, **counts, "silent": len(told) - sum(counts.values())})
    return pd.DataFrame(found)
