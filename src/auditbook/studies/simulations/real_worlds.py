r"""Which worlds have real covariates: heart-failure stays, and stays of people with diabetes.

Only the outcome is simulated. Boosted trees are fitted once to the real outcome of all records; what they
predict is from then on the true risk, from which every replicate draws new outcomes. The region was fixed
before anything was run. Records are drawn anew from the table for each replicate. The tables are not part of
the project; without the folder that holds them these worlds cannot be run.
"""

from functools import cache, partial
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.pocket_settings import UnitKind
from auditbook.pockets import fit_encoding
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.worlds import Array, Drawn, Records, World, make_records, plan_plants

SUPPORTED, RETURNING = "organ support", "earlier stays"
STAYS_FILE, DIABETES_FILE = "sparcs_hf_2024.parquet", "diabetes130.parquet"
SHARES = (0.3, 0.3)
"""Discovery and audit, of the units; the rest is development, which nothing is fitted on."""
TREES = {"num_leaves": 15, "learning_rate": 0.05, "min_data_in_leaf": 100, "seed": 1}
ROUNDS = 150
STAY_FEATURES = (
    "age_group sex admission_type ccsr_dx_code apr_severity_code apr_mortality_risk payer_primary "
    "payer_secondary proc_group health_service_area"
).split()
VISIT_FEATURES = (
    "age gender admission_type_id admission_source_id discharge_disposition_id time_in_hospital "
    "num_lab_procedures num_procedures num_medications number_outpatient number_emergency number_inpatient "
    "number_diagnoses max_glu_serum A1Cresult metformin insulin change diabetesMed"
).split()
CODED = ("admission_type_id", "admission_source_id", "discharge_disposition_id")
"""Numbers that name something."""
GONE = (11, 13, 14, 19, 20, 21)
"""Discharge to a hospice, or by death: nobody comes back."""


def read_stays(folder: Path) -> tuple[pd.DataFrame, Array, NDArray[np.bool_], NDArray[np.bool_], pd.Series]:
    """Read heart-failure stays: will the stay last longer than a week?

    Planted truth: stays with organ or respiratory support, a fifth of all. Focal: Black patients, a quarter.
    Expected difficulty: every feature is a category, and support is only one of several that matter.
    """
    stays = _read(folder, STAYS_FILE)
    long = (stays["los"] > 7).to_numpy(np.float64)
    focal = (stays["race_group"] == "Black/African American").to_numpy(bool)
    region = (stays["proc_group"] == "organ_or_respiratory_support").to_numpy(bool)
    return stays[STAY_FEATURES], long, focal, region, stays["hospital_id"]


def read_visits(folder: Path) -> tuple[pd.DataFrame, Array, NDArray[np.bool_], NDArray[np.bool_], pd.Series]:
    """Read stays of people with diabetes: will they be back within thirty days?

    Planted truth: two or more stays in the year before. Focal: African American patients, a fifth. Expected
    difficulty: the number of earlier stays is the strongest feature, so that whatever follows the risk finds
    the region.
    """
    visits = _read(folder, DIABETES_FILE)
    visits = visits[~visits["discharge_disposition_id"].isin(GONE)]
    table = visits[VISIT_FEATURES].astype({name: str for name in CODED})
    back = (visits["readmitted"] == "<30").to_numpy(np.float64)
    focal = (visits["race"] == "AfricanAmerican").to_numpy(bool)
    region = (visits["number_inpatient"] >= 2).to_numpy(bool)
    return table, back, focal, region, visits["patient_nbr"]


def _read(folder: Path | None, name: str) -> pd.DataFrame:
    """Read one of the tables."""
    path = None if folder is None else Path(folder) / name
    if path is None or not path.is_file():
        where = "no folder with real tables was named" if path is None else f"{path} is missing"
        raise InputError(f"{where}; worlds with real covariates need {name}")
    return pd.read_parquet(path)


_READERS = {STAYS_FILE: (read_stays, SUPPORTED), DIABETES_FILE: (read_visits, RETURNING)}


@cache
def load_real(folder: Path, file: str) -> Records:
    """Read a table and fit the model that outcomes are simulated from; once in each process."""
    read, region = _READERS[file]
    table, outcome, focal, inside, unit = read(folder)
    features = fit_encoding(table).encode(table)
    settings = {
        **TREES,
        "objective": "binary",
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    fitted = lightgbm.train(settings, lightgbm.Dataset(features, outcome), ROUNDS)
    return make_records(
        table,
        outcome,
        np.asarray(fitted.predict(features, num_threads=1), np.float64),
        focal=focal,
        regions={region: inside.astype(np.int8)},
        continuous=False,
        unit=pd.factorize(unit)[0],
        unit_kind="unit",
    )


def draw_real(
    rng: np.random.Generator, sizes: Sizes, folder: Path | None, *, file: str, unit_kind: UnitKind
) -> Drawn:
    """Draw records of a real table and new outcomes for them."""
    if folder is None:
        _read(None, file)
    known = load_real(Path(folder or "."), file)
    unit = np.arange(len(known.risk)) if unit_kind == "record" else known.data.unit
    names = rng.permutation(int(unit.max()) + 1)
    held = [round(share * len(names)) for share in SHARES]
    graph_units = held[0] - round(sizes.calibration * held[0])
    role = np.full(len(names), 3)
    role[names[: sum(held)]] = np.repeat([0, 1, 2], [graph_units, held[0] - graph_units, held[1]])
    calibration = round(sizes.calibration * sizes.binary)
    most = (sizes.binary - calibration, calibration, sizes.binary_audit)
    parts = [_thin(np.flatnonzero(role[unit] == part), count, rng) for part, count in enumerate(most)]
    outcome = (rng.random(len(unit)) < known.risk).astype(np.float64)
    records = _renew(known, outcome, unit, unit_kind)
    return Drawn(
        records.take(np.concatenate(parts[:2])),
        np.arange(len(parts[0])),
        np.arange(len(parts[0]), len(parts[0]) + len(parts[1])),
        records.take(parts[2]),
    )


def _thin(positions: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Keep at most some of the records, at random, in their order."""
    return np.sort(rng.choice(positions, min(most, len(positions)), replace=False))


def _renew(known: Records, outcome: Array, unit: NDArray[np.integer], unit_kind: UnitKind) -> Records:
    """Give all records new outcomes, and the units that this split goes by."""
    return make_records(
        known.data.table,
        outcome,
        known.risk,
        focal=known.data.attributes[0].codes == 0,
        regions=known.regions,
        continuous=False,
        unit=unit,
        unit_kind=unit_kind,
    )


STAYS = World(
    "stays",
    False,
    partial(draw_real, file=STAYS_FILE, unit_kind="record"),
    plan_plants(gaps=(SUPPORTED,), errors=()),
    STAYS_FILE,
)
HOSPITALS = World(
    "stays by hospital",
    False,
    partial(draw_real, file=STAYS_FILE, unit_kind="site"),
    plan_plants(gaps=(SUPPORTED,), errors=()),
    STAYS_FILE,
)
DIABETES = World(
    "diabetes",
    False,
    partial(draw_real, file=DIABETES_FILE, unit_kind="unit"),
    plan_plants(gaps=(RETURNING,), errors=()),
    DIABETES_FILE,
)
REAL = (STAYS, HOSPITALS, DIABETES)
