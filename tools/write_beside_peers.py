"""Write the numbers of book/beside-peers.md from data/benchmarks.

``python benchmarks/beside_peers.py --store`` runs it; by itself it is run after a change of this file.
"""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "book" / "beside-peers.md"
STORED = ROOT / "data" / "benchmarks"
START = "% From here on made from data/benchmarks by tools/write_beside_peers.py"
END = "% End of what is made"
ASKED = {"numpy": 1_000, "fairlearn": 10_000}
"""How many times faster a resample of counts was asked to be."""
OURS = "auditbook"


def write_seconds(seconds: float) -> str:
    """Write a time in the unit in which it is read most easily."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:,.1f} s"


def write_times(ratio: float) -> str:
    """Write how many times as long something takes."""
    return f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"


def _write_peak(peak: float) -> str:
    return "-" if math.isnan(peak) else f"{peak:,.1f}" if peak < 10 else f"{peak:,.0f}"


def _write_off(off: float) -> str:
    return "-" if math.isnan(off) else "0" if off == 0 else f"{off:.0e}"


def _lay_out(lines: pd.DataFrame, columns: Mapping[str, Any]) -> list[str]:
    """Lay a table out, each column by its function of a line."""
    rows = [
        "| " + " | ".join(str(write(line)) for write in columns.values()) + " |"
        for line in lines.itertuples()
    ]
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), *rows, ""]


def each(line: Any) -> float:
    """Give the seconds of one resample, or of the whole where nothing is drawn again."""
    return float(line.seconds / max(line.resamples, 1))


COMMON: dict[str, Any] = {
    "tool": lambda line: line.tool,
    "what it did": lambda line: line.work,
    "resamples": lambda line: f"{line.resamples:,}",
    "time": lambda line: write_seconds(line.seconds),
    "lowest to highest": lambda line: (
        f"{write_seconds(line.seconds_low)} to {write_seconds(line.seconds_high)}"
    ),
    "each resample": lambda line: write_seconds(each(line)) if line.resamples else "-",
    "peak, MB": lambda line: _write_peak(line.peak_mb),
    "off by": lambda line: _write_off(line.off),
}
PLAIN = {name: write for name, write in COMMON.items() if "resample" not in name}
SIZED = {"records": lambda line: f"{line.records:,}"} | PLAIN
AREAS = "for the areas, which come with their covariance here and without it there"


def tell_resamples(part: pd.DataFrame) -> Iterator[str]:
    """Say how many times as long a resample of records takes, and whether what was asked is reached."""
    drawn = part[part["resamples"] > 0]
    ours = list(drawn[drawn["tool"] == OURS].sort_values("resamples", ascending=False).itertuples())
    counted = part[(part["tool"] == OURS) & (part["resamples"] == 0)]["seconds"].iloc[0]
    named = " and ".join(f"{write_seconds(each(line))} among {line.resamples:,}" for line in ours)
    yield (
        f"Counting the records once took {write_seconds(counted)}; from then on a resample took {named}, "
        "whatever the number of records."
    )
    for tool, asked in ASKED.items():
        mine = list(drawn[drawn["tool"] == tool].itertuples())
        if not mine:
            yield f"{tool} was not installed where this was measured."
        for line in mine:
            yield f"A resample of {tool} ({line.work}) took {_tell_asked(line, ours, asked)}."


def _tell_asked(line: Any, ours: list[Any], asked: int) -> str:
    """Say how many times as long a resample took as each of ours, and whether that reaches what was asked."""
    told = []
    for mine in ours:
        ratio = each(line) / each(mine)
        verdict = "reached" if ratio >= asked else "not reached"
        told.append(
            f"{write_times(ratio)} times as long as one of {mine.resamples:,} ({asked:,} asked: {verdict})"
        )
    return " and ".join(told)


def _tell_ratios(part: pd.DataFrame, what: str) -> Iterator[str]:
    """Say at each size how many times as long the other tool takes, or how many times less."""
    for records, mine in part.groupby("records", sort=True):
        ours = mine[mine["tool"] == OURS]["seconds"].iloc[0]
        for line in mine[mine["tool"] != OURS].itertuples():
            ratio = line.seconds / ours
            more = (
                f"{write_times(ratio)} times as long as" if ratio >= 1 else f"{1 / ratio:.1f} times less than"
            )
            yield f"At {records:,} records {line.tool} took {more} this project {what}."


def _write_growth(lines: pd.DataFrame) -> Iterator[str]:
    """Write how the time of counts, and of records, grows."""
    for part, changed in (
        ("by rows", "records"),
        ("by groups", "groups"),
        ("by models", "models"),
        ("by draws", "resamples"),
    ):
        mine = lines[lines["part"] == part]
        ours, theirs = (mine[mine["tool"] == tool].set_index(changed, drop=False) for tool in (OURS, "numpy"))
        drawn = f"counted, and {int(ours['resamples'].iloc[0]):,} resamples of counts"
        drawn = "counted, and so many resamples of counts" if changed == "resamples" else drawn
        yield f"| {changed} | {drawn} | one resample of records |"
        yield "|---|---|---|"
        for line in ours.itertuples():
            value = getattr(line, changed)
            other = write_seconds(each(theirs.loc[value])) if value in theirs.index else "-"
            yield f"| {value:,} | {write_seconds(line.seconds)} | {other} |"
        yield ""


def write_body(lines: pd.DataFrame, about: Mapping[str, Any]) -> str:
    """Write all that follows from what was stored."""
    parts = {name: part for name, part in lines.groupby("part", sort=False)}
    named = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    load = about["load"]
    busy = (
        "on an idle machine"
        if load["idle"]
        else (
            f"while other work ran (load {load['before']:.1f} before, {load['after']:.1f} after), so that "
            "single figures can be off by a factor of two; they are to be measured again on an idle machine"
        )
    )
    text = [
        f"Measured on {about['date']}, {about['machine']['cores']} cores of which each tool had one, {busy}. "
        f"Data: {about['data']}. Versions: {named}.",
        "",
        "## Resamples of a gap in sensitivity",
        "",
        *_lay_out(parts["resample"], COMMON),
        " ".join(tell_resamples(parts["resample"])),
        "",
        "## Rates of every group",
        "",
        *_lay_out(parts["rates"], PLAIN),
        " ".join(_tell_ratios(parts["rates"], "for rates of all groups")),
        "",
        "## Areas of every pair of groups",
        "",
        *_lay_out(parts["areas"], PLAIN),
        " ".join(_tell_ratios(parts["areas"], AREAS)),
        "",
        "## Who is near whom in a forest",
        "",
        *_lay_out(parts["forest"], SIZED),
        " ".join(_tell_ratios(parts["forest"], "to know who is near whom")),
        "",
    ]
    if "blocks" in parts:
        text += [
            "## The block model of the graph",
            "",
            *_lay_out(parts["blocks"], SIZED),
            " ".join(_tell_blocks(parts["blocks"])),
            "",
        ]
    return "\n".join([*text, "## How it grows", "", *_write_growth(lines)]).rstrip() + "\n"


def _tell_blocks(part: pd.DataFrame) -> Iterator[str]:
    """Say what the faster start gains and what it loses."""
    yield from _tell_ratios(part, "to part the graph into blocks")
    lost = 100 * float(part[part["tool"] == OURS]["off"].iloc[0])
    shape = "longer" if lost >= 0 else "shorter"
    yield f"The description that this project's start ends with was {abs(lost):.2f} % {shape}."


def write_page(page: str, stored: Path = STORED) -> str:
    """Put what follows from the stored figures between the two marks of the page."""
    lines = pd.read_csv(stored / "beside_peers.csv")
    about = json.loads((stored / "beside_peers.json").read_text(encoding="utf-8"))
    before, rest = page.split(START)
    after = rest.split(END)[1]
    return f"{before}{START}\n\n{write_body(lines, about)}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
