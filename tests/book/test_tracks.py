"""Four ways through the book: their minutes add up, and nothing is used before it is explained."""

import re
from pathlib import Path

import pytest

from auditbook.run.contents import read_toc

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "tracks.md").read_text(encoding="utf-8")
TRACKS = {"Board member": (90, 90), "Auditor": (330, 420), "Analyst": (780, 900)}
LOOKED_UP = {"glossary", "notation", "texas-twin"}
"""Pages that are there to look something up."""
DOC = re.compile(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`")


def section(name):
    return re.search(rf"^## {name}.*?(?=^## )", PAGE, re.M | re.S)[0]


def rows(name):
    found = re.findall(r"^\| \{doc\}`([^`]+)` \| [^|]+ \| (\d+) \|$", section(name), re.M)
    return [(place.split("/")[-1], int(minutes)) for place, minutes in found]


def text_of(name):
    return next(ROOT.glob(f"*/{name}.md")).read_text(encoding="utf-8")


def needed_by(page):
    table = re.search(r"^\| you need \|.*?\n\n", text_of(page), re.M | re.S)
    found = DOC.findall(table[0]) if table else []
    return {place.split("/")[-1] for place in found} - LOOKED_UP


@pytest.mark.parametrize("name", TRACKS)
def test_minutes_add_up_to_what_is_promised(name):
    least, most = TRACKS[name]
    assert least <= sum(minutes for _, minutes in rows(name)) <= most


@pytest.mark.parametrize("name", ["Auditor", "Analyst"])
def test_minutes_are_those_of_the_chapters(name):
    for page, minutes in rows(name):
        told = re.search(r"^Time to learn: (\d+) minutes\.$", text_of(page), re.M)
        if told:
            assert minutes == int(told[1]), page


@pytest.mark.parametrize("name", ["Auditor", "Analyst"])
def test_what_a_chapter_needs_comes_before_it_on_the_way(name):
    before = []
    for page, _ in rows(name):
        needed = needed_by(page)
        assert needed <= set(before), f"{page} needs {needed - set(before)}"
        before.append(page)


@pytest.mark.parametrize("name", TRACKS)
def test_the_order_is_that_of_the_book(name):
    order = [place.split("/")[-1] for place in read_toc()]
    places = [order.index(page) for page, _ in rows(name)]
    assert places == sorted(places)


def test_what_a_chapter_needs_comes_before_it_in_the_book():
    order = [place.split("/")[-1] for place in read_toc()]
    for page in order:
        needed = needed_by(page)
        assert all(order.index(one) < order.index(page) for one in needed), page


def test_every_chapter_answers_a_question_of_the_table_or_stands_in_a_part():
    named = {place.split("/")[-1] for place in DOC.findall(PAGE)}
    assert {"cohort", "scores", "metrics", "what-is-shown", "mitigation", "calibration"} <= named
    assert named <= {place.split("/")[-1] for place in read_toc()}
