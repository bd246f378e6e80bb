"""Which predictions stand behind each record, and how long before its event were they made?"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.schema import CohortFile
from auditbook.cohort.times import read_both_moments
from auditbook.tables import Faults, as_numbers


@dataclass(frozen=True)
class Predictions:
    """Every prediction that was made for some records; of m predictions for n records."""

    record: NDArray[np.intp]  # shape (m,): Position of the record that it was made for; rising after `take`
    # shape (n_given, m): Each given score, turned so that a high one speaks for the event
    scores: NDArray[np.float64]
    # shape (m,): Time from the prediction to the event of its record, below 0 where it came after; nan where
    # either moment is unknown, or where no column names it
    lead: NDArray[np.float64]
    dated: bool  # Whether leads are hours between dates, not numbers in a unit of the cohort's own
    timed: bool  # Whether a column says when the event happened
    n_records: int

    @property
    def count(self) -> NDArray[np.intp]:
        """Predictions of each record, shape (n,)."""
        return np.bincount(self.record, minlength=self.n_records)

    def take(self, positions: NDArray[np.integer]) -> "Predictions":
        """Take the predictions of some of the records, in the order of `positions`."""
        place = np.full(self.n_records, -1, np.intp)
        place[positions] = np.arange(len(positions))
        kept = np.flatnonzero(place[self.record] >= 0)
        kept = kept[np.argsort(place[self.record[kept]], kind="stable")]
        return replace(
            self,
            record=place[self.record[kept]],
            scores=self.scores[:, kept],
            lead=self.lead[kept],
            n_records=len(positions),
        )

    def find_longest(self, counts: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Find the lead of each record's first prediction, of those that count; nan without, shape (n,)."""
        lead = self.lead if counts is None else np.where(counts, self.lead, np.nan)
        return self._join(lead, np.fmax)

    def find_shortest(self) -> NDArray[np.float64]:
        """Find the lead of each record's last prediction, shape (n,); nan where none is known."""
        return self._join(self.lead, np.fmin)

    def _join(self, lead: NDArray[np.float64], ufunc: np.ufunc) -> NDArray[np.float64]:
        found = np.full(self.n_records, np.nan)
        ufunc.at(found, self.record, lead)
        return found


def list_predictions(
    file: CohortFile, table: pd.DataFrame, record: NDArray[np.intp], faults: Faults
) -> Predictions:
    """List all kept rows as predictions, each for a record; of several times of its event the first counts.

    Parameters
    ----------
    file : CohortFile
        May name a time of the event.
    table : DataFrame
        The kept rows.
    record : int array, shape (m,)
        Position of the record that each row is a prediction for.
    faults : Faults
        Times that cannot be read are noted here.
    """
    n_records = int(record.max(initial=-1)) + 1
    moments = read_both_moments(file, table, keep=np.ones(len(table), bool), faults=faults)
    lead = np.full(len(table), np.nan)
    if moments is not None:
        event = np.full(n_records, np.nan)
        np.fmin.at(event, record, moments.happened)
        lead = moments.measure(moments.made, event[record])
    scores = [score.turn(as_numbers(table[score.column]).cells) for score in file.scores]
    return Predictions(
        record,
        np.array(scores).reshape(len(scores), len(table)),
        lead,
        dated=moments is not None and moments.dated,
        timed=moments is not None,
        n_records=n_records,
    )
