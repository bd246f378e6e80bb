"""Where does the project lie, and which code and versions made a result?"""

import hashlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from auditbook.errors import RunError

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_COHORT = ROOT / "data" / "cohorts" / "texas-twin.toml"
VERSIONED = (
    "catboost igraph ipfn jupyter-book jupytext lightgbm numpy pandas papermill pyarrow scikit-learn scipy "
    "seaborn statsmodels xgboost"
).split()

OPTIONAL = ("fairlearn",)
"""Libraries that add something to a run where they are installed."""


def project_file(*parts: str) -> Path:
    """Find a file or folder of the clone.

    Raises RunError if it is not there: the package was installed without its clone.

    Examples
    --------
    >>> project_file("data", "cohorts").name
    'cohorts'
    """
    path = ROOT.joinpath(*parts)
    if not path.exists():
        raise RunError(f"{path} is missing: auditbook runs from a clone of its repository (make setup)")
    return path


def runs_folder() -> Path:
    """Return the folder that holds all runs; it need not exist yet."""
    return ROOT / "runs"


@cache
def package_version() -> str:
    """Return the version of auditbook."""
    return metadata.version("auditbook")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of every library whose results a run depends on."""
    found = {"auditbook": package_version(), "python": platform.python_version()}
    found |= {name: metadata.version(name) for name in VERSIONED}
    installed = {item.name for item in metadata.distributions()}
    return found | {name: metadata.version(name) for name in OPTIONAL if name in installed}


def digest_files(paths: list[Path]) -> str:
    """Hash the names and bytes of some files, in the order given: SHA-256 in hexadecimal."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def digest_text(*parts: str) -> str:
    """Hash some texts, each kept apart from the next.

    Examples
    --------
    >>> digest_text("ab", "c") == digest_text("a", "bc")
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part.encode()).digest())
    return digest.hexdigest()
