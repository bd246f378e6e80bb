"""Write the part of book/result-tables.md that says what each result table and column holds.

Run ``python tools/write_result_tables.py`` after a change of src/auditbook/columns.toml.
"""

from pathlib import Path

from auditbook.columns import TABLES, ResultTable

PAGE = Path(__file__).resolve().parents[1] / "book" / "result-tables.md"
START = "% From here on made from src/auditbook/columns.toml by tools/write_result_tables.py"
END = "% End of what is made"
KINDS = {"text": "text", "truth": "True or False", "count": "count", "share": "share", "number": "number"}


def describe_table(table: ResultTable) -> str:
    """Write a section of the page: what a row is, and a line a column."""
    lines = [f"| `{one.name}` | {KINDS[one.kind]} | {one.meaning} |" for one in table.columns]
    head = ["| column | kind | meaning |", "|---|---|---|"]
    return "\n".join([f"## {table.name}.csv\n", f"{table.about.strip()}\n", *head, *lines])


def write_page(page: str) -> str:
    """Put the sections of all tables between the two marks of the page."""
    before, rest = page.split(START)
    after = rest.split(END)[1]
    return "\n\n".join([before + START, *map(describe_table, TABLES.values()), END + after])


if __name__ == "__main__":
    PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
