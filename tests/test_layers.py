"""The direction of imports: numbers, the audit, the world, showing, and the run on top."""

import ast
from pathlib import Path

ORDER = [
    {"errors", "protocol", "records", "progress", "project"},
    {"counts", "intervals", "metrics", "score_sums", "auc"},
    {"verdicts"},
    {"synthetic", "cohort", "panel", "features", "scores", "summary"},
    {"results"},
    {"figures", "report"},
    {"chapters", "book"},
    {"run"},
    {"cli"},
]


def imported_modules(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("auditbook"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("auditbook.")}
    return found


def module_name(path: Path, package: Path) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")
