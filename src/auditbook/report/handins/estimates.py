"""Which numbers of a model go into a form: of everybody and of each group, with their intervals?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from auditbook.report.source import Source
from auditbook.results import rows

RATES = {
    "SR": "Selection rate",
    "TPR": "True positive rate (sensitivity)",
    "FPR": "False positive rate (1 - specificity)",
    "PPV": "Positive predictive value",
    "ER": "Event rate",
}
AREA = "Area under the ROC curve"
OVERALL = {
    "accuracy": "Accuracy",
    "selection_rate": RATES["SR"],
    "event_rate": RATES["ER"],
    "brier": "Brier score",
}
LOGIT = {"intercept": "Calibration intercept", "slope": "Calibration slope"}
MEAN_ERRORS = {"mu": "Mean error", "delta": "Gap in mean error"}


@dataclass(frozen=True)
class Estimate:
    """A number of a model as its result file has it, and of whom it is."""

    measure: str
    value: float
    low: float | None = None  # None: the result file has no such bound
    high: float | None = None
    attribute: str = ""  # Blank: all audited records
    group: str = ""
    file: str = "models.csv"
    is_share: bool = True
    level: float = 0.95  # Coverage of the interval

    @property
    def of_whom(self) -> str:
        """Name the records that it is of."""
        return ": ".join(filter(None, (self.attribute, self.group))) or "all audited records"


@dataclass(frozen=True)
class Estimates:
    """The numbers of one model that a form may hold."""

    overall: tuple[Estimate, ...] = ()
    groups: tuple[Estimate, ...] = ()
    calibration: tuple[Estimate, ...] = ()  # Of a model audited in pockets alone: mean errors
    withheld: int = 0  # Numbers of groups that too few people stand behind
    undefined: int = 0  # Numbers of groups with nobody to count

    @property
    def all(self) -> tuple[Estimate, ...]:
        """List them in the order of a form."""
        return self.overall + self.groups + self.calibration


def list_estimates(source: Source, model: str) -> Estimates:
    """List the numbers of one model; those that are withheld or undefined are counted, not listed."""
    if source.of("models", model=model).empty:  # Audited in pockets alone
        return Estimates(calibration=tuple(_list_mean_errors(source, model)))
    undefined = _list_undefined(source, model)
    return Estimates(
        tuple(_list_overall(source, model)),
        (*_list_rates(source, model), *_list_areas(source, model)),
        tuple(_list_calibration(source, model)),
        undefined.count(False),
        undefined.count(True),
    )


def _list_undefined(source: Source, model: str) -> list[bool]:
    """Say of each blank number of a group whether it is undefined; what else is blank is withheld."""
    rates = [row for row in rows(source.of("rates", model=model)) if row.rate in RATES]
    areas = [
        row for row in rows(source.of("auc_matrix", model=model)) if row.event_group == row.nonevent_group
    ]
    nobody = [row.n == 0 for row in rates if math.isnan(row.value)]
    return nobody + [row.status == "undefined" for row in areas if math.isnan(row.auc)]


def _list_overall(source: Source, model: str) -> Iterator[Estimate]:
    """List what models.csv says of all audited records."""
    for row in rows(source.of("models", model=model)):
        if not math.isnan(row.auroc):
            yield Estimate(AREA, row.auroc, _known(row.auroc_low), _known(row.auroc_high))
        for column, measure in OVERALL.items():
            if not math.isnan(value := getattr(row, column)):
                yield Estimate(measure, value, is_share=column != "brier")


def _list_rates(source: Source, model: str) -> Iterator[Estimate]:
    """List the rates of every group."""
    for row in rows(source.of("rates", model=model)):
        if row.rate in RATES and not math.isnan(row.value):
            bounds = _known(row.low), _known(row.high)
            yield Estimate(RATES[row.rate], row.value, *bounds, row.attribute, row.group, "rates.csv")


def _list_areas(source: Source, model: str) -> Iterator[Estimate]:
    """List the areas within every group."""
    for row in rows(source.of("auc_matrix", model=model)):
        if row.event_group == row.nonevent_group and not math.isnan(row.auc):
            bounds = _known(row.ci_low), _known(row.ci_high)
            yield Estimate(AREA, row.auc, *bounds, row.attribute, row.event_group, "auc_matrix.csv")


def _list_calibration(source: Source, model: str) -> Iterator[Estimate]:
    """List calibration intercept and slope of everybody and of every group."""
    for row in rows(source.of("calibration", model=model)):
        attribute, group = ("", "") if row.attribute == "all" else (row.attribute, row.group)
        for column, measure in LOGIT.items():
            value, low, high = (getattr(row, f"{column}{end}") for end in ("", "_low", "_high"))
            if not math.isnan(value):
                bounds = _known(low), _known(high)
                yield Estimate(measure, value, *bounds, attribute, group, "calibration.csv", is_share=False)


def _list_mean_errors(source: Source, model: str) -> Iterator[Estimate]:
    """List the mean error of all audited records, and its gap between groups."""
    for row in rows(source.of("pocket_errors", model=model, pocket="overall")):
        if row.quantity in MEAN_ERRORS and not math.isnan(row.estimate):
            measure = f"{MEAN_ERRORS[row.quantity]}, by the {row.map} map"
            place = _known(row.ci_low), _known(row.ci_high), "", row.contrast, "pocket_errors.csv"
            yield Estimate(measure, row.estimate, *place, is_share=False, level=1 - row.level)


def _known(bound: float) -> float | None:
    """Say None of a bound that a result file leaves blank."""
    return None if math.isnan(bound) else float(bound)
