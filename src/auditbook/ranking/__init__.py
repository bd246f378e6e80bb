"""Whom does a score put above whom, and is it calibrated: areas by groups, parity, comparison of models?"""

from auditbook.ranking.area_metrics import AUC_METRICS, assess_parity
from auditbook.ranking.calibration import bound_gaps, fit_calibration
from auditbook.ranking.calibration_reading import (
    AGREE,
    CAL_ALONE,
    FITS_ALONE,
    NO_CAL,
    NO_FITS,
    NULL,
    rescale_score,
)
from auditbook.ranking.collapsibility import (
    PERFORMANCE,
    Sample,
    compare_intercept_weights,
    find_counterexample,
    multiply_weights,
)
from auditbook.ranking.compare import compare_models
from auditbook.ranking.joint import joint_levels
from auditbook.ranking.matrix import (
    AucMatrix,
    auc_matrix,
    delong_covariance,
    matrix_interval,
    matrix_site_interval,
)
from auditbook.ranking.overall_values import EXACT
from auditbook.ranking.parity import make_auc_tables
from auditbook.ranking.scenarios import GROUPS, SimulatedRecords
from auditbook.ranking.summary import summarise_areas
from auditbook.ranking.tables import UNDEFINED, weigh_entries
from auditbook.ranking.units import WHOLE, explain_sites
