"""How does a hospital hand its counts over?"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from auditbook.cohort import Cohort
from auditbook.counting import count_cohort, find_obstacles
from auditbook.errors import InputError
from auditbook.evidence import Tally, tally_records
from auditbook.pooling import (
    SiteCounts,
    Withheld,
    bare_tally,
    define_counts,
    suppress_small,
    write_site_counts,
)
from auditbook.progress import Progress
from auditbook.project import digest_files
from auditbook.run.folder import private_files
from auditbook.run.plan import Plan, Request, load_planned, plan_run
from auditbook.scoring import score_cohort

TRAINED = "trained here"
ABOUT = ("name", "title", "harm", "outcome", "unit", "turned", "use", "labels", "report")
"""What a counts file keeps of what the cohort file says, for a report."""


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
    about = {key: described[key] for key in ABOUT} | {"seed": plan.protocol.seed}
    about["synthetic"] = plan.file.data.synthetic is not None
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
