"""The map of the house in CONTRIBUTING is what the imports draw, and it has eighteen rooms and no circle."""

import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = "tables evidence cohort intake privacy verdicts scoring ranking pockets mitigation run book".split()
ROOMS += ["counting", "pooling", "report", "studies", "fetch", "months"]


def load_script():
    spec = importlib.util.spec_from_file_location("draw_map", ROOT / "tools" / "draw_map.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


draw_map = load_script()


def test_the_map_in_contributing_is_the_one_that_the_imports_draw():
    page = draw_map.PAGE.read_text(encoding="utf-8")
    assert page == draw_map.place_map(page), "draw it again: .venv/bin/python tools/draw_map.py"


def test_the_house_has_eighteen_rooms_between_the_ground_and_the_commands():
    assert set(draw_map.find_rooms()) == {*ROOMS, "cli", draw_map.GROUND}


def test_every_arrow_of_the_map_points_downward():
    arrows = draw_map.find_arrows(draw_map.find_rooms())
    floors = draw_map.find_floors(arrows)
    assert all(floors[other] < floors[room] for room, others in arrows.items() for other in others)
    assert floors[draw_map.GROUND] == 1


def test_a_circle_of_rooms_has_no_map():
    with pytest.raises(ValueError, match="a circle among one, two"):
        draw_map.find_floors({"ground": set(), "one": {"two"}, "two": {"one", "ground"}})


def test_an_import_that_was_not_there_changes_the_map():
    rooms = draw_map.find_rooms()
    assert "pockets" not in draw_map.find_arrows(rooms)["mitigation"]
    changed = draw_map.find_arrows(rooms | {"mitigation": [*rooms["mitigation"], *rooms["studies"]]})
    assert "pockets" in changed["mitigation"]


@pytest.mark.parametrize("room", [*ROOMS, "cli"])
def test_the_functions_that_the_map_names_stand_at_the_door(room):
    door = importlib.import_module(f"auditbook.{room}")
    assert all(callable(getattr(door, name)) for name in draw_map.DOORS[room])
