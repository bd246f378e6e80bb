"""Which code does a result rest on: the definitions that its making reaches, and nothing else?

A hash of whole files calls a result stale when a comment is mended, a module moves or a sentence elsewhere
changes. Here the hash is of definitions: those named by an entry, those that these name, and so on. Where
they stand, in which order, their docstrings, comments and layout do not count.
"""

import ast
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1]
PACKAGE = "auditbook"


@dataclass(frozen=True)
class Definition:
    """A top-level name of a module; without a name, the whole module."""

    module: str
    name: str = ""


@dataclass(frozen=True)
class _Module:
    """What a module defines, imports from the package, and does when it is imported."""

    defined: dict[str, list[ast.stmt]]
    imported: dict[str, Definition]
    done: list[ast.stmt]


def digest_reach(*entries: Callable[..., Any] | type, source: Path = SOURCE) -> str:
    """Hash the definitions that some functions and classes of the package reach.

    Examples
    --------
    >>> digest_reach(digest_reach) == digest_reach(digest_reach, digest_cells)
    False
    """
    return _digest(
        [Definition(name_module(entry), entry.__qualname__.split(".")[0]) for entry in entries], source
    )


def name_module(entry: Callable[..., Any] | type) -> str:
    """Name the module of a definition, also of one in the file that Python was called with."""
    main = getattr(sys.modules["__main__"], "__spec__", None)
    return main.name if entry.__module__ == "__main__" and main is not None else entry.__module__


def digest_cells(text: str, *, source: Path = SOURCE) -> str:
    """Hash the definitions of the package that a piece of Python code reaches."""
    return _digest(_named(ast.parse(text), {}, {}, source), source)


def list_words(text: str, *, beside: frozenset[str] = frozenset(), source: Path = SOURCE) -> set[str]:
    """List every name and every word of a text constant in a piece of code and in what it reaches.

    What it reads by name, such as a table, is among them. The modules named in `beside` are left out.
    """
    tree = ast.parse(text)
    reached = list_reach(list(_named(tree, {}, {}, source)), source=source)
    found = set(_words(tree))
    for definition in reached:
        module = _read(definition.module, source)
        if module is not None and definition.module not in beside:
            found.update(*(_words(node) for node in module.defined.get(definition.name, [])))
    return found


@cache
def _words(tree: ast.AST) -> frozenset[str]:
    """List the names in a piece of code, and the words of its text constants but for docstrings."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and _is_text(node)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            found.update(re.findall(r"\w+", node.value))
    return frozenset(found)


def list_reach(entries: list[Definition], *, source: Path = SOURCE) -> set[Definition]:
    """Find every definition that some reach, themselves included."""
    found: set[Definition] = set()
    due = [resolved for entry in entries for resolved in _resolve(entry, source)]
    while due:
        definition = due.pop()
        if definition not in found:
            found.add(definition)
            due += _names_of(definition, source)
    return found


def _digest(entries: list[Definition] | set[Definition], source: Path) -> str:
    reached = list_reach(list(entries), source=source)
    prints = [_print_of(definition, source) for definition in reached]
    prints += [_print_of(Definition(module), source) for module in {one.module for one in reached}]
    return hashlib.sha256("".join(sorted(set(prints))).encode()).hexdigest()


@cache
def _names_of(definition: Definition, source: Path) -> tuple[Definition, ...]:
    """Find what a definition names, and what its module does when it is imported."""
    module = _read(definition.module, source)
    if module is None:
        return ()
    local = {name: Definition(definition.module, name) for name in module.defined}
    nodes = module.defined.get(definition.name, []) + module.done
    return tuple(named for node in nodes for named in _named(node, module.imported, local, source))


def _named(
    tree: ast.AST, imported: dict[str, Definition], local: dict[str, Definition], source: Path
) -> set[Definition]:
    """Find the package's definitions that a piece of code names, through its own imports too."""
    nodes = list(ast.walk(tree))
    inner = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    known = local | imported | _read_imports(inner, source)
    owners = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    found: set[Definition] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = known.get(node.value.id)
            if owner is not None and not owner.name:
                found |= _resolve(Definition(owner.module, node.attr), source)
        elif isinstance(node, ast.Name) and node.id in known and known[node.id].name:
            found |= _resolve(known[node.id], source)
        elif isinstance(node, ast.Name) and node.id in known and node not in owners:
            found |= _all_of(known[node.id].module, source)
    return found


def _all_of(name: str, source: Path) -> set[Definition]:
    """List what a module defines, since it is handed on whole."""
    module = _read(name, source)
    return set() if module is None else {Definition(name, one) for one in module.defined}


def _resolve(definition: Definition, source: Path) -> set[Definition]:
    """Follow a name through re-exports to where it is defined."""
    module = _read(definition.module, source)
    if module is None or not definition.name:
        return set()
    if definition.name in module.imported:
        return _resolve(module.imported[definition.name], source)
    return {definition} if definition.name in module.defined else set()


@cache
def _read(name: str, source: Path) -> _Module | None:
    """Read a module of the package; None for any other."""
    path = _find(name, source)
    if path is None:
        return None
    body = _parse(path.read_text(encoding="utf-8")).body
    defined: dict[str, list[ast.stmt]] = {}
    done = []
    for node in body:
        names = list(_targets(node))
        for target in names:
            defined.setdefault(target, []).append(node)
        idle = isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node) or _is_main(node)
        if not names and not idle:
            done.append(node)
    return _Module(defined, _read_imports(body, source), done)


@cache
def _parse(text: str) -> ast.Module:
    """Parse a module; one that stands in two places is the same tree, whose prints are made once."""
    return ast.parse(text)


def _find(name: str, source: Path) -> Path | None:
    """Find the file of a module or package."""
    if name.split(".")[0] != PACKAGE:
        return None
    place = source.joinpath(*name.split("."))
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _targets(node: ast.stmt) -> Iterator[str]:
    """List the names that a top-level statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name))


def _read_imports(nodes: list[Any], source: Path) -> dict[str, Definition]:
    """List what import statements bring in from the package: names, or whole modules."""
    found = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and _find(node.module, source):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = _find(inner, source) is not None
                origin = Definition(inner) if is_module else Definition(node.module, alias.name)
                found[alias.asname or alias.name] = origin
        elif isinstance(node, ast.Import):
            found |= {alias.asname: Definition(alias.name) for alias in node.names if alias.asname}
    return found


@cache
def _print_of(definition: Definition, source: Path) -> str:
    """Hash a definition, or without a name what a module does on import, less docstrings and imports."""
    module = _read(definition.module, source)
    if module is None:
        return ""
    nodes = module.defined.get(definition.name, []) if definition.name else module.done
    text = "".join(_lay_bare(node) for node in nodes)
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def _lay_bare(node: ast.stmt) -> str:
    """Write a statement as `ast.dump` does, without what a result cannot depend on."""
    return _dump(ast.Module(body=[node], type_ignores=[]))


def _dump(value: Any) -> str:
    """Write a tree without texts that stand alone, and without where names come from."""
    if isinstance(value, list):
        kept = [one for one in value if not (isinstance(one, ast.Import | ast.ImportFrom) or _is_text(one))]
        return f"[{', '.join(map(_dump, kept))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    kind = type(value)
    fields = [pair for pair in ast.iter_fields(value) if pair[1] is not None or not hasattr(kind, pair[0])]
    return f"{kind.__name__}({', '.join(f'{name}={_dump(inner)}' for name, inner in fields)})"


def _is_main(node: ast.AST) -> bool:
    """Tell whether a statement is only done where the file itself is run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
