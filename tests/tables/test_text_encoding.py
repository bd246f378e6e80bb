"""Files in Windows-1252 are known where that is certain, and no others are taken for them."""

import pytest

from auditbook.tables import find_western


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe;männlich;türkisch;5 °C;kg/m²", "latin-1"),
        ("Âge;décès;très sévère;n° 1;l\u2019âge;cœur;DÉCÈS;à", "windows-1252"),
        ("São Paulo;Óbito;Niterói;Não;Irecê;INTERNAÇÃO", "latin-1"),
        ("España;niño;región;sí;María", "windows-1252"),
        ("Göteborg;Skåne;ålder", "windows-1252"),
        ("Ålesund;Tromsø;Sør-Trøndelag;død", "windows-1252"),
    ],
)
def test_words_of_western_europe_are_known(tmp_path, text, encoding):
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert find_western(tmp_path / "t.csv") == "windows-1252"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("léčebna;péče;noc", "cp1250"),
        ("Gdańsk;Poznań", "cp1250"),
        ("nő;férfi;erős", "cp1250"),
        ("Bărbat;băiat", "cp1250"),
        ("Münster;Łódź", "cp1250"),
        ("vīrietis;Rīga", "cp1257"),
        ("yaş;Ağr;İstanbul", "cp1254"),
        ("муж;жен", "cp1251"),
        ("д;ц", "cp1251"),
        ("ηλικία", "iso8859-7"),
        ("Größe;männlich", "mac-roman"),
        ("NÃO;SÃO;MARÍA", "mac-roman"),
        ("décès;âge", "cp850"),
        ("男性;女性", "gbk"),
        ("hôpital", "windows-1252"),
        ("age;sex", "ascii"),
    ],
)
def test_what_may_be_of_another_encoding_is_not_guessed(tmp_path, text, encoding):
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert find_western(tmp_path / "t.csv") is None


def test_a_file_of_two_encodings_is_none(tmp_path):
    (tmp_path / "t.csv").write_bytes("Größe;".encode() + "Größe".encode("latin-1"))
    assert find_western(tmp_path / "t.csv") is None
