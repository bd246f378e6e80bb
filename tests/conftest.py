"""What every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("calm", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("calm")

ROOT = Path(__file__).resolve().parents[1]


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
