"""How many records would an audit need, said in words, on any cohort?"""

import math

import pandas as pd

from auditbook.book.say.text import (
    agree,
    count,
    count_of,
    escape,
    join_words,
    name_list,
    plural,
    read_layout,
    share,
)
from auditbook.results import match_rows, rows
from auditbook.settings import Protocol
from auditbook.verdicts import CLEAR, bound_pass_shares, find_n_star

SWEEP_COLUMNS = read_layout("book", "audit_size.sweep")
CASE_COLUMNS = read_layout("book", "audit_size.case")
NEED_COLUMNS = read_layout("book", "audit_size.need")


def write_n_star(n_star: float) -> str:
    """Write an N*: a number of records, ``not reached``, or a dash where there is no verdict."""
    return "not reached" if math.isinf(n_star) else count(n_star)


def tabulate_cases(cases: dict[str, pd.DataFrame], *, cv_stable: float = 0.05) -> pd.DataFrame:
    """Lay the sweeps of several made-up cells out in one table, for `CASE_COLUMNS`."""
    frames = [
        table.assign(label=label, n_star=write_n_star(find_n_star(table, cv_stable=cv_stable)))
        for label, table in cases.items()
    ]
    return pd.concat(frames, ignore_index=True)


def order_attributes(verdicts: pd.DataFrame, *, model: str) -> list[str]:
    """List a model's attributes, those with a verdict first."""
    cells = verdicts[verdicts["model"] == model]
    judged = set(cells["attribute"][cells["verdict"] != "inconclusive"])
    return sorted(dict.fromkeys(cells["attribute"]), key=lambda name: name not in judged)


def select_sweep(audit_size: pd.DataFrame, protocol: Protocol, *, model: str, attribute: str) -> pd.DataFrame:
    """Take one model's and attribute's rows, with Wilson's interval of the pass share."""
    here = match_rows(audit_size, model=model, attribute=attribute)
    return bound_pass_shares(here, repeats=protocol.size_repeats).reset_index(drop=True)


def describe_sizes(audit_size: pd.DataFrame, protocol: Protocol, *, weighted: bool = False) -> str:
    """Say which sizes are tried, and which of them say nothing because they are most of the audit."""
    if audit_size.empty:
        return "This run judged no cell, so no size was tried."
    if weighted:
        return (
            "The records are weighted: some of them are no smaller audit of their kind, so no size was tried."
        )
    sizes = audit_size[["n", "above_half"]].drop_duplicates()
    whole = int(sizes["n"].max())
    good, over = (sizes["n"][sizes["above_half"] == flag].tolist() for flag in (False, True))
    text = (
        f"The audit holds {plural(whole, 'record')}. Each size was drawn "
        f"{plural(protocol.size_repeats, 'time')} without replacement. "
    )
    if not good:
        return text + (
            f"Every size of the protocol is more than half of that ({count(whole // 2)}), so that none "
            "counts: this audit is too small to show what a smaller one would see."
        )
    listed = join_words([count(size) for size in good])
    return text + (
        f"{'These sizes count' if len(good) > 1 else 'One size counts'}: {listed}. "
        f"Not counted, because more than half of the audit: {join_words([count(size) for size in over])}."
    )


def write_needs(needs: pd.DataFrame) -> pd.DataFrame:
    """Write every N* out, for `NEED_COLUMNS`."""
    return needs.assign(n_star_text=needs["n_star"].map(write_n_star))


def describe_needs(needs: pd.DataFrame, protocol: Protocol) -> str:
    """Say how many verdicts rest on a metric that has settled, and what the others would take."""
    judged = needs[needs["verdict"] != "inconclusive"]
    if judged.empty:
        return "No cell has a verdict, so there is none whose size could be asked for."
    reached = judged[judged["n_star"] < math.inf]
    text = (
        f"Of {plural(len(judged), 'cell')} with a verdict, {count(len(reached))} "
        f"{agree(len(reached), 'has', 'have')} settled within half of the audit"
    )
    if len(reached):
        low, high = (count(size) for size in (reached["n_star"].min(), reached["n_star"].max()))
        text += f" (N* {low})" if low == high else f" (N* from {low} to {high})"
    left = len(judged) - len(reached)
    text += f"; {count(left)} {agree(left, 'has', 'have')} not."
    need = judged["n_star"].where(judged["n_star"] < math.inf, judged["projected"])
    beyond = judged[need > protocol.field_size]
    if len(beyond):
        text += (
            f" {count(len(beyond))} {agree(len(beyond), 'needs', 'need')}, roughly, more than the "
            f"{plural(protocol.field_size, 'record')} of one site: {_name_cells(beyond)}."
        )
    return text


def _name_cells(cells: pd.DataFrame, *, limit: int = 6) -> str:
    return name_list((f"{row.metric} for {row.attribute}" for row in rows(cells)), limit=limit)


def describe_luck(needs: pd.DataFrame, audit_size: pd.DataFrame, protocol: Protocol, *, model: str) -> str:
    """Name the cells whose N* hangs on the draw of the subsamples."""
    reached = needs[needs["n_star"] < math.inf]
    if reached.empty:
        return "No N* was reached, so none can hang on the draw."
    here = audit_size[audit_size["model"] == model]
    at = reached[["metric", "attribute", "n_star"]].merge(
        here, left_on=["metric", "attribute", "n_star"], right_on=["metric", "attribute", "n"]
    )
    shaky = at[at["cv_high"] >= protocol.cv_stable]
    if shaky.empty:
        return "At every N* the interval of CV lies below its bound: other subsamples would say the same."
    return (
        f"In {count_of(len(shaky), len(at), 'cell')} with an N*, the interval of CV at N* reaches beyond the "
        f"bound, so that other subsamples could have named the next size: {_name_cells(shaky)}."
    )


def describe_minds(needs: pd.DataFrame) -> str:
    """Name the cells in which a settled metric and agreement on the verdict part ways."""
    known = needs.dropna(subset=["cv", "pass_share"])
    if known.empty:
        return "No cell has both a coefficient of variation and a pass share at a size that counts."
    clear, settled = known["one_mind"], known["settled"]
    sure, torn = known[clear & ~settled], known[~clear & settled]
    text = (
        f"At the largest size that counts, {count_of(int(clear.sum()), len(known), 'cell')} "
        f"{agree(int(clear.sum()), 'is', 'are')} of one mind: at least {share(CLEAR, digits=0)} of the "
        "subsamples end in the same verdict."
    )
    if len(sure):
        text += (
            f" In {count(len(sure))} of these the metric has not settled all the same: {_name_cells(sure)}."
        )
    if len(torn):
        text += (
            " The other way round, the metric has settled and subsamples disagree on the verdict in: "
            f"{_name_cells(torn)}."
        )
    return text


def describe_support(sweep: pd.DataFrame) -> str:
    """Say at which sizes an audit would most likely have ended inconclusive."""
    known = sweep.dropna(subset="unsupported_share")
    if known.empty:
        return "No cell of this attribute has a verdict, even with all records."
    attribute = escape(known["attribute"].iloc[0])
    silent = sorted(set(sweep["metric"]) - set(known["metric"]), key=list(sweep["metric"]).index)
    rest = f" Even with all records there is no verdict on {join_words(silent)}." if silent else ""
    worst = known.groupby("n")["unsupported_share"].max()
    poor = worst[worst > 0.5]
    if poor.empty:
        which = f" for {join_words(known['metric'].unique())}" if silent else ""
        return (
            "At every size tried, most audits would have had enough support in all groups of "
            f"{attribute}{which}.{rest}"
        )
    return (
        f"For {attribute}, more than half of the audits of {join_words([count(n) for n in poor.index])} "
        "records would have ended inconclusive in some metric, because a group has too few records, events "
        f"or non-events.{rest}"
    )
