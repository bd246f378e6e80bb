"""The keys of a cohort file: declared once, from which schema, page and messages follow."""

import json
import runpy
import subprocess
import sys
import tomllib

import jsonschema
import pandas as pd
import pytest

from auditbook.cohort.file import read_cohort_file
from auditbook.cohort.keys import list_keys
from auditbook.intake.draft import draft_cohort


@pytest.fixture(scope="module")
def tool(root):
    return runpy.run_path(str(root / "tools" / "write_keys.py"))


@pytest.fixture(scope="module")
def schema(root):
    return json.loads((root / "data" / "cohort-schema.json").read_text(encoding="utf-8"))


def test_the_shipped_schema_and_the_page_are_what_the_keys_say(root, tool):
    again = "run: python tools/write_keys.py"
    assert (root / "data" / "cohort-schema.json").read_text(encoding="utf-8") == tool["render_schema"](), (
        again
    )
    page = (root / "book" / "bring-your-cohort.md").read_text(encoding="utf-8")
    assert page == tool["render_page"](page), again


def test_every_key_has_one_sentence_that_says_what_it_means():
    for table, keys in list_keys().items():
        for key in keys:
            assert key.meaning[0].isupper() or key.meaning[0] == "`", (table, key)
            assert key.meaning.endswith("."), (table, key)
            assert "\n" not in key.meaning, (table, key)


def test_the_schema_is_one_and_takes_every_shipped_cohort_file(root, schema):
    jsonschema.Draft7Validator.check_schema(schema)
    for path in sorted((root / "data" / "cohorts").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("#:schema ../cohort-schema.json\n"), path
        jsonschema.validate(tomllib.loads(text), schema)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"titel": "x"}, "titel"),
        ({"site": {"colum": "h"}}, "colum"),
        ({"protocol": {"resamples": 0}}, "minimum"),
        ({"protocol": {"metrics": ["DO"]}}, "DO"),
        ({"scores": {"p": {"column": "p"}}}, "kind"),
        ({"scores": {"p": {"column": "p", "kind": "rank", "name": "q"}}}, "name"),
        ({"data": {"path": " "}}, "match"),
        ({"mitigation": {"headrooms": [0.7]}}, "maximum"),
    ],
)
def test_the_schema_refuses_what_the_check_refuses(tmp_path, schema, change, told):
    file = {
        "name": "good",
        "data": {"path": "table.csv"},
        "outcome": {"column": "los", "event": "> 3"},
        "attributes": {"race": {"column": "race"}},
    }
    jsonschema.validate(file, schema)
    with pytest.raises(jsonschema.ValidationError, match=told):
        jsonschema.validate(file | change, schema)


def test_a_draft_names_the_schema_where_it_lies(root, tmp_path, schema):
    frame = pd.DataFrame({"died": [0, 1] * 20, "race": ["a", "b"] * 20, "age": range(40)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "deeper").mkdir()
    for target in (tmp_path / "t.toml", tmp_path / "deeper" / "t.toml"):
        text = draft_cohort(tmp_path / "t.csv", target=target)
        named = text.splitlines()[0].removeprefix("#:schema ")
        assert (target.parent / named).resolve() == root / "data" / "cohort-schema.json"
        jsonschema.validate(tomllib.loads(text), schema)
        target.write_text(text, encoding="utf-8")
        assert read_cohort_file(target).name == "t"


def test_who_opens_a_finished_run_does_not_pay_for_pydantic():
    code = "import sys, auditbook.results, auditbook.cohort; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
