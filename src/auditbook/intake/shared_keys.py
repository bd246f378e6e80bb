"""Which keys do several cautions' lines write, so that pasting one line over another undoes a cure?"""

import re
from collections import Counter
from collections.abc import Iterable

from auditbook.intake.caution import Caution

_WRITTEN = re.compile(
    r"(?:\[([\w.-]+)\] )?\b(exclude|include|late|columns|drop|metrics|groups|missing_values) = [\[{]"
)


def tell_shared_keys(cautions: Iterable[Caution]) -> str:
    """Say which keys several cautions' lines write, whose lists are to be joined; blank where none is.

    >>> tell_shared_keys([Caution("[features]", "'a' leaks", 'exclude = ["a"]')])
    ''
    """
    counts = Counter(key for caution in cautions for key in _list_keys(caution))
    shared = [f"{key} ({count:,} lines)" for key, count in counts.items() if count > 1]
    if not shared:
        return ""
    return f"a file has each key once; join the lists that these lines give: {', '.join(shared)}"


def _list_keys(caution: Caution) -> set[str]:
    """List the keys that a caution's line writes, each with its table."""
    named = re.match(r"\[([^\]]+)\]", caution.where)
    return {
        f"[{_find_table(table, key, named[1] if named else '')}] {key}"
        for table, key in _WRITTEN.findall(caution.cure)
    }


def _find_table(table: str, key: str, named: str) -> str:
    """Find the table that a key belongs to: as written, that of features, or that of the caution."""
    return table or ("features" if key in ("exclude", "include", "late") else named)
