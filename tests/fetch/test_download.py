"""Fetching from a server that sends all of it, a part, something else, or nothing."""

import hashlib
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from auditbook.errors import RunError
from auditbook.fetch.download import download_file
from auditbook.fetch.sources import RemoteFile, Source

BODY = b"id,died\n" + b"".join(b"%d,0\n" % k for k in range(40_000))


class Publisher(BaseHTTPRequestHandler):
    """Sends the table whole, from a place on, cut off, moved, or a page in place of it."""

    def __init__(self, state, *arguments, **options):
        self.state = state
        super().__init__(*arguments, **options)

    def log_message(self, *arguments):
        """Say nothing."""

    def do_GET(self):
        way = self.state["way"]
        self.state["asked"].append(self.headers.get("Range"))
        if way == "gone":
            return self.send_error(404)
        if way == "moved" and self.path != "/new/table.csv":
            self.send_response(302)
            self.send_header("Location", "/new/table.csv")
            return self.end_headers()
        if way == "page":
            return self.send(200, b"<html>please sign in</html>", "text/html")
        start = int((self.headers.get("Range") or "bytes=0-").split("=")[1].rstrip("-"))
        fresh = self.headers.get("If-Range") in (None, self.state["tag"])
        start = start if fresh else 0
        return self.send(206 if start else 200, BODY[start:], "text/csv", cut=way == "cut")

    def send(self, status, body, kind, *, cut=False):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", self.state["tag"])
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)


@pytest.fixture
def publisher():
    """A server on the loopback, what it does, and what it was asked."""
    state = {"way": "well", "asked": [], "tag": '"one"'}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Publisher, state)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        state["address"] = f"http://127.0.0.1:{server.server_port}/table.csv"
        yield state
        server.shutdown()


@pytest.fixture(autouse=True)
def _direct(monkeypatch):
    """The loopback is reached without a proxy, whatever this machine has."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def fetch(publisher, folder, digest=""):
    digest = digest or hashlib.sha256(BODY).hexdigest()
    file = RemoteFile("table.csv", publisher["address"], digest)
    source = Source(
        "made-up", "A table", "somebody", "none", "https://example.org/about", "c.toml", "t", (file,)
    )
    return download_file(source, file, folder)


@pytest.mark.parametrize("way", ["well", "moved"])
def test_a_file_is_fetched_whole_and_followed_where_it_went(publisher, way, tmp_path):
    publisher["way"] = way
    assert fetch(publisher, tmp_path).read_bytes() == BODY
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_broken_connection_is_said_and_the_next_call_goes_on_from_there(publisher, tmp_path):
    publisher["way"] = "cut"
    with pytest.raises(
        RunError, match=r"no connection to 127\.0\.0\.1 .* bytes are kept.*goes on from there"
    ):
        fetch(publisher, tmp_path)
    held = (tmp_path / ".table.csv.part").stat().st_size
    assert 0 < held < len(BODY)
    publisher["way"] = "well"
    assert fetch(publisher, tmp_path).read_bytes() == BODY
    assert publisher["asked"] == [None, f"bytes={held}-"]
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_part_of_an_older_edition_is_not_continued_by_a_newer_one(publisher, tmp_path):
    publisher["way"] = "cut"
    with pytest.raises(RunError):
        fetch(publisher, tmp_path)
    publisher.update(way="well", tag='"two"')
    assert fetch(publisher, tmp_path).read_bytes() == BODY


def test_a_finished_file_is_not_fetched_again(publisher, tmp_path):
    fetch(publisher, tmp_path)
    fetch(publisher, tmp_path)
    assert publisher["asked"] == [None]


def test_another_file_than_expected_is_not_kept(publisher, tmp_path):
    with pytest.raises(RunError, match=r"table\.csv: what 127\.0\.0\.1 sent is not the file.*--from FILE"):
        fetch(publisher, tmp_path, digest="0" * 64)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("way", "said"), [("gone", "answers 404"), ("page", "answers with a web page")])
def test_a_file_that_is_not_there_any_more_is_told_with_the_page_to_look_at(publisher, way, said, tmp_path):
    publisher["way"] = way
    with pytest.raises(RunError, match=rf"{said} for .*may have moved; look at https://example\.org/about"):
        fetch(publisher, tmp_path)
    assert not (tmp_path / "table.csv").exists()


def test_without_a_network_it_says_how_to_hand_the_file_in(publisher, tmp_path):
    publisher["address"] = "http://127.0.0.1:9/table.csv"
    with pytest.raises(
        RunError, match=r"no connection to 127\.0\.0\.1 \(ConnectionError\); behind a proxy.*--from"
    ):
        fetch(publisher, tmp_path)
