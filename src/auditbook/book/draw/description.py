"""What does a figure show this time, in words for those who do not see it?"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from IPython import get_ipython
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text

from auditbook.book.draw.glyphs import INVISIBLE, lend_fonts, name_numbers, write_key

MOST_NAMES = 12
MOST_PANELS = 4


def describe_when_shown() -> None:
    """Let a notebook keep, beside the picture of every figure, what it shows in words."""
    shell = get_ipython()
    if shell is None:
        return
    pictures = shell.display_formatter.formatters["image/png"]
    draw = pictures.type_printers.get(Figure)
    if draw is not None and getattr(draw, "func", None) is not _draw_with_words:
        pictures.for_type(Figure, partial(_draw_with_words, draw))


def _draw_with_words(draw: Callable[[Figure], str], figure: Figure) -> tuple[str, dict[str, str]]:
    """Draw a figure as the notebook does, with its description, and print what numbers in it stand for."""
    lend_fonts(figure)
    key = write_key("\n".join(text.get_text() for text in figure.findobj(Text)))
    if key:
        print(key)
    return draw(figure), {"alt": describe_figure(figure)}


def describe_figure(figure: Figure) -> str:
    """Say what was drawn: names on the axes, what is measured and between which values, and the key."""
    panels = [text for ax in figure.axes if ax.axison and (text := _describe_axes(ax))]
    more = len(panels) - MOST_PANELS
    tail = [f"There are {more} more panels." if more > 1 else "There is one more panel."] if more > 0 else []
    return " ".join([*panels[:MOST_PANELS], *tail])


def _describe_axes(ax: Axes) -> str:
    """Describe one pair of axes: rows, columns, key."""
    parts = [_describe_axis("Rows", ax.yaxis, ax.dataLim.intervaly)]
    parts.append(_describe_axis("Columns", ax.xaxis, ax.dataLim.intervalx))
    key = ax.get_legend()
    if key is not None:
        parts.append(f"Key: {_list_names(text.get_text() for text in key.get_texts())}.")
    said = " ".join(part for part in parts if part)
    title = _one_line(ax.get_title())
    return f"{title}: {said}" if title and said else said


def _describe_axis(kind: str, axis: Axis, ends: Sequence[float]) -> str:
    """Say the names along an axis, or what it measures and between which values something is drawn."""
    texts = [_one_line(label.get_text()) for label in axis.get_ticklabels()]
    if any(text and not text.startswith("$") and any(map(str.isalpha, text)) for text in texts):
        return f"{kind}: {_list_names(texts)}."
    what = _one_line(axis.get_label_text())
    low, high = min(ends), max(ends)
    if not what or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"Drawn of {what}: {low:.3g} to {high:.3g}."


def _one_line(text: str) -> str:
    """Write a label as it reads: without line breaks and signs that shield it, names in place of numbers."""
    plain = " ".join(text.replace(r"\$", "$").replace(INVISIBLE, "").split())
    for number, name in name_numbers(plain).items():
        plain = plain.replace(number, name)
    return plain


def _list_names(texts: Iterable[str]) -> str:
    """List names as they are drawn, the tail of a long list counted."""
    names = [name for text in texts if (name := _one_line(text))]
    tail = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return "; ".join([*names[:MOST_NAMES], *tail])
