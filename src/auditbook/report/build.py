"""How does a finished run become a report?"""

from auditbook.book.say.text import number, share
from auditbook.pockets import OVERALL
from auditbook.report.annex import build_annex
from auditbook.report.answer import answer
from auditbook.report.calibration import build_calibration
from auditbook.report.compare import compare_pages
from auditbook.report.content import ModelPage, Report, Statement
from auditbook.report.findings import MOST, describe_further, list_error_free, list_findings
from auditbook.report.head import build_head
from auditbook.report.late import describe_late
from auditbook.report.matrix import build_marks
from auditbook.report.pockets import build_pockets, describe_pockets
from auditbook.report.repair import list_repairs
from auditbook.report.source import Source, rest_on
from auditbook.report.unjudged import list_unjudged
from auditbook.report.unknown import list_unknown
from auditbook.results import Run, rows


def build_report(run: Run) -> Report:
    """Say what a run has found: every sentence and number of the report, as plain text and data.

    Parameters
    ----------
    run : Run
        A finished run, or one whose small cells are blank: a blank number is then written as withheld.

    Returns
    -------
    Report
        A page a model, in the order of the cohort file; of a continuous outcome with what its pockets show,
        and without pages where no model could be looked at. Texts are neither marked up nor escaped.

    Examples
    --------
    >>> build_report(read_run(Path("runs/texas-twin"))).pages[0].answer.text  # doctest: +SKIP
    """
    source = Source(run)
    comparison, sheet = compare_pages(source)
    report = Report(
        head=build_head(source),
        pages=tuple(build_page(source, model) for model in source.models),
        comparison=comparison,
        comparison_sheet=sheet,
        annex=build_annex(source),
        smallest_cell=source.smallest_cell,
    )
    return source.wording.restore(report) if source.wording else report


def build_page(source: Source, model: str) -> ModelPage:
    """Build the first page of one model."""
    findings = list_findings(source, model)
    judged = len(source.of("verdicts", model=model))
    marks = build_marks(source, model) if judged else ()
    kind = source.of("models", model=model)["source"]
    return ModelPage(
        model=model,
        source=str(kind.iloc[0]) if len(kind) else _find_source(source, model),
        answer=answer(source, model, findings, marks),
        findings=tuple(findings[:MOST]),
        further=describe_further(source, model, findings),
        without_error=list_error_free(source, model),
        unjudged=list_unjudged(source, model),
        marks=marks,
        calibration=build_calibration(source, model, findings),
        pockets=build_pockets(source, model),
        pockets_said=describe_pockets(source, model),
        repair=list_repairs(source, model),
        late=describe_late(source, model),
        unknown=list_unknown(source, model),
        accuracy=describe_accuracy(source, model),
    )


def _find_source(source: Source, model: str) -> str:
    """Tell where a model comes from that only pockets looked at."""
    trained = (source.run.info.get("pockets") or {}).get("trained") or []
    return "trained" if model in trained else "given"


def describe_accuracy(source: Source, model: str) -> Statement:
    """Say how well the model orders and decides: without that no group metric matters."""
    basis = (rest_on("models.csv", model=model),)
    found = rows(source.of("models", model=model))
    if not found:
        return _describe_mean(source, model)
    row = found[0]
    parts = []
    if row.auroc == row.auroc:
        known = row.auroc_low == row.auroc_low and row.auroc_high == row.auroc_high
        ends = f" (95% interval {number(row.auroc_low, digits=2)} to {number(row.auroc_high, digits=2)})"
        ends = ends if known else ""
        parts.append(f"AUROC {number(row.auroc, digits=2)}{ends}")
    if row.accuracy == row.accuracy:
        parts.append(f"{share(row.accuracy, digits=0)} of decisions right")
    if row.selection_rate == row.selection_rate:
        parts.append(f"{share(row.selection_rate, digits=0)} selected")
    return Statement(f"{'; '.join(parts)}." if parts else "Nothing is known of how well it decides.", basis)


def _describe_mean(source: Source, model: str) -> Statement:
    """Say what was predicted and what happened in the mean, of a model whose decisions are not judged."""
    whole = source.of("pocket_errors", model=model, quantity="mu", pocket=OVERALL, status="tested")
    known = rows(whole.dropna(subset=["mean_prediction", "mean_outcome"]))
    if not known:
        return Statement("No decision of this model is judged.")
    row = known[0]
    text = (
        f"{number(row.mean_prediction)} predicted and {number(row.mean_outcome)} happened, in the mean over "
        f"{source.people(row.n, 'record', 'records')}."
    )
    basis = rest_on("pocket_errors.csv", model=model, map=row.map, quantity="mu", pocket=OVERALL)
    return Statement(text, (basis,))
