"""How often does a watch raise a false alarm in a quiet year, and how soon does it find what was planted?

Beside it stands what many do: every month is compared with the baseline, and audited, by itself at 5 %.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.watching.study

It goes on where it was stopped.
"""

import numpy as np
import pandas as pd

from auditbook.evidence import open_stream, prepare, wilson_interval
from auditbook.months import Ledger, Stream, compare_streams, measure_streams, watch_windows
from auditbook.records import select_records
from auditbook.settings import Protocol
from auditbook.studies.kept_rows import Row, Study, call_study
from auditbook.studies.watching.worlds import (
    BASELINE,
    CHANGE,
    WORLDS,
    WatchedWorld,
    define_watch,
    draw_stream,
)
from auditbook.verdicts import adjust_holm, show_cells

SEED, REPLICATES, PLANTED = 2_026, 200, 25
"""Of worlds in which something is planted, so many replicates are drawn."""
COLUMNS = (
    *("world", "replicate", "records", "shown_at", "changed_at", "changed_since", "changed_rightly"),
    *("naive_changed", "naive_changed_holm", "naive_shown"),
)


def run_replicate(world: WatchedWorld, replicate: int, *, seed: int = SEED) -> list[Row]:
    """Watch one hospital; months are counted from 1, nan where nothing was said."""
    stream = draw_stream(world, open_stream(seed, "watching", world.name, str(replicate)))
    definition = define_watch()
    ledger = watch_windows(stream, Ledger(), definition)
    failed = ledger.cells[ledger.cells["shown"] == "fail"]
    changed = ledger.changes[ledger.changes["changed"].astype(bool)]
    first = changed[changed["look"] == changed["look"].min()]
    row = {
        "world": world.name,
        "replicate": replicate,
        "records": int(ledger.looks["total"].iloc[-1]),
        "shown_at": float(failed["look"].min()) + 1 if len(failed) else np.nan,
        "changed_at": float(first["look"].min()) + 1 if len(first) else np.nan,
        "changed_since": float(first.sort_values("log_e")["since"].iloc[-1]) + 1 if len(first) else np.nan,
        "changed_rightly": float(_concerns_planted(world, first)) if len(first) else np.nan,
    }
    return [row | _watch_naively(stream, definition.protocol)]


def _concerns_planted(world: WatchedWorld, first: pd.DataFrame) -> bool:
    """Tell whether one of the streams that were called first is of a group in which something was planted."""
    if world.later is None:
        return False
    moved = [
        place for place, pair in enumerate(zip(world.found, world.later, strict=True)) if pair[0] != pair[1]
    ]
    names = {f"group {place + 1}" for place in moved}
    return bool(first[["group", "other"]].isin(names).any(axis=None))


def _watch_naively(stream: Stream, protocol: Protocol) -> Row:
    """Count the months that a test of each month by itself, at 5 %, would call."""
    alpha, found = protocol.shown_alpha, {"naive_changed": 0, "naive_changed_holm": 0, "naive_shown": 0}
    base = measure_streams(select_records(stream.records, stream.place < BASELINE), protocol)
    for month in range(stream.complete):
        records = select_records(stream.records, stream.place == month)
        shown = show_cells(prepare(records), protocol)[0]["shown"]
        found["naive_shown"] += int((shown == "fail").any())
        if month < BASELINE:
            continue
        p = compare_streams(base, measure_streams(records, protocol))
        found["naive_changed"] += int(np.nanmin(p, initial=1.0) <= alpha)
        found["naive_changed_holm"] += int(np.nanmin(adjust_holm(p), initial=1.0) <= alpha)
    return dict(found)


def summarise_watching(rows: pd.DataFrame) -> pd.DataFrame:
    """Summarise each world: alarms with Wilson bounds at 95 %, and when what was planted was found."""
    found = []
    for name, part in rows.groupby("world", sort=False):
        planted = next(one for one in WORLDS if one.name == name).later is not None
        for question, at in (("gap", part["shown_at"]), ("change", part["changed_at"])):
            alarms = int(at.notna().sum())
            early = int((at <= CHANGE).sum()) if planted else alarms
            bounds = wilson_interval(alarms, len(part))
            late = at[at > CHANGE] - CHANGE
            delays = list(late.quantile([0.1, 0.5, 0.9])) if planted else [np.nan] * 3
            naive = part["naive_shown" if question == "gap" else "naive_changed"]
            adjusted = part["naive_shown" if question == "gap" else "naive_changed_holm"]
            found.append(
                {
                    "world": name,
                    "question": question,
                    "replicates": len(part),
                    "alarms": alarms,
                    "share": alarms / len(part),
                    "low": float(bounds.low),
                    "high": float(bounds.high),
                    "false_alarms": early,
                    "delay_10": delays[0],
                    "delay_50": delays[1],
                    "delay_90": delays[2],
                    "naive_years": int((naive > 0).sum()),
                    "naive_months": float(naive.mean()),
                    "naive_holm_years": int((adjusted > 0).sum()),
                    "naive_holm_months": float(adjusted.mean()),
                }
            )
        both = part["shown_at"].notna() | part["changed_at"].notna()
        found[-1]["either"] = found[-2]["either"] = int(both.sum())
    return pd.DataFrame(found)


def _want(world: WatchedWorld, replicate: int) -> bool:
    return world.later is None or replicate < PLANTED


WATCHING = Study(
    name="watching",
    worlds=WORLDS,
    run=run_replicate,
    columns=COLUMNS,
    summarise=summarise_watching,
    seeds="open_stream(seed, 'watching', world, replicate)",
    about={"planted_replicates": PLANTED},
    wants=_want,
)

if __name__ == "__main__":
    call_study(WATCHING, replicates=REPLICATES, seed=SEED)
