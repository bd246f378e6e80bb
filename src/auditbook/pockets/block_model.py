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
from auditbook.pockets.leiden import part_nested
from auditbook.workers import open_workers

COARSEST, FINEST = 4.0, 4096.0
"""Resolutions of the Leiden partition that a fast fit may start from; each is twice the one before."""
STEP = 4.0
"""What the resolution is divided by from one level of the start to the next."""
SWEEPS = 10
"""Sweeps of one round of a fast fit."""
ROUNDS = 60
"""Rounds of a fast fit at the most."""
VISITS = 1_400_000
"""Records that a fast fit visits at the most, in all its sweeps: about 50 seconds (ours)."""
GAIN = 2e-4
"""A fast fit ends when a round shortens the description by less than this share."""
SINGLE = 100
"""Weight of moving one record in a sweep, where merging, splitting and both at once weigh 1 each."""


@dataclass(frozen=True)
class BlockFit:
    """A hierarchy of blocks."""

    # shape (n,): Block of each record, from the finest level to the coarsest; blocks nest
    levels: tuple[NDArray[np.int64], ...]
    description_length: float  # Nats that describe the links and the hierarchy; less is better
    lengths: tuple[float, ...]  # Those of all fits


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
        Pairs of the `n` records.
    start : {"fast", "published"}
        "published" agglomerates from single records. "fast" starts from nested Leiden communities, and lets
        greedy merge-split sweeps over all levels shorten the description. Its resolution is the one after
        that of the shortest start: blocks are merged more easily than split.
    fits, seed, jobs : int
        Number of fits, each with a seed of its own from `seed` on; `jobs` side by side change no result.

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
    with open_workers(max(min(jobs, fits), 1)) as pool:
        fine = pool.submit(choose_resolution, links, n, seeds[0]).result() if start == "fast" else None
        waiting = [pool.submit(fit_once, links, n, fine, one) for one in seeds]
        found = [future.result() for future in waiting]
    lengths = tuple(length for _, length in found)
    levels, shortest = found[int(np.argmin(lengths))]
    return BlockFit(tuple(levels), shortest, lengths)


def choose_resolution(links: NDArray[np.int32], n: int, seed: int) -> float:
    """Find the resolution that fast fits start from, in a process that does nothing else."""
    inference, graph = _open_graph(links, n, seed)
    resolution, shortest = COARSEST, np.inf
    while resolution < FINEST:
        length = _start_fast(inference, graph, links, resolution, seed).entropy()
        if length >= shortest:
            break
        resolution, shortest = 2 * resolution, length
    return resolution


def fit_once(
    links: NDArray[np.int32], n: int, fine: float | None, seed: int
) -> tuple[list[NDArray[np.int64]], float]:
    """Fit once, in a process that does nothing else: it seeds graph-tool for the whole process."""
    inference, graph = _open_graph(links, n, seed)
    if fine is None:
        state = inference.minimize_nested_blockmodel_dl(graph)
    else:
        rounds = min(ROUNDS, max(VISITS // (SWEEPS * n), 1))
        state = _sweep(_start_fast(inference, graph, links, fine, seed), rounds)
    return _read_levels(state, n), float(state.entropy())


def _open_graph(links: NDArray[np.int32], n: int, seed: int) -> tuple[Any, Any]:
    """Seed graph-tool, hold it to one thread, and build the graph."""
    graph_tool, inference = _import_quietly()
    graph_tool.openmp_set_num_threads(1)
    graph_tool.seed_rng(seed)
    graph = graph_tool.Graph(directed=False)
    graph.add_vertex(n)
    graph.add_edge_list(links)
    return inference, graph


def _import_quietly() -> tuple[Any, Any]:
    """Import graph-tool without its remark that nothing can be drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import graph_tool
        import graph_tool.inference
    return graph_tool, graph_tool.inference


def _start_fast(inference: Any, graph: Any, links: NDArray[np.int32], resolution: float, seed: int) -> Any:
    """Take nested communities for the blocks of all levels."""
    blocks = part_nested(links, graph.num_vertices(), resolution=resolution, step=STEP, seed=seed)
    return inference.NestedBlockState(graph, bs=blocks, state_args={"deg_corr": True})


def _sweep(state: Any, rounds: int) -> Any:
    """Sweep greedily over all levels, in a fixed order, until little is gained or the rounds are over."""
    before = state.entropy()
    for _ in range(rounds):
        state.multiflip_mcmc_sweep(beta=np.inf, niter=SWEEPS, psingle=SINGLE, ls_shuffle=False)
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
