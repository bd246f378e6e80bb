"""What every test may use."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from auditbook.cli import main
from auditbook.results import Run, read_run
from cohorts import write_cohort
from made_once import make_once
from runs_fixture import KINDS, make_run

# A busy machine is no fault of the code; the same cases each time, so that a change is held against them.
settings.register_profile("calm", deadline=None, derandomize=True)
settings.load_profile("calm")

ROOT = Path(__file__).resolve().parents[1]


LONGEST = (
    "run/test_book.py",
    "cli/test_cli.py",
    "mitigation/test_robustness.py",
    "mitigation/test_baselines.py",
    "pockets/test_audit.py",
    "run/test_chapters.py",
    "run/test_keys.py",
    "book/test_say_robustness.py",
    "verdicts/test_sensitivity.py",
    "pockets/test_discovery.py",
    "studies/test_tasks.py",
    "verdicts/test_judgement.py",
    "verdicts/test_size_to_show.py",
    "book/test_draw_auc.py",
    "studies/test_variants.py",
    "book/test_say_mitigation.py",
)
"""Files that take longest, in that order: a file stays with one worker, and none waits for it at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files."""
    place = {ROOT / "tests" / name: order for order, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the clone."""
    return ROOT


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with reference figures and real cohorts that lies beside the clone."""
    folder = Path(os.environ.get("AUDITBOOK_SHARED", ROOT.parent / "shared"))
    if not (folder / "cohorts").is_dir():
        pytest.skip(f"no real cohorts: {folder} has no folder 'cohorts' (set AUDITBOOK_SHARED)")
    return folder


@pytest.fixture(scope="session")
def run_folders(tmp_path_factory) -> dict[str, Path]:
    """Folders of the small finished runs, by kind; made once, only read."""

    def make(folder: Path) -> None:
        for kind in KINDS:
            make_run(folder / kind, kind)

    folder = make_once(tmp_path_factory, "runs", make)
    return {kind: folder / kind for kind in KINDS}


@pytest.fixture(scope="session")
def audited_folder(tmp_path_factory) -> Path:
    """The folder of a small cohort's audit as the command leaves it, with every table; only read."""

    def make(folder: Path) -> None:
        cohort = write_cohort(folder, rows=600, missing=0.1, extra='[pockets]\npartition = "leiden"\n')
        assert main(["audit", str(cohort), "--run-dir", str(folder / "run"), "--profile", "smoke"]) == 0

    return make_once(tmp_path_factory, "audited", make) / "run"


@pytest.fixture(scope="module")
def runs(run_folders) -> dict[str, Run]:
    """The small finished runs, by kind."""
    return {kind: read_run(folder) for kind, folder in run_folders.items()}


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
