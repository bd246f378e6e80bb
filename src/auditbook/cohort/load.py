"""Which records does an audit look at: a cohort file and its data become a cohort, or one list of faults."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.cohort import Cohort, LeftOut, OtherOutcome, Unplaced
from auditbook.cohort.column_roles import (
    GroupColumn,
    OutcomeColumn,
    build_attribute,
    check_events,
    check_score,
    derive_groups,
    derive_outcome,
)
from auditbook.cohort.crossed import cross_attributes, lacks_part
from auditbook.cohort.file import read_cohort_file
from auditbook.cohort.schema import AttributeTable, CohortFile
from auditbook.cohort.weights import WeightColumn, build_survey, check_survey, read_weights
from auditbook.errors import InputError, nearest
from auditbook.faults import Faults
from auditbook.key_types import Value
from auditbook.records import Attribute, Survey, take_survey
from auditbook.tables import (
    Mask,
    PlainTable,
    as_text,
    hash_file,
    hash_frame,
    is_missing,
    matches,
    plain_table,
    read_table_file,
)


@dataclass(frozen=True)
class Source:
    """The data as read, before any rule of the cohort file."""

    name: str  # What messages call it
    table: PlainTable  # The plain table
    data_hash: str  # Hash of its content
    synthetic: bool  # Whether it was generated


class _Sieve:
    """Rows that stay, and the reasons for which others went."""

    def __init__(self, rows: int) -> None:
        self.keep: Mask = np.ones(rows, dtype=bool)
        self.left_out: list[LeftOut] = []

    def leave_out(self, rows: Mask, reason: str) -> None:
        """Take rows out and count those that were still in."""
        self.left_out.append(LeftOut(reason, int((self.keep & rows).sum())))
        self.keep = self.keep & ~rows


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
    source = replace(source, table=_tidy(file, source.table))
    faults, table = Faults(file.path.name), source.table
    _check_columns(file, source, faults)
    sieve = _Sieve(len(table.frame))
    _apply_drop_rules(file, table.frame, sieve)
    weights = _weights(file, table.frame, sieve, faults)
    outcome = _outcome(file, table.frame, sieve, faults)
    with_outcome = sieve.keep
    groups = _groups(file, table, sieve, faults)
    if not sieve.keep.any() and not faults.found:
        counts = "; ".join(f"{part.rows:,} rows: {part.reason}" for part in sieve.left_out)
        faults.add("[data]", f"no record is left of the {len(table.frame):,} in {source.name} ({counts})")
    faults_before = len(faults.found)
    if faults_before == 0 and outcome is not None and not file.outcome.continuous:
        column = table.frame[file.outcome.column]
        check_events(file.outcome, column, outcome, keep=sieve.keep, faults=faults)
    kept = np.flatnonzero(sieve.keep)
    attributes = _attributes(file, groups, kept, faults)
    _check_kept(file, table.frame, kept, faults)
    survey = _survey(file, table.frame, weights, kept, faults)
    features, late = _features(file, table.frame, faults)
    others = _other_outcomes(file, table.frame, sieve.keep, faults)
    faults.raise_any()
    assembled = replace(_assemble(file, source, sieve, outcome, attributes, features, late), survey=survey)
    if outcome is not None and not file.outcome.continuous and survey is None:
        unplaced = _find_unplaced(file, table.frame, groups, with_outcome, outcome)
        assembled = replace(assembled, unplaced=unplaced, other_outcomes=others)
    return assembled if max_rows is None else _draw(assembled, max_rows, seed)


def read_source(file: CohortFile, *, data: Path | None = None, cache_dir: Path) -> Source:
    """Read the data file, or generate the synthetic table, and apply no rule of the cohort file yet.

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
    path = file.data_path(data)
    if path is None:
        from auditbook.cohort.twins import TABLES

        draw = TABLES[file.data.synthetic or "texas-twin"]
        frame = draw(rows=file.data.rows, seed=file.data.seed, cache_dir=cache_dir)
        source = Source("the synthetic table", plain_table(frame), hash_frame(frame), synthetic=True)
    else:
        file.find_data(path)
        table = read_table_file(path, text_columns=_text_columns(file))
        source = Source(path.name, table, hash_file(path), synthetic=False)
    if len(source.table.frame) == 0:
        raise InputError(
            f"{file.path.name}: [data] path: {source.name} has no rows, only column names; export it again"
        )
    return source


def _text_columns(file: CohortFile) -> set[str]:
    """Name the columns that hold names, not numbers."""
    names = {file.site.column, file.unit.column}
    names |= {item.column for item in file.attributes if not item.bins}
    names |= {file.weight.strata, file.weight.cluster}
    event = file.outcome.rule
    if event is not None and isinstance(event.value, str) and not re.fullmatch(r"0|[1-9]\d*", event.value):
        names.add(file.outcome.column)
    names |= {rule.column for rule in file.data.drop if any(isinstance(value, str) for value in rule.values)}
    names -= {item.column for item in file.scores}
    return {name for name in names if name}


def _tidy(file: CohortFile, table: PlainTable) -> PlainTable:
    """Blank out the values that mean "missing" everywhere, and turn columns of names into text."""
    frame, values = table.frame, file.missing.values
    changed = {name: _blank(frame[name], values) for name in frame.columns} if values else {}
    named = (file.site.column, file.unit.column, file.weight.strata, file.weight.cluster)
    names = {name for name in named if name}
    names |= {item.column for item in file.attributes if item.column and not item.bins}
    for name in names & set(frame.columns) - {item.column for item in file.scores}:
        changed[name] = pd.Series(as_text(changed.get(name, frame[name])))
    categories = {
        name: tuple(
            value for value, out in zip(listed, _means_missing(listed, values), strict=True) if not out
        )
        for name, listed in table.categories.items()
    }
    return PlainTable(frame.assign(**changed), categories)


def _blank(column: pd.Series, values: Sequence[Value]) -> pd.Series:
    """Replace the values that mean "missing" by a missing cell."""
    missing = is_missing(column, values) & ~column.isna().to_numpy()
    if not missing.any():
        return column
    blank: Any = None if column.dtype == object else np.nan
    return column.where(pd.Series(~missing), blank)


def _means_missing(listed: Sequence[object], values: Sequence[Value]) -> Mask:
    return is_missing(pd.Series(list(listed), dtype=object), values)


def _check_columns(file: CohortFile, source: Source, faults: Faults) -> None:
    """Note every column that the cohort file names and the table does not have."""
    named = [("[outcome] column", file.outcome.column)]
    named += [(f"[outcomes.{item.name}] column", item.column) for item in file.outcomes]
    named += [(f"[data] drop, entry {i}", rule.column) for i, rule in enumerate(file.data.drop, start=1)]
    named += [("[site] column", file.site.column or ""), ("[unit] column", file.unit.column or "")]
    named += [(f"[weight] {key}", name) for key, name in file.weight.columns.items()]
    named += [(f"[attributes.{item.name}] column", item.column) for item in file.attributes]
    named += [(f"[scores.{item.name}] column", item.column) for item in file.scores]
    for key in ("include", "exclude", "late"):
        named += [(f"[features] {key}", name) for name in getattr(file.features, key) or ()]
    named += [("[pockets] exclude", name) for name in file.pockets.exclude]
    columns = list(source.table.frame.columns)
    for where, name in named:
        if name and name not in columns:
            some = ", ".join(map(repr, columns[:12])) + (", …" if len(columns) > 12 else "")
            faults.add(where, f"{source.name} has no column {name!r}{nearest(name, columns)}; it has {some}")


def _apply_drop_rules(file: CohortFile, frame: pd.DataFrame, sieve: _Sieve) -> None:
    for rule in file.data.drop:
        if rule.column in frame:
            found = [matches(frame[rule.column], value) for value in rule.values]
            sieve.leave_out(np.any(found, axis=0) if found else np.zeros(len(frame), bool), rule.reason)


def _weights(file: CohortFile, frame: pd.DataFrame, sieve: _Sieve, faults: Faults) -> WeightColumn | None:
    """Read the weights; rows without one, and those that stand for nobody, are left out."""
    name = file.weight.column
    if name is None or name not in frame:
        return None
    weights = read_weights(frame[name], name, keep=sieve.keep, faults=faults)
    if weights is not None:
        for rows, reason in ((weights.missing, "weight missing"), (weights.nobody, "weight 0")):
            if (rows & sieve.keep).any():
                sieve.leave_out(rows, reason)
    return weights


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
    part = frame.iloc[kept]
    survey = build_survey(file.weight, part, weights.cells[kept], faults)
    unit = file.unit.column
    if survey is not None and unit in part and not is_missing(part[unit]).any():
        check_survey(survey, pd.factorize(as_text(part[unit]), sort=True)[0], faults)
    return survey


def _outcome(file: CohortFile, frame: pd.DataFrame, sieve: _Sieve, faults: Faults) -> OutcomeColumn | None:
    """Derive the outcome and treat rows without one by the cohort's rule."""
    name = file.outcome.column
    if name not in frame:
        return None
    outcome = derive_outcome(file.outcome, frame[name], keep=sieve.keep, faults=faults)
    missing = is_missing(frame[name])
    count = int((missing & sieve.keep).sum())
    if count and file.missing.outcome == "error":
        faults.add(
            "[outcome] column",
            f"'{name}' is missing in {count:,} of {len(frame):,} rows; to leave these out and count "
            'them: [missing] outcome = "drop"',
        )
    elif count:
        sieve.leave_out(missing, "outcome missing")
    return outcome


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


def _groups(file: CohortFile, table: PlainTable, sieve: _Sieve, faults: Faults) -> list[GroupColumn | None]:
    """Derive the groups of every attribute and treat rows without one by its rule."""
    found: list[GroupColumn | None] = []
    before = sieve.keep
    for item in file.attributes:
        if item.cross or item.column not in table.frame:
            found.append(None)
            continue
        declared, faults_before = table.categories.get(item.column, ()), len(faults.found)
        groups = derive_groups(item, table.frame[item.column], declared=declared, keep=before, faults=faults)
        found.append(groups)
        count = int((groups.missing & before).sum())
        if len(faults.found) > faults_before:
            continue
        if count and item.missing == "error":
            faults.add(
                f"[attributes.{item.name}] column",
                f"'{item.column}' is missing in {count:,} of {before.sum():,} records; say what becomes of "
                'them: [missing] attributes = "group" (they form a group) or "drop" (left out and counted)',
            )
        elif count and item.missing == "drop":
            sieve.leave_out(groups.missing, f"{item.name} missing")
    for item in (item for item in file.attributes if item.cross):
        _sift_cross(item, dict(zip(file.attribute_names, found, strict=True)), sieve, faults)
    return found


def _find_unplaced(
    file: CohortFile,
    frame: pd.DataFrame,
    groups: Sequence[GroupColumn | None],
    before: Mask,
    outcome: OutcomeColumn,
) -> tuple[Unplaced, ...]:
    """Find the records that would have been kept, had they not lacked one attribute that is dropped."""
    pairs = zip(file.attributes, groups, strict=True)
    lacking = {
        item.name: column.missing
        for item, column in pairs
        if column is not None and item.missing == "drop" and column.missing.any()
    }
    times = np.sum(list(lacking.values()), axis=0) if lacking else np.zeros(len(frame))
    columns = list(dict.fromkeys(score.column for score in file.scores))
    found = []
    for name, missing in lacking.items():
        rows = np.flatnonzero(missing & before & (times == 1))
        if len(rows):
            scores = frame[columns].iloc[rows].reset_index(drop=True)
            found.append(Unplaced(name, scores, outcome.cells[rows].astype(np.int8)))
    return tuple(found)


def _sift_cross(
    item: AttributeTable, groups: Mapping[str, GroupColumn | None], sieve: _Sieve, faults: Faults
) -> None:
    """Treat the rows that lack a part of a cross, and that the part's own rule keeps, by the cross's rule."""
    parts = [column.missing for name in item.cross if (column := groups[name]) is not None]
    missing = lacks_part(parts) if parts else np.zeros(len(sieve.keep), bool)
    count = int((missing & sieve.keep).sum())
    if count and item.missing == "error":
        faults.add(
            f"[attributes.{item.name}] missing",
            f'{count:,} records lack a group in {" or ".join(item.cross)}; write missing = "group" '
            '(they form a group) or "drop" (left out and counted)',
        )
    elif count and item.missing == "drop":
        sieve.leave_out(missing, f"{item.name} missing")


def _attributes(
    file: CohortFile, groups: Sequence[GroupColumn | None], kept: NDArray[np.intp], faults: Faults
) -> tuple[Attribute, ...]:
    """Build the attributes of the kept rows; those of absent columns, and crosses of faulty ones, are not."""
    faults_before = len(faults.found)
    how: dict[str, Any] = {"max_groups": file.protocol.max_groups, "faults": faults}
    built = {
        item.name: build_attribute(item, GroupColumn(column.names[kept], column.declared), **how)
        for item, column in zip(file.attributes, groups, strict=True)
        if column is not None and len(kept)
    }
    sound = len(faults.found) == faults_before
    for item in file.attributes:
        if item.cross and sound and built.keys() >= set(item.cross):
            built[item.name] = cross_attributes(item, [built[name] for name in item.cross], **how)
    return tuple(built[name] for name in file.attribute_names if name in built)


def _check_kept(file: CohortFile, frame: pd.DataFrame, kept: NDArray[np.intp], faults: Faults) -> None:
    """Check scores, site and unit of the kept rows."""
    for score in file.scores:
        if score.column in frame:
            check_score(score, frame[score.column].iloc[kept], faults)
    for role, name in (("site", file.site.column), ("unit", file.unit.column)):
        if name is None or name not in frame:
            continue
        missing = int(is_missing(frame[name].iloc[kept]).sum())
        if missing:
            faults.add(
                f"[{role}] column",
                f"'{name}' is missing in {missing:,} of {len(kept):,} records; fill it in, or leave these "
                f'records out: [data] drop = [{{ column = "{name}", values = [""], reason = "no {role}" }}]',
            )
    name = file.unit.column or file.site.column
    if file.panel.models and name in frame and len(frame[name].iloc[kept].unique()) == 1:
        faults.add(
            "[unit] column",
            f"'{name}' is the same in every record, so that no units can be kept apart for the audit; "
            "name a finer unit, delete the line, or give scores and set [panel] models = []",
        )


def _features(
    file: CohortFile, frame: pd.DataFrame, faults: Faults
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the features and the late ones among them, in the table's order."""
    taken = {item.column: "another outcome" for item in file.outcomes}
    taken[file.outcome.column] = "the outcome"
    taken |= {item.column: "a given score" for item in file.scores}
    taken |= {name: "a weight, stratum or cluster" for name in file.weight.columns.values()}
    if file.unit.column:
        taken[file.unit.column] = "the unit"
    if file.site.column and file.unit.column in (None, file.site.column):
        taken[file.site.column] = "the site, which is held out"
    asked = file.features.include
    for key, names in (("include", asked or ()), ("late", file.features.late)):
        for name in names:
            if name in taken and name != file.outcome.column:
                faults.add(f"[features] {key}", f"'{name}' is {taken[name]}; it cannot be a feature too")
            elif key == "late" and asked is not None and name not in asked:
                faults.add("[features] late", f"'{name}' is not in include; add it there, or delete it here")
    free = [name for name in frame.columns if name not in taken and name not in file.features.exclude]
    free = [name for name in free if frame[name].dtype.kind != "M"]
    features = tuple(name for name in free if asked is None or name in asked)
    if file.panel.models and not features:
        faults.add("[features]", "no column is left to train on; shorten exclude, or set [panel] models = []")
    return features, tuple(name for name in features if name in file.features.late)


def _assemble(
    file: CohortFile,
    source: Source,
    sieve: _Sieve,
    outcome: OutcomeColumn | None,
    attributes: tuple[Attribute, ...],
    features: tuple[str, ...],
    late: tuple[str, ...],
) -> Cohort:
    """Put the kept rows together."""
    kept = np.flatnonzero(sieve.keep)
    table = source.table.frame.iloc[kept].reset_index(drop=True)
    site = as_text(table[file.site.column]) if file.site.column else None
    numbered = kept.astype(str).astype(object)
    unit = as_text(table[file.unit.column]) if file.unit.column else numbered if site is None else site
    values = outcome.cells[kept] if outcome is not None else np.empty(0)
    return Cohort(
        file=file,
        table=table,
        outcome=values if file.outcome.continuous else values.astype(np.int8),
        site=site,
        unit=unit,
        attributes=attributes,
        rows_read=len(sieve.keep),
        left_out=tuple(sieve.left_out),
        data_hash=source.data_hash,
        feature_columns=features,
        late_columns=late,
        synthetic=source.synthetic,
    )


def _draw(cohort: Cohort, max_rows: int, seed: int) -> Cohort:
    """Keep whole units, drawn at random, up to a number of records."""
    total = len(cohort.table)
    if total <= max_rows:
        return cohort
    rng = np.random.default_rng(seed)
    own = cohort.file.unit.column is None and cohort.site is None
    if own:
        order = np.argsort(pd.util.hash_pandas_object(cohort.table, index=False).to_numpy(), kind="stable")
        chosen = np.sort(order[rng.permutation(total)[:max_rows]])
    else:
        codes, units = pd.factorize(cohort.unit, sort=True)
        sizes = np.bincount(codes)
        drawn = rng.permutation(len(units))
        number = max(1, int(np.searchsorted(np.cumsum(sizes[drawn]), max_rows, side="right")))
        chosen = np.flatnonzero(np.isin(codes, drawn[:number]))
    reason = f"beyond the {max_rows:,} records that this profile uses"
    return Cohort(
        file=cohort.file,
        table=cohort.table.iloc[chosen].reset_index(drop=True),
        outcome=cohort.outcome[chosen],
        site=None if cohort.site is None else cohort.site[chosen],
        unit=cohort.unit[chosen],
        attributes=tuple(replace(item, codes=item.codes[chosen]) for item in cohort.attributes),
        rows_read=cohort.rows_read,
        left_out=(*cohort.left_out, LeftOut(reason, total - len(chosen))),
        data_hash=cohort.data_hash,
        feature_columns=cohort.feature_columns,
        late_columns=cohort.late_columns,
        survey=None if cohort.survey is None else take_survey(cohort.survey, chosen),
        other_outcomes=tuple(replace(item, cells=item.cells[chosen]) for item in cohort.other_outcomes),
        synthetic=cohort.synthetic,
    )


__all__ = ["Cohort", "CohortFile", "LeftOut", "Source", "load_cohort", "read_cohort_file", "read_source"]
