"""How is a table of the annex laid out, so that each cell can be read on paper and nothing is cut?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from auditbook.book.say.text import MISSING, count, number, share
from auditbook.columns import COLUMNS, TABLES, Column, Kind
from auditbook.report.content import Sheet

SMALL = 0.001
"""Smallest p-value that is written as a number."""
LETTERS = 133
"""Letters that the width of a page holds in the small print of a table."""
PADDING = 1.6
"""Letters that the room between two columns is worth."""
WIDEST = 30
"""Letters from which on a cell is broken into lines."""
WHOLE = 24
"""Letters up to which a cell is not broken."""
FOLDED = 15
"""Rows from which on a table is folded on the screen."""
MOST_CONTRASTS = 300
"""Contrasts up to which a page shows every one, beyond it those that decide: more are slow to read out."""
BRIEF = frozenset(
    (
        "contrasts pockets pocket_errors pocket_summary pocket_repairs models auc_differences "
        "hospital_contrasts pooled_contrasts withheld_bounds"
    ).split()
)
"""Tables of which paper holds the first part only, in the columns that come first."""
FIRST = (
    *("model", "map", "metric", "attribute", "quantity", "contrast", "pocket", "name", "group", "other"),
    *("estimate", "low", "high", "difference", "ci_low", "ci_high", "gap", "gap_low", "gap_high", "bin"),
    *(
        "standing",
        "p",
        "p_fail",
        "p_pass",
        "n",
        "n_other",
        "rate",
        "flagged",
        "direction",
        "status",
        "tested",
    ),
)
"""Columns that come first where paper does not hold all, in this order."""
DECIDES = ("model", "metric", "attribute")
VALUES = ("estimate", "value", "auc", "difference", "mean", "kappa")
"""Columns about which ``low`` and ``high`` are an interval."""


@dataclass(frozen=True)
class Heading:
    """What stands above a column."""

    text: str
    is_text: bool


@dataclass(frozen=True)
class Part:
    """A table, or as many columns of a wide one as a page holds, behind those that name its rows."""

    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    printed: int  # Rows that are printed; the others stand on the screen only
    file: str
    elsewhere: int = 0  # Rows that stand in the file and on no page
    more_columns: bool = False  # Whether further parts stand on the screen only

    @property
    def row_lines(self) -> float:
        """Lines that a row takes on paper, about."""
        lengths = [max(map(len, row), default=0) for row in self.rows]
        return 1 + sum(-(-max(length - WIDEST, 0) // 45) for length in lengths) / max(len(lengths), 1)

    @property
    def folded(self) -> bool:
        """Whether it is folded on the screen."""
        return len(self.rows) > FOLDED


@dataclass(frozen=True)
class Laid:
    """A column as it is shown."""

    heading: Heading
    cells: list[str]


def lay_sheet(sheet: Sheet, *, most_rows: int | None = None) -> tuple[Part, ...]:
    """Lay a sheet out as the parts in which it fits a page; rows beyond the most are not printed."""
    ordered = _drop_blank(_order(sheet))
    elsewhere = count_elsewhere(sheet)
    table, same = _part_constant(sheet.name, ordered.iloc[: len(ordered) - elsewhere])
    columns = _lay_columns(sheet.name, table)
    printed = count_printed(sheet) if most_rows is None else min(most_rows, count_printed(sheet))
    groups = _split(columns)
    brief = sheet.name in BRIEF and len(groups) > 1
    return tuple(
        Part(
            _caption(sheet, same, place, 1 if brief and not place else len(groups)),
            tuple(columns[i].heading for i in group),
            tuple(zip(*(columns[i].cells for i in group), strict=True)),
            0 if brief and place else printed,
            name_file(sheet.name),
            elsewhere,
            brief and not place,
        )
        for place, group in enumerate(groups)
    )


def _order(sheet: Sheet) -> pd.DataFrame:
    """Put first what paper holds: some columns of wide tables, and the contrasts that decide their cells."""
    table = sheet.table
    if sheet.name in BRIEF:
        first = [name for name in FIRST if name in table.columns]
        table = table[[*first, *(name for name in table.columns if name not in first)]]
    if sheet.name == "contrasts" and "p_fail" in table.columns:
        table = table.iloc[(_rank_contrasts(table) > 1).to_numpy().argsort(kind="stable")]
    return table.reset_index(drop=True)


def _rank_contrasts(table: pd.DataFrame) -> pd.Series:
    """Rank the contrasts of each cell, the one that speaks most for a failure first."""
    keys = [name for name in DECIDES if name in table.columns]
    return table.groupby(keys)["p_fail"].rank(method="first", na_option="bottom")


def count_printed(sheet: Sheet) -> int:
    """Count the rows that paper holds at most: of contrasts those that decide, of others all."""
    if sheet.name == "contrasts" and "p_fail" in sheet.table.columns:
        return int((_rank_contrasts(sheet.table) == 1).sum())
    return len(sheet.table)


def count_elsewhere(sheet: Sheet) -> int:
    """Count the rows that no page shows: of very many contrasts those that do not decide."""
    left = len(sheet.table) - count_printed(sheet)
    return left if len(sheet.table) > MOST_CONTRASTS else 0


def name_file(sheet: str) -> str:
    """Name the file of a run in which a sheet stands whole."""
    return f"results/{sheet}.csv" if sheet in TABLES else sheet


def _caption(sheet: Sheet, same: Sequence[str], place: int, parts: int) -> str:
    """Say what a table is; later parts of it say only which one they are."""
    title = _capital(sheet.title.replace("_", " ")).rstrip(".")
    if place:
        return f"{title}: part {place + 1} of {parts}"
    said = f"{title}. {sheet.caption}".strip()
    everywhere = f" In every row: {'; '.join(same)}." if same else ""
    return f"{said}{everywhere}" + (f" Part 1 of {parts}." if parts > 1 else "")


def _drop_blank(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out columns in which nothing stands."""
    held = [name for name in table.columns if not table[name].map(_is_blank).all()]
    return table[held] if len(table) else table


def _part_constant(sheet: str, table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Take out columns of text that say the same in every row, and say it once."""
    texts = [name for name in table.columns if _find_column(sheet, table[name]).kind == "text"]
    same = [name for name in texts if len(table) > 1 and len(set(table[name])) == 1]
    if len(same) == table.shape[1]:
        same = same[:-1]
    said = [f"{_title(str(name))} {' '.join(str(table[name].iloc[0]).split())}" for name in same]
    return table.drop(columns=same), said


def _title(name: str) -> str:
    return COLUMNS[name].title if name in COLUMNS else name.replace("_", " ")


def _lay_columns(sheet: str, table: pd.DataFrame) -> list[Laid]:
    """Write the columns, the ends of an interval in brackets behind its value."""
    intervals = find_intervals([str(name) for name in table.columns])
    ends = {name for pair in intervals.values() for name in pair}
    laid = []
    for name in (str(name) for name in table.columns if name not in ends):
        column = _find_column(sheet, table[name])
        cells = _write_column(table[name], column)
        if name in intervals:
            low, high = (_write_column(table[end], column) for end in intervals[name])
            cells = [_bracket(*three) for three in zip(cells, low, high, strict=True)]
        laid.append(Laid(Heading(_capital(column.title or column.name), _is_text(column)), cells))
    return laid


def find_intervals(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Find which columns are the ends of an interval about which other.

    Examples
    --------
    >>> find_intervals(["n", "tpr", "tpr_low", "tpr_high", "estimate", "low", "high"])
    {'tpr': ('tpr_low', 'tpr_high'), 'estimate': ('low', 'high')}
    """
    found = {name: (f"{name}_low", f"{name}_high") for name in names}
    for low, high in (("low", "high"), ("ci_low", "ci_high")):
        before = [name for name in names[: names.index(low)] if name in VALUES] if low in names else []
        found |= {name: (low, high) for name in before[-1:]}
    return {name: pair for name, pair in found.items() if set(pair) <= set(names)}


def _bracket(value: str, low: str, high: str) -> str:
    if value == MISSING or (low == MISSING and high == MISSING):
        return value
    if MISSING in (low, high):
        return f"{value} (from {low})" if high == MISSING else f"{value} (to {high})"
    return f"{value} ({low.removesuffix('%')} to {high.removesuffix('%')})"


def _is_blank(cell: object) -> bool:
    return cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell))


def _find_column(table: str, cells: pd.Series) -> Column:
    """Find how a column is shown: as its table declares it, else as the first that has one of that name."""
    name = str(cells.name)
    found = (TABLES[table].find(name) if table in TABLES else None) or COLUMNS.get(name)
    if (
        found
        and not found.family
        and (table in TABLES or found.kind == "text" or _guess_kind(cells) != "text")
    ):
        return found
    return Column(
        name, found.kind if found and found.family else _guess_kind(cells), "", name.replace("_", " ")
    )


def _guess_kind(cells: pd.Series) -> Kind:
    """Tell what a column that no table declares holds."""
    if pd.api.types.is_bool_dtype(cells):
        return "truth"
    if not pd.api.types.is_numeric_dtype(cells):
        return "text"
    known = cells.dropna()
    return "count" if len(known) and (known % 1 == 0).all() else "number"


def _is_text(column: Column) -> bool:
    return column.kind in ("text", "truth")


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def _write_column(cells: pd.Series, column: Column) -> list[str]:
    return [write_cell(cell, column) for cell in cells]


def write_cell(cell: object, column: Column) -> str:
    """Write a cell as the catalogue has its column; what is blank is a dash, and never a zero."""
    if _is_blank(cell):
        return MISSING
    if isinstance(cell, str):
        return " ".join(cell.split())
    if column.kind == "text":
        return str(cell)
    if column.kind == "truth":
        return "yes" if cell else "no"
    amount = float(cell)  # type: ignore[arg-type]
    if math.isinf(amount):
        return "no size will do" if column.name in ("n_star", "n_to_show") else "none"
    return _write_amount(amount, column)


def _write_amount(amount: float, column: Column) -> str:
    if column.name == "p" or column.name.startswith("p_"):
        return f"< {SMALL}" if amount < SMALL else number(amount, digits=3)
    if column.kind == "count":
        return count(amount)
    if column.kind == "share":
        return share(amount, digits=1 if column.digits is None else column.digits)
    return number(amount, digits=3 if column.digits is None else column.digits)


def _split(columns: Sequence[Laid]) -> list[list[int]]:
    """Share the columns out among parts that fit a page, each behind the leading columns of text."""
    widths = [_width(column) for column in columns]
    keys = _count_keys(columns)
    room = LETTERS - sum(widths[:keys])
    parts: list[list[int]] = [[]]
    used = 0.0
    for place in range(keys, len(columns)):
        if parts[-1] and used + widths[place] > room:
            parts.append([])
            used = 0.0
        parts[-1].append(place)
        used += widths[place]
    return [[*range(keys), *part] for part in parts]


def _count_keys(columns: Sequence[Laid]) -> int:
    """Count the leading columns of text, which name the rows: at most four, and never all columns."""
    texts = [column.heading.is_text for column in columns]
    return min(texts.index(False) if False in texts else len(texts), 4, max(len(columns) - 1, 0))


def _width(column: Laid) -> float:
    """Measure a column in letters: its longest word or cell, a long text broken into lines."""
    words = max(map(len, column.heading.text.split()), default=1)
    longest = max(map(len, column.cells), default=1)
    return max(words, min(longest, WIDEST) if column.heading.is_text else longest) + PADDING


def share_rows(tables: Sequence[tuple[int, float]], *, lines: float, fewest: int = 6) -> int | None:
    """Find how many rows a table may print at most for all to fit; None where all fit whole.

    Tables are given by their rows and the lines of a row.
    """
    if sum(rows * each for rows, each in tables) <= lines:
        return None
    most = max((rows for rows, _ in tables), default=0)
    caps = range(most, fewest, -1)
    return next((cap for cap in caps if sum(min(rows, cap) * each for rows, each in tables) <= lines), fewest)
