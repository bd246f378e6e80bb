"""Which words say that nothing is known: marks such as NA in a cell, and names such as "declined" of a group?

Six languages are known: English, French, German, Italian, Portuguese and Spanish. Words are compared without
accents, capitals and marks between them.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable

MARKS = frozenset(
    "? ?? - -- --- . .. * ** n/a na nan null nd nr ns #n/a #n/d #null! #value! #ref! (null) "
    "\\n <na> <null> k.a. n.a. n.d. n.v. s/d s.d. s/i n/d n/r nsp".split()
)
"""Marks of spreadsheets, databases and statistics packages for an empty cell, in lower case."""

_NAMES = (
    # English
    r"unknown|unk|unkn|not known|missing|blank|undisclosed|not disclosed|withheld|unavailable"
    r"|not (available|stated|reported|recorded|specified|given|provided|asked|collected|obtained|answered)"
    r"|unspecified|unrecorded|unreported|unanswered|no (answer|response|information|data|record)"
    r"|declined|declines|refused|refuses|refusal|prefers? not|chose not|chooses not"
    r"|unable to (obtain|determine|answer|collect)|could not be obtained|do(es)? not know|don t know"
    r"|not sure|(cannot|to) be determined|utd|tbd"
    # French
    r"|inconnue?s?|non (renseignee?s?|precisee?s?|specifiee?s?|disponibles?"
    r"|communiquee?s?|declaree?s?|connue?s?)"
    r"|refus|refuse de repondre|ne sait pas|nsp|sans reponse|pas de reponse|manquante?s?|aucune donnee"
    # German
    r"|unbekannte?[rs]?|nicht (bekannt|angegeben|erhoben|erfasst|verfugbar|dokumentiert|zu ermitteln)"
    r"|(keine|ohne) (angaben?|antwort|daten)|verweigert|fehlend(er wert)?|weiss nicht"
    # Italian
    r"|sconosciut[oaie]|ignot[oaie]|non (not[oaie]|rilevat[oaie]|specificat[oaie]|dichiarat[oaie]"
    r"|disponibil[ei]|indicat[oaie]|pervenut[oaie]|risponde|sa)|rifiut(a|ato|ata)|mancante|nessuna risposta"
    # Portuguese and Spanish
    r"|desconocid[oa]s?|desconhecid[oa]s?|ignorad[oa]s?|se ignora|nao sabe|no sabe|no contesta|no responde"
    r"|(nao|no) (informad[oa]|declarad[oa]|especificad[oa]|disponivel|disponible|consta|registrad[oa]"
    r"|preenchid[oa]|respondeu|respondio|identificad[oa])"
    r"|sem (informacao|dados?|resposta|registro|declaracao)"
    r"|sin (informacion|datos?|respuesta|especificar|registro)"
    r"|recus(ou|ado|ada)|se nego|rehus[ao]|prefiere no|prefere nao|ns nc|nsnc"
)
_NAMING = re.compile(rf"(?<![a-z])({_NAMES})(?![a-z])")
_PEOPLE = re.compile(
    r"(?<![a-z])(others?|autres?|andere|outr[oa]s?|otr[oa]s?|altr[oie]|multi\w*|mixed)(?![a-z])"
)


def is_mark(text: str) -> bool:
    """Tell whether a cell holds a mark for nothing known, such as NA, ? or #N/A.

    Examples
    --------
    >>> is_mark("N/A"), is_mark("k. A."), is_mark("Narrow")
    (True, True, False)
    """
    return "".join(text.split()).casefold() in MARKS


def names_missing(text: str) -> bool:
    """Tell whether the name of a group or site says that nothing is known; joined with others it does not.

    Examples
    --------
    >>> names_missing("PATIENT DECLINED TO ANSWER"), names_missing("Keine Angabe"), names_missing("(missing)")
    (True, True, True)
    >>> names_missing("Other or unknown"), names_missing("Nordic")
    (False, False)
    """
    plain = _plain(text)
    return bool(_NAMING.search(plain)) and not _PEOPLE.search(plain)


def _plain(text: str) -> str:
    """Return text in lower case without accents, every mark between words a blank."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(part for part in parts if not unicodedata.combining(part))
    return re.sub(r"[\W_]+", " ", letters).strip()


def tell_named_missing(groups: Iterable[str], attribute: str, *, write: Callable[[str], str] = str) -> str:
    """Say of which groups the name tells that nothing is known, names by `write`; blank where there is none.

    Examples
    --------
    >>> tell_named_missing(["White", "declined"], "race")
    'declined says that nothing is known of race: a missing value with a name, not a people.'
    """
    named = [write(group) for group in dict.fromkeys(groups) if names_missing(group)]
    what = f"that nothing is known of {write(attribute)}"
    if not named:
        return ""
    if len(named) == 1:
        return f"{named[0]} says {what}: a missing value with a name, not a people."
    return f"{', '.join(named[:-1])} and {named[-1]} say {what}: missing values with names, not peoples."
