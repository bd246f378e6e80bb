"""What does a tally hold of one of its models alone?"""

from dataclasses import fields, replace

from auditbook.evidence.tally import TalliedAttribute, TalliedParts, TalliedUnits, Tally

SHARED = ("number", "keys", "single", "bundles")
"""What is known of units whatever the model."""


def take_model(tally: Tally, model: str) -> Tally:
    """Take one model of a tally."""
    place = [one.model for one in tally.models].index(model)
    attributes = tuple(_take(attribute, place) for attribute in tally.attributes)
    return replace(tally, models=(tally.models[place],), attributes=attributes)


def _take(attribute: TalliedAttribute, place: int) -> TalliedAttribute:
    """Take one model of an attribute; who selects a record beside others is then unknown."""
    units = None if attribute.units is None else _take_units(attribute.units, place)
    sites, fine = _take_parts(attribute.sites, place), attribute.fine[place : place + 1]
    return replace(attribute, sites=sites, fine=fine, units=units, patterns=None)


def _take_parts(parts: TalliedParts, place: int) -> TalliedParts:
    """Take one model of some parts."""
    return TalliedParts(*(getattr(parts, one.name)[place : place + 1] for one in fields(parts)))


def _take_units(units: TalliedUnits, place: int) -> TalliedUnits:
    """Take one model of the units."""
    names = [one.name for one in fields(units) if one.name not in SHARED]
    own = {name: getattr(units, name)[place : place + 1] for name in names}
    return replace(units, **own, bundles=_take_parts(units.bundles, place))
