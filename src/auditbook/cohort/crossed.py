"""Which people stand at the crossing of several attributes, and what is wrong with a cross?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from auditbook.cohort.column_roles import MISSING_GROUP, check_groups
from auditbook.cohort.schema import AttributeTable
from auditbook.errors import nearest
from auditbook.records import Attribute
from auditbook.tables import Faults, Mask, show

JOINT = ", "
"""What stands between the names of the parts: "Black, Female"."""

_OF_COLUMNS = ("column", "groups", "categories", "bins", "labels", "missing_values", "numbers", "within_unit")


def check_cross(name: str, tables: Mapping[str, Mapping[str, Any]], faults: Faults) -> None:
    """Note what is wrong with the key ``cross`` of one attribute, seen beside those of the others."""
    where, values = f"[attributes.{name}]", tables[name]
    parts: Sequence[str] = values["cross"]
    for key in _OF_COLUMNS:
        if key in values:
            faults.add(f"{where} {key}", "given together with cross, whose groups are those of its parts")
    for told in _find_faults(name, parts, tables):
        faults.add(f"{where} cross", told)


def _find_faults(name: str, parts: Sequence[str], tables: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Say of each part why it cannot be crossed, and of all together whether they suffice."""
    plain = [other for other, values in tables.items() if "cross" not in values]
    allowed = f"allowed: {', '.join(plain) or 'none'}"
    twice = next((part for part in parts if parts.count(part) > 1), None)
    if twice is not None:
        yield f"names {show(twice)} twice; name each attribute once"
    elif len(parts) < 2:
        sample = ", ".join(f'"{other}"' for other in [*plain, "race", "sex"][:2])
        number = "one attribute" if parts else "no attribute"
        yield f"names {number}; it takes two or more, as cross = [{sample}]"
    for part in dict.fromkeys(parts):
        if part == name:
            yield f"names the attribute itself; {allowed}"
        elif part not in tables:
            yield f"{show(part)} is no attribute{nearest(part, plain)}; {allowed}"
        elif part not in plain:
            yield f"{show(part)} is a cross itself; name the attributes that it crosses; {allowed}"


def lacks_part(parts: Sequence[Mask]) -> Mask:
    """Tell which rows lack a group in at least one of the crossed attributes, shape (n,)."""
    return np.asarray(np.any(parts, axis=0))


def cross_attributes(
    table: AttributeTable, parts: Sequence[Attribute], *, max_groups: int, faults: Faults
) -> Attribute:
    """Give numbers to the crossings that hold records, and note what is wrong with these."""
    attribute = number_crossings(table, parts)
    missing = bool(attribute.groups) and attribute.groups[-1] == MISSING_GROUP
    order = list(attribute.groups[: len(attribute.groups) - missing])
    _check_names(table, order, faults)
    check_groups(
        table,
        order,
        what=f"the cross of {', '.join(table.cross[:-1])} and {table.cross[-1]}",
        found=order,
        missing=missing,
        max_groups=max_groups,
        faults=faults,
    )
    return attribute


def number_crossings(table: AttributeTable, parts: Sequence[Attribute]) -> Attribute:
    """Give numbers to the crossings that hold records, in the order of the parts and of their groups."""
    shape = tuple(len(part.groups) for part in parts)
    missing = lacks_part([_is_missing(part) for part in parts])
    place = np.ravel_multi_index([part.codes for part in parts], shape)
    held = np.unique(place[~missing])
    names = [
        tuple(part.groups[code] for part, code in zip(parts, codes, strict=True))
        for codes in zip(*np.unravel_index(held, shape), strict=True)
    ]
    order = [JOINT.join(name) for name in names]
    if missing.any():
        order, names = [*order, MISSING_GROUP], [*names, (MISSING_GROUP,) * len(parts)]
    codes = np.where(missing, len(held), np.searchsorted(held, place))
    return Attribute(table.name, tuple(order), codes.astype(np.int32), table.reference, tuple(names))


def _is_missing(part: Attribute) -> Mask:
    """Tell which records stand in the group of those without one."""
    if MISSING_GROUP not in part.groups:
        return np.zeros(len(part.codes), bool)
    return np.asarray(part.codes == part.groups.index(MISSING_GROUP))


def _check_names(table: AttributeTable, order: Sequence[str], faults: Faults) -> None:
    """Note two crossings that would bear one name, because a part's group holds a comma."""
    twice = next((name for name in order if order.count(name) > 1), None)
    if twice is not None:
        faults.add(
            f"[attributes.{table.name}] cross",
            f"two groups would both be called {show(twice)}; recode a group whose name holds {JOINT!r}",
        )
