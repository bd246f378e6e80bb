"""Which groups are too small, or lack too many records, for a verdict?"""

from collections.abc import Iterator
from dataclasses import replace
from math import floor

from auditbook.cohort import MISSING_GROUP, Cohort
from auditbook.evidence import list_shortfalls, write_shortfalls
from auditbook.intake.caution import Caution
from auditbook.records import Attribute

MISSING_SHARE = 0.10
"""Share of records without a value from which an attribute's missing ones are pointed out."""


def warn_missing(cohort: Cohort) -> Iterator[Caution]:
    """Point out attributes that many records lack."""
    dropped = {part.reason: part.rows for part in cohort.left_out}
    for attribute in cohort.attributes:
        rows, out_of = dropped.get(f"{attribute.name} missing", 0), cohort.rows_read
        if MISSING_GROUP in attribute.groups:
            rows = int((attribute.codes == attribute.groups.index(MISSING_GROUP)).sum())
            out_of = len(attribute.codes)
        if rows > MISSING_SHARE * out_of:
            yield Caution(
                f"[attributes.{attribute.name}]",
                f"missing in {rows:,} of {out_of:,} records "
                f"({rows / out_of:.0%}); a verdict about the others may not hold for these",
            )


def warn_support(cohort: Cohort) -> Iterator[Caution]:
    """Point out groups that are too small for a verdict in the audited part."""
    if cohort.continuous:
        return
    share = cohort.file.protocol.audit_share if cohort.file.panel.models else 1.0
    for attribute in cohort.attributes:
        thin = [
            text for code in range(len(attribute.groups)) if (text := _thin(cohort, attribute, code, share))
        ]
        if thin and attribute.parts:
            yield _warn_cross(attribute, thin, share)
        elif thin:
            part = f" in the {share:.0%} that is audited" if share < 1 else ""
            blank = any(text.startswith(f"{MISSING_GROUP} (") for text in thin)
            drop = 'leave blank cells out with missing = "drop", ' if blank else ""
            yield Caution(
                f"[attributes.{attribute.name}]",
                f"too few records{part} for every verdict: "
                f"{', '.join(thin)}; join groups with a recoding, {drop}or accept 'inconclusive' for every "
                "metric that needs them",
            )


def _warn_cross(attribute: Attribute, thin: list[str], share: float) -> Caution:
    """Say how many groups of a cross are too small, and name some."""
    groups = len(attribute.groups)
    part = f" in the {share:.0%} that is audited" if share < 1 else ""
    named = ", ".join(thin[:3]) + (", …" if len(thin) > 3 else "")
    return Caution(
        f"[attributes.{attribute.name}]",
        f"of {groups} groups {len(thin)} hold{'s' * (len(thin) == 1)} too few "
        f"records{part} for every verdict: {named}; recode the attributes that it crosses, or accept that "
        "these are left out of some comparisons",
    )


def _thin(cohort: Cohort, attribute: Attribute, code: int, share: float) -> str:
    """Describe a group's support where it is short of what is needed; blank where it is not."""
    inside = attribute.codes == code
    records, events = int(inside.sum()), int(cohort.outcome[inside].sum())
    held = {"records": records * share, "events": events * share, "non_events": (records - events) * share}
    short = {each.what: each for each in list_shortfalls(held, protocol=cohort.file.protocol)}
    scarce = next((short[what] for what in held if what in short), None)
    if scarce is None:
        return ""
    cut = replace(scarce, held=floor(10 * scarce.held) / 10)  # never up to what is needed
    told = write_shortfalls([cut])
    return f"{attribute.groups[code]} ({'about ' if share < 1 and scarce.held else ''}{told})"
