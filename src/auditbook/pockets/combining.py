"""What do one or two maps say together: which records are flagged, and for which are errors ruled out?

The maps are not averaged. Each is tested at its part of the level, and a record is flagged when either map
flags its pocket; opposite directions are a conflict, reported apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import TABLES
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.composition import SPLIT_KEYS, split_gaps
from auditbook.pockets.data import Contrast, PocketData
from auditbook.pockets.families import OVERALL
from auditbook.pockets.frozen import ABSTAIN
from auditbook.pockets.testing import MapAudit

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

COMBINED = "combined"
"""Name of the audit that takes all maps together."""
KEYS = ["model", "other_model", "quantity", "contrast"]


@dataclass(frozen=True)
class RecordFlags:
    """What is said of each record, for one model (or pair), quantity and contrast."""

    over: Bools  # shape (n,): In a pocket flagged for predictions that are too high
    under: Bools  # shape (n,): In a pocket flagged for predictions that are too low
    abstained: Bools  # shape (n,): No map takes the record

    @property
    def conflict(self) -> Bools:
        """Flagged in both directions, by different maps."""
        return self.over & self.under

    @property
    def direction(self) -> NDArray[np.int8]:
        """1 for over, -1 for under, 0 for neither or a conflict."""
        return self.over.astype(np.int8) - self.under.astype(np.int8)


def choose_tolerances(settings: PocketSettings, outcome: Array, *, continuous: bool) -> tuple[float, ...]:
    """Choose the half widths within which an interval rules errors out."""
    if settings.tolerances:
        return settings.tolerances
    return (0.25 * float(np.std(outcome)), 0.5 * float(np.std(outcome))) if continuous else (0.05,)


def flag_records(found: Sequence[MapAudit], *, model: str, quantity: str, **key: str) -> RecordFlags:
    """Flag the records of pockets that one map or more flags."""
    wanted = {"model": model, "other_model": "", "quantity": quantity, "contrast": "", **key}
    over, under, abstained = [], [], []
    for each in found:
        rows = _pocket_rows(each, wanted)
        direction = rows["direction"].to_numpy()
        over.append(_spread(direction == "over", each))
        under.append(_spread(direction == "under", each))
        abstained.append(each.assignment.codes == ABSTAIN)
    return RecordFlags(np.any(over, axis=0), np.any(under, axis=0), np.all(abstained, axis=0))


def _pocket_rows(found: MapAudit, wanted: dict[str, str]) -> pd.DataFrame:
    """Take the rows of one family's contrast, pocket by pocket in the map's order."""
    errors = found.errors
    chosen = errors["pocket"] != OVERALL
    for column in KEYS:
        chosen &= errors[column] == wanted[column]
    if not chosen.any():
        raise KeyError(f"nothing was audited as {wanted}")
    return errors[chosen]


def _spread(of_pockets: NDArray[Any], found: MapAudit) -> Bools:
    """Give each record what is true of its pocket; False where the map abstains."""
    codes = found.assignment.codes
    return np.asarray(np.append(of_pockets, False)[np.where(codes == ABSTAIN, len(of_pockets), codes)], bool)


def rule_out(found: MapAudit, *, tolerance: float, **key: str) -> Bools:
    r"""Tell for which records the interval of their pocket lies within a tolerance.

    .. math:: 1[c(i) \text{ tested},\ -\tau \le l_{c(i)},\ u_{c(i)} \le \tau]

    The equivalence share is the mean over all records, those without a pocket or in an untested one included.
    """
    rows = _pocket_rows(found, {"other_model": "", "contrast": "", **key})
    tested = (rows["status"] == "tested").to_numpy()
    within = (rows["ci_low"] >= -tolerance).to_numpy() & (rows["ci_high"] <= tolerance).to_numpy()
    return _spread(tested & within, found)


def combine_maps(
    found: Sequence[MapAudit],
    audit: PocketData,
    *,
    contrasts: Sequence[Contrast],
    tolerances: Sequence[float],
) -> pd.DataFrame:
    """Summarise each map, and all together when there are two."""
    pairs = {pair.name: pair for pair in contrasts}
    keys = [
        dict(zip(KEYS, each, strict=True))
        for each in found[0].errors[KEYS].drop_duplicates().itertuples(index=False)
    ]
    groups = [(str(each.errors["map"].iloc[0]), [each]) for each in found]
    if len(found) > 1:
        groups.append((COMBINED, list(found)))
    rows = [
        {**key, "map": name, "tolerance": tolerance}
        | _summarise(maps, key, _denominator(pairs.get(key["contrast"]), audit), tolerance)
        for key in keys
        for name, maps in groups
        for tolerance in tolerances
    ]
    splits = pd.concat([split_gaps(each, audit, contrasts=contrasts) for each in found], ignore_index=True)
    summary = pd.DataFrame(rows).merge(splits, on=SPLIT_KEYS, how="left", validate="many_to_one")
    return summary[TABLES["pocket_summary"].names()]


def _denominator(pair: Contrast | None, audit: PocketData) -> Bools:
    """Choose the records that shares refer to: all, or those of the focal group."""
    if pair is None:
        return np.ones(len(audit.outcome), bool)
    codes = next(item.codes for item in audit.attributes if item.name == pair.attribute)
    return np.asarray(codes == pair.focal_code)


def _summarise(
    maps: Sequence[MapAudit], key: dict[str, Any], chosen: Bools, tolerance: float
) -> dict[str, float]:
    """Count pockets, and take the shares of the chosen records; nan without any."""
    rows = pd.concat([_pocket_rows(each, key) for each in maps])
    flags = flag_records(maps, **key)
    ruled_out = np.all([rule_out(each, tolerance=tolerance, **key) for each in maps], axis=0)
    shares = {
        "equivalence_share": ruled_out,
        "abstained_share": flags.abstained,
        "over_share": flags.over & ~flags.conflict,
        "under_share": flags.under & ~flags.conflict,
        "conflict_share": flags.conflict,
        "in_gap_share": flags.over | flags.under,
    }
    return {
        "tested": int((rows["status"] == "tested").sum()),
        "flagged": int(rows["flagged"].sum()),
        **{name: float(each[chosen].mean()) if chosen.any() else np.nan for name, each in shares.items()},
    }
