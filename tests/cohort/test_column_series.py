"""Long numbered series of columns are one line; everything else stays as it is."""

from hypothesis import given
from hypothesis import strategies as st

from auditbook.cohort.column_series import LONG, join_series


def numbered(stem, count, tail=""):
    return [f"{stem}{number}{tail}" for number in range(count)]


def titles(names, alike=()):
    return [series.title for series in join_series(names, alike)]


def test_a_long_series_is_told_by_its_first_and_last_column():
    names = ["age", *numbered("emb_", 512), "view"]
    assert titles(names) == ["age", "emb_0 … emb_511", "view"]
    assert len(join_series(names)[1].names) == 512


def test_the_order_of_the_table_changes_no_title():
    names = numbered("emb_", 512)
    assert titles(sorted(names)) == titles(names[::-1]) == ["emb_0 … emb_511"]
    assert titles(sorted(["emb_" + "9" * 5_000, *names]))[0].startswith("emb_0 … emb_9999")


def test_code_lists_of_claims_are_no_embeddings():
    names = numbered("I10_DX", LONG - 1) + numbered("PR", 25)
    assert titles(names) == names


def test_two_series_stay_two_and_words_after_the_number_count():
    names = numbered("a", LONG) + numbered("b", LONG) + numbered("c", LONG, "_mean")
    assert titles(names) == ["a0 … a49", "b0 … b49", "c0_mean … c49_mean"]


def test_columns_that_are_not_alike_are_told_apart():
    names = numbered("emb_", LONG + 1)
    alike = ["feature"] * LONG + ["excluded"]
    assert titles(names, alike) == ["emb_0 … emb_49", "emb_50"]


@given(st.lists(st.text(max_size=6), unique=True, max_size=80))
def test_no_column_is_lost_or_doubled_and_places_are_kept(names):
    joined = join_series(names)
    assert sorted(name for series in joined for name in series.names) == sorted(names)
    firsts = [min(names.index(name) for name in series.names) for series in joined]
    assert firsts == sorted(firsts)
