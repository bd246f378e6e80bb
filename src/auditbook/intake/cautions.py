"""What in a cohort is allowed and still deserves a second look before the audit?"""

from auditbook.cohort import Cohort, list_learned
from auditbook.intake.base_rate_cautions import warn_base_rates
from auditbook.intake.caution import Caution
from auditbook.intake.feature_cautions import warn_features
from auditbook.intake.group_cautions import warn_missing, warn_support
from auditbook.intake.late_cautions import warn_late
from auditbook.intake.leak_cautions import warn_leaks
from auditbook.intake.lookalike_cautions import (
    warn_alike_codes,
    warn_alike_groups,
    warn_alike_sites,
    warn_alike_units,
)
from auditbook.intake.outcome_cautions import warn_outcome
from auditbook.intake.prediction_cautions import warn_predictions
from auditbook.intake.rule_cautions import warn_labels, warn_rules
from auditbook.intake.score_cautions import warn_scores
from auditbook.intake.site_cautions import warn_sites
from auditbook.intake.unit_cautions import warn_units
from auditbook.intake.weight_cautions import warn_survey, warn_weights


def warn_cohort(cohort: Cohort) -> list[Caution]:
    """List what an auditor should look at before trusting an audit of this cohort.

    Parameters
    ----------
    cohort : Cohort
        What `load_cohort` returned.

    Returns
    -------
    list of Caution
        What may make numbers wrong comes first: leaks, names, units; then what makes them few.
    """
    learned = list_learned(cohort)
    return [
        *warn_outcome(cohort),
        *warn_leaks(cohort, learned),
        *warn_late(cohort, learned),
        *warn_features(cohort, learned),
        *warn_rules(cohort),
        *warn_alike_codes(cohort),
        *warn_alike_groups(cohort),
        *warn_alike_sites(cohort),
        *warn_alike_units(cohort),
        *warn_units(cohort),
        *warn_predictions(cohort),
        *warn_sites(cohort),
        *warn_missing(cohort),
        *warn_support(cohort),
        *warn_base_rates(cohort),
        *warn_scores(cohort),
        *warn_survey(cohort),
        *warn_weights(cohort),
        *warn_labels(cohort),
    ]
