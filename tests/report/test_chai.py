"""The model card: valid, its numbers those of the result files, and a PDF that carries it."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree
from pypdf import PdfReader, PdfWriter

from auditbook.errors import InputError
from auditbook.report.handins import chai
from auditbook.report.handins.model_facts import NOT_PROVIDED
from auditbook.results import Run
from form_runs import USE

SPACE = {"mc": chai.NAMESPACE}
KINDS = (
    "two_groups",
    "nine_groups",
    "three_sites",
    "inconclusive",
    "decisions",
    "nan",
    "unequal",
    "continuous",
)


@pytest.fixture(scope="session")
def schema(root) -> etree.XMLSchema:
    """The card's schema, without the signatures that it would fetch from the network."""
    shared = Path(os.environ.get("AUDITBOOK_SHARED", root.parent / "shared"))
    path = shared / "schemas" / "chai" / "schema.xsd"
    if not path.is_file():
        pytest.skip(f"no schema of the model card: {path} is not there (set AUDITBOOK_SHARED)")
    tree = etree.parse(str(path))
    names = {"xs": etree.QName(tree.getroot()).namespace}
    for element in tree.xpath("//xs:import | //xs:element[@ref]", namespaces=names):
        element.getparent().remove(element)
    return etree.XMLSchema(tree)


def by_length(path: Path) -> tuple[int, str]:
    return len(path.name), path.name


def write_cards(reported, kind: str, folder: Path) -> list[etree._ElementTree]:
    run, report = reported[kind]
    chai.write(run, report, folder / "card.xml")
    return [etree.parse(str(path)) for path in sorted(folder.glob("*.xml"), key=by_length)]


def read(card, path: str) -> list[str]:
    return card.xpath("//" + "/".join(f"mc:{name}" for name in path.split("/")) + "/text()", namespaces=SPACE)


def read_values(card, part: str) -> dict[str, dict]:
    labels = read(card, f"{part}/Results/MetricResult/Label")
    values = read(card, f"{part}/Results/MetricResult/ValueJson")
    return dict(zip(labels, map(json.loads, values), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_each_model_has_a_card_that_the_schema_accepts(reported, schema, kind, tmp_path):
    cards = write_cards(reported, kind, tmp_path)
    assert len(cards) == len(reported[kind][1].pages)
    for card in cards:
        schema.assertValid(card)


@pytest.mark.parametrize("kind", ["nine_groups", "unequal"])
def test_rates_of_groups_are_those_of_the_result_file(reported, kind, tmp_path):
    run, report = reported[kind]
    whole = run.rates.rate.isin(["SR", "TPR", "FPR", "PPV", "ER"])
    rates = run.rates[whole & (run.rates.model == report.pages[0].model)]
    write_cards(reported, kind, tmp_path)
    card = etree.parse(str(tmp_path / "card.xml"))
    shown = read_values(card, "FairnessEquity").items()
    values = [one for label, one in shown if not label.startswith(("Area", "Records"))]
    told = rates.dropna(subset="value")
    assert [one["estimate"] for one in values] == pytest.approx((100 * told.value).tolist())
    assert [one["lower"] for one in values] == pytest.approx((100 * told.low).tolist())
    assert [one["upper"] for one in values] == pytest.approx((100 * told.high).tolist())
    assert {(one["kind"], one["unit"], one["level"]) for one in values} == {("estimate_ci", "%", 95)}


def test_an_undefined_rate_is_left_out_and_said_and_is_no_zero(reported, tmp_path):
    card = write_cards(reported, "nan", tmp_path)[0]
    values = read_values(card, "FairnessEquity")
    assert not any(label.startswith(("True positive", "Positive predictive")) for label in values)
    said = read(card, "FairnessEquity/Interpretation")[0]
    assert "Undefined, with nobody to count: " in said
    assert said.endswith("What is left out is not 0.")


def test_numbers_that_are_withheld_are_left_out_and_counted(reported, tmp_path):
    run, report = reported["two_groups"]
    rates, areas = run.rates.copy(), run.auc_matrix.copy()
    hidden = (rates.group == "Male") & (rates.rate == "TPR")
    rates.loc[hidden, ["value", "low", "high"]] = float("nan")  # Its denominator may be told
    areas.loc[areas.event_group == "Male", ["auc", "ci_low", "ci_high"]] = float("nan")
    masked = Run(run.folder, run.info)
    masked.__dict__.update(rates=rates, auc_matrix=areas)
    chai.write(masked, report, tmp_path / "card.xml")
    card = etree.parse(str(tmp_path / "card.xml"))
    values = read_values(card, "FairnessEquity")
    assert "True positive rate (sensitivity), sex: Male" not in values
    assert "Area under the ROC curve, sex: Male" not in values
    said = read(card, "FairnessEquity/Interpretation")[0]
    assert "Withheld: 2 numbers of groups, resting on fewer than 10 people or telling of them." in said
    assert "Undefined" not in said


def test_without_words_about_its_use_the_card_says_that_it_does_not_know(reported, tmp_path):
    card = write_cards(reported, "two_groups", tmp_path)[0]
    assert read(card, "BasicInfo/ModelName") == ["risk score"]
    for part in ("BasicInfo/ModelDeveloper", "ReleaseInfo/ReleaseVersion", "UsesAndDirections/HowToUse"):
        assert read(card, part) == [NOT_PROVIDED]
    assert read(card, "UsesAndDirections/IntendedUseAndWorkflow") == [NOT_PROVIDED]


def test_words_about_its_use_fill_the_heads(reported, tmp_path):
    first, second = write_cards(reported, "unequal", tmp_path)
    assert read(second, "BasicInfo/ModelName") == [r"Fall risk \<2\>: points"]
    assert read(first, "BasicInfo/ModelName") == [r"Fall risk \<2\>: =risk"]
    assert read(first, "ReleaseInfo/ReleaseVersion") == [USE["version"]]
    assert read(first, "UsesAndDirections/PrimaryIntendedUsers") == [USE["users"]]
    assert read(first, "UsesAndDirections/IntendedUseAndWorkflow") == [r"to plan visits \| on the ward"]
    assert read(first, "UsesAndDirections/HowToUse") == [f"Selected means: {USE['selected_means']}"]
    assert read(first, "BasicInfo/ModelDeveloper")[0].endswith("who need not be the developer: Ward 4.")
    assert "Put first by the cohort file: EOPP, because a fall" in read(first, "FairnessEquity/MetricGoal")[0]


def test_findings_stand_among_the_known_biases_and_open_stays_open(reported, tmp_path):
    page = reported["unequal"][1].pages[0]
    assert page.findings
    write_cards(reported, "unequal", tmp_path)
    card = etree.parse(str(tmp_path / "card.xml"))
    biases = read(card, "Warnings/KnownBiasesOrEthicalConsiderations")[0]
    for finding in page.findings:
        assert chai.MARKDOWN.sub(r"\\\1", finding.statement.text) in biases
    shown = read(card, "FairnessEquity/Interpretation")[0]
    for mark in page.marks:
        assert chai.MARKDOWN.sub(r"\\\1", mark.statement.text) in shown


def test_of_a_continuous_outcome_there_are_mean_errors_and_no_rates(reported, tmp_path):
    run, report = reported["continuous"]
    card = write_cards(reported, "continuous", tmp_path)[0]
    errors = run.pocket_errors
    whole = errors[(errors.pocket == "overall") & (errors.model == report.pages[0].model)]
    told = read_values(card, "SafetyReliability")
    assert list(read_values(card, "FairnessEquity")) == ["Records audited"]
    forest = whole[(whole.quantity == "mu") & (whole["map"] == "forest")].iloc[0]
    value = told["Mean error, by the forest map, all audited records"]
    assert (value["estimate"], value["lower"]) == pytest.approx((forest.estimate, forest.ci_low))
    assert value["level"] == pytest.approx(100 * (1 - forest.level))
    said = read(card, "FairnessEquity/Interpretation")[0]
    assert said.endswith("The outcome is continuous: the audit has no rates, areas or verdicts by group.")


def test_the_pdf_carries_the_card_and_names_the_software(reported, tmp_path):
    run, report = reported["three_sites"]
    printed = tmp_path / "run" / "report" / "report.pdf"
    printed.parent.mkdir(parents=True)
    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    writer.write(printed)
    chai.write(replace(run, folder=tmp_path / "run"), report, tmp_path / "card.xml")
    for name in ("card", "card-2"):
        kept = PdfReader(tmp_path / f"{name}.pdf")
        assert len(kept.pages) == 1
        assert kept.metadata["/chaiMcXml"] == (tmp_path / f"{name}.xml").read_text(encoding="utf-8")
        assert kept.metadata["/chaiMcSoftwareId"] == f"auditbook {run.info['versions']['auditbook']}"


def test_a_run_without_a_model_has_no_card(reported, tmp_path):
    run, report = reported["two_groups"]
    with pytest.raises(InputError, match="no model of this run could be looked at"):
        chai.write(run, replace(report, pages=()), tmp_path / "card.xml")


def test_signs_that_xml_cannot_hold_do_not_break_a_card(reported, schema, tmp_path):
    run, report = reported["two_groups"]
    head = replace(
        report.head, title="a\x00b\x0b]]> &amp; <x>", use=replace(report.head.use, owner="o\ud800\u200b")
    )
    chai.write(run, replace(report, head=head), tmp_path / "card.xml")
    card = etree.parse(str(tmp_path / "card.xml"))
    schema.assertValid(card)
    assert r"Audited: ab \]\]\> \&amp; \<x\>." in read(card, "ModelSummary/Summary")[0]
