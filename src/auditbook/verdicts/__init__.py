"""Does a model pass, and how far can each verdict be trusted: metrics, flip rates, sizes, sites, tiers?"""

from auditbook.verdicts.audit_size import (
    find_n_star,
    list_n_star,
    sweep_counts,
)
from auditbook.verdicts.chance import bound_spread
from auditbook.verdicts.flips import (
    FlipRate,
    flip_rate,
    resample_values,
    summarise_resamples,
)
from auditbook.verdicts.forecast import (
    AUDITS,
    LEAST_SITES,
    SIZES,
    check_flips,
)
from auditbook.verdicts.forecast_compare import (
    Rule,
    measure_halvings,
)
from auditbook.verdicts.forecast_draw import (
    HalfDraws,
    audit_halves,
    resample_freely,
    resample_halves,
)
from auditbook.verdicts.formulas import ratio
from auditbook.verdicts.group_table import tabulate_groups
from auditbook.verdicts.judgement import Judgement, judge
from auditbook.verdicts.metrics import (
    METRICS,
    TIE,
    Metric,
    find_metric,
)
from auditbook.verdicts.sensitivity import (
    TIER_COUNTS,
    vary_constants,
)
from auditbook.verdicts.site_agreement import (
    DEFINED,
    NOT_RATED,
    UNDEFINED,
    share_folds,
)
from auditbook.verdicts.site_folds import (
    Folds,
    name_folds,
    plan_folds,
)
from auditbook.verdicts.standing import STANDINGS, find_doubts
from auditbook.verdicts.support import (
    find_obstacles,
    find_shortfalls,
    lack_support,
)
from auditbook.verdicts.tiers import (
    TIERS,
    assign_tiers,
    recommend,
)
