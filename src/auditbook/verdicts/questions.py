"""What was shown of each question that a board asks, and of how many people does a shown gap tell?"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.results import match_rows, rows
from auditbook.settings import Protocol
from auditbook.verdicts.metrics import find_metric
from auditbook.verdicts.shown import METRIC_QUANTITIES, pick_deciding

RATE_QUESTIONS = {
    "TPR": "found",
    "FPR": "alarms",
    "SR": "selected",
    "PPV": "meaning",
    "CAL": "risk",
    "CAL_large": "risk",
    "TI": "risk",
    "AUC": "order",
}
"""The question that a quantity of the groups answers; one of the whole sample answers none."""
MARKS = ("fails", "open", "unjudged", "partly", "passes")
"""What is shown of a question, the least kind first."""
STANDING_MARKS = {
    "shown to fail": "fails",
    "open, fails so far": "open",
    "open, passes so far": "open",
    "cannot be judged": "unjudged",
    "passes for those compared": "partly",
    "shown to pass": "passes",
}
RATE_COLUMNS = {"SR": "selection_rate", "TPR": "tpr", "FPR": "fpr", "PPV": "ppv"}
CELL = ["model", "metric", "attribute"]
NEEDS = {
    "TPR": ("events", "min_events"),
    "FPR": ("non_events", "min_non_events"),
    "SR": ("n", "min_records"),
    "PPV": ("selected", "min_events"),
}
"""What a rate is a share of, and the constant that says how many of these a group needs to be compared."""
UNCOMPARED_COLUMNS = "model attribute group n events question held needed size".split()


def mark_questions(
    verdicts: pd.DataFrame, contrasts: pd.DataFrame, groups: pd.DataFrame, *, alpha: float
) -> pd.DataFrame:
    r"""Mark every question and attribute of each model with what was shown.

    A metric of one quantity answers with its cell's standing. One of several (EOD: TPR and FPR) answers one
    question by each: the part *fails* when the cell is shown to fail and either the contrast that decides it
    is of this part or :math:`m\,C\,\min_j p_j \le \alpha` over the part's contrasts (Bonferroni over the m
    contrasts of the cell and the C judged cells of the model's board); it *passes* when the cell does, or
    when :math:`C \max_j p_j \le \alpha` (intersection-union), and only *partly* while a group with records
    has no contrast; without a contrast it is *unjudged*, else *open*. The TPR part of EOD is left to EOPP
    where that is judged too: the same contrasts, fewer of them. Of several answers to one question the least
    kind one stands, in the order of `MARKS`: a mark is never kinder than what it rests on.

    Returns
    -------
    DataFrame
        One row a model, question and attribute: mark, and the `metrics` that it rests on.
    """
    parts = _list_parts(verdicts, contrasts, groups, alpha=alpha)
    order = parts["mark"].map(MARKS.index)
    keys = ["model", "question", "attribute"]
    found = parts.assign(order=order).groupby(keys, sort=False)
    marks = found["order"].min().map(lambda place: MARKS[place]).rename("mark")
    metrics = found["metric"].agg(tuple).rename("metrics")
    return pd.concat([marks, metrics], axis=1).reset_index()


def _list_parts(
    verdicts: pd.DataFrame, contrasts: pd.DataFrame, groups: pd.DataFrame, *, alpha: float
) -> pd.DataFrame:
    """Mark every quantity of every cell that answers a question."""
    board = verdicts[verdicts["shown"] != "none"].groupby("model").size()
    by_cell = {key: part for key, part in contrasts.groupby(CELL, sort=False)}
    present = groups[groups["n"] != 0].groupby(["model", "attribute"])["group"].agg(set).to_dict()
    judged = set(zip(*(verdicts[name] for name in CELL), strict=True))
    found = []
    for cell in rows(verdicts[[*CELL, "shown", "standing", "p_pass"]]):
        rates = METRIC_QUANTITIES[cell.metric]
        of_cell = by_cell.get((cell.model, cell.metric, cell.attribute), contrasts.iloc[:0])
        for rate in rates:
            if rate not in RATE_QUESTIONS or (
                len(rates) > 1 and rate == "TPR" and (cell.model, "EOPP", cell.attribute) in judged
            ):
                continue
            mark = STANDING_MARKS[cell.standing]
            if len(rates) > 1:
                people = present.get((cell.model, cell.attribute), set())
                mark = (
                    _mark_part(cell, of_cell, rate, people, cells=int(board[cell.model]), alpha=alpha)
                    if cell.shown != "none"
                    else "unjudged"
                )
            found.append((cell.model, RATE_QUESTIONS[rate], cell.attribute, cell.metric, mark))
    return pd.DataFrame(found, columns=["model", "question", "attribute", "metric", "mark"])


def _mark_part(
    cell: Any, contrasts: pd.DataFrame, rate: str, present: set[str], *, cells: int, alpha: float
) -> str:
    """Mark one quantity of a cell that looks at several."""
    known = contrasts.dropna(subset="p_fail")
    part = known[known["rate"] == rate]
    if part.empty:
        return "unjudged"
    if cell.shown == "fail":
        decides = pick_deciding(known)["rate"].iloc[0] == rate
        if decides or part["p_fail"].min() * len(known) * cells <= alpha:
            return "fails"
    compared = set(part["group"]) | set(part["other"])
    if cell.p_pass <= alpha or part["p_pass"].max() * cells <= alpha:
        return "passes" if present <= compared else "partly"
    return "open"


def pick_shown(verdicts: pd.DataFrame, contrasts: pd.DataFrame, *, alpha: float) -> pd.DataFrame:
    r"""Pick the contrasts that are shown to lie beyond their threshold, with the cell's own first.

    Of a cell that is shown to fail: the one that decides it, and those with :math:`m\,C\,p \le \alpha` over
    its m contrasts and the C judged cells of the model's board.
    """
    cells = verdicts[verdicts["shown"] != "none"].groupby("model").size().rename("cells")
    failing = verdicts.loc[verdicts["shown"] == "fail", CELL]
    known = contrasts.dropna(subset="p_fail").merge(failing, on=CELL).merge(cells, on="model")
    count = known.groupby(CELL)["p_fail"].transform("size")
    deciding = pick_deciding(known)
    shown = known[known["p_fail"] * count * known["cells"] <= alpha]
    both = pd.concat([deciding, shown]).drop(columns="cells")
    return both.drop_duplicates([*CELL, "rate", "bin", "group", "other"]).reset_index(drop=True)


def count_affected(contrasts: pd.DataFrame, groups: pd.DataFrame) -> NDArray[np.float64]:
    r"""Count the people whom each gap between two groups touches, among those audited.

    .. math:: \frac{n_g n_h}{n_g + n_h}\, |r_g - r_h|

    With n the audited people that a rate r is a share of (all, those with the event, without it, or
    selected): so many of the group concerned would have another result if both groups had the rate of the
    two together. It does not ask which group is concerned, and a small group does not make a large one
    touched: where nothing is wrong its spread is that of :math:`\sqrt{n_g n_h/(n_g + n_h)}`, whereas
    :math:`n_g |r_g - r_h|` would put a large group beside a tiny one first. Of calibration: people in the
    score bin times the distance of event rate and mean score. nan for what is no share of people (TI, AUC)
    and where a number is withheld.

    >>> pair = {"model": "m", "attribute": "sex", "rate": "TPR", "group": "F", "other": "M",
    ...         "estimate": 0.3, "n": 100, "n_other": 100}
    >>> known = {"model": "m", "attribute": "sex", "group": ["F", "M"], "selection_rate": 0.5,
    ...          "tpr": [0.9, 0.6], "fpr": 0.5, "ppv": 0.5}
    >>> count_affected(pd.DataFrame([pair]), pd.DataFrame(known)).round(6).tolist()
    [15.0]
    """
    return np.array([_count_one(row, groups) for row in rows(contrasts)], float)


def find_error_free(contrasts: pd.DataFrame, groups: pd.DataFrame) -> NDArray[np.float64]:
    """Find what each contrast would be under a model that selects the events and nobody else.

    Of selection the difference, or ratio, of the event rates of the same two groups in the same order: below
    0, or above 1, where the event is more frequent in the other one than the model makes it look. 0 of
    everything that only errors make. nan where a number is withheld or undefined.
    """
    return np.array([_free_one(row, groups) for row in rows(contrasts)], float)


def _free_one(contrast: Any, groups: pd.DataFrame) -> float:
    if contrast.rate != "SR":
        return 0.0
    known = match_rows(groups, model=contrast.model, attribute=contrast.attribute)
    rate = known.set_index("group")["event_rate"]
    one, other = float(rate[contrast.group]), float(rate[contrast.other])
    if find_metric(contrast.metric).direction == "at_most":
        return one - other
    return one / other if other > 0 else float("nan")


def _count_one(contrast: Any, groups: pd.DataFrame) -> float:
    if contrast.rate in ("CAL", "CAL_large"):
        return float(abs(contrast.estimate) * contrast.n)
    if contrast.rate not in RATE_COLUMNS:
        return float("nan")
    known = match_rows(groups, model=contrast.model, attribute=contrast.attribute)
    rate = known.set_index("group")[RATE_COLUMNS[contrast.rate]]
    gap = abs(rate[contrast.group] - rate[contrast.other])
    return float(gap * contrast.n * contrast.n_other / (contrast.n + contrast.n_other))


def list_uncompared(
    verdicts: pd.DataFrame, groups: pd.DataFrame, contrasts: pd.DataFrame, protocol: Protocol
) -> pd.DataFrame:
    """List the groups that are too small to be compared by a rate that is asked of them.

    A rate needs enough of what it is a share of: of the events TPR, of the non-events FPR, of the records the
    selection rate, of the selected PPV; with weights what these are worth. Rates of score bins and areas are
    not looked at. Where a count is withheld, a group is listed unless it has a contrast.

    Returns
    -------
    DataFrame
        One row a model, attribute, group and question: n and events of the group; how much is `held` and
        `needed`; and the `size` of an audit that would hold enough if all shares stay as they are, infinite
        where none was seen, nan where it is not known.
    """
    asked = verdicts.groupby(["model", "attribute"])["metric"].agg(set)
    compared = {
        (row.model, row.attribute, row.rate, name)
        for row in rows(contrasts.dropna(subset="p_fail")[["model", "attribute", "rate", "group", "other"]])
        for name in (row.group, row.other)
    }
    total = groups.groupby(["model", "attribute"])["n"].sum()
    found = []
    for row in rows(_weigh(groups)):
        key = (row.model, row.attribute)
        for rate in _list_rates(asked.get(key, set())):
            column, constant = NEEDS[rate]
            held, needed = float(getattr(row, f"held_{column}")), int(getattr(protocol, constant))
            if held >= needed or (np.isnan(held) and (*key, rate, row.group) in compared):
                continue
            size = total[key] * needed / held if held > 0 else np.inf if held == 0 else np.nan
            question = RATE_QUESTIONS[rate]
            found.append((*key, row.group, row.n, row.events, question, held, needed, np.ceil(size)))
    return pd.DataFrame(found, columns=UNCOMPARED_COLUMNS)


def _list_rates(metrics: set[str]) -> list[str]:
    """List the rates that these metrics look at and that need enough of what they are a share of."""
    looked_at = {rate for metric in metrics for rate in METRIC_QUANTITIES[metric]}
    return [rate for rate in NEEDS if rate in looked_at]


def _weigh(groups: pd.DataFrame) -> pd.DataFrame:
    """Give what each group holds of what rates are shares of; with weights, what these are worth."""
    selected = groups["tp"] + groups["fp"]
    counted = {"n": groups["n"], "events": groups["events"], "non_events": groups["non_events"]}
    counted |= {"selected": selected}
    held = {
        f"held_{name}": groups[f"{name}_effective"].where(groups[f"{name}_effective"].notna(), values)
        for name, values in counted.items()
    }
    return groups.assign(**held)
