"""What does a table say of itself: a drafted cohort file, and what deserves a second look before an audit?"""

from auditbook.intake.caution import Caution
from auditbook.intake.cautions import warn_cohort
from auditbook.intake.draft import draft_cohort
from auditbook.intake.draft_questions import ask_roles
from auditbook.intake.shared_keys import tell_shared_keys
from auditbook.intake.table_cautions import warn_table
from auditbook.intake.told_values import tell_values
