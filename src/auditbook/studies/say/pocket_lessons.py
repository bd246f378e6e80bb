"""What do the worked examples on pockets show: groupings compared, and how often the test flags nothing?"""

import pandas as pd

from auditbook.book.say.text import (
    agree,
    count,
    count_of,
    interval,
    join_words,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.project import project_file
from auditbook.results import match_rows, rows
from auditbook.studies.simulations.ratios import set_beside

GROUPING_COLUMNS = read_layout("studies", "pocket_lessons.grouping")
LEAF_COLUMNS = read_layout("studies", "pocket_lessons.leaf")
NULL_COLUMNS = read_layout("studies", "pocket_lessons.null")
NULL_FIELDS = (
    "design sd prediction quantity level replicates untested flagged over share share_low share_high "
    "published_low published_high"
).split()
KEYS = ["design", "sd", "prediction", "quantity"]
HARD = {
    "normal": "normal errors, 50 records a pocket",
    "lognormal": "lognormal errors (SD 1 on the log scale), 50 records a pocket",
    "lognormal, 20 pockets": "the same in 20 pockets",
    "lognormal, gaps": "lognormal errors, groups of 50 and 100 in each pocket",
    "many zeros": "four errors in five are equal, the others lognormal, 50 records a pocket",
    "rare jump": "one error in twenty is fifty times the scatter of the others, 50 records a pocket",
    "18 sites": "events, 18 sites of unequal size",
    "18 sites, SD 1": "events, 18 sites, effects of SD 1",
    "45 sites, SD 1": "events, 45 sites, effects of SD 1",
    "18 sites, skewed number": "a number, 18 sites, lognormal effects",
    "normal, planted": "normal errors, 50 records a pocket, one wrong by 0.75 SD",
    "lognormal, planted": "lognormal errors, 200 records a pocket, one wrong by 0.75",
    "30 sites, planted": "events, 30 sites, effects of SD 0.5, one pocket wrong by 6 points",
    "150 sites, planted": "events, 150 sites, effects of SD 0.5, one pocket wrong by 6 points",
}
"""Worlds that were chosen to break the testing step."""
DESIGNS = {
    "independent": "independent records",
    "dependent": "150 units",
    "few": "45 units",
    "continuous": "continuous",
}
NULL_QUANTITIES = {"mu": "mean error", "delta": "gap"}


def name_leaves(table: pd.DataFrame, codes: pd.Series) -> list[str]:
    """Name groups of simulated patients by the ages and stays that they hold."""
    found = table[["age", "stays"]].groupby(pd.Series(codes)).agg(["min", "max"])
    return [
        ", ".join(_span(name, row[(name, "min")], row[(name, "max")]) for name in ("age", "stays"))
        for _, row in found.iterrows()
    ]


def _span(name: str, low: float, high: float) -> str:
    """Write a range of whole numbers."""
    return f"{name} {low:.0f}" if low == high else f"{name} {low:.0f}-{high:.0f}"


def lay_out_averages(averages: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Give averages by group the columns that the figure of errors draws."""
    kinds = ["over" if row.ci_low > 0 else "under" if row.ci_high < 0 else "none" for row in rows(averages)]
    sizes = [f"n = {n:,}" for n in averages["n"]]
    return averages.assign(label=names, size=sizes, kind=kinds, note="")


def describe_groupings(table: pd.DataFrame) -> str:
    """Say what pockets of the outcome find of each model, and what slices of its own errors find."""
    points = []
    for row in table.to_dict(orient="records"):
        name = row["model"]
        points.append(
            f"- {name}: by sex {number(row['sex'])} at the most, in pockets of the outcome "
            f"{number(row['outcome'])}, in slices learned from its own errors {number(row[name])}."
        )
    return "\n".join(points)


def read_null() -> pd.DataFrame:
    """Read how often the testing step flags where nothing is wrong, for `NULL_COLUMNS` and the figure."""
    folder = project_file("data")
    path = folder / "simulations" / "pocket_null_summary.csv"
    if not path.is_file():
        return pd.DataFrame(columns=[*NULL_FIELDS, "label"])
    found = pd.read_csv(path)
    return found.assign(label=[_label_design(row) for row in rows(found)])


def read_ratios() -> pd.DataFrame:
    """Read how often each ratio flags and finds in hard worlds, a row a world and quantity, side by side."""
    path = project_file("data") / "simulations" / "pocket_ratios_summary.csv"
    if not path.is_file():
        return pd.DataFrame()
    return set_beside(pd.read_csv(path))


def describe_ratios(table: pd.DataFrame) -> str:
    """Say of each hard world how often something is falsely flagged, as published and corrected."""
    if table.empty:
        return "No replicates are stored with this copy of the book."
    points = [
        f"- {HARD.get(row.world, row.world)}, {NULL_QUANTITIES[str(row.quantity)]}: "
        f"{share(row.share_published)} as published, {share(row.share_corrected)} corrected, "
        f"{share(row.level, digits=2)} asked for."
        for row in rows(table[table["power_published"].isna()])
    ]
    return "\n".join(points)


def describe_price(table: pd.DataFrame) -> str:
    """Say how often a planted error is found, as published and corrected."""
    planted = table[table["power_published"].notna()] if len(table) else table
    if planted.empty:
        return "No replicates are stored with this copy of the book."
    points = [
        f"- {HARD.get(row.world, row.world)}: found in {share(row.power_published)} as published, in "
        f"{share(row.power_corrected)} corrected."
        for row in rows(planted)
    ]
    return "\n".join(points)


def drop_strict(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the rows at a stricter level of designs that stand in the table at another one too."""
    first = table.groupby(KEYS)["level"].transform("max")
    return table[table["level"] == first].reset_index(drop=True)


def _label_design(row: object) -> str:
    """Write one design of the null simulations in words."""
    design, quantity = str(row.design), str(row.quantity)  # type: ignore[attr-defined]
    parts = [NULL_QUANTITIES.get(quantity, quantity), DESIGNS.get(design, design)]
    if design in ("dependent", "few"):
        parts += [f"SD {row.sd:g}", f"{row.prediction} risk"]  # type: ignore[attr-defined]
    return ", ".join(parts)


def describe_null(table: pd.DataFrame) -> str:
    """Say where flags without an error are more frequent than asked, beyond what chance allows."""
    if table.empty:
        return "No replicates are stored with this copy of the book."
    over = table[table["share_low"] > table["level"]]
    text = (
        f"In {count_of(len(over), len(table), 'design')} the interval lies above the level that was asked for"
    )
    if over.empty:
        return text + "."
    worst = rows(over.sort_values("share", ascending=False))[0]
    return (
        f"{text}. The largest share is {share(worst.share)} "
        f"({interval(worst.share_low, worst.share_high, kind='share')}) for: {worst.label}, "
        f"at the level {share(worst.level, digits=2)}."
    )


def describe_over(table: pd.DataFrame, *, prediction: str) -> str:
    """Say how often mean errors are flagged with dependent units, for one kind of prediction."""
    found = table[
        table["design"].isin(["dependent", "few"])
        & (table["quantity"] == "mu")
        & (table["prediction"] == prediction)
    ]
    if found.empty:
        return "No such replicates are stored."
    points = []
    for (design, level), part in found.groupby(["design", "level"], sort=False):
        parts = [f"{share(row.share)} at SD {row.sd:g}" for row in rows(part.sort_values("sd"))]
        words = f"{DESIGNS[str(design)]}, at the level {share(float(str(level)), digits=2)}"
        points.append(f"- {words}: {join_words(parts)}.")
    return f"Mean errors, prediction = {prediction} risk, flagged:\n\n" + "\n".join(points)


def describe_side(table: pd.DataFrame) -> str:
    """Say to which side false flags of mean errors lie when units differ much."""
    found = drop_strict(match_rows(table, quantity="mu", prediction="marginal"))
    found = found[found["sd"] == found["sd"].max()]
    if found.empty or not found["flagged"].sum():
        return ""
    return (
        f"Of {plural(found['flagged'].sum(), 'replicate')} flagged with marginal risks at the largest SD, "
        f"{count(found['over'].sum())} {agree(found['over'].sum(), 'is', 'are')} flagged as too high."
    )
