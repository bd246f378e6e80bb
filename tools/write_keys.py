"""Write what the declared keys of a cohort file say: the JSON schema, and the table in the book."""

import json
from copy import deepcopy
from pathlib import Path

from auditbook.cohort.keys import list_keys, make_schema

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "data" / "cohort-schema.json"
PAGE = ROOT / "book" / "bring-your-cohort.md"
HEADING, NEXT = (
    "| table | key | what it must be | when left out | meaning |\n|---|---|---|---|---|\n",
    "\n## ",
)


def render_schema() -> str:
    """Write the JSON schema; what holds when a key is left out stands in its description."""
    schema = deepcopy(make_schema())
    for table in (schema, *schema["$defs"].values()):
        for key in table["properties"].values():
            words = key.pop("x-left-out", None)
            if words:
                key.pop("default", None)
                key["description"] += f" Left out: {words}."
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def render_page(page: str) -> str:
    """Put the table of keys into the page "Bring your cohort"."""
    before, after = page.split(HEADING, 1)
    names = {table: table.replace("<name>", r"\<name\>") for table in list_keys()}
    rows = [
        f"| {names[table]} | {key.name} | {key.kind} | {key.default} | {key.meaning} |\n"
        for table, keys in list_keys().items()
        for key in keys
    ]
    return before + HEADING + "".join(rows) + NEXT + after.split(NEXT, 1)[1]


if __name__ == "__main__":
    SCHEMA.write_text(render_schema(), encoding="utf-8")
    PAGE.write_text(render_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
