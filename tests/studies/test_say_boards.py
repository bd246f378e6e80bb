"""Sentences and tables of the stored boards say what the stored numbers say."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from auditbook.project import project_file
from auditbook.studies.boards.compare import (
    RULES,
    StoredBoards,
    compare_rules,
    count_false,
    find_changed,
    list_broken,
    read_boards,
)
from auditbook.studies.boards.study import SIZED, WORLDS
from auditbook.studies.boards.worlds import BoardWorld
from auditbook.studies.draw.small_groups import draw_by_size
from auditbook.studies.say import boards as say

SENTENCES = [
    say.describe_false,
    say.describe_broken,
    say.describe_alone,
    say.describe_power,
    say.describe_accused,
    say.describe_found,
    say.describe_halves,
]
TABLES = [
    (say.list_false, say.FALSE_COLUMNS),
    (say.list_alone, say.ALONE_COLUMNS),
    (lambda stored: say.list_rules(stored, "equal"), say.RULE_COLUMNS),
    (lambda stored: say.list_rules(stored, "gap"), say.FOUND_COLUMNS),
    (say.list_halves, say.HALF_COLUMNS),
]


@pytest.fixture(scope="module")
def stored() -> StoredBoards:
    return read_boards()


@pytest.mark.parametrize("describe", SENTENCES)
def test_every_sentence_is_whole(describe, stored):
    told = describe(stored)
    assert told.endswith(".")
    assert not re.search(r"nan|None|inf\b|<|  |\b1 worlds|\b1 others", told)


@pytest.mark.parametrize(("lay_out", "columns"), TABLES)
def test_tables_have_every_column_and_no_blank(lay_out, columns, stored):
    table = lay_out(stored)
    assert table[[column.name for column in columns]].notna().all().all()


def test_every_world_has_a_name_of_its_own_and_one_family():
    worlds = set(WORLDS) | set(SIZED)
    assert len({say.name_world(world) for world in worlds}) == len(worlds)
    assert {find_changed(world) for world in worlds} == set(say.CHANGED_WORDS)
    assert say.name_world(BoardWorld("edge", 5_000, sites=15, unequal=True)) == (
        "at the thresholds: 5,000 records and 15 sites of unequal size"
    )
    assert say.name_world(BoardWorld("gap", 2_000, gap=0.15)) == "unequal: 2,000 records and a gap of 0.15"


def test_false_answers_are_those_of_the_stored_boards(stored):
    table, boards = count_false(stored.boards), stored.boards
    for name in ("false_fail", "false_pass"):
        assert table[name].sum() == boards[name].sum()
    assert table["worlds"].sum() == len(boards) == len(WORLDS)
    told = say.describe_false(stored)
    assert f"{boards['replicates'].sum():,} boards" in told
    worst = boards.loc[boards["false_fail"].idxmax()]
    assert f"{int(worst['false_fail'])} in {worst['replicates']}" in told


def test_no_world_breaks_the_promise_and_the_sentence_says_so(stored):
    assert list_broken(stored.boards).empty
    assert say.describe_broken(stored).startswith("No world breaks")


def test_a_world_that_breaks_the_promise_is_named(stored):
    boards = stored.boards.copy()
    boards.loc[0, ["false_fail", "false_fail_share", "false_fail_high"]] = [20, 20 / 130, 0.23]
    told = say.describe_broken(replace(stored, boards=boards))
    assert "1 world:" in told
    assert "alike: 2,000 records" in told
    assert "The worst world for false fails has 20 in 130" in say.describe_false(
        replace(stored, boards=boards)
    )


def test_boards_without_anything_false_are_said_to_have_none(stored):
    boards = stored.boards.assign(false_fail=0, false_fail_share=0.0)
    told = say.describe_false(replace(stored, boards=boards))
    assert "In no world was anything falsely shown to fail." in told


def test_shares_of_rules_are_those_of_the_files(stored):
    table = compare_rules(stored)
    assert len(table) == len(RULES) * sum(world.kind != "edge" for world in SIZED)
    one = table[(table["kind"] == "equal") & (table["records"] == 2_000)].set_index("rule")["share"]
    file = stored.peers[stored.peers["world"] == SIZED[0].name].set_index("rule")["accused_share"]
    assert all(one[rule] == pytest.approx(file[rule], abs=1e-6) for rule in file.index)
    assert one["shown"] == pytest.approx(stored.sizes.loc[0, "false_fail_share"], abs=1e-6)


def test_what_is_shown_accuses_fewer_equal_boards_than_any_other_rule(stored):
    table = say.list_rules(stored, "equal")
    for rule in RULES[1:]:
        assert (table["shown"] <= table[rule]).all()
    assert (table["shown"] < 0.065).all()


def test_rules_that_accuse_most_small_boards_find_most_gaps_there(stored):
    """As the chapter says in its own words."""
    accused, found = say.list_rules(stored, "equal").iloc[0], say.list_rules(stored, "gap")
    for rule in ("flags", "gap", "band"):
        assert accused[rule] > 0.9
        assert (found[rule] > 0.6).all()


def test_power_is_that_of_the_stored_boards(stored):
    gap = next(world for world in WORLDS if world.kind == "gap" and world.event_rate == 0.4)
    row = stored.boards[stored.boards["world"] == gap.name].iloc[0]
    words = f"40% events on {row['race_eopp_fail']} of {row['replicates']} boards"
    assert words in say.describe_power(stored)


def test_halves_add_up(stored):
    table = say.list_halves(stored)
    parts = table[table["cohort"] != "all three"].groupby("rule")["cells"].sum()
    whole = table[table["cohort"] == "all three"].set_index("rule")["cells"]
    assert (parts == whole[parts.index]).all()


def test_curves_are_drawn_for_every_rule(stored):
    ax = draw_by_size(say.draw_curves(stored), quantity="boards accused", held="records of the audit")
    assert len(ax.get_legend_handles_labels()[1]) == len(RULES)
    assert ax.get_xlabel() == "records of the audit"


def test_stored_tables_are_read_without_a_run():
    for name in ("boards", "boards_sizes", "boards_peers", "halves"):
        assert len(pd.read_csv(project_file("data", "simulations", f"{name}.csv")))
