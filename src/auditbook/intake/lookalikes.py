"""Which names are probably two ways of writing one?"""

from collections.abc import Iterator
from itertools import combinations

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution


def warn_names(cohort: Cohort) -> Iterator[Caution]:
    """Point out groups whose names differ in blanks or capitals only."""
    for attribute in (item for item in cohort.attributes if not item.parts):
        where = f"[attributes.{attribute.name}]"
        for name in attribute.groups:
            if name != name.strip():
                yield Caution(
                    where, f"the group {name!r} has blanks at an end; recode it if they are not meant"
                )
        for one, other in combinations(sorted(attribute.groups, key=lambda name: name != name.strip()), 2):
            if " ".join(one.split()).casefold() == " ".join(other.split()).casefold():
                yield Caution(
                    where,
                    f"the groups {one!r} and {other!r} differ in blanks or capitals only; to join "
                    f"them: groups = {{ '{other}' = '{one}' }}",
                )
