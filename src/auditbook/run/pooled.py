"""How do the counts files of several hospitals become one folder, with results and a report?"""

import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from auditbook.evidence import Tally, prepare_tally
from auditbook.plain_text import show_all
from auditbook.pockets import leave_pockets_out
from auditbook.pooling import PooledCounts, bound_withheld, count_untold, read_pooled, tabulate_hospitals
from auditbook.progress import Progress
from auditbook.project import digest_files, runs_folder, versions
from auditbook.records import Attribute
from auditbook.results import write_results
from auditbook.run.counted import count_bins, count_missing_groups, make_tallied_tables, tabulate_cohort
from auditbook.run.folder import fresh_folder, hash_results, note_step, publish, write_json
from auditbook.run.plan import locked
from auditbook.run.report import REPORT
from auditbook.scoring import ModelInfo, summarise_tallied_models
from auditbook.settings import Protocol

LARGEST_GAPS = 12
"""As many contrasts are drawn as a forest plot: those whose mean is farthest from none."""
POOLED = "pooled"


def pool_files(paths: list[Path], folder: Path | None, progress: Progress) -> Path:
    """Make one folder of the counts files of several hospitals: ``auditbook pool``.

    Raises
    ------
    InputError
        If a file is wrong, or the hospitals do not agree: each difference is named.
    """
    started = time.monotonic()
    progress.say(f"pool: reading {len(paths)} counts file{'' if len(paths) == 1 else 's'}")
    pooled = read_pooled(paths)
    target = (folder if folder is not None else runs_folder() / POOLED).resolve()
    with locked(target):
        made = target / "next"
        fresh_folder(made)
        (made / "results").mkdir()
        progress.say("pool: verdicts, what is shown, flip rates, agreement of hospitals")
        tables = make_pooled_results(pooled)
        write_results(tables, made / "results")
        draw_hospitals(tables["hospital_contrasts"], tables["pooled_contrasts"], made / "hospitals")
        info = describe_pooled(pooled, paths)
        info["hashes"] = {"audit": digest_files(paths), "results": hash_results(made / "results")}
        note_step(info, "pool", "done", time.monotonic() - started)
        progress.done()
        _report(made, info, progress)
        publish(made, target, info, ("results", "hospitals", REPORT))
    return target


def _report(made: Path, info: dict[str, Any], progress: Progress) -> None:
    """Leave the report of pooled counts, which is that of any audit."""
    from auditbook.report import write_report

    progress.say("report: one page a model, an annex, and a PDF")
    write_json(made / "run.json", info)
    started = time.monotonic()
    lacking = write_report(made)
    if lacking:
        progress.say(lacking)
    note_step(info, REPORT, "done", time.monotonic() - started)
    progress.done()


def make_pooled_results(pooled: PooledCounts) -> dict[str, pd.DataFrame]:
    """Compute every result table of pooled counts, by file name."""
    tally, protocol = pooled.tally, read_protocol(pooled)
    attributes = [
        Attribute(one.name, one.groups, np.zeros(0, int), one.reference) for one in tally.attributes
    ]
    untold = count_untold(pooled, tally.attributes[0].name)
    hospitals, means = tabulate_hospitals(tally)
    return {
        **tabulate_cohort(tally, attributes, untold[0]),
        "models": summarise_tallied_models(tally, _describe_models(pooled), untold.sum(axis=1)),
        **make_pooled_tables(tally, protocol),
        **leave_pockets_out().tables,
        "hospital_contrasts": hospitals,
        "pooled_contrasts": means,
        "withheld_bounds": bound_withheld(pooled),
    }


def make_pooled_tables(tally: Tally, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Judge pooled counts, each hospital being a cluster."""
    return make_tallied_tables(prepare_tally(tally), protocol, unplaced={})


def _describe_models(pooled: PooledCounts) -> dict[str, ModelInfo]:
    """Say of each model what the hospitals agreed on."""
    turned, models = pooled.about.get("turned", ()), pooled.definitions["models"]
    return {
        one.model: ModelInfo(
            one.model,
            one.model,
            "trained" if "source" in models.get(one.model, {}) else "given",
            event_is="low" if one.model in turned else "high",
        )
        for one in pooled.tally.models
    }


def read_protocol(pooled: PooledCounts) -> Protocol:
    """Read the constants on which the hospitals agreed; the seed is that of the first."""
    values = dict(pooled.definitions["protocol"])
    for name in ("metrics", "audit_sizes"):
        values[name] = tuple(values[name])
    values["thresholds"] = MappingProxyType(dict(values["thresholds"]))
    return Protocol(**values, seed=int(pooled.about.get("seed", Protocol.seed)))


def describe_pooled(pooled: PooledCounts, paths: list[Path]) -> dict[str, Any]:
    """Say what was pooled: files, hospitals, definitions, and what they do not tell."""
    tally, seed = pooled.tally, read_protocol(pooled).seed
    told = {
        **_describe_cohort(pooled),
        "seed": seed,
        "profile": {"name": POOLED},
        "protocol": {**pooled.definitions["protocol"], "seed": seed},
        "versions": versions(),
        "rows_read": tally.rows,
        "rows_kept": tally.rows,
        "rows_audited": tally.rows,
        "rows_train": 0,
        "left_out": [],
        "missing_groups": count_missing_groups(tally),
        "models": [one.model for one in tally.models],
        "pockets": leave_pockets_out(
            "hospitals handed over counts, and pockets are learned from records"
        ).status,
        "partition": None,
        "counted": {"score_bins": count_bins(tally), "notes": list(pooled.notes)},
        "pooled": {
            "files": [path.name for path in paths],
            "sites": list(tally.sites),
            "records": tally.rows,
            "notes": list(pooled.notes),
            "withheld": [
                {"site": one.site, "attribute": one.attribute, "groups": list(one.groups)}
                for one in pooled.withheld
            ],
        },
        "definitions": dict(pooled.definitions),
        "steps": [],
    }
    return show_all(told)


def _describe_cohort(pooled: PooledCounts) -> dict[str, Any]:
    """Say of the cohort what all hospitals say alike; what they agreed on stands for the rest."""
    about, sites = pooled.about, len(pooled.tally.sites)
    groupings: Mapping[str, Any] = pooled.definitions.get("attributes", {})
    outcome = {
        "column": "outcome",
        "continuous": False,
        **pooled.definitions["outcome"],
        **about.get("outcome", {}),
    }
    return {
        "name": str(about.get("name", POOLED)),
        "title": str(about.get("title", f"Pooled counts of {sites} hospital{'' if sites == 1 else 's'}")),
        "harm": str(about.get("harm", "")),
        "event": outcome["event"],
        "outcome": outcome,
        "unit": str(about.get("unit") or "unit"),
        "synthetic": bool(about.get("synthetic", False)),
        "attributes": [one.name for one in pooled.tally.attributes],
        "crosses": {name: list(one["cross"]) for name, one in groupings.items() if one.get("cross")},
        "groupings": {name: dict(one) for name, one in groupings.items()},
        "turned": list(about.get("turned", ())),
        **{part: dict(about[part]) for part in ("use", "labels", "report") if part in about},
    }


def draw_hospitals(hospitals: pd.DataFrame, means: pd.DataFrame, folder: Path) -> None:
    """Draw the contrasts whose mean is farthest from none, numbered by that."""
    import matplotlib.pyplot as plt

    from auditbook.book.draw.forest import draw_forest

    folder.mkdir(parents=True)
    order = means["estimate"].abs().sort_values(ascending=False, kind="stable").dropna().index[:LARGEST_GAPS]
    key = ["model", "attribute", "rate", "group", "other"]
    for number, place in enumerate(order, start=1):
        row = means.loc[place]
        mine = hospitals[(hospitals[key] == row[key]).all(axis=1)]
        draw_forest(mine, row)
        with plt.rc_context({"svg.hashsalt": "auditbook", "svg.fonttype": "none"}):
            plt.savefig(folder / f"forest-{number:02d}.svg", metadata={"Date": None})
        plt.close("all")
