"""What is said of pockets is true of every cohort, and drawn for each."""

import re
from types import SimpleNamespace

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import pockets as draw
from auditbook.book.say import pocket_actions as act
from auditbook.book.say import pocket_errors as say
from auditbook.book.say import pockets as maps
from auditbook.book.say.text import table_html
from auditbook.errors import InputError
from auditbook.evidence import Shortfall
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets import bound_split
from auditbook.results import Run, write_table
from auditbook.studies.say import pocket_lessons as lesson
from auditbook.studies.teaching import average_errors, compare_groupings, draw_lesson, group_patients
from pocket_tables import COLUMNS, KINDS, lack, make_pocket_tables

NAN = float("nan")


@pytest.fixture(scope="module")
def tables():
    return {kind: make_pocket_tables(kind) for kind in KINDS}


def well_said(texts):
    return all(texts) and not any(re.search(r"<|\bnan\b|\binf\b|\$", text) for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_tables_of_the_fixture_have_the_columns_of_a_run(tables, kind):
    assert {name: list(table) for name, table in tables[kind].items()} == {
        name: list(columns) for name, columns in COLUMNS.items()
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["forest", "ridge"])
def test_the_map_is_told_and_drawn_for_every_cohort(tables, kind, name):
    made = tables[kind]
    found = maps.pick_map(made["pockets"], name)
    levels = maps.lay_out_levels(made["pocket_levels"])
    said = [maps.describe_map(found), maps.describe_levels(levels)]
    if name == "forest":
        draw.draw_levels(levels).figure.canvas.draw()
    assert "<table" in table_html(found, maps.POCKET_COLUMNS)
    assert "<table" in table_html(levels, maps.LEVEL_COLUMNS)
    for attribute in dict.fromkeys([*made["pocket_groups"]["attribute"], ""]):
        shares = maps.lay_out_shares(made["pocket_groups"], made["pockets"], name=name, attribute=attribute)
        said.append(maps.describe_shares(shares))
        if name == "forest":
            draw.draw_shares(shares).figure.canvas.draw()
        assert "<table" in table_html(shares, maps.SHARE_COLUMNS)
    assert well_said(said), said


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_told_and_drawn_for_every_cohort(tables, kind):
    made = tables[kind]
    errors, said, drawn = made["pocket_errors"], [], set()
    keys = errors[["model", "map", "quantity", "contrast", "other_model"]].drop_duplicates()
    keys = keys.groupby(["model", "map", "quantity"]).head(2)
    keys = [*keys.itertuples(index=False, name=None), ("", "forest", "mu", "", "")]
    for model, name, quantity, contrast, other in keys:
        picked = say.pick_errors(
            errors, model=model, name=name, quantity=quantity, contrast=contrast, other_model=other
        )
        laid = say.lay_out(picked, made["pockets"])
        said.append(say.describe_errors(laid))
        if quantity not in drawn:
            drawn.add(quantity)
            draw.draw_errors(laid, label=say.AXIS[quantity]).figure.canvas.draw()
        assert "<table" in table_html(laid, say.ERROR_COLUMNS)
        summary = say.pick_summary(
            made["pocket_summary"], model=model, quantity=quantity, contrast=contrast, other_model=other
        )
        said += [say.describe_combined(summary), say.describe_ruled_out(summary)]
        assert "<table" in table_html(say.one_row_a_map(summary), say.SUMMARY_COLUMNS)
        assert "<table" in table_html(summary, say.TOLERANCE_COLUMNS)
        said.append(say.describe_contrasts(errors, model=model, name=name))
    split = bound_split(made["pocket_summary"])
    said.append(say.describe_split(split))
    assert "<table" in table_html(split, say.SPLIT_COLUMNS)
    assert well_said(said), said


def test_rows_of_pockets_whose_names_begin_alike_differ_by_more_than_their_letter(tables):
    alike = "mostly admission type = Elective, hardly any admission source"
    names = [f"{alike} = Physician referral", f"{alike} = Emergency room, hardly any procedure = P009"]
    labels = draw.label_pockets([f"F{n}: {name}" for n, name in enumerate(names)], ["n = 9", "n = 8"])
    assert [" ".join(label.split()) for label in labels] == [
        f"F0: {names[0]} (n = 9)",
        f"F1: {names[1]} (n = 8)",
    ]
    assert draw.count_rows(labels) > draw.count_rows(["F0: low age\n(n = 9)"] * 2)


def test_a_correction_of_each_half_of_one_pocket_has_a_row_that_says_which():
    name = "mostly procedure = no procedure, hardly any admission source = Physician referral, low age"
    repairs = pd.DataFrame({"label": [f"F6: {name} (half {half})" for half in ("one", "other")], "n": 643.0})
    ends = ["before", "before_low", "before_high", "after", "after_low", "after_high"]
    ax = draw.draw_repairs(repairs.assign(**dict.fromkeys(ends, 0.1)), label="mean error")
    first, second = (" ".join(text.get_text().split()) for text in ax.get_yticklabels())
    assert (first, second) == (f"F6: {name} (half one) (n = 643)", f"F6: {name} (half other) (n = 643)")


@pytest.mark.parametrize("kind", KINDS)
def test_what_to_do_is_told_and_drawn_for_every_cohort(tables, kind):
    made = tables[kind]
    errors = made["pocket_errors"]
    for model in dict.fromkeys([*errors["model"], ""]):
        findings = act.list_findings(errors, made["pockets"], model=model)
        repairs = act.lay_out_repairs(made["pocket_repairs"], made["pockets"], model=model)
        said = [act.write_findings(findings, errors), act.describe_review(errors, made["pockets"])]
        said += [act.describe_repairs(repairs), act.describe_reach(errors, model=model)]
        draw.draw_repairs(repairs, label="mean error").figure.canvas.draw()
        assert "<table" in table_html(repairs, act.REPAIR_COLUMNS)
        assert well_said([*said, act.write_requests(findings, errors) or "-"]), said


def test_a_run_without_pockets_and_one_without_a_test_say_so(tables):
    off, untested, full = (tables[kind] for kind in ("off", "untested", "full"))
    info = {"pockets": {"status": "left out", "reason": "<run> = false"}}
    said = maps.announce_pockets(info, off["pockets"], off["pocket_errors"])
    assert "No pockets in this run" in said
    assert "left out: &#60;run&#62;" in said
    assert "left out." in maps.announce_pockets({}, off["pockets"], off["pocket_errors"])
    said = maps.announce_pockets({}, untested["pockets"], untested["pocket_errors"])
    assert "none could be tested" in said
    assert maps.announce_pockets({}, full["pockets"], full["pocket_errors"]) == ""


def test_a_model_that_pockets_leave_out_is_replaced_and_named():
    table = pd.DataFrame({"model": ["risk", "points"]})
    assert maps.pick_audited(table, "model", "points", known=["risk", "points"]) == "points"
    assert maps.pick_audited(table, "model", "rule", known=["rule"]) == "risk"
    assert maps.pick_audited(table.head(0), "model", "rule", known=["rule"]) == ""
    with pytest.raises(InputError, match="no model 'pints'"):
        maps.pick_audited(table, "model", "pints", known=["risk"])
    assert "The model rule is not among those" in say.describe_shown("risk", "", asked="rule")
    assert say.describe_shown("risk", asked="risk") == "Shown here: the model **risk**."


def test_roles_are_told_with_their_records_and_units():
    counts = dict.fromkeys(("development", "graph", "calibration", "audit"), 100)
    told = {"status": "done", "unit_kind": "site", "records": counts, "units": dict.fromkeys(counts, 1)}
    told |= {"columns": ["a", "b"], "notes": ["<x> is mapped"], "trained": ["xgboost"], "mapped": []}
    said = maps.describe_roles({"pockets": told})
    assert "each site has one role: 100 records (1 unit) develop models" in said
    assert "The maps may use 2 columns. Of the predictions: &#60;x&#62; is mapped." in said
    assert maps.describe_roles({}) == maps.describe_roles({"pockets": {"status": "left out"}}) == ""


def test_one_record_has_a_verb_of_its_own():
    counts = dict.fromkeys(("development", "graph", "calibration", "audit"), 1)
    told = {"status": "done", "unit_kind": "record", "records": counts, "units": counts, "columns": ["a"]}
    told |= {"notes": [], "trained": ["xgboost"], "mapped": []}
    said = maps.describe_roles({"pockets": told})
    assert "1 record (1 unit) develops models, 1 record (1 unit) forms the graph" in said
    assert "1 record (1 unit) is audited. The maps may use 1 column." in said


def test_a_run_says_how_its_ratios_are_judged_and_why():
    told = {"status": "done", "continuous": True, "ratios": "corrected"}
    assert "the outcome is a number" in say.describe_ratios({"pockets": told})
    assert "few and unequal" in say.describe_ratios({"pockets": told | {"continuous": False}})
    assert "as published" in say.describe_ratios({"pockets": told | {"ratios": "published"}})
    assert say.describe_ratios({}) == ""


@pytest.mark.parametrize(
    ("continuous", "unit_kind", "ratios"),
    [
        (False, "record", "published"),
        (False, "unit", "corrected"),
        (False, "site", "corrected"),
        (True, "record", "corrected"),
    ],
)
def test_ratios_are_as_published_only_for_events_of_single_records(continuous, unit_kind, ratios):
    settings = PocketSettings()
    assert settings.ratios_of(continuous=continuous, unit_kind=unit_kind) == ratios
    own = PocketSettings(ratios="published")
    assert own.ratios_of(continuous=continuous, unit_kind=unit_kind) == "published"


@pytest.mark.parametrize(
    ("trained", "mapped", "words"),
    [
        (["m"], ["points"], "develop models and map scores"),
        ([], ["points"], "(9 units) map scores,"),
        ([], [], "(9 units) stay aside,"),
    ],
)
def test_only_a_run_that_trains_models_says_so(trained, mapped, words):
    counts = dict.fromkeys(("development", "graph", "calibration", "audit"), 9)
    told = {"status": "done", "unit_kind": "record", "records": counts, "units": counts, "columns": ["a"]}
    said = maps.describe_roles({"pockets": told | {"notes": [], "trained": trained, "mapped": mapped}})
    assert words in said
    assert ("models" in said) == bool(trained)


def test_a_run_that_does_not_tell_what_it_fitted_names_the_role_only():
    counts = dict.fromkeys(("development", "graph", "calibration", "audit"), 9)
    told = {"status": "done", "unit_kind": "record", "records": counts, "units": counts, "columns": ["a"]}
    said = maps.describe_roles({"pockets": told | {"notes": []}})
    assert "9 records (9 units) serve development" in said
    assert say.describe_ratios({"pockets": told}) == ""


def test_given_scores_leave_no_record_to_develop_models():
    counts = {"development": 0, "graph": 40, "calibration": 10, "audit": 50}
    told = {"status": "done", "unit_kind": "record", "records": counts, "units": counts, "columns": ["a"]}
    said = maps.describe_roles({"pockets": told | {"notes": [], "trained": [], "mapped": []}})
    assert said.startswith("In this run each record has one role: 40 records (40 units) form the graph, ")
    assert "nothing is fitted" in said
    assert " 0 " not in said
    assert "develop models" not in said


def test_a_run_reads_the_tables_back_and_says_the_same(tables, tmp_path):
    made = tables["full"]
    (tmp_path / "results").mkdir()
    for name, table in made.items():
        write_table(table, tmp_path / "results" / f"{name}.csv")
    run = Run(tmp_path, {})
    picked = say.pick_errors(run.pocket_errors, model="xgboost", name="forest", quantity="mu")
    laid = say.lay_out(picked, run.pockets)
    assert say.describe_errors(laid) == say.describe_errors(pick(tables))
    said = say.describe_strict(laid, level=0.0025)
    assert said == say.describe_strict(pick(tables), level=0.0025)
    assert run.pocket_errors["flagged_strict"].isna().any()


def pick(tables, kind="full", **columns):
    base = {"model": "xgboost", "name": "forest", "quantity": "mu"} | columns
    made = tables[kind]
    return say.lay_out(say.pick_errors(made["pocket_errors"], **base), made["pockets"])


def test_every_untested_pocket_has_a_hollow_mark_with_its_reason(tables):
    laid = pick(tables)
    ax = draw.draw_errors(laid, label="x")
    written = [text.get_text().replace("\n", " ") for text in ax.texts]
    assert written == ["largest site holds 35 %, at most 20 %"]
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert len(hollow) == 1
    assert ax.get_yticklabels()[0].get_text() == "all audited records\n(n = 4,000)"


def test_the_label_of_a_gap_holds_the_records_of_both_groups(tables):
    laid = pick(tables, quantity="delta", contrast="sex: F - M")
    assert laid["size"].iloc[1] == "n = 240 and 960"


def test_directions_have_their_marks_and_words(tables):
    laid = pick(tables)
    assert laid["kind"].tolist() == ["none", "under", "over", "under", "untested"]
    said = say.describe_errors(laid)
    assert "3 of 3 tested pockets flagged; the 99.375% intervals hold for all rows at once" in said
    assert "Errors of both signs" in said
    assert "too low: 0.130 predicted, 0.200 happened" in said


def test_an_interval_without_ends_is_a_dash(tables):
    errors = tables["full"]["pocket_errors"]
    picked = say.pick_errors(errors, model="xgboost", name="forest", quantity="mu")
    endless = picked.assign(ci_low=-np.inf, ci_high=np.inf, flagged=False, direction="")
    laid = say.lay_out(endless, tables["full"]["pockets"])
    assert "(\N{EN DASH})" in say.describe_errors(laid)
    draw.draw_errors(laid, label="x").figure.canvas.draw()


def test_flags_that_do_not_stand_the_stricter_level_are_hints(tables):
    said = say.describe_strict(pick(tables), level=0.0025)
    assert "There stay flagged: F1. No longer flagged: F2 and F3; take them as hints." in said
    gap = pick(tables, quantity="delta", contrast="sex: F - M")
    assert say.describe_strict(gap, level=0.0025) == ""


def untested(*cases):
    """Lay out pockets that lack this and that."""
    row = {"pocket": "F1", "kind": "untested"}
    return pd.DataFrame([row | {"pocket": f"F{k + 1}"} | lack(each) for k, each in enumerate(cases)])


def test_what_is_missing_says_how_much_more_data_would_allow(tables):
    said = say.describe_shortfall(pick(tables, "untested"))
    assert "With about 1.7 times as many audited records of the same kind, F1 could be tested" in said
    assert "; with 1.7 times, 2 more." in said  # F2 and F3; no number of records helps F4
    assert "more of them help" in said
    assert say.describe_shortfall(pick(tables).head(3)) == ""
    half, fewer = Shortfall("records", 50, 100, "F"), Shortfall("expected non-events", 4, 10, "M")
    assert say.describe_shortfall(untested([Shortfall("records", 0, 100)])) == ""
    assert "about 2.5 times" in say.describe_shortfall(untested([half, fewer]))
    sites = [Shortfall("records", 89, 100, "F"), Shortfall("units", 11, 15, "F")]
    assert say.describe_shortfall(untested(sites)).startswith("Where sites (or other units) are too few")


def test_a_group_without_records_is_helped_by_no_number_of_the_same_kind():
    none, half = Shortfall("records", 0, 100, "F"), Shortfall("records", 50, 100, "M")
    assert say.describe_shortfall(untested([none, half])) == ""


def test_a_factor_never_reads_as_one():
    assert "about 1.1 times" in say.describe_shortfall(untested([Shortfall("expected events", 9.98, 10)]))


@pytest.mark.parametrize(
    ("pockets", "told"),
    [
        (1, "Not tested: F1 (few). Nothing is known of it; it is not merged with others."),
        (2, "Not tested: F1 (few) and F2 (few). Nothing is known of them; they are not merged with others."),
        (8, "F5 (few), F6 (few) and 2 more. Nothing is known of them"),
    ],
)
def test_one_untested_pocket_and_several_agree_with_their_verbs(pockets, told):
    laid = untested(*[[Shortfall("records", 50, 100)]] * pockets).assign(note="few", level=0.05)
    assert told in say.describe_errors(laid)


def test_one_hint_and_several_agree(tables):
    laid = pick(tables).head(3).assign(flagged_strict=[False, True, False])
    assert "No longer flagged: F2; take it as a hint." in say.describe_strict(laid, level=0.0025)


def test_one_correction_and_several_agree(tables):
    made = tables["full"]
    repairs = act.lay_out_repairs(made["pocket_repairs"], made["pockets"], model="xgboost").assign(after=NAN)
    assert (
        "corrections could be learned, and the other half of the units is too small to judge any of them"
        in (act.describe_repairs(repairs))
    )
    assert "1 correction could be learned, and the other half of the units is too small to judge it." in (
        act.describe_repairs(repairs.head(1))
    )


def test_a_reason_in_other_words_changes_that_reason_alone(tables):
    plain = pick(tables, "untested")
    told = plain.assign(note="zu wenig", reason="zu wenig")
    assert say.describe_shortfall(told) == say.describe_shortfall(plain)
    reworded = say.describe_errors(told)
    assert reworded.count("zu wenig") == len(told)
    assert say.describe_errors(plain).splitlines()[1] == reworded.splitlines()[1]


def test_a_conflict_is_told_apart(tables):
    summary = say.pick_summary(tables["full"]["pocket_summary"], model="xgboost", quantity="mu")
    said = say.describe_combined(summary)
    assert "12.0% of records are flagged too high and 30.0% too low" in said
    assert "a conflict, which counts for neither" in said


def test_a_gap_that_may_be_zero_is_not_divided(tables):
    split = bound_split(tables["full"]["pocket_summary"])
    assert "-0.030 comes from where the groups are" in say.describe_split(split)
    unclear = split.assign(composition_share=NAN)
    assert "nothing to divide" in say.describe_split(unclear)
    some = unclear.assign(composition_share=[0.6, *[NAN] * (len(split) - 1)])
    assert f"{len(split) - 1} more overall gaps: not shown" in say.describe_split(some)
    summary = tables["full"]["pocket_summary"]
    opposed = bound_split(summary.assign(within=0.05)).head(1)
    assert "opposite directions" in say.describe_split(opposed)
    unsure = bound_split(summary.assign(within=0.001)).head(1)
    assert "opposite directions" not in say.describe_split(unsure)


def test_nothing_ruled_out_says_that_no_flag_says_little(tables):
    summary = say.pick_summary(tables["full"]["pocket_summary"], model="xgboost", quantity="mu")
    said = say.describe_ruled_out(summary.assign(equivalence_share=0.0))
    assert "the absence of a flag says little here" in said
    assert "beyond ±0.050 for 25.0%" in say.describe_ruled_out(summary)


def test_findings_come_with_the_largest_first_and_gaps_in_the_same_pocket(tables):
    made = tables["full"]
    findings = act.list_findings(made["pocket_errors"], made["pockets"], model="xgboost")
    assert findings["estimate"].abs().is_monotonic_decreasing
    said = act.write_findings(findings, made["pocket_errors"])
    assert "1,200 audited records, from 40 units" in said
    assert "is too low by 0.070 on average" in said
    requests = act.write_requests(findings, made["pocket_errors"])
    assert "First of all" not in requests
    assert "**Too low**" in requests
    assert "**Too high**" in requests


def test_without_findings_no_flag_is_not_a_clean_bill(tables):
    made = tables["untested"]
    findings = act.list_findings(made["pocket_errors"], made["pockets"], model="xgboost")
    assert "no flag is not a clean bill" in act.write_findings(findings, made["pocket_errors"])
    assert act.write_requests(findings, made["pocket_errors"]) == ""
    assert "0.0%" in act.describe_reach(made["pocket_errors"], model="xgboost")


def test_an_error_of_the_whole_comes_before_those_of_pockets(tables):
    made = tables["full"]
    errors = made["pocket_errors"].query("quantity == 'mu'")
    errors = errors.assign(flagged=errors["status"] == "tested", direction="under", flagged_strict=False)
    laid = say.lay_out(
        say.pick_errors(errors, model="xgboost", name="forest", quantity="mu"), made["pockets"]
    )
    assert "one error of the whole model" in say.describe_errors(laid)
    findings = act.list_findings(errors, made["pockets"], model="xgboost")
    assert "**First of all**" in act.write_requests(findings, errors)
    info = {"pockets": {"status": "done"}}
    told = [
        act.describe_pockets(SimpleNamespace(info=info, pocket_errors=one, pockets=made["pockets"]))
        for one in (errors, made["pocket_errors"])
    ]
    assert ["one error of the whole model" in text for text in told] == [True, False]
    assert "About **xgboost**:" in told[0]
    assert "About **logistic**:" in told[0]


def hold_nearly_all(made):
    """Put 977 of every thousand records into the first pocket of each map."""
    moved = {}
    for name, column in (("pockets", "n_audit"), ("pocket_errors", "n")):
        table = made[name].copy()
        first = table["pocket"].str.endswith("1")
        inside = table["pocket"] != "overall"
        table.loc[inside, column] = np.where(first[inside], 977, 23 // (table["pocket"].nunique() - 1))
        moved[name] = table
    return moved["pockets"], moved["pocket_errors"]


def test_one_pocket_for_nearly_everybody_is_no_local_audit_on_any_page(tables):
    made = tables["full"]
    info = {"pockets": {"status": "done"}}
    pockets, errors = hold_nearly_all(made)
    run = SimpleNamespace(info=info, pocket_errors=errors, pockets=pockets)
    pages = [
        maps.announce_pockets(info, pockets, errors),
        maps.describe_map(maps.pick_map(pockets, "forest")),
        act.describe_pockets(run),
    ]
    assert all("no local audit" in text.lower() for text in pages), pages
    reach = act.describe_reach(errors, model="xgboost")
    assert "nearly all that have a forest pocket lie in one" in reach
    assert not any("could be tested" in text or "alike" in text for text in (*pages, reach))
    assert "local audit" not in maps.announce_pockets(info, made["pockets"], made["pocket_errors"])
    assert "could be tested" in act.describe_reach(made["pocket_errors"], model="xgboost")


def test_one_pocket_for_everybody_is_no_local_audit(tables):
    made = tables["one_pocket"]
    said = maps.announce_pockets({}, made["pockets"], made["pocket_errors"])
    assert said.startswith("> **No local audit")
    assert "one pocket holds everybody" in said
    assert "no local audit" in maps.describe_map(maps.pick_map(made["pockets"], "forest"))
    assert "could be tested" not in act.describe_reach(made["pocket_errors"], model="score")


def test_a_review_list_holds_the_flagged_pockets_of_every_model(tables):
    made = tables["full"]
    pockets = made["pockets"]
    errors = made["pocket_errors"].assign(flagged=False, direction="")
    assert act.describe_review(errors, pockets).endswith(
        "no pocket is flagged for any of the 2 audited models."
    )
    row = errors.index[
        (errors["model"] == "logistic")
        & (errors["map"] == "forest")
        & (errors["quantity"] == "mu")
        & (errors["pocket"] != "overall")
    ][0]
    errors.loc[row, ["flagged", "direction"]] = [True, "over"]
    held = pockets.set_index(["map", "pocket"])["n_audit"]["forest", errors.loc[row, "pocket"]]
    said = act.describe_review(errors, pockets)
    assert said == f"- forest map: {held:,} audited records in 1 flagged pocket (logistic)."
    gaps = made["pocket_errors"].assign(flagged=False, direction="")
    row = gaps.index[
        (gaps["quantity"] == "delta") & (gaps["map"] == "ridge") & (gaps["pocket"] != "overall")
    ][0]
    gaps.loc[row, ["flagged", "direction"]] = [True, "over"]
    assert act.describe_review(gaps, pockets).startswith("- ridge map: ")
    paired = made["pocket_errors"].assign(flagged=made["pocket_errors"]["quantity"] == "paired")
    assert "would be empty" in act.describe_review(paired, pockets)


def test_two_models_are_named_where_their_gaps_are_compared(tables):
    made = tables["full"]
    one, other = say.list_pairs(made["pocket_errors"])[0]
    laid = pick(tables, quantity="paired", other_model=other, contrast="sex: F - M")
    assert "The gap of **xgboost** minus that of **logistic**" in say.describe_pair(one, other, laid)
    assert "No two models" in say.describe_pair("", "", laid.head(0))


def test_a_correction_that_harms_single_predictions_is_told(tables):
    made = tables["full"]
    repairs = act.lay_out_repairs(made["pocket_repairs"], made["pockets"], model="xgboost")
    assert repairs["half"].tolist() == ["one"] * len(repairs)
    assert "nearer to zero in" in act.describe_repairs(repairs)
    assert "too small to judge" in act.describe_repairs(repairs.assign(after=NAN))
    draw.draw_repairs(repairs.assign(before=NAN, after=NAN), label="x").figure.canvas.draw()
    assert "squared error grew" in act.describe_repairs(repairs.assign(brier_after=0.2))


def test_groups_of_a_few_records_are_not_held_against_others():
    pockets = make_pocket_tables("full")["pockets"]
    row = {"map": "forest", "attribute": "sex"}
    cells = [("F1", "F", 80, 0.4), ("F1", "M", 60, 0.3), ("F1", "rare", 90, 1.0)]
    cells += [("abstained", "F", 120, 0.6), ("abstained", "M", 140, 0.7)]
    keys = ("pocket", "group", "n", "share")
    table = pd.DataFrame([row | dict(zip(keys, cell, strict=True)) for cell in cells])
    said = maps.describe_shares(maps.lay_out_shares(table, pockets, name="forest", attribute="sex"))
    assert "rare" not in said
    assert "40.0% of F" in said
    assert "The share is largest in M: 70.0%, 140 of 200 records" in said


def test_groups_that_are_spread_alike_are_not_told_apart():
    pockets = make_pocket_tables("one_pocket")["pockets"]
    row = {"map": "forest", "attribute": "sex", "pocket": "F1"}
    cells = [("F", 495, 0.99), ("M", 500, 1.0)]
    table = pd.DataFrame([row | {"group": g, "n": n, "share": s} for g, n, s in cells])
    said = maps.describe_shares(maps.lay_out_shares(table, pockets, name="forest", attribute="sex"))
    assert "Groups are spread alike" in said
    assert "falls on" not in said


def test_a_loose_name_is_called_a_hint():
    pockets = maps.pick_map(make_pocket_tables("full")["pockets"], "forest")
    told = maps.describe_map(pockets.assign(fidelity_covered=[0.3, 0.3, 0.9, 0.9]))
    assert "Loose names: F1 and F2. A loose name misses more than half of the members" in told
    assert "oose" not in maps.describe_map(pockets.assign(fidelity_covered=0.9))


def test_models_that_are_right_at_every_score_err_in_pockets_of_the_outcome():
    rng = np.random.default_rng(3)
    learn, audit = draw_lesson(n=20_000, rng=rng), draw_lesson(n=20_000, rng=rng)
    table = compare_groupings(learn, audit).set_index("model")
    assert table["overall"].abs().max() < 0.01
    assert table["sex"].max() < 0.015  # three standard errors of a mean of 10,000
    assert table.loc[["blind to stays", "blind to age"], "outcome"].min() > 0.08
    assert table.loc["off at weekends", "outcome"] < 0.04
    assert table.loc["off at weekends", "off at weekends"] > 0.05
    assert "off at weekends: by sex" in lesson.describe_groupings(table.reset_index())
    for name in ("blind to stays", "blind to age"):
        guess = audit.predictions[name]
        for value in np.unique(guess)[::10]:
            here = guess == value
            rate, n = audit.outcome[here].mean(), here.sum()
            assert abs(rate - value) < 4.5 * np.sqrt(value * (1 - value) / n)


def test_leaves_are_named_by_what_they_hold():
    patients = draw_lesson(n=2000, rng=np.random.default_rng(1))
    codes = group_patients(patients, patients)["outcome"]
    names = lesson.name_leaves(patients.table, codes)
    assert len(names) == codes.max() + 1
    assert all(re.fullmatch(r"age \d+(-\d+)?, stays \d(-\d)?", name) for name in names)
    laid = lesson.lay_out_averages(
        average_errors(patients.predictions["blind to stays"] - patients.outcome, codes), names
    )
    draw.draw_errors(laid, label="mean error").figure.canvas.draw()
    assert {"over", "under"} <= set(laid["kind"])


def null_row(**columns):
    base = {"design": "dependent", "sd": 1.0, "prediction": "conditional", "quantity": "mu", "level": 0.0125}
    base |= {
        "replicates": 400,
        "flagged": 128,
        "over": 3,
        "share": 0.32,
        "share_low": 0.28,
        "share_high": 0.37,
    }
    base |= {"published_low": NAN, "published_high": NAN}
    return base | {"label": "mean error, 150 unequal units"} | columns


def test_flags_without_an_error_are_held_against_the_level():
    table = pd.DataFrame([null_row(), null_row(sd=0.2, share=0.02, share_low=0.01, published_high=0.09)])
    said = lesson.describe_null(table)
    assert "In 1 of 2 designs" in said
    assert "The largest share is 32.0%" in said
    assert "150 units, at the level 1.25%: 2.0% at SD 0.2 and 32.0% at SD 1" in lesson.describe_over(
        table, prediction="conditional"
    )
    assert lesson.describe_side(table) == ""
    said = lesson.describe_side(table.assign(prediction="marginal"))
    assert said.startswith("Of 128 replicates flagged with marginal risks at the largest SD, 3 are")
    one = lesson.describe_side(table.assign(prediction="marginal", flagged=1, over=1))
    assert one.startswith("Of 1 replicate flagged with marginal risks at the largest SD, 1 is flagged")
    strict = pd.concat([table, pd.DataFrame([null_row(level=0.0025)])])
    assert len(lesson.drop_strict(strict)) == 2
    draw.draw_null(table).figure.canvas.draw()
    empty = table.head(0)
    assert "No replicates" in lesson.describe_null(empty)
    draw.draw_null(empty).figure.canvas.draw()


def test_the_stored_replicates_can_be_shown():
    table = lesson.read_null()
    draw.draw_null(lesson.drop_strict(table)).figure.canvas.draw()
    assert well_said([lesson.describe_null(table), lesson.describe_over(table, prediction="marginal")])


def test_similar_records_and_links_are_drawn_with_their_numbers():
    similar = np.array([[2, 1, 0], [1, 2, 2], [0, 2, 2]])
    found = draw.draw_links(similar, similar > 1, names=["a", "b", "c"])
    found[0].figure.canvas.draw()
    assert [text.get_text() for text in found[0].texts] == ["1", "0", "1", "2", "0", "2"]
