"""How large must a smallest group be: stored sizes are the report's rule, and drawn audits keep it."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from auditbook.book.say.text import table_html
from auditbook.project import project_file
from auditbook.studies.kept_rows import read_rows
from auditbook.studies.say import sizes_to_show as say
from auditbook.studies.small_groups import sizes_to_show as rule
from auditbook.studies.small_groups.worlds import VerdictDesign, draw_audits, expect_audit, write_records
from auditbook.verdicts.size_to_show import scale_to_show

PROMISED = 0.8


@pytest.fixture(scope="module")
def counted():
    return rule.read_counted()


@pytest.fixture(scope="module")
def about():
    return json.loads(project_file("data", "simulations", f"{rule.NAME}.json").read_text(encoding="utf-8"))


def design_of(row):
    return rule.ShownDesign(VerdictDesign(*(row[name] for name in rule.DESIGN)), int(row["cells"]))


@pytest.mark.parametrize("cells", rule.BOARDS)
def test_the_rule_is_that_of_the_normal_quantiles_by_hand(cells):
    z = 0.10 / math.sqrt(0.21 / 500 + 0.25 / 500)
    by_hand = ((norm.isf(0.05 / cells) + norm.ppf(0.8)) / z) ** 2
    grown = scale_to_show(np.array([z]), np.zeros(1, int), 1, alpha=0.05, cells=np.array([cells]))
    assert grown[0] == pytest.approx(by_hand, rel=1e-9)


def test_a_cell_at_the_level_of_a_board_is_one_of_so_many_equal_cells():
    population = VerdictDesign("EOPP", 2, 1_000, 0.2, -0.1)
    one = rule.ShownDesign(population, 3)
    records = write_records(expect_audit(population))
    copies = tuple(
        type(records.attributes[0])(f"group {k}", records.attributes[0].groups, records.attributes[0].codes)
        for k in range(3)
    )
    many = type(records)(records.outcome, copies, records.scores)
    cells = rule.show_cells(rule.prepare(many), rule.Protocol(metrics=("EOPP",)))[0]
    assert cells["n_to_show"].tolist() == [rule.read_shown(one, expect_audit(population))["n_to_show"]] * 3


def test_counts_written_out_as_records_are_counted_again():
    counts = draw_audits(VerdictDesign("DI", 5, 60, 0.2, 0.1), 1, np.random.default_rng(1))[0]
    records = write_records(counts)
    codes, chosen = records.attributes[0].codes, records.scores[0].values == 1
    for group in range(5):
        here = codes == group
        y = records.outcome[here] == 1
        found = [np.sum(chosen[here] & y), np.sum(chosen[here] & ~y), np.sum(~chosen[here] & y)]
        assert [*found, np.sum(~chosen[here] & ~y)] == counts[group].tolist()


@pytest.mark.parametrize("place", [0, 14, 30, 60])
def test_stored_sizes_are_those_that_the_rule_finds(place, counted):
    row = say.list_least(counted).iloc[place]
    design = design_of(row)
    assert rule.find_least_shown(design) == row["smallest"]
    assert rule.is_enough(design)


def test_stored_audits_are_drawn_again_exactly(about):
    rows = read_rows(rule.Study(rule.NAME, (), rule.run_replicate, (), rule.count_answers, ""))
    light = rows[rows["smallest"] <= 2_500]
    picked = light.sample(40, random_state=1)
    for row in picked.to_dict("records"):
        again = rule.run_replicate(design_of(row), row["replicate"], seed=about["seed"])
        assert again == [row]


def test_the_counts_are_those_of_the_stored_audits(counted):
    rows = read_rows(rule.Study(rule.NAME, (), rule.run_replicate, (), rule.count_answers, ""))
    some = rows[rows["metric"] == "EOD"]
    again = rule.count_answers(some)
    stored = counted[counted["metric"] == "EOD"].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, stored[again.columns], check_dtype=False)


def test_what_is_so_is_shown_about_as_often_as_promised_and_the_opposite_hardly_ever(counted):
    least = say.list_least(counted)
    error = 4 * np.sqrt(PROMISED * (1 - PROMISED) / least["replicates"])
    assert (least["shown"] >= PROMISED - 0.05 - error).all()
    wrong = np.where(least["distance"] < 0, least["pass"], least["fail"]).sum()
    assert wrong <= 0.005 * least["replicates"].sum()


def test_a_board_asks_for_no_fewer_records_than_one_cell_and_a_nearer_truth_for_more(counted):
    table = say.tabulate_least(counted)
    assert (table["smallest_28"] > table["smallest_1"]).all()
    wide = table.set_index(["metric", "truth"])["smallest_28"]
    for metric in ("DI", "EOPP", "EOD", "PP"):
        assert wide[metric, "fails by 0.05"] > wide[metric, "fails by 0.10"]
        assert wide[metric, "passes by 0.05"] > wide[metric, "no difference"]


def test_the_published_verdict_is_right_where_nothing_can_be_shown_yet(counted):
    here = say.list_power(counted)
    small = here[(here["smallest"] == 500) & (here["distance"] == -0.05)]
    assert (small["value"] < 0.3).all()


def test_tables_and_sentences_are_whole(counted):
    for table, columns in (
        (say.tabulate_least(counted), say.LEAST_COLUMNS),
        (say.tabulate_least_conditions(counted), say.CONDITION_COLUMNS),
    ):
        assert len(table)
        assert "—" not in table_html(table, columns)
    for text in (say.describe_promise(counted), say.describe_contrast(counted)):
        assert not any(word in text for word in ("nan", "inf", "None"))
    assert "2,000 records" in say.describe_contrast(counted)
