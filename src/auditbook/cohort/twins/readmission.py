"""What would an audit of readmissions look like? A synthetic twin of the layout of a public diabetes table.

No record here is a person. `readmission_table` has column names and codes of "Diabetes 130-US hospitals for
years 1999-2008" (101,766 stays of 71,518 patients): a patient has one stay or several, and one stay in nine
is followed by another within thirty days.

How a record is drawn, and where every number comes from. *Published* numbers are counts of the public table,
*fitted* ones were chosen so that such counts are met, *assumed* ones are ours.

- Patients: race, gender and age band as in the public table (`RACES`, `AGES`, 54 % women; published); 77 %
  have one stay, the others up to ten (`STAYS`, published). A frailty, normal and never shown, is higher by
  `STAYS_FRAILTY` per further stay (fitted).
- Earlier inpatient stays: Poisson, with a rate that rises with frailty and varies from stay to stay (gamma
  of shape 0.8, mean 1; `INPATIENT_RATE`, fitted: two thirds have none, 14 % two or more), plus those of the
  patient's own earlier stays here that lie within a year (each with probability one half, assumed).
  Emergency and outpatient visits likewise.
- Number of diagnoses, days, laboratory tests, procedures, medications: rounded normals or Poissons with the
  public table's means, longer and more for the frail (assumed).
- Diagnosis (`DIAGNOSES`), specialty, admission type and source, where the patient went, blood sugar results
  and drugs: shares of the public table, rounded (published); insulin is more common in the frail (assumed).
- Readmission within thirty days: log odds `LEVEL` (fitted to 11 %), plus `PER_STAY` per earlier inpatient
  stay up to six (fitted: 8 % without one, 17 % with two, a third from five), per emergency visit, for a
  discharge to another facility (9 % after going home, 15-20 % else; fitted), per diagnosis, and of the
  frailty itself, which makes stays of one patient depend on each other (assumed). Those who died or went to
  a hospice are not readmitted. Race and gender play no part (assumed: rates of the groups lie within two
  points in the public table).

Met in 101,766 records, with the aim in brackets: 71,831 patients (71,518); 11.1 % back within thirty days
(11.2 %) and 34.0 % later (34.9 %); 63 % without an earlier inpatient stay (66 %) and 16 % with two or more
(14 %), of whom 8.4, 11.8, 16.0 and 20.5 % are back after none to three (8.4, 12.9, 17.4 and 20.3 %); two
stays of one patient correlate by 0.03 (0.04). The tests assert these.

References
----------
Clore, J., Cios, K., DeShazo, J. and Strack, B. (2014). Diabetes 130-US hospitals for years 1999-2008.
doi:10.24432/C5230J
Strack, B. et al. (2014). Impact of HbA1c measurement on hospital readmission rates. doi:10.1155/2014/781670
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.twins.sizes import check_size

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

FULL_SIZE = 101_766
RACES = {
    "Caucasian": 0.748,
    "AfricanAmerican": 0.189,
    "Hispanic": 0.020,
    "Other": 0.015,
    "Asian": 0.006,
    "": 0.022,
}
AGES = {
    "[0-10)": 0.002, "[10-20)": 0.007, "[20-30)": 0.016, "[30-40)": 0.037, "[40-50)": 0.095,
    "[50-60)": 0.170, "[60-70)": 0.221, "[70-80)": 0.256, "[80-90)": 0.169, "[90-100)": 0.027,
}  # fmt: skip
FEMALE_SHARE = 0.538
STAYS = (0.7655, 0.1459, 0.0465, 0.0199, 0.0100, 0.0048, 0.0029, 0.0016, 0.0010, 0.0019)
"""Shares of the patients with one stay, two and so on up to ten."""
STAYS_FRAILTY = 0.22
INPATIENT_RATE = 0.22
EMERGENCY_RATE = 0.09
OUTPATIENT_RATE = 0.17
LEVEL = -2.50
PER_STAY = 0.22
PER_VISIT = 0.12
PER_DIAGNOSIS = 0.05
AFTER_FACILITY = 0.55
OF_FRAILTY = 0.28
LATER_SHARE = 0.393
"""Of the stays that are not followed by another within thirty days, those that are later: published."""
HOME, FACILITY, DIED, HOSPICE = "1", ("3", "2", "22", "5"), "11", ("13", "14")
DISCHARGES = {
    "1": 0.605, "3": 0.139, "6": 0.130, "18": 0.036, "2": 0.021, "22": 0.020, "11": 0.016, "5": 0.012,
    "25": 0.010, "13": 0.004, "14": 0.004, "7": 0.003,
}  # fmt: skip
DIAGNOSES = {
    "250": 0.13, "428": 0.10, "414": 0.10, "786": 0.06, "410": 0.055, "486": 0.05, "427": 0.045, "491": 0.035,
    "715": 0.035, "682": 0.03, "434": 0.03, "780": 0.03, "996": 0.03, "276": 0.03, "38": 0.025, "599": 0.025,
    "584": 0.025, "V57": 0.02, "518": 0.02, "820": 0.02, "577": 0.02, "493": 0.02, "440": 0.02, "562": 0.02,
    "296": 0.015, "574": 0.015, "560": 0.015,
}  # fmt: skip
SPECIALTIES = {
    "": 0.49, "InternalMedicine": 0.15, "Emergency/Trauma": 0.08, "Family/GeneralPractice": 0.08,
    "Cardiology": 0.06, "Surgery-General": 0.04, "Nephrology": 0.02, "Orthopedics": 0.03,
    "Radiologist": 0.015, "Pulmonology": 0.015, "Psychiatry": 0.02,
}  # fmt: skip
ADMISSIONS = {"1": 0.531, "3": 0.185, "2": 0.182, "6": 0.052, "5": 0.047, "8": 0.003}
SOURCES = {"7": 0.565, "1": 0.292, "17": 0.067, "4": 0.033, "6": 0.023, "2": 0.011, "5": 0.009}
SUGAR = {"None": 0.947, "Norm": 0.026, ">200": 0.015, ">300": 0.012}
HBA1C = {"None": 0.833, ">8": 0.081, "Norm": 0.049, ">7": 0.037}
DOSES = ("No", "Steady", "Down", "Up")


def readmission_table(*, rows: int = 60_000, seed: int = 42) -> pd.DataFrame:
    """Draw the readmission twin.

    References
    ----------
    Clore et al. (2014), doi:10.24432/C5230J
    """
    check_size("readmission-twin", rows=rows, seed=seed)
    rng = np.random.default_rng(seed)
    patient, earlier = _draw_stays(rows, rng)
    people = int(patient.max()) + 1
    frailty = rng.normal(size=people) + STAYS_FRAILTY * (np.bincount(patient) - 1.0)
    table = pd.DataFrame(
        {
            "encounter_id": np.array([f"E{number:07d}" for number in range(1, rows + 1)], dtype=object),
            "patient_nbr": np.array(
                [f"N{number:07d}" for number in rng.permutation(people) + 1], dtype=object
            )[patient],
            "race": _draw(RACES, people, rng)[patient],
            "gender": np.where(rng.random(people) < FEMALE_SHARE, "Female", "Male").astype(object)[patient],
            "age": _draw(AGES, people, rng)[patient],
            **_draw_course(frailty[patient], earlier, rng),
            **_draw_drugs(frailty[patient], rng),
        }
    )
    table["readmitted"] = _draw_return(table, frailty[patient], rng)
    return table.iloc[rng.permutation(rows)].reset_index(drop=True)


def _draw(shares: Mapping[str, float], count: int, rng: np.random.Generator) -> NDArray[np.object_]:
    """Draw categories; the blank one is a missing value."""
    share = np.array(list(shares.values()))
    names = np.array([name or None for name in shares], dtype=object)
    return np.asarray(names[rng.choice(len(share), size=count, p=share / share.sum())])


def _draw_stays(rows: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Deal stays to patients: the patient of each, and how many of the patient's stays came before it."""
    share = np.array(STAYS) / np.sum(STAYS)
    count = rng.choice(np.arange(1, len(share) + 1), size=rows, p=share)
    patient = np.repeat(np.arange(rows), count)[:rows]
    first = np.searchsorted(patient, patient)
    return patient, np.arange(rows) - first


def _draw_course(frailty: Array, earlier: Codes, rng: np.random.Generator) -> dict[str, NDArray]:
    """Draw admission, stay and discharge."""
    rows = len(frailty)

    def count(mean: float, spread: float, slope: float, low: int, high: int) -> Codes:
        drawn = rng.normal(mean, spread, rows) + slope * frailty
        return np.clip(np.round(drawn), low, high).astype(np.int64)

    visits = {
        name: rng.poisson(rate * np.exp(0.85 * np.minimum(frailty, 3.0)) * rng.gamma(0.8, 1.25, rows))
        for name, rate in (
            ("number_outpatient", OUTPATIENT_RATE),
            ("number_emergency", EMERGENCY_RATE),
            ("number_inpatient", INPATIENT_RATE),
        )
    }
    visits["number_inpatient"] = visits["number_inpatient"] + rng.binomial(earlier, 0.5)
    days = np.clip(np.round(np.exp(rng.normal(1.25 + 0.08 * frailty, 0.68))), 1, 14)
    return {
        "admission_type_id": _draw(ADMISSIONS, rows, rng),
        "discharge_disposition_id": _draw(DISCHARGES, rows, rng),
        "admission_source_id": _draw(SOURCES, rows, rng),
        "time_in_hospital": days.astype(np.int64),
        "medical_specialty": _draw(SPECIALTIES, rows, rng),
        "num_lab_procedures": np.clip(count(38, 19, 0.5, 1, 132) + days.astype(np.int64), 1, 132),
        "num_procedures": np.minimum(rng.poisson(1.3, rows), 6),
        "num_medications": np.clip(count(11.5, 6.5, 0.8, 1, 81) + days.astype(np.int64), 1, 81),
        **visits,
        "diag_1": _draw(DIAGNOSES, rows, rng),
        "number_diagnoses": count(8.0, 2.2, 0.5, 1, 9),
        "max_glu_serum": _draw(SUGAR, rows, rng),
        "A1Cresult": _draw(HBA1C, rows, rng),
    }


def _draw_drugs(frailty: Array, rng: np.random.Generator) -> dict[str, NDArray]:
    """Draw drugs and whether they changed."""
    rows = len(frailty)
    insulin = np.digitize(rng.normal(0.3 * frailty, 1.0), (0.0, 0.85, 1.35))
    metformin = np.digitize(rng.normal(-0.2 * frailty, 1.0), (0.88, 2.3, 2.6))
    other = rng.random(rows) < 0.25
    changed = (insulin >= 2) | (metformin >= 2) | (rng.random(rows) < 0.25)
    names = np.array(DOSES, dtype=object)
    return {
        "metformin": names[metformin],
        "insulin": names[insulin],
        "change": np.where(changed, "Ch", "No").astype(object),
        "diabetesMed": np.where((insulin > 0) | (metformin > 0) | other, "Yes", "No").astype(object),
    }


def _draw_return(table: pd.DataFrame, frailty: Array, rng: np.random.Generator) -> NDArray[np.object_]:
    """Draw who is back, and when."""
    discharge = table["discharge_disposition_id"].to_numpy()
    gone = np.isin(discharge, (DIED, *HOSPICE))
    log_odds = (
        LEVEL
        + PER_STAY * np.minimum(table["number_inpatient"].to_numpy(), 6)
        + PER_VISIT * np.minimum(table["number_emergency"].to_numpy(), 4)
        + PER_DIAGNOSIS * (table["number_diagnoses"].to_numpy() - 8.0)
        + AFTER_FACILITY * np.isin(discharge, FACILITY)
        + OF_FRAILTY * np.minimum(frailty, 3.0)
    )
    soon = (rng.random(len(table)) < 1 / (1 + np.exp(-log_odds))) & ~gone
    later = (rng.random(len(table)) < LATER_SHARE) & ~gone
    return np.asarray(np.where(soon, "<30", np.where(later, ">30", "NO")).astype(object))
