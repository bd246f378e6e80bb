"""The hash of the code that a result rests on: it follows what counts, and nothing else."""

import pytest

from auditbook.code import Definition, digest_cells, digest_reach, list_reach
from auditbook.evidence.intervals import wilson_interval

WHOLE = {
    "__init__.py": '"""A package."""\n',
    "top.py": """
from auditbook.parts import shapes as forms
from auditbook.parts.sums import add as plus
import numpy as np

LIMIT = 3

def whole(x):
    "Say what."
    from auditbook.late import after
    return after(plus(x, LIMIT)) + forms.area(x) + np.nan

def other(x):
    return x
""",
    "late.py": "def after(x):\n    return x\n",
    "parts/__init__.py": "",
    "parts/shapes.py": "def area(x):\n    return x * x\n\ndef round_one(x):\n    return 3 * x\n",
    "parts/sums.py": "def add(a, b):\n    return a + b\n",
}


def write(folder, **changes):
    package = folder / "auditbook"
    for name, text in (WHOLE | changes).items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return folder


def digest(folder, text="from auditbook.top import whole\nwhole(1)"):
    return digest_cells(text, source=folder)


@pytest.fixture
def before(tmp_path):
    return digest(write(tmp_path / "before"))


def test_what_a_function_reaches_is_followed_through_names_modules_and_inner_imports(tmp_path):
    reached = list_reach([Definition("auditbook.top", "whole")], source=write(tmp_path))
    assert {one.name for one in reached} == {"whole", "LIMIT", "after", "add", "area"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("top.py", "LIMIT = 3", "LIMIT = 4"),
        ("top.py", "+ np.nan", "- np.nan"),
        ("late.py", "return x", "return -x"),
        ("parts/shapes.py", "x * x", "x + x"),
        ("parts/sums.py", "a + b", "a - b"),
        ("parts/sums.py", "def add", "print('at import')\n\ndef add"),
    ],
)
def test_any_change_in_what_is_reached_changes_the_hash(tmp_path, before, file, old, new):
    assert old in WHOLE[file]
    assert digest(write(tmp_path / "after", **{file: WHOLE[file].replace(old, new)})) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("top.py", '"Say what."', '"Say more."'),
        ("top.py", "def other(x):\n    return x", "def other(x):\n    return 2 * x"),
        ("top.py", "LIMIT = 3", "LIMIT = 3  # why"),
        ("parts/shapes.py", "3 * x", "4 * x"),
        ("parts/sums.py", "def add(a, b):\n", "def add(a, b):\n\n"),
        ("parts/sums.py", "def add", 'if __name__ == "__main__":\n    print(add(1, 2))\n\ndef add'),
    ],
)
def test_docstrings_comments_layout_and_other_functions_do_not_count(tmp_path, before, file, old, new):
    assert old in WHOLE[file]
    assert digest(write(tmp_path / "after", **{file: WHOLE[file].replace(old, new)})) == before


def test_a_definition_may_move_to_another_module_and_be_exported_again(tmp_path, before):
    moved = write(
        tmp_path / "after",
        **{
            "parts/sums.py": "",
            "parts/more.py": WHOLE["parts/sums.py"],
            "parts/__init__.py": "from auditbook.parts.more import add\n",
            "top.py": WHOLE["top.py"].replace("auditbook.parts.sums", "auditbook.parts"),
        },
    )
    assert digest(moved) == before


def test_an_entry_given_as_a_function_is_the_same_as_one_named_in_a_cell():
    cells = "from auditbook.evidence.intervals import wilson_interval\nwilson_interval(1, 2)"
    assert digest_reach(wilson_interval) == digest_cells(cells)
