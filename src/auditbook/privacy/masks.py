"""In which rows of a table is something withheld? One function for each word of ``withheld.toml``."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.privacy.differences import tells_few
from auditbook.privacy.groups import is_small
from auditbook.privacy.pockets import OVERALL
from auditbook.privacy.rows import name_rows
from auditbook.privacy.withheld import Withheld

Rows = NDArray[np.bool_]
Rule = Callable[[pd.DataFrame, Withheld], Rows]
DECIDED = ("model", "attribute", "group")
CELL = ("model", "metric", "attribute")
NEAR = 1e-8
"""Within this, two estimates read from a file are the same."""


def _among(table: pd.DataFrame, columns: tuple[str, ...], hidden: frozenset) -> Rows:
    """Tell which rows are among those that are withheld."""
    return np.array([key in hidden for key in name_rows(table, columns)], bool)


def _named(table: pd.DataFrame, column: str, hidden: frozenset) -> Rows:
    """Tell which rows are, told apart by one column."""
    return np.array([key in hidden for key in table[column]], bool)


def _of_attributes(table: pd.DataFrame, hidden: frozenset) -> Rows:
    """Tell which rows are of an attribute of which something is withheld, its last two keys being its own."""
    return _named(table, "attribute", frozenset(key[-2] for key in hidden))


def _rates(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which rates rest on something withheld, of a group or of a score bin."""
    found = [
        withheld.hides_rate(rate, model, attribute, group)
        for rate, model, attribute, group in name_rows(table, ("rate", *DECIDED))
    ]
    return _in_bins(table, np.array(found, bool), withheld.bin_events, first=1)


def _trials(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell whose number of trials is withheld: the denominator of a rate."""
    found = [
        _hides_trials(withheld, rate, (model, attribute, group))
        for rate, model, attribute, group in name_rows(table, ("rate", *DECIDED))
    ]
    return _in_bins(table, np.array(found, bool), withheld.bins, first=1)


def _hides_trials(withheld: Withheld, rate: str, key: tuple[str, str, str]) -> bool:
    if rate == "PPV":
        return key in withheld.selected
    return key[1:] in (withheld.groups.outcomes if rate in ("TPR", "FPR") else withheld.groups.records)


def _in_bins(table: pd.DataFrame, whole: Rows, hidden: frozenset, *, first: int) -> Rows:
    """Look rows of a score bin up among the withheld bins, and keep what is said of whole groups."""
    if "bin" not in table:
        return whole
    number = table["bin"].to_numpy(float)
    keys = zip(name_rows(table, DECIDED), np.nan_to_num(number) + 1 - first, strict=True)
    inside = np.array([(*key, int(place)) in hidden for key, place in keys], bool)
    return np.where(np.isnan(number), whole, inside)


def _contrasts(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which contrasts rest on something withheld of one of their two groups."""
    first = table.assign(group=table["group"])
    found = np.zeros(len(table), bool)
    for column in ("group", "other"):
        part = first.assign(group=table[column])
        named = (table[column] != "").to_numpy()
        found |= named & np.array(
            [withheld.hides_rate(*key) for key in name_rows(part, ("rate", *DECIDED))], bool
        )
    return _in_bins(table, found, withheld.bin_events, first=0)


def _denominators(column: str) -> Rule:
    """Tell whose number of people behind a contrast is withheld."""

    def mask(table: pd.DataFrame, withheld: Withheld) -> Rows:
        part = table.assign(group=table[column])
        found = [
            _hides_trials(withheld, rate, (model, attribute, group))
            for rate, model, attribute, group in name_rows(part, ("rate", *DECIDED))
        ]
        rarer = part["metric"].isin(["AUC", "CAL"]).to_numpy()
        outcomes = _among(part, ("attribute", "group"), withheld.groups.outcomes)
        return _in_bins(part, np.array(found, bool) | (rarer & outcomes), withheld.bins, first=0)

    return mask


def _deciding(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell in which cells the contrast that decides rests on something withheld."""
    contrasts = withheld.table("contrasts")
    hidden = contrasts[_contrasts(contrasts, withheld)]
    gaps = hidden.groupby(list(CELL))["estimate"].agg(list).to_dict()
    known = set(name_rows(contrasts, CELL))
    cells = _among(table, CELL, withheld.cells)
    keys = zip(name_rows(table, CELL), table["gap"], strict=True)
    near = [np.isclose(gaps.get(key, []), gap, atol=NEAR).any() for key, gap in keys]
    unknown = np.array([key not in known for key in name_rows(table, CELL)], bool)
    return np.array(near, bool) | (unknown & cells)


def _growth(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which cells leave out, or may lose, a group of which something is withheld."""
    hidden = _of_attributes(table, withheld.groups.outcomes)
    if "left_out" not in table:
        return hidden
    return hidden & (table["left_out"] != "").to_numpy()


def _promise(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell where the value of a model without error is not that of two groups whose event rates are shown."""
    first = withheld.first
    shown = first[~_among(first, ("attribute", "group"), withheld.groups.outcomes)]
    rates = shown.groupby("attribute")["event_rate"].agg(["min", "max"])
    low, high = (rates[name].reindex(table["attribute"]).to_numpy(float) for name in ("min", "max"))
    ratio = np.divide(low, high, out=np.full(len(low), np.nan), where=high > 0)
    told = np.where(table["metric"] == "DI", ratio, high - low)
    selects = table["metric"].isin(["DI", "SPD"]).to_numpy()
    hidden = _of_attributes(table, withheld.groups.outcomes)
    return selects & hidden & ~np.isclose(told, table["error_free"].to_numpy(float), atol=NEAR)


def _smallest(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell where the number of the smallest group is that of one that is withheld."""
    n = table["smallest_n"].to_numpy(float)
    first = withheld.first
    gone = first[_among(first, ("attribute", "group"), withheld.groups.records)]
    sizes = set(name_rows(gone, ("attribute", "n")))
    same = [key in sizes for key in zip(table["attribute"], n, strict=True)]
    return is_small(n, withheld.smallest) | np.array(same, bool)


def _any_cell(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which metric and attribute rest on something withheld under some model."""
    return _among(table, ("metric", "attribute"), frozenset(key[1:] for key in withheld.cells))


def _impact(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell of all rows alike whether some disparate impact rests on something withheld."""
    return np.full(len(table), any(metric == "DI" for _, metric, _ in withheld.cells))


def _lacking(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell where those who lack an attribute, or the events or others among them, are too few."""
    n, events = table["missing"].to_numpy(float), table["missing_events"].to_numpy(float)
    few = np.any([is_small(part, withheld.smallest) for part in (n, events, n - events)], axis=0)
    return np.asarray(few) | _of_attributes(table, withheld.groups.outcomes)


def _label_totals(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell of which outcome too few records have it, lack it, or have no entry."""
    n, events = table["n"].to_numpy(float), table["events"].to_numpy(float)
    whole = float(withheld.run.info.get("rows_audited", np.nan))
    return np.any([is_small(part, withheld.smallest) for part in (events, n - events, whole - n)], axis=0)


def _label_cell(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell of which attribute it is withheld how another outcome goes with the audited one."""
    hidden = frozenset(key[:2] for key in withheld.labels)
    return _among(table, ("outcome", "attribute"), hidden) | _of_attributes(table, withheld.groups.outcomes)


def _fold(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which folds hold too few records."""
    return is_small(table["n"].to_numpy(float), withheld.smallest)


def _part(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which rows count or decide too few people: their records, errors, selected or changed ones."""
    n = table["n"].to_numpy(float)
    names = [name for name in ("accuracy", "selection_rate", "changed") if name in table]
    return _counts_few(table, n, names, withheld.smallest)


def _total(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell under which models all audited records hold too few of somebody."""
    groups = withheld.table("groups")
    found = _counts_few(
        table,
        table["n_audit"].to_numpy(float),
        ["accuracy", "selection_rate", "event_rate"],
        withheld.smallest,
    )
    if groups.empty:
        return found
    mine = groups[groups["attribute"] == groups["attribute"].iloc[0]]
    sums = mine.groupby("model")[["tp", "fp", "fn", "tn"]].sum().reindex(table["model"]).to_numpy(float)
    return found | is_small(sums, withheld.smallest).any(axis=1)


def _counts_few(table: pd.DataFrame, n: NDArray[np.float64], names: list[str], smallest: int) -> Rows:
    found = is_small(n, smallest)
    for name in names:
        counted = np.rint(n * table[name].to_numpy(float))
        found = found | is_small(counted, smallest) | is_small(n - counted, smallest)
    return found


def _timed(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell under which models too few of some group were selected before, after, or at an unknown time."""
    counts = table[["n", "ahead", "late", "unknown"]].to_numpy(float)
    few = table["model"][is_small(counts, withheld.smallest).any(axis=1)]
    return table["model"].isin(few).to_numpy(bool)


def _joint(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell of all rows alike whether a crossing of groups, or a group, holds too few of somebody."""
    n, events, selected = (table[name].to_numpy(float) for name in ("n", "events", "selected"))
    parts = [n, events, n - events, selected, n - selected, table["changed"].to_numpy(float)]
    few = any(is_small(part, withheld.smallest).any() for part in parts)
    return np.full(len(table), few or bool(withheld.groups.outcomes or withheld.selected))


def _pair(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which area metrics are named with a group whose outcomes are withheld, or rest on all groups."""
    hidden = withheld.groups.outcomes
    named = _among(table, ("attribute", "group"), hidden) | _among(
        table, ("attribute", "other_group"), hidden
    )
    return named | ((table["group"] == "").to_numpy() & _of_attributes(table, hidden))


def _learned(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which pockets were learned from too few records, events or others."""
    n = table["n_discovery"].to_numpy(float)
    rates = ["event_rate"] if table["event_rate"].between(0, 1).all() else []
    return _counts_few(table, n, rates, withheld.smallest)


def _pocket_cells(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which pockets, or groups within them, hold too few records to be told."""
    counts = [table[name].to_numpy(float) for name in ("n", "n_focal", "n_reference", "units")]
    few = np.any([is_small(part, withheld.smallest) for part in counts[:3]], axis=0)
    focal, reference = _read_contrasts(table, withheld)
    hidden = withheld.pockets.groups
    keys = name_rows(table, ("map", "pocket"))
    inside = [
        any((*key, *group) in hidden for group in pair)
        for key, *pair in zip(keys, focal, reference, strict=True)
    ]
    overall = (table["pocket"] == OVERALL).to_numpy()
    whole = [
        any(group in withheld.groups.records for group in pair) for pair in zip(focal, reference, strict=True)
    ]
    return (
        few
        | np.array(inside, bool)
        | (overall & whole)
        | _among(table, ("map", "pocket"), withheld.pockets.records)
    )


def _read_contrasts(
    table: pd.DataFrame, withheld: Withheld
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Look up which two groups each row compares; blank names where none are."""
    keys = withheld.layout.keys
    pairs = {
        f"{name}: {one} - {other}": ((name, one), (name, other))
        for name, one in keys
        for attribute, other in keys
        if attribute == name
    }
    found = [pairs.get(text, (("", ""), ("", ""))) for text in table["contrast"]]
    return [pair[0] for pair in found], [pair[1] for pair in found]


def _pocket_outcomes(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which errors rest on outcomes of too few, of a pocket or of a group in it."""
    outcomes = _among(table, ("map", "pocket"), withheld.pockets.outcomes)
    few = outcomes | _gap_outcomes(table, withheld)
    return _pocket_cells(table, withheld) | (few & (table["quantity"] != "paired").to_numpy())


def _gap_outcomes(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which gaps are of a group whose events are withheld, or give few events in a pocket away."""
    pairs = zip(*_read_contrasts(table, withheld), strict=True)
    named = np.array([any(group in withheld.groups.outcomes for group in pair) for pair in pairs], bool)
    if (withheld.run.info.get("pockets") or {}).get("continuous"):
        return named
    parts = table[["mean_outcome", "n_focal", "n_reference"]].to_numpy(float)
    inside = [
        quantity == "delta" and tells_few(gap, n, n_other, withheld.smallest)
        for quantity, (gap, n, n_other) in zip(table["quantity"], parts, strict=True)
    ]
    return named | np.array(inside, bool)


def _pocket_shares(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which shares are sums over pockets that are withheld, of all records or of a group's."""
    groups = {(key[0], *key[2:]) for key in withheld.pockets.groups}
    maps = {key[0] for key in withheld.pockets.records}
    focal, reference = _read_contrasts(table, withheld)
    found = []
    for name, contrast, *pair in zip(table["map"], table["contrast"], focal, reference, strict=True):
        named = {key[0] for key in groups | {(one,) for one in maps}} if name == "combined" else {name}
        inside = any((one, *group) in groups for one in named for group in pair)
        found.append(inside or (not contrast and bool(named & maps)))
    return np.array(found, bool)


def _repaired(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which pockets have a half with too few records."""
    few = table[is_small(table["n"].to_numpy(float), withheld.smallest)]
    hidden = frozenset(name_rows(few, ("map", "pocket"))) | withheld.pockets.records
    return _among(table, ("map", "pocket"), hidden)


def _hospitals(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell of which attributes some hospital holds too few: of its groups the last follows from the rest."""
    known = withheld.table("hospital_contrasts")
    pairs = [known[list(names)].to_numpy(float) for names in (("hits", "hits_other"), ("n", "n_other"))]
    counts = np.hstack([*pairs, pairs[1] - pairs[0]])
    few = known["attribute"][is_small(counts, withheld.smallest).any(axis=1)]
    return table["attribute"].isin(few).to_numpy(bool)


def _hospital_means(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which means are of so few hospitals that one of them follows from another."""
    return _hospitals(table, withheld) & (table["hospitals"] <= 2).to_numpy()


def _columns(table: pd.DataFrame, withheld: Withheld) -> Rows:
    """Tell which columns too few records lack."""
    n = table["missing"].to_numpy(float)
    kept = withheld.table("cohort_groups")
    gone = kept[_among(kept, ("attribute", "group"), withheld.groups.kept)]
    role = (table["role"] == "attribute").to_numpy()
    return is_small(n, withheld.smallest) | (role & np.isin(n, gone["n"].to_numpy(float)))


def _within(columns: tuple[str, ...], choose: Callable[[Withheld], frozenset]) -> Rule:
    """Look rows up among what is withheld."""
    return lambda table, withheld: _among(table, columns, choose(withheld))


def _outcomes_of(column: str) -> Rule:
    """Look the outcomes of a group up; those of all records are shown."""
    return lambda table, withheld: _among(table, ("attribute", column), withheld.groups.outcomes)


GROUP = ("attribute", "group")
MASKS: Mapping[str, Rule] = MappingProxyType(
    {
        "records": _within(GROUP, lambda withheld: withheld.groups.records),
        "outcomes": _within(GROUP, lambda withheld: withheld.groups.outcomes),
        "kept": _within(GROUP, lambda withheld: withheld.groups.kept),
        "kept_events": _within(GROUP, lambda withheld: withheld.groups.kept_events),
        "timed": _timed,
        "found": _within(DECIDED, lambda withheld: withheld.found),
        "alarmed": _within(DECIDED, lambda withheld: withheld.alarmed),
        "selected": _within(DECIDED, lambda withheld: withheld.selected),
        "above": _within(DECIDED, lambda withheld: withheld.above),
        "cell": _within(CELL, lambda withheld: withheld.cells),
        "labels": _within(("outcome", *GROUP), lambda withheld: withheld.labels),
        "bin_records": _within((*DECIDED, "bin"), lambda withheld: withheld.bins),
        "bin_events": _within((*DECIDED, "bin"), lambda withheld: withheld.bin_events),
        "pocket": _within(("map", "pocket"), lambda withheld: withheld.pockets.records),
        "pocket_group": _within(("map", "pocket", *GROUP), lambda withheld: withheld.pockets.groups),
        "site": lambda table, withheld: _named(table, "site", withheld.sites["n"]),
        "site_events": lambda table, withheld: _named(table, "site", withheld.sites["events"]),
        "site_audited": lambda table, withheld: _named(table, "site", withheld.sites["n_audit"]),
        "event_group": _outcomes_of("event_group"),
        "nonevent_group": _outcomes_of("nonevent_group"),
        "rate": _rates,
        "trials": _trials,
        "contrast": _contrasts,
        "denominator": _denominators("group"),
        "denominator_other": _denominators("other"),
        "deciding": _deciding,
        "growth": _growth,
        "promise": _promise,
        "smallest": _smallest,
        "any_cell": _any_cell,
        "impact": _impact,
        "lacking": _lacking,
        "label_totals": _label_totals,
        "label_cell": _label_cell,
        "fold": _fold,
        "part": _part,
        "total": _total,
        "joint": _joint,
        "pair": _pair,
        "learned": _learned,
        "pocket_cell": _pocket_cells,
        "pocket_outcome": _pocket_outcomes,
        "pocket_shares": _pocket_shares,
        "repaired": _repaired,
        "column": _columns,
        "hospital": _hospitals,
        "hospital_mean": _hospital_means,
    }
)
"""The words of ``withheld.toml``."""
