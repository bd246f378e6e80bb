"""What do the stored boards and halves say, in words?"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from auditbook.book.say.text import agree, count, join_words, number, plural, read_layout, share
from auditbook.studies.boards.compare import (
    ALLOWED,
    WORLD_OF,
    StoredBoards,
    compare_alone,
    compare_halves,
    compare_rules,
    count_false,
    list_broken,
    list_worst,
    spread_rules,
)
from auditbook.studies.boards.worlds import BoardWorld

FALSE_COLUMNS = read_layout("studies", "boards.false")
ALONE_COLUMNS = read_layout("studies", "boards.alone")
RULE_COLUMNS = read_layout("studies", "boards.rules")
FOUND_COLUMNS = read_layout("studies", "boards.found")
HALF_COLUMNS = read_layout("studies", "boards.halves")
RULE_WORDS = {
    "shown": "shown to fail",
    "flags": "FairCareAI's flags",
    "gap": "a gap above 0.1 (fairlearn)",
    "band": "the band of 0.8 to 1.25 (Aequitas)",
    "estimate": "any estimate that fails",
}
HALF_WORDS = RULE_WORDS | {"shown": "shown", "verdict": "the published verdict"}
CHANGED_WORDS = {
    "records": "records, 2,000 to 100,000",
    "groups": "groups, two and nine",
    "event_rate": "events, 1% and 45%",
    "area": "area of the score, 0.6 and 0.97",
    "smallest": "smallest group, 10 to 1,000 events",
    "stays": "stays a patient, up to 3 and up to 10",
    "sites": "5 to 100 sites, equal and unequal",
    "gap": "one race with a lower TPR",
}
KIND_WORDS = {"equal": "alike", "edge": "at the thresholds", "gap": "one race with a lower TPR"}
COHORT_WORDS = {
    "sparcs-heart-failure": "SPARCS, by hospitals",
    "diabetes-130": "diabetes, by patients",
    "texas-twin": "the twin of Texas, by hospitals",
    "all": "all three",
}


def _each(table: pd.DataFrame) -> list[dict[str, Any]]:
    """List the rows of a table."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def name_world(world: BoardWorld) -> str:
    """Describe a world by what sets it apart."""
    told = [f"{count(world.records)} records"]
    if world.groups != BoardWorld.groups:
        told.append(f"{world.groups[0]} groups in each attribute")
    if world.event_rate != BoardWorld.event_rate:
        told.append(f"{share(world.event_rate, digits=0)} events")
    if world.area != BoardWorld.area:
        told.append(f"area {number(world.area, digits=2)}")
    if world.smallest:
        told.append(f"{plural(world.smallest, 'event')} in the smallest group")
    if world.stays > 1:
        told.append(f"up to {world.stays} stays a patient")
    if world.sites:
        told.append(f"{world.sites} sites{' of unequal size' if world.unequal else ''}")
    if world.gap:
        told.append(f"a gap of {number(world.gap, digits=2)}")
    return f"{KIND_WORDS[world.kind] if world.kind != 'gap' else 'unequal'}: {join_words(told)}"


def list_false(stored: StoredBoards) -> pd.DataFrame:
    """Lay out how many boards held a false answer, by what differs between the worlds."""
    table = count_false(stored.boards)
    return table.assign(changed=[CHANGED_WORDS[name] for name in table["changed"]])


def describe_false(stored: StoredBoards) -> str:
    """Say how many boards were drawn, how many held a false answer, and in which worlds most did."""
    boards = stored.boards
    whole = int(boards["replicates"].sum())
    told = [
        f"{count(len(boards))} worlds gave {count(whole)} boards of 28 cells. "
        f"Something was falsely shown to fail on {count(boards['false_fail'].sum())} of them, and falsely "
        f"shown to pass on {count(boards['false_pass'].sum())}."
    ]
    told += [_say_worst(boards, side) for side in ("fail", "pass")]
    return " ".join(filter(None, told))


def _say_worst(boards: pd.DataFrame, side: str) -> str:
    """Name the worst worlds of one side."""
    worst = list_worst(boards, side)
    if worst.empty:
        return f"In no world was anything falsely shown to {side}."
    first = _each(worst)[0]
    found = int(first[f"false_{side}"])
    names = "; ".join(f"*{name_world(WORLD_OF[name])}*" for name in worst["world"].head(3))
    more = f"; and {plural(len(worst) - 3, 'other')}" if len(worst) > 3 else ""
    side_words = {"fail": "fails", "pass": "passes"}[side]
    ones = agree(len(worst), "The worst world", f"The {count(len(worst))} worst worlds")
    return (
        f"{ones} for false {side_words} {agree(len(worst), 'has', 'have')} {found} in "
        f"{count(first['replicates'])} ({share(first[f'false_{side}_share'])}, at most "
        f"{share(first[f'false_{side}_high'])}): {names}{more}."
    )


def describe_broken(stored: StoredBoards) -> str:
    """Say which worlds break the promise."""
    broken = list_broken(stored.boards)
    if broken.empty:
        return (
            "No world breaks the promise of one board in twenty: on either side the upper end of the 95% "
            f"interval is at most {share(ALLOWED)} in each of them. So the report has no cell to mark for it."
        )
    names = "; ".join(f"*{name_world(WORLD_OF[name])}*" for name in broken["world"])
    return f"One board in twenty is not kept for certain in {plural(len(broken), 'world')}: {names}."


def list_alone(stored: StoredBoards) -> pd.DataFrame:
    """Lay out what the level over the board costs."""
    table = compare_alone(stored.sizes)
    return table.assign(world=[KIND_WORDS[kind] for kind in table["kind"]])


def describe_alone(stored: StoredBoards) -> str:
    """Say what the level over the board costs, and what it buys."""
    table = compare_alone(stored.sizes)
    gap = _each(table[(table["kind"] == "gap") & (table["records"] == 5_000)])[0]
    edge = _each(table[table["kind"] == "edge"].sort_values("false_fail_alone_share"))[-1]
    fail, alone, passes, passes_alone = (
        number(gap[name], digits=1) for name in ("fail", "fail_alone", "pass", "pass_alone")
    )
    return (
        f"The price: with 5,000 records and one race whose TPR is lower, a board has {fail} cells shown "
        f"to fail instead of {alone}, and {passes} shown to pass instead of {passes_alone}. "
        f"What it buys: where groups lie at the thresholds and {count(edge['records'])} records are audited, "
        f"{share(edge['false_fail_alone_share'], digits=0)} of the boards would hold a false fail with each "
        f"cell alone, and {share(edge['false_fail_share'], digits=0)} do."
    )


def describe_power(stored: StoredBoards) -> str:
    """Say how often a large gap is shown, by how many events there are."""
    boards = stored.boards
    told = []
    for row in _each(boards):
        world = WORLD_OF[row["world"]]
        if world.kind == "gap":
            told.append(
                f"a gap of {number(world.gap, digits=2)} among {count(world.records)} records with "
                f"{share(world.event_rate, digits=0)} events on {count(row['race_eopp_fail'])} of "
                f"{count(row['replicates'])} boards"
            )
    return f"Shown was {join_words(told)}."


def list_rules(stored: StoredBoards, kind: str) -> pd.DataFrame:
    """Lay out how often each rule accuses equal boards ("equal"), or finds a gap ("gap")."""
    return spread_rules(compare_rules(stored), kind)


def describe_accused(stored: StoredBoards) -> str:
    """Say how often each rule accuses a model that treats everybody alike."""
    table = list_rules(stored, "equal")
    rows = _each(table)
    first, last = rows[0], rows[-1]
    return " ".join(f"{_say_sizes(first, last, rule)}." for rule in RULE_WORDS)


def _say_sizes(first: Mapping[str, Any], last: Mapping[str, Any], rule: str) -> str:
    """Say the share of boards that a rule accuses at the smallest and the largest size."""
    told = [f"{share(row[rule], digits=0)} at {count(row['records'])}" for row in (first, last)]
    words = RULE_WORDS[rule]
    return f"{words[0].upper()}{words[1:]}: {told[0]} records, {told[1]}"


def describe_found(stored: StoredBoards) -> str:
    """Say how often what is shown misses a gap that is there, beside the other rules."""
    table = compare_rules(stored)
    told = []
    for size, records in ((0.15, 5_000), (0.2, 20_000), (0.25, 5_000)):
        part = table[(table["kind"] == "gap") & (table["gap"] == size) & (table["records"] == records)]
        found = {row["rule"]: row["share"] for row in _each(part)}
        others = join_words(
            f"{RULE_WORDS[rule]} on {share(found[rule], digits=0)}" for rule in ("flags", "gap", "band")
        )
        told.append(
            f"A gap of {number(size, digits=2)} among {count(records)} records is shown on "
            f"{share(found['shown'], digits=0)} of the boards, and found by {others}."
        )
    return " ".join(told)


def draw_curves(stored: StoredBoards) -> pd.DataFrame:
    """Lay the boards that each rule accuses out as curves over the size, for `draw_by_size`."""
    table = compare_rules(stored)
    table = table[table["kind"] == "equal"]
    return table.assign(
        curve=[RULE_WORDS[rule] for rule in table["rule"]],
        smallest=table["records"],
        value=table["share"],
        dashed=False,
    ).sort_values(["rule", "smallest"], kind="stable", ignore_index=True)


def list_halves(stored: StoredBoards) -> pd.DataFrame:
    """Lay out how often the other half contradicts."""
    table = compare_halves(stored.halves)
    return table.assign(
        cohort=[COHORT_WORDS[name] for name in table["cohort"]],
        rule=[HALF_WORDS[rule] for rule in table["rule"]],
    )


def describe_halves(stored: StoredBoards) -> str:
    """Say how often the other half contradicts what is shown in one, and what the other rules say."""
    table = compare_halves(stored.halves)
    told = {row["rule"]: row for row in _each(table[table["cohort"] == "all"])}
    shown, others = told["shown"], [rule for rule in told if rule != "shown"]
    fails = stored.halves
    fails = fails[(fails["cohort"] == "all") & (fails["rule"] == "shown") & (fails["said"] == "fail")]
    fail = _each(fails)[0]
    listed = join_words(
        f"{HALF_WORDS[rule]} in {share(told[rule]['opposite_share'], digits=0)}" for rule in others
    )
    return (
        f"Over three cohorts and {count(shown['halvings'])} halvings, one half shows {count(shown['cells'])} "
        f"answers, and the other half shows the opposite of {share(shown['opposite_share'])} of them; in "
        f"{share(shown['other_side_share'])} its estimate lies on the other side of the threshold "
        f"(in {share(fail['other_side_share'])} of what is shown to fail). "
        f"Of the answers of other rules it contradicts {listed}."
    )
