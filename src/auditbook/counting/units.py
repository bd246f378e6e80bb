"""How do all records of a unit, such as a patient, come into one part, in bounded memory?

The rows are written into as many files as there are parts, each row into the file that its unit's name says.
"""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import CohortFile, join_sites, name_units
from auditbook.tables import PlainTable, hash_text, join_tables, mix

PARTS = 64
"""Parts that the units of a cohort are divided into (ours): of a hundred million rows each holds 1.6."""


def has_units(file: CohortFile) -> bool:
    """Tell whether a column other than the site names units, whose records belong together."""
    return file.unit.names not in ((), (file.site.column,))


def divide_units(file: CohortFile, tables: Iterable[PlainTable], folder: Path, *, parts: int = PARTS) -> None:
    """Write the rows of some tables into one file a part; the records of one unit are in one of them."""
    with ExitStack() as stack:
        streams = [stack.enter_context((folder / f"part-{at}").open("wb")) for at in range(parts)]
        for table in tables:
            place = _place_units(file, table.frame, parts)
            for at in np.unique(place).tolist():
                rows = table.frame[place == at].reset_index(drop=True)
                pickle.dump(PlainTable(rows, table.categories), streams[at], protocol=5)


def _place_units(file: CohortFile, frame: pd.DataFrame, parts: int) -> NDArray[np.intp]:
    """Choose the part of each row by its unit's name."""
    names = name_units(join_sites(file, frame), file.unit.names)
    return (mix(hash_text(names)) % np.uint64(parts)).astype(np.intp)


def list_parts(folder: Path) -> list[Path]:
    """List the files that hold rows."""
    return sorted(path for path in folder.glob("part-*") if path.stat().st_size)


def read_units(path: Path) -> PlainTable:
    """Read the rows of one part."""
    tables = list(_each_table(path))
    return join_tables([path] * len(tables), tables)


def _each_table(path: Path) -> Iterator[PlainTable]:
    with path.open("rb") as stream:
        while stream.peek(1):
            yield pickle.load(stream)
