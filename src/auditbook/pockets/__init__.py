"""Where is a model miscalibrated, and for whom: maps learned from the outcome, frozen, then tested?"""

from auditbook.pockets.audit import PocketResults, leave_pockets_out, make_pockets
from auditbook.pockets.centres import CentreRule, cluster_places, fit_design
from auditbook.pockets.combining import COMBINED
from auditbook.pockets.composition import ABSTAINED, bound_split
from auditbook.pockets.contributions import Contributions
from auditbook.pockets.data import Contrast, PocketData, declare_contrasts
from auditbook.pockets.discovery import discover_maps
from auditbook.pockets.encoding import Encoding, fit_encoding, load_encoding
from auditbook.pockets.families import OVERALL, Family
from auditbook.pockets.findings import (
    Pattern,
    bound_alone,
    count_support,
    errs_as_a_whole,
    find_pattern,
    holds_nearly_all,
    is_true,
    list_review,
    name_kinds,
    pick_flagged,
    share_in_flagged,
)
from auditbook.pockets.forest import Forest
from auditbook.pockets.frozen import ABSTAIN, Assignment, FrozenMap, Rule
from auditbook.pockets.hierarchy import (
    choose_level,
    count_supported,
    place_loose,
    project_calibration,
    tidy_partitions,
)
from auditbook.pockets.leiden import part_graph
from auditbook.pockets.neighbours import link_mutual
from auditbook.pockets.profiles import ForestRule, freeze_profiles
from auditbook.pockets.repair import list_findings, summarise_repairs
from auditbook.pockets.saving import load_map, save_map
from auditbook.pockets.testing import audit_map, draw_families, find_levels
from auditbook.pockets.wild_bootstrap import adjusted_p, bound_estimates, max_t_critical_value, standardise
