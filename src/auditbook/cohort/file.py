"""What does a cohort file say: read, and validated at once and in full."""

import itertools
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from auditbook.cohort.keys import REQUIRED_TABLES, SCHEMA, Faults, check_keys, is_number, show
from auditbook.cohort.pocket_keys import check_pockets, read_pockets
from auditbook.cohort.schema import (
    AttributeTable,
    CohortFile,
    DataTable,
    DropRule,
    Event,
    FeaturesTable,
    MissingTable,
    MitigationTable,
    OutcomeTable,
    PanelTable,
    ScoreTable,
    SiteTable,
    UnitTable,
    Value,
)
from auditbook.errors import InputError, nearest
from auditbook.settings import Protocol

_SLUG = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(.*?)\s*", re.DOTALL)


def read_cohort_file(path: Path) -> CohortFile:
    """Read and validate a cohort file; the data it points at are not touched."""
    raw = _parse_toml(path)
    faults = Faults(path.name)
    top = _top(raw, faults)
    missing = _missing(_table(raw, "missing", faults))
    scores = _scores(raw, faults)
    file = CohortFile(
        path=path,
        name=top.get("name", ""),
        title=top.get("title", top.get("name", "")),
        data=_data(raw, path, faults),
        outcome=_outcome(raw, faults),
        site=SiteTable(**_table(raw, "site", faults)),
        unit=UnitTable(**_table(raw, "unit", faults)),
        attributes=_attributes(raw, missing.attributes, faults),
        missing=missing,
        features=FeaturesTable(**_lists_to_tuples(_table(raw, "features", faults))),
        scores=scores,
        panel=_panel(raw, bool(scores), faults),
        protocol=_protocol(_table(raw, "protocol", faults), faults),
        mitigation=_mitigation(raw, faults),
        pockets=read_pockets(_table(raw, "pockets", faults), faults),
    )
    _check_roles(file, raw, faults)
    faults.raise_any()
    return file


_TOP = ("name", "title", *(name for name in SCHEMA if name.isalpha()), "attributes", "scores")


def _top(raw: dict[str, Any], faults: Faults) -> dict[str, Any]:
    """Check which tables there are, and return the keys that stand outside of them."""
    for name in raw:
        if name not in _TOP:
            where = f"[{name}]" if isinstance(raw[name], dict) else name
            faults.add(where, f"unknown{nearest(name, _TOP)}; allowed: {', '.join(_TOP)}")
    for name in REQUIRED_TABLES:
        if name not in raw:
            faults.add(f"[{name}]", "the table is missing; see 'Bring your cohort' in the book")
    top = check_keys({k: v for k, v in raw.items() if k in ("name", "title")}, SCHEMA[""], "", faults)
    _check_name(top, faults)
    return top


def _parse_toml(path: Path) -> dict[str, Any]:
    """Read TOML, or say in one sentence why it cannot be read."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder, not a cohort file; name the .toml file in it")
    if path.suffix.lower() != ".toml":
        command = f"auditbook new {shlex.quote(str(path))}"
        raise InputError(f"{path} is not a cohort file (.toml); to draft one from a table: {command}")
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


def _table(raw: dict[str, Any], name: str, faults: Faults) -> dict[str, Any]:
    """Return the values of one table that passed; empty when the table is absent."""
    return check_keys(raw.get(name, {}), SCHEMA[name], f"[{name}]", faults) if name in raw else {}


def _subtables(raw: dict[str, Any], name: str, faults: Faults) -> list[tuple[str, dict[str, Any]]]:
    """Return name and values of each sub-table, such as ``[attributes.race]``."""
    outer = raw.get(name, {})
    if not isinstance(outer, dict):
        faults.add(f"[{name}]", f"must be tables, found {show(outer)}; write one table each: [{name}.NAME]")
        return []
    found = []
    for inner, table in outer.items():
        if not inner.strip():
            faults.add(f"[{name}]", f"the name {show(inner)} is blank; give it one")
        found.append((inner, check_keys(table, SCHEMA[f"{name}.<name>"], f"[{name}.{inner}]", faults)))
    return found


def _lists_to_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Freeze the lists among a table's values."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _check_name(top: Mapping[str, Any], faults: Faults) -> None:
    name = top.get("name")
    if name is not None and not (_SLUG.fullmatch(name) and len(name) <= 64):
        slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:64].strip("-") or "my-cohort"
        faults.add("name", f"{show(name)} is not letters, digits and hyphens (at most 64); write '{slug}'")


def _data(raw: dict[str, Any], path: Path, faults: Faults) -> DataTable:
    values = _table(raw, "data", faults)
    rules = [
        check_keys(rule, SCHEMA["data.drop"], f"[data] drop, entry {position}", faults)
        for position, rule in enumerate(values.pop("drop", []), start=1)
    ]
    given = raw.get("data", {}) if isinstance(raw.get("data"), dict) else {}
    if "data" in raw and ("path" in given) == ("synthetic" in given):
        found = "both are" if "path" in given else "neither is"
        faults.add("[data]", f"needs either path (a table) or synthetic (a generator); {found} given")
    for key in ("rows", "seed"):
        if key in values and "synthetic" not in given:
            faults.add(f"[data] {key}", "is only used with synthetic; delete the line")
        if values.get(key, 1) < (1 if key == "rows" else 0):
            faults.add(
                f"[data] {key}", f"{values[key]} is too small; allowed: {1 if key == 'rows' else 0} or more"
            )
    if "path" in values:
        values["path"] = _data_path(path, values["path"], faults)
    whole = [rule for rule in rules if len(rule) == 3]
    drop = tuple(DropRule(rule["column"], tuple(rule["values"]), rule["reason"]) for rule in whole)
    return DataTable(**values, drop=drop)


def _data_path(path: Path, given: str, faults: Faults) -> Path:
    """Find the table that a cohort file names."""
    try:
        return path.parent / Path(given).expanduser()
    except RuntimeError:
        faults.add("[data] path", f"{show(given)} starts with the home of a user who is not known here")
        return path.parent / given


def parse_event(event: Value) -> Event:
    """Read an event: a comparison such as ``"> 3"``, or a value."""
    match = _COMPARISON.fullmatch(event) if isinstance(event, str) else None
    if match is None:
        return Event("==", event)
    sign, text = match.groups()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return Event(sign, text[1:-1])
    for kind in (int, float):
        try:
            return Event(sign, kind(text))
        except ValueError:
            continue
    return Event(sign, text)


def _outcome(raw: dict[str, Any], faults: Faults) -> OutcomeTable:
    values = _table(raw, "outcome", faults)
    given = raw.get("outcome", {}) if isinstance(raw.get("outcome"), dict) else {}
    continuous = values.get("type") == "continuous"
    if "outcome" in raw and continuous == ("event" in given):
        advice = (
            "delete event, or the type" if continuous else 'say what counts as an event, as event = "> 3"'
        )
        faults.add(
            "[outcome] event",
            f"{'given' if continuous else 'missing'}, while the type is "
            f"{'continuous' if continuous else 'an event'}; {advice}",
        )
    if isinstance(values.get("event"), str) and not values["event"].strip():
        faults.add(
            "[outcome] event", 'is blank; write a comparison ("> 3") or the value that counts as an event'
        )
    event = None if continuous else parse_event(values.get("event", "?"))
    if event and event.comparison in (">", ">=", "<", "<=") and not is_number(event.value):
        advice = f"for a value that starts like this, write event = '== \"{show(values['event'])[1:-1]}\"'"
        faults.add(
            "[outcome] event",
            f"{show(values['event'])} compares with {show(event.value)}, which is not a number; {advice}",
        )
    return OutcomeTable(values.get("column", ""), event, _show_event(values), values.get("harm", ""))


def _show_event(values: Mapping[str, Any]) -> str:
    """Write the event as the file does; blank when there is none."""
    event = values.get("event", "")
    return event if isinstance(event, str) else show(event)


def _missing(values: dict[str, Any]) -> MissingTable:
    if "values" in values:
        values["marks"] = tuple(values.pop("values"))
    return MissingTable(**values)


def _attributes(raw: dict[str, Any], rule: str, faults: Faults) -> tuple[AttributeTable, ...]:
    tables = _subtables(raw, "attributes", faults)
    if "attributes" in raw and not tables:
        faults.add("[attributes]", "holds no attribute; write at least one table, such as [attributes.sex]")
    found = []
    for name, values in tables:
        where = f"[attributes.{name}]"
        if name in ("all", "cohort"):
            faults.add(where, f"the name '{name}' is taken by the report; choose another")
        _check_bins(values, where, faults)
        _check_categories(values, where, faults)
        values = {"missing": rule, "column": "", **_lists_to_tuples(values)}
        if "bins" in values and "labels" not in values:
            values["labels"] = label_bins(values["bins"])
        values["groups"] = MappingProxyType(dict(values.get("groups", {})))
        found.append(AttributeTable(name=name, **values))
    return tuple(found)


def _check_bins(values: Mapping[str, Any], where: str, faults: Faults) -> None:
    bins, labels = values.get("bins"), values.get("labels")
    if labels is not None and bins is None:
        faults.add(f"{where} labels", "given without bins; add bins, or rename values with groups")
    if bins is None:
        return
    if len(bins) < 2 or any(low >= high for low, high in itertools.pairwise(bins)):
        faults.add(
            f"{where} bins", f"{show(bins)} are not two or more rising lower bounds, such as [0, 18, 65]"
        )
    if labels is not None and len(labels) != len(bins):
        faults.add(
            f"{where} labels",
            f"{len(labels)} labels for {len(bins)} bins; every bin needs one (the last bin is open-ended)",
        )
    if labels is not None and len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        faults.add(f"{where} labels", f"{show(twice)} stands twice; every bin needs its own label")
    for key in ("groups", "categories"):
        if key in values:
            faults.add(f"{where} {key}", "given together with bins; keep one of the two")


def _check_categories(values: Mapping[str, Any], where: str, faults: Faults) -> None:
    names = values.get("categories", [])
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        faults.add(f"{where} categories", f"{show(twice)} stands twice; delete one")
    known = names or values.get("labels", [])
    reference = values.get("reference")
    if known and reference is not None and reference not in known:
        faults.add(
            f"{where} reference",
            f"{show(reference)} is none of the groups{nearest(reference, known)}; "
            f"allowed: {', '.join(known)}",
        )


def label_bins(bins: tuple[float, ...]) -> tuple[str, ...]:
    """Name bins by their bounds."""
    texts = [f"{bound:.0f}" if float(bound).is_integer() else repr(bound) for bound in bins]
    if all(float(bound).is_integer() for bound in bins):
        names = [
            f"{low:.0f}-{high - 1:.0f}" if high - 1 > low else f"{low:.0f}"
            for low, high in itertools.pairwise(bins)
        ]
    else:
        names = [f"{low} to below {high}" for low, high in itertools.pairwise(texts)]
    return (*names, f"{texts[-1]}+") if bins else ()


def _scores(raw: dict[str, Any], faults: Faults) -> tuple[ScoreTable, ...]:
    found = []
    for name, values in _subtables(raw, "scores", faults):
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
        found.append(ScoreTable(name, values.get("column", ""), kind, threshold, percentile))
    return tuple(found)


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
    values = _table(raw, "panel", faults)
    models = tuple(values.get("models", () if scores_given else ("xgboost", "logistic")))
    threshold, percentile = _cut(values, "[panel]", True, faults)
    if len(set(models)) < len(models):
        twice = next(name for name in models if models.count(name) > 1)
        faults.add("[panel] models", f"{show(twice)} stands twice; delete one")
    return PanelTable(models, tuple(values.get("lean", ())), threshold, percentile)


def _protocol(values: dict[str, Any], faults: Faults) -> Protocol:
    for key, value in values.items():
        low, high = _BOUNDS.get(key, (0, float("inf")))
        if isinstance(value, int | float) and not low <= value <= high:
            upper = f"{low} or more" if high == float("inf") else f"{low} to {high}"
            faults.add(f"[protocol] {key}", f"{show(value)} is out of range; allowed: {upper}")
    metrics = values.get("metrics")
    if metrics is not None and (not metrics or len(set(metrics)) < len(metrics)):
        faults.add("[protocol] metrics", "names no metric, or one twice; name each once, or delete the line")
    sizes = values.get("audit_sizes")
    if sizes is not None and (not sizes or min(sizes) < 2 or sorted(set(sizes)) != sizes):
        faults.add(
            "[protocol] audit_sizes",
            f"{show(sizes)} must be sizes of 2 or more, each larger than the one before",
        )
    for name in values.get("thresholds", {}):
        allowed = next(key for key in SCHEMA["protocol"] if key.name == "metrics").choices
        if name not in allowed:
            faults.add(
                "[protocol] thresholds",
                f"{show(name)} is no metric{nearest(name, allowed)}; allowed: {', '.join(allowed)}",
            )
        elif not 0 <= values["thresholds"][name] <= 1:
            found = show(values["thresholds"][name])
            faults.add("[protocol] thresholds", f"{name} = {found} is out of range; allowed: 0 to 1")
    if "thresholds" in values:
        values["thresholds"] = MappingProxyType(dict(values["thresholds"]))
    return Protocol(**_lists_to_tuples(values))


def _mitigation(raw: dict[str, Any], faults: Faults) -> MitigationTable:
    values = _table(raw, "mitigation", faults)
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
    for key, high in (("strength", 100), ("headroom", 0.5)):
        for name in (key, f"{key}s"):
            given = values.get(name, [])
            wrong = [one for one in (given if isinstance(given, list) else [given]) if not 0 <= one <= high]
            if wrong:
                faults.add(
                    f"[mitigation] {name}", f"{show(wrong[0])} is out of range; allowed: 0 to {high:g}"
                )
    return MitigationTable(**_lists_to_tuples(values))


def name_lean(model: str) -> str:
    """Name the variant of a model that is trained without the late features.

    Examples
    --------
    >>> name_lean("xgboost")
    'xgboost_lean'
    """
    return f"{model}_lean"


_BOUNDS: Mapping[str, tuple[float, float]] = {
    "resamples": (1, 1_000_000),
    "resample_size": (1, float("inf")),
    "vfr_stable": (0, 0.5),
    "size_repeats": (2, 10_000),
    "cv_stable": (0, 1),
    "field_size": (1, float("inf")),
    "site_folds": (2, 1000),
    "kappa_stable": (-1, 1),
    "halvings": (2, 1000),
    "max_groups": (2, 1000),
    "audit_share": (0.01, 0.99),
    "seed": (0, 2**32 - 1),
}


def _check_roles(file: CohortFile, raw: Mapping[str, Any], faults: Faults) -> None:
    """Find contradictions between tables."""
    if file.site.required and file.site.column is None:
        faults.add("[site] column", "is missing, while required = true; name the column that holds the site")
    if not file.scores and not file.panel.models:
        faults.add("[panel] models", "is empty and no [scores.NAME] is given: there is no model to audit")
    _check_lean(file, faults)
    check_pockets(file, faults)
    _check_kinds(file, faults)
    for score in file.scores:
        if score.name in (*file.panel.models, *map(name_lean, file.panel.lean)):
            faults.add(f"[scores.{score.name}]", "a model of [panel] has the same name; rename this one")
    outcome = file.outcome.column
    others = [(f"[attributes.{item.name}] column", item.column) for item in file.attributes]
    others += [(f"[scores.{item.name}] column", item.column) for item in file.scores]
    others += [("[site] column", file.site.column or ""), ("[unit] column", file.unit.column or "")]
    others += [("[features] include", name) for name in file.features.include or ()]
    others += [("[features] late", name) for name in file.features.late]
    for where, column in others:
        if outcome and column == outcome:
            faults.add(where, f"'{column}' is the outcome; a column cannot be both")
    given = raw.get("features", {})
    if isinstance(given, dict) and {"include", "exclude"} <= set(given):
        faults.add("[features]", "has both include and exclude; keep one")
    for name in set(file.features.late) & set(file.features.exclude):
        faults.add("[features] late", f"'{name}' is also in exclude; keep it in one of the two")


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


__all__ = [
    "CohortFile",
    "ScoreTable",
    "label_bins",
    "name_lean",
    "parse_event",
    "read_cohort_file",
]
