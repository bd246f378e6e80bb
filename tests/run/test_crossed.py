"""A cross goes through everything that an attribute goes through."""

import numpy as np
import pytest

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.pockets.data import declare_contrasts
from auditbook.run.tables import make_tables
from auditbook.scoring import score_cohort
from cohorts import write_cohort

CROSS = (
    '[attributes.race_sex]\ncross = ["race", "sex"]\n'
    '[protocol]\nmetrics = ["DI", "EOD", "CAL"]\nresamples = 20\naudit_sizes = [500]\n'
)
PLACES = ("cohort_groups", "groups", "pooled_rates", "verdicts", "contrasts", "auc_matrix", "calibration")


@pytest.fixture(scope="module", params=[0.3, 0.003], ids=["common", "rare"])
def audited(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("crossed")
    path = write_cohort(
        folder, rows=3_000, groups=9, sites=0, missing=0.03, event_rate=request.param, extra=CROSS
    )
    file = read_cohort_file(path)
    cohort = load_cohort(file, cache_dir=folder)
    scored = score_cohort(cohort, protocol=file.protocol, cache_dir=folder, jobs=1)
    return cohort, make_tables(cohort, scored, file.protocol)


@pytest.mark.parametrize("name", PLACES)
def test_a_cross_has_its_rows_in_every_table_of_groups(audited, name):
    cohort, tables = audited
    table = tables[name][tables[name]["attribute"] == "race_sex"]
    assert len(table)
    for column in {"group", "event_group"} & set(table):
        assert set(table[column]) <= {*cohort.attributes[-1].groups, "all"}


def test_a_cross_is_judged_by_every_metric_and_shown_on_the_same_board(audited):
    verdicts = audited[1]["verdicts"]
    assert set(verdicts[verdicts["attribute"] == "race_sex"]["metric"]) == {"DI", "EOD", "CAL"}
    assert (verdicts["shown"] != "").all()


def test_groups_of_a_cross_add_up_to_those_of_its_parts(audited):
    groups = audited[1]["groups"].set_index(["attribute", "group"])["n"]
    crossed, race = groups["race_sex"], groups["race"]
    for name in race.index.drop("(missing)"):
        assert race[name] == crossed[[f"{name}, {sex}" for sex in ("female", "male")]].sum()
    assert crossed["(missing)"] == race["(missing)"]


def test_pooled_rates_of_a_cross_stay_within_bounds(audited):
    table = audited[1]["pooled_rates"]
    known = table[table["reason"] == ""]
    assert ((known["low"] <= known["pooled"]) & (known["pooled"] <= known["high"])).all()
    assert known["shrinkage"].between(0, 1).all()
    assert (table[table["reason"] != ""]["pooled"].isna()).all()


def test_contrasts_of_a_cross_are_taken_against_the_largest_group(audited):
    cohort = audited[0]
    both = cohort.attributes[-1]
    pairs = declare_contrasts((both,))
    assert {pair.reference for pair in pairs} == {both.groups[int(np.argmax(np.bincount(both.codes)))]}
    assert len(pairs) == len(both.groups) - 1
