"""Which table does a learner audit at the end of the course: invented stays, with truths planted in them?

No record is a person. Twelve hospitals of one network, called by letters, use a vendor's score for coming
back within thirty days. What is planted:

- **A gap in finding events.** Of patients who speak a minority language less is written down, so that fewer
  of those who come back are found at the threshold.
- **A gap that is base rate alone.** In the country more come back than in town, and the score says so: it is
  calibrated in both, and finds about as many. Selection rates differ, as they must.
- **A pocket.** Dialysis patients with several earlier stays come back far more often than their score says,
  and all others a little less: over all the score is right.
- **A tiny group.** Few patients pay for themselves.
- **A hospital.** One records only who came back to itself, so that half of its events are missing.
- **A leak.** Days until the patient came back stand in the table; the vendor's second score has seen them.
- **A proxy.** High cost in the next year is recorded too. The minority gets less care at the same illness; by
  that label the gap is gone.

And the table is written as tables are: semicolons, decimal commas, days first, patient numbers that begin
anew in each hospital, ages top-coded and with a number for unknown, spellings, and a third code of the
outcome.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

ROWS = 30_000
SEED = 2026
THRESHOLD = 0.30
HOSPITALS = tuple("ABCDEFGHIJKL")
BEARING = "K"
"""The hospital that records only who came back to itself."""
SIGNAL = 2.0
"""How far the notes on those who come back lie from those on others, in standard deviations."""
MISSED = 0.6
"""By how much less where the patient speaks the minority's language."""
POCKET = 1.6
"""What the score does not know of the pocket, on the logit."""
QUIET = 0.08
"""What it adds for everybody else, so that it is right over all."""
NOTICED = 0.12
"""How much more cost a minority patient has for each unit, on the logit, by which the score notices her."""
COUNTRY = 0.55
"""How much higher the risk is in the country, on the logit."""
SELF_PAY = 14
TRANSFERRED = 0.012
"""Share of stays whose outcome is the third code: moved to another hospital, so that nobody knows."""
FLAWED = 0.01
"""Share of cells that are written in another way, or are missing."""


def draw_stays(rows: int = ROWS, *, seed: int = SEED) -> pd.DataFrame:
    """Draw the stays with their truths, before anybody wrote them down.

    Returns
    -------
    DataFrame
        One row a stay; `came_back` and `costly` are 0 or 1 and known of everybody.
    """
    rng = np.random.default_rng(seed)
    stays = _draw_people(rows, rng)
    stays["came_back"] = (rng.random(rows) < _true_risk(stays)).astype(int)
    stays["vendor_score"] = _score(stays, rng)
    stays["costly"] = _draw_costs(stays, rng)
    days = rng.integers(1, 31, rows)
    stays["days_until_return"] = np.where(stays["came_back"] == 1, days, -1)
    seen = 3.2 * (stays["came_back"] - 0.5)
    stays["vendor_score_2"] = expit(
        _logit(stays["vendor_score"].to_numpy()) + seen + rng.normal(0, 0.3, rows)
    )
    hidden = (stays["hospital"] == BEARING) & (rng.random(rows) < 0.5)
    stays["recorded"] = np.where(hidden, 0, stays["came_back"])
    stays.loc[hidden, "days_until_return"] = -1
    return stays


def _draw_costs(stays: pd.DataFrame, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw who costs much in the next year: who is looked after, of the minority those whom notes tell of."""
    minority = (stays["language"] == "minority").to_numpy()
    noticed = np.where(minority, _logit(stays["vendor_score"].to_numpy()), 0.0)
    line = -2.2 + 1.6 * stays["came_back"] + 0.25 * stays["conditions"] + NOTICED * noticed - 0.9 * minority
    return (rng.random(len(stays)) < expit(line.to_numpy(float))).astype(int)


def _logit(share: Array) -> Array:
    return np.log(share) - np.log1p(-share)


def _draw_people(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw who came, where, and how ill."""
    volume = rng.dirichlet(np.full(len(HOSPITALS), 12.0))
    hospital = rng.choice(HOSPITALS, rows, p=volume)
    language = rng.choice(["majority", "minority", "other"], rows, p=[0.72, 0.18, 0.10])
    insurance = rng.choice(["private", "public"], rows, p=[0.35, 0.65]).astype(object)
    insurance[rng.choice(rows, SELF_PAY, replace=False)] = "self-pay"
    dialysis = rng.random(rows) < 0.06
    stays = pd.DataFrame(
        {
            "hospital": hospital,
            "patient": _number_patients(hospital, rng),
            "age": np.clip(rng.normal(64, 17, rows), 18, 101).round().astype(int),
            "sex": rng.choice(["F", "M"], rows),
            "language": language,
            "region": rng.choice(["town", "country"], rows, p=[0.7, 0.3]),
            "insurance": insurance,
            "emergency": rng.random(rows) < 0.55,
            "dialysis": dialysis,
            "conditions": rng.poisson(2 + 1.5 * dialysis),
            "earlier_stays": rng.poisson(0.9 + 1.6 * dialysis),
            "albumin": rng.normal(3.9, 0.5, rows).clip(1.6, 5.4).round(1),
        }
    )
    return stays


def _number_patients(hospital: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """Give the patients of each hospital numbers from 1; some have several stays."""
    number = np.zeros(len(hospital), np.int64)
    for name in HOSPITALS:
        here = np.flatnonzero(hospital == name)
        number[here] = 1 + rng.integers(0, max(int(0.85 * len(here)), 1), len(here))
    return number


def in_pocket(stays: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell which stays lie in the planted pocket."""
    return np.asarray(stays["dialysis"] & (stays["earlier_stays"] >= 2))


def _true_risk(stays: pd.DataFrame) -> Array:
    """Give the risk of coming back that is known at discharge."""
    return expit(_known_line(stays) + POCKET * in_pocket(stays))


def _known_line(stays: pd.DataFrame) -> Array:
    """Give the log odds of coming back without what makes the pocket."""
    line = -2.8 + 0.22 * stays["conditions"] + 0.22 * stays["earlier_stays"] + 0.3 * stays["emergency"]
    line += (
        0.010 * (stays["age"] - 64)
        - 0.4 * (stays["albumin"] - 3.9)
        + COUNTRY * (stays["region"] == "country")
    )
    return line.to_numpy(float)


def _score(stays: pd.DataFrame, rng: np.random.Generator) -> Array:
    r"""Give the vendor's score: the chance of coming back, given what is known and notes that tell more.

    Notes are normal with mean 0, or `SIGNAL` before somebody comes back, and variance 1; what they say is the
    log likelihood ratio :math:`\delta (x - \delta / 2)`. Of the minority less is written down.
    """
    came_back, minority = stays["came_back"].to_numpy(), (stays["language"] == "minority").to_numpy()
    notes = came_back * (SIGNAL - MISSED * minority) + rng.normal(0, 1, len(stays))
    line = _known_line(stays) + QUIET * ~in_pocket(stays) + SIGNAL * (notes - SIGNAL / 2)
    return np.asarray(expit(line).round(3).clip(0.001, 0.999))


def make_table(rows: int = ROWS, *, seed: int = SEED) -> pd.DataFrame:
    """Make the stays as the network's export has them, every cell as it is written, with its flaws."""
    stays, rng = draw_stays(rows, seed=seed), np.random.default_rng(seed + 1)
    day = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 365, rows), unit="D")
    moved = rng.random(rows) < TRANSFERRED
    flags = {name: np.where(stays[name], "yes", "no") for name in ("emergency", "dialysis")}
    scores = {name: _write_scores(stays[name]) for name in ("vendor_score", "vendor_score_2")}
    return pd.DataFrame(
        {
            "hospital": "Hospital " + stays["hospital"],
            "patient": stays["patient"],
            "admitted": pd.Series(day).dt.strftime("%d.%m.%Y"),
            "age": _write_ages(stays["age"].to_numpy(), rng),
            "sex": _respell(stays["sex"], {"F": " f", "M": "m "}, rng),
            "language": _respell(stays["language"], {"majority": "Majority", "minority": "minority "}, rng),
            **{name: stays[name] for name in ("region", "insurance")},
            **flags,
            **{name: stays[name] for name in ("conditions", "earlier_stays")},
            "albumin": _write_decimals(stays["albumin"], rng),
            "days_until_return": stays["days_until_return"].map(lambda days: "" if days < 0 else str(days)),
            "readmitted_30": np.where(moved, "transferred", np.where(stays["recorded"] == 1, "yes", "no")),
            "high_cost": np.where(stays["costly"] == 1, "yes", "no"),
            **scores,
        }
    )


def _write_scores(score: pd.Series) -> pd.Series:
    """Write scores with a decimal comma."""
    return score.map(lambda value: f"{value:.3f}".replace(".", ","))


def write_table(path: Path, rows: int = ROWS, *, seed: int = SEED) -> None:
    """Write the table of `make_table`, cells parted by semicolons."""
    make_table(rows, seed=seed).to_csv(path, sep=";", index=False, encoding="utf-8", lineterminator="\n")


def _write_ages(age: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.object_]:
    """Write ages above 89 as one, and 999 where nobody asked."""
    written = np.where(age > 89, "> 89", age.astype(str)).astype(object)
    written[rng.random(len(age)) < FLAWED] = "999"
    return written


def _respell(cells: pd.Series, ways: dict[str, str], rng: np.random.Generator) -> pd.Series:
    """Write some of the cells in another way."""
    return cells.where(rng.random(len(cells)) >= FLAWED, cells.replace(ways))


def _write_decimals(cells: pd.Series, rng: np.random.Generator) -> pd.Series:
    """Write numbers with a comma, and leave out what was not measured."""
    written = cells.map(lambda value: f"{value:.1f}".replace(".", ","))
    return written.where(rng.random(len(cells)) >= 0.15, "")
