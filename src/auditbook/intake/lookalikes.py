"""Which names are probably two ways of writing one: by case, blanks, zeros, hyphens or Unicode form?"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"([+-]?)0*(\d+)(?:\.(\d*?)0*)?")
_DASH = re.compile(r"[_\-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_QUOTES = str.maketrans(dict.fromkeys("\u2018\u2019\u00b4`\u02bc\uff07", "'"))
_UNSEEN = str.maketrans(dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None))
_STOP = re.compile(r"(?<=[^\W\d_])\.(?!\d)")


@dataclass(frozen=True)
class AlikeNames:
    """Names that are probably one, the most frequent first."""

    names: tuple[str, ...]
    counts: tuple[int, ...]  # Records of each

    @property
    def joined(self) -> dict[str, str]:
        """What each of the others would be called."""
        return dict.fromkeys(self.names[1:], self.names[0])


def find_alike(counts: Mapping[str, int]) -> list[AlikeNames]:
    """Find the names that look alike, by number of records; of equal ones in order of name.

    >>> [alike.names for alike in find_alike({"10001": 5, "010001": 2, "10001.0": 1, "20": 4})]
    [('10001', '010001', '10001.0')]
    """
    by_key = defaultdict(list)
    for name in counts:
        by_key[simplify(name)].append(name)
    ranked = [sorted(names, key=lambda name: (-counts[name], name)) for names in by_key.values()]
    alike = [
        AlikeNames(tuple(names), tuple(counts[name] for name in names)) for names in ranked if len(names) > 1
    ]
    return sorted(alike, key=lambda each: (-sum(each.counts), each.names))


def simplify(name: str) -> str:
    """Reduce a name to what stays when case, blanks, hyphens, Unicode form and outer zeros are taken away.

    >>> [simplify(name) for name in (" St.  Mary's", "ST MARY'S", "010001", "10001.0", "0.50")]
    ["st mary's", "st mary's", '10001', '10001', '0.5']
    """
    if name.isascii() and name.isdigit() and name[0] != "0":
        return name
    return _take_but("", name) or name


def name_difference(names: Sequence[str]) -> str:
    """Say in what names that look alike differ.

    >>> name_difference(["White", "white "]), name_difference(["1", "01"])
    ('capitals and blanks', 'zeros')
    """
    return " and ".join(_list_differences(names)) or "signs"


def _list_differences(names: Sequence[str]) -> list[str]:
    """List what keeps the names apart when everything else that may differ is taken away."""
    return [word for word in _TAKEN if len({_take_but(word, name) for name in names}) > 1]


def _take_but(kept: str, name: str) -> str:
    """Take away all in which names may differ, but one."""
    for word, take in _TAKEN.items():
        name = name if word == kept else take(name)
    return name


def _plain_form(text: str) -> str:
    """Write text in one Unicode form, without signs that cannot be seen."""
    return unicodedata.normalize("NFKC", text).translate(_UNSEEN).translate(_QUOTES)


def _trim_zeros(text: str) -> str:
    """Take the outer zeros from a number; blanks around it stay."""
    number = _NUMBER.fullmatch(text.strip())
    return text if number is None else text.replace(text.strip(), _write_number(number))


def _write_number(number: re.Match[str]) -> str:
    """Write a number without outer zeros."""
    sign, whole, fraction = number.groups(default="")
    return sign.strip("+") + whole + (f".{fraction}" if fraction else "")


_TAKEN: dict[str, Callable[[str], str]] = {
    "Unicode form": _plain_form,
    "capitals": str.casefold,
    "zeros": _trim_zeros,
    "full stops": lambda text: _STOP.sub("", text),
    "hyphens": lambda text: text if _NUMBER.fullmatch(text.strip()) else _DASH.sub(" ", text),
    "blanks": lambda text: " ".join(text.split()),
}
