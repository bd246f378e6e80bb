"""What does a cohort file say of its attributes, and what is wrong with it?"""

import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from auditbook.cohort.crossed import check_cross
from auditbook.cohort.keys import read_subtables
from auditbook.cohort.schema import AttributeTable
from auditbook.errors import nearest
from auditbook.tables import Faults, count_of, show


def read_attributes(raw: dict[str, Any], rule: str, faults: Faults) -> tuple[AttributeTable, ...]:
    """Read the attributes; `rule` says what becomes of blank cells where an attribute does not."""
    tables = read_subtables(raw, "attributes", AttributeTable, faults)
    if "attributes" in raw and not tables:
        faults.add("[attributes]", "holds no attribute; write at least one table, such as [attributes.sex]")
    found = []
    for name, values in tables:
        where = f"[attributes.{name}]"
        _check_source(name, raw["attributes"][name], where, faults)
        if "cross" in values:
            check_cross(name, dict(tables), faults)
            values = {"missing": "group", **values}
        if name in ("all", "cohort"):
            faults.add(where, f"the name '{name}' is taken by the report; choose another")
        _check_bins(values, where, faults)
        _check_attribute_numbers(values, where, faults)
        _check_categories(values, where, faults)
        values = {"missing": rule, "column": "", **values}
        if "bins" in values and "labels" not in values:
            values["labels"] = label_bins(values["bins"])
        values["groups"] = MappingProxyType(dict(values.get("groups", {})))
        found.append(AttributeTable(name=name, **values))
    return tuple(found)


def _check_source(name: str, given: Any, where: str, faults: Faults) -> None:
    """Note an attribute that neither stands in a column nor crosses others."""
    if isinstance(given, dict) and not {"column", "cross"} & set(given):
        faults.add(where, "the key 'column' is missing; add column = \"…\"")


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
    if labels is not None and (len(labels) not in (len(bins), len(bins) - 1) or len(labels) < 2):
        faults.add(
            f"{where} labels",
            f"{count_of(len(labels), 'label')} for {count_of(len(bins), 'bound')}; two bins or more need "
            "a label each: as many labels as bounds leave the last bin open-ended, one fewer ends it below "
            "the last bound",
        )
    if labels is not None and len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        faults.add(f"{where} labels", f"{show(twice)} stands twice; every bin needs its own label")
    for key in ("groups", "categories"):
        if key in values:
            faults.add(f"{where} {key}", "given together with bins; keep one of the two")


def _check_attribute_numbers(values: Mapping[str, Any], where: str, faults: Faults) -> None:
    """Note numbers that no bin would hold."""
    if values.get("numbers") and "bins" not in values and "cross" not in values:
        faults.add(f"{where} numbers", "given without bins; add bins, or rename values with groups")


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
