"""The house: eighteen rooms on their floors, no import upward, no circle, another room by its door."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "auditbook"
FLOORS = [
    "errors code columns labels records progress project workers "
    "notebooks key_types settings pocket_settings plain_text surroundings cluster",
    "results tables",
    "evidence",
    "verdicts cohort privacy",
    "ranking scoring intake",
    "mitigation pockets counting pooling",
    "book",
    "report months",
    "run studies fetch",
    "cli_course cli_months cli_pool",
    "cli",
    "__main__",
]
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names.split()}
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
OPEN = {"auditbook.book.say", "auditbook.book.draw"}
"""Sentences and figures are read by chapters and studies module by module; they have no list at the door."""


def modules():
    paths = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
    return {path.relative_to(PACKAGE).as_posix(): path for path in paths}


def top(name):
    return name.split("/")[0].removesuffix(".py")


def imported(path):
    """Name the modules of the package that a file imports, with the names taken from each."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "auditbook":
            for alias in node.names:
                yield node.module, alias.name
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("auditbook."):
                    yield alias.name, ""


def others(name, path):
    """Name the rooms and ground modules that a file imports, its own aside."""
    found = {([*module.split("."), inner])[1] for module, inner in imported(path)}
    return found - {top(name)}


def test_there_are_eighteen_rooms_and_every_module_has_its_floor():
    rooms = "tables evidence cohort intake privacy verdicts scoring ranking pockets mitigation book report"
    assert {*rooms.split(), "counting", "pooling", "run", "studies", "fetch", "months"} == ROOMS
    assert {top(name) for name in modules()} == set(FLOOR)


@pytest.mark.parametrize("name", modules())
def test_a_module_imports_no_room_above_or_beside_its_own(name):
    floor = FLOOR[top(name)]
    upward = {other for other in others(name, modules()[name]) if FLOOR[other] > floor}
    beside = {other for other in others(name, modules()[name]) if FLOOR[other] == floor and other in ROOMS}
    assert (upward, beside) == (set(), set())


@pytest.mark.parametrize("name", modules())
def test_another_room_is_entered_by_its_door(name):
    inside = {
        module
        for module, _ in imported(modules()[name])
        if module.count(".") > 1 and module.split(".")[1] in ROOMS - {top(name)}
    }
    assert {module for module in inside if not any(module.startswith(way) for way in OPEN)} == set()


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {name: set() for name in modules()}
    for name, path in modules().items():
        for module, inner in imported(path):
            for target in (f"{module}.{inner}", module):
                file = target.removeprefix("auditbook.").replace(".", "/")
                hit = [way for way in (f"{file}.py", f"{file}/__init__.py") if way in graph]
                if hit:
                    graph[name] |= set(hit) - {name}
                    break
    done = set()
    while graph.keys() - done:
        free = {name for name in graph.keys() - done if graph[name] <= done}
        assert free, f"a circle among {sorted(graph.keys() - done)}"
        done |= free


def test_the_package_does_not_import_what_only_tests_have():
    test_only = {
        "aequitas",
        "fairlearn",
        "hypothesis",
        "pytest",
        "nbval",
        "selenium",
        "wildboottest",
        "xdist",
    }
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & test_only, path
