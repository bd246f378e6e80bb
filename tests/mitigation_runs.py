"""Small cohorts with baselines and their robustness made, as a run makes them."""

from auditbook.cohort.load import load_cohort, read_cohort_file
from auditbook.mitigation.baselines import make_baselines
from auditbook.mitigation.robustness import make_robustness
from auditbook.run.tables import make_tables
from auditbook.scoring.panel import ModelConfig
from auditbook.scoring.score import score_cohort
from cohorts import write_cohort

SWEEP = (
    "[mitigation]\nstrengths = [1, 2]\nheadrooms = [0, 0.05]\n"
    "[protocol]\nresamples = 60\nsite_folds = 4\nmin_records = 20\nmin_events = 3\nmin_non_events = 3\n"
)
SMALL = "[mitigation]\nstrengths = [2]\nheadrooms = [0]\n[protocol]\nresamples = 60\n"
LOGISTIC = ModelConfig(
    "logistic", "Logistic regression", "linear", "sklearn.linear_model.LogisticRegression", scale=True
)
TEXT = """
outcome = { column = "outcome", event = "Yes" }
[missing]
attributes = "group"
[features]
exclude = ["visit", "patient", "hospital"]
[attributes.sex]
column = "sex"
"""
SETTINGS = """
[mitigation]
strengths = [2]
headrooms = [0]
[protocol]
metrics = ["DI", "EOPP", "TI"]
resamples = 30
site_folds = 4
min_records = 20
min_events = 3
min_non_events = 3
"""
CROSSED = SETTINGS.replace("[mitigation]", '[mitigation]\nattributes = ["race", "sex"]')
LATE = '[features]\nexclude = ["visit"]\nlate = ["pulse, at rest", "ward"]\n'


def mitigate(path, tmp_path, *, refits=None, panel=None):
    file = read_cohort_file(path)
    cohort = load_cohort(file, cache_dir=tmp_path)
    scored = score_cohort(cohort, protocol=file.protocol, cache_dir=tmp_path, panel=panel)
    tables = make_baselines(
        cohort, scored, protocol=file.protocol, cache_dir=tmp_path, refits=refits, panel=panel
    )
    return cohort, scored, tables


def prepare(path, folder, *, refits=None, panel=None):
    """Make what a run makes before this step."""
    file = read_cohort_file(path)
    cohort = load_cohort(file, cache_dir=folder)
    scored = score_cohort(cohort, protocol=file.protocol, cache_dir=folder, panel=panel)
    tables = make_tables(cohort, scored, file.protocol)
    call = {"protocol": file.protocol, "cache_dir": folder, "refits": refits, "panel": panel}
    return cohort, scored, tables | make_baselines(cohort, scored, **call), call


def check_robustness(path, folder, **options):
    cohort, scored, tables, call = prepare(path, folder, **options)
    return cohort, scored, tables, make_robustness(cohort, scored, tables, **call)


def write_late(folder, **options):
    path = write_cohort(folder, groups=2, sites=12, scores=0, extra=CROSSED, **options)
    path.write_text(path.read_text().replace('[features]\nexclude = ["visit"]\n', LATE))
    return path
