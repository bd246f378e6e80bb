"""Which models can be trained for an audit, and with which frozen configuration?"""

import importlib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError, nearest
from auditbook.project import project_file

FAMILIES = ("linear", "tree", "bagged trees", "boosted trees", "stack")
PACKAGES = {"sklearn": "scikit-learn", "xgboost": "xgboost", "lightgbm": "lightgbm", "catboost": "catboost"}
"""Distribution names of the libraries a model may come from, by the name they are imported under."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CLASS = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


@dataclass(frozen=True)
class ModelConfig:
    """The frozen configuration of one model of the panel."""

    name: str  # Name in cohort files and tables: small letters, digits, underscores
    title: str  # Name for readers
    family: str  # One of `FAMILIES`
    estimator: str  # Dotted name of the classifier's class
    scale: bool = False  # True when features are standardised on the training records first
    # Parameters of the class that receive the seed and the number of cores
    seed_key: str | None = None
    jobs_key: str | None = None
    members: tuple["ModelConfig", ...] = ()  # Models that a stack is made of; empty for every other model
    parameters: Mapping[str, Any] = field(default_factory=dict)  # Passed as they stand

    def __getstate__(self) -> dict[str, Any]:
        """Return what a worker is sent, which cannot be a read-only view."""
        return self.__dict__ | {"parameters": dict(self.parameters)}

    @property
    def packages(self) -> frozenset[str]:
        """Distribution names of the libraries that hold the class and those of the members."""
        own = PACKAGES[self.estimator.split(".")[0]]
        return frozenset({own}).union(*(member.packages for member in self.members))

    def describe(self) -> dict[str, Any]:
        """Return everything that determines the trained model, as plain values."""
        return {
            "name": self.name,
            "estimator": self.estimator,
            "scale": self.scale,
            "seed_key": self.seed_key,
            "members": [member.describe() for member in self.members],
            "parameters": dict(self.parameters),
        }


_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "title": ("a text", lambda value: isinstance(value, str) and bool(value.strip())),
    "family": (f"one of {', '.join(FAMILIES)}", lambda value: value in FAMILIES),
    "class": (
        f"the dotted name of a class of {', '.join(PACKAGES)}",
        lambda value: (
            isinstance(value, str) and bool(_CLASS.fullmatch(value)) and value.split(".")[0] in PACKAGES
        ),
    ),
    "scale": ("true or false", lambda value: isinstance(value, bool)),
    "seed_key": ("a text", lambda value: isinstance(value, str)),
    "jobs_key": ("a text", lambda value: isinstance(value, str)),
    "members": (
        "a list of two or more names, each once",
        lambda value: (
            isinstance(value, list)
            and all(isinstance(name, str) for name in value)
            and len(set(value)) > 1
            and len(set(value)) == len(value)
        ),
    ),
    "parameters": ("a table", lambda value: isinstance(value, dict)),
}
_REQUIRED = ("title", "family", "class")


def read_panel(path: Path | None = None) -> dict[str, ModelConfig]:
    """Read the configurations of all models that can be trained, by name and in the order of the file.

    The file is the project's ``data/panel.toml`` unless another is given. Raises InputError with every fault
    of it: not TOML, a name, key or value that is not allowed.

    Examples
    --------
    >>> read_panel()["xgboost"].parameters["n_estimators"]
    1000
    """
    path = path if path is not None else project_file("data", "panel.toml")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise InputError(f"{path.name} cannot be read as TOML: {fault}") from fault
    faults = [fault for name, table in content.items() for fault in _find_faults(name, table)]
    faults = faults or _find_member_faults(content)
    if faults:
        raise InputError(*(f"{path.name}: {fault}" for fault in faults))
    plain = {name: _make_config(name, table) for name, table in content.items()}
    return {
        name: replace(config, members=tuple(plain[member] for member in content[name].get("members", ())))
        for name, config in plain.items()
    }


def _find_member_faults(content: Mapping[str, Any]) -> list[str]:
    """List members of stacks that are no models, or stacks themselves."""
    single = [name for name, table in content.items() if "members" not in table]
    return [
        f"[{name}] members: '{member}' is no model of this file that could be a member"
        f"{nearest(member, single)}; allowed: {', '.join(single)}"
        for name, table in content.items()
        for member in table.get("members", ())
        if member not in single
    ]


def _find_faults(name: str, table: Any) -> list[str]:
    """List what is wrong with one table of the panel file."""
    if not isinstance(table, dict):
        return [f"'{name}' stands outside a table; a model is a table such as [logistic]"]
    faults = []
    if not _NAME.fullmatch(name):
        faults.append(f"[{name}]: a model's name has small letters, digits and underscores only")
    for key, value in table.items():
        if key not in _KINDS:
            faults.append(
                f"[{name}]: unknown key '{key}'{nearest(key, _KINDS)}; allowed: {', '.join(_KINDS)}"
            )
        elif not _KINDS[key][1](value):
            faults.append(f"[{name}] {key} must be {_KINDS[key][0]}, found {value!r}")
    faults += [f"[{name}] has no {key}" for key in _REQUIRED if key not in table]
    return faults


def _make_config(name: str, table: Mapping[str, Any]) -> ModelConfig:
    rest = {key: value for key, value in table.items() if key not in ("class", "members", "parameters")}
    parameters = MappingProxyType(dict(table.get("parameters", {})))
    return ModelConfig(name=name, estimator=table["class"], parameters=parameters, **rest)


def choose_models(names: Iterable[str], panel: Mapping[str, ModelConfig]) -> tuple[ModelConfig, ...]:
    """Look up the models that a cohort file asks for under ``[panel] models``, in that order.

    Raises InputError if a name is unknown (the nearest known one is named) or listed twice.

    Examples
    --------
    >>> [config.title for config in choose_models(["logistic"], read_panel())]
    ['Logistic regression']
    """
    names = tuple(names)
    faults = [
        f"[panel] models: unknown model '{name}'{nearest(name, panel)}; known: {', '.join(panel)}"
        for name in names
        if name not in panel
    ]
    twice = sorted({name for name in names if names.count(name) > 1})
    faults += [f"[panel] models: '{name}' is listed more than once; list it once" for name in twice]
    if faults:
        raise InputError(*faults)
    return tuple(panel[name] for name in names)


Folds = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Pairs of positions of training records: the rest, and the fold."""


def make_classifier(config: ModelConfig, *, seed: int, jobs: int, folds: Folds | None = None) -> Any:
    """Make an untrained classifier from its configuration."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    module, _, name = config.estimator.rpartition(".")
    parameters = dict(config.parameters)
    parameters |= {config.seed_key: seed} if config.seed_key else {}
    parameters |= {config.jobs_key: jobs} if config.jobs_key else {}
    if config.members:
        made = [(member.name, make_classifier(member, seed=seed, jobs=jobs)) for member in config.members]
        parameters |= {"estimators": made, "cv": folds}
    try:
        classifier = getattr(importlib.import_module(module), name)(**parameters)
    except (ImportError, AttributeError, TypeError) as fault:
        raise InputError(f"panel.toml: [{config.name}] cannot be made: {fault}") from fault
    return make_pipeline(StandardScaler(), classifier) if config.scale else classifier
