"""Which constants does an audit use? Every one has a name, a default and a source."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from auditbook.pocket_settings import PocketSettings

METRIC_NAMES = ("DI", "SPD", "EOPP", "EOD", "TI", "PP", "CAL")
EXTRA_METRIC_NAMES = ("TI_benefit", "CAL_large", "AUC")


@dataclass(frozen=True)
class Protocol:
    """Constants of an audit; the keys of ``[protocol]`` in a cohort file.

    Attributes
    ----------
    metrics : tuple of str
        Metrics to judge, in the order of the tables.
    thresholds : mapping of str to float
        Thresholds that differ from the published ones, by metric.
    resamples : int
        K, the number of resamples of axis 1 (published: 500).
    resample_size : int
        N, records a resample; at most the audit's own size (published: 10,000).
    vfr_stable : float
        A verdict is stable when its flip rate is at most this (published: 0.10).
    audit_sizes : tuple of int
        Sizes of axis 2, rising; those below the audit's own size are tried, and the whole is added
        (published: 1,000 to 100,000).
    size_repeats : int
        R, subsamples a size (published: 30).
    cv_stable : float
        A metric has settled at a size when its coefficient of variation is below this (published: 0.05).
    field_size : int
        Records that one site can audit; a cell that needs more is not auditable there (published: 50,000).
    site_folds : int
        Folds of whole sites in axis 3; as many as there are sites when those are fewer (published: 20).
    kappa_stable : float
        Folds agree when Fleiss' kappa is at least this (published: 0.40).
    halvings : int
        Times that the cohort is halved to check flip rates of one half on the other (ours: 40).
    min_records, min_events, min_non_events : int
        Support that a group needs before a verdict that uses it is given (ours: 30, 10, 10).
    max_groups : int
        More groups than this in one attribute are taken for a mistake (ours: 50).
    audit_share : float
        Share of the units kept for the audit when models are trained here (published: 0.20).
    seed : int
        Seed of every random draw (published: 42).
    """

    metrics: tuple[str, ...] = METRIC_NAMES
    thresholds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    resamples: int = 500
    resample_size: int = 10_000
    vfr_stable: float = 0.10
    audit_sizes: tuple[int, ...] = (1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000)
    size_repeats: int = 30
    cv_stable: float = 0.05
    field_size: int = 50_000
    site_folds: int = 20
    kappa_stable: float = 0.40
    halvings: int = 40
    min_records: int = 30
    min_events: int = 10
    min_non_events: int = 10
    max_groups: int = 50
    audit_share: float = 0.20
    seed: int = 42


@dataclass(frozen=True)
class Profile:
    """How much work a run does; never what it does.

    Attributes
    ----------
    name : str
        ``quick``, ``standard`` or ``full``.
    resamples : int or None
        Upper bound on K; None leaves the protocol's.
    max_rows : int or None
        Records used at the most, drawn as whole units with the run's seed; None uses all.
    synthetic_rows : int or None
        Records of a synthetic cohort, in place of the cohort file's; None leaves those.
    refits : int or None
        Models trained for the baselines that mitigate, at the most; None trains all that they ask for.
    halvings : int or None
        Upper bound on the halvings of the cohort; None leaves the protocol's.
    draws : int or None
        Upper bound on the draws of the pocket audit's bootstrap; None leaves the settings'.
    graph_records : int or None
        Upper bound on the records of the pocket audit's graph; None leaves the settings'.
    """

    name: str
    resamples: int | None
    max_rows: int | None
    synthetic_rows: int | None
    refits: int | None = None
    halvings: int | None = None
    draws: int | None = None
    graph_records: int | None = None

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
