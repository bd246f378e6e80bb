"""Does a model pass, and what is shown of it: metrics, contrasts, flip rates, sizes, sites, tiers?"""

from auditbook.verdicts.additive_rates import code_parts
from auditbook.verdicts.audit_size import find_n_star, list_n_star, sweep_counts
from auditbook.verdicts.base_rates import has_support
from auditbook.verdicts.board import (
    CONTRAST,
    Board,
    Change,
    GroupRates,
    compare_bounded,
    difference_bounded,
    find_board,
    list_watched_rates,
    measure_group_rates,
    standard_error,
)
from auditbook.verdicts.cell_verdicts import predict_next
from auditbook.verdicts.chance import bound_spread
from auditbook.verdicts.flip_sweeps import disagreement
from auditbook.verdicts.flips import FlipRate, flip_rate, resample_values, summarise_resamples
from auditbook.verdicts.forecast import LEAST_SITES, SIZES, check_flips
from auditbook.verdicts.forecast_summary import compare_halves, select_bin, select_way
from auditbook.verdicts.formulas import ratio
from auditbook.verdicts.group_table import bound_rate, judge_counts, tabulate_groups
from auditbook.verdicts.impact_ratios import ImpactRatios, compare_with_highest, count_above_median
from auditbook.verdicts.judgement import Judgement, judge
from auditbook.verdicts.label_change import compare_labels
from auditbook.verdicts.metrics import METRICS, TIE, Metric, find_metric
from auditbook.verdicts.missing_groups import bound_missing_attribute
from auditbook.verdicts.model_agreement import compare_models, count_flips
from auditbook.verdicts.named_missing import find_named_missing
from auditbook.verdicts.pooled_rates import PooledRates, pool_rates, tabulate_pooled_rates
from auditbook.verdicts.questions import (
    RATE_QUESTIONS,
    count_affected,
    find_error_free,
    list_uncompared,
    mark_questions,
    pick_shown,
)
from auditbook.verdicts.rate_intervals import tabulate_rates
from auditbook.verdicts.sensitivity import TIER_COUNTS, vary_constants
from auditbook.verdicts.shown import (
    METRIC_QUANTITIES,
    adjust_holm,
    name_bin,
    name_shown,
    pick_deciding,
    show_cells,
)
from auditbook.verdicts.site_agreement import DEFINED, NOT_RATED, UNDEFINED, list_folds
from auditbook.verdicts.site_folds import Folds, name_folds, plan_folds
from auditbook.verdicts.size_needs import CLEAR, bound_pass_shares
from auditbook.verdicts.size_to_show import judge_reach
from auditbook.verdicts.standing import STANDINGS
from auditbook.verdicts.support import find_obstacles, find_shortfalls, lack_support
from auditbook.verdicts.tiers import NEEDS, TIERS, assign_tiers, name_need, recommend
from auditbook.verdicts.tipping_points import find_tipping_points
