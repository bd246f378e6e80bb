"""Which columns are named like what is known only when a stay has ended, or after it?"""

from collections.abc import Iterable

from auditbook.intake.lexicon import find_layout, fit_name, split_name

_BEFORE = frozenset(
    "pre prior previous before past last tm1 lag baseline history hist avant vorher anterior previo "
    "precedente prec admission admit aufnahme ingreso".split()
)
_MONEY = frozenset(
    "charge charges cost costs cout couts kosten coste costo costes costi custo custos tarif tariffa".split()
)
_WHOLE = frozenset(
    "total totals all hospital stay visit encounter amount sum net gross usd eur billed facility of the in "
    "de du des del da do gesamt totale totaux totales sejour aufenthalt estancia ricovero internacao code "
    "group drg t".split()
)


def ends_a_stay(name: str) -> bool:
    """Tell whether a name is that of something known only at the end of a stay, in one of six languages.

    Of money only what a whole stay costs: what one kind of care costs may well be of the year before.

    >>> [ends_a_stay(name) for name in ("Entlassungsart", "charges", "cost_pharmacy", "pre_icu_los")]
    [True, True, False, False]
    """
    words = set(split_name(name))
    if words & _BEFORE or (words & _MONEY and words - _MONEY - _WHOLE):
        return False
    return bool(fit_name(name, "late", barred="late") or fit_name(name, "stay", barred="stay"))


def find_known_late(columns: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Find what the layout of a public table says to be known after the outcome, and at the end of a stay.

    Both by column, with the name of the layout; nothing of a table that has no known one.
    """
    listed = list(columns)
    layout = find_layout(listed)
    if layout is None:
        return {}, {}
    names = {name.strip().casefold(): name for name in listed}
    after, late = (
        {names[each]: layout.title for each in layout.names(role) if each in names}
        for role in ("after", "late")
    )
    return after, late
