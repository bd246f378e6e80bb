"""Slides hold a chapter's opening, its table by hand and what fools the measure, and nothing of its code."""

import pytest
from lxml import html

from auditbook.run import slides

LONG = "word " * 80
PAGE = f"""<html><body><article><section id="top">
<h1>Who <em>is</em> it?<a class="headerlink" href="#top">#</a></h1>
<p>Why anybody cares.</p>
<div class="admonition"><p class="admonition-title">What you will be able to do</p>
<ul><li>Count.</li></ul></div>
<div class="cell"><div class="cell_input">secret = 1</div></div>
<section id="extreme"><h2>Extreme cases</h2><p>Not this.</p></section>
<section id="paper"><h2>On paper<a class="headerlink" href="#paper">#</a></h2>
<p>Four <b>people</b> &lt; five.</p>
<div class="cell"><div class="cell_input">code = 2</div>
<div class="cell_output"><table><tr><td>12</td></tr></table></div></div>
<p>{LONG}</p><section id="more"><h3>More</h3><p>Deeper.</p></section></section>
<section id="cohort"><h2>On this cohort</h2><p>Nor this.</p></section>
<section id="blind"><h2>What this measure cannot see</h2><p>A trap.</p><script>x()</script></section>
</section></article></body></html>"""


@pytest.fixture
def build(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "one.html").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(slides, "chapter_names", lambda: ["one"])
    index = slides.write_slides(tmp_path)
    return index, html.parse(str(tmp_path / "slides" / "one.html")).getroot()


def test_slides_hold_what_is_shown_in_order_and_no_code(build):
    _, page = build
    shown = page.findall(".//section")
    assert [one.findtext("h1") for one in shown] == [
        "Who is it?",
        "On paper",
        "On paper",
        "What this measure cannot see",
    ]
    told = page.text_content()
    for words in ("Why anybody cares.", "Count.", "Four people < five.", "12", "Deeper.", "A trap."):
        assert words in told
    for words in ("secret", "code = 2", "Not this", "Nor this", "x()"):
        assert words not in told.split("const slides")[0]
    assert [one.get("id") for one in shown] == [f"slide-{place}" for place in range(1, 5)]


def test_a_list_leads_to_the_slides_of_each_chapter(build):
    index, _ = build
    links = html.parse(str(index)).getroot().findall(".//a")
    assert [(link.get("href"), link.text) for link in links] == [("one.html", "Who is it?")]
    assert (index.parent / "one.html").is_file()
    assert "http" not in index.read_text(encoding="utf-8")


def test_a_long_block_gets_a_slide_of_its_own():
    def block(words):
        return html.fragment_fromstring(f"<p>{words}</p>")

    found = list(
        slides._fill("H", [block("a" * 300), block("b" * 300), block(""), block("c" * 100), block("d" * 900)])
    )
    assert [len(one.blocks) for one in found] == [1, 2, 1]
