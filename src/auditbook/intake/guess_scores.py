"""Which columns hold predictions, of what kind, and in which direction?"""

import numpy as np

from auditbook.intake.column_facts import ColumnFacts
from auditbook.intake.events import Events
from auditbook.intake.guesses import Answers, Guess, ScoreGuess, TableFacts
from auditbook.intake.lexicon import WHOLE, fit_name, split_name
from auditbook.tables import as_numbers

_LACKING = 0.1
"""Share of records without a score up to which a score is drafted, and these records left out."""

_TURNED = 0.4
"""AUC below which a score seems to fall as events become more probable."""

_LEAK = 0.98
_FEW = 5


def guess_scores(
    table: TableFacts, answers: Answers, events: Events | None, taken: set[str]
) -> tuple[tuple[ScoreGuess, ...], tuple[ScoreGuess, ...]]:
    """Guess the scores to audit, and those that a person should look at first."""
    if answers.scores is not None:
        return tuple(_describe(table, name, events) for name in answers.scores), ()
    ranked = [*table.rank("survival_score", "score", taken=taken), *table.rank("score", "score", taken=taken)]
    named = dict.fromkeys(name for name in ranked if _may_score(table, name))
    found = [_describe(table, name, events) for name in sorted(named, key=list(table.columns).index)]
    sound = [guess for guess in found if not _doubtful(guess, table)]
    kept = [guess for guess in sound if guess.kind != "rank"] or sound
    return tuple(kept), tuple(guess for guess in found if guess not in kept)


def _doubtful(guess: ScoreGuess, table: TableFacts) -> bool:
    """Tell whether a score lacks for too many records, or knows the outcome."""
    rows = table.columns[guess.guess.column].rows
    return guess.lacking > _LACKING * rows or any("disguise" in text for text in guess.guess.speaks_against)


def _may_score(table: TableFacts, name: str) -> bool:
    """Tell whether values may be scores: shares, or numbers under a name that says score."""
    facts = table.columns[name]
    if not facts.number or facts.distinct <= 2:
        return False
    low, high = _bounds(table, facts)
    published = name in table.published("score") or name in table.published("survival_score")
    if low >= 0 and high <= 1 and (not facts.whole or facts.share < 1 or published):
        return True
    return _foretells(name) and facts.distinct > _FEW


def _foretells(name: str) -> bool:
    """Tell whether a name says plainly that its numbers are scores: as a whole, or by two of its words."""
    words = [word for word in split_name(name) if fit_name(word, "score")]
    return (
        fit_name(name, "score") == WHOLE or len(words) > 1 or bool({"hat", "pred", "predicted"} & set(words))
    )


def _no_score(table: TableFacts, name: str) -> tuple[str | int, ...]:
    """List the codes of the layout that mean that a record has no score."""
    return table.layout.no_score.get(name.strip().casefold(), ()) if table.layout else ()


def _bounds(table: TableFacts, facts: ColumnFacts) -> tuple[float, float]:
    """Return the smallest and the largest score, codes without one left out."""
    cells = as_numbers(table.frame[facts.name]).cells
    codes = [float(code) for code in _no_score(table, facts.name)]
    cells = cells[~np.isnan(cells) & ~np.isin(cells, codes)]
    return (float(cells.min()), float(cells.max())) if len(cells) else (np.nan, np.nan)


def _describe(table: TableFacts, name: str, events: Events | None) -> ScoreGuess:
    """Say what kind of score a column holds, in which direction, and for how many records none."""
    facts = table.columns[name]
    low, high = _bounds(table, facts)
    codes = tuple(code for code in _no_score(table, name) if facts.low <= float(code) <= facts.high)
    cells = as_numbers(table.frame[name]).cells
    cells = np.where(np.isin(cells, [float(code) for code in codes]), np.nan, cells)
    survival = name in table.published("survival_score") or fit_name(name, "survival_score") > 0
    area = events.area_under(cells) if events is not None else np.nan
    lacking = int(np.isnan(cells).sum())
    kind = "probability" if low >= 0 and high <= 1 else "rank"
    if facts.distinct == 2 and (low, high) == (0, 1):
        kind = "decision"
    turned = survival or area < _TURNED
    speaks_for, against = _tell(survival, area, f"{low:g} to {high:g}")
    return ScoreGuess(Guess(name, speaks_for, against), kind, turned, codes, lacking)


def _tell(survival: bool, area: float, span: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what speaks for a score and its direction, and what against."""
    speaks_for, against = [f"numbers from {span}"], []
    if survival:
        speaks_for.append("its name says survival, so that a low score means an event")
    if not np.isnan(area):
        better = max(area, 1 - area)
        speaks_for.append(f"AUC {better:.2f}" + (", turned round" if area < _TURNED else ""))
        if better > _LEAK:
            against.append(f"AUC {better:.3f}: this may be the outcome in disguise")
        if survival and area > 1 - _TURNED:
            against.append("it rises with the outcome, as a survival score should not")
    return tuple(speaks_for), tuple(against)
