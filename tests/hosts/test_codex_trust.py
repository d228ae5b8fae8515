"""Codex's trust in our hooks, against a program that answers as its app server does."""

import json
from pathlib import Path

import pytest

from memfs.core.errors import StoreError
from memfs.hosts import codex_trust
from memfs.ops import doctor, install
from memfs.ops.install import commands
from memfs.store.blocks import Place
from tests.hosts import fake_codex

COMMANDS = commands.list_commands("codex")


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Codex on the PATH, and the file of what its user trusts."""
    return fake_codex.put(tmp_path, monkeypatch)


def test_ours_are_trusted_and_no_others(codex: Path, tmp_path: Path) -> None:
    assert [hook.runs for hook in codex_trust.hooks(str(tmp_path), COMMANDS)] == [False, False]
    assert codex_trust.trust(str(tmp_path), COMMANDS) == 2
    assert json.loads(codex.read_text()) == {"a": "1", "c": "3"}
    assert codex_trust.trust(str(tmp_path), COMMANDS) == 0


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho '{\"id\": 1}'\ncat >&2\n"]
)
def test_a_codex_that_does_not_answer_is_named(codex: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "bin/codex").write_text(text)
    with pytest.raises(StoreError, match="Codex does not answer 'initialize'"):
        codex_trust.hooks(str(tmp_path), COMMANDS)


def test_doctor_names_hooks_that_are_skipped(codex: Path, place: Place, home: Path) -> None:
    install.run(place, "codex", "user", str(home))
    found = [each.text for each in doctor.run(place, str(home)) if each.level == "error"]
    assert found == ["Codex does not run 2 of the memfs hooks: you have not trusted them"]
    assert install.trust(place, "codex") == 2
    assert not [each for each in doctor.run(place, str(home)) if each.level == "error"]
