"""Quizzes test what a page teaches: no letter, length or form gives the right option away."""

import re
from collections import Counter

import pytest
from scipy import stats

from book.quiz_pages import ROOT, list_pages, read_quizzes

QUESTIONS = read_quizzes()
LEVEL = 0.05
NAMES = [f"{one.page}-{one.number}" for one in QUESTIONS]


def words(text):
    return re.sub(r"\{[a-z:]+\}`|[`*$]", "", text)


def test_every_quiz_of_the_book_has_this_form():
    pages = {path.stem for path in list_pages() if re.search(r"^## Quiz$", path.read_text("utf-8"), re.M)}
    pages |= {path.stem for path in list_pages() if path.stem.startswith("quiz-")}
    assert len(pages) >= 34
    assert pages - {"chapter-template"} <= {one.page for one in QUESTIONS}
    for path in list_pages():
        text = path.read_text(encoding="utf-8")
        blocks = len(re.findall(r"^:class: quiz$", text, re.M))
        assert blocks == sum(one.page == path.stem for one in QUESTIONS), path.name
        assert not re.search(r"\(a\) [^\n]*; ?\(b\) ", text), path.name


@pytest.mark.parametrize("one", QUESTIONS, ids=NAMES)
def test_a_question_has_four_options_a_reason_each_and_a_link_back(one):
    assert len(one.options) >= 4
    assert len(one.reasons) == len(one.options)
    assert len(set(one.options)) == len(one.options)
    assert 1 <= len(one.right) < len(one.options)
    assert all(len(reason.split()) >= 3 for reason in one.reasons)
    assert re.search(r"\{(ref|doc|term|eq)\}`|\]\(", one.after), "no link back"
    assert not any(re.match(r"\d+[.)](\s|$)|[-+*]\s", option) for option in one.options), "reads as a list"
    assert not re.search(r"all of (these|the above)|none of (these|the above)", " ".join(one.options), re.I)


def test_letters_are_evenly_spread():
    single = [one.right[0] for one in QUESTIONS if len(one.right) == 1 and len(one.options) == 4]
    counts = [Counter(single)[place] for place in range(4)]
    assert len(single) >= 100
    assert stats.chisquare(counts).pvalue > LEVEL, counts
    runs = max(len(run[0]) for run in re.finditer(r"(.)\1*", "".join(map(str, single))))
    assert runs <= 4


def test_the_longest_option_is_not_the_right_one_more_often_than_chance():
    longest = chance = 0
    for one in QUESTIONS:
        lengths = [len(words(option)) for option in one.options]
        longest += max(range(len(lengths)), key=lengths.__getitem__) in one.right
        chance += len(one.right) / len(lengths)
    assert stats.binomtest(longest, len(QUESTIONS), chance / len(QUESTIONS), "greater").pvalue > LEVEL


def test_nor_is_the_shortest():
    shortest = chance = 0
    for one in QUESTIONS:
        lengths = [len(words(option)) for option in one.options]
        shortest += min(range(len(lengths)), key=lengths.__getitem__) in one.right
        chance += len(one.right) / len(lengths)
    assert stats.binomtest(shortest, len(QUESTIONS), chance / len(QUESTIONS), "greater").pvalue > LEVEL


def test_some_have_several_right():
    several = sum(len(one.right) > 1 for one in QUESTIONS)
    assert 0.1 <= several / len(QUESTIONS) <= 0.4


def test_links_lead_to_labels_that_stand_in_the_book():
    told = "\n".join(path.read_text(encoding="utf-8") for path in list_pages())
    labels = set(re.findall(r"^\(([\w-]+)\)=$", told, re.M)) | set(
        re.findall(r"^:?name: ([\w-]+)$", told, re.M)
    )
    labels |= set(re.findall(r"^\s+name: ([\w-]+)$", told, re.M)) | set(
        re.findall(r"\$\$ \(([\w-]+)\)", told)
    )
    pages = {path.stem for path in list_pages()}
    for one in QUESTIONS:
        for kind, target in re.findall(r"\{(ref|doc)\}`(?:[^`<]*<)?([^`>]+)>?`", one.after):
            known = labels if kind == "ref" else pages
            assert target.split("/")[-1] in known, f"{one.page}: {target}"


def test_the_pages_know_how_to_mark():
    script = (ROOT / "book" / "_static" / "quiz.js").read_text(encoding="utf-8")
    assert "http" not in script
    assert "localStorage" in script
