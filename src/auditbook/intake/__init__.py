"""What does a table say of itself: a drafted cohort file, and what deserves a second look before an audit?"""

from auditbook.intake.cautions import warn_cohort
from auditbook.intake.draft import draft_cohort
