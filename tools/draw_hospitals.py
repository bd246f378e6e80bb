"""What does a forest plot of three invented hospitals look like?

Draws the figure of book/several-hospitals.md from records that are nobody's:

    .venv/bin/python tools/draw_hospitals.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from auditbook.book.draw.forest import draw_forest
from auditbook.evidence import add_tallies, tally_records
from auditbook.pooling import tabulate_hospitals
from auditbook.records import Attribute, AuditRecords, Score

FIGURE = Path(__file__).resolve().parents[1] / "book" / "several-hospitals.svg"
SIZES = {"A": 2400, "B": 1500, "C": 900}


def draw_hospital(name: str, size: int, rng: np.random.Generator) -> AuditRecords:
    """Draw one hospital: 35 % events, and scores that are 0.08 lower for Black patients."""
    outcome = rng.binomial(1, 0.35, size).astype(np.int8)
    race = rng.choice(3, size, p=[0.2, 0.25, 0.55])
    score = np.clip(0.3 + 0.3 * outcome - 0.08 * (race == 1) + rng.normal(0, 0.2, size), 0.001, 0.999)
    attribute = Attribute("race", ("Asian", "Black", "White"), race, "White")
    scores = (Score("risk", "probability", 0.5, score),)
    return AuditRecords(outcome, (attribute,), scores, site=np.zeros(size, int))


def main() -> None:
    """Draw the difference in TPR of Black and White patients."""
    rng = np.random.default_rng(1)
    tallies = [tally_records(draw_hospital(name, n, rng), sites=[name]) for name, n in SIZES.items()]
    hospitals, means = tabulate_hospitals(add_tallies(tallies))
    chosen = {"rate": "TPR", "group": "Black"}
    rows, mean = (
        table[(table[list(chosen)] == list(chosen.values())).all(axis=1)] for table in (hospitals, means)
    )
    print(rows.round(3).to_string(), mean.round(3).T.to_string(), sep="\n")
    with plt.rc_context({"svg.hashsalt": "auditbook", "svg.fonttype": "none"}):
        draw_forest(rows, mean.iloc[0]).figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
