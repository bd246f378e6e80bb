"""How do several models stand side by side, on the same people?"""

import pandas as pd

from auditbook.book.say.text import count
from auditbook.report.content import Sheet, Statement
from auditbook.report.matrix import WORDS
from auditbook.report.source import Source, list_names, rest_on
from auditbook.results import match_rows


def compare_pages(source: Source) -> tuple[tuple[Statement, ...], Sheet | None]:
    """Set several models side by side; nothing with one."""
    if len(source.models) < 2 or source.table("models").empty:
        return (), None
    table = _tabulate(source)
    caption = (
        "One row a model, on the same records. AUROC less that of the first model is paired: from "
        "the same people, "
        "with its 95% interval. Marks count questions by attribute."
    )
    sheet = Sheet("comparison", "The models side by side", table, caption)
    return (*_describe_areas(source), _describe_marks(source)), sheet


def _tabulate(source: Source) -> pd.DataFrame:
    """Lay out how good each model is and what was shown of it."""
    table = source.table("models")[
        ["model", "n_audit", "selection_rate", "accuracy", "auroc", "auroc_low", "auroc_high"]
    ]
    overall = source.of("auc_differences", attribute="all")[
        ["model", "difference", "ci_low", "ci_high", "p_value"]
    ]
    table = table.merge(overall, on="model", how="left")
    counts = pd.crosstab(source.marks["model"], source.marks["mark"])
    for mark, words in WORDS.items():
        known = counts[mark] if mark in counts else pd.Series(0, counts.index)
        table[words] = [int(known.get(model, 0)) for model in table["model"]]
    return table.reset_index(drop=True)


def _describe_areas(source: Source) -> list[Statement]:
    """Say which models order people better or worse than the first, by the paired difference."""
    first = source.models[0]
    known = source.of("auc_differences", attribute="all").dropna(subset=["ci_low", "ci_high"])
    if known.empty:
        return []
    better, worse = known[known["ci_low"] > 0]["model"], known[known["ci_high"] < 0]["model"]
    rest = len(known) - len(better) - len(worse)
    parts = []
    if len(better):
        parts.append(f"better: {list_names(better)}")
    if len(worse):
        parts.append(f"worse: {list_names(worse)}")
    if rest:
        parts.append(
            f"not shown to differ: {list_names(known[~known['model'].isin([*better, *worse])]['model'])}"
        )
    text = f"In how well scores order people, paired on the same people, beside {first}: {'; '.join(parts)}."
    return [Statement(text, (rest_on("auc_differences.csv", attribute="all"),))]


def _describe_marks(source: Source) -> Statement:
    """Say which models have the fewest questions shown to fail, which is no ranking of them."""
    fails = {model: len(match_rows(source.marks, model=model, mark="fails")) for model in source.models}
    least = min(fails.values())
    unasked = match_rows(source.marks, mark="unjudged").groupby("model").size()
    lost = [f"{model} {count(unasked[model])}" for model in source.models if model in unasked]
    beside = f" Not judged, and so not shown to fail: {list_names(lost)}." if lost else ""
    named = [model for model, found in fails.items() if found == least]
    text = (
        f"Fewest questions by attribute shown to fail ({count(least)}): {list_names(named)}.{beside} "
        "Each model "
        "has a board of its own, so that the least of several is better than it would be on other people."
    )
    return Statement(text, (rest_on("verdicts.csv"), rest_on("auc_verdicts.csv")))
