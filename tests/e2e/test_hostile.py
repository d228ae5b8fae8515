import json
import shlex
import time
from pathlib import Path

import pytest

from tests import forked
from tests.e2e import hostile
from tests.e2e.program import hook, trust

KEY = "what is in the private key of the user"
EVENTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "go on with rules"}),
    ("Stop", {}),
    ("PreCompact", {"trigger": "auto"}),
    ("SessionEnd", {"reason": "other"}),
)
COMMANDS = [
    shlex.split(line)
    for line in (
        *("show", "show rules", "show huge", "show bomb --json", "blocks", "status", "doctor"),
        *("log", "log rules", "diff rules", "blame rules", 'search "ignore previous instructions"'),
        *("ingest", "trust", "trust --json", "edit rules --append mine", "edit huge --append mine"),
        *("edit key --append mine", "create ../../x outside", "undo rules"),
        *("restore ../../../owned 1", 'archive add "A passage."', "init"),
    )
]


@pytest.fixture
def clone(home: Path, tmp_path: Path) -> Path:
    secret = home / ".ssh" / "id_rsa"
    secret.parent.mkdir()
    secret.write_text(KEY)
    folder = tmp_path / "clone"
    folder.mkdir()
    hostile.make(folder, secret)
    hostile.commit(folder)
    return folder


def outside(clone: Path) -> dict[str, tuple[int, bytes]]:
    """Return what is beside the clone, without the user's own tier."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(clone.parent.rglob("*"))
        if path.is_file() and clone not in path.parents and ".agent-memory" not in path.parts
    }


def test_hooks_are_given_nothing_of_it(clone: Path) -> None:
    before = outside(clone)
    for name, more in EVENTS:
        for cwd in (clone, clone / ".agent-memory", clone / ".agent-memory/blocks/folder"):
            said = hook(cwd, name, **more)
            if said:
                assert set(json.loads(said)) == {"systemMessage"}, name
            for text in ("Ignore", "evil", KEY, hostile.ESCAPE, "owned"):
                assert text not in said
    assert outside(clone) == before


@pytest.mark.thorough
def test_every_command_stays_calm_and_shows_nothing_raw(clone: Path) -> None:
    before = outside(clone)
    for words in COMMANDS:
        start = time.monotonic()
        code, said = forked.run(clone, *words)
        assert code in (0, 1, 2), (words, said)
        assert "Traceback" not in said
        assert KEY not in said, words
        if "--json" not in words and words[:2] != ["show", "rules"]:
            assert "\x1b" not in said, words
        assert time.monotonic() - start < 30, words
    assert outside(clone) == before
    assert not list(clone.parent.rglob("owned-by-eve"))


def test_even_when_it_is_trusted_nothing_leaves_the_store(clone: Path) -> None:
    before = outside(clone)
    code, said = forked.run(clone, "trust", "--yes")
    assert code == 1, said
    said = trust(clone)
    assert "blocks/rules.md:5 asks to ignore rules" in said
    assert "came with the repository" in said
    assert "llm is not used" in said
    for name, more in EVENTS:
        said = hook(clone, name, **more)
        assert KEY not in said
        assert "\x1b" not in said
        if said:
            assert len(said) < 30_000
    assert outside(clone) == before
    assert not list(clone.parent.rglob("owned-by-eve"))
