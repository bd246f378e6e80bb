"""What would an audit of two classifiers of chest X-rays look like? A synthetic twin, without any image.

No record here is a person, and no image exists. `chest_xray_table` has one row an image and one image a
patient, with embeddings as a network would give them, and shows what a pocket audit of two recalibrated
classifiers of effusion found in ChestX-ray14: no overall error, far too low in a few images, too high at the
bedside. Constants and where each comes from stand in ``data/twins/chest-xray-twin.toml``.

How a record is drawn:

- Kind of image, never shown: eleven; a kind has its own share, view (AP, mostly at the bedside, or PA), sex
  and age.
- Directions: a point around the centre of its kind, in six dimensions of which the first is severity. Centres
  are the same for every seed.
- Embeddings: each column is a fixed mixture of the six directions, cut off at zero as the last layer of such
  networks does, plus noise. They hold kind and severity and nothing else: sex, age and view are in them only
  as far as kinds differ.
- Effusion: log odds of the kind's risk plus severity. What the label stands for is a report, not a scan.
- Outputs of the classifiers: true log odds plus a shift of the kind plus noise, on a scale of their own. Sex,
  age and view play no part in label or outputs beyond the kind (assumed: no gap between sexes was flagged).

*Built in* are the shares of the two kinds with an error and its size after recalibration, the views, and that
women are more often in kinds with few effusions. That no overall error is left comes out of the
recalibration. Which pockets are found, what is flagged in them and which comparisons have support comes out
of the audit.

References
----------
Wang, X. et al. (2017). ChestX-ray8. doi:10.1109/CVPR.2017.369
Cohen, J. P. et al. (2022). TorchXRayVision. Proceedings of Machine Learning Research 172, 231-249.
"""

import tomllib
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.twins.sizes import check_size
from auditbook.project import project_file

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

FULL_SIZE = 30_805
AGE_SPREAD = 15.0


@dataclass(frozen=True)
class ImageKind:
    """A kind of image, which the table does not show."""

    name: str  # What it stands for
    share: float  # Share of the images
    risk: float  # Probability of effusion at severity 0
    ap: float  # Probability of an anteroposterior view
    female: float  # Probability of a woman
    age: float  # Mean age in years
    shift: float  # What both classifiers add to the log odds


@dataclass(frozen=True)
class Classifier:
    """How a classifier's raw output comes from the log odds."""

    offset: float  # Log odds that are added
    scale: float  # What log odds are multiplied by
    noise: float  # SD of what it sees beside kind and severity


@dataclass(frozen=True)
class Recipe:
    """The constants of ``data/twins/chest-xray-twin.toml``."""

    kinds: tuple[ImageKind, ...]
    classifiers: dict[str, Classifier]  # By the name of the column
    embeddings: int  # Columns
    dimensions: int  # Directions along which they vary
    world_seed: int  # Of centres and mixtures
    spread: float  # SD of the centres, per direction
    noise: float  # SD of an embedding around what the directions say
    severity: float  # Change of the log odds per SD of severity


@dataclass(frozen=True)
class World:
    """What is the same for every seed."""

    centres: Array  # shape (n_kinds, dimensions): Centre of each kind; severity is 0 in all
    mixture: Array  # shape (dimensions, embeddings): What each column takes of each direction
    level: Array  # shape (embeddings,): Where it lies


@cache
def read_recipe() -> Recipe:
    """Read the constants."""
    with project_file("data", "twins", "chest-xray-twin.toml").open("rb") as source:
        said = tomllib.load(source)
    return Recipe(
        kinds=tuple(ImageKind(**kind) for kind in said["kinds"]),
        classifiers={name: Classifier(**item) for name, item in said["classifiers"].items()},
        **{name: said[name] for name in ("embeddings", "dimensions", "world_seed")},
        **{name: said[name] for name in ("spread", "noise", "severity")},
    )


def make_world(recipe: Recipe) -> World:
    """Draw the centres of the kinds and the mixtures of the embeddings."""
    rng = np.random.default_rng(recipe.world_seed)
    centres = rng.normal(0, recipe.spread, (len(recipe.kinds), recipe.dimensions))
    centres[:, 0] = 0.0
    mixture = rng.normal(0, 1 / np.sqrt(recipe.dimensions), (recipe.dimensions, recipe.embeddings))
    return World(centres, mixture, rng.normal(0.5, 0.5, recipe.embeddings))


def chest_xray_table(*, rows: int = FULL_SIZE, seed: int = 42) -> pd.DataFrame:
    """Draw the chest X-ray twin.

    References
    ----------
    Wang et al. (2017), doi:10.1109/CVPR.2017.369
    """
    check_size("chest-xray-twin", rows=rows, seed=seed)
    rng, recipe = np.random.default_rng(seed), read_recipe()
    kind = draw_kinds(rows, recipe, rng)
    severity = rng.normal(size=rows)
    log_odds = _log_odds(_by_kind(recipe, "risk"))[kind] + recipe.severity * severity
    people = pd.DataFrame(
        {
            "image_id": np.array([f"X{number:06d}" for number in range(1, rows + 1)], dtype=object),
            "sex": np.where(rng.random(rows) < _by_kind(recipe, "female")[kind], "Female", "Male"),
            "age": np.clip(rng.normal(_by_kind(recipe, "age")[kind], AGE_SPREAD).round(), 1, 95),
            "view": np.where(rng.random(rows) < _by_kind(recipe, "ap")[kind], "AP", "PA"),
            "effusion": (rng.random(rows) < _chance(log_odds)).astype(np.int64),
            **_draw_outputs(kind, log_odds, recipe, rng),
        }
    ).astype({"sex": object, "view": object, "age": np.int64})
    return pd.concat([people, _draw_embeddings(kind, severity, recipe, rng)], axis=1)


def draw_kinds(rows: int, recipe: Recipe, rng: np.random.Generator) -> Codes:
    """Draw the kind of each image."""
    return rng.choice(len(recipe.kinds), size=rows, p=_by_kind(recipe, "share"))


def _by_kind(recipe: Recipe, what: str) -> Array:
    """List a constant of every kind."""
    return np.array([getattr(kind, what) for kind in recipe.kinds], dtype=np.float64)


def _log_odds(probability: Array) -> Array:
    return np.asarray(np.log(probability / (1 - probability)))


def _chance(log_odds: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _draw_outputs(kind: Codes, log_odds: Array, recipe: Recipe, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the raw outputs of the classifiers."""
    seen = log_odds + _by_kind(recipe, "shift")[kind]
    return {
        name: _chance(one.offset + one.scale * (seen + rng.normal(0, one.noise, len(seen)))).round(5)
        for name, one in recipe.classifiers.items()
    }


def _draw_embeddings(kind: Codes, severity: Array, recipe: Recipe, rng: np.random.Generator) -> pd.DataFrame:
    """Mix the directions into columns; never below zero."""
    world = make_world(recipe)
    place = world.centres[kind] + rng.normal(size=(len(kind), recipe.dimensions))
    place[:, 0] = severity
    noise = rng.normal(0, recipe.noise, (len(kind), recipe.embeddings))
    values = np.maximum(place @ world.mixture + world.level + noise, 0.0).round(3)
    return pd.DataFrame(values, columns=[f"emb_{number:03d}" for number in range(recipe.embeddings)])
