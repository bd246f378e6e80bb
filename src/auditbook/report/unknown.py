"""What does this audit not know?"""

import math

from auditbook.book.say.text import agree, count, plural, share
from auditbook.report.content import Statement
from auditbook.report.head import count_sites
from auditbook.report.hospitals import list_limits
from auditbook.report.source import Source, list_names, rest_on
from auditbook.results import match_rows, rows
from auditbook.tables import tell_named_missing
from auditbook.verdicts import find_named_missing

FEW_SITES = 15
FEW_UNRECORDED = 0.02
"""Largest share of a group's events that, unrecorded, makes what is shown hang on the records."""
STANDING = (
    "A pass is no certificate that nobody is harmed; a failure does not say why groups differ.",
    "The outcome is taken as recorded. Recorded differently by group, it misleads every number here.",
    "Nothing here speaks of other hospitals, of next year, or of another model trained on the same data.",
)
"""Limits of every audit."""
OF_THE_NEXT = (
    "Of other hospitals nothing is said but what the annex expects of the next one, if it is like these; "
    "nothing speaks of next year, or of another model trained on the same data."
)


def list_unknown(source: Source, model: str) -> tuple[Statement, ...]:
    """State what this audit cannot say: the limits of this run first, then those of every audit."""
    own = [
        *_limit_of_origin(source, model),
        *_limit_of_selection(source, model),
        *_limit_of_weights(source),
        *_limit_of_scores(source, model),
        *_limit_of_missing(source, model),
        *_limit_of_named_missing(source, model),
        *_limit_of_records(source, model),
        *_limit_of_outcome(source, model),
        *_limit_of_sites(source),
        *(Statement(text, (rest_on("run.json"),)) for text in list_limits(source)),
        _limit_of_groups(source),
    ]
    return (*own, *(Statement(text) for text in _list_standing(source)))


def _list_standing(source: Source) -> tuple[str, ...]:
    """List the limits of every audit; of other hospitals pooled counts say what to expect of the next."""
    ahead = source.table("pooled_contrasts")["prediction_low"].notna().any()
    return (*STANDING[:-1], OF_THE_NEXT) if ahead else STANDING


def _limit_of_origin(source: Source, model: str) -> list[Statement]:
    found = []
    if source.run.info.get("synthetic"):
        text = "The cohort is synthetic: nothing here is a finding about people, hospitals or products."
        found.append(Statement(text, (rest_on("run.json"),)))
    given = source.of("models", model=model, source="given")
    if len(given):
        text = (
            "The scores came with the data. Whether the audited records were used to build the model is not "
            "known; if so, it looks better than it is."
        )
        found.append(Statement(text, (rest_on("models.csv", model=model),)))
    return found


def _limit_of_selection(source: Source, model: str) -> list[Statement]:
    """Say what being selected is taken to do to people: on that hangs which group is said to be concerned."""
    if source.of("models", model=model).empty:
        return []
    means = " ".join(str((source.run.info.get("use") or {}).get("selected_means") or "").split()).rstrip(".")
    named = f" ({means})" if means else ""
    text = (
        f"Being selected{named} is taken to help a person. If it harms, the group concerned is the other one "
        "wherever selection or finding differs."
    )
    return [Statement(text, (rest_on("run.json"),))]


def _limit_of_weights(source: Source) -> list[Statement]:
    """Say of a weighted audit that rates speak of the population and counts of the records."""
    if not source.run.info.get("weights"):
        return []
    text = "Rates are weighted and speak of the population that was sampled; every n counts records."
    return [Statement(text, (rest_on("run.json"),))]


def _limit_of_scores(source: Source, model: str) -> list[Statement]:
    """Say what the kind of score, or one that selects everybody or nobody, keeps from being judged."""
    found, basis = [], (rest_on("models.csv", model=model),)
    for row in rows(source.of("models", model=model)):
        if row.kind != "probability":
            text = (
                f"The score is a {row.kind} and no probability: whether a risk is what it says cannot "
                "be judged."
            )
            found.append(Statement(text, basis))
        if row.selection_rate in (0, 1):
            who = "everybody" if row.selection_rate else "nobody"
            text = f"The model selects {who}: where groups look alike, it is because nobody is told apart."
            found.append(Statement(text, basis))
    return found


def _limit_of_missing(source: Source, model: str) -> list[Statement]:
    """Say of each attribute that some records lack how much hangs on who they are."""
    table = source.of("missing_attribute", model=model)
    found = []
    for attribute, part in table.groupby("attribute", sort=False):
        lacking, turning = part["missing"].max(), int((part["can_turn"] == 1).sum())
        who = source.people(lacking, "record", "records")
        text = (
            f"{attribute}: {who} {agree(0 if math.isnan(lacking) else lacking, 'lacks', 'lack')} "
            "it. Whichever group "
            f"they belong to, {_write_turning(turning, len(part))}."
        )
        found.append(
            Statement(text, (rest_on("missing_attribute.csv", model=model, attribute=str(attribute)),))
        )
    return found


def _limit_of_named_missing(source: Source, model: str) -> list[Statement]:
    """Say in how many cells the lowest or highest group is a missing value with a name."""
    table = source.of("verdicts", model=model)
    found = []
    for attribute, part in find_named_missing(table).groupby("attribute", sort=False):
        cells, whole = part["metric"].nunique(), int((table["attribute"] == attribute).sum())
        text = (
            f"{tell_named_missing(part['group'], str(attribute))} The lowest or highest value is theirs in "
            f"{count(cells)} of {plural(whole, 'cell')} of {attribute}."
        )
        keys = [{"metric": metric, "attribute": str(attribute)} for metric in dict.fromkeys(part["metric"])]
        found.append(Statement(text, tuple(rest_on("verdicts.csv", model=model, **key) for key in keys)))
    return found


def _write_turning(turning: int, whole: int) -> str:
    if not turning:
        return "no published verdict would turn"
    return f"{count(turning)} of {plural(whole, 'published verdict')} could turn"


def _limit_of_records(source: Source, model: str) -> list[Statement]:
    """Name what is shown and hangs on few unrecorded events of one group."""
    points = source.of("tipping_points", model=model)
    near = points[points["shown"].isin(["fail", "pass"]) & (points["shown_share"] <= FEW_UNRECORDED)]
    near = near.sort_values("shown_share", kind="stable").drop_duplicates(["metric", "attribute"])
    if near.empty:
        return []
    named = [f"{row.metric} for {row.attribute} ({row.group})" for row in rows(near)]
    text = (
        f"If up to {share(FEW_UNRECORDED, digits=0)} of one group's events went unrecorded, this "
        "would not be "
        f"shown: {list_names(named)}."
    )
    keys = [{"metric": row.metric, "attribute": row.attribute, "group": row.group} for row in rows(near)]
    return [Statement(text, tuple(rest_on("tipping_points.csv", model=model, **key) for key in keys))]


def _limit_of_outcome(source: Source, model: str) -> list[Statement]:
    """Say by which other outcome something else is shown of the same decisions."""
    table = source.of("label_change", model=model)
    if table.empty:
        return []
    first = match_rows(table, outcome=table["outcome"].iloc[0])
    pairs = table.merge(first, on=["metric", "attribute"], suffixes=("", "_first"))
    changed = pairs[pairs["shown"] != pairs["shown_first"]]
    return [
        Statement(
            f"Judged by {outcome}, the same decisions are answered otherwise in "
            f"{count(len(part))} of {plural(len(first), 'cell')}.",
            (rest_on("label_change.csv", model=model, outcome=str(outcome)),),
        )
        for outcome, part in changed.groupby("outcome", sort=False)
    ]


def _limit_of_sites(source: Source) -> list[Statement]:
    """Say what the number of audited sites keeps from being known, where it does."""
    sites = count_sites(source)
    basis = (rest_on("cohort_sites.csv"),)
    if sites == 0 and source.run.info.get("weights"):
        return []
    if sites == 0 and not source.run.info.get("unit"):
        return [Statement("No site is named: records are taken to be independent of each other.", basis)]
    if sites == 1:
        return [Statement("All records come from one site: nothing says what another would show.", basis)]
    if 1 < sites < FEW_SITES:
        return [
            Statement(
                f"With {plural(sites, 'site')} nothing can be said of sites like these: "
                "conclusions are about these.",
                basis,
            )
        ]
    return []


def _limit_of_groups(source: Source) -> Statement:
    """Say at which crossings of groups people are looked at, and that others are not."""
    crosses = list(source.run.info.get("crosses", {}))
    seen = f"only those of {list_names(crosses)} are looked at" if crosses else "nobody is looked at"
    return Statement(
        f"Groups are taken as recorded. Of people who share two groups {seen}, and patients who "
        "share no recorded group are not.",
        (rest_on("run.json"),),
    )
