"""Sentences and figures compute nothing: they are given what they say by the room that owns the statistic."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "auditbook"
SAYING = sorted(PACKAGE.glob("*/say/*.py")) + sorted(PACKAGE.glob("*/draw/*.py"))
LIBRARIES = {"scipy", "statsmodels", "sklearn", "random"}
RESAMPLING = {
    "assess_areas",
    "auc_matrix",
    "draw_counts",
    "draw_maxima",
    "flip_interval",
    "flip_rate",
    "foretell_world",
    "open_stream",
    "percentile_interval",
    "ratio_interval",
    "resample_sizes",
    "resample_values",
    "simulate",
    "subsample_counts",
    "sum_contributions",
    "sweep_counts",
    "wilson_interval",
}
"""What draws, or bounds: none of it is called, or taken from another module, to write a sentence."""
STATISTICS = {"quantile", "percentile", "nanquantile", "nanpercentile", "default_rng", "Generator"}


def names(path):
    return f"{path.parts[-3]}/{path.parts[-2]}/{path.name}"


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree):
    """Name every module that is imported, and every name that is taken from one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def called(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@pytest.mark.parametrize("path", SAYING, ids=names)
def test_it_imports_no_library_that_computes_and_no_function_that_draws_or_bounds(path):
    found = set(imports(parse(path)))
    assert not {name for name in found if name.split(".")[0] in LIBRARIES or name.startswith("numpy.random")}
    assert not {name for name in found if name.rsplit(".", 1)[-1] in RESAMPLING}


@pytest.mark.parametrize("path", SAYING, ids=names)
def test_it_calls_no_function_that_draws_or_bounds(path):
    tree = parse(path)
    assert not set(called(tree)) & (RESAMPLING | STATISTICS)
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not attributes & {"random", "default_rng", "Generator"}


@pytest.mark.parametrize("path", SAYING, ids=names)
def test_it_is_given_no_source_of_random_numbers(path):
    assert "rng" not in {node.arg for node in ast.walk(parse(path)) if isinstance(node, ast.arg)}


def test_what_must_not_be_called_exists():
    defined = {
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef)
    }
    assert defined >= RESAMPLING
