"""What of a run may others see: which counts of people are small, and which others would give them away?"""

from auditbook.privacy.complements import Cells, find_determined, withhold
from auditbook.privacy.groups import Layout, is_small, lay_out
from auditbook.privacy.protect import SMALLEST_CELL, WITHHELD, protect_run, read_smallest
