"""How unevenly records are spread over sites."""

import pandas as pd
import pytest

from auditbook.evidence.site_spread import measure_site_spread


def test_equal_sites_count_in_full_and_one_large_site_as_one():
    equal = measure_site_spread(pd.DataFrame({"n": [50] * 4}))
    assert (equal.effective, equal.holding_half, equal.largest_share, equal.median) == (4, 2, 0.25, 50)
    alone = measure_site_spread(pd.DataFrame({"n": [10**6, 1]}))
    assert alone.effective == pytest.approx(1, abs=1e-5)
    assert alone.holding_half == 1
