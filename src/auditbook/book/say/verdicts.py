"""Do resamples agree on each verdict, said in words, on any cohort?"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.book.say.metrics import choose, write_rule
from auditbook.book.say.text import (
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
from auditbook.errors import InputError
from auditbook.project import project_file
from auditbook.results import rows
from auditbook.settings import Protocol
from auditbook.verdicts import METRICS, FlipRate, disagreement

COUNTS = ("tp", "fp", "fn", "tn")
FEW_SITES = 15

FLIP_COLUMNS = read_layout("book", "verdicts.flip")
SIZE_COLUMNS = read_layout("book", "verdicts.size")
SWEEP_COLUMNS = read_layout("book", "verdicts.sweep")


def rank_cells(verdicts: pd.DataFrame, *, model: str) -> pd.DataFrame:
    """Sort one model's cells by flip rate, the least stable first, those without a flip rate last."""
    cells = verdicts[verdicts["model"] == model]
    return cells.sort_values("vfr", ascending=False, kind="stable", na_position="last").reset_index(drop=True)


def describe_flip_rates(cells: pd.DataFrame, protocol: Protocol) -> str:
    """Say how many verdicts are stable at the protocol's size, and which are not."""
    judged = _judged(cells)
    if judged.empty:
        return (
            "No cell has both a verdict and a flip rate. There is no verdict that could flip: "
            "what is missing is support, not stability."
        )
    shaky = judged[judged["vfr"] > protocol.vfr_stable]
    size = int(judged["resample_size"].max())
    text = (
        f"{_start(count_of(len(judged), len(cells), 'cell'))} "
        f"{agree(len(cells), 'has', 'have')} a verdict and a flip rate. "
        f"In resamples of {plural(size, 'record')}, {count(len(judged) - len(shaky))} of these are stable "
        f"(flip rate at most {share(protocol.vfr_stable, digits=0)}) and {count(len(shaky))} are not."
    )
    return f"{text} Not stable: {_name_cells(shaky)}." if len(shaky) else text


def _judged(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[(cells["verdict"] != "inconclusive") & cells["vfr"].notna()]


def _start(text: str) -> str:
    return text[:1].upper() + text[1:]


def _name_cells(cells: pd.DataFrame, *, limit: int = 6) -> str:
    return name_list((f"{row.metric} for {row.attribute}" for row in rows(cells)), limit=limit)


def describe_own_size(cells: pd.DataFrame, protocol: Protocol) -> str:
    """Compare the protocol's size with the cohort's own: the second is the auditor's question."""
    judged = _judged(cells)
    if judged.empty:
        return "Without a verdict there is no flip rate at the cohort's own size either."
    shaky = judged["vfr"] > protocol.vfr_stable
    own = judged["vfr_own_size"] > protocol.vfr_stable
    text = (
        f"At the cohort's own size {count_of(int((~own).sum()), len(judged), 'verdict')} "
        f"{'is' if (~own).sum() == 1 else 'are'} stable, "
        f"against {count(int((~shaky).sum()))} at the protocol's size."
    )
    steadier = judged[shaky & ~own]
    return f"{text} Stable only at the larger size: {_name_cells(steadier)}." if len(steadier) else text


def describe_sites(cells: pd.DataFrame, protocol: Protocol) -> str:
    """Say what drawing whole sites changes, or why it cannot be done."""
    judged = _judged(cells)
    sites = int(np.nan_to_num(cells["site_count"].max())) if len(cells) else 0
    if sites == 0:
        return (
            "This cohort names no site, so whole sites cannot be drawn. "
            "Records of one site resemble each other; if these have sites, the flip rates here are too low."
        )
    if sites == 1:
        return "All audited records come from one site, so whole sites cannot be drawn."
    known = judged.dropna(subset="vfr_site")
    if known.empty:
        return "Without a verdict there is no flip rate over whole sites either."
    firm = int((known["vfr_site"] <= protocol.vfr_stable).sum())
    text = (
        f"Drawing whole sites ({count(sites)} of them), {count_of(firm, len(known), 'verdict')} "
        f"{agree(firm, 'is', 'are')} stable."
    )
    worse = known[(known["vfr_site"] > protocol.vfr_stable) & (known["vfr_own_size"] <= protocol.vfr_stable)]
    if len(worse):
        text += f" Stable over records but not over sites: {_name_cells(worse)}."
    if sites < FEW_SITES:
        text += " So few sites give few truly different resamples: read these rates as a hint."
    return text


def describe_agreement(cells: pd.DataFrame) -> str:
    """Name the cells in which most resamples contradict the verdict of the whole sample."""
    judged = _judged(cells)
    against = judged[judged["agrees"] == 0]
    if against.empty:
        return "In no cell with a verdict do most resamples say the opposite of the whole sample."
    return (
        f"In {plural(len(against), 'cell')} most resamples say the opposite of the whole sample: "
        f"{_name_cells(against)}. A resample is noisier than its sample, and noise widens a gap."
    )


def describe_undefined(cells: pd.DataFrame) -> str:
    """Say in how many resamples a metric could not be computed, where that happened at all."""
    shares = cells[["undefined_share", "undefined_share_own_size", "undefined_share_site"]].max(axis=1)
    some = cells.assign(most=shares)[(cells["verdict"] != "inconclusive") & (shares > 0)]
    if some.empty:
        return "Wherever there is a verdict, the metric is defined in every resample."
    worst = max(rows(some), key=lambda row: row.most)
    where = " when whole sites are drawn" if worst.undefined_share_site == worst.most else ""
    return (
        f"In {plural(len(some), 'cell')} the metric is undefined in some resamples; at most in "
        f"{share(worst.most)} of them{where} ({escape(worst.metric)} for {escape(worst.attribute)}). "
        "These are counted and left out of the flip rate, neither a pass nor a fail."
    )


def pick_cell(cells: pd.DataFrame, *, metric: str = "", attribute: str = "") -> pd.Series:
    """Choose the cell that a chapter looks at closely."""
    counted = cells[~cells["metric"].map(_needs_scores)]
    if metric:
        counted = counted[
            counted["metric"] == choose(metric, counted["metric"], what="metric made of counts")
        ]
    if attribute:
        counted = counted[counted["attribute"] == choose(attribute, counted["attribute"], what="attribute")]
    if counted.empty:
        raise InputError("this run judges no metric that is made of counts")
    judged = _judged(counted)
    return (judged if len(judged) else counted).iloc[0]


def _needs_scores(metric: str) -> bool:
    return METRICS[metric].evidence != "counts"


def take_counts(groups: pd.DataFrame, *, model: str, attribute: str) -> NDArray[np.int64]:
    """Take the four counts of each group from the group table."""
    here = groups[(groups["model"] == model) & (groups["attribute"] == attribute) & (groups["n"] > 0)]
    return here[list(COUNTS)].to_numpy(np.int64)


def list_draws(found: Mapping[str, FlipRate]) -> pd.DataFrame:
    """Lay the resampled values of several flip rates out in one table: label, value."""
    frames = [pd.DataFrame({"label": label, "value": vars(rate)["values"]}) for label, rate in found.items()]
    return pd.concat(frames, ignore_index=True)


def list_flip_rates(found: Mapping[str, FlipRate]) -> pd.DataFrame:
    """Lay several flip rates out in one table, a row each, for `SIZE_COLUMNS`."""
    names = ("estimate", "mean", "sd", "pass_share", "vfr", "vfr_low", "vfr_high", "verdict", "dominant")
    return pd.DataFrame(
        [{"label": label} | {name: getattr(rate, name) for name in names} for label, rate in found.items()]
    )


def describe_cell(cell: pd.Series, found: Mapping[str, FlipRate]) -> str:
    """Explain one cell: its verdict, and how firmly resamples of each size stand behind it."""
    metric = escape(cell["metric"])
    start = f"{metric} for {escape(cell['attribute'])} is {number(cell['estimate'])} in the whole sample"
    rule = write_rule(cell["metric"], cell["threshold"])
    if cell["verdict"] == "inconclusive":
        start += (
            f"; no verdict is given ({escape(cell['reason'])}), and what follows only shows how noisy it is."
        )
    else:
        start += f" and must be {rule}: {escape(cell['verdict'])}."
    return " ".join([start, *(_write_size(label, rate) for label, rate in found.items())])


def _write_size(label: str, rate: FlipRate) -> str:
    if np.isnan(rate.pass_share):
        return f"With {label} the metric is undefined in every resample."
    two = float(disagreement(rate.pass_share))
    return (
        f"With {label}, {share(rate.pass_share)} of the resamples pass: the flip rate is {share(rate.vfr)}, "
        f"and two of the resamples contradict each other {share(two)} of the time."
    )


def read_published_counts(attribute: str) -> NDArray[np.int64]:
    """Read the counts of one published model on the real Texas-100X test set."""
    table = read_published_groups(attribute)
    return table[list(COUNTS)].to_numpy(np.int64)


def read_published_groups(attribute: str) -> pd.DataFrame:
    """Read groups and counts of one published model on the real Texas-100X test set."""
    table = pd.read_csv(published_file())
    names = choose(attribute, table["attribute"], what="attribute in the published counts")
    here = table[table["attribute"] == names].reset_index(drop=True)
    return here.assign(n=here[list(COUNTS)].sum(axis=1))


def published_file() -> Path:
    """Find the file of published counts in the clone."""
    return project_file("data", "reference", "texas100x_group_confusion.csv")


def describe_published(table: pd.DataFrame) -> str:
    """Say how the flip rates of the published counts move with the size of the resample."""
    return "\n".join(
        f"- {count(row.x)} records: {share(row.pass_share, digits=0)} of the resamples pass, flip rate "
        f"{share(row.value, digits=0)}, mean {escape(row.name)} {number(row.mean)}."
        for row in rows(table)
    )
