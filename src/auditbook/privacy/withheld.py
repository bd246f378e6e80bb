"""What of one run is withheld: groups, decisions, score bins, sites, pockets, other outcomes?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pandas as pd

from auditbook.columns import empty_table
from auditbook.privacy.bins import ALL, Bin, GroupTotals, hide_bins, read_bins
from auditbook.privacy.complements import Array, Cells, Mask, withhold
from auditbook.privacy.groups import (
    Group,
    GroupCounts,
    HiddenGroups,
    Layout,
    hide_decisions,
    hide_groups,
    hide_parts,
    is_small,
    lay_out,
)
from auditbook.privacy.pockets import HiddenPockets, hide_pockets
from auditbook.privacy.rows import name_rows
from auditbook.results import Run

Decided = tuple[str, str, str]
"""Model (or another outcome, seen as a decision), attribute and group."""
RATES_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"DI": ("SR",), "SPD": ("SR",), "EOPP": ("TPR",), "EOD": ("TPR", "FPR"), "PP": ("PPV",)}
)
"""Which rates of its groups a metric compares; any other is a rate of its own."""


@dataclass(frozen=True, eq=False)
class Withheld:
    """What is withheld of an exact run, settled when first asked for."""

    run: Run
    smallest: int

    def table(self, name: str) -> pd.DataFrame:
        """Read an exact table; of an audit in pockets only, one that it does not make is empty."""
        lacks = self.in_pockets_only and not self.run.holds(name)
        return empty_table(name) if lacks else getattr(self.run, name)

    @cached_property
    def in_pockets_only(self) -> bool:
        """Whether no group is counted but within pockets, as ``auditbook pockets audit`` does."""
        return not any(self.run.holds(name) for name in ("cohort_groups", "groups"))

    @cached_property
    def layout(self) -> Layout:
        """The groups of the run, and how they hang together."""
        names = ("pocket_groups",) if self.in_pockets_only else ("cohort_groups", "groups")
        known = pd.concat([self.table(name)[["attribute", "group"]] for name in names])
        counted = set(known["attribute"])
        crosses = self.run.info.get("crosses", {})
        whole = {name: parts for name, parts in crosses.items() if {name, *parts} <= counted}
        return lay_out(known.itertuples(index=False, name=None), whole)

    def spread(self, table: pd.DataFrame, column: str) -> Array:
        """Lay a column of counts out by group."""
        keys = zip(table["attribute"], table["group"], strict=True)
        return self.layout.spread(dict(zip(keys, table[column], strict=True)))

    @cached_property
    def first(self) -> pd.DataFrame:
        """The groups under the first model: records and events are those of every model."""
        table = self.table("groups")
        return table[table["model"] == table["model"].iloc[0]] if len(table) else table

    @cached_property
    def groups(self) -> HiddenGroups:
        """The groups whose records or events are withheld."""
        if self.in_pockets_only:
            n = self._count_in_pockets()  # No table tells the events of a group: they are withheld with it
            return hide_groups(self.layout, GroupCounts(n, n, n, n), self.smallest)
        kept = self.table("cohort_groups")
        counts = GroupCounts(
            self.spread(kept, "n"),
            self.spread(kept, "events"),
            self.spread(kept, "n_audit"),
            self.spread(self.first, "events"),
        )
        return hide_groups(self.layout, counts, self.smallest)

    def _count_in_pockets(self) -> Array:
        """Count the records of groups over all pockets: those of each map, with the abstained, are all."""
        by_map = self.table("pocket_groups").groupby(["map", "attribute", "group"])["n"].sum().reset_index()
        return self.spread(by_map.drop_duplicates(["attribute", "group"]), "n")

    @cached_property
    def found(self) -> frozenset[Decided]:
        """The groups of which it is withheld how those with the event were decided."""
        return hide_decisions(
            self.layout, self.table("groups"), self.groups.outcomes, "tp", "fn", self.smallest
        )

    @cached_property
    def alarmed(self) -> frozenset[Decided]:
        """The same of those without the event."""
        return hide_decisions(
            self.layout, self.table("groups"), self.groups.outcomes, "fp", "tn", self.smallest
        )

    @cached_property
    def selected(self) -> frozenset[Decided]:
        """The groups of which it is withheld how many were selected."""
        return self.found | self.alarmed

    @cached_property
    def above(self) -> frozenset[Decided]:
        """The groups of which it is withheld how many score above the median."""
        table = self.table("scoring_rates")
        table = table.assign(below=table["n"] - table["above"])
        return hide_decisions(self.layout, table, self.groups.records, "above", "below", self.smallest)

    @cached_property
    def _bins(self) -> tuple[frozenset[Bin], frozenset[Bin]]:
        parts = self.table("score_bins").groupby("model", sort=False)
        found = [self._hide_bins(str(model), part) for model, part in parts]
        return frozenset().union(*(one for one, _ in found)), frozenset().union(*(two for _, two in found))

    @property
    def bins(self) -> frozenset[Bin]:
        """The score bins whose records are withheld."""
        return self._bins[0]

    @property
    def bin_events(self) -> frozenset[Bin]:
        """The score bins whose events are withheld."""
        return self._bins[1]

    def _hide_bins(self, model: str, part: pd.DataFrame) -> tuple[frozenset[Bin], frozenset[Bin]]:
        groups = self.table("groups")
        mine = groups[groups["model"] == model]
        tp, fp, fn, tn = (self.spread(mine, name) for name in ("tp", "fp", "fn", "tn"))
        models = self.table("models")
        threshold = float(models.loc[models["model"] == model, "threshold"].iloc[0])
        keys = [*self.layout.keys, ALL]

        def name(hidden: Callable[[Group], bool]) -> Mask:
            return np.array([hidden(key) for key in keys], bool)

        records = GroupTotals(
            np.append(tp + fp + fn + tn, 0.0),
            np.append(np.minimum(tp + fp, fn + tn), 0.0),
            name(lambda key: key in self.groups.records),
            name(lambda key: (model, *key) in self.selected),
        )
        events = GroupTotals(
            np.append(tp + fn, 0.0),
            np.append(np.minimum(tp, fn), 0.0),
            name(lambda key: key in self.groups.outcomes),
            name(lambda key: (model, *key) in self.found),
        )
        table = read_bins(part, self.layout, threshold)
        return hide_bins(table, self.layout, records, events, self.smallest)

    @cached_property
    def sites(self) -> Mapping[str, frozenset[str]]:
        """The sites whose records, events or audited records are withheld, by column."""
        table = self.table("cohort_sites")
        names, n, audited = (table[name].to_numpy() for name in ("site", "n", "n_audit"))
        events = np.nan_to_num(table["events"].to_numpy(float))
        hidden = hide_parts(n, n, np.zeros(len(n), bool), self.smallest)
        audit = hide_parts(audited, n, hidden, self.smallest)
        whole = audit if (n == audited).all() else hidden
        found = {"n": whole, "events": hide_parts(events, n, whole, self.smallest), "n_audit": audit}
        return {name: frozenset(names[mask]) for name, mask in found.items()}

    @cached_property
    def labels(self) -> frozenset[Decided]:
        """The groups of which it is withheld how another outcome goes with the audited one."""
        table = self.table("label_agreement")
        found: set[Decided] = set()
        for outcome, mine in table.groupby("outcome", sort=False):
            n, events, others, both = (
                self.spread(mine, name) for name in ("n", "events", "other_events", "both")
            )
            unknown = self.spread(self.first, "n") - n
            cells = (n, unknown, both, events - both, others - both, n - events - others + both)
            few = np.any([is_small(part, self.smallest) for part in cells], axis=0)
            few |= np.array([key in self.groups.outcomes for key in self.layout.keys], bool)
            hidden = withhold(
                Cells(np.min(cells[2:], axis=0) + few, self.layout.relations, np.ones(len(n), bool)),
                few,
                self.smallest,
            )
            found |= {(str(outcome), *key) for key in self.layout.pick(hidden)}
        return frozenset(found)

    @cached_property
    def pockets(self) -> HiddenPockets:
        """The pockets of which something is withheld."""
        told = self.run.info.get("pockets") or {}
        return hide_pockets(
            self.table("pocket_groups"),
            self.table("pocket_errors"),
            records=self.groups.records,
            counted=not told.get("continuous"),
            smallest=self.smallest,
        )

    @cached_property
    def leaky(self) -> frozenset[Decided]:
        """The groups with a score bin whose records are told and whose events are not."""
        return frozenset(key[:3] for key in self.bin_events - self.bins)

    def hides_rate(self, rate: str, model: str, attribute: str, group: str) -> bool:
        """Whether a rate of a group, or what a metric says of it, rests on something withheld."""
        key = model, attribute, group
        if rate in ("ER", "AUC"):
            return key[1:] in self.groups.outcomes
        if rate in ("CAL", "event rate"):
            return key in self.leaky or key[1:] in self.groups.outcomes
        return key in {"TPR": self.found, "FPR": self.alarmed}.get(rate, self.selected)

    @cached_property
    def cells(self) -> frozenset[Decided]:
        """The cells (model, metric, attribute) whose estimate rests on something withheld."""
        found = set()
        for name in ("verdicts", "auc_verdicts"):
            columns = ("model", "metric", "attribute", "lowest_group", "highest_group")
            for model, metric, attribute, *extremes in name_rows(self.table(name), columns):
                if self._hides_cell(model, metric, attribute, extremes):
                    found.add((model, metric, attribute))
        return frozenset(found)

    def _hides_cell(self, model: str, metric: str, attribute: str, extremes: list[str]) -> bool:
        named = [group for group in extremes if group]
        everybody = [group for name, group in self.layout.keys if name == attribute]
        return any(
            self.hides_rate(rate, model, attribute, group)
            for rate in RATES_OF.get(metric, (metric,))
            for group in named or everybody
        )
