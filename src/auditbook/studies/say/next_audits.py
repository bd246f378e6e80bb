"""Does the chance that the next audit ends otherwise come true, in simulated audits?"""

from typing import Any

import pandas as pd

from auditbook.book.say.text import count, join_words, plural, read_layout, share
from auditbook.results import rows

BAND_COLUMNS = read_layout("studies", "next_audits.bands")
FIXED_COLUMNS = read_layout("studies", "next_audits.fixed")
NUMBERS = {2: "two", 5: "five"}


def describe_promise(farthest: pd.DataFrame) -> str:
    """Say how far from the printed chance the realised one lies, in the worst band of each family."""
    return " ".join(_write_farthest(row) for row in rows(farthest))


def _write_farthest(row: Any) -> str:
    side = "more" if row.off > 0 else "fewer"
    return (
        f"With {NUMBERS[row.groups]} groups, in the {plural(row.bands, 'band')} of ten points that "
        f"{'hold' if row.bands > 1 else 'holds'} enough cells, printed and realised lie furthest apart where "
        f"{share(row.printed, digits=0)} is printed: {share(row.realised, digits=0)} came true, "
        f"{_write_points(row.off)} {side} (standard error {_write_points(row.error)}, "
        f"{count(row.cells)} cells)."
    )


def _write_points(part: float) -> str:
    points = f"{100 * abs(part):.1f}"
    return f"{points} point{'s' * (points != '1.0')}"


def describe_fixed(fixed: pd.DataFrame) -> str:
    """Say of which fixed truths the printed chance is furthest off."""
    worst = fixed.loc[fixed["off"].abs().sort_values(ascending=False).index].head(3)
    told = [
        f"*{row.world}* ({row.metric}), {share(row.printed, digits=0)} is printed on average and "
        f"{share(row.realised, digits=0)} come true"
        for row in rows(worst)
    ]
    return f"Furthest off are these: in {join_words([told[0], *(f'in {part}' for part in told[1:])])}."
