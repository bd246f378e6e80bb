"""A cohort that is counted by the workers of a Dask cluster has the counts of its table, to the last byte."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from auditbook import cluster as ground
from auditbook.cli import main
from auditbook.cluster import check_workers, digest_source
from auditbook.cohort import list_text_columns, name_needed
from auditbook.counting import count_cohort, on_cluster
from auditbook.counting.beside import Task
from auditbook.counting.units import divide_units, list_parts
from auditbook.errors import InputError, RunError
from auditbook.project import package_version
from auditbook.tables import Chunk, open_chunks
from auditbook.tables.columnar_chunks import ColumnarFile
from counted_cohorts import assert_equal, write_cohort

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::UserWarning"
)


@pytest.fixture(scope="module")
def scheduler():
    """A cluster within this process."""
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**how, protocol="tcp", host="127.0.0.1", silence_logs=50) as cluster:
        yield cluster.scheduler_address


BY_UNIT = pytest.param("parquet", 1, '[unit]\ncolumn = "patient"', marks=pytest.mark.slow)


@pytest.mark.parametrize(("kind", "files", "unit"), [("parquet", 2, ""), ("csv", 1, ""), BY_UNIT])
def test_a_cluster_counts_what_one_process_does(tmp_path, scheduler, kind, files, unit):
    file = write_cohort(tmp_path, kind=kind, files=files, unit=unit)
    here, there = (count_cohort(file, rows=97, scheduler=one) for one in ("", scheduler))
    assert_equal(there.tally, here.tally)
    assert (there.rows_read, there.left_out, there.data_hash) == (
        here.rows_read,
        here.left_out,
        here.data_hash,
    )
    assert there.unplaced.keys() == here.unplaced.keys()


def test_rows_of_units_travel_with_their_task(tmp_path):
    file = write_cohort(tmp_path, kind="parquet", unit='[unit]\ncolumn = "patient"')
    how = {"columns": name_needed(file), "text_columns": list_text_columns(file), "form": file.data.format}
    parts = (
        part for chunk in open_chunks(file.find_data(), **how).each_chunk() for part in chunk.each_table()
    )
    divide_units(file, parts, tmp_path, parts=2)
    task = Task(file, "stays", {}, units=list_parts(tmp_path)[0])
    dumps, loads = distributed.protocol.pickle.dumps, distributed.protocol.pickle.loads
    sent = loads(dumps(on_cluster._carry(task)))
    assert sent.units is None
    assert_equal(sent.count().tally, task.count().tally)


@pytest.mark.slow
def test_a_worker_that_is_killed_midway_changes_no_byte(tmp_path, monkeypatch):
    file = write_cohort(tmp_path, kind="csv")
    here = count_cohort(file, rows=20)
    counted, add = [], on_cluster.CountedPart
    how = {"n_workers": 3, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how, silence_logs=50) as cluster:
        victim = next(iter(cluster.workers.values())).process.pid
        whole = on_cluster._count

        def count(client, tasks):
            for part in whole(client, tasks):
                assert isinstance(part, add)
                counted.append(part)
                if len(counted) == 3:
                    os.kill(victim, signal.SIGKILL)
                yield part

        monkeypatch.setattr(on_cluster, "_count", count)
        there = count_cohort(file, rows=20, scheduler=cluster.scheduler_address)
    assert len(counted) > 6
    assert_equal(there.tally, here.tally)


def test_a_counts_file_of_a_cluster_has_the_same_bytes(tmp_path, scheduler):
    file = write_cohort(tmp_path, kind="parquet")
    for name, how in (("here", []), ("there", ["--scheduler", scheduler])):
        call = ["counts", str(file.path), "--output", str(tmp_path / f"{name}.json"), "--no-suppression"]
        assert main([*call, *how]) == 0
    assert (tmp_path / "here.json").read_bytes() == (tmp_path / "there.json").read_bytes()


def test_faults_of_the_data_come_back_as_they_are(tmp_path, scheduler):
    file = write_cohort(tmp_path, kind="parquet")
    with pytest.raises(InputError) as here:
        count_cohort(break_scores(file))
    with pytest.raises(InputError) as there:
        count_cohort(break_scores(file), scheduler=scheduler)
    assert there.value.faults == here.value.faults


def break_scores(file):
    """Take a column of text for a score."""
    first, *others = file.scores
    return replace(file, scores=(replace(first, column=file.attributes[0].column), *others))


def test_a_file_that_a_worker_does_not_see_is_named(scheduler):
    away = ColumnarFile(Path("/nowhere/part-1.parquet"), "parquet", ("a",), (3,))
    task = Task(None, "part-1.parquet", {}, (Chunk(None, {}, 3, file=away, groups=(0,)),))
    with pytest.raises(RunError, match=r"cannot read part-1.parquet.*every worker must see the data"):
        list(on_cluster.count_on_cluster([task], scheduler=scheduler))


def test_a_cluster_without_a_scheduler_is_one_message(tmp_path, monkeypatch):
    file = write_cohort(tmp_path)
    with pytest.raises(InputError, match="is no address"):
        count_cohort(file, scheduler="nonsense")
    monkeypatch.setattr(ground, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install distributed"):
        count_cohort(file, scheduler="tcp://node:8786")


class Workers:
    """What a client says of workers that are otherwise than they should be."""

    def __init__(self, versions, codes):
        self.answers = [versions, codes]

    def wait_for_workers(self, number, timeout):
        if not self.answers[0]:
            raise TimeoutError

    def run(self, ask, *parts, on_error):
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("versions", "codes", "words"),
    [
        ({}, {}, "has had no worker for 1 s; start some"),
        (
            {"tcp://a:1": ModuleNotFoundError("auditbook")},
            {},
            "have no auditbook: tcp://a:1; install the same",
        ),
        ({"tcp://a:1": "0.0.9"}, {}, r"have another version of auditbook than this .*: tcp://a:1 \(0.0.9\)"),
        ({"tcp://a:1": package_version()}, {"tcp://a:1": "x"}, "have other code of auditbook: tcp://a:1"),
    ],
)
def test_workers_without_this_package_are_named(versions, codes, words):
    with pytest.raises(RunError, match=words):
        check_workers(Workers(versions, codes), patience=1)


def test_workers_with_this_package_are_taken():
    check_workers(Workers({"tcp://a:1": package_version()}, {"tcp://a:1": digest_source()}))


def test_a_worker_that_joins_with_other_code_counts_nothing():
    with pytest.raises(RunError, match="has other code"):
        on_cluster.count_task(Task(None, "stays", {}), "other")
