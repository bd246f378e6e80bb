"""The environment: one list of dependencies, locked, and the same for users of conda."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
CONDA_NAMES = {"matplotlib-base": "matplotlib", "python-duckdb": "duckdb", "python-igraph": "igraph"}
ONLY_CONDA = {"python", "pip", "graph-tool"}


def declared(*extras: str) -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = list(project["dependencies"])
    for extra in extras:
        listed += project["optional-dependencies"][extra]
    return {Requirement(line).name: Requirement(line) for line in listed}


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def conda_list() -> dict[str, Requirement]:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    flat = [entry for entry in entries if isinstance(entry, str)]
    flat += next(entry["pip"] for entry in entries if isinstance(entry, dict))
    requirements = [Requirement(entry) for entry in flat if entry.split("=")[0] not in ONLY_CONDA]
    return {CONDA_NAMES.get(item.name, item.name): item for item in requirements}


def test_conda_users_get_the_same_list_with_the_same_bounds():
    wanted = declared("lab")
    found = conda_list()
    assert set(found) == set(wanted)
    assert {n: str(r.specifier) for n, r in found.items()} == {n: str(r.specifier) for n, r in wanted.items()}


def test_every_dependency_is_locked_within_its_bounds():
    versions = locked()
    for name, requirement in declared("lab", "test", "cluster", "postgresql").items():
        assert name in versions, f"{name} is not in requirements.lock: make lock"
        assert requirement.specifier.contains(versions[name]), f"{name} {versions[name]}: make lock"


def test_the_running_environment_has_the_locked_versions():
    if not (ROOT / ".venv" / ".complete-book").is_file():
        pytest.skip("this environment was not made by make setup")
    wrong = {n: metadata.version(n) for n, v in locked().items() if metadata.version(n) != v}
    assert wrong == {}


def test_no_version_of_jupyter_book_that_ignores_the_configuration_can_come_in():
    requirement = declared()["jupyter-book"]
    assert not requirement.specifier.contains("2.0.0")
    assert requirement.specifier.contains("1.0.4.post1")


def test_graph_tool_is_importable_where_debian_has_it():
    if not Path("/usr/lib/python3/dist-packages/graph_tool").is_dir():
        pytest.skip("graph-tool is not installed on this machine")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import graph_tool.inference

    assert hasattr(graph_tool.inference, "NestedBlockState")
