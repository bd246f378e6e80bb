"""Where do the printed figures about the verdict flip rate agree with this run's, and where not?"""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from auditbook.audit_size import list_n_star
from auditbook.mitigation.assessment import di_column, kappa_column
from auditbook.mitigation.protocols import AUDIT, SINGLE
from auditbook.project import DEFAULT_COHORT, project_file
from auditbook.report.text import Column, count, escape, name_list, number, share
from auditbook.results import Run, rows

MODELS = MappingProxyType(
    {
        "XGBoost (canonical)": "xgboost",
        "LightGBM": "lightgbm",
        "HistGradientBoosting": "hist_gradient_boosting",
        "Stacking": "stacking",
        "Random forest": "random_forest",
        "Bagging": "bagging",
        "CatBoost": "catboost",
        "Gradient boosting": "gradient_boosting",
        "Decision tree": "decision_tree",
        "AdaBoost": "adaboost",
        "Extra trees": "extra_trees",
        "Logistic regression": "logistic",
    }
)
"""Names of this project's models, by the printed ones."""
BASELINES = MappingProxyType(
    {
        "B1": "B1 real-only",
        "B2": "B2 reweighing lambda 2",
        "B3": "B3 threshold shifting",
        "B4": "B4 VFR-Audit",
    }
)
SETTINGS = MappingProxyType(
    {
        "single split": "single split",
        "70/15/15": "stratified 70/15/15 seed 42",
        "admission-lean": "admission-lean",
        "another seed": "independent seed 123",
    }
)
ATTRIBUTES = ("race", "sex", "ethnicity", "age")
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
STATEMENT_COLUMNS = (
    Column("figure", "figure"),
    Column("baseline", "of"),
    Column("value", "printed", "number"),
    Column("ours", "here", "number"),
    Column("note", "what to know"),
)
CHECK_COLUMNS = (
    Column("what", "what is printed"),
    Column("printed", "printed", "number", digits=4),
    Column("recomputed", "from other printed figures", "number", digits=4),
    Column("says", "so"),
)


def read_published(table: str) -> pd.DataFrame:
    """Read one of the printed tables.

    Parameters
    ----------
    table : str
        ``model panel``, ``baselines`` or ``robustness``.

    Returns
    -------
    DataFrame
        One row a printed row, by its name.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> read_published("baselines").loc["B4 VFR-Audit", "accuracy_cost_points"]
    4.24
    """
    found = pd.read_csv(project_file("data", "reference", "texas100x_published.csv"))
    return found[found["table"] == table].drop(columns="table").set_index("row")


def read_statements() -> pd.DataFrame:
    """Read the figures that stand in the paper's text only: columns place, figure, baseline, value."""
    return pd.read_csv(project_file("data", "reference", "texas100x_stated.csv"))


def is_twin(run: Run) -> bool:
    """Tell whether a run is of the cohort that is made to look like the published one."""
    return bool(run.info.get("synthetic")) and run.info.get("name") == DEFAULT_COHORT.stem


def announce_cohort(run: Run) -> str:
    """Say what the columns of this run are worth beside the printed ones.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    str
        Markdown.
    """
    if not is_twin(run):
        return (
            "**This run is of another cohort.** Its columns below are blank, because figures about other "
            "patients would differ for reasons of their own. In the book of the default cohort they are filled."
        )
    most = int(run.models["n_audit"].max()) if len(run.models) else 0
    return (
        f"This run is of the synthetic twin, with {count(most)} audited records where the paper has "
        "185,026. Small groups are smaller by the same factor, and everything about them is less certain."
    )


def pair_columns(figures: Iterable[str], *, first: str) -> tuple[Column, ...]:
    """List the columns of a table that sets printed figures beside this run's.

    Parameters
    ----------
    figures : iterable of str
        Names of printed columns.
    first : str
        Header of the first column.

    Returns
    -------
    tuple of Column
        For `show_table`.
    """
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
    """Set the printed panel of models beside this run's models.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    DataFrame
        One row a printed model: row, n, and for each figure of `QUALITY` and each disparate impact the
        columns ``<figure>_printed`` and ``<figure>_here`` (nan where this run has none), with
        ``auroc_low`` and ``auroc_high``.
    """
    here = _describe_models(run) if is_twin(run) else {}
    figures = (*QUALITY, *(f"di_{name}" for name in ATTRIBUTES))
    found = []
    for row in read_published("model panel").reset_index().to_dict(orient="records"):
        ours = here.get(MODELS[row["row"]], {})
        bounds = {name: ours.get(name, math.nan) for name in ("n", "auroc_low", "auroc_high")}
        found.append({"row": row["row"], **bounds, **_pair(row, ours, figures)})
    return pd.DataFrame(found)


def _pair(printed: Mapping[str, Any], ours: Mapping[str, Any], figures: Iterable[str]) -> dict[str, float]:
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
    """Say how near this run's models come to the printed ones.

    Parameters
    ----------
    table : DataFrame
        Result of `compare_models`.

    Returns
    -------
    str
        Markdown.
    """
    known = table.dropna(subset="auroc_here")
    if known.empty:
        return "No model of this run can be set beside a printed one."
    away = (known["auroc_here"] - known["auroc_printed"]).abs()
    far = known.loc[away.idxmax()]
    text = (
        f"{count(len(known))} of {count(len(table))} printed models are in this run. AUROC differs by "
        f"{number(float(away.max()))} at most ({escape(far['row'])}: {number(far['auroc_printed'])} printed, "
        f"{number(far['auroc_here'])} here)."
    )
    if len(known) > 2:
        order = spearmanr(known["auroc_printed"], known["auroc_here"]).statistic
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
        for column in (Column(f"{name}_printed", name, "number"), Column(f"{name}_here", "here", "number"))
    ]
    return (Column("row", "figure"), *pairs)


def compare_baselines(run: Run) -> pd.DataFrame:
    """Set the printed comparison of the four baselines beside this run's, both on a single split.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    DataFrame
        One row a figure; columns row, and for each baseline ``<baseline>_printed`` and ``<baseline>_here``.
    """
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
    """Set the printed robustness checks of B4 beside this run's.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    DataFrame
        One row a printed check: row, di_printed and di_here (how many disparate impacts pass), and the
        figures ``auroc``, ``accuracy_cost_points`` and ``vfr_stable_of_28``, printed and here.
    """
    main = run.robustness[(run.robustness["check"] == "protocol") & (run.robustness["baseline"] == "B4")]
    ours = {row["setting"]: row for row in main.to_dict(orient="records")} if is_twin(run) else {}
    found = []
    for setting, title in SETTINGS.items():
        here = ours.get(setting, {})
        pair = _pair(read_published("robustness").loc[title], here, ROBUST_FIGURES)
        found.append({"row": title, "di_printed": 4, "di_here": here.get("di_passes", math.nan), **pair})
    return pd.DataFrame(found)


ROBUST_COLUMNS = (
    *pair_columns(ROBUST_FIGURES, first="protocol"),
    Column("di_printed", "DI that pass", "count"),
    Column("di_here", "here", "count"),
)

UNSTATED = "which resamples and folds were drawn is not printed"
SMALL = "the smallest group sets it, and it is smaller here"
WHOLE = "the paper counts the whole as a size; here a size above half of the audit never counts"
NOT_B4 = "here of the model without intervention: axis 2 is not run again for every baseline"


def compare_statements(run: Run) -> pd.DataFrame:
    """Set the figures that stand in the paper's text beside this run's.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    DataFrame
        Columns place, figure, baseline, value (printed), ours (nan where there is none) and note.
    """
    table = read_statements()
    answers = _answer(run) if is_twin(run) else {}
    ours = [answers.get((row.figure, row.baseline), (math.nan, "")) for row in rows(table)]
    return table.assign(ours=[value for value, _ in ours], note=[note for _, note in ours])


def _answer(run: Run) -> dict[tuple[str, str], tuple[float, str]]:
    """Find this run's answers to the statements, by figure and baseline."""
    return _answer_flips(run) | _answer_sizes(run) | _answer_baselines(run) | _answer_sweeps(run)


def _answer_flips(run: Run) -> dict[tuple[str, str], tuple[float, str]]:
    """Count flips over the published models, and look up those of the first model."""
    cells = run.verdicts[run.verdicts["model"].isin(MODELS.values())]
    judged = cells["vfr"].dropna()
    note = f"of {count(len(judged))} judged cells of {count(cells['model'].nunique())} models; {UNSTATED}"
    found = {
        ("cells reversed at least once of 336", "B1"): (float((judged > 0).sum()), note),
        ("cells with a flip rate above 0.10 of 336", "B1"): (float((judged > 0.10).sum()), note),
    }
    first = cells[cells["model"] == "xgboost"].set_index(["metric", "attribute"])
    for metric, attribute in (("EOPP", "race"), ("EOD", "race"), ("PP", "race"), ("PP", "age")):
        if (metric, attribute) in first.index:
            cell = first.loc[(metric, attribute)]
            why = cell["reason"] or f"the metric is {number(cell['estimate'])} here; {SMALL}"
            found[(f"flip rate of {metric} for {attribute}", "B1")] = (float(cell["vfr"]), str(why))
    return found


def _answer_sizes(run: Run) -> dict[tuple[str, str], tuple[float, str]]:
    """Count the cells of the first model that settle at some size."""
    sizes = run.audit_size[run.audit_size["model"] == "xgboost"]
    if sizes.empty:
        return {}
    settled = list_n_star(sizes, cv_stable=run.protocol.cv_stable)
    field = sum(n <= run.protocol.field_size for n in settled.values())
    wide = sizes[(sizes["n"] == 1_000) & (sizes["cv"] > 0.5)]
    total = f"of {count(len(settled))} cells; {NOT_B4}"
    return {
        ("cells whose CV falls below 0.05 at a size of one site of 28", "B4"): (float(field), total),
        ("cells whose CV falls below 0.05 at the whole only of 28", "B4"): (math.nan, WHOLE),
        ("cells with CV above 0.50 at 1000 records of 28", "B4"): (float(len(wide)), total),
    }


def _answer_baselines(run: Run) -> dict[tuple[str, str], tuple[float, str]]:
    """Look up kappa and flip rates of B3 and B4 on the single split."""
    cells = run.baseline_cells[run.baseline_cells["protocol"] == SINGLE]
    found = {
        (f"flip rate of {row.metric} for {row.attribute}", str(row.baseline)): (
            float(row.vfr),
            row.reason or f"the metric is {number(row.estimate)} here",
        )
        for row in rows(cells)
        if row.baseline in ("B3", "B4")
    }
    main = run.baselines[(run.baselines["protocol"] == SINGLE) & (run.baselines["sweep"] == "")]
    for row in main[main["baseline"] == "B4"].to_dict(orient="records"):
        for metric in run.protocol.metrics:
            kappa = row.get(kappa_column(metric), math.nan)
            note = "undefined: the folds all say the same, or cannot be judged" if math.isnan(kappa) else ""
            found[(f"kappa of {metric}", "B4")] = (float(kappa), note or UNSTATED)
    return found


def _answer_sweeps(run: Run) -> dict[tuple[str, str], tuple[float, str]]:
    """Look up what the sweeps over strengths and headrooms reached."""
    single = run.baselines[(run.baselines["protocol"] == SINGLE) & (run.baselines["part"] == AUDIT)]
    weighed = single[(single["baseline"] == "B2") & single["di_age"].notna()]
    found = {}
    if len(weighed):
        strengths = ", ".join(f"{value:g}" for value in sorted(weighed["lambda"]))
        key = ("best DI for age over twenty further strengths of reweighing", "B2")
        found[key] = (float(weighed["di_age"].max()), f"strengths trained in this run: {strengths}")
    for target in (0.80, 0.90):
        row = single[(single["baseline"] == "B4") & np.isclose(single["headroom"], target - 0.80)]
        if len(row):
            key = (f"accuracy cost at a DI target of {target:.2f} in points", "B4")
            found[key] = (float(row["accuracy_cost"].iloc[0]), str(row["note"].iloc[0]))
    return found


def check_printed() -> pd.DataFrame:
    """Recompute printed figures from other printed figures.

    Returns
    -------
    DataFrame
        Columns what, printed, recomputed, says.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> check_printed()["recomputed"].round(3).tolist()[:2]
    [0.35, 0.242]
    """
    table, stated = read_published("baselines"), read_statements()
    kappas = stated[stated["figure"].str.startswith("kappa of ")]
    without = kappas.loc[kappas["figure"] != "kappa of TI", "value"]
    b1, b3, b4 = (table.loc[BASELINES[name]] for name in ("B1", "B3", "B4"))
    moved = stated[stated["figure"].str.startswith("flip rate of") & stated["baseline"].isin(["B3", "B4"])]
    both = moved.pivot_table(index="figure", columns="baseline", values="value")
    counted = "cells with a flip rate above 0.10 of 336"
    above = float(stated.loc[stated["figure"] == counted, "value"].iloc[0])
    found = [
        ("mean kappa of B4", b4["mean_kappa"], kappas["value"].mean(), _SAYS_COUNTED),
        ("mean kappa of B4", b4["mean_kappa"], without.mean(), _SAYS_WITHOUT),
        ("AUROC of B3, thresholds shifted", b3["auroc"], b1["auroc"], _SAYS_SCORES),
        ("AUROC of B4, thresholds shifted", b4["auroc"], b1["auroc"], "the same, as it has to be"),
        ("accuracy cost of B4, points", b4["accuracy_cost_points"], 100 * (b1["accuracy"] - b4["accuracy"]), ""),
        ("stable cells of 336", 259.0, 336 - above, ""),
        ("change of the four moved cells, B3 to B4", math.nan, float((both["B4"] - both["B3"]).sum()), _SAYS_SUM),
    ]
    return pd.DataFrame(found, columns=["what", "printed", "recomputed", "says"])


_SAYS_COUNTED = "holds when the undefined kappa of TI is counted as 1"
_SAYS_WITHOUT = "the same without TI, whose folds cannot disagree: below 0.40 by more"
_SAYS_SCORES = "shifting thresholds changes no score, so the two have to be equal: the scores were others"
_SAYS_SUM = "two cells fell and two rose: most of what was won for age was lost for race"


def list_parity(run: Run) -> pd.DataFrame:
    """List the disparate impacts of the baselines, printed and here, for `figures.published.draw_pairs`.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    DataFrame
        Columns label, printed, here, low, high, one row a baseline and attribute.
    """
    table = compare_baselines(run).set_index("row")
    cells = run.baseline_cells[(run.baseline_cells["protocol"] == SINGLE) & (run.baseline_cells["metric"] == "DI")]
    bounds = {(row.baseline, row.attribute): (row.ci_low, row.ci_high) for row in rows(cells)}
    found = []
    for name in BASELINES:
        for attribute in ATTRIBUTES:
            row = table.loc[f"DI {attribute}"]
            low, high = bounds.get((name, attribute), (math.nan, math.nan)) if is_twin(run) else (math.nan,) * 2
            found.append((f"{name}: {attribute}", row[f"{name}_printed"], row[f"{name}_here"], low, high))
    return pd.DataFrame(found, columns=["label", "printed", "here", "low", "high"])


def list_areas(table: pd.DataFrame) -> pd.DataFrame:
    """List the AUROC of the models, printed and here, for `figures.published.draw_pairs`.

    Parameters
    ----------
    table : DataFrame
        Result of `compare_models`.

    Returns
    -------
    DataFrame
        Columns label, printed, here, low, high.
    """
    names = {"row": "label", "auroc_printed": "printed", "auroc_here": "here"}
    names |= {"auroc_low": "low", "auroc_high": "high"}
    return table.rename(columns=names)[["label", "printed", "here", "low", "high"]]


def describe_baselines(run: Run) -> str:
    """Say which printed conclusions about the baselines hold in this run.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    str
        A Markdown list.
    """
    if not is_twin(run):
        return "This run is of another cohort, so no printed conclusion is tried on it here."
    table = compare_baselines(run).set_index("row")
    lines = [_conclude_passes(run), _conclude_order(table), _conclude_reweighing(run)]
    return "\n".join(f"- {line}" for line in lines)


def _conclude_passes(run: Run) -> str:
    single = run.baselines[(run.baselines["protocol"] == SINGLE) & (run.baselines["sweep"] == "")]
    passes = {row.baseline: (int(row.di_passes), int(row.di_judged)) for row in rows(single.dropna(subset="n"))}
    told = [f"{name} {passes[name][0]} of {passes[name][1]}" for name in BASELINES if name in passes]
    return (
        "*Shifted thresholds pass disparate impact for all four attributes, reweighing does not.* "
        f"Disparate impacts that pass here, of those judged: {name_list(told)}."
    )


def _conclude_order(table: pd.DataFrame) -> str:
    cost, flips = table.loc[TITLES["accuracy_cost_points"]], table.loc[TITLES["mean_vfr"]]
    if any(math.isnan(row[f"{name}_here"]) for row in (cost, flips) for name in ("B3", "B4")):
        return "*Refinement makes verdicts more stable and costs less.* B3 and B4 were not both made here."
    stable = "lower" if flips["B4_here"] < flips["B3_here"] else "not lower"
    cheap = "lower" if cost["B4_here"] < cost["B3_here"] else "not lower"
    return (
        "*Refinement lowers the mean flip rate and costs less accuracy.* Here the mean flip rate is "
        f"{stable} ({share(flips['B3_here'])} to {share(flips['B4_here'])}) and the cost is {cheap} "
        f"({number(cost['B3_here'], digits=2)} to {number(cost['B4_here'], digits=2)} points)."
    )


def _conclude_reweighing(run: Run) -> str:
    weighed = run.baselines[(run.baselines["baseline"] == "B2") & run.baselines["di_passes"].notna()]
    if weighed.empty:
        return "*Reweighing fails at every strength.* No model was reweighed in this run."
    best = weighed.loc[weighed["di_age"].fillna(-1.0).idxmax()]
    full = weighed[weighed["di_passes"] == len(ATTRIBUTES)]
    tried = ", ".join(f"{value:g}" for value in sorted(set(weighed["lambda"])))
    end = "none passes for all four" if full.empty else f"{count(len(full))} pass for all four"
    return (
        f"*Reweighing fails at every strength.* Strengths tried here: {tried}; {end}. The best disparate impact "
        f"for age is {number(best['di_age'])}, at {best['lambda']:g} ({escape(best['protocol'])}, "
        f"{escape(best['part'])} part)."
    )
