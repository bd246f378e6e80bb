"""Keys: what a step or chapter reads changes its key and those that build on it, and nothing else does."""

import ast
import shutil
from dataclasses import replace
from pathlib import Path

import jupytext
import pytest

from auditbook import code, project
from auditbook.code import digest_reach, list_words
from auditbook.run import Request, keys, plan_run
from auditbook.run.contents import chapter_code, chapter_names, chapter_source
from auditbook.run.keys import READERS, STEPS, chapter_key, step_keys
from auditbook.run.ledger import carry_over, list_held, note_done
from auditbook.run.plan import hash_rows_read
from auditbook.run.steps import MAKERS
from auditbook.settings import PROFILES

SOURCE = Path(code.__file__).resolve().parents[1]
COHORT = """\
name = "small"
title = "A small cohort"
data.path = "small.csv"
[outcome]
column = "outcome"
event = 1
harm = "a long stay"
[attributes.group]
column = "group"
[scores.risk]
column = "risk"
kind = "probability"
[pockets]
partition = "leiden"
"""


def keys_of(folder, text=COHORT, data="outcome,group,risk\n1,a,0.5\n", **request):
    (folder / "small.toml").write_text(text, encoding="utf-8")
    (folder / "small.csv").write_text(data, encoding="utf-8")
    plan = plan_run(Request(folder / "small.toml", run_dir=folder / "run", **request))
    return step_keys(plan, MAKERS, hash_rows_read(plan, None))


@pytest.fixture
def before(tmp_path):
    return keys_of(tmp_path)


def changed(before, after):
    return {name for name in STEPS if before[name] != after[name]}


AFTER_SCORES = {"scores", "verdicts", "baselines", "robustness"}


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (COHORT.replace("A small cohort", "A small, small cohort"), set()),
        (COHORT.replace("a long stay", "a stay, too long"), set()),
        (COHORT + '[labels]\ncolumns = { group = "team" }\n', set()),
        (COHORT + '[use]\nowner = "us"\n[report]\nsmallest_cell = 5\n', set()),
        (COHORT + "draws = 555\n", {"pockets"}),
        (COHORT + "[mitigation]\nstrength = 1.5\n", {"baselines", "robustness"}),
        (COHORT + "[protocol]\nresamples = 400\n", AFTER_SCORES),
        (COHORT.replace("event = 1", "event = 0"), set(STEPS)),
        (COHORT + '[missing]\nattributes = "drop"\n', set(STEPS)),
    ],
)
def test_a_changed_setting_makes_due_what_reads_it(text, due, before, tmp_path):
    assert changed(before, keys_of(tmp_path, text)) == due


def test_changed_data_seed_and_rows_make_every_step_due(before, tmp_path):
    assert changed(before, keys_of(tmp_path, data="outcome,group,risk\n0,a,0.5\n")) == set(STEPS)
    assert changed(before, keys_of(tmp_path, seed=7)) == set(STEPS)
    few = replace(PROFILES["standard"], max_rows=100)
    assert changed(before, keys_of(tmp_path, profile=few)) == set(STEPS)


def test_the_amount_of_one_steps_work_concerns_that_step(before, tmp_path):
    few = replace(PROFILES["standard"], refits=1)
    assert changed(before, keys_of(tmp_path, profile=few)) == {"baselines", "robustness"}
    few = replace(PROFILES["standard"], graph_records=50)
    assert changed(before, keys_of(tmp_path, profile=few)) == {"pockets"}


def test_other_versions_make_every_step_due(before, tmp_path, monkeypatch):
    other = project.versions() | {"numpy": "0.1"}
    monkeypatch.setattr("auditbook.run.keys.versions", lambda: other)
    assert changed(before, keys_of(tmp_path)) == set(STEPS)


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("src")
    shutil.copytree(SOURCE / "auditbook", folder / "auditbook", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def patched(copied, module, old, new, tmp_path):
    """Copy the package with one thing changed."""
    folder = tmp_path / "changed"
    shutil.copytree(copied, folder)
    path = folder / "auditbook" / module
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("module", "old", "new", "due"),
    [
        ("pockets/frozen.py", "\nABSTAIN = ", "\nABSTAIN = 1 * ", {"pockets"}),
        ("mitigation/robustness.py", "SEED_STEP = 81", "SEED_STEP = 82", {"robustness"}),
        ("mitigation/reweighing.py", "def weighted_event_rates(", "def weighted_event_rates_(", set()),
        ("scoring/score.py", "given = [read_given(", "given = [0] and [read_given(", {"scores"}),
        ("cohort/load.py", "def load_cohort(", "def load_cohort(\n    # a comment\n", set()),
        ("book/say/tiers.py", '"""', '"""Changed. ', set()),
    ],
)
def test_changed_code_makes_due_the_steps_that_reach_it(module, old, new, due, copied, tmp_path):
    def of(source):
        return {name: digest_reach(*makers, source=source) for name, makers in MAKERS.items()}

    assert changed(of(copied), of(patched(copied, module, old, new, tmp_path))) == due


def test_what_a_step_reaches_is_kept_while_no_byte_of_the_package_changes(tmp_path, monkeypatch):
    made = []

    def digest(*entries):
        made.append(entries)
        return digest_reach(*entries)

    monkeypatch.setattr(keys, "runs_folder", lambda: tmp_path)
    monkeypatch.setattr(keys, "digest_reach", digest)
    true = {"cohort": digest_reach(*MAKERS["cohort"]), "pockets": digest_reach(*MAKERS["pockets"])}
    wanted = {name: MAKERS[name] for name in true}
    assert keys.digest_makers(wanted) == keys.digest_makers(wanted) == true
    assert made == list(wanted.values())
    monkeypatch.setattr(keys, "digest_source", lambda: "one byte is another")
    assert keys.digest_makers(wanted) == true
    assert len(made) == 4
    (tmp_path / ".cache" / "code.json").write_text("damaged", encoding="utf-8")
    assert keys.digest_makers(wanted) == true


def test_a_folder_that_cannot_be_written_to_keeps_nothing_and_stops_nobody(tmp_path, monkeypatch):
    (tmp_path / ".cache").write_text("a file", encoding="utf-8")
    monkeypatch.setattr(keys, "runs_folder", lambda: tmp_path)
    assert keys.digest_makers({"cohort": MAKERS["cohort"]}) == {"cohort": digest_reach(*MAKERS["cohort"])}


def test_the_code_of_a_chapter_is_that_of_its_cells():
    for name in chapter_names():
        cells = [cell for cell in jupytext.read(chapter_source(name)).cells if cell.cell_type == "code"]
        assert ast.dump(ast.parse(chapter_code(name))) == ast.dump(
            ast.parse("\n".join(cell.source for cell in cells))
        )


INFO = {"name": "small", "title": "A title", "seed": 42, "pockets": {"status": "done"}, "steps": []}
TABLES = {"verdicts.csv": "a", "pocket_errors.csv": "b"}


def chapters_due(info=INFO, tables=TABLES):
    old = {name: chapter_key(name, INFO, TABLES) for name in chapter_names()}
    return {name for name in chapter_names() if chapter_key(name, info, tables) != old[name]}


def test_a_changed_table_makes_due_the_chapters_that_name_it():
    due = chapters_due(tables=TABLES | {"pocket_errors.csv": "c"})
    assert {"pockets-acting", "pockets-testing", "audit-report"} <= due
    assert not due & {"metrics", "tiers", "auc-matrix", "cohort"}
    assert {"tiers", "audit-report"} <= chapters_due(tables=TABLES | {"verdicts.csv": "c"})


def test_times_do_not_concern_chapters_and_seeds_concern_all():
    assert chapters_due(INFO | {"steps": [{"step": "cohort", "seconds": 3}]}) == set()
    assert chapters_due(INFO | {"seed": 43}) == set(chapter_names())


def test_a_comma_in_a_sentence_makes_due_the_chapters_that_say_it(copied, tmp_path):
    path = copied / "auditbook" / "book" / "say" / "tiers.py"
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    told = next(
        node
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name.startswith("describe_")
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ", " in node.value
        if node is not getattr(function.body[0], "value", None)
    )
    old = next(part for part in told.value.split("\n") if ", " in part)
    folder = patched(copied, "book/say/tiers.py", old, old.replace(", ", " ", 1), tmp_path)
    for makers in MAKERS.values():
        assert digest_reach(*makers, source=folder) == digest_reach(*makers, source=copied)
    due = {
        name
        for name in chapter_names()
        if code.digest_cells(chapter_code(name), source=folder)
        != code.digest_cells(chapter_code(name), source=copied)
    }
    assert "tiers" in due
    assert not due & {"cohort", "collapsibility", "pockets-acting", "smallest-group"}


def test_only_readers_of_a_section_of_the_cohort_file_name_it():
    """Keys leave out sections that a step does not read: whoever begins to read one must be in its key."""
    rooms = {"mitigation": {"mitigation", "cohort", "run"}, "pockets": {"pockets", "cohort", "run", "intake"}}
    rooms |= {name: {"cohort"} for name in ("use", "report")} | {"labels": {"cohort", "intake"}}
    for path in (SOURCE / "auditbook").rglob("*.py"):
        room = path.relative_to(SOURCE / "auditbook").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Attribute):
                continue
            owner = (
                node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            )
            if owner == "file" and node.attr in rooms:
                assert room in rooms[node.attr], f"{path}: file.{node.attr}"
            if owner == "file" and node.attr in ("title", "path") and room != "tables":  # data files there
                assert room in ("cohort", "counting", "run", "intake"), f"{path}: file.{node.attr}"


def test_what_is_read_by_name_is_among_the_words():
    words = list_words(chapter_code("pockets-acting"), beside=READERS)
    assert "pocket_errors" in words
    assert "site_agreement" not in words


def leave(folder, name, key, content):
    (folder / "results").mkdir(parents=True, exist_ok=True)
    (folder / "results" / f"{name}.csv").write_text(content)
    note_done(folder, name, key=key, files=[f"{name}.csv"], notes={"n": 1})


def test_an_interrupted_run_goes_on_from_its_last_finished_step(tmp_path):
    last, made = tmp_path / "last", tmp_path / "next"
    leave(last, "verdicts", "old", "1")
    leave(made, "verdicts", "new", "2")
    (made / "results" / "half.csv").write_text("half")
    keys = {"verdicts": "new", "pockets": "p"}
    assert set(carry_over(last, made, keys)) == {"verdicts"}
    assert [path.name for path in (made / "results").iterdir()] == ["verdicts.csv"]
    assert (made / "results" / "verdicts.csv").read_text() == "2"


def test_steps_of_the_last_run_are_kept_but_not_those_that_somebody_edited(tmp_path):
    last, made = tmp_path / "last", tmp_path / "next"
    leave(last, "verdicts", "v", "1")
    leave(last, "pockets", "p", "2")
    (last / "results" / "pockets.csv").write_text("3")
    assert set(list_held(last, {"verdicts": "v", "pockets": "p"})) == {"verdicts"}
    assert set(carry_over(last, made, {"verdicts": "v", "pockets": "p"})) == {"verdicts"}
    assert [path.name for path in (made / "results").iterdir()] == ["verdicts.csv"]
    assert carry_over(last, made, {"verdicts": "v"}, force=True) == {}
