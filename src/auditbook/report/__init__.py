"""What does a board get on its desk: one page to act on, an annex, a print, and the forms to hand in?"""

from auditbook.report.build import build_report
from auditbook.report.content import QUESTIONS, Report
from auditbook.report.finding import tell_finding
from auditbook.report.handins import FORMS, export_run
from auditbook.report.page import make_fragment, make_page
from auditbook.report.to_json import write_json
from auditbook.report.writing import write_report
