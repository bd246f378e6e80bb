"""Calibration by group: statsmodels' fits, and what has none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import norm, t

from auditbook.evidence.intervals import rate_events, wilson_interval
from auditbook.ranking.calibration import fit_calibration, tabulate_calibration
from auditbook.ranking.collapsibility import Sample, fit_intercept, fit_slope
from auditbook.ranking.matrix import auc_matrix
from auditbook.ranking.scenarios import draw_calibrated
from auditbook.ranking.tables import tabulate_auc_fairness
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from slow_areas import draw_sites, jackknife
from small_audits import audit, random_audit

SETTLED = 1e-6  # two solvers of the same equations


def draw(n=3000, *, shift=0.3, spread=0.7, seed=1):
    rng = np.random.default_rng(seed)
    values = expit(rng.normal(-1, 1, n))
    return (rng.random(n) < expit(shift + spread * logit(values))).astype(int), values


def test_fits_equal_a_glm_and_our_own_newton_steps():
    outcome, values = draw()
    found = fit_calibration(outcome, values)
    position = logit(values)
    slope = sm.GLM(outcome, sm.add_constant(position), family=sm.families.Binomial()).fit()
    level = sm.GLM(outcome, np.ones(len(values)), family=sm.families.Binomial(), offset=position).fit()
    for fitted, glm in ((found.slope, slope), (found.intercept, level)):
        np.testing.assert_allclose([fitted.low, fitted.high], glm.conf_int()[-1], atol=SETTLED)
    assert found.slope.value == pytest.approx(fit_slope(Sample(outcome, values)), abs=SETTLED)
    assert found.intercept.value == pytest.approx(fit_intercept(Sample(outcome, values)), abs=SETTLED)
    assert np.isnan([found.slope.site_low, found.slope.site_high]).all()


@pytest.mark.parametrize("name", ["intercept", "slope"])
def test_intervals_by_site_are_those_of_leaving_out_one_site_after_the_other(name):
    outcome, values = draw(2000)
    site = draw_sites(np.random.default_rng(2), 2000, 23)

    def fit(kept):
        return getattr(fit_calibration(outcome[kept], values[kept]), name)

    found, plain = getattr(fit_calibration(outcome, values, site=site), name), fit(slice(None))
    moved = jackknife(lambda kept: fit(kept).value, site)
    se = np.sqrt(np.square(moved).sum() * (len(moved) - 1) / len(moved))
    share = np.bincount(site) / 2000
    effect = max((2 * norm.ppf(0.975) * se / (plain.high - plain.low)) ** 2, 1)
    part = share + (effect - 1) * share**2 / (share**2).sum()
    reach = t.ppf(0.975, part.sum() ** 2 / (part**2).sum() - 1) * se
    expected = [found.value - reach, found.value + reach]
    assert [found.site_low, found.site_high] == pytest.approx(expected, abs=0.01)


def test_with_small_sites_of_one_size_intervals_are_nearly_those_of_a_glm_with_clusters():
    outcome, values = draw(9000)
    site = np.arange(9000) % 300
    found = fit_calibration(outcome, values, site=site)
    glm = sm.GLM(outcome, sm.add_constant(logit(values)), family=sm.families.Binomial())
    slope = glm.fit(cov_type="cluster", cov_kwds={"groups": site}, use_t=True)
    np.testing.assert_allclose([found.slope.site_low, found.slope.site_high], slope.conf_int()[-1], atol=1e-3)


def test_units_take_the_place_of_records_with_as_many_degrees_of_freedom_as_they_are_worth():
    outcome, values = draw(900)
    unit = np.minimum(np.arange(900) // 9, 60)  # the last one holds 360 records
    found = fit_calibration(outcome, values, unit=unit).slope
    glm = sm.GLM(outcome, sm.add_constant(logit(values)), family=sm.families.Binomial())
    fit = glm.fit()
    moved = []
    for one in range(61):  # the step of Newton's method without the unit
        kept = unit != one
        design, chance = glm.exog[kept], fit.fittedvalues[kept]
        information = (design * (chance * (1 - chance))[:, None]).T @ design
        moved.append(np.linalg.solve(information, design.T @ (outcome[kept] - chance))[-1])
    error = np.sqrt(np.square(moved).sum() * 60 / 61)
    share = np.bincount(unit) / 900
    effect = max((error / fit.bse[-1]) ** 2, 1)
    part = share + (effect - 1) * share**2 / (share**2).sum()
    reach = t.ppf(0.975, part.sum() ** 2 / (part**2).sum() - 1) * error
    assert [found.low, found.high] == pytest.approx(
        [fit.params[-1] - reach, fit.params[-1] + reach], abs=1e-5
    )
    assert np.isnan(found.site_low)


def test_stays_of_patients_count_by_patient_and_too_few_sites_say_so():
    outcome, values = draw(3000, shift=0, spread=1)
    codes, site = np.arange(3000) % 2, np.arange(3000) % 12
    tables = []
    for times in (1, 5):
        many = [np.repeat(part, times) for part in (outcome, values, codes, site, np.arange(3000))]
        sex, score = Attribute("g", ("a", "b"), many[2]), Score("m", "probability", 0.5, many[1])
        records = AuditRecords(many[0].astype(np.int8), (sex,), (score,), many[3], many[4])
        tables.append(tabulate_calibration(records, protocol=Protocol()))
    for end in ("slope_low", "slope_high", "intercept_low"):
        np.testing.assert_allclose(tables[1][end], tables[0][end], atol=0.02)
    assert tables[0]["slope_site_low"].isna().all()
    assert tables[0]["site_reason"].tolist() == [f"{n} sites, 15 needed" for n in (12, 6, 6)]


def test_as_many_events_as_predicted_give_an_intercept_of_zero_and_a_slope_of_one():
    found = fit_calibration([0] * 9 + [1] + [1] * 9 + [0], np.repeat([0.1, 0.9], 10))
    assert found.intercept.value == pytest.approx(0, abs=SETTLED)
    assert found.slope.value == pytest.approx(1, abs=SETTLED)


@pytest.mark.parametrize(
    ("outcome", "values", "reason", "has_intercept"),
    [
        ([], [], "no records", False),
        ([0, 0], [0.1, 0.2], "no events", False),
        ([1, 1], [0.1, 0.2], "no non-events", False),
        ([0, 1, 0, 1], [0.3] * 4, "all scores are equal, so there is no slope", True),
        ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], "the score separates events and non-events", True),
        ([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], "the score separates events and non-events", True),
        ([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.4, 0.5], "the fit of the slope does not settle", True),
        ([0, 1, 1, 0], [0.0, 1.0, 0.4, 0.6], "2 scores of 0 or 1 moved inside", True),
    ],
)
def test_what_cannot_be_fitted_says_why(outcome, values, reason, has_intercept):
    found = fit_calibration(outcome, values)
    assert reason in found.reason
    assert np.isnan(found.intercept.value) == (not has_intercept)


@pytest.mark.parametrize("factor", [0.2, 3.0, 5.0])
def test_scores_that_are_far_too_extreme_or_too_tame_still_have_a_slope(factor):
    outcome, values = draw(4000, shift=0, spread=1)
    found = fit_calibration(outcome, expit(factor * logit(values)))
    assert found.slope.value == pytest.approx(fit_calibration(outcome, values).slope.value / factor, rel=0.1)
    assert found.slope.low < found.slope.high
    assert not np.isnan(found.intercept.value)


def test_one_site_gives_no_interval_by_site():
    outcome, values = draw(200)
    found = fit_calibration(outcome, values, site=np.zeros(200, int))
    assert np.isnan(found.slope.site_low)
    assert found.slope.low < found.slope.value < found.slope.high


def test_table_has_a_row_for_all_and_for_every_group_empty_ones_too():
    rng = np.random.default_rng(2)
    records = random_audit(rng, 600, ["a", "b"], n_sites=16)
    race = Attribute("race", ("a", "b", "nobody"), records.attributes[0].codes)
    inside = Score("m", "probability", 0.5, np.clip(records.scores[0].values, 0.01, 0.99))
    scores = (inside, Score("ranks", "rank", 0.5, rng.normal(size=600)))
    table = tabulate_calibration(
        AuditRecords(records.outcome, (race,), scores, records.site), protocol=Protocol()
    )
    assert table["group"].tolist() == ["all", "a", "b", "nobody"] * 2
    assert table["reason"].tolist() == [
        "",
        "",
        "",
        "no records",
        *["no probability: the score is a rank"] * 4,
    ]
    assert table["sites"].tolist()[:3] == [16, 16, 16]
    assert table["slope"].notna().tolist() == [True] * 3 + [False] * 5
    assert (table["intercept_site_low"] < table["intercept_site_high"]).sum() == 3


def test_a_small_group_names_what_it_lacks_and_an_audit_without_sites_leaves_them_blank():
    records = audit([0, 1] * 40 + [1, 0], np.tile([0.2, 0.4, 0.6, 0.8], 21)[:82], ["big"] * 80 + ["tiny"] * 2)
    table = tabulate_calibration(records, protocol=Protocol()).set_index("group")
    assert "1 event, 10 needed" in table.loc["tiny", "reason"]
    assert table["sites"].isna().all()


@pytest.mark.parametrize("by_unit", [False, True])
def test_a_slope_of_one_event_has_no_narrow_interval_by_clusters(by_unit):
    """The one event decides the fit, so that its cluster's residuals nearly vanish along the slope."""
    rng = np.random.default_rng(1)
    scores, site = rng.uniform(0.05, 0.6, 1200), np.arange(1200) % 20
    records = AuditRecords(
        np.eye(1, 1200, dtype=np.int8)[0],
        (Attribute("sex", ("F", "M"), np.arange(1200) // 20 % 2),),
        (Score("m", "probability", 0.3, scores),),
        site=site,
        unit=np.arange(1200) // 3 if by_unit else None,
    )
    table = tabulate_calibration(records, protocol=Protocol()).set_index("group")
    assert not np.isnan(table.loc["F", "slope"])
    assert table.filter(like="_site_").isna().all(axis=None)
    assert table.loc["F", "site_reason"] == table.loc["F", "reason"] == "1 event, 10 needed"
    if by_unit:
        assert table[["slope_low", "intercept_high"]].isna().all(axis=None)
    else:
        assert table.loc["F", "slope_high"] - table.loc["F", "slope_low"] > 2


def test_bins_carry_wilsons_interval_and_empty_ones_nothing():
    table = rate_events(pd.DataFrame({"n": [20, 0, 5], "events": [4, 0, 5]}))
    assert table["event_rate"].tolist()[::2] == [0.2, 1.0]
    assert np.isnan(table.loc[1, ["event_rate", "event_rate_low", "event_rate_high"]].astype(float)).all()
    assert table.loc[0, "event_rate_low"] == pytest.approx(float(wilson_interval(4, 20).low))


def test_a_calibrated_model_can_fail_cross_group_parity():
    drawn = draw_calibrated(n=40_000, rng=np.random.default_rng(3))
    for group in (0, 1):
        mine = drawn.codes == group
        found = fit_calibration(drawn.outcome[mine], drawn.values[mine], level=0.999)
        assert found.intercept.low < 0 < found.intercept.high
        assert found.slope.low < 1 < found.slope.high
    area = auc_matrix(drawn.outcome, drawn.values, drawn.codes, 2).auc
    assert abs(area[0, 0] - area[1, 1]) < 0.04
    assert abs(area[0, 1] - area[1, 0]) > 0.6
    sex = Attribute("sex", ("M", "F"), drawn.codes.astype(int))
    scores = (Score("model", "probability", 0.5, drawn.values),)
    table = tabulate_auc_fairness(AuditRecords(drawn.outcome, (sex,), scores), protocol=Protocol(), seed=1)
    assert table.set_index("metric").loc["cross_parity", "ci_low"] > 0.6
