"""What do the published examples of unequal areas come to, exactly and in a simulated cohort?"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr, ndtri

from auditbook.evidence import Z_95
from auditbook.project import project_file
from auditbook.ranking.matrix import auc_matrix, standard_errors
from auditbook.ranking.summary import summarise_areas

Array = NDArray[np.float64]

GROUPS = ("M", "F")
GROUP_TITLES = MappingProxyType(dict(zip(GROUPS, ("men", "women"), strict=True)))
NODES = 120
"""Points of the Gauss-Legendre rule; twice as many change no exact value by 1e-12."""
_AT, _WEIGHT = np.polynomial.legendre.leggauss(NODES)
REACH = 12.0
"""Standard deviations around a mean beyond which a normal density is taken for zero."""


@dataclass(frozen=True)
class Scenario:
    """Two groups with normal scores, truncated to [0, 1], of one standard deviation."""

    share_m: float  # Share of the records in group M
    rate_m: float  # Event rates
    rate_f: float
    mean0_m: float  # Means of the scores of non-events (0) and events (1) before truncation
    mean1_m: float
    mean0_f: float
    mean1_f: float
    sd: float  # Standard deviation of all scores before truncation


SCENARIOS = MappingProxyType(
    {
        "i": Scenario(0.8, 0.02, 0.03, 0.015, 0.031, 0.025, 0.034, 0.01),
        "ii": Scenario(0.8, 0.02, 0.03, 0.015, 0.031, 0.033, 0.045, 0.01),
        "iii": Scenario(0.8, 0.02, 0.03, 0.016, 0.031, 0.030, 0.045, 0.01),
    }
)
"""The scenarios of Matos et al. (2026), table 2."""

ROUNDED = MappingProxyType(
    {"share_m": 0.05, "rate_m": 0.005, "rate_f": 0.005, "sd": 0.005}
    | dict.fromkeys(("mean0_m", "mean1_m", "mean0_f", "mean1_f"), 0.0005)
)
"""Half of the last printed digit of each parameter."""


@dataclass(frozen=True)
class TwoGroupAreas:
    """The areas and metrics that the published table lists, each a float."""

    auc_global: float  # Overall area
    auc_m: float  # Areas within the groups
    auc_f: float
    xauc_mf: float  # Events of M against non-events of F, and the reverse
    xauc_fm: float
    xauc1_m: float  # Events of a group against all non-events
    xauc1_f: float
    auc_parity: float  # Absolute differences of the three pairs
    xauc_parity: float
    xauc1_parity: float


def integrate_scenario(scenario: Scenario) -> TwoGroupAreas:
    r"""Find the exact areas of a scenario by integration.

    .. math:: A_{gh} = \int f^1_g(s)\, F^0_h(s)\, ds

    with the density of the events' scores in g and the distribution of the non-events' in h.

    Parameters
    ----------
    scenario : Scenario
        What is drawn from.

    Returns
    -------
    TwoGroupAreas
        To about 1e-12.

    References
    ----------
    Matos, J. et al. (2026). Fairness metrics based on the AUC in clinical predictive AI.

    Examples
    --------
    >>> round(integrate_scenario(SCENARIOS["i"]).auc_m, 4)
    0.8627
    """
    at, weight = _AT, _WEIGHT
    area = np.empty((2, 2))
    events, others = (scenario.mean1_m, scenario.mean1_f), (scenario.mean0_m, scenario.mean0_f)
    for g, mean in enumerate(events):
        low, high = max(0.0, mean - REACH * scenario.sd), min(1.0, mean + REACH * scenario.sd)
        score = low + (high - low) * (at + 1) / 2
        density = _density(score, mean, scenario.sd) * weight * (high - low) / 2
        for h, centre in enumerate(others):
            area[g, h] = density @ _distribution(score, centre, scenario.sd)
    m, f = scenario.share_m, 1 - scenario.share_m
    held = np.array([[m * scenario.rate_m, f * scenario.rate_f]])
    left = np.array([[m * (1 - scenario.rate_m), f * (1 - scenario.rate_f)]])
    return _name(area, held[0] / held.sum(), left[0] / left.sum())


def scenario_density(scenario: Scenario, group: str, event: int, score: ArrayLike) -> Array:
    """Find the density of the scores of one group's events or non-events."""
    return _density(np.asarray(score, float), getattr(scenario, f"mean{event}_{group.lower()}"), scenario.sd)


def _density(score: Array, mean: float, sd: float) -> Array:
    """Density of a normal score that is truncated to [0, 1]."""
    kept = ndtr((1 - mean) / sd) - ndtr(-mean / sd)
    return np.exp(-(((score - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi) * kept)


def _distribution(score: Array, mean: float, sd: float) -> Array:
    """Distribution of a normal score that is truncated to [0, 1]."""
    below, above = ndtr(-mean / sd), ndtr((1 - mean) / sd)
    return (ndtr((score - mean) / sd) - below) / (above - below)


def _name(area: Array, event_share: Array, other_share: Array) -> TwoGroupAreas:
    """Name the areas of two groups and what follows from them."""
    first = area @ other_share
    return TwoGroupAreas(
        auc_global=float(event_share @ first),
        auc_m=float(area[0, 0]),
        auc_f=float(area[1, 1]),
        xauc_mf=float(area[0, 1]),
        xauc_fm=float(area[1, 0]),
        xauc1_m=float(first[0]),
        xauc1_f=float(first[1]),
        auc_parity=float(abs(area[0, 0] - area[1, 1])),
        xauc_parity=float(abs(area[0, 1] - area[1, 0])),
        xauc1_parity=float(abs(first[0] - first[1])),
    )


@dataclass(frozen=True)
class SimulatedRecords:
    """Records drawn from a scenario."""

    outcome: NDArray[np.int8]  # shape (n,): 1 where the event happened
    values: Array  # shape (n,): Scores in [0, 1]
    codes: NDArray[np.int8]  # shape (n,): Position of each record's group in `GROUPS`


def simulate_scenario(scenario: Scenario, *, n: int, rng: np.random.Generator) -> SimulatedRecords:
    """Draw records from a scenario."""
    codes = (rng.random(n) >= scenario.share_m).astype(np.int8)
    rate = np.array([scenario.rate_m, scenario.rate_f])[codes]
    outcome = (rng.random(n) < rate).astype(np.int8)
    means = np.array([[scenario.mean0_m, scenario.mean1_m], [scenario.mean0_f, scenario.mean1_f]])
    mean = means[codes, outcome]
    below, above = ndtr(-mean / scenario.sd), ndtr((1 - mean) / scenario.sd)
    values = mean + scenario.sd * ndtri(below + rng.random(n) * (above - below))
    return SimulatedRecords(outcome, np.clip(values, 0, 1), codes)


def estimate_scenario(records: SimulatedRecords) -> pd.DataFrame:
    """Estimate what the published table lists from simulated records."""
    matrix = auc_matrix(records.outcome, records.values, records.codes, len(GROUPS))
    found = _name(matrix.auc, matrix.event_share, matrix.other_share)
    error, summary = standard_errors(matrix), summarise_areas(matrix)
    se = {
        "auc_global": summary.se[summary.overall],
        "auc_m": error[0, 0],
        "auc_f": error[1, 1],
        "xauc_mf": error[0, 1],
        "xauc_fm": error[1, 0],
        **dict(zip(("xauc1_m", "xauc1_f"), summary.se[summary.xauc1], strict=True)),
    }
    rows = [(name, value, se.get(name, np.nan)) for name, value in asdict(found).items()]
    return pd.DataFrame(rows, columns=["quantity", "estimate", "se"])


@dataclass(frozen=True)
class Envelope:
    """What a published figure can be when each printed parameter is rounded."""

    low: TwoGroupAreas  # Least value of each
    high: TwoGroupAreas  # Largest value of each


def find_envelope(scenario: Scenario, *, steps: int = 5) -> Envelope:
    """Find how far a scenario's areas move within the rounding of its printed parameters.

    Means, shares and rates go to both ends of what rounds to the printed digits; the standard deviation,
    printed as 0.01, takes several values from 0.005 to 0.015.
    """
    table = pd.DataFrame([asdict(integrate_scenario(one)) for one in _vary(scenario, steps)])
    low, high = table.min(), table.max()
    for name, (one, other) in _PAIRS.items():
        signed = table[one] - table[other]
        if signed.min() < 0 < signed.max():
            low[name] = 0.0  # on the way from one corner to another the two are equal
    return Envelope(TwoGroupAreas(*low), TwoGroupAreas(*high))


_PAIRS = {
    "auc_parity": ("auc_m", "auc_f"),
    "xauc_parity": ("xauc_mf", "xauc_fm"),
    "xauc1_parity": ("xauc1_m", "xauc1_f"),
}


def _vary(scenario: Scenario, steps: int) -> Iterator[Scenario]:
    """List the corners of what rounds to the printed parameters."""
    names = [part.name for part in fields(Scenario) if part.name != "sd"]
    ends = [
        (getattr(scenario, name) - ROUNDED[name], getattr(scenario, name) + ROUNDED[name]) for name in names
    ]
    for sd in np.linspace(scenario.sd - ROUNDED["sd"], scenario.sd + ROUNDED["sd"], steps):
        for values in product(*ends):
            yield replace(scenario, sd=float(sd), **dict(zip(names, values, strict=True)))


def tabulate_scenario(name: str, published: ArrayLike, *, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Set published, exact and simulated values of a scenario side by side."""
    scenario = SCENARIOS[name]
    exact, envelope = integrate_scenario(scenario), find_envelope(scenario)
    simulated = estimate_scenario(simulate_scenario(scenario, n=n, rng=rng))
    printed = np.asarray(published, float)
    low, high = (np.array(list(asdict(part).values())) for part in (envelope.low, envelope.high))
    return pd.DataFrame(
        {
            "quantity": simulated["quantity"],
            "published": printed,
            "exact": list(asdict(exact).values()),
            "simulated": simulated["estimate"],
            "se": simulated["se"],
            "low": low,
            "high": high,
            "possible": (low - 0.005 <= printed + 1e-9) & (printed - 1e-9 <= high + 0.005),
        }
    )


def draw_calibrated(*, n: int, rng: np.random.Generator) -> SimulatedRecords:
    r"""Draw two groups whose score is the true risk, so that it is calibrated in both, and xAUC parity fails.

    .. math:: \mathrm{logit}\,s \sim \mathcal{N}(\mu_g, 1),\quad
              P(y = 1 \mid s) = s,\quad \mu_M = -1,\ \mu_F = -3

    The areas within the two groups are nearly equal (0.74 and 0.76). Across them they cannot be: an event of
    M hardly ever scores below a non-event of F, and an event of F often below a non-event of M, because the
    groups differ in risk.
    """
    codes = (np.arange(n) >= n // 2).astype(np.int8)
    values = expit(rng.normal(size=n) + np.array([-1.0, -3.0])[codes])
    return SimulatedRecords((rng.random(n) < values).astype(np.int8), values, codes)


def tabulate_scenarios(*, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Set published, exact and simulated values of the three scenarios side by side.

    References
    ----------
    Matos, J. et al. (2026). Fairness metrics based on the AUC in clinical predictive AI. Table 3.
    """
    printed = pd.read_csv(project_file("data", "reference", "auc_scenarios_published.csv"))
    quantities = [part.name for part in fields(TwoGroupAreas)]
    parts = []
    for name in SCENARIOS:
        here = printed[printed["scenario"] == name].set_index("quantity")["published"]
        found = tabulate_scenario(name, here[quantities].to_numpy(), n=n, rng=rng)
        parts.append(found.assign(scenario=name))
    table = pd.concat(parts, ignore_index=True)
    reach = Z_95 * table["se"]
    return table.assign(simulated_low=table["simulated"] - reach, simulated_high=table["simulated"] + reach)


def tabulate_densities(scenarios: Sequence[str] = tuple(SCENARIOS), *, points: int = 161) -> pd.DataFrame:
    """Tabulate the densities of the scores in the published scenarios, by group and event."""
    at = np.linspace(0, 0.08, points)
    parts = [
        pd.DataFrame({"scenario": name, "group": words, "event": event, "score": at}).assign(
            density=scenario_density(SCENARIOS[name], group, event, at)
        )
        for name in scenarios
        for group, words in GROUP_TITLES.items()
        for event in (0, 1)
    ]
    return pd.concat(parts, ignore_index=True)


def tabulate_scenario_matrix(scenario: Scenario) -> pd.DataFrame:
    """Tabulate the exact areas of a scenario within and across its two groups."""
    found = integrate_scenario(scenario)
    area = (found.auc_m, found.xauc_mf, found.xauc_fm, found.auc_f)
    pairs = list(product(GROUP_TITLES.values(), repeat=2))
    table = pd.DataFrame(pairs, columns=["event_group", "nonevent_group"])
    return table.assign(auc=area, n_events=np.nan, n_nonevents=np.nan, reason="")
