"""Which records, outcome, groups and sites does a cohort file name, and what is odd about them?"""

from auditbook.cohort.column_roles import MISSING_GROUP
from auditbook.cohort.describe import summarise_columns, summarise_groups, summarise_sites
from auditbook.cohort.draft import draft_cohort
from auditbook.cohort.file import ScoreTable, name_lean
from auditbook.cohort.load import Cohort, CohortFile, load_cohort, read_cohort_file, warn_cohort
from auditbook.cohort.pocket_keys import fits_anything, name_mapped, name_models
from auditbook.cohort.read_table import read_table_file
from auditbook.cohort.schema import MitigationTable
from auditbook.cohort.twins import FULL_SIZES
from auditbook.cohort.values import as_numbers, as_text, is_missing
