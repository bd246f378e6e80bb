"""A watch from look to look: late records, empty windows, reruns, and what it finds."""

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from auditbook.errors import InputError
from auditbook.evidence import open_stream
from auditbook.months import (
    Ledger,
    Stream,
    Watched,
    count_late,
    draw_watch,
    limit_changes,
    read_ledger,
    run_length,
    summarise_watch,
    tell_watch,
    watch_windows,
    write_ledger,
    write_watch_page,
)
from auditbook.records import select_records
from auditbook.studies.watching.worlds import WORLDS, define_watch, draw_stream

DEFINITION = define_watch()
SMALL = replace(WORLDS[2], months=8, records=2_000, later=(0.7, 0.25, 0.7))


def start(ledger=None):
    return replace(ledger or Ledger("d"), start=date(2024, 1, 1))


@pytest.fixture(scope="module")
def stream():
    return draw_stream(SMALL, open_stream(3, "test"))


@pytest.fixture(scope="module")
def ledger(stream):
    return watch_windows(stream, start(), DEFINITION)


def cut(stream, months, hidden=None):
    """Leave out what has not come yet."""
    known = stream.place < months if hidden is None else (stream.place < months) & ~hidden
    return Stream(select_records(stream.records, known), stream.place[known], months)


def tables(ledger):
    return [ledger.looks, ledger.gaps, ledger.cells, ledger.changes]


def as_watched(ledger, late=0, undated=0):
    return Watched("trial", "Trial", ledger, DEFINITION, late, undated)


def test_look_by_look_is_all_at_once(stream, ledger):
    step = start()
    for months in range(1, stream.complete + 1):
        step = watch_windows(cut(stream, months), step, DEFINITION)
    for one, other in zip(tables(step), tables(ledger), strict=True):
        pd.testing.assert_frame_equal(one, other, check_dtype=False)


def test_a_second_call_on_the_same_data_changes_no_byte(stream, ledger, tmp_path):
    write_ledger(ledger, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = watch_windows(stream, read_ledger(tmp_path, definition="d"), DEFINITION)
    write_ledger(again, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_look_after_a_stop_is_the_look_without_one(stream, ledger, tmp_path):
    write_ledger(watch_windows(cut(stream, 5), start(), DEFINITION), tmp_path)
    after = watch_windows(stream, read_ledger(tmp_path, definition="d"), DEFINITION)
    np.testing.assert_allclose(
        after.gaps["most_fail"].astype(float), ledger.gaps["most_fail"].astype(float), rtol=1e-8, atol=1e-8
    )
    assert after.cells["shown"].tolist() == ledger.cells["shown"].tolist()
    assert after.changes["changed"].tolist() == ledger.changes["changed"].tolist()


def test_late_records_wait_for_the_next_look_and_change_no_look_that_was_taken(stream):
    late = (np.arange(len(stream.place)) % 50 == 0) & (stream.place == 1)
    first = watch_windows(cut(stream, 3, late), start(), DEFINITION)
    arrived = cut(stream, 3)
    same = watch_windows(arrived, first, DEFINITION)
    assert all(one is other for one, other in zip(tables(same), tables(first), strict=True))
    assert count_late(arrived, same) == late.sum()
    after = watch_windows(cut(stream, 4), same, DEFINITION)
    assert after.looks["late"].tolist() == [0, 0, 0, late.sum()]
    assert after.looks["total"].iloc[-1] == (stream.place < 4).sum()
    assert count_late(cut(stream, 4), after) == 0


def test_records_that_are_gone_are_refused(stream):
    first = watch_windows(cut(stream, 3), start(), DEFINITION)
    gone = cut(stream, 3, stream.place == 0)
    with pytest.raises(InputError, match="records are gone"):
        watch_windows(gone, first, DEFINITION)


def test_an_empty_window_is_a_look_that_says_nothing_new(stream):
    hidden = stream.place == 2
    found = watch_windows(cut(stream, 4, hidden), start(), DEFINITION)
    assert found.looks["status"].tolist() == ["looked", "looked", "no new record", "looked"]
    assert found.looks["records"].iloc[2] == 0
    assert set(found.gaps["look"]) == {0, 1, 3}


def test_a_first_look_without_enough_records_judges_nothing(stream):
    few = np.flatnonzero(stream.place == 0)[:25]
    kept = np.isin(np.arange(len(stream.place)), few)
    found = watch_windows(
        Stream(select_records(stream.records, kept), stream.place[kept], 1), start(), DEFINITION
    )
    assert set(found.cells["shown"]) == {"none"}
    assert not len(found.gaps)
    assert draw_watch(found) is None
    said = as_watched(found)
    assert "beyond its threshold: cannot be judged yet: no two groups have enough records" in tell_watch(said)
    assert summarise_watch(said, alarm=False)["judged"] == 0


@pytest.mark.parametrize(("records", "said"), [(8, "cannot be asked"), (25, "nothing is shown; of")])
def test_a_baseline_with_too_few_records_is_no_sign_that_nothing_changed(stream, records, said):
    few = np.flatnonzero(stream.place < DEFINITION.baseline)[:records]
    kept = (stream.place == DEFINITION.baseline) | np.isin(np.arange(len(stream.place)), few)
    found = watch_windows(cut(stream, DEFINITION.baseline + 1, ~kept), start(), DEFINITION)
    assert tell_watch(as_watched(found))[-1].startswith(f"changed: {said}")


def test_a_quiet_watch_says_how_much_of_its_board_cannot_be_judged(ledger):
    cells = ledger.cells.assign(shown="open").replace({"metric": {"PP": "EOD"}})
    last = cells["metric"] == "SPD"
    quiet = as_watched(replace(ledger, cells=cells.assign(shown=np.where(last, "none", "open"))))
    assert "beyond its threshold: nothing is shown; 1 cell of 4 cannot be judged yet" in tell_watch(quiet)
    line = summarise_watch(quiet, alarm=False)
    assert (line["judged"], line["cells"]) == (3, 4)


def test_one_window_only_has_a_gap_question_and_no_change_question(stream):
    found = watch_windows(cut(stream, 1), start(), DEFINITION)
    said = tell_watch(as_watched(found))
    assert "1 look, the last" in said[0]
    assert said[-1] == "changed: cannot be asked before the baseline of 3 windows is over"


def test_before_the_first_window_is_over_a_watch_waits():
    said = as_watched(Ledger(), undated=1)
    assert tell_watch(said) == [
        "watched: Trial: no window is over yet, so there is nothing to look at",
        "without a date: 1 record, which no look sees",
    ]
    assert summarise_watch(said, alarm=False)["status"] == "waiting"
    assert "## Looks" not in write_watch_page(said, figure="")


def test_the_planted_change_is_told_with_its_group_and_when(ledger):
    changed = as_watched(ledger).alarms("change")
    assert changed
    assert {"group 2"} <= {one.group for one in changed} | {one.other for one in changed}
    assert min(one.since for one in changed) >= "2024-04-01"
    assert all(np.isfinite([one.low, one.high]).all() for one in changed)


def test_the_line_for_a_scheduler_holds_no_nan(ledger):
    import json

    line = json.dumps(summarise_watch(as_watched(ledger, late=2), alarm=True), allow_nan=False)
    assert "changed" in json.loads(line)["status"]


def test_the_page_escapes_what_the_cohort_says(ledger):
    gaps = ledger.gaps.assign(group="<b>| x")
    changes = ledger.changes.assign(group="<b>| x")
    page = write_watch_page(as_watched(replace(ledger, gaps=gaps, changes=changes)), figure="watch.svg")
    assert "<b>" not in page
    assert "None" not in page
    assert "nan" not in page


def test_a_watch_of_several_sites_speaks_of_these(ledger):
    watched = as_watched(ledger)
    assert "other sites" in write_watch_page(replace(watched, by_site=True), figure="")
    assert "sites" not in write_watch_page(watched, figure="")


def test_another_definition_is_refused_with_the_cure(ledger, tmp_path):
    write_ledger(ledger, tmp_path)
    with pytest.raises(InputError, match="--restart"):
        read_ledger(tmp_path, definition="other")


def test_a_damaged_ledger_is_told(ledger, tmp_path):
    write_ledger(ledger, tmp_path)
    (tmp_path / "gaps.csv").write_text("look,model\n1,a\n", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as the ledger"):
        read_ledger(tmp_path, definition="d")


def test_a_look_of_which_not_all_was_written_is_taken_again(stream, ledger, tmp_path):
    write_ledger(watch_windows(cut(stream, 5), start(), DEFINITION), tmp_path)
    looks = (tmp_path / "looks.csv").read_bytes()
    write_ledger(ledger, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "looks.csv").write_bytes(looks)  # As where a process ends before it writes the last table
    cut_off = read_ledger(tmp_path, definition="d")
    assert [int(table["look"].astype(int).max()) for table in tables(cut_off)] == [4] * 4
    write_ledger(watch_windows(stream, cut_off, DEFINITION), tmp_path)
    again = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert again["looks.csv"] == before["looks.csv"]
    assert len(again["gaps.csv"].splitlines()) == len(before["gaps.csv"].splitlines())


def test_a_ledger_that_lacks_a_look_or_nests_without_end_is_told(ledger, tmp_path):
    write_ledger(ledger, tmp_path)
    lines = (tmp_path / "looks.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "looks.csv").write_text("".join(lines[:2] + lines[3:]), encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as the ledger"):
        read_ledger(tmp_path, definition="d")
    (tmp_path / "ledger.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as the ledger"):
        read_ledger(tmp_path, definition="d")


def test_names_of_groups_change_no_conclusion(stream, ledger):
    attribute = stream.records.attributes[0]
    turned = replace(
        stream.records,
        attributes=(replace(attribute, groups=attribute.groups[::-1], codes=2 - attribute.codes),),
    )
    found = watch_windows(replace(stream, records=turned), start(), DEFINITION)
    assert found.cells["shown"].tolist() == ledger.cells["shown"].tolist()
    np.testing.assert_allclose(
        found.cells["most_fail"].astype(float), ledger.cells["most_fail"].astype(float), atol=1e-9
    )


def test_the_limit_grows_with_streams_and_windows_a_year():
    assert np.exp(limit_changes(24, 12, 0.05)) == pytest.approx(24 * 12 / 0.05)
    assert run_length(4, 0.05) == 40
