"""The runner of simulations: resuming, trying again, the same results for any number of workers."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from importlib.util import find_spec

import pandas as pd
import pytest

from auditbook.code import Definition, list_reach
from auditbook.errors import InputError, RunError
from auditbook.studies.simulations import provenance
from auditbook.studies.simulations import tasks as module
from auditbook.studies.simulations.command import PROFILES, SimulationProfile, choose_worlds, simulate
from auditbook.studies.simulations.provenance import digest_code
from auditbook.studies.simulations.replicates import COLUMNS, KEYS, METHODS, OWN, run_replicate
from auditbook.studies.simulations.scenarios import WORLDS, find_world
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.stored import (
    ORIGIN,
    VARIANT_REPLICATES,
    read_stored,
    store,
    store_variants,
)
from auditbook.studies.simulations.synthetic_worlds import BINARY, LINEAR, SCALES
from auditbook.studies.simulations.tasks import (
    Task,
    attempt_task,
    collect,
    format_time,
    plan_tasks,
    run_tasks,
)

TINY = Sizes(
    continuous=200,
    binary=200,
    binary_audit=600,
    continuous_trees=5,
    binary_trees=5,
    draws=99,
    quiet_audits=2,
    rounds=5,
)
TASKS = plan_tasks([LINEAR, SCALES], replicates=2, seed=1)
ALL = [*TASKS, Task(0, "binary", 1)] if find_spec("graph_tool") else TASKS


def test_a_replicate_of_every_world_comes_before_the_next_of_any():
    names = [(task.world, task.replicate) for task in TASKS]
    assert names == [("linear", 0), ("scales", 0), ("linear", 1), ("scales", 1)]


def test_files_of_all_tasks_differ():
    assert len({task.file for task in plan_tasks(WORLDS, replicates=3, seed=1)}) == 3 * len(WORLDS)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    run_tasks(ALL, folder, sizes=TINY)
    return folder


@pytest.mark.parametrize("world", [LINEAR, BINARY], ids=["continuous", "binary"])
def test_a_replicate_holds_every_plant_and_method_once(finished, world):
    if world is BINARY:
        pytest.importorskip("graph_tool")
    rows = collect(finished)
    one = rows[(rows["world"] == world.name) & (rows["replicate"] == 0)]
    methods = [name for name in METHODS if world.continuous or name != "targeted plain"]
    planted = sum(bool(plant.region) for plant in world.plants)
    quiet = len(world.plants) - planted
    assert set(one["method"]) == set(methods)
    assert (one["audit"] == 0).sum() == len(methods) * planted + (len(methods) - 1) * quiet
    assert (one["audit"] == 1).sum() == len(OWN) * quiet
    assert not one.duplicated(KEYS).any()
    assert (one["tp"] + one["fn"] == one["affected"]).all()


def test_a_replicate_alone_gives_the_rows_that_were_kept(finished):
    alone = run_replicate(SCALES, replicate=1, seed=1, sizes=TINY)
    rows = collect(finished)
    kept = rows[(rows["world"] == "scales") & (rows["replicate"] == 1)].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, kept)


def fake(calls, faults=()):
    """Make an attempt that fails on some of its calls."""

    def attempt(task, sizes, data, code):
        calls.append(task)
        fault = "lost the disk" if (task, calls.count(task)) in faults else ""
        return module.Outcome(task, "" if fault else ",".join(COLUMNS) + "\n", fault, 1.0, 0.5, 100.0)

    return attempt


def test_what_is_there_is_not_run_again(tmp_path, monkeypatch):
    calls, said = [], []
    monkeypatch.setattr(module, "attempt_task", fake(calls))
    assert run_tasks(TASKS[:1], tmp_path, sizes=TINY) == 1
    assert run_tasks(TASKS, tmp_path, sizes=TINY, say=said.append) == 3
    assert sorted(calls) == sorted(TASKS)
    assert said[0] == "3 of 4 replicates to run"
    assert said[-1].endswith("left")


def test_a_task_that_fails_once_is_tried_again(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(module, "attempt_task", fake(calls, {(TASKS[1], 1)}))
    run_tasks(TASKS, tmp_path, sizes=TINY)
    assert calls.count(TASKS[1]) == 2
    assert all((tmp_path / task.file).exists() for task in TASKS)


def test_a_task_that_fails_twice_is_named_and_the_others_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "attempt_task", fake([], {(TASKS[1], 1), (TASKS[1], 2)}))
    with pytest.raises(RunError, match=r"1 of 4 tasks failed twice.*scales.*lost the disk"):
        run_tasks(TASKS, tmp_path, sizes=TINY)
    assert len(list(tmp_path.glob("*.csv"))) == 3


def test_an_interruption_keeps_what_is_done_and_nothing_half(tmp_path, monkeypatch):
    calls = []
    whole = fake(calls)

    def interrupted(task, sizes, data, code):
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(task, sizes, data, code)

    monkeypatch.setattr(module, "attempt_task", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tasks(TASKS, tmp_path, sizes=TINY)
    assert len(list(tmp_path.glob("*.csv"))) == 2
    assert not list(tmp_path.glob("*.tmp"))


def test_a_fault_inside_a_replicate_is_caught_with_its_trace():
    found = attempt_task(Task(0, "stays", 1), TINY, None, digest_code())
    assert "no folder with real tables" in found.fault
    assert found.rows == ""


def test_a_worker_that_may_not_start_processes_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr(module, "current_process", lambda: type("Process", (), {"daemon": True}))
    assert (
        "DASK_DISTRIBUTED__WORKER__DAEMON=False"
        in attempt_task(Task(0, "binary", 1), TINY, None, digest_code()).fault
    )


def test_a_worker_with_other_code_makes_no_rows():
    found = attempt_task(TASKS[0], TINY, None, "other")
    assert "another version of auditbook" in found.fault
    assert found.rows == ""


def test_rows_of_other_sizes_are_not_mixed(finished):
    with pytest.raises(InputError, match="other sizes"):
        run_tasks(TASKS, finished, sizes=replace(TINY, draws=199))


def test_folders_that_hold_no_replicates_are_refused(tmp_path):
    with pytest.raises(InputError, match="no finished replicate"):
        collect(tmp_path)
    (tmp_path / "linear-1-00000.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="remove it to run it again"):
        collect(tmp_path)


def test_rows_that_were_cut_off_anywhere_or_overwritten_are_refused(finished, tmp_path):
    whole = (finished / TASKS[0].file).read_bytes()
    header = whole.index(b"\n") + 1
    cuts = [0, 1, header - 5, header - 1, header, header + 1, len(whole) // 2, len(whole) - 2, len(whole) - 1]
    damaged = [whole[:cut] for cut in cuts if whole[:cut][-20:] != whole[-20:]]
    damaged += [
        whole + b"linear,0\n",
        whole + b"x\n",
        b"\xff\xfe" + whole,
        whole[:header] + b"," * 40 + b"\n",
    ]
    for content in damaged:
        (tmp_path / TASKS[0].file).write_bytes(content)
        with pytest.raises(InputError, match=rf"{TASKS[0].file} does not hold .* remove it to run it again"):
            collect(tmp_path)


def test_rows_that_were_cut_off_at_the_end_of_a_line_are_refused_beside_whole_ones(finished, tmp_path):
    for task in TASKS:
        (tmp_path / task.file).write_bytes((finished / task.file).read_bytes())
    lines = (tmp_path / TASKS[2].file).read_text().splitlines(keepends=True)
    (tmp_path / TASKS[2].file).write_text("".join(lines[:-3]))
    with pytest.raises(InputError, match=rf"{TASKS[2].file} holds fewer rows .* remove it to run it"):
        collect(tmp_path)


@pytest.mark.parametrize("place", ["taken", "taken/below"])
def test_a_folder_that_cannot_be_made_is_one_plain_error(tmp_path, place):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match=r"cannot hold replicates.*--folder"):
        run_tasks(TASKS, tmp_path / place, sizes=TINY)


def test_what_is_stored_is_what_was_run_and_stays_the_same_bytes(finished, tmp_path):
    origin = store(finished, tmp_path / "one")
    store(finished, tmp_path / "two")
    pd.testing.assert_frame_equal(read_stored(tmp_path / "one"), collect(finished))
    for path in sorted((tmp_path / "one").glob("*.csv*")):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    assert {name: origin["replicates"][name] for name in ("linear", "scales")} == {"linear": 2, "scales": 2}
    assert (tmp_path / "one" / ORIGIN).exists()


def test_the_command_adds_replicates_to_those_of_a_folder(tmp_path, monkeypatch):
    monkeypatch.setitem(PROFILES, "quick", SimulationProfile(TINY, ("scales",), 1))
    said = []
    text = simulate(profile="quick", folder=tmp_path, say=said.append)
    assert "F1 of the flagged records" in text
    assert "do not quote these figures" in text
    assert max(map(len, text.splitlines())) < 120
    simulate(profile="quick", folder=tmp_path, replicates=2, say=said.append)
    assert [line for line in said if "to run" in line] == [
        "1 of 1 replicates to run",
        "1 of 2 replicates to run",
    ]


def test_names_that_are_not_known_are_errors_with_a_suggestion():
    with pytest.raises(InputError, match="allowed are quick, standard, full"):
        simulate(profile="quickly")
    with pytest.raises(InputError, match="linear"):
        choose_worlds(["linaer"], data=None)


def test_real_worlds_are_left_out_unless_their_tables_are_named(tmp_path):
    assert not any(world.real for world in choose_worlds([], data=None))
    assert len(choose_worlds([], data=tmp_path)) == len(WORLDS)
    with pytest.raises(InputError, match="--data"):
        choose_worlds(["diabetes"], data=None)


def test_a_folder_without_the_tables_is_an_error_before_anything_runs(tmp_path):
    with pytest.raises(InputError, match=r"has no diabetes130\.parquet"):
        simulate(worlds=["linear", "diabetes"], data=tmp_path, folder=tmp_path / "rows")
    assert not (tmp_path / "rows").exists()


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (95, "2 min"), (3_600, "1 h 00 min")])
def test_times_are_written_roughly(seconds, text):
    assert format_time(seconds) == text


def test_a_folder_knows_which_code_made_its_rows_and_what_they_cost(finished, tmp_path):
    origin = store(finished, tmp_path)
    assert [part["replicates"] for part in origin["made"]] == [len(ALL)]
    assert origin["code"] == digest_code()
    assert origin["versions"]["igraph"]
    assert ("graph-tool" in origin["versions"]) == (len(ALL) > len(TASKS))
    cost = origin["cost"]["linear"]
    assert cost["replicates"] == 2
    assert cost["cpu"] > 0
    assert cost["memory"] > 50  # of this process, which has run other tests before
    assert origin["quiet_audits"]["linear"] == 2 * TINY.quiet_audits


def test_rows_of_other_code_are_kept_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "attempt_task", fake([]))
    with monkeypatch.context() as before:
        before.setattr(provenance, "read_commit", lambda: "abc123")
        before.setattr(provenance, "digest_code", lambda: "other")
        run_tasks(TASKS[:1], tmp_path, sizes=TINY)
    said = []
    run_tasks(TASKS[:2], tmp_path, sizes=TINY, say=said.append)
    assert said[:2] == [
        f"{tmp_path} holds rows of other code (commit abc123); they are kept",
        "1 of 2 replicates to run",
    ]
    made = provenance.describe_makers(tmp_path, {task.file: task.world for task in TASKS[:2]})["made"]
    assert [(part["code"] == digest_code(), part["replicates"]) for part in made] == [(False, 1), (True, 1)]


def test_rows_from_before_there_were_logs_are_read_and_their_commit_may_be_given(finished, tmp_path):
    for task in TASKS[:2]:
        (tmp_path / task.file).write_bytes((finished / task.file).read_bytes())
    (tmp_path / "simulation.json").write_text(json.dumps(asdict(TINY)))
    assert run_tasks(TASKS[:2], tmp_path, sizes=TINY) == 0
    assert store(tmp_path, tmp_path / "stored")["commit"] == ""
    (tmp_path / "COMMIT").write_text("79b6325\n")
    origin = store(tmp_path, tmp_path / "stored")
    assert (origin["commit"], origin["code"], origin["cost"]) == ("79b6325", "", {})
    assert origin["made"][0]["replicates"] == 2


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path):
    log = provenance.Log(tmp_path)
    log.count(TASKS[0].file, seconds=2, cpu=1, memory=100)
    with log.path.open("a") as cut:
        cut.write('{"file": "sca')
    ((run, made),) = provenance.read_logs(tmp_path)
    assert run["code"] == digest_code()
    assert [line["file"] for line in made] == [TASKS[0].file]


def test_the_digest_covers_what_a_replicate_runs():
    reached = {(one.module.split(".")[-1], one.name) for one in list_reach(provenance_entries())}
    assert {("replicates", "run_replicate"), ("synthetic_worlds", "draw_binary")} <= reached
    assert {("forest", "Forest"), ("wild_bootstrap", "max_t_critical_value")} <= reached
    assert not {name for module, name in reached if module in ("stored", "scoring", "provenance")}


def provenance_entries():
    return [Definition(one.__module__, one.__name__) for one in (run_replicate, find_world)]


def test_two_runs_may_claim_a_folder_at_once(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: module.claim_folder(tmp_path / "rows", TINY), range(16)))
    assert [path.name for path in (tmp_path / "rows").iterdir()] == ["simulation.json"]


def test_changed_worlds_are_stored_apart_from_declared_ones_in_one_folder(finished, tmp_path):
    rows, target = tmp_path / "rows", tmp_path / "kept"
    rows.mkdir()
    for path in (finished / module.PLAN, finished / TASKS[0].file):
        (rows / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="no finished replicate of the worlds that are stored here"):
        store_variants(rows, target)
    run_tasks([Task(0, "linear halves", 1)], rows, sizes=TINY)
    assert list(store(rows, target)["replicates"]) == ["linear"]
    assert list(store_variants(rows, target)["replicates"]) == ["linear halves"]
    assert set(read_stored(target)["world"]) == {"linear"}
    assert set(read_stored(target, VARIANT_REPLICATES)["world"]) == {"linear halves"}


@pytest.mark.parametrize(
    ("worlds", "files"),
    [
        (["linear"], ["pockets"]),
        (["linear halves"], ["variants"]),
        (["linear", "linear halves"], ["pockets", "variants"]),
    ],
)
def test_keeping_writes_the_tables_of_the_worlds_that_were_run(tmp_path, monkeypatch, worlds, files):
    profile = SimulationProfile(TINY, (), 1)
    monkeypatch.setitem(PROFILES, "quick", profile)
    monkeypatch.setattr("auditbook.studies.simulations.command.project_file", tmp_path.joinpath)
    simulate(worlds=worlds, folder=tmp_path / "rows", keep=True)
    written = {
        path.name.split("_")[0].split(".")[0] for path in (tmp_path / "data" / "simulations").iterdir()
    }
    assert sorted(written) == files
