"""What is the answer in one sentence: may it be used as it is, for whom not, what next?"""

from collections.abc import Sequence

from auditbook.book.say.text import count, join_words, plural
from auditbook.pockets import OVERALL, is_true
from auditbook.report.content import Finding, Mark, Statement
from auditbook.report.late import forbids_admission
from auditbook.report.matrix import TOPICS
from auditbook.report.source import Source, list_names, rest_on
from auditbook.results import rows


def answer(source: Source, model: str, findings: Sequence[Finding], marks: Sequence[Mark]) -> Statement:
    """Say in a line whether the model may be used, for whom not, and what comes next."""
    if not marks or source.of("verdicts", model=model).empty:
        return _answer_pockets(source, model)
    admission = " Not at admission: it sees what is known only at the end of a stay." * forbids_admission(
        source, model
    )
    parts = [
        _write_verdict(findings, marks) + admission,
        *_write_failing(findings, marks),
        _write_rest(marks),
        _write_unjudged(source, model),
    ]
    parts.append(_write_next(findings, marks))
    return Statement(
        " ".join(part for part in parts if part),
        (
            rest_on("verdicts.csv", model=model),
            rest_on("auc_verdicts.csv", model=model),
            rest_on("groups.csv", model=model),
        ),
    )


def _pick(marks: Sequence[Mark], *names: str) -> list[Mark]:
    return [mark for mark in marks if mark.mark in names]


def _write_verdict(findings: Sequence[Finding], marks: Sequence[Mark]) -> str:
    """Begin with whether it may be used as it is."""
    if findings and all(one.error_free_fails for one in findings):
        return (
            "Only with a written reason: what is shown to differ would differ in a model without any "
            "error too."
        )
    if findings or _pick(marks, "fails"):
        return "Not as it is."
    if all(mark.mark == "unjudged" for mark in marks):
        return "This audit cannot say: no group could be compared with another."
    if _pick(marks, "open"):
        return "Not cleared: nothing is shown to differ, and not enough is known to say that nothing does."
    if _pick(marks, "partly", "unjudged"):
        return (
            "Yes for those who could be compared, as far as this audit can tell; nothing is cleared "
            "for the others."
        )
    return "Yes, as far as this audit can tell: every question that it asks is shown to pass."


def _write_failing(findings: Sequence[Finding], marks: Sequence[Mark]) -> list[str]:
    """Name what is shown to differ, and the group concerned, the most people first."""
    named = [f"{TOPICS[one.question]} by {one.attribute} ({one.shares[0].group})" for one in findings]
    return [f"Shown to differ: {list_names(dict.fromkeys(named))}."] if named else []


def _write_rest(marks: Sequence[Mark]) -> str:
    """Count what is open and what passes."""
    asked = len(marks)
    words = {"open": "open", "passes": "shown to pass", "partly": "passed for those compared"}
    told = [f"{count(len(found))} {text}" for name, text in words.items() if (found := _pick(marks, name))]
    return f"Of {plural(asked, 'question')} by attribute, {join_words(told)}." if told else ""


def _write_unjudged(source: Source, model: str) -> str:
    """Name the groups of which too few are there to judge anything."""
    groups = source.of("groups", model=model)
    least = source.run.protocol.min_records
    few = groups[~(groups["n"] >= least)]
    named = dict.fromkeys(f"{row.group} ({row.attribute})" for row in rows(few))
    return f"Nobody of {list_names(named)} can be judged." if named else ""


def _write_next(findings: Sequence[Finding], marks: Sequence[Mark]) -> str:
    """Say what comes next."""
    if findings or _pick(marks, "fails"):
        return "Next: change the model or its use, or justify each difference in writing, and audit again."
    if all(mark.mark == "unjudged" for mark in marks):
        return "Next: gather the records that are missing, and audit again."
    if _pick(marks, "open"):
        return "Next: audit more records of the groups named before relying on it for them."
    return "Next: audit again when the model or its patients change."


def _answer_pockets(source: Source, model: str) -> Statement:
    """Answer for a model of which only pockets were looked at."""
    errors = source.of("pocket_errors", model=model)
    inside = errors[(errors["pocket"] != OVERALL) & (errors["status"] == "tested")]
    flagged = inside[is_true(inside["flagged"])]
    basis = (rest_on("pocket_errors.csv", model=model),)
    why = "The outcome is a number, so that no decision is judged. " if source.continuous else ""
    if inside.empty:
        return Statement(
            f"{why}This audit cannot say: no pocket could be tested. Next: gather more records, "
            "and audit again.",
            basis,
        )
    tests = plural(len(inside), "test")
    if flagged.empty:
        return Statement(
            f"{why}Not cleared: in {tests} of pockets and gaps nothing is shown to err, which does "
            "not show that nothing does. Next: audit again on other patients.",
            basis,
        )
    return Statement(
        f"{why}Not as it is: in {count(len(flagged))} of {tests} of pockets and gaps the "
        "prediction is shown to err. "
        "Next: have it recalibrated there, and audit again on other patients.",
        basis,
    )
