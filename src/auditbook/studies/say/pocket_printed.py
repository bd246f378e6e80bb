"""What did the printed audits in pockets find, and what does this run show in the same place?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import MISSING, count, count_of, number, read_layout, share
from auditbook.pockets import ABSTAINED, OVERALL, is_true, share_in_flagged
from auditbook.results import Run, match_rows, rows
from auditbook.studies.say.pocket_applications import split_contrast

PRINTED_COLUMNS = read_layout("studies", "pocket_printed.printed")
MAPPED, COSTS, HEALTH = "health_mapped", "cost_label", "health_label"
RACE, SEX = "race: Black - White", "sex: Female - Male"
APACHE, BOOSTED = "apache", "lightgbm"
BLACK, GENDER, HISPANIC = (
    "ethnicity: African American - Caucasian",
    "gender: F - M",
    "ethnicity: Hispanic - Caucasian",
)


@dataclass(frozen=True)
class Printed:
    """A figure of a publication, and where a run has its like."""

    figure: str  # What it is
    printed: str  # As printed
    find: Callable[[Run], str]  # Takes a run and writes its figure; a dash where it has none


def take_row(run: Run, model: str, pocket: str = OVERALL, **kind: str) -> Any:
    """Take the tested row of one pocket of the forest map; None where there is none."""
    found = match_rows(_take_rows(run, model, **kind), pocket=pocket, status="tested")
    return rows(found)[0] if len(found) else None


def _take_rows(
    run: Run, model: str, *, quantity: str = "mu", contrast: str = "", name: str = "forest"
) -> pd.DataFrame:
    """Take all rows of one map, without paired gaps of another model."""
    return match_rows(run.pocket_errors, model=model, map=name, quantity=quantity, contrast=contrast)


def _inside(run: Run, model: str, **kind: str) -> pd.DataFrame:
    """Take the tested pockets of one map."""
    found = _take_rows(run, model, **kind)
    return found[(found["pocket"] != OVERALL) & (found["status"] == "tested")]


def _whole(model: str, run: Run, **kind: str) -> str:
    """Write an overall estimate."""
    row = take_row(run, model, **kind)
    return MISSING if row is None else number(row.estimate)


def _means(model: str, run: Run, *, largest: bool = False, digits: int = 3) -> str:
    """Write mean prediction and mean outcome of all records, or of the largest tested pocket."""
    found = _inside(run, model).sort_values("n", ascending=False)
    pocket = found["pocket"].iloc[0] if largest and len(found) else OVERALL
    row = None if largest and found.empty else take_row(run, model, pocket)
    if row is None:
        return MISSING
    return f"{number(row.mean_prediction, digits=digits)} and {number(row.mean_outcome, digits=digits)}"


def _ends(model: str, run: Run, *, name: str = "forest") -> str:
    """Write the lowest and highest error of the tested pockets."""
    found = _inside(run, model, name=name)["estimate"]
    return f"{number(found.min())} and {number(found.max())}" if len(found) else MISSING


def _flags(model: str, run: Run, **kind: str) -> str:
    """Write how many of the tested pockets are flagged."""
    found = _inside(run, model, **kind)
    if found.empty:
        return "none tested" if len(_take_rows(run, model, **kind)) else MISSING
    return count_of(is_true(found["flagged"]).sum(), len(found), "tested pocket")


def _concentration(model: str, contrast: str, run: Run) -> str:
    """Write which shares of two groups lie in forest pockets flagged too low."""
    attribute, focal, reference = split_contrast(contrast, run.pocket_groups)
    if not attribute or _inside(run, model).empty:
        return MISSING
    held = share_in_flagged(
        run.pocket_errors, run.pocket_groups, model=model, attribute=attribute, direction="under"
    )
    return f"{share(held.get(focal, 0.0), digits=0)} and {share(held.get(reference, 0.0), digits=0)}"


def _ruled_out(model: str, contrast: str, tolerance: float, run: Run) -> str:
    """Write for which share of the focal records gaps beyond a tolerance are ruled out."""
    table = run.pocket_summary
    found = match_rows(table, model=model, map="forest", quantity="delta")
    found = found[(found["contrast"] == contrast) & np.isclose(found["tolerance"], tolerance)]
    return share(found["equivalence_share"].iloc[0], digits=0) if len(found) else MISSING


def _pockets(run: Run) -> str:
    """Write the number of forest pockets."""
    found = int((run.pockets["map"] == "forest").sum())
    return count(found) if found else MISSING


def _abstained(run: Run) -> str:
    """Write the share of the audited records that no forest pocket takes."""
    groups = run.pocket_groups
    if groups.empty:
        return MISSING
    here = match_rows(groups, map="forest", attribute=groups["attribute"].iloc[0])
    return share(here.loc[here["pocket"] == ABSTAINED, "n"].sum() / here["n"].sum())


def _conflicts(model: str, run: Run) -> str:
    """Write the share of records that the two maps flag in opposite directions."""
    table = run.pocket_summary
    found = match_rows(table, model=model, map="combined", quantity="mu")
    return share(found["conflict_share"].iloc[0]) if len(found) else MISSING


def _paired(one: str, other: str, contrast: str, run: Run) -> str:
    """Write in how many pockets the gap of two models differs."""
    found = match_rows(
        run.pocket_errors, model=one, other_model=other, map="forest", contrast=contrast, status="tested"
    )
    found = found[found["pocket"] != OVERALL]
    return count_of(is_true(found["flagged"]).sum(), len(found), "tested pocket") if len(found) else MISSING


def _strict(model: str, run: Run) -> str:
    """Write how many pocket flags stay at the stricter level."""
    found = _inside(run, model)
    return count(is_true(found["flagged_strict"]).sum()) if len(found) else MISSING


def _units(run: Run) -> str:
    """Write how many hospitals and stays were audited."""
    told = run.info.get("pockets") or {}
    if told.get("status") != "done":
        return MISSING
    return f"{count(told['units']['audit'])} and {count(told['records']['audit'])}"


def _largest(model: str, run: Run) -> str:
    """Write the share of the audited records in the largest tested pocket."""
    whole, found = take_row(run, model), _inside(run, model)
    return share(found["n"].max() / whole.n, digits=0) if whole is not None and len(found) else MISSING


CARE = (
    Printed("forest pockets", "5", _pockets),
    Printed("audited records in no pocket", "2%", _abstained),
    Printed("mapped score: predicted and observed, all records", "1.35 and 1.36",
            partial(_means, MAPPED, digits=2)),
    Printed("mapped score: lowest and highest error of a forest pocket", "-0.78 and 0.72",
            partial(_ends, MAPPED)),
    Printed("mapped score: forest pockets flagged", "5 of 5", partial(_flags, MAPPED)),
    Printed("health label: forest pockets flagged", "0 of 5", partial(_flags, HEALTH)),
    Printed("Black and White patient-years where the mapped score is too low", "49% and 33%",
            partial(_concentration, MAPPED, RACE)),
    Printed("records that the two maps flag in opposite directions", "2.2%", partial(_conflicts, MAPPED)),
    Printed("mapped score: Black-White gap, all records", "-0.65",
            partial(_whole, MAPPED, quantity="delta", contrast=RACE)),
    Printed("mapped score: forest pockets with a flagged Black-White gap", "3 of 5",
            partial(_flags, MAPPED, quantity="delta", contrast=RACE)),
    Printed("cost label less health label: forest pockets with a flagged gap of gaps", "2 of 5",
            partial(_paired, COSTS, HEALTH, RACE)),
    Printed("health label: Black patient-years for whom gaps beyond 0.5 are ruled out", "98%",
            partial(_ruled_out, HEALTH, RACE, 0.5)),
    Printed("cost label: female-male gap, all records", "0.73",
            partial(_whole, COSTS, quantity="delta", contrast=SEX)),
    Printed("cost label: forest pockets with a flagged female-male gap", "5 of 5",
            partial(_flags, COSTS, quantity="delta", contrast=SEX)),
)  # fmt: skip
"""Printed figures of the care-management audit (section 6), in conditions."""
ICU = (
    Printed("audited hospitals and stays", "40 and 20,923", _units),
    Printed("pockets of the tree cut", "4", _pockets),
    Printed("APACHE IVa: predicted and observed, all stays", "0.110 and 0.081", partial(_means, APACHE)),
    Printed("APACHE IVa: error, all stays", "0.029", partial(_whole, APACHE)),
    Printed("share of the stays in the largest tested pocket", "about half", partial(_largest, APACHE)),
    Printed("APACHE IVa: predicted and observed there", "0.054 and 0.024",
            partial(_means, APACHE, largest=True)),
    Printed("APACHE IVa: pockets flagged", "2 of 3", partial(_flags, APACHE)),
    Printed("of these, at the stricter level", "1", partial(_strict, APACHE)),
    Printed("LightGBM: pockets flagged", "0 of 3", partial(_flags, BOOSTED)),
    Printed("pockets with a flagged Black-White gap, APACHE IVa", "none (another map)",
            partial(_flags, APACHE, quantity="delta", contrast=BLACK)),
    Printed("pockets with a flagged female-male gap, APACHE IVa", "none (another map)",
            partial(_flags, APACHE, quantity="delta", contrast=GENDER)),
    Printed("Hispanic-White gap", "could not be tested",
            partial(_flags, APACHE, quantity="delta", contrast=HISPANIC)),
)  # fmt: skip
"""Printed figures of the audit of a severity score (section 6), in probabilities."""


def compare_printed(run: Run, printed: Sequence[Printed]) -> pd.DataFrame:
    """Set printed figures beside this run's, for `PRINTED_COLUMNS`.

    References
    ----------
    modenesi/pocket-audit (2026), section 6.
    """
    found = [{"figure": one.figure, "printed": one.printed, "here": one.find(run)} for one in printed]
    return pd.DataFrame(found, columns=[column.name for column in PRINTED_COLUMNS])


def describe_printed(table: pd.DataFrame, info: Mapping[str, Any]) -> str:
    """Say for how many printed figures this run has one, and what their likeness means."""
    held = int((table["here"] != MISSING).sum())
    text = f"This run has a like for {count_of(held, len(table), 'printed figure')}."
    if not held:
        return text
    if info.get("synthetic"):
        return (
            f"{text} Its cohort is synthetic, and the printed pattern was planted in it: where the two "
            "columns agree, the audit has found again what was put in. That is a check of the method and no "
            "replication of the finding; only other real records could give one."
        )
    return (
        f"{text} Its records were not made by this project. Roles, forest and draws are this project's own, "
        "so that figures may differ where the finding is the same."
    )
