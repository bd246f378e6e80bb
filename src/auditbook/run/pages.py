"""How does a run become pages: a staged copy of the book, built into HTML that needs no network."""

import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from auditbook.errors import RunError
from auditbook.project import project_file


def stage_book(notebooks: Path, stage: Path) -> None:
    """Lay out everything that a build reads, away from the top of the clone."""
    if stage.exists():
        shutil.rmtree(stage)
    stage.mkdir(parents=True)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(project_file(name), stage / name)
    shutil.copytree(project_file("book"), stage / "book")
    shutil.move(stage / "book" / "_static", stage / "_static")
    (stage / "notebooks").mkdir()
    for path in sorted(notebooks.glob("*.ipynb")):
        shutil.copy(path, stage / "notebooks" / path.name)
    (stage / "mathjax" / "mathjax").mkdir(parents=True)
    shutil.copy(mathjax_file(), stage / "mathjax" / "mathjax" / "tex-svg.js")


def mathjax_file() -> Path:
    """Find the one script that sets formulas without a network: MathJax with its glyphs inside."""
    path = Path(str(files("mathjax"))) / "static" / "mathjax" / "es5" / "tex-svg.js"
    if not path.is_file():
        raise RunError(
            "MathJax is missing from the environment (package django-static-mathjax): run make setup"
        )
    return path


def build_html(stage: Path, target: Path) -> None:
    """Build the staged book; warnings are errors."""
    start = "from jupyter_book.cli.main import main; main()"
    call = [sys.executable, "-c", start, "build", "-W", "--keep-going", "--quiet", str(stage)]
    built = subprocess.run(call, capture_output=True, text=True, cwd=stage, check=False)
    pages = stage / "_build" / "html"
    if built.returncode != 0 or not (pages / "index.html").is_file():
        raise RunError("the pages could not be built:\n" + _last_lines(built.stdout + built.stderr))
    for template in (pages / "_static").glob("*.html"):
        template.unlink()  # the theme's raw templates; no page of ours
    if target.exists():
        shutil.rmtree(target)
    shutil.move(pages, target)


def _last_lines(text: str, *, count: int = 30) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if "WARNING" in line or "ERROR" in line]
    return "\n".join((marked or lines)[-count:])
