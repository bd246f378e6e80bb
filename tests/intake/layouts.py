"""Tables in the layouts of public sources: their column names and habits, with rows that are invented.

Names and codes follow the dictionaries of the publishers (eICU-CRD, MIMIC-IV, SIH/SUS, HCUP NIS, SPARCS,
NHANES, OMOP CDM, SUPPORT, RHC). `Truth` says what an analyst would write about each.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

ROWS = 2_000
NOTHING = frozenset({None})


@dataclass(frozen=True)
class Truth:
    """What an analyst would write; sets hold what is equally right, None that nothing is."""

    outcome: frozenset
    event: frozenset  # (comparison, value)
    unit: frozenset  # tuples of columns
    site: frozenset
    age: frozenset
    race: frozenset
    sex: frozenset
    scores: dict[str, str]  # column: event_is; blank when models are trained
    late: frozenset  # columns that no early model may see; each is in exclude or late
    weight: tuple = (None, None, None)
    leaks: frozenset = field(default_factory=frozenset)  # those that must be excluded, or named by check


@dataclass(frozen=True)
class Layout:
    """A table and what is true of it."""

    table: pd.DataFrame
    truth: Truth


def _columns(*names: str | None) -> frozenset:
    return frozenset(names)


def _equals(*values: object) -> frozenset:
    return frozenset(("==", value) for value in values)


def _risk(rng: np.random.Generator, age: np.ndarray, base: float) -> np.ndarray:
    """Draw a risk that grows with age."""
    logit = np.log(base / (1 - base)) + (age - age.mean()) / 25 + rng.normal(0, 1.2, len(age))
    return 1 / (1 + np.exp(-logit))


def _blank(rng: np.random.Generator, values: object, share: float) -> np.ndarray:
    """Blank out a share of cells."""
    out = np.array(values, dtype=object)
    out[rng.random(len(out)) < share] = None
    return out


def eicu(rows: int = ROWS) -> Layout:
    """Join patient and apachePatientResult of the eICU Collaborative Research Database."""
    rng = np.random.default_rng(101)
    people = rng.integers(0, int(rows * 0.8), rows)
    sites = rng.choice([73, 110, 142, 167, 188, 199, 227, 243, 252, 264, 300, 338, 420, 443], 400)
    age = np.clip(rng.normal(64, 17, rows), 18, 96).round().astype(int)
    risk = _risk(rng, age, 0.07)
    died = rng.random(rows) < risk
    icu = died & (rng.random(rows) < 0.65)
    stay = (rng.lognormal(7.6, 0.8, rows)).round().astype(int)
    home = rng.choice(["Home", "Skilled Nursing Facility", "Rehabilitation", "Other Hospital"], rows)
    graded = rng.random(rows) < 0.93
    table = pd.DataFrame(
        {
            "patientunitstayid": 141_000 + np.arange(rows) * 7,
            "patienthealthsystemstayid": 128_000 + np.arange(rows) * 5,
            "gender": rng.choice(["Male", "Female", "Unknown"], rows, p=[0.54, 0.455, 0.005]),
            "age": np.where(age > 89, "> 89", age.astype(str)),
            "ethnicity": _blank(
                rng,
                rng.choice(
                    [
                        "Caucasian",
                        "African American",
                        "Hispanic",
                        "Asian",
                        "Native American",
                        "Other/Unknown",
                    ],
                    rows,
                    p=[0.76, 0.11, 0.04, 0.02, 0.01, 0.06],
                ),
                0.01,
            ),
            "hospitalid": sites[people % 400],
            "wardid": rng.integers(80, 160, rows),
            "apacheadmissiondx": rng.choice(["Sepsis, pulmonary", "CHF", "CVA", "Rhythm disturbance"], rows),
            "admissionheight": _blank(rng, rng.normal(169, 11, rows).round(1), 0.02),
            "hospitaladmittime24": [f"{h:02d}:{m:02d}:00" for h, m in rng.integers(0, [24, 60], (rows, 2))],
            "hospitaladmitoffset": -rng.integers(0, 3000, rows),
            "hospitaladmitsource": _blank(rng, rng.choice(["Emergency Department", "Floor"], rows), 0.2),
            "hospitaldischargeyear": rng.choice([2014, 2015], rows),
            "hospitaldischargeoffset": stay + rng.integers(10, 6000, rows),
            "hospitaldischargelocation": np.where(died, "Death", home),
            "hospitaldischargestatus": _blank(rng, np.where(died, "Expired", "Alive"), 0.01),
            "unittype": rng.choice(["Med-Surg ICU", "MICU", "SICU", "CTICU", "Neuro ICU"], rows),
            "unitadmitsource": rng.choice(["Emergency Department", "Floor", "Operating Room"], rows),
            "unitvisitnumber": rng.choice([1, 1, 1, 2], rows),
            "unitstaytype": rng.choice(["admit", "stepdown/other", "readmit", "transfer"], rows),
            "admissionweight": _blank(rng, rng.normal(84, 25, rows).clip(30).round(1), 0.05),
            "dischargeweight": _blank(rng, rng.normal(84, 25, rows).clip(30).round(1), 0.3),
            "unitdischargeoffset": stay,
            "unitdischargelocation": np.where(icu, "Death", rng.choice(["Floor", "Home", "Step-Down"], rows)),
            "unitdischargestatus": np.where(icu, "Expired", "Alive"),
            "uniquepid": [f"{sites[p % 400] % 30:03d}-{10_000 + p}" for p in people],
            "acutephysiologyscore": np.where(graded, (risk * 90 + rng.normal(30, 9, rows)).round(), -1),
            "apachescore": np.where(graded, (risk * 90 + rng.normal(42, 9, rows)).round(), -1),
            "apacheversion": "IVa",
            "predictedicumortality": np.where(graded, (risk * 0.6).round(6), -1),
            "actualicumortality": np.where(icu, "EXPIRED", "ALIVE"),
            "actualiculos": (stay / 1440).round(4),
            "predictedhospitalmortality": np.where(graded, risk.round(6), -1),
            "actualhospitalmortality": np.where(died, "EXPIRED", "ALIVE"),
            "actualhospitallos": (stay / 1440 * 1.7).round(4),
            "unabridgedunitlos": (stay / 1440).round(4),
            "actualventdays": _blank(rng, rng.integers(1, 20, rows), 0.6),
        }
    )
    truth = Truth(
        outcome=_columns("hospitaldischargestatus", "actualhospitalmortality"),
        event=_equals("Expired", "EXPIRED"),
        unit=frozenset({("uniquepid",)}),
        site=_columns("hospitalid"),
        age=_columns("age"),
        race=_columns("ethnicity"),
        sex=_columns("gender"),
        scores={"predictedhospitalmortality": "high"},
        late=_columns(
            *(
                "hospitaldischargeoffset",
                "hospitaldischargelocation",
                "dischargeweight",
                "unitdischargeoffset",
            ),
            *("unitdischargelocation", "unitdischargestatus", "actualicumortality", "actualiculos"),
            *("actualhospitallos", "unabridgedunitlos", "actualventdays"),
        ),
        leaks=_columns("hospitaldischargelocation", "unitdischargestatus", "actualicumortality"),
    )
    return Layout(table, truth)


def mimic(rows: int = ROWS) -> Layout:
    """Join admissions, icustays and patients of MIMIC-IV."""
    rng = np.random.default_rng(102)
    people = rng.integers(0, int(rows * 0.75), rows)
    ages = np.clip(rng.normal(63, 17, int(rows * 0.75)), 18, 91).round().astype(int)
    age = ages[people]
    died = rng.random(rows) < _risk(rng, age, 0.1)
    admitted = pd.Timestamp("2150-01-01") + pd.to_timedelta(rng.integers(0, 40_000_000, rows), unit="min")
    los = rng.lognormal(0.7, 0.9, rows).round(6)
    left = admitted + pd.to_timedelta(los * 1.8 + 0.4, unit="D")
    races = ["WHITE", "BLACK/AFRICAN AMERICAN", "HISPANIC/LATINO - PUERTO RICAN", "ASIAN", "ASIAN - CHINESE"]
    races += ["OTHER", "UNKNOWN", "UNABLE TO OBTAIN", "PATIENT DECLINED TO ANSWER"]
    own = rng.choice(races, int(rows * 0.75), p=[0.62, 0.11, 0.04, 0.03, 0.02, 0.05, 0.09, 0.02, 0.02])
    stamp = "%Y-%m-%d %H:%M:%S"
    units = ["Medical Intensive Care Unit (MICU)", "Surgical Intensive Care Unit (SICU)", "Neuro Stepdown"]
    table = pd.DataFrame(
        {
            "subject_id": 10_000_000 + people * 13,
            "hadm_id": 20_000_000 + np.arange(rows) * 17,
            "stay_id": 30_000_000 + np.arange(rows) * 11,
            "first_careunit": rng.choice(units, rows),
            "last_careunit": rng.choice(units, rows),
            "intime": (admitted + pd.Timedelta("4h")).strftime(stamp),
            "outtime": (admitted + pd.to_timedelta(los, unit="D")).strftime(stamp),
            "los": los,
            "admittime": admitted.strftime(stamp),
            "dischtime": left.strftime(stamp),
            "deathtime": np.where(died, left.strftime(stamp), None),
            "admission_type": rng.choice(["EW EMER.", "URGENT", "ELECTIVE", "OBSERVATION ADMIT"], rows),
            "admit_provider_id": [f"P{n:04X}" for n in rng.integers(0x1000, 0x10F0, rows)],
            "admission_location": rng.choice(["EMERGENCY ROOM", "PHYSICIAN REFERRAL"], rows),
            "discharge_location": np.where(died, "DIED", rng.choice(["HOME", "REHAB", "HOSPICE"], rows)),
            "insurance": rng.choice(["Medicare", "Medicaid", "Private", "Other"], rows),
            "language": rng.choice(
                ["English", "Spanish", "Russian", "Chinese"], rows, p=[0.88, 0.06, 0.03, 0.03]
            ),
            "marital_status": _blank(
                rng, rng.choice(["MARRIED", "SINGLE", "WIDOWED", "DIVORCED"], rows), 0.08
            ),
            "race": own[people],
            "edregtime": _blank(rng, (admitted - pd.Timedelta("5h")).strftime(stamp), 0.35),
            "edouttime": _blank(rng, (admitted - pd.Timedelta("1h")).strftime(stamp), 0.35),
            "hospital_expire_flag": died.astype(int),
            "gender": np.where(people % 9 < 5, "M", "F"),
            "anchor_age": age,
            "anchor_year": 2150 + people % 40,
            "anchor_year_group": rng.choice(["2008 - 2010", "2011 - 2013", "2014 - 2016"], rows),
            "dod": np.where(died, left.strftime("%Y-%m-%d"), None),
            "heart_rate_mean": rng.normal(86, 15, rows).round(2),
            "creatinine_max": _blank(rng, rng.lognormal(0.2, 0.6, rows).round(2), 0.05),
        }
    )
    truth = Truth(
        outcome=_columns("hospital_expire_flag"),
        event=_equals(1),
        unit=frozenset({("subject_id",)}),
        site=_columns(None),
        age=_columns("anchor_age"),
        race=_columns("race"),
        sex=_columns("gender"),
        scores={},
        late=_columns(
            "dischtime", "deathtime", "discharge_location", "outtime", "los", "last_careunit", "dod"
        ),
        leaks=_columns("deathtime", "discharge_location", "dod"),
    )
    return Layout(table, truth)


def sih(rows: int = ROWS) -> Layout:
    """Lay rows out as the reduced AIH files of SIH/SUS (Brazil)."""
    rng = np.random.default_rng(103)
    years = rng.random(rows) < 0.95
    age = np.clip(rng.normal(52, 21, rows), 0, 99).round().astype(int)
    died = rng.random(rows) < _risk(rng, age, 0.05)
    stay = rng.poisson(5, rows)
    start = pd.Timestamp("2023-03-01") + pd.to_timedelta(rng.integers(0, 30, rows), unit="D")
    value = rng.lognormal(6.8, 0.8, rows).round(2)
    table = pd.DataFrame(
        {
            "UF_ZI": rng.choice(["350000", "330000", "410000"], rows),
            "ANO_CMPT": "2023",
            "MES_CMPT": rng.choice(["03", "04"], rows),
            "ESPEC": rng.choice(["01", "03", "07"], rows),
            "CGC_HOSP": _blank(
                rng, rng.choice([f"{61_000_000_000_100 + i * 977:014d}" for i in range(12)], rows), 0.3
            ),
            "N_AIH": [f"35231{i:08d}" for i in range(rows)],
            "IDENT": rng.choice(["1", "5"], rows, p=[0.97, 0.03]),
            "CEP": [f"0{n}" for n in rng.integers(1_000_000, 9_999_999, rows)],
            "MUNIC_RES": rng.choice(["355030", "350950", "330455", "410690"], rows),
            "NASC": [
                f"{2023 - a}{m:02d}{d:02d}"
                for a, m, d in zip(age, rng.integers(1, 13, rows), rng.integers(1, 28, rows), strict=True)
            ],
            "SEXO": rng.choice([1, 3], rows),
            "UTI_MES_TO": rng.choice([0, 0, 0, 3], rows),
            "MARCA_UTI": rng.choice(["00", "75"], rows, p=[0.85, 0.15]),
            "QT_DIARIAS": stay,
            "PROC_SOLIC": rng.choice(["0303060212", "0303140151", "0411010034"], rows),
            "PROC_REA": rng.choice(["0303060212", "0303140151", "0411010034"], rows),
            "VAL_SH": (value * 0.85).round(2),
            "VAL_SP": (value * 0.15).round(2),
            "VAL_TOT": value,
            "VAL_UTI": np.where(rng.random(rows) < 0.15, 900.0, 0.0),
            "DI_INTER": start.strftime("%Y%m%d"),
            "DT_SAIDA": (start + pd.to_timedelta(stay, unit="D")).strftime("%Y%m%d"),
            "DIAG_PRINC": rng.choice(["I500", "J189", "I64", "A419"], rows),
            "COBRANCA": np.where(
                died, rng.choice(["41", "42"], rows), rng.choice(["11", "12", "15", "31"], rows)
            ),
            "NATUREZA": "00",
            "GESTAO": rng.choice(["1", "2"], rows),
            "MUNIC_MOV": rng.choice(["355030", "350950", "330455", "410690"], rows),
            "COD_IDADE": np.where(years, "4", "3"),
            "IDADE": np.where(years, age, age % 12),
            "DIAS_PERM": stay,
            "MORTE": died.astype(int),
            "CAR_INT": rng.choice(["01", "02"], rows, p=[0.3, 0.7]),
            "INSTRU": "0",
            "CNES": rng.choice([f"20{n}" for n in range(77_501, 77_519)], rows),
            "COMPLEX": rng.choice(["02", "03"], rows),
            "CID_MORTE": np.where(died, "I469", "0"),
            "RACA_COR": rng.choice(
                ["01", "02", "03", "04", "05", "99"], rows, p=[0.42, 0.08, 0.3, 0.03, 0.01, 0.16]
            ),
            "ETNIA": "0000",
        }
    )
    truth = Truth(
        outcome=_columns("MORTE"),
        event=_equals(1),
        unit=frozenset({()}),
        site=_columns("CNES"),
        age=_columns("IDADE"),
        race=_columns("RACA_COR"),
        sex=_columns("SEXO"),
        scores={},
        late=_columns(
            "COBRANCA",
            "CID_MORTE",
            "DIAS_PERM",
            "VAL_TOT",
            "VAL_SH",
            "VAL_SP",
            "DT_SAIDA",
            "QT_DIARIAS",
            "UTI_MES_TO",
        ),
        leaks=_columns("COBRANCA", "CID_MORTE"),
    )
    return Layout(table, truth)


def nis(rows: int = ROWS) -> Layout:
    """Lay rows out as the core file of the HCUP National Inpatient Sample."""
    rng = np.random.default_rng(104)
    age = np.clip(rng.normal(58, 20, rows), 0, 90).round().astype(int)
    died = rng.random(rows) < _risk(rng, age, 0.04)
    hospital = rng.integers(0, 60, rows)
    table = pd.DataFrame(
        {
            "AGE": np.where(rng.random(rows) < 0.002, -99, age),
            "AMONTH": rng.integers(1, 13, rows),
            "AWEEKEND": rng.integers(0, 2, rows),
            "DIED": np.where(rng.random(rows) < 0.002, -9, died.astype(int)),
            "DISCWT": np.round(4.99 + hospital % 7 / 1000, 5),
            "DISPUNIFORM": np.where(died, 20, rng.choice([1, 2, 5, 6], rows)),
            "DQTR": rng.integers(1, 5, rows),
            "DRG": rng.choice([291, 292, 871, 470, 194], rows),
            "ELECTIVE": rng.integers(0, 2, rows),
            "FEMALE": rng.integers(0, 2, rows),
            "HCUP_ED": rng.choice([0, 1, 2], rows),
            "HOSP_DIVISION": hospital % 9 + 1,
            "HOSP_NIS": 10_001 + hospital * 9,
            "I10_DX1": rng.choice(["I5023", "A419", "J189", "M1711"], rows),
            "I10_DX2": _blank(rng, rng.choice(["E119", "I10", "N179"], rows), 0.1),
            "I10_NDX": rng.integers(1, 30, rows),
            "I10_NPR": rng.integers(0, 9, rows),
            "KEY_NIS": 10_000_007 + np.arange(rows) * 3,
            "LOS": rng.poisson(5, rows),
            "MDC": rng.integers(1, 25, rows),
            "NIS_STRATUM": 1000 + hospital % 12,
            "PAY1": rng.choice([1, 2, 3, 4, 5, 6], rows, p=[0.45, 0.2, 0.27, 0.04, 0.01, 0.03]),
            "PL_NCHS": rng.integers(1, 7, rows),
            "RACE": rng.choice([1, 2, 3, 4, 5, 6, -9], rows, p=[0.63, 0.15, 0.11, 0.03, 0.01, 0.04, 0.03]),
            "TOTCHG": rng.lognormal(10.4, 0.9, rows).round(),
            "TRAN_IN": rng.choice([0, 1, 2], rows),
            "TRAN_OUT": rng.choice([0, 1, 2], rows),
            "YEAR": 2019,
            "ZIPINC_QRTL": rng.integers(1, 5, rows),
            "APRDRG_Risk_Mortality": rng.integers(1, 5, rows),
            "APRDRG_Severity": rng.integers(1, 5, rows),
        }
    )
    truth = Truth(
        outcome=_columns("DIED"),
        event=_equals(1),
        unit=frozenset({(), ("HOSP_NIS",)}),
        site=_columns("HOSP_NIS"),
        age=_columns("AGE"),
        race=_columns("RACE"),
        sex=_columns("FEMALE"),
        scores={},
        late=_columns(
            "DISPUNIFORM",
            "LOS",
            "TOTCHG",
            "TRAN_OUT",
            "DRG",
            "APRDRG_Risk_Mortality",
            "APRDRG_Severity",
            "I10_NPR",
        ),
        weight=("DISCWT", "NIS_STRATUM", "HOSP_NIS"),
        leaks=_columns("DISPUNIFORM"),
    )
    return Layout(table, truth)


def sparcs(rows: int = ROWS) -> Layout:
    """Lay rows out as the public discharge file of New York's SPARCS."""
    rng = np.random.default_rng(105)
    stay = np.minimum(rng.lognormal(1.4, 0.9, rows).round().astype(int) + 1, 130)
    stay[:6] = 125
    died = rng.random(rows) < 0.05
    facility = rng.integers(0, 25, rows)
    charges = 4_000 + stay * 5_500 * rng.lognormal(0, 0.4, rows)
    table = pd.DataFrame(
        {
            "Hospital Service Area": np.array(["New York City", "Long Island", "Western NY"])[facility % 3],
            "Hospital County": np.array(["Kings", "Nassau", "Erie", "Bronx"])[facility % 4],
            "Operating Certificate Number": [f"{7_001_000 + f * 3:07d}" for f in facility],
            "Permanent Facility Id": [f"{1_160 + f * 11:06d}" for f in facility],
            "Facility Name": [f"General Hospital {f}" for f in facility],
            "Age Group": rng.choice(["0 to 17", "18 to 29", "30 to 49", "50 to 69", "70 or Older"], rows),
            "Zip Code - 3 digits": rng.choice(["100", "112", "104", "OOS"], rows),
            "Gender": rng.choice(["M", "F", "U"], rows, p=[0.47, 0.527, 0.003]),
            "Race": rng.choice(
                ["White", "Black/African American", "Other Race", "Multi-racial"],
                rows,
                p=[0.56, 0.19, 0.23, 0.02],
            ),
            "Ethnicity": rng.choice(
                ["Not Span/Hispanic", "Spanish/Hispanic", "Unknown"], rows, p=[0.8, 0.14, 0.06]
            ),
            "Length of Stay": np.where(stay >= 120, "120 +", stay.astype(str)),
            "Type of Admission": rng.choice(["Emergency", "Elective", "Urgent", "Newborn"], rows),
            "Patient Disposition": np.where(
                died,
                "Expired",
                rng.choice(
                    ["Home or Self Care", "Skilled Nursing Home", "Left Against Medical Advice"], rows
                ),
            ),
            "Discharge Year": 2021,
            "CCSR Diagnosis Code": rng.choice(["CIR019", "INF002", "RSP002"], rows),
            "CCSR Diagnosis Description": rng.choice(["Heart failure", "Septicemia", "Pneumonia"], rows),
            "APR DRG Code": rng.choice(["194", "720", "139", "005"], rows),
            "APR Severity of Illness Code": rng.integers(1, 5, rows),
            "APR Severity of Illness Description": rng.choice(
                ["Minor", "Moderate", "Major", "Extreme"], rows
            ),
            "APR Risk of Mortality": rng.choice(["Minor", "Moderate", "Major", "Extreme"], rows),
            "APR Medical Surgical Description": rng.choice(["Medical", "Surgical"], rows),
            "Payment Typology 1": rng.choice(
                ["Medicare", "Medicaid", "Blue Cross/Blue Shield", "Self-Pay"], rows
            ),
            "Payment Typology 2": _blank(rng, rng.choice(["Medicare", "Medicaid"], rows), 0.5),
            "Emergency Department Indicator": rng.choice(["Y", "N"], rows),
            "Total Charges": [f"{value:,.2f}" for value in charges],
            "Total Costs": [f"{value:,.2f}" for value in charges * 0.35],
        }
    )
    truth = Truth(
        outcome=_columns("Length of Stay", "Patient Disposition"),
        event=frozenset({("==", "Expired"), (">", float(np.median(stay)))}),
        unit=frozenset({()}),
        site=_columns("Permanent Facility Id", "Facility Name", "Operating Certificate Number"),
        age=_columns("Age Group"),
        race=_columns("Race", "Ethnicity"),
        sex=_columns("Gender"),
        scores={},
        late=_columns(
            *("Total Charges", "Total Costs", "APR DRG Code", "APR Severity of Illness Code"),
            *("APR Severity of Illness Description", "APR Risk of Mortality"),
        ),
    )
    return Layout(table, truth)


def nhanes(rows: int = ROWS) -> Layout:
    """Join demographics, examination and the diabetes questionnaire of NHANES."""
    rng = np.random.default_rng(106)
    age = np.clip(rng.normal(48, 20, rows), 12, 80).round().astype(int)
    sick = rng.random(rows) < _risk(rng, age, 0.1)
    told = np.where(sick, 1, 2)
    told[rng.random(rows) < 0.02] = 3
    told[:4] = 9
    sick = told == 1
    weight = rng.lognormal(10, 0.7, rows)
    table = pd.DataFrame(
        {
            "SEQN": 93_703 + np.arange(rows),
            "SDDSRVYR": 10,
            "RIDSTATR": 2,
            "RIAGENDR": rng.choice([1, 2], rows),
            "RIDAGEYR": age,
            "RIDRETH1": rng.choice([1, 2, 3, 4, 5], rows, p=[0.14, 0.09, 0.35, 0.23, 0.19]),
            "RIDRETH3": rng.choice([1, 2, 3, 4, 6, 7], rows, p=[0.14, 0.09, 0.35, 0.23, 0.13, 0.06]),
            "DMDEDUC2": _blank(
                rng, rng.choice([1, 2, 3, 4, 5, 9], rows, p=[0.1, 0.15, 0.24, 0.3, 0.2, 0.01]), 0.15
            ),
            "INDFMPIR": _blank(rng, rng.uniform(0, 5, rows).round(2), 0.12),
            "SIALANG": rng.choice([1, 2], rows, p=[0.89, 0.11]),
            "WTINT2YR": weight.round(6),
            "WTMEC2YR": (weight * 1.07).round(6),
            "SDMVPSU": rng.choice([1, 2], rows),
            "SDMVSTRA": rng.integers(134, 149, rows),
            "BMXBMI": _blank(rng, rng.normal(29, 7, rows).clip(14).round(1), 0.03),
            "BPXSY1": _blank(rng, (rng.normal(122, 17, rows) / 2).round() * 2, 0.1),
            "HIQ011": rng.choice([1, 2, 9], rows, p=[0.87, 0.125, 0.005]),
            "DIQ010": told,
            "DID040": np.where(sick, np.clip(age - rng.integers(0, 15, rows), 5, 80), None),
            "DIQ050": np.where(sick & (rng.random(rows) < 0.3), 1, 2),
            "DIQ070": np.where(sick | (told == 3), rng.choice([1, 2], rows), None),
            "LBXGH": _blank(
                rng, np.where(sick, rng.normal(7.1, 1.3, rows), rng.normal(5.5, 0.4, rows)).round(1), 0.06
            ),
        }
    )
    truth = Truth(
        outcome=_columns("DIQ010"),
        event=_equals(1),
        unit=frozenset({(), ("SEQN",)}),
        site=_columns(None),
        age=_columns("RIDAGEYR"),
        race=_columns("RIDRETH1", "RIDRETH3"),
        sex=_columns("RIAGENDR"),
        scores={},
        late=_columns("DID040", "DIQ070", "WTINT2YR"),
        weight=("WTMEC2YR", "SDMVSTRA", "SDMVPSU"),
        leaks=_columns("DID040", "DIQ070"),
    )
    return Layout(table, truth)


def omop(rows: int = ROWS) -> Layout:
    """Join person, visit_occurrence and death of the OMOP common data model, with a given score."""
    rng = np.random.default_rng(107)
    number = int(rows * 0.7)
    people = rng.integers(0, number, rows)
    born = rng.integers(1930, 2003, number)
    age = 2019 - born[people]
    risk = _risk(rng, age, 0.08)
    died = rng.random(rows) < risk
    start = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
    end = start + pd.to_timedelta(rng.poisson(5, rows), unit="D")
    dead = end + pd.to_timedelta(rng.integers(0, 20, rows), unit="D")
    table = pd.DataFrame(
        {
            "person_id": 40_001 + people * 3,
            "visit_occurrence_id": 900_000 + np.arange(rows),
            "visit_concept_id": rng.choice([9201, 9203, 262], rows),
            "visit_start_date": start.strftime("%Y-%m-%d"),
            "visit_end_date": end.strftime("%Y-%m-%d"),
            "visit_type_concept_id": 32817,
            "provider_id": rng.integers(1, 300, rows),
            "care_site_id": rng.choice([11, 12, 15, 19, 23], rows),
            "admitted_from_concept_id": rng.choice([0, 8870, 8844], rows),
            "discharged_to_concept_id": np.where(died, 4216643, rng.choice([0, 8536, 8717, 8863], rows)),
            "gender_concept_id": np.where(people % 2 == 0, 8507, 8532),
            "year_of_birth": born[people],
            "race_concept_id": rng.choice(
                [8527, 8516, 8515, 8657, 8557, 0], number, p=[0.6, 0.2, 0.06, 0.02, 0.01, 0.11]
            )[people],
            "ethnicity_concept_id": rng.choice([38003564, 38003563], number, p=[0.85, 0.15])[people],
            "gender_source_value": np.where(people % 2 == 0, "M", "F"),
            "death_date": np.where(died, dead.strftime("%Y-%m-%d"), None),
            "cause_concept_id": np.where(died, rng.choice([312327, 255573], rows), None),
            "condition_count_365d": rng.poisson(7, rows),
            "died_30d": died.astype(int),
            "predicted_risk": risk.round(5),
        }
    )
    truth = Truth(
        outcome=_columns("died_30d"),
        event=_equals(1),
        unit=frozenset({("person_id",)}),
        site=_columns("care_site_id"),
        age=_columns("year_of_birth"),
        race=_columns("race_concept_id"),
        sex=_columns("gender_concept_id", "gender_source_value"),
        scores={"predicted_risk": "high"},
        late=_columns("death_date", "cause_concept_id", "discharged_to_concept_id", "visit_end_date"),
        leaks=_columns("death_date", "cause_concept_id", "discharged_to_concept_id"),
    )
    return Layout(table, truth)


def support2(rows: int = ROWS) -> Layout:
    """Lay rows out as the SUPPORT data of five medical centres (support2)."""
    rng = np.random.default_rng(108)
    age = np.clip(rng.normal(63, 15, rows), 18, 100).round(5)
    risk = _risk(rng, age, 0.27)
    died = rng.random(rows) < risk
    later = died | (rng.random(rows) < 0.5)
    stay = rng.lognormal(2.6, 0.7, rows).round().astype(int) + 3
    costs = 3_000 * stay * rng.lognormal(0, 0.5, rows)
    function = rng.choice(["no(M2 and SIP pres)", "adl>=4 (>=5 if sur)", "SIP>=30"], rows)
    table = pd.DataFrame(
        {
            "age": age,
            "death": later.astype(int),
            "sex": rng.choice(["male", "female"], rows),
            "hospdead": died.astype(int),
            "slos": stay,
            "d.time": np.where(later, stay + rng.integers(0, 300, rows), rng.integers(350, 2_000, rows)),
            "dzgroup": rng.choice(
                ["ARF/MOSF w/Sepsis", "CHF", "COPD", "Cirrhosis", "Lung Cancer", "Coma"], rows
            ),
            "dzclass": rng.choice(["ARF/MOSF", "COPD/CHF/Cirrhosis", "Cancer", "Coma"], rows),
            "num.co": rng.integers(0, 8, rows),
            "edu": _blank(rng, rng.integers(0, 22, rows), 0.18),
            "income": _blank(rng, rng.choice(["under $11k", "$11-$25k", "$25-$50k", ">$50k"], rows), 0.33),
            "scoma": rng.choice([0, 0, 0, 9, 26, 44, 100], rows),
            "charges": (costs * 2.4).round(),
            "totcst": costs.round(4),
            "totmcst": (costs * 0.8).round(4),
            "avtisst": rng.normal(22, 9, rows).clip(1).round(4),
            "race": _blank(
                rng,
                rng.choice(
                    ["white", "black", "hispanic", "other", "asian"], rows, p=[0.79, 0.15, 0.03, 0.02, 0.01]
                ),
                0.005,
            ),
            "sps": rng.normal(25, 9, rows).clip(0).round(4),
            "aps": (risk * 60 + rng.normal(25, 8, rows)).clip(0).round(),
            "surv2m": (1 - risk * 0.95).round(6),
            "surv6m": (1 - risk * 0.98).clip(0.001).round(6) ** 1.4,
            "hday": rng.integers(1, 30, rows),
            "diabetes": rng.integers(0, 2, rows),
            "dementia": (rng.random(rows) < 0.03).astype(int),
            "ca": rng.choice(["no", "yes", "metastatic"], rows, p=[0.65, 0.15, 0.2]),
            "prg2m": _blank(rng, (1 - risk * rng.uniform(0.6, 1.1, rows)).clip(0, 1).round(2), 0.18),
            "dnr": rng.choice(["no dnr", "dnr after sadm", "dnr before sadm"], rows),
            "dnrday": rng.integers(1, 90, rows),
            "meanbp": rng.normal(84, 27, rows).clip(10).round(),
            "hrt": rng.normal(97, 31, rows).clip(10).round(),
            "alb": _blank(rng, rng.normal(2.9, 0.8, rows).clip(0.5).round(2), 0.37),
            "crea": rng.lognormal(0.3, 0.6, rows).round(3),
            "adlp": _blank(rng, rng.integers(0, 8, rows), 0.6),
            "sfdm2": np.where(died, "<2 mo. follow-up", _blank(rng, function, 0.2)),
        }
    )
    truth = Truth(
        outcome=_columns("hospdead", "death"),
        event=_equals(1),
        unit=frozenset({()}),
        site=_columns(None),
        age=_columns("age"),
        race=_columns("race"),
        sex=_columns("sex"),
        scores={"surv2m": "low"},
        late=_columns("slos", "d.time", "charges", "totcst", "totmcst", "avtisst", "sfdm2", "dnrday"),
        leaks=_columns("sfdm2"),
    )
    return Layout(table, truth)


def rhc(rows: int = ROWS) -> Layout:
    """Lay rows out as the right heart catheterization data of Connors et al. (1996)."""
    rng = np.random.default_rng(109)
    age = np.clip(rng.normal(61, 17, rows), 18, 101).round(5)
    risk = _risk(rng, age, 0.33)
    soon = rng.random(rows) < risk
    died = soon | (rng.random(rows) < 0.4)
    admitted = rng.integers(10_754, 12_441, rows)
    days = np.where(soon, rng.integers(2, 30, rows), rng.integers(31, 180, rows))
    table = pd.DataFrame(
        {
            "cat1": rng.choice(["ARF", "MOSF w/Sepsis", "COPD", "CHF", "Coma", "Cirrhosis"], rows),
            "cat2": _blank(rng, rng.choice(["MOSF w/Sepsis", "Coma", "MOSF w/Malignancy"], rows), 0.7),
            "ca": rng.choice(["No", "Yes", "Metastatic"], rows, p=[0.76, 0.17, 0.07]),
            "sadmdte": admitted,
            "dschdte": np.where(soon, None, admitted + rng.integers(10, 60, rows)),
            "dthdte": np.where(died, admitted + days, None),
            "lstctdte": admitted + days,
            "death": np.where(died, "Yes", "No"),
            "cardiohx": rng.integers(0, 2, rows),
            "chfhx": rng.integers(0, 2, rows),
            "dementhx": rng.integers(0, 2, rows),
            "renalhx": rng.integers(0, 2, rows),
            "age": age,
            "sex": rng.choice(["Male", "Female"], rows),
            "edu": rng.normal(11.7, 3, rows).clip(0).round(4),
            "surv2md1": (1 - risk * 0.97).round(6),
            "das2d3pc": rng.normal(20, 5, rows).round(4),
            "t3d30": np.where(soon, days, 30),
            "dth30": np.where(soon, "Yes", "No"),
            "aps1": (risk * 60 + rng.normal(35, 10, rows)).clip(3).round(),
            "scoma1": rng.choice([0, 0, 9, 26, 100], rows),
            "meanbp1": rng.normal(78, 38, rows).clip(10).round(),
            "hrt1": rng.normal(115, 41, rows).clip(10).round(),
            "crea1": rng.lognormal(0.5, 0.6, rows).round(4),
            "swang1": rng.choice(["No RHC", "RHC"], rows, p=[0.62, 0.38]),
            "wtkilo1": rng.normal(68, 29, rows).clip(0).round(4),
            "dnr1": rng.choice(["No", "Yes"], rows, p=[0.89, 0.11]),
            "ninsclas": rng.choice(
                ["Private", "Medicare", "Medicaid", "Private & Medicare", "No insurance"], rows
            ),
            "resp": rng.choice(["Yes", "No"], rows),
            "card": rng.choice(["Yes", "No"], rows),
            "adld3p": _blank(rng, rng.integers(0, 8, rows), 0.75),
            "urin1": _blank(rng, rng.normal(2_190, 1_500, rows).clip(0).round(1), 0.5),
            "race": rng.choice(["white", "black", "other"], rows, p=[0.78, 0.16, 0.06]),
            "income": rng.choice(["Under $11k", "$11-$25k", "$25-$50k", "> $50k"], rows),
            "ptid": [f"{n:05d}" for n in np.arange(rows) + 5],
        }
    )
    truth = Truth(
        outcome=_columns("death", "dth30"),
        event=_equals("Yes"),
        unit=frozenset({(), ("ptid",)}),
        site=_columns(None),
        age=_columns("age"),
        race=_columns("race"),
        sex=_columns("sex"),
        scores={"surv2md1": "low"},
        late=_columns("dschdte", "dthdte", "lstctdte", "t3d30"),
        leaks=_columns("dthdte", "t3d30"),
    )
    return Layout(table, truth)


LAYOUTS: dict[str, Callable[[], Layout]] = {
    "eicu": eicu,
    "mimic": mimic,
    "sih": sih,
    "nis": nis,
    "sparcs": sparcs,
    "nhanes": nhanes,
    "omop": omop,
    "support2": support2,
    "rhc": rhc,
}
