"""What does a counts file say: one hospital's counts, how they were defined, and what is withheld?"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditbook.errors import InputError
from auditbook.evidence import Tally
from auditbook.pooling.consistency import check_consistency
from auditbook.pooling.definitions import digest_definitions
from auditbook.pooling.sparse import read_ints, write_ints
from auditbook.pooling.suppress import Withheld
from auditbook.pooling.tally_text import read_tally, write_tally
from auditbook.project import package_version

SCHEMA = "auditbook counts 1"
"""Changes where an older file could no longer be read."""


@dataclass(frozen=True)
class SiteCounts:
    """The counts of one hospital, or of several that one file tells apart."""

    definitions: Mapping[str, Any]  # From `define_counts`
    cohort_digest: str  # SHA-256 of the cohort file
    minimum: int  # No count of people is smaller; 0 where the hospitals agreed on none
    tally: Tally
    withheld: tuple[Withheld, ...] = ()  # Empty with a minimum of 0
    about: Mapping[str, Any] | None = None  # What run.json says of a cohort, from the cohort file alone


def write_site_counts(counts: SiteCounts, path: Path) -> None:
    """Write a counts file, whole or not at all; the same counts give the same bytes."""
    told = {
        "schema": SCHEMA,
        "package": package_version(),
        "definitions_digest": digest_definitions(counts.definitions),
        "cohort_digest": counts.cohort_digest,
        "minimum": counts.minimum,
        "definitions": counts.definitions,
        "about": counts.about or {},
        "withheld": [
            {
                "site": one.site,
                "attribute": one.attribute,
                "groups": list(one.groups),
                "together": write_ints(one.together),
            }
            for one in counts.withheld
        ],
        "tally": write_tally(counts.tally),
    }
    draft = path.with_name(path.name + ".tmp")
    try:
        draft.write_text(json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
        os.replace(draft, path)
    except OSError as fault:
        raise InputError(f"{path} cannot be written: {fault.strerror}; use --output FILE") from fault


def read_site_counts(path: Path) -> SiteCounts:
    """Read a counts file, and hold it against what it says of itself.

    Raises
    ------
    InputError
        If it cannot be read, is no counts file of this version, or was changed.
    """
    told = _read_json(path)
    if told.get("schema") != SCHEMA:
        found = f"its schema is {told['schema']!r}" if "schema" in told else "it has no schema"
        raise InputError(f"{path.name}: {found}; '{SCHEMA}' is read, as auditbook counts writes it")
    try:
        counts = _read(told)
    except InputError as fault:
        raise InputError(f"{path.name}: {fault}; ask for the file anew") from fault
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as fault:
        raise InputError(f"{path.name}: not a whole counts file; ask for it anew") from fault
    if told.get("definitions_digest") != digest_definitions(counts.definitions):
        raise InputError(f"{path.name}: its definitions were changed after it was written; ask for it anew")
    return counts


def _read_json(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {fault.strerror}") from fault
    except (ValueError, RecursionError) as fault:
        raise InputError(
            f"{path.name}: not JSON; a counts file is made by auditbook counts COHORT"
        ) from fault
    if not isinstance(told, dict):
        raise InputError(f"{path.name}: not a counts file; one is made by auditbook counts COHORT")
    return told


def _read(told: Mapping[str, Any]) -> SiteCounts:
    tally = read_tally(told["tally"])
    shape = (len(tally.models), 4)
    withheld = tuple(
        Withheld(one["site"], one["attribute"], tuple(one["groups"]), read_ints(one["together"], shape))
        for one in told["withheld"]
    )
    check_consistency(tally, withheld)
    minimum, digest = int(told["minimum"]), str(told["cohort_digest"])
    return SiteCounts(told["definitions"], digest, minimum, tally, withheld, _read_about(told["about"]))


def _read_about(told: Any) -> dict[str, Any]:
    """Read what a file says of the cohort; refuse what a report could not be made of."""
    about = dict(told)
    for part in ("outcome", "use", "labels", "report"):
        about |= {part: dict(about[part])} if part in about else {}
    if "report" in about:
        about["report"]["smallest_cell"] = int(about["report"]["smallest_cell"])
    return about
