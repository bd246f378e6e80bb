"""Figures of the cohort are drawn for every cohort, with n, intervals and hollow marks."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.book.draw import cohort as draw
from auditbook.book.draw.style import COLOURS, MARKERS, label_with_n, mark_groups, new_axes, wrap_label
from auditbook.book.say import cohort as say
from auditbook.evidence.intervals import rate_events
from auditbook.verdicts.base_rates import compare_base_rates
from runs_fixture import AWKWARD, KINDS


def labels_of(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def hollow_marks(ax):
    return [line for line in ax.lines if line.get_markerfacecolor() == "none"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_can_be_drawn_for_every_cohort(runs, kind):
    run = runs[kind]
    sites = rate_events(run.cohort_sites)
    ratios = compare_base_rates(run.cohort_groups, protocol=run.protocol)
    drawn = [draw.draw_flow(say.tabulate_flow(run.info)), draw.draw_base_rate_ratios(ratios)]
    for attribute in run.info["attributes"]:
        drawn.append(draw.draw_event_rates(say.select_attribute(run.cohort_groups, attribute)))
    drawn += [draw.draw_site_volumes(sites), draw.draw_site_rates(sites, overall=0.3)]
    drawn.append(draw.draw_missing_shares(run.cohort_columns))
    for ax in drawn:
        ax.figure.canvas.draw()


def test_figure_draws_on_the_axes_it_is_given(runs):
    _, ax = plt.subplots()
    assert draw.draw_flow(say.tabulate_flow(runs["two_groups"].info), ax=ax) is ax


def test_number_of_records_stands_in_every_label(runs):
    groups = say.select_attribute(runs["nine_groups"].cohort_groups, "age")
    labels = labels_of(draw.draw_event_rates(groups))
    assert all(f"(n = {n:,})" in label for n, label in zip(groups["n"], labels, strict=True))


def test_empty_group_is_a_hollow_mark(runs):
    groups = say.select_attribute(runs["inconclusive"].cohort_groups, "race")
    assert len(hollow_marks(draw.draw_event_rates(groups))) == 1


def test_ratio_without_support_is_a_hollow_mark(runs):
    run = runs["nan"]
    ratios = compare_base_rates(run.cohort_groups, protocol=run.protocol)
    assert len(hollow_marks(draw.draw_base_rate_ratios(ratios))) == len(ratios)


def test_cohort_without_sites_gets_a_sentence(runs):
    ax = draw.draw_site_volumes(runs["two_groups"].cohort_sites)
    assert "No site column" in ax.texts[0].get_text()


def test_columns_without_gaps_get_a_sentence():
    columns = pd.DataFrame({"column": ["a"], "role": ["feature"], "missing": [0], "missing_share": [0.0]})
    assert "No column has a missing value" in draw.draw_missing_shares(columns).texts[0].get_text()


def test_attribute_without_groups_gets_a_sentence(runs):
    assert "no group" in draw.draw_event_rates(runs["nan"].cohort_groups.head(0)).texts[0].get_text()


def test_interval_is_drawn_from_end_to_end():
    row = {"group": "A", "n": 40, "event_rate": 0.2, "event_rate_low": 0.1, "event_rate_high": 0.35}
    ax = draw.draw_event_rates(pd.DataFrame([row]))
    assert any(np.allclose(line.get_xdata(), [0.1, 0.35]) for line in ax.lines)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=len(COLOURS), unique=True), st.randoms())
def test_groups_have_colours_of_their_own_whatever_their_order(names, random):
    marks = mark_groups(names)
    random.shuffle(names)
    assert mark_groups(names) == marks
    assert len({mark.colour for mark in marks.values()}) == len(names)
    assert len({mark.marker for mark in marks.values()}) == len(names)


def test_more_groups_than_colours_are_told_apart_by_colour_and_marker():
    marks = mark_groups(AWKWARD)
    assert len(set(marks.values())) == len(AWKWARD) > len(COLOURS)
    assert len(AWKWARD) <= len(MARKERS)


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_groups_keep_their_looks_side_by_side_unless_they_want_the_same(first, second):
    alone = [mark_groups([name])[name] for name in (first, second)]
    together = mark_groups([first, second])
    for part in ("colour", "marker"):
        wished = [getattr(mark, part) for mark in alone]
        if first == second or wished[0] != wished[1]:
            assert [getattr(together[name], part) for name in (first, second)] == wished


@given(st.text(max_size=200))
def test_any_name_can_be_a_label(text):
    label = wrap_label(text, width=20)
    assert label
    assert len(label.replace(r"\$", "$").splitlines()) <= 2
    assert label.count("$") == label.count(r"\$")


def test_long_name_gives_its_count_a_line_of_its_own():
    assert label_with_n("x" * 20, 5) == "x" * 20 + "\n(n = 5)"
    assert label_with_n("x", float("nan")) == "x (n withheld)"


def test_fresh_axes_grow_with_their_rows():
    small, large = new_axes(rows=2).figure, new_axes(rows=20).figure
    assert large.get_figheight() > 2 * small.get_figheight()


def test_drawing_leaves_the_settings_of_the_notebook_alone():
    before = dict(mpl.rcParams)
    new_axes(rows=3)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "text", ["DI, <script>alert(1)</script> $a$", "PP, " + "x" * 300, "a " + "word " * 40]
)
def test_a_long_name_is_cut_at_the_end_and_not_dropped(text):
    label = wrap_label(text, width=26)
    assert len(label.splitlines()) == 2
    assert len(label) > 25
    assert label.endswith("\u2026")
    assert text.startswith(label.removesuffix(" \u2026").replace("\n", " ").replace("\\$", "$")[:20])


@pytest.mark.parametrize("volumes", [[3], [1], [2000], [143, 160, 180], [1, 30, 4000], [7, 8]])
def test_the_axes_of_site_volumes_are_labelled_whatever_the_volumes(volumes):
    sites = pd.DataFrame({"site": [f"s{n}" for n in volumes], "n": sorted(volumes, reverse=True)})
    sites = sites.assign(rank=range(1, len(sites) + 1), events=1, event_rate=1 / sites["n"])
    rates = draw.draw_site_rates(rate_events(sites), overall=0.3)
    volume = draw.draw_site_volumes(sites)
    for axis in (rates.xaxis, volume.yaxis):
        low, high = axis.get_view_interval()
        shown = [t for t, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True) if label]
        assert [tick for tick in shown if low <= tick <= high]
    assert all(float(tick).is_integer() for tick in volume.get_xticks())
    assert volume.get_title(loc="left").startswith(
        "1 site," if len(volumes) == 1 else f"{len(volumes)} sites"
    )
