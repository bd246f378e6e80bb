"""Pictures of scores: discrimination, distributions by outcome, calibration, thresholds."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    MARK_SIZE,
    NEUTRAL,
    SMALL_SIZE,
    draw_estimate,
    draw_missing,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    put_key_above,
    say_nothing_to_draw,
    write_n,
)
from auditbook.results import rows

EVENT_COLOUR, OTHER_COLOUR = COLOURS[1], COLOURS[0]


def draw_aurocs(models: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw each model's AUROC with its 95% interval."""
    ax = new_axes(ax, rows=len(models))
    marks = mark_groups(models["model"])
    label_rows(ax, [label_with_n(row.model, row.n_audit) for row in rows(models)])
    lowest = models["auroc_low"].fillna(models["auroc"]).min()
    ax.set_xlim(0.45 if math.isnan(lowest) else min(0.45, lowest - 0.03), 1.0)
    ax.axvline(0.5, color=GUIDE, linestyle="--", linewidth=1)
    for position, row in enumerate(rows(models)):
        mark = marks[row.model]
        draw_estimate(ax, row.auroc, position, low=row.auroc_low, high=row.auroc_high, mark=mark)
    ax.set_xlabel("AUROC with 95% interval (0.5: guessing)")
    return ax


def draw_score_shares(shares: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw in which score bins events lie, and in which non-events."""
    ax = new_axes(ax)
    position = pd.Series(range(len(shares)))
    for shift, column, name, colour in (
        (-0.2, "other", "non-events", OTHER_COLOUR),
        (0.2, "event", "events", EVENT_COLOUR),
    ):
        share = shares[f"{column}_share"]
        total = shares["others" if column == "other" else "events"].sum(skipna=False)
        ax.bar(position + shift, share, width=0.38, color=colour, label=f"{name} ({write_n(total)})")
        low, high = shares[f"{column}_share_low"], shares[f"{column}_share_high"]
        ax.vlines(position + shift, low, high, color=NEUTRAL, linewidth=1.2)
    _label_bins(ax, shares)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_ylim(bottom=0)
    ax.set_ylabel("share of the outcome")
    put_key_above(ax)
    return ax


def _label_bins(ax: Axes, bins: pd.DataFrame) -> None:
    """Name the bins under the axis by their bounds."""
    digits = 1 if bins["bin_high"].max() <= 1 else 0 if bins["bin_high"].max() >= 100 else 1
    names = [f"{row.bin_low:,.{digits}f}\u2013{row.bin_high:,.{digits}f}" for row in rows(bins)]
    ax.set_xticks(range(len(bins)), names, rotation=30 if len("".join(names)) > 80 else 0)
    ax.set_xlim(-0.6, len(bins) - 0.4)
    ax.set_xlabel("score")


def draw_calibration(rates: pd.DataFrame, *, kind: str, ax: Axes | None = None) -> Axes:
    """Draw the event rate of each score bin; for probabilities against the mean score."""
    ax = new_axes(ax, rows=10)
    if kind == "decision":
        return say_nothing_to_draw(ax, "Decisions only: there is no score to set beside an event rate.")
    if kind == "probability":
        return _draw_reliability(rates[rates["n"] > 0], ax)
    _label_bins(ax, rates)
    _draw_rates(ax, rates, pd.Series(range(len(rates))))
    return ax


def _draw_reliability(filled: pd.DataFrame, ax: Axes) -> Axes:
    """Draw event rate against mean score, with the diagonal."""
    ax.plot([0, 1], [0, 1], color=GUIDE, linestyle="--", linewidth=1, label="score = event rate")
    _draw_rates(ax, filled, filled["mean_score"])
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("mean score of the bin")
    put_key_above(ax)
    return ax


def _draw_rates(ax: Axes, rates: pd.DataFrame, x: pd.Series) -> None:
    """Draw event rates with intervals and n at the places given."""
    ax.vlines(x, rates["event_rate_low"], rates["event_rate_high"], color=COLOURS[0], linewidth=2)
    ax.plot(x, rates["event_rate"], "o", color=COLOURS[0], markersize=MARK_SIZE)
    for place, row in zip(x, rows(rates), strict=True):
        if row.n > 0:
            ax.annotate(
                f"{int(row.n):,}",
                (place, row.event_rate_high),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL_SIZE - 1,
                color=NEUTRAL,
            )
    ax.set_ylim(-0.02, 1.08)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_ylabel("event rate with 95% interval; n above")


def draw_levels(levels: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw each group's event rate with its interval, and its mean score as a stroke."""
    ax = new_axes(ax, rows=len(levels))
    marks = mark_groups(levels["group"])
    label_rows(ax, [label_with_n(row.group, row.n) for row in rows(levels)])
    largest = levels[["event_rate_high", "mean_score"]].max().max()
    ax.set_xlim(0, 1.0 if math.isnan(largest) else min(1.08 * largest + 0.005, 1.02))
    for position, row in enumerate(rows(levels)):
        low, high = row.event_rate_low, row.event_rate_high
        draw_estimate(ax, row.event_rate, position, low=low, high=high, mark=marks[row.group])
        ax.plot([row.mean_score] * 2, [position - 0.3, position + 0.3], color="black", linewidth=2)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    stroke = "no mean score: not probabilities" if levels["mean_score"].isna().all() else "stroke: mean score"
    ax.set_xlabel(f"mark: event rate with 95% interval; {stroke}")
    return ax


def draw_sweep(sweep: pd.DataFrame, *, threshold: float, ax: Axes | None = None) -> Axes:
    """Draw how the rates of decisions change with the threshold."""
    ax = new_axes(ax)
    named = (("tpr", "TPR", COLOURS[1], "o"), ("fpr", "FPR", COLOURS[0], "s"))
    for column, name, colour, marker in (*named, ("selection_rate", "selection rate", NEUTRAL, "^")):
        x, low, high = sweep["threshold"], sweep[f"{column}_low"], sweep[f"{column}_high"]
        ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        ax.plot(x, sweep[column], marker=marker, color=colour, markersize=5, label=name)
        if sweep[column].isna().all():
            draw_missing(ax, x.iloc[0], mark=mark_groups([name])[name], horizontal=False)
    ax.axvline(threshold, color="black", linestyle="--", linewidth=1.2, label="threshold in use")
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel(f"threshold (bounds of the score bins; {write_n(sweep['selected'].max())} audited records)")
    ax.set_ylabel("rate with 95% band")
    put_key_above(ax)
    return ax
