"""What stands on the first page of a model so that it stays one page, and what moves to the annex?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from auditbook.report.content import Calibrated, Finding, Head, ModelPage, Statement, Use
from auditbook.report.page_matrix import Matrix, lay_matrix

LINES = {"A4": 74.0, "Letter": 69.2}
"""Lines of text that a sheet of paper holds."""
COLUMN, SAID, ACTION, WHOLE, LARGE = 60, 64, 52, 122, 70
"""Letters in a line: of a column, of a finding and what to do, of both columns together, of the answer."""
DECISION = 7.5
"""Lines that the boxes to decide in take."""
TIGHTER = 0.9
"""By how much less is filled at each further try."""
LARGER = 1.3
"""How much more of the page letters of the larger size take."""
LONG_ANSWER = 280
"""Letters from which on the answer is written smaller."""
ABREAST = 3
"""What is said of the use stands so many abreast."""
FINDINGS, GROUPS = 3, 2
"""How many come before everything else."""
URGENT = ("late", "unjudged", "pockets")
"""The parts of which the first sentence comes before anything but the first findings, in this order."""
THEN = ("repair", "unknown", "free", "further")
"""Those of which it comes next, before further findings."""
LAST = "accuracy"
"""The part that comes when all others have their first."""


@dataclass(frozen=True)
class Room:
    """Which share of its paper is filled: less where a page has proved longer than foreseen."""

    pages: tuple[float, ...] = ()  # Of the first page of each model; 1 where none stands
    annex: float = 1.0

    def of(self, place: int) -> float:
        """Tell the share of the first page of a model."""
        return self.pages[place] if place < len(self.pages) else 1.0

    def tighten(self, lengths: Sequence[int], *, annex_too_long: bool) -> "Room":
        """Fill less of what was too long: first pages by the sheets that they took, and the annex."""
        pages = tuple(
            self.of(place) * (TIGHTER if length > 1 else 1.0) for place, length in enumerate(lengths)
        )
        return Room(pages, self.annex * (TIGHTER if annex_too_long else 1.0))


@dataclass(frozen=True)
class Block:
    """A part of a first page that is sentences."""

    key: str
    title: str
    texts: tuple[str, ...]
    left: tuple[str, ...] = ()  # What stands in the annex instead

    @property
    def lines(self) -> float:
        """Lines that it takes in a column."""
        return 1.5 + count_lines(self.texts) if self.texts else 0


@dataclass(frozen=True)
class FirstPage:
    """What stands on the first page of one model."""

    model: ModelPage
    matrix: Matrix
    findings: tuple[Finding, ...]
    findings_left: tuple[Finding, ...]
    drawn: bool  # Whether the rates of the findings are drawn
    calibration: tuple[Calibrated, ...]
    calibration_left: tuple[Calibrated, ...]
    blocks: tuple[Block, ...]
    whom: tuple[str, ...]  # Whose records were audited, and where there is room who was left out
    roomy: bool = False  # Whether all of it stands there in larger letters

    @property
    def columns(self) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
        """Share the parts out, in their order, so that the longer column is as short as can be.

        Matrix and calibration stand on top of the first.
        """
        blocks = [block for block in self.blocks if block.texts]
        heights = [block.lines for block in blocks]
        ways = product((0, 1), repeat=len(blocks))
        best = min(ways, key=lambda way: _longer(heights, way, self._figure_lines))
        first, second = (
            tuple(block for block, column in zip(blocks, best, strict=True) if column == side)
            for side in (0, 1)
        )
        return first, second

    @property
    def lines(self) -> float:
        """Lines that the findings and the longer column take."""
        left, right = (sum(block.lines for block in column) for column in self.columns)
        found = sum(_finding_lines(finding, drawn=self.drawn) for finding in self.findings)
        across = self.matrix.lines if self.matrix.wide else 0
        noted = 2.0 if self.left_note else 0
        whom = count_lines([" ".join(self.whom)], width=WHOLE) + 0.5
        return 1.4 + whom + found + across + max(left + self._figure_lines, right) + noted

    @property
    def _figure_lines(self) -> float:
        named = len(self.matrix.attributes) > 1
        rows = sum(-(-_count_letters(row, named=named) // 20) for row in self.calibration)
        calibration = 2.8 + 0.96 * rows + (1.8 if self.calibration_left else 0) if rows else 0
        return calibration + (0 if self.matrix.wide else self.matrix.lines)

    @property
    def left_note(self) -> str:
        """Say what the page had no room for; blank when all stands on it."""
        n = len(self.findings_left)
        found = [f"{n} finding{'' if n == 1 else 's'}"] if n else []
        parts = [f"{block.title} ({len(block.left)})" for block in self.blocks if block.left]
        hidden = 0 if self.calibration else len(self.calibration_left)
        parts += [f"What was predicted, and what happened ({hidden})"] if hidden else []
        opens = f"On the first page of the annex, for want of room here: {'; '.join(found + parts)}."
        told = [opens] if found + parts else []
        told += ["Who was left out stands in the annex."] if len(self.whom) < 2 else []
        return " ".join(told)


def _count_letters(row: Calibrated, *, named: bool) -> int:
    """Count the letters of a group, with its attribute where there are several."""
    return (
        len(row.group) + (len(row.attribute) + 3 if named else 0) + (len(row.where) + 2 if row.where else 0)
    )


def _longer(heights: Sequence[float], way: Sequence[int], above: float) -> float:
    """Measure the longer of two columns."""
    second = sum(height for height, column in zip(heights, way, strict=True) if column)
    return max(above + sum(heights) - second, second)


def _finding_lines(finding: Finding, *, drawn: bool) -> float:
    """Count the lines of a finding: its sentence, beside it its rates and what to do."""
    named = sum(-(-len(share.group) // 22) for share in finding.shares) if drawn else 0
    beside = 0.97 * named + -(-len(finding.action) // ACTION)
    return max(-(-len(finding.statement.text) // SAID), beside) + 0.65


def count_lines(texts: Iterable[str], *, width: int = COLUMN) -> float:
    """Count the lines that texts take, each with a little room below it."""
    return sum(-(-len(text) // width) + 0.2 for text in texts)


@dataclass(frozen=True)
class Choice:
    """Something that a first page may hold, by its place among its like."""

    kind: Literal["finding", "text", "group", "drawing", "left out"]
    place: int = 0
    block: str = ""


def fit_page(
    head: Head, model: ModelPage, questions: Mapping[str, str], *, paper: str, room: float = 1.0
) -> FirstPage:
    """Choose what stands on a first page: all of it, or what the paper holds.

    One thing after another joins, the most important first, where it still fits.
    """
    matrix, blocks, groups = lay_matrix(model.marks, questions), _list_blocks(model), _known_groups(model)
    whom = (head.population, head.left_out)
    space = room * (LINES[paper] - DECISION - _head_lines(head, model))
    page, chosen = _choose(model, matrix, blocks, groups, whom, frozenset()), frozenset[Choice]()
    for choice in _rank_choices(model, blocks, groups):
        fuller = _choose(model, matrix, blocks, groups, whom, chosen | {choice})
        if fuller.lines <= space:
            page, chosen = fuller, chosen | {choice}
    used = LINES[paper] - space / room + page.lines
    return replace(page, roomy=used * LARGER < room * LINES[paper] and not page.left_note)


def _choose(
    model: ModelPage,
    matrix: Matrix,
    blocks: Iterable[Block],
    groups: Sequence[Calibrated],
    whom: Sequence[Statement],
    chosen: frozenset[Choice],
) -> FirstPage:
    """Make the page that holds what is chosen, everything in its order."""
    findings = {place: Choice("finding", place) in chosen for place in range(len(model.findings))}
    rows = tuple(row for place, row in enumerate(groups) if Choice("group", place) in chosen)
    return FirstPage(
        model,
        matrix,
        tuple(model.findings[place] for place, here in findings.items() if here),
        tuple(model.findings[place] for place, here in findings.items() if not here),
        Choice("drawing") in chosen,
        rows,
        tuple(row for place, row in enumerate(groups) if Choice("group", place) not in chosen),
        tuple(_choose_texts(block, chosen) for block in blocks),
        tuple(said.text for said in whom[: 2 if Choice("left out") in chosen else 1]),
    )


def _choose_texts(block: Block, chosen: frozenset[Choice]) -> Block:
    here = [Choice("text", place, block.key) in chosen for place in range(len(block.texts))]
    texts = list(zip(block.texts, here, strict=True))
    return replace(
        block,
        texts=tuple(text for text, is_here in texts if is_here),
        left=tuple(text for text, is_here in texts if not is_here),
    )


def _rank_choices(
    model: ModelPage, blocks: Sequence[Block], groups: Sequence[Calibrated]
) -> Iterator[Choice]:
    """Name what a page may hold, the most important first."""
    findings = [Choice("finding", place) for place in range(len(model.findings))]
    rows = [Choice("group", place) for place in sorted(range(len(groups)), key=lambda i: -_stray(groups[i]))]
    texts = {
        block.key: [Choice("text", place, block.key) for place in range(len(block.texts))] for block in blocks
    }
    yield from findings[:FINDINGS]
    yield from (texts[key][0] for key in URGENT if key in texts)
    yield from rows[:GROUPS]
    yield from (texts[key][0] for key in THEN if key in texts)
    yield from (*findings[FINDINGS:], Choice("drawing"), Choice("left out"))
    yield from texts.get(LAST, ())
    longest = max(map(len, texts.values()), default=0)
    for place in range(1, longest):
        yield from (choices[place] for choices in texts.values() if place < len(choices))
    yield from rows[GROUPS:]


def _stray(row: Calibrated) -> float:
    """Say how far a group's scores lie from what happened."""
    if row.predicted is None or row.happened is None:
        return -1.0
    return abs(row.predicted - row.happened)


def _known_groups(model: ModelPage) -> tuple[Calibrated, ...]:
    return tuple(row for row in model.calibration if row.happened is not None or row.predicted is not None)


def _head_lines(head: Head, model: ModelPage) -> float:
    """Count the lines of head, answer and use."""
    use = head.use
    facts = count_lines([" · ".join([use.model, use.version, use.owner, use.period, head.outcome])], width=95)
    is_long = len(model.answer.text) > LONG_ANSWER
    answer = (1.5 if is_long else 1.75) * count_lines([model.answer.text], width=84 if is_long else LARGE)
    told = [1 + count_lines([text], width=36) for _, text in list_use(use)]
    rows = sum(max(told[place : place + ABREAST]) for place in range(0, len(told), ABREAST))
    return 3.2 + facts + answer + rows


def list_use(use: Use) -> list[tuple[str, str]]:
    """List what the cohort file says of the use of a model, each with its label."""
    told = (
        ("For", use.intended_use),
        ("Used by", use.users),
        ("Being selected means", use.selected_means),
        ("Harm", use.harm),
        ("Not for", use.out_of_scope),
        ("Decides by", f"{use.primary_metric}: {use.why}" if use.why else use.primary_metric),
    )
    return [(label, text) for label, text in told if text.strip(" :")]


def _list_blocks(model: ModelPage) -> tuple[Block, ...]:
    """List the parts that are sentences, in their order, without those that have nothing to say."""
    pockets = (*(note.statement for note in model.pockets), model.pockets_said)
    told = (
        ("further", "More that was shown", (model.further,)),
        ("unjudged", "Who cannot be judged", model.unjudged),
        ("pockets", "Pockets of patients", pockets),
        ("free", "A model without any error", model.without_error),
        ("repair", "What a repair would cost", model.repair),
        ("late", "Known too late", (model.late,)),
        ("unknown", "What is not known", model.unknown),
        ("accuracy", "How well it predicts", (model.accuracy,)),
    )
    blocks = (Block(key, title, _read(statements)) for key, title, statements in told)
    return tuple(block for block in blocks if block.texts)


def _read(statements: Iterable[Statement | None]) -> tuple[str, ...]:
    return tuple(said.text for said in statements if said is not None and said.text)
