"""A page that is served, and a browser that is no browser: requests over loopback."""

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from memfs.store.blocks import Place
from memfs.web.access import FORM_FIELD, Access
from memfs.web.server import PageServer


class Answer:
    """What came back: its status, headers by lower-case names, and its text."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode("utf-8")

    @property
    def words(self) -> str:
        """What a reader sees of it: no tags, and single spaces."""
        return " ".join(re.sub(r"<[^>]*>", " ", self.text).split())


class Client:
    """Asks the page as the browser does that was let in, unless it is told otherwise."""

    def __init__(self, access: Access, key: str) -> None:
        self.access, self.base = access, f"{access.root}/{key}"
        self.headers = {
            "Host": access.host,
            "Cookie": f"{access.cookie_name}={access.cookie}",
            "Sec-Fetch-Site": "same-origin",
        }

    def send(
        self, method: str, path: str, body: bytes | None = None, /, **headers: str | None
    ) -> Answer:
        """Send a request; a header of None is left out, `_` in its name stands for `-`."""
        wanted = {
            **self.headers,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        with closing(http.client.HTTPConnection("127.0.0.1", self.access.port, timeout=30)) as line:
            line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in wanted.items():
                if value is not None:
                    line.putheader(name, value)
            if body is not None:
                line.putheader("Content-Length", str(len(body)))
            line.endheaders(body)
            return Answer(line.getresponse())

    def get(self, path: str, **headers: str | None) -> Answer:
        """Get a page of the project."""
        return self.send("GET", f"{self.base}/{path}", None, **headers)

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str | None) -> Answer:
        """Send a form of the page, with its token."""
        fields = {FORM_FIELD: self.access.form_token, **(form or {})}
        sent = {"Origin": f"http://{self.access.host}"}
        kind = "application/x-www-form-urlencoded"
        given = {"Content_Type": kind, **sent, **headers}
        return self.send("POST", f"{self.base}/{path}", urlencode(fields).encode(), **given)

    def do(self, path: str, form: dict[str, str] | None = None) -> Answer:
        """Send a form, and get the page that it leads to."""
        answer = self.post(path, form)
        if answer.status != 303:
            return answer
        return self.send("GET", answer.headers["location"])


@contextmanager
def serve(folders: list[Path], home: Path, *, read_only: bool = False) -> Iterator[PageServer]:
    """Serve the projects in folders while a test runs."""
    server = PageServer([str(folder) for folder in folders], str(home), read_only=read_only)
    thread = threading.Thread(target=server.run, args=(60.0,))
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


@pytest.fixture
def page(place: Place, repo: Path, home: Path) -> Iterator[Client]:
    """The page of a project with a store, and of its user."""
    assert place.project
    with serve([repo], home) as server:
        yield Client(server.access, server.projects[0].key)


@pytest.fixture
def read_only(place: Place, repo: Path, home: Path) -> Iterator[Client]:
    """The same page, started with `--read-only`."""
    assert place.project
    with serve([repo], home, read_only=True) as server:
        yield Client(server.access, server.projects[0].key)
