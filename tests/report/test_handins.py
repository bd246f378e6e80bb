"""Every form is found by its name, and is written whole or not at all."""

import pytest

from auditbook.errors import InputError
from auditbook.report.handins import FORMS, find_form


def test_the_six_forms_have_files_of_different_names():
    assert list(FORMS) == ["xlsx", "docx", "chai", "tripod-ai", "mlbom", "hti1"]
    assert len({form.file for form in FORMS.values()}) == len(FORMS)


def test_a_mistyped_form_is_told_the_nearest_and_all_of_them():
    with pytest.raises(InputError, match=r"no form 'xslx' \(did you mean 'xlsx'\?\); there are: xlsx, docx"):
        find_form("xslx")
