"""Where do the figures in the text about the verdict flip rate agree with this run's, and where not?"""

import math

import numpy as np
import pandas as pd

from auditbook.book.say.text import MISSING, count, number, read_layout
from auditbook.mitigation import AUDIT, SINGLE, kappa_column
from auditbook.results import Run, rows
from auditbook.studies.say.printed import MODELS, is_twin, read_statements
from auditbook.verdicts import list_n_star

Answers = dict[tuple[str, str], tuple[float, str]]
"""This run's figure and what to know of it, by the printed figure and its baseline."""

STATEMENT_COLUMNS = read_layout("studies", "published_statements.statement")
UNSTATED = "which resamples were drawn is not printed"
SMALL = "the smallest group sets it, and it is smaller here"
WHOLE = "the paper counts the whole as a size; here a size above half of the audit never counts"
NOT_B4 = "here of the model without intervention: axis 2 is not run again for every baseline"
UNEQUAL = "undefined: the folds all say the same, or cannot be judged"
NO_WEIGHTS = "no reweighed model was trained for the single split in this profile"
PRINTED_FOLD = 46_000
"""Records of a fold of hospitals in print."""


def compare_statements(run: Run) -> pd.DataFrame:
    """Set the figures that stand in the paper's text beside this run's."""
    table = read_statements()
    answers = _answer(run) if is_twin(run) else {}
    ours = [answers.get((row.figure, row.baseline), (math.nan, "")) for row in rows(table)]
    table = table.assign(ours=[value for value, _ in ours], note=[note for _, note in ours])
    table["printed"] = [_write(row.figure, row.value) for row in rows(table)]
    table["here"] = [_write(row.figure, row.ours) for row in rows(table)]
    return table


def _write(figure: str, value: float) -> str:
    """Write a number of cells as a count, points with two digits, and anything else with three."""
    if math.isnan(value):
        return MISSING
    if figure.startswith("cells "):
        return count(int(value))
    return number(value, digits=2 if figure.endswith("in points") else 3)


def _answer(run: Run) -> Answers:
    """Find this run's answers to the statements, by figure and baseline."""
    return _answer_flips(run) | _answer_sizes(run) | _answer_baselines(run) | _answer_sweeps(run)


def _answer_flips(run: Run) -> Answers:
    """Count flips over the published models, and look up those of the first model."""
    cells = run.verdicts[run.verdicts["model"].isin(MODELS.values())]
    judged = cells["vfr"].dropna()
    note = f"of {count(len(judged))} judged cells of {count(cells['model'].nunique())} models; {UNSTATED}"
    found = {
        ("cells reversed at least once of 336", "B1"): (float((judged > 0).sum()), note),
        ("cells with a flip rate above 0.10 of 336", "B1"): (float((judged > 0.10).sum()), note),
    }
    for cell in rows(cells[cells["model"] == "xgboost"]):
        small = f"; {SMALL}" if cell.attribute == "race" else ""
        why = cell.reason or f"the metric is {number(cell.estimate)} here{small}"
        found[(f"flip rate of {cell.metric} for {cell.attribute}", "B1")] = (float(cell.vfr), str(why))
    return found


def _answer_sizes(run: Run) -> Answers:
    """Count the cells of the first model that settle at some size."""
    sizes = run.audit_size[run.audit_size["model"] == "xgboost"]
    if sizes.empty:
        return {}
    settled = list_n_star(sizes, cv_stable=run.protocol.cv_stable)
    field = sum(n <= run.protocol.field_size for n in settled.values())
    wide = sizes[(sizes["n"] == 1_000) & (sizes["cv"] > 0.5)]
    judged = sizes.dropna(subset="mean").drop_duplicates(["metric", "attribute"])
    total = f"of {count(len(judged))} judged cells; {NOT_B4}"
    return {
        ("cells whose CV falls below 0.05 at a size of one site of 28", "B4"): (float(field), total),
        ("cells whose CV falls below 0.05 at the whole only of 28", "B4"): (math.nan, WHOLE),
        ("cells with CV above 0.50 at 1000 records of 28", "B4"): (float(len(wide)), total),
    }


def _answer_baselines(run: Run) -> Answers:
    """Look up kappa and flip rates of B3 and B4 on the single split."""
    cells = run.baseline_cells[run.baseline_cells["protocol"] == SINGLE]
    found = {
        (f"flip rate of {row.metric} for {row.attribute}", str(row.baseline)): (
            float(row.vfr),
            row.reason or f"the metric is {number(row.estimate)} here",
        )
        for row in rows(cells)
        if row.baseline in ("B3", "B4")
    }
    records = run.site_verdicts["n"].mean()
    folds = f"folds of {count(round(records, -2))} records on average, {count(PRINTED_FOLD)} in print"
    main = run.baselines[(run.baselines["protocol"] == SINGLE) & (run.baselines["sweep"] == "")]
    for row in main[main["baseline"] == "B4"].to_dict(orient="records"):
        for metric in run.protocol.metrics:
            kappa = row.get(kappa_column(metric), math.nan)
            found[(f"kappa of {metric}", "B4")] = (float(kappa), UNEQUAL if math.isnan(kappa) else folds)
    return found


def _answer_sweeps(run: Run) -> Answers:
    """Look up what the sweeps over strengths and headrooms reached."""
    single = run.baselines[(run.baselines["protocol"] == SINGLE) & (run.baselines["part"] == AUDIT)]
    weighed = single[(single["baseline"] == "B2") & single["di_age"].notna()]
    key = ("best DI for age over twenty further strengths of reweighing", "B2")
    found = {key: (math.nan, NO_WEIGHTS)}
    if len(weighed):
        strengths = ", ".join(f"{value:g}" for value in sorted(weighed["lambda"]))
        found[key] = (float(weighed["di_age"].max()), f"strengths trained in this run: {strengths}")
    for target in (0.80, 0.90):
        row = single[(single["baseline"] == "B4") & np.isclose(single["headroom"], target - 0.80)]
        if len(row):
            key = (f"accuracy cost at a DI target of {target:.2f} in points", "B4")
            found[key] = (float(row["accuracy_cost"].iloc[0]), str(row["note"].iloc[0]))
    return found
