"""The page answers the browser that was opened with its token, and nobody else."""

from __future__ import annotations

import os
import subprocess

import pytest

from memfs.ops import show
from memfs.store.blocks import Place
from tests.web.conftest import Client


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "0.0.0.0:{port}",
        "localhost.:{port}",
        "[::2]:{port}",
        "",
        None,
    ],
)
def test_other_hosts_are_refused_before_anything_is_looked_at(
    page: Client, host: str | None
) -> None:
    given = None if host is None else host.format(port=page.access.port)
    for path in ("/", f"{page.base}/blocks", "/static/style.css", "/open?token=x"):
        answer = page.send("GET", path, Host=given)
        assert answer.status in (400, 421), answer.text  # without any, h11 refuses by itself


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_the_names_of_this_machine_are_the_pages(page: Client, host: str) -> None:
    assert page.get("blocks", Host=f"{host}:{page.access.port}").status == 200


@pytest.mark.parametrize("cookie", [None, "", "memfs-1=x", "memfs-{port}=x", ";;;=,"])
def test_without_its_cookie_nothing_is_shown(page: Client, cookie: str | None) -> None:
    given = None if cookie is None else cookie.format(port=page.access.port)
    for path in ("/", f"{page.base}/blocks", "/static/style.css", f"{page.base}/events"):
        answer = page.send("GET", path, Cookie=given)
        assert (answer.status, "memfs web" in answer.text) == (403, True)


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


def test_the_token_is_good_once_and_leaves_the_address(page: Client) -> None:
    path = page.access.address.partition(f":{page.access.port}")[2]
    assert page.send("GET", "/open?token=wrong", Cookie=None).status == 403
    answer = page.send("GET", path, Cookie=None)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert page.send("GET", f"{page.base}/blocks", Cookie=cookie.partition(";")[0]).status == 200
    assert page.send("GET", path, Cookie=None).status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
        {"Origin": None, "Sec_Fetch_Site": None},
    ],
)
def test_forms_of_other_pages_are_refused(
    page: Client, place: Place, headers: dict[str, str | None]
) -> None:
    assert page.post("blocks/new", {"label": "sly", "text": "x"}, **headers).status == 403
    assert "sly" not in [each.block.label for each in show.show_all(place)]


def test_a_form_needs_the_token_of_this_start(page: Client) -> None:
    answer = page.post("blocks/new", {"label": "sly", "form_token": "wrong"})
    assert (answer.status, "earlier start" in answer.text) == (403, True)


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


def test_a_page_that_only_reads_changes_nothing(read_only: Client, place: Place) -> None:
    answer = read_only.post("blocks/new", {"label": "new", "text": "x"})
    assert (answer.status, "only reads" in answer.text) == (403, True)
    assert "new" not in [each.block.label for each in show.show_all(place)]
    assert "Delete" not in read_only.get("blocks/persona").text


@pytest.mark.parametrize(
    "label", ["../../../etc/passwd", "..%2f..%2fconfig", "%2e%2e/config", "a%00b", "user:../x"]
)
def test_labels_lead_nowhere_else(page: Client, label: str) -> None:
    answer = page.get(f"blocks/{label}")
    assert answer.status in (400, 404)
    assert "root:" not in answer.text
