"""Are leaks, look-alike names, identifiers, weights and units pointed out, and good cohorts left alone?"""

import re

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.errors import InputError
from auditbook.intake import warn_cohort
from auditbook.intake.leaks import find_leaks
from auditbook.intake.lookalikes import find_alike, name_difference, simplify
from auditbook.intake.single_areas import bound_area
from auditbook.intake.stay_ends import ends_a_stay
from cohorts import write_pair

HEAD = '[outcome]\ncolumn = "{y}"\nevent = {event}\n[attributes.{a}]\ncolumn = "{a}"\n'
GIVEN = '[scores.s]\ncolumn = "s"\nkind = "probability"\n'


def say(folder, table, text):
    file = read_cohort_file(write_pair(folder, table, text))
    return [str(caution) for caution in warn_cohort(load_cohort(file, cache_dir=folder))]


def only(said, word):
    return [text for text in said if word in text]


def draw_table(n=1200, seed=0):
    """Draw stays with an outcome, two groups, a score and two features that tell a little."""
    rng = np.random.default_rng(seed)
    event = rng.random(n) < 0.3
    return pd.DataFrame(
        {
            "obito": event.astype(int),
            "sexo": rng.choice(["F", "M"], n),
            "s": np.clip(rng.normal(0.3 + 0.2 * event, 0.15), 0, 1).round(4),
            "ureia": (rng.normal(size=n) + event).round(3),
            "setor": rng.choice(["A", "B", "C"], n),
        }
    )


TEXT = HEAD.format(y="obito", event=1, a="sexo") + GIVEN


# Leaks


def draw_honest(rng, n, rate):
    """Draw an outcome and forty honest features: numbers, counts, codes, blanks that go with the outcome."""
    y = (rng.random(n) < rate).astype(float)
    columns = {}
    for place in range(10):
        columns[f"number{place}"] = rng.normal(size=n) + y * rng.uniform(0, 2.1)
        columns[f"count{place}"] = np.round(rng.normal(size=n) * 3 + y * rng.uniform(0, 4))
        share = rng.dirichlet(np.full(rng.integers(2, 60), 0.5))
        other = share * np.exp(rng.uniform(-3, 3, len(share)) * rng.random())
        codes = np.where(
            y == 1, rng.choice(len(share), n, p=other / other.sum()), rng.choice(len(share), n, p=share)
        )
        columns[f"code{place}"] = np.array([f"c{code}" for code in codes], object)
        blank, odds = rng.uniform(0.02, 0.95), np.exp(rng.uniform(-3, 3))
        chance = np.where(y == 1, blank * odds / (1 - blank + blank * odds), blank)
        columns[f"blank{place}"] = np.where(rng.random(n) < chance, np.nan, rng.normal(size=n))
    return pd.DataFrame(columns), y


def count_false_alarms(cohorts, seed):
    rng, alarms = np.random.default_rng(seed), 0
    for _ in range(cohorts):
        n = int(np.exp(rng.uniform(np.log(500), np.log(20_000))))
        frame, y = draw_honest(rng, n, np.exp(rng.uniform(np.log(0.02), np.log(0.5))))
        alarms += len(find_leaks(frame, list(frame), y, continuous=False))
    return alarms


def test_hardly_an_honest_feature_is_called_a_leak():
    assert count_false_alarms(4, 3) == 0


@pytest.mark.slow
def test_one_in_a_thousand_honest_features_or_fewer_is_called_a_leak():
    assert count_false_alarms(200, 1) <= 8  # of 8,000


@pytest.mark.parametrize("rate", [0.05, 0.3])
@pytest.mark.parametrize("kind", ["copy", "noisy", "code", "blank", "people"])
def test_planted_leaks_are_found(rate, kind):
    rng = np.random.default_rng(8)
    y = (rng.random(3_000) < rate).astype(float)
    cells = {
        "copy": pd.Series(y * 3 + 1),
        "noisy": pd.Series(y + rng.normal(0, 0.2, len(y))),
        "code": pd.Series(np.where(y == 1, "óbito", rng.choice(["casa", "outro"], len(y)))),
        "blank": pd.Series(np.where(y == 1, rng.normal(size=len(y)), np.nan)),
        "people": pd.Series([f"${1_000 + 90_000 * one + i:,.2f}" for i, one in enumerate(y)]),
    }[kind]
    (leak,) = find_leaks(pd.DataFrame({kind: cells}), [kind], y, continuous=False)
    assert leak.column == kind


def test_with_few_events_only_a_ranking_without_error_is_called_a_leak():
    assert bound_area(10, 10) > 0.999
    assert bound_area(200, 2_000) == 0.98
    y = np.r_[np.ones(9), np.zeros(500)]
    assert find_leaks(pd.DataFrame({"x": y}), ["x"], y, continuous=False) == []


def test_all_leaks_stand_in_one_caution_the_strongest_first_and_one_line_cures_them(tmp_path):
    table = draw_table().assign(
        saldo=lambda t: t["obito"] * 2.5,
        destino=lambda t: np.where((t["obito"] == 1) & (np.arange(len(t)) % 2 == 0), "necrotério", "casa"),
    )
    text = TEXT + '[features]\nexclude = ["setor"]\nlate = ["saldo"]\n[panel]\nmodels = ["logistic"]\n'
    (told,) = only(say(tmp_path, table, text), "in disguise")
    assert told.index("'saldo'") < told.index("'destino'")
    assert "2 columns may be the outcome in disguise (told from AUC 0.98" in told
    assert "'saldo' (AUC 1.000 on its own: every event has 2.5 or more, every other record 0 or less)" in told
    assert "with the value necrotério are events)" in told
    assert told.endswith('exclude = ["setor", "saldo", "destino"] and late = []')
    cured = text.replace(
        'exclude = ["setor"]\nlate = ["saldo"]', 'exclude = ["setor", "saldo", "destino"]\nlate = []'
    )
    assert not only(say(tmp_path, table, cured), "in disguise")


@pytest.mark.parametrize("include", [True, False])
def test_a_leak_among_named_features_is_taken_out_of_them(tmp_path, include):
    table = draw_table().assign(saldo=lambda t: t["obito"] * 2.5)
    listed = '[features]\ninclude = ["ureia", "saldo"]\n' if include else ""
    (told,) = only(say(tmp_path, table, TEXT + listed), "in disguise")
    assert told.endswith('if it is: include = ["ureia"]' if include else 'if it is: exclude = ["saldo"]')


@pytest.mark.parametrize(
    "name",
    [
        *(
            "discharge_disposition",
            "LOS",
            "total_charges",
            "date_of_death",
            "mode de sortie",
            "Durée de séjour",
        ),
        *(
            "Entlassungsart",
            "Verweildauer",
            "Todesdatum",
            "fecha de alta",
            "motivo_de_alta",
            "dias_permanencia",
        ),
        *("data saida", "degenza", "dimissione", "dischtime"),
    ],
)
def test_names_of_ends_of_stays_are_known_in_six_languages(name):
    assert ends_a_stay(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "pre_icu_los_days",
            "cost_pharmacy",
            "prior_discharges",
            "age",
            "creatinine",
            "admission_type",
            "Alter",
        ),
        *("albumin", "gender", "risk_of_mortality", "diabetes_with_complications", "sexo", "edad", "reparto"),
    ],
)
def test_other_names_are_not(name):
    assert not ends_a_stay(name)


def test_columns_named_like_ends_of_stays_get_one_line_with_their_figures(tmp_path):
    rng = np.random.default_rng(4)
    table = draw_table().assign(
        Entlassungsart=rng.integers(1, 4, 1200), charges=lambda t: t["obito"] + rng.normal(size=1200)
    )
    (told,) = only(say(tmp_path, table, TEXT + '[features]\nlate = ["ureia"]\n'), "end of a stay")
    assert "2 columns are named like what is known only at the end of a stay: 'charges' (AUC 0.7" in told
    assert told.endswith('late = ["ureia", "charges", "Entlassungsart"]')
    late = '[features]\nlate = ["ureia", "charges", "Entlassungsart"]\n'
    assert not only(say(tmp_path, table, TEXT + late), "end of a stay")


# Names


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("White", "WHITE ", "capitals and blanks"),
        ("010001", "10001.0", "zeros"),
        ("caf\u00e9", "cafe\u0301", "Unicode form"),
        ("Multi-racial", "Multi\u2011racial", "hyphens"),
        ("multi_racial", "multi racial", "hyphens"),
        ("St. Mary", "St Mary", "full stops"),
    ],
)
def test_ways_of_writing_one_name_are_alike(one, other, what):
    assert simplify(one) == simplify(other)
    assert what in name_difference([one, other])


@pytest.mark.parametrize(
    ("one", "other"), [("1.5", "15"), ("-1", "1"), ("A1", "A2"), ("0", "00x"), ("10", "100"), ("Ä", "A")]
)
def test_other_names_are_not_alike(one, other):
    assert simplify(one) != simplify(other)


def test_identifiers_of_any_kind_have_no_look_alikes_by_chance():
    rng = np.random.default_rng(2)
    numbers = [str(number) for number in rng.choice(10**9, 20_000, replace=False)]
    words = ["".join(rng.choice(list("ABCDEFGHJKLMNPQRSTUVWXYZ23456789"), 8)) for _ in range(5_000)]
    for names in (numbers, words, [f"v{number:07d}" for number in range(5_000)]):
        assert find_alike(dict.fromkeys(names, 1)) == []


def test_look_alike_sites_are_joined_by_the_line_that_is_told(tmp_path):
    names = np.array(["01", "1", "1.0", "Clínica", "CLI\u0301NICA"], object)
    table = draw_table().assign(cnes=names[np.arange(1200) % 5])
    text = TEXT + '[site]\ncolumn = "cnes"\n'
    (told,) = only(say(tmp_path, table, text), "[site] column")
    assert "5 sites may be 2" in told
    assert told.endswith('groups = { "1" = "01", "1.0" = "01", "Cl\u00ednica" = "CLI\u0301NICA" }')
    line = told.split("to join them: ")[1]
    file = read_cohort_file(write_pair(tmp_path, table, text + line + "\n"))
    cohort = load_cohort(file, cache_dir=tmp_path)
    assert sorted(set(cohort.site)) == ["01", "CLI\u0301NICA"]
    assert not only([str(each) for each in warn_cohort(cohort)], "differ")


def test_values_that_a_rule_misses_by_their_writing_are_told_with_the_line(tmp_path):
    rng = np.random.default_rng(6)
    table = draw_table().assign(
        obito=lambda t: np.where(t["obito"] == 1, rng.choice(["sim", "SIM"], len(t)), "não"),
        setor=rng.choice(["UTI", "uti ", "B"], 1200),
    )
    head = 'data.drop = [{ column = "setor", values = ["UTI"], reason = "cuidados intensivos" }]\n'
    said = say(tmp_path, table, head + HEAD.format(y="obito", event='"sim"', a="sexo") + GIVEN)
    (event,) = only(said, "[outcome] event")
    assert "also holds 'SIM' (" in event
    assert "which counts as no event" in event
    (drop,) = only(said, "[data] drop, entry 1")
    assert drop.endswith('to leave out all: values = ["UTI", "uti "]')


# Identifiers, text, scores of others


def test_measurements_with_many_values_are_no_identifiers(tmp_path):
    rng = np.random.default_rng(1)
    table = draw_table().assign(
        custo_previo=rng.lognormal(8, 1.5, 1200).astype(int), plaquetas=rng.integers(3_000, 900_000, 1200)
    )
    assert not only(say(tmp_path, table, TEXT), "identifier")


def test_text_and_scores_of_other_models_are_told_apart_from_identifiers(tmp_path):
    rng = np.random.default_rng(1)
    table = draw_table().assign(
        nota=[f"paciente {i} chegou com dor no peito" for i in range(1200)],
        risco_saps=rng.random(1200),
        prontuario=[f"x{i // 2}" for i in range(1200)],
    )
    said = say(tmp_path, table, TEXT)
    assert "'nota' holds free text (such as 'paciente" in only(said, "free text")[0]
    assert "'risco_saps' seems to be the score of another model" in only(said, "another model")[0]
    assert "'prontuario' is text with hardly a value twice" in only(said, "identifier")[0]


def test_a_trained_model_that_sees_the_attributes_is_told_once(tmp_path):
    text = TEXT + '[panel]\nmodels = ["logistic"]\n'
    (told,) = only(say(tmp_path, draw_table(), text), "[panel] models")
    assert told.endswith('if the model must not see it: exclude = ["sexo"]')
    assert not only(say(tmp_path, draw_table(), TEXT), "[panel] models")


# Units, ties, rates, surveys


def test_units_of_several_groups_are_counted_and_places_are_not(tmp_path):
    table = draw_table().assign(paciente=np.arange(1200) // 2)
    table["sexo"] = np.where(np.arange(1200) // 2 % 2, "F", "M")
    table.loc[[0, 2], "sexo"] = "F"
    table.loc[2, "sexo"] = "M"
    (told,) = only(say(tmp_path, table, TEXT + '[unit]\ncolumn = "paciente"\n'), "within_unit")
    assert told.startswith(
        "[attributes.sexo]: 2 of 600 units with several records stand in more than one group"
    )
    places = draw_table().assign(quarto=np.arange(1200) % 6)
    assert not only(say(tmp_path, places, TEXT + '[unit]\ncolumn = "quarto"\n'), "within_unit")


@pytest.mark.parametrize("reused", [True, False])
def test_units_at_several_sites_are_told_and_reused_numbers_are_recognised(tmp_path, reused):
    table = draw_table().assign(pront=np.arange(1200) % 400, hosp=[f"h{i // 400}" for i in range(1200)])
    if not reused:
        table["sexo"] = np.where(table["pront"] % 2, "F", "M")
    text = TEXT + '[site]\ncolumn = "hosp"\n[unit]\ncolumn = "pront"\n'
    (told,) = only(say(tmp_path, table, text), "[unit] column: 400 of 400")
    assert 'columns = ["hosp", "pront"]' in told
    assert ("seems to number its patients anew" in told) is reused


def test_ties_at_a_percentile_are_told_with_what_is_selected(tmp_path):
    table = draw_table(1000).assign(s=lambda t: np.where(np.arange(1000) < 200, 0.9, 0.1))
    text = HEAD.format(y="obito", event=1, a="sexo") + GIVEN + "percentile = 90\n"
    (told,) = only(say(tmp_path, table, text), "percentile")
    assert (
        "200 records share the score 0.9 at which the percentile cuts, so that 200 of 1,000 (20.0%)" in told
    )
    assert "are selected and not 10.0%" in told
    distinct = table.assign(s=np.linspace(0, 1, 1000))
    assert not only(say(tmp_path, distinct, text), "percentile")


def test_event_rates_that_make_a_metric_fail_are_told_and_equal_ones_are_not(tmp_path):
    rng = np.random.default_rng(5)
    table = draw_table(2000)
    table["obito"] = (rng.random(2000) < np.where(table["sexo"] == "F", 0.1, 0.5)).astype(int)
    (told,) = only(say(tmp_path, table, TEXT), "without any error")
    assert told.startswith("[attributes.sexo]: events are so unequal (F ")
    assert "fails DI (it gets 0." in told
    assert "and SPD (it gets 0." in told
    for seed in range(5):
        assert not only(say(tmp_path, draw_table(600, seed), TEXT), "without any error")


def test_the_groups_that_are_named_are_those_whose_event_rates_give_the_figure(tmp_path):
    table = draw_table(6000)
    table["sexo"], table["obito"] = np.repeat(["A", "B", "C"], 2000), 0
    for group, events in (("A", 4), ("B", 40), ("C", 200)):
        table.loc[table.index[table["sexo"] == group][:events], "obito"] = 1
    (told,) = only(say(tmp_path, table, TEXT), "without any error")
    rates = [float(rate) for rate in re.findall(r"[ABC] ([\d.]+)%", told)]
    assert float(re.search(r"DI \(it gets ([\d.]+)", told)[1]) == pytest.approx(rates[0] / rates[1], abs=0.01)


def test_known_survey_weights_are_refused_as_features_and_offered(tmp_path):
    table = draw_table().assign(WTMEC2YR=np.arange(1200) + 900.5, SDMVSTRA=np.arange(1200) % 9)
    with pytest.raises(InputError, match=r'WTMEC2YR.*\[weight\] column = "WTMEC2YR", strata = "SDMVSTRA"'):
        say(tmp_path, table, TEXT)
    out = '[features]\nexclude = ["WTMEC2YR", "SDMVSTRA"]\n'
    (told,) = only(say(tmp_path, table, TEXT + out), "[weight] column")
    assert "shares and rates are unweighted" in told
    weighted = TEXT + '[weight]\ncolumn = "WTMEC2YR"\nstrata = "SDMVSTRA"\n'
    assert not only(say(tmp_path, table, weighted), "unweighted")


@pytest.mark.parametrize(
    ("name", "told"), [("peso_amostral", True), ("survey_weight", True), ("peso", False), ("weight", False)]
)
def test_a_weight_by_its_words_is_a_caution_and_that_of_a_body_is_none(tmp_path, name, told):
    table = draw_table().assign(**{name: np.random.default_rng(1).uniform(40, 120, 1200).round(1)})
    assert bool(only(say(tmp_path, table, TEXT), "[weight] column")) is told


@pytest.mark.parametrize("rows", [600, 3_000])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_said_of_a_good_cohort(tmp_path, seed, rows):
    assert say(tmp_path, draw_table(rows, seed), TEXT) == []
