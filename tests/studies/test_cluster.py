"""Simulations on a real Dask cluster of several processes, one of which is killed midway."""

import os
import signal
import socketserver
import threading
from dataclasses import replace

import pytest

from auditbook import cluster as module
from auditbook.errors import InputError, RunError
from auditbook.studies.simulations.replicates import run_replicate
from auditbook.studies.simulations.scenarios import find_world
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.synthetic_worlds import LINEAR, SCALES
from auditbook.studies.simulations.tasks import Task, plan_tasks, run_tasks

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask is not installed")

TINY = Sizes(continuous=200, continuous_trees=5, draws=99, rounds=5)
TASKS = plan_tasks([LINEAR, SCALES], replicates=3, seed=3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::UserWarning")
def test_a_worker_that_dies_midway_changes_no_byte(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    run_tasks(TASKS, here, sizes=TINY)
    killed = threading.Event()
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        victims = [worker.process.pid for worker in cluster.workers.values()]

        def kill_one(text: str) -> None:
            if text.startswith("2/") and not killed.is_set():
                killed.set()
                os.kill(victims[0], signal.SIGKILL)

        assert run_tasks(TASKS, there, sizes=TINY, scheduler=cluster.scheduler_address, say=kill_one) == 6
    assert killed.is_set()
    for task in TASKS:
        assert (there / task.file).read_bytes() == (here / task.file).read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::UserWarning")
def test_a_worker_that_may_start_processes_fits_block_models(tmp_path):
    pytest.importorskip("graph_tool")
    small = replace(TINY, binary=200, binary_audit=600, binary_trees=5, quiet_audits=1)
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        tasks = [Task(0, "binary", 3)]
        assert run_tasks(tasks, tmp_path, sizes=small, scheduler=cluster.scheduler_address) == 1
    here = run_replicate(find_world("binary"), replicate=0, seed=3, sizes=small)
    assert (tmp_path / tasks[0].file).read_text() == here.to_csv(index=False, lineterminator="\n")


def test_a_cluster_without_dask_is_one_plain_error(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install distributed"):
        run_tasks(TASKS, tmp_path, sizes=TINY, scheduler="tcp://nowhere:1")


@pytest.mark.parametrize("address", ["nonsense", "foo://node:8786", "tcp://", "tcp://node:port"])
def test_what_is_no_address_is_told_at_once(tmp_path, address):
    with pytest.raises(InputError, match=r"is no address.*such as tcp://node:8786"):
        run_tasks(TASKS, tmp_path, sizes=TINY, scheduler=address)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9])
def test_an_address_without_a_scheduler_is_one_plain_error(tmp_path, answer):
    class Other(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(answer)

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        socketserver.TCPServer(("127.0.0.1", 0), Other) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.server_address[1]}"
        with pytest.raises(RunError, match=f"no Dask scheduler answers at {address}"):
            run_tasks(TASKS, tmp_path, sizes=TINY, scheduler=address)
        server.shutdown()
