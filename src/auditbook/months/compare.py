"""What has changed from one audit to the next, what of it was foretold, and what is beyond noise?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from auditbook.errors import InputError
from auditbook.months.differences import Paired, compare_values
from auditbook.months.foretold import Forecast, compare_cells, sum_forecasts
from auditbook.months.setups import ModelPair, SetupChange, compare_setups, pair_models, same_data
from auditbook.results import Run


@dataclass(frozen=True)
class Comparison:
    """Two audits side by side."""

    titles: tuple[str, str]
    setups: list[SetupChange]
    pairs: list[ModelPair]
    shared: bool  # Whether both audited the same records
    unpaired: bool  # Whether they did, and the models' decisions on them were not given
    cells: pd.DataFrame  # From `compare_cells`
    forecast: Forecast
    differences: pd.DataFrame  # From `compare_values`


def compare_runs(first: Run, second: Run, *, records: dict[str, Paired] | None = None) -> Comparison:
    """Compare two finished audits, the earlier one first.

    Parameters
    ----------
    first, second : Run
        From `read_run`.
    records : dict of str to Paired, optional
        By the second model's name, both models' decisions on the records that the two audits share.

    Returns
    -------
    Comparison
        What differs before any result; every cell that both have; which published verdicts turned beside the
        chance that the first audit printed (`next_audit`), where the second is of other records; every rate
        and gap with the interval of its change.

    Raises
    ------
    InputError
        If an audit made no verdicts, or the two have no model in common.

    Examples
    --------
    >>> from pathlib import Path
    >>> from auditbook.results import read_run
    >>> one = read_run(Path("runs/texas-twin"))  # doctest: +SKIP
    >>> compare_runs(one, one).differences["beyond_noise"].any()  # doctest: +SKIP
    False
    """
    for run in (first, second):
        if not run.holds("verdicts"):
            raise InputError(
                f"{run.folder} holds no verdicts to compare; make them with: auditbook audit COHORT"
            )
    pairs, shared = pair_models(first, second), same_data(first, second)
    if not pairs:
        before, after = (", ".join(run.info["models"]) or "none" for run in (first, second))
        raise InputError(
            f"the two audits have no model in common: {first.folder} has {before}; {second.folder} has "
            f"{after}; give the model one name in both cohort files, or compare audits of a single model each"
        )
    cells = compare_cells(first.verdicts, second.verdicts, pairs, others=not shared)
    given = records or {}
    return Comparison(
        titles=(str(first.info["title"]), str(second.info["title"])),
        setups=compare_setups(first, second),
        pairs=pairs,
        shared=shared,
        unpaired=shared and not given,
        cells=cells,
        forecast=sum_forecasts(cells),
        differences=compare_values(first, second, pairs, paired=given),
    )


def list_turned(comparison: Comparison) -> pd.DataFrame:
    """List the cells whose verdict, shown conclusion or standing is another one."""
    cells = comparison.cells
    differs = np.zeros(len(cells), bool)
    for name in ("verdict", "shown", "standing"):
        differs |= (cells[f"{name}_before"] != cells[f"{name}_after"]).to_numpy(bool)
    return cells[differs]
