"""Where do the stays happen? Hospitals differ in volume, in rates of long stays and in their patients."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort.twins.people import People, allot, fit_table, joint_counts
from auditbook.cohort.twins.recipe import ETHNICITIES, HOSPITALS, RACES, Recipe


@dataclass(frozen=True)
class Hospitals:
    """The hospitals of the twin's world, largest first; arrays have one entry (row) a hospital."""

    volume: NDArray[np.floating]  # shape (n_hospitals,): Share of all records
    long_rate: NDArray[np.floating]  # shape (n_hospitals,): Share of the hospital's stays that are long
    # shape (n_hospitals, n_races * n_ethnicities): How strongly the hospital draws each race and ethnicity,
    # relative to the state
    mix: NDArray[np.floating]
    charge_level: NDArray[np.floating]  # shape (n_hospitals,): Factor on charges


def hospital_names() -> NDArray[np.object_]:
    """Return the identifiers H001 (largest) to H441."""
    return np.array([f"H{number:03d}" for number in range(1, HOSPITALS + 1)], dtype=object)


def make_hospitals(recipe: Recipe, rng: np.random.Generator) -> Hospitals:
    """Make the world's hospitals: fitted volumes and rates of long stays, planted mix and charges."""
    rank = (np.arange(HOSPITALS) + 0.5) / HOSPITALS
    volume = np.exp(np.stack([np.sqrt(rank), rank, rank**2, rank**3], axis=1) @ np.array(recipe.volume))
    volume *= joint_counts().sum() / volume.sum()
    race = np.exp(rng.normal(0.0, recipe.race_spread, (HOSPITALS, len(RACES), 1)))
    ethnicity = np.exp(rng.normal(0.0, recipe.ethnicity_spread, (HOSPITALS, 1, 1)) * np.array([0.5, -0.5]))
    return Hospitals(
        volume=volume / volume.sum(),
        long_rate=_draw_rates(volume, recipe, rng),
        mix=(race * ethnicity).reshape(HOSPITALS, -1),
        charge_level=np.exp(rng.normal(0.0, recipe.charge_level_spread, HOSPITALS)),
    )


def _draw_rates(
    volume: NDArray[np.floating], recipe: Recipe, rng: np.random.Generator
) -> NDArray[np.floating]:
    """Draw each hospital's kind, given its volume, and its rate of long stays, given its kind."""
    log_volume = np.log(volume / 1000.0)[:, None]
    kinds = recipe.hospital_kinds
    odds = np.exp(np.array([k.intercept for k in kinds]) + np.array([k.slope for k in kinds]) * log_volume)
    edges = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    kind = np.minimum((rng.random((HOSPITALS, 1)) > edges).sum(axis=1), len(kinds) - 1)
    mean, spread = np.array([k.mean for k in kinds])[kind], np.array([k.spread for k in kinds])[kind]
    return 1 / (1 + np.exp(-rng.normal(mean, spread)))


def assign_hospitals(people: People, hospitals: Hospitals, rng: np.random.Generator) -> NDArray[np.integer]:
    """Send every record to a hospital so that volumes, rates of long stays and groups all hold."""
    stratum = (people.long * len(RACES) + people.race) * len(ETHNICITIES) + people.ethnicity
    per_stratum = np.bincount(stratum, minlength=2 * hospitals.mix.shape[1])
    expected = _expected_records(per_stratum.reshape(2, -1).astype(float), hospitals)
    place = np.empty(len(stratum), dtype=np.int64)
    order = np.argsort(stratum, kind="stable")
    for members, share in zip(np.split(order, np.cumsum(per_stratum)[:-1]), expected, strict=True):
        if len(members):
            counts = allot(share, len(members))
            place[members] = rng.permutation(np.repeat(np.arange(HOSPITALS), counts))
    return place


def _expected_records(strata: NDArray[np.floating], hospitals: Hospitals) -> NDArray[np.floating]:
    """Fit records by stratum and hospital to both margins, shape (2 * n_mix, n_hospitals)."""
    by_stay = np.stack([1 - hospitals.long_rate, hospitals.long_rate]) * hospitals.volume
    by_stay *= strata.sum() / by_stay.sum()
    by_volume = by_stay.sum(axis=0)
    start = by_stay[:, None, :] * hospitals.mix.T[None, :, :] + 1e-9
    aggregates = [by_stay, by_volume, np.maximum(strata, 1e-9)]
    return fit_table(start, aggregates, [[0, 2], [2], [0, 1]]).reshape(-1, HOSPITALS)
