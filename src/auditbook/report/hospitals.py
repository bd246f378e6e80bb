"""What do counts of several hospitals say together: who handed over what, and what of the next hospital?"""

from collections.abc import Sequence
from typing import Any

from auditbook.book.say.text import agree, count, plural
from auditbook.report.content import Statement
from auditbook.report.source import Source, list_names, rest_on, start
from auditbook.results import rows

HOW_TO_READ = (
    "In a figure each row with a square is a hospital: how many points the rate of one group lies above "
    "that of the other, with its 95% interval. The diamond is the mean over hospitals, and the bar what to "
    "expect of the next hospital: its true difference lies there in 95 of 100 cases. A bar on both sides "
    "of zero says that in the next hospital the groups may be alike, or the other one ahead."
)
EACH_ALONE = (
    "Each of these intervals stands for itself, and of twenty one misses by chance: what is shown of the "
    "board as a whole stands on the first page."
)
NOT_MADE = "What mitigation costs, and whether verdicts hold under other protocols, needs records: not made."
UNTOLD = (
    "Counts hold no record: pockets of patients, groups that nobody counted, other thresholds and what a "
    "repair would cost cannot be told from them, nor whether each hospital read its table as the others "
    "did."
)
NO_SCORES = (
    "Only decisions were handed over: whether a risk is what it says, and who is put in the right order, "
    "cannot be told."
)


def describe_hospitals(source: Source) -> str:
    """Say in a sentence or two that hospitals handed over counts."""
    pooled = source.run.info["pooled"]
    sites = len(pooled["sites"])
    text = (
        f"{start(plural(sites, 'hospital'))} handed over counts and no record: whatever is made of counts "
        "is what one table of all gives"
    )
    if (source.run.info.get("counted") or {}).get("score_bins"):
        text += "; areas are read from bins of the scores, and result tables say how far that can move them"
    return f"{text}. {NOT_MADE}"


def describe_counted_rows(source: Source) -> str:
    """Say that nobody here knows what each hospital left out."""
    n = source.run.info["rows_kept"]
    return (
        f"{start(plural(n, 'record'))} {agree(n, 'was', 'were')} counted; what a hospital left out before "
        "it counted is not in its counts."
    )


def list_limits(source: Source) -> tuple[str, ...]:
    """Say what pooled counts keep from being known: notes, what is withheld, and what needs records."""
    pooled = source.run.info.get("pooled")
    if not pooled:
        return ()
    notes = [f"{start(str(note))}." for note in pooled["notes"]]
    held = _describe_withheld(pooled["withheld"]) if pooled["withheld"] else ""
    return (*notes, *([held] if held else []), UNTOLD)


def _describe_withheld(withheld: Sequence[dict[str, Any]]) -> str:
    """Name the attributes of which groups are withheld, and say what that does to their rates."""
    names = list_names(dict.fromkeys(one["attribute"] for one in withheld))
    sites = len({one["site"] for one in withheld})
    return (
        f"{start(plural(sites, 'hospital'))} {agree(sites, 'withholds', 'withhold')} groups of {names}, for "
        "small counts or to hide them: their records are not in the rates of these groups, and the annex "
        "says between which values the rates of all lie."
    )


def list_hospitals(source: Source) -> tuple[Statement, ...]:
    """Say what was pooled, how figures are read, and what counts cannot tell; nothing of another audit."""
    pooled = source.run.info.get("pooled")
    if not pooled:
        return ()
    basis = (rest_on("run.json"),)
    sites = plural(len(pooled["sites"]), "hospital")
    who = (
        f"Pooled: the counts of {sites}, {list_names(pooled['sites'], limit=12)}. Each stands as one cluster."
    )
    return (
        Statement(who, basis),
        *(Statement(text, basis) for text in _name_withheld(pooled["withheld"])),
        *_tell_means(source),
        Statement(f"{NO_SCORES} {UNTOLD}" if _has_decisions_only(source) else UNTOLD, basis),
    )


def _has_decisions_only(source: Source) -> bool:
    return set(source.table("models")["kind"]) == {"decision"}


def _name_withheld(withheld: Sequence[dict[str, Any]]) -> list[str]:
    """Name what each hospital withholds; groups that are too small have no name."""
    if not withheld:
        return ["No hospital withholds a group."]
    said = [f"{one['site']} withholds {_name_groups(one)} of {one['attribute']}." for one in withheld]
    bounds = "Of a group that a hospital withholds, the rate of all hospitals lies between the bounds below."
    return [" ".join(said), bounds]


def _name_groups(withheld: dict[str, Any]) -> str:
    return f"{list_names(withheld['groups'])}, and small groups" if withheld["groups"] else "small groups"


def _tell_means(source: Source) -> list[Statement]:
    """Say how many means, and how many next hospitals, lie on one side of zero."""
    table, basis = source.table("pooled_contrasts"), (rest_on("pooled_contrasts.csv"),)
    means = [row for row in rows(table) if row.low == row.low]
    ahead = [row for row in means if row.prediction_low == row.prediction_low]
    if not means:
        return [
            Statement("No mean over hospitals is given: that takes two hospitals with both groups.", basis)
        ]
    apart = sum(row.low > 0 or row.high < 0 for row in means)
    sure = sum(row.prediction_low > 0 or row.prediction_high < 0 for row in ahead)
    text = (
        f"Of {plural(len(means), 'difference')} between groups, the mean over hospitals lies on one side of "
        f"zero with its interval in {count(apart)}"
    )
    text += (
        f"; so does what to expect of the next hospital in {count(sure)} of {count(len(ahead))}."
        if ahead
        else "; what to expect of the next hospital is told from three hospitals on."
    )
    return [Statement(HOW_TO_READ, basis), Statement(f"{text} {EACH_ALONE}", basis)]
