"""How does a run become pages: a staged copy of the book, built into HTML that needs no network."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from auditbook.errors import RunError
from auditbook.project import digest_files, digest_text, project_file, versions
from auditbook.run import accessibility, glossary_links
from auditbook.run.accessibility import mend_pages
from auditbook.run.editions import Sources
from auditbook.run.folder import fresh_folder, read_json, remove, write_json
from auditbook.surroundings import CHILDREN, PYTHON, set_variables

INDEX = Path("_build", "html", "index.html")
"""First page of a build, below its staged copy."""
OPENING = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>The audit</title>
<meta http-equiv="refresh" content="0; url={page}">
</head>
<body><p><a href="{page}">Go on to the first page.</a></p></body>
</html>
"""
"""The page that leads to the one at which the book opens."""
BUILD = """\
import functools, pybtex.plugin
pybtex.plugin.find_plugin = functools.cache(pybtex.plugin.find_plugin)
from jupyter_book.cli.main import main
main()
"""
"""Builds the book; what formats a reference is looked up once, not among all packages for every citation."""
SHAPE = re.compile(
    r"^(#+ .*|\(.*\)=.*|:?(?:name|caption|label|keyprefix):.*|.*\{(?:cite|bibliography).*)$", re.M
)
"""Lines of a chapter that other pages show or point to."""


def build_pages(
    sources: Sources, workshop: Path, target: Path, *, first: str = "", force: bool = False
) -> None:
    """Build the HTML of the book into `target`; it opens at the page `first`, else at that of the contents.

    The `workshop` is kept from run to run. As long as nothing that other pages show has changed (titles,
    labels, captions, citations, pages written by hand, settings, versions), a changed chapter makes its own
    page anew and no other. When nothing has changed at all, the pages are those of the last build, unless
    `force` asks for others.
    """
    stage, built = workshop / "stage", workshop / "shape.json"
    wanted = dict(list_sources(sources))
    shape = _digest_shape(wanted)
    made = {"shape": shape, "sources": digest_text(shape, digest_files(list(wanted.values())))}
    last = {} if force else read_json(built)
    if last.get("shape") != shape or not (stage / "_build").is_dir():
        fresh_folder(stage)
    if last != made or not (stage / INDEX).is_file():
        built.unlink(missing_ok=True)  # a build that fails leaves nothing to go on from
        _lay_out(wanted, stage)
        _build_html(stage)
        write_json(built, made)
    remove(target)
    shutil.copytree((stage / INDEX).parent, target)
    for template in (target / "_static").glob("*.html"):
        template.unlink()  # the theme's raw templates; no page of ours
    if first:
        (target / "index.html").write_text(OPENING.format(page=f"{first}.html"), encoding="utf-8")


def list_sources(sources: Sources) -> Iterator[tuple[str, Path]]:
    """List what a build reads: place in the staged copy, and file."""
    yield "_config.yml", project_file("_config.yml")
    yield "_toc.yml", sources.contents
    for path in sorted(path for path in sources.book.rglob("*") if path.is_file()):
        place = path.relative_to(sources.book).as_posix()
        yield (place if place.startswith("_static/") else f"book/{place}"), path
    for path in sorted(sources.notebooks.glob("*.ipynb")):
        yield f"notebooks/{path.name}", path
    yield "mathjax/mathjax/tex-svg.js", mathjax_file()


def mathjax_file() -> Path:
    """Find the one script that sets formulas without a network: MathJax with its glyphs inside."""
    path = Path(str(files("mathjax"))) / "static" / "mathjax" / "es5" / "tex-svg.js"
    if not path.is_file():
        raise RunError(
            "MathJax is missing from the environment (package django-static-mathjax): run make setup"
        )
    return path


def _digest_shape(wanted: dict[str, Path]) -> str:
    """Hash what any page may show of another, and everything but the chapters themselves."""
    fixed = [path for place, path in wanted.items() if not place.startswith("notebooks/")]
    chapters = [path for place, path in wanted.items() if place.startswith("notebooks/")]
    shapes = (f"{path.name} {SHAPE.findall(_read_words(path))}" for path in chapters)
    places = [place for place in wanted if not place.startswith("notebooks/")]
    mends = digest_files([Path(accessibility.__file__), Path(glossary_links.__file__)])
    return digest_text(*places, digest_files(fixed), mends, *shapes, json.dumps(versions()))


def _read_words(notebook: Path) -> str:
    """Read the Markdown of a chapter, and how its cells name their figures."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    told = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    figures = [cell["metadata"].get("mystnb", {}).get("figure") for cell in cells]
    return "\n".join(
        [*told, *(f"name: {json.dumps(figure, sort_keys=True)}" for figure in figures if figure)]
    )


def _lay_out(wanted: dict[str, Path], stage: Path) -> None:
    """Make the staged copy what it should be; files that are as they were keep their time."""
    for path in [path for path in stage.rglob("*") if path.is_file()]:
        place = path.relative_to(stage).as_posix()
        if not place.startswith("_build/") and place not in wanted:
            path.unlink()
    for place, source in wanted.items():
        target = stage / place
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _build_html(stage: Path) -> None:
    """Build the staged book, warnings being errors, and mend what the theme leaves."""
    call = [*PYTHON, "-c", BUILD, "build", "-W", "--keep-going", "--quiet", str(stage)]
    with set_variables(CHILDREN):
        built = subprocess.run(
            call, capture_output=True, encoding="utf-8", errors="replace", cwd=stage, check=False
        )
    if built.returncode != 0 or not (stage / INDEX).is_file():
        raise RunError("the pages could not be built:\n" + _last_lines(built.stdout + built.stderr))
    mend_pages((stage / INDEX).parent)


def _last_lines(text: str, *, count: int = 30) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if "WARNING" in line or "ERROR" in line]
    return "\n".join((marked or lines)[-count:])
