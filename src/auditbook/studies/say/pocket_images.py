"""What does the audit of two classifiers of images show: where do both err, and what can be compared?"""

from functools import partial

import numpy as np
import pandas as pd

from auditbook.book.say.text import MISSING, count, escape, join_words, number, share
from auditbook.pockets import OVERALL, is_true
from auditbook.results import Run, match_rows, rows
from auditbook.studies.say.pocket_printed import Printed

VIEW, FROM_THE_FRONT = "view", "AP"
SEX = "sex: Female - Male"
MAPS = ("forest", "ridge")
WORDS = {"under": "too low", "over": "too high"}


def list_shared_flags(errors: pd.DataFrame, direction: str) -> pd.DataFrame:
    """List the pockets of either map whose mean error every model has flagged to one side.

    A row a pocket: map, pocket, records, and the least and largest of the models' errors.
    """
    found = errors[(errors["quantity"] == "mu") & (errors["pocket"] != OVERALL)]
    flagged = found[is_true(found["flagged"]) & (found["direction"] == direction)]
    held = flagged.groupby(["map", "pocket"], sort=False).agg(
        n=("n", "max"), low=("estimate", "min"), high=("estimate", "max"), models=("model", "nunique")
    )
    return held[held["models"] == found["model"].nunique()].reset_index()


def measure_view(features: pd.DataFrame, name: str, pocket: str) -> float:
    """Measure which share of a pocket's discovery images is anteroposterior; nan where that is not told."""
    found = match_rows(features, map=name, pocket=pocket, column=VIEW, measure="share")
    for row in rows(found):
        held = float(str(row.inside).rstrip(" %")) / 100
        return held if row.code == FROM_THE_FRONT else 1 - held
    return float("nan")


def pick_shared(run: Run, direction: str) -> pd.Series | None:
    """Pick the pocket that is most too low, or of those too high the one with most anteroposterior views."""
    found = list_shared_flags(run.pocket_errors, direction)
    if found.empty:
        return None
    if direction == "under":
        return found.iloc[int(found["low"].argmin())]
    places = zip(found["map"], found["pocket"], strict=True)
    views = np.array([measure_view(run.pocket_features, *place) for place in places])
    return found.iloc[int(np.nan_to_num(views, nan=-1.0).argmax())]


def describe_shared(run: Run) -> str:
    """Say where every model errs to the same side."""
    points = []
    for direction, word in WORDS.items():
        found = list_shared_flags(run.pocket_errors, direction)
        if found.empty:
            points.append(f"- No pocket is flagged {word} for every model.")
            continue
        told = [f"{escape(row.pocket)} ({row.map} map: {_write_errors(row)})" for row in rows(found)]
        points.append(f"- Every model is {word} in {join_words(told)}.")
    return "\n".join(points)


def _write_errors(row: object) -> str:
    """Write the least and the largest error of the models."""
    low, high = (number(getattr(row, name)) for name in ("low", "high"))
    return low if low == high else f"{low} and {high}"


def measure_untested(errors: pd.DataFrame, *, model: str, name: str = "forest") -> tuple[float, float]:
    """Measure for which shares of women's and men's images no gap within a pocket could be tested."""
    found = match_rows(errors, model=model, map=name, quantity="delta", contrast=SEX)
    whole = found[found["pocket"] == OVERALL]
    if whole.empty:
        return float("nan"), float("nan")
    tested = found[(found["pocket"] != OVERALL) & (found["status"] == "tested")]
    focal, reference = (
        1 - float(tested[column].sum()) / float(whole[column].iloc[0])
        for column in ("n_focal", "n_reference")
    )
    return focal, reference


def describe_untested(errors: pd.DataFrame, *, model: str) -> str:
    """Say of both maps for which share of women's and men's images a gap could not be tested."""
    points = []
    for name in MAPS:
        women, men = measure_untested(errors, model=model, name=name)
        if women == women:
            points.append(
                f"- {name.capitalize()} map: no gap could be tested for {share(women, digits=0)} of the "
                f"women's and {share(men, digits=0)} of the men's images."
            )
    return "\n".join(points) if points else "Women and men are not compared in this run."


def _overall(run: Run) -> str:
    """Write the overall errors."""
    found = match_rows(run.pocket_errors, quantity="mu", pocket=OVERALL, map="forest", status="tested")
    if found.empty:
        return MISSING
    flagged = int(is_true(found["flagged"]).sum())
    return f"{join_words([number(value) for value in found['estimate']])}; {count(flagged)} flagged"


def _shared(direction: str, what: str, run: Run) -> str:
    """Write the errors, the share of images or the views of the pocket where every model errs most."""
    row = pick_shared(run, direction)
    if row is None:
        return MISSING
    if what == "errors":
        return f"{number(row['low'])} and {number(row['high'])} ({escape(row['pocket'])})"
    if what == "views":
        return share(measure_view(run.pocket_features, row["map"], row["pocket"]), digits=0)
    whole = match_rows(run.pocket_errors, quantity="mu", pocket=OVERALL, map=row["map"])["n"].iloc[0]
    return share(row["n"] / whole, digits=1)


def _untested(run: Run) -> str:
    """Write the shares without a tested gap, of the first model."""
    models = run.pocket_errors["model"]
    if models.empty:
        return MISSING
    women, men = measure_untested(run.pocket_errors, model=str(models.iloc[0]))
    return MISSING if women != women else f"{share(women, digits=0)} and {share(men, digits=0)}"


def _tested(quantity: str, run: Run) -> str:
    """Write the fewest and most tested pockets of a map and model."""
    found = match_rows(run.pocket_errors, quantity=quantity)
    found = found[found["pocket"] != OVERALL]
    if found.empty:
        return MISSING
    held = (found["status"] == "tested").groupby([found["map"], found["model"]]).sum()
    low, high = count(held.min()), count(held.max())
    return low if low == high else f"{low} to {high}"


def _gaps(run: Run) -> str:
    """Write how many gaps are flagged, of how many that were tested, overall ones included."""
    found = match_rows(run.pocket_errors, quantity="delta", contrast=SEX, status="tested")
    return f"{count(is_true(found['flagged']).sum())} of {count(len(found))}" if len(found) else MISSING


IMAGES = (
    Printed("overall errors of the two classifiers", "none detectable", _overall),
    Printed("pocket where both are too low: errors", "-0.28 to -0.23", partial(_shared, "under", "errors")),
    Printed("its share of the audited images", "3%", partial(_shared, "under", "share")),
    Printed("pocket where both are too high: errors", "0.05 to 0.08", partial(_shared, "over", "errors")),
    Printed("anteroposterior views among its discovery images", "95%", partial(_shared, "over", "views")),
    Printed("flagged female-male gaps", "none", _gaps),
    Printed("women's and men's images without a tested gap, forest map", "53% and 41%", _untested),
    Printed("gaps tested in pockets of one map, each model", "5", partial(_tested, "delta")),
    Printed("mean errors tested in pockets of one map, each model", "11 to 13", partial(_tested, "mu")),
)
"""Printed figures of the audit of two chest X-ray classifiers (sections 6 and 7), in probabilities."""
