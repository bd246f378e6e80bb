"""How does a report become a PDF: printed by a Chromium that is found, else by WeasyPrint?"""

import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
from itertools import islice, pairwise
from pathlib import Path

from auditbook.errors import RunError
from auditbook.report.content import Report
from auditbook.report.page import WHOLE_PAPER, Paper, make_page

CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FLAGS = """
--headless --disable-gpu --disable-quic --disable-dev-shm-usage --disable-extensions --disable-sync
--disable-background-networking --disable-component-update --disable-default-apps --disable-breakpad
--no-first-run --no-default-browser-check --no-pdf-header-footer --virtual-time-budget=2000
""".split()
PATIENCE = 60
"""Seconds after which a browser that has not printed is given up."""
TRIES = 6
"""How often a report is printed at most."""
MOST_PAGES = 8
"""Pages of the report of one model."""
NO_PRINTER = (
    "no report.pdf: neither Chromium nor WeasyPrint's library Pango is installed; install one of them, or "
    "print report/index.html from a browser"
)
_INFO = re.compile(rb"%PDF-1\.\d\n%[^\n]+\n1 0 obj\n<<(.*?)>>\nendobj\n\d+ 0 obj\n", re.DOTALL)
"""Where Chromium says of itself in a PDF; what is shorter fits in its place, and nothing else moves."""
_END = re.compile(rb"trailer\n<<[^>]*/Info 1 0 R>>\nstartxref\n\d+\n%%EOF\n\Z")


def make_pdf(report: Report, target: Path, *, paper: Paper = "A4") -> None:
    """Print a report to a file, again with less on it while it proves longer than foreseen.

    Raises RunError if there is nothing to print with, or the browser fails.
    """
    room = WHOLE_PAPER
    for _ in range(TRIES):
        _print(make_page(report, paper=paper, room=room), target)
        lengths, pages = measure(target, len(report.pages))
        is_long = len(report.pages) == 1 and pages > MOST_PAGES
        if max(lengths, default=1) == 1 and not is_long:
            break
        room = room.tighten(lengths, annex_too_long=is_long)
    _clean(target, f"Fairness audit: {report.head.title}")


def find_chromium() -> str | None:
    """Find a browser to print with."""
    return next((path for name in CHROMIUMS if (path := shutil.which(name))), None)


def _print(html: str, target: Path) -> None:
    """Print by the browser; by WeasyPrint where there is none, or where it fails."""
    chromium = find_chromium()
    if not chromium:
        print_by_weasyprint(html, target)
        return
    try:
        print_by_chromium(html, target, chromium)
    except RunError as failed:
        try:
            print_by_weasyprint(html, target)
        except RunError:
            raise failed from None


def print_by_chromium(html: str, target: Path, chromium: str) -> None:
    """Print a page by a headless browser with a profile of its own, which is thrown away."""
    with tempfile.TemporaryDirectory(prefix="auditbook-print-", ignore_cleanup_errors=True) as folder:
        page, printed = Path(folder) / "report.html", Path(folder) / "report.pdf"
        page.write_text(html, encoding="utf-8")
        root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        profile = f"--user-data-dir={folder}/profile"
        said = _call([chromium, *FLAGS, *root, profile, f"--print-to-pdf={printed}", page.as_uri()])
        if not printed.is_file():
            raise RunError(f"no report.pdf: the browser did not print the report ({said})")
        shutil.copyfile(printed, target)


def _call(command: list[str]) -> str:
    """Run the browser; end it with all its processes when it takes too long. Returns its last words."""
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as browser:
        try:
            said = browser.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            os.killpg(browser.pid, signal.SIGKILL)
            return f"it was ended after {PATIENCE} seconds"
    return (said.strip().splitlines() or ["it said nothing"])[-1]


def print_by_weasyprint(html: str, target: Path) -> None:
    """Print a page by WeasyPrint, which needs the library Pango."""
    try:
        import weasyprint
    except (ImportError, OSError) as wrong:
        raise RunError(NO_PRINTER) from wrong
    logging.getLogger("weasyprint").setLevel(logging.CRITICAL)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    weasyprint.HTML(string=html).write_pdf(target)


def measure(target: Path, models: int) -> tuple[list[int], int]:
    """Count the sheets that each first page takes, up to the decision that ends it, and all sheets."""
    from pypdfium2 import PdfDocument

    with PdfDocument(target) as printed:
        texts = (page.get_textpage().get_text_range() for page in printed)
        decided = (place for place, text in enumerate(texts, 1) if "Decision on" in text)
        ends = list(islice(decided, models))
        return [end - last for last, end in pairwise([0, *ends])], len(printed)


def _clean(target: Path, title: str) -> None:
    """Keep of what a printer writes about itself, its machine and the hour nothing but the title."""
    printed = target.read_bytes()
    told, short = _INFO.match(printed), _write_info(title)
    if told and _END.search(printed[-200:]) and b"/Metadata" not in printed and len(short) <= len(told[1]):
        start, end = told.span(1)
        target.write_bytes(printed[:start] + short.ljust(end - start) + printed[end:])
        return
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=target)
    writer.metadata = {"/Title": title, "/Producer": "auditbook"}
    writer.xmp_metadata = None
    writer.write(target)


def _write_info(title: str) -> bytes:
    """Write what a PDF says of itself."""
    return f"/Title <FEFF{title.encode('utf-16-be').hex().upper()}>\n/Producer (auditbook)".encode()
