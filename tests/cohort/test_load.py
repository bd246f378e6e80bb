"""A cohort as it is loaded: every column in its role, every fault of the data told."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from auditbook.cohort.load import Cohort, load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.intake import warn_cohort as list_cautions
from auditbook.tables.read_table import read_table_file
from cohorts import group_names, make_table, write_cohort, write_pair, write_table

OUTCOME = '[outcome]\ncolumn = "y"\nevent = 1\n'
RACE = '[attributes.race]\ncolumn = "race"\n'
BASIC = OUTCOME + RACE


def warn_cohort(cohort: Cohort) -> list[str]:
    """Write the cautions about a cohort."""
    return [str(caution) for caution in list_cautions(cohort)]


def basic_table(rows=40, **columns):
    table = pd.DataFrame(
        {"y": [0, 1] * (rows // 2), "race": ["a", "a", "b", "b"] * (rows // 4), "x": np.arange(rows) / 7}
    )
    return table.assign(**columns)


def load(folder, table, text=BASIC, *, suffix=".csv", **options):
    path = write_pair(folder, table, text, suffix=suffix)
    return load_cohort(read_cohort_file(path), cache_dir=folder, **options)


def faults(folder, table, text=BASIC, **options):
    with pytest.raises(InputError) as caught:
        load(folder, table, text, **options)
    return caught.value.faults


def fault(folder, table, text=BASIC, **options):
    found = faults(folder, table, text, **options)
    assert len(found) == 1, found
    return found[0]


def group_counts(attribute):
    counts = np.bincount(attribute.codes, minlength=len(attribute.groups))
    return dict(zip(attribute.groups, counts.tolist(), strict=True))


def in_order_of(column, cohort, values):
    """Put what a cohort says of its records into the order of a column's values."""
    return np.asarray(values)[np.argsort(cohort.table[column], kind="stable")].tolist()


# The outcome


@pytest.mark.parametrize(
    ("values", "event", "events"),
    [
        ([1, 2, 3, 4], '"> 3"', [0, 0, 0, 1]),
        ([1, 2, 3, 4], '">= 3"', [0, 0, 1, 1]),
        ([1, 2, 3, 4], '"< 3"', [1, 1, 0, 0]),
        ([1, 2, 3, 4], '"<=3"', [1, 1, 1, 0]),
        ([1, 2, 3, 4], '"== 3"', [0, 0, 1, 0]),
        ([1, 2, 3, 4], '"!= 3"', [1, 1, 0, 1]),
        ([1, 2, 3, 4], "3", [0, 0, 1, 0]),
        ([1, 2, 3, 4], '"3"', [0, 0, 1, 0]),
        ([1.0, 0.0, 1.0, 0.0], "1", [1, 0, 1, 0]),
        ([1.0, 0.0, 1.0, 0.0], '"1"', [1, 0, 1, 0]),
        ([True, False, True, False], "1", [1, 0, 1, 0]),
        ([True, False, True, False], "true", [1, 0, 1, 0]),
        ([True, False, True, False], "false", [0, 1, 0, 1]),
        ([True, False, True, False], '"True"', [1, 0, 1, 0]),
        (["true", "FALSE", "TRUE", "x"], "true", [1, 0, 1, 0]),
        (["1", "1.0", "01", "10"], "1", [1, 1, 1, 0]),
        (["Yes", "No", "yes", "Yes "], '"Yes"', [1, 0, 0, 0]),
        (["Yes", "No", "yes", "Yes "], '"Yes "', [0, 0, 0, 1]),
        (["Yes", "No", "yes", "Yes "], '"!= No"', [1, 0, 1, 1]),
        (["<30", ">30", "NO", "NO"], "'== \"<30\"'", [1, 0, 0, 0]),
        (["NA", "None", "nan", "x"], '"NA"', [1, 0, 0, 0]),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_event_is_a_comparison_or_a_value_in_any_format(tmp_path, values, event, events, suffix):
    table = pd.DataFrame({"y": values, "race": ["a", "b", "a", "b"], "x": [1.5, 2.5, 3.5, 4.5]})
    cohort = load(tmp_path, table, f'[outcome]\ncolumn = "y"\nevent = {event}\n' + RACE, suffix=suffix)
    assert cohort.outcome.dtype == np.int8
    assert in_order_of("x", cohort, cohort.outcome) == events


def test_a_missing_outcome_is_left_out_and_counted_or_refused(tmp_path):
    table = basic_table(y=[None, "", *["1", "0"] * 19])
    cohort = load(tmp_path, table)
    assert [(part.reason, part.rows) for part in cohort.left_out] == [("outcome missing", 2)]
    assert (cohort.rows_read, len(cohort.table)) == (40, 38)
    told = fault(tmp_path, table, BASIC + '[missing]\noutcome = "error"\n')
    assert "[outcome] column: 'y' is missing in 2 of 40 rows" in told


def test_missing_is_never_no_event_under_unequal(tmp_path):
    cohort = load(
        tmp_path, basic_table(y=[None, "n", *["y", "n"] * 19]), BASIC.replace("event = 1", 'event = "!= n"')
    )
    assert cohort.outcome.sum() == 19


def test_an_event_that_matches_nothing_lists_the_values_with_their_blanks(tmp_path):
    told = fault(tmp_path, basic_table(y=["Yes ", "No"] * 20), BASIC.replace("event = 1", 'event = "Yes"'))
    assert "[outcome] event: 'Yes' matches no record: 'y' holds 'No' (20), 'Yes ' (20)" in told
    assert "the value in the table has blanks: write event = 'Yes '" in told
    told = fault(tmp_path, basic_table(y=["yes", "no"] * 20), BASIC.replace("event = 1", 'event = "Yes"'))
    assert "(did you mean 'yes'?)" in told


def test_a_cohort_without_events_or_without_non_events_is_refused(tmp_path):
    assert "matches no record: 'y' holds 0 (40)" in fault(tmp_path, basic_table(y=0))
    assert "matches all 40 records" in fault(tmp_path, basic_table(y=1))
    told = fault(tmp_path, basic_table(), BASIC.replace("event = 1", 'event = "> 9"'))
    assert "matches no record: 'y' holds from 0 to 1" in told


def test_words_under_a_comparison_are_listed(tmp_path):
    table = basic_table(y=["5", "NA", "nan", "2,5", *["1", "9"] * 18])
    told = fault(tmp_path, table, BASIC.replace("event = 1", 'event = "> 3"'))
    assert "'y' is not a number in 3 rows ('2,5' (1), 'NA' (1), 'nan' (1))" in told
    cohort = load(
        tmp_path,
        table,
        BASIC.replace("event = 1", 'event = "> 3"') + '[missing]\nvalues = ["NA", "nan", "2,5"]\n',
    )
    assert cohort.left_out[0].rows == 3


def test_a_value_that_looks_like_a_comparison_gets_advice(tmp_path):
    told = fault(tmp_path, basic_table(y=["> 3", "NO"] * 20), BASIC.replace("event = 1", 'event = "> 3"'))
    assert "write event = '== \"> 3\"'" in told


def test_a_continuous_outcome_keeps_its_numbers(tmp_path):
    text = '[outcome]\ncolumn = "y"\ntype = "continuous"\n' + RACE
    cohort = load(tmp_path, basic_table(y=[1.5, None] * 20), text)
    assert cohort.continuous
    assert cohort.outcome.dtype == np.float64
    assert set(cohort.outcome) == {1.5}
    assert "not a number in 20 rows" in fault(tmp_path, basic_table(y=["1", "x"] * 20), text)


# Attributes


def test_recoding_joins_groups_and_order_is_by_name(tmp_path):
    cohort = load(
        tmp_path,
        basic_table(race=["b", "c", "a", "d"] * 10),
        BASIC + 'groups = { d = "a" }\nreference = "b"\n',
    )
    assert group_counts(cohort.attributes[0]) == {"a": 20, "b": 10, "c": 10}
    assert cohort.attributes[0].reference == "b"


def test_bins_hold_their_lower_bound_and_the_last_is_open(tmp_path):
    text = (
        OUTCOME + '[attributes.age]\ncolumn = "age"\nbins = [0, 18, 65]\nlabels = ["child", "adult", "old"]\n'
    )
    cohort = load(tmp_path, basic_table(rows=8, race="a", age=[0, 17, 17.9, 18, 64, 65, 120, 1e9]), text)
    assert cohort.attributes[0].groups == ("child", "adult", "old")
    assert in_order_of("age", cohort, cohort.attributes[0].codes) == [0, 0, 0, 1, 1, 2, 2, 2]


def test_values_that_no_bin_holds_are_faults_unless_named_missing(tmp_path):
    text = OUTCOME + '[attributes.age]\ncolumn = "age"\nbins = [0, 18]\n'
    table = basic_table(rows=8, age=[-9, 17, 18, 19, 20, 21, 22, 23])
    assert "1 row of 'age' lies below the first bin, 0 (lowest: -9)" in fault(tmp_path, table, text)
    cohort = load(tmp_path, table, text + 'missing_values = [-9]\nmissing = "drop"\n')
    assert group_counts(cohort.attributes[0]) == {"0-17": 1, "18+": 6}
    table = basic_table(rows=8, age=["x", "17", *["18"] * 6])
    assert "'age' is not a number in 1 row ('x' (1))" in fault(tmp_path, table, text)


@pytest.mark.parametrize("blank", [None, "", "  "])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_missing_attribute_follows_the_rule_and_is_counted(tmp_path, blank, suffix):
    table = basic_table(race=[blank, "a", "b", "b"] * 10)
    told = fault(tmp_path, table, suffix=suffix)
    assert "[attributes.race] column: 'race' is missing in 10 of 40 records" in told
    grouped = load(tmp_path, table, BASIC + 'missing = "group"\n', suffix=suffix)
    assert group_counts(grouped.attributes[0]) == {"a": 10, "b": 20, "(missing)": 10}
    dropped = load(tmp_path, table, BASIC + '[missing]\nattributes = "drop"\n', suffix=suffix)
    assert group_counts(dropped.attributes[0]) == {"a": 10, "b": 20}
    assert [(part.reason, part.rows) for part in dropped.left_out] == [("race missing", 10)]


def test_a_row_counts_under_its_first_reason_and_the_counts_add_up(tmp_path):
    table = basic_table(
        race=[None, *["a", "b"] * 19, None],
        sex=[None, None, *["f", "m", "m", "f"] * 9, None, None],
        d=[1, *[3] * 37, 2, 2],
    )
    text = 'data.drop = [{ column = "d", values = [2], reason = "two" }]\n' + BASIC
    text += '[attributes.sex]\ncolumn = "sex"\n[missing]\nattributes = "drop"\n'
    cohort = load(tmp_path, table, text)
    left = {part.reason: part.rows for part in cohort.left_out}
    assert left == {"two": 2, "race missing": 1, "sex missing": 1}
    assert len(cohort.table) + sum(left.values()) == cohort.rows_read


def test_values_named_missing_are_missing_everywhere(tmp_path):
    table = basic_table(race=["?", "a", "b", "b"] * 10, x=[-9, 1, 2, 3] * 10)
    cohort = load(
        tmp_path, table, BASIC + 'missing = "group"\n[missing]\nvalues = ["?", -9]\n', suffix=".parquet"
    )
    assert cohort.attributes[0].groups == ("a", "b", "(missing)")
    assert int(cohort.table["x"].isna().sum()) == 10


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_strange_names_survive_every_format(tmp_path, suffix):
    cohort = load_cohort(
        read_cohort_file(write_cohort(tmp_path, rows=4000, groups=10, suffix=suffix)), cache_dir=tmp_path
    )
    assert set(cohort.attributes[0].groups) == set(group_names(10))
    assert cohort.site is not None
    assert sorted(set(cohort.site)) == ["000 Hôpital", "001 Hôpital", "002 Hôpital"]
    assert cohort.attributes[2].groups == ("0-17", "18-39", "40-64", "65+")


def test_identifiers_keep_their_leading_zeros(tmp_path):
    table = basic_table(site=["00123", "0123", "123", "1e3"] * 10, race=["01", "1", "01", "1"] * 10)
    text = BASIC + '[site]\ncolumn = "site"\n'
    for suffix in (".csv", ".tsv", ".parquet"):
        cohort = load(tmp_path, table, text, suffix=suffix)
        assert in_order_of("x", cohort, cohort.site)[:4] == ["00123", "0123", "123", "1e3"]
        assert cohort.unit is cohort.site
        assert cohort.attributes[0].groups == ("01", "1") or set(cohort.attributes[0].groups) == {"01", "1"}


def test_whole_numbers_and_truth_values_are_groups_by_their_plain_names(tmp_path):
    cohort = load(tmp_path, basic_table(race=[1.0, 2.0, 10.0, 2.0] * 10), suffix=".parquet", text=BASIC)
    assert cohort.attributes[0].groups == ("1", "2", "10")
    cohort = load(tmp_path, basic_table(race=[True, False] * 20), suffix=".parquet")
    assert cohort.attributes[0].groups == ("False", "True")


def test_declared_groups_without_records_are_listed_in_their_order(tmp_path):
    table = basic_table(race=pd.Categorical(["b", "a"] * 20, categories=["b", "z", "a"]))
    cohort = load(tmp_path, table, suffix=".parquet")
    assert group_counts(cohort.attributes[0]) == {"b": 20, "z": 0, "a": 20}
    cohort = load(tmp_path, basic_table(), BASIC + 'categories = ["b", "z", "a"]\n')
    assert group_counts(cohort.attributes[0]) == {"b": 20, "z": 0, "a": 20}
    told = fault(tmp_path, basic_table(), BASIC + 'categories = ["b", "z"]\n')
    assert "[attributes.race] categories: 'race' holds values that are not declared: 'a' (20)" in told


def test_too_few_and_too_many_groups_are_faults(tmp_path):
    assert "'race' holds 1 group with records ['a']" in fault(tmp_path, basic_table(race="a"))
    table = basic_table(rows=600, race=[f"g{i}" for i in range(300)] * 2)
    assert "'race' makes 300 groups ('g0', 'g1', 'g10'" in fault(tmp_path, table)
    assert len(load(tmp_path, table, BASIC + "[protocol]\nmax_groups = 300\n").attributes[0].groups) == 300


def test_an_unknown_reference_names_the_nearest_group(tmp_path):
    told = fault(tmp_path, basic_table(race=["White", "Black"] * 20), BASIC + 'reference = "white"\n')
    assert "[attributes.race] reference: 'white' is none of the groups (did you mean 'White'?)" in told


def test_renaming_groups_and_reordering_rows_change_nothing_else(tmp_path):
    table = make_table(rows=600, groups=3, seed=3)
    table["race"] = pd.Categorical(table["race"]).codes.astype(str)
    text = '[outcome]\ncolumn = "outcome"\nevent = "Yes"\n' + RACE + '[unit]\ncolumn = "visit"\n'
    first = load(tmp_path, table, text)
    shuffled = table.sample(frac=1, random_state=1)
    second = load(tmp_path, shuffled.assign(race=shuffled["race"].map({"0": "z", "1": "y", "2": "x"})), text)
    assert (
        list(group_counts(first.attributes[0]).values())
        == list(group_counts(second.attributes[0]).values())[::-1]
    )
    assert first.outcome.sum() == second.outcome.sum()


# Scores


@pytest.mark.parametrize(
    ("values", "kind", "told"),
    [
        ([-4.2, 3.9], "probability", "column 'p' runs from -4.2 to 3.9: not probabilities"),
        (
            [0, 100],
            "probability",
            "column 'p' runs from 0 to 100: not probabilities; if they are percentages",
        ),
        ([0.2, 1.0], "decision", "a decision is 0 or 1"),
        (["a", "0.5"], "probability", "'p' is not a number in 20 records ('a' (20))"),
        ([None, 0.5], "probability", "'p' is missing in 20 of 40 records"),
        ([np.inf, 0.5], "probability", "is not a number in 20 records"),
    ],
)
def test_scores_that_are_not_what_their_kind_says_are_faults(tmp_path, values, kind, told):
    text = BASIC + f'[scores.m]\ncolumn = "p"\nkind = "{kind}"\n'
    assert told in fault(tmp_path, basic_table(p=values * 20), text)


def test_good_scores_of_every_kind_pass_and_are_no_features(tmp_path):
    table = basic_table(p=[0.0, 1.0] * 20, r=[-4.2, 900.0] * 20, d=[True, False] * 20)
    text = BASIC + '[scores.p]\ncolumn = "p"\nkind = "probability"\n'
    text += '[scores.r]\ncolumn = "r"\nkind = "rank"\nthreshold = 0\n'
    text += '[scores.d]\ncolumn = "d"\nkind = "decision"\n'
    cohort = load(tmp_path, table, text)
    assert cohort.feature_columns == ("race", "x")


def test_missing_scores_can_be_left_out_by_a_rule(tmp_path):
    text = 'data.drop = [{ column = "p", values = ["", -1], reason = "no score" }]\n' + BASIC
    text += '[scores.m]\ncolumn = "p"\nkind = "probability"\n'
    cohort = load(tmp_path, basic_table(p=[None, 0.5, 0.25, -1] * 10), text)
    assert [(part.reason, part.rows) for part in cohort.left_out] == [("no score", 20)]


# Columns, features, units


def test_every_missing_column_is_told_with_the_nearest_one(tmp_path):
    text = '[outcome]\ncolumn = "Y"\nevent = 1\n[attributes.race]\ncolumn = "rase"\n[site]\ncolumn = "h"\n'
    text += '[features]\nexclude = ["q"]\n'
    found = faults(tmp_path, basic_table(), text)
    assert len(found) == 4
    assert "cohort.toml: [outcome] column: data.csv has no column 'Y' (did you mean 'y'?)" in found[0]
    assert "[attributes.race] column: data.csv has no column 'rase' (did you mean 'race'?)" in found[2]


def test_faults_of_columns_outcome_groups_and_scores_are_told_together(tmp_path):
    text = OUTCOME + '[attributes.race]\ncolumn = "rase"\n[attributes.sex]\ncolumn = "sex"\n'
    text += '[scores.p]\ncolumn = "p"\nkind = "probability"\n'
    found = faults(tmp_path, basic_table(p=55.0, sex="f"), text)
    assert len(found) == 3


def test_features_are_the_free_columns_and_late_ones_are_among_them(tmp_path):
    table = basic_table(h=["a", "b"] * 20, u=np.arange(40), day=pd.Timestamp("2024-01-01"), z=1, w=2)
    text = BASIC + '[site]\ncolumn = "h"\n[features]\nexclude = ["z"]\nlate = ["w"]\n'
    cohort = load(tmp_path, table, text, suffix=".parquet")
    assert cohort.feature_columns == ("race", "u", "w", "x")
    assert cohort.late_columns == ("w",)
    cohort = load(tmp_path, table, text + '[unit]\ncolumn = "u"\n', suffix=".parquet")
    assert cohort.feature_columns == ("h", "race", "w", "x")
    told = fault(tmp_path, table, BASIC + '[unit]\ncolumn = "u"\n[features]\ninclude = ["u", "x"]\n')
    assert "[features] include: 'u' is the unit" in told
    told = fault(tmp_path, table, BASIC + '[features]\ninclude = ["x"]\nlate = ["w"]\n')
    assert "[features] late: 'w' is not in include" in told


def test_nothing_to_train_on_is_a_fault(tmp_path):
    assert "no column is left to train on" in fault(
        tmp_path, basic_table(), BASIC + '[features]\nexclude = ["race", "x"]\n'
    )


def test_a_record_without_site_or_unit_is_a_fault(tmp_path):
    table = basic_table(h=["a", "b", None, "b"] * 10)
    assert "[site] column: 'h' is missing in 10 of 40 records" in fault(
        tmp_path, table, BASIC + '[site]\ncolumn = "h"\n'
    )
    assert "[unit] column: 'h' is missing in 10 of 40 records" in fault(
        tmp_path, table, BASIC + '[unit]\ncolumn = "h"\n'
    )


def test_one_unit_cannot_be_split_for_training_but_can_be_audited_with_given_scores(tmp_path):
    table = basic_table(h="a", p=[0.2, 0.8] * 20)
    assert "is the same in every record" in fault(tmp_path, table, BASIC + '[site]\ncolumn = "h"\n')
    text = BASIC + '[site]\ncolumn = "h"\n[scores.p]\ncolumn = "p"\nkind = "probability"\n'
    assert any("one site only" in text for text in warn_cohort(load(tmp_path, table, text)))


def test_without_site_and_unit_each_record_is_a_unit(tmp_path):
    cohort = load(tmp_path, basic_table())
    assert cohort.site is None
    assert len(set(cohort.unit)) == 40


def test_no_record_left_is_a_fault_that_counts_the_reasons(tmp_path):
    text = 'data.drop = [{ column = "y", values = [0, 1], reason = "all of them" }]\n' + BASIC
    assert "no record is left of the 40 in data.csv (40 rows: all of them)" in fault(
        tmp_path, basic_table(), text
    )


# Files


def test_files_that_are_not_what_they_should_be_have_one_message_each(tmp_path):
    path = write_pair(tmp_path, basic_table(), BASIC)
    file = read_cohort_file(path)

    def told(name, content):
        data = tmp_path / name
        data.write_bytes(content)
        with pytest.raises(InputError) as caught:
            load_cohort(file, data=data, cache_dir=tmp_path)
        assert len(caught.value.faults) == 1
        return str(caught.value)

    csv = basic_table().to_csv(index=False).encode()
    assert "the file is empty" in told("a.csv", b"")
    assert "no rows, only column names" in told("a.csv", b"y,race,x\n")
    assert "not UTF-8" in told("a.csv", csv + "1,é,3\n".encode("latin-1"))
    assert "a parquet file" in told("a.csv", b"PAR1xxxx")
    assert "Excel" in told("a.csv", b"PK\x03\x04xxxx")
    assert "not .parquet inside" in told("a.parquet", csv)
    assert "not a readable parquet file" in told("a.parquet", b"PAR1" + csv)
    assert "compressed with gzip" in told("a.csv", gzip.compress(csv))
    assert "not .csv.gz inside" in told("a.csv.gz", csv)
    assert "cannot be read" in told("a.csv.gz", gzip.compress(csv)[:-20])
    assert "binary data" in told("a.csv", csv + b"\x00\x01")
    assert "more cells than the header" in told("a.csv", csv + b"1,a,3,4\n")
    assert "more cells than the header" in told("a.csv", b"y,race,x\n" + b"1,a,3,4\n0,b,3,4\n")
    for end in (b"1,a", b"1,a\n", b"(2 rows)\n", b'1,"a\nb"'):
        assert "cells: the file was cut off, or a line stands below" in told("a.csv", csv + end)
    assert "column names that stand twice: 'race'" in told("a.csv", csv.replace(b"x\n", b"race\n", 1))
    assert "not a workbook that can be read" in told("a.xlsx", b"PK\x03\x04")
    assert "allowed: .csv, .csv.gz, .tsv" in told("a.doc", b"PK\x03\x04")
    with pytest.raises(InputError, match="does not exist; check the path, or name the file on the command"):
        load_cohort(file, data=tmp_path / "none.csv", cache_dir=tmp_path)
    for content in (csv.decode().encode("utf-16"), csv.replace(b",", b";"), csv.replace(b",", b"\t")):
        (tmp_path / "a.csv").write_bytes(content)
        assert load_cohort(file, data=tmp_path / "a.csv", cache_dir=tmp_path).outcome.sum() == 20
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        load_cohort(file, data=tmp_path / "folder.csv", cache_dir=tmp_path)


def test_a_missing_file_says_where_the_data_can_be_had(root):
    file = read_cohort_file(root / "data" / "cohorts" / "obermeyer.toml")
    with pytest.raises(InputError, match=r"--data PATH\. The data: Obermeyer et al\. \(2019\).*reuse"):
        load_cohort(file, cache_dir=root)
    with pytest.raises(InputError, match="--data PATH"):
        file.digest_data()


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    path = write_pair(tmp_path, basic_table(), BASIC)
    (tmp_path / "data.csv").write_bytes(basic_table().to_csv(index=False).encode("utf-8-sig"))
    assert load_cohort(read_cohort_file(path), cache_dir=tmp_path).outcome.sum() == 20


def test_a_parquet_file_with_two_columns_of_one_name_is_a_fault(tmp_path):
    path = write_pair(tmp_path, basic_table(), BASIC)
    arrays = [pa.array([0, 1]), pa.array(["a", "b"]), pa.array(["a", "b"])]
    pq.write_table(pa.Table.from_arrays(arrays, names=["y", "race", "race"]), tmp_path / "twice.parquet")
    with pytest.raises(InputError, match=r"twice\.parquet: column names that stand twice: 'race'"):
        load_cohort(read_cohort_file(path), data=tmp_path / "twice.parquet", cache_dir=tmp_path)


def test_columns_with_lists_are_a_fault(tmp_path):
    assert "column 'l' holds lists or tables" in fault(tmp_path, basic_table(l=[[1]] * 40), suffix=".parquet")


PANDAS_TYPES = {
    "object": lambda t: t.astype({"race": object, "site": object}),
    "nullable": lambda t: t.convert_dtypes(),
    "category": lambda t: t.astype({"race": "category", "site": "category", "sex": "category"}),
    "arrow": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
    "float": lambda t: t.astype({"y": float, "age": float}),
    "small": lambda t: t.astype({"y": "int8", "age": "int16", "x": "float64"}),
}


@pytest.mark.parametrize("kind", PANDAS_TYPES)
def test_every_pandas_type_makes_the_same_cohort(tmp_path, kind):
    n = 120
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "y": rng.integers(0, 2, n),
            "race": rng.choice(["a", "b", "NA", None], n),
            "sex": rng.integers(0, 2, n),
            "site": rng.choice(["001", "002"], n),
            "age": rng.integers(0, 90, n),
            "flag": rng.choice([True, False], n),
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        }
    )
    text = OUTCOME + RACE + '[attributes.sex]\ncolumn = "sex"\n[attributes.age]\ncolumn = "age"\n'
    text += 'bins = [0, 40]\n[site]\ncolumn = "site"\n[missing]\nattributes = "group"\n'
    plain = load(tmp_path, table, text, suffix=".parquet")
    other = load(tmp_path, PANDAS_TYPES[kind](table), text, suffix=".parquet")
    assert plain.attributes[0].groups == ("NA", "a", "b", "(missing)")
    np.testing.assert_array_equal(plain.outcome, other.outcome)
    np.testing.assert_array_equal(plain.site, other.site)
    for one, two in zip(plain.attributes, other.attributes, strict=True):
        assert one.groups == two.groups
        np.testing.assert_array_equal(one.codes, two.codes)
    loose = [name for name in table if not (kind == "float" and name in ("y", "age"))]
    pd.testing.assert_frame_equal(plain.table[loose], other.table[loose])
    assert plain.feature_columns == other.feature_columns


# Hashes and draws


def test_the_hash_follows_the_bytes(tmp_path):
    first = load(tmp_path, basic_table())
    assert load(tmp_path, basic_table()).data_hash == first.data_hash
    other = load(tmp_path, basic_table(x=1.0))
    assert other.data_hash != first.data_hash
    file = read_cohort_file(tmp_path / "cohort.toml")
    before = file.digest_data()
    write_table(basic_table(x=2.0), tmp_path / "data.csv")
    assert file.digest_data() != before


@pytest.mark.parametrize("unit", ["", '[unit]\ncolumn = "patient"\n', '[site]\ncolumn = "hospital"\n'])
def test_a_draw_keeps_whole_units_and_does_not_depend_on_row_order(tmp_path, unit):
    table = make_table(rows=900, sites=20, seed=1)
    text = '[outcome]\ncolumn = "outcome"\nevent = "Yes"\n' + RACE + unit
    whole = load(tmp_path, table, text)
    drawn = load(tmp_path, table, text, max_rows=300, seed=7)
    assert 200 < len(drawn.table) <= 300
    assert drawn.left_out[-1].rows == 900 - len(drawn.table)
    assert len(drawn.outcome) == len(drawn.unit) == len(drawn.attributes[0].codes) == len(drawn.table)
    if unit:
        sizes, all_sizes = pd.Series(drawn.unit).value_counts(), pd.Series(whole.unit).value_counts()
        assert (sizes == all_sizes[sizes.index]).all()
    shuffled = load(tmp_path, table.sample(frac=1, random_state=2), text, max_rows=300, seed=7)
    assert set(shuffled.table["visit"]) == set(drawn.table["visit"])
    assert set(load(tmp_path, table, text, max_rows=300, seed=8).table["visit"]) != set(drawn.table["visit"])
    assert len(load(tmp_path, table, text, max_rows=900).table) == 900


def test_one_unit_is_kept_even_when_it_is_larger_than_the_draw(tmp_path):
    table = make_table(rows=400, sites=2)
    text = '[outcome]\ncolumn = "outcome"\nevent = "Yes"\n' + RACE + '[site]\ncolumn = "hospital"\n'
    assert len(set(load(tmp_path, table, text, max_rows=10).site)) == 1


# Cohorts of strange shapes, and the real ones


@pytest.mark.parametrize(
    ("groups", "sites", "rate", "missing"),
    [(2, 0, 0.3, 0.0), (9, 3, 0.05, 0.1), (10, 1, 0.95, 0.3), (2, 200, 0.5, 0.01)],
)
def test_strange_cohorts_load(tmp_path, groups, sites, rate, missing):
    path = write_cohort(tmp_path, rows=2000, groups=groups, sites=sites, event_rate=rate, missing=missing)
    cohort = load_cohort(read_cohort_file(path), cache_dir=tmp_path)
    assert len(cohort.attributes[0].groups) == groups + bool(missing)
    assert (cohort.site is None) == (sites == 0)
    assert cohort.rows_read == 2000 == len(cohort.table) + sum(part.rows for part in cohort.left_out)
    assert cohort.summary().startswith("A strange cohort")


REAL = {
    "sparcs-heart-failure": ("sparcs_hf_2024", 27_925, 27_925, 17_323),
    "diabetes-130": ("diabetes130", 101_766, 99_340, 11_314),
    "obermeyer": ("obermeyer_holdout", 16_099, 16_099, 3_023),
}


@pytest.mark.parametrize("name", REAL)
def test_the_shipped_files_load_their_real_data(root, shared_dir, tmp_path, name):
    data, rows, kept, events = REAL[name]
    file = read_cohort_file(root / "data" / "cohorts" / f"{name}.toml")
    cohort = load_cohort(file, data=shared_dir / "cohorts" / f"{data}.parquet", cache_dir=tmp_path)
    assert (cohort.rows_read, len(cohort.table), int(cohort.outcome.sum())) == (rows, kept, events)
    warned = [text for text in warn_cohort(cohort) if "in disguise" in text or "identifier" in text]
    assert warned == []


def test_deaths_and_hospice_discharges_are_left_out_of_the_diabetes_cohort(root, shared_dir, tmp_path):
    file = read_cohort_file(root / "data" / "cohorts" / "diabetes-130.toml")
    cohort = load_cohort(file, data=shared_dir / "cohorts" / "diabetes130.parquet", cache_dir=tmp_path)
    left = {part.reason: part.rows for part in cohort.left_out}
    assert left == {"died in hospital or hospice": 1652, "discharged to hospice": 771, "gender missing": 3}
    assert cohort.attributes[0].groups[-1] == "(missing)"
    assert len(set(cohort.unit)) == 69_987


def test_a_synthetic_cohort_is_generated_and_says_so(root, tmp_path):
    text = (root / "data" / "cohorts" / "texas-twin.toml").read_text(encoding="utf-8")
    (tmp_path / "twin.toml").write_text(text.replace("rows = 100000", "rows = 3000"), encoding="utf-8")
    file = read_cohort_file(tmp_path / "twin.toml")
    cohort, again = (load_cohort(file, cache_dir=tmp_path) for _ in range(2))
    assert cohort.synthetic
    assert len(cohort.table) == 3000
    assert cohort.data_hash == again.data_hash
    assert file.digest_data() == "synthetic"


@pytest.mark.parametrize("end", ["1,a,\n", '1,"a\nb",\n', '1,a,""', "1,a,\n\n\n"])
def test_a_last_record_with_a_blank_cell_is_whole(tmp_path, end):
    (tmp_path / "a.csv").write_text("y,race,x\n0,b,2\n" + end)
    frame = read_table_file(tmp_path / "a.csv").frame
    assert len(frame) == 2
    assert frame["x"].isna().tolist() == [False, True]


def test_a_corrupted_gzip_file_is_told(tmp_path):
    path = write_pair(tmp_path, basic_table(2000), BASIC, suffix=".csv.gz")
    data = tmp_path / "data.csv.gz"
    packed = data.read_bytes()
    data.write_bytes(packed[:200] + b"\0" * 50 + packed[250:])
    with pytest.raises(InputError, match=r"data.csv.gz cannot be read"):
        load_cohort(read_cohort_file(path), cache_dir=tmp_path)


def test_a_data_file_whose_name_is_too_long_is_told(tmp_path):
    text = f'name = "t"\ndata.path = "{"x" * 300}.csv"\n{BASIC}'
    (tmp_path / "cohort.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        load_cohort(read_cohort_file(tmp_path / "cohort.toml"), cache_dir=tmp_path)


def test_long_values_are_cut_in_messages_and_scores_are_asked_for_as_numbers(tmp_path):
    text = BASIC + '[scores.m]\ncolumn = "p"\nkind = "probability"\n'
    told = fault(tmp_path, basic_table(p=["z" * 5000, "0,5"] * 20), text)
    assert "'0,5' (20)" in told
    assert "such as 0.25" in told
    assert len(told) < 400


def test_a_continuous_outcome_is_checked_with_a_caution_that_no_audit_takes_it(tmp_path):
    text = BASIC.replace("event = 1", 'type = "continuous"')
    cautions = warn_cohort(load(tmp_path, basic_table(y=np.arange(40) / 3), text))
    assert [one for one in cautions if "refuse a continuous outcome" in one]
    assert not [one for one in warn_cohort(load(tmp_path, basic_table())) if "continuous" in one]
