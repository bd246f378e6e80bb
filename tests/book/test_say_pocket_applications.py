"""What the applications of pocket audits say is true of every cohort."""

import re
from functools import partial

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say.pocket_errors import lay_out, list_contrasts, pick_errors
from auditbook.book.say.text import MISSING, table_html
from auditbook.columns import fill_table
from auditbook.errors import InputError
from auditbook.evidence import Shortfall
from auditbook.pockets import count_support
from auditbook.results import Run, write_table
from auditbook.studies.draw.pocket_applications import draw_models
from auditbook.studies.say import pocket_applications as say
from auditbook.studies.say import pocket_images as images
from auditbook.studies.say import pocket_printed as printed
from pocket_tables import KINDS, lack, make_pocket_tables

NAN = float("nan")


@pytest.fixture(scope="module")
def tables():
    return {kind: make_pocket_tables(kind) for kind in KINDS}


def well_said(texts):
    return all(texts) and not any(re.search(r"<|\bnan\b|\binf\b|\$", text) for text in texts)


def pick(made, *, model="xgboost", quantity="mu", contrast=""):
    picked = pick_errors(
        made["pocket_errors"], model=model, name="forest", quantity=quantity, contrast=contrast
    )
    return lay_out(picked, made["pockets"])


def rename(made, **names):
    """Give models and contrasts of the fixture the names of an application."""
    return {
        key: table.replace({"model": names, "other_model": names}) if "model" in table else table
        for key, table in made.items()
    }


def as_run(folder, made, **info):
    (folder / "results").mkdir(parents=True)
    for name, table in made.items():
        write_table(table, folder / "results" / f"{name}.csv")
    return Run(folder, info)


@pytest.mark.parametrize("kind", KINDS)
def test_errors_units_and_support_are_told_for_every_cohort(tables, kind):
    made = tables[kind]
    errors, said = made["pocket_errors"], []
    for model in dict.fromkeys([*errors["model"], "no such model"]):
        laid = pick(made, model=model)
        units, price = say.lay_out_units(laid), say.lay_out_price(laid)
        support = count_support(errors, model=model)
        said += [say.describe_pattern(laid), say.describe_units(units, word="patient")]
        said += [say.describe_support(support), say.describe_price(price, level=0.0025)]
        assert "<table" in table_html(units, say.UNIT_COLUMNS)
        assert "<table" in table_html(price, say.PRICE_COLUMNS)
        assert "<table" in table_html(support, say.SUPPORT_COLUMNS)
    assert well_said(said), said


@pytest.mark.parametrize("kind", KINDS)
def test_models_and_gaps_are_told_and_drawn_for_every_cohort(tables, kind):
    made = tables[kind]
    errors, groups = made["pocket_errors"], made["pocket_groups"]
    contrast = [*list_contrasts(errors), ""][0]
    table = say.lay_out_models(errors, made["pockets"])
    draw_models(table, label="mean error").figure.canvas.draw()
    gaps = say.lay_out_models(errors, made["pockets"], quantity="delta", contrast=contrast)
    said = [say.describe_models(table), say.describe_models(gaps)]
    assert "<table" in table_html(table, say.MODEL_COLUMNS)
    said.append(say.describe_gaps(errors, made["pockets"]))
    for model in dict.fromkeys([*errors["model"], ""]):
        said.append(say.describe_all_ways(made["pocket_summary"], model=model))
        said.append(say.describe_concentration(groups, errors, model=model, contrast=contrast))
        said.append(say.describe_ways(made["pocket_summary"], model=model, contrast=contrast))
    assert well_said(said), said


@pytest.mark.parametrize("kind", KINDS)
def test_printed_figures_stand_beside_those_of_any_run(tables, kind, tmp_path):
    run = as_run(tmp_path, rename(tables[kind], xgboost="health_mapped", logistic="lightgbm"))
    for figures in (printed.CARE, printed.ICU, images.IMAGES):
        table = printed.compare_printed(run, figures)
        assert len(table) == len(figures)
        assert "<table" in table_html(table, printed.PRINTED_COLUMNS)
        assert well_said([*table["here"], printed.describe_printed(table, {"synthetic": True})])


def test_the_cohort_of_an_application_is_told_from_that_of_the_book():
    shown = {"name": "care-twin", "title": "Care <i>twin</i>", "synthetic": True, "rows_kept": 30_000}
    told = say.announce_application(shown | {"profile": {"name": "quick"}}, {"name": "x", "title": "Mine"})
    assert "(30,000 records, profile quick)" in told
    assert told.endswith("the rest of this copy is about: Mine.")
    assert "<i>" not in told
    assert "its own cohort" not in say.announce_application(shown, shown)


def test_errors_of_one_sign_everywhere_are_one_error(tables):
    laid = pick(tables["full"]).head(4)
    same = laid.assign(kind=["none", "under", "under", "under"])
    assert "one error of the whole and not 3 local ones" in say.describe_pattern(same)
    local = laid.assign(kind=["none", "under", "none", "none"], ci_low=-0.01, ci_high=0.01)
    said = say.describe_pattern(local)
    assert "Flagged too low: F1. Not flagged: 2 other tested pockets." in said
    assert "this one is local" in said
    wide = say.describe_pattern(local.assign(ci_low=-0.2))
    assert "intervals of F2 and F3 hold -0.070 too" in wide
    one = local.head(3).assign(ci_low=-0.2)
    assert "But the interval of F2 holds -0.070 too" in say.describe_pattern(one)
    assert "Not flagged: 1 other tested pocket." in say.describe_pattern(one)
    assert "only tested pocket, F1, is too low" in say.describe_pattern(local.head(2))


def test_errors_of_both_signs_are_held_against_the_overall_one(tables):
    laid = pick(tables["full"])
    assert "nearer to zero than any of the two ends" in say.describe_pattern(laid)
    assert "2 pockets too low and 1 too high, from -0.070 to 0.070" in say.describe_pattern(laid)
    far = laid.assign(estimate=laid["estimate"].where(laid["pocket"] != "overall", 0.9))
    assert say.describe_pattern(far).endswith("All records together: 0.900.")


def test_a_flag_of_the_whole_alone_is_told(tables):
    laid = pick(tables["full"]).head(4).assign(kind=["over", "none", "none", "none"])
    assert "all records together are flagged, too high" in say.describe_pattern(laid)
    quiet = say.describe_pattern(laid.assign(kind="none"))
    assert "no pattern is shown" in quiet
    assert "nothing can be said" in say.describe_pattern(laid.assign(kind="untested"))


def test_units_with_several_records_are_counted(tables):
    laid = pick(tables["full"]).head(3)
    table = laid.assign(n=[300, 200, 100], units=[150, 100, 80], effective_units=[60.0, 90.0, 20.0])
    said = say.describe_units(say.lay_out_units(table), word="patient")
    assert "200 records of 100 patients (2.0 each on average)" in said
    assert "80 patients are worth 20.0 of equal size" in said
    few = laid.assign(n=[300, 2, 2], units=[150, 1, 1], effective_units=[60.0, 1.0, 1.0])
    assert "whose 1 patient is worth 1.0" in say.describe_units(say.lay_out_units(few), word="patient")
    alone = say.lay_out_units(laid.assign(units=laid["n"]))
    assert "Every record is a patient of its own" in say.describe_units(alone, word="patient")


def test_what_untested_pockets_lack_is_counted_by_kind():
    row = {"model": "m", "map": "forest", "other_model": "", "quantity": "mu", "contrast": "", "n_focal": NAN}
    shortfalls = {
        "overall": [],
        "F1": [],
        "F2": [Shortfall("records", 40, 100), Shortfall("expected events", 3.1, 10)],
        "F3": [Shortfall("units", 6, 15), Shortfall("effective units", 3.2, 10)],
        "F4": [Shortfall("share of one unit", 0.35, 0.2)],
        "F5": [Shortfall("records", 0, 100)],
    }
    sizes = dict(zip(shortfalls, (1000, 700, 40, 150, 110, 0), strict=True))
    errors = pd.DataFrame(
        [
            row
            | {"pocket": name, "n": sizes[name], "status": "untested" if short else "tested"}
            | lack(short)
            | {"reason": "in other words"}
            for name, short in shortfalls.items()
        ]
    )
    table = count_support(errors, model="m")
    assert table.iloc[0].to_dict() == {
        "what": "mean error",
        "pockets": 5,
        "tested": 1,
        "records": 2,
        "events": 1,
        "units": 2,
        "reach": 0.7,
    }
    said = say.describe_support(table)
    assert "1 of 5 pockets could be tested, with 70.0% of the audited records" in said
    assert "records 2 times, expected events or non-events 1 time, sites 2 times" in said


def test_a_pocket_that_is_flagged_alone_need_not_be_flagged_with_all(tables):
    laid = pick(tables["full"]).head(3)
    laid = laid.assign(se=0.01, estimate=[0.0, 0.025, 0.2], kind=["none", "none", "over"], critical=2.94)
    laid = laid.assign(ci_low=laid["estimate"] - 2.94 * 0.01, ci_high=laid["estimate"] + 2.94 * 0.01)
    laid = laid.assign(flagged_strict=["False", "False", "False"])
    said = say.describe_price(say.lay_out_price(laid), level=0.0025)
    assert "One at a time, with 95% intervals, 2 of 2 tested pockets would be flagged" in said
    assert "all at once, at 99.375%, 1; at the stricter level of 0.0025 a map, 0." in said
    assert "1.5 times as wide" in said
    endless = {"critical": np.inf, "ci_low": -np.inf, "ci_high": np.inf}
    without = say.lay_out_price(laid.assign(flagged_strict="", **endless))
    assert "stricter" not in say.describe_price(without, level=0.0025)
    assert "too few draws" in say.describe_price(without, level=0.0025)


def test_a_contrast_is_found_by_the_names_of_its_groups():
    names = ["a - b", "b", "a"]
    groups = pd.DataFrame({"attribute": ["x: y"] * 3, "group": names})
    assert say.split_contrast("x: y: a - b - a", groups) == ("x: y", "a - b", "a")
    assert say.split_contrast("sex: F - M", groups) == ("", "", "")


def test_the_contrast_shown_is_the_one_with_most_tested_pockets(tables):
    errors = tables["full"]["pocket_errors"]
    assert say.choose_contrast(errors, model="xgboost") == list_contrasts(errors)[0]
    thin = errors.assign(
        status=errors["status"].where(errors["contrast"] != list_contrasts(errors)[0], "untested")
    )
    assert say.choose_contrast(thin, model="xgboost") == list_contrasts(errors)[1]
    assert say.choose_contrast(errors, model="xgboost", wanted="race: Black - White") == "race: Black - White"
    with pytest.raises(InputError, match="race"):
        say.choose_contrast(errors, model="xgboost", wanted="race: Black - Whyte")
    assert say.choose_contrast(tables["no_contrasts"]["pocket_errors"], model="score") == ""


def test_groups_in_flagged_pockets_are_set_against_each_other(tables):
    made = tables["full"]
    groups = made["pocket_groups"].assign(share=0.1)
    said = say.describe_concentration(groups, made["pocket_errors"], model="xgboost", contrast="sex: F - M")
    assert "In pockets flagged too low (F1 and F3): 20.0% of F and 20.0% of M." in said
    assert "In no pocket: 10.0% and 10.0%." in said
    assert "In the pocket flagged too high (F2): 10.0% of F" in said


def test_the_way_a_gap_comes_about_is_told_with_its_doubt(tables):
    summary = tables["full"]["pocket_summary"]
    ways = partial(say.describe_ways, model="xgboost", contrast="sex: F - M")
    assert "Both parts are clear: the group is more often where the model errs" in ways(summary)
    assert "opposite directions" in ways(summary.assign(within=0.05))
    assert "Clear is where the groups are" in ways(summary.assign(within=0.001))
    assert "Clear are the gaps within pockets" in ways(summary.assign(composition=0.001))
    assert "Neither part" in ways(summary.assign(composition=0.001, within=0.001))
    assert "nothing to divide" in ways(summary.assign(composition_share=NAN))
    assert "could not be split" in ways(summary.assign(overall=NAN))


def test_contrasts_without_a_split_are_named_together(tables):
    summary = tables["full"]["pocket_summary"]
    blank = summary.assign(overall=summary["overall"].where(summary["contrast"] == "sex: F - M"))
    said = say.describe_all_ways(blank, model="xgboost").splitlines()
    assert len(said) == 2
    assert "for want of support: race&#58; Black &#45; White and race&#58; Other" in said[1]


def test_every_model_is_told_with_the_ends_of_its_pockets(tables):
    made = tables["full"]
    said = say.describe_models(say.lay_out_models(made["pocket_errors"], made["pockets"]))
    assert "- xgboost: " in said
    assert "-0.070 to 0.070 in 3 tested pockets; flagged: F1, F2 and F3." in said
    assert len(said.splitlines()) == 2


def test_a_model_that_was_not_tested_in_a_pocket_has_a_hollow_mark(tables):
    made = tables["full"]
    ax = draw_models(say.lay_out_models(made["pocket_errors"], made["pockets"]), label="x")
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert len(hollow) == 2
    assert ax.get_yticklabels()[0].get_text() == "all audited records\n(n = 4,000)"
    assert len(ax.get_yticks()) == 5


def test_printed_figures_of_the_care_audit_find_their_like(tables, tmp_path):
    made = rename(tables["full"], xgboost="health_mapped", logistic="cost_label")
    run = as_run(
        tmp_path, made, pockets={"status": "done", "units": {"audit": 40}, "records": {"audit": 4000}}
    )
    care = printed.compare_printed(run, printed.CARE).set_index("figure")["here"]
    assert care["forest pockets"] == "4"
    assert care["mapped score: lowest and highest error of a forest pocket"] == "-0.070 and 0.070"
    assert care["mapped score: forest pockets flagged"] == "3 of 3 tested pockets"
    assert care["records that the two maps flag in opposite directions"] == "1.0%"
    assert care["health label: forest pockets flagged"] == MISSING
    icu = printed.compare_printed(run, printed.ICU).set_index("figure")["here"]
    assert icu["audited hospitals and stays"] == "40 and 4,000"


def test_likeness_of_a_twin_is_not_called_a_replication():
    table = pd.DataFrame({"figure": ["a", "b"], "printed": ["1", "2"], "here": ["1", MISSING]})
    said = printed.describe_printed(table, {"synthetic": True})
    assert said.startswith("This run has a like for 1 of 2 printed figures.")
    assert "no replication" in said
    assert "not made by this project" in printed.describe_printed(table, {})
    assert printed.describe_printed(table.tail(1), {}) == "This run has a like for 0 of 1 printed figure."


def image_rows():
    """Two classifiers in three pockets of each map, women and men compared in two of them."""
    errors = {"F1": (-0.25, "under"), "F2": (0.06, "over"), "F3": (0.07, "over"), "overall": (0.001, "")}
    found = []
    for model, shift in (("a", 0.0), ("b", 0.01)):
        for pocket, (estimate, direction) in errors.items():
            lone = model == "b" and pocket == "F3"
            row = {"model": model, "map": "forest", "pocket": pocket, "status": "tested", "n": 100}
            row |= {"n_focal": 40, "n_reference": 60}
            flag = {"flagged": bool(direction) and not lone, "direction": "" if lone else direction}
            found.append(row | flag | {"quantity": "mu", "contrast": "", "estimate": estimate + shift})
            gap = {
                "quantity": "delta",
                "contrast": images.SEX,
                "estimate": 0.0,
                "flagged": False,
                "direction": "",
            }
            if pocket == "overall":
                gap |= {"n_focal": 200, "n_reference": 200, "n": 400}
            found.append(row | gap | {"status": "untested" if pocket == "F3" else "tested"})
    return pd.DataFrame(found)


def view_rows(inside="97 %", code="AP"):
    return pd.DataFrame(
        [
            {
                "map": "forest",
                "pocket": "F2",
                "column": "view",
                "code": code,
                "measure": "share",
                "inside": inside,
            },
            {
                "map": "forest",
                "pocket": "F2",
                "column": "age",
                "code": "",
                "measure": "at the median",
                "inside": "5",
            },
        ]
    )


def test_flags_that_every_classifier_shares_are_told():
    under, over = (images.list_shared_flags(image_rows(), side) for side in ("under", "over"))
    assert under[["pocket", "low", "high"]].to_numpy().tolist() == [["F1", -0.25, -0.24]]
    assert over["pocket"].tolist() == ["F2"]


def test_the_view_is_read_from_whichever_level_names_it():
    assert images.measure_view(view_rows(), "forest", "F2") == pytest.approx(0.97)
    assert images.measure_view(view_rows("10 %", "PA"), "forest", "F2") == pytest.approx(0.9)
    assert np.isnan(images.measure_view(view_rows(), "forest", "F1"))


def test_what_no_comparison_speaks_for_is_told_by_group():
    assert images.measure_untested(image_rows(), model="a") == pytest.approx((0.6, 0.4))
    told = images.describe_untested(image_rows(), model="a")
    assert told == (
        "- Forest map: no gap could be tested for 60% of the women's and 40% of the men's images."
    )
    assert (
        images.describe_untested(image_rows(), model="nobody")
        == "Women and men are not compared in this run."
    )


def test_the_printed_figures_of_the_images_are_found(tmp_path):
    made = {"pocket_errors": image_rows(), "pocket_features": view_rows()}
    filled = {name: fill_table(name, table.to_dict("records")) for name, table in made.items()}
    run = as_run(tmp_path, filled)
    here = printed.compare_printed(run, images.IMAGES)["here"].tolist()
    assert here == [
        "0.001 and 0.011; 0 flagged", "-0.250 and -0.240 (F1)", "100.0%", "0.060 and 0.070 (F2)", "97%",
        "0 of 6", "60% and 40%", "2", "3",
    ]  # fmt: skip
    told = images.describe_shared(run)
    assert told == (
        "- Every model is too low in F1 (forest map: -0.250 and -0.240).\n"
        "- Every model is too high in F2 (forest map: 0.060 and 0.070)."
    )
    filled["pocket_errors"]["flagged"] = False
    quiet = as_run(tmp_path / "quiet", filled)
    assert images.describe_shared(quiet).count("No pocket is flagged") == 2
