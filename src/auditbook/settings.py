"""Which constants does an audit use? Every one has a name, a default and a source."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Literal

from auditbook.key_types import Exactly, LeftOut, Number, Whole, WrittenAs
from auditbook.pocket_settings import PocketSettings

METRIC_NAMES = ("DI", "SPD", "EOPP", "EOD", "TI", "PP", "CAL")
EXTRA_METRIC_NAMES = ("TI_benefit", "CAL_large", "AUC")
MetricName = Literal["DI", "SPD", "EOPP", "EOD", "TI", "PP", "CAL", "TI_benefit", "CAL_large", "AUC"]
AUDIT_SIZES = (1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000)


@dataclass(frozen=True)
class Protocol:
    """``[protocol]``: constants of an audit."""

    metrics: Annotated[tuple[str, ...], WrittenAs(tuple[MetricName, ...])] = METRIC_NAMES
    """Metrics to judge, in the order of the tables; `TI_benefit`, `CAL_large` and `AUC` are extra."""
    thresholds: Annotated[Mapping[str, float], WrittenAs(Mapping[str, Number]), LeftOut("as published")] = (
        field(default_factory=lambda: MappingProxyType({}))
    )
    """Thresholds by metric that differ from the published ones, such as `{ DI = 0.9 }`."""
    resamples: Annotated[int, Exactly(ge=1, le=1_000_000)] = 500
    """Resamples behind each flip rate (published: K = 500)."""
    resample_size: Annotated[int, Exactly(ge=1)] = 10_000
    """Records a resample, at most the audit's own size (published: N = 10,000)."""
    vfr_stable: Annotated[float, Exactly(ge=0, le=0.5)] = 0.10
    """A verdict is stable when its flip rate is at most this (published: 0.10)."""
    audit_sizes: Annotated[tuple[int, ...], WrittenAs(tuple[Whole, ...])] = AUDIT_SIZES
    """Sizes of an audit that are tried, rising; the whole is added (as published)."""
    size_repeats: Annotated[int, Exactly(ge=2, le=10_000)] = 30
    """Subsamples at each size (published: R = 30)."""
    cv_stable: Annotated[float, Exactly(ge=0, le=1)] = 0.05
    """A metric has settled at a size when its coefficient of variation is below this (published: 0.05)."""
    field_size: Annotated[int, Exactly(ge=1)] = 50_000
    """Records that one site can audit; a cell that needs more is not auditable there (published: 50,000)."""
    site_folds: Annotated[int, Exactly(ge=2, le=1000)] = 20
    """Folds of whole sites that are asked whether they agree; fewer where there are fewer (published: 20)."""
    kappa_stable: Annotated[float, Exactly(ge=-1, le=1)] = 0.40
    """Folds agree when Fleiss' kappa is at least this (published: 0.40)."""
    halvings: Annotated[int, Exactly(ge=2, le=1000)] = 40
    """Times that the audit is halved to check flip rates of one half on the other (ours: 40)."""
    min_records: Annotated[int, Exactly(ge=0)] = 30
    """Records that a group needs for a verdict (ours: 30)."""
    min_events: Annotated[int, Exactly(ge=0)] = 10
    """Events, or selected records, that a group needs where a metric rests on them (ours: 10)."""
    min_non_events: Annotated[int, Exactly(ge=0)] = 10
    """Non-events that a group needs where a metric rests on them (ours: 10)."""
    shown_alpha: Annotated[float, Exactly(gt=0, lt=0.5)] = 0.05
    """Chance of any false "shown" on a model's board, on either side (ours: 0.05)."""
    max_groups: Annotated[int, Exactly(ge=2, le=1000)] = 50
    """More groups than this in one attribute are taken for a mistake (ours: 50)."""
    audit_share: Annotated[float, Exactly(ge=0.01, le=0.99)] = 0.20
    """Share of the units kept for the audit when models are trained here (published: 0.20)."""
    seed: Annotated[int, Exactly(ge=0, le=2**32 - 1)] = 42
    """Seed of every random draw (published: 42)."""


@dataclass(frozen=True)
class Profile:
    """How much work a run does; never what it does."""

    name: str  # `smoke`, `quick`, `standard` or `full`
    # Upper bounds; with None the protocol, the cohort or the settings say, and every model is trained
    resamples: int | None  # K
    max_rows: int | None  # Records used, drawn as whole units with the run's seed
    synthetic_rows: int | None  # Records of a synthetic cohort, in place of the cohort file's
    refits: int | None = None  # Models trained for the baselines that mitigate
    halvings: int | None = None  # Halvings of the cohort
    draws: int | None = None  # Draws of the pocket audit's bootstrap
    graph_records: int | None = None  # Records of the pocket audit's graph

    def apply(self, protocol: Protocol) -> Protocol:
        """Return the protocol with this profile's bounds in force."""
        bounds = {"resamples": self.resamples, "halvings": self.halvings}
        lowered = {
            name: min(getattr(protocol, name), bound) for name, bound in bounds.items() if bound is not None
        }
        return replace(protocol, **lowered)

    def apply_to_pockets(self, settings: PocketSettings) -> PocketSettings:
        """Return the settings of the pocket audit with this profile's bounds in force."""
        bounds = {"draws": self.draws, "graph_records": self.graph_records}
        lowered = {name: min(getattr(settings, name), bound) for name, bound in bounds.items() if bound}
        return replace(settings, **lowered)


PROFILES = {
    "smoke": Profile(
        "smoke",
        resamples=40,
        max_rows=4_000,
        synthetic_rows=8_000,
        refits=1,
        halvings=4,
        draws=199,
        graph_records=250,
    ),
    "quick": Profile(
        "quick",
        resamples=200,
        max_rows=30_000,
        synthetic_rows=30_000,
        refits=2,
        halvings=20,
        draws=999,
        graph_records=1_500,
    ),
    "standard": Profile(
        "standard", resamples=None, max_rows=None, synthetic_rows=None, refits=4, graph_records=4_000
    ),
    "full": Profile("full", resamples=None, max_rows=None, synthetic_rows=925_128),
}
