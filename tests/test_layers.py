"""The direction of imports: numbers, the audit, the world, showing, and the run on top."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "auditbook"
ORDER = [
    "code errors protocol pocket_settings records progress project workers",
    "counts intersection intervals auc score_sums placements area_sums group_values metrics score_cells "
    "resampling flips discrimination auc_matrix auc_summary auc_joint auc_metrics auc_bootstrap "
    "auc_scenarios collapsibility",
    "support record_checks evidence group_table verdicts auc_tables auc_compare calibration",
    "subsampling size_draws audit_size folds agreement site_verdicts site_agreement tiers auc_verdicts "
    "halvings half_draws half_measures truth_tables flip_truth repeats sensitivity",
    "cells tables cohort_schema cohort_types cohort_pockets cohort_file roles cohort_data synthetic summary",
    "cautions cohort draft",
    "panel features split training scores",
    "mitigation pockets simulation",
    "pocket_world pocket_audit",
    "results",
    "figures report",
    "contents chapters book state",
    "plan audit steps run pocket_run pocket_assign",
    "cli",
    "__main__",
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names.split()}


def modules():
    paths = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
    return {path.relative_to(PACKAGE).as_posix(): path for path in paths}


def top(name):
    return name.split("/")[0].removesuffix(".py")


def imported(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "auditbook":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("auditbook.")}
    return found


def test_every_module_has_its_place_in_the_order():
    assert {top(name) for name in modules()} == set(LEVEL)


@pytest.mark.parametrize("name", modules())
def test_a_module_imports_only_its_own_layer_or_one_below(name):
    upward = {other for other in imported(modules()[name]) if LEVEL[other] > LEVEL[top(name)]}
    assert upward == set()


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {}
    for name, path in modules().items():
        graph.setdefault(top(name), set()).update(imported(path) - {top(name)})
    done = set()
    while graph.keys() - done:
        free = {name for name in graph.keys() - done if graph[name] <= done}
        assert free, f"a circle among {sorted(graph.keys() - done)}"
        done |= free


def test_the_package_does_not_import_what_only_tests_have():
    test_only = {"fairlearn", "hypothesis", "pytest", "nbval", "selenium", "wildboottest"}
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & test_only, path
