"""What did the audit find, in five lines for a terminal, read from ``report.json``?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from auditbook.book.say.text import join_words
from auditbook.errors import printable
from auditbook.labels import Labels
from auditbook.report.matrix import TOPICS
from auditbook.report.source import Source
from auditbook.results import read_run

Page = Mapping[str, Any]
"""A page of report.json."""

NAMED = 3
"""Things that a line names of each model; the rest is counted."""
MODELS = 3
"""Models that a line tells of; the rest is counted."""


def tell_finding(folder: Path) -> tuple[str, ...]:
    """Tell what a run has found, in five lines.

    Parameters
    ----------
    folder : Path
        A run's folder, with ``report/report.json`` in it.

    Returns
    -------
    tuple of str
        The models; what was shown to fail; what is open; who cannot be judged; where the report lies. No
        line holds anything that a terminal would act on.

    Examples
    --------
    >>> tell_finding(Path("runs/texas-twin"))[0]  # doctest: +SKIP
    'audited: xgboost, on 20,000 records of 114 sites'
    """
    place = folder / "report"
    report = json.loads((place / "report.json").read_text(encoding="utf-8"))
    wording = Source(read_run(folder)).wording
    labels = wording.labels if wording else Labels()
    head, pages = report["head"], report["pages"]
    lines = (
        f"audited: {_name_models(head, pages)}{_count_records(head)}",
        f"shown to fail: {_tell_each(pages, [list_failing(page) for page in pages])}",
        f"open: {_tell_each(pages, [list_open(page) for page in pages], empty=_say_unasked(pages))}",
        f"cannot be judged: {_tell_each(pages, [list_unjudged(page, labels) for page in pages])}",
        f"report: {place / 'index.html'}",
    )
    return tuple(printable(line) for line in lines)


def _name_models(head: Mapping[str, Any], pages: Sequence[Page]) -> str:
    """Name the models, with the name and version that the cohort file gives."""
    names = [str(page["model"]) for page in pages]
    listed = _cut(names, MODELS) if names else "no model"
    said = " ".join(part for part in (head["use"]["model"], head["use"]["version"]) if part)
    return f"{said} ({listed})" if said else listed


def _count_records(head: Mapping[str, Any]) -> str:
    """Count the audited records, and the sites where they are named."""
    records = f", on {head['records']:,} record{'' if head['records'] == 1 else 's'}"
    sites = f" of {head['sites']:,} site{'' if head['sites'] == 1 else 's'}" if head["sites"] else ""
    return records + sites


def _say_unasked(pages: Sequence[Page]) -> str:
    """Say what stands for nothing open: where no decision is judged, no question was asked."""
    asked = any(page["marks"] or page["findings"] for page in pages)
    return "nothing" if asked else "whatever is not flagged; no decision is judged"


def _tell_each(pages: Sequence[Page], found: Sequence[Sequence[str]], *, empty: str = "nothing") -> str:
    """Tell what was found of each model, in one line; with one model, without its name."""
    if not any(found):
        return empty if pages else "no model could be looked at"
    if len(pages) == 1:
        return _cut(found[0], NAMED)
    told = [f"{page['model']}: {_cut(each, NAMED)}" for page, each in zip(pages, found, strict=True) if each]
    silent = len(pages) - len(told)
    rest = [f"{silent} other model{'' if silent == 1 else 's'}: nothing"] if silent else []
    left = len(told) - MODELS
    more = [f"{left} more model{'' if left == 1 else 's'} in the report"] if left > 0 else []
    return "; ".join([*told[:MODELS], *more, *rest])


def _cut(names: Sequence[str], most: int) -> str:
    """List names; of a long list the first, and how many more there are."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def list_failing(page: Page) -> list[str]:
    """List what was shown to fail of a model, the most people first; then count what pockets are flagged."""
    listed = dict.fromkeys((one["question"], one["attribute"]) for one in page["findings"])
    marked = [mark for mark in page["marks"] if mark["mark"] == "fails"]
    listed |= dict.fromkeys((mark["question"], mark["attribute"]) for mark in marked)
    concerned = {(one["question"], one["attribute"]): one for one in reversed(page["findings"])}
    found = [_write_failing(*each, concerned.get(each)) for each in listed]
    return found + list(_count_flagged(page))


def _write_failing(question: str, attribute: str, finding: Mapping[str, Any] | None) -> str:
    """Write one thing that was shown to fail, and the group concerned."""
    group = f" ({finding['shares'][0]['group']})" if finding and finding["shares"] else ""
    return f"{TOPICS[question]} by {attribute}{group}"


def _count_flagged(page: Page) -> Iterator[str]:
    """Count the flagged pockets and gaps of a model."""
    for kind, word in (("error", "pocket"), ("gap", "gap")):
        n = sum(note["kind"] == kind for note in page["pockets"])
        if n:
            yield f"{n} flagged {word}{'' if n == 1 else 's'}"


def list_open(page: Page) -> list[str]:
    """List the questions that the audit of a model leaves open."""
    return _list_marks(page, "open")


def list_unjudged(page: Page, labels: Labels) -> list[str]:
    """List the groups of which too few are there, and the questions that cannot be asked."""
    places = [
        (basis["where"], _find_topics(said["text"])) for said in page["unjudged"] for basis in said["basis"]
    ]
    groups = [
        f"{labels.value(where['attribute'], where['group'])} "
        f"({labels.name(where['attribute'])}{f': {join_words(topics)}' if topics else ''})"
        for where, topics in places
        if "group" in where
    ]
    return list(dict.fromkeys(groups)) + _list_marks(page, "unjudged")


def _find_topics(text: str) -> list[str]:
    """Find the questions that a sentence says cannot be judged of a group; none where that is all of them."""
    listed = text.rpartition(" cannot be judged: ")[2].partition(".")[0] if text.startswith("Of ") else ""
    return [topic for topic in TOPICS.values() if topic in listed]


def _list_marks(page: Page, name: str) -> list[str]:
    """List the questions of one mark, each with the attributes that it stands at."""
    attributes: dict[str, list[str]] = {}
    for mark in page["marks"]:
        if mark["mark"] == name:
            attributes.setdefault(mark["question"], []).append(mark["attribute"])
    return [f"{TOPICS[question]} by {' and '.join(names)}" for question, names in attributes.items()]
