"""Where are the scores cut into bins of a model whose scores only order records: at a sample of them?"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort import CohortFile, ScoreTable
from auditbook.counting.part import Edges
from auditbook.evidence import cut_ranks
from auditbook.tables import ChunkedTable, as_numbers, hash_numbers

SAMPLE = 100_000
"""Rows whose scores say where the bins are cut (ours): a hundred or so a bin."""


def list_ranks(file: CohortFile) -> tuple[ScoreTable, ...]:
    """List the scores that only order records."""
    return tuple(score for score in file.scores if score.kind == "rank")


def cut_edges(file: CohortFile, table: ChunkedTable) -> Edges:
    """Cut the scores that only order records at those of a sample of rows.

    A row is in the sample by a mixture of its number, whatever it holds and whatever the parts are.
    """
    ranks = list_ranks(file)
    if not ranks:
        return {}
    held = np.empty((0, len(ranks))), np.empty(0, np.uint64)
    for values, first in _each_values(ranks, table):
        key = hash_numbers(np.arange(first, first + len(values)))
        values, key = np.concatenate([held[0], values]), np.concatenate([held[1], key])
        chosen = np.argpartition(key, SAMPLE)[:SAMPLE] if len(key) > SAMPLE else np.arange(len(key))
        held = values[chosen], key[chosen]
    return {
        score.name: cut_ranks(np.sort(column[np.isfinite(column)]))
        for score, column in zip(ranks, held[0].T, strict=True)
    }


def _each_values(
    ranks: Sequence[ScoreTable], table: ChunkedTable
) -> Iterator[tuple[NDArray[np.float64], int]]:
    """Read the scores part by part, each with the number of rows before it."""
    first = 0
    for chunk in table.each_chunk():
        for part in chunk.each_table():
            columns = [score.turn(as_numbers(part.frame[score.column]).cells) for score in ranks]
            yield np.stack(columns, axis=1), first
            first += len(part.frame)
