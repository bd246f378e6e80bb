"""Which outcome is allowed and still deserves a second look?"""

from collections.abc import Iterator

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution


def warn_outcome(cohort: Cohort) -> Iterator[Caution]:
    """Point out an outcome that can be described and not audited."""
    if cohort.continuous:
        yield Caution(
            "[outcome] type",
            "group metrics need an event, so that audit and run refuse a continuous outcome; "
            'give event = "> 3" or the like',
        )
