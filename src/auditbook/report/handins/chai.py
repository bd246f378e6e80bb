"""How does an audit become a CHAI Applied Model Card, as XML and as a PDF that carries it?

Version 0.2 of the card, one card a model. Its schema, its documentation and published examples were read
(coalition-for-health-ai/mc-schema). The schema says of a metric's value only that it is a text; the shapes
``estimate_ci`` and ``single`` were taken from the examples, and no list of all shapes was found. The keys
of the PDF's metadata, ``chaiMcXml`` and ``chaiMcSoftwareId``, are those of the documentation.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from auditbook.errors import InputError
from auditbook.report.content import QUESTIONS, Report
from auditbook.report.handins.estimates import Estimate
from auditbook.report.handins.model_facts import (
    NOT_PROVIDED,
    ModelFacts,
    clean,
    list_models,
    say_blank,
    say_findings,
    say_harm,
    say_limits,
    say_marks,
    say_output,
    say_pockets,
    say_repair,
    say_tested,
    say_training,
    texts,
    told,
)
from auditbook.results import Run

NAMESPACE = "https://mc.chai.org/v0.2/schema.xsd"
MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~&$])")
Node: TypeAlias = tuple[str, "str | list[Node]"]
"""An element: its name, and its text or what stands in it."""


def write(run: Run, report: Report, path: Path) -> None:
    """Write the card of every model, and of each a copy of the printed report that carries it.

    Parameters
    ----------
    run : Run
        The finished run, small cells withheld.
    report : Report
        What its report says.
    path : Path
        Where the card of the first model goes; those of others lie beside it, numbered. A PDF lies beside
        each where the run has a printed report.
    """
    printed = run.folder / "report" / "report.pdf"
    software = f"auditbook {run.info['versions']['auditbook']}"
    models = list_models(run, report)
    if not models:
        raise InputError("no model of this run could be looked at: a model card is about one")
    for place, facts in enumerate(models):
        card = path if not place else path.with_name(f"{path.stem}-{place + 1}{path.suffix}")
        text = write_card(facts)
        card.write_bytes(text)
        if printed.is_file():
            carry_card(printed, text.decode("utf-8"), software, card.with_suffix(".pdf"))


def write_card(facts: ModelFacts) -> bytes:
    """Write the card of one model as an XML document."""
    from lxml import etree

    def make(node: Node) -> "etree._Element":
        name, content = node
        element = etree.Element(f"{{{NAMESPACE}}}{name}", nsmap={None: NAMESPACE})
        if isinstance(content, str):
            element.text = content if name == "ValueJson" else MARKDOWN.sub(r"\\\1", content)
        else:
            element.extend([make(child) for child in content])
        return element

    card = make(("AppliedModelCard", list_parts(facts)))
    return etree.tostring(card, encoding="UTF-8", xml_declaration=True, pretty_print=True)


def carry_card(printed: Path, card: str, software: str, path: Path) -> None:
    """Copy the printed report with a card in its metadata."""
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=printed)
    writer.add_metadata({"/chaiMcXml": card, "/chaiMcSoftwareId": software})
    writer.write(path)


def list_parts(facts: ModelFacts) -> list[Node]:
    """List the parts of the card in the order of its schema."""
    return [
        ("BasicInfo", _name_model(facts)),
        ("ReleaseInfo", _name_release(facts)),
        ("ModelSummary", _summarise(facts)),
        ("UsesAndDirections", _say_uses(facts)),
        ("Warnings", _warn(facts)),
        ("TrustIngredients", [("AISystemFacts", _say_system(facts)), _say_transparency()]),
        ("KeyMetrics", _measure(facts)),
        ("Resources", _name_resources()),
        ("Bibliography", ""),
    ]


def _name_model(facts: ModelFacts) -> list[Node]:
    owner = clean(facts.use.owner)
    named = f"{NOT_PROVIDED} The cohort file names an owner, who need not be the developer: {owner}."
    return [
        ("ModelName", clean(facts.name)),
        ("ModelDeveloper", named if owner else NOT_PROVIDED),
        ("DeveloperContact", NOT_PROVIDED),
    ]


def _name_release(facts: ModelFacts) -> list[Node]:
    return [
        ("ReleaseStage", NOT_PROVIDED),
        ("ReleaseDate", NOT_PROVIDED),
        ("ReleaseVersion", told(facts.use.version)),
        ("GlobalAvailability", NOT_PROVIDED),
    ]


def _summarise(facts: ModelFacts) -> list[Node]:
    head = facts.report.head
    audited = f"Audited: {clean(head.title)}. Outcome: {clean(head.outcome)}."
    keywords: list[Node] = [("Keyword", "fairness audit")]
    return [("Summary", _paragraphs([*texts([facts.page.answer]), audited])), ("Keywords", keywords)]


def _say_uses(facts: ModelFacts) -> list[Node]:
    use = facts.use
    audited = f"{NOT_PROVIDED} {say_tested(facts)}"
    return [
        ("IntendedUseAndWorkflow", told(use.intended_use)),
        ("PrimaryIntendedUsers", told(use.users)),
        ("HowToUse", f"Selected means: {clean(use.selected_means)}" if use.selected_means else NOT_PROVIDED),
        ("TargetedPatientPopulation", audited),
        ("CautionedOutOfScopeSettings", _paragraphs([told(use.out_of_scope), *texts([facts.page.late])])),
    ]


def _warn(facts: ModelFacts) -> list[Node]:
    shown = _bullets(say_findings(facts))
    return [
        ("KnownRisksAndLimitations", _bullets(say_limits(facts)) or NOT_PROVIDED),
        (
            "KnownBiasesOrEthicalConsiderations",
            _paragraphs([*texts([facts.page.answer]), shown, say_harm(facts.use)]),
        ),
        ("ClinicalRiskLevel", NOT_PROVIDED),
    ]


def _say_system(facts: ModelFacts) -> list[Node]:
    head = facts.report.head
    family = clean(facts.row.get("family", "")) if facts.trained else ""
    tried = _bullets(say_repair(facts))
    return [
        ("OutcomesAndOutputs", f"Outcome: {clean(head.outcome)}. Output: {say_output(facts)}"),
        ("ModelType", family or NOT_PROVIDED),
        ("InputDataSource", facts.source or NOT_PROVIDED),
        ("OutputAndInputDataTypes", f"Output: {say_output(facts)} Input: {say_training(facts)}"),
        ("DevelopmentDataCharacterization", say_training(facts)),
        (
            "BiasMitigationApproaches",
            _paragraphs([NOT_PROVIDED, "What this audit says of repairs:" if tried else "", tried]),
        ),
        ("OngoingMaintenance", NOT_PROVIDED),
    ]


def _say_transparency() -> Node:
    asked: list[Node] = [("FundingSource", NOT_PROVIDED), ("StakeholdersConsulted", NOT_PROVIDED)]
    return "TransparencyInformation", asked


def _measure(facts: ModelFacts) -> list[Node]:
    """Fill the three parts of the key metrics."""
    found, page = facts.estimates, facts.page
    useful = "How well the model tells those with the event from those without it."
    safe = "Whether the risk is what the model says, for everybody and for each group, and where it errs."
    shown = [*say_findings(facts), *say_marks(facts)]
    return [
        ("UsefulnessUsabilityEfficacy", _lay_out(facts, useful, found.overall, texts([page.accuracy]))),
        ("FairnessEquity", _lay_out(facts, _say_goal(facts), found.groups, shown)),
        ("SafetyReliability", _lay_out(facts, safe, found.calibration, say_pockets(facts))),
    ]


def _say_goal(facts: ModelFacts) -> str:
    """Say what was asked of every group, and which metric the cohort file puts first."""
    use = facts.use
    asked = "The audit asks of every attribute: " + " ".join(QUESTIONS.values())
    why = f", because {clean(use.why).rstrip('.')}" if use.why else ""
    first = f"Put first by the cohort file: {clean(use.primary_metric)}{why}." if use.primary_metric else ""
    return " ".join(filter(None, (asked, first)))


def _lay_out(facts: ModelFacts, goal: str, found: Iterable[Estimate], said: list[str]) -> list[Node]:
    """Fill one part of the key metrics: its results begin with how many records they rest on."""
    head = facts.report.head
    records = {"kind": "single", "value": head.records, "unit": "records"}
    results = [_result("Records audited", records), *(_show(estimate) for estimate in found)]
    blank = say_blank(facts)
    return [
        ("MetricGoal", goal),
        ("Results", results),
        ("Interpretation", _paragraphs([_bullets(said), blank]) or NOT_PROVIDED),
        ("TestType", "Retrospective audit of recorded outcomes and predictions; no trial of use in care."),
        ("TestingDataDescription", say_tested(facts)),
        ("ValidationProcessAndJustification", _say_process(facts)),
    ]


def _say_process(facts: ModelFacts) -> str:
    """Say how the numbers came about, and how they can be made again."""
    return (
        "Intervals hold at the level that stands beside them; a difference between groups is shown only "
        "where its bounds hold for all questions and attributes of the model at once. What is open is "
        f"neither passed nor failed. {facts.provenance}"
    )


def _show(estimate: Estimate) -> Node:
    """Lay out one number: with its interval where both ends are known."""
    scale, unit = (100, {"unit": "%"}) if estimate.is_share else (1, {})
    value, low, high = (
        None if number is None else round(scale * number, 6)
        for number in (estimate.value, estimate.low, estimate.high)
    )
    label = f"{estimate.measure}, {clean(estimate.of_whom)}"
    if low is None or high is None:
        return _result(label, {"kind": "single", "value": value, **unit})
    level = float(f"{100 * estimate.level:.6g}")
    return _result(
        label, {"kind": "estimate_ci", "estimate": value, "lower": low, "upper": high, "level": level, **unit}
    )


def _result(label: str, value: dict[str, object]) -> Node:
    shown: list[Node] = [
        ("Label", label),
        ("ValueJson", json.dumps(value, allow_nan=False, separators=(",", ":"))),
    ]
    return "MetricResult", shown


def _name_resources() -> list[Node]:
    return [("PeerReviewedPublications", NOT_PROVIDED), ("PatientConsentOrDisclosure", NOT_PROVIDED)]


def _paragraphs(parts: Iterable[str]) -> str:
    """Put texts below each other, blank ones left out."""
    return "\n\n".join(filter(None, parts))


def _bullets(items: Iterable[str]) -> str:
    """List texts, one a line."""
    return "\n".join(f"- {item}" for item in items)
