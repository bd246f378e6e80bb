"""How large is a replicate, and why: every constant of the simulations of maps in one place."""

from dataclasses import dataclass

from auditbook.pocket_settings import PocketSettings


@dataclass(frozen=True)
class Sizes:
    """Records, trees and draws of one replicate.

    Development records are never drawn: the assessed model is the true risk with a planted error, so that
    nothing is fitted on them.
    """

    # Discovery records, and as many audit records, of a world with a continuous outcome. A focal quarter of
    # 3,000 supports ten pockets of 75, and the similarities of 2,400 graph records can be held whole, as
    # spectral clustering needs
    continuous: int = 3_000
    # The same with a binary outcome, where support is what is scarce: with 8 % events a focal quarter of
    # 8,000 audit records supports a dozen pockets of 150. Learning costs more than testing, so fewer
    # records are learned from: 2,400 graph records take the block model some seconds. (In print both roles
    # are equally large; how large is not said.)
    binary: int = 3_000
    binary_audit: int = 8_000
    calibration: float = 0.2  # Part of the discovery records that calibrates the assignment (published: 0.2)
    units: int = 150  # Dependent units of the whole world, with all three roles (published: 150)
    continuous_trees: int = 500  # Trees of the forest (published: 500 and 200)
    binary_trees: int = 200
    # Fits of the block model of which the shortest description is kept. One (published: 3), since fits of
    # one graph differ by some tenths of a percent, and three would double the time of a replicate
    fits: int = 1
    # Of the bootstrap. The strictest level asked for, 0.00625, then lies at the sixth largest of 1,000
    # ratios; each replicate draws anew, so that this averages out over replicates
    draws: int = 999
    # Independent audits of one replicate's maps in which nothing is wrong. Testing costs a tenth of
    # learning, and whether a map is tested falsely hangs on the audit far more than on the map: five audits
    # of each of 60 maps tell an error rate nearly as well as 300 replicates. Intervals take the maps, not
    # the audits, as what was drawn
    quiet_audits: int = 5
    # Boosting rounds, and leaves a tree, of the grouping that learns from a model's errors (ours; rate
    # 0.05, at least 20 records a leaf). Beside it stands one with the library's own settings, which follow
    # noise further: how boosted trees are tuned is not in print, and decides how well they do (continuous
    # outcomes only, where it costs least)
    rounds: int = 100
    leaves: int = 8

    def audited(self, *, continuous: bool) -> int:
        """Return the audit records of a world of independent records."""
        return self.continuous if continuous else self.binary_audit

    def learned(self, *, continuous: bool) -> int:
        """Return the discovery records of a world of independent records."""
        return self.continuous if continuous else self.binary

    def pockets(self, *, continuous: bool) -> PocketSettings:
        """Return the settings of the pocket audit that a replicate runs."""
        return PocketSettings(
            partition="spectral" if continuous else "sbm",
            trees=self.continuous_trees if continuous else self.binary_trees,
            fits=self.fits,
            draws=self.draws,
            ratios="published",
        )


QUICK = Sizes(
    continuous=1_200,
    binary=1_500,
    binary_audit=3_000,
    continuous_trees=100,
    binary_trees=60,
    draws=499,
    quiet_audits=2,
    rounds=40,
)
"""For a first look: fewer pockets can be tested, so that less is found than with full sizes."""
