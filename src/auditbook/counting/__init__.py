"""Which counts does a cohort come to, of whatever length its table is?"""

from auditbook.counting.choose import FROM_ROWS, is_counted
from auditbook.counting.count import CountedCohort, count_cohort, hash_connected, settle_count
from auditbook.counting.obstacles import find_obstacles
from auditbook.counting.part import CountedPart, add_parts, count_part
from auditbook.counting.sample import SAMPLE_ROWS, draw_sample
