"""Which records, outcome, groups and sites does a cohort file name?"""

from auditbook.cohort.cohort import STANDS, LeftOut, Unplaced
from auditbook.cohort.column_roles import MISSING_GROUP, derive_outcome
from auditbook.cohort.column_series import Series, join_series
from auditbook.cohort.data_files import hash_files, name_files
from auditbook.cohort.describe import (
    ID_SHARE,
    GroupSizes,
    summarise_columns,
    summarise_groups,
    summarise_sites,
    tabulate_sites,
    tabulate_sizes,
)
from auditbook.cohort.events import Event
from auditbook.cohort.feature_columns import find_features
from auditbook.cohort.file import ScoreTable, name_lean
from auditbook.cohort.given_format import read_format, tell_option
from auditbook.cohort.learned_columns import compared_columns, list_learned, map_columns
from auditbook.cohort.load import (
    Cohort,
    CohortFile,
    Source,
    find_database,
    find_query,
    list_data_faults,
    list_text_columns,
    load_cohort,
    read_cohort_file,
    read_source,
)
from auditbook.cohort.named_columns import check_columns
from auditbook.cohort.new_groups import find_new_groups
from auditbook.cohort.number_advice import write_numbers
from auditbook.cohort.part import CohortPart, name_needed, read_part, settle_attributes
from auditbook.cohort.pocket_keys import fits_anything, name_mapped, name_models
from auditbook.cohort.predictions import Predictions
from auditbook.cohort.recode import describe_cells, list_numbers, missing_words, recode_new, recode_table
from auditbook.cohort.rules import list_reasons
from auditbook.cohort.schema import AttributeTable, Direction, MitigationTable, OutcomeTable
from auditbook.cohort.sound_part import SoundPart, read_sound_part
from auditbook.cohort.survey_names import SurveyColumn, find_survey_columns
from auditbook.cohort.twins import FULL_SIZES
from auditbook.cohort.units import join_sites, name_units
from auditbook.cohort.windows import Window, Windowed, find_windows, read_day, refuse_days_to_come
