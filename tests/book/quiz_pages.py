"""Read the quizzes of the book from their pages: questions, options, which are right, reasons and links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"^(`{3,})\{admonition\} (?P<question>[^\n]*)\n:class: quiz\n(?P<body>.*?)^\1\n+"
    r"^(`{3,})\{admonition\} Answers\n:class: dropdown\n(?P<answers>.*?)^\4$",
    re.M | re.S,
)
ITEM = re.compile(r"^\d+\. (.*?)(?=^\d+\. |^\S|\Z)", re.M | re.S)
RIGHT = "**Right.**"


@dataclass(frozen=True)
class Question:
    """One question of one page."""

    page: str
    number: int
    words: str
    options: tuple[str, ...]
    reasons: tuple[str, ...]
    after: str  # What stands below the reasons: the link back

    @property
    def right(self) -> tuple[int, ...]:
        """Places of the right options."""
        return tuple(place for place, reason in enumerate(self.reasons) if reason.startswith(RIGHT))


def list_pages() -> list[Path]:
    return sorted(path for folder in ("notebooks", "book") for path in (ROOT / folder).glob("*.md"))


def read_quizzes() -> list[Question]:
    return [
        _read(path.stem, number, found)
        for path in list_pages()
        for number, found in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8")), start=1)
    ]


def _read(page: str, number: int, found: re.Match[str]) -> Question:
    options, reasons = (_list_items(found[name]) for name in ("body", "answers"))
    after = ITEM.sub("", found["answers"]).strip()
    return Question(page, number, found["question"], options, reasons, after)


def _list_items(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in ITEM.findall(text + "\n"))
