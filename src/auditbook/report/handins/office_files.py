"""How does the same run give the same office file, byte for byte, without a name or an hour in it?"""

import os
import re
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

CORE = "docProps/core.xml"
DATES = re.compile(rb"<dcterms:(created|modified)[^>]*>[^<]*</dcterms:\1>")
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an archive can hold; stands for none."""


def settle_bytes(path: Path) -> None:
    """Pack an office file anew: no time in the archive, no date of creation or change in its properties."""
    draft = path.with_name(f"{path.name}.tmp")
    with ZipFile(path) as made, ZipFile(draft, "w", ZIP_DEFLATED) as settled:
        for name in made.namelist():
            content = made.read(name)
            part = ZipInfo(name, FIRST_DAY)
            part.compress_type = ZIP_DEFLATED
            part.external_attr = 0o600 << 16
            settled.writestr(part, DATES.sub(b"", content) if name == CORE else content)
    os.replace(draft, path)
