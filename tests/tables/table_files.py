"""One table of every type of column, written in every format."""

import json
import warnings

import numpy as np
import pandas as pd

FORMATS = (
    *(".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".parquet", ".feather", ".jsonl", ".jsonl.gz"),
    *(".xlsx", ".ods", ".dta", ".sav", ".zsav", ".xpt", ".rds"),
)


def make_columns(rows=60):
    """Make a table with a column of each kind; no column is blank throughout."""
    rng = np.random.default_rng(3)
    places = np.arange(rows)
    return pd.DataFrame(
        {
            "whole": places - 3,
            "gaps": np.where(places % 7 == 0, np.nan, places),
            "score": rng.integers(0, 11, rows) / 10,
            "real": np.where(places % 5 == 1, np.nan, rng.normal(size=rows)),
            "words": np.where(places % 4 == 0, None, np.where(places % 3 == 0, "NA", 'Ärztin, "A"')),
            "code": [f"{place % 9:05d}" for place in places],
            "wide": [str(7_205_759_403_792_793_600 + 700 * (place // 2)) + "x" for place in places],
            "day": pd.to_datetime("2024-01-31") + pd.to_timedelta(places, "D"),
        }
    )


def write_any(table, path):
    """Write a table by the name of its file."""
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    packed = path.name.endswith(".gz")
    if kind in ("csv", "tsv", "txt"):
        mark = "," if kind == "csv" else "\t"
        table.to_csv(path, index=False, sep=mark, encoding="utf-8")
    elif kind in ("parquet", "feather"):
        getattr(table, f"to_{kind}")(path)
    elif kind == "jsonl":
        _write_lines(table, path, packed)
    elif kind in ("xlsx", "ods"):
        table.to_excel(path, index=False, engine="odf" if kind == "ods" else "openpyxl")
    else:
        _write_package(table, path, kind)


def _write_lines(table, path, packed):
    import gzip

    cells = table.astype(object).where(table.notna(), None).to_dict("records")
    text = "\n".join(json.dumps(item, default=str) for item in cells) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())


def _write_package(table, path, kind):
    import pyreadstat
    import rdata

    plain = table.assign(
        **{name: table[name].astype("datetime64[ns]") for name in table.select_dtypes("datetime")}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "dta":
            pyreadstat.write_dta(plain, str(path))
        elif kind in ("sav", "zsav"):
            pyreadstat.write_sav(plain, str(path), compress=kind == "zsav")
        elif kind == "xpt":
            pyreadstat.write_xport(plain, str(path), file_format_version=8)
        else:
            rdata.write_rds(
                path, table.assign(**{n: table[n].astype(str) for n in table.select_dtypes("datetime")})
            )
