"""What in a cohort is allowed and still deserves a second look before the audit?"""

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution
from auditbook.intake.feature_cautions import warn_identifiers
from auditbook.intake.group_cautions import warn_missing, warn_support
from auditbook.intake.leaks import warn_leaks
from auditbook.intake.lookalikes import warn_names
from auditbook.intake.outcome_cautions import warn_outcome
from auditbook.intake.rule_cautions import warn_labels, warn_rules
from auditbook.intake.score_cautions import warn_scores
from auditbook.intake.site_cautions import warn_sites
from auditbook.intake.weight_cautions import warn_weights


def warn_cohort(cohort: Cohort) -> list[Caution]:
    """List what an auditor should look at before trusting an audit of this cohort."""
    cautions = [
        *warn_outcome(cohort),
        *warn_rules(cohort),
        *warn_sites(cohort),
        *warn_missing(cohort),
        *warn_names(cohort),
        *warn_support(cohort),
        *warn_scores(cohort),
        *warn_weights(cohort),
        *warn_labels(cohort),
    ]
    if cohort.file.panel.models or cohort.file.pockets.run:  # whatever learns from the features
        cautions += [*warn_identifiers(cohort), *warn_leaks(cohort)]
    return cautions
