"""The bias assessment says what the report says, leaves room for what is not the audit's, and is short."""

import zipfile
from dataclasses import replace

import docx
import pytest
from docx.oxml.ns import qn

from auditbook.report import build_report
from auditbook.report.content import Finding, Mark, Statement
from auditbook.report.handins import docx as assessment
from auditbook.report.handins.text_parts import clean

MOST_WORDS = 900
"""Two pages hold more at this size of letters; no test can count the pages of a word processor."""


@pytest.fixture(scope="module", params=["two_groups", "nine_groups", "decisions", "nan"])
def filled(request, runs, tmp_path_factory):
    """A run, its report, and its bias assessment."""
    run = runs[request.param]
    report, path = build_report(run), tmp_path_factory.mktemp(request.param) / "assessment.docx"
    assessment.write(run, report, path)
    return run, report, path


def read_texts(path):
    document = docx.Document(str(path))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return [paragraph.text for paragraph in document.paragraphs] + cells


def write_one(report, tmp_path, **changes):
    """Write the assessment of the first model, with something changed in its page."""
    page = replace(report.pages[0], **changes)
    assessment.write(None, replace(report, pages=(page,)), tmp_path / "one.docx")
    return read_texts(tmp_path / "one.docx")


def test_every_model_s_answer_and_findings_stand_in_it_word_for_word(filled):
    _, report, path = filled
    texts = read_texts(path)
    for page in report.pages:
        assert clean(page.answer.text) in texts
        assert {clean(finding.statement.text) for finding in page.findings} <= set(texts)
        assert {clean(finding.action) for finding in page.findings} <= set(texts)


def test_what_nobody_has_said_is_not_provided_and_nothing_is_none_or_nan(filled):
    _, report, path = filled
    texts = read_texts(path)
    assert texts.count(assessment.ABSENT) >= 5 * len(report.pages)
    words = {word.strip(".,;:()") for text in texts for word in text.split()}
    assert not words & {"None", "nan", "NaN", "[]", "()"}


def test_it_is_short_enough_for_two_pages_a_model(filled):
    _, report, path = filled
    words = sum(len(text.split()) for text in read_texts(path))
    assert words <= MOST_WORDS * len(report.pages)


def test_tables_have_a_name_and_a_header_that_repeats(filled):
    _, _, path = filled
    for table in docx.Document(str(path)).tables:
        assert table._tbl.tblPr.find(qn("w:tblCaption")).get(qn("w:val"))
        assert table.rows[0]._tr.trPr.find(qn("w:tblHeader")) is not None
        assert all(cell.text for cell in table.rows[0].cells)
        assert all(row._tr.trPr.find(qn("w:cantSplit")) is not None for row in table.rows)


def test_headings_go_down_one_by_one(filled):
    _, report, path = filled
    styles = [paragraph.style.name for paragraph in docx.Document(str(path)).paragraphs]
    assert styles.count("Title") == len(report.pages)
    assert {style for style in styles if style.startswith("Heading")} == {"Heading 1"}


def test_there_are_lines_to_sign_for_every_model(filled):
    _, report, path = filled
    texts = read_texts(path)
    for role in assessment.SIGNERS:
        assert texts.count(role) == len(report.pages)


def test_the_properties_name_the_audit_and_its_owner_and_the_language(filled, tmp_path):
    _, report, _ = filled
    owned = replace(report, head=replace(report.head, use=replace(report.head.use, owner="Station 3")))
    assessment.write(None, owned, tmp_path / "owned.docx")
    document = docx.Document(str(tmp_path / "owned.docx"))
    properties = document.core_properties
    assert properties.title == clean(f"{assessment.TITLE}: {report.head.title}")
    assert (properties.author, properties.language) == ("Station 3", "en-US")
    assert (properties.comments, properties.last_modified_by) == ("", "")
    assert document.styles["Normal"].element.rPr.find(qn("w:lang")).get(qn("w:val")) == "en-US"


def test_the_same_run_gives_the_same_bytes_without_an_hour_or_a_path(filled):
    run, report, path = filled
    before = path.read_bytes()
    assessment.write(run, report, path)
    assert path.read_bytes() == before
    with zipfile.ZipFile(path) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        texts = b"".join(parts.read(name) for name in parts.namelist())
        core = parts.read("docProps/core.xml")
    assert str(run.folder).encode() not in texts
    assert b"python-docx" not in texts
    assert b"<dcterms:" not in core


def test_marks_are_written_in_the_words_of_the_report(runs, tmp_path):
    report = build_report(runs["two_groups"])
    marks = tuple(
        Mark(question, "sex", mark, Statement("why"))
        for question, mark in zip(
            ("found", "alarms", "selected", "meaning", "risk"),
            ("fails", "open", "partly", "passes", "unjudged"),
            strict=True,
        )
    )
    texts = write_one(report, tmp_path, marks=marks)
    place = texts.index("sex")
    assert texts[place + 1 : place + 6] == [
        "shown to fail",
        "open",
        "passes for those compared",
        "shown to pass",
        "cannot be judged",
    ]


def test_a_finding_stands_beside_what_to_do(runs, tmp_path):
    report = build_report(runs["two_groups"])
    finding = Finding(
        **{"model": "m", "attribute": "sex", "metrics": ("EOPP",), "question": "found", "shares": ()},
        **{"gap": 0.2, "gap_low": 0.1, "gap_high": 0.3, "threshold": 0.1, "affected": 9.0},
        **{"error_free": 0.0, "error_free_fails": False},
        statement=Statement("Of 100 women 60 are found,\nof men 80."),
        action="Lower the threshold?",
    )
    texts = write_one(report, tmp_path, findings=(finding,))
    place = texts.index("Of 100 women 60 are found, of men 80.")
    assert texts[place + 1] == "Lower the threshold?"


def test_a_long_list_ends_with_how_many_more_there_are(runs, tmp_path):
    report = build_report(runs["two_groups"])
    unjudged = tuple(Statement(f"Group {place} cannot be judged.") for place in range(5))
    texts = write_one(report, tmp_path, unjudged=unjudged)
    place = texts.index("Group 1 cannot be judged.")
    assert texts[place + 1] == "And 3 more, in the report."


def test_without_a_model_there_is_still_a_form_to_sign(runs, tmp_path):
    report = replace(build_report(runs["two_groups"]), pages=())
    assessment.write(None, report, tmp_path / "none.docx")
    texts = read_texts(tmp_path / "none.docx")
    assert "No model of this run could be looked at." in texts
    assert assessment.SIGNERS[0] in texts


def test_signs_that_no_document_can_hold_are_shown_as_lost():
    assert clean("a\x00b\x07 \n c \ud800d") == "a\ufffdb\ufffd c \ufffdd"


def test_letters_of_every_alphabet_stay(runs, tmp_path):
    report = build_report(runs["two_groups"])
    texts = write_one(report, tmp_path, answer=Statement("Größe & <b>Ångström</b> 日本"))
    assert "Größe & <b>Ångström</b> 日本" in texts
