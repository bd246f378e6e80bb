"""What would a cohort file for this table look like? A first draft, every guess marked."""

import json
import os
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from auditbook.cohort import ID_SHARE
from auditbook.errors import printable
from auditbook.project import ROOT
from auditbook.settings import Protocol
from auditbook.tables import as_numbers, as_text, is_missing, list_values, read_table_file

# Names are compared without accents. Beside English: French, German, Italian, Portuguese, Spanish.
_OUTCOME = (
    r"outcome|event|label|target|died|death|dead|mortal|expire|readmi\w*|los|length_?of_?stay|y"
    r"|deces|deced\w*|tod|verstorben|gestorben|morte|obito|muerte|exitus|fallecid\w*|rehospitali\w*"
    r"|wiederaufnahme|reingreso"
)
_SITE = (
    r"(site|hosp|hospital|facility|clinic|cent(er|re)|provider|thcic|institution"
    r"|hopital|etablissement|krankenhaus|klinik|ospedale|centro)"
    r"([ _.-]?(id|code|nbr|no|num|number|name))?"
)
_UNIT = r"patient|person|subject|mrn|member|beneficiary|patiente|patientin|pa[cz]iente"
_ATTRIBUTES = {
    "race": r"race|racial|ridreth\d",
    "ethnicity": r"ethnic\w*|hispanic",
    "sex": r"sex|sexe|sexo|sesso",
    "gender": r"gender|riagendr|genre|geschlecht|genere|genero",
    "age": r"age|ridageyr|age_?(group|band|years|cat\w*)|\w*_age|pat_age|alter|edad|idade|eta",
    "payer": r"payer|payor|insurance|insurer|coverage",
    "language": r"language|lang",
    "disability": r"disabilit\w*|disabled",
}
_SCORE = (
    r"prob|probability|score|risk|pred|prediction|phat|p_hat|hat|risque|risiko|rischio|risco|riesgo"
    r"|probabilite|probabilita|probabilidade?|wahrscheinlichkeit"
)
# A column called weight alone may weigh the patient. NHANES and others by the names that they use.
_WEIGHT = (
    r"(survey|sampl(e|ing)|design|person|final|exam|interview)_?(weight|wgt|wt)s?|perwt|finalwt|_llcpwt\w*"
    r"|wt(mec|int|saf|fol)\w+|wtfa\w*|pondfinal|ponderation"
)
_STRATA = r"sdmvstra|strata|stratum|_?ststr|pstrat|strate"
_CLUSTER = r"sdmvpsu|ppsu|psu|_psu"
_LATE = r"charges?|costs?|discharge\w*|disposition|severity|drg|mortality"
_POSITIVE = (
    *("yes", "y", "true", "1", "died", "dead", "expired", "<30", "event", "positive"),
    *("oui", "ja", "si", "sim"),
)
_MARKS = ("?", "NA", "N/A", "#N/A", "nan", "NaN", "NULL", "null")
_DATE = r"\s*(\d{4}([-./])\d{1,2}\2\d{1,2}|\d{1,2}([-./])\d{1,2}\3\d{2,4})([ T]\d{1,2}:\d{2}.*)?\s*"
_FEW, _MANY = 2, 30


@dataclass(frozen=True)
class _Design:
    """How a survey seems to have been drawn; None where nothing fits."""

    weight: str | None
    strata: str | None
    cluster: str | None

    @property
    def columns(self) -> set[str]:
        """The columns that were found."""
        return {column for column in (self.weight, self.strata, self.cluster) if column is not None}


@dataclass(frozen=True)
class _Guess:
    """What the columns seem to be; None or empty where nothing fits."""

    outcome: str | None
    event: str | int | None
    site: str | None
    unit: str | None
    design: _Design
    attributes: dict[str, str]
    scores: tuple[str, ...]
    identifiers: tuple[str, ...]
    late: tuple[str, ...]


def draft_cohort(path: Path, *, target: Path | None = None) -> str:
    """Draft a cohort file from a table's columns, as TOML text.

    Every guess is marked with ``guess:``; what could not be guessed has a blank value, so that `auditbook
    check` asks for it. The data's path is written relative to `target`, where the draft will stand; by
    default that is beside the data. Raises InputError if the table cannot be read.
    """
    frame = read_table_file(path).frame
    guess = _guess_roles(frame)
    stem = path.name.split(".")[0]
    letters = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9]+", "-", letters).strip("-")[:64].strip("-") or "my-cohort"
    lines = [
        *_name_schema((target or path).resolve().parent),
        f"# A draft from {len(frame):,} rows and {len(frame.columns)} columns of {printable(path.name)}.",
        "# Lines marked 'guess:' are guesses from names and values: confirm or correct each. Then:",
        f"#     auditbook check {shlex.quote(printable(target.name if target else slug + '.toml'))}",
        "# All keys are explained on the page 'Bring your cohort' of the book.",
        "",
        f"name = {_quote(slug)}    # names the folder of the results: letters, digits, hyphens",
        f"title = {_quote(stem if stem.strip() else slug)}    # heading of the report",
        "",
        "[data]",
        f"path = {_quote(_relative(path, target))}",
        '# source = "who publishes the data, and on which terms"',
        '# drop = [ { column = "…", values = ["…"], reason = "why these records are not at issue" } ]',
        "",
        *_draft_outcome(frame, guess),
        *_draft_site(frame, guess),
        *_draft_unit(guess),
        *_draft_weight(guess.design),
        *_draft_attributes(frame, guess),
        *_draft_missing(frame),
        *_draft_features(guess),
        *_draft_scores(frame, guess),
    ]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    """Write text as a TOML string, whatever it holds."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _relative(path: Path, target: Path | None) -> str:
    """Return the data's path as seen from the cohort file."""
    if target is None or path.resolve().parent == target.resolve().parent:
        return path.name
    return Path(os.path.relpath(path.resolve(), target.resolve().parent)).as_posix()


def _name_schema(folder: Path) -> list[str]:
    """Name the JSON schema from which an editor completes the keys of a cohort file in a folder."""
    schema = ROOT / "data" / "cohort-schema.json"
    return [f"#:schema {Path(os.path.relpath(schema, folder)).as_posix()}"] if schema.is_file() else []


def _guess_roles(frame: pd.DataFrame) -> _Guess:
    """Guess every role from names and values; no column has two."""
    design = _guess_design(frame)
    taken: set[str] = set(design.columns)
    attributes = {}
    for name, pattern in _ATTRIBUTES.items():
        column = next((c for c in _named(frame, pattern) if c not in taken and _groups_well(frame[c])), None)
        if column is not None:
            attributes[name] = column
            taken.add(column)
    scores = tuple(c for c in _named(frame, _SCORE) if c not in taken and _is_share(frame[c]))
    taken.update(scores)
    named = [c for c in frame.columns if re.fullmatch(_SITE, _plain(c), re.IGNORECASE) and c not in taken]
    site = next((c for c in named if 1 < frame[c].nunique() < len(frame) / 2), None)
    unit = next(
        (c for c in _named(frame, _UNIT) if c not in taken | {site} and frame[c].nunique() > _MANY), None
    )
    taken.update(name for name in (site, unit) if name)
    outcome, event = None, None
    for column in _named(frame, _OUTCOME):
        event = _guess_event(frame[column]) if column not in taken else None
        if event is not None:
            outcome = column
            taken.add(column)
            break
    free = [c for c in frame.columns if c not in taken]
    identifiers = tuple(c for c in free if _is_identifier(frame[c]) or _is_date(frame[c]))
    late = tuple(c for c in _named(frame, _LATE) if c in free and c not in identifiers)
    return _Guess(outcome, event, site, unit, design, attributes, scores, identifiers, late)


def _guess_design(frame: pd.DataFrame) -> _Design:
    """Guess sampling weights, and only beside them strata and clusters."""
    weight = next((c for c in _named(frame, _WEIGHT) if frame[c].dtype.kind in "iuf"), None)
    if weight is None:
        return _Design(None, None, None)
    strata, cluster = (next(iter(_named(frame, pattern)), None) for pattern in (_STRATA, _CLUSTER))
    return _Design(weight, strata, cluster)


def _plain(text: str) -> str:
    """Return text without accents and outer blanks."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part)).strip()


def _named(frame: pd.DataFrame, pattern: str) -> list[str]:
    """Return the columns one of whose words fits, whole names first."""
    whole = [c for c in frame.columns if re.fullmatch(pattern, _plain(c), re.IGNORECASE)]
    words = re.compile(rf"(?<![a-z])({pattern})(?![a-z])", re.IGNORECASE)
    spaced = {c: re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _plain(c)) for c in frame.columns}
    return whole + [c for c in frame.columns if c not in whole and words.search(spaced[c])]


def _groups_well(column: pd.Series) -> bool:
    distinct = column.nunique()
    return distinct >= _FEW and (distinct <= _MANY or bool(column.dtype.kind in "iuf"))


def _is_share(column: pd.Series) -> bool:
    if column.dtype.kind != "f":
        return False
    return bool(column.dropna().between(0, 1).all() and column.nunique() > _FEW)


def _is_identifier(column: pd.Series) -> bool:
    present = int(column.notna().sum())
    return column.dtype.kind != "f" and present > _FEW and column.nunique() > ID_SHARE * present


def _is_date(column: pd.Series) -> bool:
    """Tell whether a column of text holds days, such as 2024-03-31 or 31.3.2024 08:15."""
    present = column.dropna()
    if column.dtype != object or present.empty:
        return False
    return bool(present.astype(str).str.fullmatch(_DATE).all())


def _guess_event(column: pd.Series) -> str | int | None:
    """Guess what an event is; None when the column does not look like an outcome."""
    values = [name for name in pd.unique(as_text(column)) if name is not None]
    if len(values) < _FEW:
        return None
    if len(values) <= 5:
        known = [v for v in values if _plain(v).lower() in _POSITIVE]
        if known:
            first = min(known, key=lambda v: _POSITIVE.index(_plain(v).lower()))
            return 1 if first == "1" and column.dtype != object else first
        return None
    if column.dtype.kind in "iuf" and (as_numbers(column).cells[~is_missing(column)] >= 0).all():
        return f"> {np.nanmedian(as_numbers(column).cells):g}"
    return None


def _literal(event: str | int) -> str:
    """Write an event so that a value is never read as a comparison."""
    if isinstance(event, int):
        return str(event)
    if re.match(r"\s*[<>=!]", event) and not re.fullmatch(r"> [\d.e+-]+", event):
        return _quote(f'== "{event}"')
    return _quote(event)


def _draft_outcome(frame: pd.DataFrame, guess: _Guess) -> list[str]:
    lines = ["[outcome]"]
    if guess.outcome is None or guess.event is None:
        names = ", ".join(frame.columns[:20])
        return [
            *lines,
            "# No outcome could be guessed. Which column says what happened? Columns: " + printable(names),
            'column = ""',
            '# A comparison ("> 3") or the value that counts as an event ("Yes", 1, true).',
            'event = ""',
            *_draft_harm(),
        ]
    found = printable(list_values(frame[guess.outcome]))
    return [
        *lines,
        f"column = {_quote(guess.outcome)}    # guess: values are {found}",
        f"event = {_literal(guess.event)}    # guess: a comparison, or the value of an event",
        *_draft_harm(),
    ]


def _draft_harm() -> list[str]:
    return ['# harm = "what the event means to the person"', ""]


def _draft_site(frame: pd.DataFrame, guess: _Guess) -> list[str]:
    if guess.site is None:
        return ["# [site]", '# column = "…"    # no column looks like a hospital or site', ""]
    count = frame[guess.site].nunique()
    return ["[site]", f"column = {_quote(guess.site)}    # guess: {count:,} sites", ""]


def _draft_unit(guess: _Guess) -> list[str]:
    advice = (
        "# What must not be split between training and audit; without this table: the site, else each record."
    )
    if guess.unit is None:
        return [advice, "# [unit]", '# column = "…"', ""]
    return [advice, "[unit]", f"column = {_quote(guess.unit)}    # guess", ""]


def _draft_weight(design: _Design) -> list[str]:
    advice = "# Of a survey: for how many people each record stands, and what was drawn first."
    named = [("column", design.weight), ("strata", design.strata), ("cluster", design.cluster)]
    if design.weight is None:
        return [advice, "# [weight]", *(f'# {key} = "…"' for key, _ in named), ""]
    lines = [
        f"{key} = {_quote(column)}    # guess" if column is not None else f'# {key} = "…"'
        for key, column in named
    ]
    return [advice, "[weight]", *lines, ""]


def _draft_attributes(frame: pd.DataFrame, guess: _Guess) -> list[str]:
    if not guess.attributes:
        names = ", ".join(frame.columns[:20])
        return [
            "# No attribute could be guessed: between which groups are verdicts wanted? Columns: "
            + printable(names),
            "[attributes.group]",
            'column = ""',
            "",
        ]
    lines = []
    for name, column in guess.attributes.items():
        series = frame[column]
        lines += [
            f"[attributes.{name}]",
            f"column = {_quote(column)}    # guess: {printable(list_values(series))}",
        ]
        if series.dtype.kind in "iuf" and series.nunique() > _FEW + 3 and name == "age":
            lines += _draft_bins(series)
        elif series.nunique() > Protocol().max_groups:
            lines.append("# too many values for groups: give bins and labels, or recode them")
        else:
            lines.append('# groups = { "value in the table" = "name of the group" }    # to join or rename')
        missing = int(is_missing(series).sum())
        if missing:
            lines.append(
                f'missing = "group"    # guess: {missing:,} blank cells form a group; or "drop", or "error"'
            )
        lines.append("")
    return lines + _draft_cross(list(guess.attributes))


def _draft_cross(names: Sequence[str]) -> list[str]:
    """Suggest to cross the first two attributes, race and sex where there are such."""
    ranked = sorted(names, key=lambda name: name not in ("race", "ethnicity", "sex", "gender"))
    if len(ranked) < 2:
        return []
    one, other = sorted(ranked[:2], key=names.index)
    return [
        f"# [attributes.{one}_{other}]",
        f'# cross = ["{one}", "{other}"]    # also audit the crossings of both, each as a group of its own',
        "",
    ]


def _draft_bins(series: pd.Series) -> list[str]:
    """Bin ages in years, or halve and quarter codes that are no years."""
    low, high = float(series.min()), float(series.max())
    bounds: Iterable[float] = (
        (18, 40, 65) if high > 40 else np.unique(np.nanquantile(series, (0.25, 0.5, 0.75)))
    )
    inner = [bound for bound in bounds if low < bound <= high]
    reached = [0.0, *(bound for bound in bounds if bound <= low)] if low >= 0 else [low]
    bins = [reached[-1], *inner] if len(inner) else [low, high]
    shown = ", ".join(f"{bound:g}" for bound in bins)
    return [
        f"bins = [{shown}]    # guess: lower bounds, the last bin open-ended (values: {low:g} to {high:g})"
    ]


def _draft_missing(frame: pd.DataFrame) -> list[str]:
    """Draft the rules for missing cells; words that look like marks for them are guessed."""
    marks = [
        mark
        for mark in _MARKS
        if any((as_text(frame[c]) == mark).any() for c in frame if frame[c].dtype == object)
    ]
    return [
        "[missing]",
        'attributes = "error"    # blank cells in an attribute: error, group (a group of their own) or drop',
        'outcome = "drop"        # blank outcomes: drop (left out and counted) or error',
        "# Words that mean missing in every column; only blank cells do by themselves.",
        f"values = {_list(marks)}    # guess: found in the table" if marks else '# values = ["?", "NA"]',
        "",
    ]


def _draft_features(guess: _Guess) -> list[str]:
    return [
        "# For models trained here. Exclude whatever is the outcome in other words, identifiers and dates.",
        "[features]",
        f"exclude = {_list(guess.identifiers)}    # guess: identifiers and dates",
        f"late = {_list(guess.late)}    # guess: known only at the end of the stay",
        "",
    ]


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(_quote(name) for name in names)}]"


def _draft_scores(frame: pd.DataFrame, guess: _Guess) -> list[str]:
    lines = []
    for position, column in enumerate(guess.scores, start=1):
        blank = int(frame[column].isna().sum())
        if blank:
            lines.append(
                f"# {blank:,} records have no such score and cannot be judged: fill them in, or drop them "
                "under [data]."
            )
        key = re.sub(r"[^a-z0-9]+", "_", _plain(column).lower()).strip("_") or f"score_{position}"
        lines += [
            f"[scores.{key}]    # guess: numbers between 0 and 1",
            f"column = {_quote(column)}",
            'kind = "probability"    # or rank (order only), or decision (0 and 1)',
            "threshold = 0.5         # selected when the score is at least this; or percentile = 90",
            "",
        ]
    models = "[]" if guess.scores else '["xgboost", "logistic"]'
    lines += ["[panel]", f"models = {models}    # models to train here; [] when scores are given"]
    if guess.late and not guess.scores:
        lines.append('# lean = ["xgboost"]    # models to train once more without the late features')
    return lines
