"""What a report says, worked out again from the result files without the report's own code."""

import csv
import dataclasses
import json
import math
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from auditbook.report import Report
from auditbook.report.content import Basis, Finding, ModelPage, Statement

NAN = float("nan")
RATE_OF = {"SPD": "SR", "DI": "SR", "EOPP": "TPR", "PP": "PPV", "CAL": "CAL", "AUC": "AUC", "TI": "TI"}
QUESTION_OF = {
    "SR": "selected",
    "TPR": "found",
    "FPR": "alarms",
    "PPV": "meaning",
    "CAL": "risk",
    "TI": "risk",
}
LEAST_KIND = ("fails", "open", "unjudged", "partly", "passes")
MARK_OF = {
    "shown to fail": "fails",
    "open, fails so far": "open",
    "open, passes so far": "open",
    "cannot be judged": "unjudged",
    "passes for those compared": "partly",
    "shown to pass": "passes",
}
TOPICS = {
    "found": "who is found",
    "alarms": "false alarms",
    "selected": "who is selected",
    "meaning": "what being selected means",
    "risk": "wrong risks",
    "order": "the order within groups",
}


@cache
def read_rows(folder: Path, name: str) -> list[dict[str, str]]:
    """Read the rows of a result file as they stand; none where it is not there."""
    path = folder / "results" / f"{name}.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return [{key: unguard(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]


def unguard(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:2] in "=+-@\t\r'" and cell[1:2] else cell


def to_float(cell: str) -> float:
    return float(cell) if cell else NAN


def pick(rows: list[dict[str, str]], **where: object) -> list[dict[str, str]]:
    """Pick the rows whose cells are these, numbers compared as numbers."""
    return [row for row in rows if all(is_same(row[name], value) for name, value in where.items())]


def is_same(cell: str, value: object) -> bool:
    if value is None:
        return cell == ""
    if isinstance(value, str):
        return cell == value
    return cell != "" and math.isclose(float(cell), float(value))


def divide(a: float, b: float) -> float:
    return a / b if b else NAN


def is_near(one: float | None, other: float, tolerance: float = 1e-8) -> bool:
    """Whether a number of the report is that of the files; None where it is undefined."""
    if one is None:
        return math.isnan(other)
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)


def count_rate(row: dict[str, str], rate: str) -> tuple[float, float]:
    """Count numerator and denominator of a rate in a row of groups.csv."""
    tp, fp, fn, tn = (float(row[name]) for name in ("tp", "fp", "fn", "tn"))
    return {
        "SR": (tp + fp, tp + fp + fn + tn),
        "TPR": (tp, tp + fn),
        "FPR": (fp, fp + tn),
        "PPV": (tp, tp + fp),
        "ER": (tp + fn, tp + fp + fn + tn),
    }[rate]


def list_statements(report: Report) -> list[Statement]:
    """List every statement of a report, wherever it stands."""
    found: list[Statement] = []

    def look(value: object) -> None:
        if isinstance(value, Statement):
            found.append(value)
        elif dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                look(getattr(value, field.name))
        elif isinstance(value, tuple):
            for part in value:
                look(part)

    look(report)
    return found


def check_texts(report: Report) -> None:
    """No sentence holds a blank number, an empty bracket or a blank where a word is missing."""
    texts = [said.text for said in list_statements(report)]
    texts += [finding.action for page in report.pages for finding in page.findings]
    for text in texts:
        assert text.strip() == text != "", text
        plain = re.sub(r"<[^>]*>|\(any race\)|\(missing\)", "", text)
        for wrong in ("nan", "None", "()", " ,", " .", "..", "inf ", "0 people", "1 people"):
            assert not re.search(rf"(?<![\w.,]){re.escape(wrong)}", plain), (wrong, text)
        assert not re.search(r"\b1 (records|events|people|cells|pockets|attributes|questions)\b", plain), text


def check_bases(report: Report, folder: Path) -> None:
    """Every row that a statement rests on is in its file."""
    for basis in {name_basis(one): one for said in list_statements(report) for one in said.basis}.values():
        if basis.file == "run.json":
            assert (folder / "run.json").is_file()
            assert not basis.where
            continue
        rows = read_rows(folder, basis.file.removesuffix(".csv"))
        assert not rows or not basis.where or pick(rows, **basis.where) or is_absence(basis, rows), basis


def is_absence(basis: Basis, rows: list[dict[str, str]]) -> bool:
    """Whether a basis names a model, and no row of the file is about that model: nothing was made for it."""
    return not pick(rows, model=basis.where.get("model", ""))


def name_basis(basis: Basis) -> str:
    return json.dumps([basis.file, basis.where], sort_keys=True)


def check_head(report: Report, folder: Path) -> None:
    """Rows, records and sites are those of the files."""
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    models, head = read_rows(folder, "models"), report.head
    assert head.rows_read == info["rows_read"]
    if models:
        assert head.records == max(int(row["n_audit"]) for row in models)
    assert head.sites == sum(int(row["n_audit"]) > 0 for row in read_rows(folder, "cohort_sites"))
    assert f"{info['rows_kept']:,} kept" in head.left_out.text
    for entry in info["left_out"]:
        assert entry["rows"] == 0 or f": {entry['rows']:,}" in head.left_out.text
    assert f"{head.records:,} record" in head.population.text


def check_findings(page: ModelPage, folder: Path) -> None:
    """Findings are what is shown to fail, each told once, with the numbers of the files."""
    cells = pick(read_rows(folder, "verdicts"), model=page.model)
    own = [] if pick(cells, metric="AUC") else pick(read_rows(folder, "auc_verdicts"), model=page.model)
    failing = {(row["metric"], row["attribute"]) for row in [*cells, *own] if row["shown"] == "fail"}
    told = {
        (metric, name)
        for one in page.findings
        for name in (one.attribute, *(other for other, _ in one.also))
        for metric in one.metrics
    }
    assert told <= failing
    for metric, attribute in failing - told:
        assert page.further is not None
        assert f"for {attribute}" in page.further.text
        assert metric in page.further.text
    assert len(page.findings) <= 5
    if len(page.findings) < 5:
        assert (page.further is None) == (failing == told)
    seen = [
        (one.attribute, count_question(one)) for one in page.findings if not one.metrics[0].startswith("CAL")
    ]
    assert len(set(seen)) == len(seen)
    check_risks(page, folder)
    for finding in page.findings:
        check_finding(finding, folder)


def check_risks(page: ModelPage, folder: Path) -> None:
    """Wrong risks to one side in the same or the next bin are one finding; more of a side comes late."""
    said: list[tuple[bool, int]] = []
    order = []
    for one in page.findings:
        further = False
        if one.metrics[0] == "CAL":
            assert one.gap is not None
            places = [base.where for base in one.statement.basis if base.file == "contrasts.csv"]
            rows = [pick(read_rows(folder, "contrasts"), **where)[0] for where in places]
            sides = {float(row["estimate"]) > 0 for row in rows}
            bins = {int(row["bin"]) for row in rows}
            assert sides == {one.gap > 0}
            assert max(bins) - min(bins) <= 2
            assert one.affected == max(abs(float(row["estimate"])) * float(row["n"]) for row in rows)
            pairs = {(row["attribute"], row["group"]) for row in rows[1:]}
            assert set(one.also) == pairs
            assert not any((one.gap > 0, place) in said for place in bins)
            further = any(side == (one.gap > 0) for side, _ in said)
            said += [(one.gap > 0, place) for place in bins]
            assert f"is {'lower' if one.gap > 0 else 'higher'} than the risk" in one.statement.text
        order.append((one.error_free_fails, further, -(one.affected or 0)))
    assert order == sorted(order)


def count_question(finding: Finding) -> tuple[str, str]:
    """Tell what a finding is about; TI and CAL are two sides of one question."""
    return finding.question, finding.metrics[0] if finding.question == "risk" else ""


def find_rate(finding: Finding) -> str:
    questions = {"selected": "SR", "found": "TPR", "alarms": "FPR", "meaning": "PPV", "order": "AUC"}
    return questions.get(finding.question, finding.metrics[0])


def check_finding(finding: Finding, folder: Path) -> None:
    """Compare every number of one finding, and every number in its sentence."""
    rate, where = find_rate(finding), {"model": finding.model, "attribute": finding.attribute}
    if rate == "AUC":
        check_order(finding, folder)
        return
    cell = pick(read_rows(folder, "verdicts"), **where, metric=finding.metrics[0])[0]
    assert cell["shown"] == "fail"
    assert is_near(finding.threshold, float(cell["threshold"]))
    pairs = pick(read_rows(folder, "contrasts"), **where, metric=finding.metrics[0], rate=rate)
    names = {share.group for share in finding.shares}
    if rate == "CAL":
        names = {finding.shares[0].group}
    found = [
        row
        for row in pairs
        if {row["group"], row["other"]} - {""} == names and is_near(finding.gap, float(row["estimate"]))
    ]
    assert found, finding
    row = found[0]
    assert is_near(finding.gap_low, to_float(row["low"]))
    assert is_near(finding.gap_high, to_float(row["high"]))
    limit = float(cell["threshold"])
    if finding.metrics[0] == "DI":
        assert finding.gap_high is not None
        assert finding.gap_high < limit
    else:
        beyond = [abs(end) for end in (finding.gap_low, finding.gap_high) if end is not None]
        assert min(beyond) > limit
    if rate == "CAL":
        allowed = check_calibrated_share(finding, row, folder)
    elif rate == "TI":
        allowed = check_unequal_errors(finding, row)
    else:
        allowed = check_pair(finding, rate, row, folder)
    others = [name for pair in finding.also for name in pair]
    known = [finding.attribute, *names, *finding.metrics, *others]
    check_numbers(finding.statement.text, allowed, known)
    check_numbers(finding.short, allowed, known)
    for share in finding.shares:
        assert share.value is None or f"{share.of * share.value:,.0f}" in finding.short


def check_order(finding: Finding, folder: Path) -> None:
    """Compare a finding about areas, which is no share of people, with the cell and the areas it rests on."""
    where = {"model": finding.model, "attribute": finding.attribute}
    cell = pick(read_rows(folder, "auc_verdicts"), **where)[0]
    assert cell["shown"] == "fail"
    areas = {
        row["event_group"]: row
        for row in pick(read_rows(folder, "auc_matrix"), **where)
        if row["event_group"] == row["nonevent_group"]
    }
    for name in ("gap", "gap_low", "gap_high", "threshold"):
        assert is_near(getattr(finding, name), float(cell[name]))
    assert {share.group for share in finding.shares} == set(cell["gap_groups"].split(", "))
    allowed = {f"{100 * float(cell[name]):.1f}" for name in ("gap", "gap_low", "gap_high", "threshold")}
    for share in finding.shares:
        row = areas[share.group]
        assert is_near(share.value, float(row["auc"]))
        assert is_near(share.low, float(row["ci_low"]))
        assert is_near(share.high, float(row["ci_high"]))
        allowed |= {f"{100 * share.value:,.0f}", "100"}
    assert finding.shares[0].value < finding.shares[1].value
    known = [finding.attribute, *(share.group for share in finding.shares), *finding.metrics]
    check_numbers(finding.statement.text, allowed, known)
    check_numbers(finding.short, allowed, known)


def check_unequal_errors(finding: Finding, row: dict[str, str]) -> set[str]:
    """Compare the two groups of a finding about the Theil index, which is no share of people."""
    ends = [(row["group"], row["n"]), (row["other"], row["n_other"])]
    assert [(share.group, str(share.n)) for share in finding.shares] == ends[:: 1 if finding.gap > 0 else -1]
    assert {part for share in finding.shares for part in (share.value, share.low, share.high)} == {None}
    assert finding.affected is None
    parts = (finding.gap, finding.gap_low, finding.gap_high, finding.threshold)
    return {f"{abs(part):.3f}" for part in parts if part is not None}


def check_pair(finding: Finding, rate: str, row: dict[str, str], folder: Path) -> set[str]:
    """Compare the two groups of a finding with the counts; give the numbers its sentence may hold."""
    groups = pick(read_rows(folder, "groups"), model=finding.model, attribute=finding.attribute)
    rates = pick(read_rows(folder, "rates"), model=finding.model, attribute=finding.attribute, rate=rate)
    of = {one["group"]: one for one in groups}
    allowed = set()
    values, sizes, events = [], [], []
    for share in finding.shares:
        hits, trials = count_rate(of[share.group], rate)
        bounds = next(one for one in rates if one["group"] == share.group and not one["bin"])
        assert share.n == trials
        assert is_near(share.value, hits / trials)
        assert is_near(share.low, to_float(bounds["low"]))
        assert is_near(share.high, to_float(bounds["high"]))
        allowed |= {f"{share.of * part:,.0f}" for part in (share.value, share.low, share.high)}
        allowed |= {f"{share.n:,}", f"{share.of:,}", "95"}
        values.append(hits / trials)
        sizes.append(trials)
        events.append(divide(*count_rate(of[share.group], "ER")))
    worse_first = values[0] > values[1] if rate == "FPR" else values[0] < values[1]
    assert worse_first
    affected = abs(values[0] - values[1]) * sizes[0] * sizes[1] / sum(sizes)
    assert is_near(finding.affected, affected)
    allowed |= {f"{max(round(finding.affected), 1):,}"}
    first = finding.shares[0].group == row["group"]
    one, other = events if first else events[::-1]
    if finding.metrics[0] == "DI":
        assert is_near(finding.gap, min(values) / max(values))
        as_far = not to_float(row["high"]) < finding.threshold * one / other
        check_error_free(finding, rate, one / other, one / other < finding.threshold, as_far)
        allowed |= {
            f"{part:.2f}"
            for part in (finding.gap, finding.gap_low, finding.gap_high, finding.threshold, one / other)
            if part is not None
        }
    else:
        assert is_near(finding.gap, max(values) - min(values))
        as_far = not to_float(row["low"]) > one - other + finding.threshold
        check_error_free(finding, rate, one - other, one - other > finding.threshold, as_far)
        allowed |= {
            f"{100 * part:,.1f}"
            for part in (finding.gap, finding.gap_low, finding.gap_high, finding.threshold, abs(one - other))
        }
        allowed |= {"100"}
    return allowed


def check_error_free(finding: Finding, rate: str, value: float, fails: bool, as_far: bool) -> None:
    """Only of selection can a model without error differ, and the sentence says which way and how far."""
    if rate != "SR":
        assert finding.error_free == 0
        assert not finding.error_free_fails
        assert "without any error" not in finding.statement.text
        return
    assert is_near(finding.error_free, value)
    assert finding.error_free_fails == (fails and as_far)
    assert ("and fail too" in finding.statement.text) == (fails and as_far)
    assert ("less than is shown here" in finding.statement.text) == (fails and not as_far)
    turned = value > 1 if finding.metrics[0] == "DI" else value < 0
    assert ("the other way round" in finding.statement.text) == turned


def check_calibrated_share(finding: Finding, row: dict[str, str], folder: Path) -> set[str]:
    """Compare what was predicted and happened in the score bin that carries a finding."""
    happened, predicted = finding.shares
    bins = pick(
        read_rows(folder, "score_bins"),
        **{"model": finding.model, "attribute": finding.attribute, "group": happened.group},
    )
    one = next(each for each in bins if int(each["bin"]) == int(row["bin"]) + 1)
    n, events, mean = float(one["n"]), float(one["events"]), float(one["mean_score"])
    assert happened.n == n
    assert is_near(happened.value, events / n, 1e-6)
    assert is_near(predicted.value, mean, 1e-6)
    assert is_near(finding.gap, events / n - mean, 1e-6)
    assert is_near(finding.affected, abs(events - n * mean), 1e-5)
    places = [base.where["bin"] for base in finding.statement.basis if base.file == "contrasts.csv"]
    allowed = {f"{(int(place) + end) / 10:g}" for place in places for end in (0, 1)}
    allowed |= {"95", f"{n:,.0f}", "100"}
    allowed |= {
        f"{happened.of * part:,.0f}"
        for part in (happened.value, happened.low, happened.high, predicted.value)
    }
    allowed |= {f"{happened.of:,}", f"{max(round(finding.affected), 1):,}"}
    allowed |= {
        f"{100 * abs(part):.1f}"
        for part in (finding.gap, finding.gap_low, finding.gap_high, finding.threshold)
    }
    return allowed


def check_numbers(text: str, allowed: set[str], names: list[str]) -> None:
    """Every number in a sentence is one of those that it may hold, names aside."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ")
    found = set(re.findall(r"\d[\d,]*(?:\.\d+)?", text.replace(", ", " ")))
    assert found <= allowed, (found - allowed, text)


def check_marks(page: ModelPage, folder: Path, *, alpha: float = 0.05) -> None:
    """Every mark is the least kind answer of its cells, worked out anew."""
    cells = pick(read_rows(folder, "verdicts"), model=page.model)
    own = [] if pick(cells, metric="AUC") else pick(read_rows(folder, "auc_verdicts"), model=page.model)
    expected = defaultdict(list)
    for cell in cells:
        if cell["metric"] == "EOD":
            if not pick(cells, metric="EOPP", attribute=cell["attribute"]):
                expected["found", cell["attribute"]].append(mark_part(cell, cells, "TPR", folder, alpha))
            expected["alarms", cell["attribute"]].append(mark_part(cell, cells, "FPR", folder, alpha))
        elif cell["metric"] in RATE_OF:
            question = QUESTION_OF.get(RATE_OF[cell["metric"]], "order")
            expected[question, cell["attribute"]].append(MARK_OF[cell["standing"]])
    for cell in own:
        expected["order", cell["attribute"]].append(MARK_OF[cell["standing"]])
    told = {(mark.question, mark.attribute): mark for mark in page.marks}
    assert len(told) == len(page.marks) == 6 * len({mark.attribute for mark in page.marks})
    for key, mark in told.items():
        assert mark.mark == min(expected.get(key, ["unjudged"]), key=LEAST_KIND.index), key
        words = {"fails": "shown to fail", "open": ": open", "passes": "shown to pass"}
        words |= {"partly": "passes for those compared", "unjudged": "cannot be judged"}
        assert words[mark.mark] in mark.statement.text or key not in expected


def mark_part(
    cell: dict[str, str], cells: list[dict[str, str]], rate: str, folder: Path, alpha: float
) -> str:
    """Mark one of the two rates of EOD."""
    where = {"model": cell["model"], "metric": "EOD", "attribute": cell["attribute"]}
    known = [row for row in pick(read_rows(folder, "contrasts"), **where) if row["p_fail"]]
    part, board = [row for row in known if row["rate"] == rate], sum(row["shown"] != "none" for row in cells)
    if not part:
        return "unjudged"
    decides = max(known, key=lambda row: (float(row["p_pass"]), -float(row["p_fail"])))
    smallest = min(float(row["p_fail"]) for row in part) * len(known) * board
    if cell["shown"] == "fail" and (decides["rate"] == rate or smallest <= alpha):
        return "fails"
    groups = pick(read_rows(folder, "groups"), model=cell["model"], attribute=cell["attribute"])
    present = {row["group"] for row in groups if float(row["n"])}
    everybody = present <= {row[side] for row in part for side in ("group", "other")}
    if float(cell["p_pass"]) <= alpha or max(float(row["p_pass"]) for row in part) * board <= alpha:
        return "passes" if everybody else "partly"
    return "open"


def check_calibration(page: ModelPage, folder: Path) -> None:
    """Predicted and happened are the groups' mean scores and event rates."""
    kind = [row["kind"] for row in pick(read_rows(folder, "models"), model=page.model)]
    whole = [row for row in page.calibration if not row.where]
    if kind != ["probability"]:
        assert not page.calibration
        return
    groups = [row for row in pick(read_rows(folder, "groups"), model=page.model) if float(row["n"])]
    assert [(row["attribute"], row["group"]) for row in groups] == [
        (one.attribute, one.group) for one in whole
    ]
    for row, one in zip(groups, whole, strict=True):
        assert one.n == int(row["n"])
        assert is_near(one.predicted, 100 * float(row["mean_score"]))
        assert is_near(one.happened, 100 * divide(float(row["events"]), float(row["n"])))
        assert one.low <= one.happened + 1e-9
        assert one.happened <= one.high + 1e-9


def check_unjudged(page: ModelPage, folder: Path) -> set[str]:
    """Groups that are too small are named with what they hold; gives those of whom nobody is judged."""
    asked = {row["metric"] for row in pick(read_rows(folder, "verdicts"), model=page.model)}
    least = {"found": 10, "alarms": 10, "selected": 30, "meaning": 10}
    metrics = {"found": {"EOPP", "EOD"}, "alarms": {"EOD"}, "selected": {"SPD", "DI"}, "meaning": {"PP"}}
    told = {said.text for said in page.unjudged}
    nobody = set()
    count = 0
    for row in pick(read_rows(folder, "groups"), model=page.model):
        held = {"found": float(row["events"]), "alarms": float(row["non_events"])}
        held |= {"selected": float(row["n"]), "meaning": float(row["tp"]) + float(row["fp"])}
        lacking = [name for name in least if metrics[name] & asked and held[name] < least[name]]
        mine = [text for text in told if f"{row['group']} ({row['attribute']};" in text]
        assert len(mine) == bool(lacking), (row["group"], mine)
        count += len(mine)
        if not lacking:
            continue
        everything = len(lacking) == sum(bool(metrics[name] & asked) for name in least)
        assert ("cannot be judged at all" in mine[0]) == everything
        for name in [] if everything else lacking:
            assert TOPICS[name] in mine[0]
        for name in lacking:
            assert re.search(rf"\b{least[name] - held[name]:g} ", mine[0])
        nobody |= {f"{row['group']} ({row['attribute']})"} if everything else set()
    assert count == len(page.unjudged)
    return nobody


def check_answer(page: ModelPage, nobody: set[str]) -> None:
    """The answer begins as what is shown asks, and names what differs and who cannot be judged."""
    marks, text = [mark.mark for mark in page.marks], page.answer.text
    own = [one for one in page.findings if not one.error_free_fails]
    if own:
        assert text.startswith("Not as it is.")
    elif page.findings:
        assert text.startswith(
            "Not cleared: too little is known." if "open" in marks else "Only with a written reason."
        )
    elif "open" in marks:
        assert text.startswith(("Not cleared: nothing is shown", "This audit cannot say"))
    elif set(marks) == {"passes"}:
        assert text.startswith("Yes, as far")
    if "open" in marks:
        assert re.search(rf"\b{marks.count('open')} of {len(marks)} questions? stays? open\b", text)
    told = [one.short in text for one in page.findings]
    assert told == sorted(told, reverse=True)
    assert sum(told) in ((1, 2) if page.findings else (0,))
    assert ("as in a model without any error" in text) == any(
        one.error_free_fails for one in page.findings[: sum(told)]
    )
    assert len(text.split()) <= 52 or sum(told) <= 1
    assert ("Shown: " in text) == bool(page.findings)
    assert ("can be judged" in text.split("Next")[0].replace("could be judged", "")) == bool(nobody)
    for name in sorted(nobody)[:1] if len(nobody) == 1 else ():
        assert name in text
    assert text.count("Next: ") == 1
    assert ("Not at admission" in text) == (
        page.late is not None and page.source == "trained" and page.late.text.startswith("Not for use")
    )


def check_pockets(page: ModelPage, folder: Path) -> None:
    """Every flagged pocket and gap of a map that tells people apart is told once, on its side."""
    errors = pick(read_rows(folder, "pocket_errors"), model=page.model)
    held = defaultdict(list)
    for row in read_rows(folder, "pockets"):
        held[row["map"]].append(int(row["n_audit"]))
    whole = {name for name, n in held.items() if len(n) == 1 or max(n) >= 0.9 * sum(n)}
    flagged = [
        row
        for row in errors
        if row["flagged"] == "True"
        and row["pocket"] != "overall"
        and row["quantity"] != "paired"
        and row["map"] not in whole
    ]
    kinds = {"mu": "error", "delta": "gap"}
    expected = sorted((row["map"], row["pocket"], kinds[row["quantity"]]) for row in flagged)
    assert sorted((note.map, note.pocket, note.kind) for note in page.pockets) == expected
    for note in page.pockets:
        keys = note.statement.basis[0].where
        row = pick(errors, **keys)[0]
        wanted = "too high" if float(row["estimate"]) > 0 else "too low"
        assert wanted in note.statement.text
        assert note.statement.text.startswith(note.pocket)
        n = row["n"] if row["quantity"] == "mu" else row["n_focal"]
        assert f"n = {float(n):,.0f}" in note.statement.text
        scale, digits = (
            (1, 3) if " of 100 people" not in note.statement.text and is_number(folder) else (100, 1)
        )
        assert f"{scale * abs(float(row['estimate'])):,.{digits}f}" in note.statement.text
    text = page.pockets_said.text if page.pockets_said else ""
    assert text.count("no local audit") == (len(whole & {row["map"] for row in errors}))


def is_number(folder: Path) -> bool:
    return bool(json.loads((folder / "run.json").read_text(encoding="utf-8"))["outcome"].get("continuous"))


def check_repair(page: ModelPage, folder: Path) -> None:
    """What passed where thresholds were chosen and on the unseen part is what the file has."""
    rows = pick(read_rows(folder, "baselines"), model=page.model, sweep="")
    for said in page.repair:
        keys = [
            basis.where for basis in said.basis if basis.file == "baselines.csv" and "baseline" in basis.where
        ]
        if len(keys) != 2:
            continue
        before, after = (pick(rows, **{k: v for k, v in key.items()})[0] for key in keys)
        assert f"for {before['di_passes']} of " in said.text
        as_it_is = pick(rows, **{**keys[1], "baseline": "B1"})[0]
        assert f"{after['di_passes']} on {int(after['n']):,} unseen record" in said.text
        assert f"(today {as_it_is['di_passes']})" in said.text
        held = int(after["di_passes"]) >= int(before["di_passes"])
        wanted = "nothing to hold" if before["di_passes"] == "0" else "it held" if held else "it did not hold"
        assert wanted in said.text
        assert f"change {100 * float(after['changed']):.1f}% of the decisions" in said.text


def check_late(page: ModelPage, folder: Path) -> None:
    """Late features forbid use at admission where a model trained here sees them."""
    late = [row["column"] for row in read_rows(folder, "cohort_columns") if row["role"] == "late feature"]
    models = pick(read_rows(folder, "models"), model=page.model)
    sees = bool(late and models) and (models[0]["source"] == "given" or models[0]["features"] == "all")
    assert (page.late is not None) == sees
    if page.late and len(late) <= 6:
        assert all(name in page.late.text for name in late)


def check_json(report: Report, folder: Path, written: Path) -> None:
    """The file holds what the report holds, and no number that is none."""
    text = written.read_text(encoding="utf-8")
    content = json.loads(text, parse_constant=lambda name: pytest_fail(name))
    assert [page["model"] for page in content["pages"]] == [page.model for page in report.pages]
    for section, told in zip(report.annex, content["annex"], strict=True):
        for sheet, kept in zip(section.sheets, told["sheets"], strict=True):
            assert len(kept["table"]) == len(sheet.table)
            file = read_rows(folder, sheet.name)
            if sheet.name != "run.json" and sheet.name not in ("groups",):
                assert len(kept["table"]) == len(file)
                for row, raw in zip(kept["table"], file, strict=True):
                    for name, cell in row.items():
                        check_cell(cell, raw[name])


def pytest_fail(name: str) -> None:
    raise AssertionError(f"report.json holds {name}")


def check_cell(cell: object, raw: str) -> None:
    """A cell of report.json is that of the file; a blank is null or an empty text, never 0."""
    if cell is None or cell == "":
        assert raw == ""
    elif isinstance(cell, bool):
        assert raw == str(cell)
    elif isinstance(cell, str):
        assert (
            cell == raw
            or cell == {"True": "true", "False": "false"}.get(raw)
            or (cell, raw) == ("inf", "inf")
        ), (cell, raw)
    else:
        truth = {"True": 1.0, "False": 0.0}
        assert math.isclose(
            float(cell), truth.get(raw) if raw in truth else float(raw), rel_tol=1e-9, abs_tol=1e-12
        )


def check_report(report: Report, folder: Path, written: Path) -> None:
    """Check all of a report."""
    check_texts(report)
    check_bases(report, folder)
    check_head(report, folder)
    for page in report.pages:
        check_findings(page, folder)
        check_pockets(page, folder)
        check_late(page, folder)
        check_repair(page, folder)
        if page.marks:
            check_marks(page, folder)
            check_calibration(page, folder)
            check_answer(page, check_unjudged(page, folder))
    check_json(report, folder, written)
