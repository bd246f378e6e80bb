"""The simulated audits with small groups: populations, replicates, and the table that follows."""

import gzip
import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from auditbook.errors import InputError
from auditbook.evidence import prepare
from auditbook.evidence.agreement import count_passes, fleiss_kappa, raw_agreement
from auditbook.evidence.resample import open_stream
from auditbook.project import project_file
from auditbook.ranking.tables import tabulate_auc_fairness, tabulate_auc_matrix
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.studies.small_groups import areas as auc
from auditbook.studies.small_groups import sites, sizes, table, verdicts, worlds
from auditbook.studies.small_groups import study as runs
from auditbook.studies.small_groups.measures import (
    EVERY,
    READING_COLUMNS,
    SUPPORTED,
    Truth,
    frame_readings,
    measure_figures,
)
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.metrics import find_metric
from auditbook.verdicts.site_agreement import rate_agreement

FOLDER = project_file("data", "simulations")
SAMPLE = {"verdicts": 60, "auc": 12, "sites": 20, "sizes": 30}
"""Designs of each family of which stored replicates are made again."""
STORED = 1e-9
"""Stored with ten digits; areas go through libraries whose last digits may differ."""


@pytest.fixture(scope="module")
def kept():
    text = gzip.decompress((FOLDER / runs.REPLICATE_FILE).read_bytes()).decode()
    return pd.read_csv(StringIO(text))


@pytest.fixture(scope="module")
def about():
    return json.loads((FOLDER / runs.ORIGIN).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def measured():
    return table.read_measured()


@pytest.mark.parametrize("family", runs.FAMILIES)
def test_stored_replicates_can_be_made_again(family, kept, about):
    here = kept[kept["family"] == family]
    designs = [design for design in runs.FAMILIES[family].designs if getattr(design, "metric", "") != "CAL"]
    for place in np.random.default_rng(1).choice(len(designs), SAMPLE[family], replace=False):
        design, last = designs[place], runs.KEPT - 1
        again = runs.FAMILIES[family].run_replicate(design, replicate=last, seed=about["seed"])
        rows = here[(here["design"] == design.name) & (here["replicate"] == last)]
        expected = frame_readings([again])[READING_COLUMNS]
        pd.testing.assert_frame_equal(
            rows[READING_COLUMNS].reset_index(drop=True), expected, check_dtype=False, rtol=1e-8, atol=STORED
        )


def test_a_stored_replicate_of_calibration_can_be_made_again(kept, about):
    design = worlds.DESIGNS[-1]
    assert design.metric == "CAL"
    again = verdicts.run_replicate(design, replicate=0, seed=about["seed"])
    rows = kept[(kept["design"] == design.name) & (kept["replicate"] == 0)]
    expected = frame_readings([again])[READING_COLUMNS]
    pd.testing.assert_frame_equal(
        rows[READING_COLUMNS].reset_index(drop=True), expected, check_dtype=False, rtol=1e-8, atol=STORED
    )


@pytest.mark.parametrize("family", ["verdicts", "sizes"])
def test_stored_measures_are_those_of_all_replicates(family, measured, about):
    design = runs.FAMILIES[family].designs[5]
    again = runs.run_design(
        runs.FAMILIES[family], design, replicates=about["replicates"], seed=about["seed"]
    )["measured"]
    fields = vars(design)
    here = measured[family]
    rows = here[np.logical_and.reduce([here[name] == value for name, value in fields.items()])]
    pd.testing.assert_frame_equal(
        rows[again.columns].reset_index(drop=True), again, check_dtype=False, rtol=1e-5
    )


def test_every_design_is_stored_with_enough_replicates(measured, about):
    for name, family in runs.FAMILIES.items():
        fields = list(vars(family.designs[0]))
        stored = measured[name].drop_duplicates(fields)[fields].to_numpy().tolist()
        assert stored == [list(vars(design).values()) for design in family.designs]
        every = measured[name][measured[name]["support"] == EVERY]
        slow = name == "verdicts" and every["metric"] == "CAL"
        assert (every["replicates"] == np.where(slow, 200, 1_000 if name == "auc" else 400)).all()
    assert about["replicates"] >= 400
    stored = [path.stat().st_size for path in FOLDER.glob("small_groups*")]
    assert sum(stored) < 1.5e6


def test_names_of_designs_are_their_own():
    for family in runs.FAMILIES.values():
        names = [design.name for design in family.designs]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("metric", ["DI", "EOPP", "EOD", "PP"])
@pytest.mark.parametrize("distance", [-0.1, 0.0, 0.05])
def test_a_population_has_the_value_that_it_claims(metric, distance):
    design = worlds.VerdictDesign(metric, 5, 250, 0.2, distance)
    rates = worlds.set_rates(design)
    strata = 1e9 * np.array([0.2, 0.8])
    counts = np.rint(np.concatenate([rates * strata, (1 - rates) * strata], axis=1)).astype(np.int64)
    rule = find_metric(metric)
    assert float(rule.values(counts)) == pytest.approx(design.value, abs=1e-6)
    assert (design.value >= 0.8 if metric == "DI" else design.value <= 0.1) == (distance >= 0)
    assert design.passes == (distance >= 0)


def test_drawn_audits_have_the_populations_rates():
    design = worlds.VerdictDesign("EOD", 2, 500, 0.2, -0.05)
    counts = worlds.draw_audits(design, 4_000, np.random.default_rng(1)).mean(axis=0)
    assert counts[:, [0, 2]].sum(axis=1) == pytest.approx([100, 2000], rel=0.01)
    assert counts[:, 1] / counts[:, [1, 3]].sum(axis=1) == pytest.approx([0.25, 0.1], abs=0.002)


def test_calibration_errors_are_planted_in_the_smallest_group():
    design = worlds.VerdictDesign("CAL", 2, 5_000, 0.25, -0.05)
    records = worlds.draw_records(design, np.random.default_rng(1))
    error = records.outcome - records.scores[0].values
    small = records.attributes[0].codes == 0
    assert error[small].mean() == pytest.approx(0.10, abs=0.02)  # standard error 0.006
    assert error[~small].mean() == pytest.approx(0, abs=0.02)


def test_the_true_flip_rate_is_a_half_at_the_threshold_of_large_groups_and_none_far_from_it():
    near, far = (worlds.VerdictDesign("EOPP", 2, 5_000, 0.4, distance) for distance in (0.0, 0.1))
    flips = (verdicts.FLIPS, EVERY)
    assert verdicts.find_truth(near, 1)[flips].value == pytest.approx(0.5, abs=0.02)
    assert verdicts.find_truth(far, 1)[flips].value < 0.001


def test_an_audit_by_counts_reads_as_the_one_by_records():
    design = worlds.VerdictDesign("EOPP", 2, 250, 0.2, -0.05)
    rng = verdicts._stream(design, 3, "0")
    counts = worlds.draw_audits(design, 1, rng)[0]
    codes, outcome, chosen = (
        np.repeat(part, counts.ravel())
        for part in (np.repeat([0, 1], 4), np.tile([1, 0, 1, 0], 2), np.tile([1, 1, 0, 0], 2))
    )
    score = Score("m", "decision", 0.5, chosen.astype(float))
    records = AuditRecords(outcome.astype(np.int8), (Attribute("g", ("a", "b"), codes),), (score,))
    row = judge(
        prepare(records), Protocol(metrics=("EOPP",), resample_size=20_000, seed=1), axes=()
    ).verdicts.iloc[0]
    found = {name: rest for name, *rest in verdicts.run_replicate(design, replicate=0, seed=3)}
    assert found["metric"][0] == pytest.approx(row["estimate"])
    assert found["flip rate"][0] == pytest.approx(row["vfr_own_size"], abs=0.1)  # four standard errors
    assert found["metric"][1:3] == pytest.approx([row["ci_low"], row["ci_high"]], abs=0.03)


def test_folds_by_counts_are_judged_as_sites_are_by_records():
    design = sites.SiteDesign(10, 60, 0.05, 2, 0.05)
    at_site = sites.draw_sites(design, 10, np.random.default_rng(4))
    ratings = sites.judge_folds(sites.count_folds(design, at_site))
    site, member, label = np.indices(at_site.shape).reshape(3, -1)
    place, what, kind = (np.repeat(part, at_site.ravel()) for part in (site, member, label))
    attributes = tuple(
        Attribute(name, ("others", "small"), sites.MEMBERS[what, item])
        for item, name in enumerate(sites.ITEMS)
    )
    score = Score("DI", "decision", 0.5, np.isin(kind, (0, 1)).astype(float))
    records = AuditRecords(np.isin(kind, (0, 2)).astype(np.int8), attributes, (score,), place)
    protocol = Protocol(metrics=("DI",))
    slow = judge(prepare(records), protocol, axes=("sites",)).site_agreement.iloc[0]
    assert slow["raw_agreement"] == raw_agreement(count_passes(ratings))
    assert slow["kappa"] == pytest.approx(fleiss_kappa(count_passes(ratings)))


def test_a_replicate_of_sites_reads_as_rate_agreement_does():
    design = sites.SiteDesign(10, 30, 0.05, 2, 0.05)  # with missing ratings
    at_site = sites.draw_sites(design, design.sites, sites._stream(design, 6, "0"))
    ratings = sites.judge_folds(sites.count_folds(design, at_site))
    assert np.isnan(ratings).any()
    verdict = np.where(np.isnan(ratings), "inconclusive", np.where(ratings == 1, "pass", "fail"))
    rows = pd.DataFrame({"attribute": np.repeat(sites.ITEMS, 10), "fold": np.tile(np.arange(1, 11), 4)})
    rows = rows.assign(model="m", metric="DI", verdict=verdict.ravel().astype(object), site_count=10)
    table = rate_agreement(rows, rows).iloc[0]
    found = {name: rest for name, *rest in sites.run_replicate(design, replicate=0, seed=6)}
    expected = table[["kappa", "kappa_low", "kappa_high"]].to_numpy(float)
    np.testing.assert_allclose(found["kappa"][:3], expected)
    assert found["raw agreement"][0] == table["raw_agreement"]
    assert found["AC1"][0] == pytest.approx(table["gwet_ac1"])


def test_an_audit_of_areas_reads_as_the_tables_do():
    design = auc.AucDesign(2, 1_000, 0.2, 0.75, 0.1, 40, 0.3)  # enough sites for figures by sites
    drawn = auc.draw_scores(design, open_stream(3, "small groups", "auc", design.name, "0"))
    attribute = Attribute("g", ("small", "large"), drawn.codes)
    score = Score("m", "rank", 0.5, drawn.values)
    records = AuditRecords(drawn.outcome, (attribute,), (score,), drawn.site)
    matrix = tabulate_auc_matrix(records, protocol=Protocol(), seed=1)
    metrics = tabulate_auc_fairness(records, protocol=Protocol(), seed=1).set_index("metric")
    found = {name: rest[:3] for name, *rest in auc.run_replicate(design, replicate=0, seed=3)}
    for name, row in ((auc.WITHIN, 0), (auc.CROSS, 1)):
        expected = matrix.iloc[row]
        assert found[name] == pytest.approx(expected[["auc", "ci_low", "ci_high"]].tolist())
        by_site = expected[["auc", "site_low", "site_high"]].tolist()
        assert found[name + auc.BY_SITE] == pytest.approx(by_site)
    for name, metric in ((auc.OVERALL, "auc"), (auc.DIFFERENCE, "within_parity")):
        for unit, low, high in (("", "ci_low", "ci_high"), (auc.BY_SITE, "site_low", "site_high")):
            expected = metrics.loc[metric, ["value", low, high]].tolist()
            assert found[name + unit] == pytest.approx(expected, abs=1e-9)  # one pair: no draw decides


def test_small_groups_of_sites_have_the_ratios_that_they_claim():
    design = sites.SiteDesign(20, 1_000, 0.1, 2, 0.0)
    counts = sites.count_folds(design, sites.draw_sites(design, 200, np.random.default_rng(1)))
    values = sites.RULE.values(counts.sum(axis=1))
    np.testing.assert_allclose(values, [0.7, 0.7, 0.9, 0.9], atol=0.01)  # standard error 0.002


def test_forty_sites_stand_in_twenty_folds():
    design = sites.SiteDesign(40, 60, 0.1, 2, 0.0)
    counts = sites.count_folds(design, sites.draw_sites(design, 40, np.random.default_rng(1)))
    assert counts.shape == (4, 20, 2, 4)
    assert (counts.sum(axis=(2, 3)) == 600).all()


def test_the_true_areas_are_those_of_very_many_records():
    design = auc.AucDesign(2, 2_000, 0.4, 0.75, 0.1, sites=2_000, scatter=0.3)
    rng = np.random.default_rng(1)
    found = np.mean(
        [
            auc.auc_matrix(drawn.outcome, drawn.values, drawn.codes, 2).auc
            for drawn in (auc.draw_scores(design, rng) for _ in range(40))
        ],
        axis=0,
    )
    np.testing.assert_allclose(found, design.areas, atol=0.006)  # three standard errors
    assert design.areas[0, 0] == pytest.approx(0.65)
    assert design.areas[1, 0] == pytest.approx(norm.cdf(norm.ppf(0.75) - 0.3 / design.spread))


def test_the_true_spread_falls_with_the_root_of_the_size():
    small, large = (sizes.SizeDesign("DI", smallest, -0.05, 10) for smallest in (500, 2_000))
    spread = (sizes.SPREAD, EVERY)
    ratio = sizes.find_truth(small, 1)[spread].value / sizes.find_truth(large, 1)[spread].value
    assert ratio == pytest.approx(2, abs=0.25)


def test_coverage_bias_and_sides_are_counted_by_hand():
    rows = [
        ("f", 0.12, 0.05, 0.20, 1.0, 1.0),
        ("f", 0.20, 0.15, 0.25, 1.0, 1.0),
        ("f", 0.08, 0.02, 0.09, 0.0, 0.0),
        ("f", np.nan, np.nan, np.nan, np.nan, 0.0),
    ]
    found = measure_figures(pd.DataFrame(rows, columns=READING_COLUMNS), {("f", EVERY): Truth(0.15, 0.1)})
    every, supported = (found[found["support"] == name].iloc[0] for name in (EVERY, SUPPORTED))
    assert every[["replicates", "given", "intervals", "covered", "below", "told"]].tolist() == [
        4,
        3,
        3,
        2,
        1,
        1,
    ]
    assert every["bias"] == pytest.approx(-0.05 / 3)
    assert every["rmse"] == pytest.approx(np.sqrt((0.03**2 + 0.05**2 + 0.07**2) / 3))
    assert every[["judged", "right"]].tolist() == [3, 2]
    assert supported[["replicates", "covered"]].tolist() == [2, 2]


def test_no_interval_tells_a_side_when_the_truth_is_the_threshold():
    rows = [("f", 0.2, 0.15, 0.25, 1.0, 1.0)]
    found = measure_figures(pd.DataFrame(rows, columns=READING_COLUMNS), {("f", EVERY): Truth(0.1, 0.1)})
    assert found["told"].tolist() == [0, 0]


def planted(meets):
    """Rows of one line by size: covered of 100, bias, told of 100."""
    rows = [
        {"figure": "metric", "support": EVERY, "metric": "DI", "smallest": size, "replicates": 100}
        | {"intervals": 100, "covered": covered, "bias": bias, "truth": 0.7, "told": told}
        for size, covered, bias, told in meets
    ]
    return {"verdicts": pd.DataFrame(rows)}


def test_the_least_size_is_the_first_from_which_all_sizes_meet_all_criteria():
    rows = [
        (30, 95, 0.0, 90),
        (60, 80, 0.0, 90),
        (125, 95, 0.03, 90),
        (250, 95, 0.01, 70),
        (500, 94, 0.0, 95),
    ]
    found = table.find_least(planted(rows), table.LINES["DI interval"])
    assert found == {"coverage": 125, "bias": 250, "decision": 500, "least": 500}


def test_a_figure_that_fails_at_the_largest_size_has_no_least_size():
    found = table.find_least(planted([(30, 95, 0.0, 90), (60, 50, 0.0, 90)]), table.LINES["DI interval"])
    assert found == {"coverage": np.inf, "bias": 30, "decision": 30, "least": np.inf}


def test_a_population_that_was_not_simulated_has_no_size():
    found = table.find_least(planted([(30, 95, 0.0, 90)]), table.LINES["PP interval"])
    assert np.isnan(found["least"])


def test_chance_is_granted_to_the_coverage_but_not_too_much():
    # Wilson's interval of 90 of 100 reaches 0.945, that of 85 of 100 reaches 0.907
    assert table.find_least(planted([(30, 90, 0.0, 90)]), table.LINES["DI interval"])["coverage"] == 30
    assert table.find_least(planted([(30, 85, 0.0, 90)]), table.LINES["DI interval"])["coverage"] == np.inf


def test_every_line_has_stored_rows(measured):
    for line in table.LINES.values():
        assert len(table.select_rows(measured, line))


def few(name, count=2):
    family = runs.FAMILIES[name]
    return {name: runs.Family(family.designs[:count], family.find_truth, family.run_replicate)}


def test_a_simulation_goes_on_where_it_stopped(tmp_path):
    whole = runs.simulate(replicates=4, seed=5, families=few("sizes", 3))
    runs.simulate(replicates=4, seed=5, families=few("sizes", 2), store=tmp_path)
    path = tmp_path / "sizes.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], lines[1][:40]]) + "\n", encoding="utf-8")
    again = runs.simulate(replicates=4, seed=5, families=few("sizes", 3), store=tmp_path)
    for part in ("measured", "kept"):
        pd.testing.assert_frame_equal(whole["sizes"][part], again["sizes"][part])
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


def test_stored_designs_of_other_settings_are_not_taken(tmp_path):
    runs.simulate(replicates=2, seed=5, families=few("sizes", 1), store=tmp_path)
    found = runs.simulate(replicates=3, seed=5, families=few("sizes", 1), store=tmp_path)
    assert set(found["sizes"]["measured"]["replicates"]) <= {2, 3}
    assert found["sizes"]["measured"]["replicates"].iloc[0] == 3


def test_files_are_written_the_same_twice(tmp_path):
    for name in ("one", "two"):
        found = runs.simulate(replicates=3, seed=5, families=few("verdicts"))
        runs.write_results(tmp_path / name, found, replicates=3, seed=5)
    for name in ("small_groups_verdicts.csv", runs.REPLICATE_FILE):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_metric_that_needs_scores_cannot_be_drawn_by_counts():
    with pytest.raises(InputError, match="CAL needs score sums"):
        worlds.set_rates(worlds.VerdictDesign("CAL", 2, 60, 0.2, 0.0))


def cover(rows):
    return rows["covered"].sum() / rows["intervals"].sum()


def test_the_stored_replicates_show_what_the_module_says(measured):
    every = {name: rows[rows["support"] == EVERY] for name, rows in measured.items()}
    base = every["verdicts"][(every["verdicts"]["groups"] == 2) & (every["verdicts"]["event_rate"] != 0.05)]
    base = base[base["event_rate"] != 0.4]
    metric = base[base["figure"] == "metric"].set_index("metric")
    large = metric[metric["smallest"] >= 250]
    assert 0.88 < cover(large.loc["DI"]) < 0.92
    failing = large[large["distance"] == -0.05]
    assert failing.loc["PP", "covered"].between(0.82 * 400, 0.89 * 400).all()
    differ = large[large["distance"] < 0.1]
    assert min(cover(differ.loc["EOPP"]), cover(differ.loc["EOD"])) > 0.94
    equal = metric[(metric["distance"] == 0.1) & (metric.index != "DI")]
    assert equal["covered"].sum() == metric.loc["CAL", "covered"].sum() == 0
    flips = base[(base["figure"] == "flip rate") & base["metric"].isin(["EOPP", "EOD"])]
    assert 0.15 < cover(flips[flips["metric"] == "EOPP"]) < 0.35
    at = flips[(flips["distance"] == 0) & (flips["smallest"] >= 500) & (flips["metric"] == "EOPP")]
    assert at["truth"].between(0.48, 0.5).all()
    assert at["mean"].between(0.22, 0.27).all()
    stable = base[(base["figure"] == "stable verdict") & (base["metric"] == "EOPP")]
    assert stable[(stable["distance"] > 0) & (stable["smallest"] <= 125)]["right"].sum() == 0
    late = stable[(stable["distance"].abs() == 0.05) & (stable["smallest"] >= 500)]
    assert (late["right"] > 0.95 * late["judged"]).all()
    assert 0.88 < cover(every["sites"][every["sites"]["figure"] == "kappa"]) < 0.93
    halves = every["sizes"][(every["sizes"]["times"] == 2) & (every["sizes"]["smallest"] >= 250)]
    assert 0.7 < (halves["mean"] / halves["truth"]).mean() < 0.8
    areas = every["auc"]
    alone = areas[(areas["sites"] == 0) & (areas["figure"] == "within AUC")]
    assert cover(alone) > 0.94
    at_once = areas[(areas["sites"] == 0) & (areas["figure"] == "matrix at once")]
    assert at_once["right"].sum() > 0.93 * at_once["judged"].sum()
    sited = areas[areas["sites"] > 0].set_index("figure")
    assert 0.5 < cover(sited.loc["overall AUC"]) < 0.9
    assert cover(sited.loc["overall AUC by sites"]) > 0.93
