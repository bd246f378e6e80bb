"""The study of watches: stored replicates come out again, quiet years stay quiet, changes are found."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from auditbook.evidence import open_stream
from auditbook.studies.draw.watching import draw_delays
from auditbook.studies.kept_rows import read_rows
from auditbook.studies.say import watching as say
from auditbook.studies.watching.study import CHANGE, WATCHING, run_replicate, summarise_watching
from auditbook.studies.watching.worlds import WORLDS, draw_stream

STORED = read_rows(WATCHING)
SUMMARY = summarise_watching(STORED)
QUIET = STORED[STORED["world"].str.startswith("quiet")]


def assert_same(world, replicate):
    kept = STORED[(STORED["world"] == world.name) & (STORED["replicate"] == replicate)]
    made = pd.DataFrame(run_replicate(world, replicate))[list(WATCHING.columns)]
    pd.testing.assert_frame_equal(made, kept.reset_index(drop=True), check_dtype=False)


def test_a_stored_replicate_comes_out_again():
    assert_same(WORLDS[0], 1)


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
@pytest.mark.parametrize("replicate", [0, 3])
def test_stored_replicates_of_every_world_come_out_again(world, replicate):
    assert_same(world, replicate)


def test_quiet_years_are_called_in_at_most_five_percent():
    either = QUIET["shown_at"].notna() | QUIET["changed_at"].notna()
    assert either.sum() <= binom.ppf(0.999, len(QUIET), 0.05)
    assert QUIET["records"].min() >= 12 * 2_000


def test_months_by_themselves_call_most_quiet_years():
    assert (QUIET["naive_changed"] > 0).mean() > 0.9


def test_what_was_planted_is_found_after_it_began_and_in_its_group():
    planted = STORED[~STORED["world"].str.startswith("quiet")]
    assert planted["changed_at"].notna().mean() > 0.8
    found = planted[planted["changed_at"] > CHANGE]
    assert found["changed_rightly"].mean() > 0.9
    assert found["changed_since"].median() == CHANGE + 1


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_world_has_the_rates_that_it_names(world):
    stream = draw_stream(world, open_stream(1, "rates"))
    records, early = stream.records, stream.place < CHANGE
    group, event = records.attributes[0].codes, records.outcome == 1
    for place, rate in enumerate(world.found):
        mine = early & event & (group == place)
        chosen = records.scores[0].decisions[mine]
        assert chosen.mean() == pytest.approx(rate, abs=5 * np.sqrt(2 * rate * (1 - rate) / mine.sum()))


def test_sentences_hold_the_numbers_of_the_table():
    text = " ".join([say.describe_quiet(SUMMARY), say.describe_found(SUMMARY), say.describe_share(SUMMARY)])
    assert f"Over all {len(QUIET)} quiet years" in text
    assert "nan" not in text
    assert " 1 months" not in text
    assert text.count("The TPR of one group drops") == 2
    assert say.tabulate_years(SUMMARY).count("\n") == 1 + len(SUMMARY)


def test_without_a_planted_world_nothing_is_drawn():
    assert "Nothing was planted" in draw_delays(QUIET).texts[0].get_text()
