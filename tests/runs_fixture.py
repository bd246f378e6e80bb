"""Small finished runs, written as a run writes them, for tests of figures, reports and chapters."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from auditbook.columns import TABLES
from auditbook.evidence import prepare
from auditbook.ranking.parity import make_auc_tables
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.results import write_results
from auditbook.settings import Protocol
from auditbook.verdicts import (
    bound_missing_attribute,
    check_flips,
    compare_labels,
    count_above_median,
    find_tipping_points,
    judge,
    tabulate_rates,
)
from pocket_tables import make_tables_of_run

NAN = float("nan")
AWKWARD = (
    "American Indian or Alaska Native, alone or in combination with one or more other races",
    "Asian <b>or</b> Pacific Islander",
    "Béla's Ångström & Co",
    "$Black$ | African American",
    "Hispanic  (any race)",
    "White",
    "two_or_more*races*",
    "<script>alert(1)</script>",
    "(missing)",
)


@dataclass(frozen=True)
class Recipe:
    """What a fixture run is made of."""

    rows: int
    attributes: dict[str, tuple[str, ...]]
    shares: dict[str, tuple[float, ...]]
    models: dict[str, str]  # name -> kind
    sites: int = 0
    source: str = "trained"
    event_rate: float = 0.30
    synthetic: bool = False
    no_events: bool = False
    nobody_selected: bool = False
    left_out: tuple[dict, ...] = field(default=({"reason": "outcome missing", "rows": 17},))
    name: str = "a-cohort"


RECIPES = {
    "two_groups": Recipe(
        3000,
        {"sex": ("Female", "Male")},
        {"sex": (0.55, 0.45)},
        {"risk score": "probability"},
        source="given",
    ),
    "nine_groups": Recipe(
        20_000,
        {"race & ethnicity <all>": AWKWARD, "age": ("0-17", "18-39", "40-64", "65+")},
        {
            "race & ethnicity <all>": (0.004, 0.06, 0.02, 0.22, 0.18, 0.45, 0.03, 0.01, 0.026),
            "age": (0.1, 0.2, 0.4, 0.3),
        },
        {"logistic": "probability", "xgboost": "probability"},
        sites=60,
        synthetic=True,
        left_out=(
            {"reason": "outcome missing", "rows": 1234},
            {"reason": "died or went to <b>hospice</b>", "rows": 88},
        ),
        name="nine-groups",
    ),
    "three_sites": Recipe(
        2400,
        {"race": ("Black", "White"), "sex": ("F", "M")},
        {"race": (0.3, 0.7), "sex": (0.5, 0.5)},
        {"deployed": "rank", "refit": "probability"},
        sites=3,
        source="given",
        left_out=(),
    ),
    "inconclusive": Recipe(
        260,
        {"race": ("Asian", "Black", "Other", "White"), "sex": ("F", "M")},
        {"race": (0.03, 0.12, 0.0, 0.85), "sex": (0.5, 0.5)},
        {"points": "rank"},
        source="given",
        event_rate=0.10,
    ),
    "decisions": Recipe(
        900, {"sex": ("F", "M")}, {"sex": (0.5, 0.5)}, {"rule of thumb": "decision"}, sites=12, source="given"
    ),
    "nan": Recipe(
        120,
        {"sex": ("F", "M", "not said")},
        {"sex": (0.5, 0.5, 0.0)},
        {"rule of thumb": "decision"},
        source="given",
        no_events=True,
        nobody_selected=True,
        left_out=(),
    ),
}
KINDS = tuple(RECIPES)


@dataclass(frozen=True)
class Sample:
    """Records drawn from a recipe."""

    outcome: np.ndarray
    codes: dict[str, np.ndarray]
    site: np.ndarray
    scores: dict[str, np.ndarray]
    thresholds: dict[str, float]
    audit: np.ndarray


def make_run(folder: Path, kind: str = "two_groups", *, seed: int = 42) -> Path:
    """Write the result files of a small run into a folder and return the folder.

    Parameters
    ----------
    folder : Path
        Where to write; made if it is not there.
    kind : str
        One of `KINDS`.
    seed : int
        Seed of the draws.
    """
    recipe = RECIPES[kind]
    return write_run(folder, recipe, draw_sample(recipe, np.random.default_rng(seed)))


def write_run(folder: Path, recipe: Recipe, sample: Sample) -> Path:
    """Write the result files of a run on a sample, such as one in which a group is treated worse."""
    groups = tabulate_groups(recipe, sample)
    tables = {
        "groups": groups,
        **judge_sample(recipe, sample),
        "cohort_groups": tabulate_cohort(recipe, sample),
        "cohort_sites": tabulate_sites(recipe, sample),
        "cohort_columns": tabulate_columns(recipe),
        "models": tabulate_models(recipe, sample),
        "score_bins": bin_scores(recipe, sample),
        **make_tables_of_run(
            recipe.models, recipe.attributes, sites=bool(recipe.sites), tested=recipe.rows > 1000
        ),
    }
    (folder / "results").mkdir(parents=True, exist_ok=True)
    tables = {name: table[TABLES[name].names()] for name, table in tables.items()}
    write_results(tables, folder / "results")
    (folder / "run.json").write_text(json.dumps(run_info(recipe, sample), indent=1), encoding="utf-8")
    return folder


def draw_sample(recipe: Recipe, rng: np.random.Generator) -> Sample:
    """Draw groups, sites, outcomes and scores; the groups differ in event rate."""
    n = recipe.rows
    codes = {name: rng.choice(len(share), n, p=share) for name, share in recipe.shares.items()}
    site = np.sort(rng.zipf(1.5, n) % recipe.sites) if recipe.sites else np.zeros(n, int)
    first = next(iter(codes.values()))
    logit = np.log(recipe.event_rate / (1 - recipe.event_rate)) + rng.normal(0, 1.3, n) + 0.12 * first
    risk = 1 / (1 + np.exp(-logit))
    outcome = np.zeros(n, int) if recipe.no_events else (rng.random(n) < risk).astype(int)
    scores, thresholds = {}, {}
    for name, kind in recipe.models.items():
        guess = 1 / (1 + np.exp(-(logit + rng.normal(0, 0.6, n))))
        scores[name] = {"probability": guess, "rank": np.round(100 * guess, 1), "decision": guess >= 0.5}[
            kind
        ] * 1.0
        thresholds[name] = float(np.quantile(scores[name], 0.9)) if kind == "rank" else 0.5
        if recipe.nobody_selected:
            scores[name] = np.zeros(n)
    audit = np.ones(n, bool) if recipe.source == "given" else rng.random(n) < 0.25
    return Sample(outcome, codes, site, scores, thresholds, audit)


def divide(a: float, b: float) -> float:
    return a / b if b else NAN


def wilson(k: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    if not n:
        return NAN, NAN
    p, share = k / n, z**2 / n
    half = z * np.sqrt(p * (1 - p) / n + share / (4 * n))
    return (p + share / 2 - half) / (1 + share), (p + share / 2 + half) / (1 + share)


def roc_area(outcome: np.ndarray, score: np.ndarray) -> tuple[float, float, float]:
    events, others = int(outcome.sum()), int((1 - outcome).sum())
    if not events or not others:
        return NAN, NAN, NAN
    ranks = pd.Series(score).rank().to_numpy()
    area = (ranks[outcome == 1].sum() - events * (events + 1) / 2) / (events * others)
    half = 1.96 * np.sqrt(area * (1 - area) / min(events, others))
    return area, max(area - half, 0.0), min(area + half, 1.0)


def support_of(row: dict, kind: str = "") -> str:
    """Say what a group lacks for a verdict, by the default protocol."""
    for word, needed in (("records", 30), ("events", 10), ("non_events", 10)):
        have = row["n"] if word == "records" else row[word]
        if have < needed:
            return f"{have} {word.replace('_', '-')}, {needed} needed"
    return ""


def group_row(y: np.ndarray, s: np.ndarray, d: np.ndarray, kind: str) -> dict:
    tp, fp = int((y * d).sum()), int(((1 - y) * d).sum())
    fn, tn = int((y * (1 - d)).sum()), int(((1 - y) * (1 - d)).sum())
    n = len(y)
    row = {"n": n, "events": tp + fn, "non_events": fp + tn, "tp": tp, "fp": fp, "fn": fn, "tn": tn}
    row |= {"selection_rate": divide(tp + fp, n), "tpr": divide(tp, tp + fn), "fpr": divide(fp, fp + tn)}
    row |= dict.fromkeys(
        ("n_effective", "events_effective", "non_events_effective", "selected_effective"), NAN
    )
    row |= {"ppv": divide(tp, tp + fp), "accuracy": divide(tp + tn, n), "auc": roc_area(y, s)[0]}
    row |= {"mean_score": float(s.mean()) if n and kind == "probability" else NAN}
    row |= {"event_rate": divide(tp + fn, n)}
    return row | {"support": support_of(row)}


def tabulate_groups(recipe: Recipe, sample: Sample) -> pd.DataFrame:
    rows = []
    for model, kind in recipe.models.items():
        y, s = sample.outcome[sample.audit], sample.scores[model][sample.audit]
        d = (s >= sample.thresholds[model]).astype(int)
        for attribute, groups in recipe.attributes.items():
            code = sample.codes[attribute][sample.audit]
            for position, group in enumerate(groups):
                here = code == position
                row = group_row(y[here], s[here], d[here], kind)
                rows.append({"model": model, "attribute": attribute, "group": group} | row)
    return pd.DataFrame(rows)


def gather_records(recipe: Recipe, sample: Sample) -> AuditRecords:
    """Put the audited records of a sample into the package's own form."""
    audit = sample.audit
    attributes = tuple(
        Attribute(name, groups, sample.codes[name][audit]) for name, groups in recipe.attributes.items()
    )
    scores = tuple(
        Score(name, kind, sample.thresholds[name], sample.scores[name][audit])
        for name, kind in recipe.models.items()
    )
    site = np.unique(sample.site[audit], return_inverse=True)[1] if recipe.sites else None
    return AuditRecords(sample.outcome[audit].astype(np.int8), attributes, scores, site)


def judge_sample(recipe: Recipe, sample: Sample) -> dict[str, pd.DataFrame]:
    """Judge a sample as an audit does, with few draws."""
    records, protocol = gather_records(recipe, sample), Protocol(resamples=100)
    prepared = prepare(records)
    found = judge(prepared, protocol)
    checked = check_flips(records, protocol=Protocol(halvings=8, resamples=60), seed=42)
    areas = make_auc_tables(prepared, found.folds, protocol=Protocol(resamples=60))
    tipping = find_tipping_points(prepared, found.verdicts, found.contrasts, protocol)
    missing = bound_missing_attribute(prepared, {}, protocol, unplaced="(missing)")
    unseen = {"tipping_points": tipping, "missing_attribute": missing}
    unseen |= compare_labels(records, found.verdicts, {}, protocol, name="los")
    rates = tabulate_rates(prepared, protocol)
    above = count_above_median(records)
    return {**found.tables, **unseen, **checked, **areas, "rates": rates, "scoring_rates": above}


def tabulate_cohort(recipe: Recipe, sample: Sample) -> pd.DataFrame:
    rows = []
    for attribute, groups in recipe.attributes.items():
        for position, group in enumerate(groups):
            here = sample.codes[attribute] == position
            n, events = int(here.sum()), int(sample.outcome[here].sum())
            low, high = wilson(events, n)
            row = {"attribute": attribute, "group": group, "n": n, "share": n / recipe.rows, "events": events}
            row |= {"event_rate": divide(events, n), "event_rate_low": low, "event_rate_high": high}
            audit = int((here & sample.audit).sum())
            train = 0 if recipe.source == "given" else n - audit
            rows.append(row | {"n_train": train, "n_audit": audit, "reference": group == "White"})
    return pd.DataFrame(rows)


def tabulate_sites(recipe: Recipe, sample: Sample) -> pd.DataFrame:
    columns = ["rank", "site", "n", "events", "event_rate", "n_audit"]
    if not recipe.sites:
        return pd.DataFrame(columns=columns)
    frame = pd.DataFrame({"site": sample.site, "y": sample.outcome, "audit": sample.audit})
    table = frame.groupby("site").agg(n=("y", "size"), events=("y", "sum"), n_audit=("audit", "sum"))
    table = table.sort_values("n", ascending=False).reset_index()
    table["site"] = table["site"].map("{:04d}".format)
    table["rank"] = range(1, len(table) + 1)
    table["event_rate"] = table["events"] / table["n"]
    return table[columns]


def tabulate_columns(recipe: Recipe) -> pd.DataFrame:
    roles = [
        ("los", "outcome", "number"),
        ("charges", "late feature", "number"),
        ("age_years", "feature", "number"),
    ]
    roles += [(f"{name} code", "attribute", "category") for name in recipe.attributes]
    roles += [("hospital_id", "site", "text")] * bool(recipe.sites)
    roles += [(name, "score", "number") for name in recipe.models] * (recipe.source == "given")
    roles += [("died", "excluded", "category")]
    rows = []
    for position, (column, role, kind) in enumerate(roles):
        missing = (position * 37) % 111
        row = {"column": column, "n_columns": 1, "role": role, "kind": kind, "missing": missing}
        row |= {"missing_share": missing / recipe.rows, "distinct": 2 + 5 * position}
        rows.append(row | {"note": "'?' read as missing" if role == "attribute" else ""})
    return pd.DataFrame(rows)


def tabulate_models(recipe: Recipe, sample: Sample) -> pd.DataFrame:
    return pd.DataFrame([model_row(recipe, sample, model) for model in recipe.models])


def model_row(recipe: Recipe, sample: Sample, model: str) -> dict:
    kind = recipe.models[model]
    y, s = sample.outcome[sample.audit], sample.scores[model][sample.audit]
    d = (s >= sample.thresholds[model]).astype(int)
    whole = group_row(y, s, d, kind)
    area, low, high = roc_area(y, s) if kind != "decision" else (NAN, NAN, NAN)
    row = {"model": model, "source": recipe.source, "family": model if recipe.source == "trained" else ""}
    row |= {"features": "all" if recipe.source == "trained" else ""}
    row |= {
        "kind": kind,
        "event_is": "high",
        "threshold": sample.thresholds[model],
        "given_threshold": NAN,
        "percentile": 90.0 if kind == "rank" else NAN,
    }
    row |= {"n_train": int((~sample.audit).sum()), "n_audit": whole["n"], "events_audit": whole["events"]}
    row |= {"event_rate": whole["event_rate"], "selection_rate": whole["selection_rate"]}
    row |= {"auroc": area, "auroc_low": low, "auroc_high": high, "accuracy": whole["accuracy"]}
    row |= {"f1": divide(2 * whole["tp"], 2 * whole["tp"] + whole["fp"] + whole["fn"])}
    probability = kind == "probability"
    row |= {"brier": float(((s - y) ** 2).mean()) if probability else NAN}
    return row | {"mean_score": float(s.mean())}


def bin_scores(recipe: Recipe, sample: Sample) -> pd.DataFrame:
    rows = []
    y = sample.outcome[sample.audit]
    for model, kind in recipe.models.items():
        s = sample.scores[model][sample.audit]
        edges = np.linspace(0, 1, 11) if kind != "rank" else np.quantile(s, np.linspace(0, 1, 11))
        where = np.clip(np.searchsorted(edges, s, side="right") - 1, 0, 9)
        parts = [("all", "all", np.ones(len(y), bool))]
        for attribute, groups in recipe.attributes.items():
            code = sample.codes[attribute][sample.audit]
            parts += [(attribute, group, code == position) for position, group in enumerate(groups)]
        for attribute, group, here in parts:
            for number in range(10):
                inside = here & (where == number)
                n = int(inside.sum())
                row = {"model": model, "attribute": attribute, "group": group, "bin": number + 1}
                row |= {"bin_low": edges[number], "bin_high": edges[number + 1], "n": n}
                row |= {"events": int(y[inside].sum()), "mean_score": float(s[inside].mean()) if n else NAN}
                rows.append(row)
    return pd.DataFrame(rows)


def run_info(recipe: Recipe, sample: Sample) -> dict:
    protocol = asdict_protocol(Protocol())
    kept = recipe.rows
    return {
        "name": recipe.name,
        "title": "Stays in <b>Orléans</b>, 2024 & later",
        "harm": "a long stay nobody planned for",
        "event": "los > 3",
        "synthetic": recipe.synthetic,
        "seed": 42,
        "profile": "quick",
        "rows_read": kept + sum(entry["rows"] for entry in recipe.left_out),
        "rows_kept": kept,
        "left_out": list(recipe.left_out),
        "protocol": protocol,
        "outcome": {"column": "los", "event": "> 3"},
        "site": "hospital_id" if recipe.sites else None,
        "unit": "hospital_id" if recipe.sites else None,
        "attributes": list(recipe.attributes),
        "models": list(recipe.models),
        "versions": {"auditbook": "0.1.0"},
        "hashes": {"cohort": "0" * 64, "data": "0" * 64},
    }


def asdict_protocol(protocol: Protocol) -> dict:
    names = protocol.__dataclass_fields__
    values = {name: getattr(protocol, name) for name in names}
    lists = {"metrics": list(protocol.metrics), "audit_sizes": list(protocol.audit_sizes)}
    return values | lists | {"thresholds": dict(protocol.thresholds)}
