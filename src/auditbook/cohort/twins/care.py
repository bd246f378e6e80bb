"""What would an audit of a care-management score look like? A synthetic twin of the table of a known study.

No record here is a person. `care_table` draws patient-years that show what Obermeyer et al. (2019) found and
what a pocket audit of their public release found: a score made for costs, read as a prediction of illness,
is right on average and wrong nearly everywhere.

How a record is drawn, and where every number comes from. *Published* numbers stand in a publication,
*fitted* ones were chosen so that published figures are met, *assumed* ones are ours.

- Race: 11.4 % Black (published: 5,582 of 48,784). Sex: 63 % female (assumed). Age band: seven bands, shares
  `AGE_SHARES` (assumed).
- Burden, a latent number: normal, SD 1 within age and race; its mean rises over the age bands by
  `AGE_BURDEN` (fitted) and is `BLACK_BURDEN` higher for Black patients (fitted to 2.07 against 1.26
  conditions in the year of the outcome, as counted in the public release).
- Conditions of the year before: `CONDITIONS`, each with its log odds at burden 0 and its change by burden
  (fitted to 45 % without a condition in the year of the outcome, and an SD of 1.9), and its own log odds
  ratio for Black patients (assumed; hypertension, diabetes, obesity and renal disease are more common,
  thyroid disease is rarer).
- `active_conditions`, the outcome: every condition of the year before stays active with the probability in
  `CONDITIONS` (assumed), and new ones come at a Poisson rate that rises with burden, age and abnormal tests
  (fitted to an explained variance of 0.74 for the health label, as in the public release; mean 1.36). Race
  plays no part in it beyond what burden does.
- Costs of the year before: thirteen kinds. A patient has a propensity to use care that has nothing to do
  with illness (SD `USE_SPREAD`, fitted to an explained variance of 0.39 for the mapped score, as in the
  release), and `BLACK_COST` lower log costs when Black, at the same illness (fitted to the published gap of
  0.65 conditions; the study found lower costs at equal illness). One in eight has an episode (surgery,
  childbirth, a broken leg): high costs, no chronic illness, no routine tests (assumed; reproduces the
  published pocket "without routine tests but with higher costs").
- Laboratory tests and diuretics: counts rise with the conditions that they belong to; a third of the
  patients without any condition has no routine tests (assumed). Test results are 1 when abnormal.
- `risk_score`: exponential of a weighted sum of log costs, age and the number of conditions, with noise
  (`SCORE_WEIGHTS`, fitted to a rank correlation of 0.60 with the outcome and to a median of 2.9 and a 97th
  percentile of 16, as in the release). A rank: no probability and no count.
- `cost_label`, `health_label`: what two lasso regressions predict, one fitted to the logarithm of the next
  year's costs and one to the number of conditions, on `TRAINING_SIZE` records that are drawn separately and
  never shown, and then mapped to numbers of conditions by an isotonic regression on as many others.
  Penalties are fixed, not tuned. Race is no feature; sex is one, and women's costs of the year to come are
  higher at the same illness by `FEMALE_COST` (fitted to the published gap of 0.73 conditions between women
  and men).

Met in 48,784 records, with the aim in brackets: mean 1.33 (1.36), SD 1.90 (1.94), 44 % without a condition
(46 %); 2.03 Black and 1.23 White (2.07 and 1.26); explained variance of the mapped score 0.39 (0.39) and of
the health label 0.78 (0.74); gap of the mapped score -0.60 (-0.65); median of the score 2.8 (2.9), 97th
percentile 18 (16). These are of seed 42, which the parameters were fitted on; with seeds 1, 2 and 3 the gap
is -0.49 to -0.55, Black patients have 1.93 to 2.01 conditions, and the rest of the pattern holds. The
pattern is asserted in the tests: no detectable overall error of the mapped score; conditions under-predicted
in the sickest third and over-predicted elsewhere, most where there are costs without tests; about half of
the Black and a third of the White patients in the sickest third, with a gap left inside it; hardly any of
this for the health label.

References
----------
Obermeyer, Z., Powers, B., Vogeli, C. and Mullainathan, S. (2019). Dissecting racial bias in an algorithm used
to manage the health of populations. doi:10.1126/science.aax2342
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.twins.sizes import check_size

if TYPE_CHECKING:
    from sklearn.isotonic import IsotonicRegression
    from sklearn.pipeline import Pipeline

Array = NDArray[np.float64]

FULL_SIZE = 48_784
TRAINING_SIZE = 60_000
TRAINING_SEED = 2019
BLACK_SHARE = 0.1144
FEMALE_SHARE = 0.63
AGE_BANDS = ("18-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75 and over")
AGE_SHARES = (0.05, 0.13, 0.17, 0.24, 0.21, 0.13, 0.07)
AGE_BURDEN = (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9)
BLACK_BURDEN = 0.46
USE_SPREAD = 0.7
BLACK_COST = -0.35
FEMALE_COST = 0.6
EPISODE_SHARE = 0.12
NEW_RATE = 0.25
PENALTY = 0.01


@dataclass(frozen=True)
class Condition:
    """A chronic condition of the year before."""

    name: str  # Its column
    base: float  # Log odds at burden 0
    load: float  # Their change per unit of burden
    black: float  # Log odds ratio for Black patients at the same burden
    stays: float  # Probability that it is still active in the year of the outcome
    cost: float  # What it adds to the log costs of the year before


CONDITIONS = (
    Condition("hypertension", -1.33, 1.67, 0.35, 0.68, 0.15),
    Condition("diabetes", -2.73, 1.34, 0.60, 0.74, 0.25),
    Condition("diabetes_with_complications", -4.58, 1.67, 0.40, 0.68, 0.35),
    Condition("obesity", -2.93, 0.89, 0.70, 0.60, 0.10),
    Condition("thyroid_disease", -2.88, 0.77, -0.70, 0.68, 0.10),
    Condition("pulmonary_disease", -3.03, 1.11, 0.10, 0.57, 0.30),
    Condition("arrhythmia", -3.28, 1.45, -0.30, 0.57, 0.35),
    Condition("heart_failure", -4.58, 1.89, 0.10, 0.65, 0.55),
    Condition("valve_disease", -4.58, 1.34, -0.30, 0.51, 0.35),
    Condition("stroke", -4.78, 1.45, 0.00, 0.48, 0.45),
    Condition("vascular_disease", -4.78, 1.67, 0.00, 0.60, 0.35),
    Condition("renal_disease", -4.48, 2.00, 0.40, 0.74, 0.50),
    Condition("liver_disease", -4.88, 1.11, 0.00, 0.51, 0.40),
    Condition("cancer", -3.23, 0.77, -0.20, 0.57, 0.80),
    Condition("anaemia", -3.48, 1.45, 0.40, 0.39, 0.30),
    Condition("depression", -3.08, 0.77, -0.30, 0.60, 0.25),
    Condition("psychosis", -3.88, 0.77, 0.20, 0.57, 0.35),
    Condition("arthritis", -3.58, 0.77, -0.10, 0.57, 0.30),
    Condition("electrolyte_disorder", -4.28, 1.67, 0.10, 0.34, 0.45),
    Condition("neurological_disease", -4.28, 0.89, 0.00, 0.60, 0.40),
    Condition("alcohol_misuse", -5.08, 0.55, 0.00, 0.51, 0.30),
    Condition("drug_misuse", -5.28, 0.55, 0.10, 0.51, 0.35),
    Condition("weight_loss", -5.28, 1.34, 0.00, 0.31, 0.50),
)


@dataclass(frozen=True)
class CostKind:
    """One kind of cost of the year before."""

    name: str  # Its column
    base: float  # Log odds of any cost of this kind, for a patient of average use without a condition
    size: float  # Log dollars then
    illness: float  # How both rise with illness
    use: float  # With the propensity to use care
    episode: float  # With an episode


COSTS = (
    CostKind("cost_primary_care", 1.5, 5.6, 0.4, 0.5, 0.2),
    CostKind("cost_specialists", 0.6, 5.8, 0.6, 0.8, 0.9),
    CostKind("cost_pharmacy", 0.8, 5.5, 1.0, 0.7, 0.2),
    CostKind("cost_laboratory", 0.3, 5.0, 0.6, 0.5, -0.6),
    CostKind("cost_radiology", -0.4, 5.8, 0.5, 0.6, 0.8),
    CostKind("cost_emergency", -1.8, 6.3, 0.7, 0.3, 0.7),
    CostKind("cost_inpatient_medical", -4.0, 9.0, 1.1, 0.4, 0.6),
    CostKind("cost_inpatient_surgery", -4.3, 9.6, 0.6, 0.4, 1.4),
    CostKind("cost_outpatient_surgery", -1.7, 7.2, 0.4, 0.6, 1.4),
    CostKind("cost_physical_therapy", -2.0, 6.2, 0.2, 0.7, 1.3),
    CostKind("cost_home_health", -5.0, 7.0, 1.2, 0.3, 0.4),
    CostKind("cost_dialysis", -9.5, 9.5, 1.6, 0.1, 0.0),
    CostKind("cost_other", 0.2, 5.6, 0.5, 0.7, 0.8),
)

TESTS = {
    "creatinine_tests": 0.9,
    "haematocrit_tests": 0.8,
    "sodium_tests": 0.8,
    "ldl_tests": 0.5,
    "hba1c_tests": 0.1,
}
"""Routine tests a year, of a patient without a condition who goes for them."""
RESULTS = {
    "creatinine_high": ("creatinine_tests", "renal_disease"),
    "haematocrit_low": ("haematocrit_tests", "anaemia"),
    "sodium_low": ("sodium_tests", "electrolyte_disorder"),
    "ldl_high": ("ldl_tests", "vascular_disease"),
    "hba1c_high": ("hba1c_tests", "diabetes", "diabetes_with_complications"),
}
"""Abnormal results: the test, and the conditions that make them likely."""
SCORE_WEIGHTS = {"level": -2.75, "cost": 0.42, "conditions": 0.45, "age": 0.05, "noise": 0.35}


@dataclass(frozen=True)
class Patients:
    """Patient-years with everything that is drawn, shown or not; arrays of shape (n,)."""

    features: pd.DataFrame  # What is known of the year before
    black: NDArray[np.bool_]
    female: NDArray[np.bool_]
    active: NDArray[np.int64]  # Active conditions in the year of the outcome
    log_cost: Array  # Natural logarithm of that year's costs, never shown


def care_table(*, rows: int = FULL_SIZE, seed: int = 42) -> pd.DataFrame:
    """Draw the care-management twin.

    References
    ----------
    Obermeyer et al. (2019), doi:10.1126/science.aax2342
    """
    check_size("care-twin", rows=rows, seed=seed)
    rng = np.random.default_rng(seed)
    patients = draw_patients(rows, rng)
    cost_label, health_label = predict_labels(patients)
    names = np.array([f"P{number:06d}" for number in range(1, rows + 1)], dtype=object)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "record_id": names,
                    "race": np.where(patients.black, "Black", "White").astype(object),
                    "sex": np.where(patients.female, "Female", "Male").astype(object),
                }
            ),
            patients.features,
            pd.DataFrame(
                {
                    "risk_score": score_costs(patients.features, rng).round(4),
                    "cost_label": cost_label.round(4),
                    "health_label": health_label.round(4),
                    "active_conditions": patients.active,
                }
            ),
        ],
        axis=1,
    )


def draw_patients(rows: int, rng: np.random.Generator) -> Patients:
    """Draw patient-years: groups, burden, conditions, costs and tests, and what comes of them."""
    black = _exactly(BLACK_SHARE, rows, rng)
    female = rng.random(rows) < FEMALE_SHARE
    band = rng.choice(len(AGE_BANDS), size=rows, p=AGE_SHARES)
    burden = rng.normal(size=rows) + np.array(AGE_BURDEN)[band] + BLACK_BURDEN * black
    has = _draw_conditions(burden, black, rng)
    illness = np.log1p(has @ np.array([item.cost for item in CONDITIONS]) * 4)
    episode = (rng.random(rows) < EPISODE_SHARE) & (has.sum(axis=1) <= 1)
    costs = _draw_costs(illness, episode, black, rng)
    tests = _draw_tests(has, illness, episode, rng)
    features = pd.DataFrame(
        {
            "age_band": np.array(AGE_BANDS, dtype=object)[band],
            "conditions_before": has.sum(axis=1),
            **{item.name: has[:, position].astype(np.int64) for position, item in enumerate(CONDITIONS)},
            **costs,
            **tests,
        }
    )
    active = _draw_active(has, burden, features, rng)
    total = np.log(100 + np.sum([costs[item.name] for item in COSTS], axis=0))
    log_cost = 3.4 + 0.45 * total + 0.35 * illness + FEMALE_COST * female + BLACK_COST * black
    return Patients(features, black, female, active, log_cost + rng.normal(0, 1.0, rows))


def _exactly(share: float, rows: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mark a share of the records, the nearest number there is, at random."""
    return np.asarray(rng.permutation(rows) < round(share * rows))


def _chance(log_odds: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _draw_conditions(burden: Array, black: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw the conditions of the year before, shape (n, n_conditions)."""
    base, load, shift = (
        np.array([getattr(item, name) for item in CONDITIONS]) for name in ("base", "load", "black")
    )
    log_odds = base + np.multiply.outer(burden, load) + np.multiply.outer(black, shift)
    return np.asarray(rng.random(log_odds.shape) < _chance(log_odds))


def _draw_costs(
    illness: Array, episode: NDArray[np.bool_], black: NDArray[np.bool_], rng: np.random.Generator
) -> dict[str, Array]:
    """Draw dollars of every kind, rounded to tens; 0 where there was none."""
    use = rng.normal(0, USE_SPREAD, len(illness)) + BLACK_COST * black
    costs = {}
    for item in COSTS:
        drive = item.illness * illness + item.use * use + item.episode * episode
        any_cost = rng.random(len(illness)) < _chance(item.base + 1.2 * drive)
        dollars = np.exp(item.size + 0.8 * drive + rng.normal(0, 0.8, len(illness)))
        costs[item.name] = np.where(any_cost, np.round(dollars, -1), 0.0)
    return costs


def _draw_tests(
    has: NDArray[np.bool_], illness: Array, episode: NDArray[np.bool_], rng: np.random.Generator
) -> dict[str, NDArray]:
    """Draw numbers of tests, abnormal results and diuretics."""
    rows = len(illness)
    known = {item.name: has[:, position] for position, item in enumerate(CONDITIONS)}
    sugar = known["diabetes"] | known["diabetes_with_complications"]
    goes = (rng.random(rows) < np.where(has.any(axis=1), 0.92, 0.67)) & ~episode
    tests: dict[str, NDArray] = {}
    for name, rate in TESTS.items():
        more = 1.5 * sugar if name == "hba1c_tests" else 0.8 * illness
        tests[name] = rng.poisson(goes * (rate + more))
    for name, (tested, *causes) in RESULTS.items():
        ill = np.any([known[cause] for cause in causes], axis=0)
        abnormal = rng.random(rows) < np.where(ill, 0.65, 0.30 if name == "ldl_high" else 0.06)
        tests[name] = (abnormal & (tests[tested] > 0)).astype(np.int64)
    takes = rng.random(rows) < np.where(
        known["heart_failure"], 0.6, np.where(known["renal_disease"], 0.25, 0.02)
    )
    tests["diuretic_doses"] = np.where(takes, rng.poisson(6, rows) + 1, 0)
    return tests


def _draw_active(
    has: NDArray[np.bool_], burden: Array, features: pd.DataFrame, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the active conditions of the year of the outcome: old ones that stay, and new ones."""
    stays = rng.random(has.shape) < np.array([item.stays for item in CONDITIONS])
    abnormal = features[list(RESULTS)].to_numpy().sum(axis=1)
    rate = NEW_RATE * np.exp(0.72 * np.minimum(burden, 3.0) + 0.2 * abnormal)
    return np.asarray((has & stays).sum(axis=1) + rng.poisson(rate), dtype=np.int64)


def score_costs(features: pd.DataFrame, rng: np.random.Generator) -> Array:
    """Score patients as a program that ranks by expected costs does."""
    weights = SCORE_WEIGHTS
    total = np.log(100 + features[[item.name for item in COSTS]].to_numpy().sum(axis=1))
    band = features["age_band"].map({name: place for place, name in enumerate(AGE_BANDS)}).to_numpy()
    return np.asarray(
        np.exp(
            weights["level"]
            + weights["cost"] * total
            + weights["conditions"] * np.log1p(features["conditions_before"].to_numpy())
            + weights["age"] * band
            + rng.normal(0, weights["noise"], len(features))
        )
    )


def predict_labels(patients: Patients) -> tuple[Array, Array]:
    """Predict conditions with two lasso models, of costs and of conditions, fitted on other records."""
    design = _design(patients)
    cost_label, health_label = (to_count.predict(model.predict(design)) for model, to_count in _fit_labels())
    return cost_label, health_label


@cache
def _fit_labels() -> "tuple[tuple[Pipeline, IsotonicRegression], ...]":
    """Fit the two lasso models, and their maps to numbers of conditions, on records that are never shown."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import Lasso
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(TRAINING_SEED)
    fitted, mapped = draw_patients(TRAINING_SIZE, rng), draw_patients(TRAINING_SIZE, rng)
    found = []
    for label in (fitted.log_cost, fitted.active):
        model = make_pipeline(StandardScaler(), Lasso(alpha=PENALTY)).fit(_design(fitted), label)
        to_count = IsotonicRegression(out_of_bounds="clip")
        found.append((model, to_count.fit(model.predict(_design(mapped)), mapped.active)))
    return tuple(found)


def _design(patients: Patients) -> Array:
    """Lay out what the label models see: features with log costs, and sex; never race."""
    table = patients.features
    bands = np.column_stack([table["age_band"] == name for name in AGE_BANDS])
    costs = np.log1p(table[[item.name for item in COSTS]].to_numpy(dtype=float) / 100)
    others = table.drop(columns=["age_band", *(item.name for item in COSTS)]).to_numpy(dtype=float)
    return np.column_stack([bands, costs, others, patients.female]).astype(float)
