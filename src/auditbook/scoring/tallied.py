"""How good is each model, and how do its scores lie, where only counts and sums are left?"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import fill_table
from auditbook.evidence import N_BINS, UNIT, TalliedAttribute, Tally, estimate_tallied_auroc, rate, sum_values
from auditbook.scoring.score import ModelInfo, lay_out_model

ALL = "all"
"""Name of the attribute, and of its one group, that holds every record."""


def summarise_tallied_models(
    tally: Tally, models: Mapping[str, ModelInfo], untold: NDArray[np.int64] | None = None
) -> pd.DataFrame:
    """Say of each model of a tally where it comes from and how good it is: ``models.csv``.

    Everything but the area rests on counts and sums, of scores rounded by 2^-33 a record; the mean of ranks
    is nan where some lie beyond the outermost edges of their bins. `untold`, shape (n_models, 4), counts
    decisions on records that are in no group of the first attribute.
    """
    more = np.zeros((len(tally.models), 4), np.int64) if untold is None else untold
    rows = [_summarise(tally, place, models, more[place]) for place in range(len(tally.models))]
    return fill_table("models", rows)


def _summarise(
    tally: Tally, place: int, models: Mapping[str, ModelInfo], untold: NDArray[np.int64]
) -> dict[str, object]:
    """Make one row of ``models.csv``."""
    model, attribute = tally.models[place], tally.attributes[0]
    counts = attribute.counts[place].sum(axis=(0, 1)) + untold
    total = float(sum_values(tally, place, attribute, range(len(attribute.groups))).sum())
    total += float(untold[:2].sum())  # What is selected has the value 1
    area = estimate_tallied_auroc(tally, place) if model.kind != "decision" else None
    brier, fine = float("nan"), attribute.fine[place]
    if model.kind == "probability" and fine is not None:
        squares, scores = (int(part.sum()) * UNIT for part in (fine.square, fine.score[:, 1]))
        brier = (squares - 2 * scores + int(counts[0] + counts[2])) / tally.rows
    return lay_out_model(models[model.model], model, counts, area, brier, total / tally.rows)


def bin_tallied_scores(tally: Tally) -> pd.DataFrame:
    """Count records and events by the ten bins of CAL, for all records and each group: ``score_bins.csv``.

    Ranks are left out: their ten bins of equal count are unknown to a tally.
    """
    rows = [
        row
        for place, model in enumerate(tally.models)
        if model.kind != "rank"
        for number, attribute in enumerate(tally.attributes)
        for together in ((True, False) if number == 0 else (False,))
        for row in _list_bins(tally, place, attribute, together=together)
    ]
    return fill_table("score_bins", rows)


def _list_bins(
    tally: Tally, place: int, attribute: TalliedAttribute, *, together: bool
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one model and attribute."""
    sums = _sum_bins(tally, place, attribute)
    if together:
        sums = sums.sum(axis=1, keepdims=True)
    means, edges = rate(sums[2], sums[0]), np.arange(N_BINS + 1) / N_BINS
    names = (ALL,) if together else attribute.groups
    for group, name in enumerate(names):
        for bin_ in range(N_BINS):
            n, events, mean = int(sums[0, group, bin_]), int(sums[1, group, bin_]), means[group, bin_]
            where = tally.models[place].model, ALL if together else attribute.name, name
            yield *where, bin_ + 1, edges[bin_], edges[bin_ + 1], n, events, mean


def _sum_bins(tally: Tally, place: int, attribute: TalliedAttribute) -> NDArray[np.float64]:
    """Sum records, events and scores of each group and bin, shape (3, n_groups, 10)."""
    if tally.models[place].kind == "probability":
        tens = attribute.tens
        return np.stack([part[place].sum(axis=0) for part in (tens.records, tens.events, tens.score)])
    tp, fp, fn, tn = np.moveaxis(attribute.counts[place].sum(axis=0).astype(float), -1, 0)
    found = np.zeros((3, len(tp), N_BINS))
    found[:, :, 0] = fn + tn, fn, np.zeros(len(tp))
    found[:, :, -1] = tp + fp, tp, tp + fp
    return found
