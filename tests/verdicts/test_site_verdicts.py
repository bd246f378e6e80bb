"""Axis 3: every cell judged in every fold, support missing left unrated, agreement with its status."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.columns import TABLES
from auditbook.evidence import prepare
from auditbook.records import Attribute
from auditbook.settings import Protocol
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.site_agreement import rate_agreement, share_folds, spread_ratings
from auditbook.verdicts.site_folds import plan_folds
from small_audits import EVERY_METRIC, random_audit, slow_metric

PROTOCOL = Protocol(resamples=5, resample_size=200, metrics=EVERY_METRIC, site_folds=4)


@pytest.fixture(scope="module")
def audit():
    return random_audit(np.random.default_rng(1), 900, "abc", models=2, n_sites=12)


def judge_all(records, protocol=PROTOCOL):
    judged = judge(prepare(records), replace(protocol, seed=1), axes=("sites",))
    return judged.verdicts, judged.folds, judged.site_verdicts


def rated(**verdicts):
    """Make site verdicts of metric DI from a string a attribute: p, f or i for each fold."""
    words = {"p": "pass", "f": "fail", "i": "inconclusive"}
    rows = [
        {"model": "m", "metric": "DI", "attribute": name, "fold": fold + 1, "verdict": words[sign]}
        for name, signs in verdicts.items()
        for fold, sign in enumerate(signs)
    ]
    return pd.DataFrame(rows)


def agreement(**verdicts):
    table = rated(**verdicts)
    return rate_agreement(table, table).iloc[0]


def test_every_fold_is_judged_as_an_audit_of_its_records_alone(audit):
    _, folds, table = judge_all(audit)
    assert table.columns.tolist() == TABLES["site_verdicts"].names()
    (race,) = audit.attributes
    for score in audit.scores:
        for metric in EVERY_METRIC:
            here = table[(table["model"] == score.model) & (table["metric"] == metric)]
            for row in here.itertuples():
                inside = folds.of_record == row.fold - 1
                slow = slow_metric(
                    metric, audit.outcome[inside], vars(score)["values"][inside], race.codes[inside], 3
                )
                assert row.estimate == pytest.approx(slow)
                assert row.n == inside.sum()
                assert row.sites == len(set(audit.site[inside]))


def test_a_fold_where_a_group_lacks_support_is_a_missing_rating_with_its_reason(audit):
    (race,) = audit.attributes
    folds = plan_folds(audit, n_folds=4)
    codes = np.where((folds.of_record == 0) & (race.codes == 2), 1, race.codes)
    moved = replace(audit, attributes=(replace(race, codes=codes),))
    table = judge_all(moved, replace(PROTOCOL, metrics=("DI",)))[2]
    gone = table[table["verdict"] == "inconclusive"]
    assert len(gone) == 2
    assert set(gone["reason"]) == {"c: no records"}
    assert table[table["verdict"] != "inconclusive"]["reason"].eq("").all()


def test_score_metrics_of_a_rank_are_not_rated_in_any_fold(audit):
    ranks = tuple(replace(score, kind="rank") for score in audit.scores)
    verdicts, _, table = judge_all(replace(audit, scores=ranks), replace(PROTOCOL, metrics=("TI", "DI")))
    assert set(table[table["metric"] == "TI"]["verdict"]) == {"inconclusive"}
    found = rate_agreement(table, verdicts).set_index("metric")
    assert set(found.loc["TI", "status"]) == {"not rated"}
    assert found.loc["TI", "kappa"].isna().all()


def test_a_threshold_of_the_cohort_is_used_in_the_folds(audit):
    strict = replace(PROTOCOL, metrics=("DI",), thresholds={"DI": 1.01})
    assert set(judge_all(audit, strict)[2]["verdict"]) == {"fail"}


def test_without_sites_the_tables_are_empty_and_say_why(audit):
    verdicts, folds, table = judge_all(replace(audit, site=None))
    assert folds is None
    assert table.columns.tolist() == TABLES["site_verdicts"].names()
    found = rate_agreement(table, verdicts)
    assert found.columns.tolist() == TABLES["site_agreement"].names()
    assert set(found["status"]) == {"no site"}
    assert set(found["reason"]) == {"there is no site column"}
    one = judge_all(replace(audit, site=np.zeros(900, int)))
    assert set(rate_agreement(one[2], one[0])["reason"]) == {"there is one site only"}


def test_shuffled_rows_and_renamed_sites_give_the_same_verdicts(audit):
    order = np.random.default_rng(5).permutation(900)
    names = np.random.default_rng(6).permutation(12)
    turned = replace(
        audit,
        outcome=audit.outcome[order],
        attributes=tuple(
            Attribute(part.name, part.groups[::-1], (len(part.groups) - 1 - part.codes)[order])
            for part in audit.attributes
        ),
        scores=tuple(replace(score, values=vars(score)["values"][order]) for score in audit.scores),
        site=names[audit.site][order],
    )
    pd.testing.assert_frame_equal(judge_all(audit)[2], judge_all(turned)[2])


def test_four_attributes_that_pass_on_eighteen_of_twenty_folds_agree_less_than_chance():
    row = agreement(**{name: "p" * 18 + "ff" for name in "abcd"})
    assert round(row.kappa, 3) == -0.053
    assert row.band == "poor"
    assert row.status == "defined"
    assert row.raw_agreement == pytest.approx(0.81, abs=0.001)


@pytest.mark.parametrize(("sign", "word"), [("p", "pass"), ("f", "fail")])
def test_equal_ratings_are_undefined_and_never_one(sign, word):
    row = agreement(age=sign * 20, sex=sign * 20)
    assert np.isnan(row.kappa)
    assert (row.status, row.raw_agreement, row.band) == ("undefined", 1.0, "")
    assert row.reason == f"every rating is a {word}"


def test_missing_ratings_are_neither_passes_nor_fails():
    full, part = agreement(a="ppff", b="pppf"), agreement(a="ppffii", b="pppfii")
    assert part.kappa == pytest.approx(full.kappa)
    assert (part["items"], part.raters, part.ratings) == (2, 4, 8)


def test_an_attribute_rated_once_is_no_item():
    row = agreement(a="piii", b="ppff", c="pfff")
    assert (row["items"], row.ratings) == (2, 8)


def test_ratings_on_one_attribute_leave_kappa_open_and_keep_the_raw_agreement():
    row = agreement(a="ppf", b="iii")
    assert np.isnan(row.kappa)
    assert row.status == "not rated"
    assert row.raw_agreement == pytest.approx(1 / 3)


def test_pass_shares_are_over_the_folds_that_could_be_judged():
    table = share_folds(rated(a="ppfi", b="iiii"))
    assert table["folds"].tolist() == [4, 4]
    assert table["rated"].tolist() == [3, 0]
    assert table["pass_share"][0] == pytest.approx(2 / 3)
    assert np.isnan(table["pass_share"][1])


def test_ratings_are_laid_out_as_attributes_by_folds():
    laid = spread_ratings(rated(a="pf", b="if"))
    np.testing.assert_array_equal(laid, [[1, 0], [np.nan, 0]])
