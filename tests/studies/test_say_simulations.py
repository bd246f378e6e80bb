"""What is said of stored simulations follows from them: all worlds, some, one replicate, or none stored."""

import re

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from auditbook.book.say.text import table_html
from auditbook.evidence.intervals import wilson_interval
from auditbook.run.chapters import read_chapter
from auditbook.studies.say import simulation_printed as printed
from auditbook.studies.say import simulation_quiet as quiet
from auditbook.studies.say import simulation_verdicts as verdicts
from auditbook.studies.say import simulations as say
from auditbook.studies.simulations.quiet import chance_apart, level_of, measure_coverage, pool_quiet
from auditbook.studies.simulations.real_worlds import REAL
from auditbook.studies.simulations.scenarios import ERRORS, GAPS, SCENARIOS, WORLDS
from auditbook.studies.simulations.scoring import count_verdicts
from auditbook.studies.simulations.sizes import QUICK
from auditbook.studies.simulations.synthetic_worlds import SYNTHETIC
from stored_simulations import KINDS, store_simulations

CHAPTERS = ("simulations-quiet", "simulations-gaps", "simulations-errors", "simulations-groupings")
SHOWN = ("combined", "forest", "ridge", "leiden", say.STRONGEST, "oracle")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {kind: store_simulations(tmp_path_factory.mktemp(kind), kind) for kind in KINDS}


@pytest.fixture(scope="module")
def stored(folders):
    return {kind: say.open_simulations(str(folder)) for kind, folder in folders.items()}


def well_said(texts):
    return not any(re.search(r"<|\bnan\b|\binf\b|\$|None|\[", text) for text in texts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", verdicts.SETTINGS)
def test_scores_are_told_of_whatever_is_stored(stored, kind, setting):
    found = stored[kind]
    table = say.pick_scores(found, *setting, SHOWN)
    said = [say.announce(found), say.name_not_run(found, setting[0]), say.describe_rows(table)]
    said += [say.describe_leaders(found, *setting), say.describe_oracle(found, *setting)]
    said += [say.describe_precision(found, *setting), say.describe_tested(found, *setting)]
    said += [say.describe_pockets(found.replicates), say.describe_regions(found, *setting)]
    for method in say.OWN:
        differences = say.pick_differences(found, *setting, method)
        said.append(say.describe_differences(differences, method))
        assert "<table" in table_html(differences, say.DIFFERENCE_COLUMNS)
    assert "<table" in table_html(table, say.SHOWN_COLUMNS)
    assert "<table" in table_html(say.list_scenarios(found, setting[0]), say.SCENARIO_COLUMNS)
    assert well_said(said), said


@pytest.mark.parametrize("kind", KINDS)
def test_quiet_audits_are_told_of_whatever_is_stored(stored, kind):
    found = stored[kind]
    said = [quiet.describe_pooled(pool_quiet(found.quiet)), quiet.describe_sites(found)]
    for question in quiet.QUESTIONS:
        table = quiet.lay_out_quiet(found, question)
        said.append(quiet.describe_quiet(table, question))
        assert "<table" in table_html(table, quiet.QUIET_TABLE)
    beside, coverage = quiet.compare_printed(found), measure_coverage(found.replicates)
    said += [quiet.describe_printed(beside), quiet.describe_coverage(coverage)]
    assert "<table" in table_html(beside, quiet.PRINTED_COLUMNS)
    assert "<table" in table_html(coverage, quiet.COVERAGE_COLUMNS)
    assert "<table" in table_html(pool_quiet(found.quiet), quiet.POOLED_COLUMNS)
    assert "<table" in table_html(quiet.list_worlds(found), quiet.WORLD_COLUMNS)
    assert well_said(said), said


@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_and_claims_are_told_of_whatever_is_stored(stored, kind):
    found = stored[kind]
    counts, claims = verdicts.count_against(found.compared), printed.check_claims(found)
    beside, situations = printed.compare_printed_errors(found), verdicts.lay_out_situations(found)
    said = [verdicts.describe_counts(counts), printed.describe_claims(claims, found)]
    said += [printed.describe_printed_errors(beside), printed.describe_plain(beside)]
    said += [verdicts.describe_situations(situations), verdicts.describe_masking(found.scores)]
    said += [verdicts.describe_shift(found.scores), verdicts.describe_hard(found, "irrelevant")]
    for question in ("", "gap", "error"):
        regret = verdicts.measure_regret(found, question)
        said.append(verdicts.describe_regret(regret))
        assert "<table" in table_html(regret, verdicts.REGRET_COLUMNS)
    for table, columns in (
        (counts, verdicts.COUNT_COLUMNS),
        (claims, printed.CLAIM_COLUMNS),
        (beside, printed.PRINTED_LOCAL_COLUMNS),
        (situations, verdicts.SITUATION_COLUMNS),
        (printed.compare_printed_gaps(found), printed.FIGURE_COLUMNS),
    ):
        assert "<table" in table_html(table, columns)
    assert well_said(said), said


@pytest.mark.parametrize("kind", ["all", "none"])
@pytest.mark.parametrize("name", CHAPTERS)
def test_every_cell_of_a_chapter_runs_with_and_without_stored_results(folders, kind, name):
    space = {}
    for cell in read_chapter(name).cells:
        if cell.cell_type == "code":
            exec(cell.source, space)
        if "parameters" in cell.metadata.get("tags", []):
            space["simulations_dir"] = str(folders[kind])
    plt.close("all")


def test_missing_results_are_announced_with_the_command_that_makes_them(stored):
    assert not stored["none"].stored
    assert "auditbook simulate --profile standard --data DIR --keep" in say.announce(stored["none"])


def test_worlds_that_were_not_run_are_named_and_counted_nowhere(stored):
    found = stored["continuous"]
    assert "diabetes" in say.announce(found)
    assert say.name_not_run(found, "gap") == (
        "Not run, and in no count: numbers 10, 11, 12, 13, 14, 15, 16 and 17."
    )
    listed = say.list_scenarios(found, "gap")
    assert list(listed["run"][8:11]) == ["4", say.NOT_RUN, say.NOT_RUN]
    claims = printed.check_claims(found).set_index("claim")
    assert claims.loc["gap in one tail: it loses", "here"] == say.NOT_RUN
    assert sum(map(int, claims.iloc[0]["here"].split("/"))) == 9


@pytest.mark.parametrize(
    ("wins", "neither", "losses", "most", "none"),
    [(9, 6, 2, "yes", "no"), (3, 13, 1, "open", "no"), (1, 7, 9, "no", "no"), (0, 1, 0, "open", "open")],
)
def test_a_claim_that_undecided_scenarios_could_bear_out_is_open(wins, neither, losses, most, none):
    says = pd.Series(["win"] * wins + ["not distinguishable"] * neither + ["loss"] * losses)
    assert printed._mostly_won(says) == most
    assert printed._all_lost(says) == none


def test_a_folder_that_lacks_one_of_the_files_counts_as_empty(folders, tmp_path):
    for path in folders["one"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert say.open_simulations(str(tmp_path)).stored
    (tmp_path / "pockets_quiet.csv").unlink()
    assert not say.open_simulations(str(tmp_path)).stored


def test_flagging_everyone_scores_what_the_share_affected_gives(stored):
    gaps = say.flag_everything(stored["all"].replicates, "gap", "larger")
    assert gaps[1] == pytest.approx(2 * 0.2 / 1.2)
    assert gaps[8] == pytest.approx(0.2 / 1.2)


def test_levels_are_those_of_outcome_and_units():
    assert {level_of(world.name) for world in WORLDS if world.continuous} == {0.05}
    assert level_of("diabetes") == 0.025
    assert level_of("stays by hospital") == 0.0125
    assert set(quiet.TITLES) == {world.name for world in WORLDS}


def test_worlds_with_whole_sites_are_those_that_are_drawn_so():
    sites = {world.name for world in REAL if world.draw.keywords["unit_kind"] == "site"}
    for world in SYNTHETIC:
        drawn = world.draw(np.random.default_rng(1), QUICK, None)
        sites |= {world.name} if drawn.audit.data.unit_kind == "site" else set()
    assert sites == set(quiet.BY_SITE)


def test_published_designs_are_found_by_their_printed_names():
    table = quiet.compare_printed(say.open_simulations("nowhere"))
    assert len(table) == 14
    assert table["printed_high"].notna().all()
    assert table["share"].isna().all()


def test_chance_puts_as_many_rows_apart_as_the_binomial_distribution_says():
    above, below = chance_apart(300, 0.05)
    counts = np.arange(301)
    ends = wilson_interval(counts, np.full(301, 300))
    assert above == pytest.approx(binom.sf(counts[ends.low > 0.05].min() - 1, 300, 0.05))
    assert 0.01 < above < 0.04
    assert 0.01 < below < 0.04
    assert chance_apart(10, 0.0125)[1] == 0


def test_rows_above_their_level_are_named_and_others_are_not():
    base = {"title": "t", "replicates": 60, "audits": 300, "independent": 300, "level": 0.05}
    loud = base | {"method": "forest", "share": 0.12, "share_low": 0.09, "share_high": 0.16}
    fine = base | {"method": "ridge", "share": 0.06, "share_low": 0.04, "share_high": 0.09}
    text = quiet.describe_quiet(pd.DataFrame([loud, fine]), "gap")
    assert "in 1 of 2 rows the whole interval lies above" in text
    assert "t, forest: 12.0%" in text
    assert "ridge" not in text


def test_pooled_shares_are_those_of_all_audits_together(stored):
    found = stored["all"]
    row = pool_quiet(found.quiet).query("family == 'continuous' and asked == 'gap' and method == 'forest'")
    part = found.quiet.query("question == 'gap' and method == 'forest'")
    part = part[part["world"].isin([world.name for world in WORLDS if world.continuous])]
    assert row["share"].iloc[0] == pytest.approx(part["flagged"].sum() / part["audits"].sum())
    assert row["audits"].iloc[0] == part["audits"].sum() == 6 * 4 * 2


def test_counts_against_the_strongest_are_the_stored_verdicts(stored):
    compared = stored["all"].compared
    own = verdicts.count_against(compared).query("against == 'strongest'")
    kept = count_verdicts(compared)
    assert own[["win", "neither", "loss"]].to_numpy().tolist() == (
        kept[["win", "not distinguishable", "loss"]].to_numpy().tolist()
    )


def pair(method, other, says, *, number=1, f1_other=0.5):
    keys = {"question": "gap", "shift": "larger", "number": number, "method": method, "other": other}
    return keys | {"says": says, "f1_other": f1_other, "replicates": 60}


def test_beating_all_needs_every_win_and_one_loss_is_enough_to_lose():
    compared = pd.DataFrame(
        [
            pair("combined", "k-means", "win"),
            pair("combined", "cem", "win"),
            pair("combined", "k-means", "win", number=2),
            pair("combined", "cem", "loss", number=2),
            pair("combined", "k-means", "win", number=3),
            pair("combined", "cem", "not distinguishable", number=3),
        ]
    )
    found = printed.beat_all(compared, "gap", "larger")
    assert found.to_dict() == {1: "win", 2: "loss", 3: "not distinguishable"}


def test_the_strongest_is_chosen_anew_when_a_rival_is_left_out():
    compared = pd.DataFrame(
        [pair("combined", "targeted", "loss", f1_other=0.9), pair("combined", "k-means", "win", f1_other=0.3)]
    )
    counts = verdicts.count_against(compared, ("combined",))
    assert counts.iloc[0][["against", "win", "loss"]].tolist() == ["strongest", 0, 1]
    counts = verdicts.count_against(compared, ("combined",), without=("targeted",))
    assert counts.iloc[0][["against", "win", "loss"]].tolist() == ["strongest", 1, 0]


def test_every_scenario_is_in_some_situation_and_none_is_empty():
    held = {each.name: [one for one in SCENARIOS if each.holds(one)] for each in verdicts.SITUATIONS}
    assert all(held.values())
    assert {id(one) for found in held.values() for one in found} == {id(one) for one in SCENARIOS}


def test_regret_is_measured_from_the_best_of_each_scenario(stored):
    scores = stored["one"].scores
    regret = verdicts.measure_regret(stored["one"], "gap").set_index("method")
    part = scores[(scores["question"] == "gap") & (scores["method"] != "oracle")]
    best = part.groupby("number")["f1"].max()
    own = part[part["method"] == "forest"].set_index("number")["f1"]
    assert regret.loc["forest", "behind"] == pytest.approx((best - own).mean())
    assert "oracle" not in regret.index
    assert regret["behind"].min() >= 0


def test_printed_scores_stand_beside_the_scenario_that_they_belong_to(stored):
    table = printed.compare_printed_errors(stored["all"]).set_index(["scenario", "shift"])
    row = table.loc[("linear risk", "smaller")]
    assert (row["printed_combined"], row["printed_targeted"], row["printed_other"]) == (0.73, 0.19, 0.55)
    assert len(table) == 2 * sum(bool(each.published) for each in ERRORS)
    assert not set(table["named"]) & set(say.TARGETED)


def test_regions_and_scenarios_are_all_in_words():
    assert {each.region for each in GAPS + ERRORS} == set(say.REGIONS)
