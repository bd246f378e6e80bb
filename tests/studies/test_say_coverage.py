"""What the chapter says of the stored intervals is what is stored."""

import pandas as pd
import pytest

from auditbook.studies.coverage.compare import KINDS, compare_coverage, find_least, read_coverage
from auditbook.studies.coverage.study import FIGURES
from auditbook.studies.coverage.worlds import WORLDS
from auditbook.studies.say import coverage as say


def test_the_table_has_every_figure_and_no_blank():
    table = say.list_coverage(read_coverage())
    assert table["figure"].tolist() == list(FIGURES)
    assert table[[column.name for column in say.COLUMNS]].notna().all().all()


def test_the_lowest_of_each_kind_is_found():
    stored = read_coverage()
    table = compare_coverage(stored)
    assert find_least(stored).coverage == table[list(KINDS)].min(axis=None) == stored["coverage"].min()
    sites = stored[stored["world"].isin([world.name for world in WORLDS if world.sites and not world.spread])]
    expected = sites.groupby("figure")["coverage"].min()
    assert table.set_index("figure")["equal_sites"].to_dict() == pytest.approx(expected.to_dict())


def test_the_sentence_names_the_lowest_with_its_interval():
    rows = [
        ("independent records", "rate", 400, 0.95),
        ("1 to 10 stays a patient", "rate", 400, 0.931),
        ("30 sites, sizes spread by 1", "AUROC", 1_200, 0.904),
    ]
    stored = pd.DataFrame(rows, columns=["world", "figure", "audits", "coverage"]).assign(low=0.88, high=0.92)
    told = say.describe_coverage(stored)
    assert "AUROC with 30 sites of very unequal size: in 90.4% (88.0% to 92.0%) where 95% were asked" in told
    assert "over 1,200 audits" in told
    assert "Without sites the lowest is 93.1%, of the rate with one to 10 stays a patient." in told


def test_every_population_has_a_name_of_its_own():
    assert len({say.name_world(world) for world in WORLDS}) == len(WORLDS)
