"""What every test may use."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from auditbook.results import Run, read_run
from runs_fixture import KINDS, make_run

settings.register_profile("calm", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("calm")

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the whole books, which take longest, so that no worker waits for them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("book") is None)


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
    folder = tmp_path_factory.mktemp("runs")
    return {kind: make_run(folder / kind, kind) for kind in KINDS}


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
