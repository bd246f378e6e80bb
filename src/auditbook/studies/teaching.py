"""Which way of grouping patients finds which model's errors? Simulated patients whose risks are known."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from auditbook.pockets import PocketData
from auditbook.records import Attribute

STAYS = np.arange(6)
"""Earlier stays that a simulated patient may have."""
STAYS_SHARES = np.array([0.35, 0.30, 0.17, 0.10, 0.05, 0.03])
AGES = np.arange(40, 91)
"""Ages in years; all are equally likely."""
WEEKEND_FACTOR, WEEKDAY_FACTOR = 1.30, 0.88
"""Factors on the risk; with two days of seven at the weekend they cancel in the mean."""


def _find_risk(age: NDArray[np.integer], stays: NDArray[np.integer]) -> NDArray[np.float64]:
    """Find the true risk, which falls off neither at the weekend nor between the sexes."""
    return 1 / (1 + np.exp(2.6 - 0.04 * (age - 65) - 0.5 * stays))


def draw_lesson(*, n: int, rng: np.random.Generator) -> PocketData:
    """Draw patients whose risk grows with age and earlier stays, and three models that are right on average.

    One model is blind to earlier stays and gives the mean risk at the patient's age; one is blind to age; one
    knows the risk and multiplies it by 1.30 at the weekend and by 0.88 on other days. The first two are
    calibrated at every score, and all three have no error over all patients.
    """
    age, stays = rng.choice(AGES, n), rng.choice(STAYS, n, p=STAYS_SHARES)
    weekend = (rng.random(n) < 2 / 7).astype(int)
    sex = Attribute("sex", ("F", "M"), rng.integers(0, 2, n), "M")
    risk = _find_risk(age, stays)
    return PocketData(
        table=pd.DataFrame({"age": age, "stays": stays, "weekend": weekend}),
        outcome=(rng.random(n) < risk).astype(float),
        continuous=False,
        unit=np.arange(n),
        unit_kind="record",
        attributes=(sex,),
        predictions={
            "blind to stays": _find_risk(age[:, None], STAYS[None, :]) @ STAYS_SHARES,
            "blind to age": _find_risk(AGES[None, :], stays[:, None]).mean(axis=1),
            "off at weekends": risk * np.where(weekend, WEEKEND_FACTOR, WEEKDAY_FACTOR),
        },
    )


def group_patients(learn: PocketData, audit: PocketData, *, leaves: int = 6) -> dict[str, NDArray[np.int64]]:
    """Group audited patients in every way that the chapter compares."""
    targets = {"outcome": learn.outcome}
    targets |= {name: guess - learn.outcome for name, guess in learn.predictions.items()}
    found = {"sex": audit.attributes[0].codes.astype(np.int64)}
    for name, target in targets.items():
        tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=0.04, random_state=0)
        tree.fit(learn.table, target)
        _, found[name] = np.unique(tree.apply(audit.table), return_inverse=True)
    return found


def average_errors(errors: NDArray[np.float64], codes: NDArray[np.integer]) -> pd.DataFrame:
    """Average errors group by group, with 95% intervals for independent records."""
    found = pd.Series(errors).groupby(codes).agg(["size", "mean", "std"])
    half = 1.96 * found["std"] / np.sqrt(found["size"])
    return pd.DataFrame(
        {
            "group": found.index,
            "n": found["size"],
            "estimate": found["mean"],
            "ci_low": found["mean"] - half,
            "ci_high": found["mean"] + half,
        }
    ).reset_index(drop=True)


def compare_groupings(learn: PocketData, audit: PocketData, *, leaves: int = 6) -> pd.DataFrame:
    """Find each model's largest mean error in each way of grouping."""
    groupings = group_patients(learn, audit, leaves=leaves)
    found = []
    for model, guess in audit.predictions.items():
        errors = guess - audit.outcome
        row = {"model": model, "overall": errors.mean()}
        for name, codes in groupings.items():
            row[name] = average_errors(errors, codes)["estimate"].abs().max()
        found.append(row)
    return pd.DataFrame(found)
