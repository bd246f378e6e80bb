"""What does it cost to make a failing verdict pass, and does it hold on records that nobody has seen?"""

from auditbook.mitigation.assessment import di_column, kappa_column
from auditbook.mitigation.baselines import make_baselines
from auditbook.mitigation.protocols import AUDIT, SINGLE, VALIDATION
from auditbook.mitigation.reweighing import weighted_event_rates
from auditbook.mitigation.robustness import (
    LEAN,
    OTHER_SEED,
    VARIATIONS,
    make_robustness,
    vary_audit,
    vary_models,
)
