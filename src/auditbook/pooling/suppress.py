"""Which groups of a hospital have counts so small that they, and others with them, must not be told?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.evidence import TalliedAttribute, TalliedParts, Tally
from auditbook.pooling.bare_tally import drop_scores
from auditbook.privacy import Cells, Layout, find_determined, is_small, lay_out, withhold

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Withheld:
    """Groups of one attribute that one hospital does not tell."""

    site: str  # Blank where the file names no site
    attribute: str
    groups: tuple[str, ...]  # Only those that are large enough to be named
    # shape (n_models, 4): What all groups that are not told hold together
    together: Ints


@dataclass(frozen=True)
class Suppressed:
    """A tally of decisions without small counts, and what it lacks."""

    tally: Tally
    withheld: tuple[Withheld, ...]


def suppress_small(tally: Tally, smallest: int, *, crosses: Mapping[str, Sequence[str]]) -> Suppressed:
    """Withhold the groups of each site that have a small count, and others from which it would follow.

    A group is told with all of its counts or with none: tp, fp, fn and tn under every model are each 0 or at
    least `smallest`. What a reader knows beside them are the sums over all groups, which other attributes
    tell; where these would give a group away, further ones are withheld (see `auditbook.privacy`). Score
    bins, units and joint decisions are left out: with few records a bin hardly any of them could be told.

    Raises
    ------
    InputError
        If the sums over all records are small themselves, or a site has one group only to withhold.
    """
    bare = drop_scores(tally)
    layout = lay_out(
        [(one.name, group) for one in bare.attributes for group in one.groups],
        {name: parts for name, parts in crosses.items() if name in {one.name for one in bare.attributes}},
    )
    hidden = np.stack([_hide(bare, layout, site, smallest) for site in range(max(len(bare.sites), 1))])
    return Suppressed(_blank(bare, hidden, layout), tuple(_list_withheld(bare, hidden, layout, smallest)))


def _hide(tally: Tally, layout: Layout, site: int, smallest: int) -> Mask:
    """Settle which groups of a site are withheld, over all of their counts together."""
    cells = np.concatenate([one.counts[:, site] for one in tally.attributes], axis=1)
    values = np.moveaxis(cells, 1, 0).reshape(len(layout.keys), -1).astype(float)
    _refuse_small_site(tally, site, smallest)
    hidden = is_small(values, smallest).any(axis=1)
    while True:
        found = hidden.copy()
        for column in _list_sums(values):
            found |= withhold(Cells(column, layout.relations, np.ones(len(column), bool)), hidden, smallest)
        if (found == hidden).all():
            break
        hidden = found
    _refuse_exposed(tally, layout, values, hidden, site, smallest)
    return hidden


def _list_sums(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """List each count of the groups, and their records: a group whose own count is 0 still hides others."""
    everybody = values[:, :4].sum(axis=1)
    return [everybody, *(column for column in values.T if column.any())]


def _refuse_small_site(tally: Tally, site: int, smallest: int) -> None:
    """Refuse a site whose sums over all records are small: every group would have to be withheld."""
    total = tally.attributes[0].counts[:, site].sum(axis=1)
    places = np.argwhere(is_small(total.astype(float), smallest))
    if len(places):
        model, cell = places[0]
        what = ("true positives", "false positives", "false negatives", "true negatives")[cell]
        where = f"site {tally.sites[site]}" if tally.sites else "the cohort"
        raise InputError(
            f"{where} has fewer than {smallest} {what} under {tally.models[model].model} in all: nothing can "
            "be told of it; agree on a smaller --minimum, or leave it out"
        )


def _refuse_exposed(
    tally: Tally, layout: Layout, values: NDArray[np.float64], hidden: Mask, site: int, smallest: int
) -> None:
    """Refuse to write where no further group is left that could hide a small one."""
    everybody = Cells(values[:, :4].sum(axis=1), layout.relations, np.ones(len(hidden), bool))
    exposed = np.flatnonzero(find_determined(everybody, hidden) | _hide_few(layout, values, hidden, smallest))
    if len(exposed):
        attribute = layout.keys[exposed[0]][0]
        where = f"site {tally.sites[site]}" if tally.sites else "the cohort"
        raise InputError(
            f"{where}: of attribute {attribute} no group is left that could hide a small one; join groups in "
            "the cohort file, leave the attribute out, or agree on a smaller --minimum"
        )


def _hide_few(layout: Layout, values: NDArray[np.float64], hidden: Mask, smallest: int) -> Mask:
    """Tell which withheld groups hold, all of their attribute together, a small count."""
    few = np.zeros(len(hidden), bool)
    for attribute in layout.attributes:
        mine = hidden & _slice(layout, attribute)
        few |= mine & is_small(values[mine].sum(axis=0), smallest).any()
    return few


def _slice(layout: Layout, attribute: str) -> Mask:
    return np.array([name == attribute for name, _ in layout.keys])


def _blank(tally: Tally, hidden: Mask, layout: Layout) -> Tally:
    """Take the withheld groups out; they are listed apart, so that no zero stands for them."""
    return replace(tally, attributes=tuple(_blank_attribute(one, hidden, layout) for one in tally.attributes))


def _blank_attribute(one: TalliedAttribute, hidden: Mask, layout: Layout) -> TalliedAttribute:
    mine = hidden[:, _slice(layout, one.name)]
    told = ~mine.all(axis=0)  # a group that no site tells is not even named
    arrays = {
        each.name: np.where(
            mine.reshape(1, *mine.shape, *(1,) * (getattr(one.sites, each.name).ndim - 3)),
            0,
            getattr(one.sites, each.name),
        )[:, :, told]
        for each in fields(TalliedParts)
    }
    groups = tuple(group for group, keep in zip(one.groups, told, strict=True) if keep)
    parts = tuple(part for part, keep in zip(one.parts, told, strict=True) if keep) if one.parts else ()
    return replace(one, groups=groups, parts=parts, sites=TalliedParts(**arrays))


def _list_withheld(tally: Tally, hidden: Mask, layout: Layout, smallest: int) -> list[Withheld]:
    found = []
    for site in range(len(hidden)):
        for one in tally.attributes:
            mine = hidden[site, _slice(layout, one.name)]
            if mine.any():
                counts = one.counts[:, site]
                large = counts[0].sum(axis=-1) >= smallest
                names = tuple(one.groups[place] for place in np.flatnonzero(mine & large))
                name = tally.sites[site] if tally.sites else ""
                found.append(Withheld(name, one.name, names, counts[:, mine].sum(axis=1)))
    return found
