"""How does the report of a finished run reach its folder, whole or not at all?"""

import shutil
import tempfile
from pathlib import Path

from auditbook.book import open_run
from auditbook.errors import RunError
from auditbook.report.build import build_report
from auditbook.report.page import Paper, make_page
from auditbook.report.pdf import make_pdf
from auditbook.report.to_json import write_json

FOLDER = "report"


def write_report(run_folder: Path) -> str:
    """Write ``report/index.html``, ``report/report.pdf`` and ``report/report.json`` of a finished run.

    The three replace those of before together. Where nothing can print, page and data are written without a
    PDF; where anything else fails, those of before stay.

    Parameters
    ----------
    run_folder : Path
        Folder of the run, such as ``runs/texas-twin``. Its paper is that of ``[report]`` of the cohort file.

    Returns
    -------
    str
        Why there is no ``report.pdf``; blank where there is one.

    Raises
    ------
    InputError
        If the folder holds no finished run.

    Examples
    --------
    >>> write_report(Path("runs/texas-twin"))  # doctest: +SKIP
    ''
    """
    run = open_run(str(run_folder))
    report = build_report(run)
    paper: Paper = "Letter" if (run.info.get("report") or {}).get("paper") == "Letter" else "A4"
    with tempfile.TemporaryDirectory(dir=run_folder, prefix=".report-") as place:
        draft = Path(place) / FOLDER
        write_json(report, draft / "report.json")
        (draft / "index.html").write_text(make_page(report, paper=paper), encoding="utf-8")
        missing = ""
        try:
            make_pdf(report, draft / "report.pdf", paper=paper)
        except RunError as wrong:
            missing = str(wrong)
            (draft / "report.pdf").unlink(missing_ok=True)
        _replace(draft, run_folder / FOLDER)
    return missing


def _replace(draft: Path, target: Path) -> None:
    """Put a folder in the place of what was there."""
    last = draft.with_name("last")
    if target.is_dir() and not target.is_symlink():
        target.rename(last)
    else:
        target.unlink(missing_ok=True)
    shutil.move(draft, target)
