"""Numbers and names are written one way, and text from a cohort cannot do anything."""

import html

import lxml.html
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.book.say.text import (
    MISSING,
    Column,
    count,
    count_of,
    escape,
    interval,
    join_words,
    name_list,
    number,
    p_value,
    pick,
    plural,
    share,
    show,
    show_table,
    shown,
    table_html,
    write,
)
from auditbook.errors import InputError

NAN = float("nan")


@given(st.text())
def test_escaped_text_holds_no_sign_that_html_or_markdown_acts_on(text):
    shown = escape(text)
    bare = shown.replace("&#", "")
    assert not set(bare) & set('<>"`*_[]()|$\\!#~^{}=+:@&\n\t-./')


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Z"])))
def test_escaped_text_reads_as_it_stood_but_for_runs_of_blanks(text):
    assert html.unescape(escape(text)) == " ".join(text.split())


def test_control_signs_are_dropped():
    assert escape("a\u202eb\x00c") == "abc"


def test_script_in_a_group_name_is_shown_and_not_run():
    table = table_html(pd.DataFrame({"group": ["<script>alert(1)</script>"]}), [Column("group", "group")])
    assert "<script" not in table
    assert "alert" in table


def test_header_and_caption_are_escaped():
    table = table_html(pd.DataFrame({"a": [1]}), [Column("a", "<i>", "count")], caption="<u>")
    assert "<i>" not in table
    assert "<u>" not in table


@pytest.mark.parametrize(
    ("words", "sentence"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_joined_as_in_a_sentence(words, sentence):
    assert join_words(words) == sentence


def test_long_list_of_names_is_cut_and_counted():
    assert name_list(["a", "b", "c", "d"], limit=2) == "a, b and 2 more"
    assert name_list(["a", "b"], limit=2, last="or") == "a or b"


def test_counts_have_separators_and_nan_is_a_dash():
    assert count(1234567) == "1,234,567"
    assert count(NAN) == MISSING


def test_nouns_follow_their_count():
    assert plural(1, "record") == "1 record"
    assert plural(0, "record") == "no records"
    assert plural(2, "category", "categories") == "2 categories"
    assert count_of(1, 28, "cell") == "1 of 28 cells"
    assert count_of(1, 1, "cell") == "1 of 1 cell"


def test_share_that_is_not_zero_or_one_is_never_written_as_such():
    assert share(1e-6) == "under 0.1%"
    assert share(1 - 1e-6) == "over 99.9%"
    assert share(0.0) == "0.0%"
    assert share(1.0) == "100.0%"
    assert share(NAN) == MISSING


def test_no_zero_carries_a_minus():
    assert share(-1e-17) == "0.0%"
    assert number(-0.0001) == "0.000"
    assert number(-0.25, digits=2) == "-0.25"


def test_interval_with_an_unknown_end_is_a_dash():
    assert interval(0.1, 0.2, kind="share") == "10.0% to 20.0%"
    assert interval(NAN, 0.2) == MISSING


def test_blank_text_and_truth_values_are_written_in_words():
    assert write("") == MISSING
    assert write(NAN) == MISSING
    assert write(True) == "yes"
    assert write(7, kind="count") == "7"


def test_numbers_of_a_table_are_rounded_and_right_aligned():
    frame = pd.DataFrame({"rate": [0.12345], "low": [0.1], "high": [0.2]})
    table = table_html(frame, [Column("rate", "rate", "share", low="low", high="high")])
    assert '12.3% <span style="white-space:nowrap">(10.0% to 20.0%)</span>' in table
    assert "text-align:right" in table


def test_missing_number_in_a_table_has_no_interval():
    frame = pd.DataFrame({"rate": [NAN], "low": [NAN], "high": [NAN]})
    assert f">{MISSING}</td>" in table_html(frame, [Column("rate", "rate", "share", low="low", high="high")])


def test_empty_table_says_so():
    assert "nothing to list" in table_html(pd.DataFrame({"a": []}), [Column("a", "a")])
    sizes = [table_html(pd.DataFrame({"a": [1]}), [Column("a", "a")] * n).count("0.88em") for n in (8, 9)]
    assert sizes == [1, 0]


def test_unknown_column_is_an_error_even_without_rows():
    with pytest.raises(KeyError, match="b"):
        table_html(pd.DataFrame({"a": []}), [Column("b", "b")])
    with pytest.raises(KeyError, match="b"):
        table_html(pd.DataFrame({"a": [1]}), [Column("b", "b")])


def test_p_values_are_never_written_as_zero_or_one_that_they_are_not():
    assert [p_value(value) for value in (0.0, 0.0004, 0.001, 0.0314, 1.0)] == [
        *("&lt; 0.001", "&lt; 0.001", "0.001", "0.031", "1.000")
    ]
    assert p_value(0.9997) == "&gt; 0.999"
    assert p_value(NAN) == MISSING
    frame = pd.DataFrame({"p": [1e-9, NAN]})
    written = table_html(frame, [Column("p", "p", "p")])
    assert ">&lt; 0.001</td>" in written
    assert f">{MISSING}</td>" in written


def test_a_table_stands_in_a_region_that_the_keyboard_reaches_and_that_has_a_name():
    page = table_html(pd.DataFrame({"a": [1]}), [Column("a", "a", "count")], caption='One row a "group".')
    region = lxml.html.fromstring(page)
    assert (region.get("role"), region.get("tabindex")) == ("region", "0")
    assert region.get("aria-label") == 'One row a "group".'
    assert region.findtext("table/caption") == 'One row a "group".'


@pytest.mark.parametrize("rows", [0, 1, 15])
def test_a_short_table_is_not_folded(rows):
    assert "<details" not in table_html(pd.DataFrame({"a": range(rows)}), [Column("a", "a", "count")])


def test_a_long_table_is_folded_and_says_how_long_it_is():
    page = table_html(pd.DataFrame({"a": range(16)}), [Column("a", "a", "count")], caption="One row a group.")
    folded = lxml.html.fromstring(page)
    assert (folded.tag, folded.get("open")) == ("details", None)
    assert folded.findtext("summary") == "Table of 16 rows. One row a group."
    assert len(folded.findall("div/table/tbody/tr")) == 16
    assert folded.find("div/table").get("aria-label") == "One row a group."


def test_a_chapter_shows_the_first_model_unless_told_otherwise():
    models = pd.DataFrame({"model": ["logistic", "xgboost"]})
    assert pick(models, "model") == "logistic"
    assert pick(models, "model", "xgboost") == "xgboost"
    assert pick(models.head(0), "model") == ""


def test_unknown_model_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"no model 'xgbost' \(did you mean 'xgboost'\?\)"):
        pick(pd.DataFrame({"model": ["logistic", "xgboost"]}), "model", "xgbost")


def test_notebooks_get_markdown_and_html():
    assert show("*a*").data == "*a*"
    assert show_table(pd.DataFrame({"a": ["b"]}), [Column("a", "a")]).data.startswith("<div")


def test_blank_text_shows_nothing_in_a_notebook():
    assert show("") is None
    assert show(" \n") is None


def test_a_result_column_is_shown_as_the_catalogue_has_it():
    model, rate, margin, force = shown("model", "vfr", "margin", "in_force")
    assert (model.header, model.kind) == ("model", "text")
    assert (rate.header, rate.kind, rate.digits) == ("flip rate", "share", None)
    assert (margin.header, margin.digits) == ("margin (SD)", 1)
    assert force.kind == "text"
