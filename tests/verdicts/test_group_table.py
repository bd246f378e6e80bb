import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.columns import TABLES
from auditbook.evidence import name_shortfall, tally_records
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts.group_table import tabulate_groups
from small_audits import LENIENT, SCORES, audit, random_audit, slow_groups


def test_the_columns_are_those_of_the_design_and_groups_keep_their_declared_order():
    table = tabulate_groups(
        audit([0, 1, 1], [0.2, 0.8, 0.4], list("bab"), declared="bca"), protocol=Protocol()
    )
    assert list(table.columns) == TABLES["groups"].names()
    assert table["group"].tolist() == ["b", "c", "a"]
    assert table["n"].tolist() == [2, 0, 1]


def test_a_declared_group_without_a_record_is_listed_with_nan_rates():
    table = tabulate_groups(audit([0, 1], [0.2, 0.8], list("ab"), declared="abc"), protocol=Protocol())
    empty = table.set_index("group").loc["c"]
    assert empty["support"] == "no records"
    assert empty[["n", "tp", "fp", "fn", "tn"]].tolist() == [0] * 5
    assert empty[["selection_rate", "tpr", "ppv", "auc", "mean_score", "event_rate"]].isna().all()


def test_what_a_group_lacks_is_said_with_both_numbers():
    assert name_shortfall(4, 96, protocol=Protocol()) == "4 events, 10 needed"
    assert name_shortfall(96, 1, protocol=Protocol()) == "1 non-event, 10 needed"
    assert name_shortfall(0, 3, protocol=Protocol()) == (
        "0 events, 10 needed and 3 non-events, 10 needed and 3 records, 30 needed"
    )
    assert name_shortfall(4, 96, protocol=Protocol(), needs=("records",)) == ""
    assert name_shortfall(0, 0, protocol=LENIENT, needs=("records",)) == "no records"


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 1), SCORES, st.integers(0, 2)), min_size=1, max_size=30), st.randoms()
)
def test_rates_equal_the_slow_loop_and_do_not_depend_on_the_order_of_records(rows, random):
    tables = []
    for part in (rows, random.sample(rows, len(rows))):
        outcome, values, codes = zip(*part, strict=True)
        records = audit(outcome, values, ["abc"[c] for c in codes], declared="abc")
        tables.append(tabulate_groups(records, protocol=LENIENT))
    assert tables[0].equals(tables[1])
    names = {"SR": "selection_rate", "TPR": "tpr", "FPR": "fpr", "PPV": "ppv"}
    for row, slow in zip(tables[0].to_dict("records"), slow_groups(outcome, values, codes, 3), strict=True):
        for key, column in names.items():
            assert row[column] == pytest.approx(np.nan if slow[key] is None else slow[key], nan_ok=True)


def test_a_group_of_one_class_has_no_auc_and_the_others_stand():
    table = tabulate_groups(
        audit([0, 0, 0, 1, 1, 0], [0.1, 0.2, 0.1, 0.9, 0.8, 0.9], list("aabbcc")), protocol=LENIENT
    )
    assert np.isnan(table["auc"][0])
    assert table["auc"][1:].tolist() == [1.0, 0.0]


def test_every_model_and_attribute_has_its_rows():
    records = random_audit(np.random.default_rng(1), 200, ["a", "b"], models=3)
    table = tabulate_groups(records, protocol=Protocol())
    assert len(table) == 6
    assert table.groupby("model")["n"].sum().tolist() == [200] * 3
    assert (table[["tp", "fp", "fn", "tn"]].sum(axis=1) == table["n"]).all()


def test_a_tally_has_the_groups_of_its_records():
    rng = np.random.default_rng(4)
    records = random_audit(rng, 3_000, ["b", "a", "c"], models=2)
    exact = tabulate_groups(records, protocol=Protocol())
    found = tabulate_groups(tally_records(records), protocol=Protocol())
    keys = ["model", "attribute", "group"]
    both = exact.merge(found, on=keys, suffixes=("", "_tally"), validate="one_to_one")
    assert len(both) == len(exact) == len(found)
    for name in set(exact) - set(keys) - {"auc", "mean_score"}:
        pd.testing.assert_series_equal(both[name], both[f"{name}_tally"], check_names=False)
    assert np.allclose(both["mean_score"], both["mean_score_tally"], atol=2**-33, equal_nan=True)
    assert np.allclose(both["auc"], both["auc_tally"], atol=2e-3, equal_nan=True)


def test_mean_ranks_are_known_where_bins_start_at_each_rank():
    rng = np.random.default_rng(5)
    attribute = Attribute("sex", ("F", "M"), rng.integers(0, 2, 400))
    scores = (Score("news", "rank", 5.0, rng.integers(0, 21, 400).astype(float)),)
    records = AuditRecords(rng.integers(0, 2, 400).astype(np.int8), (attribute,), scores)
    exact, found = (tabulate_groups(each, protocol=Protocol()) for each in (records, tally_records(records)))
    assert np.allclose(exact["mean_score"], found["mean_score"], atol=1e-9)
    beyond = tally_records(records, rank_edges={"news": np.array([4.0, 9.0])})
    assert tabulate_groups(beyond, protocol=Protocol())["mean_score"].isna().all()
