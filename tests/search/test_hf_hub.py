"""Models of the hub: found in its cache, fetched on request, never by themselves."""

import hashlib
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.core.errors import NotFoundError
from memfs.search import model_files
from tests.search.small_models import make

REVISION = "0123456789abcdef0123456789abcdef01234567"


def cached(cache: Path, name: str) -> Path:
    """Put a model where the hub's own client puts it."""
    top = cache / f"models--{name.replace('/', '--')}"
    (top / "refs").mkdir(parents=True)
    (top / "refs/main").write_text(REVISION)
    return make(top / "snapshots" / REVISION)


@pytest.mark.parametrize(
    ("variable", "folder"),
    [
        ("HF_HUB_CACHE", "{}"),
        ("HUGGINGFACE_HUB_CACHE", "{}"),
        ("HF_HOME", "{}/hub"),
        ("XDG_CACHE_HOME", "{}/huggingface/hub"),
        ("", "{}/.cache/huggingface/hub"),
    ],
)
def test_a_model_is_found_in_the_cache(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, folder: str
) -> None:
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    top = tmp_path / "cache" if variable else home
    made = cached(Path(folder.format(top)), "owner/name")
    assert model_files.find_model("owner/name") == str(made)
    assert model_files.read(model_files.find_model("owner/name")).dims == 16


@pytest.mark.parametrize("revision", [None, "", "gone", "../../..", "a/b", "\u00e9", "x" * 500])
def test_a_model_that_is_not_there_names_the_command(home: Path, revision: str | None) -> None:
    top = home / ".cache/huggingface/hub/models--owner--name"
    if revision is not None:
        (top / "refs").mkdir(parents=True)
        (top / "snapshots").mkdir()
        (top / "refs/main").write_text(revision)
    with pytest.raises(NotFoundError) as raised:
        model_files.find_model("owner/name")
    assert raised.value.hint == "download it: memfs model fetch owner/name"


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of the hub as its client asks for."""

    model: Path
    asked: list[str]

    def do_GET(self) -> None:
        self.answer()

    def do_HEAD(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.asked.append(self.path)
        path = self.path.partition("?")[0]
        files = (*model_files.FILES, "README.md", "evil.py")
        if path.startswith("/api/models/owner/name/tree/"):
            listed = [{"type": "file", "path": name, "size": 1, "oid": "0" * 40} for name in files]
            self.reply(json.dumps(listed).encode())
        elif path.startswith("/api/models/owner/name"):
            named = [{"rfilename": name} for name in files]
            found = {"id": "owner/name", "sha": REVISION, "siblings": named}
            self.reply(json.dumps(found).encode())
        elif path.startswith(f"/owner/name/resolve/{REVISION}/"):
            data = (self.model / path.rpartition("/")[2]).read_bytes()
            self.reply(data, hashlib.sha256(data).hexdigest())
        else:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def reply(self, data: bytes, tag: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        if tag:
            self.send_header("ETag", f'"{tag}"')
            self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a hub on this machine that has one model, owner/name."""
    Hub.model, Hub.asked = make(tmp_path / "model"), []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def run(repo: Path, home: Path, address: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "HF_ENDPOINT": address,
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    command = [sys.executable, "-m", "memfs", *words]
    return subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("place")
def test_fetch_brings_the_model_and_nothing_else(repo: Path, home: Path, address: str) -> None:
    refused = run(repo, home, address, "model", "use", "owner/name")
    assert (refused.returncode, refused.stderr) == (
        1,
        (
            "error: the embedding model 'owner/name' is not on this machine\n"
            "hint: download it: memfs model fetch owner/name\n"
        ),
    )
    assert Hub.asked == []
    done = run(repo, home, address, "model", "fetch", "owner/name")
    assert done.returncode == 0, (done.stderr, Hub.asked)
    folder = home / f".cache/huggingface/hub/models--owner--name/snapshots/{REVISION}"
    assert f"the model is in {folder}" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == sorted(model_files.FILES)
    asked = len(Hub.asked)
    assert run(repo, home, address, "model", "use", "owner/name").returncode == 0
    assert run(repo, home, address, "search", "persona").returncode == 0
    assert "owner/name" in run(repo, home, address, "model").stdout
    assert len(Hub.asked) == asked, "only fetch asks"
    refused = run(repo, home, address, "model", "fetch", "owner/other")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: could not download 'owner/other': ")
    assert "Traceback" not in refused.stderr
    assert run(repo, home, address, "model", "fetch", "../up").returncode == 2
