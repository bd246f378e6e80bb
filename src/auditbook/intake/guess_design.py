"""Was the table drawn as a survey: which columns weigh the records, and what was drawn first?"""

from auditbook.intake.guesses import DesignGuess, Guess, TableFacts


def guess_design(table: TableFacts) -> DesignGuess:
    """Guess sampling weights, and only beside them strata and clusters."""
    weights = [name for name in table.rank("weight") if _weighs(table, name)]
    if not weights:
        return DesignGuess()
    facts = table.columns[weights[0]]
    guess = Guess(
        weights[0],
        (table.tell_name(weights[0], "weight"), f"numbers from {facts.low:g} to {facts.high:g}"),
        (),
        tuple(weights[1:4]),
    )
    strata = next(iter(table.rank("strata", taken=weights)), None)
    cluster = next(iter(table.rank("cluster", taken=[*weights, strata or ""])), None)
    return DesignGuess(guess, strata, cluster, tuple(weights[1:]))


def _weighs(table: TableFacts, name: str) -> bool:
    """Tell whether a column may say how many people a record stands for."""
    facts = table.columns[name]
    return facts.number and facts.low >= 0 and facts.distinct > 1
