"""What does an audit look at? Outcomes, groups, sites and scores of the audited records, as plain arrays."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ScoreKind = Literal["probability", "rank", "decision", "value"]


@dataclass(frozen=True)
class Attribute:
    """A protected attribute and the group of each record."""

    name: str  # Name in tables and figures
    groups: tuple[str, ...]  # Names in a fixed order; a group that holds no record stays listed
    codes: NDArray[np.integer]  # shape (n,): Position of each record's group; every record has one
    reference: str | None = None  # The group that contrasts are taken against where one needs it
    # Of a crossed attribute: the names that each group has in the attributes that are crossed
    parts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Score:
    """What one model says of each audited record."""

    model: str  # Name of the model
    # What the numbers mean. A rank orders records without being a probability; a decision is 0 or 1;
    # a value predicts a continuous outcome
    kind: ScoreKind
    threshold: float  # A record is selected when its score is at least this
    values: NDArray[np.floating]  # shape (n,): The scores; none is missing
    # shape (n,): Who is selected, where that does not follow from the one threshold: thresholds that
    # differ between cells of people, or decisions by lot
    chosen: NDArray[np.bool_] | None = None

    @property
    def decisions(self) -> NDArray[np.bool_]:
        """True where the record is selected, shape (n,)."""
        return np.asarray(self.values >= self.threshold) if self.chosen is None else self.chosen


@dataclass(frozen=True)
class Survey:
    """How the records were drawn from a population."""

    weight: NDArray[np.floating]  # shape (n,): How many people a record stands for, up to a common factor
    # shape (n,): Position among the sorted names of the strata; None where the population was not divided
    stratum: NDArray[np.integer] | None = None
    # shape (n,): Position among the sorted names of the clusters, which can count anew in each stratum; None
    # where records were drawn one by one
    cluster: NDArray[np.integer] | None = None


def take_survey(survey: Survey, positions: NDArray[np.integer]) -> Survey:
    """Take some of the records."""
    stratum, cluster = (
        None if part is None else part[positions] for part in (survey.stratum, survey.cluster)
    )
    return Survey(survey.weight[positions], stratum, cluster)


@dataclass(frozen=True)
class AuditRecords:
    """The audited records of a cohort, ready to be counted."""

    outcome: NDArray[np.int8]  # shape (n,): 1 where the event happened, else 0
    attributes: tuple[Attribute, ...]  # The protected attributes
    scores: tuple[Score, ...]  # The models under audit
    # shape (n,): Position among the sorted names of the sites; None without a site column
    site: NDArray[np.integer] | None = None
    # shape (n,): Position among the sorted names of the units, such as patients; None where no column but the
    # site names them
    unit: NDArray[np.integer] | None = None
    survey: Survey | None = None  # None where each record stands for itself


def select_records(records: AuditRecords, taken: NDArray[np.bool_]) -> AuditRecords:
    """Keep some of the records."""
    return replace(
        records,
        outcome=records.outcome[taken],
        attributes=tuple(replace(one, codes=one.codes[taken]) for one in records.attributes),
        scores=tuple(
            replace(one, values=one.values[taken], chosen=None if one.chosen is None else one.chosen[taken])
            for one in records.scores
        ),
        site=None if records.site is None else records.site[taken],
        unit=None if records.unit is None else records.unit[taken],
        survey=None if records.survey is None else take_survey(records.survey, np.flatnonzero(taken)),
    )
