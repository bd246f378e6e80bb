"""How does a hospital hand its counts over, and how do the counts of several become one folder?"""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.cohort import Cohort
from auditbook.counting import count_cohort, find_obstacles
from auditbook.errors import InputError
from auditbook.evidence import Tally, prepare_tally, tally_records
from auditbook.pooling import (
    PooledCounts,
    SiteCounts,
    Withheld,
    bare_tally,
    bound_withheld,
    define_counts,
    read_pooled,
    suppress_small,
    tabulate_hospitals,
    write_site_counts,
)
from auditbook.progress import Progress
from auditbook.project import digest_files, runs_folder, versions
from auditbook.ranking import make_auc_tables
from auditbook.results import write_results, write_table
from auditbook.run.folder import fresh_folder, hash_results, private_files, publish, write_json
from auditbook.run.plan import Plan, Request, load_planned, locked, plan_run
from auditbook.scoring import score_cohort
from auditbook.settings import Protocol
from auditbook.verdicts import (
    check_flips,
    count_above_median,
    find_tipping_points,
    judge,
    tabulate_groups,
    tabulate_pooled_rates,
    tabulate_rates,
)

TRAINED = "trained here"
LARGEST_GAPS = 12
"""As many contrasts are drawn as a forest plot: those whose mean is farthest from none."""


@dataclass(frozen=True)
class HandedOver:
    """A counts file, and what was withheld for it."""

    path: Path
    records: int
    withheld: tuple[str, ...]  # Attributes of which a site withholds groups
    notes: tuple[str, ...]


def write_counts(request: Request, output: Path | None, minimum: int, progress: Progress) -> HandedOver:
    """Write the counts file of one hospital: ``auditbook counts``.

    Parameters
    ----------
    request : Request
        The cohort file, the data, the seed and the profile.
    output : Path or None
        The file to write; by default the cohort's name with ``-counts.json``, in the folder one is in.
    minimum : int
        No count of people below it is told; 0 where the hospitals agreed on none.

    Raises
    ------
    InputError
        If the cohort is wrong, or so small that nothing can be told of it.
    """
    plan = plan_run(request)
    path = output if output is not None else Path(f"{plan.file.name}-counts.json")
    progress.say(f"counts: reading {plan.file.title}")
    tally, models = _count(plan, progress)
    protocol = asdict(replace(plan.protocol, thresholds={})) | {"thresholds": dict(plan.protocol.thresholds)}
    described = plan.file.describe()
    definitions = define_counts(described, protocol, models)
    withheld: tuple[Withheld, ...] = ()
    if minimum:
        found = suppress_small(tally, minimum, crosses=described["crosses"])
        tally, withheld = found.tally, found.withheld
    about = {"title": plan.file.title, "seed": plan.protocol.seed}
    digest = digest_files([request.cohort])
    counts = SiteCounts(definitions, digest, minimum, bare_tally(tally), withheld, about)
    with private_files():
        write_site_counts(counts, path)
    names = tuple(dict.fromkeys(one.attribute for one in withheld))
    return HandedOver(path, tally.rows, names, _note_models(models))


def _count(plan: Plan, progress: Progress) -> tuple[Tally, list[dict[str, Any]]]:
    """Count a cohort part by part where nothing keeps it from it, else from its scored records."""
    obstacles, request = find_obstacles(plan.file, plan.request.profile), plan.request
    if not obstacles:
        counted = count_cohort(plan.file, data=request.data, jobs=request.jobs, scheduler=request.scheduler)
        return counted.tally, _define_models(counted.tally, {}, "")
    cohort = load_planned(plan)
    if cohort.continuous:
        raise InputError(f"{plan.file.path.name}: a continuous outcome has no counts; judge an event")
    scored = score_cohort(
        cohort, protocol=plan.protocol, cache_dir=plan.cache, jobs=plan.request.jobs, progress=progress.say
    )
    tally = tally_records(scored.records, sites=_name_sites(cohort, scored.audit))
    return tally, _define_models(tally, {one.name: one.source for one in scored.models}, cohort.data_hash)


def _name_sites(cohort: Cohort, audit: Any) -> list[str]:
    return [] if cohort.site is None else sorted(set(cohort.site[audit].tolist()))


def _define_models(tally: Tally, sources: dict[str, str], data: str) -> list[dict[str, Any]]:
    """Say what each model is: one that was trained here is another in each hospital."""
    return [
        {"model": one.model, "kind": one.kind, "threshold": one.threshold}
        | ({"source": f"{TRAINED} on {data}"} if sources.get(one.model) == "trained" else {})
        for one in tally.models
    ]


def _note_models(models: list[dict[str, Any]]) -> tuple[str, ...]:
    trained = [one["model"] for one in models if "source" in one]
    if not trained:
        return ()
    one = len(trained) == 1
    return (
        f"{', '.join(trained)} {'was' if one else 'were'} trained on these records: no other hospital has "
        f"{'this model' if one else 'these models'}, and its file will not be pooled with this one",
    )


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
    target = (folder if folder is not None else runs_folder() / "pooled").resolve()
    with locked(target):
        made = target / "next"
        fresh_folder(made)
        _write_hospitals(pooled, made / "hospitals", progress)
        (made / "results").mkdir()
        progress.say("pool: verdicts, what is shown, flip rates, agreement of hospitals")
        write_results(make_pooled_tables(pooled.tally, read_protocol(pooled)), made / "results")
        info = describe_pooled(pooled, paths, made / "results", time.monotonic() - started)
        write_json(made / "run.json", info)
        publish(made, target, info, ("results", "hospitals"))
    return target


def make_pooled_tables(tally: Tally, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Compute the result tables that follow from counts, by file name."""
    prepared = prepare_tally(tally)
    found = judge(prepared, protocol)
    return {
        "groups": tabulate_groups(tally, protocol=protocol),
        "rates": tabulate_rates(prepared, protocol),
        "pooled_rates": tabulate_pooled_rates(prepared, protocol=protocol),
        "scoring_rates": count_above_median(tally),
        **found.tables,
        "tipping_points": find_tipping_points(prepared, found.verdicts, found.contrasts, protocol),
        **make_auc_tables(prepared, found.folds, protocol=protocol),
        **check_flips(tally, protocol=protocol, seed=protocol.seed),
    }


def read_protocol(pooled: PooledCounts) -> Protocol:
    """Read the constants on which the hospitals agreed; the seed is that of the first."""
    values = dict(pooled.definitions["protocol"])
    for name in ("metrics", "audit_sizes"):
        values[name] = tuple(values[name])
    values["thresholds"] = MappingProxyType(dict(values["thresholds"]))
    return Protocol(**values, seed=int(pooled.about.get("seed", Protocol.seed)))


def describe_pooled(pooled: PooledCounts, paths: list[Path], results: Path, seconds: float) -> dict[str, Any]:
    """Say what was pooled: files, hospitals, definitions, and what they do not tell."""
    return {
        "pooled": {
            "files": [path.name for path in paths],
            "sites": list(pooled.tally.sites),
            "records": pooled.tally.rows,
            "notes": list(pooled.notes),
            "withheld": [
                {"site": one.site, "attribute": one.attribute, "groups": list(one.groups)}
                for one in pooled.withheld
            ],
        },
        "definitions": dict(pooled.definitions),
        "versions": versions(),
        "hashes": {"audit": digest_files(paths), "results": hash_results(results)},
        "steps": [{"step": "pool", "status": "done", "seconds": round(seconds, 2)}],
    }


def _write_hospitals(pooled: PooledCounts, folder: Path, progress: Progress) -> None:
    """Write the contrasts of hospitals, their means, the bounds of what is withheld, and the figures."""
    folder.mkdir(parents=True)
    progress.say("pool: each group beside the reference in every hospital")
    hospitals, means = tabulate_hospitals(pooled.tally)
    write_table(hospitals, folder / "hospital_contrasts.csv")
    write_table(means, folder / "pooled_contrasts.csv")
    if pooled.withheld:
        write_table(bound_withheld(pooled), folder / "withheld_bounds.csv")
    _draw(hospitals, means, folder)


def _draw(hospitals: pd.DataFrame, means: pd.DataFrame, folder: Path) -> None:
    """Draw the contrasts whose mean is farthest from none, numbered by that."""
    import matplotlib.pyplot as plt

    from auditbook.book.draw.forest import draw_forest

    order = means["estimate"].abs().sort_values(ascending=False, kind="stable").dropna().index[:LARGEST_GAPS]
    key = ["model", "attribute", "rate", "group", "other"]
    for number, place in enumerate(order, start=1):
        row = means.loc[place]
        mine = hospitals[(hospitals[key] == row[key]).all(axis=1)]
        draw_forest(mine, row)
        with plt.rc_context({"svg.hashsalt": "auditbook", "svg.fonttype": "none"}):
            plt.savefig(folder / f"forest-{number:02d}.svg", metadata={"Date": None})
        plt.close("all")
