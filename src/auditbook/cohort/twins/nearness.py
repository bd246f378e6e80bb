"""How near does the twin come to what is published? Measured, written down, and shown on the book's page."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import numpy as np
import pandas as pd

from auditbook.cohort.twins.hospitals import hospital_names
from auditbook.cohort.twins.people import AXES, read_reference, stay_shares
from auditbook.cohort.twins.recipe import (
    AGE_BANDS,
    BAND_STARTS,
    HOSPITALS,
    LONG_STAY_DAYS,
    RECIPE,
    SHARE_LONG,
    Recipe,
)
from auditbook.cohort.twins.twin import FULL_SIZE
from auditbook.project import project_file

MEASURED = "texas_twin_measured.csv"
COLUMNS = ("part", "quantity", "published", "twin_default", "twin_full")
TOP_HOSPITALS = {10: 0.135, 50: 0.465, 100: 0.705, 200: 0.933}
MEDIAN_VOLUME = 686
RATE_SPREAD = 0.125
SMALL_PAIR = 500

Figure = tuple[str, str, float, float]


def measure_table(table: pd.DataFrame) -> pd.DataFrame:
    """Set a twin's figures that need no model beside the published ones."""
    band = np.searchsorted(BAND_STARTS, table["pat_age"], side="right") - 1
    known = table.assign(
        age=np.array(AGE_BANDS, dtype=object)[band], long=table["length_of_stay"] > LONG_STAY_DAYS
    )
    rows = [
        *_measure_groups(known),
        *_measure_pairs(known),
        *_measure_hospitals(known),
        *_measure_stays(known),
    ]
    return pd.DataFrame(rows, columns=["part", "quantity", "published", "twin"])


def _measure_groups(known: pd.DataFrame) -> Iterator[Figure]:
    """Yield the share and the rate of long stays of every group."""
    rates = read_reference("group_rates")
    for attribute, groups in AXES.items():
        published = rates[rates["attribute"] == attribute].set_index("group").loc[list(groups)]
        shares = published["n_full"].to_numpy(float) / published["n_full"].sum()
        found = known.groupby(attribute)["long"].agg(["size", "mean"]).reindex(list(groups)).to_numpy(float)
        for row, group in enumerate(groups):
            yield "groups", f"share, {attribute}: {group}", shares[row], found[row, 0] / len(known)
            long = published["rate_los_gt3"].to_numpy(float)[row]
            yield "groups", f"long stays, {attribute}: {group}", long, found[row, 1]


def _measure_pairs(known: pd.DataFrame) -> Iterator[Figure]:
    """Yield the largest differences over all published pairs of groups; the target is no difference."""
    pairs = read_reference("pairwise_counts")
    shares, rates = [], []
    for pair, published in pairs.groupby("pair"):
        first, second = str(pair).split(" x ")
        cells = pd.MultiIndex.from_frame(published[["first", "second"]])
        found = known.groupby([first, second])["long"].agg(["size", "mean"]).reindex(cells)
        shares.append(found["size"].fillna(0).to_numpy() / len(known) - published["n"] / published["n"].sum())
        large = (published["n"] >= SMALL_PAIR).to_numpy()
        rates.append((found["mean"].to_numpy() - published["n_los_gt3"] / published["n"])[large])
    yield (
        "pairs",
        "largest difference in the share of a pair of groups",
        0.0,
        float(np.abs(np.hstack(shares)).max()),
    )
    text = f"largest difference in long stays of a pair with at least {SMALL_PAIR} published records"
    yield "pairs", text, 0.0, float(np.abs(np.hstack(rates)).max())


def _measure_hospitals(known: pd.DataFrame) -> Iterator[Figure]:
    """Yield how skewed the hospitals' volumes are."""
    volume = known["hospital"].value_counts()
    yield "hospitals", "hospitals with a record", HOSPITALS, len(volume)
    for top, share in TOP_HOSPITALS.items():
        yield "hospitals", f"share of the {top} largest", share, volume.iloc[:top].sum() / len(known)
    median = volume.reindex(hospital_names(), fill_value=0).median() / len(known) * FULL_SIZE
    rates = known.groupby("hospital")["long"].agg(["size", "mean"]).to_numpy(float)
    spread = np.sqrt(np.average((rates[:, 1] - known["long"].mean()) ** 2, weights=rates[:, 0]))
    yield "hospitals", "SD of hospitals' rates of long stays, weighted by volume", RATE_SPREAD, float(spread)
    yield "hospitals", "median volume, scaled to the full size", MEDIAN_VOLUME, median


def _measure_stays(known: pd.DataFrame) -> Iterator[Figure]:
    """Yield the rate of long stays and the distance of the lengths of stay from the fitted curve."""
    yield "stays", "long stays, all records", SHARE_LONG, known["long"].mean()
    curve = np.cumsum(stay_shares(RECIPE).sum(axis=0))
    found = np.cumsum(np.bincount(known["length_of_stay"], minlength=len(curve) + 1)[1:]) / len(known)
    yield (
        "stays",
        "largest distance from the fitted curve of lengths",
        0.0,
        float(np.abs(found - curve).max()),
    )


def read_measured() -> pd.DataFrame:
    """Read the figures written down when the twin was last measured."""
    return pd.read_csv(project_file("data", "reference", MEASURED), dtype={"recipe": str})


def render_targets(measured: pd.DataFrame, parts: tuple[str, ...]) -> str:
    """Write some parts of the measured figures as a table for the book."""
    lines = ["| figure | published | twin, 100,000 | twin, full size | difference at 100,000 |"]
    lines.append("|---|---:|---:|---:|---:|")
    shown = measured[measured["part"].isin(parts)]
    numbers = shown[["published", "twin_default", "twin_full"]].to_numpy(float)
    for name, (published, default, full) in zip(shown["quantity"], numbers, strict=True):
        gap = _number(default - published, sign=True)
        cells = (str(name), _number(published), _number(default), _number(full), gap)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _number(value: float, *, sign: bool = False) -> str:
    """Write a number for a reader: three decimals below 5, none above; a dash where there is none."""
    if pd.isna(value):
        return "-"
    digits = 3 if abs(value) < 5 else 0
    text = f"{value:+.{digits}f}" if sign else f"{value:,.{digits}f}"
    return text if float(text.replace(",", "")) else text.lstrip("+-")


def render_recipe(recipe: Recipe) -> str:
    """Write the recipe's parameters, with their origin and meaning, as a table for the book."""
    lines = ["| parameter | origin | value | meaning |", "|---|---|---|---|"]
    hints = get_type_hints(type(recipe), include_extras=True)
    for field in fields(recipe):
        (note,) = hints[field.name].__metadata__
        cells = (f"`{field.name}`", note.origin, _value(getattr(recipe, field.name)), note.meaning)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _value(value: Any) -> str:
    """Write a parameter: nested ones flat, with semicolons between the inner parts."""
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        return "; ".join(
            ", ".join(_value(getattr(part, field.name)) for field in fields(part)) for part in value
        )
    if isinstance(value, tuple):
        return ", ".join(f"{number:g}" for number in value)
    return f"{value:.10g}"
