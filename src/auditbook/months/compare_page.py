"""How is the comparison of two audits told: in lines of a terminal, and on a page?"""

from collections.abc import Iterator
from typing import Any

from auditbook.book.say.text import agree, escape, number, plural, share
from auditbook.errors import printable
from auditbook.months.compare import Comparison, list_turned
from auditbook.months.differences import LEVEL
from auditbook.months.setups import SetupChange
from auditbook.results import rows
from auditbook.verdicts import METRICS, name_bin

LISTED = 8
"""Things of a kind that a terminal lists; the rest is counted."""
UNPAIRED = (
    "both audits are of the same records, and the decisions on them were not read: intervals are those of "
    "independent audits, which is too wide; name both cohort files with --cohorts to pair the records"
)
PAIRED = "both audits are of the same records: changes are compared record by record, or unit by unit"
OTHERS = (
    "the audits are of other data: their records are taken to be independent, and patients who are in both "
    "make the intervals too wide or too narrow"
)


def tell_comparison(comparison: Comparison) -> list[str]:
    """Tell a terminal what has changed."""
    one, other = comparison.titles
    turned, beyond = list_turned(comparison), _beyond(comparison)
    lines = [f"compared: {one}, with {other}" if one != other else f"compared: two audits of {one}"]
    lines += _list_some("differs before any result", [_write_setup(change) for change in comparison.setups])
    lines.append(f"records: {_say_records(comparison)}")
    lines += _list_some(
        "conclusion", [_write_turned(row) for row in rows(turned)], none=_say_none_turned(comparison)
    )
    lines.append(f"foretold: {say_forecast(comparison)}")
    lines += _list_some(
        "beyond noise", [_write_difference(row) for row in beyond], none=_say_none_beyond(comparison)
    )
    return [printable(line) for line in lines]


def _say_none_turned(comparison: Comparison) -> str:
    """Say why no conclusion is listed: none has changed, or none is in both audits."""
    if len(comparison.cells):
        return "all that both audits have stand as they were"
    return "cannot be asked, since the audits have no metric of one attribute in common"


def _say_none_beyond(comparison: Comparison) -> str:
    """Say why no difference is listed: none is beyond noise, or none could be taken."""
    if len(comparison.differences):
        return "no rate and no gap that both audits have"
    return "cannot be asked, since no rate and no gap of a group is judged in both audits"


def _as_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _beyond(comparison: Comparison) -> list[Any]:
    table = comparison.differences
    return rows(table[table["beyond_noise"].astype(bool)].sort_values("p_board", kind="stable"))


def _list_some(head: str, found: list[str], *, none: str = "nothing") -> list[str]:
    """List some of many things, and count the rest."""
    if not found:
        return [f"{head}: {none}"]
    more = len(found) - LISTED
    return [
        *(f"{head}: {one}" for one in found[:LISTED]),
        *([f"{head}: {more} more on the page"] if more > 0 else []),
    ]


def _say_records(comparison: Comparison) -> str:
    """Say whether records are shared, and how that is known."""
    if not comparison.shared:
        return OTHERS
    return UNPAIRED if comparison.unpaired else PAIRED


def _write_setup(change: SetupChange) -> str:
    """Write one thing that differs."""
    if not change.before:
        return f"{change.what}: {change.after} came"
    if not change.after:
        return f"{change.what}: {change.before} went"
    if change.before == change.after:
        return f"{change.what}: changed"
    return f"{change.what}: {change.before}, now {change.after}"


def _write_turned(row: Any) -> str:
    """Write how the conclusion of a cell has changed."""
    parts = []
    for name, what in (("verdict", "verdict"), ("shown", "shown"), ("standing", "standing")):
        before, after = getattr(row, f"{name}_before"), getattr(row, f"{name}_after")
        if before != after:
            parts.append(f"{what} {before or 'blank'}, now {after or 'blank'}")
    chance = f"; {share(row.next_audit, digits=0)} was printed for another verdict" if row.foretold else ""
    return f"{row.model_after}, {METRICS[row.metric].title} by {row.attribute}: {'; '.join(parts)}{chance}"


def say_forecast(comparison: Comparison) -> str:
    """Say how many verdicts the first audit expected to turn, beside how many did."""
    found = comparison.forecast
    if comparison.shared:
        return "not asked, since the forecast is of other patients and both audits are of the same records"
    if not found.cells:
        return "no cell has a verdict at the same threshold in both audits and a forecast in the first"
    turned = agree(found.turned, "has", "have")
    side = found.turned - found.expected
    judged = "within" if abs(side) <= 2 * found.spread else "outside"
    were = "was" if round(found.expected, 1) == 1 else "were"
    told = (
        f"of {plural(found.cells, 'verdict')} {number(found.expected, digits=1)} {were} expected to turn, "
        f"and {found.turned} {turned}; that is {judged} two standard deviations of independent cells "
        f"({number(found.spread, digits=1)} each)"
    )
    if judged == "outside":
        within = "within" if abs(side) <= 2 * found.most else "outside"
        told += f", and {within} those of cells that turn together ({number(found.most, digits=1)})"
    return told


def _write_difference(row: Any) -> str:
    """Write one change with its interval."""
    what = METRICS[row.metric].title if row.metric else row.rate
    rate = f" ({row.rate})" if row.metric and row.rate != row.metric else ""
    where = f", {name_bin(int(row.bin))}" if row.bin == row.bin else ""
    who = f"{row.group} and {row.other}" if row.other else f"{row.group}{where}"
    word = (
        "factor"
        if row.kind == "gap" and row.metric and METRICS[row.metric].direction == "at_least"
        else "change"
    )
    return (
        f"{row.model_after}, {what}{rate} of {who} by {row.attribute}: {number(row.before)}, now "
        f"{number(row.after)}; {word} {number(row.change)} ({number(row.low)} to {number(row.high)}), "
        f"{_write_p(row.p_board)} over the board"
    )


def _write_p(p: float) -> str:
    """Write a p-value in a line that is escaped later."""
    return "p below 0.001" if p < 0.0005 else f"p {number(p)}"


def write_comparison_page(comparison: Comparison) -> str:
    """Write the page of a comparison, in Markdown; every word of a cohort is escaped."""
    one, other = (escape(title) for title in comparison.titles)
    parts = [f"# {one}, compared with {other}", f"Records: {escape(_say_records(comparison))}."]
    lists = (
        (
            "What differs before any result",
            [_write_setup(change) for change in comparison.setups],
            "Nothing.",
        ),
        (
            "Conclusions that have changed",
            [_write_turned(row) for row in rows(list_turned(comparison))],
            _as_sentence(_say_none_turned(comparison)),
        ),
        ("What was foretold", [say_forecast(comparison)], ""),
        (
            "Differences beyond noise",
            [_write_difference(row) for row in _beyond(comparison)],
            _as_sentence(_say_none_beyond(comparison)),
        ),
    )
    for head, lines, none in lists:
        body = "\n".join(f"- {escape(line)}" for line in lines) if lines else none
        parts.append(f"## {head}\n\n{body}")
    return "\n\n".join([*parts, *_explain(comparison)]) + "\n"


def _explain(comparison: Comparison) -> Iterator[str]:
    """Say what the numbers are."""
    number_of = len(comparison.differences)
    yield (
        "## How to read it\n\n"
        f"{plural(number_of, 'change')} of rates and gaps {agree(number_of, 'was', 'were')} looked at. Each "
        f"has a {share(LEVEL, digits=0)} interval of its own; beyond noise is what stays so when all changes "
        "of a model are taken together (Holm): the chance of any false one among them is at most "
        f"{share(1 - LEVEL, digits=0)}. All of them are in compare.csv, every cell in compare_cells.csv. A "
        "forecast of another verdict was made for an audit of as many other patients from the same "
        "population."
    )
