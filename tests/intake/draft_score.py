"""How many of ten roles does a draft have right?"""

import tomllib

from auditbook.intake import draft_cohort
from intake.layouts import Layout


def read_draft(folder, layout: Layout, name="table"):
    """Write a table, draft its cohort file, and read it as TOML."""
    path = folder / f"{name}.csv"
    layout.table.to_csv(path, index=False)
    target = folder / f"{name}.toml"
    target.write_text(draft_cohort(path, target=target), encoding="utf-8")
    return tomllib.loads(target.read_text(encoding="utf-8"))


def score_draft(raw, truth):
    """Tell which of ten roles are right."""
    attributes = raw["attributes"]
    columns = {name: item["column"] for name, item in attributes.items()}
    scores = {item["column"]: item.get("event_is", "high") for item in raw.get("scores", {}).values()}
    unit, weight = raw.get("unit", {}), raw.get("weight", {})
    named = tuple(unit.get("columns", [unit.get("column")] if unit else []))
    barred = {*raw["features"]["exclude"], *raw["features"]["late"]}
    return {
        "outcome": raw["outcome"]["column"] in truth.outcome,
        "event": _same_event(raw["outcome"]["event"], truth.event),
        "unit": named in truth.unit,
        "site": raw.get("site", {}).get("column") in truth.site,
        "age": columns.get("age") in truth.age,
        "race": bool({columns.get("race"), columns.get("ethnicity")} & truth.race),
        "sex": columns.get("sex", columns.get("gender")) in truth.sex,
        "scores": _same_scores(scores, truth.scores),
        "late": not truth.late - barred - {raw["outcome"]["column"]},
        "weight": (weight.get("column"), weight.get("strata"), weight.get("cluster")) == truth.weight,
    }


def _same_event(event, right):
    kind, value = ("==", event)
    if isinstance(event, str) and event.startswith("> "):
        kind, value = ">", float(event[2:])
    return (kind, value) in right


def _same_scores(found, right):
    """Tell whether the true scores are there in their direction; others may stand beside them."""
    return all(found.get(name) == way for name, way in right.items()) and bool(found) == bool(right)
