"""Is it said for whom weighted records stand, and nothing where there are no weights?"""

import pytest

from auditbook.book.say.audit_size import describe_sizes
from auditbook.book.say.cohort import describe_question
from auditbook.book.say.weights import describe_weights, tell_both, tell_no_smaller, tell_unweighted

FOUND = {
    "records": 900,
    "sum": 12_345_678.4,
    "effective": 345.9,
    "drawn": "clusters",
    "clusters": 30,
    "strata": 15,
    "alone": 0,
}


def say(**changed: object) -> str:
    return describe_weights({"weights": FOUND | changed})


def test_weights_are_told_in_plain_words() -> None:
    assert say().startswith(
        "The records are weighted: the weights of 900 records add up to 12,345,678, and these are worth 345 "
        "records of equal weight. 30 clusters were drawn within 15 strata. Rates of groups"
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"strata": 0}, "30 clusters were drawn."),
        ({"alone": 1}, "1 stratum holds a single cluster, which counts by its distance from the grand mean."),
        ({"alone": 2, "drawn": "units"}, "2 strata hold a single unit, which counts"),
        ({"drawn": "records", "clusters": 900, "strata": 1}, "900 records were drawn within 1 stratum."),
    ],
)
def test_design_is_told_in_the_right_number(changed: dict[str, object], words: str) -> None:
    assert words in say(**changed)


def test_nothing_is_said_without_weights() -> None:
    assert describe_weights({}) == tell_unweighted({}) == tell_no_smaller({}) == ""


def test_chapters_say_where_each_record_counts_once() -> None:
    assert "counts each of them once" in tell_unweighted({"weights": FOUND})
    said = tell_both({"weights": FOUND}, weighted="the verdicts", once="AUROC and accuracy")
    assert "and so are the verdicts; AUROC and accuracy count each" in said
    assert tell_both({}, weighted="the verdicts", once="AUROC and accuracy") == ""
    assert "no smaller sample of its kind" in tell_no_smaller({"weights": FOUND})


def test_weighted_records_are_not_said_to_be_independent(runs: dict) -> None:
    run = runs["two_groups"]
    question = describe_question(run.info | {"weights": FOUND})
    assert "independent" not in question
    assert question.endswith("but this chapter counts each of them once.")
    said = describe_sizes(run.audit_size, run.protocol, weighted=True)
    assert said.startswith("The records are weighted")
