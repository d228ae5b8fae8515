import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from memfs.agent.endpoint import Endpoint
from memfs.store.blocks import Place
from tests.agent.scripted_endpoint import Asked, Rule, ScriptedEndpoint
from tests.cli.conftest import Run, Screen, memfs

__all__ = ["memfs"]

Serve = Callable[[Rule], ScriptedEndpoint]
Connect = Callable[[str], Endpoint]
Use = Callable[..., list[Asked]]


@pytest.fixture(autouse=True)
def rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where conversations are played: in memory where that is possible, and empty afterwards."""
    shared = Path("/dev/shm")  # noqa: S108 - a folder of our own in it
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else tmp_path) as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)
        assert not list(Path(folder).iterdir())


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start endpoints that answer by a rule."""
    with ExitStack() as stack:
        yield lambda rule: stack.enter_context(ScriptedEndpoint(rule))


def configure(home: Path, text: str) -> None:
    """Write the user's own configuration."""
    (home / ".agent-memory" / "config.yaml").write_text(f"memfs: 1\n{text}")


@pytest.fixture
def connect(serve: Serve) -> Iterator[Connect]:
    """Open endpoints, and close them before what answers them."""
    with ExitStack() as stack:
        yield lambda url: stack.enter_context(closing(Endpoint(url, "m", "key", 5)))


@pytest.fixture
def use(serve: Serve, home: Path) -> Use:
    """Configure a model that answers by a rule; return what it was asked."""

    def run(rule: Rule, more: str = "") -> list[Asked]:
        server = serve(rule)
        configure(home, f"llm: {{endpoint: {server.url}, model: m}}\n{more}")
        return server.asked

    return run


class Evaluate:
    """Evaluates the model m of an endpoint that answers by a rule, or of an address."""

    def __init__(self, memfs: Run, serve: Serve) -> None:
        self._memfs, self._serve = memfs, serve
        self.url = ""
        self.asked: list[Asked] = []

    def __call__(self, rule: Rule | str, *options: str) -> Screen:
        if isinstance(rule, str):
            self.url = rule
        else:
            server = self._serve(rule)
            self.url, self.asked = server.url, server.asked
        return self._memfs("eval", "--endpoint", self.url, "--model", "m", *options)


@pytest.fixture
def evaluate(memfs: Run, serve: Serve) -> Evaluate:
    return Evaluate(memfs, serve)


class Talk:
    """Talks with an endpoint that answers by a rule. `asked` is what it was asked the last time."""

    def __init__(self, memfs: Run, serve: Serve, home: Path) -> None:
        self._memfs, self._serve, self._home = memfs, serve, home
        self.asked: list[Asked] = []

    def __call__(self, rule: Rule, *words: str, more: str = "", context: str = "") -> Screen:
        server = self._serve(rule)
        self.asked = server.asked
        configure(self._home, f"llm: {{endpoint: {server.url}, model: m{more}}}\n{context}")
        return self._memfs("agent", *words)


@pytest.fixture
def talk(memfs: Run, serve: Serve, place: Place, home: Path) -> Talk:
    return Talk(memfs, serve, home)
