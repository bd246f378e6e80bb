"""Which records does an audit look at: a cohort file and its data become a cohort, or one list of faults."""

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.attributes import build_attributes
from auditbook.cohort.cohort import Cohort, LeftOut, OtherOutcome, SettledAttribute
from auditbook.cohort.column_roles import GroupColumn, check_events, derive_outcome, recode_names
from auditbook.cohort.data_files import hash_files, name_files, read_files
from auditbook.cohort.feature_columns import FeatureColumns, find_features
from auditbook.cohort.file import read_cohort_file
from auditbook.cohort.named_columns import check_columns
from auditbook.cohort.one_per_unit import merge_units
from auditbook.cohort.order import is_own_unit, number_rows, order_cohort, take_cohort
from auditbook.cohort.predictions import list_predictions
from auditbook.cohort.recode import recode_table
from auditbook.cohort.rules import RuledRows, apply_rules, check_kept, find_unplaced
from auditbook.cohort.schema import CohortFile
from auditbook.cohort.survey_names import fault_learned_weights
from auditbook.cohort.units import join_sites, name_units
from auditbook.cohort.weights import WeightColumn, build_survey, check_survey
from auditbook.errors import InputError, naming
from auditbook.records import Attribute, Survey
from auditbook.tables import (
    Connection,
    Faults,
    Mask,
    PlainTable,
    Query,
    as_text,
    count_of,
    hash_frame,
    plain_table,
    read_database,
    read_query,
)


@dataclass(frozen=True)
class Source:
    """The data as read, before any rule of the cohort file."""

    name: str  # What messages call it
    table: PlainTable  # The plain table
    data_hash: str  # Hash of its content; of a query, of its rows in any order
    synthetic: bool  # Whether it was generated


@dataclass(frozen=True)
class _Roles:
    """What each column is, before the kept rows are put together."""

    rows: RuledRows
    attributes: tuple[Attribute, ...]
    survey: Survey | None
    features: FeatureColumns
    others: tuple[OtherOutcome, ...]


def load_cohort(
    file: CohortFile,
    *,
    data: Path | None = None,
    max_rows: int | None = None,
    seed: int = 42,
    cache_dir: Path,
    source: Source | None = None,
) -> Cohort:
    """Read a cohort's data and give every column its role.

    The order of the rows and columns of the data changes nothing: records come in the order of what the
    columns that anything uses say of them, columns and features in the order of their names.

    Parameters
    ----------
    file : CohortFile
        What `read_cohort_file` returned.
    data : Path or None
        Data file used in place of the one that the cohort file names.
    max_rows, seed : int
        Records kept at the most (None: all), as whole units drawn with `seed` whatever the order of rows;
        one unit is always kept.
    cache_dir : Path
        Where a generated table is kept.
    source : Source or None
        What `read_source` returned, where the data are read already.

    Raises
    ------
    InputError
        With one sentence for every fault of the data that could be found.
    """
    source = read_source(file, data=data, cache_dir=cache_dir) if source is None else source
    faults = Faults(file.path.name)
    roles = _give_roles(file, source, faults)
    faults.raise_any()
    assembled = _assemble(file, source, roles)
    if file.unit.score_per_unit is not None:
        assembled = merge_units(assembled, file.unit.score_per_unit)
    elif file.outcome.time is not None:
        each = np.arange(len(assembled.table))
        predictions = list_predictions(file, assembled.table, each, faults)
        faults.raise_any()
        assembled = replace(assembled, predictions=predictions)
    assembled = order_cohort(assembled)
    return assembled if max_rows is None else _draw(assembled, max_rows, seed)


def list_data_faults(file: CohortFile, source: Source, *, cells: bool) -> tuple[str, ...]:
    """List what is wrong with the data, as far as the sound part of a cohort file tells.

    Parameters
    ----------
    file : CohortFile
        May lack the outcome; what needs it is then left out.
    source : Source
        What `read_source` returned.
    cells : bool
        False tells only of columns that are not there.
    """
    faults = Faults(file.path.name)
    if cells:
        _give_roles(file, source, faults)
    else:
        check_columns(file, source.name, list(source.table.frame.columns), faults)
    return tuple(faults.found)


def _give_roles(file: CohortFile, source: Source, faults: Faults) -> _Roles:
    """Give every column its role, and note what is wrong with its cells."""
    table = recode_table(file, source.table, faults)
    check_columns(file, source.name, list(table.frame.columns), faults)
    rows = apply_rules(file, table, faults)
    frame, sieve, outcome = rows.frame, rows.sieve, rows.outcome
    if not sieve.keep.any() and not faults.found:
        counts = "; ".join(f"{count_of(part.rows, 'row')}: {part.reason}" for part in sieve.left_out)
        faults.add("[data]", f"no record is left of the {len(frame):,} in {source.name} ({counts})")
    if not faults.found and outcome is not None and not file.outcome.continuous:
        check_events(file.outcome, frame[file.outcome.column], outcome, keep=sieve.keep, faults=faults)
    kept = np.flatnonzero(sieve.keep)
    attributes = build_attributes(file, rows.groups, kept, faults)
    check_kept(file, frame, kept, faults)
    _check_panel(file, frame, kept, faults)
    survey = _survey(file, frame, rows.weights, kept, faults)
    features = find_features(file, frame, faults)
    fault_learned_weights(file, features.names, faults)
    others = _other_outcomes(file, frame, sieve.keep, faults)
    return _Roles(rows, attributes, survey, features, others)


def read_source(file: CohortFile, *, data: Path | None = None, cache_dir: Path) -> Source:
    """Read the file, the database or the generated table, and apply no rule of the cohort file yet.

    Parameters
    ----------
    file : CohortFile
        What `read_cohort_file` returned.
    data : Path or None
        Data file used in place of the one that the cohort file names.
    cache_dir : Path
        Where a generated table is kept.

    Raises
    ------
    InputError
        If the table cannot be read or has no rows.
    """
    files = file.find_data(data)
    if file.data.connection is not None and data is None:
        source = _read_connection(file)
    elif not files:
        from auditbook.cohort.twins import TABLES

        draw = TABLES[file.data.synthetic or "texas-twin"]
        frame = draw(rows=file.data.rows, seed=file.data.seed, cache_dir=cache_dir)
        source = Source("the synthetic table", plain_table(frame), hash_frame(frame), synthetic=True)
    else:
        with naming(file.path.name) if len(files) > 1 else nullcontext():
            table = read_files(files, text_columns=list_text_columns(file), form=file.data.format)
        source = Source(name_files(files), table, hash_files(files), synthetic=False)
    if len(source.table.frame) == 0:
        key, cure = ("path", "export it again") if files else ("query", "ask for more")
        raise InputError(
            f"{file.path.name}: [data] {key}: {source.name} has no rows, only column names; {cure}"
        )
    return source


def _read_connection(file: CohortFile) -> Source:
    """Read the rows that a query gives."""
    with naming(file.path.name):
        query = find_query(file)
        held = read_database(find_database(file), query, text_columns=list_text_columns(file))
    return Source(query.name, held.table, held.data_hash, synthetic=False)


def find_database(file: CohortFile) -> Connection:
    """Find the database that a cohort file names."""
    return Connection(file.data.connection or "", file.path.parent)


def find_query(file: CohortFile) -> Query:
    """Read what a cohort file asks of its database."""
    return read_query(file.data.query or "", file.path.parent)


def list_text_columns(file: CohortFile) -> set[str]:
    """Name the columns that hold names, not numbers."""
    names = {file.site.column, *file.unit.names, *file.features.categories}
    names |= {item.column for item in file.attributes if not item.bins}
    names |= {file.weight.strata, file.weight.cluster}
    event = file.outcome.rule
    if event is not None and isinstance(event.value, str) and not re.fullmatch(r"0|[1-9]\d*", event.value):
        names.add(file.outcome.column)
    names |= {rule.column for rule in file.data.drop if any(isinstance(value, str) for value in rule.values)}
    names -= {item.column for item in file.scores}
    return {name for name in names if name}


def _survey(
    file: CohortFile,
    frame: pd.DataFrame,
    weights: WeightColumn | None,
    kept: NDArray[np.intp],
    faults: Faults,
) -> Survey | None:
    """Put weights, strata and clusters of the kept rows together, and hold clusters beside units."""
    if weights is None or not len(kept):
        return None
    part = join_sites(file, frame.iloc[kept])
    survey = build_survey(file.weight, part, weights.cells[kept], faults)
    named = file.unit.names
    if survey is not None and named and set(named) <= set(part):
        unit = pd.factorize(name_units(part, named), sort=True)[0]
        if (unit >= 0).all():
            check_survey(survey, unit, faults)
    return survey


def _other_outcomes(
    file: CohortFile, frame: pd.DataFrame, keep: Mask, faults: Faults
) -> tuple[OtherOutcome, ...]:
    """Derive the other outcomes of the kept rows."""
    found = []
    for item in (item for item in file.outcomes if item.column in frame):
        table, where, before = item.as_outcome, f"[outcomes.{item.name}]", len(faults.found)
        derived = derive_outcome(table, frame[item.column], keep=keep, faults=faults, where=where)
        if len(faults.found) == before:
            check_events(table, frame[item.column], derived, keep=keep, faults=faults, where=where)
        found.append(OtherOutcome(item.name, derived.cells[np.flatnonzero(keep)]))
    return tuple(found)


def _list_settled(file: CohortFile, groups: Sequence[GroupColumn | None]) -> tuple[SettledAttribute, ...]:
    """List the attributes of which every unit was given one group."""
    return tuple(
        SettledAttribute(item.name, item.within_unit, column.settled.units, column.settled.records)
        for item, column in zip(file.attributes, groups, strict=True)
        if column is not None and column.settled is not None and item.within_unit is not None
    )


def _check_panel(file: CohortFile, frame: pd.DataFrame, kept: NDArray[np.intp], faults: Faults) -> None:
    """Refuse to train models where no units can be kept apart."""
    names = file.unit.names or tuple(name for name in [file.site.column] if name)
    if not file.panel.models or not names or not set(names) <= set(frame):
        return
    if all(len(frame[name].iloc[kept].unique()) == 1 for name in names):
        told = " and ".join(f"'{name}'" for name in names)
        faults.add(
            f"[unit] {file.unit.key}",
            f"{told} {'is' if len(names) == 1 else 'are'} the same in every record, so that no units can be "
            "kept apart for the audit; "
            "name a finer unit, delete the line, or give scores and set [panel] models = []",
        )


def _assemble(file: CohortFile, source: Source, roles: _Roles) -> Cohort:
    """Put the kept rows together."""
    kept, outcome = np.flatnonzero(roles.rows.sieve.keep), roles.rows.outcome
    table = roles.rows.frame.iloc[kept].reset_index(drop=True)
    site = recode_names(as_text(table[file.site.column]), file.site.groups) if file.site.column else None
    unit = number_rows(len(kept)) if site is None else site
    if file.unit.names:
        unit = name_units(join_sites(file, table), file.unit.names)
    values = outcome.cells[kept] if outcome is not None else np.empty(0)
    cohort = Cohort(
        file=file,
        table=table,
        outcome=values if file.outcome.continuous else values.astype(np.int8),
        site=site,
        unit=unit,
        attributes=roles.attributes,
        rows_read=len(roles.rows.frame),
        left_out=tuple(roles.rows.sieve.left_out),
        data_hash=source.data_hash,
        feature_columns=roles.features.names,
        late_columns=roles.features.late,
        survey=roles.survey,
        synthetic=source.synthetic,
        settled=_list_settled(file, roles.rows.groups),
    )
    if outcome is None or file.outcome.continuous or roles.survey is not None:
        return cohort
    unplaced = find_unplaced(file, roles.rows.frame, roles.rows.groups, roles.rows.with_outcome, outcome)
    return replace(cohort, unplaced=unplaced, other_outcomes=roles.others)


def _draw(cohort: Cohort, max_rows: int, seed: int) -> Cohort:
    """Keep whole units, drawn at random, up to a number of records."""
    total = len(cohort.table)
    if total <= max_rows:
        return cohort
    rng = np.random.default_rng(seed)
    if is_own_unit(cohort):
        chosen = np.sort(rng.permutation(total)[:max_rows])
    else:
        codes, units = pd.factorize(cohort.unit, sort=True)
        sizes = np.bincount(codes)
        drawn = rng.permutation(len(units))
        number = max(1, int(np.searchsorted(np.cumsum(sizes[drawn]), max_rows, side="right")))
        chosen = np.flatnonzero(np.isin(codes, drawn[:number]))
    reason = f"beyond the {max_rows:,} records that this profile uses"
    left_out = (*cohort.left_out, LeftOut(reason, total - len(chosen)))
    return replace(take_cohort(cohort, chosen), left_out=left_out, unplaced=())


__all__ = ["Cohort", "CohortFile", "LeftOut", "Source", "load_cohort", "read_cohort_file", "read_source"]
