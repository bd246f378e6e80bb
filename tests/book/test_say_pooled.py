"""What is said of crossings and of pooled rates."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw.pooled import draw_pooled
from auditbook.book.say import pooled as say
from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import tabulate_pooled_rates


def pool(codes, groups, parts=()):
    rng = np.random.default_rng(1)
    outcome = (rng.random(len(codes)) < 0.4).astype(np.int8)
    both = Attribute("race_sex", groups, codes, None, parts)
    score = Score("m", "probability", 0.5, rng.random(len(codes)))
    return tabulate_pooled_rates(prepare(AuditRecords(outcome, (both,), (score,))), protocol=Protocol())


def run_of(table, **info):
    groups = pd.DataFrame({"attribute": "race_sex", "group": table["group"].unique()})
    verdicts = pd.DataFrame({"model": "m", "attribute": ["race", "sex", "race_sex"]})
    return SimpleNamespace(pooled_rates=table, cohort_groups=groups, verdicts=verdicts, info=info)


FOUR = ("<b>A</b>, f", "<b>A</b>, m", "Ñ, f", "Ñ, m")
PARTS = tuple(tuple(name.split(", ")) for name in FOUR)
CODES = np.repeat(np.arange(4), [400, 300, 200, 12])


def test_a_pooled_rate_is_told_with_what_was_counted_and_what_is_promised():
    run = run_of(pool(CODES, FOUR, PARTS))
    rates = say.select_pooled(run, model="m", attribute="race_sex", rate="ER")
    row = rates.set_index("group").loc["Ñ, m"]
    told = say.describe_pooling(rates)
    assert told.startswith(f"The event rate moves farthest in Ñ, m: {row.hits} of 12 records make ")
    assert f"the pooled rate is {100 * row.pooled:.1f}% (95% interval {100 * row.low:.1f}%" in told
    assert f"has a weight of {100 * row.shrinkage:.0f}%." in told
    assert "nan" not in told


def test_two_groups_are_said_not_to_be_pooled():
    rates = say.select_pooled(run_of(pool(CODES % 2, ("f", "m"))), model="m", attribute="race_sex", rate="SR")
    assert say.describe_pooling(rates) == "No rate is pooled here: fewer than three groups to learn from."


def test_crosses_are_named_with_their_parts_and_their_cells_counted():
    table = pool(CODES, FOUR, PARTS)
    run = run_of(table, crosses={"race_sex": ["race", "sex"]})
    assert say.describe_crosses(run) == "- **race&#95;sex** crosses race and sex: 4 groups."
    assert say.describe_cost(run, "m").startswith(
        "Of the 3 cells on the board of m, 1 is about race&#95;sex."
    )
    assert "crosses no attributes" in say.describe_crosses(run_of(table))
    assert say.describe_cost(run_of(table), "m") == ""
    assert say.describe_beside(run).startswith("The counted rates of the groups of race&#95;sex stand beside")
    assert say.describe_beside(run_of(table)) == ""


@pytest.mark.parametrize("wanted", ["", "race_sex"])
def test_a_cross_is_shown_first(wanted):
    table = pool(CODES, FOUR, PARTS)
    large = table.assign(attribute="race", group=table["group"] + "!")
    run = run_of(pd.concat([large, table]), crosses={"race_sex": ["race", "sex"]})
    assert say.pick_crossed(run, wanted) == "race_sex"


def test_without_a_cross_the_attribute_of_most_groups_is_shown():
    table = pool(CODES, FOUR)
    two = pool(CODES % 2, ("f", "m")).assign(attribute="sex")
    assert say.pick_crossed(run_of(pd.concat([two, table]))) == "race_sex"


@pytest.mark.parametrize("codes", [CODES, CODES % 2])
def test_the_figure_has_two_marks_a_group(codes):
    groups, parts = (FOUR, PARTS) if codes is CODES else (("f", "m"), ())
    table = pool(codes, groups, parts)
    ax = draw_pooled(table[table["rate"] == "TPR"], title="TPR")
    assert len(ax.get_yticklabels()) == len(groups)
    assert sum(line.get_marker() not in ("None", "", None) for line in ax.lines) == 2 * len(groups)
