"""Which pages has the book, and which of them are executed?"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from auditbook.errors import InputError, nearest
from auditbook.project import project_file


def read_toc() -> list[str]:
    """List the pages of the book in reading order, as paths below the top of the clone without suffix."""
    toc = yaml.safe_load(project_file("_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *_listed_files(toc["parts"])]


def _listed_files(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        if "file" in entry:
            yield entry["file"]
        yield from _listed_files(entry.get("chapters", []) + entry.get("sections", []))


def chapter_names() -> list[str]:
    """List the chapters that are executed, in reading order.

    Examples
    --------
    >>> "metrics" in chapter_names()
    True
    """
    return [page.removeprefix("notebooks/") for page in read_toc() if page.startswith("notebooks/")]


def chapter_source(name: str) -> Path:
    """Find the Markdown source of a chapter."""
    if name not in chapter_names():
        listed = ", ".join(chapter_names())
        raise InputError(
            f"the book has no chapter '{name}'{nearest(name, chapter_names())}; its chapters: {listed}"
        )
    return project_file("notebooks", f"{name}.md")


def chapter_code(name: str) -> str:
    """Return the code of a chapter's cells, one after the other, without their options."""
    text = chapter_source(name).read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", text, re.M | re.S)
    return "\n".join(
        re.sub(r"\A(---\n.*?^---\n|(:[^\n]*\n)+)", "", cell, flags=re.M | re.S) for cell in cells
    )
