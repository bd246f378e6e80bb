"""What does an audit know of one model that a form asks for, and what must the form say it does not know?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from auditbook.book.say.text import count, number, plural
from auditbook.report.content import QUESTIONS, ModelPage, Report, Statement, Use
from auditbook.report.handins.estimates import Estimates, list_estimates
from auditbook.report.source import Source
from auditbook.results import Run

NOT_PROVIDED = "Not provided by this audit."
FEATURES = {"all": "all features", "admission": "the features known at admission"}


@dataclass(frozen=True)
class ModelFacts:
    """All that the forms say of one model."""

    report: Report
    page: ModelPage
    row: dict[str, Any]  # Of models.csv; empty where only pockets were audited
    source: str  # Of the data, as the cohort file says
    provenance: str  # How the numbers can be made again
    estimates: Estimates

    @property
    def use(self) -> Use:
        """Who is asked to trust what."""
        return self.report.head.use

    @property
    def trained(self) -> bool:
        """Whether this audit trained the model itself."""
        return self.page.source == "trained"

    @property
    def name(self) -> str:
        """Name the model: as the cohort file does, with the score's name where several are audited."""
        if not self.use.model:
            return self.page.model
        return self.use.model if len(self.report.pages) == 1 else f"{self.use.model}: {self.page.model}"


def list_models(run: Run, report: Report) -> list[ModelFacts]:
    """Gather what is known of every model that the report has a page for."""
    return [_gather(Source(run), report, page) for page in report.pages]


def _gather(source: Source, report: Report, page: ModelPage) -> ModelFacts:
    found = source.of("models", model=page.model).to_dict("records")
    row = {str(key): value for key, value in found[0].items()} if found else {}
    named = clean(source.run.info.get("source") or "")
    made = say_provenance(source.run, report)
    return ModelFacts(report, page, row, named, made, list_estimates(source, page.model))


def keep_made(run: Run, *tables: str) -> tuple[str, ...]:
    """Keep the names of those files that this kind of run has made."""
    return tuple(name for name in tables if name == "run.json" or (run.folder / "results" / name).is_file())


def clean(text: object) -> str:
    """Bring text onto one line, without signs that XML and office files cannot hold."""
    plain = " ".join(str(text).split())
    return "".join(sign for sign in plain if not category(sign).startswith("C"))


def told(text: str) -> str:
    """Pass on what the cohort file says; where it says nothing, say that the audit does not know."""
    return clean(text) or NOT_PROVIDED


def texts(statements: Iterable[Statement | None]) -> list[str]:
    """List the sentences of those statements that there are."""
    return [clean(one.text) for one in statements if one is not None and one.text.strip()]


def say_output(facts: ModelFacts) -> str:
    """Say what the model puts out."""
    if not facts.row:
        return "A number in the unit of the outcome." if facts.report.head.continuous else NOT_PROVIDED
    threshold = number(facts.row["threshold"], digits=4).rstrip("0").rstrip(".")
    selected = f"a record is selected when it is at least {threshold}."
    if facts.row["event_is"] == "low":
        given = number(facts.row["given_threshold"], digits=4).rstrip("0").rstrip(".")
        selected = f"low ones speak for the event: a record is selected when it is at most {given}."
    outputs = {
        "probability": f"A probability between 0 and 1; {selected}",
        "rank": f"A score that orders records and is no probability; {selected}",
        "decision": "A decision: selected or not.",
    }
    return outputs[facts.row["kind"]]


def say_training(facts: ModelFacts) -> str:
    """Say on what the model was trained, where this audit trained it."""
    if not facts.trained:
        return f"{NOT_PROVIDED} The scores were given with the data."
    if not facts.row:
        return "Trained by this audit on other records of the same cohort."
    sees = FEATURES.get(facts.row["features"], "the features of the cohort file")
    records = plural(facts.row["n_train"], "record")
    return f"Trained by this audit on {records} of the same cohort that are not audited, with {sees}."


def say_count(n: float) -> str:
    """Write a count of people, or that it is withheld."""
    return "withheld" if math.isnan(n) else count(n)


def say_blank(facts: ModelFacts) -> str:
    """Say which numbers of groups a form does not hold, and why; blank where it holds all."""
    if not facts.row:
        why = "The outcome is continuous" if facts.report.head.continuous else "Only pockets were audited"
        return f"{why}: the audit has no rates, areas or verdicts by group."
    withheld, undefined = facts.estimates.withheld, facts.estimates.undefined
    fewer = f"resting on fewer than {count(facts.report.smallest_cell)} people or telling of them"
    said = [
        f"Withheld: {plural(withheld, 'number')} of groups, {fewer}." if withheld else "",
        f"Undefined, with nobody to count: {plural(undefined, 'number')} of groups." if undefined else "",
        "What is left out is not 0." if withheld or undefined else "",
    ]
    return " ".join(filter(None, said))


def say_findings(facts: ModelFacts) -> list[str]:
    """List what was shown to fail, and who cannot be judged."""
    page = facts.page
    return texts([*(one.statement for one in page.findings), page.further, *page.unjudged])


def say_limits(facts: ModelFacts) -> list[str]:
    """List what keeps the model from use, and what is not known."""
    return texts([facts.page.late, *facts.page.unknown])


def say_repair(facts: ModelFacts) -> list[str]:
    """List what a repair would cost, as this audit tried it."""
    return texts(facts.page.repair)


def say_pockets(facts: ModelFacts) -> list[str]:
    """List flagged pockets and gaps, or why there are none."""
    return texts([*(one.statement for one in facts.page.pockets), facts.page.pockets_said])


def say_tested(facts: ModelFacts) -> str:
    """Say on which records the model was tested."""
    head = facts.report.head
    made = "The records are synthetic: no record is a person." if head.synthetic else ""
    period = f"Period: {clean(head.use.period)}." if head.use.period else ""
    return " ".join(filter(None, (*texts([head.population, head.left_out]), period, made)))


def say_marks(facts: ModelFacts) -> list[str]:
    """List what was shown of every question and attribute."""
    return [
        clean(f"{one.attribute}. {QUESTIONS[one.question]} {one.statement.text}") for one in facts.page.marks
    ]


def say_harm(use: Use) -> str:
    """Say the harm that the cohort file names."""
    harm = clean(use.harm).rstrip(".")
    return f"Harm, as the cohort file says: {harm}." if harm else ""


def say_provenance(run: Run, report: Report) -> str:
    """Say how the numbers can be made again."""
    head, version = report.head, run.info["versions"]["auditbook"]
    results = f", results {head.hash}" if head.hash else ""
    return f"Made by auditbook {version}, profile {head.profile}, seed {head.seed}{results}."
