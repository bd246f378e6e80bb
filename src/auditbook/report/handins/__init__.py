"""On which forms can a finished run be handed in?

Each form is a module of this folder with one function, ``write(run, report, path)``.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from auditbook.errors import InputError, nearest
from auditbook.report.content import Report
from auditbook.results import Run


@dataclass(frozen=True)
class Form:
    """A form that a run can be handed in on."""

    module: str  # In this folder
    file: str  # What it is called in the run's folder ``report``
    about: str


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "xlsx": Form("xlsx", "tables.xlsx", "every result table, and impact ratios (New York City)"),
        "docx": Form("docx", "bias-assessment.docx", "bias assessment of two pages (45 CFR 92.210)"),
        "chai": Form("chai", "chai-model-card.xml", "CHAI Applied Model Card"),
        "tripod-ai": Form("tripod_ai", "tripod-ai.docx", "TRIPOD+AI checklist"),
        "mlbom": Form("mlbom", "ml-bom.cdx.json", "bill of materials of the model (CycloneDX)"),
        "hti1": Form("hti1", "hti1-source-attributes.json", "source attributes (45 CFR 170.315(b)(11))"),
    }
)


def find_form(name: str) -> Form:
    """Look a form up by its name; InputError that names the nearest where there is none."""
    if name not in FORMS:
        raise InputError(f"no form '{name}'{nearest(name, FORMS)}; there are: {', '.join(FORMS)}")
    return FORMS[name]


def write_form(form: Form, run: Run, report: Report, path: Path) -> None:
    """Fill a form and put it, with any file that belongs beside it, in its place: whole or not at all."""
    with TemporaryDirectory(prefix=".export-", dir=path.parent) as draft:
        import_module(f"{__name__}.{form.module}").write(run, report, Path(draft) / path.name)
        for made in sorted(Path(draft).iterdir()):
            os.replace(made, path.with_name(made.name))
