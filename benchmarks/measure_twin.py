"""Measure how near the synthetic twin comes to the published figures, models included, and write it down.

Run from the clone: ``python benchmarks/measure_twin.py``. It trains the canonical model on 80,000 records,
twice (with and without what is known only at the end of a stay), writes
``data/reference/texas_twin_measured.csv`` and brings the tables of ``book/texas-twin.md`` up to date. With
``--full`` the models with all columns are trained on 740,102 records too, which takes ten times as long;
without it, what was measured there on the same recipe is kept. Scores trained before are found again.
``--page`` measures nothing. ``--jobs`` is best left at 1 on a busy machine.
"""

import argparse
import dataclasses
import re
import time

import numpy as np
import pandas as pd

from auditbook.cohort.file import CohortFile, read_cohort_file
from auditbook.cohort.load import load_cohort
from auditbook.cohort.twins import FULL_SIZE, twin_table
from auditbook.cohort.twins.nearness import (
    COLUMNS,
    MEASURED,
    measure_table,
    read_measured,
    render_recipe,
    render_targets,
)
from auditbook.cohort.twins.people import read_reference
from auditbook.cohort.twins.recipe import RECIPE
from auditbook.cohort.twins.twin import recipe_fingerprint
from auditbook.project import DEFAULT_COHORT, ROOT, runs_folder
from auditbook.scoring.score import ScoredCohort, score_cohort, summarise_models

PAGE = ROOT / "book" / "texas-twin.md"
CACHE = runs_folder() / ".cache"
TITLES = {"xgboost": "XGBoost (canonical)", "logistic": "Logistic regression"}
DEFAULT_SIZE = 100_000
DIS = ("race", "sex", "ethnicity", "age")


def score(file: CohortFile, rows: int, models: tuple[str, ...], *, lean: bool, jobs: int) -> ScoredCohort:
    """Train on four fifths of a twin of some size and score the rest."""
    late = file.features.late if lean else ()
    file = dataclasses.replace(
        file,
        data=dataclasses.replace(file.data, rows=rows),
        features=dataclasses.replace(file.features, exclude=late, late=() if lean else file.features.late),
        panel=dataclasses.replace(file.panel, models=models),
    )
    cohort = load_cohort(file, cache_dir=CACHE)
    start = time.perf_counter()
    scored = score_cohort(cohort, protocol=file.protocol, cache_dir=CACHE, jobs=jobs)
    seconds = time.perf_counter() - start
    print(f"{rows:,} records, {', '.join(models)}{' (lean)' if lean else ''}: {seconds:.0f} s", flush=True)
    return scored


def selection_rates(scored: ScoredCohort, model: int, attribute: str) -> np.ndarray:
    """Return the selection rate of each group, and the standard error of the ratio of the extremes."""
    found = next(a for a in scored.records.attributes if a.name == attribute)
    decisions = scored.records.scores[model].decisions
    n = np.bincount(found.codes, minlength=len(found.groups))
    rate = np.bincount(found.codes, weights=decisions, minlength=len(found.groups)) / n
    return np.stack([rate, np.sqrt(rate * (1 - rate) / n)])


def model_figures(scored: ScoredCohort, model: int, title: str) -> dict[str, float]:
    """Return AUROC, accuracy and the four DI of one model."""
    row = summarise_models(scored).iloc[model]
    figures = {
        f"AUROC, {title}": row["auroc"],
        f"accuracy, {title}": row["accuracy"],
        f"F1, {title}": row["f1"],
    }
    for attribute in DIS:
        rate, _ = selection_rates(scored, model, attribute)
        figures[f"DI {attribute}, {title}"] = rate.min() / rate.max()
    return figures


def error_figures(scored: ScoredCohort) -> dict[str, float]:
    """Return TPR and PPV by race and sex of the canonical model, and the sampling error of its race DI."""
    rate, error = selection_rates(scored, 0, "race")
    low, high = rate.argmin(), rate.argmax()
    spread = rate[low] / rate[high] * np.hypot(error[low] / rate[low], error[high] / rate[high])
    figures = {"sampling error (SD) of DI race, XGBoost": spread}
    outcome, decisions = scored.records.outcome == 1, scored.records.scores[0].decisions
    for attribute in scored.records.attributes:
        if attribute.name not in ("race", "sex"):
            continue
        for code, group in enumerate(attribute.groups):
            members = attribute.codes == code
            figures[f"TPR, {attribute.name}: {group}"] = decisions[members & outcome].mean()
            figures[f"PPV, {attribute.name}: {group}"] = outcome[members & decisions].mean()
    return figures


def published_figures() -> dict[str, float]:
    """Return the published figures under the same names."""
    panel = read_reference("published")
    figures = {}
    for model, title in TITLES.items():
        row = panel[(panel["table"] == "model panel") & (panel["row"] == title)].iloc[0]
        short = {"xgboost": "XGBoost", "logistic": "logistic"}[model]
        figures |= {
            f"AUROC, {short}": row["auroc"],
            f"accuracy, {short}": row["accuracy"],
            f"F1, {short}": row["f1"],
        }
        figures |= {f"DI {a}, {short}": row[f"di_{a}"] for a in DIS}
    figures["AUROC, XGBoost, admission-lean"] = panel[panel["row"] == "admission-lean"].iloc[0]["auroc"]
    for row in read_reference("group_confusion").itertuples():
        figures[f"TPR, {row.attribute}: {row.group}"] = row.tp / (row.tp + row.fn)
        figures[f"PPV, {row.attribute}: {row.group}"] = row.tp / (row.tp + row.fp)
    return figures


def twin_figures(rows: int, *, jobs: int) -> dict[str, float]:
    """Train the models on a twin of some size and return their figures."""
    file = read_cohort_file(DEFAULT_COHORT)
    scored = score(file, rows, ("xgboost", "logistic"), lean=False, jobs=jobs)
    figures = model_figures(scored, 0, "XGBoost") | model_figures(scored, 1, "logistic")
    if rows == DEFAULT_SIZE:
        lean = summarise_models(score(file, rows, ("xgboost",), lean=True, jobs=jobs)).iloc[0]
        figures["AUROC, XGBoost, admission-lean"] = lean["auroc"]
    return figures | error_figures(scored)


def kept_full_figures() -> dict[str, float]:
    """Return what was measured at full size before, when it was measured on this recipe."""
    if not (ROOT / "data" / "reference" / MEASURED).is_file():
        return {}
    stored = read_measured()
    stored = stored[stored["recipe"] == recipe_fingerprint()]
    return dict(zip(stored["quantity"], stored["twin_full"], strict=True))


def measure(*, train_full: bool, jobs: int) -> pd.DataFrame:
    """Measure the twin at both sizes; every row carries the fingerprint of the recipe."""
    tables = [
        measure_table(twin_table(rows=rows, seed=42, cache_dir=CACHE)) for rows in (DEFAULT_SIZE, FULL_SIZE)
    ]
    cheap = tables[0].rename(columns={"twin": "twin_default"}).assign(twin_full=tables[1]["twin"])
    default, published = twin_figures(DEFAULT_SIZE, jobs=jobs), published_figures()
    full = twin_figures(FULL_SIZE, jobs=jobs) if train_full else kept_full_figures()
    rows = [
        (
            "errors by group" if name[:3] in ("TPR", "PPV") else "models",
            name,
            published.get(name, np.nan),
            value,
        )
        for name, value in default.items()
    ]
    models = pd.DataFrame(rows, columns=["part", "quantity", "published", "twin_default"])
    models["twin_full"] = [full.get(name, np.nan) for name in models["quantity"]]
    return pd.concat([cheap, models])[list(COLUMNS)].assign(recipe=recipe_fingerprint())


def refresh_page() -> None:
    """Put the current tables between the marks of the page."""
    measured, text = read_measured(), PAGE.read_text(encoding="utf-8")
    tables = {"recipe": render_recipe(RECIPE)}
    for part in measured["part"].unique():
        tables[part] = render_targets(measured, (part,))
    for name, table in tables.items():
        block = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = block.sub(lambda found, table=table: f"{found[1]}\n{table}\n\n{found[2]}", text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only bring the tables of the page up to date")
    parser.add_argument("--full", action="store_true", help="train at full size too")
    parser.add_argument("--jobs", type=int, default=1, help="cores to train with")
    call = parser.parse_args()
    if not call.page:
        measured = measure(train_full=call.full, jobs=call.jobs)
        measured.to_csv(ROOT / "data" / "reference" / MEASURED, index=False, float_format="%.6g")
    refresh_page()
