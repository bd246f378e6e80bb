"""Names in letters that the figures' font lacks: of another font, else numbers told beside the figure."""

import matplotlib
import matplotlib.pyplot as plt
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

from auditbook.book.draw import glyphs
from auditbook.book.draw.description import describe_figure
from auditbook.book.draw.style import Mark, label_rows, label_with_n, new_axes, put_key_above, wrap_label

FOREIGN = "日本 🙂"


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """Know no font but matplotlib's own, and no name that was drawn before."""
    fonts = [one for one in font_manager.fontManager.ttflist if one.name.startswith("DejaVu")]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", fonts)
    monkeypatch.setattr(glyphs, "_families", [glyphs.FONT])
    monkeypatch.setattr(glyphs, "_numbers", {})
    glyphs.find_font.cache_clear()
    yield
    glyphs.find_font.cache_clear()
    plt.close("all")


def make_font(path, signs):
    """Make a font in which each of some letters is a square."""
    pen = TTGlyphPen(None)
    for turn, point in enumerate([(0, 0), (0, 900), (900, 900), (900, 0)]):
        (pen.lineTo if turn else pen.moveTo)(point)
    pen.closePath()
    names = [".notdef", *(f"g{ord(sign)}" for sign in signs)]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(sign): f"g{ord(sign)}" for sign in signs})
    font.setupGlyf(dict.fromkeys(names, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    font.setupHorizontalHeader(ascent=900, descent=-100)
    font.setupNameTable({"familyName": "Test Sans", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(path)


def test_two_names_without_letters_are_told_apart_and_named_in_the_key():
    labels = [label_with_n("日本", 30), wrap_label("DI, 中文"), wrap_label("病院 A (日本)")]
    assert labels == ["[1] (n = 30)", "DI, [2]", "[3] A ([1])"]
    assert glyphs.write_key("[1]\n[3]") == (
        "Numbers for names that no font here can draw: [1] is 日本; [3] is 病院."
    )


def test_names_that_can_be_drawn_need_no_key():
    assert wrap_label("Ærø, nord") == "Ærø, nord"
    assert glyphs.write_key("Ærø, nord [1]") == ""


def test_words_in_a_row_are_one_name():
    assert wrap_label(FOREIGN) == "[1]"
    assert glyphs.name_numbers("[1] (n = 3)") == {"[1]": FOREIGN}


def test_a_figure_is_described_with_the_names_and_not_the_numbers():
    ax = new_axes(rows=2)
    label_rows(ax, [wrap_label("日本"), wrap_label("_hidden")])
    assert "Rows: 日本; _hidden." in describe_figure(ax.figure)


def test_an_installed_font_lends_its_letters(tmp_path, monkeypatch):
    make_font(tmp_path / "test.ttf", "日本")
    font_manager.fontManager.addfont(tmp_path / "test.ttf")
    assert glyphs.find_font("日") == "Test Sans"
    assert wrap_label("日本") == "日本"
    ax = new_axes(rows=2)
    label_rows(ax, [wrap_label("日本")])
    glyphs.lend_fonts(ax.figure)
    families = {tuple(text.get_fontfamily()) for text in ax.figure.findobj(matplotlib.text.Text)}
    assert families == {tuple(glyphs._families)}


@pytest.mark.parametrize(
    "name", ["_other", "__", "_日本", "$x$", "_$x$", "x" * 200, "שלום", "عربى", "a\rb\0c\u202ed"]
)
def test_every_name_stands_in_the_key_of_a_figure(name):
    ax = new_axes(rows=2)
    mark = Mark("#000000", "o")
    ax.plot([0], [0], mark.marker, label=wrap_label(name))
    put_key_above(ax)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [wrap_label(name)]
    assert all(sign.isprintable() or sign in "\n\u200b" for sign in texts[0])
    ax.figure.canvas.draw()
