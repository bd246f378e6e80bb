"""What does a cohort file say: read, and validated at once and in full."""

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from auditbook.cohort.attribute_keys import read_attributes
from auditbook.cohort.keys import check_keys, check_value, name_keys, read_subtables
from auditbook.cohort.per_unit_keys import check_event_time, check_per_unit
from auditbook.cohort.pocket_keys import check_pockets, read_pockets
from auditbook.cohort.schema import (
    CohortFile,
    DataTable,
    DropRule,
    FeaturesTable,
    LabelsTable,
    MissingTable,
    MitigationTable,
    OtherOutcomeTable,
    OutcomeTable,
    PanelTable,
    ReportTable,
    ScoreTable,
    SiteTable,
    TimeTable,
    UnitTable,
    UseTable,
    WeightTable,
)
from auditbook.cohort.windows import check_windows
from auditbook.errors import InputError, nearest
from auditbook.pocket_settings import PocketSettings
from auditbook.settings import EXTRA_METRIC_NAMES, METRIC_NAMES, Protocol
from auditbook.tables import (
    SAMPLE,
    Faults,
    TableFormat,
    check_regular,
    fault_connection,
    fault_query,
    is_file_name,
    is_number,
    show,
)

_SLUG = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Validated:
    """A cohort file, and what is wrong with it; values with a fault are left out."""

    file: CohortFile
    faults: Faults


def read_cohort_file(path: Path) -> CohortFile:
    """Read and validate a cohort file; the data it points at are not touched."""
    validated = validate(parse_toml(path), path)
    validated.faults.raise_any()
    return validated.file


def validate(raw: dict[str, Any], path: Path) -> Validated:
    """Hold what a cohort file says against its keys."""
    faults = Faults(path.name)
    top = _top(raw, faults)
    missing = _missing(raw, faults)
    scores = _scores(raw, faults)
    file = CohortFile(
        path=path,
        name=top.get("name", ""),
        title=top.get("title", top.get("name", "")),
        data=_data(raw, path, faults),
        outcome=_outcome(raw, faults),
        outcomes=_other_outcomes(raw, faults),
        site=SiteTable(**_table(raw, "site", SiteTable, faults)),
        unit=_unit(raw, faults),
        time=TimeTable(**_table(raw, "time", TimeTable, faults)),
        weight=WeightTable(**_table(raw, "weight", WeightTable, faults)),
        attributes=read_attributes(raw, missing.attributes, faults),
        missing=missing,
        features=FeaturesTable(**_table(raw, "features", FeaturesTable, faults)),
        scores=scores,
        panel=_panel(raw, bool(scores), faults),
        protocol=_protocol(_table(raw, "protocol", Protocol, faults), faults),
        mitigation=_mitigation(raw, faults),
        pockets=read_pockets(_table(raw, "pockets", PocketSettings, faults), faults),
        use=UseTable(**_table(raw, "use", UseTable, faults)),
        labels=LabelsTable(**_table(raw, "labels", LabelsTable, faults)),
        report=ReportTable(**_table(raw, "report", ReportTable, faults)),
    )
    _check_roles(file, raw, faults)
    return Validated(file, faults)


def _top(raw: dict[str, Any], faults: Faults) -> dict[str, Any]:
    """Check which tables there are, and return the keys that stand outside of them."""
    known = name_keys(CohortFile)
    for name in raw:
        if name not in known:
            where = f"[{name}]" if isinstance(raw[name], dict) else name
            faults.add(where, f"unknown{nearest(name, known)}; allowed: {', '.join(known)}")
    for name in ("data", "outcome", "attributes"):
        if name not in raw:
            faults.add(f"[{name}]", "the table is missing; see 'Bring your cohort' in the book")
    if "name" not in raw:
        faults.add("top of the file", "the key 'name' is missing; add name = \"…\"")
    top: dict[str, Any] = {
        name: raw[name]
        for name in ("name", "title")
        if name in raw and check_value(raw[name], CohortFile, name, "", faults)
    }
    _check_name(top, faults)
    return top


def parse_toml(path: Path) -> dict[str, Any]:
    """Read TOML, or say in one sentence why it cannot be read."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder, not a cohort file; name the .toml file in it")
    if path.suffix.lower() != ".toml":
        command = f"auditbook new {shlex.quote(str(path))}"
        raise InputError(f"{path} is not a cohort file (.toml); to draft one from a table: {command}")
    check_regular(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path, or draft one: auditbook new DATA") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:
        advice = "text needs quotes, lists need commas, no key stands twice"
        raise InputError(f"{path.name}: not valid TOML: {error}; {advice}") from None


def _table(raw: dict[str, Any], name: str, kind: type, faults: Faults) -> dict[str, Any]:
    """Return the values of one table that passed; empty when the table is absent."""
    return check_keys(raw[name], kind, f"[{name}]", faults) if name in raw else {}


def _missing(raw: dict[str, Any], faults: Faults) -> MissingTable:
    values = _table(raw, "missing", MissingTable, faults)
    columns = {name: tuple(words) for name, words in values.get("columns", {}).items()}
    return MissingTable(**values | {"columns": MappingProxyType(columns)})


def _unit(raw: dict[str, Any], faults: Faults) -> UnitTable:
    values = _table(raw, "unit", UnitTable, faults)
    table = UnitTable(**values)
    if table.column and table.columns:
        faults.add("[unit]", "has both column and columns; keep one")
    if "columns" in values and len(set(table.columns)) < 2:
        advice = "name two or more that differ, or write column for a single one"
        faults.add("[unit] columns", f"{show(table.columns)} are not several columns; {advice}")
    return table


def _check_name(top: Mapping[str, Any], faults: Faults) -> None:
    name = top.get("name")
    if name is not None and not (_SLUG.fullmatch(name) and len(name) <= 64):
        slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:64].strip("-") or "my-cohort"
        faults.add("name", f"{show(name)} is not letters, digits and hyphens (at most 64); write '{slug}'")


def _data(raw: dict[str, Any], path: Path, faults: Faults) -> DataTable:
    given = raw.get("data", {}) if isinstance(raw.get("data"), dict) else {}
    if not isinstance(given.get("connection", ""), str):
        faults.add("[data] connection", f"must be text; write {SAMPLE}")
        raw = raw | {"data": {key: value for key, value in given.items() if key != "connection"}}
    values = _table(raw, "data", DataTable, faults)
    sources = [key for key in ("path", "connection", "synthetic") if key in given]
    if "data" in raw and len(sources) != 1:
        found = f"{' and '.join(sources)} are given" if sources else "none is given"
        told = "needs one of path (a table), connection (a database) and synthetic (a generator)"
        faults.add("[data]", f"{told}; {found}")
    _check_database(given, values, faults)
    for key in ("rows", "seed"):
        if key in given and "synthetic" not in given:
            faults.add(f"[data] {key}", "is only used with synthetic; delete the line")
    if "path" in values:
        written = (values["path"],) if isinstance(values["path"], str) else values["path"]
        values["paths"] = tuple(_data_path(path, given, faults) for given in written)
        values["path"] = next(iter(values["paths"]), None)
        if not written:
            faults.add("[data] path", 'names no file; name one, or a pattern such as "2024-*.csv"')
    if "format" in values:
        values["format"] = TableFormat(**check_keys(values["format"], TableFormat, "[data] format", faults))
    return DataTable(**values | {"drop": _drop_rules(values.get("drop", ()), faults)})


def _check_database(given: Mapping[str, Any], values: dict[str, Any], faults: Faults) -> None:
    """Note what is wrong with a connection and its query; the former is never shown."""
    if "connection" in values and (told := fault_connection(values["connection"])):
        faults.add("[data] connection", told)
        del values["connection"]
    if "connection" in given and "query" not in given:
        faults.add("[data] query", 'is missing; write a SELECT, the name of a table, or a file ("stays.sql")')
    if "query" in given and "connection" not in given:
        faults.add("[data] query", "is only used with connection; delete the line")
    if "format" in given and "connection" in given:
        faults.add("[data] format", "is only used with path; delete the line")
    if "query" in values and not is_file_name(values["query"]) and (told := fault_query(values["query"])):
        faults.add("[data] query", told)


def _drop_rules(entries: tuple[dict[str, Any], ...], faults: Faults) -> tuple[DropRule, ...]:
    """Read the entries of ``drop``; those with a fault are left out."""
    found = [
        check_keys(entry, DropRule, f"[data] drop, entry {position}", faults)
        for position, entry in enumerate(entries, start=1)
    ]
    return tuple(DropRule(**values) for values in found if len(values) == len(name_keys(DropRule)))


def _data_path(path: Path, given: str, faults: Faults) -> Path:
    """Find the table that a cohort file names."""
    try:
        return path.parent / Path(given).expanduser()
    except RuntimeError:
        faults.add("[data] path", f"{show(given)} starts with the home of a user who is not known here")
        return path.parent / given


def _outcome(raw: dict[str, Any], faults: Faults) -> OutcomeTable:
    values = _table(raw, "outcome", OutcomeTable, faults)
    table = OutcomeTable(**{"column": "", **values})
    given = raw.get("outcome", {}) if isinstance(raw.get("outcome"), dict) else {}
    if "outcome" in raw and table.continuous == ("event" in given):
        advice = (
            "delete event, or the type"
            if table.continuous
            else 'say what counts as an event, as event = "> 3"'
        )
        faults.add(
            "[outcome] event",
            f"{'given' if table.continuous else 'missing'}, while the type is "
            f"{'continuous' if table.continuous else 'an event'}; {advice}",
        )
    _check_event(table, faults)
    _check_numbers(table, faults)
    return table


def _other_outcomes(raw: dict[str, Any], faults: Faults) -> tuple[OtherOutcomeTable, ...]:
    """Read the other outcomes; what they are compared with must be an event."""
    found = []
    for name, values in read_subtables(raw, "outcomes", OtherOutcomeTable, faults):
        table = OtherOutcomeTable(**{"name": name, "column": "", "event": "", **values})
        if "event" in values:
            _check_event(table.as_outcome, faults, where=f"[outcomes.{name}] event")
            _check_numbers(table.as_outcome, faults, where=f"[outcomes.{name}]")
        found.append(table)
    given = raw.get("outcome", {})
    if found and isinstance(given, dict) and given.get("type") == "continuous":
        faults.add("[outcomes]", "another outcome can be judged beside an event only; delete these tables")
    return tuple(found)


def _check_numbers(table: OutcomeTable, faults: Faults, *, where: str = "[outcome]") -> None:
    """Note numbers that nothing would compare."""
    if table.numbers and table.rule is not None and not table.rule.compares_numbers:
        told = 'the event is a value and no comparison; write event = "> 3" or the like, or delete the line'
        faults.add(f"{where} numbers", told)


def _check_event(table: OutcomeTable, faults: Faults, *, where: str = "[outcome] event") -> None:
    rule = table.rule
    if isinstance(table.event, str) and not table.event.strip():
        faults.add(where, 'is blank; write a comparison ("> 3") or the value that counts as an event')
    if rule and rule.compares_numbers and not is_number(rule.value):
        advice = f"for a value that starts like this, write event = '== \"{show(table.event)[1:-1]}\"'"
        faults.add(
            where, f"{show(table.event)} compares with {show(rule.value)}, which is not a number; {advice}"
        )


def _scores(raw: dict[str, Any], faults: Faults) -> tuple[ScoreTable, ...]:
    found = []
    for name, values in read_subtables(raw, "scores", ScoreTable, faults):
        where, kind = f"[scores.{name}]", values.get("kind", "probability")
        if kind in ("decision", "value"):
            for key in ("threshold", "percentile"):
                if key in values:
                    faults.add(
                        f"{where} {key}",
                        "has no meaning for decisions of 0 and 1, or for values; delete the line",
                    )
        elif kind == "rank" and "kind" in values and not {"threshold", "percentile"} & set(values):
            faults.add(where, "a rank needs threshold or percentile; add one, such as percentile = 97")
        threshold, percentile = _cut(values, where, kind == "probability", faults)
        _check_direction(values, where, kind, faults)
        cut = {"threshold": threshold, "percentile": percentile}
        found.append(ScoreTable(**{"name": name, "column": "", "kind": kind, **values, **cut}))
    return tuple(found)


def _check_direction(values: Mapping[str, Any], where: str, kind: str, faults: Faults) -> None:
    """Note a prediction of a number that shall be turned round."""
    if kind == "value" and values.get("event_is") == "low":
        faults.add(f"{where} event_is", "has no meaning for a prediction of a number; delete the line")


def _cut(
    values: Mapping[str, Any], where: str, probability: bool, faults: Faults
) -> tuple[float | None, float | None]:
    """Return threshold and percentile, of which one is None."""
    threshold, percentile = values.get("threshold"), values.get("percentile")
    if threshold is not None and percentile is not None:
        faults.add(where, "has both threshold and percentile; keep one")
    if threshold is not None and probability and not 0 < threshold <= 1:
        faults.add(f"{where} threshold", f"{show(threshold)} is not above 0 and at most 1")
    if percentile is not None:
        if not 0 < percentile < 100:
            faults.add(f"{where} percentile", f"{show(percentile)} is not between 0 and 100")
        return None, float(percentile)
    return float(0.5 if threshold is None else threshold), None


def _panel(raw: dict[str, Any], scores_given: bool, faults: Faults) -> PanelTable:
    values = _table(raw, "panel", PanelTable, faults)
    models = tuple(values.get("models", () if scores_given else ("xgboost", "logistic")))
    threshold, percentile = _cut(values, "[panel]", True, faults)
    if len(set(models)) < len(models):
        twice = next(name for name in models if models.count(name) > 1)
        faults.add("[panel] models", f"{show(twice)} stands twice; delete one")
    return PanelTable(models, tuple(values.get("lean", ())), threshold, percentile)


def _protocol(values: dict[str, Any], faults: Faults) -> Protocol:
    metrics, sizes = values.get("metrics", METRIC_NAMES), values.get("audit_sizes", (2,))
    if not metrics or len(set(metrics)) < len(metrics):
        faults.add("[protocol] metrics", "names no metric, or one twice; name each once, or delete the line")
    if not sizes or min(sizes) < 2 or tuple(sorted(set(sizes))) != sizes:
        faults.add(
            "[protocol] audit_sizes",
            f"{show(sizes)} must be sizes of 2 or more, each larger than the one before",
        )
    thresholds = values.get("thresholds", {})
    _check_thresholds(thresholds, faults)
    return Protocol(**values | {"thresholds": MappingProxyType(dict(thresholds))})


def _check_thresholds(thresholds: Mapping[str, float], faults: Faults) -> None:
    allowed, where = (*METRIC_NAMES, *EXTRA_METRIC_NAMES), "[protocol] thresholds"
    for name, value in thresholds.items():
        if name not in allowed:
            told = f"{show(name)} is no metric{nearest(name, allowed)}; allowed: {', '.join(allowed)}"
            faults.add(where, told)
        elif not 0 <= value <= 1:
            faults.add(where, f"{name} = {show(value)} is out of range; allowed: 0 to 1")


def _mitigation(raw: dict[str, Any], faults: Faults) -> MitigationTable:
    values = _table(raw, "mitigation", MitigationTable, faults)
    known = list(raw["attributes"]) if isinstance(raw.get("attributes"), dict) else []
    names = values.get("attributes", [])
    for name in names:
        if name not in known:
            faults.add(
                "[mitigation] attributes",
                f"{show(name)} is no attribute{nearest(name, known)}; allowed: {', '.join(known)}",
            )
    if len(set(names)) < len(names):
        faults.add("[mitigation] attributes", "names an attribute twice; name each once")
    return MitigationTable(**values)


def name_lean(model: str) -> str:
    """Name the variant of a model that is trained without the late features.

    Examples
    --------
    >>> name_lean("xgboost")
    'xgboost_lean'
    """
    return f"{model}_lean"


def _check_roles(file: CohortFile, raw: Mapping[str, Any], faults: Faults) -> None:
    """Find contradictions between tables."""
    if file.site.required and file.site.column is None:
        faults.add("[site] column", "is missing, while required = true; name the column that holds the site")
    if not file.scores and not file.panel.models:
        faults.add("[panel] models", "is empty and no [scores.NAME] is given: there is no model to audit")
    if file.weight.columns and file.weight.column is None:
        faults.add("[weight] column", "is missing; name the column that holds the weights")
    _check_lean(file, faults)
    check_pockets(file, faults)
    _check_kinds(file, faults)
    _check_report(file, faults)
    for score in file.scores:
        if score.name in (*file.panel.models, *map(name_lean, file.panel.lean)):
            faults.add(f"[scores.{score.name}]", "a model of [panel] has the same name; rename this one")
    outcome = file.outcome.column
    others = [(f"[attributes.{item.name}] column", item.column) for item in file.attributes]
    others += [(f"[scores.{item.name}] column", item.column) for item in file.scores]
    _check_outcomes(file, faults)
    others += [("[site] column", file.site.column or ""), ("[time] column", file.time.column or "")]
    others += [("[outcome] time", file.outcome.time or "")]
    others += [(f"[unit] {file.unit.key}", name) for name in file.unit.names]
    others += [(f"[weight] {key}", name) for key, name in file.weight.columns.items()]
    others += [("[features] include", name) for name in file.features.include or ()]
    others += [("[features] late", name) for name in file.features.late]
    for where, column in others:
        if outcome and column == outcome:
            faults.add(where, f"'{column}' is the outcome; a column cannot be both")
    _check_features(file, raw, faults)
    _check_within_unit(file, faults)
    check_per_unit(file, faults)
    check_event_time(file, faults)
    check_windows(file.time, faults)


def _check_features(file: CohortFile, raw: Mapping[str, Any], faults: Faults) -> None:
    """Find lists of features that contradict each other."""
    given = raw.get("features", {})
    if isinstance(given, dict) and {"include", "exclude"} <= set(given):
        faults.add("[features]", "has both include and exclude; keep one")
    for key in ("late", "categories"):
        for name in sorted(set(getattr(file.features, key)) & set(file.features.exclude)):
            faults.add(f"[features] {key}", f"'{name}' is also in exclude; keep it in one of the two")


def _check_within_unit(file: CohortFile, faults: Faults) -> None:
    """Find rules about the records of a unit where nothing says what a unit is, or when they were made."""
    for item in (item for item in file.attributes if item.within_unit is not None):
        where = f"[attributes.{item.name}] within_unit"
        if not file.unit.names:
            faults.add(where, 'there is no [unit]; name the column of the patient: [unit] column = "…"')
        if item.within_unit != "most frequent" and file.time.column is None:
            told = f'"{item.within_unit}" needs to know when a record was made, since the order of rows may '
            advice = 'mean nothing; name a date: [time] column = "…", or write "most frequent"'
            faults.add(where, told + advice)


def _check_report(file: CohortFile, faults: Faults) -> None:
    """Find words of the report that point at nothing, or that say the same of two things."""
    chosen, judged = file.use.primary_metric, file.protocol.metrics
    if chosen and not file.outcome.continuous and chosen not in judged:
        told = f"{show(chosen)} is not judged{nearest(chosen, judged)}; name one of {', '.join(judged)}"
        faults.add("[use] primary_metric", f"{told}, or add it to [protocol] metrics")
    for key, name in (("sex", file.report.sex), ("race", file.report.race)):
        if name is not None and name not in file.attribute_names:
            known = file.attribute_names
            told = f"{show(name)} is no attribute{nearest(name, known)}; allowed: {', '.join(known)}"
            faults.add(f"[report] {key}", told)
    _check_words(file.labels.columns, "[labels] columns", faults)
    for name, words in file.labels.values.items():
        _check_words(words, f"[labels] values.{name}", faults)
    for item in file.attributes:
        if item.name != item.column and {item.name, item.column} <= file.labels.values.keys():
            where = f"[labels] values.{item.column} and values.{item.name}"
            _check_words(file.word_groups(item), where, faults)


def _check_words(words: Mapping[str, str], where: str, faults: Faults) -> None:
    """Find two names that would be shown by the same words."""
    first: dict[str, str] = {}
    for name, text in words.items():
        if text in first:
            told = f"{show(first[text])} and {show(name)} are both {show(text)}"
            faults.add(where, f"{told}; a reader could not tell them apart: give each its own words")
        first.setdefault(text, name)


def _check_outcomes(file: CohortFile, faults: Faults) -> None:
    """Find other outcomes that are the outcome itself, or that have another role."""
    roles = {item.column: f"the score '{item.name}'" for item in file.scores}
    roles |= {name: "a feature" for name in file.features.include or ()}
    for item in file.outcomes:
        where = f"[outcomes.{item.name}]"
        if item.name == file.outcome.column:
            faults.add(where, "has the name of the outcome's column; choose another")
        if (item.column, item.event) == (file.outcome.column, file.outcome.event):
            faults.add(where, "is the outcome itself; name another column or event, or delete it")
        if item.column in roles:
            faults.add(f"{where} column", f"'{item.column}' is {roles[item.column]}; it cannot be both")


def _check_kinds(file: CohortFile, faults: Faults) -> None:
    """Find scores whose kind does not fit the outcome."""
    for score in file.scores:
        if score.kind == "value" and not file.outcome.continuous:
            faults.add(
                f"[scores.{score.name}] kind",
                'is "value", a prediction of a continuous outcome, and the outcome is an event; write '
                '"probability" or "rank"',
            )
        if score.kind in ("probability", "decision") and file.outcome.continuous:
            faults.add(
                f"[scores.{score.name}] kind",
                f'is "{score.kind}", and the outcome is continuous; write "value", or "rank" for a score '
                "that only orders the records",
            )


def _check_lean(file: CohortFile, faults: Faults) -> None:
    """Find models that shall be trained without late features and are not in the panel, or see none."""
    lean, models = file.panel.lean, file.panel.models
    for name in lean:
        if name not in models:
            faults.add(
                "[panel] lean",
                f"{show(name)} is not in models{nearest(name, models)}; add it there, or delete it here; "
                f"allowed: {', '.join(models) or 'none, since models is empty'}",
            )
    if len(set(lean)) < len(lean):
        faults.add("[panel] lean", "names a model twice; name each once")
    if lean and not file.features.late:
        faults.add(
            "[panel] lean",
            "asks for models without late features, and [features] late names none; list there the columns "
            "that are known only at the end of the stay, or delete lean",
        )


__all__ = ["CohortFile", "ScoreTable", "name_lean", "read_cohort_file"]
