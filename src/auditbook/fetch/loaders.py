"""What is each publisher's file like inside, and which of its habits mislead whoever reads it plainly?"""

import csv
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np
import pandas as pd

from auditbook.errors import InputError

TINY = 1e-70
"""What is nearer to 0 than this is a 0 of a transport file."""


@dataclass(frozen=True)
class Loaded:
    """A table as the cohort file wants it, and what was put right, each with its count."""

    table: pd.DataFrame
    told: tuple[str, ...] = ()


def load_diabetes(files: Sequence[Path]) -> Loaded:
    """Read the stays of people with diabetes: '?' is missing, 'None' is a value, codes stay text."""
    with _open(files[0], "diabetic_data.csv") as stream:
        table = _read_text(stream, files[0].name)
    _need(table, ("encounter_id", "patient_nbr", "race", "readmitted", "diag_1"), files[0].name)
    missing = int((table == "?").to_numpy().sum())
    table = table.mask(table == "?")
    kept = {"diag_1", "diag_2", "diag_3", "payer_code"}
    table = table.apply(lambda column: column if column.name in kept else _whole(column))
    return Loaded(table, (f"{missing:,} cells '?' are missing",))


def _whole(column: pd.Series) -> pd.Series:
    """Read a column of whole numbers as such; any other stays text."""
    present = column.dropna()
    if len(present) == len(column) and present.str.fullmatch(r"0|-?[1-9]\d{0,17}").all():
        return column.astype("int64")
    return column


SPARCS = MappingProxyType(
    {
        "hospital_service_area": "health_service_area",
        "health_service_area": "health_service_area",
        "hospital_county": "hospital_county",
        "facility_name": "hospital_id",
        "permanent_facility_id": "facility_number",
        "age_group": "age_group",
        "gender": "sex",
        "race": "race",
        "ethnicity": "ethnicity",
        "length_of_stay": "los",
        "type_of_admission": "admission_type",
        "patient_disposition": "discharge_status",
        "discharge_year": "discharge_year",
        "ccsr_diagnosis_code": "ccsr_dx_code",
        "ccsr_procedure_code": "ccsr_proc_code",
        "apr_drg_code": "apr_drg_code",
        "apr_severity_of_illness_code": "apr_severity_code",
        "apr_severity_of_illness": "apr_severity_code",
        "apr_risk_of_mortality": "apr_mortality_risk",
        "payment_typology_1": "payer_primary",
        "payment_typology_2": "payer_secondary",
        "emergency_department_indicator": "ed_indicator",
        "total_charges": "charges",
        "total_costs": "costs",
    }
)
"""The names of the State's columns, in the portal's export or its interface, and those of the cohort file."""


def load_sparcs(files: Sequence[Path], *, drg: str = "194") -> Loaded:
    """Read the State's discharges of one APR DRG: '120 +' days count as 120, charges are numbers."""
    with _open(files[0], "") as stream:
        raw = _read_text(stream, files[0].name)
    raw.columns = pd.Index([re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in raw.columns])
    table = raw[[name for name in raw.columns if name in SPARCS]].rename(columns=SPARCS)
    table = table.loc[:, ~table.columns.duplicated()]
    _need(
        table, ("hospital_id", "los", "race", "ethnicity", "sex", "age_group", "apr_drg_code"), files[0].name
    )
    table = table[pd.to_numeric(table["apr_drg_code"], errors="coerce") == int(drg)].reset_index(drop=True)
    nameless = table["hospital_id"].isna()
    table = table[~nameless].reset_index(drop=True)
    capped = table["los"].str.fullmatch(r"\s*120\s*\+\s*")
    table["los"] = table["los"].str.replace(r"[ +]", "", regex=True).astype("int64")
    for name in ("charges", "costs"):
        if name in table:
            table[name] = pd.to_numeric(table[name].str.replace(r"[$,]", "", regex=True))
    table["died"] = (table["discharge_status"] == "Expired").astype("int64")
    told = (
        f"{len(raw):,} discharges read, {len(table):,} of APR DRG {drg} kept",
        f"{int(nameless.sum()):,} without a hospital left out",
        f"{int(capped.sum()):,} stays of '120 +' days count as 120",
    )
    return Loaded(table, told)


COARSE = MappingProxyType(
    {"22": "", "23": "", "24": "", "25": "60 years and over", "26": "60 years and over"}
)
"""Bands of the second series of age codes; 22 (0-17), 23 (18-44) and 24 (45-64) lie in no single one."""
BANDS = ((0, "0-14 years"), (5, "15-34 years"), (10, "35-59 years"), (15, "60 years and over"))
PUDF = MappingProxyType(
    {
        "RACE": {
            "1": "American Indian",
            "2": "Asian or Pacific Islander",
            "3": "Black",
            "4": "White",
            "5": "Other",
        },
        "ETHNICITY": {"1": "Hispanic", "2": "Not Hispanic"},
        "SEX_CODE": {"M": "Male", "F": "Female"},
    }
)
KEPT_PUDF = (
    "RECORD_ID THCIC_ID PAT_AGE RACE ETHNICITY SEX_CODE LENGTH_OF_STAY TYPE_OF_ADMISSION SOURCE_OF_ADMISSION "
    "ADMIT_WEEKDAY PAT_STATUS FIRST_PAYMENT_SRC PRINC_DIAG_CODE APR_MDC APR_DRG ILLNESS_SEVERITY "
    "RISK_MORTALITY TOTAL_CHARGES PAT_STATE"
).split()
FEW_DISCHARGES = "999999"
LONGEST = 9998


def load_pudf(files: Sequence[Path]) -> Loaded:
    """Read quarters of the Texas file: both series of age codes in bands, withheld cells as missing."""
    parts = []
    for file in files:
        with _open(file, r"PUDF_base1_.*\.txt") as stream:
            parts.append(_read_text(stream, file.name, separator="\t", encoding="latin-1"))
        parts[-1].columns = pd.Index([name.strip().upper() for name in parts[-1].columns])
        _need(parts[-1], ("RECORD_ID", "THCIC_ID", "PAT_AGE", "LENGTH_OF_STAY", "RACE"), file.name)
    table = pd.concat(parts, ignore_index=True)
    table = table[[name for name in KEPT_PUDF if name in table]]
    marks = table.isin(["*", "`"])
    table = table.mask(marks)
    few = table["THCIC_ID"] == FEW_DISCHARGES
    table = table[~few].reset_index(drop=True)
    codes = table["PAT_AGE"].str.zfill(2)
    table["age_band"] = codes.map(_band)
    days = pd.to_numeric(table["LENGTH_OF_STAY"], errors="coerce")
    charges = pd.to_numeric(
        table.get("TOTAL_CHARGES", pd.Series(index=table.index, dtype=object)), errors="coerce"
    )
    table["LENGTH_OF_STAY"] = days.where(days <= LONGEST)
    table["TOTAL_CHARGES"] = charges.where(charges >= 0)
    for name, words in PUDF.items():
        table[name] = table[name].map(words) if name in table else np.nan
    told = (
        f"{int(marks.to_numpy().sum()):,} cells '*' or '`' are missing",
        f"{int(few.sum()):,} stays of hospitals with few discharges (999999) left out",
        f"{int(codes.isin(list(COARSE)).sum()):,} ages in the coarse codes 22 to 26, "
        f"{int(codes.isin(['22', '23', '24']).sum()):,} of which lie in no single band and are missing",
        f"{int((days > LONGEST).sum()):,} impossible lengths of stay and {int((charges < 0).sum()):,} "
        "charges below 0 are missing",
    )
    return Loaded(table.rename(columns=str.lower), told)


def _band(code: object) -> object:
    """Name the band of an age code; None where it lies in none."""
    if not isinstance(code, str) or not code.isdecimal():
        return None
    if code in COARSE:
        return COARSE[code] or None
    place = int(code)
    return next(band for first, band in reversed(BANDS) if place >= first) if place <= 21 else None


NHANES = MappingProxyType(
    {
        "RIAGENDR": {1: "Male", 2: "Female"},
        "RIDRETH3": {
            1: "Mexican American",
            2: "Other Hispanic",
            3: "Non-Hispanic White",
            4: "Non-Hispanic Black",
            6: "Non-Hispanic Asian",
            7: "Other or multi-racial",
        },
        "DMDEDUC2": {
            1: "below 9th grade",
            2: "9th to 11th grade",
            3: "high school",
            4: "some college",
            5: "college",
        },
        "BPQ020": {1: "Yes", 2: "No"},
        "DIQ010": {1: "Yes", 2: "No", 3: "Borderline"},
        "DIQ175A": {10: "Yes"},
    }
)
"""Words for the codes of answers; what is not named (refused, not known) becomes missing."""
KEPT_NHANES = (
    "SEQN RIAGENDR RIDRETH3 RIDAGEYR DMDEDUC2 INDFMPIR WTMEC2YR SDMVSTRA SDMVPSU LBXGH BMXBMI BMXWAIST "
    "BPQ020 DIQ010"
).split()
ADULT = 20


def load_nhanes(files: Sequence[Path]) -> Loaded:
    """Join the survey's files by person: adults who were examined and whose glycohaemoglobin was measured."""
    import pyreadstat

    parts = {file.name.split("_")[0].upper(): pyreadstat.read_xport(str(file))[0] for file in files}
    lacking = [name for name in ("DEMO", "GHB") if name not in parts]
    if lacking:
        raise InputError(
            f"nhanes: {' and '.join(lacking)} of NHANES 2017-2018 are missing; hand in all five files"
        )
    table = reduce(lambda left, right: left.merge(right, on="SEQN", how="left"), parts.values())
    table = table[[name for name in KEPT_NHANES if name in table]]
    numbers = table.select_dtypes("number")
    zeros = (numbers.abs() < TINY) & (numbers != 0)
    table[numbers.columns] = numbers.mask(zeros, 0.0)
    adult, measured = table["RIDAGEYR"] >= ADULT, table["LBXGH"].notna() & (table["WTMEC2YR"] > 0)
    people = table[adult & measured].reset_index(drop=True)
    refused = 0
    for name, words in NHANES.items():
        if name in people:
            told = people[name].map(words)
            refused += int((people[name].notna() & told.isna()).sum())
            people[name] = told
    for name in ("SEQN", "SDMVSTRA", "SDMVPSU"):
        people[name] = people[name].astype("int64")
    return Loaded(
        people,
        (
            f"{len(table):,} people read, {len(people):,} adults with a measured glycohaemoglobin kept",
            f"{refused:,} answers refused or not known are missing",
            f"{int(zeros.to_numpy().sum()):,} zeros were stored as 5.4e-79",
            f"{int((people['RIDAGEYR'] == 80).sum()):,} people are 80 or older and stand as 80",
        ),
    )


LOADERS: Mapping[str, Callable[[Sequence[Path]], Loaded]] = MappingProxyType(
    {"diabetes-130": load_diabetes, "nhanes": load_nhanes, "sparcs": load_sparcs, "thcic-pudf": load_pudf}
)


@contextmanager
def _open(file: Path, inside: str) -> Iterator[IO[bytes]]:
    """Open a file, or the one of this name in a zip archive."""
    if not zipfile.is_zipfile(file):
        with file.open("rb") as stream:
            yield stream
        return
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(inside or r".*\.csv", Path(name).name)]
        if len(names) != 1:
            held = ", ".join(map(repr, archive.namelist()[:5])) or "nothing"
            raise InputError(f"{file.name}: holds {held}; expected one file like {inside or '*.csv'}")
        with archive.open(names[0]) as stream:
            yield stream


def _read_text(
    stream: IO[bytes], name: str, *, separator: str = ",", encoding: str = "utf-8-sig"
) -> pd.DataFrame:
    """Read every cell as text; only the empty one is missing."""
    try:
        return pd.read_csv(
            stream,
            sep=separator,
            dtype=str,
            encoding=encoding,
            keep_default_na=False,
            na_values=[""],
            index_col=False,
            quoting=csv.QUOTE_MINIMAL,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise InputError(f"{name}: is not the publisher's table: {first}; fetch it again") from None


def _need(table: pd.DataFrame, columns: Sequence[str], name: str) -> None:
    """Refuse a table that lacks what its publisher's has."""
    lacking = [column for column in columns if column not in table]
    if lacking:
        raise InputError(
            f"{name}: is not the table that was expected: {', '.join(map(repr, lacking))} missing among "
            f"{table.shape[1]} columns"
        )
