"""What do records say, counted once: tables of counts, sums and areas, their resamples and intervals?"""

from auditbook.evidence.add_tallies import add_tallies, list_differences
from auditbook.evidence.agreement import (
    correlate_ranks,
    count_passes,
    fleiss_kappa,
    gwet_ac1,
    jackknife_kappa,
    name_band,
    raw_agreement,
)
from auditbook.evidence.area_limits import (
    AreaInfluence,
    ClusteredAreas,
    area_influence,
    area_limits,
    cluster_areas,
    count_worth,
)
from auditbook.evidence.areas import group_auc
from auditbook.evidence.auroc import Discrimination, estimate_auroc, estimate_tallied_auroc
from auditbook.evidence.benefit_moments import BenefitMoments
from auditbook.evidence.bin_error import BinError, BinnedLabel, measure_bin_error, place_parts
from auditbook.evidence.binned_groups import (
    BinnedGroups,
    bin_groups,
    find_within,
    list_settled,
    place_groups,
    sum_values,
    take_steps,
)
from auditbook.evidence.bundles import UnitBundles, bundle_units, find_design_effects
from auditbook.evidence.check import check_records
from auditbook.evidence.clusters import (
    LARGEST_SHARE,
    LEAST_CLUSTERS,
    LEAST_EFFECTIVE,
    Clusters,
    ClusterSpread,
    alone_spread,
    count_clusters,
    count_equal_clusters,
    explain_fence,
    interleave_spreads,
    join_df,
    lift_left_out,
    measure_overlap,
    measure_spread,
    pair_clusters,
    sum_powers,
)
from auditbook.evidence.counts import (
    FN,
    FP,
    TN,
    TP,
    Counts,
    accuracy,
    check_binary,
    count_groups,
    count_sites,
    event_rate,
    false_positive_rate,
    positive_predictive_value,
    rate,
    selection_rate,
    stratum_sizes,
    true_positive_rate,
    weigh_groups,
)
from auditbook.evidence.group_clusters import GroupClusters, join_bins
from auditbook.evidence.intervals import (
    Z_95,
    Interval,
    add_share,
    f1_interval,
    flip_interval,
    percentile_interval,
    rate_events,
    ratio_interval,
    wilson_interval,
)
from auditbook.evidence.kinds import Evidence, Kind, Subsamples, each_model
from auditbook.evidence.limits import (
    AREA,
    FIXED,
    MEAN,
    SHARE,
    Bounded,
    mover_bounds,
    share_limits,
    student_quantile,
)
from auditbook.evidence.placements import (
    PlacementSums,
    ScoreLevels,
    SiteSums,
    rank_levels,
    sum_bin_placements,
    sum_placements,
)
from auditbook.evidence.prepare import (
    Prepared,
    PreparedGroups,
    prepare,
    settle_groups,
    settle_sites,
    settle_units,
)
from auditbook.evidence.resample import allocate_strata, draw_counts, open_stream
from auditbook.evidence.score_bins import bound_quality
from auditbook.evidence.score_cells import ScoreCells
from auditbook.evidence.score_sums import (
    N_BINS,
    OrderedScores,
    ScoreSums,
    assign_bins,
    blank_sums,
    order_scores,
    sum_scores,
)
from auditbook.evidence.site_spread import measure_site_spread
from auditbook.evidence.subsample import subsample_counts
from auditbook.evidence.support import (
    COUNTED,
    SELECTED,
    Shortfall,
    count_held,
    count_minima,
    find_short_groups,
    list_shortfalls,
    name_shortfall,
    withhold_held,
    write_shortfalls,
    write_worth,
)
from auditbook.evidence.survey import Design, Replicates, count_effective, draw_replicates, settle_design
from auditbook.evidence.tally import (
    FINE_BINS,
    UNIT,
    BinnedScores,
    TalliedAttribute,
    TalliedModel,
    TalliedParts,
    TalliedUnits,
    Tally,
    cut_ranks,
    list_edges,
    list_runs,
)
from auditbook.evidence.tally_groups import (
    Audited,
    AuditedGroups,
    PreparedTally,
    TalliedGroups,
    prepare_tally,
)
from auditbook.evidence.tally_model import take_model
from auditbook.evidence.tally_records import find_bins, tally_records
from auditbook.evidence.weighted_areas import survey_areas, weigh_areas
from auditbook.evidence.weighted_groups import WeightedGroups
