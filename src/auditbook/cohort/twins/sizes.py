"""How many records may a twin have? The same check for every twin that is drawn record by record."""

from auditbook.errors import InputError

SMALLEST_SIZE = 1_000
LARGEST_SIZE = 1_000_000


def check_size(name: str, *, rows: object, seed: object) -> None:
    """Refuse sizes and seeds that a twin is not made for, all faults at once."""
    faults = []
    if isinstance(rows, bool) or not isinstance(rows, int) or not SMALLEST_SIZE <= rows <= LARGEST_SIZE:
        faults.append(
            f"{name}: rows is {rows!r}; give a whole number from {SMALLEST_SIZE:,} to {LARGEST_SIZE:,}"
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        faults.append(f"{name}: seed is {seed!r}; give a whole number, 0 or more")
    if faults:
        raise InputError(*faults)
