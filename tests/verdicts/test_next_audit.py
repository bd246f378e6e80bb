from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta, betabinom, nbinom

from auditbook.evidence import prepare
from auditbook.settings import Protocol
from auditbook.studies.simulations.next_worlds import Truth, draw_counts_of, list_records
from auditbook.verdicts import find_metric, judge
from auditbook.verdicts.shrunk_rates import WIDTH_SCALE, draw_next_rates, list_widths, weigh_rates
from auditbook.verdicts.shrunk_values import draw_next_values
from small_audits import random_audit


def test_mean_rates_are_those_of_a_fine_grid():
    """The posterior mean of each rate, by brute force over centre and width."""
    seen, held = np.array([3.0, 30.0, 200.0]), np.array([20.0, 60.0, 500.0])
    width = list_widths(WIDTH_SCALE, 400)[:, None, None]
    middle = np.linspace(0.01, 0.99, 400)[:, None]
    total = 1 / (width**2 * middle * (1 - middle))
    first, second = middle * total, (1 - middle) * total
    log = (betaln(first + seen, second + held - seen) - betaln(first, second)).sum(axis=-1)
    log -= 0.5 * np.log(middle * (1 - middle))[..., 0]
    chance = np.exp(log - log.max())
    expected = (chance[..., None] * (first + seen) / (first + second + held)).sum(axis=(0, 1)) / chance.sum()
    grid = weigh_rates(seen, held)
    found = (grid.chance[:, None] * grid.alpha / (grid.alpha + grid.beta)).sum(axis=0)
    np.testing.assert_allclose(found, expected, atol=0.015)


def test_one_group_of_many_draws_little_from_the_others_and_a_small_one_much():
    grid = weigh_rates([600, 2, 700], [1_000, 10, 1_000])
    mean = (grid.chance[:, None] * grid.alpha / (grid.alpha + grid.beta)).sum(axis=0)
    np.testing.assert_allclose(mean[[0, 2]], [0.6, 0.7], atol=0.01)
    assert 0.25 < mean[1] < 0.62


@pytest.mark.parametrize("seen", [0, 4, 40])
def test_exact_draws_and_their_normal_limit_have_the_mean_and_spread_of_a_beta_binomial(seen):
    grid = weigh_rates([seen, 50], [100, 100])
    trials = np.full((40_000, 2), 200)
    drawn = draw_next_rates(grid, trials, few=np.array([True, False]), rng=np.random.default_rng(1))
    both = grid.alpha + grid.beta
    middle = grid.alpha / both
    inside = middle * (1 - middle) * (1 / 200 + (1 - 1 / 200) / (both + 1))
    mean = grid.chance @ middle
    spread = np.sqrt(grid.chance @ (inside + middle**2) - mean**2)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.003)
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.03, atol=0.001)


def test_a_value_with_a_large_error_is_drawn_to_the_others():
    found, error = np.array([0.5, 0.9]), np.array([0.01, 0.3])
    drawn = draw_next_values(
        found, error, np.ones((20_000, 2)), scale=0.05, rng=np.random.default_rng(2)
    ).mean(axis=0)
    assert drawn[0] == pytest.approx(0.5, abs=0.01)
    assert 0.5 < drawn[1] < 0.65


def printed(truth, metric, times, seed):
    """Audits of a truth: how often the next one ends otherwise, and what is printed on average."""
    rng = np.random.default_rng(seed)
    rule = find_metric(metric)
    passes = rule.passes(rule.values(draw_counts_of(truth, 4_000, rng))).mean()
    protocol = Protocol(metrics=(metric,), resamples=300)
    rows = [
        judge(prepare(list_records(counts)), replace(protocol, seed=turn), axes=("shown",)).verdicts.iloc[0]
        for turn, counts in enumerate(draw_counts_of(truth, times, rng))
    ]
    realised = np.mean([1 - passes if row["verdict"] == "pass" else passes for row in rows])
    return (
        realised,
        np.mean([row["next_audit"] for row in rows]),
        np.mean([row["vfr_own_size"] for row in rows]),
    )


def test_an_accurate_models_ratio_near_its_threshold_is_not_called_safe():
    """TPR 0.95 and FPR 0.02 in two groups, DI near 0.80: labels decide the verdict, and they are drawn.

    With the truth on the threshold and a flat prior, 1/2 - arctan(1/sqrt(2))/pi = 0.304 is printed on
    average: nobody can know from one audit that the truth lies there.
    """
    truth = Truth(np.array([1_500, 2_500]), np.array([0.157, 0.2]), np.full(2, 0.95), np.full(2, 0.02))
    realised, predicted, plug_in = printed(truth, "DI", 25, 3)
    assert realised > 0.35
    assert predicted == pytest.approx(0.304, abs=0.08)
    assert plug_in < predicted - 0.1


def test_equal_groups_that_failed_by_chance_may_well_pass_next_time():
    """Five groups with 60 events: independent priors would print a tenth of what comes true."""
    size, rate = np.full(5, 400), np.full(5, 0.15)
    realised, predicted, _ = printed(Truth(size, rate, np.full(5, 0.7), np.full(5, 0.1)), "EOPP", 25, 4)
    assert predicted == pytest.approx(realised, abs=0.12)


def test_nothing_depends_on_other_models_or_on_the_order_of_records_and_groups():
    rng = np.random.default_rng(5)
    records = random_audit(rng, 500, ["a", "b", "c"], models=2)
    columns = ["error_free", "fail_if_equal", "reversal", "reversal_own_size", "next_audit"]
    protocol = Protocol(metrics=("DI", "EOD", "TI", "PP", "CAL", "AUC"), resamples=50)
    whole = judge(prepare(records), protocol, axes=("shown",)).verdicts
    first = whole[whole["model"] == "m0"][columns].to_numpy(float)
    alone = judge(prepare(replace(records, scores=records.scores[:1])), protocol, axes=("shown",)).verdicts
    np.testing.assert_array_equal(alone[columns].to_numpy(float), first)
    order = rng.permutation(500)
    (attribute,) = records.attributes
    moved = replace(attribute, groups=("c", "b", "a"), codes=2 - attribute.codes[order])
    scores = tuple(replace(score, values=score.values[order]) for score in records.scores[:1])
    shuffled = replace(records, outcome=records.outcome[order], attributes=(moved,), scores=scores)
    again = judge(prepare(shuffled), protocol, axes=("shown",)).verdicts
    np.testing.assert_allclose(again[columns].to_numpy(float), first, atol=1e-12)


def test_a_beta_binomial_of_one_group_is_the_textbook_one():
    """With the width known and the centre told, a rate is conjugate."""
    grid = weigh_rates([7], [20], expected=[0.3])
    node = np.argmax(grid.chance)
    prior = grid.alpha[node, 0] - 7, grid.beta[node, 0] - 13
    posterior = beta(prior[0] + 7, prior[1] + 13)
    assert posterior.mean() == pytest.approx(grid.alpha[node, 0] / (grid.alpha + grid.beta)[node, 0])


def chance_of_passing(trials, chance, *, least):
    """Where 5 of 10 are met by one half of very many: only an even number of trials can meet it again.

    `chance` has each number of trials; of a number below `least` the other audit has no verdict.
    """
    grid = weigh_rates([5, 20_000], [10, 40_000])
    half = betabinom.pmf(trials // 2, trials, grid.alpha[:, :1], grid.beta[:, :1])
    meets = np.where(trials % 2 == 0, grid.chance @ half, 0)
    judged = np.where(trials >= least, chance, 0)
    return (judged * meets).sum() / judged.sum()


@pytest.mark.parametrize("metric", ["EOPP", "PP"])
def test_other_patients_bring_other_numbers_of_events_and_of_selected_records(metric):
    """Had every audit the 10 events (or selected records) of today's, twice as many would pass."""
    other = 1_000  # Records of the small group that the rate is not about
    counts = {
        "EOPP": [[5, 0, 5, other], [20_000, 0, 20_000, 40_000]],
        "PP": [[5, 5, 0, other], [20_000, 20_000, 0, 40_000]],
    }[metric]
    protocol = Protocol(metrics=(metric,), resamples=4_000, thresholds={metric: 0.02})
    judged = judge(prepare(list_records(np.array(counts))), protocol, axes=("shown",))
    (row,) = judged.verdicts.itertuples()
    assert row.verdict == "pass"
    trials, total = np.arange(60), int(np.sum(counts))
    drawn = {"EOPP": betabinom(total, 10.5, total - 10 + 1.5), "PP": nbinom(10, 0.5)}[metric]
    passes = chance_of_passing(trials, drawn.pmf(trials), least=10)
    assert 1 - row.next_audit == pytest.approx(passes, abs=0.02)  # three standard errors of 2,000 draws
    kept = chance_of_passing(trials, trials == 10, least=10)
    assert kept > passes + 0.1
