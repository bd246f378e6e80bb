import numpy as np
import pytest

from auditbook.settings import Protocol
from auditbook.verdicts.error_free import error_free_value
from auditbook.verdicts.metrics import METRICS
from small_audits import EVERY_METRIC

STRATA = np.array([[210, 790], [600, 400]])


def test_selection_rates_of_a_model_without_error_are_the_event_rates():
    found = [error_free_value(METRICS[name], STRATA, protocol=Protocol()) for name in ("DI", "SPD")]
    assert found == pytest.approx([0.35, 0.39])


@pytest.mark.parametrize("name", [name for name in EVERY_METRIC if name not in ("DI", "SPD")])
def test_a_metric_of_errors_is_zero_without_error(name):
    assert error_free_value(METRICS[name], STRATA, protocol=Protocol()) == 0


@pytest.mark.parametrize("name", EVERY_METRIC)
def test_groups_that_hold_too_little_are_left_out(name):
    three = np.vstack([STRATA, [[0, 3]]])
    whole = error_free_value(METRICS[name], STRATA, protocol=Protocol())
    assert error_free_value(METRICS[name], three[[2, 1, 0]], protocol=Protocol()) == whole
    assert np.isnan(error_free_value(METRICS[name], three[1:], protocol=Protocol()))


def test_without_events_a_ratio_is_undefined():
    assert np.isnan(error_free_value(METRICS["DI"], np.array([[0, 50], [0, 60]]), protocol=Protocol()))
