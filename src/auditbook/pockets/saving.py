"""How is a frozen map kept: arrays in one file, nothing that could run, and a hash that names it."""

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.pockets.centres import CentreRule, load_centres
from auditbook.pockets.frozen import FrozenMap, Rule
from auditbook.pockets.profiles import ForestRule, load_profiles

FORMAT = "auditbook map 1"
"""First word of every saved map."""

DAMAGE = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, OSError, EOFError),
    *(BadZipFile, zlib.error, NotImplementedError),
)
"""What reading a file that is no saved map can come to."""

Arrays = dict[str, NDArray[Any]]

RULES: dict[str, tuple[type, Callable[[Mapping[str, NDArray[Any]]], Rule]]] = {
    "profiles": (ForestRule, load_profiles),
    "centres": (CentreRule, load_centres),
}
"""Rules that can be saved: their type, and what rebuilds them."""


def save_map(frozen: FrozenMap, path: Path) -> None:
    """Save a forest or ridge map as a compressed file of arrays (``.npz``), always with the same bytes."""
    arrays: Arrays = {f"rule_{name}": values for name, values in frozen.rule.arrays().items()}
    words = {
        "format": FORMAT,
        "rule": _rule_kind(frozen.rule),
        "name": frozen.name,
        "pockets": list(frozen.pockets),
        "titles": list(frozen.titles),
        "descriptions": list(frozen.descriptions),
        "provenance": dict(frozen.provenance),
    }
    arrays["words"] = np.array(json.dumps(words, sort_keys=True))
    arrays["n_discovery"], arrays["mean_outcome"] = frozen.n_discovery, frozen.mean_outcome
    if frozen.fidelity is not None:
        arrays["fidelity"] = frozen.fidelity
    with Path(path).open("wb") as file:
        np.savez_compressed(file, **arrays)


def _rule_kind(rule: Rule) -> str:
    for kind, (of_type, _) in RULES.items():
        if isinstance(rule, of_type):
            return kind
    raise TypeError(f"a rule of type {type(rule).__name__} cannot be saved")


def load_map(path: Path) -> FrozenMap:
    """Load a map that `save_map` saved; it assigns records as that one did.

    Raises InputError if the file is not there, is damaged, or is no saved map.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return _rebuild(arrays)
    except FileNotFoundError as wrong:
        raise InputError(f"{path}: no such file") from wrong
    except DAMAGE as wrong:
        raise InputError(f"{path}: is damaged, or no map that auditbook saved; save the map again") from wrong


def _rebuild(arrays: Arrays) -> FrozenMap:
    """Build a map from the arrays of its file."""
    words = json.loads(str(arrays.pop("words")))
    if words["format"] != FORMAT:
        raise ValueError("another format")
    rule = RULES[words["rule"]][1](
        {name.removeprefix("rule_"): values for name, values in arrays.items() if name.startswith("rule_")}
    )
    sizes, means = arrays["n_discovery"], arrays["mean_outcome"]
    if not len(words["pockets"]) == rule.n_pockets == len(sizes) == len(means):
        raise ValueError("pockets do not fit the rule")
    return FrozenMap(
        words["name"],
        rule,
        tuple(words["pockets"]),
        sizes,
        means,
        tuple(words["titles"]),
        tuple(words["descriptions"]),
        arrays.get("fidelity"),
        words["provenance"],
    )


def digest_map(frozen: FrozenMap) -> str:
    """Hash what decides where a record goes; words that describe the pockets play no part."""
    digest = hashlib.sha256(json.dumps([frozen.name, *frozen.pockets]).encode())
    for name, values in sorted(frozen.rule.arrays().items()):
        held = np.ascontiguousarray(values)
        digest.update(json.dumps([name, held.dtype.str, list(held.shape)]).encode())
        digest.update(held.tobytes())
    return digest.hexdigest()
