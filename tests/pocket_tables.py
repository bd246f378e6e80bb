"""Small tables of a pocket audit, in the columns that a run writes, for tests of what is shown."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from auditbook.columns import TABLES, empty_table
from auditbook.evidence import Shortfall
from auditbook.pockets.cell_support import tabulate_shortfalls, write_reason

NAN = float("nan")
COLUMNS = {name: TABLES[name].names() for name in TABLES if name.startswith("pocket")}
"""Columns of the seven tables."""
NAMES = (
    "older, many earlier stays",
    "high <b>creatinine</b>, *arterial* blood gas not recorded",
    "Béla's ward | $admitted$ at night",
    "low age, few stays, a very long name that goes on and on beyond what any label can hold in two lines",
    "",
)


@dataclass(frozen=True)
class PocketRecipe:
    """What a set of tables is made of."""

    pockets: int = 4
    models: tuple[str, ...] = ("xgboost", "logistic")
    groups: dict[str, tuple[str, ...]] | None = None
    tested: bool = True
    sites: bool = False
    continuous: bool = False
    paired: bool = True


AWKWARD = (
    "Asian <b>or</b> Pacific",
    "Béla's Ångström & Co",
    "$Black$ | African",
    "White",
    "two_or_more*races*",
)
RECIPES = {
    "full": PocketRecipe(groups={"sex": ("F", "M"), "race": ("Black", "Other", "White")}, sites=True),
    "off": PocketRecipe(pockets=0, models=()),
    "untested": PocketRecipe(groups={"sex": ("F", "M")}, tested=False, paired=False),
    "one_pocket": PocketRecipe(pockets=1, models=("score",), groups={"sex": ("F", "M")}, paired=False),
    "nine_groups": PocketRecipe(
        groups={"race & ethnicity <all>": (*AWKWARD, "<script>alert(1)</script>", "g7", "g8", "(missing)")}
    ),
    "no_contrasts": PocketRecipe(models=("score",), groups={}, paired=False),
    "continuous": PocketRecipe(pockets=5, groups={"sex": ("F", "M")}, continuous=True),
}
KINDS = tuple(RECIPES)


def make_pocket_tables(kind: str = "full", *, seed: int = 7) -> dict[str, pd.DataFrame]:
    """Make the six tables of one kind.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    seed : int
        Seed of the numbers.
    """
    return tabulate(RECIPES[kind], np.random.default_rng(seed))


def make_tables_of_run(
    kinds: dict[str, str], attributes: dict[str, tuple[str, ...]], *, sites: bool, tested: bool
) -> dict[str, pd.DataFrame]:
    """Make the six tables of a run with these kinds of scores (by model), groups and sites.

    Parameters
    ----------
    kinds : dict of str to str
        Kind of each model's score; decisions are not audited in pockets.
    attributes : dict of str to tuple of str
        Groups of each attribute; the last is the reference.
    sites, tested : bool
        Whether sites are the units, and whether anything has enough support.
    """
    models = tuple(name for name, kind in kinds.items() if kind != "decision")
    recipe = PocketRecipe(
        pockets=4 if models else 0,
        models=models,
        groups=attributes,
        tested=tested,
        sites=sites,
        paired=tested,
    )
    return tabulate(recipe, np.random.default_rng(7))


def tabulate(recipe: PocketRecipe, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Make the seven tables of a recipe."""
    if not recipe.pockets:
        return {name: empty_table(name) for name in COLUMNS}
    errors = tabulate_errors(recipe, rng)
    found = {
        "pockets": tabulate_pockets(recipe, rng),
        "pocket_features": empty_table("pocket_features"),
        "pocket_errors": errors,
        "pocket_summary": tabulate_summary(recipe, errors),
        "pocket_groups": tabulate_groups(recipe, rng),
        "pocket_levels": tabulate_levels(recipe),
        "pocket_repairs": tabulate_repairs(recipe, errors),
    }
    return {name: table[COLUMNS[name]] for name, table in found.items()}


def names_of(recipe: PocketRecipe) -> dict[str, list[str]]:
    """List the pockets of both maps."""
    return {
        name: [f"{name[0].upper()}{place + 1}" for place in range(recipe.pockets)]
        for name in ("forest", "ridge")
    }


def tabulate_pockets(recipe: PocketRecipe, rng: np.random.Generator) -> pd.DataFrame:
    found = []
    for name, pockets in names_of(recipe).items():
        for place, pocket in enumerate(pockets):
            row = {"map": name, "pocket": pocket, "name": NAMES[place % len(NAMES)]}
            row |= {"n_discovery": 900 - 150 * place, "n_audit": 1200 - 200 * place}
            rate = round(0.05 + 0.1 * place, 3)
            row |= {
                "event_rate": 3 * rate if recipe.continuous else rate,
                "description": f"stays +{place}.1 SD",
            }
            covered = round(float(rng.uniform(0.4, 0.9)), 3)
            found.append(row | {"fidelity_covered": covered, "fidelity_members": 0.9})
    return pd.DataFrame(found, columns=COLUMNS["pockets"])


def families(recipe: PocketRecipe) -> list[tuple[str, str, str, str]]:
    """List model, other model, quantity and contrast of every family's rows."""
    contrasts = [
        f"{attribute}: {group} - {groups[-1]}"
        for attribute, groups in (recipe.groups or {}).items()
        for group in groups[:-1]
    ]
    found = [(model, "", "mu", "") for model in recipe.models]
    found += [(model, "", "delta", contrast) for model, contrast in product(recipe.models, contrasts)]
    if recipe.paired and len(recipe.models) > 1:
        found += [(*recipe.models[:2], "paired", contrast) for contrast in contrasts]
    return found


def tabulate_errors(recipe: PocketRecipe, rng: np.random.Generator) -> pd.DataFrame:
    found = []
    for (model, other, quantity, contrast), (name, pockets) in product(
        families(recipe), names_of(recipe).items()
    ):
        for place, pocket in enumerate(["overall", *pockets]):
            row = {"model": model, "other_model": other, "map": name, "quantity": quantity}
            row |= {"contrast": contrast, "pocket": pocket, "level": 0.00625, "critical": 3.1}
            found.append(row | error_row(recipe, rng, quantity, place))
    return pd.DataFrame(found, columns=COLUMNS["pocket_errors"])


def error_row(recipe: PocketRecipe, rng: np.random.Generator, quantity: str, place: int) -> dict:
    """Make up one estimate: the whole without an error, pockets that err in turns too low and too high."""
    n = 4000 if not place else 1400 - 200 * place
    row = {"n": n, "units": 40 if recipe.sites else n, "effective_units": 22.5, "largest_unit": 0.08}
    two = quantity != "mu"
    row |= {"n_focal": n // 5 if two else NAN, "n_reference": n - n // 5 if two else NAN}
    tested = recipe.tested and not (place == 4 or (two and place == 3))
    if not tested:
        short = (
            Shortfall("expected events", 6, 10) if place != 4 else Shortfall("share of one unit", 0.35, 0.2)
        )
        blank = dict.fromkeys(("estimate", "se", "ci_low", "ci_high", "p_value"), NAN)
        row |= blank | {"status": "untested", "flagged": False, "direction": "", **lack([short])}
        return row | {"mean_prediction": NAN, "mean_outcome": NAN, "flagged_strict": "" if two else False}
    estimate = round(float(rng.normal(0, 0.004)) if not place else (-1) ** place * 0.07 / (1 + two), 4)
    se = 0.012 * (1 + place / 8)
    row |= {"estimate": estimate, "se": se, "ci_low": estimate - 3.1 * se, "ci_high": estimate + 3.1 * se}
    flagged = abs(estimate) > 3.1 * se
    row |= {"flagged": flagged, "direction": "over" if estimate > 0 else "under"}
    row |= {"p_value": 0.001 if flagged else 0.4, "status": "tested", **lack([])}
    row |= {"mean_prediction": 0.2 + estimate, "mean_outcome": 0.2}
    return row | {"flagged_strict": "" if two or not recipe.sites else flagged and place == 1}


def lack(shortfalls: list[Shortfall]) -> dict:
    """Lay out what a row lacks as the product does."""
    return {"reason": write_reason(shortfalls, "site"), **tabulate_shortfalls(shortfalls)}


def tabulate_summary(recipe: PocketRecipe, errors: pd.DataFrame) -> pd.DataFrame:
    found = []
    for model, other, quantity, contrast in families(recipe):
        for name, tolerance in product(("forest", "ridge", "combined"), (0.05, 0.1)):
            here = errors[(errors["model"] == model) & (errors["other_model"] == other)]
            here = here[(here["quantity"] == quantity) & (here["contrast"] == contrast)]
            here = here[(here["map"] == name) & (here["pocket"] != "overall")] if name != "combined" else here
            row = {"model": model, "other_model": other, "map": name, "quantity": quantity}
            row |= {"contrast": contrast, "tested": int((here["status"] == "tested").sum())}
            row |= {"flagged": int(here["flagged"].sum()), "tolerance": tolerance, "abstained_share": 0.021}
            row |= {"equivalence_share": tolerance * 5 if recipe.tested else NAN, "over_share": 0.12}
            row |= {"under_share": 0.30, "conflict_share": 0.01 if name == "combined" else 0.0}
            split = quantity == "delta" and name != "combined" and recipe.tested
            row |= {
                "in_gap_share": 0.42,
                "lone_strata": 1 if split else NAN,
                "composition_share": 0.6 if split else NAN,
            }
            for part, value in (("within", -0.02), ("composition", -0.03), ("overall", -0.05)):
                row |= {part: value if split else NAN, f"{part}_se": 0.008 if split else NAN}
            found.append(row)
    return pd.DataFrame(found, columns=COLUMNS["pocket_summary"])


def tabulate_groups(recipe: PocketRecipe, rng: np.random.Generator) -> pd.DataFrame:
    found = []
    for name, pockets in names_of(recipe).items():
        for attribute, groups in (recipe.groups or {}).items():
            for place, group in enumerate(groups):
                parts = rng.dirichlet(np.ones(len(pockets) + 1) * 3)
                total = 0 if group == "g8" else 4000 // (place + 1)
                counts = np.floor(parts * total)
                for pocket, n in zip([*pockets, "abstained"], counts, strict=True):
                    share = n / counts.sum() if total else NAN
                    row = {"map": name, "pocket": pocket, "attribute": attribute, "group": group}
                    found.append(row | {"n": int(n), "share": share})
    return pd.DataFrame(found, columns=COLUMNS["pocket_groups"])


def tabulate_levels(recipe: PocketRecipe) -> pd.DataFrame:
    pockets = [60, 17, recipe.pockets, 1]
    row = {"partition": "sbm", "description_length": 239_130.0}
    return pd.DataFrame(
        [
            row | {"level": place, "pockets": n, "supported": 0 if not recipe.tested else min(n, 4)}
            for place, n in enumerate(pockets)
        ]
    ).assign(chosen=[False, False, True, False])[COLUMNS["pocket_levels"]]


def tabulate_repairs(recipe: PocketRecipe, errors: pd.DataFrame) -> pd.DataFrame:
    found = []
    flags = errors[errors["flagged"] & (errors["quantity"] == "mu") & (errors["pocket"] != "overall")]
    for row, half in product(flags.itertuples(index=False), ("one", "other")):
        made = {"model": row.model, "map": row.map, "pocket": row.pocket, "half": half}
        made |= {"flagged": half == "one", "correction": -row.estimate if half == "one" else NAN}
        made |= {
            "n": row.n // 2,
            "before": row.estimate,
            "before_low": row.ci_low,
            "before_high": row.ci_high,
        }
        after = 0.01 if half == "one" else NAN
        made |= {"after": after, "after_low": after - 0.03, "after_high": after + 0.03}
        found.append(made | {"brier_before": 0.15, "brier_after": 0.148 if half == "one" else NAN})
    return pd.DataFrame(found, columns=COLUMNS["pocket_repairs"])
