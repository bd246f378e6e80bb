"""How are guesses written: each with what speaks for it, what against it, and what else may be meant?"""

from collections.abc import Iterator, Sequence

from auditbook.intake.guess_comments import inline, list_doubts
from auditbook.intake.guesses import AttributeGuess, Roles, TableFacts, tell_values
from auditbook.intake.toml_text import (
    comment,
    quote,
    write_key,
    write_list,
    write_literal,
    write_number,
    write_pairs,
)
from auditbook.intake.write_scores import write_scores
from auditbook.settings import Protocol

_SHOWN = 20


def write_roles(table: TableFacts, roles: Roles) -> list[str]:
    """Write the tables of a cohort file that follow from guesses."""
    return [
        *_write_outcome(table, roles),
        *_write_site(table, roles),
        *_write_unit(roles),
        *_write_time(roles),
        *_write_weight(roles),
        *_write_attributes(table, roles),
        *_write_missing(roles),
        *_write_features(roles),
        *write_scores(table, roles),
        *_write_use(),
    ]


def _name_columns(table: TableFacts) -> str:
    return "Columns: " + ", ".join(list(table.columns)[:_SHOWN])


def _write_outcome(table: TableFacts, roles: Roles) -> list[str]:
    found = roles.outcome
    harm = [
        "# decide: what does the event mean to the person? The report prints it beside the verdicts.",
        '# harm = "…"',
        "",
    ]
    if found is None:
        return [
            "[outcome]",
            comment(f"No outcome could be guessed. Which column says what happened? {_name_columns(table)}"),
            'column = ""',
            '# A comparison ("> 3") or the value that counts as an event ("Yes", 1, true).',
            'event = ""',
            *harm,
        ]
    column = found.guess.column
    share = f"{found.events / found.known:.1%}" if found.known else "none"
    values = tell_values(table.columns[column]) if table.columns[column].few else "many values"
    numbers = (
        [f"numbers = {write_pairs(found.numbers)}    # guess: what these cells stand for"]
        if found.numbers
        else []
    )
    return [
        "[outcome]",
        f"column = {quote(column)}{inline('; '.join(found.guess.speaks_for) + f'; values are {values}')}",
        f"event = {write_literal(found.event)}    # guess: {share} are events. decide: is it meant?",
        *numbers,
        *list_doubts(found.guess),
        *harm,
    ]


def _write_site(table: TableFacts, roles: Roles) -> list[str]:
    if roles.site is None:
        return ["# [site]", '# column = "…"    # no column looks like a hospital or site', ""]
    guess = roles.site
    return [
        "[site]",
        f"column = {quote(guess.column)}{inline('; '.join(guess.speaks_for))}",
        *list_doubts(guess),
        "",
    ]


def _write_unit(roles: Roles) -> list[str]:
    advice = (
        "# What must not be split between training and audit; without this table: the site, else each record."
    )
    if roles.unit is None:
        return [advice, "# [unit]", '# column = "…"', ""]
    guess = roles.unit.guess
    told = inline("; ".join(guess.speaks_for))
    key, value = "column", quote(roles.unit.columns[0])
    if len(roles.unit.columns) > 1:
        key, value = "columns", write_list(roles.unit.columns)
    mark = "" if roles.unit.repeats else "# "
    return [advice, f"{mark}[unit]", f"{mark}{key} = {value}{told}", *list_doubts(guess), ""]


def _write_time(roles: Roles) -> list[str]:
    if roles.time is None:
        return []
    guess = roles.time
    return [
        "[time]",
        f"column = {quote(guess.column)}{inline('; '.join(guess.speaks_for))}",
        *list_doubts(guess),
        "",
    ]


def _write_weight(roles: Roles) -> list[str]:
    advice = "# Of a survey: for how many people each record stands, and what was drawn first."
    design = roles.design
    if design.weight is None:
        return [advice, "# [weight]", *(f'# {key} = "…"' for key in ("column", "strata", "cluster")), ""]
    named = {"strata": design.strata, "cluster": design.cluster}
    return [
        advice,
        "[weight]",
        f"column = {quote(design.weight.column)}{inline('; '.join(design.weight.speaks_for))}",
        *list_doubts(design.weight),
        *(f"{key} = {quote(name)}    # guess" if name else f'# {key} = "…"' for key, name in named.items()),
        "",
    ]


def _write_attributes(table: TableFacts, roles: Roles) -> list[str]:
    if not roles.attributes:
        asked = "No attribute could be guessed: between which groups are verdicts wanted?"
        return [comment(f"{asked} {_name_columns(table)}"), "[attributes.group]", 'column = ""', ""]
    lines = []
    for guess in roles.attributes:
        lines += [*_write_attribute(table, guess), ""]
    return lines + _write_cross([guess.name for guess in roles.attributes])


def _write_attribute(table: TableFacts, guess: AttributeGuess) -> Iterator[str]:
    """Write one attribute."""
    facts = table.columns[guess.guess.column]
    told = "; ".join([*guess.guess.speaks_for, guess.values])
    yield f"[attributes.{write_key(guess.name)}]"
    yield f"column = {quote(guess.guess.column)}{inline(told)}"
    if guess.numbers:
        yield f"numbers = {write_pairs(guess.numbers)}    # guess: what these cells stand for"
    if guess.bins:
        bounds = ", ".join(write_number(bound) for bound in guess.bins)
        yield f"bins = [{bounds}]    # guess: lower bounds, the last bin open-ended (values: {guess.values})"
    if guess.labels:
        yield f"labels = {write_list(guess.labels)}"
    if guess.words:
        yield f"groups = {write_pairs(guess.words)}    # guess: what the values stand for"
    elif not guess.bins and facts.distinct > Protocol().max_groups:
        yield "# too many values for groups: give bins and labels, or recode them"
    elif not guess.bins:
        yield '# groups = { "value in the table" = "name of the group" }    # to join or rename'
    if guess.unknown:
        yield f"missing_values = {write_list(guess.unknown)}    # guess: these say that nothing is known"
    if guess.lacking:
        told = f'{guess.lacking:,} records without one form a group; or "drop", or "error"'
        yield f'missing = "group"    # guess: {told}'
    if guess.hint:
        yield comment(guess.hint)
    yield from list_doubts(guess.guess)


def _write_cross(names: Sequence[str]) -> list[str]:
    """Suggest to cross the first two attributes, race and sex where there are such."""
    ranked = sorted(names, key=lambda name: name not in ("race", "ethnicity", "sex", "gender"))
    if len(ranked) < 2:
        return []
    one, other = sorted(ranked[:2], key=names.index)
    return [
        comment(f"[attributes.{write_key(f'{one}_{other}')}]"),
        comment(f"cross = {write_list([one, other])}    # also audit the crossings of both, each as a group"),
        "",
    ]


def _write_missing(roles: Roles) -> list[str]:
    """Write the rules for missing cells, and by column the words and codes for them."""
    lines = [
        "[missing]",
        'attributes = "error"    # blank cells in an attribute: error, group (a group of their own) or drop',
        'outcome = "drop"        # blank outcomes: drop (left out and counted) or error',
        "# Words that mean missing in every column; only blank cells do by themselves.",
        '# values = ["?", "NA"]',
    ]
    for name, values in roles.missing.items():
        lines.append(
            f"columns.{write_key(name)} = {write_list(values)}    # guess: these say that nothing is known"
        )
    for name, odd in roles.questionable.items():
        told = f"columns.{write_key(name)} = {write_list(odd)}    # decide: missing, or a value?"
        lines.append(comment(told))
    return [*lines, ""]


def _write_features(roles: Roles) -> list[str]:
    features = roles.features
    lines = [
        "# For models trained here. Exclude whatever is the outcome in other words, identifiers and dates.",
        "[features]",
        f"exclude = {write_list(features.exclude)}    # guess: why each, below",
        *(comment(f"    {name}: {reason}") for name, reason in features.exclude.items()),
        f"late = {write_list(features.late)}    # guess: known only at the end of the stay",
    ]
    if features.categories:
        lines.append(f"categories = {write_list(features.categories)}    # guess: numbers that are codes")
    return [*lines, ""]


def _write_use() -> list[str]:
    return [
        "",
        "# decide: who is asked to trust what? The report opens with it.",
        "# [use]",
        '# model = "…"',
        '# intended_use = "…"',
        '# selected_means = "what happens to those whom the model selects"',
    ]
