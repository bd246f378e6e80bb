"""Files as their publishers write them: every habit that misleads is put right, counted and said."""

import json
import zipfile

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from auditbook.cli import main
from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.fetch import fetch_table, list_sources

RNG = np.random.default_rng(5)
LATE = "num_lab_procedures num_procedures num_medications number_diagnoses A1Cresult change".split()


def pick(values, rows, **how):
    return RNG.choice(values, rows, **how)


def make_sparcs(folder, rows=1200):
    """Write discharges in the columns of the State's interface."""
    table = pd.DataFrame(
        {
            "hospital_service_area": "Capital/Adirond",
            "hospital_county": "Albany",
            "facility_name": pick(["Albany Medical", "St. Peter's", "Ellis"], rows),
            "age_group": pick(["30 to 49", "50 to 69", "70 or Older"], rows),
            "gender": pick(["F", "M"], rows),
            "race": pick(["White", "Black/African American", "Other Race", "Multi-racial"], rows),
            "ethnicity": pick(["Not Span/Hispanic", "Spanish/Hispanic", "Unknown"], rows),
            "length_of_stay": pick([*map(str, range(1, 12)), "120 +"], rows),
            "type_of_admission": pick(["Emergency", "Elective"], rows),
            "patient_disposition": pick(["Home or Self Care", "Expired"], rows),
            "discharge_year": "2024",
            "ccsr_diagnosis_code": "CIR019",
            "ccsr_procedure_code": pick(["", "ESA001"], rows),
            "apr_drg_code": pick(["194", "194", "194", "139"], rows),
            "apr_severity_of_illness_code": pick(["1", "2", "3"], rows),
            "apr_risk_of_mortality": pick(["Minor", "Major"], rows),
            "payment_typology_1": pick(["Medicare", "Medicaid"], rows),
            "payment_typology_2": pick(["", "Self-Pay"], rows),
            "emergency_department_indicator": pick(["Y", "N"], rows),
            "total_charges": [f"{value:,.2f}" for value in RNG.uniform(900, 90_000, rows)],
            "total_costs": [f"${value:,.2f}" for value in RNG.uniform(300, 30_000, rows)],
        }
    )
    table.loc[:9, "facility_name"] = ""
    table.to_csv(folder / "sparcs.csv", index=False)
    return table, [folder / "sparcs.csv"]


def make_diabetes(folder, rows=400):
    """Write stays in the columns of the repository's archive, some cells '?' and some codes with zeros."""
    table = pd.DataFrame(
        {
            "encounter_id": range(rows),
            "patient_nbr": pick(np.arange(300), rows),
            "race": pick(["Caucasian", "AfricanAmerican", "?"], rows),
            "gender": pick(["Female", "Male"], rows),
            "age": pick(["[30-40)", "[50-60)", "[70-80)"], rows),
            "weight": "?",
            "discharge_disposition_id": pick([1, 3, 11], rows),
            "time_in_hospital": pick(np.arange(1, 15), rows),
            "diag_1": pick(["250.00", "250.0", "038", "V27"], rows),
            "max_glu_serum": pick(["None", ">200", "Norm"], rows),
            "examide": "No",
            "citoglipton": "No",
            "readmitted": pick(["NO", "<30", ">30"], rows),
            **{name: pick(np.arange(9), rows) for name in LATE},
        }
    )
    write_archive(table, folder)
    return table, [folder / "diabetes.zip"]


def write_archive(table, folder):
    """Write the repository's archive: the table, and another of codes."""
    with zipfile.ZipFile(folder / "diabetes.zip", "w") as archive:
        archive.writestr("dataset/diabetic_data.csv", table.to_csv(index=False))
        archive.writestr("dataset/IDS_mapping.csv", "a,b\n1,2\n")


def make_pudf(folder, rows=900):
    """Write a quarter as the State of Texas does: tabs, Latin-1, marks and two series of age codes."""
    codes = [f"{code:02d}" for code in range(22)]
    table = pd.DataFrame(
        {
            "RECORD_ID": [f"{k:012d}" for k in range(rows)],
            "THCIC_ID": pick(["000101", "000102", "000103", "999999"], rows, p=[0.4, 0.3, 0.28, 0.02]),
            "PAT_AGE": pick([*codes, "22", "23", "25", "*"], rows),
            "RACE": pick(["3", "4", "5", "`"], rows),
            "ETHNICITY": pick(["1", "2", "`"], rows),
            "SEX_CODE": pick(["M", "F", "U"], rows, p=[0.48, 0.48, 0.04]),
            "LENGTH_OF_STAY": pick(["0001", "0003", "0008", "9999"], rows, p=[0.4, 0.3, 0.29, 0.01]),
            "TYPE_OF_ADMISSION": pick(["1", "3"], rows),
            "PAT_STATUS": pick(["01", "20"], rows),
            "PRINC_DIAG_CODE": pick(["I509", "J189"], rows),
            "APR_MDC": "05",
            "APR_DRG": "194",
            "ILLNESS_SEVERITY": pick(["1", "2"], rows),
            "RISK_MORTALITY": pick(["1", "2"], rows),
            "TOTAL_CHARGES": pick(["00012345.67", "-0000010.00"], rows, p=[0.98, 0.02]),
            "PAT_CITY": "Cañón",
        }
    )
    name = "PUDF_base1_1q2019_tab.txt"
    with zipfile.ZipFile(folder / "quarter.zip", "w") as archive:
        archive.writestr(name, table.to_csv(index=False, sep="\t").encode("latin-1"))
        archive.writestr("readme.txt", "see the manual")
    return table, [folder / "quarter.zip"]


def make_nhanes(folder, rows=900):
    """Write the five transport files of a survey, with codes of refusals and a zero as such files hold it."""
    people = np.arange(1.0, rows + 1)
    parts = {
        "DEMO_J": {
            "RIAGENDR": pick([1.0, 2.0], rows),
            "RIDRETH3": pick([1.0, 3.0, 4.0, 6.0, 7.0], rows),
            "RIDAGEYR": pick(np.arange(5.0, 81.0), rows),
            "DMDEDUC2": pick([1.0, 3.0, 5.0, 7.0, 9.0], rows),
            "INDFMPIR": pick([5.397605e-79, 1.2, 5.0], rows),
            "WTMEC2YR": np.r_[np.zeros(20), RNG.uniform(4e3, 9e4, rows - 20)],
            "SDMVSTRA": pick(np.arange(134.0, 140.0), rows),
            "SDMVPSU": pick([1.0, 2.0], rows),
        },
        "GHB_J": {"LBXGH": np.where(RNG.random(rows) < 0.1, np.nan, pick([5.2, 5.7, 6.5, 8.1], rows))},
        "BMX_J": {"BMXBMI": RNG.normal(29, 6, rows), "BMXWAIST": RNG.normal(99, 15, rows)},
        "BPQ_J": {"BPQ020": pick([1.0, 2.0, 9.0], rows)},
        "DIQ_J": {"DIQ010": pick([1.0, 2.0, 3.0, 9.0], rows)},
    }
    files = []
    for name, columns in parts.items():
        files.append(folder / f"{name}.xpt")
        pyreadstat.write_xport(pd.DataFrame({"SEQN": people, **columns}), str(files[-1]), table_name=name[:8])
    return pd.DataFrame(parts["DEMO_J"]), files


MAKERS = {
    "sparcs": make_sparcs,
    "diabetes-130": make_diabetes,
    "thcic-pudf": make_pudf,
    "nhanes": make_nhanes,
}


@pytest.fixture
def brought(request, tmp_path):
    """A source's raw table, and what was made of it."""
    raw, files = MAKERS[request.param](tmp_path)
    return raw, fetch_table(request.param, tmp_path / "here", given=files)


def read(found):
    return pd.read_parquet(found.table)


@pytest.mark.parametrize("brought", MAKERS, indirect=True)
def test_what_is_brought_can_be_audited_by_its_cohort_file(brought, tmp_path):
    cohort = load_cohort(read_cohort_file(brought[1].cohort), cache_dir=tmp_path)
    assert 0 < cohort.outcome.mean() < 1
    assert cohort.feature_columns


@pytest.mark.parametrize("brought", ["sparcs"], indirect=True)
def test_capped_stays_count_as_the_longest_and_charges_are_numbers(brought):
    raw, found = brought
    table = read(found)
    kept = raw[(raw["apr_drg_code"] == "194") & (raw["facility_name"] != "")]
    capped = int((kept["length_of_stay"] == "120 +").sum())
    assert len(table) == len(kept)
    assert int((table["los"] == 120).sum()) == capped > 0
    assert table["los"].sum() == kept["length_of_stay"].str.replace(" +", "").astype(int).sum()
    assert table["charges"].sum() == pytest.approx(
        kept["total_charges"].str.replace(",", "").astype(float).sum()
    )
    assert any(f"{capped:,} stays of '120 +' days count as 120" in line for line in found.told)


@pytest.mark.parametrize("brought", ["diabetes-130"], indirect=True)
def test_a_question_mark_is_missing_none_is_a_value_and_codes_stay_apart(brought):
    raw, found = brought
    table = read(found)
    assert table["race"].isna().sum() == (raw["race"] == "?").sum() > 0
    assert (table["max_glu_serum"] == "None").sum() == (raw["max_glu_serum"] == "None").sum()
    assert set(table["diag_1"]) == {"250.00", "250.0", "038", "V27"}
    assert table["patient_nbr"].dtype == "int64"


def test_the_archive_gives_the_table_that_is_known_to_be_right(shared_dir, tmp_path):
    known = pd.read_parquet(shared_dir / "cohorts" / "diabetes130.parquet").head(4000)
    write_archive(known.fillna("?"), tmp_path)
    found = fetch_table("diabetes-130", tmp_path / "here", given=[tmp_path / "diabetes.zip"])
    pd.testing.assert_frame_equal(read(found), known)


@pytest.mark.parametrize("brought", ["thcic-pudf"], indirect=True)
def test_coarse_ages_are_no_old_ages_and_withheld_cells_are_missing(brought):
    raw, found = brought
    raw = raw[raw["THCIC_ID"] != "999999"].reset_index(drop=True)
    table = read(found)
    assert len(table) == len(raw)
    old = raw["PAT_AGE"].isin([*(f"{code:02d}" for code in range(15, 22)), "25"])
    assert ((table["age_band"] == "60 years and over") == old).all()
    assert table["age_band"].isna().equals(raw["PAT_AGE"].isin(["22", "23", "*"]))
    assert table["race"].isna().sum() == (raw["RACE"] == "`").sum() > 0
    assert table["length_of_stay"].max() == 8
    assert table["total_charges"].min() > 0
    assert table["thcic_id"].str.len().eq(6).all()


@pytest.mark.parametrize("brought", ["nhanes"], indirect=True)
def test_refusals_are_missing_zeros_are_zeros_and_weights_stay(brought):
    table = read(brought[1])
    assert table["RIDAGEYR"].min() >= 20
    assert (table["WTMEC2YR"] > 0).all()
    assert set(table["DMDEDUC2"].dropna()) == {"below 9th grade", "high school", "college"}
    assert table["BPQ020"].isna().any()
    assert (table["INDFMPIR"] == 0).any()
    assert not ((table["INDFMPIR"] > 0) & (table["INDFMPIR"] < 1e-70)).any()


def test_where_a_table_came_from_is_written_beside_it(tmp_path):
    _, files = make_diabetes(tmp_path)
    found = fetch_table("diabetes-130", tmp_path / "here", given=files)
    said = json.loads((tmp_path / "here" / "diabetes-130.fetched.json").read_text(encoding="utf-8"))
    assert said["handed_in"] is True
    assert said["files"][0]["name"] == "diabetes.zip"
    assert any("not the one on record: another edition, or a damaged file" in line for line in found.told)


def test_a_table_given_to_persons_only_says_how_to_get_it(tmp_path, capsys):
    assert main(["fetch", "thcic-pudf", "--to", str(tmp_path / "x")]) == 2
    said = capsys.readouterr()
    assert "accept the agreement there" in said.err
    assert "--from FILE" in said.err
    assert not (tmp_path / "x").exists()


def test_the_terms_are_told_before_anything_is_fetched(tmp_path, capsys):
    _, files = make_sparcs(tmp_path)
    assert main(["fetch", "sparcs", "--to", str(tmp_path / "x"), "--from", *map(str, files)]) == 0
    said = capsys.readouterr().out
    assert said.index("terms: public use") < said.index("discharges read")
    assert "next: auditbook check" in said


def test_all_tables_are_listed_and_a_wrong_name_gets_the_nearest(capsys):
    assert main(["fetch"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        source.name for source in list_sources()
    ]
    assert main(["fetch", "sparc"]) == 2
    assert "did you mean 'sparcs'?" in capsys.readouterr().err


def test_a_file_that_is_another_table_is_refused_by_what_it_lacks(tmp_path):
    (tmp_path / "a.csv").write_text("one,two\n1,2\n")
    with pytest.raises(InputError, match=r"a\.csv: is not the table that was expected: 'hospital_id', 'los'"):
        fetch_table("sparcs", tmp_path / "x", given=[tmp_path / "a.csv"])


def test_every_source_names_a_shipped_cohort_file_whose_table_it_makes(root):
    for source in list_sources():
        file = read_cohort_file(root / "data" / "cohorts" / source.cohort)
        assert file.data.path.name == source.table
