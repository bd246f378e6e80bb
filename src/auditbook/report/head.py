"""What was audited, and on whom?"""

import math
from collections.abc import Sequence
from dataclasses import fields

from auditbook.book.say.text import agree, count, join_words, plural
from auditbook.cohort import STANDS
from auditbook.report.content import Head, Statement, Use
from auditbook.report.hospitals import describe_counted_rows, describe_hospitals
from auditbook.report.source import Source, list_names, rest_on, start, to_count


def build_head(source: Source) -> Head:
    """Build the head of the report."""
    info = source.run.info
    records = count_records(source)
    profile = info.get("profile", "")
    return Head(
        title=" ".join(str(info.get("title") or info["name"]).split()),
        cohort=str(info["name"]),
        use=read_use(source),
        outcome=_write_outcome(source),
        continuous=source.continuous,
        synthetic=bool(info.get("synthetic")),
        rows_read=to_count(info["rows_read"]),
        records=records,
        sites=count_sites(source),
        left_out=describe_left_out(source),
        population=describe_population(source, records),
        hash=str((info.get("hashes") or {}).get("results", ""))[:12],
        profile=str(profile["name"] if isinstance(profile, dict) else profile),
        seed=int(info["seed"]),
    )


def read_use(source: Source) -> Use:
    """Read who is asked to trust what; the harm from where the outcome says it."""
    info = source.run.info
    given = {"harm": info.get("harm") or ""} | (info.get("use") or {})
    known = {field.name for field in fields(Use)}
    return Use(
        **{name: " ".join(str(text).split()) for name, text in given.items() if name in known and text}
    )


def _write_outcome(source: Source) -> str:
    outcome = source.run.info.get("outcome") or {}
    return f"{outcome.get('column', '')}, a number" if source.continuous else source.event


def count_sites(source: Source) -> int:
    """Count the sites that hold audited records; 0 where none is named."""
    return int((source.exact.table("cohort_sites")["n_audit"] > 0).sum())


def count_records(source: Source) -> int:
    """Count the audited records: those whose decisions are judged, else those that pockets are tested on."""
    models = source.table("models")
    if models["n_audit"].notna().any():
        return int(models["n_audit"].max())
    told = source.run.info.get("pockets") or {}
    held = (told.get("records") or {}).get("audit")
    return int(held if held is not None else source.run.info["rows_kept"])


def describe_left_out(source: Source) -> Statement:
    """Say how many rows never reached the audit, and why."""
    info = source.run.info
    if info.get("pooled"):
        return Statement(describe_counted_rows(source), (rest_on("run.json"),))
    read, kept = info["rows_read"], int(info["rows_kept"])
    gone = [entry for entry in info.get("left_out", []) if entry["rows"]]
    text = f"{start(plural(read, 'row'))} {agree(read, 'was', 'were')} read and {count(kept)} kept"
    if math.isnan(read):
        text = f"{start(plural(kept, 'row'))} {agree(kept, 'was', 'were')} kept"
    if not gone:
        return Statement(f"{text}; none was left out.", (rest_on("run.json"),))
    named = "; ".join(
        f"{' '.join(str(entry['reason']).split())}: {_write_few(source, entry['rows'])}" for entry in gone
    )
    return Statement(f"{text}. Left out: {named}.", (rest_on("run.json"),))


def _write_few(source: Source, n: float) -> str:
    return f"fewer than {source.smallest_cell}" if math.isnan(n) else count(n)


def describe_population(source: Source, records: int) -> Statement:
    """Name the audited population, and say where pockets audit other records or another fit."""
    info, told = source.run.info, source.run.info.get("pockets") or {}
    sites = count_sites(source)
    where = f" of {plural(sites, 'site')}" if sites else ""
    trained = (source.table("models")["source"] == "trained").any()
    seen = "; no model trained here has seen them" if trained else ""
    parts = [f"Audited: {plural(records, 'record')}{where}{seen}."]
    if info.get("per_unit"):
        parts.append(_describe_merged(str(info["per_unit"]["rule"]), str(info["unit"])))
    if info.get("pooled"):
        parts.append(describe_hospitals(source))
    elif info.get("counted"):
        parts.append(_describe_counted(info["counted"], told))
    if info.get("turned"):
        parts.append(_describe_turned(info["turned"]))
    if "units" in set(source.table("contrasts")["scope"]):
        parts.append(f"Several records can belong to one {info['unit']}; intervals take that into account.")
    if told.get("status") == "done" and source.table("models").empty:
        parts.append("Nothing was learned from these records, neither pockets nor models.")
    if told.get("status") == "done" and len(source.table("models")):
        parts += _describe_pocket_records(told, records)
    return Statement(" ".join(parts), (rest_on("models.csv"), rest_on("run.json")))


def _describe_merged(rule: str, unit: str) -> str:
    """Say which one of several records stands for a unit."""
    text = f"One record is audited of each {unit}: {STANDS[rule]}, and it has the event where any record has."
    if rule == "max":
        text += (
            " The largest of many scores is larger than that of few: a longer stay is selected more easily."
        )
    return text


def _describe_counted(counted: dict, pockets: dict) -> str:
    """Say what follows from counts alone, and what needs records and was not made."""
    text = "They were counted part by part: whatever is made of counts is what the whole table gives"
    if counted.get("score_bins"):
        text += "; areas are read from bins of the scores, and result tables say how far that can move them"
    text += (
        ". What mitigation costs, and whether that holds under other protocols and models, needs records: "
        "not made. Other constants of the audit were tried (sensitivity.csv)."
    )
    if pockets.get("sample"):
        rows, whole = pockets["sample"]["rows"], pockets["sample"]["of"]
        of = f"{plural(rows, 'record')} of {plural(whole, 'row')}"
        text += f" Pockets were learned and tested on a sample: {of}."
    return text


def _describe_turned(names: Sequence[str]) -> str:
    """Say of which scores low ones speak for the event."""
    return (
        f"Low scores of {list_names(names)} speak for the event and were turned round: here a higher score "
        "always speaks for it, and a probability is the event's."
    )


def _describe_pocket_records(told: dict, records: int) -> list[str]:
    """Say on which records pockets are tested, and whether the models are fitted anew for it."""
    held = int((told.get("records") or {}).get("audit", 0))
    text = f"Pockets are learned and tested on a division of its own: {plural(held, 'record')} test them"
    text += "." if held != records else ", as many as above, and not the same ones."
    trained, mapped = (list(told.get(name) or []) for name in ("trained", "mapped"))
    parts = [text]
    if trained:
        parts.append(
            f"For it {join_words(trained)} {agree(len(trained), 'was', 'were')} fitted anew on "
            "other records: "
            "what is said of pockets is said of that fit."
        )
    if mapped:
        parts.append(f"The scores of {join_words(mapped)} were mapped to the scale of the outcome for it.")
    return parts
