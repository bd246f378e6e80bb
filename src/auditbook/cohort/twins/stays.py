"""What happens during a stay? Diagnosis, procedure, admission, discharge and charges, given its length.

Everything here depends on race and ethnicity only through age, sex, hospital and length of stay: no group is
treated differently at the same length of stay. Differences between groups in the scores of a model come from
the published rates of long stays.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort.twins.hospitals import Hospitals
from auditbook.cohort.twins.people import People, draw_codes
from auditbook.cohort.twins.recipe import (
    BAND_STARTS,
    CODE_WIDTHS,
    DIAGNOSES,
    PROCEDURES,
    STAY_STARTS,
    Choice,
    Recipe,
)

AGE_CODES = len(CODE_WIDTHS)
STAY_BINS = len(STAY_STARTS)
KINDS = 3


@dataclass(frozen=True)
class Codes:
    """The world's diagnosis and procedure codes."""

    family: NDArray[np.integer]  # shape (n_diagnoses,): Diagnosis family of each diagnosis code
    # shape (n_diagnoses,): Change of the code's log weight per unit of log length of stay
    tilt: NDArray[np.floating]
    # shape (n_diagnoses,): Weight of the code within its family; sums to 1 in each family
    popularity: NDArray[np.floating]
    daily_cost: NDArray[np.floating]  # shape (n_diagnoses,): Factor on the cost of a day
    procedure_family: NDArray[np.integer]  # shape (n_procedures,): Family of each procedure code
    procedure_tilt: NDArray[np.floating]  # shape (3, n_procedures): As `tilt`, by kind of diagnosis
    # shape (n_procedures,): Weight of the code within its family; sums to 1 in each family
    procedure_popularity: NDArray[np.floating]
    fixed_cost: NDArray[np.floating]  # shape (n_procedures,): Thousand dollars


@dataclass(frozen=True)
class Stays:
    """What happened to each record, each array of shape (n,)."""

    # Positions among the codes and choices of the recipe
    diagnosis: NDArray[np.integer]
    procedure: NDArray[np.integer]
    admission_type: NDArray[np.integer]
    admission_source: NDArray[np.integer]
    status: NDArray[np.integer]

    charges: NDArray[np.integer]  # Total charges in dollars


def _popularity(sizes: list[int]) -> NDArray[np.floating]:
    """Return Zipf weights within families of the given sizes, one after the other."""
    return np.concatenate([(1 / np.arange(1, n + 1)) / (1 / np.arange(1, n + 1)).sum() for n in sizes])


def make_codes(recipe: Recipe, rng: np.random.Generator) -> Codes:
    """Make the world's codes: planted tilts and costs around those of their families."""
    sizes, procedure_sizes = [g.codes for g in DIAGNOSES], [f.codes for f in PROCEDURES]
    family = np.repeat(np.arange(len(DIAGNOSES)), sizes)
    procedure_family = np.repeat(np.arange(len(PROCEDURES)), procedure_sizes)
    n, m = len(family), len(procedure_family)
    scatter = rng.normal(0.0, recipe.procedure_spread, (KINDS, m))
    return Codes(
        family=family,
        tilt=np.array([g.tilt for g in DIAGNOSES])[family] + rng.normal(0.0, recipe.diagnosis_spread, n),
        popularity=_popularity(sizes),
        daily_cost=np.exp(rng.normal(0.0, recipe.cost_spread, n)),
        procedure_family=procedure_family,
        procedure_tilt=np.array([f.tilt for f in PROCEDURES]).T[:, procedure_family] + scatter,
        procedure_popularity=_popularity(procedure_sizes),
        fixed_cost=np.array([f.fixed_cost for f in PROCEDURES])[procedure_family]
        * np.exp(rng.normal(0.0, recipe.cost_spread, m)),
    )


def _stay_place() -> NDArray[np.floating]:
    """Return log length of stay of each bin, 0 at three and a half days, bounded, shape (n_bins,)."""
    ends = np.array([*STAY_STARTS[1:], 60]) - 1
    middle = np.sqrt(np.array(STAY_STARTS) * ends)
    return np.clip(np.log(middle / 3.5), -1.25, 1.75)


def _diagnosis_weights(codes: Codes) -> NDArray[np.floating]:
    """Return weights of the diagnoses by age code, sex and stay bin, shape (22 * 2 * n_bins, n_diagnoses)."""
    band = np.searchsorted(BAND_STARTS, np.arange(AGE_CODES), side="right") - 1
    by_age = np.array([g.weight for g in DIAGNOSES]).T[band][:, codes.family]
    female = np.array([g.female for g in DIAGNOSES])[codes.family]
    by_sex = np.stack([1 / np.sqrt(female), np.sqrt(female)])
    by_sex = by_sex / np.maximum(by_sex[0], by_sex[1])
    by_stay = np.exp(codes.tilt * _stay_place()[:, None])
    weights = by_age[:, None, None] * by_sex[None, :, None] * by_stay[None, None] * codes.popularity
    return weights.reshape(-1, len(codes.family))


def _procedure_weights(codes: Codes) -> NDArray[np.floating]:
    """Return weights of the procedures by kind and stay bin, shape (3 * n_bins, n_procedures)."""
    by_kind = (
        np.array([f.weight for f in PROCEDURES]).T[:, codes.procedure_family] * codes.procedure_popularity
    )
    by_stay = np.exp(codes.procedure_tilt[:, None] * _stay_place()[None, :, None])
    return (by_kind[:, None] * by_stay).reshape(-1, len(codes.procedure_family))


def _choice_weights(choices: tuple[Choice, ...]) -> NDArray[np.floating]:
    """Return weights of a small field by family, age code and stay bin, shape (families * 22 * n_bins, n)."""
    place = _stay_place()[None, None, :, None]
    urgency = np.array([g.urgency for g in DIAGNOSES])[:, None, None, None]
    age = np.linspace(-1.0, 1.0, AGE_CODES)[None, :, None, None]
    base, tilt, bend, by_urgency, by_age = np.array(
        [(c.base, c.tilt, c.bend, c.urgency, c.age) for c in choices]
    ).T
    log_weight = base + tilt * place + bend * place**2 + by_urgency * urgency + by_age * age
    return np.exp(log_weight).reshape(-1, len(choices))


def _charge(
    people: People,
    diagnosis: NDArray[np.integer],
    procedure: NDArray[np.integer],
    codes: Codes,
    level: NDArray[np.floating],
    recipe: Recipe,
    rng: np.random.Generator,
) -> NDArray[np.integer]:
    """Return charges in dollars: hospital level x (fixed cost + days x daily cost) x noise."""
    daily = recipe.daily_cost * codes.daily_cost[diagnosis]
    noise = np.exp(rng.normal(0.0, recipe.charge_noise, len(diagnosis)))
    charges = 1000.0 * level * (codes.fixed_cost[procedure] + daily * people.days) * noise
    return np.maximum(np.rint(charges), 1).astype(np.int64)


def draw_stays(
    people: People,
    place: NDArray[np.integer],
    *,
    hospitals: Hospitals,
    codes: Codes,
    recipe: Recipe,
    choices: tuple[tuple[Choice, ...], tuple[Choice, ...], tuple[Choice, ...]],
    rng: np.random.Generator,
) -> Stays:
    """Draw diagnosis, procedure, admission, discharge and charges of every record."""
    stay = np.searchsorted(STAY_STARTS, people.days, side="right") - 1
    diagnosis = draw_codes(_diagnosis_weights(codes), (people.age * 2 + people.sex) * STAY_BINS + stay, rng)
    kind = np.array([g.kind for g in DIAGNOSES])[codes.family[diagnosis]]
    procedure = draw_codes(_procedure_weights(codes), kind * STAY_BINS + stay, rng)
    row = (codes.family[diagnosis] * AGE_CODES + people.age) * STAY_BINS + stay
    types, sources, statuses = choices
    return Stays(
        diagnosis=diagnosis,
        procedure=procedure,
        admission_type=draw_codes(_choice_weights(types), row, rng),
        admission_source=draw_codes(_choice_weights(sources), row, rng),
        status=draw_codes(_choice_weights(statuses), row, rng),
        charges=_charge(people, diagnosis, procedure, codes, hospitals.charge_level[place], recipe, rng),
    )
