"""Does the choice of model decide the verdict, said in words and tables, on any cohort?"""

import pandas as pd

from auditbook.book.say.metrics import write_rule
from auditbook.book.say.text import (
    Column,
    agree,
    count,
    count_of,
    escape,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.evidence import bound_quality
from auditbook.results import Run, rows
from auditbook.settings import Protocol
from auditbook.verdicts import compare_models, count_flips

CELL = ["metric", "attribute"]
NEAR_BEST = 0.01
"""Models whose accuracy is this close to the best one's (ours) are taken for equally good."""
MARKS = {"pass": "pass", "fail": "fail", "inconclusive": "?"}

QUALITY_COLUMNS = read_layout("book", "panel.quality")
SPREAD_COLUMNS = read_layout("book", "panel.spread")
CELL_COLUMNS = read_layout("book", "panel.cell")
FLIP_COLUMNS = read_layout("book", "panel.flip")
CASE_COLUMNS = read_layout("book", "panel.case")
LEAN_COLUMNS = read_layout("book", "panel.lean")
CHANGE_COLUMNS = read_layout("book", "panel.change")


def pick_panel(models: pd.DataFrame) -> pd.DataFrame:
    """Pick the models of the panel: all but the variants that are trained without late features."""
    return models.loc[models["features"] != "admission"]


def pick_cells(run: Run) -> pd.DataFrame:
    """Pick the rows of verdicts.csv that belong to models of the panel."""
    return run.verdicts[run.verdicts["model"].isin(pick_panel(run.models)["model"])]


def list_quality(run: Run) -> pd.DataFrame:
    """Lay out how good each model is and how it fares in the audit, for `QUALITY_COLUMNS`."""
    table = bound_quality(run.models, run.groups)
    impact = run.verdicts[run.verdicts["metric"] == "DI"]
    for attribute, part in impact.groupby("attribute", sort=False):
        texts = {row.model: f"{number(row.estimate, digits=2)} {MARKS[row.verdict]}" for row in rows(part)}
        table[f"di {attribute}"] = [texts.get(model, "") for model in table["model"]]
    tally = pd.crosstab(run.verdicts["model"], run.verdicts["verdict"]).reindex(table["model"], fill_value=0)
    passes, fails = (tally.get(word, pd.Series(0, tally.index)).to_numpy() for word in ("pass", "fail"))
    table["passing"] = [
        f"{p} of {p + f}" if p + f else "none judged" for p, f in zip(passes, fails, strict=True)
    ]
    return table.assign(judged=passes + fails)


def impact_columns(table: pd.DataFrame) -> tuple[Column, ...]:
    """Name the columns of `list_quality` that show disparate impact, one an attribute."""
    names = [name for name in table.columns if name.startswith("di ")]
    return (Column("model", "model"), *(Column(name, f"DI, {name.removeprefix('di ')}") for name in names))


def describe_panel(run: Run) -> str:
    """Say which models there are, where from, and which of them this chapter counts."""
    panel, lean = pick_panel(run.models), len(run.models) - len(pick_panel(run.models))
    given = int((panel["source"] == "given").sum())
    parts = [
        plural(part, word) for part, word in ((given, "given score"), (len(panel) - given, "model")) if part
    ]
    sizes = sorted(set(panel["n_train"]) - {0})
    trained = f", trained here on {plural(sizes[-1], 'record')}" if sizes and len(panel) > given else ""
    text = f"The panel of this run: {' and '.join(parts)}{trained} ({name_list(panel['model'], limit=12)})."
    if len(panel) == 1:
        text += " With one model there is no other to compare it with; what follows says so where it matters."
    if lean:
        text += (
            f" {plural(lean, 'variant').capitalize()} without late features "
            f"{agree(lean, 'is', 'are')} audited as well and not counted here: see below."
        )
    return text


def _write_rule(metric: str, threshold: float) -> str:
    """Write when a metric passes in few signs, such as ``≥ 0.80``."""
    return write_rule(metric, threshold).replace("at least", "≥").replace("at most", "≤")


def write_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Add to each compared cell its rule and the first model's verdict in a word, for `CELL_COLUMNS`."""
    rules = [_write_rule(row.metric, row.threshold) for row in rows(cells)]
    return cells.assign(passes_when=rules, first_verdict=cells["first_verdict"].replace(MARKS))


def describe_agreement(cells: pd.DataFrame) -> str:
    """Say in how many cells the models agree, and where they do not."""
    several = cells[cells["judged"] > 1]
    if several.empty:
        return "In no cell do two models have a verdict, so there is nothing that could disagree."
    split = several[several["minority"] > 0]
    alike = several[several["minority"] == 0]
    passing = int((alike["fails"] == 0).sum())
    lines = [
        f"- **{count_of(len(alike), len(cells), 'cell')}: every model that can be judged says the same** "
        f"({count(passing)} pass, {count(len(alike) - passing)} fail).",
        f"- **{count_of(len(split), len(cells), 'cell')}: the choice of model decides the verdict.**",
    ]
    if len(split):
        named = name_list((f"{row.metric} for {row.attribute}" for row in rows(split)), limit=8)
        lines[-1] += f" {named}."
    left = len(cells) - len(several)
    if left:
        lines.append(f"- {count_of(left, len(cells), 'cell')}: fewer than two models have a verdict.")
    return "\n".join(lines)


def describe_splits(cells: pd.DataFrame, *, limit: int = 5) -> str:
    """Say of the cells in which models disagree how they divide, the most evenly divided first."""
    split = cells[cells["minority"] > 0]
    if split.empty:
        return "No cell divides the models of this run."
    lines = [
        f"- **{row.metric} for {escape(row.attribute)}** (passes {row.passes_when}): "
        f"{count(row.passes)} pass and {count(row.fails)} fail, with estimates from "
        f"{number(row.lowest)} to {number(row.highest)}."
        for row in rows(split.head(limit))
    ]
    left = len(split) - limit
    return "\n".join(lines + ([f"- And {plural(left, 'cell')} more: see the table."] if left > 0 else []))


def describe_equals(run: Run) -> str:
    """Say whether models that are equally good for prediction agree in the audit."""
    panel = pick_panel(run.models)
    equal = panel[panel["accuracy"] >= panel["accuracy"].max() - NEAR_BEST]
    if len(equal) < 2:
        return "No two models of this run are equally accurate, by the rule above, as the best one."
    cells = compare_models(run.verdicts[run.verdicts["model"].isin(equal["model"])])
    split = cells[cells["minority"] > 0]
    text = (
        f"{plural(len(equal), 'model').capitalize()} lie within one percentage point of the best accuracy, "
        f"{share(panel['accuracy'].max())}: {name_list(equal['model'], limit=12)}. "
    )
    if split.empty:
        return f"{text}In no cell do they differ in their verdict."
    named = name_list((f"{row.metric} for {row.attribute}" for row in rows(split)), limit=6)
    return (
        f"{text}In {count_of(len(split), len(cells), 'cell')} they do not all give the same verdict: {named}."
        " Whoever chooses among them by accuracy has chosen these verdicts too, without knowing it."
    )


def describe_flips(flips: pd.DataFrame, cells: pd.DataFrame, protocol: Protocol) -> str:
    """Say how many verdicts of the whole panel flip, and whether they lie where the models disagree."""
    whole = flips.iloc[-1]
    if not whole["judged"]:
        return "No cell has both a verdict and a flip rate, so nothing could be reversed."
    text = (
        f"Resampling reversed {count_of(whole['reversed'], whole['judged'], 'verdict')} at least once; "
        f"{count(whole['unstable'])} have a flip rate above {share(protocol.vfr_stable, digits=0)}."
    )
    several = cells[cells["judged"] > 1]
    split, alike = several[several["minority"] > 0], several[several["minority"] == 0]
    if split.empty or alike.empty:
        return text
    return (
        f"{text} The mean flip rate is {share(split['mean_vfr'].mean())} in the cells that divide the "
        f"models, and {share(alike['mean_vfr'].mean())} in the others."
    )


def spread_estimates(verdicts: pd.DataFrame, *, metric: str) -> pd.DataFrame:
    """Set the spread between models beside the interval of each, for one metric."""
    names = ["model", "attribute", "estimate", "ci_low", "ci_high", "threshold", "verdict", "smallest_n"]
    spread = verdicts.loc[verdicts["metric"] == metric, names]
    order = spread["attribute"].map(
        {name: place for place, name in enumerate(dict.fromkeys(spread["attribute"]))}
    )
    return spread.loc[order.sort_values(kind="stable").index].reset_index(drop=True)


def describe_spread(spread: pd.DataFrame, *, metric: str) -> str:
    """Say which is wider: the spread between the models, or the interval of one of them."""
    known = spread[spread["ci_low"].notna() & (spread["verdict"] != "inconclusive")]
    lines = []
    for attribute, part in known.groupby("attribute", sort=False):
        if len(part) < 2:
            continue
        between = part["estimate"].max() - part["estimate"].min()
        within = (part["ci_high"] - part["ci_low"]).median()
        word = "wider" if between > within else "narrower"
        lines.append(
            f"- **{escape(attribute)}**: the {plural(len(part), 'model')} lie {number(between)} apart, "
            f"{word} than the typical interval of one of them ({number(within)})."
        )
    return "\n".join(lines) or f"{metric} has no two models with a verdict and an interval."


def list_lean(run: Run) -> pd.DataFrame:
    """Set each variant without late features beside its model, for `LEAN_COLUMNS`; empty without any."""
    table = list_quality(run).merge(count_flips(run.verdicts, run.protocol)[["model", "passes", "mean_vfr"]])
    pairs = [(f"{name}".removesuffix("_lean"), name) for name in _lean_names(run.models)]
    order = [name for pair in pairs for name in pair]
    words = {"all": "every feature", "admission": "no late features"}
    found = table.set_index("model").reindex(order).reset_index() if order else table.head(0)
    return found.assign(features=[words.get(word, "") for word in found.get("features", [])])


def _lean_names(models: pd.DataFrame) -> list[str]:
    return list(models.loc[models["features"] == "admission", "model"])


def list_changes(run: Run) -> pd.DataFrame:
    """List cells with another verdict (inconclusive is one) without late features, for `CHANGE_COLUMNS`."""
    found = []
    for name in _lean_names(run.models):
        full, lean = (
            run.verdicts[run.verdicts["model"] == model] for model in (name.removesuffix("_lean"), name)
        )
        both = full.merge(lean, on=CELL, suffixes=("_full", "_lean"))
        found.append(both[both["verdict_full"] != both["verdict_lean"]].assign(model=full["model"].iloc[0]))
    if not found:
        return pd.DataFrame(columns=[column.name for column in CHANGE_COLUMNS])
    table = pd.concat(found, ignore_index=True)
    rules = [_write_rule(row.metric, row.threshold_full) for row in rows(table)]
    return table.assign(passes_when=rules)


def describe_lean(run: Run) -> str:
    """Say what it costs to leave out what is known only at the end of the stay."""
    names = _lean_names(run.models)
    if not names:
        return (
            "No model of this run is trained a second time without late features. Where a cohort file names "
            "late features, `lean` under `[panel]` asks for it."
        )
    table = {row.model: row for row in rows(run.models)}
    changes = list_changes(run)
    late = run.cohort_columns.loc[run.cohort_columns["role"] == "late feature", "column"]
    lines = [f"Late here: {name_list(late, limit=6)}."]
    for name in names:
        full, lean = table[name.removesuffix("_lean")], table[name]
        changed = int((changes["model"] == full.model).sum())
        lines.append(
            f"- **{escape(full.model)}**: AUROC {number(full.auroc)} with late features and "
            f"{number(lean.auroc)} without; accuracy {share(full.accuracy)} and {share(lean.accuracy)}. "
            f"{_write_changes(changed)}"
        )
    return "\n".join([lines[0], "", *lines[1:]])


def _write_changes(n: int) -> str:
    if not n:
        return "No verdict changes."
    return f"{plural(n, 'cell').capitalize()} {agree(n, 'gets', 'get')} another verdict."
