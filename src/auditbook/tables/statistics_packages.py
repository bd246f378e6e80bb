"""Which table does a file of Stata, SPSS, SAS or R hold, with labels in the place of their codes?"""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from auditbook.errors import InputError
from auditbook.tables.plain import PlainTable, plain_table
from auditbook.tables.table_format import TableFormat
from auditbook.tables.values import name_value


def read_statistics_file(path: Path, form: TableFormat) -> PlainTable:
    """Read a file of Stata, SPSS or SAS; coded values become their labels, values declared missing blanks."""
    import pyreadstat

    kind = path.suffix.lower()
    reads: dict[str, Callable[..., Any]] = {
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
    }
    read = reads.get(kind, pyreadstat.read_sav)
    catalog = path.with_suffix(".sas7bcat")
    options = {"catalog_file": str(catalog)} if kind == ".sas7bdat" and catalog.is_file() else {}
    try:
        frame, meta = read(str(path), dates_as_pandas_datetime=True, encoding=form.encoding, **options)
    except (pyreadstat.ReadstatError, UnicodeDecodeError, ValueError, OverflowError) as error:
        raise InputError(_explain(path.name, kind, error)) from None
    labels = meta.variable_value_labels
    kinds = meta.readstat_variable_types
    columns = {
        name: _label(frame[name], labels[name]) if name in labels else _widen(frame[name], kinds.get(name))
        for name in frame.columns
    }
    table = plain_table(pa.table(columns), name=path.name)
    notes = _say_labels(path.name, frame, labels)
    if options:
        notes = (f"{path.name}: labels of values are from {catalog.name}", *notes)
    return PlainTable(table.frame, table.categories, notes)


def read_r_file(path: Path) -> PlainTable:
    """Read a data frame that R has written with saveRDS; factors keep the order of their levels."""
    import rdata

    known = dict(rdata.conversion.DEFAULT_CLASS_MAP)
    known.update(R_CLASSES.items())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes that R packages add to a data frame
            held = rdata.read_rds(path, constructor_dict=known)
    except (NotImplementedError, ValueError, EOFError, KeyError, TypeError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InputError(
            f"{path.name}: not a file of R's saveRDS that can be read ({reason}); write it again, or as CSV: "
            "write.csv(x, row.names = FALSE)"
        ) from None
    if not isinstance(held, pd.DataFrame):
        raise InputError(
            f"{path.name}: holds no data frame but R's {type(held).__name__}; write one: "
            "saveRDS(as.data.frame(x), file)"
        )
    return plain_table(held.reset_index(drop=True), name=path.name)


def _explain(file: str, kind: str, error: Exception) -> str:
    """Say that a file cannot be read, and what to do where it is its encoding."""
    told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    if isinstance(error, UnicodeDecodeError) or "encoding" in told or "convert string" in told:
        return (
            f"{file}: its text is not in the encoding that it names ({told}); say which, for example [data] "
            'format = { encoding = "windows-1252" }'
        )
    return f"{file}: not a {kind} file that can be read ({told}); write it again, or export it as CSV"


def _widen(column: pd.Series, kind: str | None) -> pa.Array:
    """Bring a column without labels to Arrow: short floats as such, blank text as missing."""
    if kind == "float":
        return pa.array(column.to_numpy(dtype=np.float32), pa.float32(), from_pandas=True)
    if column.dtype == object:
        cells = [None if cell is None or cell != cell or cell == "" else name_value(cell) for cell in column]
        return pa.array(cells, pa.string())
    return pa.array(column, from_pandas=True)


def _label(column: pd.Series, labels: Mapping[Any, str]) -> pa.Array:
    """Write labels in the place of values; values without a label stay, as text if others have one."""
    codes, values = pd.factorize(column, use_na_sentinel=True)
    if not any(value in labels for value in values):
        return _widen(column, None)
    names = [labels.get(value, name_value(value)) or None for value in values]
    return pa.array(np.array([*names, None], dtype=object)[codes], pa.string())


def _say_labels(file: str, frame: pd.DataFrame, labels: Mapping[str, Mapping[Any, str]]) -> tuple[str, ...]:
    """Say in which columns only some of the values have labels."""
    notes = []
    for name, named in labels.items():
        values = pd.unique(frame[name].dropna())
        with_label = [value for value in values if value in named]
        if 0 < len(with_label) < len(values):
            one = len(with_label) == 1
            has, their = ("has a label", "its") if one else ("have labels", "their")
            value = with_label[0]
            notes.append(
                f"{file}: column {name!r}: {len(with_label):,} of its {len(values):,} values {has}, which "
                f"{'stands' if one else 'stand'} in {their} place: {name_value(value)} is {named[value]!r}"
            )
    return tuple(notes)


def _r_factor(held: NDArray[Any], attributes: Mapping[str, Any]) -> ExtensionArray:
    """Read R's factors; a code that points at no level is missing."""
    codes = np.ma.filled(held, 0).astype(np.int64) - 1
    levels = [str(level) for level in attributes["levels"]]
    known = np.where((codes >= 0) & (codes < len(levels)), codes, -1)
    return pd.Categorical.from_codes(known.tolist(), pd.Index(levels))


def _r_days(held: NDArray[Any], _: Mapping[str, Any]) -> ExtensionArray:
    """Read R's dates."""
    return pd.to_datetime(pd.Series(held, dtype=float), unit="D").array


def _r_seconds(held: NDArray[Any], _: Mapping[str, Any]) -> ExtensionArray:
    """Read R's times, as a clock in UTC shows them."""
    return pd.to_datetime(pd.Series(held, dtype=float), unit="s").array


def _r_wide(held: NDArray[Any], _: Mapping[str, Any]) -> ExtensionArray:
    """Read whole numbers of 64 bits, which R keeps in the bytes of its floats."""
    numbers = np.asarray(held, dtype=np.float64).view(np.int64)
    return pd.arrays.IntegerArray(numbers, numbers == np.iinfo(np.int64).min)


R_CLASSES: Mapping[str, Callable[[NDArray[Any], Mapping[str, Any]], ExtensionArray]] = MappingProxyType(
    {
        **{"factor": _r_factor, "ordered": _r_factor},
        **{"Date": _r_days, "POSIXct": _r_seconds, "integer64": _r_wide},
    }
)
"""How the columns of some of R's classes are read."""
