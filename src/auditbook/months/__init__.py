"""What has changed: between two audits, and from month to month with an error that holds at every look?"""

from auditbook.months.changes import (
    compare_streams,
    limit_changes,
    look_at_changes,
    measure_streams,
    run_length,
)
from auditbook.months.compare import Comparison, compare_runs
from auditbook.months.compare_page import tell_comparison, write_comparison_page
from auditbook.months.differences import Paired
from auditbook.months.draw import draw_watch
from auditbook.months.gaps import look_at_gaps
from auditbook.months.ledger import Ledger, read_ledger, write_ledger
from auditbook.months.mixture import boundary, log_mixture
from auditbook.months.setups import ModelPair, pair_models, same_data
from auditbook.months.watch import Definition, Stream, count_late, watch_windows
from auditbook.months.watch_page import Watched, summarise_watch, tell_watch, write_watch_page
