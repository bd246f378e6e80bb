"""Where do the printed tables about the verdict flip rate agree with this run's, and where not?"""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.book.say.text import MISSING, Column, count, escape, name_list, number, share
from auditbook.evidence import correlate_ranks
from auditbook.mitigation import AUDIT, SINGLE, di_column, kappa_column
from auditbook.results import Run, rows
from auditbook.studies.say.printed import ATTRIBUTES, BASELINES, MODELS, SETTINGS, is_twin, read_published

QUALITY = ("auroc", "accuracy", "f1", "cells_passing_of_28")
TITLES = MappingProxyType(
    {
        "auroc": "AUROC",
        "accuracy": "accuracy",
        "f1": "F1",
        "cells_passing_of_28": "cells that pass",
        "accuracy_cost_points": "accuracy cost, points",
        "mean_vfr": "mean flip rate",
        "max_vfr": "largest flip rate",
        "flipped_cells": "cells that flip",
        "mean_kappa": "mean kappa",
        "kappa_eopp": "kappa of EOPP",
        "kappa_eod": "kappa of EOD",
        "vfr_stable_of_28": "stable cells",
    }
    | {f"di_{name}": f"DI {name}" for name in ATTRIBUTES}
)
COUNTS = ("cells_passing_of_28", "flipped_cells", "vfr_stable_of_28")
OURS = MappingProxyType(
    {
        "accuracy_cost_points": "accuracy_cost",
        "flipped_cells": "flipped",
        "kappa_eopp": kappa_column("EOPP"),
        "kappa_eod": kappa_column("EOD"),
        "vfr_stable_of_28": "stable",
        **{f"di_{name}": di_column(name) for name in ATTRIBUTES},
    }
)
"""Columns of this run's tables, by those of the printed figures where the two differ."""


def pair_columns(figures: Iterable[str], *, first: str) -> tuple[Column, ...]:
    """List the columns of a table that sets printed figures beside this run's."""
    found = [Column("row", first)]
    for name in figures:
        kind: Any = "count" if name in COUNTS else "number"
        digits = 2 if name == "accuracy_cost_points" else 3
        found += [
            Column(f"{name}_printed", TITLES[name], kind, digits=digits),
            Column(f"{name}_here", "here", kind, digits=digits),
        ]
    return tuple(found)


def compare_models(run: Run) -> pd.DataFrame:
    """Set the printed panel of models beside this run's models."""
    here = _describe_models(run) if is_twin(run) else {}
    figures = (*QUALITY, *(f"di_{name}" for name in ATTRIBUTES))
    found = []
    for row in read_published("model panel").reset_index().to_dict(orient="records"):
        ours = here.get(MODELS[row["row"]], {})
        bounds = {name: ours.get(name, math.nan) for name in ("n", "auroc_low", "auroc_high")}
        found.append({"row": row["row"], **bounds, **_pair(row, ours, figures)})
    return pd.DataFrame(found)


def _pair(printed: Any, ours: Mapping[Any, Any], figures: Iterable[str]) -> dict[str, float]:
    """Put printed figures and this run's under their names."""
    found = {}
    for name in figures:
        found[f"{name}_printed"] = float(printed[name])
        found[f"{name}_here"] = float(ours.get(name, ours.get(OURS.get(name, name), math.nan)))
    return found


def _describe_models(run: Run) -> dict[str, dict[str, float]]:
    """Gather this run's figures by model."""
    found: dict[str, dict[str, float]] = {}
    for row in rows(run.models):
        cells = run.verdicts[run.verdicts["model"] == row.model]
        ratios = cells[cells["metric"] == "DI"]
        found[row.model] = {
            "auroc": row.auroc,
            "auroc_low": row.auroc_low,
            "auroc_high": row.auroc_high,
            "accuracy": row.accuracy,
            "f1": row.f1,
            "n": row.n_audit,
            "cells_passing_of_28": int((cells["verdict"] == "pass").sum()),
            **{f"di_{one.attribute}": one.estimate for one in rows(ratios)},
        }
    return found


def describe_models(table: pd.DataFrame) -> str:
    """Say how near this run's models come to the printed ones."""
    known = table.dropna(subset="auroc_here")
    if known.empty:
        return "No model of this run can be set beside a printed one."
    away = (known["auroc_here"] - known["auroc_printed"]).abs()
    far = rows(known.loc[[away.idxmax()]])[0]
    text = (
        f"{count(len(known))} of {count(len(table))} printed models are in this run. AUROC differs by "
        f"{number(float(away.max()))} at most ({escape(far.row)}: {number(far.auroc_printed)} printed, "
        f"{number(far.auroc_here)} here)."
    )
    if len(known) > 2:
        order = correlate_ranks(known["auroc_printed"], known["auroc_here"])
        text += f" The models' order by AUROC agrees with a rank correlation of {number(order, digits=2)}."
    fails = [
        f"{name} {count(int((known[f'di_{name}_printed'] < 0.8).sum()))} printed, "
        f"{count(int((known[f'di_{name}_here'] < 0.8).sum()))} here"
        for name in ATTRIBUTES
    ]
    return f"{text} Models with DI below 0.80: {'; '.join(fails)}."


BASELINE_FIGURES = (
    "accuracy auroc accuracy_cost_points di_race di_sex di_ethnicity di_age "
    "mean_vfr max_vfr flipped_cells mean_kappa kappa_eopp kappa_eod"
).split()


def baseline_columns() -> tuple[Column, ...]:
    """List the columns of `compare_baselines`."""
    pairs = [
        column
        for name in BASELINES
        for column in (Column(f"{name}_printed", name), Column(f"{name}_here", "here"))
    ]
    return (Column("row", "figure"), *pairs)


def write_baselines(table: pd.DataFrame) -> pd.DataFrame:
    """Write every number of `compare_baselines` as its row wants it."""
    digits = {TITLES[name]: 0 if name in COUNTS else 2 if name.endswith("points") else 3 for name in TITLES}
    shown = table.copy()
    for name in table.columns.drop("row"):
        pairs = zip(table["row"], table[name], strict=True)
        shown[name] = [
            MISSING if math.isnan(value) else number(value, digits=digits[row]) for row, value in pairs
        ]
    return shown


def compare_baselines(run: Run) -> pd.DataFrame:
    """Set the printed comparison of the four baselines beside this run's, both on a single split."""
    printed = read_published("baselines")
    main = run.baselines[
        (run.baselines["protocol"] == SINGLE)
        & (run.baselines["part"] == AUDIT)
        & (run.baselines["sweep"] == "")
    ]
    ours = {row["baseline"]: row for row in main.to_dict(orient="records")} if is_twin(run) else {}
    found = []
    for figure in BASELINE_FIGURES:
        row: dict[str, Any] = {"row": TITLES[figure]}
        for name, title in BASELINES.items():
            pair = _pair(printed.loc[title], ours.get(name, {}), [figure])
            row |= {f"{name}_{side}": pair[f"{figure}_{side}"] for side in ("printed", "here")}
        found.append(row)
    return pd.DataFrame(found)


ROBUST_FIGURES = ("auroc", "accuracy_cost_points", "vfr_stable_of_28")


def compare_robustness(run: Run) -> pd.DataFrame:
    """Set the printed robustness checks of B4 beside this run's."""
    main = run.robustness[(run.robustness["check"] == "protocol") & (run.robustness["baseline"] == "B4")]
    ours = {row["setting"]: row for row in main.to_dict(orient="records")} if is_twin(run) else {}
    found = []
    for setting, title in SETTINGS.items():
        here = ours.get(setting, {})
        pair = _pair(read_published("robustness").loc[title], here, ROBUST_FIGURES)
        passes = MISSING
        if not math.isnan(here.get("di_passes", math.nan)):
            passes = f"{here['di_passes']:.0f} of {here['di_judged']:.0f}"
        found.append({"row": title, "di_printed": "4 of 4", "di_passes_here": passes, **pair})
    return pd.DataFrame(found)


ROBUST_COLUMNS = (
    *pair_columns(ROBUST_FIGURES, first="protocol"),
    Column("di_printed", "DI that pass"),
    Column("di_passes_here", "here"),
)


def list_parity(run: Run) -> pd.DataFrame:
    """List the disparate impacts of the baselines, printed and here, for `figures.published.draw_pairs`."""
    table = compare_baselines(run).set_index("row")
    cells = run.baseline_cells[
        (run.baseline_cells["protocol"] == SINGLE) & (run.baseline_cells["metric"] == "DI")
    ]
    bounds = {(row.baseline, row.attribute): (row.ci_low, row.ci_high) for row in rows(cells)}
    found = []
    for name in BASELINES:
        for attribute in ATTRIBUTES:
            row = table.loc[f"DI {attribute}"]
            low, high = (
                bounds.get((name, attribute), (math.nan, math.nan)) if is_twin(run) else (math.nan,) * 2
            )
            found.append((f"{name}: {attribute}", row[f"{name}_printed"], row[f"{name}_here"], low, high))
    return pd.DataFrame(found, columns=["label", "printed", "here", "low", "high"])


def list_areas(table: pd.DataFrame) -> pd.DataFrame:
    """List the AUROC of the models, printed and here, for `figures.published.draw_pairs`."""
    names = {"row": "label", "auroc_printed": "printed", "auroc_here": "here"}
    names |= {"auroc_low": "low", "auroc_high": "high"}
    return table.rename(columns=names)[["label", "printed", "here", "low", "high"]]


def describe_baselines(run: Run) -> str:
    """Say which printed conclusions about the baselines hold in this run."""
    if not is_twin(run):
        return "This run is of another cohort, so no printed conclusion is tried on it here."
    table = compare_baselines(run).set_index("row")
    lines = [_conclude_passes(run), _conclude_order(table), _conclude_reweighing(run)]
    return "\n".join(f"- {line}" for line in lines)


def _conclude_passes(run: Run) -> str:
    single = run.baselines[(run.baselines["protocol"] == SINGLE) & (run.baselines["sweep"] == "")]
    passes = {
        row.baseline: (int(row.di_passes), int(row.di_judged)) for row in rows(single.dropna(subset="n"))
    }
    told = [f"{name} {passes[name][0]} of {passes[name][1]}" for name in BASELINES if name in passes]
    return (
        "*Shifted thresholds pass disparate impact for all four attributes, reweighing does not.* "
        f"Disparate impacts that pass here, of those judged: {name_list(told)}."
    )


def _conclude_order(table: pd.DataFrame) -> str:
    here = table[["B3_here", "B4_here"]].astype(float).to_dict(orient="index")
    cost_b3, cost_b4 = here[TITLES["accuracy_cost_points"]].values()
    flips_b3, flips_b4 = here[TITLES["mean_vfr"]].values()
    if any(math.isnan(value) for value in (cost_b3, cost_b4, flips_b3, flips_b4)):
        return "*Refinement makes verdicts more stable and costs less.* B3 and B4 were not both made here."
    stable = "lower" if flips_b4 < flips_b3 else "not lower"
    cheap = "lower" if cost_b4 < cost_b3 else "not lower"
    return (
        "*Refinement lowers the mean flip rate and costs less accuracy.* Here the mean flip rate is "
        f"{stable} ({share(flips_b3)} to {share(flips_b4)}) and the cost is {cheap} "
        f"({number(cost_b3, digits=2)} to {number(cost_b4, digits=2)} points)."
    )


def _conclude_reweighing(run: Run) -> str:
    weighed = run.baselines[(run.baselines["baseline"] == "B2") & run.baselines["di_passes"].notna()]
    if weighed.empty:
        return "*Reweighing fails at every strength.* No model was reweighed in this run."
    best = rows(weighed.sort_values("di_age", ascending=False, kind="stable"))[0]
    strength = float(weighed["lambda"].loc[weighed["di_age"].fillna(-1.0).idxmax()])
    full = weighed[weighed["di_passes"] == len(ATTRIBUTES)]
    tried = ", ".join(f"{value:g}" for value in sorted(set(weighed["lambda"])))
    end = "none passes for all four" if full.empty else f"{count(len(full))} pass for all four"
    return (
        f"*Reweighing fails at every strength.* Strengths tried here: {tried}; {end}. The best disparate "
        f"impact for age is {number(best.di_age)} ({escape(best.protocol)}, {escape(best.part)} part, "
        f"strength {number(strength, digits=1)})."
    )
