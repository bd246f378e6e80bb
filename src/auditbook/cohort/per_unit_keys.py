"""What do one record a unit, and a time before the event, need of a cohort file?"""

from auditbook.cohort.schema import CohortFile
from auditbook.tables import Faults

KEY = "[unit] score_per_unit"


def check_per_unit(file: CohortFile, faults: Faults) -> None:
    """Find a rule about the records of a unit that lacks what it needs."""
    rule = file.unit.score_per_unit
    if rule is None:
        return
    if not file.unit.names:
        faults.add(KEY, 'there is no unit; name the column of the stay or patient: [unit] column = "…"')
    elif file.unit_is_site:
        faults.add(KEY, "the unit is the site, and no one record stands for a site; name a finer unit")
    if rule in ("first", "last") and file.time.column is None:
        told = f'"{rule}" needs to know when a record was made, since the order of rows may mean nothing; '
        faults.add(KEY, told + 'name a date: [time] column = "…", or write "max"')
    if rule == "max" and file.panel.models:
        told = "is the largest of given scores, and models trained here see one record a unit"
        faults.add(KEY, f'"max" {told}; write "first" or "last", or set [panel] models = []')
    turned: dict[str, set[str]] = {}
    for score in file.scores:
        turned.setdefault(score.column, set()).add(score.event_is)
    for column in (name for name, found in turned.items() if rule == "max" and len(found) > 1):
        told = f"high ones of '{column}' speak for the event in one score and low ones in another"
        faults.add(KEY, f"{told}, so that no value is the largest; keep one of the two")


def check_event_time(file: CohortFile, faults: Faults) -> None:
    """Find a time of the event that lacks what it needs."""
    where, time = "[outcome] time", file.outcome.time
    if time is None:
        return
    if file.time.column is None:
        advice = 'name the column that says so: [time] column = "…"'
        faults.add(where, f"nothing says when a prediction was made; {advice}")
    if file.time.column == time:
        faults.add(where, f"'{time}' is also the time of the prediction; name the time of the event")
    if file.outcome.continuous:
        faults.add(where, "the outcome is a number, which happens at no time; delete the line")
    if file.weight.column is not None:
        faults.add(where, "times before the event are not weighted; delete the line, or [weight]")
