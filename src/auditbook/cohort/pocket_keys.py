"""What may the table ``[pockets]`` of a cohort file say, and does it fit the rest of the file?"""

from collections.abc import Mapping
from typing import Any

from auditbook.cohort.schema import CohortFile
from auditbook.errors import nearest
from auditbook.pocket_settings import PocketSettings
from auditbook.tables import Faults, show


def read_pockets(values: Mapping[str, Any], faults: Faults) -> PocketSettings:
    """Check the values of ``[pockets]`` and fill in the defaults."""
    return PocketSettings(**values)


DEFAULT_MODELS = 2
"""Models of the panel that a pocket audit trains where the cohort file names none (ours)."""


def name_models(file: CohortFile, settings: PocketSettings) -> tuple[str, ...]:
    """Name the models of the panel that are trained for the pocket audit; none for a continuous outcome."""
    if file.outcome.continuous:
        return ()
    return tuple(settings.models or file.panel.models[:DEFAULT_MODELS])


def name_mapped(file: CohortFile, settings: PocketSettings) -> tuple[str, ...]:
    """Name the given scores that are mapped to the outcome's scale on development records."""
    return tuple(
        score.name
        for score in file.scores
        if score.kind == "rank" or (score.name in settings.isotonic and score.kind != "decision")
    )


def fits_anything(file: CohortFile, settings: PocketSettings) -> bool:
    """Tell whether a model is trained or a score mapped, which takes development records."""
    return bool(name_models(file, settings) or name_mapped(file, settings))


def _check_shares(file: CohortFile, faults: Faults) -> None:
    """Find shares of the units that leave a role without any."""
    fitted = fits_anything(file, file.pockets)
    development = file.pockets.development_of(fitted=fitted)
    total = development + file.pockets.discovery_of(fitted=fitted)
    if total > 0.95:
        faults.add(
            "[pockets] discovery",
            f"with development it takes {total:g} of the units, which leaves too few to audit; allowed: 0.95",
        )
    if fitted and not development:
        named = ", ".join((*name_models(file, file.pockets), *name_mapped(file, file.pockets)))
        faults.add("[pockets] development", f"is 0, and {named} must be fitted on such records; leave it out")


def check_pockets(file: CohortFile, faults: Faults) -> None:
    """Find names in ``[pockets]`` that stand for nothing in the rest of the file."""
    _check_shares(file, faults)
    settings = file.pockets
    attributes = [item.name for item in file.attributes]
    given, trained = [score.name for score in file.scores], list(file.panel.models)
    audited = [score.name for score in file.scores if score.kind != "decision"] + list(
        name_models(file, settings)
    )
    for key, names, known in (
        ("attributes", settings.attributes, attributes),
        ("choice_attributes", settings.choice_attributes, list(settings.attributes) or attributes),
        ("isotonic", settings.isotonic, given),
        ("models", settings.models, trained),
        ("paired", tuple(name for pair in settings.paired for name in split_pair(pair)), audited),
    ):
        for name in names:
            if name not in known:
                allowed = ", ".join(known) or "none"
                faults.add(
                    f"[pockets] {key}", f"{show(name)} is unknown{nearest(name, known)}; allowed: {allowed}"
                )
    for pair in settings.paired:
        if len(set(split_pair(pair))) != 2:
            faults.add("[pockets] paired", f'{show(pair)} is no pair; write it as "one - other"')
    _check_described(file, faults)
    if settings.unit == "site" and file.site.column is None:
        faults.add("[pockets] unit", "asks for sites as units, and [site] column is not given; add it")


def _check_described(file: CohortFile, faults: Faults) -> None:
    """Find outcomes and scores among the columns that name pockets."""
    barred = {file.outcome.column: "an outcome"} | {other.column: "an outcome" for other in file.outcomes}
    barred |= {score.column: "a given score" for score in file.scores}
    for name in file.pockets.describe:
        if name in barred:
            faults.add(
                "[pockets] describe",
                f"{show(name)} is {barred[name]}, and a pocket is named before any is read; delete it here",
            )


def split_pair(pair: str) -> tuple[str, ...]:
    """Split a pair of models."""
    return tuple(name.strip() for name in pair.split(" - "))
