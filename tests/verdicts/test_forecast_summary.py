"""What a run's check of its flip rates comes to, way by way and cell by cell."""

import numpy as np
import pandas as pd
import pytest

from auditbook.verdicts.forecast_summary import (
    compare_halves,
    list_surprises,
    summarise_cohort,
    tabulate_causes,
    tabulate_ways,
)

WAY = {"halving": "records", "drawing": "records"}
CELL = WAY | {"metric": "DI", "attribute": "sex", "n": 500, "halvings": 4, "estimate": 0.82, "threshold": 0.8}
CAUSES = ("from_range", "from_spread", "from_halves", "bias_resample", "bias_audit")


def cell(**columns):
    base = CELL | {"halves_sd": 0.01, "error": 0.2, "resample_sd": 0.02, "audit_sd": 0.03}
    return base | dict.fromkeys(CAUSES, 0.0) | columns


def forecast(**columns):
    base = WAY | {"prediction": "vfr", "bin": 0, "predictions": 9, "predicted": 0.1, "realised": 0.2}
    return (
        base | {"realised_low": 0.1, "realised_high": 0.3, "realised_mixed": 0.15, "abs_error": 0.1} | columns
    )


def test_a_way_keeps_the_realised_rate_once_and_every_prediction():
    both = [forecast(), forecast(prediction="vfr_site", predicted=0.18, abs_error=0.02)]
    row = tabulate_ways(pd.DataFrame(both)).iloc[0]
    assert (row["vfr"], row["vfr_site"], row["realised"]) == (0.1, 0.18, 0.2)
    assert (row["abs_error"], row["abs_error_site"]) == (0.1, 0.02)
    assert np.isnan(row["vfr_wide"])


def test_a_check_without_forecasts_has_no_way():
    empty = pd.DataFrame(columns=list(forecast()))
    assert tabulate_ways(empty).empty
    assert summarise_cohort(empty).empty


def test_sure_forecasts_are_those_of_the_first_bin():
    sure = forecast(bin=1, predictions=4, realised=0.3, realised_mixed=0.25)
    row = summarise_cohort(pd.DataFrame([forecast(), sure])).iloc[0]
    assert (row["cells"], row["sure"], row["sure_realised"], row["sure_mixed"]) == (9, 4, 0.3, 0.25)
    assert summarise_cohort(pd.DataFrame([forecast()]))["sure"].tolist() == [0]


def test_a_cell_is_listed_at_its_largest_size_with_its_distance_in_standard_deviations():
    found = list_surprises(
        pd.DataFrame([cell(), cell(n=1_000), cell(halvings=0, n=9_000)]), ("records", "records")
    )
    assert found["n"].tolist() == [1_000]
    assert found["distance"].tolist() == pytest.approx([2.0])


def test_a_cell_whose_halves_do_not_vary_has_no_distance():
    found = list_surprises(pd.DataFrame([cell(halves_sd=0.0)]), ("records", "records"))
    assert found["distance"].isna().all()


def test_causes_are_means_over_cells_and_sizes():
    causes = tabulate_causes(pd.DataFrame([cell(error=0.1), cell(error=0.3)])).iloc[0]
    assert (causes["cells"], causes["spread_ratio"]) == (2, 1.5)
    assert causes["error"] == pytest.approx(0.2)


def test_halves_of_sites_are_set_beside_halves_of_records_of_the_same_cell():
    apart = cell(halving="sites", halves_sd=0.03)
    assert compare_halves(pd.DataFrame([cell(), apart]))["ratio"].tolist() == pytest.approx([3.0])
    assert compare_halves(pd.DataFrame([cell()])).empty
