"""What does an audit look at? Outcomes, groups, sites and scores of the audited records, as plain arrays."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ScoreKind = Literal["probability", "rank", "decision", "value"]


@dataclass(frozen=True)
class Attribute:
    """A protected attribute and the group of each record.

    Attributes
    ----------
    name : str
        Name in tables and figures.
    groups : tuple of str, length n_groups
        Group names in a fixed order; a group that holds no record stays listed.
    codes : int array, shape (n,)
        Position of each record's group in `groups`; every record has one.
    reference : str or None
        The group that contrasts are taken against where a contrast needs one.
    """

    name: str
    groups: tuple[str, ...]
    codes: NDArray[np.integer]
    reference: str | None = None


@dataclass(frozen=True)
class Score:
    """What one model says of each audited record.

    Attributes
    ----------
    model : str
        Name of the model.
    kind : {"probability", "rank", "decision", "value"}
        What the numbers mean. A rank orders records without being a probability; a decision is 0 or 1; a
        value predicts a continuous outcome.
    threshold : float
        A record is selected when its score is at least this.
    values : float array, shape (n,)
        The scores; none is missing.
    chosen : bool array, shape (n,), or None
        Who is selected, where that does not follow from the one threshold: thresholds that differ between
        cells of people, or decisions by lot.
    """

    model: str
    kind: ScoreKind
    threshold: float
    values: NDArray[np.floating]
    chosen: NDArray[np.bool_] | None = None

    @property
    def decisions(self) -> NDArray[np.bool_]:
        """True where the record is selected, shape (n,)."""
        return np.asarray(self.values >= self.threshold) if self.chosen is None else self.chosen


@dataclass(frozen=True)
class AuditRecords:
    """The audited records of a cohort, ready to be counted.

    Attributes
    ----------
    outcome : int8 array, shape (n,)
        1 where the event happened, else 0.
    attributes : tuple of Attribute
        The protected attributes.
    scores : tuple of Score
        The models under audit.
    site : int array, shape (n,), or None
        Position of each record's site among the sorted names of the sites; None without a site column.
    """

    outcome: NDArray[np.int8]
    attributes: tuple[Attribute, ...]
    scores: tuple[Score, ...]
    site: NDArray[np.integer] | None = None
