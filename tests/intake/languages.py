"""Tables as hospitals of six languages export them, mixed in their habits, with rows that are invented."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from intake.layouts import ROWS, Layout, Truth, _blank, _columns, _equals, _risk


def _stays(seed: int, rows: int, base: float):
    """Draw what every table of stays holds: people, ages, risks, outcomes, days."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, int(rows * 0.75), rows)
    age = np.clip(rng.normal(61, 18, int(rows * 0.75)), 18, 99).round().astype(int)[people]
    risk = _risk(rng, age, base)
    happened = rng.random(rows) < risk
    start = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
    days = rng.poisson(6, rows) + 1
    return rng, people, age, risk, happened, start, days, start + pd.to_timedelta(days, unit="D")


def _npi(number: int) -> str:
    """Make a National Provider Identifier of nine digits and their check digit."""
    digits = f"{number:09d}"
    total = sum(
        sum(map(int, str(int(digit) * (2 - i % 2)))) for i, digit in enumerate(reversed(f"80840{digits}"))
    )
    return digits + str(-total % 10)


def french(rows: int = ROWS) -> Layout:
    """Export stays of a French hospital group."""
    rng, people, age, risk, died, start, days, end = _stays(201, rows, 0.08)
    table = pd.DataFrame(
        {
            "N° séjour": [f"S{i:07d}" for i in range(rows)],
            "IPP": [f"{8_000_000 + p}" for p in people],
            "FINESS": rng.choice(["750712184", "750100042", "940016819"], rows),
            "Sexe": np.where(people % 2 == 0, "H", "F"),
            "Âge à l'entrée": age,
            "Origine ethnique": rng.choice(
                ["Europe", "Maghreb", "Afrique subsaharienne", "non renseigné"], rows
            ),
            "Couverture sociale": rng.choice(["Régime général", "C2S", "AME"], rows),
            "Date d'entrée": start.strftime("%d/%m/%Y"),
            "Mode d'entrée": rng.choice(["urgences", "domicile", "mutation"], rows),
            "Créatinine": rng.lognormal(4.4, 0.4, rows).round(),
            "Date de sortie": end.strftime("%d/%m/%Y"),
            "Mode de sortie": np.where(died, "décès", rng.choice(["domicile", "transfert"], rows)),
            "Durée de séjour": days,
            "GHM": rng.choice(["05M092", "04M052"], rows),
            "Décès hospitalier": np.where(died, "oui", "non"),
            "Risque prédit de décès": risk.round(4),
        }
    )
    truth = Truth(
        outcome=_columns("Décès hospitalier"),
        event=_equals("oui"),
        unit=frozenset({("IPP",)}),
        site=_columns("FINESS"),
        age=_columns("Âge à l'entrée"),
        race=_columns("Origine ethnique"),
        sex=_columns("Sexe"),
        scores={"Risque prédit de décès": "high"},
        late=_columns("Date de sortie", "Mode de sortie", "Durée de séjour", "GHM"),
        leaks=_columns("Mode de sortie"),
    )
    return Layout(table, truth)


def french_long_stays(rows: int = ROWS) -> Layout:
    """Export stays of one French hospital, without scores; the outcome is a long stay."""
    rng, people, age, _, long, start, days, end = _stays(202, rows, 0.2)
    table = pd.DataFrame(
        {
            "patient": people + 1,
            "service": rng.choice(["cardiologie", "médecine interne", "gériatrie"], rows),
            "origine ethnique": rng.choice(["A", "B", "C"], rows),
            "genre": rng.choice(["homme", "femme"], rows),
            "tranche d'âge": np.array(["18-39", "40-64", "65-79", "80+"])[np.digitize(age, [40, 65, 80])],
            "entrée": start.strftime("%Y-%m-%d"),
            "sortie": end.strftime("%Y-%m-%d"),
            "coût total": (days * 700 * rng.lognormal(0, 0.3, rows)).round(2),
            "séjour long": np.where(long, "oui", "non"),
        }
    )
    truth = Truth(
        outcome=_columns("séjour long"),
        event=_equals("oui"),
        unit=frozenset({("patient",)}),
        site=_columns(None),
        age=_columns("tranche d'âge"),
        race=_columns("origine ethnique"),
        sex=_columns("genre"),
        scores={},
        late=_columns("sortie", "coût total"),
    )
    return Layout(table, truth)


def german(rows: int = ROWS) -> Layout:
    """Export cases of a German hospital group."""
    rng, people, age, risk, back, start, days, end = _stays(203, rows, 0.15)
    table = pd.DataFrame(
        {
            "Krankenhaus-IK": rng.choice([260100023, 260200134, 260950567], rows),
            "Fallnummer": 5_000_000 + np.arange(rows),
            "Patientennummer": 700_000 + people,
            "Geschlecht": rng.choice(["m", "w"], rows),
            "Alter in Jahren": age,
            "Migrationshintergrund": rng.choice(["ja", "nein", "keine Angabe"], rows, p=[0.22, 0.7, 0.08]),
            "Versicherungsart": rng.choice(["GKV", "PKV"], rows),
            "Aufnahmedatum": start.strftime("%d.%m.%Y"),
            "Aufnahmegrund": rng.choice(["0101", "0107"], rows),
            "Hauptdiagnose": rng.choice(["I50.14", "J18.9", "A41.9"], rows),
            "Entlassungsdatum": end.strftime("%d.%m.%Y"),
            "Entlassungsgrund": rng.choice(["012", "019", "069"], rows),
            "Beatmungsstunden": rng.choice([0, 0, 0, 48], rows),
            "Verweildauer": days,
            "DRG": rng.choice(["F62A", "E79C"], rows),
            "Wiederaufnahme 30 Tage": np.where(back, 1, 0),
            "Vorhersage": risk.round(4),
        }
    )
    truth = Truth(
        outcome=_columns("Wiederaufnahme 30 Tage"),
        event=_equals(1),
        unit=frozenset({("Patientennummer",)}),
        site=_columns("Krankenhaus-IK"),
        age=_columns("Alter in Jahren"),
        race=_columns("Migrationshintergrund"),
        sex=_columns("Geschlecht"),
        scores={"Vorhersage": "high"},
        late=_columns("Entlassungsdatum", "Entlassungsgrund", "Beatmungsstunden", "Verweildauer", "DRG"),
    )
    return Layout(table, truth)


def spanish(rows: int = ROWS) -> Layout:
    """Export episodes of Spanish hospitals."""
    rng, people, age, _, died, start, days, end = _stays(204, rows, 0.09)
    table = pd.DataFrame(
        {
            "hospital": rng.choice(["La Vega", "San Telmo", "Del Mar"], rows),
            "nhc": people + 100_000,
            "id_episodio": np.arange(rows),
            "sexo": rng.choice(["Hombre", "Mujer"], rows),
            "edad": age,
            "pais_nacimiento": rng.choice(["España", "Marruecos", "Ecuador", "desconocido"], rows),
            "regimen_financiacion": rng.choice(["SNS", "Mutua", "Privado"], rows),
            "fecha_ingreso": start.strftime("%Y-%m-%d"),
            "tipo_ingreso": rng.choice(["urgente", "programado"], rows),
            "fecha_alta": end.strftime("%Y-%m-%d"),
            "tipo_alta": np.where(died, "éxitus", rng.choice(["domicilio", "traslado"], rows)),
            "dias_estancia": days,
            "grd": rng.choice([194, 720, 139], rows),
            "coste_total": (days * 600 * rng.lognormal(0, 0.3, rows)).round(2),
            "exitus": np.where(died, "Sí", "No"),
        }
    )
    truth = Truth(
        outcome=_columns("exitus"),
        event=_equals("Sí"),
        unit=frozenset({("nhc",)}),
        site=_columns("hospital"),
        age=_columns("edad"),
        race=_columns("pais_nacimiento"),
        sex=_columns("sexo"),
        scores={},
        late=_columns("fecha_alta", "tipo_alta", "dias_estancia", "grd", "coste_total"),
        leaks=_columns("tipo_alta"),
    )
    return Layout(table, truth)


def portuguese(rows: int = ROWS) -> Layout:
    """Export stays of Portuguese hospitals."""
    rng, people, age, risk, back, start, days, end = _stays(205, rows, 0.14)
    table = pd.DataFrame(
        {
            "Hospital": rng.choice(["H1", "H2", "H3", "H4"], rows),
            "N.º utente": [f"{200_000_000 + p}" for p in people],
            "N.º episódio": np.arange(rows) + 1,
            "Sexo": rng.choice(["Masculino", "Feminino"], rows),
            "Idade": age,
            "Nacionalidade": rng.choice(["Portuguesa", "Brasileira", "Angolana", "Outra"], rows),
            "Data de admissão": start.strftime("%Y-%m-%d"),
            "Data de alta": end.strftime("%Y-%m-%d"),
            "Destino após alta": rng.choice(["Domicílio", "Outra instituição"], rows),
            "Dias de internamento": days,
            "Custo": (days * 500 * rng.lognormal(0, 0.3, rows)).round(2),
            "Reinternamento 30 dias": np.where(back, "Sim", "Não"),
            "Risco previsto": risk.round(4),
        }
    )
    truth = Truth(
        outcome=_columns("Reinternamento 30 dias"),
        event=_equals("Sim"),
        unit=frozenset({("N.º utente",)}),
        site=_columns("Hospital"),
        age=_columns("Idade"),
        race=_columns("Nacionalidade"),
        sex=_columns("Sexo"),
        scores={"Risco previsto": "high"},
        late=_columns("Data de alta", "Destino após alta", "Dias de internamento", "Custo"),
    )
    return Layout(table, truth)


def italian(rows: int = ROWS) -> Layout:
    """Export discharge records of Italian hospitals."""
    rng, people, age, risk, died, start, days, end = _stays(206, rows, 0.1)
    table = pd.DataFrame(
        {
            "codice_struttura": rng.choice(["120901", "120902", "120920"], rows),
            "id_paziente": [f"PZ{p:06d}" for p in people],
            "progressivo_sdo": np.arange(rows),
            "sesso": rng.choice(["M", "F"], rows),
            "età": age,
            "cittadinanza": rng.choice(["italiana", "UE", "extra UE"], rows, p=[0.86, 0.06, 0.08]),
            "data_ricovero": start.strftime("%Y-%m-%d"),
            "onere_degenza": rng.choice(["SSN", "assicurazione"], rows),
            "data_dimissione": end.strftime("%Y-%m-%d"),
            "modalità_dimissione": np.where(died, "deceduto", rng.choice(["ordinaria", "trasferito"], rows)),
            "giornate_degenza": days,
            "decesso_30gg": died.astype(int),
            "prob_sopravvivenza": (1 - risk).round(5),
        }
    )
    truth = Truth(
        outcome=_columns("decesso_30gg"),
        event=_equals(1),
        unit=frozenset({("id_paziente",)}),
        site=_columns("codice_struttura"),
        age=_columns("età"),
        race=_columns("cittadinanza"),
        sex=_columns("sesso"),
        scores={"prob_sopravvivenza": "low"},
        late=_columns("data_dimissione", "modalità_dimissione", "giornate_degenza"),
        leaks=_columns("modalità_dimissione"),
    )
    return Layout(table, truth)


def american(rows: int = ROWS) -> Layout:
    """Export encounters of an American warehouse: CCN, NPI, capitals in the middle of names."""
    rng, people, age, risk, back, start, days, end = _stays(207, rows, 0.15)
    doctors = np.array([_npi(123_000_000 + 7 * i) for i in range(40)])
    table = pd.DataFrame(
        {
            "EncounterID": np.arange(rows) + 9_000_000,
            "PatientMRN": [f"{p:08d}" for p in people],
            "FacilityCCN": rng.choice(["050441", "330101", "450358", "050625"], rows),
            "AttendingNPI": doctors[rng.integers(0, 40, rows)],
            "PatientAge": age,
            "PatientSex": rng.choice(["F", "M"], rows),
            "RaceEthnicity": rng.choice(["NH White", "NH Black", "Hispanic", "Asian", "Declined"], rows),
            "PrimaryPayer": rng.choice(["Medicare", "Commercial", "Medicaid"], rows),
            "PreferredLanguage": rng.choice(["English", "Spanish"], rows, p=[0.9, 0.1]),
            "AdmitDateTime": start.strftime("%Y-%m-%d 08:30"),
            "DischargeDateTime": end.strftime("%Y-%m-%d 11:00"),
            "DischargeDispo": rng.choice(["Home", "SNF", "HHA"], rows),
            "LOSDays": days,
            "PriorAdmissions12Mo": rng.poisson(1, rows),
            "LastCreatinine": _blank(rng, rng.lognormal(0.1, 0.5, rows).round(2), 0.1),
            "Readmit30Day": np.where(back, "Y", "N"),
            "RiskScore": risk.round(4),
        }
    )
    truth = Truth(
        outcome=_columns("Readmit30Day"),
        event=_equals("Y"),
        unit=frozenset({("PatientMRN",)}),
        site=_columns("FacilityCCN"),
        age=_columns("PatientAge"),
        race=_columns("RaceEthnicity"),
        sex=_columns("PatientSex"),
        scores={"RiskScore": "high"},
        late=_columns("DischargeDateTime", "DischargeDispo", "LOSDays", "AttendingNPI"),
    )
    return Layout(table, truth)


LANGUAGES: dict[str, Callable[[], Layout]] = {
    "fr": french,
    "fr_long": french_long_stays,
    "de": german,
    "es": spanish,
    "pt": portuguese,
    "it": italian,
    "en": american,
}
