"""Which rooms does the house have, what does each hold, and which rooms does it enter?

Writes the map into CONTRIBUTING.md, between its two marks, from the imports of the package:

    .venv/bin/python tools/draw_map.py
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "auditbook"
PAGE = ROOT / "CONTRIBUTING.md"
FIRST, LAST = "<!-- map: made by tools/draw_map.py -->", "<!-- end of map -->"
DOORS = {
    "cli": ("main",),
    "studies": ("simulate",),
    "fetch": ("fetch_table",),
    "run": ("run_audit", "run_book"),
    "months": ("watch_windows",),
    "report": ("build_report", "write_report", "export_run"),
    "book": ("open_run",),
    "mitigation": ("make_baselines", "make_robustness"),
    "pockets": ("make_pockets", "discover_maps", "audit_map"),
    "ranking": ("auc_matrix", "make_auc_tables", "fit_calibration"),
    "counting": ("count_cohort",),
    "pooling": ("pool_counts", "suppress_small", "pool_effects"),
    "scoring": ("score_cohort",),
    "verdicts": ("judge", "flip_rate"),
    "cohort": ("load_cohort",),
    "intake": ("draft_cohort", "warn_table", "warn_cohort", "tell_values"),
    "privacy": ("protect_run",),
    "evidence": ("prepare",),
    "tables": ("read_table_file",),
}
"""The functions of each door by which a newcomer enters; the door lists all of them."""
GROUND = "ground"


def read_imports(path: Path) -> Iterator[str]:
    """Name what a file imports from the package, each as room or ground module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE.name:
            parts = str(node.module).split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]


def find_rooms() -> dict[str, list[Path]]:
    """Find the files of every room; single modules are the ground, but for the commands."""
    rooms = {path.parent.name: sorted(path.parent.rglob("*.py")) for path in PACKAGE.glob("*/__init__.py")}
    rooms["cli"] = sorted(PACKAGE.glob("cli*.py"), key=lambda path: len(path.stem))
    alone = [
        path
        for path in sorted(PACKAGE.glob("*.py"))
        if path not in rooms["cli"] and path.stem not in ("__init__", "__main__")
    ]
    return rooms | {GROUND: alone}


def find_arrows(rooms: Mapping[str, list[Path]]) -> dict[str, set[str]]:
    """Find which rooms each room enters; what stands on the ground is one."""
    found = {}
    for room, paths in rooms.items():
        named = {name for path in paths for name in read_imports(path)}
        found[room] = {name if name in rooms else GROUND for name in named} - {room}
    return found


def find_floors(arrows: Mapping[str, set[str]]) -> dict[str, int]:
    """Find the floor of each room, one above the highest that it enters; a circle is an error."""
    floors: dict[str, int] = {}
    while len(floors) < len(arrows):
        free = [room for room in arrows if room not in floors and arrows[room] <= floors.keys()]
        if not free:
            raise ValueError(f"a circle among {', '.join(sorted(arrows.keys() - floors.keys()))}")
        floors |= {room: 1 + max((floors[other] for other in arrows[room]), default=0) for room in free}
    return floors


def read_question(path: Path) -> str:
    """Read the question that a module answers, the first line of its text."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0]


def draw_map() -> str:
    """Draw the map as a Markdown table, the highest floor first."""
    rooms = find_rooms()
    arrows = find_arrows(rooms)
    floors = find_floors(arrows)
    lines = ["| floor | room | its door | what it answers | enters |", "|---|---|---|---|---|"]
    for room in sorted(rooms, key=lambda name: (-floors[name], name)):
        lines.append(_draw_room(room, rooms[room], floors[room], arrows[room]))
    return "\n".join(lines)


def _draw_room(room: str, paths: list[Path], floor: int, entered: set[str]) -> str:
    """Draw one line of the map."""
    if room == GROUND:
        names = ", ".join(f"`{path.stem}`" for path in paths)
        return f"| {floor} | {room} | {names} | what every room may use | |"
    door = ", ".join(f"`{name}()`" for name in DOORS[room])
    question = read_question(PACKAGE / room / "__init__.py" if room != "cli" else paths[0])
    others = ", ".join(f"`{name}`" for name in sorted(entered - {GROUND}))
    return f"| {floor} | `{room}` | {door} | {question} | {others} |"


def place_map(page: str) -> str:
    """Put the map between its marks."""
    before, rest = page.split(FIRST)
    return f"{before}{FIRST}\n\n{draw_map()}\n\n{LAST}{rest.split(LAST)[1]}"


if __name__ == "__main__":
    PAGE.write_text(place_map(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
