"""Where do the scores err, and for whom: the flagged pockets and gaps of a model, in words?"""

import math
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import agree, count, count_of, number, plural
from auditbook.pockets import OVERALL, errs_as_a_whole, holds_nearly_all, is_true
from auditbook.report.content import PocketNote, Statement
from auditbook.report.source import Source, list_names, rest_on
from auditbook.results import match_rows, rows

MAPS = {"forest": "forest map", "ridge": "ridge map"}
ERRS = {"over": "too high", "under": "too low"}


def build_pockets(source: Source, model: str) -> tuple[PocketNote, ...]:
    """List the flagged pockets of a model, the largest error first, then the flagged gaps within pockets.

    Those of a map on which one pocket holds nearly everybody are left out: they tell nobody apart.
    """
    errors = source.of("pocket_errors", model=model)
    flagged = errors[is_true(errors["flagged"]) & (errors["pocket"] != OVERALL)]
    whole = {name for name in errors["map"].unique() if _holds_everybody(source, str(name))}
    flagged = flagged[~flagged["map"].isin(whole)]
    found = []
    for quantity in ("mu", "delta"):
        part = flagged[flagged["quantity"] == quantity]
        order = np.argsort(-part["estimate"].abs().to_numpy(float), kind="stable")
        found += [_write_note(source, row) for row in rows(part.iloc[order])]
    return tuple(found)


def _holds_everybody(source: Source, name: str) -> bool:
    """Tell whether one pocket of a map holds all or nearly all, and tells nobody apart."""
    return holds_nearly_all(source.exact.of("pockets", map=name)["n_audit"])


def list_tests(source: Source, model: str) -> pd.DataFrame:
    """List what was tested of a model: all records together, and the pockets of maps that tell people apart.

    All records together count once for both maps, flagged where either flags them. Columns quantity,
    contrast, pocket, flagged.
    """
    errors = source.of("pocket_errors", model=model, other_model="", status="tested")
    local = [name for name in dict.fromkeys(errors["map"]) if not _holds_everybody(source, str(name))]
    errors = errors[(errors["pocket"] == OVERALL) | errors["map"].isin(local)]
    place = errors["map"].where(errors["pocket"] != OVERALL, "")
    told = errors.assign(map=place, flagged=is_true(errors["flagged"]))
    keys = ["map", "quantity", "contrast", "pocket"]
    return told.groupby(keys, sort=False)["flagged"].any().reset_index()


def _write_note(source: Source, row: Any) -> PocketNote:
    """Write one flagged error or gap."""
    name = name_pocket(source, row.map, row.pocket)
    text = _write_error(source, row, name) if row.quantity == "mu" else _write_gap(source, row, name)
    keys = {"model": row.model, "map": row.map, "quantity": row.quantity, "contrast": row.contrast}
    basis = (
        rest_on("pocket_errors.csv", **keys, pocket=row.pocket),
        rest_on("pockets.csv", map=row.map, pocket=row.pocket),
    )
    kind = "error" if row.quantity == "mu" else "gap"
    return PocketNote(row.model, row.map, row.pocket, kind, Statement(text, basis))  # type: ignore[arg-type]


def name_pocket(source: Source, name: str, pocket: str) -> str:
    """Name a pocket with its words."""
    if pocket == OVERALL:
        return "all records together"
    found = source.of("pockets", map=name, pocket=pocket)
    words = found["name"].iloc[0] if len(found) else ""
    return f"{pocket}: {words}" if words else pocket


def _write_error(source: Source, row: Any, name: str) -> str:
    """Say of whom the prediction is too high or too low: predicted and happened."""
    size = f"{MAPS.get(row.map, row.map)}, {source.write_n(row.n)}"
    if math.isnan(row.estimate) or math.isnan(row.mean_prediction):
        return f"{name} ({size}): the prediction is {ERRS[row.direction]}."
    if source.continuous:
        told = f"{number(row.mean_prediction)} predicted, {number(row.mean_outcome)} happened, in the mean"
    else:
        told = (
            f"of 100 people {number(100 * row.mean_prediction, digits=0)} predicted, "
            f"{number(100 * row.mean_outcome, digits=0)} happened"
        )
    return f"{name} ({size}): {told}; {ERRS[row.direction]}{_write_size(source, row)}."


def _write_gap(source: Source, row: Any, name: str) -> str:
    """Say between which groups the error differs within a pocket."""
    sizes = f"{source.write_n(row.n_focal)} and {source.write_n(row.n_reference)}"
    size = f"{MAPS.get(row.map, row.map)}, {sizes}"
    return f"{name} ({size}): {_compare_groups(source, row)}{_write_size(source, row)}."


def _compare_groups(source: Source, row: Any) -> str:
    """Say of which of two groups the prediction is too high or too low, compared with the other."""
    side, pair = ERRS[row.direction], name_pair(source, row.contrast)
    if pair is None:
        return f"of {row.contrast} the prediction is {side} for the first compared with the second"
    attribute, one, other = pair
    return f"the prediction is {side} for {one} compared with {other} ({attribute})"


def name_pair(source: Source, contrast: str) -> tuple[str, str, str] | None:
    """Find attribute and both groups of a contrast by its name; None where no group is known."""
    known = pd.concat(
        [source.table(name)[["attribute", "group"]] for name in ("cohort_groups", "pocket_groups")]
    )
    for name, part in known.drop_duplicates().groupby("attribute", sort=False)["group"]:
        for one in part:
            rest = contrast.removeprefix(f"{name}: {one} - ")
            if rest != contrast and rest in set(part):
                return str(name), str(one), rest
    return None


def list_gaps(source: Source, model: str) -> list[str]:
    """Say of each flagged contrast how its groups differ: over all records, else where they differ most."""
    errors = source.of("pocket_errors", model=model, other_model="", quantity="delta", status="tested")
    local = [name for name in dict.fromkeys(errors["map"]) if not _holds_everybody(source, str(name))]
    flagged = errors[is_true(errors["flagged"])]
    flagged = flagged[(flagged["pocket"] == OVERALL) | flagged["map"].isin(local)]
    order = flagged.assign(inside=flagged["pocket"] != OVERALL, size=-flagged["estimate"].abs())
    ranked = order.sort_values(["inside", "size"], kind="stable").drop_duplicates("contrast")
    return [_write_short(source, row) for row in rows(ranked)]


def _write_short(source: Source, row: Any) -> str:
    """Write a gap in a few words."""
    where = f" in pocket {row.pocket}" if row.inside else ""
    text = _compare_groups(source, row).replace("the prediction is ", "", 1)
    scale, digits, unit = _choose_unit(source)
    size = "" if math.isnan(row.estimate) else f" by {number(scale * abs(row.estimate), digits=digits)}{unit}"
    return f"{text}{size}{where}"


def _write_size(source: Source, row: Any) -> str:
    """Write by how much: with simultaneous interval, per 100 people where the outcome is an event."""
    if math.isnan(row.estimate):
        return " (by how much is withheld)"
    scale, digits, unit = _choose_unit(source)
    size = f" by {number(scale * abs(row.estimate), digits=digits)}{unit}"
    ends = [row.ci_low, row.ci_high]
    if not all(math.isfinite(end) for end in ends):
        return size
    low, high = sorted(scale * end * (1 if row.estimate >= 0 else -1) for end in ends)
    return f"{size} ({number(low, digits=digits)} to {number(high, digits=digits)}, all intervals at once)"


def _choose_unit(source: Source) -> tuple[int, int, str]:
    """Choose by what an error is multiplied, how many digits it has, and what it is counted in."""
    return (1, 3, "") if source.continuous else (100, 1, " per 100")


def describe_pockets(source: Source, model: str) -> Statement:
    """Say how many pockets were tested and flagged, and whether the audit is local."""
    info, errors = source.run.info, source.table("pocket_errors")
    told = info.get("pockets") or {}
    if source.table("pockets").empty:
        reason = " ".join(str(told.get("reason", "")).split())
        why = f": {reason.rstrip('.')}" if reason else ""
        return Statement(f"No pockets were looked at{why}.", (rest_on("run.json"),))
    mine = match_rows(errors, model=model)
    if mine.empty:
        others = list_names(dict.fromkeys(errors["model"]))
        return Statement(
            f"This model was not audited in pockets; those that were: {others}."
            if others
            else "No model could be audited in pockets.",
            (rest_on("pocket_errors.csv"),),
        )
    parts = [_describe_map(source, mine, str(name)) for name in dict.fromkeys(mine["map"])]
    parts += [*_describe_whole(source, mine, model), *_describe_overall(source, mine)]
    return Statement(" ".join(parts), (rest_on("pocket_errors.csv", model=model), rest_on("pockets.csv")))


def _describe_map(source: Source, errors: pd.DataFrame, name: str) -> str:
    """Count what was tested and flagged on one map; one pocket for nearly everybody is no local audit."""
    held = source.of("pockets", map=name)["n_audit"]
    title = MAPS.get(name, name)
    if _holds_everybody(source, name):
        whole = "everybody" if len(held) == 1 else "nearly everybody"
        return f"{title.capitalize()}: no local audit, since one pocket holds {whole} and tells nobody apart."
    inside = errors[(errors["map"] == name) & (errors["pocket"] != OVERALL)]
    said = [
        _count_tests(inside[inside["quantity"] == quantity], words)
        for quantity, words in (("mu", "pocket"), ("delta", "gap between groups in a pocket"))
        if (inside["quantity"] == quantity).any()
    ]
    return f"{title.capitalize()}: {'; '.join(said)}." if said else f"{title.capitalize()}: nothing tested."


def _count_tests(part: pd.DataFrame, words: str) -> str:
    """Count what was tested and flagged of one quantity."""
    tested = part[part["status"] == "tested"]
    many = words.replace("pocket", "pockets", 1) if words == "pocket" else "gaps between groups in pockets"
    if tested.empty:
        return f"none of {plural(len(part), words, many)} could be tested"
    flagged = int(is_true(tested["flagged"]).sum())
    found = f"{count(flagged)} {agree(flagged, 'is', 'are')} flagged" if flagged else "none is flagged"
    return f"{count_of(len(tested), len(part), words, many)} could be tested, {found}"


def _describe_whole(source: Source, errors: pd.DataFrame, model: str) -> list[str]:
    """Warn that flagged pockets are one error of the whole model, where they are."""
    if not errs_as_a_whole(errors, model=model):
        return []
    whole = errors[(errors["pocket"] == OVERALL) & (errors["quantity"] == "mu") & is_true(errors["flagged"])]
    row = rows(whole)[0]
    return [
        f"All records together are {ERRS[row.direction]}{_write_size(source, row)}, and every "
        "flagged pocket "
        "errs to the same side: this is first of all one error of the whole model. Have it recalibrated, and "
        "audit its pockets again on other patients."
    ]


def _describe_overall(source: Source, errors: pd.DataFrame) -> list[str]:
    """Name the gaps between groups that are flagged over all records together, once for both maps."""
    whole = errors[(errors["pocket"] == OVERALL) & (errors["quantity"] == "delta")]
    flagged = whole[is_true(whole["flagged"])].drop_duplicates("contrast")
    if flagged.empty:
        return []
    named = [f"{_compare_groups(source, row)}{_write_size(source, row)}" for row in rows(flagged)]
    return [f"Flagged over all records together: {list_names(named, limit=4)}."]
