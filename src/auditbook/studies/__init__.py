"""What does a method do when the truth is known, and what do printed tables look like made again?"""

from auditbook.studies.capstone import check_answers, tell_answers, write_capstone
from auditbook.studies.simulations.command import SEED, simulate
