"""The bill of materials: valid, numbers and slices those of the result files, the same run the same bytes."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from cyclonedx.model.bom import Bom
from jsonschema import Draft7Validator
from referencing import Registry, Resource

from auditbook.report.handins import mlbom
from auditbook.report.handins.model_facts import NOT_PROVIDED
from form_runs import USE

KINDS = ("two_groups", "nine_groups", "three_sites", "decisions", "nan", "unequal", "continuous")


@pytest.fixture(scope="session")
def validator(root) -> Draft7Validator:
    """The specification's schema with the three that it refers to."""
    shared = Path(os.environ.get("AUDITBOOK_SHARED", root.parent / "shared"))
    folder = shared / "schemas" / "cyclonedx"
    if not folder.is_dir():
        pytest.skip(f"no schema of CycloneDX: {folder} is not there (set AUDITBOOK_SHARED)")
    known = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    kept = Registry().with_resources([(one["$id"], Resource.from_contents(one)) for one in known])
    whole = next(one for one in known if "bom-1.7" in one["$id"])
    return Draft7Validator(whole, registry=kept, format_checker=Draft7Validator.FORMAT_CHECKER)


def write_bill(reported, kind: str, folder: Path) -> dict:
    run, report = reported[kind]
    mlbom.write(run, report, folder / "bill.json")
    return json.loads((folder / "bill.json").read_text(encoding="utf-8"))


def list_models(bill: dict) -> list[dict]:
    return [one for one in bill["components"] if one["type"] == "machine-learning-model"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_bill_is_valid_and_has_a_component_for_each_model_and_the_data(
    reported, validator, kind, tmp_path
):
    bill = write_bill(reported, kind, tmp_path)
    assert list(validator.iter_errors(bill)) == []
    assert len(list_models(bill)) == len(reported[kind][1].pages)
    assert [one["bom-ref"] for one in bill["components"] if one["type"] == "data"] == [mlbom.DATA]


@pytest.mark.parametrize("kind", ["three_sites", "unequal"])
def test_the_library_reads_what_was_written(reported, kind, tmp_path):
    bill = write_bill(reported, kind, tmp_path)
    for component in bill["components"]:  # Which the library does not know
        component.pop("modelCard", None)
        component.pop("data", None)
    read = Bom.from_json(bill)
    assert len(read.components) == len(bill["components"])
    assert read.serial_number.urn == bill["serialNumber"]


@pytest.mark.parametrize("kind", ["nine_groups", "unequal"])
def test_rates_of_groups_are_those_of_the_result_file_with_their_intervals(reported, kind, tmp_path):
    run, report = reported[kind]
    card = list_models(write_bill(reported, kind, tmp_path))[0]["modelCard"]
    told = {
        (one["type"], one["slice"]): one
        for one in card["quantitativeAnalysis"]["performanceMetrics"]
        if "slice" in one
    }
    rates = run.rates[(run.rates.model == report.pages[0].model) & (run.rates.rate == "TPR")]
    for row in rates.dropna(subset="value").itertuples():
        one = told["True positive rate (sensitivity)", f"{row.attribute}: {' '.join(row.group.split())}"]
        bounds = one["confidenceInterval"]
        assert float(one["value"]) == row.value
        assert (float(bounds["lowerBound"]), float(bounds["upperBound"])) == (row.low, row.high)


def test_a_number_of_all_records_has_no_slice_and_an_undefined_one_is_not_there(reported, tmp_path):
    card = list_models(write_bill(reported, "nan", tmp_path))[0]["modelCard"]
    metrics = card["quantitativeAnalysis"]["performanceMetrics"]
    assert "Accuracy" in [one["type"] for one in metrics if "slice" not in one]
    assert "True positive rate (sensitivity)" not in [one["type"] for one in metrics]
    assert "nan" not in [one["value"] for one in metrics]
    assert any(
        "Undefined, with nobody to count" in one for one in card["considerations"]["technicalLimitations"]
    )


def test_each_finding_and_each_other_question_has_an_assessment(reported, tmp_path):
    page = reported["unequal"][1].pages[0]
    card = list_models(write_bill(reported, "unequal", tmp_path))[0]["modelCard"]
    assessments = card["considerations"]["fairnessAssessments"]
    first, finding = assessments[0], page.findings[0]
    assert first["groupAtRisk"] == f"{finding.attribute}: {finding.shares[0].group}"
    assert (
        first["harms"]
        == f"{finding.statement.text} Harm, as the cohort file says: a fall that nobody foresaw."
    )
    assert first["mitigationStrategy"] == finding.action
    assert first["benefits"] == f"Selected means: {USE['selected_means']}"
    said = {(one.question, one.attribute) for one in page.findings}
    others = [one for one in page.marks if (one.question, one.attribute) not in said]
    assert len(assessments) == len(page.findings) + len(others)
    for mark, one in zip(others, assessments[len(page.findings) :], strict=True):
        assert mark.statement.text in one["harms"]
        assert one["mitigationStrategy"] == NOT_PROVIDED


def test_the_same_run_gives_the_same_bytes_without_the_hour(reported, tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
        write_bill(reported, "unequal", folder)
    assert (first / "bill.json").read_bytes() == (second / "bill.json").read_bytes()
    assert "timestamp" not in write_bill(reported, "unequal", tmp_path)["metadata"]


def test_another_run_has_another_serial_number(reported):
    run = reported["unequal"][0]
    other = replace(run, info=run.info | {"hashes": run.info["hashes"] | {"results": "1" * 64}})
    assert mlbom.number_run(run) != mlbom.number_run(other)


def test_without_words_about_its_use_the_card_says_so(reported, tmp_path):
    card = list_models(write_bill(reported, "two_groups", tmp_path))[0]
    assert "version" not in card
    assert card["modelCard"]["considerations"]["users"] == [NOT_PROVIDED]
    assert "approach" not in card["modelCard"]["modelParameters"]  # Of a given score nothing is known


def test_a_count_of_rows_that_is_withheld_is_not_in_the_bill(reported):
    run, report = reported["two_groups"]
    told = mlbom.describe_data(run, replace(report, head=replace(report.head, rows_read=None)))
    names = [one["name"] for one in told["contents"]["properties"]]
    assert names == ["auditbook:records-audited", "auditbook:sites"]


def test_a_run_without_a_model_is_a_bill_of_its_data(reported, validator, tmp_path):
    run, report = reported["two_groups"]
    mlbom.write(run, replace(report, pages=()), tmp_path / "bill.json")
    bill = json.loads((tmp_path / "bill.json").read_text(encoding="utf-8"))
    assert list(validator.iter_errors(bill)) == []
    assert [one["type"] for one in bill["components"]] == ["data"]
