"""How does an audit go step by step: each is announced, timed, and its tables are written."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from auditbook.cohort import Cohort
from auditbook.pockets import make_pockets, save_map
from auditbook.progress import Progress
from auditbook.results import write_results
from auditbook.run.folder import note_step
from auditbook.run.plan import Plan

T = TypeVar("T")
Tables = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Steps:
    """The steps of an audit."""

    plan: Plan  # What was asked; tables go to its folder ``next``
    timing: dict[str, Any]  # Content of run.json with the list ``steps``; grows with every step
    progress: Progress  # Is told of every step

    def do(self, name: str, text: str, make: Callable[[], T]) -> T:
        """Do one step and return what it made."""
        started = time.monotonic()
        self.progress.say(f"{name}: {text}")
        made = make()
        note_step(self.timing, name, "done", time.monotonic() - started)
        self.progress.done()
        return made

    def tabulate(self, name: str, text: str, make: Callable[[], dict[str, pd.DataFrame]]) -> Tables:
        """Do a step that makes tables, and write them into ``next``."""

        def write() -> Tables:
            tables = make()
            write_results(tables, self.plan.next / "results")
            return tables

        return self.do(name, text, write)

    @property
    def work(self) -> dict[str, Any]:
        """How much of the machine a step may use, where it keeps its models, and whom it tells."""
        request = self.plan.request
        return {
            "cache_dir": self.plan.cache,
            "jobs": request.jobs,
            "force": request.force,
            "progress": self.progress.say,
        }


def find_pockets(steps: Steps, cohort: Cohort) -> dict[str, Any]:
    """Make the tables and maps of the pocket audit, in ``next``."""
    plan = steps.plan
    settings = plan.request.profile.apply_to_pockets(plan.file.pockets)
    found = steps.do(
        "pockets",
        "maps learned from the outcome, frozen, and tested",
        lambda: make_pockets(cohort, settings=settings, seed=plan.protocol.seed, **steps.work),
    )
    write_results(found.tables, plan.next / "results")
    for one in found.maps:
        save_map(one, plan.next / "results" / f"{one.name}_map.npz")
    return found.status
