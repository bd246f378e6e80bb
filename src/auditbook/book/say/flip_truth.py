"""Does the flip rate foretell what other audits say, told in words, on any cohort?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import (
    agree,
    count,
    count_of,
    escape,
    interval,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.results import Run, match_rows, rows
from auditbook.verdicts import LEAST_SITES, METRICS, SIZES, compare_halves, select_bin, select_way

RECORDS, SITES = "records", "sites"
SMALL = 0.01
"""Mean errors up to one point count as none in a sentence."""

PREDICTIONS = {
    "vfr": "records drawn (vfr)",
    "vfr_wide": "records drawn, stretched",
    "vfr_site": "sites drawn (vfr_site)",
    "vfr_site_wide": "sites drawn, stretched",
}
CALIBRATION_COLUMNS = read_layout("book", "flip_truth.calibration")
WAY_COLUMNS = read_layout("book", "flip_truth.way")
CELL_COLUMNS = read_layout("book", "flip_truth.cell")
CAUSE_COLUMNS = read_layout("book", "flip_truth.cause")
WORLD_COLUMNS = read_layout("book", "flip_truth.world")
RANGE_COLUMNS = read_layout("book", "flip_truth.range")
MEASURED_COLUMNS = read_layout("book", "flip_truth.measured")


def tabulate_worlds(cases: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Lay several worlds out in one table, for `WORLD_COLUMNS`."""
    return pd.concat([table.assign(label=label) for label, table in cases.items()], ignore_index=True)


def describe_halvings(run: Run) -> str:
    """Say what was halved, how often, into audits of which sizes, and what takes no part."""
    table, protocol = run.flip_truth, run.protocol
    counted = [name for name in protocol.metrics if METRICS[name].evidence == "counts"]
    left = [name for name in protocol.metrics if METRICS[name].evidence != "counts"]
    if table.empty:
        if not counted:
            return "No metric of this run is computed from counts, so nothing was halved."
        return (
            f"This audit has fewer than {plural(4 * SIZES[0], 'record')}. Half of a half would not hold an "
            f"audit of {count(SIZES[0])}, so **nothing can be said** here of whether its flip rates hold."
        )
    sizes = join_words([count(size) for size in sorted(set(table["n"]))])
    text = (
        f"Model: {escape(table['model'].iloc[0])}. The audited records were halved "
        f"{plural(protocol.halvings, 'time')} at random{_by_site(run)}. Audits of {sizes} records; "
        f"metrics of counts: {join_words(counted)}."
    )
    if left:
        text += (
            f" Not {join_words(left, last='or')}: they rest on each record's score, and sorting the scores "
            "again in every half would take too long."
        )
    lost = table[table["halvings"] == 0].groupby(["metric", "attribute"])["n"].nunique()
    tried = table["n"].nunique()
    gone = [f"{cell[0]} for {cell[1]}" for cell, n in lost.to_dict().items() if n == tried]  # type: ignore[index]
    if gone:
        text += f" No halving had enough support for {name_list(gone)}."
    return text


def _by_site(run: Run) -> str:
    """Say whether whole sites were halved, and if not, why."""
    if SITES in set(run.flip_truth["halving"]):
        return f" by record, and as often by whole sites ({plural(_count_sites(run), 'site')})"
    sites = _count_sites(run)
    if not sites:
        return " by record; there is no site column, so **other sites cannot be spoken of**"
    if sites < LEAST_SITES:
        return (
            f" by record. {plural(sites, 'site')} are too few to halve ({LEAST_SITES} needed), so **other "
            "sites cannot be spoken of**"
        )
    return (
        " by record. Halves of whole sites would be too unequal to audit, so **other sites "
        "cannot be spoken of**"
    )


def _count_sites(run: Run) -> int:
    sites = run.verdicts["site_count"].dropna()
    return int(sites.max()) if len(sites) else 0


def name_ways(table: pd.DataFrame) -> pd.DataFrame:
    """Name the way of halving and drawing in every row, as the tables do."""
    return table.assign(way=[f"{row.halving} / {row.drawing}" for row in rows(table)])


def choose_way(truth: pd.DataFrame) -> tuple[str, str]:
    """Choose what a chapter looks at first: whole sites where they were halved, else records."""
    return (SITES, SITES) if SITES in set(truth["halving"]) else (RECORDS, RECORDS)


def select_bins(
    summary: pd.DataFrame, way: tuple[str, str], predictions: Sequence[str] = ("vfr", "vfr_site")
) -> pd.DataFrame:
    """Take the bins of some predictions for one way of halving and drawing."""
    found = summary[(summary["halving"] == way[0]) & (summary["drawing"] == way[1]) & (summary["bin"] > 0)]
    found = found[found["prediction"].isin(predictions)]
    bounds = [
        f"{share(row.bin_low, digits=0) if row.bin_low else '0%'} and {share(row.bin_high, digits=0)}"
        for row in rows(found)
    ]
    return found.assign(name=found["prediction"].map(PREDICTIONS), range=bounds).reset_index(drop=True)


def describe_calibration(summary: pd.DataFrame, way: tuple[str, str], prediction: str = "vfr") -> str:
    """Say whether one prediction foretold too few or too many flips, and how it did where it was sure."""
    whole = select_bin(summary, way, prediction)
    if whole.empty:
        return "There is no prediction to compare with what came of it."
    row = whole.iloc[0]
    text = (
        f"**{PREDICTIONS[prediction]}**: foretold {share(row['predicted'])} on average, realised "
        f"{share(row['realised'])} ({interval(row['realised_low'], row['realised_high'], kind='share')}); "
        f"{_direction(row)}. With mixed halves, {share(row['realised_mixed'])}. "
        f"As a forecast its Brier score is {number(row['brier'])}, "
        f"{'no better than' if row['brier'] >= row['brier_constant'] else 'better than'} always naming the "
        f"mean ({number(row['brier_constant'])})."
    )
    sure = select_bin(summary, way, prediction, 1)
    if len(sure):
        one = sure.iloc[0]
        text += (
            f" Where it foretold {share(one['bin_high'], digits=0)} or less "
            f"({plural(one['predictions'], 'prediction')}), {share(one['realised'])} of the audits ended in "
            f"the other verdict (mixed halves: {share(one['realised_mixed'])})."
        )
    return text


def _direction(row: "pd.Series[Any]") -> str:
    """Say whether there were more flips than foretold: beyond a point, the interval, and in mixed halves."""
    error, mixed = float(row["error"]), float(row["realised_mixed"] - row["predicted"])
    if abs(error) <= SMALL:
        return "that is right on average"
    if row["error_low"] <= 0 <= row["error_high"]:
        return "so few halvings cannot tell the two apart"
    which = "few" if error > 0 else "many"
    if abs(mixed) <= SMALL or mixed * error < 0:
        return f"it foretold too {which} flips for halves that mirror each other, but not for mixed ones"
    return f"it foretold **too {which}** flips"


def _both(one: float, other: float) -> str:
    """Write the realised flip rate and that with mixed halves, the smaller first."""
    low, high = sorted([one, other])
    return share(low) if share(low) == share(high) else interval(low, high, kind="share")


def describe_ways(ways: pd.DataFrame) -> str:
    """Say for every way which of the flip rates came nearer on average."""
    if ways.empty:
        return "No way of halving could be tried."
    if ways["vfr_site"].isna().all():
        return (
            "Whole sites were not drawn, so vfr_site cannot be compared. What is said here holds for other "
            "records of the same sites and time."
        )
    lines = []
    for row in rows(ways):
        site, record = abs(row.realised - row.vfr_site), abs(row.realised - row.vfr)
        nearer = "vfr_site" if site < record else "vfr"
        audits = "whole sites" if row.drawing == SITES else "records"
        lines.append(
            f"- Halved by {row.halving[:-1]}, audits of {audits}: realised {share(row.realised)}; "
            f"vfr {share(row.vfr)}, vfr_site {share(row.vfr_site)}; **{nearer}** is nearer on average, and "
            f"{'vfr_site' if row.abs_error_site < row.abs_error else 'vfr'} prediction by prediction "
            f"({share(row.abs_error)} and {share(row.abs_error_site)} off)."
        )
    return "\n".join(lines)


def describe_cells(cells: pd.DataFrame, *, stable: float) -> str:
    """Name the cells that looked stable and were not, and those whose halves stand on two sides."""
    if cells.empty:
        return "No cell could be checked."
    calm = cells[cells["predicted"] <= stable]
    broken = calm[calm["realised"] > stable]
    firm = broken[broken["realised_mixed"] > stable]
    text = (
        f"{count_of(len(calm), len(cells), 'cell')} {agree(len(calm), 'was', 'were')} foretold to be stable "
        f"({share(stable, digits=0)} or less). Of these, {count(len(broken))} flipped more often than that"
    )
    text += f": {_name(broken)}; with mixed halves still {count(len(firm))}." if len(broken) else "."
    mirrored = cells[cells["realised"] > 0.5]
    if len(mirrored):
        text += (
            f" In {plural(len(mirrored), 'cell')} more than half of the audits ended otherwise "
            f"({_name(mirrored)}). Two halves of one cohort mirror each other, so this says that "
            f"the whole lies "
            "close to its threshold beside the spread of halves, and the true share is nearer to one half."
        )
    return text


def _name(cells: pd.DataFrame, *, limit: int = 5) -> str:
    return name_list((f"{row.metric} for {row.attribute}" for row in rows(cells)), limit=limit)


def select_causes(causes: pd.DataFrame, way: tuple[str, str]) -> pd.DataFrame:
    """Keep the causes for halves and audits of records, and those for one other way."""
    kept = [(row.halving, row.drawing) in ((RECORDS, RECORDS), way) for row in rows(causes)]
    return name_ways(causes.loc[np.array(kept, bool)].reset_index(drop=True))


def describe_range(truth: pd.DataFrame) -> str:
    """Say how far resamples and audits of the smallest and the largest size lie from their half."""
    here = select_way(truth)
    here = here[here["metric"] != "DI"]
    if here.empty:
        return "There is no gap whose bias could be measured."
    lines = []
    for size in sorted({int(here["n"].min()), int(here["n"].max())}):
        part = here[here["n"] == size]
        lines.append(
            f"at {count(size)} records a resample lies {_signed(part['bias_resample'])} from its half and an "
            f"audit {_signed(part['bias_audit'])}"
        )
    against = here["against_whole"].mean()
    return (
        f"Gaps, on average over cells: {'; '.join(lines)}; and a half lies {_signed(here['bias_half'])} from "
        "the whole. Taking the shift of resamples beside audits out would move the flip rate by "
        f"{_signed(here['from_range'])}. What both share, neither shows: in {share(against, digits=0)} of "
        "the halvings the dominant verdict is not that of all records, be it by this shift or by chance."
    )


def _signed(values: "pd.Series") -> str:
    mean = float(values.mean())
    return f"{'+' if mean > 0 else ''}{number(mean)}".replace("-", "\N{MINUS SIGN}")


def describe_spread(causes: pd.DataFrame) -> str:
    """Say which metrics vary more in audits of records than in resamples within strata."""
    here = match_rows(causes, halving=RECORDS, drawing=RECORDS)
    if here.empty:
        return "No spread could be compared."
    said = [f"{row.metric} {number(row.spread_ratio, digits=2)}" for row in rows(here)]
    wide = here[here["spread_ratio"] > 1.1]["metric"].tolist()
    text = (
        "Resamples hold the number of events in every group still; audits do not. Standard deviation of "
        f"audits over that of resamples: {join_words(said)}."
    )
    if wide:
        return text + f" So resamples hide a part of the spread of {join_words(wide)}."
    return text + " So strata hide little here."


def describe_other_half(truth: pd.DataFrame) -> str:
    """Say what it costs that the first half is itself a sample."""
    here = select_way(truth)
    if here.empty:
        return "No halves could be compared."
    return (
        f"Halved by record, in {share(here['wrong_side'].mean(), digits=0)} of the halvings most audits of "
        "the second half end in the other verdict than the first half's resamples. Nothing in the first half "
        "shows that; a flip rate never exceeds one half. Audits of the second half differ among themselves "
        f"in {share(here['own'].mean())} (mean flip rate of their own), and from what the first half said in "
        f"{share(here['realised'].mean())}."
    )


def describe_sites(truth: pd.DataFrame) -> str:
    """Say how much further halves of whole sites lie apart than halves of records."""
    both = compare_halves(truth)
    if both.empty:
        return "Whole sites were not halved, so what sites do cannot be told from what chance does."
    ratio = both.groupby(["metric", "attribute"])["ratio"].mean()
    names = [f"{metric} for {attribute}" for metric, attribute in ratio.sort_values(ascending=False).index]
    above = int((ratio > 1.5).sum())
    return (
        f"Halves of whole sites lie {number(float(ratio.median()), digits=1)} times as far apart as halves "
        f"of records (median over cells; most for {escape(names[0])}, {number(float(ratio.max()), digits=1)} "
        f"times), and more than one and a half times in {count_of(above, len(ratio), 'cell')}. Were sites "
        "alike, it would be once. Halved by site, audits of records end otherwise in "
        f"{share(both['realised_apart'].mean())} (mixed halves "
        f"{share(both['realised_mixed_apart'].mean())}), halved by record in "
        f"{share(both['realised'].mean())}; vfr is {share(both['predicted_apart'].mean())} and "
        f"{share(both['predicted'].mean())}."
    )


def describe_pairs(truth: pd.DataFrame, way: tuple[str, str]) -> str:
    """Say how often two audits disagree, beside the flip rate."""
    here = select_way(truth, *way)
    if here.empty:
        return "No two audits could be compared."
    return (
        f"The mean flip rate foretold is {share(here['predicted'].mean())}; two audits were foretold to "
        f"disagree, by 2p(1 - p), in {share(here['pair_predicted'].mean())}. Two audits of the same half did "
        f"in {share(here['pair_realised'].mean())}, one of each half in {share(here['pair_across'].mean())}."
    )


def list_takeaways(run: Run) -> str:
    """Write the take-aways that follow from this run."""
    summary = run.flip_truth_summary
    if summary.empty:
        return (
            "- On this cohort the flip rate could not be checked: take it for what it is, a "
            "forecast untested here."
        )
    lines = []
    for way, what in (
        ((RECORDS, RECORDS), "other records"),
        ((SITES, RECORDS), "records of other sites"),
        ((SITES, SITES), "whole other sites"),
    ):
        for prediction in ("vfr", "vfr_site") if way[0] == SITES else ("vfr",):
            whole = select_bin(summary, way, prediction)
            if len(whole):
                row = whole.iloc[0]
                lines.append(
                    f"- For audits of {what}, {prediction} foretold {share(row['predicted'])} and "
                    f"{_both(row['realised'], row['realised_mixed'])} were realised: {_direction(row)}."
                )
    if SITES not in set(summary["halving"]):
        lines.append("- Of other sites nothing can be said here.")
    return "\n".join(lines)


def describe_measured(table: pd.DataFrame) -> str:
    """Say of the stored comparison what records and sites foretold of other sites, cohort by cohort."""
    lines = []
    for name, part in table.groupby("cohort", sort=False):
        apart = match_rows(part, halving=SITES, drawing=SITES)
        row = (apart if len(apart) else part).iloc[0]
        what = "whole other sites" if len(apart) else "other records (there are no sites)"
        text = (
            f"- {escape(name)}, audits of {what}: vfr foretold {share(row['vfr'])}"
            + (f", vfr_site {share(row['vfr_site'])}" if len(apart) else "")
            + f"; realised {_both(row['realised'], row['realised_mixed'])}."
        )
        if row["sure"]:
            text += f" Where vfr was at most 1%: {_both(row['sure_realised'], row['sure_mixed'])}."
        lines.append(text)
    return "\n".join(lines)
