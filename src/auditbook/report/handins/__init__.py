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

from auditbook.book import open_run
from auditbook.errors import InputError, nearest
from auditbook.report.build import build_report
from auditbook.report.content import Report
from auditbook.results import Run


@dataclass(frozen=True)
class Form:
    """A form that a run can be handed in on."""

    module: str  # In this folder
    file: str  # What it is called in the run's folder ``exports``
    about: str


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "xlsx": Form("xlsx", "tables.xlsx", "every result table, and impact ratios (New York City)"),
        "docx": Form("docx", "bias-assessment.docx", "bias assessment of two pages (45 CFR 92.210)"),
        "chai": Form("chai", "chai-model-card.xml", "CHAI Applied Model Card"),
        "tripod-ai": Form("tripod_ai", "tripod-ai.docx", "TRIPOD+AI checklist"),
        "mlbom": Form("mlbom", "ml-bom.cdx.json", "bill of materials of the model (CycloneDX)"),
        "hti1": Form("hti1", "hti1-source-attributes.xlsx", "source attributes (45 CFR 170.315(b)(11))"),
    }
)


def find_form(name: str) -> Form:
    """Look a form up by its name; InputError that names the nearest where there is none."""
    if name not in FORMS:
        raise InputError(f"no form '{name}'{nearest(name, FORMS)}; there are: {', '.join(FORMS)}")
    return FORMS[name]


def export_run(run_folder: Path, form: str, output: Path | None = None) -> Path:
    """Fill a form from a finished run.

    Parameters
    ----------
    run_folder : Path
        The folder of the run, such as ``runs/texas-twin``.
    form : str
        One of `FORMS`.
    output : Path, optional
        The file to write, or a folder to put it in; without it the folder ``exports`` of the run, which no
        later audit touches. A file that is there is not overwritten.

    Returns
    -------
    Path
        The file that was written. What a form needs beside it lies in the same folder.

    Raises
    ------
    InputError
        If there is no such form or finished run, or the file cannot be put there.

    Examples
    --------
    >>> export_run(Path("runs/texas-twin"), "xlsx")  # doctest: +SKIP
    """
    chosen = find_form(form)
    run = open_run(str(run_folder))
    path = _place(run_folder, chosen, output)
    write_form(chosen, run, build_report(run), path)
    return path


def _place(run_folder: Path, form: Form, output: Path | None) -> Path:
    """Say where a form goes, and see to it that its folder is there."""
    if output is None:
        folder = run_folder / "exports"
        folder.mkdir(exist_ok=True)
        return _refuse_taken(folder / form.file)
    path = output / form.file if output.is_dir() else output
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to put {path.name} in; make it, or name another")
    return _refuse_taken(path)


def _refuse_taken(path: Path) -> Path:
    """Refuse to write where a file is: somebody may have filled in or signed it."""
    if os.path.lexists(path):
        raise InputError(f"{path} is there already; it is not overwritten: move it or use --output FILE")
    return path


def write_form(form: Form, run: Run, report: Report, path: Path) -> None:
    """Fill a form and put it, with any file that belongs beside it, in its place: whole or not at all."""
    with TemporaryDirectory(prefix=".export-", dir=path.parent) as draft:
        import_module(f"{__name__}.{form.module}").write(run, report, Path(draft) / path.name)
        for made in sorted(Path(draft).iterdir()):
            os.replace(made, path.with_name(made.name))
