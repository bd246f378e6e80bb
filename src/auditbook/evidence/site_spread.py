"""How unevenly are records spread over sites, and do sites differ more than chance lets them?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class SiteSpread:
    """How unevenly records are spread over sites."""

    largest_share: float  # Share of the records that the largest site holds
    holding_half: int  # The fewest sites that hold half of the records
    median: float  # Records of the median site
    effective: float  # Sites of equal size that would make the cohort as varied


def measure_site_spread(sites: pd.DataFrame) -> SiteSpread:
    r"""Measure how unevenly records are spread over sites.

    .. math:: S_{\mathrm{eff}} = \frac{(\sum_s n_s)^2}{\sum_s n_s^2}

    Parameters
    ----------
    sites : DataFrame
        Column n, the records of each site; one site or more.

    Returns
    -------
    SiteSpread
        `effective` is the number of sites when all are alike, and 1 when one holds all records.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley (the effective number under unequal weights).

    Examples
    --------
    >>> measure_site_spread(pd.DataFrame({"n": [50, 50, 50, 50]})).effective
    4.0
    """
    volumes = sites["n"].sort_values(ascending=False).to_numpy(float)
    total = volumes.sum()
    half = int((volumes.cumsum() < total / 2).sum()) + 1
    effective = float(total**2 / (volumes**2).sum())
    return SiteSpread(float(volumes[0] / total), half, float(np.median(volumes)), effective)
