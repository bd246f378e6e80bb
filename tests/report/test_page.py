"""The report as a page: every statement, escaped, alone in its file, with a decision to sign."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from auditbook.report import QUESTIONS, build_report, make_fragment, make_page
from auditbook.report.content import Finding, Report, Share, Statement
from auditbook.report.page_annex import list_put_off
from auditbook.report.page_matrix import LEGEND, draw_calibrated, draw_shares, lay_matrix
from auditbook.report.page_view import fit_page
from runs_fixture import KINDS

VOID = {"meta", "br", "hr", "path", "rect", "circle", "col"}
SPOILT = "<script>alert(1)</script>\"'</style>{{ 7 * 7 }} \u202eabc"


class Reader(HTMLParser):
    """Reads a page: what stands in it, what its elements are, whether each is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return squeeze(" ".join(self.words))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def list_statements(report: Report) -> list[str]:
    """List every sentence of a report that is told to a reader."""
    told = [report.head.left_out, report.head.population, *report.comparison]
    for page in report.pages:
        told += [page.answer, page.further, page.pockets_said, page.late, page.accuracy]
        told += [*page.without_error, *page.unjudged, *page.repair, *page.unknown]
        told += [one.statement for one in (*page.findings, *page.marks, *page.pockets)]
        told += [Statement(one.action) for one in page.findings]
    told += [said for section in report.annex for said in section.statements]
    return [squeeze(said.text) for said in told if said is not None and said.text]


@pytest.fixture(scope="module")
def reports(runs) -> dict[str, Report]:
    return {kind: build_report(runs[kind]) for kind in KINDS}


@pytest.fixture(scope="module")
def pages(reports) -> dict[str, Reader]:
    return {kind: Reader(make_page(report)) for kind, report in reports.items()}


def make_finding(place: int = 0, *, text: str = "", group: str = "Black") -> Finding:
    """Make a finding as long as real ones are."""
    said = text or (
        f"Finding {place}: of 100 people with the event, 34 (95% interval 28 to 41; n = 412) are found in "
        f"{group}, and 52 (49 to 55; n = 2,310) in White. The gap of 0.18 (bounds 0.11 to 0.25), where at "
        "most 0.10 is allowed, is shown to fail (EOPP). About 74 people of this audit are concerned."
    )
    shares = (Share(group, 0.34, 0.28, 0.41, 412), Share("White", 0.52, 0.49, 0.55, 2310))
    action = f"Do {place}: do not use the decision for this group until its threshold is repaired."
    return Finding(
        "m",
        "race",
        ("EOPP",),
        "found",
        shares,
        0.18,
        0.11,
        0.25,
        0.1,
        74.0,
        0.0,
        False,
        Statement(said),
        action,
    )


def with_page(report: Report, **changes: object) -> Report:
    """Change what stands on the first page of the first model."""
    return replace(report, pages=(replace(report.pages[0], **changes), *report.pages[1:]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_statement_is_on_the_page(reports, pages, kind):
    lacking = [text for text in list_statements(reports[kind]) if text not in pages[kind].text]
    assert lacking == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_one_document_whose_elements_are_closed_and_whose_headings_are_in_order(pages, kind):
    page = pages[kind]
    assert page.open == []
    assert page.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched_and_nothing_runs(reports, kind):
    html = make_page(reports[kind])
    page = Reader(html)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|file:", html.replace("</", ""))
    assert not {tag for tag, _ in page.elements} & {"script", "img", "link", "iframe", "a", "object", "form"}
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_reads_nan_none_or_empty_brackets(pages, kind):
    words = pages[kind].text
    assert not re.search(r"\b(nan|None|inf|NaT)\b|\(\)|\[\]", words)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_have_a_caption_and_scopes_and_figures_say_what_they_show(pages, kind):
    page = pages[kind]
    assert len(page.all("table")) == len(page.all("caption")) == len(page.all("thead"))
    assert all(cell.get("scope") in ("col", "row") for cell in page.all("th"))
    figures = page.all("svg")
    assert all(
        one.get("aria-label") if one.get("role") == "img" else one.get("aria-hidden") for one in figures
    )
    regions = [one for one in page.all("div") if "ab-scroll" in (one.get("class") or "").split()]
    assert all(one["tabindex"] == "0" and one["role"] == "region" and one["aria-label"] for one in regions)


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_has_a_page_with_a_decision_to_sign(reports, pages, kind):
    assert pages[kind].text.count("Decision on ") == len(reports[kind].pages)
    assert pages[kind].text.count("Do not use it") == len(reports[kind].pages)
    assert pages[kind].text.count("Signature") == len(reports[kind].pages)


def test_names_of_a_cohort_are_text_and_never_markup_or_a_template(reports):
    report = reports["two_groups"]
    head = replace(report.head, title=SPOILT, use=replace(report.head.use, model=SPOILT, harm=SPOILT))
    spoilt = with_page(replace(report, head=head), model=SPOILT, findings=(make_finding(group=SPOILT),))
    page = Reader(make_page(spoilt))
    assert page.open == []
    assert page.all("script") == []
    assert len(page.all("style")) == 1
    assert page.text.count(squeeze(SPOILT)) > 5
    assert "49" not in make_fragment(spoilt).split("7 * 7")[1][:3]


def test_the_style_of_a_fragment_touches_nothing_outside_it(reports):
    html = make_fragment(reports["nine_groups"])
    style = re.sub(r"@media[^{]*\{|/\*.*?\*/", "", html.split("<style>")[1].split("</style>")[0])
    chosen = [one.strip() for rule in re.findall(r"([^{}]+)\{", style) for one in rule.split(",")]
    assert chosen
    assert [one for one in chosen if ".ab-report" not in one] == []
    assert "@page" not in html
    assert Reader(html).open == []
    levels = [int(tag[1]) for tag, _ in Reader(html).elements if re.fullmatch(r"h\d", tag)]
    assert min(levels) == levels[0] == 2


def test_each_mark_has_a_shape_of_its_own(pages):
    html = make_page_of_marks()
    shapes = {name: re.search(rf'class="ab-mark ab-{name}".*?>(.*?)</svg>', html, re.S)[1] for name in LEGEND}
    assert len({re.sub(r'class="[^"]*"', "", shape) for shape in shapes.values()}) == len(LEGEND)


def make_page_of_marks() -> str:
    from auditbook.report.page import _templates

    figures = _templates().get_template("figures.html.j2").module
    return "".join(str(figures.mark(name, words)) for name, words in LEGEND.items())


def test_the_matrix_keeps_the_most_urgent_attributes_and_names_how_many_are_left(reports):
    mark = reports["two_groups"].pages[0].marks[0]
    names = [f"attribute {i}" for i in range(15)]
    marks = [
        replace(mark, attribute=name, mark="fails" if i == 14 else "passes") for i, name in enumerate(names)
    ]
    matrix = lay_matrix(marks, QUESTIONS)
    assert len(matrix.attributes) == 12
    assert "attribute 14" in matrix.attributes
    assert matrix.left == ("attribute 11", "attribute 12", "attribute 13")


def test_a_withheld_rate_is_a_dash_and_no_point(reports):
    rate, _ = draw_shares([Share("a", None, None, None, None), Share("b", 0.5, 0.4, 0.6, 100)])
    assert draw_shares([Share("a", None, None, None, None)]) == ()
    assert (rate.told, rate.value, rate.people, rate.said) == ("\u2013", None, "", "a: \u2013")
    (rate,) = draw_shares([Share("a", 0.0, 0.0, 0.02, 150)])
    assert (rate.told, rate.value, rate.said) == ("0 of 100", 0.0, "a: 0 of 100, interval 0 to 2")


def test_calibration_is_told_of_a_hundred_people(reports):
    row = next(one for one in reports["two_groups"].pages[0].calibration)
    rate = draw_calibrated(replace(row, group="a", predicted=40.2, happened=20.8, low=17.0, high=25.0))
    assert rate.told == "40 predicted, 21 happened"
    assert (rate.promised, rate.value) == (80.4, 41.6)
    assert rate.said == "a: of 100, 40 predicted, 21 happened, interval 17 to 25"
    rate = draw_calibrated(replace(row, predicted=40.2, happened=None, low=None, high=None, n=None))
    assert rate.told == "40 predicted, outcome withheld"


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_what_a_first_page_has_no_room_for_is_named_there_and_opens_the_annex(reports, paper):
    report = with_page(
        reports["two_groups"],
        findings=tuple(make_finding(place) for place in range(5)),
        unknown=tuple(
            Statement(f"Unknown {i}: " + "how this was recorded is not known. " * 4) for i in range(9)
        ),
    )
    page = fit_page(report.head, report.pages[0], QUESTIONS, paper=paper)
    left = sum(len(block.left) for block in page.blocks)
    assert left > 0
    assert len(page.findings) >= 3
    assert f"What is not known ({len(page.blocks[-2].left)})" in page.left_note
    words = Reader(make_page(report, paper=paper)).text
    assert [text for text in list_statements(report) if text not in words] == []


def test_groups_that_have_no_room_are_told_in_the_annex(reports):
    report = reports["nine_groups"]
    page = fit_page(report.head, report.pages[0], QUESTIONS, paper="A4")
    assert page.calibration_left
    told = next(text for text in list_put_off(page).texts if text.startswith("Of 100 patients: "))
    assert told.count(" predicted, ") == len(page.calibration_left)
    assert f"{page.calibration_left[0].group} ({page.calibration_left[0].attribute}" in told


def test_a_page_with_room_for_everything_leaves_nothing_to_the_annex(reports):
    report = reports["decisions"]
    short = with_page(report, pockets=(), unknown=(), repair=(), unjudged=())
    page = fit_page(short.head, short.pages[0], QUESTIONS, paper="A4")
    assert page.left_note == ""
    assert "From the first page" not in make_page(short)


def test_parts_with_nothing_to_say_have_no_heading(reports):
    empty: dict[str, object] = dict.fromkeys(
        ("findings", "without_error", "unjudged", "marks", "calibration"), ()
    )
    empty |= dict.fromkeys(("pockets", "repair", "unknown"), ()) | dict.fromkeys(
        ("further", "pockets_said", "late")
    )
    words = make_page(with_page(reports["two_groups"], **empty))
    for title in (
        "What was shown<",
        "The questions, by attribute",
        "predicted, and happened",
        "Pockets of patients",
    ):
        assert title not in words


def test_a_report_without_a_model_is_an_annex(reports):
    page = Reader(make_page(replace(reports["two_groups"], pages=())))
    assert page.open == []
    assert page.all("h1") == [{"class": "ab-name"}]
    assert "3,000 records audited" in page.text
