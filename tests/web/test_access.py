"""The page answers the browser that brought its ticket, and nobody else."""

import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from memfs.ops import show
from memfs.store.blocks import Place
from memfs.web.access import FORM_FIELD
from tests.terminal import type_into
from tests.web.conftest import Answer, Client, serve

_READ = {"method": "GET", "host": "{host}", "site": "same-origin", "origin": None,
         "cookie": "{cookie}", "path": "{base}/blocks"}  # fmt: skip
_CHANGE = {
    **_READ,
    "method": "POST",
    "origin": "http://{host}",
    "path": "{base}/blocks/persona/keys",
}
# What is right besides: each alone is answered.
_RIGHT = (
    (_READ, "method", "HEAD"), (_READ, "site", "none"), (_READ, "path", "{root}/static/style.css"),
    (_READ, "path", "{root}/"), (_READ, "cookie", "memfs_{port}=toss; {cookie}; other=1"),
    (_READ, "cookie", "{cookie}; memfs_{port}=toss"), (_READ, "origin", "http://{host}"),
    (_CHANGE, "site", None),
)  # fmt: skip
_HOSTS = ("evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1",
          "127.0.0.1:1", "localhost:{port}", "LOCALHOST:{port}", "localhost.:{port}", "[::1]:{port}",
          "[::2]:{port}", "[::ffff:127.0.0.1]:{port}", "0.0.0.0:{port}", "127.1:{port}", "", None)  # fmt: skip
_ORIGINS = ("null", "https://{host}", "http://127.0.0.1:1", "http://localhost:{port}",
            "http://[::1]:{port}", "http://127.0.0.1", "http://evil.example", "http://{host}.evil", "")  # fmt: skip
_COOKIES = (None, "", "memfs_{port}=", "memfs_{port}=x", "memfs_1={value}", "memfs-{port}={value}",
            "x=memfs_{port}={value}", ";;;=,")  # fmt: skip
# To a thief the folder of addresses is unknown: the cookie alone opens none of the others.
_PATHS = ("/", "/{key}/", "/{key}/blocks", "/static/style.css", "/static/page.js", "/{key}/events",
          "/open", "/x{base}/blocks", "{root}x/blocks", "/open/..{base}/blocks", "//{base}/blocks",
          "http://evil.example{base}x", "/%00{base}/blocks", "/{key}/health/trust")  # fmt: skip
_WRONG = {
    _READ["method"]: {
        "method": ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"), "host": _HOSTS,
        "site": ("cross-site", "same-site", "", "none, same-origin", None), "origin": _ORIGINS,
        "cookie": _COOKIES, "path": _PATHS,
    },
    _CHANGE["method"]: {
        "method": ("PUT", "DELETE", "OPTIONS", "PATCH"), "host": _HOSTS[:-1],
        "site": ("cross-site", "same-site", "", "none"), "origin": (None, *_ORIGINS),
        "cookie": _COOKIES, "path": _PATHS,
    },
}  # fmt: skip


def _ask(page: Client, words: Mapping[str, str | None]) -> Answer:
    known = {
        "host": page.access.host, "port": page.access.port, "base": page.base,
        "root": page.access.root, "key": page.base.rpartition("/")[2], "value": page.access.cookie,
        "cookie": page.headers["Cookie"],
    }  # fmt: skip
    given = {name: word and word.format(**known) for name, word in words.items()}
    form = {FORM_FIELD: page.access.form_token, "description": "sly", "limit": "5000"}
    body = urlencode(form).encode() if given["method"] == "POST" else None
    return page.send(
        str(given["method"]), str(given["path"]), body, Host=given["host"], Origin=given["origin"],
        Cookie=given["cookie"], Sec_Fetch_Site=given["site"],
    )  # fmt: skip


def _list_wrong(right: Mapping[str, str | None]) -> Iterator[dict[str, str | None]]:
    """Yield each request with one thing wrong, and with two."""
    wrong = _WRONG[str(right["method"])]
    for names in (*combinations(wrong, 1), *combinations(wrong, 2)):
        for words in product(*(wrong[name] for name in names)):
            yield {**right, **dict(zip(names, words, strict=True))}


@pytest.mark.parametrize("right", [_READ, _CHANGE], ids=["read", "change"])
def test_whatever_the_page_itself_does_not_send_is_refused(
    page: Client, place: Place, right: Mapping[str, str | None]
) -> None:
    before = show.run(place, "persona").block.description
    secrets = (page.access.root, page.access.form_token, page.access.cookie, page.access.ticket)
    for words in _list_wrong(right):
        answer = _ask(page, words)
        assert answer.status in (400, 403, 405, 421), words
        assert not [each for each in secrets if each in answer.text], words
        assert "set-cookie" not in answer.headers, words
    assert show.run(place, "persona").block.description == before
    assert _ask(page, right).status in (200, 303)


@pytest.mark.parametrize(("right", "name", "word"), _RIGHT)
def test_what_the_page_itself_sends_is_answered(
    page: Client, right: Mapping[str, str | None], name: str, word: str | None
) -> None:
    assert _ask(page, {**right, name: word}).status in (200, 303)


def test_the_stream_of_news_is_guarded_as_the_rest(page: Client) -> None:
    for wrong in ({"Cookie": None}, {"Sec_Fetch_Site": "same-site"}, {"Host": "evil.example"}):
        assert page.get("events", **wrong).status in (403, 421)


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_another_user_of_the_machine_sees_nothing(page: Client) -> None:
    asking = (
        "import http.client, sys\n"
        "line = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))\n"
        "line.request('GET', sys.argv[2])\n"
        "print(line.getresponse().status)\n"
    )
    command = [
        "/usr/bin/env",
        "python3",
        "-c",
        asking,
        str(page.access.port),
        f"{page.base}/blocks",
    ]
    asked = subprocess.run(command, user=65534, cwd="/", capture_output=True, text=True, check=True)
    assert asked.stdout == "403\n"


def _bring(page: Client, ticket: str, origin: str | None = "null") -> Answer:
    """Bring a ticket as the file does: it is of no origin."""
    sent = urlencode({"ticket": ticket}).encode()
    headers = {"Cookie": None, "Origin": origin, "Sec_Fetch_Site": "cross-site"}
    return page.send("POST", "/open", sent, **headers)


def test_the_ticket_is_good_once_and_only_the_page_gets_the_cookie(page: Client) -> None:
    ticket = page.access.ticket
    for origin in (None, "http://evil.example", "http://127.0.0.1:1", "http://localhost"):
        assert _bring(page, ticket, origin).status == 403
    for wrong in ("", "wrong", ticket[:-1], f"{ticket}A"):
        assert _bring(page, wrong).status == 403
    answer = _bring(page, f" {ticket.lower()}\n")
    assert (answer.status, ticket in answer.text) == (200, False)
    assert f'content="0;url={page.access.root}/"' in answer.text
    cookie, *rules = answer.headers["set-cookie"].split("; ")
    assert cookie == page.headers["Cookie"]
    assert {each.lower() for each in rules} == {
        "httponly", "samesite=strict", f"path={page.access.root}".lower()
    }  # fmt: skip
    again = _bring(page, ticket)
    assert (again.status, "set-cookie" in again.headers) == (403, False)
    assert "already used" in again.words
    assert "run memfs web again" in again.words
    assert page.get("blocks").status == 200


def test_the_ticket_is_not_good_for_long(page: Client) -> None:
    page.access.until = time.monotonic() - 1
    assert "expired" in _bring(page, page.access.ticket).words


def test_the_code_is_typed_where_no_file_opens_the_page(page: Client) -> None:
    asked = page.send("GET", "/", Cookie=None, Sec_Fetch_Site="none")
    assert (asked.status, "Code" in asked.words) == (403, True)
    answer = _bring(page, page.access.ticket, f"http://{page.access.host}")
    assert (answer.status, "set-cookie" in answer.headers) == (200, True)


def test_two_pages_know_nothing_of_each_other(page: Client, repo: Path, home: Path) -> None:
    with serve([repo], home) as server:
        other = Client(server.access, server.projects[0].key)
        both = f"{page.headers['Cookie']}; {other.headers['Cookie']}"
        assert page.access.cookie_name != other.access.cookie_name
        for one, another in ((page, other), (other, page)):
            assert one.get("blocks", Cookie=both).status == 200
            assert one.get("blocks", Cookie=another.headers["Cookie"]).status == 403
            assert one.send("GET", f"{another.base}/blocks", Cookie=both).status == 403
            assert _bring(one, another.access.ticket).status == 403


@contextmanager
def _run_program(folder: Path, *words: str, **env: str) -> Iterator[tuple[str, str, Path]]:
    """Run `memfs web`; yield its address, what it says, and the file that opens the page."""
    command = [sys.executable, "-m", "memfs", "web", *words]
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        try:
            address, opener, *said = [process.stdout.readline() for _ in range(4)]
            file = Path(urlsplit(opener.strip()).path)
            yield address.strip(), "".join((address, opener, *said)), file
        finally:
            process.terminate()
            process.wait()


def test_the_ticket_is_in_a_file_of_its_user_alone(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    """Not with the browser that is started, in no process, in no output, and gone with the page."""
    assert place.project
    note, browser = tmp_path / "started", tmp_path / "browser"
    browser.write_text(
        f"#!/bin/sh\ntr '\\0' ' ' </proc/$$/cmdline >{note}.new\nenv >>{note}.new\nmv {note}.new {note}\n"
    )
    browser.chmod(0o755)
    with _run_program(repo, BROWSER=f"{browser} %s", TMPDIR=str(tmp_path)) as (address, said, file):
        while not note.exists():
            time.sleep(0.01)
        assert file.as_uri() in note.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        [ticket] = re.findall(r'name="ticket" value="([^"]+)"', file.read_text())
        assert f'action="{address}open"' in file.read_text()
        processes = [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]
        for seen in (said, note.read_text(), *map(_read_process, processes)):
            assert ticket not in seen
    assert not file.parent.exists()


def _read_process(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # it has ended
        return ""


def test_the_code_is_told_to_a_terminal_alone(place: Place, repo: Path) -> None:
    assert place.project
    script = f"{sys.executable} -m memfs web --no-open & read -r line; kill $!; wait"
    _, screen = type_into(["bash", "-c", script], "", repo, keys=("stops the page", "\n"))
    code = r"enter the code\s+(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}"
    assert re.search(code, screen), screen
    with _run_program(repo, "--no-open") as (_, said, _file):
        assert not re.search(r"(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}", said)
        assert "the code from the file" in said


def test_a_form_needs_the_token_of_this_start(page: Client) -> None:
    answer = page.post("blocks/new", {"label": "sly", "form_token": "wrong"})
    assert (answer.status, "earlier run" in answer.text) == (403, True)


def test_reading_changes_nothing(page: Client) -> None:
    for path in ("blocks/persona/delete", "blocks/persona/undo", "blocks/persona/keys"):
        assert page.get(path).status in (404, 405)
    assert page.send("DELETE", f"{page.base}/blocks/persona").status == 405
    assert page.send("OPTIONS", f"{page.base}/blocks").status == 405
    assert page.get("blocks/persona").status == 200


def test_a_request_has_a_limit(page: Client) -> None:
    assert page.post("blocks/new", {"label": "large", "text": "x" * (3 << 20)}).status == 413


def test_every_answer_forbids_scripts_frames_and_copies(page: Client) -> None:
    for answer in (page.get("blocks"), page.get("nothing"), page.get("blocks", Cookie=None)):
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "label", ["../../../etc/passwd", "..%2f..%2fconfig", "%2e%2e/config", "a%00b", "user:../x"]
)
def test_labels_lead_nowhere_else(page: Client, label: str) -> None:
    answer = page.get(f"blocks/{label}")
    assert answer.status in (400, 404)
    assert "root:" not in answer.text
