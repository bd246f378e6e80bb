"""The cohort file: what it may say, and what is told when it says something else."""

import dataclasses
import os
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.cohort import file as cohort_file
from auditbook.cohort.attribute_keys import label_bins
from auditbook.cohort.events import parse_event
from auditbook.cohort.file import read_cohort_file
from auditbook.cohort.keys import list_keys
from auditbook.errors import InputError, printable
from auditbook.settings import Protocol
from auditbook.tables.faults import show

GOOD = """
name = "good"
[data]
path = "table.csv"
[outcome]
column = "los"
event = "> 3"
[attributes.race]
column = "race"
"""

LATE = '[features]\nlate = ["charges"]\n'


def read(tmp_path, text, name="cohort.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_cohort_file(path)


def faults(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    return caught.value.faults


def fault(tmp_path, text):
    found = faults(tmp_path, text)
    assert len(found) == 1, found
    return found[0]


def test_a_short_file_gets_every_default(tmp_path):
    file = read(tmp_path, GOOD)
    assert (file.name, file.title) == ("good", "good")
    assert file.data.path == tmp_path / "table.csv"
    assert file.protocol == Protocol()
    assert file.panel.models == ("xgboost", "logistic")
    assert file.panel.threshold == 0.5
    assert (file.missing.attributes, file.missing.outcome) == ("error", "drop")
    assert file.site.column is None
    assert file.attributes[0].missing == "error"


def test_given_scores_turn_training_off(tmp_path):
    file = read(tmp_path, GOOD + '[scores.p]\ncolumn = "p"\nkind = "rank"\npercentile = 97\n')
    assert file.panel.models == ()
    assert (file.scores[0].threshold, file.scores[0].percentile) == (None, 97.0)


def test_every_key_can_be_set(tmp_path):
    file = read(
        tmp_path,
        """
name = "all-keys"
title = "All keys"
[data]
path = "t.parquet"
source = "us"
drop = [{ column = "d", values = [11, "x", true], reason = "not at issue" }]
[outcome]
column = "y"
event = true
type = "event"
harm = "harm"
[site]
column = "h"
required = true
[unit]
column = "u"
[attributes.race]
column = "r"
reference = "B"
groups = { a = "B" }
categories = ["B", "C"]
missing = "drop"
missing_values = ["?", -9]
[attributes.age]
column = "a"
bins = [0, 18.5]
labels = ["young", "old"]
[missing]
attributes = "group"
outcome = "error"
values = ["NA"]
[features]
exclude = ["x"]
late = ["l"]
[scores.s]
column = "s"
kind = "decision"
[panel]
models = ["logistic"]
percentile = 90
[protocol]
metrics = ["DI", "CAL_large"]
thresholds = { DI = 0.9 }
resamples = 100
seed = 7
""",
    )
    assert file.data.drop[0].values == (11, "x", True)
    assert (file.outcome.rule.value, file.outcome.text) == (True, "true")
    race, age = file.attributes
    assert (race.missing, race.missing_values, race.categories) == ("drop", ("?", -9), ("B", "C"))
    assert (age.missing, age.bins, age.labels) == ("group", (0, 18.5), ("young", "old"))
    assert (file.panel.threshold, file.panel.percentile) == (None, 90.0)
    assert file.protocol == Protocol(
        metrics=("DI", "CAL_large"), thresholds={"DI": 0.9}, resamples=100, seed=7
    )
    assert file.describe()["attributes"] == ["race", "age"]


WORDS = """
[use]
model = "length-of-stay model"
owner = "Patient flow"
primary_metric = "EOPP"
[labels]
columns = { ESPEC = "specialty" }
values.ESPEC = { "01" = "surgery" }
values.race = { B = "Black" }
[report]
smallest_cell = 0
paper = "Letter"
"""


def test_words_of_the_report_are_kept_for_the_run_and_left_out_ones_are_not(tmp_path):
    said = read(tmp_path, GOOD + WORDS).describe()
    assert said["use"] == {"model": "length-of-stay model", "owner": "Patient flow", "primary_metric": "EOPP"}
    assert said["labels"] == {
        "columns": {"ESPEC": "specialty"},
        "values": {"ESPEC": {"01": "surgery"}, "race": {"B": "Black"}},
        "groups": {"race": {"B": "Black"}},
    }
    assert said["report"] == {"smallest_cell": 0, "paper": "Letter", "sex": None, "race": "race"}
    said = read(tmp_path, GOOD).describe()
    assert (said["use"], said["labels"]) == ({}, {"columns": {}, "values": {}, "groups": {}})
    assert (said["report"]["smallest_cell"], said["report"]["paper"]) == (10, "A4")


def test_words_for_the_values_of_a_column_name_the_groups_of_its_attribute_unless_recoded(tmp_path):
    text = (
        GOOD
        + '[attributes.sex]\ncolumn = "sexe"\ngroups = { B = "A", C = "B" }\n'
        + '[labels]\nvalues.sexe = { A = "men", B = "boys", C = "girls", D = "women" }\n'
        + 'values.sex = { B = "girls", D = "all women" }\n'
    )
    said = read(tmp_path, text).describe()["labels"]
    assert said["groups"] == {"sex": {"A": "men", "B": "girls", "D": "all women"}}
    assert said["values"]["sexe"]["B"] == "boys"


def test_words_of_a_column_and_of_its_attribute_tell_all_groups_apart(tmp_path):
    words = '[labels]\nvalues.sexe = { F = "people" }\nvalues.sex = { M = "people" }\n'
    found = faults(tmp_path, GOOD + '[attributes.sex]\ncolumn = "sexe"\n' + words)
    assert any("values.sexe and values.sex: 'F' and 'M' are both 'people'" in each for each in found), found


def test_forms_take_the_attributes_that_are_named_for_them(tmp_path):
    text = GOOD + '[attributes.gender]\ncolumn = "g"\n[report]\nsex = "gender"\n'
    assert read(tmp_path, text).describe()["report"]["sex"] == "gender"


def test_all_faults_are_told_at_once_each_with_file_table_and_key(tmp_path):
    found = faults(
        tmp_path,
        """
name = "two words"
titel = "x"
[data]
path = 3
[outcome]
colum = "los"
event = "> 3"
[attributes.race]
column = "race"
referense = "White"
[missing]
attributes = "eror"
[scores.p]
column = "p"
kind = "prob"
[protocol]
resamplez = 3
resamples = 0
""",
    )
    text = "\n".join(found)
    for part in (
        "name: 'two words' is not letters, digits and hyphens (at most 64); write 'two-words'",
        "titel: unknown (did you mean 'title'?)",
        "[data] path: must be text or list of texts, found 3",
        "[outcome] colum: unknown key (did you mean 'column'?)",
        "[outcome]: the key 'column' is missing",
        "[attributes.race] referense: unknown key (did you mean 'reference'?)",
        "[missing] attributes: 'eror' is not allowed (did you mean 'error'?); allowed: 'error', 'group'",
        "[scores.p] kind: 'prob' is not allowed",
        "[protocol] resamplez: unknown key (did you mean 'resamples'?)",
        "[protocol] resamples: 0 is out of range; allowed: 1 to",
    ):
        assert part in text
    assert all(line.startswith("cohort.toml: ") for line in found)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("[panle]\nmodels = []", "[panle]: unknown (did you mean 'panel'?)"),
        ('[use]\nowners = "x"', "[use] owners: unknown key (did you mean 'owner'?)"),
        ("[use]\nversion = 2.1", "[use] version: must be text, found 2.1"),
        ('[use]\nprimary_metric = "EOP"', "'EOP' is not judged (did you mean 'EOPP'?)"),
        ('[labels]\nvalues.race = "x"', "[labels] values: must be a table of tables of texts"),
        ("[labels]\ncolumns = { a = 1 }", "[labels] columns: must be a table of texts"),
        ('[labels]\nvalues.race = { a = "x", b = "x" }', "values.race: 'a' and 'b' are both 'x'"),
        ('[report]\npaper = "A5"', "[report] paper: 'A5' is not allowed; allowed: 'A4', 'Letter'"),
        ("[report]\nsmallest_cell = -1", "[report] smallest_cell: -1 is out of range; allowed: 0 to 1000"),
        ('[report]\nrace = "rase"', "[report] race: 'rase' is no attribute (did you mean 'race'?)"),
        (
            '[site]\ncolum = "h"',
            "[site] colum: unknown key (did you mean 'column'?); allowed: column, groups, required",
        ),
        ("[site]\nrequired = true", "[site] column: is missing, while required = true"),
        ('[site]\nrequired = "yes"', "[site] required: must be true or false, found 'yes'"),
        ("[panel]\nmodels = []", "no model to audit"),
        ('[panel]\nmodels = ["a", "a"]', "'a' stands twice"),
        (LATE + '[panel]\nlean = ["xgbost"]', "'xgbost' is not in models (did you mean 'xgboost'?)"),
        (
            LATE + '[panel]\nmodels = ["xgboost"]\nlean = ["logistic"]',
            "not in models; add it there, or delete",
        ),
        (LATE + '[panel]\nlean = ["xgboost", "xgboost"]', "names a model twice"),
        ('[panel]\nlean = ["xgboost"]', "[features] late names none; list there the columns"),
        ('[panel]\nlean = "xgboost"', "must be a list of texts"),
        (
            LATE + '[scores.xgboost_lean]\ncolumn = "p"\nkind = "probability"\n'
            '[panel]\nmodels = ["xgboost"]\nlean = ["xgboost"]',
            "a model of [panel] has the same name",
        ),
        ("[panel]\nthreshold = 0.5\npercentile = 90", "[panel]: has both threshold and percentile"),
        ("[panel]\npercentile = 100", "[panel] percentile: 100 is not between 0 and 100"),
        ("[panel]\nthreshold = 50", "[panel] threshold: 50 is not above 0 and at most 1"),
        ("[panel]\nthreshold = nan", "[panel] threshold: must be a number, found nan"),
        ("[panel]\nthreshold = true", "[panel] threshold: must be a number, found true"),
        ('[scores.p]\ncolumn = "p"\nkind = "rank"', "[scores.p]: a rank needs threshold or percentile"),
        (
            '[scores.p]\ncolumn = "p"\nkind = "decision"\nthreshold = 1',
            "[scores.p] threshold: has no meaning for decisions",
        ),
        ('[scores.p]\ncolumn = "los"\nkind = "probability"', "[scores.p] column: 'los' is the outcome"),
        ('[scores.xgboost]\ncolumn = "p"\nkind = "probability"\n[panel]\nmodels = ["xgboost"]', "same name"),
        ('[features]\ninclude = ["a"]\nexclude = ["b"]', "[features]: has both include and exclude"),
        ('[features]\nexclude = ["b"]\nlate = ["b"]', "[features] late: 'b' is also in exclude"),
        ('[features]\nlate = ["los"]', "[features] late: 'los' is the outcome"),
        ('[features]\nlate = "b"', "[features] late: must be a list of texts, found 'b'"),
        ("[features]\nlate = [1]", "[features] late: must be a list of texts, found [1]"),
        (
            '[attributes.age]\ncolumn = "a"\nbins = [3, 2]',
            "[attributes.age] bins: [3, 2] are not two or more",
        ),
        ('[attributes.age]\ncolumn = "a"\nbins = [3]', "[attributes.age] bins: [3] are not two or more"),
        (
            '[attributes.age]\ncolumn = "a"\nbins = [0, 9]\nlabels = ["x"]',
            "[attributes.age] labels: 1 label for 2 bounds; two bins or more need",
        ),
        (
            '[attributes.age]\ncolumn = "a"\nbins = [0, 9]\nlabels = ["x", "x"]',
            "[attributes.age] labels: 'x' stands twice",
        ),
        ('[attributes.age]\ncolumn = "a"\nlabels = ["x"]', "[attributes.age] labels: given without bins"),
        (
            '[attributes.age]\ncolumn = "a"\nbins = [0, 9]\nlabels = ["x", "y"]\nreference = "Y"',
            "[attributes.age] reference: 'Y' is none of the groups (did you mean 'y'?)",
        ),
        ('[attributes.all]\ncolumn = "a"', "[attributes.all]: the name 'all' is taken"),
        ('[attributes." "]\ncolumn = "a"', "the name ' ' is blank"),
        ("[attributes.x]\ncolumn = ' '", "[attributes.x] column: must be text, found blank text"),
        ("[missing]\nvalues = [[1]]", "[missing] values: must be a list of texts, numbers or true/false"),
        (
            "[protocol]\naudit_share = 1.5",
            "[protocol] audit_share: 1.5 is out of range; allowed: 0.01 to 0.99",
        ),
        *(
            (
                f"[protocol]\nshown_alpha = {alpha}",
                f"[protocol] shown_alpha: {alpha} is out of range; allowed: above 0 and below 0.5",
            )
            for alpha in (0, 0.5, 0.9999, 1, -1)
        ),
        ('[outcomes.ill]\ncolumn = "b"', "[outcomes.ill]: the key 'event' is missing; add event = \"…\""),
        ("[protocol]\nresamples = 1.5", "[protocol] resamples: must be a whole number, found 1.5"),
        ("[protocol]\naudit_sizes = [5000, 1000]", "[protocol] audit_sizes: [5000, 1000] must be sizes"),
        ("[protocol]\naudit_sizes = []", "[protocol] audit_sizes: [] must be sizes of 2 or more"),
        ("[protocol]\naudit_sizes = [1, 5]", "[protocol] audit_sizes: [1, 5] must be sizes of 2 or more"),
        ("[protocol]\naudit_sizes = [10.5]", "[protocol] audit_sizes: must be a list of whole numbers"),
        ("[protocol]\nsite_folds = 1", "[protocol] site_folds: 1 is out of range; allowed: 2 to 1000"),
        ("[protocol]\nhalvings = 1", "[protocol] halvings: 1 is out of range; allowed: 2 to 1000"),
        ("[protocol]\nkappa_stable = 1.5", "[protocol] kappa_stable: 1.5 is out of range; allowed: -1 to 1"),
        ("[protocol]\nsize_repeats = 1", "[protocol] size_repeats: 1 is out of range; allowed: 2 to 10000"),
        ('[protocol]\nmetrics = ["DO"]', "[protocol] metrics: 'DO' is not allowed"),
        ("[protocol]\nmetrics = []", "[protocol] metrics: names no metric"),
        ("[protocol]\nthresholds = { DII = 1 }", "'DII' is no metric (did you mean 'DI'?)"),
        ('[protocol]\nthresholds = { DI = "a" }', "[protocol] thresholds: must be a table of numbers"),
    ],
)
def test_each_mistake_has_its_own_message(tmp_path, change, told):
    assert told in fault(tmp_path, GOOD + change)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'path = "table.csv"',
            "",
            "[data]: needs one of path (a table), connection (a database) and synthetic (a generator)",
        ),
        ('path = "table.csv"', 'path = "t.csv"\nsynthetic = "texas-twin"', "path and synthetic are given"),
        ('path = "table.csv"', 'path = "t.csv"\nrows = 5', "[data] rows: is only used with synthetic"),
        ('path = "table.csv"', 'synthetic = "texas-twin"\nrows = 0', "[data] rows: 0 is too small"),
        ('path = "table.csv"', 'synthetic = "texas"', "allowed: 'texas-twin'"),
        (
            'path = "table.csv"',
            'path = "t.csv"\ndrop = [{ column = "d", value = [1], reason = "r" }]',
            "[data] drop, entry 1 value: unknown key (did you mean 'values'?)",
        ),
        ('event = "> 3"', "", "[outcome] event: missing"),
        ('event = "> 3"', 'event = " "', "[outcome] event: is blank"),
        ('event = "> 3"', 'event = "> 3"\ntype = "continuous"', "[outcome] event: given, while the type is"),
        ('event = "> 3"', 'event = "> three"', "compares with 'three', which is not a number"),
        ('[attributes.race]\ncolumn = "race"', "[attributes]", "[attributes]: holds no attribute"),
        ('[attributes.race]\ncolumn = "race"', 'attributes = "race"', "[attributes]: must be tables"),
        (
            '[attributes.race]\ncolumn = "race"',
            'attributes.race = "race"',
            "[attributes.race]: must be a table",
        ),
        ('name = "good"', "", "top of the file: the key 'name' is missing"),
        ('name = "good"', 'name = "../../etc"', "write 'etc'"),
        ('name = "good"', 'name = "é"', "write 'my-cohort'"),
    ],
)
def test_each_mistake_in_a_needed_table_has_its_own_message(tmp_path, old, new, told):
    text = GOOD.replace(old, new)
    if new.startswith("attributes"):
        text = new + "\n" + GOOD.replace(old, "")
    assert told in "\n".join(faults(tmp_path, text))


def test_a_syntax_error_names_its_line(tmp_path):
    assert re.search(r"cohort.toml: not valid TOML: .*line 2", fault(tmp_path, 'name = "a"\npath = x y'))


def test_a_file_that_is_not_there_or_no_cohort_file_is_told_apart(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    for path, told in (
        (tmp_path / "pipe.toml", "is a pipe or a device"),
        (tmp_path / "no.toml", "does not exist"),
        (tmp_path, "is a folder"),
        (tmp_path / "data.csv", "auditbook new"),
    ):
        with pytest.raises(InputError, match=told):
            read_cohort_file(path)


def test_a_file_that_is_not_utf8_is_an_error_and_a_byte_order_mark_is_not(tmp_path):
    path = tmp_path / "cohort.toml"
    path.write_bytes(GOOD.encode("utf-8-sig"))
    assert read_cohort_file(path).name == "good"
    path.write_bytes(b'name = "\xe9"')
    with pytest.raises(InputError, match="not UTF-8"):
        read_cohort_file(path)


def test_comparisons_values_and_quoted_values_are_told_apart():
    assert dataclasses.astuple(parse_event(">= 2.5")) == (">=", 2.5)
    assert dataclasses.astuple(parse_event("!= No")) == ("!=", "No")
    assert dataclasses.astuple(parse_event('== "<30"')) == ("==", "<30")
    assert dataclasses.astuple(parse_event("Yes ")) == ("==", "Yes ")
    assert dataclasses.astuple(parse_event("==3")) == ("==", 3)
    assert dataclasses.astuple(parse_event(True)) == ("==", True)


def test_bins_name_themselves():
    assert label_bins((0, 18, 40, 65)) == ("0-17", "18-39", "40-64", "65+")
    assert label_bins((0, 1, 2)) == ("0", "1", "2+")
    assert label_bins((-5, 0)) == ("-5--1", "0+")


def test_text_that_a_terminal_would_act_on_is_escaped(tmp_path):
    assert printable("a\x1b[31m\n") == "a\\x1b[31m\\n"
    told = fault(tmp_path, GOOD + '[attributes."\\u001b[31m"]\ncolum = "a"\ncolumn = "b"')
    assert "\x1b" not in told


def test_shown_values_make_blanks_visible_and_stay_short():
    assert show("Yes ") == "'Yes '"
    assert len(show("x" * 500)) == 60


def test_every_field_of_the_protocol_has_a_key():
    assert {key.name for key in list_keys()["protocol"]} == {
        item.name for item in dataclasses.fields(Protocol)
    }


_TEXTS = ["", " ", "x", "> 3", "error", "drop", "rank", "DI", "é", "a\nb", "all"]
_LEAF = st.sampled_from(
    [*_TEXTS, 0, 1, -5, True, 0.5, float("nan"), float("inf"), [], {}, [1, 2], ["a", "b"]]
)


def _tables(keys):
    return st.dictionaries(st.sampled_from([*(key.name for key in keys), "x"]), _LEAF, max_size=5)


def _file():
    parts = {name: _tables(keys) | _LEAF for name, keys in list_keys().items() if name.isalpha()}
    for name in ("attributes", "scores"):
        inner = _tables(list_keys()[f"{name}.<name>"])
        parts[name] = st.dictionaries(st.sampled_from(["a", "all", ""]), inner | _LEAF, max_size=2) | _LEAF
    return st.fixed_dictionaries({}, optional=parts | {"name": _LEAF, "title": _LEAF})


def _faults_of(raw):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cohort_file, "parse_toml", lambda _: raw)
        try:
            cohort_file.read_cohort_file(Path("cohort.toml"))
        except InputError as error:
            return error.faults
    return ()


@given(raw=_file())
@settings(max_examples=300, deadline=None)
def test_no_cohort_file_whatever_it_holds_raises_anything_but_an_input_error(raw):
    assert all(text.startswith("cohort.toml: ") for text in _faults_of(raw))


@pytest.mark.parametrize("name", ["sparcs-heart-failure", "diabetes-130", "obermeyer"])
def test_shipped_cohort_files_are_valid_and_name_their_source_and_terms(root, name):
    path = root / "data" / "cohorts" / f"{name}.toml"
    file = read_cohort_file(path)
    assert file.name == name
    assert file.data.source
    assert file.outcome.harm
    assert tomllib.loads(path.read_text(encoding="utf-8"))["data"]["path"] == file.data.path.name


@pytest.mark.parametrize("key", ["event", "bins", "threshold", "drop", "comparison"])
def test_a_number_too_large_to_compute_with_is_a_fault_of_its_key(tmp_path, key):
    huge = "1" + "0" * 400
    text = {
        "event": GOOD.replace('event = "> 3"', f"event = {huge}"),
        "comparison": GOOD.replace("> 3", f"> {huge}"),
        "bins": GOOD + f"bins = [0, {huge}]",
        "threshold": GOOD + f"[panel]\nthreshold = {huge}",
        "drop": GOOD.replace(
            "[outcome]", f'drop = [{{column = "x", values = [{huge}], reason = "r"}}]\n[outcome]'
        ),
    }[key]
    told = fault(tmp_path, text)
    assert "number" in told
    assert "1000" in told
    assert len(told) < 350


@pytest.mark.parametrize(
    ("path", "told"), [("~nobody-of-this-name/x.csv", "a user who is not known"), ("x" * 5000, None)]
)
def test_a_data_path_that_no_system_has_is_no_crash(tmp_path, path, told):
    text = GOOD.replace("table.csv", path)
    if told:
        assert told in fault(tmp_path, text)
    else:
        assert read(tmp_path, text).data.path.name == path


def test_a_path_that_is_too_long_for_the_system_is_told():
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read_cohort_file(Path("x" * 300 + ".toml"))


def test_bins_that_lie_close_get_names_of_their_own():
    labels = label_bins((-10.0, -1.0000003, -1.0000002, -1.0000001, 1.0))
    assert len(set(labels)) == 5
    assert labels[1] == "-1.0000003 to below -1.0000002"
    assert label_bins((0.5, 1_000_000.5, 1_000_001.5))[-2:] == ("1000000.5 to below 1000001.5", "1000001.5+")


@pytest.mark.parametrize("value", ["[" * 5000 + "]" * 5000, "1" * 5000], ids=["nested", "digits"])
def test_toml_that_no_reader_takes_is_told_as_such(tmp_path, value):
    assert "not valid TOML" in fault(tmp_path, f"a = {value}")


@pytest.mark.parametrize("threshold", [-0.1, 80, 1e308])
def test_a_threshold_that_no_metric_can_cross_is_a_fault(tmp_path, threshold):
    told = fault(tmp_path, GOOD + f"[protocol]\nthresholds = {{ DI = {threshold} }}")
    assert "[protocol] thresholds: DI = " in told
    assert "allowed: 0 to 1" in told
