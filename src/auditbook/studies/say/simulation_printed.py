"""What was published of simulated audits, and what do the stored simulations show in the same place?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from auditbook.book.say.text import MISSING, agree, count_of, join_words, number, plural, read_layout
from auditbook.project import project_file
from auditbook.results import match_rows, rows
from auditbook.studies.say.simulation_verdicts import AGAINST, SETTING_NAMES, SETTINGS, count_against
from auditbook.studies.say.simulations import NOT_RUN, NOTHING, TARGETED, Simulations, mean_of, write_or_dash
from auditbook.studies.simulations.replicates import OWN
from auditbook.studies.simulations.scenarios import ERRORS, SCENARIOS, Scenario
from auditbook.studies.simulations.scoring import ALTERNATIVES, LOSS, NEITHER, WIN

YES, NO, OPEN = "yes", "no", "open"
"""What is said of a published claim."""
CLAIM_COLUMNS = read_layout("studies", "simulation_printed.claim")
FIGURE_COLUMNS = read_layout("studies", "simulation_printed.figure")
PRINTED_LOCAL_COLUMNS = read_layout("studies", "simulation_printed.printed_local")


def beat_all(
    compared: pd.DataFrame, question: str, shift: str, others: Sequence[str] = ALTERNATIVES
) -> pd.Series:
    """Judge the combined audit against every available alternative at once."""
    part = _take(compared, question, shift, "combined", others)
    says = part.groupby("number")["says"].agg(set)
    return says.map(lambda found: WIN if found == {WIN} else LOSS if LOSS in found else NEITHER)


def _take(
    compared: pd.DataFrame, question: str, shift: str, method: str, others: Sequence[str]
) -> pd.DataFrame:
    kept = (compared["question"] == question) & (compared["shift"] == shift)
    return compared[kept & (compared["method"] == method) & compared["other"].isin(others)]


def best_other(
    compared: pd.DataFrame, question: str, shift: str, method: str, others: Sequence[str]
) -> pd.Series:
    """Say how a grouping does against the best of some others, by number of the scenario."""
    part = _take(compared, question, shift, method, others)
    best = part.loc[part.groupby("number")["f1_other"].idxmax()]
    return best.set_index("number")["says"]


def _trio(says: pd.Series) -> str:
    """Write how many wins, draws and losses there are."""
    if says.empty:
        return NOT_RUN
    return " / ".join(str(int((says == each).sum())) for each in (WIN, NEITHER, LOSS))


def _numbers(region: str, question: str) -> list[int]:
    return [each.number for each in SCENARIOS if each.question == question and each.region == region]


@dataclass(frozen=True)
class Claim:
    """A published statement, and how the stored comparisons are asked for it."""

    claim: str  # In words
    printed: str  # The published wins / not distinguishable / losses
    # Takes the comparisons and the alternatives that count; returns what each scenario says
    outcomes: Callable[[pd.DataFrame, Sequence[str]], pd.Series]
    # Judges the outcomes: `YES`, `NO`, or `OPEN` where scenarios that are not distinguishable could make it
    # true. None where the publication claims nothing of them
    holds: Callable[[pd.Series], str] | None


def _mostly_won(says: pd.Series) -> str:
    if (says == WIN).sum() > len(says) / 2:
        return YES
    return OPEN if (says != LOSS).sum() > len(says) / 2 else NO


def _all_lost(says: pd.Series) -> str:
    if (says == LOSS).all():
        return YES
    return NO if (says == WIN).any() else OPEN


def _of_gaps(method: str, *own: str, alone: bool = False) -> Callable[..., pd.Series]:
    """Ask how a grouping does for gaps against the best of some others."""

    def find(compared: pd.DataFrame, others: Sequence[str]) -> pd.Series:
        return best_other(compared, "gap", "larger", method, own if alone else (*own, *others))

    return find


def _of_errors(shift: str, region: str = "") -> Callable[..., pd.Series]:
    """Ask whether the combined audit beats every alternative for local errors, in some region or in all."""

    def find(compared: pd.DataFrame, others: Sequence[str]) -> pd.Series:
        says = beat_all(compared, "error", shift, others)
        return says[says.index.isin(_numbers(region, "error"))] if region else says

    return find


def _one_tail(compared: pd.DataFrame, others: Sequence[str]) -> pd.Series:
    says = _of_gaps("combined")(compared, others)
    return says[says.index.isin(_numbers("tail", "gap"))]


CLAIMS = (
    Claim(
        "gap: combined beats the strongest alternative in most",
        "15 / 1 / 1",
        _of_gaps("combined"),
        _mostly_won,
    ),
    Claim("gap: forest alone does too", "14 / 1 / 2", _of_gaps("forest"), _mostly_won),
    Claim("gap: against the best of any kind, ours included", "8 / 6 / 3", _of_gaps("combined", *OWN), None),
    Claim(
        "gap: it beats the better of its two maps in most",
        "9 / 6 / 2",
        _of_gaps("combined", "forest", "ridge", alone=True),
        _mostly_won,
    ),
    Claim("gap in one tail: it loses", "0 / 0 / 1", _one_tail, _all_lost),
    Claim(
        "smaller local error: it beats every alternative in most",
        "12 / 0 / 3",
        _of_errors("smaller"),
        _mostly_won,
    ),
    Claim("larger local error: it beats every one in most", "8 / 1 / 6", _of_errors("larger"), _mostly_won),
    Claim(
        "smaller, irrelevant features: it loses", "0 / 0 / 2", _of_errors("smaller", "irrelevant"), _all_lost
    ),
    Claim("smaller, one tail: it loses", "0 / 0 / 1", _of_errors("smaller", "tail"), _all_lost),
)


def _judge_claim(claim: Claim, says: pd.Series, *, blunt: bool) -> str:
    """Say whether a claim holds; a loss to the targeted grouping cannot be judged without it."""
    if claim.holds is None or says.empty or (blunt and claim.holds is _all_lost):
        return MISSING
    return claim.holds(says)


def check_claims(found: Simulations) -> pd.DataFrame:
    """Hold what was published against the stored comparisons, for `CLAIM_COLUMNS`."""
    listed = []
    for each in CLAIMS:
        row = {"claim": each.claim, "printed": each.printed}
        for name, holds, without in (("here", "holds", ""), ("blunt", "holds_blunt", "targeted")):
            others = [other for other in ALTERNATIVES if other != without]
            says = each.outcomes(found.compared, others)
            row[name] = _trio(says)
            row[holds] = _judge_claim(each, says, blunt=bool(without))
        listed.append(row)
    table = pd.DataFrame(listed, columns=[column.name for column in CLAIM_COLUMNS])
    return table.replace(" / ", "\u00a0/\u00a0", regex=True)  # counts stay on one line


def describe_claims(claims: pd.DataFrame, found: Simulations) -> str:
    """Say which published statements hold here, and what becomes of the others without tuned error trees."""
    if (claims["here"] == NOT_RUN).all():
        return NOTHING
    text = [
        f"{_count_claims(claims['holds'])}. Without the tuned targeted grouping, of the claims that can then "
        f"be judged: {_count_claims(claims['holds_blunt'])}."
    ]
    for setting in SETTINGS:
        parts = []
        for words, without in (
            ("against all alternatives", ()),
            ("with the tuned targeted grouping left out", ("targeted",)),
            ("with both targeted groupings left out", TARGETED),
        ):
            table = count_against(found.compared, ("combined",), without=without)
            row = match_rows(table, question=setting[0], shift=setting[1], against=AGAINST)
            if len(row):
                one = rows(row)[0]
                parts.append(f"{one.win} / {one.neither} / {one.loss} {words}")
        if parts:
            text.append(f"- {SETTING_NAMES[setting]}: {join_words(parts)}.")
    return text[0] + " Of the combined audit against the strongest alternative:\n\n" + "\n".join(text[1:])


def _count_claims(judged: pd.Series) -> str:
    """Count the claims that hold, that do not, and that are open."""
    yes, no, undecided = (int((judged == each).sum()) for each in (YES, NO, OPEN))
    return (
        f"{count_of(yes, yes + no + undecided, 'claim')} {agree(yes, 'holds', 'hold')} here, {no} "
        f"{agree(no, 'does', 'do')} not, and {undecided} {agree(undecided, 'is', 'are')} open"
    )


@dataclass(frozen=True)
class PrintedFigure:
    """A figure of the publication, and where the scores have its like."""

    figure: str  # What it is
    printed: str  # As printed
    methods: tuple[str, ...]  # Groupings whose scores are set beside it
    regions: tuple[str, ...]  # Regions of the scenarios that are meant
    numbers: tuple[int, ...] = ()  # Their numbers; empty takes all of the regions


PRINTED_GAPS = (
    PrintedFigure(
        "linear risk: forest and ridge", "0.62 to 0.63, alike", ("forest", "ridge"), ("x1",), (1, 2, 3)
    ),
    PrintedFigure("both tails of a U-shape: forest", "0.34 to 0.45", ("forest",), ("tails",)),
    PrintedFigure("the same: ridge and risk bins", "0.09 to 0.13", ("ridge", "risk bins"), ("tails",)),
    PrintedFigure("masking, linear risk: forest", "0.49", ("forest",), ("masked",), (8,)),
    PrintedFigure("masking, U-shaped term: forest", "0.44", ("forest",), ("masked",), (9,)),
    PrintedFigure(
        "top linear feature, U-shaped term: ridge against forest",
        "0.73 and 0.67",
        ("ridge", "forest"),
        ("x1",),
        (6,),
    ),
    PrintedFigure(
        "one tail: targeted against forest", "0.38 and 0.23", ("targeted", "forest"), ("tail",), (13,)
    ),
)


def compare_printed_gaps(found: Simulations) -> pd.DataFrame:
    """Set the few scores that are printed for gaps beside ours, for `FIGURE_COLUMNS`."""
    gaps = found.scores[(found.scores["question"] == "gap") & (found.scores["shift"] == "larger")]
    listed = []
    for each in PRINTED_GAPS:
        part = gaps[gaps["region"].isin(each.regions)]
        part = part[part["number"].isin(each.numbers)] if each.numbers else part
        words = []
        for method in each.methods:
            scores = part.loc[part["method"] == method, ["f1", "f1_low", "f1_high"]]
            if len(scores) == 1:
                ends = " to ".join(write_or_dash(value) for value in scores.iloc[0, 1:])
                words.append(f"{method} {number(scores['f1'].iloc[0], digits=2)} (interval {ends})")
            elif len(scores):
                ends = " to ".join(number(value, digits=2) for value in (scores.f1.min(), scores.f1.max()))
                words.append(f"{method} {ends} in {len(scores)} scenarios")
        listed.append((each.figure, each.printed, "; ".join(words) or NOT_RUN))
    return pd.DataFrame(listed, columns=[column.name for column in FIGURE_COLUMNS])


def compare_printed_errors(found: Simulations) -> pd.DataFrame:
    """Set the printed scores of local errors beside ours, for `PRINTED_LOCAL_COLUMNS` and the figure."""
    printed = pd.read_csv(project_file("data", "reference", "pocket_simulations_published.csv"))
    listed = []
    for scenario in ERRORS:
        for shift in ("smaller", "larger"):
            told = match_rows(printed, scenario=scenario.published, shift=shift)
            own = _of_scenario(found.scores, scenario, shift)
            if len(own) and len(told):
                listed.append(_set_beside(scenario, shift, own, told.iloc[0]))
    ends = [f"{name}_{end}" for name in ("combined", "targeted", "other") for end in ("low", "high")]
    columns = [column.name for column in PRINTED_LOCAL_COLUMNS] + ["number", *ends]
    return pd.DataFrame(listed, columns=columns)


def _of_scenario(scores: pd.DataFrame, scenario: Scenario, shift: str) -> pd.DataFrame:
    """Take the scores of one scenario and shift, by grouping."""
    kept = (scores["question"] == scenario.question) & (scores["number"] == scenario.number)
    return scores[kept & (scores["shift"] == shift)].set_index("method")


def _set_beside(scenario: Scenario, shift: str, own: pd.DataFrame, told: pd.Series) -> dict[str, object]:
    """Make one row of printed and own scores."""
    blind = [name for name in ALTERNATIVES if name in own.index and name not in TARGETED]
    best = own.loc[blind, "f1"].idxmax() if blind else ""
    names = {"combined": "combined", "targeted": "targeted", "other": best}
    row: dict[str, object] = {
        "number": scenario.number,
        "scenario": scenario.title,
        "shift": shift,
        "replicates": int(own["replicates"].max()),
        "named": best,
        "plain": own["f1"].get("targeted plain", np.nan),
        "printed_combined": told["combined"],
        "printed_targeted": told["error_targeted"],
        "printed_other": told["best_other"],
    }
    for name, method in names.items():
        known = method in own.index
        for column, end in (("f1", ""), ("f1_low", "_low"), ("f1_high", "_high")):
            row[name + end] = own.loc[method, column] if known else np.nan
    return row


def describe_printed_errors(table: pd.DataFrame) -> str:
    """Say how far the printed scores lie from ours, one grouping at a time."""
    if table.empty:
        return NOTHING
    names = {
        "combined": "combined audit",
        "targeted": "targeted grouping",
        "other": "best of the other alternatives",
    }
    points = []
    for shift, part in table.groupby("shift", sort=False):
        for name, words in names.items():
            apart = (part[name] - part[f"printed_{name}"]).dropna()
            if len(apart):
                points.append(
                    f"- {shift} shift, {words}: ours less the printed is {number(apart.median(), digits=2)} "
                    f"at the median of {plural(len(apart), 'scenario')}, from "
                    f"{number(apart.min(), digits=2)} to {number(apart.max(), digits=2)}."
                )
    return "\n".join(points)


def describe_plain(table: pd.DataFrame) -> str:
    """Say whether tuning explains how well the targeted grouping does."""
    known = table.dropna(subset=["plain", "targeted", "printed_targeted"])
    if known.empty:
        return NOTHING
    points = []
    for shift, part in known.groupby("shift", sort=False):
        nearer = (part["plain"] - part["printed_targeted"]).abs() < (
            part["targeted"] - part["printed_targeted"]
        ).abs()
        points.append(
            f"- {shift} shift: tuned {write_or_dash(mean_of(part, 'targeted'))}, plain "
            f"{write_or_dash(mean_of(part, 'plain'))}, in print "
            f"{write_or_dash(mean_of(part, 'printed_targeted'))} (means of {plural(len(part), 'scenario')} "
            f"with a continuous outcome); the plain one is nearer to print in {int(nearer.sum())}."
        )
    return "\n".join(points)
