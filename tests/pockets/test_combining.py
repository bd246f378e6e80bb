"""What two maps say together."""

from dataclasses import replace

import numpy as np
import pytest

from auditbook.columns import TABLES
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.combining import choose_tolerances, combine_maps, flag_records, rule_out
from auditbook.pockets.data import declare_contrasts
from auditbook.pockets.testing import audit_map
from auditbook.studies.simulations.fixed_map import fix_map
from pocket_records import draw_records, shift_records

QUICK = PocketSettings(draws=499)


def audit_both(audit, *, settings=QUICK, share=0.5, pockets=3):
    return [
        audit_map(
            fix_map(pockets, name=name, column=column),
            audit,
            contrasts=declare_contrasts(audit.attributes),
            settings=settings,
            seed=1,
            share=share,
        )
        for name, column in (("forest", "pocket"), ("ridge", "other"))
    ]


def summarise(audit, *, tolerances=(0.05,), settings=QUICK):
    contrasts = declare_contrasts(audit.attributes)
    return combine_maps(
        audit_both(audit, settings=settings), audit, contrasts=contrasts, tolerances=tolerances
    )


def row(summary, name, quantity="mu"):
    return summary[(summary["map"] == name) & (summary["quantity"] == quantity)].iloc[0]


def plant(seed=1, n=9000):
    """Predictions are too high in the first pocket of the one map, and too low in the first of the other."""
    audit = draw_records(np.random.default_rng(seed), n)
    first, other = (audit.table[column].to_numpy() == 0 for column in ("pocket", "other"))
    audit = shift_records(audit, first & ~other, 0.25)
    return shift_records(audit, other & ~first, -0.25), first, other


def test_a_record_is_flagged_when_either_map_flags_its_pocket():
    audit, first, other = plant()
    found = audit_both(audit)
    flags = flag_records(found, model="a", quantity="mu")
    assert not flag_records(found[:1], model="a", quantity="mu").conflict.any()
    assert flags.over[first].all()
    assert flags.under[other].all()
    assert flags.conflict[first & other].all()
    assert (flags.direction[first & other] == 0).all()


def test_shares_of_the_summary_are_those_of_the_records():
    audit, _, _ = plant()
    summary = summarise(audit)
    assert list(summary.columns) == TABLES["pocket_summary"].names()
    flags = flag_records(audit_both(audit), model="a", quantity="mu")
    together = row(summary, "combined")
    assert together["conflict_share"] == pytest.approx(flags.conflict.mean())
    assert together["over_share"] == pytest.approx((flags.direction == 1).mean())
    assert together["under_share"] == pytest.approx((flags.direction == -1).mean())
    parts = together[["over_share", "under_share", "conflict_share"]].sum()
    assert together["in_gap_share"] == pytest.approx(parts)
    single = row(summary, "forest")
    assert single["conflict_share"] == 0
    assert together["tested"] == single["tested"] + row(summary, "ridge")["tested"]


def test_shares_of_a_gap_are_of_the_focal_group():
    audit = draw_records(np.random.default_rng(2), 6000)
    focal = audit.attributes[0].codes == 0
    inside = audit.table["pocket"].to_numpy() == 2
    summary = summarise(shift_records(audit, inside & focal, 0.2))
    assert row(summary, "forest", "delta")["over_share"] == pytest.approx(inside[focal].mean())


def test_errors_are_ruled_out_only_in_tested_pockets_whose_interval_is_narrow():
    audit = draw_records(np.random.default_rng(3), 6000)
    audit.table.loc[:2999, "pocket"] = -1
    small = audit.table["pocket"].to_numpy() == 2
    keep = small & (np.cumsum(small) <= 50)
    audit.table.loc[small & ~keep, "pocket"] = 1
    audit = replace(audit, table=audit.table)
    (found, _) = audit_both(audit)
    codes = audit.table["pocket"].to_numpy()
    wide = rule_out(found, tolerance=1.0, model="a", quantity="mu")
    assert (wide == np.isin(codes, [0, 1])).all()
    assert not rule_out(found, tolerance=1e-6, model="a", quantity="mu").any()
    summary = summarise(audit, tolerances=(1.0, 1e-6))
    shares = summary[(summary["map"] == "forest") & (summary["quantity"] == "mu")]["equivalence_share"]
    assert shares.tolist() == pytest.approx([np.isin(codes, [0, 1]).mean(), 0.0])
    assert row(summary, "forest")["abstained_share"] == 0.5
    assert row(summary, "combined")["abstained_share"] == 0


def test_half_the_level_asks_for_more_in_each_map():
    audit = draw_records(np.random.default_rng(4), 1500)
    half, full = audit_both(audit)[0].errors, audit_both(audit, share=1.0)[0].errors
    assert (half["critical"] > full["critical"]).all()
    assert (half["level"] * 2 == full["level"]).all()


def test_a_clear_overall_gap_is_split_in_each_map_but_not_in_both_together():
    audit = draw_records(np.random.default_rng(5), 4000)
    summary = summarise(shift_records(audit, audit.attributes[0].codes == 0, 0.2))
    assert row(summary, "forest", "delta")["overall"] == pytest.approx(
        row(summary, "ridge", "delta")["overall"]
    )
    assert np.isfinite(row(summary, "forest", "delta")["composition_share"])
    assert np.isnan(row(summary, "combined", "delta")["composition"])
    assert np.isnan(row(summary, "forest")["overall"])


def test_paired_gaps_have_rows_of_their_own():
    audit = draw_records(np.random.default_rng(6), 3000, models=("a", "b"))
    audit = shift_records(audit, True, 0.01 * np.sin(np.arange(3000)), model="b")
    summary = summarise(audit, settings=PocketSettings(draws=199, paired=("a - b",)))
    paired = summary[summary["quantity"] == "paired"]
    assert paired["other_model"].tolist() == ["b"] * 3
    assert summary.groupby("quantity")["map"].size().to_dict() == {"delta": 6, "mu": 6, "paired": 3}


def test_a_group_without_records_has_no_shares():
    audit = draw_records(np.random.default_rng(7), 900)
    nobody = replace(audit.attributes[0], groups=("F", "M", "X"), reference="M")
    summary = summarise(replace(audit, attributes=(nobody,)))
    missing = summary[summary["contrast"] == "sex: X - M"]
    assert missing[["equivalence_share", "over_share", "abstained_share"]].isna().all(axis=None)
    assert (missing["tested"] == 0).all()


def test_one_map_alone_has_no_combined_row():
    audit = draw_records(np.random.default_rng(8), 900)
    contrasts = declare_contrasts(audit.attributes)
    summary = combine_maps(audit_both(audit)[:1], audit, contrasts=contrasts, tolerances=(0.05,))
    assert set(summary["map"]) == {"forest"}


def test_tolerances_come_from_settings_or_the_outcome():
    outcome = np.array([0.0, 4.0])
    assert choose_tolerances(PocketSettings(), outcome, continuous=False) == (0.05,)
    assert choose_tolerances(PocketSettings(), outcome, continuous=True) == (0.5, 1.0)
    assert choose_tolerances(PocketSettings(tolerances=(0.1,)), outcome, continuous=True) == (0.1,)


def test_asking_for_a_model_that_was_not_audited_is_a_key_error():
    audit = draw_records(np.random.default_rng(9), 900)
    with pytest.raises(KeyError, match="nothing was audited"):
        flag_records(audit_both(audit), model="z", quantity="mu")


@pytest.mark.parametrize("n", [900, 50, 0])  # tested, too thin, and nothing at all
def test_an_audit_without_groups_has_mean_errors_only(n):
    audit = draw_records(np.random.default_rng(10), 900).take(np.arange(n))
    found = [
        audit_map(fix_map(3, column=column), audit, contrasts=(), settings=QUICK, seed=1)
        for column in ("pocket", "other")
    ]
    summary = combine_maps(found, audit, contrasts=(), tolerances=(0.05,))
    assert set(summary["quantity"]) == {"mu"}
    assert summary["composition"].isna().all()
    assert summary["tested"].max() == (6 if n == 900 else 0)


def test_columns_keep_their_kind_when_there_is_nothing_to_fill_them_with():
    audit = draw_records(np.random.default_rng(11), 900)
    some, none = summarise(audit), summarise(replace(audit, attributes=()))
    assert (some.dtypes == none.dtypes).all()
    (full, _), (thin, _) = audit_both(audit), audit_both(audit.take(np.arange(60)))
    assert (full.errors.dtypes == thin.errors.dtypes).all()
