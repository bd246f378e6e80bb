"""What the theme leaves that a keyboard or a screen reader cannot use is mended in the built pages, once."""

import struct
import zlib

import pytest
from lxml import html

from auditbook.run.accessibility import mend_pages

SIDEBAR = """
<nav class="bd-links bd-docs-nav"><p class="caption"><span class="caption-text">Verdicts</span></p>
<ul class="nav"><li class="toctree-l1"><a href="report.html">Report</a></li>
<li class="toctree-l1 has-children"><a class="reference" href="part.html">Verdicts, at length</a><details>
<summary><span role="presentation"><i></i></span></summary><ul>
<li class="toctree-l2"><a href="metrics.html">Metrics</a></li>
<li class="toctree-l2 current"><a href="#">Tiers</a></li></ul></details></li></ul></nav>
"""
CITATION = """
<div role="list" class="citation-list"><div class="citation" role="doc-biblioentry"><span class="label">
[<a role="doc-backlink" href="#id2">ET93</a>]</span><p>An Introduction to the Bootstrap.</p></div></div>
"""


@pytest.fixture
def mend(tmp_path):
    """Mend a page that holds what is given, and return it as it is read again."""

    def mended(body):
        (tmp_path / "page.html").write_text(f"<!DOCTYPE html><html><body>{body}</body></html>", "utf-8")
        assert mend_pages(tmp_path) == 1
        return html.fromstring((tmp_path / "page.html").read_bytes().decode("utf-8"))

    return mended


def test_the_sidebar_shows_chapters_and_says_the_name_of_a_part_once(mend):
    page = mend(SIDEBAR)
    assert [link.text for link in page.iter("a")] == ["Verdicts", "Report", "Metrics", "Tiers"]
    assert page.find(".//p//a").get("href") == "part.html"
    assert [entry.get("class") for entry in page.iter("li")] == [
        *("toctree-l1", "toctree-l1", "toctree-l1 current")
    ]
    assert page.find(".//summary") is None


def test_the_opening_of_a_part_is_marked_where_it_is_the_page_itself(mend):
    page = mend(SIDEBAR.replace('class="reference"', 'class="current reference"'))
    assert page.find(".//p//a").get("aria-current") == "page"


def test_references_are_a_list_of_entries_with_links_that_say_where_they_lead(mend):
    page = mend(CITATION)
    assert [entry.get("class") for entry in page.findall(".//*[@role='listitem']")] == ["citation"]
    assert [link.get("role") for link in page.iter("a")] == [None]
    assert page.find(".//a").get("aria-label") == "Back to where it is cited: ET93"


def test_a_summary_is_called_by_the_words_that_it_shows(mend):
    page = mend('<details><summary aria-label="Toggle hidden content">Show code</summary></details>')
    assert "aria-label" not in page.find(".//summary").attrib


def test_a_summary_and_a_button_without_words_get_a_name(mend):
    page = mend(
        '<a>Pockets</a><details><summary><i></i></summary></details><button title="Search"><i></i></button>'
    )
    assert page.find(".//summary").get("aria-label") == "Pages below: Pockets"
    assert page.find(".//button").get("aria-label") == "Search"


def test_the_keyboard_reaches_code_formulas_and_tables(mend):
    table = '<div class="pst-scrollable-table-container"><table><tr><td>1</td></tr></table></div>'
    page = mend(f'<article><pre>code</pre><div class="math notranslate">x</div>{table}</article>')
    assert len(page.findall(".//*[@tabindex='0']")) == 3


def test_a_figure_says_how_much_room_it_takes(mend, tmp_path):
    header = struct.pack(">IIBBBBB", 1584, 880, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    (tmp_path / "figure.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(header)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )
    picture = mend('<img src="figure.png" alt="A figure.">').find(".//img")
    assert (picture.get("width"), picture.get("height")) == ("792", "440")


def test_a_page_is_mended_once_and_keeps_its_words(mend, tmp_path):
    mend('<p>Größe &lt; 0,001: „gut“</p><script>if (1 < 2 && "<b>") {}</script>')
    first = (tmp_path / "page.html").read_bytes()
    assert mend_pages(tmp_path) == 0
    assert (tmp_path / "page.html").read_bytes() == first
    assert "Größe &lt; 0,001: „gut“".encode() in first
    assert b'if (1 < 2 && "<b>") {}' in first
    assert first.startswith(b"<!DOCTYPE html>")
