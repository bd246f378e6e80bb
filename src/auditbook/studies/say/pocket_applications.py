"""What do worked audits in pockets show: which errors, for whom, and what could be tested?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.cohort import announce_data
from auditbook.book.say.pocket_errors import WORDS, lay_out, list_contrasts, pick_errors, write_confidence
from auditbook.book.say.text import (
    agree,
    count_of,
    escape,
    interval,
    name_list,
    number,
    pick,
    plural,
    read_layout,
    share,
)
from auditbook.pockets import (
    ABSTAINED,
    OVERALL,
    Pattern,
    bound_alone,
    bound_split,
    find_pattern,
    is_true,
    pick_flagged,
    share_in_flagged,
)
from auditbook.results import match_rows, rows

LACKS = {"records": "records", "events": "expected events or non-events", "units": "sites"}
"""What a cell can have too little of, in words."""
SUPPORT_COLUMNS = read_layout("studies", "pocket_applications.support")
PRICE_COLUMNS = read_layout("studies", "pocket_applications.price")
MODEL_COLUMNS = read_layout("studies", "pocket_applications.model")
UNIT_COLUMNS = read_layout("studies", "pocket_applications.unit")


def announce_application(shown: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Say which cohort an application shows, and that it is not the book's where it is not."""
    text = announce_data(shown)
    if shown.get("name") == run.get("name"):
        return text
    profile = (shown.get("profile") or {}).get("name", "")
    kept = (
        f"{plural(shown['rows_kept'], 'record')}, profile {escape(profile)}" if "rows_kept" in shown else ""
    )
    whole = escape(run.get("title") or run.get("name", ""))
    return (
        f"{text}\n\nThis chapter keeps its own cohort{f' ({kept})' if kept else ''}, whatever the book is "
        f"built from; the rest of this copy is about: {whole}."
    )


def describe_pattern(laid: pd.DataFrame) -> str:
    """Say whether errors are local, of the whole, or of both signs."""
    found = find_pattern(laid)
    if found.form == "untested":
        return "No pocket could be tested, so nothing can be said of a pattern."
    if found.form == "quiet":
        return _describe_quiet(laid, found)
    if found.form == "both signs":
        return _describe_offset(laid, found)
    if found.form == "everywhere":
        return (
            f"Every tested pocket is flagged, and each is {WORDS[found.flagged['kind'].iloc[0]]}. That is "
            f"first of all one error of the whole and not {len(found.tested)} local ones: recalibrate the "
            "whole, and look again on other records."
        )
    return _describe_some(found)


def _describe_some(found: Pattern) -> str:
    """Say which pockets are flagged to one side, and whether the others may err as much."""
    names, word = name_list(found.flagged["pocket"]), WORDS[found.flagged["kind"].iloc[0]]
    rest = len(found.tested) - len(found.flagged)
    if not rest:
        return f"The only tested pocket, {names}, is {word}."
    text = f"Flagged {word}: {names}. Not flagged: {plural(rest, 'other tested pocket')}."
    alike, least = found.as_large, number(found.smallest)
    if alike.empty:
        return f"{text} An error as large as {least} is ruled out there: this one is local."
    return (
        f"{text} But {agree(len(alike), 'the interval', 'the intervals')} of {name_list(alike['pocket'])} "
        f"{agree(len(alike), 'holds', 'hold')} {least} too, so that as large an error may be there: a "
        "missing flag does not show that the error is local."
    )


def _describe_quiet(laid: pd.DataFrame, found: Pattern) -> str:
    """Say that no pocket is flagged, and whether all records together are."""
    text = f"No flag in {plural(len(found.tested), 'tested pocket')}"
    whole = laid[(laid["pocket"] == OVERALL) & laid["kind"].isin(WORDS)]
    if len(whole):
        return (
            f"{text}, while all records together are flagged, {WORDS[whole['kind'].iloc[0]]}: with more "
            "records an error is shown of which no pocket alone gives enough evidence."
        )
    return f"{text}: no pattern is shown. How large an error could still be is what the intervals say."


def _describe_offset(laid: pd.DataFrame, found: Pattern) -> str:
    """Say that errors of both signs stand behind an overall one."""
    low, high = found.flagged["estimate"].min(), found.flagged["estimate"].max()
    kinds = found.flagged["kind"].value_counts()
    text = (
        f"Errors of both signs: {plural(kinds['under'], 'pocket')} too low and {kinds['over']} too high, "
        f"from {number(low)} to {number(high)}."
    )
    whole = laid[(laid["pocket"] == OVERALL) & (laid["kind"] != "untested")]
    if whole.empty:
        return text
    overall = rows(whole)[0]
    middle = min(abs(low), abs(high)) > abs(overall.estimate)
    return f"{text} All records together: {number(overall.estimate)}" + (
        ", nearer to zero than any of the two ends. Who looks at that number alone does not see them."
        if middle
        else "."
    )


def lay_out_units(laid: pd.DataFrame) -> pd.DataFrame:
    """Set out records, units and what the units are worth, for `UNIT_COLUMNS`."""
    found = laid[laid["units"] > 0].reset_index(drop=True)
    return found.assign(per_unit=found["n"] / found["units"])


def describe_units(units: pd.DataFrame, *, word: str) -> str:
    """Say in which pocket units weigh most unequally, and where one has most records."""
    inside = units[units["pocket"] != OVERALL]
    if inside.empty:
        return "There is no pocket with records."
    if (inside["per_unit"] == 1).all():
        return f"Every record is a {word} of its own, so records are the evidence."
    worth = inside.assign(worth=inside["effective_units"] / inside["units"])
    most = rows(inside.sort_values("per_unit", ascending=False))[0]
    least = rows(worth.sort_values("worth"))[0]
    text = (
        f"- Most records a {word}: {escape(most.label)}, {plural(most.n, 'record')} of "
        f"{plural(most.units, word)} ({number(most.per_unit, digits=1)} each on average).\n- Most unequal: "
        f"{escape(least.label)}, whose {plural(least.units, word)} {agree(least.units, 'is', 'are')} worth "
        f"{number(least.effective_units, digits=1)} of equal size"
    )
    return f"{text}; the largest holds {share(least.largest_unit)} of its records."


def describe_support(table: pd.DataFrame) -> str:
    """Say what limits this audit: records, events or sites."""
    if table.empty:
        return "There is no pocket to be tested."
    points = []
    for row in rows(table[table["what"] == "mean error"]):
        points.append(
            f"- Mean errors: {count_of(row.tested, row.pockets, 'pocket')} could be tested, with "
            f"{share(row.reach)} of the audited records."
        )
    gaps = table[table["what"] != "mean error"]
    if len(gaps):
        points.append(
            f"- Gaps: {count_of(gaps['tested'].sum(), gaps['pockets'].sum(), 'local comparison')} could be "
            f"made, over {plural(len(gaps), 'contrast')}."
        )
        blank = gaps[gaps["tested"] == 0]
        if len(blank):
            points.append(f"- In no pocket: {name_list(blank['what'])}.")
    lacks = {key: int(table[key].sum()) for key in LACKS}
    if any(lacks.values()):
        parts = [f"{LACKS[key]} {plural(n, 'time')}" for key, n in lacks.items() if n]
        points.append(f"- What was wanting (a pocket can lack several): {', '.join(parts)}.")
    return "\n".join(points)


def lay_out_price(laid: pd.DataFrame) -> pd.DataFrame:
    """Set intervals for one pocket alone beside those for all at once, for `PRICE_COLUMNS`."""
    found = bound_alone(laid[laid["kind"] != "untested"].reset_index(drop=True))
    asked = found["flagged_strict"].astype(str).isin(["True", "False", "1.0", "0.0"])
    words = {True: "flagged", False: "not flagged"}
    return found.assign(
        together=found["estimate"],
        alone=found["flagged_alone"].map(words),
        strict=is_true(found["flagged_strict"]).map(words).where(asked, ""),
    )


def describe_price(price: pd.DataFrame, *, level: float) -> str:
    """Say what it costs to look at all pockets at once, and to hold errors against a stricter level."""
    inside = price[price["pocket"] != OVERALL]
    if inside.empty:
        return "No pocket was tested, so there is no price to name."
    alone = count_of(inside["flagged_alone"].sum(), len(inside), "tested pocket")
    together, confidence = inside["kind"].isin(WORDS).sum(), write_confidence(price["level"].max())
    text = f"One at a time, with 95% intervals, {alone} would be flagged"
    text += f"; all at once, at {confidence}, {together}"
    if (inside["strict"] != "").any():
        text += f"; at the stricter level of {level:g} a map, {(inside['strict'] == 'flagged').sum()}"
    factor = price["widening"].max()
    if np.isnan(factor):
        return f"{text}. There were too few draws for intervals at this level."
    return f"{text}. The intervals for all at once are {number(factor, digits=1)} times as wide."


def lay_out_models(
    errors: pd.DataFrame,
    pockets: pd.DataFrame,
    *,
    name: str = "forest",
    quantity: str = "mu",
    contrast: str = "",
) -> pd.DataFrame:
    """Put the errors of all models on one map under each other, for `MODEL_COLUMNS` and the figure."""
    models = dict.fromkeys(errors.loc[errors["quantity"] == quantity, "model"])
    parts = [
        pick_errors(errors, model=model, name=name, quantity=quantity, contrast=contrast) for model in models
    ]
    found = pd.concat(parts, ignore_index=True) if parts else errors.head(0)
    order = {pocket: place for place, pocket in enumerate(dict.fromkeys(found["pocket"]))}
    found = found.sort_values("pocket", key=lambda column: column.map(order), kind="stable")
    return lay_out(found.reset_index(drop=True), pockets)


def describe_models(table: pd.DataFrame) -> str:
    """Say of each model how it errs overall and between which ends its pockets lie."""
    points = []
    for model, part in table.groupby("model", sort=False):
        whole = part[(part["pocket"] == OVERALL) & (part["kind"] != "untested")]
        inside = part[(part["pocket"] != OVERALL) & (part["kind"] != "untested")]
        text = f"- {escape(model)}: "
        text += f"{number(whole['estimate'].iloc[0])} overall, " if len(whole) else "overall not tested, "
        if inside.empty:
            points.append(f"{text}no pocket tested.")
            continue
        flagged = name_list(inside.loc[inside["kind"].isin(WORDS), "pocket"]) or "none"
        points.append(
            f"{text}{number(inside['estimate'].min())} to {number(inside['estimate'].max())} in "
            f"{plural(len(inside), 'tested pocket')}; flagged: {flagged}."
        )
    return "\n".join(points) if points else "No model was audited."


def split_contrast(contrast: str, groups: pd.DataFrame) -> tuple[str, str, str]:
    """Find attribute, focal and reference group of a contrast; blank where there are none."""
    for attribute, part in groups.groupby("attribute", sort=False):
        names = list(dict.fromkeys(part["group"]))
        for focal in names:
            for reference in names:
                if contrast == f"{attribute}: {focal} - {reference}":
                    return str(attribute), focal, reference
    return "", "", ""


def describe_concentration(groups: pd.DataFrame, errors: pd.DataFrame, *, model: str, contrast: str) -> str:
    """Say which shares of two groups lie in pockets whose mean error is flagged, by direction."""
    attribute, focal, reference = split_contrast(contrast, groups)
    if not attribute:
        return "No two groups are compared."
    flagged = pick_flagged(errors[errors["map"] == "forest"], model=model)
    flagged = flagged[flagged["pocket"] != OVERALL]
    here = match_rows(groups, map="forest", attribute=attribute)
    points = []
    for kind, word in WORDS.items():
        names = flagged.loc[flagged["direction"] == kind, "pocket"]
        if names.empty:
            continue
        held = share_in_flagged(errors, groups, model=model, attribute=attribute, direction=kind)
        points.append(
            f"- In {agree(len(names), 'the pocket', 'pockets')} flagged {word} ({name_list(names)}): "
            f"{share(held.get(focal, np.nan))} of {escape(focal)} and "
            f"{share(held.get(reference, np.nan))} of {escape(reference)}."
        )
    lost = here[here["pocket"] == ABSTAINED].groupby("group")["share"].sum()
    if not points:
        points = [
            "- No pocket of the forest map has a flagged mean error, so neither group is concentrated in one."
        ]
    if len(lost):
        points.append(
            f"- In no pocket: {share(lost.get(focal, np.nan))} and {share(lost.get(reference, np.nan))}."
        )
    return "\n".join(points)


def describe_ways(summary: pd.DataFrame, *, model: str, contrast: str) -> str:
    """Say whether a gap comes from where a group is, from gaps within pockets, or from both."""
    split = bound_split(summary)
    found = split[(split["model"] == model) & (split["contrast"] == contrast) & split["overall"].notna()]
    if found.empty:
        return "This gap could not be split: no groups are compared, or too few records were."
    row = rows(found)[0]
    text = f"{escape(model)}, {escape(contrast)}: overall {_write_part(row, 'overall')}"
    if np.isnan(row.composition_share):
        return f"{text}. Its simultaneous interval, wider than this one, holds zero: nothing to divide."
    text += f"; composition {_write_part(row, 'composition')}; within pockets {_write_part(row, 'within')}. "
    if row.opposed:
        return f"{text}Both parts are clear, and they pull in opposite directions."
    if row.composition_clear and row.within_clear:
        return (
            f"{text}Both parts are clear: the group is more often where the model errs, and errors differ "
            "among those who are alike on this map."
        )
    if row.composition_clear:
        return f"{text}Clear is where the groups are; gaps within pockets are not shown on this map."
    if row.within_clear:
        return f"{text}Clear are the gaps within pockets; that the groups are elsewhere adds nothing clear."
    return f"{text}Neither part alone is clear."


def _write_part(row: Any, part: str) -> str:
    """Write one part of a gap with its 95% interval."""
    ends = interval(getattr(row, f"{part}_low"), getattr(row, f"{part}_high"))
    return f"{number(getattr(row, part))} ({ends})"


def describe_gaps(errors: pd.DataFrame, pockets: pd.DataFrame) -> str:
    """Say for every contrast how the gap of every model runs over the pockets of the forest map."""
    parts = [
        f"**{escape(contrast)}**\n\n"
        + describe_models(lay_out_models(errors, pockets, quantity="delta", contrast=contrast))
        for contrast in list_contrasts(errors)
    ]
    return "\n\n".join(parts) if parts else "No groups are compared in this run."


def describe_all_ways(summary: pd.DataFrame, *, model: str) -> str:
    """Say of every contrast where the gap of one model comes from."""
    here = match_rows(summary, model=model, quantity="delta")
    here = here[here["map"] == "forest"]
    names = list(dict.fromkeys(here["contrast"]))
    known = set(here.loc[here["overall"].notna(), "contrast"])
    points = [f"- {describe_ways(summary, model=model, contrast=name)}" for name in names if name in known]
    blank = [name for name in names if name not in known]
    if blank:
        points.append(f"- Could not be split, for want of support: {name_list(blank)}.")
    return "\n".join(points) if points else "No groups are compared in this run."


def choose_contrast(errors: pd.DataFrame, *, model: str, wanted: str = "") -> str:
    """Choose the contrast that a chapter shows: the one asked for, or the one with most tested pockets."""
    gaps = match_rows(errors, quantity="delta", map="forest", model=model)
    if wanted or gaps.empty:
        return pick(errors[errors["contrast"] != ""], "contrast", wanted)
    inside = gaps[gaps["pocket"] != OVERALL]
    tested = (inside["status"] == "tested").groupby(inside["contrast"], sort=False).sum()
    return str(tested.idxmax())
