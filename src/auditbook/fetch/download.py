"""How is a file fetched so that a broken connection costs only the rest, and a wrong file is never kept?"""

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tqdm import tqdm

from auditbook.errors import RunError
from auditbook.fetch.sources import RemoteFile, Source

CHUNK = 1 << 16
PATIENCE = (15, 120)
"""Seconds to wait for a connection, and for the next bytes."""
RESUMES, WHOLE, PAST_END = 206, 200, 416


def download_file(source: Source, file: RemoteFile, folder: Path, *, mirror: str = "") -> Path:
    """Fetch one file into a folder, from where it stopped the last time; raises RunError in one sentence."""
    import pooch
    import requests

    address = f"{mirror.rstrip('/')}/{file.name}" if mirror else file.address
    host = urlsplit(address).hostname or address
    target, part = folder / file.name, folder / f".{file.name}.part"
    known = f"sha256:{file.sha256}" if file.sha256 else None
    pooch.get_logger().setLevel("ERROR")
    elsewhere = f"fetch it elsewhere and hand it in: auditbook fetch {source.name} --from FILE"
    try:
        fetch = partial(_fetch, part=part)
        pooch.retrieve(address, known, fname=file.name, path=folder, downloader=fetch)
    except requests.exceptions.HTTPError as error:
        status = "with a web page" if error.response is None else error.response.status_code
        raise RunError(
            f"{host} answers {status} for {address}: the file may have moved; look at {source.page}, "
            f"{elsewhere}"
        ) from None
    except requests.exceptions.RequestException as error:
        held = part.stat().st_size if part.exists() else 0
        kept = f"; {held:,} bytes are kept, and the next call goes on from there" if held else ""
        raise RunError(
            f"no connection to {host} ({type(error).__name__}){kept}; behind a proxy set HTTPS_PROXY, or "
            f"{elsewhere}"
        ) from None
    except ValueError:
        raise RunError(
            f"{file.name}: what {host} sent is not the file that this recipe was written for (its SHA-256 is "
            f"not {file.sha256}); nothing was kept. If the publisher has a new edition, {elsewhere}"
        ) from None
    return target


def _fetch(address: str, output: Any, _pooch: object, *, part: Path) -> None:
    """Fetch into a part file, from its end where the server still has the same file; then hand it over."""
    import requests

    held, tag = _read_part(part)
    ask = {"Range": f"bytes={held}-", "If-Range": tag} if held and tag else {}
    with requests.get(address, stream=True, timeout=PATIENCE, headers=ask) as answer:
        if answer.status_code == PAST_END:
            part.unlink()
            return _fetch(address, output, _pooch, part=part)
        answer.raise_for_status()
        _refuse_page(answer)
        goes_on = answer.status_code == RESUMES
        _tag(part).write_text(
            json.dumps(answer.headers.get("ETag") or answer.headers.get("Last-Modified") or "")
        )
        with part.open("ab" if goes_on else "wb") as stream:
            _copy(answer, stream, part.name.strip("."), held if goes_on else 0)
    part.replace(output)
    _tag(part).unlink(missing_ok=True)
    return None


def _copy(answer: Any, stream: Any, name: str, held: int) -> None:
    """Write what comes; a connection that ends before the announced length is broken."""
    import requests

    announced = int(answer.headers.get("Content-Length") or 0)
    plain = answer.headers.get("Content-Encoding") in (None, "identity")
    came, size = 0, announced + held or None
    with tqdm(total=size, initial=held, desc=name, unit="B", unit_scale=True, disable=None) as bar:
        for chunk in answer.iter_content(CHUNK):
            stream.write(chunk)
            came += len(chunk)
            bar.update(len(chunk))
    if plain and announced and came < announced:
        raise requests.exceptions.ConnectionError(f"{name}: {came} of {announced} bytes")


def _refuse_page(answer: Any) -> None:
    """Refuse a web page in place of a table, as sent where one has to sign in or the files have moved."""
    import requests

    if "text/html" in answer.headers.get("Content-Type", ""):
        raise requests.exceptions.HTTPError("a web page in place of a table")


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def _read_part(part: Path) -> tuple[int, str]:
    """Tell how much is there, and by which mark the server knows the file that it is of."""
    held, tag = (part.stat().st_size if part.exists() else 0), ""
    with suppress(OSError, ValueError):
        tag = str(json.loads(_tag(part).read_text()))
    return held, tag if not tag.startswith("W/") else ""
