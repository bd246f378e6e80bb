"""Which columns that are learned from are identifiers, free text, scores of other models, or attributes?"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from auditbook.cohort import ID_SHARE, Cohort
from auditbook.intake.caution import Caution
from auditbook.intake.cure_lines import exclude_line, list_names
from auditbook.intake.lexicon import split_name
from auditbook.tables import as_numbers

FEWEST = 100
"""Filled cells from which a column can be taken for an identifier (ours)."""

NAMED_SHARE = 0.2
"""Distinct values a record from which a column under an identifier's name is taken for one (ours)."""

WORDS = 4
"""Words a cell, on average, from which a column of text is taken for free text (ours)."""

_TEXT_SHARE = 0.5
_SPREAD = 2
_ID_WORDS = frozenset(
    "id ids key mrn uid uuid guid nbr identifier seqn pid hadm csn ssn npi identifiant kennung identificador "
    "identificativo chave clave ipp finess nhc prontuario aih".split()
)
_SCORE_WORDS = frozenset(
    "prob proba probability score risk pred predicted prediction predictedhospitalmortality "
    "predictedicumortality phat yhat logit risque risiko wahrscheinlichkeit vorhersage riesgo probabilidad "
    "prediccion risco probabilidade predicao rischio probabilita predizione surv2m surv6m prg2m prg6m "
    "surv2md1 probabilite prevision".split()
)
_NO_SCORE_WORDS = frozenset(
    "factor factors date id version flag missing count history adjust adjustment".split()
)


def warn_features(cohort: Cohort, learned: Sequence[str]) -> Iterator[Caution]:
    """Point out columns that are learned from and that are probably not meant to be."""
    taken: set[str] = set()
    for find, tell in (
        (_find_identifiers, _tell_identifiers),
        (_find_text, _tell_text),
        (_find_scores, _tell_scores),
    ):
        found = [name for name in find(cohort, learned) if name not in taken]
        taken.update(found)
        if found:
            yield Caution("[features]", tell(cohort, found), f"if so: {exclude_line(cohort.file, found)}")
    yield from _warn_attributes(cohort)


def _find_identifiers(cohort: Cohort, learned: Iterable[str]) -> list[str]:
    """Find columns in which hardly a value stands twice, or that are named like an identifier."""
    early = [name for name in learned if name not in cohort.late_columns]
    return [name for name in early if _is_identifier(name, cohort.table[name])]


def _is_identifier(name: str, column: pd.Series) -> bool:
    """Tell whether a column's values name records: nearly all distinct, and no measurement."""
    present = column.dropna()
    if len(present) <= FEWEST or (column.dtype.kind not in "iO" and not _is_whole(present)):
        return False
    share = present.nunique() / len(present)
    if _ID_WORDS & set(split_name(name)) and share > NAMED_SHARE:
        return True
    if share <= ID_SHARE or (column.dtype == object and _is_free_text(present)):
        return False
    return (column.dtype == object and not _holds_numbers(present)) or _runs_like_numbers_given(present)


def _is_whole(present: pd.Series) -> bool:
    """Tell whether a column of floats, which has blanks, holds whole numbers."""
    return bool(present.dtype.kind == "f" and (present % 1 == 0).all())


def _holds_numbers(present: pd.Series) -> bool:
    return bool(as_numbers(present).bad.mean() < _TEXT_SHARE)


def _runs_like_numbers_given(present: pd.Series) -> bool:
    """Tell whether numbers are packed closely, or have equally many digits, as given ones have."""
    numbers = as_numbers(present).cells
    numbers = np.abs(numbers[~np.isnan(numbers)])
    if not len(numbers) or (numbers % 1 != 0).any():
        return False
    digits = {len(f"{value:.0f}") for value in (numbers.min(), numbers.max())}
    packed = numbers.max() - numbers.min() < _SPREAD * len(numbers)
    return bool(packed or (len(digits) == 1 and numbers.min() >= 10_000))


def _is_free_text(present: pd.Series) -> bool:
    """Tell whether cells hold sentences."""
    sample = present.astype(str).iloc[: 20 * FEWEST]
    return bool(sample.str.split().str.len().mean() >= WORDS)


def _find_text(cohort: Cohort, learned: Iterable[str]) -> list[str]:
    """Find columns of text that was written for each record."""
    found = []
    for name in learned:
        present = cohort.table[name].dropna()
        wordy = present.dtype == object and len(present) > FEWEST and _is_free_text(present)
        if wordy and present.nunique() > _TEXT_SHARE * len(present):
            found.append(name)
    return found


def _find_scores(cohort: Cohort, learned: Iterable[str]) -> list[str]:
    """Find columns that are named like a score and hold shares between 0 and 1, or percentages."""
    return [name for name in learned if _is_score_name(name) and _is_share(cohort.table[name])]


def _is_score_name(name: str) -> bool:
    words = set(split_name(name))
    return bool(words & _SCORE_WORDS) and not words & _NO_SCORE_WORDS


def _is_share(column: pd.Series) -> bool:
    """Tell whether a column holds many numbers between 0 and 1; -1 often stands for none."""
    numbers = as_numbers(column).cells
    numbers = numbers[~np.isnan(numbers) & (numbers != -1)]
    inside = len(numbers) > 0 and numbers.min() >= 0 and numbers.max() <= 1
    return bool(inside and len(np.unique(numbers)) > 20)


def _tell_identifiers(cohort: Cohort, found: list[str]) -> str:
    kinds = {name: "text" if cohort.table[name].dtype == object else "whole numbers" for name in found}
    if len(found) == 1:
        return f"'{found[0]}' is {kinds[found[0]]} with hardly a value twice, like an identifier"
    told = ", ".join(f"'{name}' ({kinds[name]})" for name in found)
    return f"{len(found)} columns with hardly a value twice are like an identifier: {told}"


def _tell_text(cohort: Cohort, found: list[str]) -> str:
    example = str(cohort.table[found[0]].dropna().iloc[0])
    short = example if len(example) <= 40 else example[:39] + "…"
    names = list_names(found)
    return f"{names} hold{'s' * (len(found) == 1)} free text (such as {short!r}), each a category of its own"


def _tell_scores(cohort: Cohort, found: list[str]) -> str:
    names = list_names(found)
    if len(found) == 1:
        return f"{names} seems to be the score of another model, and would be learned from"
    return f"{names} seem to be scores of other models, and would be learned from"


def _warn_attributes(cohort: Cohort) -> Iterator[Caution]:
    """Point out attributes that a model trained here sees; none where the features are chosen one by one."""
    file = cohort.file
    if not file.panel.models or file.features.include is not None:
        return
    columns = {item.column for item in file.attributes}
    seen = [name for name in cohort.feature_columns if name in columns]
    if seen:
        names = list_names(seen)
        yield Caution(
            "[panel] models",
            f"the models trained here see the columns of the groups between which they are audited: {names}",
            f"if the model must not see {'it' if len(seen) == 1 else 'them'}: {exclude_line(file, seen)}",
        )
