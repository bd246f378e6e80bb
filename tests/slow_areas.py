"""Areas under the ROC curve and their covariance, written out pair by pair."""

import numpy as np


def slow_influence(outcome, values, of_event, of_other):
    """Area of the events and non-events chosen by masks, what each adds, their numbers, which."""
    outcome, values = np.asarray(outcome), np.asarray(values, float)
    events = np.flatnonzero((outcome == 1) & of_event)
    others = np.flatnonzero((outcome == 0) & of_other)
    kernel = np.array([[(s > t) + (s == t) / 2 for t in values[others]] for s in values[events]])
    kernel = kernel.reshape(len(events), len(others))
    moved = np.zeros((2, len(outcome)))
    if not kernel.size:
        return np.nan, moved, (len(events), len(others)), (events, others)
    area = kernel.mean()
    moved[0, events] = (kernel.mean(axis=1) - area) / len(events)
    moved[1, others] = (kernel.mean(axis=0) - area) / len(others)
    return area, moved, (len(events), len(others)), (events, others)


def slow_covariance(found):
    """DeLong's covariance of several areas, from what `slow_influence` gives for each."""
    count = len(found)
    covariance = np.zeros((count, count))
    for side in (0, 1):
        scale = [
            np.sqrt(sizes[side] / (sizes[side] - 1)) if sizes[side] > 1 else np.nan
            for _, _, sizes, _ in found
        ]
        for i in range(count):
            for j in range(count):
                product = float(found[i][1][side] @ found[j][1][side])
                covariance[i, j] += product * scale[i] * scale[j]
    return covariance


def slow_site_covariance(found, site):
    """Covariance of several areas with sites as the units: each part over the share without the site."""
    rows = []
    for _, moved, sizes, records in found:
        row = np.zeros(site.max() + 1)
        for side in (0, 1):
            where = site[records[side]]
            count = len(set(where))
            for one in set(where):
                left = 1 - np.sum(where == one) / sizes[side]
                row[one] += np.sqrt((count - 1) / count) * moved[side][site == one].sum() / left
        rows.append(row)
    return np.array(rows) @ np.array(rows).T


def jackknife(measure, site):
    """How far numbers move when one site is left out, shape (n_sites, ...); `measure` takes a mask."""
    return np.array([measure(np.ones(len(site), bool)) - measure(site != one) for one in np.unique(site)])


def draw_sites(rng, n, n_sites):
    """Draw sites of lognormal size, the site of each record, none empty."""
    size = np.exp(rng.normal(size=n_sites))
    return np.unique(rng.choice(n_sites, n, p=size / size.sum()), return_inverse=True)[1]


def draw_audit(rng, n, n_groups, *, ties=True, lift=0.8):
    """Draw outcomes, scores and groups of unequal size and event rate."""
    share = np.arange(1, n_groups + 1) / (n_groups * (n_groups + 1) / 2)
    codes = rng.choice(n_groups, n, p=share)
    outcome = (rng.random(n) < 0.25 + 0.4 * codes / n_groups).astype(int)
    values = rng.normal(size=n) + lift * outcome + 0.3 * codes
    return outcome, np.round(values, 1) if ties else values, codes
