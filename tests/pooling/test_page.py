"""The page for hospitals says of its figure what the figure shows."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_numbers_under_the_forest_plot_are_those_that_are_drawn(capsys, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("draw_hospitals", ROOT / "tools" / "draw_hospitals.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "FIGURE", tmp_path / "figure.svg")
    script.main()
    said = capsys.readouterr().out
    page = (ROOT / "book" / "several-hospitals.md").read_text(encoding="utf-8")
    for drawn, told in (
        ("-0.125", "-0.13"),
        ("-0.089", "-0.09"),
        ("-0.189", "-0.19"),
        ("-0.248", "-0.25"),
        ("-0.361", "-0.36"),
        ("0.096", "0.10"),
    ):
        assert drawn in said
        assert told in page
    assert (tmp_path / "figure.svg").stat().st_size > 1000
