"""What is the twin made of? Every number that is not a published count, with where it comes from."""

from dataclasses import dataclass
from typing import Annotated

RACES = ("American Indian", "Asian or Pacific Islander", "Black", "White", "Other or unknown")
SEXES = ("Male", "Female")
ETHNICITIES = ("Hispanic", "Not Hispanic")
AGE_BANDS = ("codes 0-4", "codes 5-9", "codes 10-14", "codes 15-21")
BAND_STARTS = (0, 5, 10, 15, 22)
# Codes 0-4 count as equally wide: children's stays crowd into the first year of life.
CODE_WIDTHS = (1, 1, 1, 1, 1, 3, 2, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5)
HOSPITALS = 441
LONG_STAY_DAYS = 3
SHARE_LONG = 0.450
LONGEST_STAY_DAYS = 180
STAY_STARTS = (1, 2, 3, 4, 5, 6, 8, 11, 16, 30)


@dataclass(frozen=True)
class AgeShape:
    """Ages within one published band: fitted to age codes by length of stay, read off a published figure."""

    # Linear and quadratic coefficient of log records a year of age, over the band scaled to -1..1
    density: tuple[float, float]
    # Intercept, linear and quadratic coefficient of the log odds of a long stay over the same scale
    long_stay: tuple[float, float, float]


@dataclass(frozen=True)
class HospitalKind:
    """One of three kinds of hospital, told apart by how often their stays are long: fitted."""

    # Log odds of the kind, against the acute kind, at 1,000 records a year and their change per log volume
    intercept: float
    slope: float
    # Mean and standard deviation, over hospitals, of the log odds of a long stay
    mean: float
    spread: float


@dataclass(frozen=True)
class DiagnosisGroup:
    """A family of synthetic diagnosis codes: assumed."""

    name: str  # What the family stands for
    codes: int  # How many codes it has
    # How common it is in each age band, relative to the other families
    weight: tuple[float, float, float, float]
    female: float  # Odds of the family for a woman against a man of the same age
    tilt: float  # Change of the family's log weight per unit of log length of stay
    # 0 medical, 1 surgical, 2 maternal: which procedures go with it and what they say about the stay
    kind: int
    urgency: float  # Log odds of an emergency admission


@dataclass(frozen=True)
class ProcedureFamily:
    """A family of synthetic procedure codes: assumed."""

    name: str  # What the family stands for
    codes: int  # How many codes it has
    weight: tuple[float, float, float]  # How common it is with medical, surgical and maternal diagnoses
    # Change of the family's log weight per unit of log length of stay, by kind of diagnosis
    tilt: tuple[float, float, float]
    fixed_cost: float  # Thousand dollars that the procedure adds, whatever the length of stay


@dataclass(frozen=True)
class Choice:
    """One answer of a small field (admission type, source, discharge status): assumed."""

    name: str  # The answer
    base: float  # Log weight for a stay of typical length, medium urgency and middle age
    # Change of the log weight per unit of log length of stay, and per unit squared
    tilt: float
    bend: float
    urgency: float  # Change of the log weight per unit of the diagnosis family's urgency
    # Change of the log weight from the youngest (-1) over the middle (0) to the oldest age code (1)
    age: float


@dataclass(frozen=True)
class Note:
    """Where a parameter comes from (fitted, planted or assumed), and what it means."""

    origin: str
    meaning: str


_STAY_CURVE = Note(
    "fitted", "Burr curve of the length of stay, 1 - (1 + (days/scale)^shape)^-tail, short and long alike."
)


@dataclass(frozen=True)
class Recipe:
    """All parameters of the twin; each says whether it is fitted, planted or assumed."""

    world_seed: Annotated[
        int,
        Note(
            "planted",
            "Fixes hospitals and codes, so that another seed draws other stays from the same world.",
        ),
    ]
    ages: Annotated[tuple[AgeShape, ...], Note("fitted", "Ages within the published bands.")]
    stay_scale: Annotated[float, _STAY_CURVE]
    stay_shape: Annotated[float, _STAY_CURVE]
    stay_tail: Annotated[float, _STAY_CURVE]
    stay_by_band: Annotated[
        tuple[float, float, float, float],
        Note(
            "planted",
            "Change of the log weight of a stay per unit of log days, among the short and among the long "
            "stays alike, in each age band. Where it is negative, fewer stays of three days face more stays "
            "of four, and a model selects more of the doubtful ones.",
        ),
    ]
    volume: Annotated[
        tuple[float, float, float, float],
        Note(
            "fitted",
            "Log volume = c0 sqrt(u) + c1 u + c2 u^2 + c3 u^3, u the hospital's rank scaled to 0..1.",
        ),
    ]
    hospital_kinds: Annotated[
        tuple[HospitalKind, ...], Note("fitted", "Acute, brief-stay and long-stay hospitals.")
    ]
    race_spread: Annotated[
        float, Note("planted", "Standard deviation over hospitals of the log weight of each race.")
    ]
    ethnicity_spread: Annotated[
        float, Note("planted", "Standard deviation over hospitals of the log odds of Hispanic ethnicity.")
    ]
    charge_level_spread: Annotated[
        float, Note("planted", "Standard deviation over hospitals of log charges.")
    ]
    diagnosis_spread: Annotated[
        float, Note("planted", "Standard deviation over codes of the tilt with log length of stay.")
    ]
    procedure_spread: Annotated[
        float,
        Note("planted", "The same for procedures, drawn anew for each kind of diagnosis: an interaction."),
    ]
    cost_spread: Annotated[
        float,
        Note(
            "planted",
            "Standard deviation over codes of log cost a day (diagnosis) and log fixed cost (procedure).",
        ),
    ]
    charge_noise: Annotated[float, Note("planted", "Standard deviation over records of log charges.")]
    daily_cost: Annotated[float, Note("assumed", "Thousand dollars a day.")]


DIAGNOSES = (
    DiagnosisGroup("perinatal", 10, (3.0, 0.0, 0.0, 0.0), 1.0, 0.4, 0, 0.5),
    DiagnosisGroup("childbirth", 30, (0.0, 30.0, 0.3, 0.0), 1e4, -0.9, 2, -0.5),
    DiagnosisGroup("infection", 20, (1.5, 0.5, 0.8, 1.2), 1.0, 0.5, 0, 1.0),
    DiagnosisGroup("neoplasm", 25, (0.5, 0.5, 1.8, 1.6), 1.1, 0.3, 1, -0.5),
    DiagnosisGroup("endocrine", 15, (0.8, 0.8, 1.2, 0.9), 1.2, -0.1, 0, 0.5),
    DiagnosisGroup("mental", 20, (0.3, 4.0, 2.5, 0.6), 0.9, 0.7, 0, 0.3),
    DiagnosisGroup("nervous system", 15, (0.8, 0.6, 0.6, 0.8), 1.0, 0.1, 0, 0.3),
    DiagnosisGroup("circulatory", 35, (0.2, 0.7, 4.0, 6.0), 0.8, -0.1, 0, 0.7),
    DiagnosisGroup("respiratory", 20, (4.5, 0.8, 1.6, 3.0), 1.0, 0.3, 0, 0.9),
    DiagnosisGroup("digestive", 25, (2.0, 2.2, 2.4, 2.0), 1.0, -0.2, 1, 0.4),
    DiagnosisGroup("genitourinary", 20, (0.8, 1.5, 2.0, 1.2), 1.8, -0.4, 1, -0.2),
    DiagnosisGroup("musculoskeletal", 20, (0.4, 0.6, 1.8, 1.6), 1.1, -0.1, 1, -1.0),
    DiagnosisGroup("injury", 30, (1.5, 2.2, 1.4, 1.6), 0.7, 0.0, 1, 1.0),
    DiagnosisGroup("aftercare", 10, (0.2, 0.2, 0.6, 1.5), 1.0, 1.2, 0, -1.2),
    DiagnosisGroup("symptoms", 15, (0.8, 0.9, 1.5, 1.1), 1.0, -0.8, 0, 0.8),
)

PROCEDURES = (
    ProcedureFamily("none", 1, (5.0, 0.8, 0.5), (-0.3, 0.3, 0.2), 0.0),
    ProcedureFamily("delivery", 8, (0.0, 0.0, 5.0), (0.0, 0.0, -0.6), 3.0),
    ProcedureFamily("caesarean", 3, (0.0, 0.0, 3.0), (0.0, 0.0, 0.9), 8.0),
    ProcedureFamily("imaging", 15, (2.0, 0.8, 0.3), (0.1, 0.4, 0.5), 2.0),
    ProcedureFamily("endoscopy", 12, (1.0, 0.8, 0.0), (0.2, -0.3, 0.0), 3.0),
    ProcedureFamily("catheter", 12, (1.2, 0.2, 0.0), (-0.9, 0.2, 0.0), 22.0),
    ProcedureFamily("minor surgery", 18, (0.3, 2.2, 0.5), (0.5, -0.9, 0.1), 9.0),
    ProcedureFamily("major surgery", 20, (0.2, 2.4, 0.1), (1.0, 0.3, 0.8), 28.0),
    ProcedureFamily("access line", 6, (0.7, 0.4, 0.0), (1.2, 1.2, 0.0), 4.0),
    ProcedureFamily("ventilation", 4, (0.3, 0.1, 0.0), (0.9, 1.0, 0.0), 18.0),
    ProcedureFamily("therapy", 6, (0.6, 0.2, 0.0), (1.1, 0.7, 0.0), 1.0),
)

ADMISSION_TYPES = (
    Choice("Emergency", 0.6, 0.15, 0.0, 0.8, 0.1),
    Choice("Urgent", 0.1, 0.1, 0.0, 0.1, 0.0),
    Choice("Elective", 0.2, -0.35, 0.0, -0.9, -0.1),
    Choice("Trauma centre", -3.0, 0.2, 0.0, 0.9, -0.6),
    Choice("Not stated", -4.5, 0.0, 0.0, 0.0, 0.0),
)

ADMISSION_SOURCES = (
    Choice("Physician referral", 0.8, -0.15, 0.0, -0.4, 0.0),
    Choice("Emergency room", 0.7, 0.15, 0.0, 0.7, 0.2),
    Choice("Clinic referral", -2.0, -0.1, 0.0, -0.3, -0.2),
    Choice("Transfer from a hospital", -1.8, 0.5, 0.0, 0.1, 0.1),
    Choice("Transfer from a nursing facility", -3.2, 0.4, 0.0, 0.1, 1.6),
    Choice("Other or not stated", -2.6, 0.0, 0.0, 0.0, 0.0),
)

DISCHARGE_STATUSES = (
    Choice("Home", 2.6, -0.7, 0.0, 0.0, -0.5),
    Choice("Home health care", -0.3, 0.5, -0.1, 0.0, 0.8),
    Choice("Skilled nursing facility", -1.4, 0.9, -0.15, 0.0, 2.6),
    Choice("Rehabilitation or other facility", -1.3, 0.7, 0.0, 0.0, 0.9),
    Choice("Another hospital", -1.9, -0.5, 0.25, 0.3, 0.2),
    Choice("Died", -2.4, 0.1, 0.35, 0.3, 1.2),
    Choice("Hospice", -3.0, 0.4, 0.0, 0.0, 1.8),
    Choice("Left against advice", -3.0, -1.0, 0.0, 0.3, -0.6),
)

RECIPE = Recipe(
    world_seed=20060101,
    ages=(
        AgeShape(density=(0.006, -0.064), long_stay=(-0.240, 0.078, -0.344)),
        AgeShape(density=(0.382, -0.534), long_stay=(-1.499, -0.021, 0.358)),
        AgeShape(density=(0.192, 0.044), long_stay=(-0.341, 0.450, -0.080)),
        AgeShape(density=(-0.597, -0.708), long_stay=(0.495, 0.484, 0.106)),
    ),
    stay_scale=3.086,
    stay_shape=2.166,
    stay_tail=0.794,
    stay_by_band=(0.0, -1.0, 0.0, 0.6),
    volume=(-4.712, 5.092, -13.352, 6.975),
    hospital_kinds=(
        HospitalKind(0.0, 0.0, -0.230, 0.399),
        HospitalKind(-1.259, -1.656, -1.055, 1.235),
        HospitalKind(-2.912, -2.855, 3.916, 0.610),
    ),
    race_spread=0.6,
    ethnicity_spread=1.0,
    charge_level_spread=0.1,
    diagnosis_spread=0.53,
    procedure_spread=0.85,
    cost_spread=0.12,
    charge_noise=0.12,
    daily_cost=1.2,
)
