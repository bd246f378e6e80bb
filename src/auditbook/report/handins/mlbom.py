"""How does an audit become a bill of materials for machine learning, CycloneDX 1.7?

One component a model, with its numbers by group and their intervals and an assessment of fairness, and one
for the data. Read from the specification's JSON schema. The library cyclonedx-python-lib (11.12) writes
components and metadata, and neither model cards nor data: these are added to what it has written. The
serial number follows from the run, and no time of writing is noted, so that the same run gives the same
bytes.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from uuid import NAMESPACE_OID, UUID, uuid5

from auditbook.report.content import QUESTIONS, Finding, Report
from auditbook.report.handins.estimates import Estimate
from auditbook.report.handins.model_facts import (
    NOT_PROVIDED,
    ModelFacts,
    clean,
    list_models,
    say_blank,
    say_harm,
    say_limits,
    say_output,
    say_pockets,
    say_repair,
    texts,
    told,
)
from auditbook.results import Run

if TYPE_CHECKING:
    from cyclonedx.model.bom import Bom

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
DATA = "audited-data"


def write(run: Run, report: Report, path: Path) -> None:
    """Write the bill of materials of all audited models of a run."""
    from cyclonedx.output.json import JsonV1Dot7

    models = list_models(run, report)
    bill = json.loads(JsonV1Dot7(_make_bill(run, report, models)).output_as_string())
    del bill["metadata"]["timestamp"]  # The library puts in the time of writing
    cards = {_name_reference(place): write_card(facts) for place, facts in enumerate(models)}
    for component in bill["components"]:
        if component["bom-ref"] == DATA:
            component["data"] = [describe_data(run, report)]
        else:
            component["modelCard"] = cards[component["bom-ref"]]
    path.write_text(json.dumps(bill, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def number_run(run: Run) -> UUID:
    """Derive the serial number of a run from what it was made of."""
    made_of = {"hashes": run.info["hashes"], "versions": run.info["versions"], "seed": run.info["seed"]}
    return uuid5(NAMESPACE_OID, json.dumps(made_of, sort_keys=True))


def _name_reference(place: int) -> str:
    return f"model-{place + 1}"


def _make_bill(run: Run, report: Report, models: list[ModelFacts]) -> "Bom":
    """Make what the library can hold: the models and the data by name, and the tool."""
    from cyclonedx.model import Property
    from cyclonedx.model.bom import Bom, BomMetaData
    from cyclonedx.model.component import Component, ComponentType

    tool = Component(
        name="auditbook", version=str(run.info["versions"]["auditbook"]), type=ComponentType.APPLICATION
    )
    kind = ComponentType.MACHINE_LEARNING_MODEL
    components = [
        Component(
            name=clean(facts.name),
            version=clean(facts.use.version) or None,
            type=kind,
            bom_ref=_name_reference(place),
            description=" ".join(texts([facts.page.answer])) or None,
            properties=[Property(name="auditbook:score", value=clean(facts.page.model))],
        )
        for place, facts in enumerate(models)
    ]
    data = Component(name=clean(report.head.cohort), type=ComponentType.DATA, bom_ref=DATA)
    bill = Bom(components=[*components, data], serial_number=number_run(run), metadata=BomMetaData())
    bill.metadata.tools.components.add(tool)
    made = {"results": report.head.hash, "profile": report.head.profile, "seed": str(report.head.seed)}
    for name, value in made.items():
        if value:
            bill.metadata.properties.add(Property(name=f"auditbook:{name}", value=value))
    for component in components:
        bill.register_dependency(component, [data])
    return bill


def describe_data(run: Run, report: Report) -> Json:
    """Describe the audited records."""
    head = report.head
    counts = {"rows-read": head.rows_read, "records-audited": head.records, "sites": head.sites}
    properties: list[Json] = [
        {"name": f"auditbook:{name}", "value": str(value)}
        for name, value in counts.items()
        if value is not None  # Withheld
    ]
    said = [f"{clean(head.title)}.", *texts([head.population, head.left_out])]
    source = clean(run.info.get("source", ""))
    return {
        "type": "dataset",
        "name": clean(head.cohort),
        "description": " ".join([*said, f"Source: {source}" if source else ""]).strip(),
        "contents": {"properties": properties},
    }


def write_card(facts: ModelFacts) -> Json:
    """Write the model card of one model."""
    return {
        "modelParameters": _describe_model(facts),
        "quantitativeAnalysis": {"performanceMetrics": [_measure(one) for one in facts.estimates.all]},
        "considerations": _consider(facts),
    }


def _describe_model(facts: ModelFacts) -> Json:
    """Describe the model: learning and family only where this audit trained it."""
    task = "regression" if facts.report.head.continuous else "classification"
    known: dict[str, Json] = {
        "task": task,
        "datasets": [{"ref": DATA}],
        "outputs": [{"format": say_output(facts)}],
    }
    if facts.trained:
        known["approach"] = {"type": "supervised"}
        known["architectureFamily"] = clean(facts.row.get("family", "")) or NOT_PROVIDED
    return known


def _measure(estimate: Estimate) -> Json:
    """Lay out one number, with the bounds that are known; without a slice it is of all audited records."""
    bounds = {"lowerBound": estimate.low, "upperBound": estimate.high}
    known: dict[str, Json] = {name: repr(value) for name, value in bounds.items() if value is not None}
    metric: dict[str, Json] = {"type": estimate.measure, "value": repr(float(estimate.value))}
    if estimate.group:
        metric["slice"] = clean(estimate.of_whom)
    if known:
        metric["confidenceInterval"] = known
    return metric


def _consider(facts: ModelFacts) -> Json:
    """Lay out uses, limits, trade-offs and what was found of fairness."""
    use = facts.use
    limits = [*say_limits(facts), *say_pockets(facts), say_blank(facts)]
    considered: dict[str, list[Json]] = {
        "users": [told(use.users)],
        "useCases": [told(use.intended_use)],
        "technicalLimitations": [one for one in limits if one],
        "performanceTradeoffs": [*say_repair(facts)],
        "ethicalConsiderations": [{"name": clean(use.harm)}] if use.harm else [],
        "fairnessAssessments": list(_assess(facts)),
    }
    return {name: list(items) for name, items in considered.items() if items}


def _assess(facts: ModelFacts) -> Iterator[Json]:
    """Assess every finding, and then every question and attribute that has none."""
    said = {
        (one.question, name)
        for one in facts.page.findings
        for name in (one.attribute, *(other for other, _ in one.also))
    }
    for finding in facts.page.findings:
        yield _assess_group(_name_group(finding), clean(finding.statement.text), facts, clean(finding.action))
    for mark in facts.page.marks:
        if (mark.question, mark.attribute) not in said:
            shown = f"{QUESTIONS[mark.question]} {mark.statement.text}"
            yield _assess_group(f"groups of {clean(mark.attribute)}", clean(shown), facts, "")


def _name_group(finding: Finding) -> str:
    """Name the group concerned, which stands first."""
    groups = [share.group for share in finding.shares[:1]]
    return clean(": ".join([finding.attribute, *groups]))


def _assess_group(group: str, shown: str, facts: ModelFacts, action: str) -> Json:
    """Lay out one assessment; what the audit does not know is said."""
    use = facts.use
    return {
        "groupAtRisk": group,
        "benefits": f"Selected means: {clean(use.selected_means)}" if use.selected_means else NOT_PROVIDED,
        "harms": " ".join(filter(None, (shown, say_harm(use)))),
        "mitigationStrategy": action or NOT_PROVIDED,
    }
