"""Where do the scores come from: given columns, or the panel of models trained here?"""

from auditbook.scoring.features import (
    LARGEST,
    NEARLY_DISTINCT,
    Features,
    Kind,
    build_features,
    column_kind,
    read_days,
    read_floats,
)
from auditbook.scoring.lead_times import tabulate_lead_times
from auditbook.scoring.panel import ModelConfig, choose_models, read_panel
from auditbook.scoring.score import (
    ModelInfo,
    ScoredCohort,
    bin_scores,
    describe_given,
    percentile_threshold,
    read_given,
    score_cohort,
    summarise_models,
    take_records,
)
from auditbook.scoring.split import MIN_TRAIN_EVENTS, Split, split_units
from auditbook.scoring.tallied import bin_tallied_scores, summarise_tallied_models
from auditbook.scoring.train import Training, takes_weights, train_panel, train_scores
from auditbook.scoring.unplaced import count_lacking, count_unplaced
