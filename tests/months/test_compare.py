"""Two audits side by side: set-up, conclusions, forecast, and what is beyond noise."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from auditbook.errors import InputError
from auditbook.evidence import prepare
from auditbook.months import Paired, compare_runs, tell_comparison, write_comparison_page
from auditbook.months.compare import list_turned
from auditbook.months.differences import DIFFERENCES
from auditbook.months.foretold import CELL_CHANGES, sum_forecasts
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.results import Run
from auditbook.settings import Protocol
from auditbook.verdicts import judge, tabulate_groups, tabulate_rates

PROTOCOL = Protocol(metrics=("DI", "SPD", "EOPP", "EOD", "PP"), resamples=20)


def draw(seed, *, found=(0.7, 0.7), n=3_000, model="m", groups=("Añá | x", "<b>")):
    rng = np.random.default_rng(seed)
    group, event = rng.integers(0, 2, n), rng.random(n) < 0.3
    chosen = rng.random(n) < np.where(event, np.array(found)[group], 0.15)
    score = Score(model, "decision", 0.5, chosen.astype(float))
    return AuditRecords(event.astype(np.int8), (Attribute("race", groups, group),), (score,))


def make_run(records, *, data, cohort="c", title="Trial", protocol=PROTOCOL, threshold=0.5):
    prepared = prepare(records)
    found = judge(prepared, protocol, axes=("shown",))
    models = [score.model for score in records.scores]
    info = {
        "name": "trial",
        "title": title,
        "models": models,
        "attributes": [item.name for item in records.attributes],
        "rows_audited": len(records.outcome),
        "hashes": {"cohort": cohort, "data": data},
        "protocol": asdict(replace(protocol, thresholds={})) | {"thresholds": dict(protocol.thresholds)},
        "versions": {"numpy": "1"},
        "profile": {"name": "smoke"},
        "outcome": {"column": "died"},
    }
    run = Run(Path("nowhere"), info)
    run.__dict__.update(
        verdicts=found.verdicts,
        contrasts=found.contrasts,
        rates=tabulate_rates(prepared, protocol),
        groups=tabulate_groups(records, protocol=protocol),
        models=pd.DataFrame({"model": models, "kind": "decision", "threshold": threshold}),
    )
    return run


@pytest.fixture(scope="module")
def quiet():
    return make_run(draw(1), data="one")


@pytest.fixture(scope="module")
def later():
    return make_run(draw(2, found=(0.7, 0.4)), data="two", cohort="d", title="Later")


def test_an_audit_beside_itself_has_changed_in_nothing(quiet):
    found = compare_runs(quiet, quiet)
    assert found.setups == []
    assert not len(list_turned(found))
    assert not found.differences["beyond_noise"].any()
    assert found.differences["change"].isin([0.0, 1.0]).all()
    assert found.shared
    assert found.unpaired
    assert "--cohorts" in "\n".join(tell_comparison(found))


def test_a_changed_rate_is_beyond_noise_in_its_group_alone(quiet, later):
    table = compare_runs(quiet, later).differences
    rates = table[(table["kind"] == "rate") & (table["rate"] == "TPR")].set_index("group")
    assert rates.loc["<b>", "beyond_noise"]
    assert not rates.loc["Añá | x", "beyond_noise"]
    assert rates.loc["<b>", "change"] == pytest.approx(-0.3, abs=0.08)
    assert (table["low_board"] <= table["low"]).all()
    assert (table["p"] <= table["p_board"]).all()
    assert list(table.columns) == list(DIFFERENCES)


def test_the_change_of_a_rate_has_the_interval_of_two_shares(quiet, later):
    table = compare_runs(quiet, later).differences
    row = table[(table["kind"] == "rate") & (table["rate"] == "TPR") & (table["group"] == "<b>")].iloc[0]
    n = [run.groups.set_index("group").loc["<b>", "events"] for run in (quiet, later)]
    error = np.sqrt(sum(p * (1 - p) / k for p, k in zip((row["before"], row["after"]), n, strict=True)))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * error, rel=0.02)


def test_conclusions_and_forecast_are_told_side_by_side(quiet, later):
    found = compare_runs(quiet, later)
    eopp = found.cells.set_index("metric").loc["EOPP"]
    assert (eopp["shown_before"], eopp["shown_after"]) != ("fail", "fail")
    assert eopp["shown_after"] == "fail"
    assert list(found.cells.columns) == list(CELL_CHANGES)
    told = found.cells[found.cells["foretold"].astype(bool)]
    assert found.forecast.expected == pytest.approx(told["next_audit"].sum())
    assert found.forecast.spread <= found.forecast.most
    assert "expected to turn" in "\n".join(tell_comparison(found))


def test_a_forecast_is_of_other_patients_and_of_the_same_threshold(quiet):
    stricter = Protocol(metrics=PROTOCOL.metrics, resamples=20, thresholds={"SPD": 0.05})
    other = make_run(draw(3), data="three", protocol=stricter)
    cells = compare_runs(quiet, other).cells.set_index("metric")
    assert not cells.loc["SPD", "foretold"]
    assert cells.loc["EOPP", "foretold"]
    same = compare_runs(quiet, quiet)
    assert not same.cells["foretold"].any()
    assert "not asked" in "\n".join(tell_comparison(same))


def test_audits_with_nothing_in_common_are_not_called_alike(quiet):
    one, other = (
        make_run(draw(1), data=name, protocol=replace(PROTOCOL, metrics=(name,))) for name in ("DI", "EOPP")
    )
    said = tell_comparison(compare_runs(one, other))
    assert "conclusion: cannot be asked, since the audits have no metric of one attribute in common" in said
    renamed = compare_runs(quiet, make_run(draw(1, groups=("x", "y")), data="two"))
    none = "since no rate and no gap of a group is judged in both audits"
    assert f"beyond noise: cannot be asked, {none}" in tell_comparison(renamed)
    assert f"Cannot be asked, {none}." in write_comparison_page(renamed)


def test_no_forecast_is_a_sum_of_nothing():
    empty = pd.DataFrame({"foretold": [False], "next_audit": [0.3], "turned": [1.0]})
    assert sum_forecasts(empty).cells == 0


def test_what_differs_before_any_result_is_listed(quiet):
    other = make_run(
        draw(4, groups=("Añá | x", "new")),
        data="two",
        cohort="d",
        protocol=Protocol(metrics=PROTOCOL.metrics, resamples=20, thresholds={"SPD": 0.05}),
        threshold=0.6,
    )
    said = {(one.what, one.before, one.after) for one in compare_runs(quiet, other).setups}
    assert ("group of race", "<b>", "") in said
    assert ("group of race", "", "new") in said
    assert ("[protocol] thresholds", "", "SPD 0.05") in said
    assert ("threshold of m", "0.5", "0.6") in said
    assert ("data", "one", "two") in said


def test_two_models_on_the_same_records_have_the_interval_of_mcnemar():
    before, other = draw(5), draw(6)
    rng = np.random.default_rng(7)
    chosen = before.scores[0].values.copy()
    flipped = rng.random(len(chosen)) < 0.1
    chosen[flipped] = 0.0
    after = AuditRecords(before.outcome, before.attributes, (Score("n", "decision", 0.5, chosen),))
    paired = {"n": Paired(before, after)}
    runs = make_run(before, data="one"), make_run(after, data="one")
    table = compare_runs(*runs, records=paired).differences
    alone = compare_runs(*runs).differences
    row = table[(table["kind"] == "rate") & (table["rate"] == "TPR") & (table["group"] == "<b>")].iloc[0]
    mine = (before.outcome == 1) & (before.attributes[0].codes == 1)
    moved = chosen[mine] - before.scores[0].values[mine]
    error = moved.std() / np.sqrt(mine.sum())
    assert row["change"] == pytest.approx(moved.mean())
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * error, rel=0.05)
    wide = alone[(alone["kind"] == "rate") & (alone["rate"] == "TPR") & (alone["group"] == "<b>")].iloc[0]
    assert wide["high"] - wide["low"] > row["high"] - row["low"]
    assert other.scores[0].model == "m"


def test_patients_with_several_stays_count_once_in_pairs():
    before = draw(5)
    doubled = {
        name: AuditRecords(
            np.repeat(before.outcome, 2),
            (Attribute("race", before.attributes[0].groups, np.repeat(before.attributes[0].codes, 2)),),
            (Score(name, "decision", 0.5, np.repeat(values, 2)),),
            unit=np.repeat(np.arange(len(values)), 2),
        )
        for name, values in (("m", before.scores[0].values), ("n", 1 - before.scores[0].values))
    }
    single = AuditRecords(
        before.outcome, before.attributes, (Score("n", "decision", 0.5, 1 - before.scores[0].values),)
    )
    one = compare_runs(
        make_run(before, data="a"), make_run(single, data="a"), records={"n": Paired(before, single)}
    ).differences
    two = compare_runs(
        make_run(before, data="a"),
        make_run(single, data="a"),
        records={"n": Paired(doubled["m"], doubled["n"])},
    ).differences
    np.testing.assert_allclose(two["high"] - two["low"], one["high"] - one["low"], rtol=0.02)


def count_called(pairs):
    runs = [make_run(draw(100 + seed, n=1_500), data=str(seed)) for seed in range(2 * pairs)]
    return sum(
        compare_runs(one, other).differences["beyond_noise"].any()
        for one, other in zip(runs[::2], runs[1::2], strict=True)
    )


def test_equal_worlds_are_seldom_called_different():
    assert count_called(4) <= 1


@pytest.mark.slow
def test_equal_worlds_are_called_different_in_at_most_five_percent():
    assert count_called(40) <= binom.ppf(0.999, 40, 0.05)


def test_single_models_of_other_names_are_held_against_each_other(quiet):
    other = make_run(draw(8, model="n"), data="two")
    found = compare_runs(quiet, other)
    assert [(pair.before, pair.after) for pair in found.pairs] == [("m", "n")]


def test_audits_without_a_common_model_are_refused(quiet):
    records = draw(8)
    scores = tuple(Score(name, "decision", 0.5, records.scores[0].values) for name in ("x", "y"))
    other = make_run(AuditRecords(records.outcome, records.attributes, scores), data="two")
    with pytest.raises(InputError, match="no model in common"):
        compare_runs(quiet, other)


def test_an_audit_without_verdicts_is_refused(quiet, tmp_path):
    with pytest.raises(InputError, match="auditbook audit"):
        compare_runs(Run(tmp_path, {}), quiet)


def test_the_page_escapes_names_and_says_no_nan(quiet, later):
    page = write_comparison_page(compare_runs(quiet, later))
    assert "<b>" not in page
    assert "nan" not in page
    assert "None" not in page
    assert "&lt;" not in page
