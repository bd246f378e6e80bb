"""What would an audit of a severity score look like? A synthetic twin of a public table of intensive care.

No record here is a person. `icu_table` has the column names of the WiDS Datathon 2020 table (Lee et al.
2020), and shows what a pocket audit of its APACHE IVa predictions found: too many deaths predicted overall,
in ventilated stays and in quiet stays without a blood gas, and about the right number in between.

How a record is drawn, and where every number comes from. *Published* numbers stand in a publication,
*fitted* ones were chosen so that published figures are met, *assumed* ones are ours.

- Hospitals: 147 (published) of log-normal volume (SD of the logarithm `VOLUME_SPREAD`, assumed), each with
  an effect on the log odds of death (SD `HOSPITAL_SPREAD`, assumed) and habits of testing (SD
  `HABIT_SPREAD`, assumed). They are the same for every seed.
- Kind of stay, never shown (`KINDS`): quiet (half of the stays), moderate, ventilated, neurological. Shares
  are fitted to the published pockets (half of the stays without a blood gas; 79 % ventilated in another).
  Forty per cent of the neurological stays lie in one hospital (fitted: the published neurological pocket
  could not be tested for that reason).
- Severity within the kind: normal. Log odds of death: a level of the kind, `SEVERITY` per unit of severity,
  `AGE_EFFECT` per year of age above 63, and the hospital's effect. Levels are fitted to the published death
  rates of the pockets, 2.4 % quiet, 5.4 % moderate and 16.9 % ventilated, and to 8.6 % of all stays.
- ``apache_4a_hospital_death_prob``: the same log odds without the hospital's effect, plus a shift of the
  kind, fitted to the published mean predictions of 5.4 %, 5.7 % and 21.2 %, plus noise (SD `SCORE_NOISE`,
  assumed). Missing, or -1 where it could not be computed, in a tenth of the stays (published: 20,923 of
  23,216 valid); some small hospitals have none.
- Ethnicity: about the shares of the public table (10.6 % African American, 4.1 % Hispanic), by hospital;
  most Hispanic patients are in few hospitals (fitted: the published contrast could not be tested). Ethnicity
  and gender play no part in severity, death or score beyond the hospital (assumed; no published gap was
  flagged).
- Vital signs and laboratory values: a usual value, a change by severity and by kind, and noise (`VALUES`,
  assumed, in the units of the table). What was not measured is missing: blood gases in about 65 % of all
  stays, lactate, albumin, bilirubin and INR in more than half, as in the public table.

Met in 91,713 records, with the aim in brackets: 8.4 % deaths (8.6 %); predicted less observed 2.9 points
overall (2.9), 22.8 less 18.5 % in ventilated stays that are not neurological (21.2 less 16.9 %), 5.2 less
2.4 % in quiet ones without a blood gas (5.4 less 2.4 %), 6.9 less 6.7 % in those with much urea and no
ventilation, which stand for the moderate pocket (5.7 less 5.4 %). The tests assert the pattern.

References
----------
Lee, M. et al. (2020). WiDS Datathon 2020: ICU Mortality Prediction. doi:10.13026/vc0e-th79
Zimmerman, J. E. et al. (2006). APACHE IV. doi:10.1097/01.CCM.0000215112.84523.F0
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.twins.sizes import check_size

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

FULL_SIZE = 91_713
WORLD_SEED = 2020
HOSPITALS = 147
VOLUME_SPREAD = 1.0
HOSPITAL_SPREAD = 0.15
HABIT_SPREAD = 0.5
SEVERITY = 1.0
AGE_EFFECT = 0.025
SCORE_NOISE = 0.35
NEUROLOGICAL_CENTRE = 3
CENTRE_SHARE = 0.40
SILENT_HOSPITALS = 13
ETHNICITIES = ("Caucasian", "African American", "Hispanic", "Asian", "Native American", "Other/Unknown")
ETHNICITY_SHARES = (0.785, 0.106, 0.041, 0.012, 0.008, 0.048)


@dataclass(frozen=True)
class StayKind:
    """A kind of stay, which the table does not show."""

    name: str  # What it stands for
    share: float  # Share of the stays
    level: float  # Log odds of death at severity 0 and age 63
    shift: float  # What the score adds to them
    ventilated: float  # Probability of it
    blood_gas: float  # Likewise
    age: float  # Mean age in years
    elective: float  # Probability of elective surgery
    diagnoses: tuple[int, ...]  # Codes of ``apache_2_diagnosis``
    systems: tuple[str, ...]  # Body systems that go with them


KINDS = (
    StayKind(
        "quiet", 0.49, -4.15, 0.80, 0.01, 0.06, 61.0, 0.16,
        (109, 112, 120, 124, 126, 207, 217, 301, 303, 305),
        ("Cardiovascular", "Cardiovascular", "Metabolic", "Gastrointestinal"),
    ),
    StayKind(
        "moderate", 0.17, -3.35, -0.10, 0.03, 0.40, 68.0, 0.05,
        (102, 104, 106, 113, 117, 119, 302, 308),
        ("Cardiovascular", "Respiratory", "Gastrointestinal", "Metabolic"),
    ),
    StayKind(
        "ventilated", 0.28, -1.72, 0.27, 0.88, 0.93, 63.0, 0.22,
        (101, 103, 105, 108, 110, 113, 114, 202, 203, 213),
        ("Respiratory", "Cardiovascular", "Respiratory", "Gastrointestinal"),
    ),
    StayKind(
        "neurological", 0.06, -1.80, 0.15, 0.35, 0.40, 60.0, 0.15,
        (115, 116, 122, 208, 211, 218),
        ("Neurologic",),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A vital sign or a laboratory value."""

    name: str  # Its column
    usual: float  # Value at severity 0 in a quiet stay
    spread: float  # SD of what severity does not say
    slope: float  # Change per unit of severity
    by_kind: tuple[float, float, float, float]  # What a kind of stay adds
    bounds: tuple[float, float]  # Lowest and highest value recorded
    recorded: tuple[float, float, float, float]  # Probability that it is recorded, by kind
    digits: int = 0  # Decimal places


_ALWAYS = (0.998, 0.998, 0.998, 0.998)
_ROUTINE = (0.86, 0.96, 0.96, 0.90)
_SELDOM = (0.36, 0.55, 0.56, 0.38)
_GAS = (1.0, 1.0, 1.0, 1.0)  # where a blood gas was taken

VALUES = (
    Value("d1_heartrate_max", 98, 18, 6, (0, 5, 11, 2), (58, 177), _ALWAYS),
    Value("d1_heartrate_min", 70, 14, 2, (0, 3, 3, 0), (0, 175), _ALWAYS),
    Value("d1_mbp_max", 104, 18, -1, (0, -1, 0, 6), (60, 184), _ALWAYS),
    Value("d1_mbp_min", 68, 13, -6, (0, -4, -8, 2), (22, 112), _ALWAYS),
    Value("d1_sysbp_min", 101, 16, -7, (0, -5, -10, 2), (41, 160), _ALWAYS),
    Value("d1_resprate_max", 26, 7, 2.5, (0, 3, 4, 0), (14, 92), (0.996, 0.996, 0.996, 0.996)),
    Value("d1_spo2_min", 92, 4, -1.8, (0, -2, -1.5, 0), (0, 100), (0.996, 0.996, 0.996, 0.996)),
    Value("d1_temp_max", 37.2, 0.6, 0.1, (0, 0.1, 0.2, 0.2), (35.1, 39.9), (0.97, 0.98, 0.98, 0.97), 1),
    Value("d1_temp_min", 36.4, 0.5, -0.15, (0, 0, -0.4, 0), (31.9, 37.8), (0.97, 0.98, 0.98, 0.97), 1),
    Value("d1_bun_max", 18, 8, 4, (0, 30, 6, -1), (4, 126), _ROUTINE),
    Value("d1_creatinine_max", 1.1, 0.6, 0.35, (0, 1.6, 0.35, -0.1), (0.34, 11.1), _ROUTINE, 2),
    Value("d1_albumin_min", 3.3, 0.5, -0.25, (0, -0.3, -0.5, 0), (1.1, 4.5), _SELDOM, 1),
    Value("d1_bilirubin_max", 0.7, 0.5, 0.35, (0, 0.3, 0.4, 0), (0.2, 51), (0.30, 0.50, 0.52, 0.33), 1),
    Value("d1_glucose_max", 160, 60, 12, (0, 15, 18, 0), (73, 611), (0.92, 0.96, 0.97, 0.94)),
    Value("d1_hco3_min", 24, 3.5, -1.6, (0, -2.0, -1.5, 0), (7, 39), (0.80, 0.93, 0.93, 0.85)),
    Value("d1_hemaglobin_min", 11.3, 1.9, -0.45, (0, -0.9, -0.8, 0.8), (5.3, 16.7), _ROUTINE, 1),
    Value("d1_lactate_max", 1.7, 0.8, 0.8, (0, 0.6, 1.4, 0.2), (0.4, 19.8), (0.10, 0.38, 0.48, 0.18), 1),
    Value("d1_inr_max", 1.2, 0.25, 0.15, (0, 0.25, 0.2, -0.1), (0.9, 7.8), (0.25, 0.45, 0.55, 0.45), 1),
    Value("d1_platelets_min", 208, 75, -14, (0, -8, -20, 10), (18.5, 557), (0.83, 0.94, 0.94, 0.88)),
    Value("d1_potassium_max", 4.2, 0.5, 0.15, (0, 0.3, 0.2, -0.1), (2.8, 7.0), (0.87, 0.96, 0.96, 0.91), 1),
    Value("d1_sodium_max", 138.5, 4, 0.3, (0, 0, 1, 1), (123, 158), _ROUTINE),
    Value("d1_wbc_max", 10.5, 4, 1.5, (0, 1.5, 4, 1), (1.2, 46.1), (0.83, 0.94, 0.94, 0.88), 1),
    Value("d1_arterial_ph_min", 7.37, 0.06, -0.04, (0, -0.02, -0.05, 0), (6.99, 7.62), _GAS, 2),
    Value("d1_arterial_po2_min", 92, 30, -5, (0, -18, 8, 12), (28, 448), _GAS),
    Value("d1_arterial_pco2_max", 41, 8, 2, (0, 4, 5, -1), (18, 111), _GAS),
    Value("d1_pao2fio2ratio_min", 265, 90, -25, (0, -40, -50, 20), (36, 604), _GAS, 1),
)
ILLNESSES = {
    "aids": 0.001,
    "cirrhosis": 0.016,
    "diabetes_mellitus": 0.225,
    "hepatic_failure": 0.013,
    "immunosuppression": 0.026,
    "leukemia": 0.007,
    "lymphoma": 0.004,
    "solid_tumor_with_metastasis": 0.021,
}
"""About the shares of the public table, of all kinds of stay alike (assumed)."""


@dataclass(frozen=True)
class World:
    """The hospitals, the same for every seed; arrays have one entry (row) a hospital."""

    volume: Array  # shape (147,): Share of the stays
    effect: Array  # shape (147,): On the log odds of death
    habit: Array  # shape (147,): On the log odds that something is measured
    ethnicity: Array  # shape (147, 6): Shares of its patients
    silent: NDArray[np.bool_]  # shape (147,): True where no score is recorded


def icu_table(*, rows: int = 50_000, seed: int = 42) -> pd.DataFrame:
    """Draw the intensive-care twin.

    References
    ----------
    Lee et al. (2020), doi:10.13026/vc0e-th79
    """
    check_size("icu-twin", rows=rows, seed=seed)
    world = make_world()
    rng = np.random.default_rng(seed)
    kind = rng.choice(len(KINDS), size=rows, p=[item.share for item in KINDS])
    place = _place(kind, world, rng)
    severity = rng.normal(size=rows)
    age = np.clip(np.round(rng.normal(_by_kind("age")[kind], 15.5)), 16, 89)
    log_odds = _by_kind("level")[kind] + SEVERITY * severity + AGE_EFFECT * (age - 63)
    death = rng.random(rows) < _chance(log_odds + world.effect[place])
    score = _chance(log_odds + _by_kind("shift")[kind] + rng.normal(0, SCORE_NOISE, rows))
    return pd.DataFrame(
        {
            "encounter_id": np.array([f"E{number:06d}" for number in range(1, rows + 1)], dtype=object),
            "hospital_id": hospital_names()[place],
            "age": age,
            **_draw_admission(kind, place, world, rng),
            **_draw_state(kind, severity, rng),
            **_draw_values(kind, severity, world.habit[place], rng),
            **{name: (rng.random(rows) < share).astype(np.int64) for name, share in ILLNESSES.items()},
            "apache_4a_hospital_death_prob": _record_score(score, world.silent[place], rng),
            "hospital_death": death.astype(np.int64),
        }
    )


def hospital_names() -> NDArray[np.object_]:
    """Return the identifiers of the hospitals, shape (147,)."""
    return np.array([f"H{number:03d}" for number in range(1, HOSPITALS + 1)], dtype=object)


def make_world() -> World:
    """Make the hospitals."""
    rng = np.random.default_rng(WORLD_SEED)
    volume = np.sort(np.exp(VOLUME_SPREAD * rng.normal(size=HOSPITALS)))[::-1]
    volume = volume / volume.sum()
    mix = np.array(ETHNICITY_SHARES) * np.exp(rng.normal(0, 0.9, (HOSPITALS, len(ETHNICITIES))))
    mix[:, 0] = ETHNICITY_SHARES[0]
    hispanic = ETHNICITIES.index("Hispanic")
    mix[:, hispanic] *= 0.15
    mix[[5, 9, 14, 22], hispanic] = (0.8, 0.5, 0.6, 0.5)
    mix /= mix.sum(axis=1, keepdims=True)
    silent = np.zeros(HOSPITALS, bool)
    silent[rng.choice(np.arange(60, HOSPITALS), SILENT_HOSPITALS, replace=False)] = True
    return World(
        volume, rng.normal(0, HOSPITAL_SPREAD, HOSPITALS), rng.normal(0, HABIT_SPREAD, HOSPITALS), mix, silent
    )


def _by_kind(name: str) -> Array:
    """Return one attribute of the four kinds of stay."""
    return np.array([getattr(item, name) for item in KINDS], dtype=float)


def _chance(log_odds: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _place(kind: Codes, world: World, rng: np.random.Generator) -> Codes:
    """Send stays to hospitals; many neurological ones to one."""
    place = rng.choice(HOSPITALS, size=len(kind), p=world.volume)
    sent = (kind == len(KINDS) - 1) & (rng.random(len(kind)) < CENTRE_SHARE)
    return np.where(sent, NEUROLOGICAL_CENTRE, place)


def _draw_admission(kind: Codes, place: Codes, world: World, rng: np.random.Generator) -> dict[str, NDArray]:
    """Draw who is admitted, from where and why."""
    rows = len(kind)
    ethnicity = np.empty(rows, dtype=np.int64)
    for hospital in range(HOSPITALS):
        here = np.flatnonzero(place == hospital)
        ethnicity[here] = rng.choice(len(ETHNICITIES), size=len(here), p=world.ethnicity[hospital])
    elective = rng.random(rows) < _by_kind("elective")[kind]
    source = rng.choice(
        np.array(["Accident & Emergency", "Floor", "Other Hospital"], dtype=object),
        rows,
        p=(0.74, 0.20, 0.06),
    )
    reason, system = np.empty(rows, dtype=object), np.empty(rows, dtype=object)
    for code, item in enumerate(KINDS):
        here = np.flatnonzero(kind == code)
        reason[here] = rng.choice(item.diagnoses, size=len(here))
        system[here] = rng.choice(np.array(item.systems, dtype=object), size=len(here))
    return {
        "bmi": _some_missing(np.clip(rng.normal(29.2, 7.5, rows), 14.8, 67.8).round(1), 0.037, rng),
        "elective_surgery": elective.astype(np.int64),
        "ethnicity": np.array(ETHNICITIES, dtype=object)[ethnicity],
        "gender": np.where(rng.random(rows) < 0.54, "M", "F").astype(object),
        "icu_admit_source": np.where(elective, "Operating Room / Recovery", source).astype(object),
        "pre_icu_los_days": np.round(rng.gamma(0.4, 2.0, rows), 2),
        "apache_2_diagnosis": _some_missing(reason.astype(float), 0.018, rng),
        "apache_2_bodysystem": system,
    }


def _draw_state(kind: Codes, severity: Array, rng: np.random.Generator) -> dict[str, NDArray]:
    """Draw ventilation, kidney failure and consciousness."""
    rows = len(kind)
    ventilated = rng.random(rows) < _by_kind("ventilated")[kind]
    neurological = kind == len(KINDS) - 1
    clouded = 0.9 * severity + 1.6 * ventilated + 1.5 * neurological + rng.normal(0, 1, rows)
    failure = rng.random(rows) < 0.012 + 0.05 * (kind == 1)
    return {
        "ventilated_apache": ventilated.astype(np.int64),
        "intubated_apache": (ventilated & (rng.random(rows) < 0.46)).astype(np.int64),
        "arf_apache": failure.astype(np.int64),
        "gcs_eyes_apache": _some_missing(np.digitize(-clouded, (-3.2, -2.4, -1.5)) + 1.0, 0.02, rng),
        "gcs_motor_apache": _some_missing(
            np.digitize(-clouded, (-4.0, -3.7, -3.4, -3.0, -2.2)) + 1.0, 0.02, rng
        ),
        "gcs_verbal_apache": _some_missing(np.digitize(-clouded, (-2.6, -2.3, -1.9, -1.0)) + 1.0, 0.02, rng),
    }


def _draw_values(kind: Codes, severity: Array, habit: Array, rng: np.random.Generator) -> dict[str, NDArray]:
    """Draw vital signs and laboratory values, missing where they were not measured."""
    rows = len(kind)
    odds = _by_kind("blood_gas")[kind]
    gas = rng.random(rows) < _chance(np.log(odds / (1 - odds)) + habit)
    values: dict[str, NDArray] = {}
    for item in VALUES:
        centre = item.usual + item.slope * severity + np.array(item.by_kind)[kind]
        drawn = np.clip(centre + rng.normal(0, item.spread, rows), *item.bounds).round(item.digits)
        if item.recorded is _GAS:
            measured = gas
        else:
            share = np.array(item.recorded)[kind]
            measured = rng.random(rows) < _chance(np.log(share / (1 - share)) + habit)
        values[item.name] = np.where(measured, drawn, np.nan)
    return values


def _some_missing(values: NDArray, share: float, rng: np.random.Generator) -> NDArray:
    """Leave out a share of the values, whatever they are."""
    return np.where(rng.random(len(values)) < share, np.nan, values)


def _record_score(score: Array, silent: NDArray[np.bool_], rng: np.random.Generator) -> Array:
    """Round the score; missing in silent hospitals and here and there, -1 where it could not be computed."""
    draw = rng.random(len(score))
    recorded = np.where(draw < 0.012, -1.0, np.clip(score, 0.01, 0.99).round(2))
    return np.where(silent | (draw > 0.95), np.nan, recorded)
