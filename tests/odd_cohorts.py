"""Generated odd cohorts: a table with strange columns, and a cohort file that may be wrong about it."""

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from hypothesis import strategies as st

NAMES = ("race", "âge", "<b>x</b>", "a,b", 'q"uote', "c\rr", "n\x00ul", "日本", "_x", "=1+1", "los", "id")
CELLS: dict[str, tuple[object, ...]] = {
    "codes": ("0", "1", "01", "1.0", "9"),
    "words": ("Yes", "No", "yes ", "NA", "", "None", "> 89", "120 +", "<0.2"),
    "marks": ("<script>", "a\rb", "a\x00b", 'say "x"', "é", "é", "\u202ea", "=cmd()"),
    "whole": (0, 1, -9, 999, 2**53 + 1, 2**62),
    "real": (0.0, 0.5, 1.0, -0.1, 1e300, float("nan"), float("inf")),
    "blank": (None,),
    "one": ("same",),
    "date": (datetime.date(2024, 1, 31), datetime.date(1900, 1, 1), None),
    "list": ("[1, 2]", "a;b", "1,2"),
    "flag": (True, False),
}
RULES = ("> 3", "Yes", "== '<0.2'", 1, True, "!= No", "> x", "")
WRONG = (
    '[features]\ninclude = ["emb_*"]\n',
    '[features]\nexclude = ["*"]\n',
    '[missing]\nvalues = ["NA", 999]\nattributes = "group"\n',
    '[missing]\ncolumns = { race = ["NA"], nowhere = [] }\n',
    '[time]\ncolumn = "los"\n',
    '[panel]\nmodels = ["nothing"]\n',
    "[protocol]\nresamples = -1\n",
    '[data.format]\nseparator = ";"\n',
    "[labels]\nvalues.race = 3\n",
    "[reprot]\npaper = 3\n",
)


@dataclass(frozen=True)
class OddCohort:
    """A table and the text of its cohort file."""

    table: pd.DataFrame
    text: str
    suffix: str

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the table and its cohort file; return their paths."""
        data, target = folder / f"odd{self.suffix}", folder / "odd.toml"
        if self.suffix == ".parquet":
            self.table.to_parquet(data)
        else:
            self.table.to_csv(data, index=False, encoding="utf-8", errors="surrogatepass")
        target.write_text(self.text, encoding="utf-8")
        return data, target


@st.composite
def columns(draw: st.DrawFn, rows: int) -> list[object]:
    """Draw a column of one kind, or of two."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=2))
    pool = [cell for kind in kinds for cell in CELLS[kind]]
    return draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))


@st.composite
def odd_cohorts(draw: st.DrawFn) -> OddCohort:
    """Draw a table and a cohort file that names some of its columns."""
    rows = draw(st.sampled_from([0, 1, 2, 20, 60, 120]))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=7, unique=True))
    suffix = draw(st.sampled_from([".csv", ".parquet"]))
    table = pd.DataFrame({name: pd.Series(draw(columns(rows)), dtype=object) for name in names})
    if draw(st.booleans()) and rows:
        table["died"] = [number % 2 for number in range(rows)]
        table["risk"] = [number * 7 % rows / rows for number in range(rows)]
        table["group"] = [("a", "b", "=1+1")[number // 2 % 3] for number in range(rows)]
    if suffix == ".parquet":
        table = table.map(lambda cell: None if cell is None else str(cell))
        table = table.assign(
            **{name: pd.to_numeric(table[name]) for name in ("died", "risk") if name in table}
        )
    return OddCohort(table, draw(files(list(table.columns), suffix)), suffix)


@st.composite
def files(draw: st.DrawFn, names: list[str], suffix: str) -> str:
    """Draw a cohort file, sound or not, for columns of these names."""
    name = st.sampled_from([*names, "nowhere"])
    outcome = "died" if "died" in names else draw(name)
    event = 1 if outcome == "died" else draw(st.sampled_from(RULES))
    parts = [f'name = "odd"\n[data]\npath = "odd{suffix}"\n']
    parts.append(f"[outcome]\ncolumn = {quote(outcome)}\nevent = {json.dumps(event)}\n")
    chosen = draw(st.lists(name, min_size=1, max_size=2, unique=True))
    if "group" in names and draw(st.booleans()):
        chosen = ["group"]
    for number, column in enumerate(chosen):
        bins = (
            ""
            if column == "group"
            else draw(st.sampled_from(["", "bins = [0, 1]\n", 'numbers = { "> 89" = 90 }\nbins = [0, 65]\n']))
        )
        missing = draw(st.sampled_from(["", 'missing = "group"\n', 'missing = "drop"\n']))
        parts.append(f"[attributes.a{number}]\ncolumn = {quote(column)}\n{bins}{missing}")
    if "risk" in names:
        low = draw(st.sampled_from(["", 'event_is = "low"\n', "percentile = 90\n"]))
        parts.append(f'[scores.risk]\ncolumn = "risk"\nkind = "probability"\n{low}')
    if draw(st.integers(0, 3)) == 0:
        parts.append(f"[unit]\ncolumn = {quote(draw(name))}\n")
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(st.sampled_from(WRONG)))
    return "".join(parts)


def quote(text: str) -> str:
    """Write text as TOML does."""
    return json.dumps(text, ensure_ascii=True)
