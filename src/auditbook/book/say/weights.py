"""For how many people do the records stand, and which numbers of the book are weighted?"""

from collections.abc import Mapping
from typing import Any

from auditbook.book.say.text import agree, count, plural

WEIGHTED = (
    "Rates of groups, verdicts and what is shown are weighted. In the description of the cohort, the "
    "accuracy of the models, areas between groups, calibration curves, pockets, the training of models and "
    "what mitigation costs, each record counts once. How many records it takes for a metric to settle, and "
    "how many unrecorded events would take a conclusion away, is not judged."
)


def describe_weights(info: Mapping[str, Any]) -> str:
    """Say for whom the weighted records stand, how they were drawn, and what is weighted; blank without."""
    found = info.get("weights")
    if not found:
        return ""
    return " ".join(
        [
            f"The records are weighted: the weights of {plural(found['records'], 'record')} add up to "
            f"{count(found['sum'])}, and these are worth {plural(int(found['effective']), 'record')} of "
            "equal weight.",
            *_describe_design(found),
            WEIGHTED,
        ]
    )


def _describe_design(found: Mapping[str, Any]) -> list[str]:
    """Say how the records were drawn."""
    n, strata, alone = found["clusters"], found["strata"], found["alone"]
    word = found["drawn"].removesuffix("s")
    within = f" within {plural(strata, 'stratum', 'strata')}" if strata else ""
    drawn = f"{plural(n, word)} {agree(n, 'was', 'were')} drawn{within}."
    if not alone:
        return [drawn.capitalize()]
    which = f"{agree(alone, 'stratum holds', 'strata hold')} a single {word}"
    return [drawn.capitalize(), f"{count(alone)} {which}, which counts by its distance from the grand mean."]


def tell_unweighted(info: Mapping[str, Any]) -> str:
    """Say where a chapter counts each record once although it has a weight; blank without weights."""
    if not info.get("weights"):
        return ""
    return "The records of this run are weighted, but this chapter counts each of them once."


def tell_both(info: Mapping[str, Any], *, weighted: str, once: str) -> str:
    """Say what in a chapter is weighted, and what counts each record once; blank without weights."""
    if not info.get("weights"):
        return ""
    return f"The records of this run are weighted, and so are {weighted}; {once} count each of them once."


def tell_no_smaller(info: Mapping[str, Any]) -> str:
    """Say why a chapter about smaller audits holds nothing of a weighted run; blank without weights."""
    if not info.get("weights"):
        return ""
    return (
        "The records of this run are weighted, and some of a weighted sample is no smaller sample of its "
        "kind. So of this run nothing is said here."
    )
