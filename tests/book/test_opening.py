"""Opening a finished run: what a chapter's first cell brings in."""

import subprocess
import sys

SETUP = """\
import sys
from auditbook.book import open_run
from auditbook.book.draw import metrics, scores, sites, tiers, verdicts
from auditbook.book.say import audit, cohort, metrics, panel, scores, sites, tiers, verdicts
from auditbook.book.say import auc_fairness, auc_matrix, calibration, collapsibility
run = open_run(sys.argv[1])
print(*sorted(sys.modules))
"""
HEAVY = {
    "catboost",
    "igraph",
    "joblib",
    "lightgbm",
    "papermill",
    "scipy.optimize",
    "scipy.stats",
    "seaborn",
    "sklearn",
    "statsmodels",
    "xgboost",
}
"""What takes longer to import than a finished run takes to open; a function that needs it imports it."""


def test_a_chapter_that_only_shows_a_run_imports_nothing_that_trains_or_fits(run_folders):
    call = [sys.executable, "-c", SETUP, str(run_folders["nine_groups"])]
    ended = subprocess.run(call, capture_output=True, text=True, check=True)
    assert HEAVY & set(ended.stdout.split()) == set()
