"""Which impact ratios has a run, in the form of the rules to New York City's Local Law 144?

The rules (6 RCNY 5-300 to 5-304) ask for sex, race/ethnicity and both together. Which attribute is which a
run does not know: every attribute and every cross is listed, and one that is called so bears the heading of
the rules, which the notes say. The rules were read as others quote them, not in the text that the city
publishes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.cohort import MISSING_GROUP
from auditbook.report.handins.sheets import Field
from auditbook.results import Run, rows
from auditbook.verdicts import compare_with_highest

HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("sex", "gender"), "sex"),
        **dict.fromkeys(("race", "ethnicity", "race ethnicity", "race and ethnicity"), "race/ethnicity"),
    }
)
"""What an attribute of this name is under the rules."""
BOTH = "sex and race/ethnicity"
PARTS: Mapping[str, str] = MappingProxyType(
    {
        "compared": "compared",
        "small": "under 2% of the data: listed, not compared",
        "unknown": "category unknown: counted, not compared",
        "empty": "nobody",
        "withheld": "a number is withheld: not compared",
    }
)
"""What part a category has in the calculation, in the order in which categories are listed."""
FIELDS = (
    Field("", "model"),
    Field("", "rate"),
    Field("", "attribute"),
    Field("", "heading in the rules"),
    Field("", "category"),
    Field("", "people", "count"),
    Field("", "selected, or above the median", "count"),
    Field("", "selection rate or scoring rate", "share"),
    Field("", "share of the data", "share"),
    Field("", "impact ratio", "number"),
    Field("", "part in the calculation"),
)


@dataclass(frozen=True)
class Counted:
    """The categories of one attribute under one model, as counted for one kind of rate."""

    model: str
    rate: str
    attribute: str
    categories: Sequence[str]
    people: pd.Series
    chosen: pd.Series


def tabulate_impact(run: Run, records: int) -> pd.DataFrame:
    """Lay out rate and impact ratio of every category: under each model, of each attribute."""
    headings = name_headings(run)
    parts = [_compare(counted, headings.get(counted.attribute, ""), records) for counted in _count(run)]
    columns = [field.title for field in FIELDS]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _count(run: Run) -> Iterator[Counted]:
    """Count who is selected, and whose score is above the median."""
    yield from _split(run.groups, "selection", run.groups["tp"] + run.groups["fp"])
    if has_table(run, "scoring_rates"):
        yield from _split(run.scoring_rates, "scoring", run.scoring_rates["above"])


def _split(table: pd.DataFrame, rate: str, chosen: pd.Series) -> Iterator[Counted]:
    """Split a table by model and attribute."""
    for (model, attribute), part in table.groupby(["model", "attribute"], sort=False):
        yield Counted(str(model), rate, str(attribute), part["group"].tolist(), part["n"], chosen[part.index])


def _compare(counted: Counted, heading: str, records: int) -> pd.DataFrame:
    """Compare the categories of one attribute; those that are not compared stand apart, below."""
    unknown = [category == MISSING_GROUP for category in counted.categories]
    found = compare_with_highest(counted.people, counted.chosen, unknown=unknown, total=records)
    columns = {
        "model": counted.model,
        "rate": counted.rate,
        "attribute": counted.attribute,
        "heading": heading,
        "category": counted.categories,
        "people": counted.people.to_numpy(),
        "chosen": counted.chosen.to_numpy(),
        "value": found.rate,
        "share": found.share,
        "ratio": found.ratio,
        "part": [PARTS[part] for part in found.part],
    }
    order = sorted(range(len(found.part)), key=lambda place: list(PARTS).index(found.part[place]))
    return pd.DataFrame(columns).iloc[order].set_axis([field.title for field in FIELDS], axis=1)


def name_headings(run: Run) -> dict[str, str]:
    """Say which heading of the rules an attribute falls under, by its name alone."""
    by_name = {name: HEADINGS.get(_simplify(name), "") for name in run.info["attributes"]}
    crossed = {
        name: BOTH
        for name, parts in run.info.get("crosses", {}).items()
        if {by_name.get(part, "") for part in parts} == {"sex", "race/ethnicity"}
    }
    return {name: heading for name, heading in (by_name | crossed).items() if heading}


def _simplify(name: str) -> str:
    return " ".join(name.lower().replace("/", " ").replace("_", " ").replace("-", " ").split())


def has_table(run: Run, name: str) -> bool:
    """Whether a run has made a result table."""
    return (run.folder / "results" / f"{name}.csv").is_file()


def explain_impact(run: Run, records: int) -> list[str]:
    """Say what the impact ratios are, whom they leave out, and what the rules ask for beside them."""
    return [
        "Selection rate: selected of all in the category, under the audited threshold.",
        _explain_scoring(run),
        "Impact ratio: the rate of a category over the highest rate of the categories that are compared. "
        "The rules set no threshold for it, and this sheet judges none: what the audit has shown stands in "
        "the sheet verdicts.",
        "A category with under 2% of the audited records (those of unknown category included) is listed "
        "with its number and rate and takes no part in the comparison. The rules allow that with a reason, "
        "which is that the rate of so few people says little.",
        "A category with a number that is withheld takes no part in the comparison, even if its rate were "
        "the highest.",
        *_explain_unknown(run, records),
        _explain_headings(run),
        "People are audited records, counted one by one; weights of a survey have no part in it.",
        "Not provided by this audit: who the independent auditor is, since when the tool is in use, where "
        "the data come from and whether they are historical, publication and notice.",
    ]


def _explain_scoring(run: Run) -> str:
    """Say what a scoring rate is, or why there is none."""
    if not has_table(run, "scoring_rates"):
        return "Scoring rate: not provided by this audit, whose results count no scores above the median."
    if run.scoring_rates.empty:
        return "Scoring rate: not provided by this audit, since no model gives more than a decision."
    return (
        "Scoring rate: those of a category whose score is above the median score of all audited records, for "
        "models that give scores."
    )


def _explain_unknown(run: Run, records: int) -> list[str]:
    """Say of every attribute how many people have no known category."""
    held = run.groups.drop_duplicates(["attribute", "group"])
    unknown = rows(held[held["group"] == MISSING_GROUP])
    return [_count_unknown(row, records) for row in unknown] or [
        "Among the audited records nobody's category is unknown."
    ]


def _count_unknown(row: Any, records: int) -> str:
    """Say how many people have no known category of one attribute."""
    if pd.isna(row.n):
        return f"How many are of unknown {row.attribute} is withheld; they are not compared."
    verb = "is" if row.n == 1 else "are"
    told = f"Of unknown {row.attribute} {verb} {row.n:,.0f} of {records:,} audited records"
    return f"{told}, listed and not compared."


def _explain_headings(run: Run) -> str:
    """Say which attributes bear a heading of the rules, and which heading is lacking."""
    found = name_headings(run)
    lacking = [wanted for wanted in ("sex", "race/ethnicity", BOTH) if wanted not in found.values()]
    told = "No attribute is called by a heading of the rules."
    if found:
        names = "; ".join(f"{name}: {what}" for name, what in found.items())
        told = (
            f"A heading of the rules goes by an attribute's name alone ({names}); correct it if it misleads."
        )
    if not lacking:
        return told
    return (
        f"{told} Nothing stands under the heading {', '.join(lacking)}. The rules ask for it; whether an "
        "attribute or a cross here is that, is for you to say."
    )
