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
PARTS = "composition composition_se within within_se overall overall_se lone_strata composition_share".split()
SUMMARY_COLUMNS = (
    "model other_model map quantity contrast tested flagged tolerance equivalence_share abstained_share "
    "over_share under_share conflict_share in_gap_share"
).split() + PARTS


@dataclass(frozen=True)
class RecordFlags:
    """What is said of each record, for one model (or pair), quantity and contrast.

    Attributes
    ----------
    over, under : bool arrays, shape (n,)
        In a pocket flagged for predictions that are too high, or too low.
    abstained : bool array, shape (n,)
        No map takes the record.
    """

    over: Bools
    under: Bools
    abstained: Bools

    @property
    def conflict(self) -> Bools:
        """Flagged in both directions, by different maps."""
        return self.over & self.under

    @property
    def direction(self) -> NDArray[np.int8]:
        """1 for over, -1 for under, 0 for neither or a conflict."""
        return self.over.astype(np.int8) - self.under.astype(np.int8)


def choose_tolerances(settings: PocketSettings, outcome: Array, *, continuous: bool) -> tuple[float, ...]:
    """Choose the half widths within which an interval rules errors out.

    Parameters
    ----------
    settings : PocketSettings
        May name them.
    outcome : float64 array, shape (n,)
        Of discovery records, so that no audit outcome decides.
    continuous : bool
        True when the outcome is a number.

    Returns
    -------
    tuple of float
        0.05 for a binary outcome, a quarter and half of the standard deviation for a continuous one (ours).

    Examples
    --------
    >>> choose_tolerances(PocketSettings(), np.array([0.0, 2.0]), continuous=True)
    (0.25, 0.5)
    """
    if settings.tolerances:
        return settings.tolerances
    return (0.25 * float(np.std(outcome)), 0.5 * float(np.std(outcome))) if continuous else (0.05,)


def flag_records(found: Sequence[MapAudit], *, model: str, quantity: str, **key: str) -> RecordFlags:
    """Flag the records of pockets that one map or more flags.

    Parameters
    ----------
    found : sequence of MapAudit
        Of the same records, each at its part of the level.
    model, quantity : str
        As in the table of errors.
    **key : str
        `contrast` and `other_model`; blank where they are not given.

    Returns
    -------
    RecordFlags
        Of all records, whichever group they belong to.

    Raises
    ------
    KeyError
        If nothing was audited under these names.
    """
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
    """Tell for which records the interval of their pocket lies within a tolerance.

    Parameters
    ----------
    found : MapAudit
        From `audit_map`.
    tolerance : float
        In units of the outcome.
    **key : str
        `model`, `quantity`, `contrast`, `other_model`, as in the table of errors.

    Returns
    -------
    bool array, shape (n,)
        False too where the pocket was not tested or the map abstains. It says nothing of errors that cancel
        within a pocket.
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
    """Summarise each map, and all together when there are two.

    Parameters
    ----------
    found : sequence of MapAudit
        Of the same records, each tested at its part of the level.
    audit : PocketData
        The records.
    contrasts : sequence of Contrast
        Pairs of groups that were compared.
    tolerances : sequence of float
        Half widths within which an interval rules errors out.

    Returns
    -------
    DataFrame
        A row a model, map, quantity, contrast and tolerance. Shares are of all audit records, or of the focal
        group in a gap, abstained and untested ones included. Together, a record counts as ruled out when the
        interval of its pocket lies within the tolerance in every map. `in_gap_share` takes all directions.
        Counts of pockets leave out the overall comparison.

    Examples
    --------
    >>> from auditbook.pockets.testing import audit_map
    >>> from auditbook.studies.simulations.fixed_map import fix_map
    >>> from auditbook.studies.simulations.null_worlds import DESIGNS, draw_null
    >>> audit = draw_null(DESIGNS[1], np.random.default_rng(1))
    >>> found = audit_map(fix_map(5), audit, contrasts=(), settings=PocketSettings(draws=99), seed=1)
    >>> summary = combine_maps([found], audit, contrasts=(), tolerances=(0.05,))
    >>> summary[["tested", "flagged", "equivalence_share"]].to_numpy().tolist()
    [[5.0, 0.0, 1.0]]
    """
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
    return summary[SUMMARY_COLUMNS]


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
