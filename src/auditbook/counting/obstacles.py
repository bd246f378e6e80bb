"""What of a cohort file can only be followed where all records are in memory, and what is the cure?"""

from collections.abc import Iterator

from auditbook.cohort import CohortFile
from auditbook.settings import Profile

CURE = 'or write [data] read = "whole", and the table is held in memory'


def find_obstacles(file: CohortFile, profile: Profile | None = None) -> tuple[str, ...]:
    """Say what keeps a cohort from being counted part by part, a sentence each; none where nothing does.

    Parameters
    ----------
    file : CohortFile
        What `read_cohort_file` returned.
    profile : Profile, optional
        The run's, which may ask for a number of records.
    """
    return tuple(f"{file.path.name}: {where}: {told}, {CURE}" for where, told in _find(file, profile))


def _find(file: CohortFile, profile: Profile | None) -> Iterator[tuple[str, str]]:
    if file.data.synthetic is not None:
        yield "[data] synthetic", "a generated table is made whole; name its file with path"
    if file.outcome.continuous:
        yield "[outcome] type", "the parts of a continuous outcome are not counted; judge an event"
    if file.weight.column:
        yield "[weight] column", "records with weights are not counted part by part; delete the table"
    if file.outcomes:
        yield "[outcomes]", "other outcomes are compared record by record; delete these tables"
    if file.unit.score_per_unit is not None:
        yield "[unit] score_per_unit", "one record stands for a unit; give a table with one record a unit"
    if file.outcome.time is not None:
        yield "[outcome] time", "the times of predictions are told record by record; delete the key"
    if profile is not None and profile.max_rows is not None:
        told = f"profile {profile.name} draws {profile.max_rows:,} records; take --profile standard"
        yield "[data] read", told
    yield from _find_in_scores(file)


def _find_in_scores(file: CohortFile) -> Iterator[tuple[str, str]]:
    """Find what keeps scores from being counted."""
    if file.panel.models:
        yield "[panel] models", "a model is trained on records; give its scores, and write models = []"
    elif not file.scores:
        yield "[scores]", "there is no score to count; give one"
    for score in file.scores:
        if score.kind == "rank" and file.data.connection is not None:
            yield (
                f"[scores.{score.name}] kind",
                "rows of a database come in no order by which to sample ranks; give probabilities",
            )
        if score.percentile is not None:
            yield (
                f"[scores.{score.name}] percentile",
                "a percentile needs all scores in order; write threshold",
            )
        if score.kind == "value":
            yield f"[scores.{score.name}] kind", "predictions of a number are not counted; give probabilities"
