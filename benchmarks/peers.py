"""Do the rules of other tools, as we write them, say what the tools say, and how much slower are the tools?

Every library that is installed reads some simulated boards. fairlearn and Aequitas come with the test set-up.
FairCareAI (`faircare`) asks for plotly below 7 and pyarrow below 24, which the locked versions are above, so
it needs an environment of its own. Run with

    OMP_NUM_THREADS=1 python benchmarks/peers.py [--boards 60] [--keep FILE]

`--keep` writes FairCareAI's flags, which a test holds ours against (tests/reference/faircare_flags.csv).
"""

import argparse
import logging
import sys
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from auditbook.evidence import prepare
from auditbook.studies.boards.peers import MEASURES, flag_board
from peer_libraries import flag_with_aequitas, flag_with_faircare, flag_with_fairlearn, list_boards

LIBRARIES = {
    "fairlearn": ("gap", flag_with_fairlearn),
    "aequitas": ("band", flag_with_aequitas),
    "faircareai": ("flags", flag_with_faircare),
}


def compare(name, boards):
    """Print how often a library and our form of its rule agree, and return what the library flags."""
    rule, flag = LIBRARIES[name]
    flag(boards[0])  # what is imported late does not count
    start = perf_counter()
    theirs = [flag(records) for records in boards]
    seconds = (perf_counter() - start) / len(boards)
    start = perf_counter()
    ours = [flag_board(prepare(records))[rule] for records in boards]
    own = (perf_counter() - start) / len(boards)
    same = sum(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    print(
        f"{name}: the same flags on {same} of {len(boards)} boards; {1_000 * seconds:.0f} ms a board, "
        f"all our rules together {1_000 * own:.0f} ms"
    )
    return theirs


def keep(path, boards, flags):
    """Write FairCareAI's flags, a row a board and attribute."""
    rows = [
        {"board": board, "attribute": attribute.name, **dict(zip(MEASURES["flags"], line, strict=True))}
        for board, (records, found) in enumerate(zip(boards, flags, strict=True))
        for attribute, line in zip(records.attributes, found.astype(int), strict=True)
    ]
    pd.DataFrame(rows).to_csv(path, index=False, lineterminator="\n")


def main():
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser()
    parser.add_argument("--boards", type=int, default=60)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    boards = list_boards(given.boards)
    for name in LIBRARIES:
        if find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        flags = compare(name, boards)
        if name == "faircareai" and given.keep:
            keep(given.keep, boards, flags)


if __name__ == "__main__":
    main()
