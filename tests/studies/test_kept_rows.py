"""A study goes on where it stopped, and says how its rows were made."""

import json
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from auditbook.code import digest_reach, name_module
from auditbook.evidence import open_stream, wilson_interval
from auditbook.studies import kept_rows
from auditbook.studies.kept_rows import Study, read_rows, run_study, write_study


@dataclass(frozen=True)
class Coin:
    name: str
    heads: float


def toss(coin, replicate, *, seed):
    heads = open_stream(seed, coin.name, str(replicate)).binomial(20, coin.heads)
    return [{"coin": coin.name, "replicate": replicate, "heads": int(heads), "word": "none"}]


def count_heads(rows):
    return rows.groupby("coin", sort=False, as_index=False).agg(heads=("heads", "sum"))


STUDY = Study(
    name="coins",
    worlds=(Coin("fair", 0.5), Coin("bent", 0.9)),
    run=toss,
    columns=("coin", "replicate", "heads", "word"),
    summarise=count_heads,
    seeds="of a toss: the seed, the coin and the number",
    about={"tosses": 20},
)


@pytest.fixture(autouse=True)
def code(monkeypatch):
    """A test is no part of the package, so that its functions have no digest of their own."""
    monkeypatch.setattr(kept_rows, "digest_reach", lambda run: run.__name__)


def test_rows_are_by_world_and_the_same_each_time(tmp_path):
    rows = run_study(STUDY, replicates=3, seed=1)
    assert rows["coin"].tolist() == ["fair"] * 3 + ["bent"] * 3
    pd.testing.assert_frame_equal(rows, run_study(STUDY, replicates=3, seed=1, store=tmp_path / "a.jsonl"))


def test_a_study_goes_on_where_it_stopped(tmp_path):
    store = tmp_path / "coins.jsonl"
    run_study(STUDY, replicates=2, seed=1, store=store)
    with store.open("a", encoding="utf-8") as file:
        file.write('{"seed": 1, "co\n')
    calls = []

    def toss_again(coin, replicate, *, seed):
        calls.append((coin.name, replicate))
        return toss(coin, replicate, seed=seed)

    toss_again.__name__ = "toss"
    again = replace(STUDY, run=toss_again)
    rows = run_study(again, replicates=3, seed=1, store=store)
    assert calls == [("fair", 2), ("bent", 2)]
    pd.testing.assert_frame_equal(rows, run_study(STUDY, replicates=3, seed=1))


def test_rows_of_other_code_another_seed_or_another_world_are_made_again(tmp_path, monkeypatch):
    store = tmp_path / "coins.jsonl"
    run_study(STUDY, replicates=1, seed=1, store=store)
    run_study(STUDY, replicates=1, seed=2, store=store)
    bent = replace(STUDY, worlds=(Coin("fair", 0.5), Coin("bent", 0.8)))
    run_study(bent, replicates=1, seed=1, store=store)
    assert len(store.read_text().splitlines()) == 5
    monkeypatch.setattr(kept_rows, "digest_reach", lambda run: "other")
    run_study(STUDY, replicates=1, seed=1, store=store)
    assert len(store.read_text().splitlines()) == 7


def test_only_the_replicates_that_are_wanted_are_run():
    some = replace(STUDY, wants=lambda coin, replicate: coin.name == "fair" or replicate == 0)
    rows = run_study(some, replicates=3, seed=1)
    assert rows["coin"].tolist() == ["fair"] * 3 + ["bent"]


def test_files_hold_rows_summary_and_how_they_were_made(tmp_path):
    rows = run_study(STUDY, replicates=3, seed=1)
    write_study(STUDY, tmp_path, rows, replicates=3, seed=1)
    pd.testing.assert_frame_equal(read_rows(STUDY, tmp_path), rows)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "coins.csv"), count_heads(rows))
    about = json.loads((tmp_path / "coins.json").read_text())
    assert about["tosses"] == 20
    assert about["code"] == "toss"
    assert np.isin(["python", "numpy"], list(about["versions"])).all()
    first = (tmp_path / "coins_replicates.csv.gz").read_bytes()
    write_study(STUDY, tmp_path, rows, replicates=3, seed=1)
    assert (tmp_path / "coins_replicates.csv.gz").read_bytes() == first


def test_code_that_is_called_by_name_has_the_digest_that_it_has_when_imported(monkeypatch):
    called = SimpleNamespace(__module__="__main__", __qualname__="wilson_interval")
    monkeypatch.setattr(
        sys.modules["__main__"], "__spec__", SimpleNamespace(name=wilson_interval.__module__), raising=False
    )
    assert name_module(called) == wilson_interval.__module__
    assert digest_reach(called) == digest_reach(wilson_interval)
