"""On what must hospitals agree before their counts are added up, and where do they not?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from auditbook.project import digest_text

NOTHING = "nothing"

Definitions = Mapping[str, Any]


def define_counts(
    described: Definitions, protocol: Definitions, models: Sequence[Definitions]
) -> dict[str, Any]:
    """Put together what hospitals have to agree on: outcome, groups, scores, thresholds, constants.

    Columns may be called differently in each hospital, and titles and seeds may differ.

    Parameters
    ----------
    described : mapping
        What `CohortFile.describe` says.
    protocol : mapping
        The constants in force, by name.
    models : sequence of mappings
        Name, kind, threshold and source of each model.
    """
    outcome = described["outcome"]
    return {
        "outcome": {"event": outcome["event"], "continuous": outcome["continuous"]},
        "attributes": {
            name: {key: value for key, value in grouping.items() if key not in ("column", "missing_values")}
            for name, grouping in described["groupings"].items()
        },
        "models": {one["model"]: {key: one[key] for key in one if key != "model"} for one in models},
        "protocol": {key: value for key, value in protocol.items() if key != "seed"},
    }


def digest_definitions(definitions: Definitions) -> str:
    """Hash definitions, in whatever order their keys stand.

    >>> digest_definitions({"a": 1, "b": 2}) == digest_definitions({"b": 2, "a": 1})
    True
    """
    return digest_text(json.dumps(definitions, sort_keys=True, ensure_ascii=False))


def list_disagreements(named: Mapping[str, Definitions]) -> list[str]:
    """Name every difference from the first file: the files, the key, and both values.

    >>> list_disagreements({"A.json": {"outcome": {"event": "= 1"}}, "B.json": {"outcome": {"event": "= 2"}}})
    ['outcome.event: "= 1" in A.json, "= 2" in B.json']
    """
    (first, mine), *others = named.items()
    return [
        f"{key}: {_tell(one)} in {first}, {_tell(other)} in {name}"
        for name, yours in others
        for key, one, other in _compare(mine, yours, "")
    ]


def _compare(one: Any, other: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    """Go through two values, and through tables key by key."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys([*one, *other]):
            yield from _compare(one.get(key), other.get(key), f"{where}.{key}" if where else str(key))
    elif one != other:
        yield where, one, other


def _tell(value: Any) -> str:
    return NOTHING if value is None else json.dumps(value, ensure_ascii=False)
