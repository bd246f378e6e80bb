"""The first use of every word of the glossary on a page leads to its entry."""

import re
from pathlib import Path

import pytest
from lxml import html

from auditbook.run.glossary_links import Term, link_terms, read_glossary

ROOT = Path(__file__).resolve().parents[2]
TERMS = tuple(
    sorted(
        (
            Term(word, f"term-{word}", f"What {word} means.")
            for word in ("flip rate", "verdict flip rate", "verdict", "group", "TPR", "N*", "unit", "AC1")
        ),
        key=lambda term: -len(term.word),
    )
)


def linked(body):
    page = html.document_fromstring(f"<html><body><article>{body}</article></body></html>")
    before = page.text_content()
    count = link_terms(page, TERMS, "../book/glossary.html")
    links = [link.text for link in page.iter("a") if link.get("class") == "term"]
    assert page.text_content() == before
    assert len(links) == count
    return links, html.tostring(page, encoding="unicode")


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("<p>Verdicts of two groups.</p>", ["Verdicts", "groups"]),
        (
            "<p>A verdict flip rate is no verdict and no flip rate.</p>",
            ["verdict flip rate", "verdict", "flip rate"],
        ),
        ("<p>The verdict of a <b>group</b>, and the verdict again.</p><p>A group.</p>", ["verdict", "group"]),
        ("<p>It is in a <em>TPR</em> and TPR; tpr is none.</p>", ["TPR"]),
        ("<p>At N*, no unity, sub-unit or unit-wise; unit.</p>", ["N*", "unit"]),
        ("<h2>A verdict</h2><p>A <a href='x'>verdict</a> and <code>group</code>.</p>", []),
        ("<table><tr><td><p>group</p></td></tr></table><p class='admonition-title'>A verdict</p>", []),
        ("<ul><li>A group<ul><li>and a unit</li></ul> of verdicts</li></ul>", ["group", "unit", "verdicts"]),
        ("<div class='admonition quiz'><ol><li><p>A verdict</p></li></ol></div><p>Nothing.</p>", []),
        ("<p><span class='math'>group</span> AC1, <label>unit</label></p>", ["AC1"]),
    ],
)
def test_first_uses_are_linked_and_no_word_is_changed(body, links):
    found, _ = linked(body)
    assert sorted(found) == sorted(links)


def test_a_link_leads_to_the_entry_and_tells_its_first_sentence():
    _, page = linked("<p>Its TPR &lt; 1</p>")
    link = '<a class="term" href="../book/glossary.html#term-TPR" title="What TPR means.">TPR</a>'
    assert f"<p>Its {link} &lt; 1</p>" in page


def test_a_glossary_is_read_as_it_is_built(tmp_path):
    entry = '<dl class="glossary"><dt id="term-DI">DI<a class="headerlink" href="#term-DI">#</a></dt>'
    entry += "<dt id='term-disparate-impact'>disparate impact</dt>"
    entry += "<dd><p>A ratio, i.e. a quotient. It has 1.</p></dd></dl>"
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "glossary.html").write_text(f"<html><body>{entry}</body></html>", encoding="utf-8")
    found = read_glossary(tmp_path)
    assert [term.word for term in found] == ["disparate impact", "DI"]
    assert {term.meaning for term in found} == {"A ratio, i.e. a quotient."}
    assert read_glossary(tmp_path / "book") == ()


def entries():
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    body = text[text.index("```{glossary}\n") + 14 :].split("\n```")[0]
    return [found.strip().split("\n") for found in re.findall(r"((?:^\S.*\n)+)(?=^  \S)", body, re.M)]


def test_the_glossary_is_in_order_and_holds_what_the_metrics_are_called():
    heads = [re.sub(r"[^a-z0-9 ]", "", words[0].lower()) for words in entries()]
    assert heads == sorted(heads)
    words = {word for words in entries() for word in words}
    assert len(words) == sum(map(len, entries()))
    asked = {"DI", "SPD", "EOPP", "EOD", "TI", "PP", "CAL", "odds", "bootstrap", "DeLong", "AC1"}
    assert asked | {"Brier score", "log loss", "TPR", "FPR", "PPV", "kappa"} <= words
