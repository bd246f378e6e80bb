"""Which blocks explain the links most briefly: a nested stochastic block model, fitted by graph-tool.

The only file that uses graph-tool. Its random numbers are global, so every fit has a process of its own, in
which it is seeded and told to use one thread: the result does not depend on the number of processors.
"""

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.pockets.leiden import part_once
from auditbook.workers import open_workers

FINE = 8.0
"""Resolution of the Leiden partition that a fast fit starts from."""
SWEEPS = 10
"""Sweeps of one round of a fast fit."""
ROUNDS = 50
"""Rounds of a fast fit at the most."""
GAIN = 1e-5
"""A fast fit ends when a round shortens the description by less than this share."""


@dataclass(frozen=True)
class BlockFit:
    """A hierarchy of blocks.

    Attributes
    ----------
    levels : tuple of int64 arrays, each of shape (n,)
        Block of each record, from the finest level to the coarsest; blocks nest.
    description_length : float
        Nats that describe the links and the hierarchy; less is better.
    lengths : tuple of float
        Those of all fits.
    """

    levels: tuple[NDArray[np.int64], ...]
    description_length: float
    lengths: tuple[float, ...]


def require_graph_tool() -> None:
    """Raise InputError when graph-tool is not there."""
    if find_spec("graph_tool") is None:
        raise InputError(
            '[pockets] partition: "sbm" and "tree_cut" need graph-tool, which is not installed; install '
            "Debian's package python3-graph-tool through `make setup`, or create the conda environment of "
            'environment.yml; or set partition = "leiden", which needs neither'
        )


def fit_blocks(
    links: NDArray[np.int32],
    n: int,
    *,
    start: Literal["fast", "published"] = "fast",
    fits: int = 3,
    seed: int,
    jobs: int = 1,
) -> BlockFit:
    """Fit the nested, degree-corrected stochastic block model, and keep the shortest description.

    Parameters
    ----------
    links : int32 array, shape (n_links, 2)
        Pairs of records.
    n : int
        Number of records.
    start : {"fast", "published"}
        "published" agglomerates from single records. "fast" starts from Leiden communities at a fine
        resolution, fits the upper levels on their block graph, and lets greedy merge-split sweeps over all
        levels shorten the description.
    fits : int
        Number of seeded fits.
    seed : int
        Seed of the first; each has its own.
    jobs : int
        Fits side by side; they do not change the result.

    Returns
    -------
    BlockFit
        The best; the first of equals.

    Raises
    ------
    InputError
        If graph-tool is not installed.

    References
    ----------
    Peixoto, T. P. (2014). Hierarchical block structures and high-resolution model selection in large
    networks. doi:10.1103/PhysRevX.4.011047
    """
    require_graph_tool()
    seeds = np.random.SeedSequence(seed).generate_state(fits).tolist()
    with open_workers(min(jobs, fits)) as pool:
        waiting = [pool.submit(fit_once, links, n, start, one) for one in seeds]
        found = [future.result() for future in waiting]
    lengths = tuple(length for _, length in found)
    levels, shortest = found[int(np.argmin(lengths))]
    return BlockFit(tuple(levels), shortest, lengths)


def fit_once(
    links: NDArray[np.int32], n: int, start: str, seed: int
) -> tuple[list[NDArray[np.int64]], float]:
    """Fit once, in a process that does nothing else: it seeds graph-tool for the whole process."""
    graph_tool, inference = _import_quietly()
    graph_tool.openmp_set_num_threads(1)
    graph_tool.seed_rng(seed)
    graph = graph_tool.Graph(directed=False)
    graph.add_vertex(n)
    graph.add_edge_list(links)
    if start == "published":
        state = inference.minimize_nested_blockmodel_dl(graph)
    else:
        state = _fit_fast(inference, graph, part_once(links, n, resolution=FINE, seed=seed))
    return _read_levels(state, n), float(state.entropy())


def _import_quietly() -> tuple[Any, Any]:
    """Import graph-tool without its remark that nothing can be drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import graph_tool
        import graph_tool.inference
    return graph_tool, graph_tool.inference


def _fit_fast(inference: Any, graph: Any, labels: NDArray[np.int64]) -> Any:
    """Start from communities, fit the levels above, then sweep over all until little is gained."""
    blocks = inference.BlockState(graph, b=labels, deg_corr=True)
    above = inference.minimize_nested_blockmodel_dl(
        blocks.get_bg(), state_args={"eweight": blocks.mrs, "deg_corr": False}
    )
    state = inference.NestedBlockState(graph, bs=[labels, *above.get_bs()], state_args={"deg_corr": True})
    before = state.entropy()
    for _ in range(ROUNDS):
        state.multiflip_mcmc_sweep(beta=np.inf, niter=SWEEPS)
        after = state.entropy()
        if before - after < GAIN * abs(before):
            break
        before = after
    return state


def _read_levels(state: Any, n: int) -> list[NDArray[np.int64]]:
    """Read the block of each record at every level, the finest first."""
    levels, labels = [], np.arange(n)
    for above in state.get_bs():
        labels = np.asarray(above)[labels]
        _, labels_from_0 = np.unique(labels, return_inverse=True)
        levels.append(labels_from_0.astype(np.int64))
    return levels
