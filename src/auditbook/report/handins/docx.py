"""What does a bias assessment say that somebody has to sign?

It serves 45 CFR 92.210 (b) and (c), which ask for reasonable efforts to identify and to mitigate, and two
elements of the guidance of the Joint Commission and CHAI of 17 September 2025, the fourth and the sixth.
Neither prescribes a form. The names of the elements are those that summaries of the guidance give.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from auditbook.report.content import QUESTIONS, Head, MarkName, ModelPage, Report, Statement
from auditbook.report.handins.office_files import settle_bytes
from auditbook.report.handins.text_parts import (
    LINE,
    add_boxes,
    add_heading,
    add_list,
    add_page_numbers,
    add_paragraph,
    add_table,
    start_document,
)
from auditbook.results import Run

if TYPE_CHECKING:
    from docx.document import Document

TITLE = "Bias assessment of a decision support tool"
ABSENT = "not provided by this audit"
SERVES = (
    "For 45 CFR 92.210 (Section 1557): reasonable efforts (b) to identify tools whose inputs measure race, "
    "color, national origin, sex, age or disability, and (c) to mitigate the risk of discrimination from "
    "their use. For the Joint Commission's and CHAI's guidance The Responsible Use of AI in Healthcare: "
    "element 4, ongoing quality monitoring, and element 6, risk and bias assessment. What an audit cannot "
    "know is left to those who sign."
)
MARKS: Mapping[MarkName, str] = MappingProxyType(
    {
        "fails": "shown to fail",
        "open": "open",
        "partly": "passes for those compared",
        "passes": "shown to pass",
        "unjudged": "cannot be judged",
    }
)
DECISIONS = (
    "Used as it is",
    "Used with the measures below",
    "Not used for the groups named below",
    "Not used until audited again",
)
SIGNERS = ("Owner of the tool", "Clinical lead", "Compliance (civil rights)", "Governance committee")


def write(run: Run, report: Report, path: Path) -> None:
    """Write the assessment of every model, each from a new page on."""
    document = start_document(f"{TITLE}: {report.head.title}", report.head.use.owner)
    for place, page in enumerate(report.pages):
        if place:
            document.add_page_break()
        _assess(document, report, page)
    if not report.pages:
        _open(document, report.head, "")
        add_paragraph(document, "No model of this run could be looked at.")
        _add_signatures(document)
    add_page_numbers(document, f"{TITLE}; results {report.head.hash or 'without a hash'}")
    document.save(str(path))
    settle_bytes(path)


def _assess(document: "Document", report: Report, page: ModelPage) -> None:
    """Write the assessment of one model."""
    _open(document, report.head, page.model)
    add_heading(document, "Inputs that measure a protected characteristic: § 92.210 (b)")
    _add_inputs(document, report, page)
    add_heading(document, "What was found: § 92.210 (b), element 6")
    _add_findings(document, page)
    _add_marks(document, page)
    add_heading(document, "Who cannot be judged, and what is not known: element 6")
    add_list(document, _texts(page.unjudged), most=2)
    add_list(document, _texts(page.unknown), most=4)
    add_heading(document, "Efforts to mitigate: § 92.210 (c)")
    add_list(document, _texts(page.repair) or [f"What a repair would cost: {ABSENT}."], most=2)
    _add_decision(document)
    add_heading(document, "From now on: element 4")
    add_paragraph(document, f"To compare the next audit with: {page.accuracy.text}")
    add_paragraph(document, f"Who watches the tool, how often, and what stops its use: {LINE}{LINE}")
    _add_signatures(document)


def _open(document: "Document", head: Head, model: str) -> None:
    """Say what is assessed, for which duty, and who answers for it."""
    add_heading(document, TITLE, 0)
    add_paragraph(document, SERVES, small=True)
    lines = [(name, text or ABSENT) for name, text in _describe_tool(head, model)]
    add_table(
        document, ("About the tool", "What is known"), lines, title="The tool and its use", widths=(1.5, 5.4)
    )


def _describe_tool(head: Head, model: str) -> list[tuple[str, str]]:
    """List what is known of the tool, its use and the audited people; blank where nobody has said it."""
    use = head.use
    named = " ".join(part for part in (use.model, use.version) if part)
    sites = f", {head.sites:,} sites" if head.sites > 1 else ""
    return [
        ("Tool and version", f"{named} ({model})" if named and model else named or model),
        ("Owner", use.owner),
        ("Users", use.users),
        ("Intended use", use.intended_use),
        ("Not to be used for", use.out_of_scope),
        ("Selected means", use.selected_means),
        ("Possible harm", use.harm),
        ("Outcome", head.outcome),
        ("Data", f"{head.title}; {head.records:,} audited records{sites}"),
        ("Period", use.period),
    ]


def _add_inputs(document: "Document", report: Report, page: ModelPage) -> None:
    """Say whether audited attributes are among the inputs, and what forbids a use."""
    known = [text for section in report.annex if section.key == "features" for text in section.statements]
    add_paragraph(document, " ".join(_texts(known)) or f"The inputs of the tool: {ABSENT}.")
    if page.late:
        add_paragraph(document, page.late.text)
    add_paragraph(document, f"Whether another input stands in for a protected characteristic: {ABSENT}.")


def _add_findings(document: "Document", page: ModelPage) -> None:
    """Say what was shown to fail, and what to do about it."""
    add_paragraph(document, page.answer.text, strong=True)
    lines = [(finding.statement.text, finding.action) for finding in page.findings]
    if lines:
        title = "What was shown, and what to do"
        add_table(document, ("What was shown", "What to do"), lines, title=title, widths=(4.9, 2.0))
    if page.further:
        add_paragraph(document, page.further.text)
    flagged = _texts(note.statement for note in page.pockets)
    add_list(document, flagged or _texts([page.pockets_said] if page.pockets_said else []), most=2)


def _add_marks(document: "Document", page: ModelPage) -> None:
    """Lay out what was shown of every question and attribute."""
    found = {(mark.attribute, mark.question): MARKS[mark.mark] for mark in page.marks}
    attributes = list(dict.fromkeys(mark.attribute for mark in page.marks))
    if not attributes:
        return
    asked = [question for question in QUESTIONS if any(mark.question == question for mark in page.marks)]
    header = ("Attribute", *(QUESTIONS[question] for question in asked))
    lines = [(name, *(found.get((name, question), ABSENT) for question in asked)) for name in attributes]
    width = 5.7 / max(len(asked), 1)
    add_table(document, header, lines, title="Questions by attribute", widths=(1.2, *(width for _ in asked)))


def _add_decision(document: "Document") -> None:
    """Leave room for what is decided: that is nobody's but the organization's."""
    add_boxes(document, DECISIONS)
    header = ("Measure", "For whom", "Who", "Until")
    blank = [("", "", "", "")] * 2
    add_table(document, header, blank, title="Measures decided", widths=(3.3, 1.4, 1.2, 1.0))


def _add_signatures(document: "Document") -> None:
    """Leave lines to sign on."""
    add_heading(document, "Signatures")
    lines = [(role, "", "", "") for role in SIGNERS]
    header = ("Role", "Name", "Date", "Signature")
    add_table(document, header, lines, title="Signatures", widths=(1.8, 1.9, 1.0, 2.2))


def _texts(statements: Iterable[Statement]) -> list[str]:
    return [statement.text for statement in statements]
