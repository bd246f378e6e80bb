"""What does a learner audit at the end of the course, and how near are her answers to what was planted?"""

from auditbook.studies.capstone.answers import Answer, check_answers, tell_answers
from auditbook.studies.capstone.command import write_capstone
