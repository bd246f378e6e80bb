"""What is the answer in one sentence: may it be used as it is, for whom not, what next?"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from auditbook.book.say.text import agree, count, count_of, plural
from auditbook.report.content import Finding, Mark, Statement
from auditbook.report.findings import RISKS
from auditbook.report.late import forbids_admission
from auditbook.report.matrix import NEEDED, TOPICS, find_settling, round_up
from auditbook.report.pockets import list_gaps, list_tests
from auditbook.report.source import Source, list_names, rest_on, start
from auditbook.report.unjudged import name_nobody
from auditbook.results import match_rows
from auditbook.verdicts import judge_reach

MOST_NAMED = 3
"""Groups and questions that the answer names; more are counted."""
MOST_TOLD = 2
"""Findings that the answer tells; more are counted."""
MOST_WORDS = 52
"""Beyond so many words the answer tells one finding, and then no size: it is to be read aloud."""


def answer(source: Source, model: str, findings: Sequence[Finding], marks: Sequence[Mark]) -> Statement:
    """Say in a line whether the model may be used, for whom not, and what comes next."""
    if not marks:
        return _answer_pockets(source, model)
    basis = tuple(rest_on(f"{name}.csv", model=model) for name in ("verdicts", "auc_verdicts", "groups"))
    size, nobody = _write_size(source, model, marks), name_nobody(source, model)
    ways = ((MOST_TOLD, size), (1, size), (1, ""))
    text = ""
    for (told, more), why in product(ways, (True, False)):
        left = _write_left(nobody, marks, why=why)
        text = _write_answer(source, model, findings, marks, told=told, left=left, more=more)
        if len(text.split()) <= MOST_WORDS:
            break
    return Statement(text, basis)


def _write_answer(
    source: Source,
    model: str,
    findings: Sequence[Finding],
    marks: Sequence[Mark],
    *,
    told: int,
    left: str,
    more: str,
) -> str:
    """Write the answer: how many findings, what is left open, and how many more records it takes."""
    late = "Not at admission: it sees what is known only at the end of a stay."
    parts = [
        _write_verdict(source, model, findings, marks),
        late if forbids_admission(source, model) else "",
        _write_shown(findings, told),
        left,
        _write_next(source, model, findings, marks, more=more),
    ]
    return " ".join(part for part in parts if part)


def _pick(marks: Sequence[Mark], *names: str) -> list[Mark]:
    return [mark for mark in marks if mark.mark in names]


def _write_verdict(source: Source, model: str, findings: Sequence[Finding], marks: Sequence[Mark]) -> str:
    """Begin with whether it may be used as it is."""
    if findings and all(one.error_free_fails for one in findings):
        return _write_explained(marks)
    if findings or _pick(marks, "fails"):
        return "Not as it is."
    rate = source.of("models", model=model)["selection_rate"]
    if rate.isin([0, 1]).any():
        return f"This audit cannot say: the model selects {'everybody' if rate.iloc[0] else 'nobody'}."
    if all(mark.mark == "unjudged" for mark in marks):
        return "This audit cannot say: no two groups could be compared."
    if _pick(marks, "open"):
        return (
            "Not cleared: nothing is shown to differ by group, and too little is known to say that nothing "
            "does."
        )
    return _write_passing(source, model, marks)


def _write_explained(marks: Sequence[Mark]) -> str:
    """Begin where all that is shown to fail would fail in a model without any error too."""
    return "Not cleared: too little is known." if _pick(marks, "open") else "Only with a written reason."


def _write_passing(source: Source, model: str, marks: Sequence[Mark]) -> str:
    """Begin where all that could be judged passes: for all, for those compared, or with questions left."""
    kind = source.of("models", model=model)["kind"].iloc[0]
    lost = [mark for mark in _pick(marks, "unjudged") if kind not in NEEDED.get(mark.question, ())]
    if lost:
        named = list_names(
            (f"{TOPICS[mark.question]} by {mark.attribute}" for mark in lost), limit=MOST_NAMED
        )
        return f"Not cleared: what could be judged is shown to pass, but not judged: {named}."
    flagged = count_flagged(source, model)
    if flagged:
        tests = plural(flagged, "test")
        return (
            "Not everywhere: what was asked by group is shown to pass, but "
            f"{tests} of pockets {agree(flagged, 'shows', 'show')} that the score errs."
        )
    if _pick(marks, "partly"):
        return "Yes for those who could be compared, as far as this audit can tell; not for the others."
    return "Yes, as far as this audit can tell: all that it could ask is shown to pass."


def count_flagged(source: Source, model: str) -> int:
    """Count the flagged errors and gaps of a model, in pockets and over all records together."""
    return int(list_tests(source, model)["flagged"].sum()) if len(source.table("pocket_errors")) else 0


def _write_shown(findings: Sequence[Finding], told: int) -> str:
    """Tell the gravest findings as people, and count the others."""
    if not findings:
        return ""
    said = [
        f"{one.short}{', as in a model without any error' if one.error_free_fails else ''}"
        for one in findings[:told]
    ]
    more = len(findings) - len(said)
    rest = [f"{count(more)} more below"] if more else []
    return f"Shown: {'; '.join([*said, *rest])}."


def _write_left(nobody: Sequence[str], marks: Sequence[Mark], *, why: bool) -> str:
    """Say how much is open, and of whom nobody can be judged."""
    left = _pick(marks, "open")
    reason = " (too few records to tell)" if why else ""
    stay = agree(len(left), "stays", "stay")
    told = [f"{count_of(len(left), len(marks), 'question')} {stay} open{reason}"] if left else []
    if nobody:
        told.append(f"nobody in {list_names(nobody, limit=MOST_NAMED)} can be judged")
    return f"{start('; '.join(told))}." if told else ""


def _write_next(
    source: Source, model: str, findings: Sequence[Finding], marks: Sequence[Mark], *, more: str
) -> str:
    """Say what comes next."""
    each = agree(len(findings), "the difference", "each difference")
    if findings and all(one.error_free_fails for one in findings):
        rest = f", and audit more records before relying on it{more}" if _pick(marks, "open") else ""
        return f"Next: justify {each} in writing{rest}."
    if findings and all(one.metrics[0] in RISKS for one in findings):
        return "Next: have it recalibrated, and audit it again on other patients."
    if findings or _pick(marks, "fails"):
        return f"Next: change the model or its use, or justify {each} in writing."
    if source.of("models", model=model)["selection_rate"].isin([0, 1]).any():
        return "Next: ask at which threshold it is used, and audit it there."
    if all(mark.mark == "unjudged" for mark in marks):
        return "Next: gather the records that are missing, and audit again."
    if _pick(marks, "open"):
        return f"Next: audit more records before relying on it{more}."
    if count_flagged(source, model):
        return "Next: have people look at the flagged pockets, and audit again on other patients."
    return "Next: audit again when the model or its patients change."


def _write_size(source: Source, model: str, marks: Sequence[Mark]) -> str:
    """Say how many records would settle half of the open questions that can be settled."""
    sizes = []
    for mark in _pick(marks, "open"):
        metrics = match_rows(source.marks, model=model, question=mark.question, attribute=mark.attribute)
        cells = match_rows(source.board, model=model, attribute=mark.attribute)
        sizes.append(find_settling(cells[cells["metric"].isin(metrics["metrics"].iloc[0])]))
    audited = source.count_audited(model)
    known = sorted(size for size in sizes if judge_reach(size, audited) == "can be had")
    if not known:
        return ""
    size = known[math.ceil(len(known) / 2) - 1]
    settled = int(np.sum(np.array(known) <= size))
    return (
        f": about {plural(round_up(size), 'record')} would settle {count(settled)} of {count(len(sizes))}, "
        "if today's estimates are the truth"
    )


def _answer_pockets(source: Source, model: str) -> Statement:
    """Answer for a model of which only pockets were looked at."""
    tests = list_tests(source, model)
    why = "The outcome is a number, so that no decision is judged." if source.continuous else ""
    basis = (rest_on("pocket_errors.csv", model=model),)
    return Statement(f"{why} {_judge_tests(source, model, tests)}".strip(), basis)


def _judge_tests(source: Source, model: str, tests: pd.DataFrame) -> str:
    """Say whether it may be used as far as tests of its mean errors and gaps tell."""
    if tests.empty:
        return "This audit cannot say: nothing could be tested. Next: gather more records, and audit again."
    flagged = count_flagged(source, model)
    made = f"{plural(len(tests), 'test')} of mean errors and of gaps between groups"
    if not flagged:
        return (
            f"Not cleared: in {made} nothing is shown to err, which does not show that nothing does. "
            "Next: audit again on other patients."
        )
    gaps = list_gaps(source, model)
    whom = f" It is {list_names(gaps, limit=MOST_TOLD)}." if gaps else ""
    return (
        f"Not as it is: {count(flagged)} of {made} {agree(flagged, 'shows', 'show')} that the "
        "prediction errs."
        f"{whom} Next: have it recalibrated, and audit again on other patients."
    )
