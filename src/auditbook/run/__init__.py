"""How does a cohort become a finished run: steps, tables, chapters, pages?"""

from auditbook.run.assign import assign_file
from auditbook.run.check import check_request
from auditbook.run.compare import CompareRequest, compare_folders
from auditbook.run.contents import chapter_names
from auditbook.run.handover import HandedOver, write_counts
from auditbook.run.plan import Request, load_planned, plan_run
from auditbook.run.pockets import run_pockets
from auditbook.run.pooled import pool_files
from auditbook.run.runner import run_audit, run_book
from auditbook.run.watch import WatchedFolder, WatchRequest, watch_cohort
