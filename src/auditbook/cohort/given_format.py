"""How is a table's file written, as said on the command line before there is a cohort file?"""

import json
import re
import shlex
import tomllib
from dataclasses import asdict
from typing import Any

from auditbook.cohort.keys import check_keys
from auditbook.errors import InputError
from auditbook.tables import AS_FOUND, Faults, TableFormat, show

OPTION = "--format"


def read_format(text: str) -> TableFormat:
    """Read what stands after ``format =`` in a cohort file, with or without its braces.

    Examples
    --------
    >>> read_format('{ sheet = "Stays", skip_rows = 2 }').skip_rows
    2
    """
    given = _read_keys("{ " + text.strip().removeprefix("{").removesuffix("}").strip() + " }")
    if given is None:
        raise InputError(
            f"{OPTION}: {show(text)} is not read; write it as in a cohort file, in single quotes: {OPTION} "
            "'{ encoding = \"windows-1252\", skip_rows = 2 }'"
        )
    faults = Faults("the call")
    values = check_keys(given, TableFormat, OPTION, faults)
    faults.raise_any()
    return TableFormat(**values)


def tell_option(fault: InputError, form: TableFormat) -> InputError:
    """Say of faults that name ``[data] format`` how it is given while there is no cohort file."""
    return InputError(*(line + _name_option(line, form) for line in fault.faults))


def _name_option(line: str, form: TableFormat) -> str:
    """Write the option that does what a fault advises, beside what was given before."""
    if "[data] format" not in line:
        return ""
    cure = re.search(r"\[data\] format = (\{.*?\})", line)
    advised = _read_keys(cure[1]) if cure is not None else None
    said = {key: value for key, value in asdict(form).items() if value != getattr(AS_FOUND, key)}
    keys = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in (said | (advised or {})).items()
    ]
    written = shlex.quote(f"{{ {', '.join(keys if advised is not None else [*keys, '…'])} }}")
    return f". There is no cohort file yet: say it to this command: {OPTION} {written}"


def _read_keys(text: str) -> dict[str, Any] | None:
    """Read a table in one line of TOML; None where it is none."""
    try:
        return dict(tomllib.loads(f"format = {text}")["format"])
    except tomllib.TOMLDecodeError:
        return None
