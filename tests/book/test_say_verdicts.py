"""What is said of flip rates is true of every cohort."""

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say import verdicts as say
from auditbook.book.say.text import table_html
from auditbook.errors import InputError
from auditbook.settings import Protocol
from auditbook.verdicts.flip_sweeps import resample_sizes, sweep_flip_rates
from runs_fixture import KINDS

PROTOCOL = Protocol()
THREE_ERRORS = 3  # standard errors of Monte Carlo that a simulated share may be off


def cell_rows(**columns):
    """Make rows of verdicts.csv; what is not given is a stable pass."""
    base = {"model": "m", "metric": "DI", "attribute": "a", "verdict": "pass", "reason": ""}
    base |= {"vfr": 0.0, "vfr_own_size": 0.0, "vfr_site": np.nan, "site_count": np.nan, "agrees": 1.0}
    base |= {"undefined_share_own_size": 0.0, "undefined_share_site": np.nan}
    base |= {"undefined_share": 0.0, "resample_size": 1000, "estimate": 0.9, "threshold": 0.8}
    return pd.DataFrame([base | row for row in _transpose(columns)])


def _transpose(columns):
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_is_said_of_every_cohort(runs, kind):
    run = runs[kind]
    for model in run.models["model"]:
        cells = say.rank_cells(run.verdicts, model=model)
        cell = say.pick_cell(cells)
        counts = say.take_counts(run.groups, model=model, attribute=cell["attribute"])
        found = resample_sizes(
            counts, cell["metric"], sizes=(50, 10**9), resamples=20, rng=np.random.default_rng(1)
        )
        said = [say.describe_agreement(cells), say.describe_undefined(cells), say.describe_cell(cell, found)]
        judged = (say.describe_flip_rates, say.describe_own_size, say.describe_sites)
        said += [describe(cells, run.protocol) for describe in judged]
        assert all(said)
        assert not any("<" in text or "nan%" in text for text in said)
        assert "<table" in table_html(cells, say.FLIP_COLUMNS)
        assert "<table" in table_html(say.list_flip_rates(found), say.SIZE_COLUMNS)


def test_cells_are_ranked_by_flip_rate_with_missing_last():
    cells = cell_rows(vfr=[0.1, np.nan, 0.4], metric=["DI", "TI", "PP"])
    assert say.rank_cells(cells, model="m")["metric"].tolist() == ["PP", "DI", "TI"]


def test_inconclusive_cells_count_as_neither_stable_nor_unstable():
    cells = cell_rows(vfr=[0.3, 0.0, 0.5], verdict=["fail", "pass", "inconclusive"])
    said = say.describe_flip_rates(cells, PROTOCOL)
    assert said.startswith("2 of 3 cells have a verdict")
    assert "1 of these are stable" in said
    assert "Not stable: DI for a." in said


def test_flip_rate_at_the_bound_is_stable():
    assert "and 0 are not" in say.describe_flip_rates(cell_rows(vfr=[0.10]), PROTOCOL)


def test_nothing_judged_is_said_to_lack_support():
    said = say.describe_flip_rates(cell_rows(verdict=["inconclusive"], vfr=[np.nan]), PROTOCOL)
    assert "support" in said


def test_cells_that_only_the_larger_size_settles_are_named():
    cells = cell_rows(vfr=[0.4, 0.4], vfr_own_size=[0.02, 0.3], metric=["EOPP", "PP"])
    assert "Stable only at the larger size: EOPP for a." in say.describe_own_size(cells, PROTOCOL)


def test_missing_sites_are_said_and_few_sites_are_a_hint():
    assert "names no site" in say.describe_sites(cell_rows(vfr=[0.0]), PROTOCOL)
    few = cell_rows(vfr_site=[0.3], site_count=[4])
    said = say.describe_sites(few, PROTOCOL)
    assert "Stable over records but not over sites: DI for a." in said
    assert "hint" in said


def test_cells_whose_resamples_contradict_the_sample_are_named():
    assert "most resamples say the opposite" in say.describe_agreement(cell_rows(agrees=[0.0]))
    assert say.describe_agreement(cell_rows(agrees=[1.0])).startswith("In no cell")


def test_undefined_resamples_are_counted():
    assert "12.0%" in say.describe_undefined(cell_rows(undefined_share=[0.12]))
    over_sites = say.describe_undefined(cell_rows(undefined_share_site=[0.37]))
    assert "37.0% of them when whole sites are drawn (DI for a)" in over_sites
    assert "in every resample" in say.describe_undefined(cell_rows(undefined_share=[0.0]))


def test_closest_cell_is_the_least_stable_one_made_of_counts():
    cells = say.rank_cells(
        cell_rows(metric=["CAL", "PP", "EOPP"], vfr=[0.5, 0.2, 0.3], verdict=["pass", "pass", "fail"]),
        model="m",
    )
    assert say.pick_cell(cells)["metric"] == "EOPP"
    assert say.pick_cell(cells, metric="PP")["metric"] == "PP"


def test_metric_made_of_scores_is_refused_with_those_that_can_be_chosen():
    cells = cell_rows(metric=["CAL", "PP"])
    with pytest.raises(InputError, match=r"no metric made of counts 'CAL'.*it has: PP"):
        say.pick_cell(cells, metric="CAL")


def test_groups_without_records_are_left_out_of_the_counts():
    groups = pd.DataFrame({"model": "m", "attribute": "a", "n": [4, 0], "tp": [1, 0], "fp": [1, 0]})
    counts = say.take_counts(groups.assign(fn=[1, 0], tn=[1, 0]), model="m", attribute="a")
    assert counts.tolist() == [[1, 1, 1, 1]]


def test_sizes_beyond_the_whole_are_taken_once():
    counts = np.array([[40, 10, 10, 40], [35, 15, 15, 35]])
    found = resample_sizes(counts, "EOPP", sizes=(50, 200, 9999), resamples=5, rng=np.random.default_rng(1))
    assert list(found) == ["N = 50", "N = 200"]
    assert len(say.list_draws(found)) == 10


@pytest.mark.parametrize(("size", "vfr"), [(10_000, 0.4696), (185_026, 0.0569)])
def test_published_race_eopp_flips_as_published(size, vfr):
    draws = 4_000
    table = sweep_flip_rates(
        say.read_published_counts("race"),
        ["EOPP"],
        sizes=[size],
        resamples=draws,
        rng=np.random.default_rng(7),
    )
    tolerance = 0.005 + THREE_ERRORS * np.sqrt(vfr * (1 - vfr) / draws)
    assert table["value"].item() == pytest.approx(vfr, abs=tolerance)
    assert f"{size:,} records" in say.describe_published(table)


def test_one_site_is_never_drawn_as_many(runs):
    one = say.describe_sites(cell_rows(site_count=[1.0]), PROTOCOL)
    assert one == "All audited records come from one site, so whole sites cannot be drawn."
    none = say.describe_sites(cell_rows(site_count=[4.0], verdict=["inconclusive"], vfr=[np.nan]), PROTOCOL)
    assert none == "Without a verdict there is no flip rate over whole sites either."
