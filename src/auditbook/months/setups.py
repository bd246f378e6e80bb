"""In what do two audits differ before any result: cohort file, data, models, groups, protocol, versions?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from auditbook.results import Run, rows

ALIKE = ("outcome", "site", "unit", "harm")
"""What of run.json says the same of two audits when it is equal."""


@dataclass(frozen=True)
class SetupChange:
    """One thing that differs."""

    what: str
    before: str  # Blank where there was none
    after: str


@dataclass(frozen=True)
class ModelPair:
    """A model of the first audit and the one that is held against it."""

    before: str
    after: str


def pair_models(first: Run, second: Run) -> list[ModelPair]:
    """Pair models of the same name; where each audit has a single model, these two whatever their names."""
    before, after = list(first.info["models"]), list(second.info["models"])
    if len(before) == len(after) == 1:
        return [ModelPair(before[0], after[0])]
    return [ModelPair(name, name) for name in before if name in after]


def same_data(first: Run, second: Run) -> bool:
    """Tell whether two audits read the same data and audited as many of its records."""
    same = first.info["hashes"]["data"] == second.info["hashes"]["data"]
    return bool(same and first.info["rows_audited"] == second.info["rows_audited"])


def compare_setups(first: Run, second: Run) -> list[SetupChange]:
    """List what differs between two audits before any result."""
    return [
        *_compare_files(first, second),
        *_compare_models(first, second),
        *_compare_constants(first, second),
    ]


def _compare_files(first: Run, second: Run) -> Iterator[SetupChange]:
    """Compare cohort files, data and groups."""
    before, after = first.info, second.info
    if before["hashes"]["cohort"] != after["hashes"]["cohort"]:
        yield SetupChange("cohort file", before["name"], after["name"])
    if before["hashes"]["data"] != after["hashes"]["data"]:
        yield SetupChange("data", before["hashes"]["data"][:12], after["hashes"]["data"][:12])
    if before["rows_audited"] != after["rows_audited"]:
        yield SetupChange("audited records", f"{before['rows_audited']:,}", f"{after['rows_audited']:,}")
    for name in ALIKE:
        if before.get(name) != after.get(name):
            yield SetupChange(name, _write(before.get(name)), _write(after.get(name)))
    yield from _come_and_go("attribute", before["attributes"], after["attributes"])
    held = _list_groups(first), _list_groups(second)
    for attribute in before["attributes"]:
        if attribute in after["attributes"]:
            groups = (part.get(attribute, []) for part in held)
            yield from _come_and_go(f"group of {attribute}", *groups)


def _list_groups(run: Run) -> dict[str, list[str]]:
    """List the groups that hold records, by attribute."""
    found: dict[str, dict[str, None]] = {}
    for row in rows(run.groups):
        if row.n > 0:
            found.setdefault(row.attribute, {})[row.group] = None
    return {name: list(groups) for name, groups in found.items()}


def _come_and_go(what: str, before: list[str], after: list[str]) -> Iterator[SetupChange]:
    """List what came and what went."""
    yield from (SetupChange(what, name, "") for name in before if name not in after)
    yield from (SetupChange(what, "", name) for name in after if name not in before)


def _compare_models(first: Run, second: Run) -> Iterator[SetupChange]:
    """Compare the models, and what their scores are."""
    pairs = pair_models(first, second)
    paired = {pair.before for pair in pairs}, {pair.after for pair in pairs}
    yield from (SetupChange("model", name, "") for name in first.info["models"] if name not in paired[0])
    yield from (SetupChange("model", "", name) for name in second.info["models"] if name not in paired[1])
    about = ({row.model: row for row in rows(run.models)} for run in (first, second))
    before, after = about
    for pair in pairs:
        one, other = before[pair.before], after[pair.after]
        if pair.before != pair.after:
            yield SetupChange("model", pair.before, pair.after)
        if one.kind != other.kind:
            yield SetupChange(f"scores of {pair.after}", one.kind, other.kind)
        if one.threshold != other.threshold:
            yield SetupChange(f"threshold of {pair.after}", f"{one.threshold:g}", f"{other.threshold:g}")


def _compare_constants(first: Run, second: Run) -> Iterator[SetupChange]:
    """Compare protocol, profile and versions."""
    before, after = first.info, second.info
    for where, name in (("protocol", "[protocol] "), ("versions", "version of ")):
        yield from _compare_keys(before[where], after[where], name)
    if before["profile"]["name"] != after["profile"]["name"]:
        yield SetupChange("profile", before["profile"]["name"], after["profile"]["name"])


def _compare_keys(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> Iterator[SetupChange]:
    for key in dict.fromkeys([*before, *after]):
        if before.get(key) != after.get(key):
            yield SetupChange(f"{name}{key}", _write(before.get(key)), _write(after.get(key)))


def _write(value: Any) -> str:
    """Write what a run says of itself; nothing where it says nothing."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_write(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_write, value))
    return str(value)
